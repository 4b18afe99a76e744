//! Judges the places the walk kept: which of them load, read, run or depend on something,
//! by the effect table and by the value of the paths involved.
//!
//! Where a path or a module is built from something this file does not show, it says so
//! (`computed-load`) instead of leaving the place out.

mod call;
mod chain;
mod clock;
mod code;
mod hidden;
mod host;
mod order;
mod paths;
mod replace;
mod runner;

use owed_engine::facts::{Effect, EffectClass, Import, ImportKind, Name, Names as Taken, Opaque, Pin, When};
use ruff_python_ast::Expr;
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashSet;

use super::declare::is_builtin;
use super::eval::Eval;
use super::loads;
use super::modules::imported;
use super::names::Names;
use super::place::Value;
use super::text::Lines;
use super::units::{MAIN_UNIT, MODULE_UNIT, UnitId};
use super::walk::{Site, Walk, What};

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) imports: Vec<Import>,
    pub(super) effects: Vec<Effect>,
    /// By the names under which others may take them.
    pub(super) offered: Vec<Effect>,
    /// Units that reach every name of the module (`globals()`).
    pub(super) whole: Vec<UnitId>,
}

/// Judges all sites and uses of a walk over `text`, the file named `file`.
pub(super) fn judge<'a>(
    walk: &Walk<'a>,
    text: &'a str,
    file: &'a str,
    listed: &[&str],
    lines: &Lines<'_>,
) -> Found {
    let names = &Names::new(walk);
    let mut judge = Judge {
        walk,
        text,
        names,
        eval: Eval::new(names, file),
        lines,
        stub: file.ends_with(".pyi"),
        found: Found::default(),
        consumed: FxHashSet::default(),
        covered: Vec::new(),
        claimed: FxHashSet::default(),
        sized: FxHashSet::default(),
        chains: FxHashSet::default(),
        members: Vec::new(),
        paths: {
            let mentions = |name| walk.names.find(name).is_some();
            ["__file__", "Path", "pathlib", "files", "pytestconfig", "PurePath"].into_iter().any(mentions)
                || (mentions("os") && mentions("path"))
        },
    };
    for site in &walk.sites {
        judge.site(site);
    }
    for read in &walk.uses {
        judge.late_import(read);
    }
    judge.offered(listed);
    judge.finish()
}

struct Judge<'w, 'a> {
    walk: &'w Walk<'a>,
    text: &'a str,
    names: &'w Names<'w, 'a>,
    eval: Eval<'w, 'a>,
    lines: &'w Lines<'w>,
    stub: bool,
    found: Found,
    /// Expressions that an enclosing operation has dealt with.
    consumed: FxHashSet<TextRange>,
    /// Ranges inside which every path was dealt with, innermost last. Sites come in
    /// source order, so the ones that ended are dropped.
    covered: Vec<TextRange>,
    /// Strings that are a mock or an import, so no mere string references.
    claimed: FxHashSet<String>,
    /// Calls of `stat` of which only the size is read.
    sized: FxHashSet<TextRange>,
    chains: FxHashSet<(usize, &'a str)>,
    members: Vec<(String, TextRange)>,
    /// Whether the file can build a path at all.
    paths: bool,
}

impl<'a> Judge<'_, 'a> {
    fn site(&mut self, site: &Site<'a>) {
        match site.what {
            What::Call(expr) => {
                if let Expr::Call(call) = expr {
                    self.call(call, expr, site);
                }
            }
            What::Chain(expr) => self.chain(expr, site),
            What::Member(expr) => self.member_chain(expr, site),
            What::Subscript(subscript) => self.subscript(subscript, site),
            What::Contains(pair) => {
                let (left, container) = self.walk.pairs[pair as usize];
                self.contains(left, container, site);
            }
            What::Store(pair) => {
                let (target, value) = self.walk.pairs[pair as usize];
                self.store(target, value, site);
            }
            What::Assigned(value) => {
                // A path with a name of its own is judged where the name is used.
                if self.paths && self.is_place(value, site) {
                    self.cover(value.range());
                }
            }
            What::Joined(expr) | What::Escape(expr) => {
                self.escape(expr, site, false);
            }
            What::Alias(expr) => self.alias(expr, site),
            What::Compared(expr) => self.compared(expr, site),
            What::Base(expr) => self.base(expr, site),
            What::Offered => {}
            What::Held(target) => {
                let target = self.walk.targets.get(target as usize).filter(|target| !target.type_only);
                if let Some(target) = target
                    && let Some(name) = imported(*target)
                {
                    self.reference(&name, target.range, site);
                }
            }
            What::Fixture(parameter) => self.fixture(&parameter.name, parameter.range, site),
            What::Format(part) => self.format(part, site),
            What::Ordered(expr) => self.ordered(expr, site),
            What::Shown(expr) => self.repr(expr, site),
        }
    }

