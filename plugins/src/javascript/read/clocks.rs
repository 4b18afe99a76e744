//! Fake timers: which reads of the clock they certainly come before.
//!
//! A read is lifted only when the time is literal (`useFakeTimers({ now: 0 })`,
//! `setSystemTime("2020-01-01")`) and the call comes first in every run: earlier in the
//! same function, at the top of the file, or in a `beforeEach` of the suite around the
//! test. Anything that could start the real clock again in between, or that concerns
//! more than dates and plain timers, lifts nothing. Of reads in other files only the reader
//! of those can say whether they look the clock up anew ([`Walk::is_answered`]), and only the
//! engine whether anything uses them before the clock stands still.

use owed_engine::facts::{Clock, EffectClass, Pin, Restarts, Stops};
use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, CallExpression, Expression, ExpressionStatement};
use oxc_span::{GetSpan, Span};

use super::effects::Noted;
use super::walk::{Binding, Walk, static_key};

/// What a function around a read is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// The body of a test.
    Case,
    /// The body of a suite.
    Suite,
    /// `beforeEach`.
    BeforeEach,
    /// `beforeAll`.
    BeforeAll,
    /// `afterEach`.
    AfterEach,
    /// `afterAll`.
    AfterAll,
    /// A method of a class.
    Method,
    /// A declaration: it may be called before the statements above it.
    Declaration,
    /// Any other function: it exists only once it was reached.
    Other,
}

/// A function around a read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    role: Role,
    span: Span,
}

impl Body {
    /// Whether it runs only when a method is called.
    pub(super) fn is_method(self) -> bool {
        self.role == Role::Method
    }
}

/// A statement that sets the time.
#[derive(Debug)]
struct Fake {
    /// Reads from here …
    from: u32,
    /// … to here come after it.
    to: u32,
    /// How it was reached.
    by: By,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// The statements before, in the function or file.
    Order,
    /// `beforeEach`.
    Each,
    /// `beforeAll`, or the top of the file or suite.
    Once,
}

/// A call that may bring the real clock back.
#[derive(Debug)]
struct Real {
    at: u32,
    /// The hook or test it is in.
    hook: Option<Role>,
    /// Where the function ends of which it is a statement, in no branch or loop.
    ends: Option<u32>,
}

/// What a file says about fake timers.
#[derive(Debug, Default)]
pub(super) struct Timers {
    fakes: Vec<Fake>,
    /// Calls that may bring the real clock back.
    reals: Vec<Real>,
    /// Starts at the real time, in a body: the next `setSystemTime` of it settles it. One at
    /// the top or in a hook before the tests is in `None`.
    started: Vec<Option<Span>>,
}

