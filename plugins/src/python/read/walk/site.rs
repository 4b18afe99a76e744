//! What the walk collects: imports, uses of names, and the places that may matter, each with
//! what it runs under.

use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::TextRange;

use super::super::scope::{ScopeId, Symbol};
use super::super::units::UnitId;

/// What an imported name stands for.
#[derive(Clone, Copy, Debug)]
pub(in crate::python::read) struct Target<'a> {
    /// Dots of a relative import.
    pub(in crate::python::read) level: u32,
    /// The module, as far as the binding reaches: `import a.b` binds `a`.
    pub(in crate::python::read) module: &'a str,
    /// The name taken from it.
    pub(in crate::python::read) name: Option<&'a str>,
    /// Never loaded at run time.
    pub(in crate::python::read) type_only: bool,
    /// Where it is written.
    pub(in crate::python::read) range: TextRange,
}

/// An import statement, or one alias of it.
#[derive(Clone, Copy, Debug)]
pub(in crate::python::read) enum Statement<'a> {
    Import(&'a ast::Alias),
    From(&'a ast::StmtImportFrom),
}

/// An import statement and the block it stands in.
#[derive(Clone, Copy, Debug)]
pub(in crate::python::read) struct Imported<'a> {
    pub(in crate::python::read) statement: Statement<'a>,
    pub(in crate::python::read) optional: bool,
    pub(in crate::python::read) type_only: bool,
}

/// A read of a name; one for each scope and unit.
#[derive(Clone, Copy, Debug)]
pub(in crate::python::read) struct Use<'a> {
    pub(in crate::python::read) symbol: Symbol,
    pub(in crate::python::read) scope: ScopeId,
    pub(in crate::python::read) unit: UnitId,
    pub(in crate::python::read) later: bool,
    /// Where it is read as a value of its own: not called, no attribute taken.
    pub(in crate::python::read) bare: Option<&'a Expr>,
    /// Read by code somewhere, not in annotations only.
    pub(in crate::python::read) code: bool,
    /// Where it is read first.
    pub(in crate::python::read) range: TextRange,
}

/// Something that may load, read or run something.
#[derive(Clone, Copy, Debug)]
pub(in crate::python::read) enum What<'a> {
    Call(&'a Expr),
    /// The longest attribute chain that is not called.
    Chain(&'a Expr),
    /// An attribute chain in an annotation, or as a base class.
    Member(&'a Expr),
    Subscript(&'a ast::ExprSubscript),
    /// `left in container`: index into [`Walk::pairs`].
    Contains(u32),
    /// `left / right`: how paths are joined.
    Joined(&'a Expr),
    /// What a name is assigned.
    Assigned(&'a Expr),
    /// A chain that a name becomes an alias of.
    Alias(&'a Expr),
    /// A chain that is compared, not handed on.
    Compared(&'a Expr),
    /// A class that is inherited from.
    Base(&'a Expr),
    /// An import that importers are offered.
    Offered,
    /// An import in the body of a class, which becomes a member: index into
    /// [`Walk::targets`].
    Held(u32),
    /// A parameter that a runner fills by its name.
    Fixture(&'a ast::Parameter),
    /// Something iterated over, so that its order is seen.
    Ordered(&'a Expr),
    /// Something turned into text.
    Shown(&'a Expr),
    /// An interpolation with a literal format.
    Format(&'a ast::InterpolatedElement),
    /// A name that goes into a container, is returned, or is stored in an attribute.
    Escape(&'a Expr),
    /// An assignment to an attribute or a subscript: target and value in [`Walk::pairs`].
    Store(u32),
}

/// Where such a place is, and under what it runs.
#[derive(Clone, Copy, Debug)]
pub(in crate::python::read) struct Site<'a> {
    pub(in crate::python::read) what: What<'a>,
    pub(in crate::python::read) scope: ScopeId,
    pub(in crate::python::read) unit: UnitId,
    /// Inside a function: it happens when the unit is used, not at import.
    pub(in crate::python::read) later: bool,
    /// Failing to import is caught here.
    pub(in crate::python::read) optional: bool,
    /// Its value is sorted or counted at once.
    pub(in crate::python::read) orderless: bool,
    /// The name at the root of the chain, where there is one.
    pub(in crate::python::read) root: Option<Symbol>,
    /// The innermost guard it runs under: one more than an index into [`Walk::guards`].
    pub(in crate::python::read) guard: u32,
}

/// What certainly holds while a body runs.
#[derive(Clone, Copy, Debug)]
pub(in crate::python::read) enum Holds<'a> {
    /// `with value:`.
    With(&'a Expr),
    /// A decorator of the function whose body has this scope.
    Decorator(&'a Expr, ScopeId),
    /// A fixture of a test.
    Fixture(&'a str),
}

/// A guard, and the one around it.
#[derive(Clone, Copy, Debug)]
pub(in crate::python::read) struct Guard<'a> {
    pub(in crate::python::read) holds: Holds<'a>,
    /// Where the expression is evaluated.
    pub(in crate::python::read) scope: ScopeId,
    pub(in crate::python::read) outer: u32,
}

/// A docstring, and whether somebody may read it.
#[derive(Clone, Copy, Debug)]
pub(in crate::python::read) struct Docstring {
    pub(in crate::python::read) range: TextRange,
    pub(in crate::python::read) kept: bool,
}
