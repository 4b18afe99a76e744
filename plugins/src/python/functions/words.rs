//! The symbols of syntax nodes. Each kind has a word of its own, so that a new release of
//! the parser does not change shapes.

use ruff_python_ast::{BoolOp, CmpOp, Expr, Operator, Pattern, Stmt, UnaryOp};

use crate::measure::{Tag, hash};

macro_rules! word {
    ($word:literal) => {
        const { crate::measure::hash(crate::measure::Tag::Node, $word.as_bytes()) }
    };
}
pub(super) use word;

/// The word of a statement.
pub(super) fn statement(stmt: &Stmt) -> u64 {
    match stmt {
        Stmt::FunctionDef(_) => word!("def"),
        Stmt::ClassDef(_) => word!("class"),
        Stmt::Return(_) => word!("return"),
        Stmt::Delete(_) => word!("del"),
        Stmt::TypeAlias(_) => word!("type"),
        Stmt::Assign(_) => word!("="),
        Stmt::AugAssign(_) => word!("operator ="),
        // The annotation is erased.
        Stmt::AnnAssign(it) if it.value.is_some() => word!("="),
        Stmt::AnnAssign(_) => word!("declaration"),
        Stmt::For(_) => word!("for"),
        Stmt::While(_) => word!("while"),
        Stmt::If(_) => word!("if"),
        Stmt::With(_) => word!("with"),
        Stmt::Match(_) => word!("match"),
        Stmt::Raise(_) => word!("raise"),
        Stmt::Try(_) => word!("try"),
        Stmt::Assert(_) => word!("assert"),
        Stmt::Import(_) => word!("import"),
        Stmt::ImportFrom(_) => word!("from"),
        Stmt::Global(_) => word!("global"),
        Stmt::Nonlocal(_) => word!("nonlocal"),
        Stmt::Expr(_) => word!("expression"),
        Stmt::Pass(_) => word!("pass"),
        Stmt::Break(_) => word!("break"),
        Stmt::Continue(_) => word!("continue"),
        Stmt::IpyEscapeCommand(_) => word!("escape"),
    }
}

/// The word of an expression; `None` for names and literals, which say it themselves.
pub(super) fn expression(expr: &Expr) -> Option<u64> {
    Some(match expr {
        Expr::BoolOp(_) => word!("boolean"),
        Expr::Named(_) => word!(":="),
        Expr::BinOp(_) => word!("binary"),
        Expr::UnaryOp(_) => word!("unary"),
        Expr::If(_) => word!("conditional"),
        Expr::Dict(_) => word!("dict"),
        Expr::Set(_) => word!("set"),
        Expr::ListComp(_) => word!("list comprehension"),
        Expr::SetComp(_) => word!("set comprehension"),
        Expr::DictComp(_) => word!("dict comprehension"),
        Expr::Generator(_) => word!("generator"),
        Expr::Await(_) => word!("await"),
        Expr::Yield(_) => word!("yield"),
        Expr::YieldFrom(_) => word!("yield from"),
        Expr::Compare(_) => word!("compare"),
        Expr::Call(_) => word!("call"),
        Expr::FString(_) => word!("f-string"),
        Expr::TString(_) => word!("t-string"),
        Expr::EllipsisLiteral(_) => word!("..."),
        Expr::Attribute(_) => word!("attribute"),
        Expr::Subscript(_) => word!("subscript"),
        Expr::Starred(_) => word!("*"),
        Expr::List(_) => word!("list"),
        Expr::Tuple(_) => word!("tuple"),
        Expr::Slice(_) => word!("slice"),
        Expr::IpyEscapeCommand(_) => word!("escape"),
        Expr::Lambda(_)
        | Expr::Name(_)
        | Expr::StringLiteral(_)
        | Expr::BytesLiteral(_)
        | Expr::NumberLiteral(_)
        | Expr::BooleanLiteral(_)
        | Expr::NoneLiteral(_) => return None,
    })
}

/// The word of a pattern.
pub(super) fn pattern(pattern: &Pattern) -> u64 {
    match pattern {
        Pattern::MatchValue(_) => word!("value pattern"),
        Pattern::MatchSingleton(_) => word!("constant pattern"),
        Pattern::MatchSequence(_) => word!("sequence pattern"),
        Pattern::MatchMapping(_) => word!("mapping pattern"),
        Pattern::MatchClass(_) => word!("class pattern"),
        Pattern::MatchStar(_) => word!("star pattern"),
        Pattern::MatchAs(_) => word!("capture pattern"),
        Pattern::MatchOr(_) => word!("or pattern"),
    }
}

pub(super) fn boolean(operator: BoolOp) -> u64 {
    hash(Tag::Node, operator.as_str().as_bytes())
}

pub(super) fn binary(operator: Operator) -> u64 {
    hash(Tag::Node, operator.as_str().as_bytes())
}

pub(super) fn unary(operator: UnaryOp) -> u64 {
    hash(Tag::Node, operator.as_str().as_bytes())
}

pub(super) fn compare(operator: CmpOp) -> u64 {
    hash(Tag::Node, operator.as_str().as_bytes())
}
