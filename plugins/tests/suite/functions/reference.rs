//! The token counts of every file of the corpus beside those of the reference scanners:
//! TypeScript's, and CPython's in WebAssembly. `token-conformance` of the benches compares
//! whole projects in the same way.
//!
//! The scanners are installed below `target/conformance` from npm on first use. A missing
//! tool never lets the test pass: it panics and says what to install.

#![allow(clippy::disallowed_methods, reason = "real scanners are started on real files")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{cases, facts};

/// Files that the reference judges by other rules, and why.
const OTHERWISE: &[(&str, &str)] =
    &[("html-comments.md: a.js", "TypeScript has no HTML-like comments; node runs them in scripts")];

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/conformance")
}

/// The folder of the scanners' `node_modules`.
fn install() -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("conformance");
    fs::create_dir_all(&home).unwrap();
    let guard = File::create(home.join("lock")).unwrap();
    guard.lock().unwrap();
    let lock = fs::read(scripts().join("package-lock.json")).unwrap();
    if fs::read(home.join("done")).is_ok_and(|done| done == lock) {
        return home;
    }
    for name in ["package.json", "package-lock.json"] {
        fs::copy(scripts().join(name), home.join(name)).unwrap();
    }
    let output = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(&home)
        .output()
        .unwrap_or_else(|fault| panic!("npm could not be started ({fault}): node 20 with npm is needed"));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`npm ci` failed in {}: {message}", home.display());
    fs::write(home.join("done"), lock).unwrap();
    home
}

/// Own and total tokens by the place of a function, or why the file is refused.
type Answer = Result<BTreeMap<(u64, u64), (u64, u64)>, String>;

fn ask(script: &str, files: &[PathBuf]) -> BTreeMap<PathBuf, Answer> {
    let home = install();
    let mut child = Command::new("node")
        .arg(scripts().join(script))
        .arg(home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|fault| panic!("node could not be started ({fault}): node 20 is needed"));
    let list: String = files.iter().map(|file| format!("{}\n", file.display())).collect();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(list.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{script} failed");
    let text = String::from_utf8(output.stdout).unwrap();
    let parsed = text.lines().map(|line| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let path = PathBuf::from(value["path"].as_str().unwrap());
        if let Some(fault) = value["fault"].as_str() {
            return (path, Err(fault.to_owned()));
        }
        let functions = value["functions"].as_array().unwrap().iter().map(|it| {
            let number = |at: usize| it[at].as_u64().unwrap();
            ((number(0), number(1)), (number(2), number(3)))
        });
        (path, Ok(functions.collect()))
    });
    parsed.collect()
}

#[test]
fn tokens_of_the_corpus_are_those_of_the_reference_scanners() {
    let folder = tempfile::tempdir().unwrap();
    let mut known: BTreeMap<PathBuf, (String, Vec<u8>)> = BTreeMap::new();
    for (number, (case, entry)) in cases().into_iter().enumerate() {
        for (path, bytes) in case.files {
            let place = folder.path().join(format!("{number}")).join(&path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(&place, &bytes).unwrap();
            known.insert(place, (format!("corpus/{}: {path}", entry.name), bytes));
        }
    }
    let of = |extensions: &[&str]| -> Vec<PathBuf> {
        let wanted = |path: &&PathBuf| {
            path.extension().and_then(|it| it.to_str()).is_some_and(|it| extensions.contains(&it))
        };
        known.keys().filter(wanted).cloned().collect()
    };
    let mut answers = ask("typescript.mjs", &of(&["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs"]));
    answers.extend(ask("python.mjs", &of(&["py", "pyi"])));
    let mut faults = Vec::new();
    let mut compared = 0;
    for (path, answer) in answers {
        let (name, bytes) = &known[&path];
        let ours = facts(path.to_str().unwrap(), bytes);
        let otherwise = OTHERWISE.iter().any(|(file, _)| name.ends_with(file));
        match (&answer, ours.damage.first()) {
            (Err(_), Some(_)) => {}
            (Err(fault), None) if !otherwise => {
                faults.push(format!("{name}: only the reference refuses it: {fault}"))
            }
            (Ok(theirs), None) => {
                let ours: BTreeMap<(u64, u64), (u64, u64)> = ours
                    .functions
                    .iter()
                    .map(|it| {
                        let place = (u64::from(it.span.start), u64::from(it.span.end));
                        (place, (u64::from(it.own_tokens), u64::from(it.total_tokens)))
                    })
                    .collect();
                compared += ours.len();
                if ours != *theirs && !otherwise {
                    faults.push(format!("{name}:\n  ours      {ours:?}\n  reference {theirs:?}"));
                }
            }
            // Early errors are not the parser's in TypeScript.
            (Ok(_), Some(_)) if path.extension().is_some_and(|it| it != "py") => {}
            (Ok(_), Some(damage)) if !otherwise => {
                faults.push(format!("{name}: only owed refuses it: {}", damage.cause));
            }
            _ => {}
        }
    }
    println!("{compared} functions compared");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
