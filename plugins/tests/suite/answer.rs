//! Asks the engine a case, several times over: with one thread and four, with the files
//! in both orders, and twice. All answers must be equal, and each must be consistent
//! in itself and with `why`.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use owed_engine::opacity::{Budget, OpacityOptions, OpacityReport, opacity};
use owed_engine::project::{Plugins, Project, Reading};
use owed_engine::runner::NoLoader;
use owed_engine::select::{select, why};
use owed_engine::selection::{Mode, ReasonKind, Selection};
use owed_engine::tree::MemoryTree;

use crate::case::{Case, Part};
use crate::render;

/// Thread pools, made once for all cases.
pub(crate) struct Pools(Vec<rayon::ThreadPool>);

impl Pools {
    /// One thread, and four.
    pub(crate) fn new() -> Self {
        let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        Self(vec![pool(1), pool(4)])
    }
}

/// What a change owes, and the classes of all tests when the case is about them.
type Answer = (Selection, Option<OpacityReport>);

/// The answer to `case`, or what is wrong with it besides its content.
pub(crate) fn ask(case: &Case, pools: &Pools) -> Result<Answer, String> {
    let mut first: Option<Answer> = None;
    for (reversed, threads) in [(false, 0), (false, 1), (true, 0), (true, 1), (false, 1)] {
        let run = || pools.0[threads].install(|| once(case, reversed, first.is_none()));
        let selection = catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
            format!("panicked: {}", text.unwrap_or_default())
        })??;
        match &first {
            None => first = Some(selection),
            Some(first) if *first == selection => {}
            Some(first) => {
                return Err(format!(
                    "the answer differs with files {} and {} threads\n-- first\n{}{}-- then\n{}{}",
                    if reversed { "reversed" } else { "in order" },
                    if threads == 0 { 1 } else { 4 },
                    render::selection(&first.0),
                    first.1.as_ref().map(crate::opacity::lines).unwrap_or_default(),
                    render::selection(&selection.0),
                    selection.1.as_ref().map(crate::opacity::lines).unwrap_or_default()
                ));
            }
        }
    }
    first.ok_or_else(|| "not asked".to_owned())
}

fn once(case: &Case, reversed: bool, check: bool) -> Result<Answer, String> {
    let mut files: Vec<(String, Vec<u8>)> = case.files.clone().into_iter().collect();
    if reversed {
        files.reverse();
    }
    let links = case.links.iter();
    let tree = links.fold(MemoryTree::new(files), |tree, (from, to)| tree.with_link(from, to));
    let plugins = Plugins { languages: owed_plugins::languages(), runners: owed_plugins::runners() };
    let project = Project::load(&tree, plugins, case.settings.clone(), &NoLoader);
    let selection = select(&project, &case.delta, &case.options);
    let asked = case.block(Part::Opacity).is_some();
    let classes = (asked || check).then(|| {
        let settings = case.settings.clone();
        let mut project = Project::read(&tree, plugins, settings, Reading::Declarations);
        project.discover(&NoLoader);
        project.resolve();
        opacity(
            &project,
            &OpacityOptions { packages: case.packages.then(Budget::default), ..Default::default() },
        )
    });
    if check {
        let mut faults = inconsistent(case, &project, &selection);
        faults.extend(classes.iter().flat_map(|classes| worse(classes, &selection)));
        if !faults.is_empty() {
            return Err(format!(
                "{}\n-- the whole answer\n{}",
                faults.join("\n"),
                render::selection(&selection)
            ));
        }
    }
    Ok((selection, classes.filter(|_| asked)))
}

/// Classes by declaration may only be better than those by file, which plans use.
fn worse(classes: &OpacityReport, selection: &Selection) -> Vec<String> {
    let mut faults = Vec::new();
    for owed in &selection.tests {
        let same = |t: &&owed_engine::opacity::TestOpacity| {
            (&t.path, t.runner, &t.project) == (&owed.path, owed.runner, &owed.project)
        };
        let Some(test) = classes.tests.iter().find(same) else {
            faults.push(format!("opacity knows no test {} [{}]", owed.path, owed.runner));
            continue;
        };
        let understood = test.reasons.iter().all(|reason| reason.place.reason != "not-understood");
        if understood && test.class > owed.opacity {
            faults.push(format!(
                "{} is {:?} in the plan and {:?} by itself",
                test.path, owed.opacity, test.class
            ));
        }
    }
    faults
}

/// What no answer may be, whatever the case.
fn inconsistent(case: &Case, project: &Project<'_>, selection: &Selection) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |text: String| faults.push(text);
    let mut owed: Vec<&str> = selection.tests.iter().map(|t| t.path.as_str()).collect();
    owed.sort_unstable();
    owed.dedup();
    if owed.len() + selection.omitted != selection.inventory.tests {
        fault(format!(
            "{} owed and {} omitted are not {} tests",
            owed.len(),
            selection.omitted,
            selection.inventory.tests
        ));
    }
    let widened = selection.mode == Mode::Widened;
    if widened == selection.widened.is_empty() && !case.options.all {
        fault(format!("mode {} does not go with {:?}", selection.mode.word(), selection.widened));
    }
    if (selection.mode == Mode::None) != selection.tests.is_empty() && !widened {
        fault(format!("mode {} with {} tests", selection.mode.word(), selection.tests.len()));
    }
    if widened && selection.omitted > 0 {
        fault(format!("a widened plan omits {} tests", selection.omitted));
    }
    let placed: Vec<_> = selection.changes.iter().map(|c| &c.change).collect();
    if placed != case.delta.changes.iter().collect::<Vec<_>>() {
        fault("the changes of the answer are not the changes asked about".to_owned());
    }
    for test in &selection.tests {
        if test.reasons.is_empty() {
            fault(format!("{} is owed without a reason", test.path));
        }
        if !test.reasons.is_sorted_by_key(|r| r.kind) {
            fault(format!("the reasons of {} are not in order", test.path));
        }
        for reason in test.reasons.iter().filter(|r| r.kind == ReasonKind::Depends) {
            let ends = (reason.chain.first(), reason.chain.last());
            if ends.0 != Some(&test.path) || ends.1 != reason.changed.as_ref() || reason.chain.len() < 2 {
                fault(format!("{:?} does not lead from {} to what changed", reason.chain, test.path));
            }
        }
    }
    // `why` is the same answer, asked for one test.
    let tests: BTreeSet<&str> = project.tests.iter().map(|t| project.test_path(*t)).collect();
    if tests.len() != selection.inventory.tests {
        fault(format!("the project has {} tests, the plan {}", tests.len(), selection.inventory.tests));
    }
    for test in tests.into_iter().filter(|_| !widened) {
        let answers = why(project, &case.delta, &case.options, test);
        if answers.is_empty() {
            fault(format!("why knows no test {test}"));
        }
        for answer in answers {
            let is_owed = selection
                .tests
                .iter()
                .any(|t| t.path == test && t.runner == answer.runner && t.project == answer.project);
            if is_owed == answer.reasons.is_empty() || is_owed == answer.absence.is_some() {
                fault(format!("plan and why disagree about {test} [{}]: {answer:?}", answer.runner));
            }
        }
    }
    faults
}
