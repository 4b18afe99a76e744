//! All constructs of one runner: executed, judged, counted, and held to the committed count.

#![allow(clippy::print_stdout, reason = "the table is for whoever runs the suite")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::sync::Mutex;

use super::construct::{self, Construct, Files, Links};
use super::execute::{self, Outcome, Runner, State};
use super::in_parallel;
use super::judge::{self, Verdict};

/// Guards `precision.txt`, which all runners share.
static PRECISION: Mutex<()> = Mutex::new(());

/// Executes and judges every construct of a runner; fails on a silent miss.
pub(super) fn check(runner: Runner) {
    let constructs = construct::all(runner);
    let outcomes = execute_all(runner, &constructs);
    let jobs: Vec<(&Construct, &(Outcome, Outcome))> = constructs.iter().zip(&outcomes).collect();
    let verdicts = in_parallel(&jobs, |(construct, (before, after))| {
        judge::broken(construct, before, after).map(|failed| judge::judge(runner, construct, &failed))
    });
    let mut faults = String::new();
    let mut good = Vec::new();
    for (construct, verdict) in constructs.iter().zip(verdicts) {
        let name = format!("corpus/truth/{}/{}.md", runner.folder(), construct.name);
        match verdict {
            Err(fault) => {
                let _ = writeln!(faults, "\n==== {name}: the construct is wrong: {fault}");
            }
            Ok(verdict) => {
                match (&construct.known_wrong, verdict.missed.is_empty()) {
                    (None, false) => {
                        let _ = writeln!(faults, "\n==== {name}: MISSED\n{}", verdict.missed.join("\n"));
                    }
                    (Some(_), true) => {
                        let _ = writeln!(faults, "\n==== {name}: is right now: remove its known-wrong mark");
                    }
                    (Some(reason), false) => println!("known wrong: {name}: {reason}"),
                    (None, true) => {}
                }
                good.push((construct, verdict));
            }
        }
    }
    print!("{}", table(runner, &good));
    if std::env::var_os("TRUTH").is_none() {
        let count = good.iter().filter(|(_, verdict)| verdict.bystander).count();
        faults.push_str(&hold_to_precision(runner, count));
    }
    assert!(faults.is_empty(), "{faults}\n{}", table(runner, &good));
}

/// Runs what shares a project together, and the rest one by one.
fn execute_all(runner: Runner, constructs: &[Construct]) -> Vec<(Outcome, Outcome)> {
    let together: Vec<&Construct> = constructs.iter().filter(|construct| !construct.alone).collect();
    let both = |of: &dyn Fn(&Construct) -> (&Files, &Links)| {
        let mut files = Files::new();
        let mut links = Links::new();
        for construct in &together {
            let (more, more_links) = of(construct);
            files.extend(more.clone());
            links.extend(more_links.clone());
        }
        execute::outcome(runner, &State { files: &files, links: &links, run: None })
    };
    let (before, after) = if together.is_empty() {
        (Outcome::default(), Outcome::default())
    } else {
        (both(&|c| (&c.base, &c.base_links)), both(&|c| (&c.head, &c.head_links)))
    };
    let part = |outcome: &Outcome, construct: &Construct| {
        let prefix = format!("{}/", construct.name);
        let mine =
            |(path, passed): (&String, &bool)| path.starts_with(&prefix).then(|| (path.clone(), *passed));
        let about = |line: &&str| line.contains(&prefix);
        Outcome {
            passed: outcome.passed.iter().filter_map(mine).collect(),
            log: if outcome.passed.is_empty() {
                outcome.log.clone()
            } else {
                outcome.log.lines().filter(about).collect::<Vec<_>>().join("\n")
            },
        }
    };
    in_parallel(constructs, |construct| {
        if construct.alone {
            let run = construct.run.as_deref();
            let state = |files, links| execute::outcome(runner, &State { files, links, run });
            (state(&construct.base, &construct.base_links), state(&construct.head, &construct.head_links))
        } else {
            (part(&before, construct), part(&after, construct))
        }
    })
}

fn table(runner: Runner, verdicts: &[(&Construct, Verdict)]) -> String {
    let names = |of: &dyn Fn(&Verdict) -> bool| -> Vec<&str> {
        verdicts
            .iter()
            .filter(|(_, verdict)| of(verdict))
            .map(|(construct, _)| construct.name.as_str())
            .collect()
    };
    let columns = [
        ("missed", names(&|v| !v.missed.is_empty())),
        ("widened", names(&|v| v.widened)),
        ("owed as opaque", names(&|v| v.opaque)),
        ("bystander owed", names(&|v| v.bystander)),
    ];
    let mut text = format!("{:9} {:4} constructs", runner.folder(), verdicts.len());
    for (name, list) in &columns {
        let _ = write!(text, " | {name} {}", list.len());
    }
    text.push('\n');
    for (name, list) in columns.iter().filter(|(_, list)| !list.is_empty()) {
        let _ = writeln!(text, "          {name}: {}", list.join(", "));
    }
    text
}

/// The committed number of bystanders that are owed may only fall.
fn hold_to_precision(runner: Runner, count: usize) -> String {
    let _guard = PRECISION.lock().unwrap();
    let path = construct::root().join("precision.txt");
    let text = fs::read_to_string(&path).unwrap_or_default();
    let mut counts: BTreeMap<&str, usize> = text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, count)| Some((name, count.parse().ok()?)))
        .collect();
    let committed = counts.get(runner.folder()).copied();
    if std::env::var_os("UPDATE_CORPUS").is_some() {
        assert!(std::env::var_os("CI").is_none(), "UPDATE_CORPUS is for people, not for CI");
        if committed.is_none_or(|committed| count < committed) {
            counts.insert(runner.folder(), count);
            let lines: String = counts.iter().map(|(name, count)| format!("{name} {count}\n")).collect();
            fs::write(&path, lines).unwrap();
            return String::new();
        }
    }
    match committed {
        Some(committed) if count <= committed => String::new(),
        Some(committed) => format!(
            "\n==== {}: {count} bystanders are owed; corpus/truth/precision.txt allows {committed}\n",
            runner.folder()
        ),
        None => format!("\n==== {}: corpus/truth/precision.txt has no number\n", runner.folder()),
    }
}
