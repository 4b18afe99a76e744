//! `owed run --coverage`: what the runs of a runner project leave is one set of files, of all
//! its owed tests together. So they are reused together or run together, and a plain run never
//! stands for one with coverage: the command line is another one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use owed_engine::project::Project;
use owed_gates::runs::coverage::{Artifact, Collected, Coverage, Covered, Kept, export, inventory, rerooted};
use owed_gates::runs::execute::Executed;
use owed_gates::runs::identify::Identified;

use super::Item;
use crate::answer::plan::directory;
use crate::answer::run::{ArtifactSeen, CoverageSeen, Denied, Unmeasured};
use crate::args::Run;
use crate::command::paid::Paid;
use crate::session::Session;

type Files = Vec<(String, Vec<u8>)>;

/// Coverage on its way.
pub(super) struct Covering {
    store: Coverage,
    elsewhere: Option<Coverage>,
    root: String,
    /// The digest of all files before the run.
    inventory: Result<String, String>,
    /// By suite, the sets that were kept.
    kept: BTreeMap<usize, Kept>,
    out: Option<PathBuf>,
}

impl Covering {
    /// When it is asked for.
    pub(super) fn asked(session: &Session, args: &Run, paid: &Paid) -> Option<Self> {
        args.coverage.then(|| Self {
            store: Coverage::beside(paid.receipts.dir()),
            elsewhere: paid.elsewhere.as_ref().map(|other| Coverage::beside(other.dir())),
            root: session.site.root.to_string_lossy().into_owned(),
            inventory: session.timed("inventory", || inventory(&session.site.root, session.files())),
            kept: BTreeMap::new(),
            out: args.artifacts_out.as_ref().map(|out| session.site.cwd.join(out)),
        })
    }

    /// Leaves a runner project's tests reused only when all are, and their set is there; a set of
    /// the other store becomes one of this one.
    pub(super) fn together(&mut self, project: &Project<'_>, items: &mut [Item], before: &Identified) {
        for suite in suites(project, items) {
            let of = |item: &&mut Item| project.tests[item.number].suite == suite;
            let all = items.iter().filter(|item| project.tests[item.number].suite == suite);
            let why = if all.clone().any(|item| item.reused.is_none()) {
                Err(("coverage-together", "other tests of its runner project are run".to_owned()))
            } else {
                self.find(&covered(project, suite, items, before, &self.inventory))
            };
            match why {
                Ok(kept) => drop(self.kept.insert(suite, kept)),
                Err((reason, detail)) => {
                    for item in items.iter_mut().filter(of).filter(|item| item.reused.is_some()) {
                        item.take_back(Denied::new(reason, detail.clone()));
                    }
                }
            }
        }
    }

    fn find(&self, covered: &Result<Covered, String>) -> Result<Kept, (&'static str, String)> {
        let covered = covered.as_ref().map_err(|why| ("no-coverage", why.clone()))?;
        let fault = match self.store.find(covered) {
            Ok(kept) => return Ok(kept),
            Err(fault) => fault,
        };
        if let Some(Ok(kept)) = self.elsewhere.as_ref().map(|other| other.find(covered)) {
            // What was verified there is written here, and read from here again.
            let written = self.store.put(&kept.root, covered, &kept.files);
            if written.is_ok() && self.store.find(covered).as_ref() == Ok(&kept) {
                return Ok(kept);
            }
        }
        Err((fault.word(), "there is no coverage of these tests as they are".to_owned()))
    }

