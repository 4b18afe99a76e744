//! What the program does with an operation: calls it, tests for it, gives it a name, lets
//! it go.

use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, BindingPattern, CallExpression, Expression, ObjectPattern};
use oxc_semantic::SymbolId;
use oxc_span::{GetSpan, Span};
use oxc_syntax::operator::{BinaryOperator, UnaryOperator};

use super::operations::Op;
use super::walk::{Binding, Walk, static_key};

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

impl<'a> Walk<'_, 'a> {
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
