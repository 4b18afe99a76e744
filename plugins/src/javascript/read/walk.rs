//! The one walk over the syntax tree. It keeps the stack of ancestors and hands each
//! node that may be a fact to the module that knows about it; it decides nothing
//! itself.

use owed_engine::facts::{self, Export, Import, Test};
use oxc_ast::AstKind;
use oxc_ast::ast::{
    Class, Expression, IdentifierReference, PropertyKey, TSSignature, TSType, TemplateLiteral,
};
use oxc_ast_visit::Visit;
use oxc_semantic::{Scoping, SymbolFlags, SymbolId};
use oxc_span::{GetSpan, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cases::Suite;
use super::clocks::{Body, Timers};
use super::digest::Erasures;
use super::effects::Noted;
use super::held::Held;
use super::lines::Lines;
use super::spaces::Space;
use super::table::{self, Table};
use super::units::Units;
use super::watched::Watched;

/// What a symbol stands for, as far as it can be told from its declaration.
#[derive(Clone, Debug, Default)]
pub(super) enum Binding<'a> {
    /// Nothing that is followed: a parameter, a function, a reassigned variable.
    #[default]
    None,
    /// An imported name (`None`: the namespace) of the import at this index.
    Import {
        /// Index into [`Walk::imports`].
        import: usize,
        /// The imported name.
        name: Option<&'a str>,
    },
    /// A variable that always holds its initialiser, or a property of it.
    Init {
        /// The initialiser.
        init: &'a Expression<'a>,
        /// The keys a destructuring pattern follows into it.
        keys: Vec<&'a str>,
    },
    /// A class declaration.
    Class(&'a Class<'a>),
    /// The variable of `for (const x of list)`.
    Each {
        /// The list.
        list: &'a Expression<'a>,
    },
}

/// What is known about one symbol.
#[derive(Clone, Debug, Default)]
pub(super) struct Known<'a> {
    /// What it stands for.
    pub(super) binding: Binding<'a>,
    /// Its entry in [`Walk::spaces`], plus one; 0 when it holds no module.
    pub(super) space: u32,
    /// Whether it is known to stand for no operation of the table.
    pub(super) inert: bool,
    /// What is built on its value and must be watched, plus one; 0 for nothing.
    pub(super) watched: u32,
    /// Whether it holds the place of this file, or a path built from it.
    pub(super) own_path: bool,
    /// Whether it was met before its declaration.
    pub(super) met: bool,
    /// Whether it may be `undefined`.
    pub(super) may_lack: bool,
    /// The type it is declared with.
    pub(super) typed: Option<&'a TSType<'a>>,
    /// Declared without a value.
    pub(super) blank: bool,
    /// What was assigned to it, and how many of its writes agree so far.
    pub(super) assigned: Option<&'a Expression<'a>>,
    pub(super) writes: usize,
}

/// The state of the walk over one file.
pub(super) struct Walk<'s, 'a> {
    /// The text that was parsed.
    pub(super) source: &'a str,
    /// The file's base name.
    pub(super) file: &'a str,
    /// Scopes, symbols and references.
    pub(super) scoping: &'s Scoping,
    /// Its lines.
    pub(super) lines: &'s Lines,
    /// The effect table.
    pub(super) table: &'static Table,
    /// A declaration file: nothing in it runs.
    pub(super) declarations: bool,
    /// A template (`.vue`) uses the bindings too: modules are taken whole.
    pub(super) whole: bool,
    /// The ancestors of the node being visited, itself last.
    pub(super) stack: Vec<AstKind<'a>>,
    /// By symbol.
    pub(super) known: Vec<Known<'a>>,
    /// Interfaces and object types of the file.
    pub(super) shapes: FxHashMap<&'a str, &'a [TSSignature<'a>]>,
    /// Symbols that other files can reach.
    pub(super) exported: FxHashSet<SymbolId>,
    /// The top-level bindings under construction.
    pub(super) units: Units<'a>,
    /// Modules held by a variable.
    pub(super) spaces: Vec<Space<'a>>,
    /// Spans of types, for the digests.
    pub(super) erasures: Erasures,
    /// Depth of classes whose types a decorator may emit.
    pub(super) decorated: u32,
    /// Whether references from types count in the unit being walked.
    pub(super) keep_types: bool,
    /// Enclosing `try` blocks with a handler, of the function being walked.
    pub(super) tries: Vec<u32>,
    /// Enclosing functions and classes that have a `this` of their own.
    pub(super) receivers: u32,
    /// A sloppy `this` is being followed.
    pub(super) bare_this: bool,
    /// A loop variable and the element it holds, while all of them are tried.
    pub(super) chosen: Option<(SymbolId, &'a Expression<'a>)>,
    /// The first JSX element.
    pub(super) jsx: Option<Span>,
    /// Enclosing suites.
    pub(super) suites: Vec<Suite>,
    /// Facts.
    pub(super) imports: Vec<Import>,
    /// Facts.
    pub(super) exports: Vec<Export>,
    /// Facts, with the unit they were seen in.
    pub(super) effects: Vec<Noted>,
    /// Values whose uses decide about an effect.
    pub(super) watched: Vec<Watched>,
    /// Effects that wait for the rest of the file.
    pub(super) held: Held<'a>,
    /// Functions around the node being visited, outermost first.
    pub(super) bodies: Vec<Body>,
    /// Fake timers.
    pub(super) timers: Timers,
    /// Facts.
    pub(super) tests: Vec<Test>,
}

impl<'s, 'a> Walk<'s, 'a> {
    /// A walk that has seen nothing.
    pub(super) fn new(source: &'a str, file: &'a str, scoping: &'s Scoping, lines: &'s Lines) -> Self {
        Self {
            source,
            file,
            scoping,
            lines,
            table: table::table(),
            declarations: false,
            whole: false,
            stack: Vec::with_capacity(64),
            known: vec![Known::default(); scoping.symbols_len()],
            shapes: FxHashMap::default(),
            exported: FxHashSet::default(),
            units: Units::new(scoping.symbols_len()),
            spaces: Vec::new(),
            erasures: Erasures::default(),
            decorated: 0,
            keep_types: false,
            tries: vec![0],
            receivers: 0,
            bare_this: false,
            chosen: None,
            jsx: None,
            suites: Vec::new(),
            imports: Vec::new(),
            exports: Vec::new(),
            effects: Vec::new(),
            watched: Vec::new(),
            held: Held::default(),
            bodies: Vec::new(),
            timers: Timers::default(),
            tests: Vec::new(),
        }
    }

