//! One configuration module: its bindings, its exports, and what changes them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use owed_engine::digest::Digest;
use owed_engine::path;
use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Declaration, ExportDefaultDeclarationKind, Expression, Function, ImportDeclarationSpecifier, Program,
    Statement,
};
use oxc_parser::Parser;
use oxc_span::{GetSpan, SourceType};

use super::edits::{self, Edits};
use super::function::{self, FunctionNode};
use super::pattern::{Step, bind};
use super::value::{Entry, Object, Value};
use super::{Reader, unknown};

/// Brackets inside each other that are still parsed; the parser descends recursively.
const NESTING: usize = 400;

/// Parses `text`, the content of the file at `path`, and asks the module.
pub(super) fn with(
    reader: &Reader<'_>,
    path: &str,
    text: &str,
    ask: impl FnOnce(&Module<'_, '_>) -> Value,
) -> Value {
    if nesting(text) > NESTING {
        return unknown("a configuration file nested too deep", path, 1);
    }
    let allocator = Allocator::default();
    let Some(program) = parsed(&allocator, path, text) else {
        return unknown("a configuration file with a syntax error", path, 1);
    };
    // What is evaluated is the tree; nothing below looks at a comment.
    reader.tree.code_is(path, &|| without_comments(text, &program));
    let module = Module::new(reader, path, text, &program);
    ask(&module)
}

/// The digest of what an evaluation of `text` looks at; `None` when there is none.
pub fn code(path: &str, text: &str) -> Option<Digest> {
    let allocator = Allocator::default();
    let program = (nesting(text) <= NESTING).then(|| parsed(&allocator, path, text))??;
    Some(without_comments(text, &program))
}

/// The tree of `text`; `None` when it has a syntax error.
fn parsed<'a>(allocator: &'a Allocator, path: &str, text: &'a str) -> Option<Program<'a>> {
    let source_type = SourceType::from_path(path).unwrap_or_default();
    let mut parsed = Parser::new(allocator, text, source_type).parse();
    if !parsed.diagnostics.is_empty() {
        // `.js` may hold JSX or, with a transpiling loader, types.
        let wider = SourceType::tsx();
        let again = Parser::new(allocator, text, wider).parse();
        if again.diagnostics.is_empty() {
            parsed = again;
        }
    }
    (!parsed.panicked && parsed.diagnostics.is_empty()).then_some(parsed.program)
}

/// Of the text with spaces for its comments, so that all else stays where it is, and on its line.
/// What is not ASCII is left in place: it may end a line.
fn without_comments(text: &str, program: &Program<'_>) -> Digest {
    let mut bytes = text.as_bytes().to_vec();
    for comment in &program.comments {
        let range = comment.span.start as usize..comment.span.end as usize;
        let blanks = bytes[range].iter_mut().filter(|byte| byte.is_ascii() && !matches!(byte, b'\n' | b'\r'));
        blanks.for_each(|byte| *byte = b' ');
    }
    Digest::of(bytes.trim_ascii_end())
}

