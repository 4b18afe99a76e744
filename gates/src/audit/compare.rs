//! A plan held against a full run.
//!
//! The row is a **miss** when a file failed in the full run and the plan had left it out:
//! one is enough, whatever else is missing. It is **widened** when the plan left nothing out,
//! which proves nothing; **incomplete** when a report is missing, or the reports do not name
//! every test file that the plan knew of; **clean** otherwise.
//!
//! A file that failed in the same way before the change, as a full run at the plan's base
//! says, is no miss: no change made it fail. Without such reports every omitted failure is one.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::reports::{Report, ReportFault};

/// What a plan says, as far as it can be held against a run.
#[derive(Clone, Debug, Deserialize)]
pub struct Plan {
    schema: String,
    mode: String,
    base: Option<PlanBase>,
    tests: Vec<PlanTest>,
    omitted: u64,
    inventory: PlanInventory,
}

#[derive(Clone, Debug, Deserialize)]
struct PlanBase {
    commit: String,
}

#[derive(Clone, Debug, Deserialize)]
struct PlanTest {
    path: String,
}

#[derive(Clone, Debug, Deserialize)]
struct PlanInventory {
    tests: u64,
}

impl Plan {
    /// Reads what `owed plan --format json` printed.
    ///
    /// # Errors
    /// Why it is no such plan.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let plan: Self = serde_json::from_slice(bytes).map_err(|error| format!("it is no plan: {error}"))?;
        if plan.schema != "owed.plan/1" {
            return Err(format!("it is `{}`, not `owed.plan/1`", plan.schema));
        }
        let owed: BTreeSet<&str> = plan.tests.iter().map(|test| test.path.as_str()).collect();
        if owed.len() as u64 + plan.omitted != plan.inventory.tests {
            return Err("its numbers do not add up: tests that are owed and left out are not all".to_owned());
        }
        Ok(plan)
    }

    /// How many tests it left out.
    pub fn omitted(&self) -> u64 {
        self.omitted
    }
}

/// What a row came to, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowOutcome {
    /// A file failed that the plan had left out.
    Miss,
    /// The plan left nothing out.
    Widened,
    /// Not everything was reported.
    Incomplete,
    /// Nothing that failed was left out.
    Clean,
}

impl RowOutcome {
    /// Every one of them.
    pub const ALL: [Self; 4] = [Self::Miss, Self::Widened, Self::Incomplete, Self::Clean];

    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Miss => "miss",
            Self::Widened => "widened",
            Self::Incomplete => "incomplete",
            Self::Clean => "clean",
        }
    }
}

/// One comparison, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What it came to.
    pub outcome: RowOutcome,
    /// The hash of the plan and the reports: the same ones are one row.
    pub source: String,
    /// What the caller calls it.
    pub label: Option<String>,
    /// The commit that the plan compared with.
    pub base: Option<String>,
    /// Whether the plan left tests out, and every test was reported: only such rows count
    /// towards trusting plans.
    pub selective: bool,
    /// Whether every test was reported.
    pub complete: bool,
    /// How many test files the plan owed.
    pub owed: u64,
    /// How many it left out.
    pub omitted: u64,
    /// How many test files the reports name.
    pub reported: u64,
    /// Files that failed, sorted.
    pub failed: Vec<String>,
    /// Those of them that the plan left out, and that did not fail at the base.
    pub misses: Vec<String>,
    /// Those that it left out and that failed at the base as well.
    pub preexisting: Vec<String>,
    /// Why it is not complete.
    pub gaps: Vec<Gap>,
}

/// Why not everything was reported.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// `report-missing`, `report-malformed`, `report-truncated`, `unknown-format`,
    /// `tests-unreported`, `owed-unreported`, `outside-project`, `failure-without-file`.
    pub reason: String,
    /// For a person.
    pub detail: String,
}

/// A report by the name that the caller gave, with its bytes.
pub type Named = (String, Result<Report, ReportFault>, Vec<u8>);

/// What is compared.
pub struct Compared<'a> {
    /// The plan, and its bytes.
    pub plan: (&'a Plan, &'a [u8]),
    /// The reports of the full run.
    pub reports: Vec<Named>,
    /// The same of a full run at the base; `None` when there are none.
    pub base: Option<Vec<Named>>,
    /// What the caller calls it.
    pub label: Option<String>,
    /// A path of a report as a project-relative one.
    pub place: &'a dyn Fn(&str) -> Option<String>,
}

