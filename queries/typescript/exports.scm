; What only TypeScript can offer, beside `ecmascript/exports.scm`.

; export = a
(export_statement "=" @name) @export
