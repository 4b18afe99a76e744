//! `owed run` as others see it: one run of a project at a time, requests that outlive it, and
//! results that are shared by those who asked for the same.
//!
//! In an idle project nothing of this shows: the lanes are free, and a request is written
//! only before the first test is run. Otherwise the request is written first, and whoever
//! waits takes the lanes or the result, whichever comes first.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use owed_engine::project::Reading;
use owed_gates::lease::lanes::{BACKGROUND_WAIT, Busy, Lanes, Place};
use owed_gates::queue::{Asks, Batch, Deferral, Outcome, Priority, Queue, Stay, Terms, Ticket, Turn, Wait};
use owed_gates::supervise::{self, Memory, Scope, Stop, Weight};

use super::attempt::Call;
use super::work::{Attempt, Go, Limits, Planned, Work};
use super::{shared, show};
use crate::answer::run::{Denied, RunAnswer};
use crate::args::{Global, Run};
use crate::exit::Exit;
use crate::host;
use crate::output::Output;
use crate::render::{count, style};
use crate::session::{Question, Session};
use crate::site::Site;

/// Answers.
pub(crate) fn run(global: &Global, args: &Run, output: &Output) -> anyhow::Result<Exit> {
    let site = Site::open(&global.cwd)?;
    let stop = Stop::default();
    stop.on_signals()?;
    let priority = if args.background { Priority::Background } else { Priority::Interactive };
    let desk = Desk {
        global,
        args,
        output,
        queue: Queue::of(&site.root)?,
        lanes: Lanes::of(&site.root, host::state_dir().as_deref(), priority),
        stop,
        priority,
        terms: terms(args),
        waited: Cell::default(),
    };
    let _announced = desk.lanes.announce();
    match desk.lanes.enter() {
        Ok(place) => desk.work_off(place, None),
        Err(busy) => desk.wait(&busy),
    }
}

/// How a call wants its tests run.
fn terms(args: &Run) -> Terms {
    Terms {
        arguments: args.runner_arguments.clone(),
        timeout_ms: args.timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        workers: args.workers.map(|workers| workers.get() as u64),
        env_strict: args.env_strict,
        no_reuse: args.no_reuse,
    }
}

/// The arguments of a call that works on requests of others, as they want it.
pub(super) fn with_terms(args: &Run, terms: &Terms, asks: &Asks) -> Run {
    Run {
        paths: Vec::new(),
        base: None,
        all: asks.full,
        workers: terms.workers.and_then(|n| NonZeroUsize::new(usize::try_from(n).ok()?)),
        timeout: terms.timeout_ms.map(Duration::from_millis),
        no_reuse: terms.no_reuse,
        env_strict: terms.env_strict,
        coverage: asks.coverage,
        artifacts_out: None,
        audit: None,
        runner_arguments: terms.arguments.clone(),
        ..args.clone()
    }
}

/// One call, with the queue of its project.
pub(super) struct Desk<'a> {
    pub(super) global: &'a Global,
    pub(super) args: &'a Run,
    pub(super) output: &'a Output,
    pub(super) queue: Queue,
    pub(super) lanes: Lanes,
    pub(super) stop: Stop,
    pub(super) priority: Priority,
    terms: Terms,
    /// How long it has waited so far, its own work not counted.
    waited: Cell<Duration>,
}

/// A batch with what came of it.
struct Done {
    attempt: Attempt,
    /// The requests that it had.
    requests: Vec<String>,
    discharged: Vec<String>,
}

