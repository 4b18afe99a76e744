//! Making a request, and waiting for one.

use super::log::Event;
use super::request::{Asks, Priority, Request, Subscription, Terms};
use super::{Fault, Queue, sealed};
use crate::disk::Disk;
use crate::lease::{Liveness, nonce};

/// Whether whoever asks stays for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stay {
    /// It waits: the request is not retired while it does.
    Waits,
    /// It leaves at once.
    Leaves,
}

/// A request that was acknowledged: it is durable, or one that is durable covers it.
#[derive(Debug)]
pub struct Ticket {
    /// The request.
    pub id: String,
    /// Whether it is an earlier one, which covers what was asked for.
    pub joined: bool,
    /// The requests whose place it took.
    pub retired: Vec<String>,
    /// What the request asks for, which may be more than was asked for now.
    pub asks: Asks,
    subscription: Option<(std::sync::Arc<dyn Disk>, std::path::PathBuf)>,
}

impl Ticket {
    /// Leaves without an answer. That the request was joined stays on record until it is met.
    pub fn leave(mut self) {
        self.subscription = None;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some((disk, path)) = self.subscription.take() {
            // What stays behind names a process that ends, and counts no longer then.
            let _ = disk.remove(&path);
        }
    }
}

impl Queue {
    /// Makes a request, or finds the pending one that covers it.
    ///
    /// # Errors
    /// When it was not made durable. Then nothing was acknowledged and nothing retired.
    pub fn submit(
        &self,
        mut asks: Asks,
        terms: &Terms,
        priority: Priority,
        stay: Stay,
    ) -> Result<Ticket, Fault> {
        let lock = self.lock()?;
        self.sweep()?;
        let pending = self.pending()?;
        let in_flight = self.in_flight();
        let is_taken = |id: &String| in_flight.as_ref().is_some_and(|taken| taken.requests.contains(id));
        let same = || pending.requests.iter().filter(|request| request.terms == *terms);
        // What is being worked on is answered sooner.
        let covering = same()
            .filter(|request| request.asks.covers(&asks))
            .min_by_key(|request| (!is_taken(&request.id), request.created_ms, request.id.clone()));
        if let Some(covering) = covering {
            let id = covering.id.clone();
            let subscription = self.subscribe(&id, stay)?;
            let asks = covering.asks.clone();
            return Ok(Ticket { id, joined: true, retired: Vec::new(), asks, subscription });
        }
        let mut retired = Vec::new();
        for request in same().filter(|request| asks.replaces(&request.asks) && !is_taken(&request.id)) {
            if self.waiters(&request.id)?.is_empty() {
                retired.push(request);
            }
        }
        for request in &retired {
            asks.absorb_changes(&request.asks.changes);
        }
        let (created_ms, by) = (self.host.now_ms(), self.host.me());
        let replaces: Vec<String> = retired.iter().map(|request| request.id.clone()).collect();
        let id = format!("{created_ms:013x}-{:016x}", nonce());
        let request = Request { id, created_ms, by, priority, asks, terms: terms.clone(), replaces };
        let path = self.path("requests", &request.id);
        sealed::write(&*self.disk, &path, &request).map_err(|error| Fault::Disk { path, error })?;
        // From here on it counts; what it stands for may go.
        for old in &retired {
            self.log(Event::Superseded, old, Some(&request.id))?;
            self.remove("requests", &old.id)?;
            self.remove("notes", &old.id)?;
        }
        let subscription = if stay == Stay::Waits { self.subscribe(&request.id, stay)? } else { None };
        drop(lock);
        let Request { id, replaces: retired, asks, .. } = request;
        Ok(Ticket { id, joined: false, retired, asks, subscription })
    }

    fn subscribe(
        &self,
        id: &str,
        stay: Stay,
    ) -> Result<Option<(std::sync::Arc<dyn Disk>, std::path::PathBuf)>, Fault> {
        let waits = stay == Stay::Waits;
        let subscription = Subscription { request: id.to_owned(), process: self.host.me(), waits };
        let path = self.path("awaiting", &format!("{id}.{:016x}", nonce()));
        match sealed::write_lightly(&*self.disk, &path, &subscription) {
            // Whoever leaves has left its mark: the request was joined.
            Ok(()) if !waits => Ok(None),
            Ok(()) => Ok(Some((std::sync::Arc::clone(&self.disk), path))),
            Err(error) => Err(Fault::Disk { path, error }),
        }
    }

    /// The files of those who wait for a request. One that cannot be read may be somebody's.
    pub(super) fn waiters(&self, id: &str) -> Result<Vec<String>, Fault> {
        let mut waiters = Vec::new();
        for name in self.names("awaiting")? {
            if name.strip_prefix(id).is_none_or(|rest| !rest.starts_with('.')) {
                continue;
            }
            match sealed::read::<Subscription>(&*self.disk, &self.path("awaiting", &name)) {
                None => {}
                Some(Ok(one)) if !one.waits || self.host.liveness(&one.process) == Liveness::Gone => {}
                Some(_) => waiters.push(name),
            }
        }
        Ok(waiters)
    }

    /// Removes what processes left that were ended while they wrote: it was never
    /// acknowledged. Only under the lease under which alone such files are made.
    fn sweep(&self) -> Result<(), Fault> {
        for name in self.names("requests")? {
            if name.starts_with(sealed::DRAFT) {
                self.remove("requests", &name)?;
            }
        }
        Ok(())
    }
}
