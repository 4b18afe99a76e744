; The functions and classes of a Python file; matches with one outer node are one definition.

; def load(): ...
(function_definition name: (identifier) @name body: (block) @body) @definition.function

; class Cart: def total(self): ...
(class_definition
  body: (block (function_definition name: (identifier) @name body: (block) @body) @definition.method))

; class Cart: @property def total(self): ...
(class_definition
  body: (block (decorated_definition
    definition: (function_definition name: (identifier) @name body: (block) @body) @definition.method)))

; lambda a: a
(lambda body: (_) @body) @definition.function

; load = lambda a: a
(assignment left: [(identifier) (attribute)] @name right: (lambda) @definition.function)

; sorted(a, key=lambda a: a)
(keyword_argument name: (identifier) @name value: (lambda) @definition.method)

; { "a": lambda a: a }
(pair key: (_) @name value: (lambda) @definition.method)

; class Cart: ...
(class_definition name: (identifier) @name body: (block) @body) @definition.class

; handlers = {}
(assignment left: [(identifier) (attribute)] @name right: (dictionary) @definition.variable)

; f({})
(dictionary) @definition.variable
