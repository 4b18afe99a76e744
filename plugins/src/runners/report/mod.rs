//! Making each runner write what happened in a form that [`owed_engine::outcome`] reads: a
//! reporter or a plugin in the runner's own language, put into a directory of the run and
//! named on the command line. The project's files and environment stay as they are.
//!
//! Beside the report, `loaded.jsonl` says which files each test file loaded, where the runner
//! can tell: a line a test file, `{"file", "loaded", "whole"}` with absolute paths; `whole` when
//! nothing can be missing. It is a list of names that only ever adds to what is known, so that
//! whoever cannot make it leaves it out.
//!
//! Nothing here starts a process.

use owed_engine::runner::{Invocation, Reported, Reporting};

const VITEST: (&str, &str) = ("vitest.mjs", include_str!("vitest.mjs"));
const JEST: (&str, &str) = ("jest.cjs", include_str!("jest.cjs"));
const MOCHA: (&str, &str) = ("mocha.cjs", include_str!("mocha.cjs"));
const NODE: (&str, &str) = ("node_test.mjs", include_str!("node_test.mjs"));
const PYTEST: (&str, &str) = ("owed_pytest.py", include_str!("owed_pytest.py"));
const UNITTEST: (&str, &str) = ("owed_unittest.py", include_str!("owed_unittest.py"));

/// What notes the files that tests load, where that is no part of the reporter itself.
const NODE_LOADED: (&str, &str) = ("loaded_node.cjs", include_str!("loaded_node.cjs"));
const JEST_LOADED: (&str, &str) = ("loaded_jest.cjs", include_str!("loaded_jest.cjs"));
const PYTHON_LOADED: (&str, &str) = ("owed_loaded.py", include_str!("owed_loaded.py"));

fn reported(invocation: Invocation, files: &[(&'static str, &'static str)]) -> Reported {
    Reported { invocation, files: files.to_vec(), report: "report.jsonl" }
}

/// Puts `ours`, the words for `workers` and the person's own at `at`.
fn put(
    mut invocation: Invocation,
    at: usize,
    ours: Vec<String>,
    workers: Option<String>,
    run: &Reporting<'_>,
) -> Invocation {
    let words = ours.into_iter().chain(workers).chain(run.arguments.iter().cloned());
    invocation.argv.splice(at..at, words);
    invocation
}

/// The place of a word, or of the end.
fn place(invocation: &Invocation, word: &str) -> usize {
    invocation.argv.iter().position(|w| w == word).unwrap_or(invocation.argv.len())
}

fn max_workers(run: &Reporting<'_>) -> Option<String> {
    run.workers.map(|n| format!("--maxWorkers={n}"))
}

/// vitest with its own output and ours.
pub(super) fn vitest(invocation: Invocation, run: &Reporting<'_>) -> Reported {
    let ours = vec!["--reporter=default".to_owned(), format!("--reporter={}/{}", run.dir, VITEST.0)];
    let at = (place(&invocation, "run") + 1).min(invocation.argv.len());
    reported(put(invocation, at, ours, max_workers(run), run), &[VITEST])
}

/// jest (or what wraps it) with its own output and ours.
pub(super) fn jest(invocation: Invocation, run: &Reporting<'_>) -> Reported {
    let ours = vec!["--reporters=default".to_owned(), format!("--reporters={}/{}", run.dir, JEST.0)];
    let at = place(&invocation, "--runTestsByPath");
    reported(put(invocation, at, ours, max_workers(run), run), &[JEST, JEST_LOADED])
}

/// mocha, whose one reporter is ours on top of `spec`. `words` is how many words start it.
pub(super) fn mocha(invocation: Invocation, run: &Reporting<'_>, words: usize) -> Reported {
    let ours = vec!["--reporter".to_owned(), format!("{}/{}", run.dir, MOCHA.0)];
    let jobs = run.workers.map(|n| format!("--jobs={n}"));
    reported(put(invocation, words, ours, jobs, run), &[MOCHA])
}

/// node's runner with `spec` on the terminal and ours in a file.
pub(super) fn node(invocation: Invocation, run: &Reporting<'_>) -> Reported {
    let ours = vec![
        format!("--require={}/{}", run.dir, NODE_LOADED.0),
        "--test-reporter=spec".to_owned(),
        "--test-reporter-destination=stdout".to_owned(),
        format!("--test-reporter={}/{}", run.dir, NODE.0),
        format!("--test-reporter-destination={}/report.jsonl", run.dir),
    ];
    let at = place(&invocation, "--test");
    let workers = run.workers.map(|n| format!("--test-concurrency={n}"));
    reported(put(invocation, at, ours, workers, run), &[NODE, NODE_LOADED])
}

/// `python -m pytest …` through our program, which does the same. A file that cannot be
/// collected does not keep the others from running: each has a verdict of its own.
pub(super) fn pytest(mut invocation: Invocation, run: &Reporting<'_>) -> Reported {
    invocation.argv.splice(1..3, [format!("{}/{}", run.dir, PYTEST.0)]);
    let ours = vec!["--continue-on-collection-errors".to_owned()];
    reported(put(invocation, 2, ours, None, run), &[PYTEST, PYTHON_LOADED])
}

/// `python -m unittest …` or `python manage.py test …` through our program.
pub(super) fn unittest(mut invocation: Invocation, run: &Reporting<'_>) -> Reported {
    let program = format!("{}/{}", run.dir, UNITTEST.0);
    let at = if invocation.argv.get(1).is_some_and(|word| word == "-m") {
        invocation.argv.splice(1..3, [program]);
        2 + usize::from(invocation.argv.get(2).is_some_and(|word| word == "discover"))
    } else {
        invocation.argv.splice(1..1, [program, "--program".to_owned()]);
        4 + usize::from(invocation.argv.get(4).is_some_and(|word| word == "test"))
    };
    reported(put(invocation, at, Vec::new(), None, run), &[UNITTEST, PYTHON_LOADED])
}
