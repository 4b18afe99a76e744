//! Time, dates and chance: which arguments make an operation of the clock one of its
//! arguments, and the operations that read the clock without saying so.

use owed_engine::facts::Opaque;
use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::{Ranged, TextRange};

use super::super::loads::argument;
use super::super::place::Value;
use super::super::rows::{Row, TABLE};
use super::super::scope::Bound;
use super::super::walk::Site;
use super::Judge;

/// Names followed when asking whether a value may be `None`.
const HOPS: u8 = 4;

impl<'a> Judge<'_, 'a> {
    /// Whether the argument that makes a call harmless is there, and not `None`.
    pub(super) fn is_given(&self, row: &Row, call: &'a ast::ExprCall, site: &Site<'a>) -> bool {
        if row.given.is_none() && row.keyword.is_none() {
            return false;
        }
        let by_name = row.keyword.as_ref().and_then(|keyword| call.arguments.find_keyword(keyword));
        let value = by_name.map(|k| &k.value).or_else(|| {
            let at = usize::from(row.given?);
            let open = call.arguments.args.iter().take(at + 1).any(Expr::is_starred_expr);
            if open { None } else { call.arguments.args.get(at) }
        });
        value.is_some_and(|v| self.is_some(v, site, HOPS))
    }

    /// Whether a value is certainly not `None`.
    fn is_some(&self, value: &'a Expr, site: &Site<'a>, hops: u8) -> bool {
        let Some(hops) = hops.checked_sub(1) else { return false };
        match value {
            Expr::NumberLiteral(_)
            | Expr::StringLiteral(_)
            | Expr::BytesLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::BinOp(_)
            | Expr::UnaryOp(_)
            | Expr::Compare(_)
            | Expr::Tuple(_)
            | Expr::List(_)
            | Expr::Dict(_)
            | Expr::FString(_) => true,
            Expr::If(e) => self.is_some(&e.body, site, hops) && self.is_some(&e.orelse, site, hops),
            Expr::BoolOp(e) if e.op == ast::BoolOp::Or => {
                e.values.last().is_some_and(|last| self.is_some(last, site, hops))
            }
            Expr::Named(e) => self.is_some(&e.value, site, hops),
            Expr::Attribute(_) => self
                .qualified(value, site)
                .iter()
                .any(|name| matches!(name.as_str(), "datetime.timezone.utc" | "datetime.UTC" | "sys.argv")),
            Expr::Call(call) => self.gives_something(call, site),
            Expr::Name(name) => {
                let names = &self.walk.names;
                let Some(symbol) = names.find(&name.id) else { return false };
                let Some(at) = names.resolve(site.scope, symbol) else { return false };
                let mut bindings = names.bindings(at, symbol).peekable();
                bindings.peek().is_some()
                    && bindings.all(|b| match b.bound {
                        Bound::Value(value) => self.is_some(value, &Site { scope: b.scope, ..*site }, hops),
                        Bound::Import(_) => self
                            .names
                            .name_of_import(&b)
                            .is_some_and(|name| matches!(name.as_str(), "datetime.UTC")),
                        _ => false,
                    })
            }
            _ => false,
        }
    }

    /// Whether a call certainly gives something else than `None`.
    fn gives_something(&self, call: &'a ast::ExprCall, site: &Site<'a>) -> bool {
        if let Expr::Name(name) = &*call.func
            && self.names.is_builtin(&name.id, site.scope)
        {
            return matches!(
                name.id.as_str(),
                "int"
                    | "float"
                    | "abs"
                    | "round"
                    | "len"
                    | "sum"
                    | "hash"
                    | "str"
                    | "bytes"
                    | "tuple"
                    | "list"
                    | "ord"
                    | "bytearray"
            );
        }
        if let Expr::Attribute(attribute) = &*call.func
            && matches!(attribute.attr.as_str(), "timestamp" | "timetuple" | "utctimetuple" | "total_seconds")
        {
            return true;
        }
        self.qualified(&call.func, site).iter().any(|name| {
            name.starts_with("datetime.")
                || name.starts_with("zoneinfo.")
                || matches!(
                    name.as_str(),
                    "time.gmtime"
                        | "time.localtime"
                        | "time.struct_time"
                        | "time.strptime"
                        | "time.mktime"
                        | "calendar.timegm"
                        | "time.time"
                        | "os.urandom"
                        | "random.Random"
                )
        })
    }

    /// Operations on time that are more than a row. True when dealt with.
    pub(super) fn time(&mut self, name: &str, call: &'a ast::ExprCall, site: &Site<'a>) -> bool {
        let range = call.range();
        match name {
            "time.strftime" => {
                let row = TABLE.row(name).expect("the table has the row");
                if !self.is_given(row, call, site) {
                    return false;
                }
                self.codes(name, argument(call, 0, "format"), range, site);
            }
            "time.strptime" => self.codes(name, argument(call, 1, "format"), range, site),
            "datetime.datetime.strptime" | "datetime.date.strptime" | "datetime.time.strptime" => {
                self.codes(name, argument(call, 1, "format"), range, site);
            }
            "datetime.datetime.strftime" | "datetime.date.strftime" | "datetime.time.strftime" => {
                self.codes(name, argument(call, 0, "format"), range, site);
            }
            "datetime.datetime.timestamp" => {
                let aware = match &*call.func {
                    Expr::Attribute(attribute) => self.is_aware(&attribute.value, site, HOPS),
                    _ => false,
                };
                if !aware {
                    self.named(name, "TZ", range, site);
                }
            }
            "email.utils.formatdate" => {
                let row = TABLE.row(name).expect("the table has the row");
                if !self.is_given(row, call, site) {
                    return false;
                }
                let local = argument(call, 1, "localtime");
                if local.is_some_and(|l| !matches!(l, Expr::BooleanLiteral(b) if !b.value)) {
                    self.named(name, "TZ", range, site);
                }
            }
            "gzip.open" | "gzip.GzipFile" => {
                // The header holds the time, unless one is given.
                let mtime = argument(call, 4, "mtime").filter(|_| name == "gzip.GzipFile");
                let given = mtime.is_some_and(|m| self.is_some(m, site, HOPS));
                if !given && self.may_write(argument(call, 1, "mode"), 'r', site) {
                    self.opaque(name, Opaque::Clock, range, site);
                }
                return false;
            }
            "tarfile.open" => {
                let mode = argument(call, 1, "mode");
                let gzips = match mode.map(|m| self.eval.value(m, site.scope)) {
                    None => false,
                    Some(Value::Text { text, exact: true, .. }) => {
                        text.contains("gz") && text.starts_with(['w', 'x', 'a'])
                    }
                    Some(_) => true,
                };
                if gzips {
                    self.opaque(name, Opaque::Clock, range, site);
                }
                return false;
            }
            "zipfile.ZipFile.writestr" => {
                let made = argument(call, 0, "zinfo_or_arcname").is_some_and(|i| self.is_made(i, site));
                if !made {
                    self.opaque(name, Opaque::Clock, range, site);
                }
            }
            "zipfile.ZipFile.mkdir" => {
                let made =
                    argument(call, 0, "zinfo_or_directory_name").is_some_and(|i| self.is_made(i, site));
                if !made {
                    self.opaque(name, Opaque::Clock, range, site);
                }
            }
            _ => return false,
        }
        true
    }

    /// Whether opening with such a mode may write.
    fn may_write(&self, mode: Option<&'a Expr>, default: char, site: &Site<'a>) -> bool {
        match mode.map(|m| self.eval.value(m, site.scope)) {
            None => default != 'r',
            Some(Value::Text { text, exact: true, .. }) => text.contains(['w', 'x', 'a', '+']),
            Some(_) => true,
        }
    }

    /// Whether an entry of an archive was made with a constructor, whose time is fixed.
    fn is_made(&self, entry: &'a Expr, site: &Site<'a>) -> bool {
        match entry {
            Expr::Call(call) => self.names.is(&call.func, site.scope, "zipfile.ZipInfo"),
            Expr::Name(name) => {
                let names = &self.walk.names;
                let Some(symbol) = names.find(&name.id) else { return false };
                let Some(at) = names.resolve(site.scope, symbol) else { return false };
                let mut bindings = names.bindings(at, symbol).peekable();
                bindings.peek().is_some()
                    && bindings.all(|b| match b.bound {
                        Bound::Value(Expr::Call(call)) => {
                            self.names.is(&call.func, b.scope, "zipfile.ZipInfo")
                        }
                        _ => false,
                    })
            }
            _ => false,
        }
    }

    /// Whether a datetime certainly has a time zone of its own.
    fn is_aware(&self, value: &'a Expr, site: &Site<'a>, hops: u8) -> bool {
        let Some(hops) = hops.checked_sub(1) else { return false };
        match value {
            Expr::Call(call) => {
                let zone = |at, keyword| {
                    argument(call, at, keyword).is_some_and(|zone| self.is_some(zone, site, HOPS))
                };
                self.qualified(&call.func, site).iter().any(|name| match name.as_str() {
                    "datetime.datetime" => zone(7, "tzinfo"),
                    "datetime.datetime.now" => zone(0, "tz"),
                    "datetime.datetime.fromtimestamp" => zone(1, "tz"),
                    "datetime.datetime.replace" => zone(7, "tzinfo"),
                    "datetime.datetime.astimezone" => true,
                    _ => false,
                })
            }
            Expr::Name(name) => {
                let names = &self.walk.names;
                let Some(symbol) = names.find(&name.id) else { return false };
                let Some(at) = names.resolve(site.scope, symbol) else { return false };
                let mut bindings = names.bindings(at, symbol).peekable();
                bindings.peek().is_some()
                    && bindings.all(|b| match b.bound {
                        Bound::Value(value) => self.is_aware(value, &Site { scope: b.scope, ..*site }, hops),
                        _ => false,
                    })
            }
            _ => false,
        }
    }

    /// A format of dates: codes for names, and formats that are not seen, need the locale;
    /// the name of a zone needs the zone.
    fn codes(&mut self, name: &str, format: Option<&'a Expr>, range: TextRange, site: &Site<'a>) {
        match format.map(|f| self.eval.value(f, site.scope)) {
            Some(Value::Text { text, exact: true, package: false }) => {
                if has_names(&text) {
                    self.named(name, "LC_TIME", range, site);
                }
                if text.contains("%Z") {
                    self.named(name, "TZ", range, site);
                }
            }
            _ => self.named(name, "LC_TIME", range, site),
        }
    }

    /// `f"{date:%A}"`.
    pub(super) fn format(&mut self, part: &'a ast::InterpolatedElement, site: &Site<'a>) {
        let Some(spec) = &part.format_spec else { return };
        let named = spec.elements.iter().any(|element| match element {
            ast::InterpolatedStringElement::Literal(literal) => has_names(&literal.value),
            ast::InterpolatedStringElement::Interpolation(_) => false,
        });
        if named {
            self.named("datetime.datetime.strftime", "LC_TIME", part.range, site);
        }
    }

    /// Methods that only dates have, on something whose class is not seen.
    pub(super) fn unknown_receiver(&mut self, call: &'a ast::ExprCall, site: &Site<'a>) {
        let Expr::Attribute(attribute) = &*call.func else { return };
        let range = call.range();
        if self.is_own_object(&attribute.value, site) {
            return;
        }
        match attribute.attr.as_str() {
            "parse_args" | "parse_known_args"
                if call.arguments.is_empty() && self.walk.names.find("argparse").is_some() =>
            {
                self.named("argparse.ArgumentParser.parse_args", "argv", range, site);
            }
            "writestr" if !call.arguments.args.first().is_some_and(|entry| self.is_made(entry, site)) => {
                self.opaque("zipfile.ZipFile.writestr", Opaque::Clock, range, site);
            }
            "gettarinfo" => self.opaque("tarfile.TarFile.gettarinfo", Opaque::Clock, range, site),
            "call_later" | "call_at" => {
                self.opaque("asyncio.AbstractEventLoop.call_later", Opaque::Clock, range, site);
            }
            "run_in_executor" => {
                self.opaque("asyncio.AbstractEventLoop.run_in_executor", Opaque::Concurrency, range, site);
            }
            "astimezone" if call.arguments.is_empty() => {
                self.named("datetime.datetime.astimezone", "TZ", range, site);
            }
            "strftime" if call.arguments.len() == 1 => {
                let format = call.arguments.args.first();
                if let Some(format) = format
                    && let Value::Text { text, exact: true, package: false } =
                        self.eval.value(format, site.scope)
                    && has_names(&text)
                {
                    self.named("datetime.datetime.strftime", "LC_TIME", range, site);
                }
            }
            "timestamp"
                if call.arguments.is_empty()
                    && self.walk.names.find("datetime").is_some()
                    && !self.is_aware(&attribute.value, site, HOPS) =>
            {
                self.named("datetime.datetime.timestamp", "TZ", range, site);
            }
            _ => {}
        }
    }
}

/// Whether a format of dates has codes whose text the locale decides.
fn has_names(format: &str) -> bool {
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            continue;
        }
        let mut code = chars.next();
        if matches!(code, Some('-' | '_' | '#' | '^' | '0')) {
            code = chars.next();
        }
        if matches!(code, Some('a' | 'A' | 'b' | 'B' | 'c' | 'p' | 'x' | 'X' | 'h' | 'r' | 'E' | 'O' | 'P')) {
            return true;
        }
    }
    false
}
