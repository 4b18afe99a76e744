; The functions and classes of JavaScript and TypeScript; matches with one outer node are one definition.

; function load() {}
(function_declaration name: (identifier) @name body: (statement_block) @body) @definition.function

; function* pages() {}
(generator_function_declaration
  name: (identifier) @name
  body: (statement_block) @body) @definition.function

; export default function () {}, items.map(function () {})
(function_expression body: (statement_block) @body) @definition.function

; items.map(function double() {})
(function_expression name: (identifier) @name body: (statement_block) @body) @definition.function

; items.map(function* () {})
(generator_function body: (statement_block) @body) @definition.function

; items.map(function* pages() {})
(generator_function name: (identifier) @name body: (statement_block) @body) @definition.function

; (a) => a
(arrow_function body: (_) @body) @definition.function

; class Cart { total() {} get size() {} }, const cart = { total() {} }
(method_definition name: (_) @name body: (statement_block) @body) @definition.method

; const load = () => {}
(variable_declarator
  name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)] @definition.function)

; load = () => {}
(assignment_expression
  left: (identifier) @name
  right: [(arrow_function) (function_expression) (generator_function)] @definition.function)

; exports.load = () => {}
(assignment_expression
  left: (member_expression) @name
  right: [(arrow_function) (function_expression) (generator_function)] @definition.function)

; { onClick: () => {} }
(pair
  key: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)] @definition.method)

; class Cart {}
(class_declaration name: (_) @name body: (class_body) @body) @definition.class

; return class {}
(class body: (class_body) @body) @definition.class

; return class Cart {}
(class name: (_) @name body: (class_body) @body) @definition.class

; const Cart = class {}
(variable_declarator name: (identifier) @name value: (class) @definition.class)

; const handlers = {}
(variable_declarator name: (identifier) @name value: (object) @definition.variable)

; { inner: {} }
(pair key: (property_identifier) @name value: (object) @definition.variable)

; handlers = {}
(assignment_expression left: [(identifier) (member_expression)] @name right: (object) @definition.variable)

; f({})
(object) @definition.variable