    /// A span and its line, as facts want them.
    pub(super) fn place(&self, span: Span) -> (u32, facts::Span) {
        (self.lines.line(span.start), facts::Span { start: span.start, end: span.end })
    }

    /// The symbol an identifier refers to. What is only declared to exist (`declare const
    /// x`) is a global.
    pub(super) fn symbol(&self, it: &IdentifierReference<'a>) -> Option<SymbolId> {
        let symbol = self.scoping.get_reference(it.reference_id.get()?).symbol_id()?;
        (!self.is_ambient(symbol)).then_some(symbol)
    }

    fn is_ambient(&self, symbol: SymbolId) -> bool {
        let flags = self.scoping.symbol_flags(symbol);
        flags.contains(SymbolFlags::Ambient) && !flags.intersects(SymbolFlags::Import)
    }

    /// Whether an identifier is the global of that name.
    pub(super) fn is_global(&self, it: &IdentifierReference<'a>, name: &str) -> bool {
        it.name == name && it.reference_id.get().is_some() && self.symbol(it).is_none()
    }

    /// The node `up` levels above the one being visited (0: itself).
    pub(super) fn ancestor(&self, up: usize) -> Option<AstKind<'a>> {
        self.stack.len().checked_sub(up + 1).map(|at| self.stack[at])
    }

    fn on_identifier(&mut self, it: &'a IdentifierReference<'a>) {
        let Some(id) = it.reference_id.get() else { return };
        let reference = self.scoping.get_reference(id);
        let (value, read) = (reference.flags().is_value(), reference.flags().is_read());
        let Some(symbol) = reference.symbol_id() else {
            if value {
                self.on_global(it);
            } else if it.name == "Buffer" {
                self.held.buffers = true;
            }
            return;
        };
        if !value && !self.keep_types {
            return;
        }
        let known = &self.known[symbol.index()];
        if known.space != 0 && !self.whole {
            let space = known.space as usize - 1;
            self.on_space(space);
        } else if self.scoping.symbol_scope_id(symbol) == self.scoping.root_scope_id() {
            self.units.refer(symbol);
        }
        if !value {
            return;
        }
        if self.is_ambient(symbol) {
            return self.on_global(it);
        }
        let known = &mut self.known[symbol.index()];
        known.met |= read;
        let (watched, own_path, inert) = (known.watched, known.own_path, known.inert);
        if watched != 0 {
            self.on_watched(watched as usize - 1, 0);
        }
        if own_path {
            self.on_own_path(0, "__dirname", it.span);
        }
        if !inert {
            self.on_alias(it, symbol);
        }
    }
}

/// The text of a property key that is not computed at run time.
pub(super) fn static_key<'a>(key: &'a PropertyKey<'a>) -> Option<&'a str> {
    match key {
        PropertyKey::StaticIdentifier(it) => Some(it.name.as_str()),
        PropertyKey::StringLiteral(it) => Some(it.value.as_str()),
        PropertyKey::TemplateLiteral(it) => whole_template(it),
        _ => None,
    }
}

/// The text of a computed key that is a literal.
pub(super) fn key<'a>(it: &'a Expression<'a>) -> Option<&'a str> {
    match it.get_inner_expression() {
        Expression::StringLiteral(it) if !it.lone_surrogates => Some(it.value.as_str()),
        Expression::TemplateLiteral(it) => whole_template(it),
        _ => None,
    }
}

