//! How vitest runs test files: whether each has a process or thread of its own, and whether
//! their order is drawn.
//!
//! A file is called isolated only if the configuration says so: `isolate` is written as
//! `true`, the pool is `forks` or `threads` (the default of every version is one of them),
//! and nothing shares a worker. A default is no promise: an option of the command line, or
//! another version, may change it. What is not known counts as shared.

use owed_engine::facts::Opaque;
use owed_engine::runner::RunnerEffect;

use crate::runners::config::value::{Entry, Value};

/// Whether no test file of the project shares globals with another. `test` are the options
/// of the project, `top` those of the configuration that lists it.
pub(super) fn is_isolated(test: &Value, top: &Value) -> bool {
    let is_written = [test, top].into_iter().any(|options| options.get("isolate") == Value::Bool(true));
    is_written
        && [test, top].into_iter().all(|options| {
            let pool = options.get("pool");
            pool.alternatives().iter().all(|pool| match pool {
                Value::Undefined | Value::Null => true,
                Value::String(name) => matches!(name.as_str(), "forks" | "threads"),
                _ => false,
            }) && is_on(&options.get("isolate"))
                && shares_nothing(&options.get("poolOptions"))
                && is_default(&options.get("threads"))
                && is_off(&options.get("singleThread"))
                && is_default(&options.get("poolMatchGlobs"))
                && is_off(&options.get("browser").get("enabled"))
                && is_off(&options.get("experimentalVmThreads"))
                && is_default(&options.get("runner"))
        })
}

/// What makes verdicts depend on the way the project runs its tests.
pub(super) fn effects(test: &Value, top: &Value, config: Option<&str>) -> Vec<RunnerEffect> {
    let shuffle = |options: &Value| {
        let shuffle = options.get("sequence").get("shuffle");
        let seed = options.get("sequence").get("seed");
        let fixed = matches!(seed, Value::Number(_));
        let drawn = |one: &Value| match one {
            Value::Undefined | Value::Null | Value::Bool(false) => false,
            Value::Object(object) => {
                ["files", "tests"].iter().any(|key| object.get(key).truthy() != Some(false))
            }
            _ => true,
        };
        shuffle.alternatives().iter().any(drawn) && !fixed
    };
    // The time that a test asks for is not all there is to its timers then.
    let moves = |options: &Value| match options.get("fakeTimers") {
        Value::Undefined | Value::Null => false,
        Value::Object(timers) => {
            timers.open().is_some()
                || ["toNotFake", "shouldAdvanceTime"]
                    .iter()
                    .any(|key| timers.get(key).truthy() != Some(false))
                || leaves_out(&timers.get("toFake"))
        }
        _ => true,
    };
    let concurrent = |options: &Value| options.get("sequence").get("concurrent").truthy() != Some(false);
    let rows = [
        (
            shuffle(test) || shuffle(top),
            (Opaque::Random, "sequence.shuffle"),
            "Give `sequence.seed` a number, or leave the order alone.",
        ),
        (
            moves(test) || moves(top),
            (Opaque::Clock, "fakeTimers"),
            "Leave which timers are faked, and whether time goes on, to each test.",
        ),
        (
            concurrent(test) || concurrent(top),
            (Opaque::Concurrency, "sequence.concurrent"),
            "Run tests of one file after another.",
        ),
    ];
    let effect = |(_, (reason, operation), fix): (bool, (Opaque, &str), &str)| RunnerEffect {
        reason,
        operation: operation.to_owned(),
        path: config.unwrap_or_default().to_owned(),
        fix: fix.to_owned(),
    };
    rows.into_iter().filter(|(holds, ..)| *holds).map(effect).collect()
}

/// Whether a list of what is faked may leave out dates or plain timers.
fn leaves_out(list: &Value) -> bool {
    let list = list.strings();
    let all = ["Date", "setInterval", "setTimeout"];
    !list.unknown.is_empty() || (!list.absent && !all.iter().all(|name| list.sure.iter().any(|s| s == name)))
}

