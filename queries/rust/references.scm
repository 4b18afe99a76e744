; What a Rust file calls.

; load()
(call_expression function: (identifier) @name) @reference.call

; cart.total()
(call_expression function: (field_expression value: (_) @receiver field: (_) @name)) @reference.call

; Cart::new()
(call_expression function: (scoped_identifier path: (_) @receiver name: (_) @name)) @reference.call

; ::load()
(call_expression function: (scoped_identifier !path name: (_) @name)) @reference.call

; parse::<u8>()
(call_expression function: (generic_function function: (identifier) @name)) @reference.call

; list.collect::<Vec<_>>()
(call_expression function: (generic_function
  function: (field_expression value: (_) @receiver field: (_) @name))) @reference.call

; Vec::from::<u8>()
(call_expression function: (generic_function
  function: (scoped_identifier path: (_) @receiver name: (_) @name))) @reference.call

; println!("{x}")
(macro_invocation macro: (identifier) @name) @reference.call

; log::info!("{x}")
(macro_invocation macro: (scoped_identifier path: (_) @receiver name: (_) @name)) @reference.call
