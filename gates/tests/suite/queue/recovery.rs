//! Recovery in bounded batches, and receipts that say what is missing.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use owed_gates::queue::recovery::{
    Bounds, Budget, Checked, Item, Receipt, Stays, Surroundings, batches, recover,
};

use super::project;

fn item(project: &str, checks: &[&str], path: &str) -> Item {
    let checks = checks.iter().map(|check| (*check).to_owned()).collect();
    Item { project: project.to_owned(), checks, path: path.to_owned() }
}

/// A folder whose files are checked by real processes: `sh -c` with the check's name as its
/// command, one for each file.
struct Folder {
    root: PathBuf,
    elapsed: Duration,
    seen: Vec<(usize, Budget)>,
    refuses: bool,
}

impl Surroundings for Folder {
    fn version(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(path)).ok()
    }

    fn policy(&self) -> Option<String> {
        Some(std::fs::read_to_string(self.root.join("policy")).unwrap_or_default())
    }

    fn elapsed(&self) -> Duration {
        self.elapsed
    }

    fn check(&mut self, batch: &[Item], budget: &Budget) -> Result<Checked, String> {
        self.seen.push((batch.len(), *budget));
        if self.refuses {
            return Err("busy-project".to_owned());
        }
        let mut checked = Checked::default();
        let checks: BTreeSet<&String> = batch.iter().flat_map(|item| &item.checks).collect();
        for check in checks {
            let mut findings = 0;
            for item in batch {
                let mut command = std::process::Command::new("sh");
                let status = command.args(["-c", check, check, &item.path]).current_dir(&self.root).status();
                match status.unwrap().code() {
                    Some(0) => {}
                    Some(127) => {
                        checked.unavailable.insert(check.clone(), "it is not installed".to_owned());
                    }
                    _ => findings += 1,
                }
            }
            if !checked.unavailable.contains_key(check) {
                checked.completed.insert(check.clone(), findings);
            }
        }
        Ok(checked)
    }
}

fn folder(files: &[&str]) -> (tempfile::TempDir, Folder) {
    let root = tempfile::tempdir().unwrap();
    for file in files {
        std::fs::write(root.path().join(file), "1").unwrap();
    }
    let folder =
        Folder { root: root.path().to_owned(), elapsed: Duration::ZERO, seen: Vec::new(), refuses: false };
    (root, folder)
}

#[test]
fn c18_batches_are_compatible_and_bounded_and_leave_the_rest_for_later() {
    let many: Vec<Item> = (0..70).map(|n| item("a", &["x"], &format!("{n:02}"))).collect();
    let others = [item("b", &["x"], "b"), item("a", &["x", "y"], "two")];
    let sizes: Vec<usize> = batches([&many[..], &others].concat(), 32).iter().map(Vec::len).collect();
    assert_eq!(sizes, [32, 32, 6, 1, 1]);

    let bounds = Bounds::default();
    let (_root, mut folder) = folder(&["a", "b"]);
    let items = vec![item("", &["true"], "a"), item("other", &["true"], "b")];
    let report = recover(items.clone(), &bounds, &mut folder, 1);
    assert_eq!((report.exit_code(), report.discharged.len(), report.pending.len()), (0, 2, 0));
    for (_, budget) in &folder.seen {
        assert_eq!((budget.workers, budget.lanes), (2, Duration::from_secs(30)));
        assert!(budget.process >= Duration::from_secs(15 * 60));
    }
    // Sixteen minutes are over: no batch would get its quarter of an hour.
    folder.elapsed = Duration::from_secs(16 * 60);
    folder.seen.clear();
    let report = recover(items.clone(), &bounds, &mut folder, 1);
    assert_eq!((report.exit_code(), folder.seen.len(), report.pending.len()), (75, 0, 2));
    folder.elapsed = Duration::ZERO;
    folder.refuses = true;
    let report = recover(items, &bounds, &mut folder, 1);
    assert_eq!(report.exit_code(), 75);
    assert_eq!(report.pending["a"], Stays::Deferred("busy-project".to_owned()));
}

#[test]
fn c18_findings_and_what_stays_pending_fail() {
    let (_root, mut folder) = folder(&["a"]);
    let report = recover(vec![item("", &["false"], "a")], &Bounds::default(), &mut folder, 1);
    assert_eq!((report.exit_code(), report.findings), (1, 1));
    assert!(report.discharged.contains("a"), "a completed check may have findings");
}

#[test]
fn c19_a_receipt_with_something_unavailable_is_partial_and_the_version_stays_pending() {
    let (root, mut folder) = folder(&["a", "b"]);
    let bounds = Bounds::default();
    let items = vec![item("", &["false", "no-such-program-here"], "a")];
    let report = recover(items, &bounds, &mut folder, 7);
    assert_eq!(report.exit_code(), 1);
    assert_eq!(
        report.pending["a"],
        Stays::Unavailable("no-such-program-here: it is not installed".to_owned())
    );
    let receipt = &report.receipts[0];
    assert!(receipt.is_partial());
    assert_eq!(receipt.completed["false"], 1, "what was completed stays on record");

    // A file or the policy that is written during the run prevents the discharge.
    for (command, stale) in [("echo 2 > a", "a"), ("echo 2 > policy", "b")] {
        let report =
            recover(vec![item("", &[command], "a"), item("", &[command], "b")], &bounds, &mut folder, 7);
        assert!(matches!(report.pending[stale], Stays::Stale(_)), "{command}: {:?}", report.pending);
        assert_eq!(report.exit_code(), 75);
        std::fs::write(root.path().join("a"), "1").unwrap();
    }
    let report = recover(vec![item("", &["true"], "gone")], &bounds, &mut folder, 7);
    assert_eq!(report.pending["gone"], Stays::Unreadable);

    let (_project, queue) = project();
    let kept: Vec<Receipt> = vec![receipt.clone()];
    queue.keep(&kept[0]).unwrap();
    assert_eq!(queue.kept_receipts().unwrap(), kept);
}
