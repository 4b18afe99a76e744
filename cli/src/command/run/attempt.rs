//! One attempt at what is asked, step by step: what is owed, what of it is paid for, the
//! runners, a second look at everything, and the answer.
//!
//! Each step is a function of what the steps before it found. What it refuses to do: it takes
//! no result for proven that the second look does not bear out.

use std::collections::BTreeMap;

use owed_engine::project::{Project, Reading};
use owed_engine::receipt::Receipt;
use owed_engine::select::{SelectOptions, select};
use owed_engine::selection::Selection;
use owed_gates::queue::{Asks, Sight};
use owed_gates::runs::coverage;
use owed_gates::runs::decide::may_reuse;
use owed_gates::runs::digests::Digests;
use owed_gates::runs::environment::Environment;
use owed_gates::runs::execute::{Executed, Runs};
use owed_gates::runs::full::inventory;
use owed_gates::runs::identify::{Asked, Context, Identified, identify};

use super::covering::Covering;
use super::parts::{self, classes, environment, pinned, standing, supervisor};
use super::work::{self, Attempt, Go, Limits, Planned, Sources, Work};
use super::{Item, asked, audited, executions, full, items, observing, reuse, settled};
use crate::answer::run::{Denied, RunAnswer};
use crate::args::{Global, Run};
use crate::command::paid::Paid;
use crate::output::Output;
use crate::session::{Compared, Question, Session};

/// Who asks, and for what.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) global: &'a Global,
    pub(super) args: &'a Run,
    pub(super) work: &'a Work<'a>,
    pub(super) output: &'a Output,
}

/// What is known before anything is run.
struct Scene<'s> {
    session: &'s Session,
    project: Project<'s>,
    compared: Compared,
    asks: Asks,
    paid: Paid<'s>,
    selection: Selection,
    /// Paths of the owed tests.
    owed: Vec<String>,
    environment: Environment,
    sources: Sources,
    sight: Option<Sight>,
    /// The identities of what may be reused.
    before: Identified,
}

/// What is asked of receipts besides those of single tests.
struct Bills {
    worth: Option<full::Worth>,
    paid_at_once: Option<Receipt>,
    covering: Option<Covering>,
}

/// What was run.
#[derive(Default)]
struct Ran {
    executed: Vec<Executed>,
    limits: Option<Limits>,
    no_verdict: Vec<Denied>,
}

/// What is there once the runners are done.
struct After {
    /// Whether the tests are those from before.
    same_tests: bool,
    /// The digest of all files, where coverage needs it.
    files: Result<String, String>,
    sight: Option<Sight>,
}

