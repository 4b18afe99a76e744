//! From an expression to an operation of the table: which global or module it leads to
//! and by which members.
//!
//! Only an unresolved global, an import of a module of the table, or a constant that
//! holds one of them is a root. `o.process`, a parameter called `fs` and a type never
//! are.

use oxc_ast::AstKind;
use oxc_ast::ast::{
    Argument, BindingPattern, CallExpression, ChainElement, Expression, IdentifierReference, ObjectPattern,
};
use oxc_semantic::SymbolId;
use oxc_span::{GetSpan, Span};
use oxc_syntax::operator::{BinaryOperator, UnaryOperator};

use super::table::Root;
use super::walk::{Binding, Walk, static_key};

/// How far aliases are followed.
const STEPS: u32 = 12;

/// A place in the table, or below it.
#[derive(Clone, Debug)]
pub(super) struct Op<'a> {
    /// The global or module.
    pub(super) root: &'static Root,
    /// The members read from it.
    pub(super) path: Vec<&'a str>,
}

/// What the program does with an operation.
#[derive(Clone, Copy)]
pub(super) enum Usage<'a> {
    /// Calls it.
    Call(&'a CallExpression<'a>),
    /// Constructs it.
    New(&'a oxc_ast::ast::NewExpression<'a>),
    /// Calls it in a way that hides the arguments (a tag, `.apply`).
    Hidden,
    /// Asks whether it is there, or compares it.
    Test,
    /// Assigns to it.
    Write,
    /// Takes members of it apart: `const { A } = process.env`.
    Pattern(&'a ObjectPattern<'a>),
    /// Indexes it with a key that is not constant.
    Computed,
    /// Asks whether it has the member: `"X" in process.env`.
    Has(&'a Expression<'a>),
    /// Patches one of its members: `vi.spyOn(Date, "now")`.
    Patch,
    /// Gives it a name that is followed.
    Alias,
    /// Lets it go: passes it on, returns it, spreads it.
    Escape,
}

/// An operation where it is used.
pub(super) struct Site<'a> {
    pub(super) op: Op<'a>,
    pub(super) usage: Usage<'a>,
    pub(super) span: Span,
    /// How many levels above the visited node the used expression is.
    pub(super) up: usize,
}

/// Names of the global object.
fn is_global_object(name: &str) -> bool {
    matches!(name, "globalThis" | "global" | "self" | "window")
}

