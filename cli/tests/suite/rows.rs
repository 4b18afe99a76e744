//! Every behaviour of selection, queue and leases (C1 to C21) and of verdicts and resources
//! (D1 to D9) has a test that is named after its row (`c01_…`, `d1_…`), here or in the gates.
//!
//! Only in part, as the rows say: C18 (a batch runner, not a daemon), C20 (obligations, not
//! editor hooks), C21 (a waiting command line, not a daemon).

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

#[test]
fn every_row_has_a_test_of_its_name() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut tests = Vec::new();
    for suite in [here.join("tests/suite"), here.join("../gates/tests/suite")] {
        for file in sources(&suite) {
            let text = std::fs::read_to_string(file).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            for pair in lines.windows(2).filter(|pair| pair[0].trim() == "#[test]") {
                tests.extend(pair[1].trim().strip_prefix("fn ").map(str::to_owned));
            }
        }
    }
    let rows = (1..=21).map(|row| format!("c{row:02}_")).chain((1..=9).map(|row| format!("d{row}_")));
    let missing: Vec<String> = rows.filter(|row| !tests.iter().any(|test| test.starts_with(row))).collect();
    assert_eq!(missing, Vec::<String>::new());
}
