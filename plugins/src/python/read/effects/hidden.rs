//! Time and chance that do not show in a call: the text of SQL, formats and attributes of
//! log records, what `hypothesis` draws.
//!
//! SQL is looked at where it is written; text that is read from a file is not.

use owed_engine::facts::Opaque;
use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::Ranged;

use super::super::loads::argument;
use super::super::place::Value;
use super::super::scope::Bound;
use super::super::walk::Site;
use super::Judge;

impl<'a> Judge<'_, 'a> {
    /// Text given to a database that asks for the time or for chance.
    pub(super) fn sql(
        &mut self,
        attribute: &'a ast::ExprAttribute,
        call: &'a ast::ExprCall,
        site: &Site<'a>,
    ) {
        let method = attribute.attr.as_str();
        if !matches!(method, "execute" | "executemany" | "executescript") {
            return;
        }
        let Some(text) = argument(call, 0, "sql") else { return };
        let mut parts = Vec::new();
        match self.eval.value(text, site.scope) {
            Value::Text { text, exact: true, .. } => parts.push(text),
            Value::OneOf(texts) => parts.extend(texts),
            _ => literals(text, &mut parts, 8),
        }
        let name = format!("sqlite3.Connection.{method}");
        let (mut clock, mut random, mut zone) = (false, false, false);
        for asked in parts.iter().flat_map(|part| asked(part)) {
            match asked {
                Asked::Time => clock = true,
                Asked::Chance => random = true,
                Asked::Zone => zone = true,
            }
        }
        if clock {
            self.opaque(&name, Opaque::Clock, call.range(), site);
        }
        if random {
            self.opaque(&name, Opaque::Random, call.range(), site);
        }
        if zone {
            self.named(&name, "TZ", call.range(), site);
        }
    }

    /// A format of log records that shows the time, the process or the thread.
    pub(super) fn log_format(&mut self, name: &str, call: &'a ast::ExprCall, site: &Site<'a>) {
        // What `basicConfig` sets up writes to the output, unless it is given a stream.
        let format = match name {
            "logging.basicConfig" if call.arguments.find_keyword("stream").is_none() => return,
            "logging.basicConfig" => call.arguments.find_keyword("format").map(|k| &k.value),
            _ => argument(call, 0, "fmt"),
        };
        let Some(Value::Text { text, .. }) = format.map(|f| self.eval.value(f, site.scope)) else { return };
        let shows = |field: &str| {
            text.contains(&format!("%({field})"))
                || text.contains(&format!("{{{field}"))
                || text.contains(&format!("${{{field}}}"))
                || text.contains(&format!("${field}"))
        };
        if ["asctime", "created", "relativeCreated", "msecs"].iter().any(|f| shows(f)) {
            self.opaque(name, Opaque::Clock, call.range(), site);
        }
        if ["process", "thread"].iter().any(|f| shows(&format!("{f})")) || shows(f)) {
            self.opaque(name, Opaque::Host, call.range(), site);
        }
    }

    /// Attributes of log records, and sizes of `stat` results.
    pub(super) fn attribute_of_result(&mut self, attribute: &'a ast::ExprAttribute, site: &Site<'a>) {
        match attribute.attr.as_str() {
            "st_size" if attribute.value.is_call_expr() => {
                self.sized.insert(attribute.value.range());
            }
            "st_mtime" | "st_atime" | "st_ctime" | "st_birthtime" | "st_mtime_ns" | "st_atime_ns"
            | "st_ctime_ns" | "st_ino" | "st_dev" | "st_nlink" | "st_uid" | "st_gid"
                if !self.is_judged_stat(&attribute.value, site) =>
            {
                self.opaque("os.stat", Opaque::FsMeta, attribute.range, site);
            }
            "asctime" | "created" | "relativeCreated" | "msecs" | "process" | "thread"
                if self.is_record(&attribute.value, site) =>
            {
                let host = matches!(attribute.attr.as_str(), "process" | "thread");
                let reason = if host { Opaque::Host } else { Opaque::Clock };
                self.opaque("logging.LogRecord", reason, attribute.range, site);
            }
            "__globals__" | "func_globals" => {
                self.opaque("__globals__", Opaque::Eval, attribute.range, site);
            }
            _ => {}
        }
    }

    /// `f.__globals__[…]`, `f.__globals__.get(…)`: any name of a module; `f.__code__.replace(…)`
    /// is other code.
    pub(super) fn inside_function(&mut self, value: &'a Expr, method: Option<&str>, site: &Site<'a>) {
        let Expr::Attribute(attribute) = value else { return };
        match (attribute.attr.as_str(), method) {
            ("__globals__" | "func_globals", _) => {
                self.opaque("__globals__", Opaque::Eval, attribute.range, site);
            }
            ("__code__", Some("replace")) => {
                self.opaque("types.CodeType", Opaque::Eval, attribute.range, site);
            }
            _ => {}
        }
    }

    /// Whether a value is a call that was judged with its path.
    fn is_judged_stat(&self, value: &'a Expr, site: &Site<'a>) -> bool {
        let Expr::Call(call) = value else { return false };
        let Expr::Attribute(method) = &*call.func else {
            return !self.qualified(&call.func, site).is_empty();
        };
        !self.qualified(&call.func, site).is_empty()
            || self.eval.value(&method.value, site.scope) != Value::Unknown
    }

    /// Whether a value is a log record: an entry of `caplog.records`.
    fn is_record(&self, value: &'a Expr, site: &Site<'a>) -> bool {
        match value {
            Expr::Subscript(s) => self.is_records(&s.value),
            Expr::Name(name) => {
                let names = &self.walk.names;
                let Some(symbol) = names.find(&name.id) else { return false };
                let Some(at) = names.resolve(site.scope, symbol) else { return false };
                names.bindings(at, symbol).any(|b| match b.bound {
                    Bound::Element(records, None) => self.is_records(records),
                    Bound::Value(Expr::Subscript(s)) => self.is_records(&s.value),
                    Bound::Value(Expr::Call(call)) => {
                        self.names.is(&call.func, b.scope, "logging.LogRecord")
                            || self.names.is(&call.func, b.scope, "logging.makeLogRecord")
                    }
                    Bound::Other => name.id.as_str() == "record" && self.walk.names.find("caplog").is_some(),
                    Bound::Parameter(_) => {
                        name.id.as_str() == "record" && self.walk.names.find("logging").is_some()
                    }
                    _ => false,
                })
            }
            _ => false,
        }
    }

    fn is_records(&self, value: &Expr) -> bool {
        matches!(value, Expr::Attribute(a) if a.attr.as_str() == "records"
            && matches!(&*a.value, Expr::Name(n) if n.id.as_str() == "caplog"))
    }

    /// Methods whose second argument is what `hypothesis` draws from.
    pub(super) fn given(&mut self, name: &str, call: &'a ast::ExprCall, site: &Site<'a>) {
        if !self.is_derandomized(call) {
            self.opaque(name, Opaque::Random, call.range(), site);
        }
    }

    /// Whether the function this decorates is decorated with `settings(derandomize=True)`,
    /// too.
    fn is_derandomized(&self, call: &'a ast::ExprCall) -> bool {
        self.walk.names.functions().any(|def| {
            let here = def.decorator_list.iter().any(|d| d.expression.range() == call.range());
            here && def.decorator_list.iter().any(|d| match &d.expression {
                Expr::Call(settings) => settings
                    .arguments
                    .find_keyword("derandomize")
                    .is_some_and(|k| matches!(&k.value, Expr::BooleanLiteral(b) if b.value)),
                _ => false,
            })
        })
    }
}

