//! Recovery: working off what was put off, in bounded batches, with receipts that say what
//! was checked and what was not.
//!
//! Files that need the same checks of the same project go together, at most 32 of them. Each
//! batch waits for its lanes; each process of it has at least a quarter of an hour and at
//! most two workers; the whole has half an hour. A batch that would not get its quarter of
//! an hour any more is put off.
//!
//! A [`Receipt`] with something unavailable is *partial*: what was completed and found stays
//! on record, and the files stay pending. So do files that are not what they were when the
//! batch began, and all of a batch when the policy is not. A completed check may have
//! findings; a receipt is no clean verdict.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::sealed::Form;
use super::{Fault, Queue, sealed};
use crate::lease::nonce;

/// Receipts that are kept.
const MOST_KEPT: usize = 64;

/// How far a recovery goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Files of one batch.
    pub files: usize,
    /// How long a batch waits for its lanes.
    pub lanes: Duration,
    /// What each process is given at least.
    pub process: Duration,
    /// Workers of one process, at most.
    pub workers: usize,
    /// How long all of it may take.
    pub job: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            files: 32,
            lanes: Duration::from_secs(30),
            process: Duration::from_secs(15 * 60),
            workers: 2,
            job: Duration::from_secs(30 * 60),
        }
    }
}

/// A file that waits for checks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// Where the checks run.
    pub project: String,
    /// The checks, by name.
    pub checks: BTreeSet<String>,
    /// The file.
    pub path: String,
}

/// What one batch may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// How long its lanes are waited for.
    pub lanes: Duration,
    /// How long a process of it may take: at least [`Bounds::process`].
    pub process: Duration,
    /// How many workers a process may use.
    pub workers: usize,
}

/// What the checks of one batch came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// By check that was completed, how much it found.
    pub completed: BTreeMap<String, usize>,
    /// By check that was not, why.
    pub unavailable: BTreeMap<String, String>,
}

/// What was checked of which bytes, and what was not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The files, each with what it was when the batch began.
    pub files: BTreeMap<String, String>,
    /// The policy of then.
    pub policy: String,
    /// By check that was completed, how much it found.
    pub completed: BTreeMap<String, usize>,
    /// By check that was not, why: when there is any, the receipt is partial.
    pub unavailable: BTreeMap<String, String>,
    /// When it was made, in milliseconds since 1970.
    pub at_ms: u64,
}

impl Receipt {
    /// Whether something is missing.
    pub fn is_partial(&self) -> bool {
        !self.unavailable.is_empty()
    }
}

impl Form for Receipt {
    const FORM: &'static str = "owed.checked/1";
}

/// Why a file stays.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stays {
    /// It was put off: lanes, memory, or time.
    Deferred(String),
    /// It was written while it was checked, or the policy was.
    Stale(String),
    /// A check is unavailable.
    Unavailable(String),
    /// It cannot be read, so nobody can say what was checked.
    Unreadable,
}

/// What a recovery came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Files whose checks are all completed, as they are now.
    pub discharged: BTreeSet<String>,
    /// Files that stay, with why.
    pub pending: BTreeMap<String, Stays>,
    /// How much was found.
    pub findings: usize,
    /// One receipt for each batch that was checked, in order.
    pub receipts: Vec<Receipt>,
}

impl Report {
    /// The exit code of a program that waited for it: 1 for findings and for what stays, and
    /// 75 when all that stays was put off or is stale and nothing was found.
    pub fn exit_code(&self) -> u8 {
        let is_open = |why: &Stays| matches!(why, Stays::Deferred(_) | Stays::Stale(_));
        match (self.findings, self.pending.is_empty()) {
            (0, true) => 0,
            (0, false) if self.pending.values().all(is_open) => 75,
            _ => 1,
        }
    }
}

/// What a recovery asks of its surroundings.
pub trait Surroundings {
    /// What a file is now, by its bytes; `None` when that cannot be told.
    fn version(&self, path: &str) -> Option<String>;
    /// The policy that decides which checks there are, by its bytes; `None` when that cannot
    /// be told.
    fn policy(&self) -> Option<String>;
    /// How long the recovery has been at work.
    fn elapsed(&self) -> Duration;
    /// Checks one batch. What cannot be started is put off, for the reason given.
    ///
    /// # Errors
    /// Why the batch was put off.
    fn check(&mut self, batch: &[Item], budget: &Budget) -> Result<Checked, String>;
}

