; What a Rust file loads: modules in files of their own, and what it uses of others.

; mod cart;
(mod_item name: (_) @source !body) @import

; use crate::cart::{Cart, total as sum};
(use_declaration argument: (_) @source) @import

; extern crate alloc;
(extern_crate_declaration name: (_) @source) @import

; include!("table.rs")
(macro_invocation macro: (identifier) @_include
  (token_tree . (string_literal (string_content) @source) .)
  (#any-of? @_include "include" "include_str" "include_bytes")) @import

; include!(concat!(env!("OUT_DIR"), "/table.rs"))
(macro_invocation macro: (identifier) @_include
  (token_tree . (identifier))
  (#any-of? @_include "include" "include_str" "include_bytes")) @import.dynamic
