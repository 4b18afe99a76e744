; What a Java file defines: classes, methods, lambdas, and what names are bound.

; class Cart {}
(class_declaration name: (_) @name) @definition.class

; interface Shape {}
(interface_declaration name: (_) @name) @definition.class

; int total() { return 1; }
(method_declaration name: (_) @name body: (_) @body) @definition.method

; Cart() {}
(constructor_declaration name: (_) @name body: (_) @body) @definition.method

; x -> x + 1
(lambda_expression body: (_) @body) @definition.function

; int total = price * count;
(variable_declarator name: (identifier) @name value: (_)? @body) @definition.variable

; int load(String path)
(formal_parameter name: (identifier) @name) @definition.variable

; {}
(block) @scope