/// What SQL asks for besides its tables.
enum Asked {
    Time,
    Chance,
    Zone,
}

/// The words of SQL that ask for something; quoted ones only if they are `'now'` or
/// `'localtime'`.
fn asked(sql: &str) -> Vec<Asked> {
    let mut found = Vec::new();
    let lower = sql.to_ascii_lowercase();
    let mut rest = lower.as_str();
    while let Some(at) = rest.find(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'') {
        rest = &rest[at..];
        if let Some(quoted) = rest.strip_prefix('\'') {
            let end = quoted.find('\'').unwrap_or(quoted.len());
            match &quoted[..end] {
                "now" => found.push(Asked::Time),
                "localtime" => found.push(Asked::Zone),
                _ => {}
            }
            rest = quoted.get(end + 1..).unwrap_or("");
            continue;
        }
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let called = after.trim_start();
        match word {
            "current_timestamp" | "current_date" | "current_time" | "now" => found.push(Asked::Time),
            "random" | "randomblob" if called.starts_with('(') => found.push(Asked::Chance),
            "date" | "time" | "datetime" | "julianday" | "unixepoch"
                if called.strip_prefix('(').is_some_and(|c| c.trim_start().starts_with(')')) =>
            {
                found.push(Asked::Time);
            }
            _ => {}
        }
        rest = after;
    }
    found
}

/// The literal pieces of a text that is put together.
fn literals(expr: &Expr, parts: &mut Vec<String>, depth: u8) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match expr {
        Expr::StringLiteral(text) => parts.push(text.value.to_str().to_owned()),
        Expr::FString(f) => {
            for element in f.value.elements() {
                if let ast::InterpolatedStringElement::Literal(literal) = element {
                    parts.push(literal.value.to_string());
                }
            }
        }
        Expr::BinOp(op) => {
            literals(&op.left, parts, depth);
            literals(&op.right, parts, depth);
        }
        Expr::Call(call) => {
            if let Expr::Attribute(attribute) = &*call.func {
                literals(&attribute.value, parts, depth);
            }
            call.arguments.args.iter().for_each(|a| literals(a, parts, depth));
        }
        _ => {}
    }
}