impl Call<'_> {
    /// One attempt. `go` is asked once, right before the first test is run, and not at all when
    /// everything is paid for.
    pub(super) fn attempt(
        &self,
        go: &mut dyn FnMut(&Planned) -> anyhow::Result<Go>,
    ) -> anyhow::Result<Attempt> {
        let session =
            Session::open_to(self.global, &self.work.against(), self.output, Some(Reading::Declarations))?;
        let (scene, mut items) = self.scene(&session)?;
        let bills = self.pay(&scene, &mut items);
        let mut ran = self.run(&scene, &mut items, go)?;
        let after = self.look_again(&scene, &mut items, &mut ran, bills.covering.is_some())?;
        self.conclude(scene, items, (bills, ran, after))
    }

    /// What is owed, and the identities that it has now.
    fn scene<'s>(&self, session: &'s Session) -> anyhow::Result<(Scene<'s>, Vec<Item>)> {
        let (args, work) = (self.args, self.work);
        let against = work.against();
        let sources = session.timed("sources", || work.look(session));
        let question = Question { against: &against, paths: work.paths(), all: work.compares_nothing() };
        let (project, mut compared) = session.compare(&question, Reading::Declarations)?;
        let asks = work.asks(&compared.delta);
        work.unite(&mut compared, &project);
        let paid = Paid::open(session).with(args, session)?;
        let options = SelectOptions {
            all: work.selects_all(),
            observed: paid.observed.of_paths(compared.delta.changes.iter().flat_map(|change| change.paths())),
            ..SelectOptions::default()
        };
        let selection = session.timed("selection", || select(&project, &compared.delta, &options));
        let owed: Vec<String> = selection.tests.iter().map(|test| test.path.clone()).collect();
        let classes = session.timed("opacity", || classes(&project, &owed));
        let items = items(&project, &selection, &classes);
        let strict = args.env_strict.then(|| pinned(items.iter().map(|item| &item.class)));
        let environment = environment(strict.as_ref());
        let digests = session.digests();
        let context = self.context(session, &environment, &digests);
        let sight = sources.sight(&environment, &context.common);
        let before = session.timed("identities", || identify(&project, &asked(&items), &context));
        session.keep_digests(&digests);
        let scene = Scene {
            session,
            project,
            compared,
            asks,
            paid,
            selection,
            owed,
            environment,
            sources,
            sight,
            before,
        };
        Ok((scene, items))
    }

    fn context<'c>(
        &'c self,
        session: &'c Session,
        environment: &'c Environment,
        digests: &'c Digests,
    ) -> Context<'c> {
        let common = standing(session, self.args);
        let arguments = &self.args.runner_arguments;
        Context { root: &session.site.root, environment, arguments, common, digests }
    }

    /// Takes what is paid for: by receipts of its own, by one of a run of everything, by kept
    /// coverage, or by the result of a run that others waited for, too.
    fn pay(&self, scene: &Scene<'_>, items: &mut [Item]) -> Bills {
        let Scene { session, project, paid, before, .. } = scene;
        let args = self.args;
        if !args.no_reuse {
            session.timed("receipts", || reuse(project, items, before, paid));
        }
        let worth = full::worth(session, project, (args, self.work.selects_all()), before, paid);
        let paid_at_once = worth.as_ref().filter(|_| !args.no_reuse).and_then(|all| all.pay(items, paid));
        if let Some(percent) = args.audit {
            audited::choose(items, percent);
        }
        let mut covering = Covering::asked(session, args, paid);
        match &mut covering {
            // What is measured is the run of this call, or one whose coverage was kept.
            Some(covering) => covering.together(project, items, before),
            None => {
                // What is put to the test is run here, whoever has run it before.
                let open = items.iter_mut().filter(|item| item.audited.is_none());
                self.work.borrow(scene.sight.as_ref(), open.map(|item| &mut item.result));
            }
        }
        Bills { worth, paid_at_once, covering }
    }

    /// Runs what is left, if it may be run now.
    fn run(
        &self,
        scene: &Scene<'_>,
        items: &mut [Item],
        go: &mut dyn FnMut(&Planned) -> anyhow::Result<Go>,
    ) -> anyhow::Result<Ran> {
        let mut ran = Ran::default();
        let open = items.iter().filter(|item| item.result.outcome == "not-run").count();
        if open == 0 {
            return Ok(ran);
        }
        let planned = Planned { asks: &scene.asks, open, is_whole: scene.selection.omitted == 0 };
        let limits = match go(&planned)? {
            Go::Run(limits) => limits,
            Go::Defer(why) => {
                ran.no_verdict.push(why);
                return Ok(ran);
            }
        };
        let runs = Runs {
            root: &scene.session.site.root,
            environment: &scene.environment,
            supervisor: &supervisor()?,
            timeout: limits.timeout,
            workers: None,
            memory: limits.memory,
            reserve: limits.reserve,
            arguments: &self.args.runner_arguments,
            coverage: self.args.coverage,
            stop: &limits.stop,
        };
        ran.executed = scene.session.timed("runners", || {
            executions(&scene.project, items, (&runs, &limits), &mut ran.no_verdict, self.output)
        });
        ran.limits = Some(limits);
        Ok(ran)
    }

    /// Reads the project again from nothing, and settles what was run by what it finds.
    fn look_again(
        &self,
        scene: &Scene<'_>,
        items: &mut [Item],
        ran: &mut Ran,
        is_covering: bool,
    ) -> anyhow::Result<After> {
        let mut after =
            After { same_tests: true, files: Err("nothing was run".to_owned()), sight: scene.sight.clone() };
        if !items.iter().any(|item| item.run) {
            return Ok(after);
        }
        let Scene { project, before, paid, environment, .. } = scene;
        let root = &scene.session.site.root;
        let mut observations = paid.observed.clone();
        observing::observe(project, items, &mut ran.executed, before, &mut observations);
        observing::keep((project, root), observations, self.output);
        let again = Session::open(self.global, &self.work.against(), self.output)?;
        // What certifies reads: nothing that was known before counts now.
        let unread = Digests::none();
        let context = self.context(scene.session, environment, &unread);
        after.sight = self.work.look(&again).sight(environment, &context.common);
        let now = again.read(Reading::Declarations);
        after.same_tests = inventory(project) == inventory(&now);
        if is_covering {
            after.files = coverage::inventory(root, again.files());
        }
        let (numbers, asked) = self::again(scene, items, &now);
        let context = self.context(&again, environment, &unread);
        let seen = again.timed("looked again", || identify(&now, &asked, &context));
        settled(
            project,
            items,
            &ran.executed,
            (before, &seen),
            &numbers,
            &paid.receipts,
            &mut ran.no_verdict,
        );
        Ok(after)
    }

    /// The answer.
    fn conclude(
        &self,
        scene: Scene<'_>,
        items: Vec<Item>,
        (bills, ran, after): (Bills, Ran, After),
    ) -> anyhow::Result<Attempt> {
        let Scene { project, paid, before, .. } = &scene;
        let Ran { executed, limits, mut no_verdict } = ran;
        let root = &scene.session.site.root;
        let audit = self.args.audit.map(|percent| {
            audited::judge((project, root), &items, &executed, before, (&paid.receipts, percent))
        });
        let audit = audit.transpose()?;
        if let Some(limits) = &limits {
            limits.explain(&mut no_verdict);
        }
        let has_passed = |item: &Item| matches!(item.result.outcome, "passed" | "reused");
        let passed = no_verdict.is_empty() && items.iter().all(has_passed);
        let coverage = bills.covering.map(|covering| {
            let all = (project, items.as_slice());
            covering.settle(all, &executed, before, (after.files, passed))
        });
        let coverage = coverage.transpose()?;
        if no_verdict.is_empty() {
            // What was asked for and not measured is not done.
            let missing = coverage.iter().flat_map(|coverage| &coverage.unmeasured);
            let said =
                missing.map(|one| Denied::new("unmeasured", format!("{}: {}", one.runner, one.detail)));
            no_verdict.extend(said);
        }
        let settle = |all: full::Worth| all.settle(&items, (bills.paid_at_once, after.same_tests), paid);
        let full = bills.worth.map(settle);
        let mut answer: RunAnswer = super::answered(items, scene.selection.omitted, no_verdict);
        answer.tripped = paid.standing.tripped().map(str::to_owned);
        answer.audit = audit;
        answer.full = full;
        answer.coverage = coverage;
        let sight = scene.sight.filter(|sight| after.sight.as_ref() == Some(sight));
        Ok(Attempt {
            answer,
            executed,
            sentence: scene.compared.sentence,
            asks: scene.asks,
            sources: scene.sources,
            idle: work::idle(&scene.selection),
            sight,
        })
    }
}

/// The tests that were run, as they are `now`: their numbers by the ones from before, and those
/// whose identity is asked for again.
fn again(scene: &Scene<'_>, items: &[Item], now: &Project<'_>) -> (BTreeMap<usize, usize>, Vec<Asked>) {
    let classes = classes(now, &scene.owed);
    let (was, is) = (parts::places(&scene.project), parts::places(now));
    let mut numbers = BTreeMap::new();
    let mut asked = Vec::new();
    for item in items.iter().filter(|item| item.run) {
        let key = parts::key(&scene.project, item.number);
        let (Some(was), Some(is)) = (was.get(&key), is.get(&key)) else { continue };
        let at = was.iter().position(|number| *number == item.number);
        let Some(&number) = at.and_then(|at| is.get(at)) else { continue };
        numbers.insert(item.number, number);
        let class = &classes[number];
        if may_reuse(class.opacity) {
            asked.push(Asked { number, pins: class.pins.clone() });
        }
    }
    (numbers, asked)
}
