; The test cases and suites of a Python file, broadly; matches with one outer node are one test.

; def test_total(): ...
(function_definition
  name: (identifier) @name
  (#match? @name "^(test|Test|check_|it_|should_|spec_|bench_|benchmark_)|_test$|_should$")) @test

; class CartTest(TestCase): def runTest(self): ...
(class_definition
  superclasses: (argument_list)
  body: (block (function_definition name: (identifier) @name) @test)
  (#eq? @name "runTest"))

; class TestCart: ...
(class_definition
  name: (identifier) @name
  (#match? @name "Test|test|Spec|Describe|Check|Should")) @test.suite

; class Cart(TestCase): ...
(class_definition
  name: (identifier) @name
  superclasses: (argument_list [
    (identifier) @_base
    (attribute attribute: (identifier) @_base)
    (subscript value: (identifier) @_base)
    (subscript value: (attribute attribute: (identifier) @_base))
  ])
  (#match? @_base "(TestCase|Test)$")) @test.suite

; class Cart: def test_total(self): ...
(class_definition
  name: (identifier) @name
  body: (block [
    (function_definition name: (identifier) @_case)
    (decorated_definition definition: (function_definition name: (identifier) @_case))
  ])
  (#match? @_case "^(test|Test|check_|it_|should_|spec_|bench_|benchmark_)|_test$|_should$")) @test.suite

; @skip def test_total(): ...
(decorated_definition
  (decorator (identifier) @_skip)
  definition: (_ name: (identifier) @name) @test.skipped
  (#eq? @_skip "skip"))

; @pytest.mark.skip def test_total(): ...
(decorated_definition
  (decorator (attribute attribute: (identifier) @_skip))
  definition: (_ name: (identifier) @name) @test.skipped
  (#eq? @_skip "skip"))

; @pytest.mark.skip(reason="later") def test_total(): ...
(decorated_definition
  (decorator (call function: [
    (identifier) @_skip
    (attribute attribute: (identifier) @_skip)
  ]))
  definition: (_ name: (identifier) @name) @test.skipped
  (#eq? @_skip "skip"))
