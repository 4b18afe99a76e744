//! `owed run --all`: the receipt of a run of everything.

use owed_engine::change::ChangeKind;
use owed_engine::outcome::Cases;
use owed_engine::project::Project;
use owed_engine::receipt::{Receipt, Scope};
use owed_engine::vcs::Base;
use owed_gates::runs::full::{Full, FullDenial, KEY, Untracked, full};
use owed_gates::runs::identify::Identified;

use super::Item;
use crate::answer::run::{Denied, FullSeen};
use crate::args::Run;
use crate::command::paid::Paid;
use crate::session::Session;
use crate::site::Git;

/// What a full run would be worth here, before anything is run.
pub(super) struct Worth(Result<Full, Vec<(FullDenial, String)>>);

/// Looks at it; `None` when not everything is asked for.
pub(super) fn worth(
    session: &Session,
    project: &Project<'_>,
    (args, all): (&Run, bool),
    before: &Identified,
    paid: &Paid,
) -> Option<Worth> {
    if !all {
        return None;
    }
    if let Some(why) = paid.standing.tripped() {
        return Some(Worth(Err(vec![(FullDenial::Tripped, why.to_owned())])));
    }
    if !args.runner_arguments.is_empty() {
        let detail = "words for the runners may leave cases out".to_owned();
        return Some(Worth(Err(vec![(FullDenial::Selected, detail)])));
    }
    let untracked = session.timed("untracked", || untracked(session));
    Some(Worth(full(project, before, &untracked)))
}

fn untracked(session: &Session) -> Untracked {
    let repository = match &session.site.git {
        Git::None => return Untracked::Known(Vec::new()),
        Git::Failed(error) => return Untracked::Unknown(error.sentence()),
        Git::Here(repository) => repository,
    };
    match repository.changes(&Base::Worktree { rev: "HEAD".to_owned() }) {
        Err(error) => Untracked::Unknown(error.sentence()),
        Ok(changes) if !changes.undecodable.is_empty() => {
            Untracked::Unknown(format!("{} is no UTF-8", changes.undecodable[0]))
        }
        Ok(changes) => {
            let is_new = |kind: &ChangeKind| matches!(kind, ChangeKind::Untracked);
            let new = changes.changes.iter().filter(|change| is_new(&change.kind));
            Untracked::Known(
                new.filter_map(|change| session.site.project_path(&change.path)).map(str::to_owned).collect(),
            )
        }
    }
}

impl Worth {
    /// Takes the receipt of a full run with this identity for what has none of its own. What is
    /// denied for any other reason than that is not paid for by this one either.
    pub(super) fn pay(&self, items: &mut [Item], paid: &Paid) -> Option<Receipt> {
        let full = self.0.as_ref().ok()?;
        let lacking = ["no-receipt", "inputs-differ", "receipt-fault"];
        let may = |item: &Item| item.result.denied.iter().all(|why| lacking.contains(&why.reason.as_str()));
        if !items.iter().filter(|item| item.reused.is_none()).all(may) {
            return None;
        }
        let now = (&paid.receipts.now(&full.table), &full.members);
        let receipt = paid.receipts.find_now(&KEY, &full.identity.hex(), now).ok()??;
        for item in items.iter_mut().filter(|item| item.reused.is_none()) {
            item.result.outcome = "reused";
            item.result.receipt = Some(receipt.id().to_owned());
            item.result.runtime_verified = true;
            item.result.denied.clear();
        }
        Some(receipt)
    }

    /// What became of it: a receipt that was used, one that is written now, or why there is none.
    /// `same_tests` says whether the tests after the run were those before it.
    pub(super) fn settle(
        self,
        items: &[Item],
        (found, same_tests): (Option<Receipt>, bool),
        paid: &Paid,
    ) -> FullSeen {
        if let Some(receipt) = found {
            let contradicted =
                items.iter().any(|item| item.result.outcome != "reused" && item.result.outcome != "passed");
            let denied = if contradicted {
                vec![denied(FullDenial::NotPassed, "a test failed that it paid for")]
            } else {
                Vec::new()
            };
            let status = if contradicted { "denied" } else { "hit" };
            return FullSeen { status, receipt: Some(receipt.id().to_owned()), denied };
        }
        let full = match self.0 {
            Ok(full) => full,
            Err(why) => {
                let denied = why.into_iter().map(|(why, detail)| denied(why, detail)).collect();
                return FullSeen { status: "denied", receipt: None, denied };
            }
        };
        let none = |why, detail: String| FullSeen {
            status: "denied",
            receipt: None,
            denied: vec![denied(why, detail)],
        };
        if let Some(reused) = items.iter().find(|item| !item.run) {
            return none(FullDenial::Reused, format!("{} was reused and not run", reused.result.path));
        }
        let left_none = |item: &&Item| item.result.outcome != "passed" || item.result.receipt.is_none();
        if let Some(open) = items.iter().find(left_none) {
            return none(FullDenial::NotPassed, format!("{} left no receipt", open.result.path));
        }
        if !same_tests {
            return none(FullDenial::NotPassed, "a test appeared or vanished meanwhile".to_owned());
        }
        let mut cases = Cases::default();
        for item in items {
            cases.passed += item.result.cases.passed;
            cases.failed += item.result.cases.failed;
            cases.skipped += item.result.cases.skipped;
        }
        let ms = items.iter().map(|item| item.result.duration_ms).sum::<Option<u64>>();
        let class = items.iter().map(|item| item.class.opacity).max().map_or("pure", |class| class.word());
        let written = paid.receipts.put_table(&full.table).and_then(|table| {
            let receipt = Receipt::new(
                Scope::Full,
                KEY.test,
                KEY.runner,
                (KEY.project, KEY.name),
                &full.identity.hex(),
                (&table, full.members),
                class,
                (cases, ms),
            );
            paid.receipts.put_receipt(&receipt).map(|()| receipt.id().to_owned())
        });
        match written {
            Ok(id) => FullSeen { status: "written", receipt: Some(id), denied: Vec::new() },
            Err(error) => none(FullDenial::Unwritten, error.to_string()),
        }
    }
}

fn denied(why: FullDenial, detail: impl Into<String>) -> Denied {
    Denied::new(why.word(), detail)
}