/// Holds the plan against the run.
pub fn compare(compared: &Compared<'_>) -> Row {
    let (plan, bytes) = compared.plan;
    let owed: BTreeSet<&str> = plan.tests.iter().map(|test| test.path.as_str()).collect();
    let mut gaps = Vec::new();
    let files = by_file(&compared.reports, compared.place, &mut gaps);
    let failed: Vec<String> = files.iter().filter(|(_, failed)| **failed).map(|(f, _)| f.clone()).collect();
    // What the base's reports lack excuses nothing, so their gaps are none of the row.
    let before = compared.base.as_ref().map(|base| by_file(base, compared.place, &mut Vec::new()));
    let failed_before = |file: &String| before.as_ref().is_some_and(|b| b.get(file) == Some(&true));
    let (preexisting, misses): (Vec<String>, Vec<String>) =
        failed.iter().filter(|file| !owed.contains(file.as_str())).cloned().partition(failed_before);
    let unreported: Vec<&str> = owed.iter().copied().filter(|test| !files.contains_key(*test)).collect();
    if let Some(first) = unreported.first() {
        let detail = format!("{} of the owed test files in no report, {first} for one", unreported.len());
        gaps.push(Gap { reason: "owed-unreported".to_owned(), detail });
    }
    let reported = files.len() as u64;
    if reported < plan.inventory.tests {
        let detail =
            format!("the plan knew {} test files, the reports name {reported}", plan.inventory.tests);
        gaps.push(Gap { reason: "tests-unreported".to_owned(), detail });
    }
    gaps.sort();
    gaps.dedup();
    let complete = gaps.is_empty();
    let widened = plan.mode == "widened" || plan.omitted == 0;
    let outcome = if !misses.is_empty() {
        RowOutcome::Miss
    } else if widened {
        RowOutcome::Widened
    } else if !complete {
        RowOutcome::Incomplete
    } else {
        RowOutcome::Clean
    };
    Row {
        outcome,
        source: source(bytes, compared),
        label: compared.label.clone(),
        base: plan.base.as_ref().map(|base| base.commit.clone()),
        selective: !widened,
        complete,
        owed: owed.len() as u64,
        omitted: plan.omitted,
        reported,
        failed,
        misses,
        preexisting,
        gaps,
    }
}

/// Every file that some report names, and whether it failed in any.
fn by_file(
    reports: &[Named],
    place: &dyn Fn(&str) -> Option<String>,
    gaps: &mut Vec<Gap>,
) -> BTreeMap<String, bool> {
    let mut files: BTreeMap<String, bool> = BTreeMap::new();
    let mut gap = |reason: &str, detail: String| gaps.push(Gap { reason: reason.to_owned(), detail });
    for (name, report, _) in reports {
        let report = match report {
            Ok(report) => report,
            Err(fault) => {
                gap(fault.word(), format!("{name}: {}", fault.sentence()));
                continue;
            }
        };
        if !report.is_whole {
            gap("report-truncated", format!("{name} ends before the run did"));
        }
        let mut outside = 0_u32;
        for (path, failed) in &report.files {
            match place(path) {
                Some(path) => *files.entry(path).or_default() |= failed,
                None => outside += 1,
            }
        }
        if outside > 0 {
            let hint = "if it was made in another checkout, --report-root names that one's root";
            gap("outside-project", format!("{name} names {outside} files outside of the project; {hint}"));
        }
        if let Some(first) = report.without_file.first() {
            gap("failure-without-file", format!("{name}: {first} failed, and no file is named for it"));
        }
    }
    files
}

fn source(plan: &[u8], compared: &Compared<'_>) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("owed audit row 1");
    let mut add = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    add(plan);
    let mut reports: Vec<&Vec<u8>> = compared.reports.iter().map(|(_, _, bytes)| bytes).collect();
    reports.sort();
    for bytes in reports {
        add(bytes);
    }
    // A report at the base may turn a miss into none, so that is another row.
    for (_, _, bytes) in compared.base.iter().flatten() {
        add(bytes);
    }
    hasher.finalize().to_hex().to_string()
}
