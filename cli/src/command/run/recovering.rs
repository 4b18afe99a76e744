//! `owed run` works off what was asked for with coverage and not done: after its own question
//! has a verdict, in the bounded batches of [`owed_gates::queue::recovery`].
//!
//! What it refuses to do: it lets no other question wait for a coverage that cannot be had. A
//! request that was found to be unmeasurable is tried again by who asks for coverage, and not
//! by every run.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use owed_gates::lease::lanes::Place;
use owed_gates::lease::{Host as _, System};
use owed_gates::queue::recovery::{self, Bounds, Budget, Checked, Item, Report, Stays, Surroundings};
use owed_gates::queue::{Asks, Look, Outcome, Request, Terms, Turn, Wait};
use owed_gates::runs::coverage;
use owed_gates::runs::look::{digest, version_of};

use super::attempt::Call;
use super::queued::{Desk, is_full, with_terms};
use super::work::{Attempt, Go, Planned, Work};
use crate::answer::run::RunAnswer;
use crate::args::Against;
use crate::exit::Exit;
use crate::host;
use crate::session::Session;
use crate::site::Site;

/// The one check of these recoveries.
const CHECK: &str = "coverage";

/// Why a request stays that nothing here can measure.
const UNMEASURED: &str = "unmeasured";

/// What stands for "every test" where a path is expected.
const EVERYTHING: &str = "";

/// What a recovery came to.
pub(super) struct Recovered {
    /// The answers of its batches.
    pub(super) answers: Vec<Attempt>,
    /// Requests that it discharged.
    pub(super) discharged: Vec<String>,
    /// How a call ends that would have ended with 0.
    pub(super) exit: Exit,
}

