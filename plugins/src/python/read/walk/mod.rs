//! The one traversal of a file's tree. It binds names, notes every use of a name, and
//! keeps the places that may matter (calls, attribute chains, stores) as [`Site`]s.
//!
//! It judges nothing that depends on what a name means: bindings may follow uses, so
//! [`super::effects`] and [`super::loads`] judge the sites when all names are known.

mod ask;
mod define;
mod expr;
mod import;
mod mark;
mod site;
mod stmt;

use ruff_python_ast::{self as ast, Expr, ExprContext, Stmt};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashSet;

pub(in crate::python::read) use define::is_fixture;
pub(in crate::python::read) use site::{
    Docstring, Guard, Holds, Imported, Site, Statement, Target, Use, What,
};

use super::scope::{Bound, MODULE, ScopeId, Scopes, Symbol, flag};
use super::units::{MAIN_UNIT, MODULE_UNIT, Unit, UnitId};

/// How deep trees are walked on the caller's own stack; deeper ones get their own.
pub(in crate::python::read) const SHALLOW: u32 = 120;

/// How names are used.
#[derive(Debug, Default)]
pub(in crate::python::read) struct Members<'a> {
    /// `["b", "c"]` for `a.b.c`.
    pub(in crate::python::read) chains: FxHashSet<(UnitId, Symbol, Vec<&'a str>)>,
    /// Units that ask a class for its subclasses.
    pub(in crate::python::read) subclasses: FxHashSet<UnitId>,
    /// Called, passed on, assigned to, indexed: anything but read an attribute of.
    pub(in crate::python::read) whole: FxHashSet<(UnitId, Symbol)>,
}

/// Everything the traversal collects.
pub(in crate::python::read) struct Walk<'a> {
    pub(in crate::python::read) names: Scopes<'a>,
    pub(in crate::python::read) targets: Vec<Target<'a>>,
    pub(in crate::python::read) imports: Vec<Imported<'a>>,
    pub(in crate::python::read) uses: Vec<Use<'a>>,
    pub(in crate::python::read) sites: Vec<Site<'a>>,
    /// What does not fit into a site; there are many of those.
    pub(in crate::python::read) pairs: Vec<(&'a Expr, &'a Expr)>,
    /// Strings that look like the name of a module, each once.
    pub(in crate::python::read) strings: Vec<(&'a str, TextRange)>,
    pub(in crate::python::read) units: Vec<Unit<'a>>,
    /// Which bytes belong to which unit: sorted by start, inner ones after outer ones.
    pub(in crate::python::read) ranges: Vec<(TextRange, UnitId)>,
    /// Attribute chains on imported names, by unit, and names used in any other way;
    /// only kept for declarations.
    pub(in crate::python::read) members: Option<Members<'a>>,
    /// Functions that bind a module name through `global`.
    pub(in crate::python::read) writers: Vec<(Symbol, UnitId)>,
    pub(in crate::python::read) docstrings: Vec<Docstring>,
    /// `__doc__` is read somewhere.
    pub(in crate::python::read) reads_docs: bool,
    /// The tree is deeper than the limit; what lies below it was not seen.
    pub(in crate::python::read) too_deep: bool,
    pub(in crate::python::read) star: bool,
    /// Modules of the standard library that are star-imported.
    pub(in crate::python::read) stars: Vec<&'a str>,
    /// How many star imports there are.
    pub(in crate::python::read) star_count: usize,
    pub(in crate::python::read) guards: Vec<Guard<'a>>,
    /// Scopes of functions that yield: their bodies run after the call.
    pub(in crate::python::read) generators: FxHashSet<ScopeId>,
    guard: u32,
    /// Decorators of the class whose body is walked.
    class_decorators: &'a [ast::Decorator],
    seen_strings: FxHashSet<&'a str>,
    /// For each symbol, its latest use.
    last_use: Vec<u32>,
    limit: u32,
    depth: u32,
    scope: ScopeId,
    unit: UnitId,
    functions: u32,
    optional: u32,
    /// Blocks of the module that may not run.
    branches: u32,
    type_only: u32,
    annotation: bool,
    modules: bool,
    /// Inside a class whose base classes may read its members.
    inherits: bool,
}

