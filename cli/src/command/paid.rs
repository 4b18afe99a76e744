//! Whether a test is paid for: one rule for `owed run`, `owed plan` and `owed receipts`.

use owed_engine::project::Project;
use owed_gates::audit::Standing;
use owed_gates::runs::decide::{Decision, Denial, decide, may_reuse};
use owed_gates::runs::identify::{Asked, Context, Identified, identify};
use owed_gates::runs::observed::{Held, Observations};
use owed_gates::runs::store::{Last, Now, Receipts};

use super::run::parts::{self, Class, key};
use crate::answer::plan::{ReceiptStatus, TestOwed, directory};
use crate::args::Run;
use crate::complaint::Complaint;
use crate::config::NeverReused;
use crate::host;
use crate::session::Session;

/// What is known about earlier runs of a project.
pub(in crate::command) struct Paid<'s> {
    /// Passing runs.
    pub(in crate::command) receipts: Receipts,
    /// Whether they may be believed.
    pub(in crate::command) standing: Standing,
    /// What tests loaded.
    pub(in crate::command) observed: Observations,
    /// Passing runs of another checkout.
    pub(in crate::command) elsewhere: Option<Receipts>,
    /// What the owner wants run each time.
    never: &'s NeverReused,
}

impl<'s> Paid<'s> {
    /// Of the project of a session.
    pub(in crate::command) fn open(session: &'s Session) -> Self {
        let root = &session.site.root;
        Self {
            never: &session.config.never_reused,
            receipts: Receipts::of(root),
            standing: Standing::of(root),
            observed: Observations::of(root),
            elsewhere: None,
        }
    }

    /// The same with the receipts of another checkout, when some are named.
    pub(in crate::command) fn with(mut self, args: &Run, session: &Session) -> anyhow::Result<Self> {
        let Some(named) = &args.receipt_store else { return Ok(self) };
        let dir = session.site.cwd.join(named);
        if !host::is_dir(&dir) {
            let next = "name the .owed/receipts of the other checkout";
            return Err(Complaint::new(format!("{} is no directory", named.display()), next).into());
        }
        // What was contradicted there is not believed here either.
        if let Some(checkout) = dir.parent().and_then(std::path::Path::parent)
            && let Some(why) = Standing::of(checkout).tripped()
        {
            let next = "look at it there with `owed audit status`, or leave out --receipt-store";
            return Err(Complaint::new(format!("{}: {why}", named.display()), next).into());
        }
        self.elsewhere = Some(Receipts::elsewhere(&session.site.root, &dir));
        Ok(self)
    }

    /// Ready to decide about tests with these identities.
    pub(in crate::command) fn deciding<'p>(&'p self, identified: &'p Identified) -> Deciding<'p> {
        Deciding {
            paid: self,
            identified,
            held: self.observed.held(&identified.table),
            now: self.receipts.now(&identified.table),
        }
    }
}

/// What is known, beside what is there now: it decides about one test after the other.
pub(in crate::command) struct Deciding<'p> {
    paid: &'p Paid<'p>,
    identified: &'p Identified,
    held: Held<'p>,
    now: Now,
}

impl Deciding<'_> {
    /// The decision about one test.
    pub(in crate::command) fn decide(&self, project: &Project<'_>, number: usize, class: &Class) -> Decision {
        let Self { paid, identified, held, now } = self;
        if let Some(why) = paid.standing.tripped() {
            return Decision::run(Denial::Tripped, why);
        }
        let key = key(project, number);
        if let Some(why) = paid.never.why(key.test) {
            return Decision::run(Denial::Policy, why);
        }
        if !may_reuse(class.opacity) {
            return Decision::run(Denial::Class, class.cause.clone());
        }
        if let Some(Ok((members, _))) = identified.tests.get(&number)
            && let Some(first) = held.first_undeclared(&key, members)
        {
            return Decision::run(Denial::ClosureIncomplete, beyond(first));
        }
        let own = decide(number, &key, identified, (&paid.receipts, now));
        if let Decision::Run { denial, .. } = &own
            && matches!(denial, Denial::NoReceipt | Denial::InputsDiffer | Denial::ReceiptFault)
            && let Some(other) = &paid.elsewhere
            && let Some(identity) = identified.identity(number)
            && let Ok(Some(receipt)) = other.find(&key, &identity.hex())
            && paid.receipts.take(other, &receipt).is_ok()
        {
            // It is one of this store now, and read from here.
            return decide(number, &key, identified, (&paid.receipts, now));
        }
        own
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
    let paid = Paid::open(session);
    let owed: Vec<String> = tests.iter().map(|test| test.path.clone()).collect();
    let classes = session.timed("opacity", || parts::classes(project, &owed));
    let environment = parts::environment(None);
    let common = parts::standing(session, &Run::default());
    let digests = session.digests();
    let context = Context { root, environment: &environment, arguments: &[], common, digests: &digests };
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
    session.keep_digests(&digests);
    let deciding = paid.deciding(&identified);
    for test in tests {
        // How long it took when it last passed; what was never measured has no estimate.
        let took = |number| match paid.receipts.last(&key(project, number)) {
            Last::Receipt(receipt, _) => receipt.duration_ms,
            Last::None | Last::Fault(_) => None,
        };
        let times: Option<Vec<u64>> = of(test).into_iter().map(took).collect();
        test.estimate_ms = times.filter(|times| !times.is_empty()).map(|times| times.iter().sum());
        let decisions = of(test).into_iter().map(|number| deciding.decide(project, number, &classes[number]));
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
