//! How vitest runs test files: whether each has a process or thread of its own, and whether
//! their order is drawn.
//!
//! A file is called isolated only if the configuration proves it: the pool is `forks` or
//! `threads` (the default of every version is one of them) with `isolate` on, and nothing
//! shares a worker. What is not known counts as shared.

use owed_engine::facts::Opaque;
use owed_engine::runner::RunnerEffect;

use crate::runners::config::value::{Entry, Value};

/// Whether no test file of the project shares globals with another. `test` are the options
/// of the project, `top` those of the configuration that lists it.
pub(super) fn is_isolated(test: &Value, top: &Value) -> bool {
    [test, top].into_iter().all(|options| {
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
    let mut found = Vec::new();
    if shuffle(test) || shuffle(top) {
        found.push(RunnerEffect {
            reason: Opaque::Random,
            operation: "sequence.shuffle".to_owned(),
            path: config.unwrap_or_default().to_owned(),
            fix: "Give `sequence.seed` a number, or leave the order alone.".to_owned(),
        });
    }
    found
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
        let isolated = |entries: &[(&[&str], Value)]| is_isolated(&object(entries), &Value::Undefined);
        let text = |text: &str| Value::String(text.to_owned());
        assert!(isolated(&[]));
        assert!(isolated(&[(&["isolate"], Value::Bool(true)), (&["pool"], text("threads"))]));
        assert!(isolated(&[(&["poolOptions", "forks", "isolate"], Value::Bool(true))]));
        assert!(!isolated(&[(&["isolate"], Value::Bool(false))]));
        assert!(!isolated(&[(&["pool"], text("vmThreads"))]));
        assert!(!isolated(&[(&["pool"], text("./own-pool.ts"))]));
        assert!(!isolated(&[(&["poolOptions", "threads", "singleThread"], Value::Bool(true))]));
        assert!(!isolated(&[(&["poolOptions", "forks", "isolate"], Value::Bool(false))]));
        assert!(!isolated(&[(&["browser", "enabled"], Value::Bool(true))]));
        let either = Value::either(vec![text("forks"), text("vmForks")]);
        assert!(!isolated(&[(&["pool"], either)]));
        assert!(!is_isolated(&object(&[]), &object(&[(&["isolate"], Value::Bool(false))])));
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
