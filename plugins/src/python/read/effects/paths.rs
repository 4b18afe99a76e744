//! Paths that are read, listed, written, or handed on.

use owed_engine::facts::{EffectClass, ImportKind, Opaque, PathBase, Pin};
use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::{Ranged, TextRange};

use super::super::loads;
use super::super::place::{Place, Value};
use super::super::rows::{Row, Takes};
use super::super::scope::flag;
use super::super::walk::Site;
use super::{Judge, may_be_path};

impl<'a> Judge<'_, 'a> {
    /// An operation that reads what `value` names.
    pub(super) fn read(
        &mut self,
        row: &'static Row,
        name: &str,
        value: Value,
        call: &'a ast::ExprCall,
        site: &Site<'a>,
    ) {
        let range = call.range();
        let value = match value {
            Value::Text { text, exact: true, .. } if text.contains(":memory:") => return,
            Value::Text { text, exact: true, .. } if name == "sqlite3.connect" && text.is_empty() => return,
            Value::Text { text, exact: true, package: false } if text.starts_with("file:") => {
                let path = &text["file:".len()..];
                let (path, query) = path.split_once('?').unwrap_or((path, ""));
                let read_only = query.split('&').any(|part| matches!(part, "mode=ro" | "immutable=1"));
                if query.split('&').any(|part| part == "mode=memory") {
                    return;
                }
                return match Value::text(path).into_path() {
                    Value::Place(place) => {
                        self.effect(name, EffectClass::Pinned(Pin::File(place.expr())), range, site);
                        if let Some(reason) = row.also_reason.filter(|_| !read_only) {
                            self.opaque(name, reason, range, site);
                        }
                    }
                    _ => self.opaque(name, Opaque::ComputedLoad, range, site),
                };
            }
            Value::Text { .. } | Value::OneOf(_) => {
                let path = value.into_path();
                if path == Value::Memory {
                    return self.opaque(name, Opaque::Network, range, site);
                }
                path
            }
            value => value,
        };
        let pattern = match row.what {
            Takes::Glob | Takes::Rglob if row.receiver => {
                Some(call.arguments.args.first().map_or(Value::Unknown, |p| self.eval.value(p, site.scope)))
            }
            _ => None,
        };
        match value {
            Value::Memory => return,
            Value::Tmp => return self.opaque(name, Opaque::Tmp, range, site),
            Value::Home => {
                self.named(name, "HOME", range, site);
                return self.opaque(name, Opaque::Host, range, site);
            }
            Value::Unknown | Value::Text { .. } | Value::OneOf(_) => {
                self.opaque(name, Opaque::ComputedLoad, range, site);
            }
            Value::Package { .. } => self.package_file(&value, range, site),
            Value::Entries(place) | Value::Parents(place) => {
                self.effect(name, EffectClass::Bounded(place.expr()), range, site);
            }
            Value::Place(place) if !place.exact => {
                let dir = if row.what == Takes::Glob { split_glob(&place).0 } else { place };
                self.effect(name, EffectClass::Bounded(dir.expr()), range, site);
            }
            Value::Place(place) => {
                let class = match (row.what, pattern) {
                    (Takes::File, _) => EffectClass::Pinned(Pin::File(place.expr())),
                    (Takes::Listing, _) => listing(&place, "*"),
                    (Takes::Tree, _) if row.also_reason.is_some() => listing(&place, "**"),
                    (Takes::Tree, _) => EffectClass::Bounded(place.expr()),
                    (Takes::Glob, None) if call.arguments.find_keyword("root_dir").is_none() => {
                        let (dir, glob) = split_glob(&place);
                        listing(&dir, &glob)
                    }
                    (Takes::Glob, Some(Value::Text { text, exact: true, .. })) => listing(&place, &text),
                    (Takes::Rglob, Some(Value::Text { text, exact: true, .. })) => {
                        listing(&place, &format!("**/{text}"))
                    }
                    (Takes::Glob, None) => EffectClass::Opaque(Opaque::ComputedLoad),
                    _ => listing(&place, "**"),
                };
                self.effect(name, class, range, site);
            }
        }
        if let Some(reason) = row.also_reason
            && !(reason == Opaque::FsOrder && site.orderless)
            && !(reason == Opaque::FsMeta && self.sized.contains(&range))
        {
            self.opaque(name, reason, range, site);
        }
    }

    /// An operation that changes what `value` names; never an input.
    pub(super) fn write(&mut self, name: &str, value: &Value, range: TextRange, site: &Site<'a>) {
        if !matches!(value, Value::Tmp | Value::Memory) {
            self.opaque(name, Opaque::FsMeta, range, site);
        }
    }

    /// Paths given to a call that no row deals with.
    pub(super) fn escapes_of(&mut self, call: &'a ast::ExprCall, expr: &'a Expr, site: &Site<'a>) {
        if self.is_covered(expr.range()) {
            return;
        }
        // A call that makes a path is judged as one.
        if self.escape(expr, site, false) {
            return;
        }
        let keywords = call.arguments.keywords.iter().map(|k| &k.value);
        for argument in call.arguments.args.iter().chain(keywords) {
            self.escape(argument, site, true);
        }
    }

    /// A path that is handed on to code that may read it. True when `expr` is a path.
    pub(super) fn escape(&mut self, expr: &'a Expr, site: &Site<'a>, to_call: bool) -> bool {
        if !self.paths || !may_be_path(expr) {
            return false;
        }
        let range = expr.range();
        if let Expr::Name(name) = expr
            && let Some(symbol) = self.walk.names.find(&name.id)
            && self.walk.names.flags(symbol) & (flag::ALIAS | flag::BUILTIN) == 0
        {
            return false;
        }
        if self.consumed.contains(&range) || self.is_covered(range) {
            return false;
        }
        let value = self.eval.value(expr, site.scope);
        match &value {
            Value::Place(place) => {
                self.hand_on(place, expr, to_call, site);
                self.cover(range);
                true
            }
            Value::Package { .. } => {
                self.package_file(&value, range, site);
                self.cover(range);
                true
            }
            Value::Tmp => true,
            _ => false,
        }
    }

    fn hand_on(&mut self, place: &Place, expr: &Expr, to_call: bool, site: &Site<'a>) {
        let own = self.eval.own_file();
        let class = match place.base {
            // Text about places outside the project; reading them has rows.
            PathBase::Absolute => return,
            PathBase::Cwd if place.path.is_empty() => return,
            // Text that is put together: whoever is given it is judged where it is given.
            PathBase::Cwd if !to_call && expr.is_call_expr() => return,
            _ if *place == own => {
                // The file's own path is mostly taken to find its neighbours.
                if !to_call || !expr.is_name_expr() {
                    return;
                }
                EffectClass::Bounded(Place::new(PathBase::Module, "").expr())
            }
            _ if !place.exact => EffectClass::Bounded(place.expr()),
            _ if place.name() != ".." && place.name().rfind('.').is_some_and(|at| at > 0) => {
                EffectClass::Pinned(Pin::File(place.expr()))
            }
            _ => EffectClass::Bounded(place.expr()),
        };
        self.effect("path", class, expr.range(), site);
    }

    pub(super) fn resource(&mut self, row: &Row, name: &str, call: &'a ast::ExprCall, site: &Site<'a>) {
        let range = call.range();
        let Some(package) = call.arguments.args.first() else {
            return self.opaque(name, Opaque::ComputedLoad, range, site);
        };
        self.consumed.insert(package.range());
        let package_name = match self.eval.value(package, site.scope) {
            Value::Text { text, exact: true, package: false } => Some(text),
            Value::Text { text, exact: true, package: true } if text.is_empty() => Some(".".to_owned()),
            _ => self.names.import_of(package, site.scope).map(loads::dotted),
        };
        let Some(package_name) = package_name else {
            return self.opaque(name, Opaque::ComputedLoad, range, site);
        };
        self.claimed.insert(package_name.clone());
        let rest = &call.arguments.args[1..];
        for part in rest {
            if let Value::Text { text, exact: true, package: false } = self.eval.value(part, site.scope) {
                self.claimed.insert(text);
            }
        }
        let inside = rest
            .iter()
            .map(|a| self.eval.value(a, site.scope))
            .fold(Value::Package { name: package_name, path: String::new(), exact: true }, Value::join);
        if row.what == Takes::Listing
            && let Value::Package { name: package, path, .. } = inside
        {
            return self.load(
                "import",
                format!("{package}/{}", below(&path, "*")),
                ImportKind::Glob,
                range,
                site,
            );
        }
        self.package_file(&inside, range, site);
    }

    /// The folders of templates and static files that a web application reads beside the
    /// module it is named after.
    pub(super) fn web_folders(
        &mut self,
        module: Option<&'a Expr>,
        by_default: bool,
        call: &'a ast::ExprCall,
        site: &Site<'a>,
    ) {
        let range = call.range();
        let base = match module.map(|m| self.eval.value(m, site.scope)) {
            Some(Value::Text { text, exact: true, package: true }) if text.is_empty() => PathBase::Module,
            Some(Value::Text { exact: true, package: false, .. }) => PathBase::Cwd,
            _ => return self.opaque("flask.Flask", Opaque::ComputedLoad, range, site),
        };
        for (keyword, default) in [("template_folder", "templates"), ("static_folder", "static")] {
            let folder = match call.arguments.find_keyword(keyword) {
                Some(given) => self.eval.value(&given.value, site.scope),
                None if by_default => Value::text(default),
                None => continue,
            };
            match Value::Place(Place::new(base, "")).join(folder) {
                Value::Place(place) => {
                    self.effect("flask.Flask", EffectClass::Bounded(place.expr()), range, site);
                }
                _ => self.opaque("flask.Flask", Opaque::ComputedLoad, range, site),
            }
        }
    }

    /// Recorded answers that a fixture compares with: beside the test.
    pub(super) fn snapshots(&mut self, fixture: &str, range: TextRange, site: &Site<'a>) {
        let folder = match fixture {
            "snapshot" | "snapshot_json" => "__snapshots__",
            // pytest-regressions: a folder named like the module.
            _ => self.eval.stem(),
        };
        let place = Place::new(PathBase::Module, folder);
        self.effect(fixture, EffectClass::Bounded(place.expr()), range, site);
    }

    /// A file of a package, or what lies below one of its directories.
    fn package_file(&mut self, value: &Value, range: TextRange, site: &Site<'a>) {
        if let Value::Package { name, path, exact } = value {
            let path = if *exact && !path.is_empty() { path.clone() } else { below(path, "**") };
            self.load("import", format!("{name}/{path}"), ImportKind::Glob, range, site);
        }
    }
}

fn listing(dir: &Place, glob: &str) -> EffectClass {
    EffectClass::Pinned(Pin::Listing { dir: dir.expr(), glob: glob.to_owned() })
}

/// The constant directory of a pattern, and the rest.
fn split_glob(pattern: &Place) -> (Place, String) {
    let parts: Vec<&str> = pattern.path.split('/').collect();
    let at = parts.iter().position(|p| p.contains(['*', '?', '['])).unwrap_or(parts.len().saturating_sub(1));
    let dir = Place { path: parts[..at].join("/"), ..pattern.clone() };
    (dir, parts[at..].join("/"))
}

fn below(dir: &str, glob: &str) -> String {
    if dir.is_empty() { glob.to_owned() } else { format!("{dir}/{glob}") }
}