fn nesting(text: &str) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => {
                depth += 1;
                most = most.max(depth);
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// What a name of the module's top level stands for.
pub(super) enum Binding<'b, 'a> {
    /// `const x = expression`, or a part of it when it is taken apart.
    Value(&'b Expression<'a>, Vec<Step>),
    /// `function x() {}`.
    Function(&'b Function<'a>),
    /// `import …`: specifier and name (`*` for the namespace).
    Import(String, String),
    /// Something else (`let x;`, a class).
    Other(u32),
}

/// A parsed configuration module.
pub(super) struct Module<'b, 'a> {
    pub(super) reader: &'b Reader<'b>,
    pub(super) path: &'b str,
    pub(super) text: &'b str,
    program: &'b Program<'a>,
    bindings: BTreeMap<String, Binding<'b, 'a>>,
    pub(super) functions: BTreeMap<u32, FunctionNode<'a>>,
    edits: Edits<'b, 'a>,
    busy: RefCell<Vec<String>>,
    memo: RefCell<BTreeMap<String, Value>>,
}

impl<'b, 'a> Module<'b, 'a> {
    fn new(reader: &'b Reader<'b>, path: &'b str, text: &'b str, program: &'b Program<'a>) -> Self {
        let mut module = Self {
            reader,
            path,
            text,
            program,
            bindings: BTreeMap::new(),
            functions: function::collect(program),
            edits: edits::collect(program),
            busy: RefCell::default(),
            memo: RefCell::default(),
        };
        for statement in &program.body {
            match statement {
                Statement::ImportDeclaration(import) => {
                    let source = import.source.value.to_string();
                    for specifier in import.specifiers.iter().flatten() {
                        let (local, name) = match specifier {
                            ImportDeclarationSpecifier::ImportSpecifier(s) => {
                                (s.local.name.to_string(), s.imported.name().to_string())
                            }
                            ImportDeclarationSpecifier::ImportDefaultSpecifier(s) => {
                                (s.local.name.to_string(), "default".to_owned())
                            }
                            ImportDeclarationSpecifier::ImportNamespaceSpecifier(s) => {
                                (s.local.name.to_string(), "*".to_owned())
                            }
                        };
                        module.bindings.insert(local, Binding::Import(source.clone(), name));
                    }
                }
                Statement::ExportDeclaration(export) => module.declare(&export.declaration),
                Statement::ExportDefaultDeclaration(export) => {
                    if let ExportDefaultDeclarationKind::FunctionDeclaration(f) = &export.declaration
                        && let Some(id) = &f.id
                    {
                        module.bindings.insert(id.name.to_string(), Binding::Function(f));
                    }
                }
                other => {
                    if let Some(declaration) = other.as_declaration() {
                        module.declare(declaration);
                    }
                }
            }
        }
        module
    }

    fn declare(&mut self, declaration: &'b Declaration<'a>) {
        match declaration {
            Declaration::VariableDeclaration(variables) => {
                for variable in &variables.declarations {
                    match &variable.init {
                        Some(init) => bind(&variable.id, Vec::new(), &mut |name, steps| {
                            self.bindings.insert(name, Binding::Value(init, steps));
                        }),
                        None => bind(&variable.id, Vec::new(), &mut |name, _| {
                            self.bindings.insert(name, Binding::Other(variable.span.start));
                        }),
                    }
                }
            }
            Declaration::FunctionDeclaration(f) => {
                if let Some(id) = &f.id {
                    self.bindings.insert(id.name.to_string(), Binding::Function(f));
                }
            }
            Declaration::TSImportEqualsDeclaration(import) => {
                if let oxc_ast::ast::TSModuleReference::ExternalModuleReference(external) =
                    &import.module_reference
                {
                    let source = external.expression.value.to_string();
                    self.bindings.insert(import.id.name.to_string(), Binding::Import(source, "*".to_owned()));
                }
            }
            other => {
                if let Some(id) = other.id() {
                    self.bindings.insert(id.name.to_string(), Binding::Other(id.span.start));
                }
            }
        }
    }

    /// The 1-based line of the byte `offset`.
    pub(super) fn line(&self, offset: u32) -> u32 {
        let end = (offset as usize).min(self.text.len());
        let lines = memchr::memchr_iter(b'\n', &self.text.as_bytes()[..end]).count();
        u32::try_from(lines + 1).unwrap_or(u32::MAX)
    }

    /// Something unknown at the byte `offset`.
    pub(super) fn unknown(&self, reason: impl Into<String>, offset: u32) -> Value {
        unknown(reason, self.path, self.line(offset))
    }

    /// The directory of the file, absolute.
    pub(super) fn dir(&self) -> String {
        self.reader.absolute(path::dirname(self.path))
    }

    /// The value of a name of the top level; `None` when there is no such binding.
    pub(super) fn binding(&self, name: &str) -> Option<Value> {
        let binding = self.bindings.get(name)?;
        if let Some(value) = self.memo.borrow().get(name) {
            return Some(value.clone());
        }
        if self.busy.borrow().iter().any(|n| n == name) {
            return Some(unknown(format!("`{name}`, which depends on itself"), self.path, 1));
        }
        self.busy.borrow_mut().push(name.to_owned());
        let value = match binding {
            Binding::Value(init, steps) => {
                let value = self.value(init, &[]);
                let value = self.taken(value, steps, init.span().start);
                self.edited(name, value)
            }
            Binding::Function(f) => self.edited(name, self.function_value(f.span.start, &[])),
            Binding::Import(source, name) => self.reader.import(self, source, name),
            Binding::Other(at) => self.edited(name, self.unknown(format!("`{name}`"), *at)),
        };
        self.busy.borrow_mut().pop();
        self.memo.borrow_mut().insert(name.to_owned(), value.clone());
        Some(value)
    }

    /// Follows the steps into a value that is taken apart.
    pub(super) fn taken(&self, mut value: Value, steps: &[Step], at: u32) -> Value {
        for step in steps {
            value = match step {
                Step::Key(key) => self.member(&value, key, at),
                Step::Index(index) => Value::either(
                    value
                        .alternatives()
                        .iter()
                        .map(|v| match v {
                            Value::Array(items) => items.get(*index).cloned().unwrap_or_default(),
                            other => Value::Unknown(other.unknown("a value taken apart")),
                        })
                        .collect(),
                ),
                Step::Unknown => self.unknown("a value taken apart", at),
            };
        }
        value
    }

    /// `value`, which `name` was declared with, after everything that changes it.
    fn edited(&self, name: &str, mut value: Value) -> Value {
        if let Some(at) = self.edits.blocked(name) {
            return self.unknown(format!("`{name}`, which is changed after its declaration"), at);
        }
        for edit in self.edits.of(name) {
            let new = self.value(edit.value, &[]);
            value = edits::apply(self, value, edit, new);
        }
        value
    }

    /// Whether the local name `name` (of a function) is changed somewhere.
    pub(super) fn changes_local(&self, name: &str) -> Option<u32> {
        self.edits.blocked(name).or_else(|| self.edits.of(name).next().map(|e| e.at))
    }

    /// The value of the export `name` (`*` for all of them).
    pub(super) fn export(&self, name: &str) -> Value {
        if let Some(value) = self.common(name) {
            return value;
        }
        if name == "*" {
            return Value::Module(self.path.to_owned());
        }
        let mut stars = Vec::new();
        for statement in &self.program.body {
            match statement {
                Statement::ExportDefaultDeclaration(export) if name == "default" => {
                    return match &export.declaration {
                        ExportDefaultDeclarationKind::FunctionDeclaration(f) => {
                            self.function_value(f.span.start, &[])
                        }
                        other => match other.as_expression() {
                            Some(expression) => self.value(expression, &[]),
                            None => self.unknown("a default export", export.span.start),
                        },
                    };
                }
                Statement::TSExportAssignment(export) if name == "default" => {
                    return self.value(&export.expression, &[]);
                }
                Statement::ExportDeclaration(export) => {
                    let mut hit = export.declaration.id().is_some_and(|id| id.name == name);
                    if let Declaration::VariableDeclaration(variables) = &export.declaration {
                        for variable in &variables.declarations {
                            bind(&variable.id, Vec::new(), &mut |local, _| hit |= local == name);
                        }
                    }
                    if hit {
                        return self.binding(name).unwrap_or_default();
                    }
                }
                Statement::ExportNamedDeclaration(export) => {
                    for specifier in &export.specifiers {
                        if specifier.exported.name() == name {
                            let local = specifier.local.name();
                            return self
                                .binding(&local)
                                .unwrap_or_else(|| self.unknown(format!("`{local}`"), specifier.span.start));
                        }
                    }
                }
                Statement::ExportFromDeclaration(export) => {
                    for specifier in &export.specifiers {
                        if specifier.exported.name() == name {
                            return self.reader.import(self, &export.source.value, &specifier.local.name());
                        }
                    }
                }
                Statement::ExportAllDeclaration(export) => match &export.exported {
                    Some(exported) if exported.name() == name => {
                        return self.reader.import(self, &export.source.value, "*");
                    }
                    Some(_) => {}
                    None => stars.push(export.source.value.to_string()),
                },
                _ => {}
            }
        }
        if name != "default" {
            for source in stars {
                let value = self.reader.import(self, &source, name);
                if value != Value::Undefined {
                    return value;
                }
            }
        }
        Value::Undefined
    }

    /// The export `name` of a CommonJS module; `None` when it assigns to none.
    fn common(&self, name: &str) -> Option<Value> {
        let whole = match self.edits.blocked("module.exports") {
            Some(at) => self.unknown("`module.exports`, which is set in several places", at),
            None => {
                let mut edits = self.edits.of("module.exports").peekable();
                edits.peek()?;
                let mut value = Value::Object(Object::default());
                for edit in edits {
                    let new = self.value(edit.value, &[]);
                    value = edits::apply(self, value, edit, new);
                }
                value
            }
        };
        match name {
            "default" => match &whole {
                // Transpiled ES modules: `exports.default = …`.
                Value::Object(object)
                    if object.0.iter().any(|e| matches!(e, Entry::Key(k, _) if k == "default")) =>
                {
                    Some(whole.get("default"))
                }
                _ => Some(whole),
            },
            "*" => Some(whole),
            other => Some(self.member(&whole, other, 0)),
        }
    }
}
