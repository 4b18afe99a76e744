//! Names and attribute chains that are not called: values handed on, environment names,
//! members of imported modules, assignments to what belongs to others.

use owed_engine::facts::{ImportKind, Opaque};
use ruff_python_ast::{self as ast, Expr, ExprContext};
use ruff_text_size::{Ranged, TextRange};

use super::super::loads;
use super::super::modules::is_unlisted;
use super::super::place::Value;
use super::super::rows::{Class, Entry, Row, TABLE, Worst, is_stdlib};
use super::super::scope::{MODULE, ScopeKind, flag};
use super::super::walk::{Site, Use, What, root_of};
use super::Judge;

impl<'a> Judge<'_, 'a> {
    /// A chain or a name that is read as a value.
    pub(super) fn chain(&mut self, expr: &'a Expr, site: &Site<'a>) {
        if let Expr::Attribute(attribute) = expr {
            self.attribute_of_result(attribute, site);
        }
        // The root may be a call: `__import__("time").time`.
        if site.root.is_none_or(|symbol| self.walk.may_matter(symbol))
            && !self.consumed.contains(&expr.range())
        {
            self.member_chain(expr, site);
            for name in self.qualified(expr, site) {
                if !self.is_instance_member(&name, expr, site) {
                    self.reference(&name, expr.range(), site);
                }
            }
        }
        self.escape(expr, site, false);
    }

    /// Whether a name without a row was found through the class of an instance only: what
    /// instances have is not listed.
    pub(super) fn is_instance_member(&self, name: &str, expr: &'a Expr, site: &Site<'a>) -> bool {
        matches!(TABLE.entry(name), Entry::Unlisted)
            && root_of(expr).is_some()
            && !self.names.is_imported(expr, site.scope)
            && site.root.is_none_or(|symbol| self.walk.names.resolve(site.scope, symbol).is_some())
    }

    /// All qualified names of a chain.
    pub(super) fn qualified(&self, expr: &'a Expr, site: &Site<'a>) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        self.names.each(expr, site.scope, &mut |name| found.push(name.to_owned()));
        found
    }

    /// A chain that another name becomes an alias of: modules and classes are followed to
    /// where the alias is used.
    pub(super) fn alias(&mut self, expr: &'a Expr, site: &Site<'a>) {
        if site.root.is_some_and(|symbol| self.walk.may_matter(symbol)) {
            self.member_chain(expr, site);
            for name in self.qualified(expr, site) {
                let followed = match TABLE.entry(&name) {
                    Entry::Holder => true,
                    Entry::Row(row, _) => row.handed_on.is_some(),
                    _ => false,
                };
                if !followed {
                    self.reference(&name, expr.range(), site);
                }
            }
        }
        if !matches!(expr, Expr::Name(_)) {
            self.escape(expr, site, false);
        }
    }

    /// A chain that is compared: what is only useful when called does nothing.
    pub(super) fn compared(&mut self, expr: &'a Expr, site: &Site<'a>) {
        if let Expr::Attribute(attribute) = expr {
            self.attribute_of_result(attribute, site);
        }
        if site.root.is_none_or(|symbol| !self.walk.may_matter(symbol)) {
            return;
        }
        self.member_chain(expr, site);
        for name in self.qualified(expr, site) {
            let is_value = match TABLE.entry(&name) {
                Entry::Row(row, _) => match row.class {
                    Class::Environ | Class::SysPath | Class::SysModules | Class::Pinned => true,
                    Class::Opaque => matches!(
                        row.reason,
                        Some(Opaque::Loader | Opaque::Host | Opaque::Stdin | Opaque::Gc | Opaque::Tmp)
                    ),
                    _ => false,
                },
                Entry::Unlisted => true,
                _ => false,
            };
            if is_value {
                self.reference(&name, expr.range(), site);
            }
        }
    }

    /// A class that is inherited from. Whoever uses the subclass may not see the base.
    pub(super) fn base(&mut self, expr: &'a Expr, site: &Site<'a>) {
        if site.root.is_none_or(|symbol| !self.walk.may_matter(symbol)) {
            return;
        }
        for name in self.qualified(expr, site) {
            if let Entry::Row(row, operation) = TABLE.entry(&name) {
                let shown = shown(operation, &name);
                match row.class {
                    Class::Opaque if !is_class_or_constant(&name) => {
                        self.opaque(&shown, row.reason.unwrap_or(Opaque::Unlisted), expr.range(), site);
                    }
                    Class::Reads => self.opaque(&shown, Opaque::ComputedLoad, expr.range(), site),
                    Class::Unpickle => {
                        self.opaque(&shown, row.reason.unwrap_or(Opaque::Eval), expr.range(), site);
                    }
                    _ => {
                        if let Some(reason) = row.handed_on.filter(|_| operation == name) {
                            self.opaque(&shown, reason, expr.range(), site);
                        }
                    }
                }
            }
        }
    }

    /// An operation, module or class that is read, not called: whoever gets it may call it.
    pub(super) fn reference(&mut self, name: &str, range: TextRange, site: &Site<'a>) {
        if let Some((holder, "__dict__" | "__getattribute__" | "__getattr__")) = name.rsplit_once('.') {
            return self.handed_on(holder, range, site);
        }
        match TABLE.entry(name) {
            Entry::Row(row, operation) => self.operation(row, operation, name, range, site),
            Entry::Holder => self.handed_on(name, range, site),
            Entry::Member => {}
            Entry::Unlisted => self.unlisted(name, range, site),
        }
    }

    /// A member of the standard library that no row names.
    pub(super) fn unlisted(&mut self, name: &str, range: TextRange, site: &Site<'a>) {
        let dunder = |name: &str| name.starts_with("__") && name.ends_with("__");
        if is_unlisted(name) && !is_class_or_constant(name) && !name.rsplit('.').next().is_some_and(dunder) {
            self.opaque(name, Opaque::Unlisted, range, site);
        }
    }

    /// A module or class that leaves under another name: the worst of its members.
    pub(super) fn handed_on(&mut self, name: &str, range: TextRange, site: &Site<'a>) {
        if let Entry::Row(row, operation) = TABLE.entry(name) {
            if let Some(reason) = row.handed_on {
                self.opaque(operation, reason, range, site);
            }
            return;
        }
        if is_class(name) {
            return;
        }
        match TABLE.worst(name) {
            Worst::Opaque(reason) => self.opaque(name, reason, range, site),
            Worst::Pinned(pin) => self.named(name, pin, range, site),
            Worst::Pure => {}
        }
    }

    fn operation(&mut self, row: &Row, operation: &str, name: &str, range: TextRange, site: &Site<'a>) {
        let shown = shown(operation, name);
        if let Some(reason) = row.handed_on {
            if operation == name {
                self.opaque(&shown, reason, range, site);
            }
            return;
        }
        match row.class {
            Class::Pure | Class::Writes | Class::Sql => {}
            Class::Pinned => self.named(&shown, row.pin.as_deref().unwrap_or_default(), range, site),
            Class::Opaque if row.called || is_class_or_constant(name) && operation.ends_with(".*") => {}
            Class::Opaque | Class::Unpickle => {
                self.opaque(&shown, row.reason.unwrap_or(Opaque::Unlisted), range, site);
            }
            // `getattr` and `globals` handed on read objects the receiver has already.
            Class::Load if !name.contains('.') && name != "__import__" => {}
            Class::Reads | Class::Resource | Class::Load => {
                self.opaque(&shown, Opaque::ComputedLoad, range, site);
            }
            Class::Environ => self.named("os.environ", "whole-env", range, site),
            Class::SysPath => self.opaque("sys.path", Opaque::Loader, range, site),
            // The names of what is loaded, and what they stand for.
            Class::SysModules => self.opaque("sys.modules", Opaque::Loader, range, site),
        }
    }

    /// A name that is read before the walk knows that it is imported.
    pub(super) fn late_import(&mut self, read: &Use<'a>) {
        let Some(expr) = read.bare else { return };
        let flags = self.walk.names.flags(read.symbol);
        let starred = self.walk.star && flags & (flag::INSIDE | flag::OUTSIDE) == 0;
        if flags & (flag::IMPORTED | flag::BUILTIN) == 0 && !starred {
            return;
        }
        let site = Site {
            what: What::Chain(expr),
            scope: read.scope,
            unit: read.unit,
            later: read.later,
            optional: false,
            orderless: false,
            root: Some(read.symbol),
            guard: 0,
        };
        self.chain(expr, &site);
    }

    pub(super) fn subscript(&mut self, subscript: &'a ast::ExprSubscript, site: &Site<'a>) {
        if let Expr::Call(call) = &*subscript.value {
            let name = self.namespace_call(call, site);
            if let Some(name) = name.filter(|_| subscript.ctx == ExprContext::Load) {
                self.opaque(name, Opaque::Eval, subscript.range, site);
            }
            return;
        }
        self.inside_function(&subscript.value, None, site);
        if site.root.is_none_or(|s| !self.walk.may_matter(s)) {
            return;
        }
        let store = subscript.ctx != ExprContext::Load;
        let mut rest = true;
        for name in self.qualified(&subscript.value, site) {
            match name.as_str() {
                "os.environ" | "os.environb" if store => rest = false,
                "os.environ" | "os.environb" => {
                    rest = false;
                    self.env("os.environ", Some(&subscript.slice), subscript.range, site);
                }
                "sys.modules" => {
                    rest = false;
                    if store {
                        self.opaque("sys.modules", Opaque::MutateGlobal, subscript.range, site);
                    } else {
                        self.sys_module(Some(&subscript.slice), subscript.range, site);
                    }
                }
                "sys.path" => {
                    rest = false;
                    let reason = if store { Opaque::MutateGlobal } else { Opaque::Loader };
                    self.opaque("sys.path", reason, subscript.range, site);
                }
                "builtins" if !store => {
                    rest = false;
                    match self.eval.value(&subscript.slice, site.scope) {
                        Value::Text { text, exact: true, package: false } => {
                            self.reference(&text, subscript.range, site);
                        }
                        _ => self.opaque("__builtins__", Opaque::Eval, subscript.range, site),
                    }
                }
                _ => {}
            }
        }
        if rest {
            self.chain(&subscript.value, site);
        }
    }

    /// `globals()`, `vars()` and `locals()`.
    pub(super) fn namespace_call(&self, call: &'a ast::ExprCall, site: &Site<'a>) -> Option<&'static str> {
        if !call.arguments.is_empty() {
            return None;
        }
        let mut found = None;
        self.names.each(&call.func, site.scope, &mut |name| match name {
            "globals" => found = Some("globals"),
            "vars" => found = Some("vars"),
            "locals" => found = Some("locals"),
            _ => {}
        });
        found
    }

    /// Whether the value at `range` is only looked into at once: `globals()["name"]`.
    pub(super) fn is_looked_up(&self, range: TextRange) -> bool {
        let rest = self.text.get(range.end().to_usize()..).unwrap_or("").trim_start();
        rest.starts_with(['[', '.'])
    }

    /// A namespace that is handed on as a dictionary: what it imports goes with it.
    pub(super) fn namespace_escapes(&mut self, name: &str, range: TextRange, site: &Site<'a>) {
        let mut scope = if name == "globals" { MODULE } else { site.scope };
        while self.walk.names.scope(scope).kind == ScopeKind::Inner {
            scope = self.walk.names.scope(scope).parent;
        }
        for symbol in self.walk.names.symbols_in(scope) {
            for name in self.names.symbol(scope, symbol).iter() {
                let theirs = TABLE.is_holder(name) || TABLE.row(name).is_some();
                if theirs {
                    self.reference(name, range, site);
                }
            }
        }
    }

    pub(super) fn contains(&mut self, left: &'a Expr, container: &'a Expr, site: &Site<'a>) {
        if site.root.is_none_or(|s| !self.walk.may_matter(s)) {
            return;
        }
        let mut rest = true;
        for name in self.qualified(container, site) {
            match name.as_str() {
                "os.environ" | "os.environb" => {
                    rest = false;
                    self.env("os.environ", Some(left), container.range(), site);
                }
                "sys.modules" => {
                    rest = false;
                    self.opaque("sys.modules", Opaque::Host, container.range(), site);
                    if let Expr::StringLiteral(text) = left {
                        let text = text.value.to_str().to_owned();
                        self.claimed.insert(text.clone());
                        let site = Site { optional: true, ..*site };
                        self.load("sys.modules", text, ImportKind::StringRef, left.range(), &site);
                    }
                }
                _ => {}
            }
        }
        if rest {
            self.chain(container, site);
        }
    }

    /// Members read from an imported module: any prefix may be a submodule that somebody
    /// else has imported.
    pub(super) fn member_chain(&mut self, expr: &'a Expr, site: &Site<'a>) {
        if site.root.is_none_or(|s| self.walk.names.flags(s) & flag::IMPORTED == 0) {
            return;
        }
        if let Some(chain) = self.chain_text(expr, site) {
            self.members.push((chain, expr.range()));
        }
    }

    /// The dotted name of a chain on an imported module, once for each spelling.
    fn chain_text(&mut self, expr: &'a Expr, site: &Site<'a>) -> Option<String> {
        let Expr::Attribute(_) = expr else { return None };
        let mut root = expr;
        while let Expr::Attribute(attribute) = root {
            root = &attribute.value;
        }
        let target = self.names.import_of(root, site.scope)?;
        let key = (target.module.as_ptr() as usize, &self.text[expr.range()]);
        if !self.chains.insert(key) {
            return None;
        }
        self.dotted_chain(expr, site)
    }

    /// The dotted name of a chain on an imported module outside the standard library.
    pub(super) fn dotted_chain(&self, expr: &'a Expr, site: &Site<'a>) -> Option<String> {
        let mut parts = Vec::new();
        let mut root = expr;
        while let Expr::Attribute(attribute) = root {
            parts.push(attribute.attr.as_str());
            root = &attribute.value;
        }
        let target = self.names.import_of(root, site.scope)?;
        let class = |name: &str| name.starts_with(|c: char| c.is_uppercase());
        if target.type_only
            || (target.level == 0 && is_stdlib(target.module))
            || target.name.is_some_and(class)
        {
            return None;
        }
        let mut text = loads::dotted(target);
        let before = text.len();
        for part in parts.iter().rev().take_while(|p| !p.starts_with("__")) {
            text.push('.');
            text.push_str(part);
        }
        (text.len() > before).then_some(text)
    }
}

/// The operation of a row as answers show it.
pub(super) fn shown(operation: &str, name: &str) -> String {
    if operation.ends_with(".*") { name.to_owned() } else { operation.to_owned() }
}

fn is_class(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|last| last.starts_with(|c: char| c.is_uppercase()))
}

/// Members that are classes of errors or constants do nothing.
pub(super) fn is_class_or_constant(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    ["Error", "Exception", "Warning", "Interrupt"].iter().any(|end| last.ends_with(end))
        || last.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}