impl Desk<'_> {
    /// How long this call may still wait.
    fn patience(&self) -> Duration {
        let whole = match (self.args.defer, self.args.wait, self.priority) {
            (true, ..) => Duration::ZERO,
            (false, Some(wait), _) => wait,
            (false, None, Priority::Interactive) => Weight::Heavy.patience(),
            (false, None, Priority::Background) => BACKGROUND_WAIT,
        };
        whole.saturating_sub(self.waited.get())
    }

    /// Waits for the lanes, or for the result of `ticket`; with a place in them, after others
    /// had their turn.
    fn turn(&self, place: Option<Place>, ticket: Option<&Ticket>) -> Turn {
        let begin = host::now();
        let wait = Wait { at_most: self.patience(), stop: &self.stop };
        let turn = match place {
            Some(place) => self.queue.yield_and_wait(place, ticket, &self.lanes, &wait),
            None => self.queue.turn(ticket, &self.lanes, &wait),
        };
        self.waited.set(self.waited.get() + begin.elapsed());
        turn
    }

    fn call<'c>(&'c self, args: &'c Run, work: &'c Work<'c>) -> Call<'c> {
        Call { global: self.global, args, work, output: self.output }
    }

    /// Whether requests of earlier runs are part of the question.
    fn takes_all(&self) -> bool {
        self.args.paths.is_empty()
    }

    /// The lanes are taken: the request is made durable, and then one waits, or leaves.
    fn wait(&self, busy: &Busy) -> anyhow::Result<Exit> {
        let own = Work { own: Some(self.args), also: Asks::default(), shared: None };
        let against = own.against();
        let session = Session::open(self.global, &against, self.output)?;
        let question = Question { against: &against, paths: own.paths(), all: own.compares_nothing() };
        let (_, compared) = session.compare(&question, Reading::Files)?;
        let stay = if self.patience().is_zero() { Stay::Leaves } else { Stay::Waits };
        let mut ticket = self.queue.submit(own.asks(&compared.delta), &self.terms, self.priority, stay)?;
        if !self.output.view.quiet && stay == Stay::Waits {
            self.output.aside(&style::dim(&format!("waiting: {busy}")));
        }
        loop {
            let met = match self.turn(None, Some(&ticket)) {
                Turn::Ours(place) => return self.work_off(place, Some(ticket)),
                Turn::Deferred(why) => return self.put_off(ticket, &why),
                Turn::Met(shared) => Some(shared),
                Turn::Gone => None,
            };
            // Everything is looked at again: what is paid for now is, and the rest is taken
            // from the result when that rested on what is here.
            let work = Work { own: Some(self.args), also: Asks::default(), shared: met.as_deref() };
            let mut not_here = |_: &Planned<'_>| Ok(Go::Defer(Denied::new("not-shared", "")));
            let mut attempt = self.call(self.args, &work).attempt(&mut not_here)?;
            if attempt.answer.no_verdict.is_empty() {
                attempt.answer.queue.request = Some(ticket.id.clone());
                attempt.answer.queue.joined = ticket.joined;
                attempt.answer.queue.shared_by = met.map(|shared| shared.by.pid);
                return self.finish(attempt);
            }
            ticket = self.queue.submit(attempt.asks, &self.terms, self.priority, stay)?;
        }
    }

    /// The request stays in the queue, and this call ends.
    fn put_off(&self, ticket: Ticket, why: &Deferral) -> anyhow::Result<Exit> {
        self.queue.put_off(&ticket.id, why.reason, &why.detail)?;
        let mut answer = RunAnswer::empty();
        answer.queue.request = Some(ticket.id.clone());
        answer.queue.joined = ticket.joined;
        answer.no_verdict.push(Denied::new(why.reason, why.detail.clone()));
        ticket.leave();
        self.seen(&mut answer)?;
        answer.judge();
        show(self.global, self.output, &answer, &[], "")
    }

    /// The lanes are ours: works on this call's own request, and then on what else is there.
    fn work_off(&self, place: Place, mut ticket: Option<Ticket>) -> anyhow::Result<Exit> {
        let mut place = Some(place);
        let aside = self.aside()?;
        let mut done = self.own(&mut ticket, &aside)?;
        // A run whose inputs were written to meanwhile is planned again, once.
        if is_stale(&done.attempt.answer) {
            done = self.own(&mut ticket, &aside)?;
        }
        let Done { attempt: mut all, requests, mut discharged } = done;
        let may_go_on = all.answer.no_verdict.is_empty() || requests.is_empty();
        let mut tried: BTreeSet<String> = requests.into_iter().chain(aside).collect();
        while self.takes_all() && may_go_on && self.stop.reason().is_none() {
            let Some((terms, asks)) = self.queue.next(None, &tried)? else { break };
            match self.turn(place.take(), None) {
                Turn::Ours(again) => place = Some(again),
                Turn::Deferred(why) => {
                    all.answer.no_verdict.push(Denied::new(why.reason, why.detail));
                    break;
                }
                Turn::Met(_) | Turn::Gone => unreachable!("without a ticket there is nothing to be met"),
            }
            let more = self.others(&terms, asks)?;
            if more.requests.is_empty() {
                // Somebody else has met them while the lanes were free.
                break;
            }
            tried.extend(more.requests);
            discharged.extend(more.discharged);
            all.answer.add(more.attempt.answer);
            all.executed.extend(more.attempt.executed);
        }
        if let Some(ticket) = &ticket {
            all.answer.queue.request = Some(ticket.id.clone());
            all.answer.queue.joined = ticket.joined;
        }
        let may_recover = self.takes_all() && !self.args.coverage && !self.args.background;
        let is_answered = all.answer.no_verdict.is_empty() && self.stop.reason().is_none();
        let recovered = if may_recover && is_answered { self.recover(place)? } else { None };
        let mut exit = Exit::Answered;
        if let Some(recovered) = recovered {
            exit = recovered.exit;
            discharged.extend(recovered.discharged);
            for more in recovered.answers {
                // What was put off or cannot be measured is no part of this call's own question.
                all.answer.add(RunAnswer { no_verdict: Vec::new(), ..more.answer });
                all.executed.extend(more.executed);
            }
        }
        all.answer.queue.discharged = discharged;
        let own = self.finish(all)?;
        Ok(if own == Exit::Answered { exit } else { own })
    }

    /// This call's own request, with the pending ones that have the same terms.
    fn own(&self, ticket: &mut Option<Ticket>, aside: &BTreeSet<String>) -> anyhow::Result<Done> {
        let also = match self.queue.next(Some(&self.terms), aside)? {
            Some((_, asks)) if self.takes_all() => asks,
            _ => Asks::default(),
        };
        let is_alone = also == Asks::default();
        let work = Work { own: Some(self.args), also, shared: None };
        let mut batch = None;
        let mut go = |planned: &Planned<'_>| {
            let made = match ticket.take() {
                Some(made) => made,
                None => self.queue.submit(planned.asks.clone(), &self.terms, self.priority, Stay::Waits)?,
            };
            let made = ticket.insert(made);
            let mut asks = planned.asks.clone();
            asks.absorb(&work.also);
            if asks.full {
                // Whatever it has taken over is run as well; its paths are looked at again.
                asks.absorb_changes(&made.asks.changes);
            }
            batch = Some(self.queue.take(Some(&made.id), (&asks, &self.terms), self.priority)?);
            Ok(self.admitted(self.args, planned))
        };
        let tried = self.call(self.args, &work).attempt(&mut go);
        let attempt = self.or_back(tried, batch.as_ref())?;
        if batch.is_none() && (ticket.is_some() || !is_alone) {
            let mut asks = attempt.asks.clone();
            asks.absorb(&work.also);
            let own = ticket.as_ref().map(|ticket| ticket.id.as_str());
            batch = Some(self.queue.take(own, (&asks, &self.terms), self.priority)?);
        }
        self.settle(attempt, batch, ticket.as_ref())
    }

    /// Requests of others, as they want it.
    fn others(&self, terms: &Terms, asks: Asks) -> anyhow::Result<Done> {
        // One for coverage that came meanwhile is left for who asks for it, or for a recovery.
        let coverage = asks.coverage && self.args.coverage;
        let args = Run { coverage, ..with_terms(self.args, terms, &asks) };
        let work = Work { own: None, also: asks, shared: None };
        let mut batch = None;
        let mut go = |planned: &Planned<'_>| {
            batch = Some(self.queue.take(None, (&work.also, terms), self.priority)?);
            Ok(self.admitted(&args, planned))
        };
        let tried = self.call(&args, &work).attempt(&mut go);
        let attempt = self.or_back(tried, batch.as_ref())?;
        let batch = match batch {
            Some(batch) => batch,
            None => self.queue.take(None, (&work.also, terms), self.priority)?,
        };
        self.settle(attempt, Some(batch), None)
    }

    /// Whether tests may be run now, and how far.
    pub(super) fn admitted(&self, args: &Run, planned: &Planned<'_>) -> Go {
        if args.background && planned.is_whole {
            let detail = "every test is owed, which background work does not take on; `owed run` does";
            return Go::Defer(Denied::new("full-scope", detail));
        }
        if args.background && planned.open > args.most {
            let detail = format!(
                "{} are to be run, and background work takes on at most {} (--most); `owed run` runs them",
                count(planned.open, "test file"),
                args.most
            );
            return Go::Defer(Denied::new("over-cap", detail));
        }
        let (memory, reserve) = (args.memory << 20, args.reserve << 20);
        let needed = Weight::Heavy.admission().min(memory / 2).saturating_add(reserve);
        match Memory::now(Path::new("/proc")) {
            Some(now) if now.available >= needed => {}
            now => {
                let left = now.map_or("the host does not say how much memory is left".to_owned(), |now| {
                    format!("the host has {} MiB of memory left", now.available >> 20)
                });
                let detail = format!("{left}, and {} MiB are needed (--memory, --reserve)", needed >> 20);
                return Go::Defer(Denied::new("memory-low", detail));
            }
        }
        match Limits::of(args, &self.stop, &self.lanes) {
            Some(limits) => Go::Run(limits),
            None => {
                let held = supervise::own_memory().unwrap_or(0) >> 20;
                let detail = format!("reading and planning alone hold {held} MiB; raise --memory");
                Go::Defer(Denied::new("tree-memory", detail))
            }
        }
    }

    /// An attempt that failed leaves its requests where they were.
    fn or_back(&self, attempt: anyhow::Result<Attempt>, batch: Option<&Batch>) -> anyhow::Result<Attempt> {
        if let (Err(error), Some(batch)) = (&attempt, batch) {
            self.queue.put_back(batch, "error", &error.to_string())?;
        }
        attempt
    }

    /// What an attempt means for the requests of its batch.
    fn settle(
        &self,
        mut attempt: Attempt,
        batch: Option<Batch>,
        own: Option<&Ticket>,
    ) -> anyhow::Result<Done> {
        let Some(batch) = batch else {
            return Ok(Done { attempt, requests: Vec::new(), discharged: Vec::new() });
        };
        let requests = batch.requests.iter().map(|request| request.id.clone()).collect();
        attempt.answer.judge();
        if let Some(why) = attempt.answer.no_verdict.first() {
            self.queue.put_back(&batch, &why.reason, &why.detail)?;
            return Ok(Done { attempt, requests, discharged: Vec::new() });
        }
        let verdict = attempt.answer.verdict;
        let outcome = Outcome {
            verdict,
            full: is_full(&attempt.answer),
            coverage: attempt.answer.coverage.as_ref().is_some_and(|made| made.unmeasured.is_empty()),
            shared: attempt.sight.clone().map(|sight| (sight, shared::write(&attempt.answer))),
        };
        let before = attempt.sources.all().apart_from(attempt.idle.clone());
        let settled = self.queue.complete(&batch, &outcome, &before)?;
        let kept = settled.kept.iter().find(|kept| own.is_some_and(|own| own.id == kept.request));
        // This call may have joined a request for more than it asks for itself.
        let wants = |reason: &str| attempt.asks.coverage || reason != "no-coverage";
        let kept = kept.filter(|kept| wants(&kept.reason));
        if let Some(kept) = kept {
            attempt.answer.no_verdict.push(Denied::new(&kept.reason, kept.detail.clone()));
            attempt.answer.judge();
        }
        Ok(Done { attempt, requests, discharged: settled.discharged })
    }

    /// Says what the queue holds now.
    fn seen(&self, answer: &mut RunAnswer) -> anyhow::Result<()> {
        let pending = self.queue.pending()?;
        answer.queue.pending = pending.requests.into_iter().map(|request| request.id).collect();
        answer.queue.held = pending.held.iter().map(|held| held.name.clone()).collect();
        // Every test there is was asked for, or only this call's own paths: nothing is missing.
        if self.takes_all() && !self.args.all {
            for held in pending.held {
                let detail = format!(
                    "{} in .owed/queue/requests is no request ({}), so what it asked for is not known; \
                     `owed run --all`, then `owed status --acknowledge {0}`",
                    held.name,
                    held.why.word()
                );
                answer.no_verdict.push(Denied::new("held", detail));
            }
        }
        Ok(())
    }

    fn finish(&self, mut attempt: Attempt) -> anyhow::Result<Exit> {
        self.seen(&mut attempt.answer)?;
        attempt.answer.judge();
        show(self.global, self.output, &attempt.answer, &attempt.executed, &attempt.sentence)
    }
}

/// Whether there is no verdict, for no other reason than that inputs were written.
fn is_stale(answer: &RunAnswer) -> bool {
    !answer.no_verdict.is_empty() && answer.no_verdict.iter().all(|why| why.reason == "stale")
}

/// Whether every test there is has a verdict: a selection never stands for all, whatever is
/// in it.
pub(super) fn is_full(answer: &RunAnswer) -> bool {
    let names = |answer: &RunAnswer| answer.results.iter().map(|r| r.path.clone()).collect::<BTreeSet<_>>();
    let asked = Scope::Full(names(answer));
    let with_verdict =
        |result: &&crate::answer::run::TestResult| matches!(result.outcome, "passed" | "failed" | "reused");
    let ran: BTreeSet<String> =
        answer.results.iter().filter(with_verdict).map(|result| result.path.clone()).collect();
    let ran = if answer.omitted == 0 { Scope::Full(ran) } else { Scope::Selected(ran) };
    let code = i32::from(answer.verdict == "failed");
    let verdict = supervise::Verdict::Exit { exit: supervise::Exit::Code(code) };
    supervise::discharges(&asked, &ran, &verdict).is_ok()
}
