//! What changes a value after its declaration: assignments to it or below it, and calls
//! that mutate it. Those at the module's top level are followed in order; any other
//! makes the name unknown.

use std::collections::BTreeMap;

use oxc_ast::ast::{
    Argument, AssignmentExpression, AssignmentOperator, AssignmentTarget, CallExpression, Expression,
    Program, SimpleAssignmentTarget, Statement, UnaryExpression, UnaryOperator, UpdateExpression,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::GetSpan;

use super::module::Module;
use super::value::{Object, Value};

/// Methods of arrays, maps and sets that change them.
const MUTATING: &[&str] = &[
    "push",
    "unshift",
    "splice",
    "pop",
    "shift",
    "sort",
    "reverse",
    "fill",
    "copyWithin",
    "set",
    "add",
    "delete",
];

/// One change at the top level.
pub(super) struct Edit<'b, 'a> {
    /// Keys below the name.
    path: Vec<String>,
    kind: Kind,
    /// The new value, or the pushed one.
    pub(super) value: &'b Expression<'a>,
    /// First byte.
    pub(super) at: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Set,
    Push,
    Assign,
}

/// All changes of a module, by name (`module.exports` counts as one name).
#[derive(Default)]
pub(super) struct Edits<'b, 'a> {
    known: BTreeMap<String, Vec<Edit<'b, 'a>>>,
    blocked: BTreeMap<String, u32>,
}

impl<'b, 'a> Edits<'b, 'a> {
    /// The changes of `name` that are followed, in order.
    pub(super) fn of(&self, name: &str) -> impl Iterator<Item = &Edit<'b, 'a>> {
        self.known.get(name).into_iter().flatten()
    }

    /// Where `name` is changed in a way that is not followed.
    pub(super) fn blocked(&self, name: &str) -> Option<u32> {
        self.blocked.get(name).copied()
    }
}

/// The changes of `program`.
pub(super) fn collect<'b, 'a>(program: &'b Program<'a>) -> Edits<'b, 'a> {
    let mut edits = Edits::default();
    for statement in &program.body {
        if let Statement::ExpressionStatement(statement) = statement {
            top(&mut edits, &statement.expression);
        }
    }
    let followed = edits.known.values().flatten().map(|e| e.at).collect();
    let mut finder = Finder { followed, blocked: BTreeMap::new() };
    finder.visit_program(program);
    edits.blocked.append(&mut finder.blocked);
    edits
}

fn top<'b, 'a>(edits: &mut Edits<'b, 'a>, expression: &'b Expression<'a>) {
    match expression.get_inner_expression() {
        Expression::AssignmentExpression(assignment) if assignment.operator == AssignmentOperator::Assign => {
            if let Some((name, path)) = target(&assignment.left) {
                let at = assignment.span.start;
                // `module.exports = exports = x`
                if let Expression::AssignmentExpression(_) = &assignment.right {
                    edits.blocked.insert(name, at);
                    return;
                }
                let edit = Edit { path, kind: Kind::Set, value: &assignment.right, at };
                edits.known.entry(name).or_default().push(edit);
            }
        }
        Expression::CallExpression(call) => {
            let at = call.span.start;
            if let Some((name, mut path)) = place(&call.callee)
                && path.last().is_some_and(|m| m == "push")
                && let [argument] = call.arguments.as_slice()
                && let Some(value) = argument.as_expression()
            {
                path.pop();
                edits.known.entry(name).or_default().push(Edit { path, kind: Kind::Push, value, at });
            } else if call.callee.is_specific_member_access("Object", "assign")
                && let [first, second] = call.arguments.as_slice()
                && let Some((name, path)) = first.as_expression().and_then(place)
                && let Some(value) = second.as_expression()
            {
                edits.known.entry(name).or_default().push(Edit { path, kind: Kind::Assign, value, at });
            }
        }
        _ => {}
    }
}

/// `value` after `edit`, whose evaluated value is `new`.
pub(super) fn apply(module: &Module<'_, '_>, value: Value, edit: &Edit<'_, '_>, new: Value) -> Value {
    let old = || edit.path.iter().fold(value.clone(), |v, key| v.get(key));
    let new = match edit.kind {
        Kind::Set => new,
        Kind::Push => match old() {
            Value::Array(mut items) => {
                items.push(new);
                Value::Array(items)
            }
            _ => module.unknown("something that is pushed to", edit.at),
        },
        Kind::Assign => module.spread_into(old(), new, edit.at),
    };
    if edit.path.is_empty() {
        return new;
    }
    match value {
        Value::Object(mut object) => {
            object.set(&edit.path, new);
            Value::Object(object)
        }
        Value::Undefined => {
            let mut object = Object::default();
            object.set(&edit.path, new);
            Value::Object(object)
        }
        _ => module.unknown("something that is changed after its declaration", edit.at),
    }
}

/// The root name and the keys of `a.b.c`; `module.exports` is one name, and `exports`
/// is the same.
fn place(expression: &Expression<'_>) -> Option<(String, Vec<String>)> {
    let mut keys = Vec::new();
    let mut at = expression.get_inner_expression();
    loop {
        match at {
            Expression::Identifier(id) => {
                keys.reverse();
                return Some(named(&id.name, keys));
            }
            other => {
                let member = other.as_member_expression()?;
                keys.push(member.static_property_name()?.to_owned());
                at = member.object().get_inner_expression();
            }
        }
    }
}

fn named(root: &str, mut keys: Vec<String>) -> (String, Vec<String>) {
    if root == "exports" {
        return ("module.exports".to_owned(), keys);
    }
    if root == "module" && keys.first().is_some_and(|k| k == "exports") {
        keys.remove(0);
        return ("module.exports".to_owned(), keys);
    }
    (root.to_owned(), keys)
}

fn target(target: &AssignmentTarget<'_>) -> Option<(String, Vec<String>)> {
    match target {
        AssignmentTarget::AssignmentTargetIdentifier(id) => Some(named(&id.name, Vec::new())),
        other => {
            let member = other.as_member_expression()?;
            let (name, mut keys) = place(member.object())?;
            keys.push(member.static_property_name()?.to_owned());
            Some(if name == "module" { named("module", keys) } else { (name, keys) })
        }
    }
}

/// The root name of a place, whatever the keys are.
fn root(expression: &Expression<'_>) -> Option<String> {
    let mut at = expression.get_inner_expression();
    loop {
        match at {
            Expression::Identifier(id) => return Some(id.name.to_string()),
            Expression::CallExpression(call) => at = call.callee.get_inner_expression(),
            other => {
                let member = other.as_member_expression()?;
                if member.object().is_specific_id("module")
                    && member.static_property_name() == Some("exports")
                {
                    return Some("module.exports".to_owned());
                }
                at = member.object().get_inner_expression();
            }
        }
    }
}

struct Finder {
    followed: std::collections::BTreeSet<u32>,
    blocked: BTreeMap<String, u32>,
}

impl Finder {
    fn block(&mut self, name: Option<String>, at: u32) {
        if let Some(name) = name {
            let name = if name == "exports" { "module.exports".to_owned() } else { name };
            self.blocked.entry(name).or_insert(at);
        }
    }
}

impl<'a> Visit<'a> for Finder {
    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        if !self.followed.contains(&it.span.start) {
            let at = it.span.start;
            match &it.left {
                AssignmentTarget::AssignmentTargetIdentifier(id) => {
                    self.block(Some(id.name.to_string()), at);
                }
                other => match other.as_member_expression() {
                    Some(member) => {
                        let name = root(member.object()).map(|name| {
                            let exports = name == "module"
                                && member.static_property_name().is_some_and(|n| n == "exports");
                            if exports { "module.exports".to_owned() } else { name }
                        });
                        self.block(name, at);
                    }
                    None => {
                        for name in pattern_names(other) {
                            self.block(Some(name), at);
                        }
                    }
                },
            }
        }
        walk::walk_assignment_expression(self, it);
    }

    fn visit_update_expression(&mut self, it: &UpdateExpression<'a>) {
        let name = match &it.argument {
            SimpleAssignmentTarget::AssignmentTargetIdentifier(id) => Some(id.name.to_string()),
            other => other.as_member_expression().and_then(|m| root(m.object())),
        };
        self.block(name, it.span.start);
        walk::walk_update_expression(self, it);
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        if it.operator == UnaryOperator::Delete {
            self.block(root(&it.argument), it.span.start);
        }
        walk::walk_unary_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        let at = it.span.start;
        if !self.followed.contains(&at)
            && let Some(member) = it.callee.get_inner_expression().as_member_expression()
        {
            if member.static_property_name().is_some_and(|n| MUTATING.contains(&n)) {
                self.block(root(member.object()), at);
            }
            let assigns = member.object().is_specific_id("Object")
                && member.static_property_name().is_some_and(|n| {
                    matches!(n, "assign" | "defineProperty" | "defineProperties" | "setPrototypeOf")
                });
            if assigns && let Some(Expression::Identifier(id)) = it.arguments.first().and_then(inner) {
                self.block(Some(id.name.to_string()), at);
            }
        }
        walk::walk_call_expression(self, it);
    }

    fn visit_expression_statement(&mut self, it: &oxc_ast::ast::ExpressionStatement<'a>) {
        // A call for its effect may change what it is given.
        if let Expression::CallExpression(call) = it.expression.get_inner_expression()
            && !self.followed.contains(&call.span.start)
            && root(&call.callee).is_none_or(|name| name != "console")
        {
            for argument in &call.arguments {
                if let Some(Expression::Identifier(id)) = inner(argument) {
                    self.block(Some(id.name.to_string()), call.span().start);
                }
            }
        }
        walk::walk_expression_statement(self, it);
    }
}

fn inner<'b, 'a>(argument: &'b Argument<'a>) -> Option<&'b Expression<'a>> {
    argument.as_expression().map(Expression::get_inner_expression)
}

fn pattern_names(target: &AssignmentTarget<'_>) -> Vec<String> {
    struct Names(Vec<String>);
    impl<'a> Visit<'a> for Names {
        fn visit_identifier_reference(&mut self, it: &oxc_ast::ast::IdentifierReference<'a>) {
            self.0.push(it.name.to_string());
        }
    }
    let mut names = Names(Vec::new());
    names.visit_assignment_target(target);
    names.0
}