impl<'a> Walk<'a> {
    /// Walks `body`; `stub` for `.pyi`; gives up below `limit` levels.
    pub(in crate::python::read) fn new(
        body: &'a [Stmt],
        bytes: usize,
        stub: bool,
        members: bool,
        limit: u32,
    ) -> Self {
        let mut walk = Self {
            names: Scopes::new(bytes),
            targets: Vec::new(),
            imports: Vec::new(),
            uses: Vec::with_capacity(bytes / 64 + 16),
            sites: Vec::with_capacity(bytes / 64 + 16),
            pairs: Vec::new(),
            strings: Vec::new(),
            units: vec![Unit::module(), Unit::main()],
            ranges: Vec::new(),
            members: members.then(Members::default),
            writers: Vec::new(),
            docstrings: Vec::new(),
            reads_docs: false,
            too_deep: false,
            star: false,
            stars: Vec::new(),
            star_count: 0,
            guards: Vec::new(),
            generators: FxHashSet::default(),
            guard: 0,
            class_decorators: &[],
            seen_strings: FxHashSet::default(),
            last_use: Vec::new(),
            limit,
            depth: 0,
            scope: MODULE,
            unit: MODULE_UNIT,
            functions: 0,
            optional: 0,
            branches: 0,
            type_only: u32::from(stub),
            annotation: false,
            modules: false,
            inherits: false,
        };
        let body = match docstring(body) {
            Some(range) => {
                walk.ranges.push((range, MODULE_UNIT));
                walk.docstrings.push(Docstring { range, kept: false });
                &body[1..]
            }
            None => body,
        };
        walk.module_body(body, false);
        walk
    }

    // ---- module level -------------------------------------------------------

    /// Statements that run when the module is loaded. `nested`: inside a compound
    /// statement, whose bytes belong to `<module>` already.
    fn module_body(&mut self, body: &'a [Stmt], nested: bool) {
        for stmt in body {
            self.module_stmt(stmt, nested);
        }
    }

    fn module_stmt(&mut self, stmt: &'a Stmt, nested: bool) {
        if !self.descend() {
            return;
        }
        self.module_stmt_inner(stmt, nested);
        self.depth -= 1;
    }

    fn module_stmt_inner(&mut self, stmt: &'a Stmt, nested: bool) {
        if self.unit != MODULE_UNIT {
            // Inside `if __name__ == "__main__"`.
            self.stmt(stmt);
            return;
        }
        if let Some(unit) = Unit::of(stmt, &mut self.names) {
            let id = UnitId(crate::python::read::text::offset(self.units.len()));
            self.ranges.push((stmt.range(), id));
            self.units.push(unit);
            self.unit = id;
            self.stmt(stmt);
            self.unit = MODULE_UNIT;
            return;
        }
        let compound = match stmt {
            Stmt::If(_) | Stmt::Try(_) | Stmt::With(_) | Stmt::For(_) | Stmt::While(_) | Stmt::Match(_) => {
                true
            }
            Stmt::Import(_) | Stmt::ImportFrom(_) => {
                if !nested && self.type_only == 0 && !crate::python::read::rows::is_stdlib_import(stmt) {
                    self.ranges.push((stmt.range(), MODULE_UNIT));
                }
                self.stmt(stmt);
                return;
            }
            Stmt::Pass(_) => return,
            Stmt::Expr(e) if matches!(*e.value, Expr::StringLiteral(_) | Expr::EllipsisLiteral(_)) => return,
            _ => false,
        };
        if let Stmt::If(branch) = stmt
            && !nested
            && branch.elif_else_clauses.is_empty()
        {
            if is_main_guard(&branch.test) {
                self.ranges.push((stmt.range(), MAIN_UNIT));
                self.unit = MAIN_UNIT;
                self.functions += 1;
                self.stmt(stmt);
                self.functions -= 1;
                self.unit = MODULE_UNIT;
                return;
            }
            if self.type_checking(&branch.test) == Some(true) && only_imports(&branch.body) {
                self.stmt(stmt);
                return;
            }
        }
        if !nested {
            self.ranges.push((stmt.range(), MODULE_UNIT));
        }
        if compound {
            self.branches += 1;
            self.compound(stmt, &mut |walk, body| walk.module_body(body, true));
            self.branches -= 1;
        } else {
            self.stmt(stmt);
        }
    }