    /// Keeps what was left, and hands it out when the run has a verdict.
    pub(super) fn settle(
        self,
        (project, items): (&Project<'_>, &[Item]),
        executed: &[Executed],
        before: &Identified,
        (after, passed): (Result<String, String>, bool),
    ) -> anyhow::Result<CoverageSeen> {
        let mut seen = CoverageSeen { artifacts: Vec::new(), unmeasured: Vec::new() };
        for suite in suites(project, items) {
            let of = &project.suites[suite];
            let tests = items.iter().filter(|item| project.tests[item.number].suite == suite);
            let folder = folder(project, suite);
            let (files, from, reused) = match self.kept.get(&suite) {
                Some(kept) => (kept.files.clone(), kept.root.clone(), true),
                None => match collected(executed, suite) {
                    Ok(files) => {
                        // A set is of passing tests, and of files that nobody wrote to meanwhile.
                        let whole = tests.clone().all(|item| item.run && item.result.receipt.is_some());
                        if whole
                            && self.inventory.is_ok()
                            && after == self.inventory
                            && let Ok(covered) = covered(project, suite, items, before, &self.inventory)
                        {
                            self.store.put(&self.root, &covered, &files)?;
                        }
                        (files, self.root.clone(), false)
                    }
                    Err(detail) => {
                        seen.unmeasured.push(Unmeasured {
                            runner: of.runner_name,
                            project: directory(of.project.root.clone()),
                            detail,
                        });
                        continue;
                    }
                },
            };
            for (name, bytes) in files {
                let pinned = Artifact::of(&name, &bytes);
                let path = match &self.out {
                    Some(out) if passed => {
                        let moved = rerooted(&name, &bytes, &from, &self.root);
                        export(&out.join(&folder), &[(name.clone(), moved)])?;
                        Some(out.join(&folder).join(&name).display().to_string())
                    }
                    _ => None,
                };
                seen.artifacts.push(ArtifactSeen {
                    runner: of.runner_name,
                    project: directory(of.project.root.clone()),
                    name,
                    sha256: pinned.sha256,
                    bytes: pinned.bytes,
                    tests: tests.clone().count(),
                    reused,
                    path,
                });
            }
        }
        Ok(seen)
    }
}

fn suites(project: &Project<'_>, items: &[Item]) -> Vec<usize> {
    let mut suites: Vec<usize> = items.iter().map(|item| project.tests[item.number].suite).collect();
    suites.sort_unstable();
    suites.dedup();
    suites
}

/// Whose coverage it is: the owed tests of a suite, each with its identity.
fn covered(
    project: &Project<'_>,
    suite: usize,
    items: &[Item],
    before: &Identified,
    inventory: &Result<String, String>,
) -> Result<Covered, String> {
    let of = &project.suites[suite];
    let mut tests = Vec::new();
    for item in items.iter().filter(|item| project.tests[item.number].suite == suite) {
        let identity = before.identity(item.number);
        let identity = identity.ok_or_else(|| format!("the inputs of {} have no names", item.result.path))?;
        // What measures is an input, too; of Python it is known where packages are.
        if matches!(of.runner_name, "pytest" | "unittest") && !knows_packages(before, item.number) {
            return Err("where coverage.py is installed is not among the inputs".to_owned());
        }
        tests.push((item.result.path.clone(), identity.hex()));
    }
    tests.sort();
    Ok(Covered {
        runner: of.runner_name.to_owned(),
        project: of.project.root.clone(),
        name: of.project.name.clone(),
        tests,
        inventory: inventory.clone()?,
    })
}

fn knows_packages(before: &Identified, number: usize) -> bool {
    let Some(Ok((members, _))) = before.tests.get(&number) else { return false };
    let entries = before.table.of(members.numbers()).unwrap_or_default();
    entries.iter().any(|entry| entry.name.starts_with("site-packages at "))
}

/// What the commands of a suite left; several commands leave numbered files.
fn collected(executed: &[Executed], suite: usize) -> Result<Files, String> {
    let done: Vec<&Executed> = executed.iter().filter(|done| done.suite == suite).collect();
    let mut all = Files::new();
    for (number, one) in done.iter().enumerate() {
        match &one.coverage {
            Some(Collected::Files(files)) => all.extend(files.iter().map(|(name, bytes)| {
                let name = if done.len() == 1 { name.clone() } else { format!("{}-{name}", number + 1) };
                (name, bytes.clone())
            })),
            Some(Collected::Unmeasured(why)) => return Err(why.clone()),
            None => return Err("nothing was run".to_owned()),
        }
    }
    if all.is_empty() { Err("nothing was run".to_owned()) } else { Ok(all) }
}

/// A folder of its own for each runner project: `vitest`, `jest.packages.core`, `vitest.node`;
/// numbered where that is not enough.
fn folder(project: &Project<'_>, suite: usize) -> String {
    let name = |suite: usize| {
        let of = &project.suites[suite];
        let parts =
            [of.runner_name, of.project.root.as_str(), of.project.name.as_deref().unwrap_or_default()];
        let odd = |c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c);
        let parts = parts.iter().filter(|part| !part.is_empty());
        parts.map(|part| part.replace(':', "-").replace(odd, ".")).collect::<Vec<_>>().join(".")
    };
    let own = name(suite);
    match (0..suite).filter(|&other| name(other) == own).count() {
        0 => own,
        earlier => format!("{own}.{}", earlier + 1),
    }
}
