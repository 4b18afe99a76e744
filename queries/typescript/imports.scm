; What only TypeScript loads or names by its types, beside `ecmascript/imports.scm`.

; import type { A } from "./a"
(import_statement "type" source: (string) @source) @import.type_only

; import a = require("./a")
(import_statement
  (import_require_clause (identifier) @alias source: (string) @source) @wildcard) @import.require

; import type a = require("./a")
(import_statement
  "type"
  (import_require_clause source: (string) @source)) @import.type_only

; export type { A } from "./a"
(export_statement "type" source: (string) @source) @import.type_only

; let a: typeof import("./a")
(type_query (call_expression
  function: (import)
  arguments: (arguments . (string) @source)) @import.type_only)

; let a: typeof import("./a").b
(type_query (member_expression object: (call_expression
  function: (import)
  arguments: (arguments . (string) @source)) @import.type_only))

; declare module "a" { import b from "b" }
(ambient_declaration (module body: (statement_block) @import.type_only))

; await vi.importActual<A>("./a"), which the grammar reads as a call of `await vi.importActual`
(call_expression
  function: (await_expression (member_expression
    object: (identifier) @_mocker
    property: (property_identifier) @_actual))
  arguments: (arguments . [(string) (template_string)] @source)
  (#any-of? @_mocker "vi" "vitest")
  (#eq? @_actual "importActual")) @import.call

; await vi.importMock<A>("./a")
(call_expression
  function: (await_expression (member_expression
    object: (identifier) @_mocker
    property: (property_identifier) @_mock))
  arguments: (arguments . [(string) (template_string)] @source)
  (#any-of? @_mocker "vi" "vitest")
  (#eq? @_mock "importMock")) @import.mock