/// Batches of compatible files: same project, same checks, at most `most`.
pub fn batches(mut items: Vec<Item>, most: usize) -> Vec<Vec<Item>> {
    items.sort();
    items.dedup();
    let same = |a: &Item, b: &Item| (&a.project, &a.checks) == (&b.project, &b.checks);
    items.chunk_by(same).flat_map(|group| group.chunks(most.max(1))).map(<[Item]>::to_vec).collect()
}

/// Works off all items.
pub fn recover(items: Vec<Item>, bounds: &Bounds, on: &mut dyn Surroundings, now_ms: u64) -> Report {
    let mut report = Report::default();
    for batch in batches(items, bounds.files) {
        let stay = |report: &mut Report, why: &Stays| {
            report.pending.extend(batch.iter().map(|item| (item.path.clone(), why.clone())));
        };
        let left = bounds.job.saturating_sub(on.elapsed());
        if left < bounds.process {
            let why = format!("{} minutes are over, or would be", bounds.job.as_secs() / 60);
            stay(&mut report, &Stays::Deferred(why));
            continue;
        }
        let Some(policy) = on.policy() else {
            stay(&mut report, &Stays::Deferred("the policy cannot be read".to_owned()));
            continue;
        };
        let files: BTreeMap<String, Option<String>> =
            batch.iter().map(|item| (item.path.clone(), on.version(&item.path))).collect();
        let budget = Budget { lanes: bounds.lanes, process: left, workers: bounds.workers };
        let checked = match on.check(&batch, &budget) {
            Ok(checked) => checked,
            Err(why) => {
                stay(&mut report, &Stays::Deferred(why));
                continue;
            }
        };
        report.findings += checked.completed.values().sum::<usize>();
        let missing: BTreeSet<&String> = batch
            .iter()
            .flat_map(|item| &item.checks)
            .filter(|check| !checked.completed.contains_key(*check))
            .collect();
        let mut unavailable = checked.unavailable.clone();
        for check in missing {
            unavailable.entry(check.clone()).or_insert_with(|| "nothing was heard of it".to_owned());
        }
        let is_same_policy = on.policy().as_ref() == Some(&policy);
        for (path, version) in &files {
            let why = match version {
                None => Some(Stays::Unreadable),
                Some(_) if !is_same_policy => Some(Stays::Stale("the policy was changed".to_owned())),
                Some(version) if on.version(path).as_ref() != Some(version) => {
                    Some(Stays::Stale("it was written while it was checked".to_owned()))
                }
                Some(_) => unavailable
                    .iter()
                    .next()
                    .map(|(check, why)| Stays::Unavailable(format!("{check}: {why}"))),
            };
            match why {
                Some(why) => drop(report.pending.insert(path.clone(), why)),
                None => drop(report.discharged.insert(path.clone())),
            }
        }
        report.receipts.push(Receipt {
            files: files.into_iter().filter_map(|(path, version)| Some((path, version?))).collect(),
            policy,
            completed: checked.completed,
            unavailable,
            at_ms: now_ms,
        });
    }
    report
}

impl Queue {
    /// Keeps a receipt of a recovery.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&self, receipt: &Receipt) -> Result<(), Fault> {
        let path = self.path("checked", &format!("{:013x}-{:016x}", receipt.at_ms, nonce()));
        sealed::write(&*self.disk, &path, receipt).map_err(|error| Fault::Disk { path, error })?;
        let names = self.names("checked")?;
        for name in names.iter().take(names.len().saturating_sub(MOST_KEPT)) {
            self.remove("checked", name)?;
        }
        Ok(())
    }

    /// The receipts of recoveries that can be read, the newest last.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn kept_receipts(&self) -> Result<Vec<Receipt>, Fault> {
        let names = self.names("checked")?.into_iter().filter(|name| !name.starts_with(sealed::DRAFT));
        Ok(names
            .filter_map(|name| sealed::read::<Receipt>(&*self.disk, &self.path("checked", &name))?.ok())
            .collect())
    }
}
