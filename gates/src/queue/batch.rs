//! Taking requests to work on them, and what becomes of them then.

use std::collections::BTreeSet;

use super::job::{Batch, Ended, Kept, Outcome, Shared, Taken};
use super::log::Event;
use super::request::{Asks, Priority, Request, Terms};
use super::sight::Look;
use super::{Fault, Queue, sealed};
use crate::lease::nonce;

/// Requests of one batch; more are taken in the next one.
pub const MOST_REQUESTS: usize = 1_000;

/// Results that are kept for waiters that have not come yet.
const MOST_RESULTS: usize = 16;

/// What a batch did to its requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// They have left the queue.
    pub discharged: Vec<String>,
    /// They stay.
    pub kept: Vec<Kept>,
}

/// The order of the queue, with the request `own` before all others.
fn order_of(own: Option<&str>) -> impl Fn(&Request) -> (bool, std::cmp::Reverse<Priority>, u64, String) {
    let own = own.map(str::to_owned);
    move |request| {
        let is_own = own.as_deref() == Some(request.id.as_str());
        (!is_own, std::cmp::Reverse(request.priority), request.created_ms, request.id.clone())
    }
}

impl Queue {
    /// What the next batch could be, apart from `tried`: the terms of the first request in the
    /// order of the queue (those that somebody waits for, then by age), or `terms`, and what
    /// at most [`MOST_REQUESTS`] requests with them ask for together. `None` when there is
    /// none.
    ///
    /// # Errors
    /// When the requests cannot be read.
    pub fn next(
        &self,
        terms: Option<&Terms>,
        tried: &BTreeSet<String>,
    ) -> Result<Option<(Terms, Asks)>, Fault> {
        let mut order = self.pending()?.requests;
        order.retain(|request| !tried.contains(&request.id));
        order.sort_by_key(order_of(None));
        let Some(terms) = terms.or(order.first().map(|first| &first.terms)).cloned() else { return Ok(None) };
        let mut asks: Option<Asks> = None;
        for request in order.iter().filter(|request| request.terms == terms).take(MOST_REQUESTS) {
            asks.get_or_insert_default().absorb(&request.asks);
        }
        Ok(asks.map(|asks| (terms, asks)))
    }

    /// Takes a batch: the request `own` first, then in the order of the queue what has these
    /// terms and is covered by what is `planned`. Requests that came since the plan was made
    /// and ask for more are left. The caller holds the project's lane.
    ///
    /// # Errors
    /// When the requests cannot be read, or the batch not be written down.
    pub fn take(
        &self,
        own: Option<&str>,
        (planned, terms): (&Asks, &Terms),
        priority: Priority,
    ) -> Result<Batch, Fault> {
        let lock = self.lock()?;
        let mut order = self.pending()?.requests;
        order.retain(|request| request.terms == *terms && planned.covers(&request.asks));
        order.sort_by_key(order_of(own));
        let left = order.len().saturating_sub(MOST_REQUESTS);
        order.truncate(MOST_REQUESTS);
        let mut asks = Asks::default();
        for request in &order {
            asks.absorb(&request.asks);
        }
        let taken = Taken {
            batch: format!("{:013x}-{:016x}", self.host.now_ms(), nonce()),
            owner: self.host.me(),
            since_ms: self.host.now_ms(),
            priority,
            requests: order.iter().map(|request| request.id.clone()).collect(),
        };
        let path = self.dir.join("taken");
        sealed::write_lightly(&*self.disk, &path, &taken).map_err(|error| Fault::Disk { path, error })?;
        drop(lock);
        let (id, terms) = (taken.batch.clone(), terms.clone());
        Ok(Batch { id, requests: order, asks, terms, left, taken })
    }

    /// A batch has a verdict. Those of its requests leave that it met and of whose paths none
    /// was written since `before`, a look at the project from before it ran.
    ///
    /// # Errors
    /// When something of it cannot be written down; what had not left by then stays.
    pub fn complete(&self, batch: &Batch, outcome: &Outcome, before: &Look) -> Result<Settled, Fault> {
        let lock = self.lock()?;
        let mut settled = Settled::default();
        let mut leaving = Vec::new();
        for request in &batch.requests {
            let is_joined = self.others_wait(&BTreeSet::from([request.id.as_str()]))?;
            match self.kept(request, outcome, before, is_joined) {
                Some(kept) => settled.kept.push(kept),
                None => leaving.push(request),
            }
        }
        // What a person has vouched for is met as well, where it is.
        let words: Vec<Request> =
            self.pending()?.acknowledged.into_iter().filter_map(|(request, _)| request).collect();
        leaving.extend(words.iter().filter(|request| {
            request.terms == batch.terms
                && batch.asks.covers(&request.asks)
                && self.kept(request, outcome, before, false).is_none()
        }));
        let ids: BTreeSet<&str> = leaving.iter().map(|request| request.id.as_str()).collect();
        if let Some((sight, answer)) = &outcome.shared
            && self.others_wait(&ids)?
        {
            let shared = Shared {
                batch: batch.id.clone(),
                requests: ids.iter().map(|id| (*id).to_owned()).collect(),
                by: self.host.me(),
                ended_ms: self.host.now_ms(),
                verdict: outcome.verdict.to_owned(),
                sight: sight.clone(),
                answer: answer.clone(),
            };
            self.prune_results()?;
            let path = self.path("results", &batch.id);
            sealed::write_lightly(&*self.disk, &path, &shared)
                .map_err(|error| Fault::Disk { path, error })?;
        }
        for request in leaving {
            self.log(Event::Discharged, request, Some(&batch.id))?;
            self.remove("requests", &request.id)?;
            self.remove("notes", &request.id)?;
            self.remove("acknowledged", &request.id)?;
            self.forget_marks(&request.id)?;
            settled.discharged.push(request.id.clone());
        }
        self.forget_the_dead()?;
        self.ended(batch, outcome.verdict, &settled)?;
        drop(lock);
        Ok(settled)
    }

