//! Every behaviour has a test that is named after its row: recorded checks, the ledger and
//! supervision (A1 to A48, D1 to D8; `a01_…`, `d1_…`) in the gates, whose library holds them;
//! selection, queue and leases (C1 to C21) and verdicts and resources (D1 to D9) here or there.
//!
//! Only in part, as the rows say: A26 and A48 (the host that obeys is not here), A39 (labels
//! are opaque), A46 (suggestions come from manifests, not from continuous integration), A47
//! (receipts of others are looked at, not taken over), C18 (a batch runner, not a daemon), C20
//! (obligations, not editor hooks), C21 (a waiting command line, not a daemon). Not here at
//! all: A49, which needs an agent's host.

use std::path::{Path, PathBuf};

fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(path);
        }
    }
    found
}

/// The names of the tests below `suite`.
fn tests(suite: &Path) -> Vec<String> {
    let mut tests = Vec::new();
    for file in sources(suite) {
        let text = std::fs::read_to_string(file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines.windows(2).filter(|pair| pair[0].trim() == "#[test]") {
            tests.extend(pair[1].trim().strip_prefix("fn ").map(str::to_owned));
        }
    }
    tests
}

#[test]
fn every_row_has_a_test_of_its_name() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let in_gates = tests(&here.join("../gates/tests/suite"));
    let mut anywhere = tests(&here.join("tests/suite"));
    anywhere.extend(in_gates.iter().cloned());
    let has = |tests: &[String], row: &String| tests.iter().any(|test| test.starts_with(row));
    let of_gates = (1..=48).map(|row| format!("a{row:02}_")).chain((1..=8).map(|row| format!("d{row}_")));
    let of_all = (1..=21).map(|row| format!("c{row:02}_")).chain((1..=9).map(|row| format!("d{row}_")));
    let mut missing: Vec<String> = of_gates.filter(|row| !has(&in_gates, row)).collect();
    missing.extend(of_all.filter(|row| !has(&anywhere, row)));
    assert_eq!(missing, Vec::<String>::new());
}
