//! What test runners and mocking tools do: fixtures by their names, patches, and the tools
//! that certainly replace the clock or the network while a body runs.
//!
//! Nothing is lifted for a whole file. A frozen clock lifts what reads it in the body it is
//! frozen for, if the time is written literally; what runs later (nested functions,
//! generators) is not in the body.

use owed_engine::facts::Opaque;
use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::{Ranged, TextRange};

use super::super::loads::argument;
use super::super::place::Value;
use super::super::rows::{Class, TABLE};
use super::super::scope::{Bound, MODULE};
use super::super::walk::{Guard, Holds, Site, is_fixture};
use super::Judge;
use super::code::is_type_checking;

impl<'a> Judge<'_, 'a> {
    /// A parameter of a test or fixture, by its name.
    pub(super) fn fixture(&mut self, name: &str, range: TextRange, site: &Site<'a>) {
        let Some(row) = TABLE.fixture(name) else { return };
        if row.class == Class::Opaque && !self.is_own_fixture(name, site) {
            self.opaque(name, row.reason.unwrap_or(Opaque::Unlisted), range, site);
        }
        if row.class == Class::Reads && !self.is_own_fixture(name, site) {
            self.snapshots(name, range, site);
        }
    }

    /// Whether the file has a fixture of this name, which hides the plugin's.
    fn is_own_fixture(&self, name: &str, site: &Site<'a>) -> bool {
        let names = &self.walk.names;
        let Some(symbol) = names.find(name) else { return false };
        let scopes = names.class_of(site.scope).into_iter().chain([MODULE]);
        scopes.flat_map(|scope| names.bindings(scope, symbol)).any(|b| match b.bound {
            Bound::Function(def, _) => def.decorator_list.iter().any(|d| is_fixture(&d.expression)),
            _ => false,
        })
    }

    /// `@pytest.mark.usefixtures("tmp_path")`.
    pub(super) fn fixtures_by_name(&mut self, call: &'a ast::ExprCall, site: &Site<'a>) {
        for argument in &call.arguments.args {
            if let Expr::StringLiteral(name) = argument {
                self.fixture(name.value.to_str(), argument.range(), site);
            }
        }
    }

    pub(super) fn monkeypatch(&mut self, name: &str, call: &'a ast::ExprCall, site: &Site<'a>) {
        let range = call.range();
        let first = call.arguments.args.first();
        match name.rsplit('.').next().unwrap_or("") {
            "setattr" | "delattr" => match first {
                Some(Expr::StringLiteral(_) | Expr::FString(_) | Expr::BinOp(_)) => {
                    self.patch(first, name, range, site);
                    if let Some(Value::Text { text, exact: true, package: false }) =
                        first.map(|f| self.eval.value(f, site.scope))
                    {
                        self.patched(name, &text, range, site);
                    }
                }
                Some(object) => {
                    let member = call.arguments.args.get(1).map(|m| self.eval.value(m, site.scope));
                    let member = match member {
                        Some(Value::Text { text, exact: true, package: false }) => text,
                        _ => "?".to_owned(),
                    };
                    if self.names.is_imported(object, site.scope) {
                        for holder in self.qualified(object, site) {
                            self.patched(name, &format!("{holder}.{member}"), range, site);
                        }
                    }
                    self.consume_object(Some(object), site);
                }
                None => {}
            },
            "setitem" | "delitem" => {
                if let Some(object) = first
                    && self.names.is_imported(object, site.scope)
                {
                    for holder in self.qualified(object, site) {
                        if !holder.starts_with("os.environ") {
                            self.patched(name, &holder, range, site);
                        }
                    }
                }
                self.consume_object(first, site);
            }
            "syspath_prepend" => self.search_path(first, name, range, site),
            "chdir" => self.chdir(name, first, range, site),
            _ => {}
        }
    }

    /// A member of the standard library is replaced until the test ends; other readers may
    /// have come first, and threads go on.
    fn patched(&mut self, name: &str, target: &str, range: TextRange, site: &Site<'a>) {
        if is_type_checking(target) {
            self.opaque(target, Opaque::Loader, range, site);
        } else if target != "sys.argv" && super::super::rows::is_stdlib(target) {
            self.opaque(name, Opaque::MutateGlobal, range, site);
        }
    }

    /// `patch.object(typing, "TYPE_CHECKING", True)`.
    pub(super) fn patch_object(&mut self, call: &'a ast::ExprCall, site: &Site<'a>) {
        let first = argument(call, 0, "target");
        if let (Some(object), Some(Expr::StringLiteral(member))) = (first, argument(call, 1, "attribute")) {
            for holder in self.qualified(object, site) {
                let full = format!("{holder}.{}", member.value.to_str());
                if is_type_checking(&full) {
                    self.opaque(&full, Opaque::Loader, call.range(), site);
                }
            }
        }
        self.consume_object(first, site);
    }

    /// What mocks take as a model is looked at, not called.
    pub(super) fn mock_arguments(&mut self, call: &'a ast::ExprCall) {
        for keyword in &call.arguments.keywords {
            if keyword.arg.as_ref().is_some_and(|k| matches!(k.as_str(), "spec" | "spec_set" | "autospec")) {
                self.consumed.insert(keyword.value.range());
            }
        }
    }

    /// Whether what surrounds a site certainly replaces what the operation reads.
    pub(super) fn is_lifted(
        &mut self,
        operation: &str,
        reason: Opaque,
        range: TextRange,
        site: &Site<'a>,
    ) -> bool {
        if !matches!(reason, Opaque::Clock | Opaque::Network) {
            return false;
        }
        let mut at = site.guard;
        while let Some(index) = at.checked_sub(1) {
            let Some(guard) = self.walk.guards.get(index as usize).copied() else { break };
            at = guard.outer;
            match reason {
                Opaque::Clock => {
                    if let Some(zone) = self.is_frozen(operation, &guard) {
                        if zone {
                            self.named(operation, "TZ", range, site);
                        }
                        return true;
                    }
                }
                _ => {
                    if self.is_intercepted(operation, &guard) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Whether a guard freezes what the operation reads at a literal time, and if so,
    /// whether the zone still matters.
    fn is_frozen(&self, operation: &str, guard: &Guard<'a>) -> Option<bool> {
        let (expr, body) = match guard.holds {
            Holds::With(expr) => (expr, None),
            Holds::Decorator(expr, body) => (expr, Some(body)),
            Holds::Fixture(_) => return None,
        };
        // The body of a generator runs when nothing is frozen any more.
        if body.is_some_and(|scope| self.walk.generators.contains(&scope)) {
            return None;
        }
        let Expr::Call(call) = expr else { return None };
        let is = |name: &str| self.names.is(&call.func, guard.scope, name);
        let still = is("freezegun.freeze_time") || is("pytest.mark.freeze_time");
        let machine = is("time_machine.travel");
        if !still && !machine {
            return None;
        }
        let time = argument(call, 0, if machine { "destination" } else { "time_to_freeze" })?;
        if !self.is_literal_time(time, guard) {
            return None;
        }
        let tick = argument(call, if machine { 1 } else { 3 }, "tick");
        let stands = match tick {
            None => still,
            Some(Expr::BooleanLiteral(b)) => !b.value,
            Some(_) => false,
        };
        if !stands || call.arguments.find_keyword("ignore").is_some() {
            return None;
        }
        match operation {
            "time.time" | "time.time_ns" | "time.gmtime" | "datetime.datetime.utcnow" => Some(false),
            "datetime.datetime.now" | "datetime.datetime.today" | "datetime.date.today" => Some(machine),
            "time.localtime" | "time.strftime" => Some(true),
            "time.monotonic" | "time.monotonic_ns" | "time.perf_counter" | "time.perf_counter_ns"
                if still =>
            {
                Some(false)
            }
            _ => None,
        }
    }

    /// A time with its date: an ISO text, a number, or a date made of literals.
    fn is_literal_time(&self, time: &'a Expr, guard: &Guard<'a>) -> bool {
        match time {
            Expr::NumberLiteral(_) => true,
            Expr::Call(call) => {
                ["datetime.datetime", "datetime.date"]
                    .iter()
                    .any(|n| self.names.is(&call.func, guard.scope, n))
                    && call.arguments.args.iter().all(Expr::is_number_literal_expr)
                    && call.arguments.args.len() >= 3
            }
            other => match self.eval.value(other, guard.scope) {
                Value::Text { text, exact: true, package: false } => is_iso_date(&text),
                _ => false,
            },
        }
    }

    /// Whether a guard answers every request of the client instead of the network.
    fn is_intercepted(&self, operation: &str, guard: &Guard<'a>) -> bool {
        const LETS_THROUGH: [&str; 7] = [
            "passthru",
            "pass_through",
            "passthrough",
            "real_http",
            "non_mocked_hosts",
            "assert_all_mocked",
            "should_mock",
        ];
        let client = operation.split('.').next().unwrap_or("");
        if !matches!(client, "requests" | "httpx") || LETS_THROUGH.iter().any(|word| self.text.contains(word))
        {
            return false;
        }
        let (expr, body) = match guard.holds {
            Holds::Fixture(name) => {
                let own = self.walk.names.find(name).is_some_and(|symbol| {
                    self.walk.names.bindings(MODULE, symbol).any(|b| matches!(b.bound, Bound::Function(..)))
                });
                return !own
                    && match name {
                        "requests_mock" => client == "requests",
                        "respx_mock" | "httpx_mock" => client == "httpx",
                        _ => false,
                    };
            }
            Holds::With(expr) => (expr, None),
            Holds::Decorator(expr, body) => (expr, Some(body)),
        };
        if body.is_some_and(|scope| self.walk.generators.contains(&scope)) {
            return false;
        }
        let callee = match expr {
            Expr::Call(call) => &*call.func,
            other => other,
        };
        let is = |name: &str| self.names.is(callee, guard.scope, name);
        match client {
            "requests" => {
                is("responses.activate")
                    || is("responses.RequestsMock")
                    || is("requests_mock.Mocker")
                    || is("requests_mock.mock")
            }
            _ => is("respx.mock"),
        }
    }
}

/// `2020-01-01…`: without the date the rest comes from today.
fn is_iso_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let digits = |part: Option<&str>, least, most| {
        part.is_some_and(|p| (least..=most).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_digit()))
    };
    digits(parts.next(), 4, 4)
        && digits(parts.next(), 1, 2)
        && parts.next().is_some_and(|day| {
            let end = day.find(|c: char| !c.is_ascii_digit()).unwrap_or(day.len());
            (1..=2).contains(&end)
        })
}
