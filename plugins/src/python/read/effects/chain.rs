//! Names and attribute chains that are not called: values handed on, environment names,
//! members of imported modules, assignments to what belongs to others.

use owed_engine::facts::{ImportKind, Opaque};
use ruff_python_ast::{self as ast, Expr, ExprContext};
use ruff_text_size::{Ranged, TextRange};

use super::super::loads;
use super::super::rows::{Class, Row, TABLE, is_stdlib};
use super::super::scope::flag;
use super::super::walk::{Site, Use, What};
use super::Judge;

impl<'a> Judge<'_, 'a> {
    /// A chain or a name that is read as a value.
    pub(super) fn chain(&mut self, expr: &'a Expr, site: &Site<'a>) {
        if let Some(symbol) = site.root
            && self.walk.may_matter(symbol)
            && !self.consumed.contains(&expr.range())
        {
            self.member_chain(expr, site);
            let mut found: Vec<String> = Vec::new();
            self.names.each(expr, site.scope, &mut |name| found.push(name.to_owned()));
            for name in &found {
                if let Some(row) = TABLE.row(name) {
                    self.reference(row, name, expr.range(), site);
                }
            }
        }
        self.escape(expr, site, false);
    }

    /// An operation that is read, not called: whoever gets it may call it.
    pub(super) fn reference(&mut self, row: &Row, name: &str, range: TextRange, site: &Site<'a>) {
        match row.class {
            Class::Pure | Class::Writes => {}
            Class::Pinned => self.named(name, row.pin.as_deref().unwrap_or_default(), range, site),
            Class::Opaque if row.called || is_class_or_constant(name) && row.operation.ends_with(".*") => {}
            Class::Opaque | Class::Unpickle => {
                self.opaque(name, row.reason.unwrap_or(Opaque::Unlisted), range, site);
            }
            // A submodule or member of a module that may not be handed on has its own row.
            Class::Escape if row.operation == name => {
                self.opaque(name, row.reason.unwrap_or(Opaque::Unlisted), range, site);
            }
            Class::Escape => {}
            // `getattr` and `globals` handed on read objects the receiver has already.
            Class::Load if !name.contains('.') && name != "__import__" => {}
            Class::Reads | Class::Resource | Class::Load => {
                self.opaque(name, Opaque::ComputedLoad, range, site);
            }
            Class::Environ => self.named("os.environ", "whole-env", range, site),
            // The names of directories; what is read below them is judged there.
            Class::SysPath => self.opaque("sys.path", Opaque::Host, range, site),
            Class::SysModules => self.opaque("sys.modules", Opaque::Loader, range, site),
        }
    }

    /// A name that is read before the walk knows that it is imported.
    pub(super) fn late_import(&mut self, read: &Use<'a>) {
        let Some(expr) = read.bare else { return };
        if self.walk.names.flags(read.symbol) & (flag::IMPORTED | flag::BUILTIN) == 0 {
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
        };
        self.chain(expr, &site);
    }

    pub(super) fn subscript(&mut self, subscript: &'a ast::ExprSubscript, site: &Site<'a>) {
        if site.root.is_none_or(|s| !self.walk.may_matter(s)) {
            return;
        }
        let mut base = None;
        self.names.each(&subscript.value, site.scope, &mut |name| match name {
            "os.environ" | "os.environb" => base = Some(Class::Environ),
            "sys.modules" => base = Some(Class::SysModules),
            "sys.path" => base = Some(Class::SysPath),
            _ => {}
        });
        match base {
            Some(Class::Environ) if subscript.ctx == ExprContext::Load => {
                self.env("os.environ", Some(&subscript.slice), subscript.range, site);
            }
            Some(Class::SysModules) if subscript.ctx == ExprContext::Load => {
                self.sys_module(Some(&subscript.slice), subscript.range, site);
            }
            Some(Class::SysPath) if subscript.ctx == ExprContext::Load => {
                self.opaque("sys.path", Opaque::Host, subscript.range, site);
            }
            Some(_) => {}
            None => self.chain(&subscript.value, site),
        }
    }

    pub(super) fn contains(&mut self, left: &'a Expr, container: &'a Expr, site: &Site<'a>) {
        if site.root.is_none_or(|s| !self.walk.may_matter(s)) {
            return;
        }
        let mut base = None;
        self.names.each(container, site.scope, &mut |name| match name {
            "os.environ" | "os.environb" => base = Some(Class::Environ),
            "sys.modules" => base = Some(Class::SysModules),
            "sys.path" => base = Some(Class::SysPath),
            _ => {}
        });
        match base {
            Some(Class::Environ) => self.env("os.environ", Some(left), container.range(), site),
            Some(Class::SysModules) => {
                if let Expr::StringLiteral(text) = left {
                    let text = text.value.to_str().to_owned();
                    self.claimed.insert(text.clone());
                    let site = Site { optional: true, ..*site };
                    self.load(text, ImportKind::StringRef, left.range(), &site);
                }
            }
            Some(_) => {}
            None => self.chain(container, site),
        }
    }

    /// An assignment to an attribute or an entry of something imported.
    pub(super) fn store(&mut self, target: &'a Expr, value: &'a Expr, site: &Site<'a>) {
        let (object, entry) = match target {
            Expr::Subscript(subscript) => (&*subscript.value, true),
            other => (other, false),
        };
        if site.root.is_none_or(|s| !self.walk.may_matter(s)) {
            return;
        }
        let mut found: Vec<String> = Vec::new();
        self.names.each(object, site.scope, &mut |name| found.push(name.to_owned()));
        let range = target.range();
        for name in &found {
            match TABLE.row(name).map(|r| (r.class, r.operation == *name)) {
                Some((Class::SysPath, true)) => self.search_path(Some(value), "sys.path", range, site),
                Some((Class::SysModules, true)) => {
                    self.opaque("sys.modules", Opaque::MutateGlobal, range, site)
                }
                Some((Class::Environ, true)) if entry => {}
                Some((Class::Environ, true)) => self.named("os.environ", "whole-env", range, site),
                Some((Class::Opaque | Class::Reads | Class::Pinned, _)) if !entry && name != "sys.argv" => {
                    self.opaque(name, Opaque::MutateGlobal, range, site);
                }
                _ => {}
            }
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

/// `socket.timeout` aside, members that are classes of errors or constants do nothing.
fn is_class_or_constant(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    ["Error", "Exception", "Warning", "Interrupt"].iter().any(|end| last.ends_with(end))
        || last.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}
