; What a Rust file defines: functions, what they are members of, and what names are bound.

; fn load() {}
(function_item name: (_) @name body: (block) @body) @definition.function

; impl Cart { fn total(&self) {} }
(impl_item body: (declaration_list
  (function_item name: (_) @name body: (block) @body) @definition.method))

; trait Shape { fn area(&self) -> f64 { 0.0 } }
(trait_item body: (declaration_list
  (function_item name: (_) @name body: (block) @body) @definition.method))

; |x| x + 1
(closure_expression body: (_) @body) @definition.function

; impl Cart {}
(impl_item !trait type: [(type_identifier) (primitive_type)] @name) @definition.class

; impl<T> Cart<T> {}
(impl_item !trait type: (generic_type type: (_) @name)) @definition.class

; impl shop::Cart {}
(impl_item !trait type: (scoped_type_identifier name: (_) @name)) @definition.class

; impl dyn Shape {}
(impl_item !trait type: [
  (dynamic_type) (reference_type) (tuple_type) (array_type) (pointer_type) (unit_type) (function_type)
] @name) @definition.class

; impl Display for Cart {}
(impl_item
  trait: [
    (type_identifier) @name
    (generic_type type: (type_identifier) @name)
    (generic_type type: (scoped_type_identifier name: (_) @name))
    (scoped_type_identifier name: (_) @name)
  ]
  type: [
    (type_identifier) @name
    (primitive_type) @name
    (generic_type type: (type_identifier) @name)
    (generic_type type: (scoped_type_identifier name: (_) @name))
    (scoped_type_identifier name: (_) @name)
    (dynamic_type) @name
    (reference_type) @name
    (tuple_type) @name
    (array_type) @name
    (pointer_type) @name
    (unit_type) @name
    (function_type) @name
  ]) @definition.class

; trait Shape {}
(trait_item name: (_) @name) @definition.class

; mod inner {}
(mod_item name: (_) @name body: (_)) @definition.class

; let total = price * count;
(let_declaration pattern: (identifier) @name value: (_)? @body) @definition.variable

; const LIMIT: u32 = 3;
(const_item name: (_) @name value: (_)? @body) @definition.variable

; static TABLE: LazyLock<Table> = LazyLock::new(|| Table::new());
(static_item name: (_) @name value: (_)? @body) @definition.variable

; Handlers { on_click: |x| x }
(field_initializer field: (_) @name value: (_) @body) @definition.variable

; fn load(path: &str)
(parameter pattern: (identifier) @name) @definition.variable

; |path, count|
(closure_parameters (identifier) @name @definition.variable)

; for one in list
(for_expression pattern: (identifier) @name) @definition.variable

; if let one = list
(let_condition pattern: (identifier) @name) @definition.variable

; match it { other => 1 }
(match_pattern . (identifier) @name) @definition.variable

; (first, second)
(tuple_pattern (identifier) @name @definition.variable)

; Some(value)
(tuple_struct_pattern type: (_) (identifier) @name @definition.variable)

; [first, ..]
(slice_pattern (identifier) @name @definition.variable)

; Point { x, .. }
(field_pattern name: (shorthand_field_identifier) @name) @definition.variable

; Point { x: left }
(field_pattern pattern: (identifier) @name) @definition.variable

; mut value
(mut_pattern (identifier) @name) @definition.variable

; ref value
(ref_pattern (identifier) @name) @definition.variable

; &value
(reference_pattern (identifier) @name) @definition.variable

; whole @ Some(_)
(captured_pattern . (identifier) @name) @definition.variable

; one | Some(one)
(or_pattern (identifier) @name @definition.variable)

; {}
(block) @scope

; Some(x) => x,
(match_arm) @scope

; if let Some(x) = it {}
(if_expression) @scope

; while let Some(x) = it.next() {}
(while_expression) @scope

; for x in it {}
(for_expression) @scope
