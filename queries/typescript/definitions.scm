; What only TypeScript defines, beside `ecmascript/definitions.scm`.

; class Cart { load = () => {} }
(public_field_definition
  name: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)] @definition.method)

; abstract class Cart {}
(abstract_class_declaration name: (type_identifier) @name body: (class_body) @body) @definition.class

; namespace A {}
(internal_module name: (_) @name body: (statement_block) @body) @scope

; module A {}, declare module "a" {}
(module name: (_) @name body: (statement_block) @body) @scope

; enum E {}, interface I {}, type T = {}
([
  (enum_declaration name: (identifier) @name)
  (interface_declaration name: (type_identifier) @name)
  (type_alias_declaration name: (type_identifier) @name)
] @definition.type)
