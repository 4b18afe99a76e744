//! How long a call may go on, and who may end it.

use std::time::{Duration, Instant};

use crate::supervise::{Stop, StopReason};

/// What a command may take when nothing else is said.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// The longest timeout that is taken.
pub const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// What the preflight may take: an allowance of its own, so that a short timeout of the
/// command does not cut it off.
pub const PREFLIGHT_ALLOWANCE: Duration = Duration::from_secs(30);

/// The bounds of a call that come from outside of it. They can only be narrowed.
#[derive(Clone, Debug, Default)]
pub struct Session {
    until: Option<Instant>,
    stop: Stop,
}

/// What is left for one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// How long it may run.
    pub time: Duration,
    /// Whether the session, and not the process's own allowance, is what ends it.
    pub is_clipped: bool,
}

impl Session {
    /// A session that `stop` can end.
    #[must_use]
    pub fn new(stop: Stop) -> Self {
        Self { until: None, stop }
    }

    /// The same with at most this much time left from now on. A longer time than is left
    /// already changes nothing.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "a budget is time")]
    pub fn narrowed(mut self, left: Duration) -> Self {
        let until = Instant::now().checked_add(left);
        self.until = match (self.until, until) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        self
    }

    /// What is left of it; `None` when it has no end.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "a budget is time")]
    pub fn left(&self) -> Option<Duration> {
        self.until.map(|until| until.saturating_duration_since(Instant::now()))
    }

    /// What a process gets that wants `time`.
    #[must_use]
    pub fn allows(&self, time: Duration) -> Allowance {
        match self.left() {
            Some(left) if left < time => Allowance { time: left, is_clipped: true },
            _ => Allowance { time, is_clipped: false },
        }
    }

    /// Whether there is no time left.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.left().is_some_and(|left| left.is_zero())
    }

    /// Whether it was stopped, and why.
    #[must_use]
    pub fn stopped(&self) -> Option<StopReason> {
        self.stop.reason()
    }

    /// What stops it.
    #[must_use]
    pub fn stop(&self) -> &Stop {
        &self.stop
    }
}
