; What a Python file loads; matches with one outer node are one import, without a source a region.

; import a.b
(import_statement name: (dotted_name) @source @import)

; import a.b as c
(import_statement
  name: (aliased_import name: (dotted_name) @source alias: (identifier) @alias) @import)

; from a import b
(import_from_statement module_name: (_) @source name: (dotted_name) @name) @import

; from a import b as c
(import_from_statement
  module_name: (_) @source
  name: (aliased_import name: (dotted_name) @name alias: (identifier) @alias)) @import

; from a import *
(import_from_statement module_name: (_) @source (wildcard_import) @wildcard) @import

; from __future__ import annotations
(future_import_statement "__future__" @source name: (dotted_name) @name) @import

; from __future__ import annotations as a
(future_import_statement
  "__future__" @source
  name: (aliased_import name: (dotted_name) @name alias: (identifier) @alias)) @import

; if TYPE_CHECKING: ...
(if_statement
  condition: (identifier) @_checking
  consequence: (block) @import.type_only
  (#eq? @_checking "TYPE_CHECKING"))

; if typing.TYPE_CHECKING: ...
(if_statement
  condition: (attribute attribute: (identifier) @_checking)
  consequence: (block) @import.type_only
  (#eq? @_checking "TYPE_CHECKING"))

; importlib.import_module("a")
(call
  function: (attribute object: (identifier) @_importlib attribute: (identifier) @_import)
  arguments: (argument_list . (string) @source)
  (#eq? @_importlib "importlib")
  (#eq? @_import "import_module")) @import.call

; importlib.import_module(a)
(call
  function: (attribute object: (identifier) @_importlib attribute: (identifier) @_import)
  arguments: (argument_list . (_))
  (#eq? @_importlib "importlib")
  (#eq? @_import "import_module")) @import.dynamic

; import_module("a"), __import__("a")
(call
  function: (identifier) @_import
  arguments: (argument_list . (string) @source)
  (#any-of? @_import "import_module" "__import__")) @import.call

; import_module(a), __import__(a)
(call
  function: (identifier) @_import
  arguments: (argument_list . (_))
  (#any-of? @_import "import_module" "__import__")) @import.dynamic
