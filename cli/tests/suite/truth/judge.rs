//! Asks `owed` about the change of one construct and compares the plan with what happened.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::harness::{fields, owed_in};

use super::construct::Construct;
use super::execute::{Outcome, Runner, workplace};
use super::{install, world};

/// What the plan of one construct was worth.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// Tests that failed and are in no plan, with the plan.
    pub(super) missed: Vec<String>,
    /// The plan lists everything.
    pub(super) widened: bool,
    /// A failed test is owed only because its inputs cannot be bounded or understood.
    pub(super) opaque: bool,
    /// The bystander is owed, although nothing about it changed.
    pub(super) bystander: bool,
}

/// Checks that the construct is what it claims: all pass before, some fail after.
pub(super) fn broken(
    construct: &Construct,
    before: &Outcome,
    after: &Outcome,
) -> Result<BTreeSet<String>, String> {
    if before.passed.is_empty() {
        return Err(format!("the runner found no test before the change:\n{}", before.log));
    }
    if let Some((path, _)) = before.passed.iter().find(|(_, passed)| !**passed) {
        return Err(format!("{path} fails before the change:\n{}", before.log));
    }
    let mut failed: BTreeSet<String> =
        after.passed.iter().filter(|(_, passed)| !**passed).map(|(path, _)| path.clone()).collect();
    if after.passed.is_empty() {
        // The runner itself stopped: nothing passes any more.
        failed.extend(before.passed.keys().cloned());
    }
    failed.retain(|path| construct.head.contains_key(path) || construct.head_links.contains_key(path));
    if failed.is_empty() {
        return Err(format!("no test fails after the change:\n{}", after.log));
    }
    if let Some(path) = bystander(&before.passed.keys().collect::<Vec<_>>()) {
        if failed.contains(&path) && !construct.everyone {
            return Err(format!("the bystander {path} fails, too:\n{}", after.log));
        }
    } else if construct.bystander.is_some() {
        return Err(
            "the runner did not find the bystander: say `no-bystander`, or where it may lie".to_owned()
        );
    }
    Ok(failed)
}

/// Plans the change, installed and in a fresh checkout.
pub(super) fn judge(runner: Runner, construct: &Construct, failed: &BTreeSet<String>) -> Verdict {
    let place = workplace();
    let dir = place.path().join("project");
    fs::create_dir(&dir).unwrap();
    world::commit(&dir, construct);
    let mut verdict = Verdict::default();
    for installed in [true, false] {
        if installed {
            world::link_packages(&dir, install::node_modules(), runner.packages());
        } else if runner.packages().is_empty() {
            continue;
        } else {
            for package in runner.packages() {
                let link = dir.join("node_modules").join(package);
                if link.is_symlink() {
                    fs::remove_file(link).unwrap();
                }
            }
        }
        let when = if installed { "installed" } else { "not installed" };
        let ran = owed_in(&dir, &["plan", "--base", "HEAD~1", "--format", "json"], &[]);
        if ran.code != 0 {
            verdict.missed.push(format!("{when}: exit code {}: {}{}", ran.code, ran.out, ran.err));
            continue;
        }
        let plan = ran.json();
        let widened = plan["mode"] == "widened";
        let listed = fields(&plan["tests"], "path");
        for path in failed.iter().filter(|path| !widened && !listed.contains(&path.as_str())) {
            verdict.missed.push(format!("{when}: {path} fails and is not in the plan:\n{}", brief(&plan)));
        }
        if installed {
            verdict.widened = widened;
            verdict.opaque = !widened && failed.iter().any(|path| only_opaque(&plan, path));
            verdict.bystander = !construct.everyone && bystander(&listed).is_some();
        }
    }
    verdict
}

fn bystander(paths: &[impl AsRef<str>]) -> Option<String> {
    paths.iter().map(AsRef::as_ref).find(|path| path.contains("bystander")).map(str::to_owned)
}

fn only_opaque(plan: &Value, path: &str) -> bool {
    let tests = plan["tests"].as_array().unwrap();
    tests.iter().filter(|test| test["path"] == path).any(|test| {
        let kinds = fields(&test["reasons"], "kind");
        kinds.iter().all(|kind| matches!(*kind, "input-opaque" | "not-understood"))
    })
}

/// The parts of a plan that say why something is missing.
fn brief(plan: &Value) -> String {
    let mut text = format!("mode {}, {} tests known\n", plan["mode"], plan["inventory"]["tests"]);
    for key in ["changes", "tests", "problems", "not_checked"] {
        for item in plan[key].as_array().into_iter().flatten() {
            text.push_str(&format!("  {key}: {item}\n"));
        }
    }
    text
}
