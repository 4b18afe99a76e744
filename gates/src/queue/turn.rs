//! Waiting for one's turn: for the lanes, or for somebody else's result of one's request.

use std::time::Duration;

use super::job::Shared;
use super::poll::{Poll, Reply, Seen};
use super::{Queue, Ticket};
use crate::lease::lanes::{Busy, Lanes, Place};
use crate::lease::{Host as _, System};
use crate::supervise::Stop;

/// The pause between two looks, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(40));

/// How long the lanes are left alone between two batches, so that whoever waits takes them:
/// longer than the longest pause of a waiter.
pub(super) const YIELD: Duration = Duration::from_millis(120);

/// Bounds of waiting.
#[derive(Clone, Copy, Debug)]
pub struct Wait<'a> {
    /// At most this long.
    pub at_most: Duration,
    /// A way to give it up.
    pub stop: &'a Stop,
}

/// Why it is not one's turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deferral {
    /// A stable kebab-case word.
    pub reason: &'static str,
    /// For a person.
    pub detail: String,
}

/// What waiting came to.
#[derive(Debug)]
pub enum Turn {
    /// The lanes are ours.
    Ours(Place),
    /// The request was met by somebody else, with a result that may be one's own once
    /// everything was looked at again.
    Met(Box<Shared>),
    /// The request was met, and nothing is known but that.
    Gone,
    /// The request stays.
    Deferred(Deferral),
}

impl Queue {
    /// Waits for the lanes, or until somebody else has met the request of `ticket`; without a
    /// ticket for the lanes only.
    pub fn turn(&self, ticket: Option<&Ticket>, lanes: &Lanes, wait: &Wait<'_>) -> Turn {
        let mut waited = Duration::ZERO;
        let mut pause = PAUSES.0;
        let mut poll = Poll::of(self.taken().and_then(Result::ok).map(|taken| taken.batch));
        loop {
            if let Some(met) = ticket.and_then(|ticket| self.met(&ticket.id)) {
                return met;
            }
            let busy = match lanes.enter() {
                Ok(place) => {
                    // It may have been met just before the lanes were given back.
                    return ticket.and_then(|ticket| self.met(&ticket.id)).unwrap_or(Turn::Ours(place));
                }
                Err(busy) => busy,
            };
            if let Busy::Unavailable(error) = &busy {
                if let Seen::Lost(first) = poll.take(Reply::Unavailable(error.clone())) {
                    let detail = format!("{first}; the job that was seen may still be at work");
                    return Turn::Deferred(Deferral { reason: "lanes-unavailable", detail });
                }
            } else {
                let job = self.taken().and_then(Result::ok).map(|taken| taken.batch);
                poll.take(Reply::Ready(job));
            }
            if waited >= wait.at_most || wait.stop.reason().is_some() || !busy.may_pass() {
                return Turn::Deferred(Deferral { reason: busy.word(), detail: busy.to_string() });
            }
            System.pause(pause);
            waited += pause;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// Gives the lanes back for a moment and waits for them again, as [`Queue::turn`] does.
    pub fn yield_and_wait(
        &self,
        place: Place,
        ticket: Option<&Ticket>,
        lanes: &Lanes,
        wait: &Wait<'_>,
    ) -> Turn {
        drop(place);
        System.pause(YIELD);
        self.turn(ticket, lanes, wait)
    }

    fn met(&self, id: &str) -> Option<Turn> {
        // A request that cannot be looked for is still there.
        let is_there = self.names("requests").map_or(true, |names| names.iter().any(|name| name == id));
        if is_there {
            return None;
        }
        Some(self.result(id).map_or(Turn::Gone, |shared| Turn::Met(Box::new(shared))))
    }
}
