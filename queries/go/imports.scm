; Which packages a Go file imports.

; import "fmt"
(import_spec !name path: [
  (interpreted_string_literal (interpreted_string_literal_content) @source)
  (raw_string_literal (raw_string_literal_content) @source)
]) @import

; import m "math"
(import_spec name: [(package_identifier) (blank_identifier)] @alias path: [
  (interpreted_string_literal (interpreted_string_literal_content) @source)
  (raw_string_literal (raw_string_literal_content) @source)
]) @import

; import . "strings"
(import_spec name: (dot) @wildcard path: [
  (interpreted_string_literal (interpreted_string_literal_content) @source)
  (raw_string_literal (raw_string_literal_content) @source)
]) @import