fn is_default(value: &Value) -> bool {
    matches!(value, Value::Undefined | Value::Null)
}

fn is_on(value: &Value) -> bool {
    value.alternatives().iter().all(|one| is_default(one) || *one == Value::Bool(true))
}

fn is_off(value: &Value) -> bool {
    value.alternatives().iter().all(|one| is_default(one) || *one == Value::Bool(false))
}

/// Options of pools, by pool: none of them may share a worker.
fn shares_nothing(options: &Value) -> bool {
    options.alternatives().iter().all(|one| match one {
        Value::Undefined | Value::Null => true,
        Value::Object(pools) => pools.0.iter().all(|entry| match entry {
            Entry::Key(_, Value::Object(pool)) => {
                pool.open().is_none()
                    && is_on(&pool.get("isolate"))
                    && is_off(&pool.get("singleThread"))
                    && is_off(&pool.get("singleFork"))
            }
            Entry::Key(_, value) => is_default(value),
            Entry::Open(_) => false,
        }),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runners::config::value::Object;

    fn object(entries: &[(&[&str], Value)]) -> Value {
        let mut object = Object::default();
        for (path, value) in entries {
            let path: Vec<String> = path.iter().map(|key| (*key).to_owned()).collect();
            object.set(&path, value.clone());
        }
        Value::Object(object)
    }

    #[test]
    fn only_a_worker_for_each_file_isolates() {
        let on = (&["isolate"] as &[&str], Value::Bool(true));
        let isolated = |more: &[(&[&str], Value)]| {
            let entries: Vec<_> = std::iter::once(on.clone()).chain(more.iter().cloned()).collect();
            is_isolated(&object(&entries), &Value::Undefined)
        };
        let text = |text: &str| Value::String(text.to_owned());
        assert!(isolated(&[]));
        assert!(isolated(&[(&["pool"], text("threads"))]));
        assert!(isolated(&[(&["poolOptions", "forks", "isolate"], Value::Bool(true))]));
        assert!(!is_isolated(&object(&[]), &Value::Undefined), "a default is no promise");
        assert!(is_isolated(&object(&[]), &object(std::slice::from_ref(&on))));
        assert!(!isolated(&[(&["isolate"], Value::Bool(false))]));
        assert!(!isolated(&[(&["pool"], text("vmThreads"))]));
        assert!(!isolated(&[(&["pool"], text("./own-pool.ts"))]));
        assert!(!isolated(&[(&["poolOptions", "threads", "singleThread"], Value::Bool(true))]));
        assert!(!isolated(&[(&["poolOptions", "forks", "isolate"], Value::Bool(false))]));
        assert!(!isolated(&[(&["browser", "enabled"], Value::Bool(true))]));
        let either = Value::either(vec![text("forks"), text("vmForks")]);
        assert!(!isolated(&[(&["pool"], either)]));
        assert!(!is_isolated(
            &object(std::slice::from_ref(&on)),
            &object(&[(&["isolate"], Value::Bool(false))])
        ));
    }

    #[test]
    fn a_drawn_order_counts_unless_it_is_seeded() {
        let operations =
            |entries: &[(&[&str], Value)]| effects(&object(entries), &Value::Undefined, None).len();
        let on = (&["sequence", "shuffle"] as &[&str], Value::Bool(true));
        let seed = (&["sequence", "seed"] as &[&str], Value::Number(1.0));
        assert_eq!(operations(&[]), 0);
        assert_eq!(operations(std::slice::from_ref(&on)), 1);
        assert_eq!(operations(&[on, seed]), 0);
        assert_eq!(operations(&[(&["sequence", "shuffle", "tests"], Value::Bool(true))]), 1);
        assert_eq!(operations(&[(&["sequence", "shuffle"], Value::Bool(false))]), 0);
    }
}