impl Desk<'_> {
    /// Pending requests for coverage that this call leaves aside at first: all, unless it asks
    /// for coverage itself.
    pub(super) fn aside(&self) -> anyhow::Result<BTreeSet<String>> {
        if self.args.coverage {
            return Ok(BTreeSet::new());
        }
        let mut aside = BTreeSet::new();
        for request in self.queue.pending()?.requests {
            if !request.asks.coverage {
                continue;
            }
            // What the last batch said of it is forgotten with the next one.
            if let Some(note) = self.queue.note(&request.id).filter(|note| note.reason == UNMEASURED) {
                self.queue.put_off(&request.id, &note.reason, &note.detail)?;
            }
            aside.insert(request.id);
        }
        Ok(aside)
    }

    /// Works them off. The caller has the lanes; between batches others have their turn.
    pub(super) fn recover(&self, place: Option<Place>) -> anyhow::Result<Option<Recovered>> {
        let pending = self.queue.pending()?.requests.into_iter();
        let waits = |request: &Request| {
            let note = self.queue.note(&request.id);
            request.asks.coverage && note.is_none_or(|note| note.reason != UNMEASURED)
        };
        let mut groups: BTreeMap<Terms, Vec<Request>> = BTreeMap::new();
        for request in pending.filter(waits) {
            groups.entry(request.terms.clone()).or_default().push(request);
        }
        if groups.is_empty() {
            return Ok(None);
        }
        let groups: Vec<(Terms, Vec<Request>)> = groups.into_iter().collect();
        let mut at_work = AtWork {
            desk: self,
            root: Site::open(&self.global.cwd)?.root,
            groups: &groups,
            place: RefCell::new(place),
            began: host::now(),
            answers: Vec::new(),
            before: BTreeMap::new(),
            failure: None,
        };
        let report = recovery::recover(items(&groups), &Bounds::default(), &mut at_work, System.now_ms());
        if let Some(failure) = at_work.failure {
            return Err(failure);
        }
        for receipt in &report.receipts {
            self.queue.keep(receipt)?;
        }
        let (answers, before) = (at_work.answers, at_work.before);
        let mut discharged = Vec::new();
        for (number, group) in groups.iter().enumerate() {
            let verdicts: Vec<&RunAnswer> =
                answers.iter().filter(|(of, _)| *of == number).map(|(_, attempt)| &attempt.answer).collect();
            if let Some(before) = before.get(&number) {
                discharged.extend(self.discharge(group, (number, &report), &verdicts, before)?);
            }
        }
        self.say(&groups, &report, &discharged)?;
        let exit = match report.exit_code() {
            0 => Exit::Answered,
            1 => Exit::Failed,
            _ => Exit::NoVerdict,
        };
        let answers = answers.into_iter().map(|(_, attempt)| attempt).collect();
        Ok(Some(Recovered { answers, discharged, exit }))
    }

    /// Ends those requests of a group of which everything was measured.
    fn discharge(
        &self,
        (terms, requests): &(Terms, Vec<Request>),
        (number, report): (usize, &Report),
        verdicts: &[&RunAnswer],
        before: &Look,
    ) -> anyhow::Result<Vec<String>> {
        let is_done = |path: &str| report.discharged.contains(&named(number, path));
        let mut asks = Asks { coverage: true, ..Asks::default() };
        for request in requests.iter().filter(|request| paths(request).all(is_done)) {
            asks.absorb(&request.asks);
        }
        if !asks.full && asks.changes.is_empty() {
            return Ok(Vec::new());
        }
        let batch = self.queue.take(None, (&asks, terms), self.priority)?;
        let has_failed = verdicts.iter().any(|answer| answer.verdict == "failed");
        let outcome = Outcome {
            verdict: if has_failed { "failed" } else { "passed" },
            full: verdicts.iter().any(|answer| is_full(answer)),
            coverage: true,
            shared: None,
        };
        Ok(self.queue.complete(&batch, &outcome, before)?.discharged)
    }

    /// Notes for each request that stays why, and says so.
    fn say(
        &self,
        groups: &[(Terms, Vec<Request>)],
        report: &Report,
        discharged: &[String],
    ) -> anyhow::Result<()> {
        for (number, (_, requests)) in groups.iter().enumerate() {
            for request in requests.iter().filter(|request| !discharged.contains(&request.id)) {
                let stays = paths(request).find_map(|path| report.pending.get(&named(number, path)));
                let (reason, detail) = match stays {
                    Some(Stays::Unavailable(why)) => (UNMEASURED, why.clone()),
                    Some(Stays::Stale(why)) => ("stale", why.clone()),
                    Some(Stays::Deferred(why)) => ("deferred", why.clone()),
                    Some(Stays::Unreadable) => ("stale", "its files cannot be read".to_owned()),
                    None => ("stale", "its files were written meanwhile".to_owned()),
                };
                self.queue.put_off(&request.id, reason, &detail)?;
                self.output.aside(&format!("request {} stays, {reason}: {detail}", request.id));
            }
        }
        Ok(())
    }
}

/// A path of a group of requests: groups have other terms, and share no batch.
fn named(number: usize, path: &str) -> String {
    format!("{number}:{path}")
}

/// What a request is about. One for every test is one piece of work.
fn paths(request: &Request) -> Box<dyn Iterator<Item = &str> + '_> {
    if request.asks.full {
        return Box::new(std::iter::once(EVERYTHING));
    }
    Box::new(request.asks.changes.keys().map(String::as_str))
}

fn items(groups: &[(Terms, Vec<Request>)]) -> Vec<Item> {
    let mut items = Vec::new();
    for (number, (_, requests)) in groups.iter().enumerate() {
        for request in requests {
            // Everything at once, and some of it, are no work that can be done together.
            let project = format!("{number}{}", if request.asks.full { " full" } else { "" });
            items.extend(paths(request).map(|path| Item {
                project: project.clone(),
                checks: BTreeSet::from([CHECK.to_owned()]),
                path: named(number, path),
            }));
        }
    }
    items
}

/// A recovery at work.
struct AtWork<'d, 'a> {
    desk: &'d Desk<'a>,
    root: PathBuf,
    groups: &'d [(Terms, Vec<Request>)],
    place: RefCell<Option<Place>>,
    began: Instant,
    /// By group.
    answers: Vec<(usize, Attempt)>,
    /// By group, the files from before its first batch.
    before: BTreeMap<usize, Look>,
    failure: Option<anyhow::Error>,
}

impl AtWork<'_, '_> {
    fn session(&self) -> Option<Session> {
        Session::open(self.desk.global, &Against::default(), self.desk.output).ok()
    }

