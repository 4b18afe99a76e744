//! What the program does with an operation: calls it, tests for it, gives it a name, lets
//! it go.

use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, BindingPattern, CallExpression, Expression, ObjectPattern};
use oxc_semantic::SymbolId;
use oxc_span::{GetSpan, Span};
use oxc_syntax::operator::{AssignmentOperator, BinaryOperator, UnaryOperator};

use super::class::{Class, Use};
use super::operations::Op;
use super::walk::{Binding, Walk, key, static_key};

/// What the program does with an operation.
#[derive(Clone, Copy)]
pub(super) enum Usage<'a> {
    /// Calls it.
    Call(&'a CallExpression<'a>),
    /// Constructs it.
    New(&'a oxc_ast::ast::NewExpression<'a>),
    /// Constructs it as the base of a class: `super(…)`.
    Super(&'a CallExpression<'a>),
    /// Calls it in a way that hides the arguments (a tag, `.apply`).
    Hidden,
    /// Asks for its type.
    Typeof,
    /// Asks whether it is there, or compares it.
    Test,
    /// Assigns to it.
    Write,
    /// Reads it and assigns to it: `+=`, `??=`, `++`.
    Update,
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

impl<'a> Walk<'_, 'a> {
    /// The value `up` levels above is `op`: follows the members read from it, and hands
    /// on what is done with the result.
    pub(super) fn on_root(&mut self, op: Op<'a>, up: usize) {
        let site = self.follow(op, up);
        match site.usage {
            Usage::Alias => {
                if let Some(AstKind::VariableDeclarator(it)) = self.ancestor(site.up + 1)
                    && let Some(id) = it.id.get_binding_identifier()
                {
                    self.takes(&site.op, id.symbol_id.get(), site.span);
                }
            }
            Usage::Pattern(pattern) if self.is_followed(pattern) => {
                self.takes_members(&site.op, pattern, site.span);
            }
            _ => self.classify(site),
        }
    }

    /// Every part of a pattern is followed.
    fn takes_members(&mut self, op: &Op<'a>, pattern: &'a ObjectPattern<'a>, span: Span) {
        let mut todo = vec![(op.clone(), pattern)];
        while let Some((op, pattern)) = todo.pop() {
            for property in &pattern.properties {
                let Some(key) = static_key(&property.key) else { continue };
                let member = self.member_of(op.clone(), key);
                let value = match &property.value {
                    BindingPattern::AssignmentPattern(it) => &it.left,
                    other => other,
                };
                match value {
                    BindingPattern::ObjectPattern(inner) => todo.push((member, inner)),
                    BindingPattern::BindingIdentifier(id) => self.takes(&member, id.symbol_id.get(), span),
                    _ => {}
                }
            }
        }
    }

    /// An operation gets a name. Uses of the name are followed; when there are none, taking
    /// it is all there is.
    fn takes(&mut self, op: &Op<'a>, symbol: Option<SymbolId>, span: Span) {
        let module = op.path.is_empty() && op.root.name.contains(':');
        let used = symbol.is_none_or(|symbol| self.has_uses(symbol));
        // An unused function of `fs` reads nothing.
        let acts = matches!(op.root.find(&op.path, Use::Read), Some((Class::Acts(_), _)));
        if !module && !used && !acts {
            self.classify(Site { op: op.clone(), usage: Usage::Escape, span, up: 0 });
        }
    }

    fn follow(&self, mut op: Op<'a>, mut up: usize) -> Site<'a> {
        let module =
            op.root.name.contains(':') || matches!(self.ancestor(up), Some(AstKind::ImportExpression(_)));
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
                        if binds_arguments(self.ancestor(up + 2)) {
                            return Site { op, usage: Usage::Hidden, span: node, up };
                        }
                        up += 2;
                        continue;
                    }
                    if matches!(self.ancestor(up), Some(AstKind::ImportExpression(_)))
                        && self.is_callee(up + 1)
                    {
                        match (name, self.ancestor(up + 2)) {
                            ("then", Some(AstKind::CallExpression(call))) => {
                                let followed = matches!(call.arguments.as_slice(),
                                    [first] if first.as_expression().is_some_and(Expression::is_function));
                                let usage = if followed { Usage::Alias } else { Usage::Escape };
                                return Site { op, usage, span: node, up };
                            }
                            ("catch" | "finally", _) => {
                                up += 2;
                                continue;
                            }
                            _ => {}
                        }
                    }
                    op = self.member_of(op, name);
                    up += 1;
                    continue;
                }
                Some(AstKind::ComputedMemberExpression(it)) if it.object.span() == node => {
                    if let Some(name) = key(&it.expression) {
                        op = self.member_of(op, name);
                        up += 1;
                        continue;
                    }
                    match self.written(up + 1) {
                        Some(usage) => usage,
                        None if op.path.last() == Some(&"env") => Usage::Has(&it.expression),
                        None => Usage::Computed,
                    }
                }
                Some(AstKind::CallExpression(it)) if it.callee.span() == node => {
                    match self.builtin_module(&op, it) {
                        Some(module) => {
                            op = module;
                            up += 1;
                            continue;
                        }
                        None => Usage::Call(it),
                    }
                }
                Some(AstKind::CallExpression(it)) => {
                    if is_interop(&it.callee) || self.is_promisify(it) {
                        up += 1;
                        continue;
                    }
                    self.argument_usage(&op, it, node)
                }
                Some(AstKind::NewExpression(it)) if it.callee.span() == node => Usage::New(it),
                Some(AstKind::TaggedTemplateExpression(it)) if it.tag.span() == node => Usage::Hidden,
                Some(AstKind::AwaitExpression(_)) if op.path.is_empty() && module => {
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
                    UnaryOperator::Typeof => Usage::Typeof,
                    UnaryOperator::LogicalNot | UnaryOperator::Void => Usage::Test,
                    _ => Usage::Escape,
                },
                Some(AstKind::BinaryExpression(it)) => match it.operator {
                    BinaryOperator::In if it.right.span() == node => Usage::Has(&it.left),
                    BinaryOperator::Instanceof if it.right.span() == node => Usage::Typeof,
                    BinaryOperator::StrictEquality
                    | BinaryOperator::StrictInequality
                    | BinaryOperator::Equality
                    | BinaryOperator::Inequality => Usage::Test,
                    _ => Usage::Escape,
                },
                Some(AstKind::LogicalExpression(it)) if it.left.span() == node && !is_used(it) => Usage::Test,
                Some(AstKind::ConditionalExpression(it)) if it.test.span() == node => Usage::Test,
                Some(AstKind::IfStatement(_)) => Usage::Test,
                // `require("fs");` loads and uses nothing.
                Some(AstKind::ExpressionStatement(_)) if op.path.is_empty() && module => Usage::Test,
                // A base class: what is done with the subclass counts.
                Some(AstKind::Class(it))
                    if it.heritage_expression().is_some_and(|e| e.span() == node)
                        && self.is_followed_class(it, up + 1) =>
                {
                    Usage::Alias
                }
                Some(AstKind::ObjectProperty(_) | AstKind::ArrayExpression(_))
                    if op.path.is_empty() && self.is_type_option(up) =>
                {
                    Usage::Typeof
                }
                _ => self.written(up).unwrap_or(Usage::Escape),
            };
            return Site { op, usage, span: node, up };
        }
    }

    /// `{ type: Date }`, `props: { x: [Function, String] }`: frameworks compare these with
    /// what they get. Nobody in the file may call them.
    fn is_type_option(&self, up: usize) -> bool {
        let mut up = up + 1;
        if matches!(self.ancestor(up), Some(AstKind::ArrayExpression(_))) {
            up += 1;
        }
        let Some(AstKind::ObjectProperty(property)) = self.ancestor(up) else { return false };
        let outer = match self.ancestor(up + 2) {
            Some(AstKind::ObjectProperty(outer)) => static_key(&outer.key),
            _ => None,
        };
        (static_key(&property.key) == Some("type") || outer == Some("props"))
            && memchr::memmem::find(self.source.as_bytes(), b".type(").is_none()
    }

    /// Whether every use of a class is seen, because it has a name, and there are some.
    fn is_followed_class(&self, class: &'a oxc_ast::ast::Class<'a>, up: usize) -> bool {
        let own = class.id.as_ref().and_then(|id| id.symbol_id.get());
        if class.is_declaration() {
            return own.is_some_and(|symbol| self.has_uses(symbol));
        }
        match self.ancestor(up + 1) {
            Some(AstKind::VariableDeclarator(it)) => {
                let symbol = it.id.get_binding_identifier().and_then(|id| id.symbol_id.get());
                matches!(self.declarator_usage(&it.id), Usage::Alias)
                    && symbol.is_some_and(|symbol| self.has_uses(symbol))
            }
            _ => false,
        }
    }

    fn has_uses(&self, symbol: SymbolId) -> bool {
        self.exported.contains(&symbol) || self.scoping.get_resolved_references(symbol).next().is_some()
    }

    /// How the node `up` levels above is written to, if it is.
    pub(super) fn written(&self, up: usize) -> Option<Usage<'a>> {
        let node = self.ancestor(up)?.span();
        match self.ancestor(up + 1)? {
            AstKind::AssignmentExpression(it) if it.left.span() == node => {
                Some(if it.operator == AssignmentOperator::Assign { Usage::Write } else { Usage::Update })
            }
            AstKind::UpdateExpression(_) => Some(Usage::Update),
            AstKind::UnaryExpression(it) if it.operator == UnaryOperator::Delete => Some(Usage::Write),
            // `[a.b] = list`, `({ x: a.b } = o)`, `for (a.b of list)`.
            AstKind::ArrayAssignmentTarget(_) | AstKind::AssignmentTargetRest(_) => Some(Usage::Write),
            AstKind::AssignmentTargetPropertyProperty(it) if it.binding.span() == node => Some(Usage::Write),
            AstKind::AssignmentTargetPropertyIdentifier(it) if it.binding.span == node => Some(Usage::Write),
            AstKind::AssignmentTargetWithDefault(it) if it.binding.span() == node => Some(Usage::Write),
            AstKind::ForOfStatement(it) if it.left.span() == node => Some(Usage::Write),
            AstKind::ForInStatement(it) if it.left.span() == node => Some(Usage::Write),
            _ => None,
        }
    }

    /// `process.getBuiltinModule("fs")` gives the module.
    fn builtin_module(&self, op: &Op<'a>, call: &'a CallExpression<'a>) -> Option<Op<'a>> {
        let asks = op.root.name == "process" && op.path.as_slice() == ["getBuiltinModule"];
        if !asks {
            return None;
        }
        self.module(&self.constant_text(call.arguments.first()?.as_expression()?, 8)?)
    }

    pub(super) fn is_callee(&self, up: usize) -> bool {
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
    fn argument_usage(&self, op: &Op<'a>, call: &'a CallExpression<'a>, node: Span) -> Usage<'a> {
        let first = call.arguments.first().is_some_and(|a| a.span() == node);
        let (object, name) = match &call.callee {
            Expression::Identifier(it) => (None, it.name.as_str()),
            Expression::StaticMemberExpression(it) => (Some(&it.object), it.property.name.as_str()),
            _ => return Usage::Escape,
        };
        let literal =
            call.arguments.get(1).and_then(Argument::as_expression).is_some_and(|e| key(e).is_some());
        match (name, object) {
            (
                "spyOn" | "stub" | "spy" | "replace" | "replaceProperty" | "method" | "getter" | "setter",
                Some(object),
            ) if first && literal && self.is_mocker(object, name, 32) => Usage::Patch,
            ("mocked" | "isMockFunction", Some(object)) if first && self.is_mocker(object, name, 32) => {
                Usage::Typeof
            }
            // `fs.readFile.bind(fs)` only says what `this` is.
            ("bind" | "call" | "apply", Some(object)) if first && self.belongs_to(object, op) => {
                Usage::Typeof
            }
            ("expect", None) if first => Usage::Test,
            ("any", Some(Expression::Identifier(it))) if first && it.name == "expect" => Usage::Typeof,
            ("toBeInstanceOf" | "toThrow" | "toThrowError" | "instanceOf", Some(object))
                if first && is_expectation(object) =>
            {
                Usage::Typeof
            }
            (
                "defineProperty" | "defineProperties" | "assign" | "setPrototypeOf" | "set"
                | "deleteProperty",
                Some(Expression::Identifier(it)),
            ) if first && (self.is_global(it, "Object") || self.is_global(it, "Reflect")) => Usage::Write,
            _ => Usage::Escape,
        }
    }

    /// Whether a function is a member of what it is called on, or only describes it.
    fn belongs_to(&self, function: &'a Expression<'a>, op: &Op<'a>) -> bool {
        self.operation(function).is_some_and(|of| {
            of.root.name == op.root.name
                || (of.root.name == "Object"
                    && matches!(of.path.as_slice(), ["prototype", "toString" | "hasOwnProperty"]))
        })
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

/// `f.bind(o, x)`: the call that follows has arguments that are not written there.
fn binds_arguments(call: Option<AstKind<'_>>) -> bool {
    matches!(call, Some(AstKind::CallExpression(call))
        if call.arguments.len() > 1 || call.arguments.iter().any(Argument::is_spread))
}

/// Helpers that compilers put around `require`, which give the module itself.
pub(super) fn is_interop(callee: &Expression<'_>) -> bool {
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
pub(super) fn is_used(it: &oxc_ast::ast::LogicalExpression<'_>) -> bool {
    it.operator != oxc_syntax::operator::LogicalOperator::And
}

/// Whether a value is `expect(…)`, or a member or call of it.
pub(super) fn is_expectation(mut it: &Expression<'_>) -> bool {
    for _ in 0..16 {
        it = match it.get_inner_expression() {
            Expression::Identifier(it) => return it.name == "expect",
            Expression::StaticMemberExpression(it) => &it.object,
            Expression::CallExpression(it) => &it.callee,
            Expression::AwaitExpression(it) => &it.argument,
            _ => return false,
        };
    }
    false
}