    fn descend(&mut self) -> bool {
        if self.depth >= self.limit {
            self.too_deep = true;
            return false;
        }
        self.depth += 1;
        true
    }

    fn bind(&mut self, symbol: Symbol, bound: Bound<'a>) {
        self.bind_in(self.scope, symbol, bound);
    }

    fn bind_in(&mut self, scope: ScopeId, symbol: Symbol, bound: Bound<'a>) {
        if self.names.flags(symbol) & flag::BUILTIN != 0 {
            // `global` in a function that may not be called, `eval = eval`, a deleted name.
            let later = scope != MODULE && self.names.is_global(scope, symbol);
            let maybe = match bound {
                Bound::Function(..) | Bound::Class(..) | Bound::Import(_) => false,
                Bound::Value(value) => !value.is_lambda_expr() && !value.is_literal_expr(),
                _ => true,
            };
            if later || scope == MODULE && (self.branches > 0 || maybe) {
                self.names.doubt(symbol);
            }
        }
        self.names.bind(scope, symbol, bound);
    }

    /// Binds an assignment target; `value` is what is stored, where there is one thing.
    fn target(&mut self, target: &'a Expr, bound: Bound<'a>, value: Option<&'a Expr>) {
        if !self.descend() {
            return;
        }
        match target {
            Expr::Name(name) => {
                let symbol = self.names.intern(&name.id);
                let is_del = name.ctx == ExprContext::Del;
                self.bind(symbol, if is_del { Bound::Other } else { bound });
            }
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                for (at, element) in elts.iter().enumerate() {
                    let inner = match bound {
                        Bound::Element(iter, None) => Bound::Element(iter, u8::try_from(at).ok()),
                        Bound::Value(Expr::Tuple(values)) if values.len() == elts.len() => {
                            Bound::Value(&values.elts[at])
                        }
                        Bound::Value(value) if !elts.iter().any(Expr::is_starred_expr) => {
                            u8::try_from(at).map_or(Bound::Other, |at| Bound::Unpacked(value, at))
                        }
                        _ => Bound::Other,
                    };
                    self.target(element, inner, None);
                }
            }
            Expr::Starred(starred) => self.target(&starred.value, Bound::Other, None),
            Expr::Attribute(attribute) => {
                if let Expr::Name(root) = &*attribute.value
                    && matches!(root.id.as_str(), "self" | "cls")
                    && let Some(class) = self.names.class_of(self.scope)
                {
                    if !matches!(bound, Bound::Value(Expr::NoneLiteral(_))) {
                        let symbol = self.names.intern(attribute.attr.as_str());
                        self.names.bind_member(class, symbol, bound, self.scope);
                    }
                } else if let Some(value) = value {
                    let pair = self.pair(target, value);
                    self.rooted(What::Store(pair), false, &attribute.value, None);
                    self.depth -= 1;
                    return;
                }
                self.chain_base(&attribute.value, None);
            }
            Expr::Subscript(subscript) => {
                match value {
                    Some(value) => {
                        let pair = self.pair(target, value);
                        self.rooted(What::Store(pair), false, &subscript.value, None);
                    }
                    None => {
                        self.chain_base(&subscript.value, None);
                    }
                }
                self.expr(&subscript.slice, false);
            }
            other => self.expr(other, false),
        }
        self.depth -= 1;
    }

    fn use_symbol(&mut self, symbol: Symbol, bare: Option<&'a Expr>, range: TextRange) {
        if let Some(members) = &mut self.members {
            members.whole.insert((self.unit, symbol));
        }
        self.note_use(symbol, bare, range);
    }

    /// A use of which only the attributes `chain` are read.
    fn use_members(&mut self, symbol: Symbol, chain: Vec<&'a str>, range: TextRange) {
        // A name that is not known to be imported yet is not told apart.
        let known = !chain.is_empty() && self.names.flags(symbol) & flag::IMPORTED != 0;
        match &mut self.members {
            Some(members) if known => _ = members.chains.insert((self.unit, symbol, chain)),
            Some(members) => _ = members.whole.insert((self.unit, symbol)),
            None => {}
        }
        self.note_use(symbol, None, range);
    }

    fn note_use(&mut self, symbol: Symbol, bare: Option<&'a Expr>, range: TextRange) {
        let index = symbol.index();
        if index >= self.last_use.len() {
            self.last_use.resize(self.names.len().max(index + 1), u32::MAX);
        }
        let code = !self.annotation;
        if let Some(last) = self.uses.get_mut(self.last_use[index] as usize)
            && last.scope == self.scope
            && last.unit == self.unit
        {
            if code && !last.code {
                (last.code, last.range) = (true, range);
            }
            if last.bare.is_none() {
                last.bare = bare;
            }
            return;
        }
        self.last_use[index] = crate::python::read::text::offset(self.uses.len());
        let later = self.functions > 0;
        self.uses.push(Use { symbol, scope: self.scope, unit: self.unit, later, bare, code, range });
    }

    /// Enters a body under one more guard; gives the one to return to.
    fn guarded(&mut self, holds: Holds<'a>, scope: ScopeId) {
        self.guards.push(Guard { holds, scope, outer: self.guard });
        self.guard = crate::python::read::text::offset(self.guards.len());
    }

    fn site(&mut self, what: What<'a>, orderless: bool) {
        let (later, optional) = (self.functions > 0, self.optional > 0);
        let (scope, unit, guard) = (self.scope, self.unit, self.guard);
        self.sites.push(Site { what, scope, unit, later, optional, orderless, root: None, guard });
    }

    fn assigned(&mut self, value: &'a Expr) {
        if matches!(
            value,
            Expr::Call(_) | Expr::BinOp(_) | Expr::Attribute(_) | Expr::Subscript(_) | Expr::If(_)
        ) {
            self.site(What::Assigned(value), false);
        }
    }

    /// A site whose chain continues with `base`, of which `last` is read. It comes before
    /// the sites inside `base`.
    fn rooted(&mut self, what: What<'a>, orderless: bool, base: &'a Expr, last: Option<&'a str>) {
        let at = self.sites.len();
        self.site(what, orderless);
        self.sites[at].root = self.chain_base(base, last);
    }

    fn pair(&mut self, first: &'a Expr, second: &'a Expr) -> u32 {
        self.pairs.push((first, second));
        crate::python::read::text::offset(self.pairs.len() - 1)
    }

    /// Notes names that leave through a container, a return or an attribute.
    fn escape(&mut self, value: &'a Expr) {
        if let Expr::Name(_) = value {
            self.site(What::Escape(value), false);
        }
    }
}

