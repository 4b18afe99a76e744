; What a file of JavaScript or TypeScript offers, and what it hands on from another module.

; export * from "./a"
(export_statement "*" @wildcard source: (string) @source) @export.from

; export * as a from "./a"
(export_statement (namespace_export (_) @alias) @wildcard source: (string) @source) @export.from

; export {} from "./a"
(export_statement (export_clause) source: (string) @source) @export.from

; export { a } from "./a"
(export_statement
  (export_clause (export_specifier name: _ @name !alias))
  source: (string) @source) @export.from

; export { a as b } from "./a"
(export_statement
  (export_clause (export_specifier name: _ @name alias: _ @alias))
  source: (string) @source) @export.from

; export { a }
(export_statement (export_clause (export_specifier name: _ @name !alias)) !source) @export

; export { a as b }
(export_statement
  (export_clause (export_specifier name: _ @name alias: _ @alias))
  !source) @export

; export function load() {}, export class Cart {}
(export_statement declaration: (_ name: (_) @name)) @export

; export const a = 1
(export_statement declaration: (_ (variable_declarator name: (identifier) @name))) @export

; export default a
(export_statement "default" @name) @export
