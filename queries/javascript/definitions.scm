; What `ecmascript/definitions.scm` cannot say, because the grammar of JavaScript has its own name for it.

; class Cart { load = () => {} }
(field_definition
  property: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)] @definition.method)
