; The test cases and suites of JavaScript and TypeScript, broadly; matches with one outer node are one test.

; it("adds", () => {})
(call_expression
  function: (identifier) @_word
  arguments: (arguments . (_) @name)
  (#any-of? @_word "it" "test" "specify" "bench" "fit" "ftest")) @test

; describe("Cart", () => {})
(call_expression
  function: (identifier) @_word
  arguments: (arguments . (_) @name)
  (#any-of? @_word "describe" "suite" "context" "fdescribe" "fcontext" "xdescribe" "xcontext" "xsuite")) @test.suite

; xit("adds", () => {})
(call_expression
  function: (identifier) @_word
  arguments: (arguments . (_) @name)
  (#any-of? @_word "xit" "xtest" "xspecify" "xdescribe" "xcontext" "xsuite")) @test.skipped

; it.only("adds", () => {}), test.concurrent("adds", () => {})
(call_expression
  function: (member_expression object: (identifier) @_word)
  arguments: (arguments . (_) @name)
  (#any-of? @_word "it" "test" "specify" "bench" "fit" "ftest" "xit" "xtest" "xspecify")) @test

; describe.only("Cart", () => {})
(call_expression
  function: (member_expression object: (identifier) @_word property: (_) @_modifier)
  arguments: (arguments . (_) @name)
  (#any-of? @_word "describe" "suite" "context" "fdescribe" "fcontext" "xdescribe" "xcontext" "xsuite")) @test.suite

; test.describe("Cart", () => {})
(call_expression
  function: (member_expression object: (identifier) @_word property: (_) @_modifier)
  arguments: (arguments . (_) @name)
  (#any-of? @_word "it" "test")
  (#any-of? @_modifier "describe" "suite")) @test.suite

; it.skip("adds", () => {})
(call_expression
  function: (member_expression object: (identifier) @_word property: (_) @_modifier)
  arguments: (arguments . (_) @name)
  (#any-of? @_word "it" "test" "specify" "bench" "fit" "ftest" "describe" "suite" "context" "fdescribe" "fcontext")
  (#any-of? @_modifier "skip" "todo")) @test.skipped

; it.each([1])("adds %d", () => {})
(call_expression
  function: (call_expression function: (member_expression object: (identifier) @_word))
  arguments: (arguments . (_) @name)
  (#any-of? @_word "it" "test" "specify" "bench" "fit" "ftest" "xit" "xtest" "xspecify")) @test

; describe.each([1])("Cart %d", () => {})
(call_expression
  function: (call_expression function: (member_expression object: (identifier) @_word))
  arguments: (arguments . (_) @name)
  (#any-of? @_word "describe" "suite" "context" "fdescribe" "fcontext" "xdescribe" "xcontext" "xsuite")) @test.suite

; it.each`a | b`("adds $a", () => {})
(call_expression
  function: (call_expression
    function: (member_expression object: (identifier) @_word)
    arguments: (template_string))
  arguments: (arguments . (_) @name)
  (#any-of? @_word "it" "test" "specify" "bench" "fit" "ftest" "xit" "xtest" "xspecify")) @test
