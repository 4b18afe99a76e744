; Which parts of a Rust file are tests: they are compiled for tests only.

; #[cfg(test)] mod tests {}
((attribute_item (attribute (identifier) @_cfg arguments: (token_tree) @_of))
  . [(attribute_item) (line_comment) (block_comment)]*
  . (mod_item) @test.suite
  (#eq? @_cfg "cfg")
  (#match? @_of "^\\((test|all\\(test,|all\\(.*, *test\\))"))

; #[test] fn adds() {}
((attribute_item (attribute . (_) @_test))
  . [(attribute_item) (line_comment) (block_comment)]*
  . (function_item name: (_) @name) @test
  (#match? @_test "^([a-z_]+::)*(test|bench|rstest|test_case|quickcheck|proptest|wasm_bindgen_test)$"))

; #[cfg(test)] fn helper() {}
((attribute_item (attribute (identifier) @_cfg arguments: (token_tree) @_of))
  . [(attribute_item) (line_comment) (block_comment)]*
  . [(function_item) (impl_item) (trait_item) (const_item) (static_item) (macro_definition)] @test
  (#eq? @_cfg "cfg")
  (#match? @_of "^\\((test|all\\(test,|all\\(.*, *test\\))"))