impl<'a> Walk<'_, 'a> {
    /// A function is entered.
    pub(super) fn enter_body(&mut self, span: Span) {
        let role = match (self.ancestor(0), self.ancestor(1)) {
            (Some(AstKind::Function(it)), _) if it.is_declaration() => Role::Declaration,
            (_, Some(AstKind::MethodDefinition(_))) => Role::Method,
            (_, Some(AstKind::CallExpression(call))) if call.callee.span() != span => self.role_of(call),
            _ => Role::Other,
        };
        self.bodies.push(Body { role, span });
        self.units.late = is_late(&self.bodies);
    }

    /// A function is left.
    pub(super) fn leave_body(&mut self) {
        self.bodies.pop();
        self.units.late = is_late(&self.bodies);
    }

    fn role_of(&self, call: &'a CallExpression<'a>) -> Role {
        if let Expression::Identifier(it) = &call.callee {
            match it.name.as_str() {
                "beforeEach" | "setup" => return Role::BeforeEach,
                "beforeAll" | "before" => return Role::BeforeAll,
                "afterEach" | "teardown" => return Role::AfterEach,
                "afterAll" | "after" => return Role::AfterAll,
                _ => {}
            }
        }
        match self.defines(call) {
            Some(owed_engine::facts::TestKind::Case) => Role::Case,
            Some(owed_engine::facts::TestKind::Suite) => Role::Suite,
            None => Role::Other,
        }
    }

    /// A statement that may be about fake timers is being visited.
    pub(super) fn on_timer_statement(&mut self, it: &'a ExpressionStatement<'a>) {
        let expression = match it.expression.get_inner_expression() {
            Expression::AwaitExpression(it) => it.argument.get_inner_expression(),
            other => other,
        };
        if let Expression::CallExpression(call) = expression {
            self.on_timer_step(call);
        }
    }

    /// A call that is all a statement or function does.
    fn on_timer_step(&mut self, call: &'a CallExpression<'a>) {
        let Some(settles) = self.settles(call) else { return };
        let body = self.bodies.last().copied();
        let inside = body.map(|body| body.span);
        match settles {
            Settles::Starts => {
                let before = body
                    .is_none_or(|body| matches!(body.role, Role::BeforeEach | Role::BeforeAll | Role::Suite));
                self.timers.started.extend([inside, None].into_iter().take(if before { 2 } else { 1 }));
            }
            Settles::Sets { alone } => {
                if alone && !self.timers.started.iter().any(|of| *of == inside || of.is_none()) {
                    return;
                }
                // Directly in the body: not in a branch, a loop or a `try`.
                let direct = match self.ancestor(1) {
                    Some(AstKind::Program(_)) => true,
                    Some(AstKind::FunctionBody(_) | AstKind::ArrowFunctionExpression(_)) => body.is_some(),
                    _ => false,
                };
                let hook = body.is_some_and(|b| matches!(b.role, Role::BeforeEach | Role::BeforeAll));
                if direct && (!hook || self.is_sure_hook(call)) {
                    self.note_fake(call.span.end);
                }
            }
        }
    }

    /// Whether the hook around `call` is registered in any case, and gets as far as this.
    fn is_sure_hook(&self, call: &CallExpression<'a>) -> bool {
        let function = |node: &AstKind<'a>| match node {
            AstKind::ArrowFunctionExpression(it) => Some(it.span),
            AstKind::Function(it) => Some(it.span),
            _ => None,
        };
        let found = self.stack.iter().enumerate().rev().find_map(|(at, node)| Some((at, function(node)?)));
        let Some((at, span)) = found else { return false };
        let above = |by: usize| at.checked_sub(by).map(|at| &self.stack[at]);
        let registered = matches!(
            (above(1), above(2), above(3)),
            (
                Some(AstKind::CallExpression(_)),
                Some(AstKind::ExpressionStatement(_)),
                Some(AstKind::Program(_) | AstKind::FunctionBody(_))
            )
        );
        let before = self.source.get(span.start as usize..call.span.start as usize).unwrap_or("return");
        registered && !before.contains("return")
    }

    fn note_fake(&mut self, from: u32) {
        let end = u32::try_from(self.source.len()).unwrap_or(u32::MAX);
        let suite_end = |bodies: &[Body]| match bodies.last() {
            None => Some(end),
            Some(body) if body.role == Role::Suite => Some(body.span.end),
            Some(_) => None,
        };
        let fake = match self.bodies.split_last() {
            None => Fake { from, to: end, by: By::Once },
            Some((body, outer)) => match body.role {
                Role::Suite => Fake { from, to: body.span.end, by: By::Once },
                Role::BeforeEach | Role::BeforeAll => {
                    let Some(to) = suite_end(outer) else { return };
                    let by = if body.role == Role::BeforeEach { By::Each } else { By::Once };
                    Fake { from: body.span.end, to, by }
                }
                _ => Fake { from, to: body.span.end, by: By::Order },
            },
        };
        self.timers.fakes.push(fake);
    }

    /// Anything is done with the timers of a runner.
    pub(super) fn on_timer_call(&mut self, name: &str, call: &'a CallExpression<'a>) {
        // `beforeEach(() => vi.useFakeTimers({ now: 0 }))`.
        if matches!(self.ancestor(1), Some(AstKind::ArrowFunctionExpression(_))) {
            self.on_timer_step(call);
        }
        let unsettled = match name {
            "useRealTimers" => true,
            "useFakeTimers" | "setSystemTime" => self.settles(call).is_none(),
            _ => false,
        };
        if unsettled {
            let hook = self.bodies.iter().rev().map(|body| body.role).find(|role| {
                matches!(
                    role,
                    Role::AfterEach | Role::AfterAll | Role::BeforeEach | Role::BeforeAll | Role::Case
                )
            });
            let direct = matches!(
                (self.ancestor(1), self.ancestor(2)),
                (Some(AstKind::ExpressionStatement(_)), Some(AstKind::FunctionBody(_)))
            );
            let ends = self.bodies.last().filter(|_| direct).map(|body| body.span.end);
            self.timers.reals.push(Real { at: call.span.start, hook, ends });
        }
    }

    /// What a call says about the time; `None` when it is none, or not literal.
    fn settles(&self, call: &'a CallExpression<'a>) -> Option<Settles> {
        let Expression::StaticMemberExpression(callee) = &call.callee else { return None };
        let name = callee.property.name.as_str();
        // `jest.useFakeTimers().setSystemTime(0)`.
        let chained = match callee.object.get_inner_expression() {
            Expression::CallExpression(first) => {
                if !matches!(self.settles(first)?, Settles::Starts) {
                    return None;
                }
                true
            }
            object => {
                if self.operation(object).is_none_or(|op| op.root.name != "vi" || !op.path.is_empty()) {
                    return None;
                }
                false
            }
        };
        match (name, call.arguments.as_slice()) {
            ("useFakeTimers", []) if !chained => Some(Settles::Starts),
            ("useFakeTimers", [Argument::ObjectExpression(options)]) if !chained => {
                let [property] = options.properties.as_slice() else {
                    return options.properties.is_empty().then_some(Settles::Starts);
                };
                let property = property.as_property()?;
                (static_key(&property.key) == Some("now") && self.is_literal_time(&property.value))
                    .then_some(Settles::Sets { alone: false })
            }
            ("setSystemTime", [time]) if self.is_literal_time(time.as_expression()?) => {
                Some(Settles::Sets { alone: !chained })
            }
            _ => None,
        }
    }

    fn is_literal_time(&self, it: &'a Expression<'a>) -> bool {
        match it.get_inner_expression() {
            Expression::StringLiteral(_) => true,
            Expression::Identifier(it) => match self.binding(it) {
                Binding::Init { init, keys } => {
                    keys.is_empty()
                        && !matches!(init, Expression::Identifier(_))
                        && self.is_literal_time(init)
                }
                _ => false,
            },
            Expression::NewExpression(new) => {
                matches!(&new.callee, Expression::Identifier(it) if self.is_global(it, "Date"))
                    && !new.arguments.is_empty()
                    && new.arguments.iter().all(|argument| match argument.as_expression() {
                        Some(Expression::StringLiteral(_)) => true,
                        Some(e) => self.is_fixed_time(e, 4),
                        None => false,
                    })
            }
            it => self.is_fixed_time(it, 4),
        }
    }

    /// What the file says about a stopped clock to the files that it is used with; before
    /// anything is lifted. Which effects it answers is said when they have numbers.
    pub(super) fn clock(&self) -> Clock {
        let end = u32::try_from(self.source.len()).unwrap_or(u32::MAX);
        let concurrent = self.source.contains(".concurrent");
        // At the top of the file, or in a hook there: `to` is the end of the file.
        let stops = self.timers.fakes.iter().filter(|fake| fake.to == end && fake.by != By::Order);
        let stops = stops.map(|fake| if fake.by == By::Each { Stops::Each } else { Stops::Once }).min();
        let restarts = self.timers.reals.iter().map(|real| match real.hook {
            Some(Role::AfterAll) => Restarts::AfterAll,
            Some(Role::AfterEach) => Restarts::AfterEach,
            _ => Restarts::Anytime,
        });
        let other = self.imports.iter().any(|import| OTHERS.contains(&import.specifier.as_str()));
        let restarts = restarts.max().unwrap_or_default().max(match other {
            true => Restarts::Anytime,
            false => Restarts::Never,
        });
        Clock { stops: stops.filter(|_| !concurrent), restarts, early: None, answered: Vec::new() }
    }

    /// Whether a stopped clock answers a read wherever it comes from: what is called is looked
    /// up where it stands, in a function.
    pub(super) fn is_answered(&self, noted: &Noted) -> bool {
        !noted.bodies.is_empty() && self.looks_up(noted)
    }

    /// Whether a read is one that fake timers answer, by the global name, and not under one
    /// that was given to the real clock before.
    fn looks_up(&self, noted: &Noted) -> bool {
        let operation = noted.effect.operation.as_str();
        if !ANSWERED.contains(&operation) {
            return false;
        }
        let global = operation.split('.').next().unwrap_or(operation);
        let owed_engine::facts::Span { start, end } = noted.effect.span;
        let text = self.source.get(start as usize..end as usize).unwrap_or_default();
        let text = text.strip_prefix("new").map_or(text, str::trim_start);
        let of_global = ["globalThis.", "window.", "global.", "self."];
        let text = of_global.iter().find_map(|global| text.strip_prefix(global)).unwrap_or(text);
        let rest = text.strip_prefix(global);
        let is_whole = rest
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$')));
        is_whole && self.scoping.symbol_names().all(|name| name != global)
    }

    /// What is left of a read that a stopped clock answers.
    pub(super) fn leaves(operation: &str) -> Option<Pin> {
        (operation == "Date").then(|| Pin::Named("TZ".to_owned()))
    }

    /// Takes back the reads that come after a literal time.
    pub(super) fn lift_clocks(&mut self) {
        let timers = std::mem::take(&mut self.timers);
        if timers.fakes.is_empty() || self.source.contains(".concurrent") {
            return;
        }
        let zone = EffectClass::Pinned(Pin::Named("TZ".to_owned()));
        let mut effects = std::mem::take(&mut self.effects);
        effects.retain_mut(|noted| {
            let clock = noted.effect.class == EffectClass::Opaque(owed_engine::facts::Opaque::Clock);
            let lifted = clock && timers.fakes.iter().any(|fake| timers.lifts(fake, noted));
            if !(lifted && self.looks_up(noted)) {
                return true;
            }
            noted.effect.class = zone.clone();
            noted.effect.operation == "Date"
        });
        self.effects = effects;
    }
}

