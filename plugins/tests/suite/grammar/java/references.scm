; What a Java file calls.

; load()
(method_invocation !object name: (_) @name) @reference.call

; cart.total()
(method_invocation object: (_) @receiver name: (_) @name) @reference.call
