; Which methods of a Java file are tests.

; @Test void adds() {}
(method_declaration
  (modifiers (marker_annotation name: (identifier) @_test))
  name: (_) @name
  (#eq? @_test "Test")) @test
