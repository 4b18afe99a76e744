//! Every behaviour of recorded checks, the ledger and supervision has a test that is named
//! after its row: A1 to A48 (`a01_…`) and D1 to D8 (`d1_…`). What a row asks of the command
//! line alone is tested there.
//!
//! Only in part, as the rows say: A26 and A48 (the host that obeys is not here), A39 (labels
//! are opaque), A46 (suggestions come from manifests, not from continuous integration), A47
//! (receipts of others are looked at, not taken over). Not here at all: A49, which needs an
//! agent's host, and D9, which is about another command.

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
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let mut tests = Vec::new();
    for file in sources(&suite) {
        let text = std::fs::read_to_string(file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines.windows(2).filter(|pair| pair[0].trim() == "#[test]") {
            tests.extend(pair[1].trim().strip_prefix("fn ").map(str::to_owned));
        }
    }
    let rows = (1..=48).map(|row| format!("a{row:02}_")).chain((1..=8).map(|row| format!("d{row}_")));
    let missing: Vec<String> = rows.filter(|row| !tests.iter().any(|test| test.starts_with(row))).collect();
    assert_eq!(missing, Vec::<String>::new());
}