    /// Names that nothing in the file binds and Python does not know: whoever provides them
    /// is not seen.
    fn unknown_names(&mut self) {
        let from_elsewhere = self.walk.star && self.walk.stars.len() < self.walk.star_count;
        if self.stub || from_elsewhere {
            return;
        }
        for read in &self.walk.uses {
            if !read.code || self.walk.names.resolve(read.scope, read.symbol).is_some() {
                continue;
            }
            let name = self.walk.names.name(read.symbol);
            let starred = self.names.is_starred(name);
            if name.is_empty() || is_builtin(name) || starred {
                continue;
            }
            let when = self.when(read.unit, read.later);
            self.found.effects.push(Effect {
                operation: name.to_owned(),
                class: EffectClass::Opaque(Opaque::Unlisted),
                when,
                line: self.lines.line(read.range.start().to_u32()),
                span: loads::span(read.range),
            });
        }
    }

    fn cover(&mut self, range: TextRange) {
        self.covered.retain(|c| c.end() > range.start());
        self.covered.push(range);
    }

    fn is_covered(&self, range: TextRange) -> bool {
        self.covered.iter().rev().any(|c| c.contains_range(range))
    }

    fn is_place(&self, expr: &'a Expr, site: &Site<'a>) -> bool {
        may_be_path(expr)
            && matches!(
                self.eval.value(expr, site.scope),
                Value::Place(_) | Value::Tmp | Value::Package { .. }
            )
    }

    fn when(&self, unit: UnitId, later: bool) -> When {
        match unit {
            MAIN_UNIT => When::Call(super::units::MAIN.to_owned()),
            MODULE_UNIT => When::Import,
            _ if !later => When::Import,
            UnitId(id) => match *self.walk.units[id as usize].names {
                [name] => When::Call(self.walk.names.name(name).to_owned()),
                _ => When::Import,
            },
        }
    }

    fn effect(&mut self, operation: &str, class: EffectClass, range: TextRange, site: &Site<'a>) {
        let when = self.when(site.unit, site.later);
        self.found.effects.push(Effect {
            operation: operation.to_owned(),
            class,
            when,
            line: self.lines.line(range.start().to_u32()),
            span: loads::span(range),
        });
    }

    fn opaque(&mut self, operation: &str, reason: Opaque, range: TextRange, site: &Site<'a>) {
        if site.guard > 0 && self.is_lifted(operation, reason, range, site) {
            return;
        }
        self.effect(operation, EffectClass::Opaque(reason), range, site);
    }

    fn named(&mut self, operation: &str, pin: &str, range: TextRange, site: &Site<'a>) {
        let pin = if pin == "env" { "whole-env" } else { pin };
        self.effect(operation, EffectClass::Pinned(Pin::Named(pin.to_owned())), range, site);
    }

    /// A load of something named by its specifier; a computed one that nothing bounds is
    /// an effect, because effects say when they happen.
    fn load(
        &mut self,
        operation: &str,
        specifier: String,
        kind: ImportKind,
        range: TextRange,
        site: &Site<'a>,
    ) {
        if specifier.is_empty() {
            return self.opaque(operation, Opaque::ComputedLoad, range, site);
        }
        self.found.imports.push(loads::load(specifier, kind, site.optional, range, self.lines));
    }

    fn finish(mut self) -> Found {
        if self.names.is_exhausted() {
            self.found.effects.push(Effect {
                operation: "names".to_owned(),
                class: EffectClass::Opaque(Opaque::Budget),
                when: When::Import,
                line: 1,
                span: owed_engine::facts::Span::default(),
            });
        }
        self.unknown_names();
        for (text, range) in &self.walk.strings {
            if !self.claimed.contains(*text) {
                let import = loads::load((*text).to_owned(), ImportKind::StringRef, true, *range, self.lines);
                self.found.imports.push(import);
            }
        }
        // Of `a.b` and `a.b.c` the longer one says both.
        self.members.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.start().cmp(&b.1.start())));
        for (at, (chain, range)) in self.members.iter().enumerate() {
            let longer = self.members.get(at + 1).is_some_and(|(next, _)| {
                next.strip_prefix(chain.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            });
            if !longer {
                let mut import = loads::load(chain.clone(), ImportKind::StringRef, true, *range, self.lines);
                // The chain itself is among the references of the units that read it.
                let last = chain.rsplit('.').next().unwrap_or(chain);
                let name = Name { imported: last.to_owned(), local: chain.clone() };
                import.names = Taken::List(vec![name]);
                self.found.imports.push(import);
            }
        }
        self.found
    }
}

/// Whether an expression has a form that may evaluate to a path object.
fn may_be_path(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Call(_)
            | Expr::BinOp(_)
            | Expr::Attribute(_)
            | Expr::Name(_)
            | Expr::Subscript(_)
            | Expr::If(_)
    )
}
