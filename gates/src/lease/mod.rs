//! Leases: who works on what, across processes.

mod process;

use std::io;
use std::time::Duration;

pub use process::{Host, Liveness, ProcessIdentity, System};

use crate::disk::{DiskFile, Lock};

/// The first pause while a lock is not free, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(5));

/// Waits for the lock of an open file; `false` when it was not free in time. Polled, because
/// the kernel's own waiting has no deadline and a stopped process may hold a lock for ever.
///
/// # Errors
/// When the file cannot be locked at all.
pub fn wait_for_lock(file: &dyn DiskFile, lock: Lock, host: &dyn Host, wait: Duration) -> io::Result<bool> {
    let (mut pause, longest) = PAUSES;
    let mut waited = Duration::ZERO;
    loop {
        if file.try_lock(lock)? {
            return Ok(true);
        }
        if waited >= wait {
            return Ok(false);
        }
        host.pause(pause);
        waited += pause;
        pause = (pause * 2).min(longest);
    }
}