impl<'a> Walk<'_, 'a> {
    /// The operation an expression stands for.
    pub(super) fn operation(&self, it: &'a Expression<'a>) -> Option<Op<'a>> {
        self.lead(it, STEPS)
    }

    fn lead(&self, it: &'a Expression<'a>, steps: u32) -> Option<Op<'a>> {
        if steps == 0 {
            return None;
        }
        let steps = steps - 1;
        match it.get_inner_expression() {
            Expression::Identifier(it) => self.lead_name(it, steps),
            Expression::StaticMemberExpression(it) => {
                self.lead_member(&it.object, it.property.name.as_str(), steps)
            }
            Expression::ComputedMemberExpression(it) => match &it.expression {
                Expression::StringLiteral(key) => self.lead_member(&it.object, key.value.as_str(), steps),
                _ => None,
            },
            Expression::ChainExpression(it) => match &it.expression {
                ChainElement::StaticMemberExpression(it) => {
                    self.lead_member(&it.object, it.property.name.as_str(), steps)
                }
                ChainElement::CallExpression(it) => self.lead_call(it, steps),
                _ => None,
            },
            Expression::CallExpression(it) => self.lead_call(it, steps),
            Expression::AwaitExpression(it) => self.lead(&it.argument, steps),
            Expression::ImportExpression(it) => match &it.source {
                Expression::StringLiteral(source) => self.module(&source.value),
                _ => None,
            },
            Expression::SequenceExpression(it) => self.lead(it.expressions.last()?, steps),
            _ => None,
        }
    }

    fn lead_member(&self, object: &'a Expression<'a>, name: &'a str, steps: u32) -> Option<Op<'a>> {
        if let Expression::Identifier(it) = object.get_inner_expression()
            && self.symbol(it).is_none()
            && is_global_object(&it.name)
        {
            return self.global(name);
        }
        Some(self.member_of(self.lead(object, steps)?, name))
    }

    fn member_of(&self, mut op: Op<'a>, name: &'a str) -> Op<'a> {
        let transparent = op.path.is_empty()
            && (op.root.is_through(name) || (name == "default" && op.root.name.contains(':')));
        if !transparent {
            op.path.push(name);
        }
        op
    }

    fn lead_name(&self, it: &IdentifierReference<'a>, steps: u32) -> Option<Op<'a>> {
        match self.symbol(it) {
            None if it.reference_id.get().is_some() => self.global(&it.name),
            None => None,
            Some(symbol) if self.known[symbol.index()].inert => None,
            Some(symbol) => self.lead_symbol(symbol, steps),
        }
    }

    /// The operation a symbol always stands for.
    pub(super) fn lead_symbol(&self, symbol: SymbolId, steps: u32) -> Option<Op<'a>> {
        match &self.known[symbol.index()].binding {
            Binding::Import { import, name } => {
                let op = self.module(&self.imports[*import].specifier)?;
                Some(match name {
                    Some(name) if *name != "default" => self.member_of(op, name),
                    _ => op,
                })
            }
            Binding::Init { init, keys } => {
                let global = match init.get_inner_expression() {
                    Expression::Identifier(it) => self.symbol(it).is_none() && is_global_object(&it.name),
                    _ => false,
                };
                let (mut op, rest) = if global {
                    (self.global(keys.first()?)?, &keys[1..])
                } else {
                    (self.lead(init, steps)?, keys.as_slice())
                };
                for key in rest {
                    op = self.member_of(op, key);
                }
                Some(op)
            }
            Binding::Each { .. } | Binding::None => None,
        }
    }

    fn global(&self, name: &str) -> Option<Op<'a>> {
        Some(Op { root: self.table.global(name)?, path: Vec::new() })
    }

    /// The root of a module specifier.
    pub(super) fn module(&self, specifier: &str) -> Option<Op<'a>> {
        Some(Op { root: self.table.module(specifier)?, path: Vec::new() })
    }

    fn lead_call(&self, it: &'a CallExpression<'a>, steps: u32) -> Option<Op<'a>> {
        let argument = it.arguments.first().and_then(Argument::as_expression);
        if let Expression::StaticMemberExpression(callee) = &it.callee
            && callee.property.name == "bind"
        {
            return self.lead(&callee.object, steps);
        }
        if is_interop(&it.callee) {
            return self.lead(argument?, steps);
        }
        let callee = self.lead(&it.callee, steps)?;
        match (callee.root.name.as_str(), callee.path.as_slice()) {
            ("require", []) | ("process", ["getBuiltinModule"]) => match argument? {
                Expression::StringLiteral(text) => self.module(&text.value),
                _ => None,
            },
            ("node:module", ["createRequire"]) => self.global("require"),
            ("node:util", ["promisify"]) => self.lead(argument?, steps),
            _ => None,
        }
    }

    /// Whether a callee is `require`, by whatever name.
    pub(super) fn is_require(&self, callee: &'a Expression<'a>) -> bool {
        match callee {
            Expression::Identifier(it) if self.symbol(it).is_none() => it.name == "require",
            Expression::StaticMemberExpression(it) if it.property.name == "require" => {
                matches!(&it.object, Expression::Identifier(o) if self.is_global(o, "module"))
            }
            Expression::Identifier(_) | Expression::CallExpression(_) => {
                self.operation(callee).is_some_and(|op| op.root.name == "require" && op.path.is_empty())
            }
            _ => false,
        }
    }

    /// An unresolved name is being visited.
    pub(super) fn on_global(&mut self, it: &'a IdentifierReference<'a>) {
        let name = it.name.as_str();
        if self.declarations || self.table.is_pure_global(name) {
            return self.on_pure_global(name);
        }
        if matches!(name, "__dirname" | "__filename") {
            return self.on_own_path(it.span);
        }
        if is_global_object(name) {
            return self.on_global_object(it.span, false);
        }
        match self.global(name) {
            Some(op) => self.on_root(op, 0),
            None => self.on_unknown_global(it),
        }
    }

    /// A name that may stand for an operation is being visited.
    pub(super) fn on_alias(&mut self, it: &'a IdentifierReference<'a>, symbol: SymbolId) {
        match self.lead_name(it, STEPS) {
            Some(op) => self.on_root(op, 0),
            None => self.known[symbol.index()].inert = true,
        }
    }

    /// `globalThis`, by one of its names: its member is the global of that name.
    ///
    /// `bare` says that it is written as a sloppy `this`, which compilers use to keep
    /// their own helpers: names the table does not know tell nothing then.
    pub(super) fn on_global_object(&mut self, span: Span, bare: bool) {
        let above = self.wrappers(0);
        match self.ancestor(above + 1) {
            Some(AstKind::StaticMemberExpression(member)) => {
                let name = member.property.name.as_str();
                if self.is_target(above + 1) {
                    return self.mutates(&format!("globalThis.{name}"), span);
                }
                if self.table.is_pure_global(name) || is_global_object(name) {
                    return;
                }
                match self.global(name) {
                    Some(op) => self.on_root(op, above + 1),
                    None if bare => {}
                    None => self.global_pin(name, above + 1, span),
                }
            }
            Some(AstKind::VariableDeclarator(it)) => {
                let bare = it.id.get_binding_identifier().is_some_and(|id| {
                    id.symbol_id.get().is_some_and(|symbol| {
                        matches!(self.known[symbol.index()].binding, Binding::Init { .. })
                    })
                });
                // `const { fetch } = globalThis` names what it takes.
                let taken = matches!(&it.id, BindingPattern::ObjectPattern(p) if p.rest.is_none());
                if bare || !taken {
                    self.global_object_escapes(span);
                }
            }
            Some(AstKind::UnaryExpression(it)) if it.operator == UnaryOperator::Typeof => {}
            Some(AstKind::LogicalExpression(it)) if !is_used(it) && it.left.span() == span => {}
            Some(AstKind::BinaryExpression(it)) if it.operator != BinaryOperator::Addition => {
                // Compared, or asked for a member by `in`.
            }
            _ => self.global_object_escapes(span),
        }
    }

    /// How many wrappers that change nothing (`as T`, `!`, `?.`) surround the node `up`
    /// levels above.
    fn wrappers(&self, mut up: usize) -> usize {
        while matches!(
            self.ancestor(up + 1),
            Some(
                AstKind::TSAsExpression(_)
                    | AstKind::TSSatisfiesExpression(_)
                    | AstKind::TSTypeAssertion(_)
                    | AstKind::TSNonNullExpression(_)
                    | AstKind::TSInstantiationExpression(_)
                    | AstKind::ChainExpression(_)
                    | AstKind::ParenthesizedExpression(_)
            )
        ) {
            up += 1;
        }
        up
    }

    /// The value `up` levels above is `op`: follows the members read from it, and hands
    /// on what is done with the result.
    pub(super) fn on_root(&mut self, op: Op<'a>, up: usize) {
        let site = self.follow(op, up);
        if !matches!(site.usage, Usage::Alias) {
            self.classify(site);
        }
    }

    fn follow(&self, mut op: Op<'a>, mut up: usize) -> Site<'a> {
        loop {
            up = self.wrappers(up);
            let node = self.ancestor(up).map_or(Span::default(), |node| node.span());
            let usage = match self.ancestor(up + 1) {
                Some(AstKind::StaticMemberExpression(it)) => {
                    let name = it.property.name.as_str();
                    if matches!(name, "call" | "apply") && self.is_callee(up + 1) {
                        return Site { op, usage: Usage::Hidden, span: node, up };
                    }
                    if name == "bind" && self.is_callee(up + 1) {
                        up += 2;
                        continue;
                    }
                    op = self.member_of(op, name);
                    up += 1;
                    continue;
                }
                Some(AstKind::ComputedMemberExpression(it)) if it.object.span() == node => {
                    match &it.expression {
                        Expression::StringLiteral(key) => {
                            op = self.member_of(op, key.value.as_str());
                            up += 1;
                            continue;
                        }
                        _ if self.is_target(up + 1) => Usage::Write,
                        key if op.path.last() == Some(&"env") => Usage::Has(key),
                        _ => Usage::Computed,
                    }
                }
                Some(AstKind::CallExpression(it)) if it.callee.span() == node => Usage::Call(it),
                Some(AstKind::CallExpression(it)) => {
                    if is_interop(&it.callee) || self.is_promisify(it) {
                        up += 1;
                        continue;
                    }
                    self.argument_usage(it, node)
                }
                Some(AstKind::NewExpression(it)) if it.callee.span() == node => Usage::New(it),
                Some(AstKind::TaggedTemplateExpression(it)) if it.tag.span() == node => Usage::Hidden,
                Some(AstKind::AwaitExpression(_)) if op.path.is_empty() && op.root.name.contains(':') => {
                    up += 1;
                    continue;
                }
                Some(AstKind::SequenceExpression(it))
                    if it.expressions.last().is_some_and(|last| last.span() == node) =>
                {
                    up += 1;
                    continue;
                }
                Some(AstKind::VariableDeclarator(it)) => self.declarator_usage(&it.id),
                Some(AstKind::UnaryExpression(it)) => match it.operator {
                    UnaryOperator::Delete => Usage::Write,
                    UnaryOperator::Typeof | UnaryOperator::LogicalNot | UnaryOperator::Void => Usage::Test,
                    _ => Usage::Escape,
                },
                Some(AstKind::BinaryExpression(it)) => match it.operator {
                    BinaryOperator::In if it.right.span() == node => Usage::Has(&it.left),
                    BinaryOperator::Instanceof if it.right.span() == node => Usage::Test,
                    BinaryOperator::StrictEquality
                    | BinaryOperator::StrictInequality
                    | BinaryOperator::Equality
                    | BinaryOperator::Inequality => Usage::Test,
                    _ => Usage::Escape,
                },
                Some(AstKind::LogicalExpression(it)) if it.left.span() == node && !is_used(it) => Usage::Test,
                Some(AstKind::ConditionalExpression(it)) if it.test.span() == node => Usage::Test,
                Some(AstKind::IfStatement(_) | AstKind::ExpressionStatement(_)) => Usage::Test,
                Some(AstKind::AssignmentExpression(it)) if it.left.span() == node => Usage::Write,
                Some(AstKind::UpdateExpression(_)) => Usage::Write,
                Some(AstKind::Class(_)) => Usage::Escape,
                _ => Usage::Escape,
            };
            return Site { op, usage, span: node, up };
        }
    }

    fn is_callee(&self, up: usize) -> bool {
        let (Some(node), Some(AstKind::CallExpression(call))) = (self.ancestor(up), self.ancestor(up + 1))
        else {
            return false;
        };
        call.callee.span() == node.span()
    }

    fn is_promisify(&self, call: &'a CallExpression<'a>) -> bool {
        self.operation(&call.callee)
            .is_some_and(|op| op.root.name == "node:util" && op.path.as_slice() == ["promisify"])
    }

    /// Calls that take an operation as an argument without using it.
    fn argument_usage(&self, call: &'a CallExpression<'a>, node: Span) -> Usage<'a> {
        let first = call.arguments.first().is_some_and(|a| a.span() == node);
        let name = match &call.callee {
            Expression::Identifier(it) => it.name.as_str(),
            Expression::StaticMemberExpression(it) => it.property.name.as_str(),
            _ => "",
        };
        let literal = matches!(call.arguments.get(1), Some(Argument::StringLiteral(_)));
        match name {
            "spyOn" | "stub" | "spy" | "replace" | "replaceProperty" | "method" | "getter" | "setter"
                if first && literal =>
            {
                Usage::Patch
            }
            // `fs.readFile.bind(fs)` only says what `this` is.
            "mocked" | "isMockFunction" | "bind" | "call" | "apply" if first => Usage::Patch,
            "expect" | "any" | "instanceOf" if first => Usage::Test,
            "defineProperty" | "defineProperties" if first => Usage::Write,
            "stubGlobal" => Usage::Test,
            _ => Usage::Escape,
        }
    }

    fn declarator_usage(&self, id: &'a BindingPattern<'a>) -> Usage<'a> {
        let followed = |symbol: Option<SymbolId>| {
            symbol.is_some_and(|symbol| matches!(self.known[symbol.index()].binding, Binding::Init { .. }))
        };
        match id {
            BindingPattern::BindingIdentifier(it) if followed(it.symbol_id.get()) => Usage::Alias,
            BindingPattern::ObjectPattern(it) => Usage::Pattern(it),
            _ => Usage::Escape,
        }
    }

    /// Whether every variable of a pattern is followed, so that taking it apart tells
    /// nothing new.
    pub(super) fn is_followed(&self, pattern: &'a ObjectPattern<'a>) -> bool {
        pattern.rest.is_none()
            && pattern.properties.iter().all(|property| {
                static_key(&property.key).is_some()
                    && property
                        .value
                        .get_symbol_ids()
                        .into_iter()
                        .all(|symbol| matches!(self.known[symbol.index()].binding, Binding::Init { .. }))
            })
    }
}

/// Helpers that compilers put around `require`, which give the module itself.
fn is_interop(callee: &Expression<'_>) -> bool {
    let name = match callee.get_inner_expression() {
        Expression::Identifier(it) => it.name.as_str(),
        Expression::StaticMemberExpression(it) => it.property.name.as_str(),
        _ => return false,
    };
    let name = name.trim_start_matches('_');
    matches!(name, "importStar" | "importDefault" | "toESM") || name.starts_with("interop")
}

/// Whether the value of a logical expression is what its left side is (`a || b`), and
/// not only a test (`a && b`).
fn is_used(it: &oxc_ast::ast::LogicalExpression<'_>) -> bool {
    it.operator != oxc_syntax::operator::LogicalOperator::And
}
