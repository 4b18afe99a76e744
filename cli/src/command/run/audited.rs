//! `owed run --audit`: some of what is paid for is run all the same, and what it says is held
//! against the receipt.

use std::path::Path;

use owed_engine::outcome::NoReceipt;
use owed_engine::project::Project;
use owed_gates::audit::{Percent, Trip, missing, sampled, trip};
use owed_gates::runs::execute::Executed;
use owed_gates::runs::identify::Identified;
use owed_gates::runs::store::Receipts;

use super::{Item, parts};
use crate::answer::run::{AuditSeen, CaseCounts, Contradiction, Denied};

/// Takes the sample: these tests are run, whatever their receipts say.
pub(super) fn choose(items: &mut [Item], percent: Percent) {
    for item in items {
        let Some(receipt) = item.reused.take_if(|receipt| sampled(&receipt.identity, percent)) else {
            continue;
        };
        let result = &mut item.result;
        result.outcome = "not-run";
        result.receipt = None;
        result.cases = CaseCounts::default();
        result.duration_ms = None;
        result.runtime_verified = false;
        result
            .denied
            .push(Denied::new("audit", format!("run to hold it against receipt {}", &receipt.id()[..12])));
        item.audited = Some(receipt);
    }
}

/// Holds what was run against the receipts, and stops all reuse when one is contradicted: the
/// test's own cases failed, and its inputs were the same before and after.
pub(super) fn judge(
    (project, root): (&Project<'_>, &Path),
    items: &[Item],
    executed: &[Executed],
    before: &Identified,
    (receipts, percent): (&Receipts, Percent),
) -> anyhow::Result<AuditSeen> {
    let mut seen =
        AuditSeen { percent: percent.to_string(), sampled: 0, confirmed: 0, contradicted: Vec::new() };
    for item in items {
        let Some(receipt) = &item.audited else { continue };
        seen.sampled += 1;
        seen.confirmed += usize::from(item.result.outcome == "passed");
        let suite = project.tests[item.number].suite;
        let done = executed.iter().filter(|done| done.suite == suite);
        let mut files =
            done.clone().flat_map(|done| &done.files).filter(|file| file.path == item.result.path);
        // A failure that no case of this file owns says nothing about its receipt.
        let own = files.any(|file| file.no_receipt.contains(&NoReceipt::Failed));
        let is_stale = item.result.denied.iter().any(|why| why.reason == "stale");
        let same = before.identity(item.number).is_some_and(|now| now.hex() == receipt.identity);
        if !own || is_stale || !same {
            continue;
        }
        let loaded = done.filter_map(|done| done.loaded.get(&item.result.path)).next();
        let members = before.tests.get(&item.number).and_then(|found| found.as_ref().ok());
        let entries = members.and_then(|(members, _)| before.table.of(members.numbers())).unwrap_or_default();
        let key = parts::key(project, item.number);
        let traces = missing(root, (receipt, &receipts.place(&key, &receipt.identity)), &entries, loaded);
        let number = trip::set(
            root,
            Trip {
                test: receipt.test.clone(),
                runner: receipt.runner.clone(),
                project: receipt.project.clone(),
                identity: receipt.identity.clone(),
                receipt: receipt.id().to_owned(),
                missing: traces.clone(),
            },
        )?;
        receipts.remove(&key, &receipt.identity)?;
        seen.contradicted.push(Contradiction::new(number, receipt, traces));
    }
    Ok(seen)
}
