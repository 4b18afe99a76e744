//! Making each runner write what happened in a form that [`owed_engine::outcome`] reads: a
//! reporter or a plugin in the runner's own language, put into a directory of the run and
//! named on the command line. The project's files and environment stay as they are.
//!
//! Nothing here starts a process.

use owed_engine::runner::{Invocation, Reported};

const VITEST: (&str, &str) = ("vitest.mjs", include_str!("vitest.mjs"));
const JEST: (&str, &str) = ("jest.cjs", include_str!("jest.cjs"));
const MOCHA: (&str, &str) = ("mocha.cjs", include_str!("mocha.cjs"));
const NODE: (&str, &str) = ("node_test.mjs", include_str!("node_test.mjs"));
const PYTEST: (&str, &str) = ("owed_pytest.py", include_str!("owed_pytest.py"));
const UNITTEST: (&str, &str) = ("owed_unittest.py", include_str!("owed_unittest.py"));

fn reported(invocation: Invocation, asset: (&'static str, &'static str)) -> Reported {
    Reported { invocation, files: vec![asset], report: "report.jsonl" }
}

/// `options` right after the first word that is `after`, or at the end.
fn insert(argv: &mut Vec<String>, after: &str, options: Vec<String>) {
    let at = argv.iter().position(|word| word == after).map_or(argv.len(), |at| at + 1);
    argv.splice(at..at, options);
}

/// vitest with its own output and ours.
pub(super) fn vitest(mut invocation: Invocation, dir: &str) -> Reported {
    let ours = format!("--reporter={dir}/{}", VITEST.0);
    insert(&mut invocation.argv, "run", vec!["--reporter=default".to_owned(), ours]);
    reported(invocation, VITEST)
}

/// jest (or what wraps it) with its own output and ours.
pub(super) fn jest(mut invocation: Invocation, dir: &str) -> Reported {
    let ours = format!("--reporters={dir}/{}", JEST.0);
    let at = invocation.argv.iter().position(|word| word == "--runTestsByPath");
    let at = at.unwrap_or(invocation.argv.len());
    invocation.argv.splice(at..at, ["--reporters=default".to_owned(), ours]);
    reported(invocation, JEST)
}

/// mocha, whose one reporter is ours on top of `spec`. `words` is how many words start it.
pub(super) fn mocha(mut invocation: Invocation, dir: &str, words: usize) -> Reported {
    let ours = ["--reporter".to_owned(), format!("{dir}/{}", MOCHA.0)];
    invocation.argv.splice(words..words, ours);
    reported(invocation, MOCHA)
}

/// node's runner with `spec` on the terminal and ours in a file.
pub(super) fn node(mut invocation: Invocation, dir: &str) -> Reported {
    let at = invocation.argv.iter().position(|word| word == "--test").unwrap_or(1);
    let options = [
        "--test-reporter=spec".to_owned(),
        "--test-reporter-destination=stdout".to_owned(),
        format!("--test-reporter={dir}/{}", NODE.0),
        format!("--test-reporter-destination={dir}/report.jsonl"),
    ];
    invocation.argv.splice(at..at, options);
    reported(invocation, NODE)
}

/// `python -m pytest …` through our program, which does the same. A file that cannot be
/// collected does not keep the others from running: each has a verdict of its own.
pub(super) fn pytest(mut invocation: Invocation, dir: &str) -> Reported {
    let words = [format!("{dir}/{}", PYTEST.0), "--continue-on-collection-errors".to_owned()];
    invocation.argv.splice(1..3, words);
    reported(invocation, PYTEST)
}

/// `python -m unittest …` or `python manage.py test …` through our program.
pub(super) fn unittest(mut invocation: Invocation, dir: &str) -> Reported {
    let program = format!("{dir}/{}", UNITTEST.0);
    if invocation.argv.get(1).is_some_and(|word| word == "-m") {
        invocation.argv.splice(1..3, [program]);
    } else {
        invocation.argv.splice(1..1, [program, "--program".to_owned()]);
    }
    reported(invocation, UNITTEST)
}
