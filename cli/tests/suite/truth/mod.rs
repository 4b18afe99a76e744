//! Truth by execution: the real runners decide which tests a change breaks, and whatever
//! breaks must be in the plan.
//!
//! `corpus/truth/RUNNER/*.md` holds constructs: small projects in which a test depends on
//! something in exactly one way. Each is run as it was before its change, where every test
//! must pass, and after it, where its test must fail. Then `owed plan` is asked about the
//! same commit, once with the runner installed and once in a fresh checkout. A test that
//! failed and is not in the plan is a *silent miss* and fails this suite.
//!
//! The runners are installed on first use below the target folder. Nothing here is skipped
//! because something is missing: that is a failure which says what is missing.

mod construct;
mod execute;
pub(crate) mod install;
mod judge;
mod report;
mod world;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use execute::Runner;

#[test]
fn vitest() {
    report::check(Runner::Vitest);
}

#[test]
fn jest() {
    report::check(Runner::Jest);
}

#[test]
fn mocha() {
    report::check(Runner::Mocha);
}

#[test]
fn node_test() {
    report::check(Runner::Node);
}

#[test]
fn pytest() {
    report::check(Runner::Pytest);
}

#[test]
fn unittest() {
    report::check(Runner::Unittest);
}

/// Applies `work` to every item on all processors; the results are in the order of `items`.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((at, item)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    items.get(at).map(|item| (at, item))
                } {
                    let result = work(item);
                    results.lock().unwrap().push((at, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
