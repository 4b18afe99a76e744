; What a Go file defines: functions, methods by their receivers, and what names are bound.

; func Load() {}
(function_declaration name: (_) @name body: (_) @body) @definition.function

; func (c *Cart) Total() int { return 0 }
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @name
    (pointer_type (type_identifier) @name)
    (generic_type type: (_) @name)
    (pointer_type (generic_type type: (_) @name))
    (parenthesized_type [(type_identifier) @name (pointer_type (type_identifier) @name)])
  ]))
  name: (_) @name
  body: (_) @body) @definition.method

; func(x int) int { return x }
(func_literal body: (_) @body) @definition.function

; total := price * count
(short_var_declaration
  left: (expression_list . (identifier) @name .)
  right: (expression_list . (_) @body .)) @definition.variable

; value, err := load()
(short_var_declaration left: (expression_list (identifier) @name (identifier) @name)) @definition.variable

; var total = price * count
(var_spec . name: (identifier) @name value: (expression_list . (_) @body .)) @definition.variable

; var first, second int
(var_spec name: (identifier) @name @definition.variable)

; const limit = 3
(const_spec name: (identifier) @name @definition.variable)

; func load(path, name string)
(parameter_declaration name: (identifier) @name @definition.variable)

; func load(paths ...string)
(variadic_parameter_declaration name: (identifier) @name @definition.variable)

; for at, one := range list
(range_clause left: (expression_list (identifier) @name @definition.variable) ":=")

; switch it := value.(type)
(type_switch_statement alias: (expression_list (identifier) @name)) @definition.variable

; case one := <-ready:
(receive_statement left: (expression_list (identifier) @name @definition.variable) ":=")

; Server{Handler: func() {}}
(keyed_element
  key: (literal_element (identifier) @name)
  value: (literal_element (func_literal) @body)) @definition.variable

; map[string]func(){"load": func() {}}
(keyed_element
  key: (literal_element (interpreted_string_literal (interpreted_string_literal_content) @name))
  value: (literal_element (func_literal) @body)) @definition.variable

; handler = func() {}
(assignment_statement
  left: (expression_list . [(identifier) (selector_expression)] @name .)
  right: (expression_list . (func_literal) @body .)) @definition.variable

; {}
(block) @scope

; if x := load(); x {}
(if_statement) @scope

; for i := 0; i < n; i++ {}
(for_statement) @scope

; switch x := load(); x {}
(expression_switch_statement) @scope

; switch x := value.(type) {}
(type_switch_statement) @scope

; case 1:
(expression_case) @scope

; case int:
(type_case) @scope

; case one := <-ready:
(communication_case) @scope

; default:
(default_case) @scope
