//! Whether a test is paid for: one rule for `owed run`, `owed plan` and `owed receipts`.

use owed_engine::project::Project;
use owed_gates::audit::Standing;
use owed_gates::runs::decide::{Decision, Denial, decide, may_reuse};
use owed_gates::runs::identify::{Asked, Context, Identified, identify};
use owed_gates::runs::observed::{Observations, undeclared};
use owed_gates::runs::store::Receipts;

use super::run::parts::{self, Class, key};
use crate::answer::plan::{ReceiptStatus, TestOwed, directory};
use crate::args::Run;
use crate::session::Session;

/// What is known about earlier runs of a project.
pub(in crate::command) struct Paid {
    /// Passing runs.
    pub(in crate::command) receipts: Receipts,
    /// Whether they may be believed.
    pub(in crate::command) standing: Standing,
    /// What tests loaded.
    pub(in crate::command) observed: Observations,
}

impl Paid {
    /// Of the project at `root`.
    pub(in crate::command) fn open(root: &std::path::Path) -> Self {
        Self { receipts: Receipts::of(root), standing: Standing::of(root), observed: Observations::of(root) }
    }

    /// The decision about one test.
    pub(in crate::command) fn decide(
        &self,
        project: &Project<'_>,
        number: usize,
        class: &Class,
        identified: &Identified,
    ) -> Decision {
        if let Some(why) = self.standing.tripped() {
            return Decision::run(Denial::Tripped, why);
        }
        if !may_reuse(class.opacity) {
            return Decision::run(Denial::Class, class.cause.clone());
        }
        let key = key(project, number);
        if let Some(loaded) = self.observed.loaded(&key)
            && let Some(Ok((members, _))) = identified.tests.get(&number)
        {
            let entries = identified.table.of(members.numbers()).unwrap_or_default();
            if let Some(first) = undeclared(entries, &loaded.files).first() {
                return Decision::run(Denial::ClosureIncomplete, beyond(first));
            }
        }
        decide(number, &key, identified, &self.receipts)
    }
}

/// What is said of a file that was loaded and is in no closure.
pub(in crate::command) fn beyond(file: &str) -> String {
    format!("it loads {file}, which is not among its known inputs")
}

/// Says of each test of a plan whether a plain `owed run` would reuse it. `project` must have
/// been read with declarations.
pub(in crate::command) fn tell(session: &Session, project: &Project<'_>, tests: &mut [TestOwed]) {
    let root = &session.site.root;
    let paid = Paid::open(root);
    let owed: Vec<String> = tests.iter().map(|test| test.path.clone()).collect();
    let classes = session.timed("opacity", || parts::classes(project, &owed));
    let environment = parts::environment(None);
    let common = parts::standing(session, &Run::default());
    let context = Context { root, environment: &environment, arguments: &[], common };
    // A file that several projects of one runner and one root run is one test of the plan.
    let mut numbers: std::collections::BTreeMap<(&str, &str, String), Vec<usize>> = Default::default();
    for (number, &reference) in project.tests.iter().enumerate() {
        let suite = project.suite(reference);
        let place = directory(suite.project.root.clone());
        numbers.entry((project.test_path(reference), suite.runner_name, place)).or_default().push(number);
    }
    let of = |test: &TestOwed| {
        numbers.get(&(test.path.as_str(), test.runner, test.project.clone())).cloned().unwrap_or_default()
    };
    let may = |number: &usize| may_reuse(classes[*number].opacity);
    let asked: Vec<Asked> = tests
        .iter()
        .flat_map(of)
        .filter(may)
        .map(|number| Asked { number, pins: classes[number].pins.clone() })
        .collect();
    let identified = session.timed("identities", || identify(project, &asked, &context));
    for test in tests {
        let decisions =
            of(test).into_iter().map(|number| paid.decide(project, number, &classes[number], &identified));
        let denied = decisions.into_iter().find_map(|decision| match decision {
            Decision::Reuse(_) => None,
            Decision::Run { denial, detail, .. } => Some((denial, detail)),
        });
        test.receipt = match denied {
            None => ReceiptStatus { status: "hit", reason: "inputs-equal", detail: None },
            Some((denial, detail)) => {
                let detail = Some(detail).filter(|detail| !detail.is_empty());
                ReceiptStatus { status: "miss", reason: denial.word(), detail }
            }
        };
    }
}