    /// A batch has no verdict: all of its requests stay, for this reason.
    ///
    /// # Errors
    /// When that cannot be written down. They stay all the same.
    pub fn put_back(&self, batch: &Batch, reason: &str, detail: &str) -> Result<Settled, Fault> {
        let lock = self.lock()?;
        let kept = batch.requests.iter().map(|request| self.keeps(request, reason, detail)).collect();
        let settled = Settled { kept, ..Settled::default() };
        self.ended(batch, "no-verdict", &settled)?;
        drop(lock);
        Ok(settled)
    }

    fn keeps(&self, request: &Request, reason: &str, detail: &str) -> Kept {
        Kept {
            request: request.id.clone(),
            reason: reason.to_owned(),
            detail: detail.to_owned(),
            at_ms: self.host.now_ms(),
        }
    }

    /// Why a request stays, though its batch has a verdict.
    fn kept(&self, request: &Request, outcome: &Outcome, before: &Look, is_joined: bool) -> Option<Kept> {
        if request.asks.full && !outcome.full {
            return Some(self.keeps(request, "not-full", "it asks for every test, and fewer were run"));
        }
        if request.asks.coverage && !outcome.coverage {
            return Some(self.keeps(request, "no-coverage", "it asks for coverage, and none was produced"));
        }
        let mut written = before.first_written(&self.root, &request.asks.changes);
        if written.is_none() && request.asks.full && is_joined {
            // Whoever joined it meant the files of then, and named none.
            written = before.first_difference(&self.root);
        }
        Some(self.keeps(request, "stale", &format!("{} was written while the tests ran", written?)))
    }

    /// Whether anybody but this process has joined one of these requests, and may wait for it.
    fn others_wait(&self, ids: &BTreeSet<&str>) -> Result<bool, Fault> {
        let me = self.host.me();
        for name in self.names("awaiting")? {
            if !name.rsplit_once('.').is_some_and(|(id, _)| ids.contains(id)) {
                continue;
            }
            let path = self.path("awaiting", &name);
            match sealed::read::<super::request::Subscription>(&*self.disk, &path) {
                Some(Ok(one)) if one.waits && one.process == me => {}
                None => {}
                Some(_) => return Ok(true),
            }
        }
        Ok(false)
    }

    /// Removes the files of waiters that are known to be gone.
    fn forget_the_dead(&self) -> Result<(), Fault> {
        for name in self.names("awaiting")? {
            if name.starts_with(sealed::DRAFT) {
                self.remove("awaiting", &name)?;
                continue;
            }
            let path = self.path("awaiting", &name);
            let one = sealed::read::<super::request::Subscription>(&*self.disk, &path);
            if let Some(Ok(one)) = one
                && self.host.liveness(&one.process) == crate::lease::Liveness::Gone
            {
                self.remove("awaiting", &name)?;
            }
        }
        Ok(())
    }

    /// Removes what those have left who joined a request and did not wait.
    fn forget_marks(&self, id: &str) -> Result<(), Fault> {
        for name in self.names("awaiting")? {
            if name.rsplit_once('.').is_some_and(|(request, _)| request == id) {
                let path = self.path("awaiting", &name);
                let one = sealed::read::<super::request::Subscription>(&*self.disk, &path);
                if one.is_some_and(|one| !one.is_ok_and(|one| one.waits)) {
                    self.remove("awaiting", &name)?;
                }
            }
        }
        Ok(())
    }

    fn prune_results(&self) -> Result<(), Fault> {
        let names = self.names("results")?;
        // Their names begin with the time.
        for name in names.iter().take(names.len().saturating_sub(MOST_RESULTS - 1)) {
            self.remove("results", name)?;
        }
        Ok(())
    }

    fn ended(&self, batch: &Batch, verdict: &str, settled: &Settled) -> Result<(), Fault> {
        let ended = Ended {
            job: batch.taken.clone(),
            ended_ms: self.host.now_ms(),
            verdict: verdict.to_owned(),
            discharged: settled.discharged.clone(),
            kept: settled.kept.clone(),
        };
        let path = self.dir.join("last");
        sealed::write_lightly(&*self.disk, &path, &ended).map_err(|error| Fault::Disk { path, error })?;
        let path = self.dir.join("taken");
        match self.disk.remove(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Fault::Disk { path, error }),
            _ => Ok(()),
        }
    }

    /// The result that discharged a request, if it was kept for whoever waits.
    pub fn result(&self, id: &str) -> Option<Shared> {
        let names = self.names("results").ok()?;
        let read = |name: &String| sealed::read::<Shared>(&*self.disk, &self.path("results", name))?.ok();
        names.iter().rev().filter_map(read).find(|shared| shared.requests.iter().any(|one| one == id))
    }
}
