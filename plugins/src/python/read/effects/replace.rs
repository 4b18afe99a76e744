//! What a file does to things that are not its own: members of modules and builtins that get
//! another value, and operations of others that it offers under its own name.

use owed_engine::facts::{Effect, EffectClass, Opaque, When};
use ruff_python_ast::Expr;
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashSet;

use super::super::modules::module_of;
use super::super::rows::{TABLE, is_stdlib};
use super::super::scope::{Bound, MODULE};
use super::super::units::MODULE_UNIT;
use super::super::walk::{Site, Statement, What};
use super::Judge;

/// The place of what the whole file does.
const MODULE_SITE: Site<'_> = Site {
    what: What::Offered,
    scope: MODULE,
    unit: MODULE_UNIT,
    later: false,
    optional: false,
    orderless: false,
    root: None,
    guard: 0,
};

impl<'a> Judge<'_, 'a> {
    /// An assignment to an attribute or an entry of something imported.
    pub(super) fn store(&mut self, target: &'a Expr, value: &'a Expr, site: &Site<'a>) {
        let (object, entry) = match target {
            Expr::Subscript(subscript) => (&*subscript.value, true),
            other => (other, false),
        };
        if let Expr::Attribute(attribute) = object
            && attribute.attr.as_str() == "__code__"
        {
            self.opaque("types.CodeType", Opaque::Eval, target.range(), site);
        }
        if let Expr::Attribute(attribute) = target
            && attribute.attr.as_str() == "TYPE_CHECKING"
        {
            return self.opaque("typing.TYPE_CHECKING", Opaque::Loader, target.range(), site);
        }
        if site.root.is_none_or(|s| !self.walk.may_matter(s)) {
            return;
        }
        let range = target.range();
        let theirs = self.names.is_imported(object, site.scope);
        for name in self.qualified(object, site) {
            match (name.as_str(), entry) {
                ("sys.path", _) => self.search_path(Some(value), "sys.path", range, site),
                ("sys.modules", _) => self.opaque("sys.modules", Opaque::MutateGlobal, range, site),
                ("os.environ" | "os.environb", true) | ("sys.argv", _) => {}
                ("os.environ" | "os.environb", false) => {
                    self.named("os.environ", "whole-env", range, site);
                    self.opaque("os.environ", Opaque::MutateGlobal, range, site);
                }
                (name, entry) if theirs => self.replaced(name, entry, range, site),
                _ => {}
            }
        }
    }

    /// A member of the standard library, or a builtin, that gets another value.
    pub(super) fn replaced(&mut self, name: &str, entry: bool, range: TextRange, site: &Site<'a>) {
        if matches!(name, "typing.TYPE_CHECKING" | "typing_extensions.TYPE_CHECKING") {
            // Imports that are for type checkers run from now on.
            return self.opaque(name, Opaque::Loader, range, site);
        }
        let builtin = !name.contains('.') && !entry;
        if !builtin && !is_stdlib(name) {
            return;
        }
        self.opaque(name, Opaque::MutateGlobal, range, site);
        if matches!(name, "__import__" | "sys.meta_path" | "sys.path_hooks") || name.starts_with("importlib.")
        {
            self.opaque(name, Opaque::Loader, range, site);
        }
    }

    /// Names of the standard library that the file offers to importers on purpose: listed in
    /// `__all__`, or imported under the same name by `as`, or kept although unused.
    pub(super) fn offered(&mut self, listed: &[&str]) {
        let mut on_purpose = FxHashSet::default();
        for imported in &self.walk.imports {
            let (aliases, module) = match imported.statement {
                Statement::Import(alias) => (std::slice::from_ref(alias), None),
                Statement::From(from) if from.level == 0 => {
                    (from.names.as_slice(), Some(from.module.as_ref().map_or("", |m| m.as_str())))
                }
                Statement::From(_) => continue,
            };
            for alias in aliases {
                let name = alias.name.as_str();
                let local = alias.asname.as_ref().map_or(name, |local| local.as_str());
                let kept = listed.contains(&local)
                    || alias.asname.as_ref().is_some_and(|local| local.as_str() == name)
                    || self.is_kept(alias.range);
                let root = module.unwrap_or(name);
                if !kept || imported.type_only || !is_stdlib(root) || name == "*" {
                    continue;
                }
                let full = match module {
                    Some(module) => format!("{}.{name}", module_of(module)),
                    None => module_of(name).to_owned(),
                };
                self.reference(&full, alias.range, &MODULE_SITE);
                on_purpose.insert(local);
            }
        }
        self.offered_by_the_way(&on_purpose);
    }

    /// What the other names of the module stand for: `from helpers import time` gives the
    /// module that `helpers` imports for itself.
    fn offered_by_the_way(&mut self, on_purpose: &FxHashSet<&str>) {
        let own = std::mem::take(&mut self.found.effects);
        for symbol in self.walk.names.module_symbols() {
            let local = self.walk.names.name(symbol);
            if on_purpose.contains(local) || !self.walk.may_matter(symbol) {
                continue;
            }
            let range = self.walk.names.bindings(MODULE, symbol).find_map(|binding| match binding.bound {
                Bound::Import(target) => {
                    let target = self.walk.targets.get(target as usize)?;
                    (!target.type_only).then_some((target.range, true))
                }
                Bound::Value(value) => Some((value.range(), false)),
                _ => None,
            });
            let Some((range, is_import)) = range else { continue };
            for name in self.names.symbol(MODULE, symbol).iter() {
                // An operation under another name has counted where it got the name.
                let counted = !is_import
                    && !TABLE.is_holder(name)
                    && TABLE.row(name).is_none_or(|row| row.handed_on.is_none());
                if !counted {
                    self.reference(name, range, &MODULE_SITE);
                }
            }
            // Without declarations only classes by file are asked for, which need one of a kind.
            let brief = self.walk.members.is_none();
            let first = self.found.offered.len();
            for mut effect in self.found.effects.drain(..) {
                let reason = match effect.class {
                    EffectClass::Opaque(reason) => Some(reason.is_input_opaque()),
                    EffectClass::Pinned(_) | EffectClass::Bounded(_) => None,
                };
                let kind = |other: &Effect| match other.class {
                    EffectClass::Opaque(other) => Some(other.is_input_opaque()) == reason,
                    EffectClass::Pinned(_) | EffectClass::Bounded(_) => false,
                };
                if brief && (reason.is_none() || self.found.offered[first..].iter().any(kind)) {
                    continue;
                }
                effect.when = When::Call(local.to_owned());
                self.found.offered.push(effect);
            }
        }
        self.found.effects = own;
    }

    /// Whether the line says that an import is not to be removed.
    fn is_kept(&self, range: TextRange) -> bool {
        let rest = self.text.get(range.end().to_usize()..).unwrap_or("");
        let line = rest.lines().next().unwrap_or("");
        line.contains("noqa: F401") || line.contains("unused-import")
    }
}