fn whole_template<'a>(it: &'a TemplateLiteral<'a>) -> Option<&'a str> {
    match it.quasis.as_slice() {
        [whole] => whole.value.cooked.as_ref().map(|text| text.as_str()),
        _ => None,
    }
}

impl<'a> Visit<'a> for Walk<'_, 'a> {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        self.stack.push(kind);
        match kind {
            AstKind::IdentifierReference(it) => self.on_identifier(it),
            AstKind::StaticMemberExpression(it) => self.on_member(it),
            AstKind::ComputedMemberExpression(it) => self.on_computed(it),
            AstKind::CallExpression(it) => {
                self.on_call(it);
                self.enter_case(it);
            }
            AstKind::NewExpression(it) => self.on_new(it),
            AstKind::ImportExpression(it) => self.on_import_expression(it),
            AstKind::ImportMeta(_) => self.on_import_meta(),
            AstKind::TSImportType(it) => self.on_import_type(it),
            // Top-level statements are read before the walk; these are inside
            // `declare module "x" { … }`.
            AstKind::ImportDeclaration(it) => self.ambient_import(&it.source, it.span),
            AstKind::ExportAllDeclaration(it) => self.ambient_import(&it.source, it.span),
            AstKind::ExportFromDeclaration(it) => self.ambient_import(&it.source, it.span),
            AstKind::ThisExpression(_) => self.on_this(),
            AstKind::Super(_) => self.on_super(),
            AstKind::VariableDeclaration(it) => {
                for declarator in &it.declarations {
                    self.bind(declarator, it.kind.is_const());
                }
            }
            AstKind::FormalParameter(it) => self.on_parameter(it),
            AstKind::BindingProperty(it) => self.on_binding_property(it),
            AstKind::AssignmentTargetPropertyIdentifier(it) => {
                self.on_assigned_property(it.binding.name.as_str(), it.span);
            }
            AstKind::AssignmentTargetPropertyProperty(it) => {
                if let Some(name) = static_key(&it.name) {
                    self.on_assigned_property(name, it.span);
                }
            }
            AstKind::ExpressionStatement(it) => self.on_timer_statement(it),
            AstKind::ForOfStatement(it) => self.bind_each(&it.left, &it.right),
            AstKind::AssignmentExpression(it) => self.on_assignment(it),
            AstKind::JSXElement(_) | AstKind::JSXFragment(_) => {
                self.jsx.get_or_insert(kind.span());
            }
            AstKind::Function(_) => {
                self.receivers += 1;
                self.tries.push(0);
                self.enter_body(kind.span());
            }
            AstKind::ArrowFunctionExpression(_) => {
                self.tries.push(0);
                self.enter_body(kind.span());
            }
            AstKind::BlockStatement(it) => {
                if let Some(AstKind::TryStatement(parent)) = self.ancestor(1)
                    && parent.handler.is_some()
                    && parent.block.span == it.span
                {
                    *self.tries.last_mut().expect("never empty") += 1;
                }
            }
            AstKind::WithStatement(it) => self.on_with(it),
            AstKind::Class(it) => self.enter_class(it),
            AstKind::TSTypeAnnotation(_)
            | AstKind::TSTypeParameterDeclaration(_)
            | AstKind::TSTypeParameterInstantiation(_)
            | AstKind::TSIndexSignature(_)
            | AstKind::TSThisParameter(_) => self.erase(kind.span()),
            AstKind::TSAsExpression(it) => self.erase_after_keyword(it.type_annotation.span(), it.span),
            AstKind::TSSatisfiesExpression(it) => {
                self.erase_after_keyword(it.type_annotation.span(), it.span);
            }
            AstKind::TSNonNullExpression(it) => self.erase(Span::new(it.span.end - 1, it.span.end)),
            AstKind::MethodDefinition(it) if it.r#type.is_abstract() || it.value.body.is_none() => {
                self.erase(it.span);
            }
            AstKind::PropertyDefinition(it) if it.declare || it.r#type.is_abstract() => self.erase(it.span),
            _ => {}
        }
    }

    fn leave_node(&mut self, kind: AstKind<'a>) {
        match kind {
            AstKind::CallExpression(it) => self.leave_case(it),
            AstKind::Function(_) => {
                self.receivers -= 1;
                self.tries.pop();
                self.leave_body();
            }
            AstKind::ArrowFunctionExpression(_) => {
                self.tries.pop();
                self.leave_body();
            }
            AstKind::BlockStatement(it) => {
                if let Some(AstKind::TryStatement(parent)) = self.ancestor(1)
                    && parent.handler.is_some()
                    && parent.block.span == it.span
                {
                    *self.tries.last_mut().expect("never empty") -= 1;
                }
            }
            AstKind::Class(it) => self.leave_class(it),
            _ => {}
        }
        self.stack.pop();
    }
}