    /// What one batch asks for.
    fn asks(&self, batch: &[Item]) -> Option<(usize, Asks)> {
        let number: usize = batch.first()?.path.split_once(':')?.0.parse().ok()?;
        let mut asks = Asks { coverage: true, ..Asks::default() };
        let wanted: BTreeSet<&str> =
            batch.iter().filter_map(|item| Some(item.path.split_once(':')?.1)).collect();
        for request in &self.groups.get(number)?.1 {
            if request.asks.full && wanted.contains(EVERYTHING) {
                asks.absorb(&request.asks);
            }
            let mut changes = request.asks.changes.clone();
            changes.retain(|path, _| wanted.contains(path.as_str()));
            asks.absorb_changes(&changes);
        }
        Some((number, asks))
    }

    fn attempt(&self, terms: &Terms, asks: Asks, budget: &Budget) -> anyhow::Result<Attempt> {
        let args = with_terms(self.desk.args, terms, &asks);
        let work = Work { own: None, also: asks, shared: None };
        let mut go = |planned: &Planned<'_>| {
            Ok(match self.desk.admitted(&args, planned) {
                Go::Run(limits) => Go::Run(limits.within(budget.process, budget.workers)),
                defer @ Go::Defer(_) => defer,
            })
        };
        let call = Call { global: self.desk.global, args: &args, work: &work, output: self.desk.output };
        call.attempt(&mut go)
    }

    /// Gives the lanes back for a moment and takes them again.
    fn turn(&self, budget: &Budget) -> Result<(), String> {
        let place = self.place.borrow_mut().take();
        let wait = Wait { at_most: budget.lanes, stop: &self.desk.stop };
        let turn = match place {
            Some(place) => self.desk.queue.yield_and_wait(place, None, &self.desk.lanes, &wait),
            None => self.desk.queue.turn(None, &self.desk.lanes, &wait),
        };
        match turn {
            Turn::Ours(place) => {
                *self.place.borrow_mut() = Some(place);
                Ok(())
            }
            Turn::Deferred(why) => Err(format!("{}: {}", why.reason, why.detail)),
            Turn::Met(_) | Turn::Gone => Err("the lanes were not to be had".to_owned()),
        }
    }
}

impl Surroundings for AtWork<'_, '_> {
    fn version(&self, path: &str) -> Option<String> {
        let (_, path) = path.split_once(':')?;
        if path == EVERYTHING {
            return coverage::inventory(&self.root, self.session()?.files()).ok();
        }
        version_of(&self.root.join(path))
    }

    fn policy(&self) -> Option<String> {
        let settings = format!("{:?}", self.session()?.config.settings);
        Some(digest(settings.as_bytes()))
    }

    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn check(&mut self, batch: &[Item], budget: &Budget) -> Result<Checked, String> {
        if self.desk.stop.reason().is_some() {
            return Err("the run was stopped".to_owned());
        }
        let (number, asks) = self.asks(batch).ok_or("nobody asks for it any more")?;
        self.turn(budget)?;
        let attempt = match self.attempt(&self.groups[number].0, asks, budget) {
            Ok(attempt) => attempt,
            Err(error) => {
                let why = error.to_string();
                self.failure = Some(error);
                return Err(why);
            }
        };
        self.before.entry(number).or_insert_with(|| attempt.sources.all().apart_from(attempt.idle.clone()));
        let answer = &attempt.answer;
        let mut checked = Checked::default();
        let is_open = |reason: &str| reason != UNMEASURED;
        let open = answer.no_verdict.iter().find(|why| is_open(&why.reason));
        let put_off = open.map(|why| format!("{}: {}", why.reason, why.detail));
        let unmeasured = answer.coverage.iter().flat_map(|made| &made.unmeasured).next();
        match unmeasured {
            Some(one) => {
                let why = format!("{}: {}", one.runner, one.detail);
                checked.unavailable.insert(CHECK.to_owned(), why);
            }
            None => {
                let failed = answer.results.iter().filter(|result| result.outcome == "failed").count();
                checked.completed.insert(CHECK.to_owned(), failed);
            }
        }
        self.answers.push((number, attempt));
        match put_off {
            Some(why) => Err(why),
            None => Ok(checked),
        }
    }
}
