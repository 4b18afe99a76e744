; What a Rust file loads: modules in files of their own, and what it uses of others.

; mod cart;
(mod_item name: (_) @source !body) @import

; #[path = "trolley.rs"] mod cart;
((attribute_item (attribute (identifier) @_path value: (string_literal (string_content) @source)))
  . [(attribute_item) (line_comment) (block_comment)]*
  . (mod_item name: (_) @name !body) @import
  (#eq? @_path "path"))

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

; crate::cart::total()
((scoped_identifier) @import @source
  (#match? @source "^(crate|self|super|[a-z_][a-z0-9_]*)::"))

; crate::cart::Cart
((scoped_type_identifier) @import @source
  (#match? @source "^(crate|self|super|[a-z_][a-z0-9_]*)::"))
