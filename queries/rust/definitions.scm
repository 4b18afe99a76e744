; What a Rust file defines: functions, methods, closures, and what names them.

; fn load() {}
(function_item name: (identifier) @name body: (block) @body) @definition.function
