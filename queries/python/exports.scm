; What a Python file offers, and what it hands on from another module.

; from .a import b
(module (import_from_statement name: (dotted_name) @name) @export)

; from .a import b as c
(module (import_from_statement name: (aliased_import alias: (identifier) @name)) @export)

; from .a import *
(module (import_from_statement module_name: (_) @source (wildcard_import)) @export.from)

; def load(): ...
(module (function_definition name: (identifier) @name) @export)

; class Cart: ...
(module (class_definition name: (identifier) @name) @export)

; @cached def load(): ...
(module (decorated_definition definition: (_ name: (identifier) @name)) @export)

; a = 1
(module (expression_statement (assignment left: (identifier) @name)) @export)
