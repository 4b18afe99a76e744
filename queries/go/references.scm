; What a Go file calls.

; load()
(call_expression function: (identifier) @name) @reference.call

; cart.Total()
(call_expression function: (selector_expression operand: (_) @receiver field: (_) @name)) @reference.call

; Map[int](list)
(call_expression function: (type_instantiation_expression type: (type_identifier) @name)) @reference.call