/// Whether what stands in these functions runs only in tests: the body of one, which no hook
/// or declaration of the file is around.
pub(super) fn is_late(bodies: &[Body]) -> bool {
    let first = bodies.iter().position(|body| body.role == Role::Case);
    first.is_some_and(|at| bodies[..at].iter().all(|body| matches!(body.role, Role::Suite | Role::Other)))
}

/// Operations that fake timers answer.
const ANSWERED: &[&str] = &["Date", "Date.now", "setInterval", "setTimeout"];

/// Packages that set the time in ways of their own.
const OTHERS: &[&str] =
    &["@sinonjs/fake-timers", "jest-date-mock", "lolex", "mockdate", "sinon", "timekeeper"];

/// What a call says about the time.
enum Settles {
    /// Fake timers start at the real time.
    Starts,
    /// The time is this literal; `alone` only if fake timers were started before.
    Sets {
        /// Whether something else must have started them.
        alone: bool,
    },
}

impl Timers {
    fn lifts(&self, fake: &Fake, noted: &Noted) -> bool {
        let at = noted.effect.span.start;
        if !(fake.from..fake.to).contains(&at) {
            return false;
        }
        // Only what is around the read but inside the reach of the fake matters.
        let inner = noted.bodies.iter().filter(|body| body.span.start >= fake.from);
        let mut in_case = false;
        let mut hoisted = false;
        let mut in_hook = false;
        let mut deferred = false;
        for body in inner {
            deferred = true;
            match body.role {
                Role::Case => in_case = true,
                Role::Declaration | Role::Method if !in_case => hoisted = true,
                Role::BeforeEach | Role::BeforeAll | Role::AfterEach | Role::AfterAll => in_hook = true,
                _ => {}
            }
        }
        if hoisted || in_hook {
            return false;
        }
        match fake.by {
            // A statement of the same function that comes after the read has not run yet,
            // unless the read waits in a function of its own.
            By::Order => self.reals.iter().all(|real| {
                !(fake.from..fake.to).contains(&real.at)
                    || !deferred && real.ends == Some(fake.to) && real.at > at
            }),
            By::Each => {
                let restored = |hook: &Option<Role>| matches!(hook, Some(Role::AfterEach | Role::AfterAll));
                in_case && self.reals.iter().all(|real| restored(&real.hook))
            }
            By::Once => self.reals.iter().all(|real| matches!(real.hook, Some(Role::AfterAll))),
        }
    }
}
