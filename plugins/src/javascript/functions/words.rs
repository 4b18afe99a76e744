//! The symbols of syntax nodes. Each kind has a word of its own, so that a new release of
//! the parser does not change shapes; what a kind says besides its children (operators,
//! flags) follows as further symbols.

use oxc_ast::AstKind;

use crate::measure::{Tag, hash};

/// How a node takes part in a shape.
#[derive(Clone, Copy, Debug)]
pub(super) enum Word {
    /// A symbol, with the number of children always the same.
    Fixed(u64),
    /// A symbol, and an end after the children.
    Open(u64),
    /// Nothing of its own.
    None,
}

macro_rules! fixed {
    ($word:literal) => {
        Word::Fixed(const { hash(Tag::Node, $word.as_bytes()) })
    };
}
macro_rules! open {
    ($word:literal) => {
        Word::Open(const { hash(Tag::Node, $word.as_bytes()) })
    };
}

/// The word of a node.
pub(super) fn word(kind: AstKind<'_>) -> Word {
    match kind {
        AstKind::ThisExpression(_) => fixed!("this"),
        AstKind::Super(_) => fixed!("super"),
        AstKind::ImportMeta(_) => fixed!("import.meta"),
        AstKind::NewTarget(_) => fixed!("new.target"),
        AstKind::Elision(_) => fixed!("hole"),
        AstKind::DebuggerStatement(_) => fixed!("debugger"),
        AstKind::ArrayExpression(_) => open!("array"),
        AstKind::ObjectExpression(_) => open!("object"),
        AstKind::ObjectProperty(_) => fixed!("property"),
        AstKind::TemplateLiteral(_) => open!("template"),
        AstKind::TaggedTemplateExpression(_) => fixed!("tagged"),
        AstKind::ComputedMemberExpression(_) => fixed!("index"),
        AstKind::StaticMemberExpression(_) => fixed!("member"),
        AstKind::PrivateFieldExpression(_) => fixed!("private member"),
        AstKind::CallExpression(_) => open!("call"),
        AstKind::NewExpression(_) => open!("new"),
        AstKind::SpreadElement(_) => fixed!("spread"),
        AstKind::UpdateExpression(_) => fixed!("update"),
        AstKind::UnaryExpression(_) => fixed!("unary"),
        AstKind::BinaryExpression(_) => fixed!("binary"),
        AstKind::PrivateInExpression(_) => fixed!("private in"),
        AstKind::LogicalExpression(_) => fixed!("logical"),
        AstKind::ConditionalExpression(_) => fixed!("conditional"),
        AstKind::AssignmentExpression(_) => fixed!("assignment"),
        AstKind::ArrayAssignmentTarget(_) => open!("array target"),
        AstKind::ObjectAssignmentTarget(_) => open!("object target"),
        AstKind::AssignmentTargetRest(_) => fixed!("rest"),
        AstKind::AssignmentTargetWithDefault(_) => fixed!("default"),
        AstKind::AssignmentTargetPropertyIdentifier(_) => open!("property target"),
        AstKind::AssignmentTargetPropertyProperty(_) => fixed!("property target with key"),
        AstKind::SequenceExpression(_) => open!("sequence"),
        AstKind::AwaitExpression(_) => fixed!("await"),
        AstKind::ChainExpression(_) => fixed!("chain"),
        AstKind::BlockStatement(_) => open!("block"),
        AstKind::VariableDeclaration(_) => open!("variables"),
        AstKind::VariableDeclarator(_) => open!("variable"),
        AstKind::ExpressionStatement(_) => fixed!("expression"),
        AstKind::IfStatement(_) => open!("if"),
        AstKind::DoWhileStatement(_) => fixed!("do"),
        AstKind::WhileStatement(_) => fixed!("while"),
        AstKind::ForStatement(_) => open!("for"),
        AstKind::ForInStatement(_) => fixed!("for in"),
        AstKind::ForOfStatement(_) => fixed!("for of"),
        AstKind::ContinueStatement(_) => open!("continue"),
        AstKind::BreakStatement(_) => open!("break"),
        AstKind::ReturnStatement(_) => open!("return"),
        AstKind::WithStatement(_) => fixed!("with"),
        AstKind::SwitchStatement(_) => open!("switch"),
        AstKind::SwitchCase(_) => open!("case"),
        AstKind::LabeledStatement(_) => fixed!("labelled"),
        AstKind::ThrowStatement(_) => fixed!("throw"),
        AstKind::TryStatement(_) => open!("try"),
        AstKind::CatchClause(_) => open!("catch"),
        AstKind::AssignmentPattern(_) => fixed!("default"),
        AstKind::ObjectPattern(_) => open!("object pattern"),
        AstKind::BindingProperty(_) => fixed!("property pattern"),
        AstKind::ArrayPattern(_) => open!("array pattern"),
        AstKind::BindingRestElement(_) => fixed!("rest"),
        AstKind::FormalParameters(_) => open!("parameters"),
        AstKind::FormalParameter(_) => open!("parameter"),
        AstKind::FormalParameterRest(_) => fixed!("rest parameter"),
        AstKind::FunctionBody(_) => open!("body"),
        AstKind::YieldExpression(_) => open!("yield"),
        AstKind::ClassBody(_) => open!("class body"),
        AstKind::PropertyDefinition(_) => open!("field"),
        AstKind::AccessorProperty(_) => open!("accessor field"),
        AstKind::StaticBlock(_) => open!("static block"),
        AstKind::ImportExpression(_) => open!("import()"),
        AstKind::V8IntrinsicExpression(_) => open!("intrinsic"),
        AstKind::JSXElement(_) => open!("element"),
        AstKind::JSXFragment(_) => open!("fragment"),
        AstKind::JSXOpeningElement(_) => open!("attributes"),
        AstKind::JSXNamespacedName(_) => fixed!("namespaced"),
        AstKind::JSXMemberExpression(_) => fixed!("member"),
        AstKind::JSXExpressionContainer(_) => fixed!("hole in JSX"),
        AstKind::JSXEmptyExpression(_) => fixed!("nothing"),
        AstKind::JSXAttribute(_) => open!("attribute"),
        AstKind::JSXSpreadAttribute(_) => fixed!("spread attribute"),
        AstKind::JSXSpreadChild(_) => fixed!("spread child"),
        AstKind::TSEnumDeclaration(_) => open!("enum"),
        AstKind::TSEnumMember(_) => open!("enum member"),
        AstKind::TSImportEqualsDeclaration(_) => open!("import ="),
        AstKind::TSExportAssignment(_) => fixed!("export ="),
        AstKind::Decorator(_) => fixed!("decorator"),
        _ => Word::None,
    }
}