/// The name at the root of an attribute chain.
pub(in crate::python::read) fn root_of(expr: &Expr) -> Option<&ast::name::Name> {
    let mut at = expr;
    loop {
        match at {
            Expr::Name(name) => return Some(&name.id),
            Expr::Attribute(attribute) => at = &attribute.value,
            _ => return None,
        }
    }
}

/// The range of the statement, when `body` begins with a docstring.
fn docstring(body: &[Stmt]) -> Option<TextRange> {
    match body.first()? {
        Stmt::Expr(e) if e.value.is_string_literal_expr() => Some(e.range),
        _ => None,
    }
}

fn is_main_guard(test: &Expr) -> bool {
    let Expr::Compare(compare) = test else { return false };
    let ([ast::CmpOp::Eq], [right]) = (&*compare.ops, &*compare.comparators) else { return false };
    let is_name = |e: &Expr| matches!(e, Expr::Name(n) if n.id.as_str() == "__name__");
    let is_main = |e: &Expr| matches!(e, Expr::StringLiteral(s) if s.value.to_str() == "__main__");
    (is_name(&compare.left) && is_main(right)) || (is_main(&compare.left) && is_name(right))
}

fn only_imports(body: &[Stmt]) -> bool {
    body.iter().all(|s| matches!(s, Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Pass(_)))
}
