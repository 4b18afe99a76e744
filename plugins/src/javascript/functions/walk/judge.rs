//! Small questions about the form of a body.

use oxc_ast::ast::*;

use super::naming::holds_name;

/// Whether a body only declares, so that the function stands in for a class.
pub(super) fn is_declarative(statements: &[Statement<'_>]) -> bool {
    let assigns = |expression: &Expression<'_>| {
        matches!(expression.get_inner_expression(), Expression::AssignmentExpression(it)
            if holds_name(it.right.get_inner_expression()))
    };
    let (last, rest) = match statements.split_last() {
        Some((Statement::ReturnStatement(_), rest)) => (true, rest),
        _ => (false, statements),
    };
    (last || !rest.is_empty())
        && rest.iter().all(|statement| match statement {
            Statement::VariableDeclaration(_)
            | Statement::FunctionDeclaration(_)
            | Statement::ClassDeclaration(_)
            | Statement::TSTypeAliasDeclaration(_)
            | Statement::TSInterfaceDeclaration(_) => true,
            Statement::ExpressionStatement(it) => assigns(&it.expression),
            _ => false,
        })
}

/// A statement that is nothing but a call with what it was given.
pub(super) fn hands_on(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::ReturnStatement(it) => it.argument.as_ref().is_some_and(is_handing_call),
        Statement::ExpressionStatement(it) => is_handing_call(&it.expression),
        _ => false,
    }
}

pub(super) fn is_handing_call(expression: &Expression<'_>) -> bool {
    let inner = match expression.get_inner_expression() {
        Expression::AwaitExpression(it) => it.argument.get_inner_expression(),
        other => other,
    };
    let simple = |argument: &Argument<'_>| match argument {
        Argument::SpreadElement(it) => is_simple(&it.argument),
        other => other.as_expression().is_some_and(is_simple),
    };
    match inner {
        Expression::CallExpression(it) => is_reference(&it.callee) && it.arguments.iter().all(simple),
        Expression::NewExpression(it) => is_reference(&it.callee) && it.arguments.iter().all(simple),
        Expression::ChainExpression(it) => match &it.expression {
            ChainElement::CallExpression(it) => is_reference(&it.callee) && it.arguments.iter().all(simple),
            _ => false,
        },
        _ => false,
    }
}

/// A name, a member of one, or `this`.
pub(super) fn is_reference(expression: &Expression<'_>) -> bool {
    let mut at = expression.get_inner_expression();
    loop {
        match at {
            Expression::Identifier(_) | Expression::ThisExpression(_) | Expression::Super(_) => return true,
            Expression::StaticMemberExpression(it) => at = it.object.get_inner_expression(),
            Expression::PrivateFieldExpression(it) => at = it.object.get_inner_expression(),
            _ => return false,
        }
    }
}

pub(super) fn is_simple(expression: &Expression<'_>) -> bool {
    let inner = expression.get_inner_expression();
    inner.is_literal() || is_reference(inner)
}

/// Whether a `&&` only chooses whether an element is shown.
pub(super) fn chooses_element(expression: &Expression<'_>) -> bool {
    matches!(expression, Expression::LogicalExpression(it)
        if it.operator == LogicalOperator::And
            && matches!(it.right.get_inner_expression(), Expression::JSXElement(_) | Expression::JSXFragment(_)))
}
