; What a file of JavaScript or TypeScript loads; matches with one outer node are one import, without a source a region.

; import "./a", import a from "./a"
(import_statement source: (string) @source) @import

; import a from "./a"
(import_statement (import_clause (identifier) @alias)) @import

; import * as a from "./a"
(import_statement (import_clause (namespace_import (identifier) @alias) @wildcard)) @import

; import { a } from "./a"
(import_statement
  (import_clause (named_imports (import_specifier name: _ @name !alias)))) @import

; import { a as b } from "./a"
(import_statement
  (import_clause (named_imports (import_specifier name: _ @name alias: (_) @alias)))) @import

; import("./a")
(call_expression
  function: (import)
  arguments: (arguments . [(string) (template_string)] @source)) @import.call

; import(a)
(call_expression function: (import) arguments: (arguments . (_))) @import.dynamic

; require("./a")
(call_expression
  function: (identifier) @_require
  arguments: (arguments . [(string) (template_string)] @source)
  (#eq? @_require "require")) @import.require

; require(a)
(call_expression
  function: (identifier) @_require
  arguments: (arguments . (_))
  (#eq? @_require "require")) @import.dynamic

; require.resolve("./a")
(call_expression
  function: (member_expression
    object: (identifier) @_require
    property: (property_identifier) @_resolve)
  arguments: (arguments . [(string) (template_string)] @source)
  (#eq? @_require "require")
  (#eq? @_resolve "resolve")) @import.resolve

; import.meta.resolve("./a")
(call_expression
  function: (member_expression
    object: (meta_property) @_meta
    property: (property_identifier) @_resolve)
  arguments: (arguments . [(string) (template_string)] @source)
  (#eq? @_meta "import.meta")
  (#eq? @_resolve "resolve")) @import.resolve

; vi.mock("./a"), jest.mock("./a")
(call_expression
  function: (member_expression
    object: (identifier) @_mocker
    property: (property_identifier) @_mock)
  arguments: (arguments . [(string) (template_string)] @source)
  (#any-of? @_mocker "vi" "vitest" "jest")
  (#any-of? @_mock
    "mock" "doMock" "unmock" "doUnmock" "dontMock" "setMock" "deepUnmock"
    "unstable_mockModule" "unstable_unmockModule" "createMockFromModule" "genMockFromModule"
    "requireMock" "importMock")) @import.mock

; vi.mock(import("./a"))
(call_expression
  function: (member_expression
    object: (identifier) @_mocker
    property: (property_identifier) @_mock)
  arguments: (arguments . (call_expression
    function: (import)
    arguments: (arguments . [(string) (template_string)] @source)))
  (#any-of? @_mocker "vi" "vitest" "jest")
  (#any-of? @_mock "mock" "doMock" "unmock" "doUnmock")) @import.mock

; vi.importActual("./a")
(call_expression
  function: (member_expression
    object: (identifier) @_mocker
    property: (property_identifier) @_actual)
  arguments: (arguments . [(string) (template_string)] @source)
  (#any-of? @_mocker "vi" "vitest")
  (#eq? @_actual "importActual")) @import.call

; jest.requireActual("./a")
(call_expression
  function: (member_expression
    object: (identifier) @_mocker
    property: (property_identifier) @_actual)
  arguments: (arguments . [(string) (template_string)] @source)
  (#eq? @_mocker "jest")
  (#eq? @_actual "requireActual")) @import.require
