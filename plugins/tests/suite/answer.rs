//! Asks the engine a case, several times over: with one thread and four, with the files
//! in both orders, twice, and with a cache that was filled before the change, and after it.
//! All answers must be equal, and each must be consistent in itself and with `why`.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use owed_engine::cache::Cache;
use owed_engine::change::ChangeKind;
use owed_engine::opacity::{Budget, OpacityOptions, OpacityReport, opacity_with};
use owed_engine::project::{Plugins, Project, Reading};
use owed_engine::runner::NoLoader;
use owed_engine::select::{select, why};
use owed_engine::selection::{Mode, ReasonKind, Selection};
use owed_engine::tree::MemoryTree;

use crate::case::{Case, Part};
use crate::render;
use crate::warm::Kept;

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
    // Filled from the state before the change, used for the state after it, and once more.
    let kept = Kept::default();
    let ways = [(false, 0, false), (false, 1, false), (true, 0, false), (true, 1, false), (false, 1, false)];
    for (reversed, threads, warm) in ways.into_iter().chain([(false, 1, true), (true, 0, true)]) {
        let run = || {
            pools.0[threads].install(|| {
                if warm && !reversed {
                    fill(case, &kept);
                }
                once(case, reversed, first.is_none(), warm.then_some(&kept))
            })
        };
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
                    "the answer differs with files {}, {} threads and {}\n-- first\n{}{}-- then\n{}{}",
                    if reversed { "reversed" } else { "in order" },
                    if threads == 0 { 1 } else { 4 },
                    match (warm, reversed) {
                        (false, _) => "no cache",
                        (true, false) => "a cache from before the change",
                        (true, true) => "a cache from after the change",
                    },
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

/// Keeps the project as it was before the change.
fn fill(case: &Case, kept: &Kept) {
    let mut files = case.files.clone();
    for change in &case.delta.changes {
        files.remove(&change.path);
        if let ChangeKind::Renamed { from } = &change.kind {
            files.remove(from);
        }
    }
    files.extend(case.delta.base.clone());
    let links = case.links.iter();
    let tree = links.fold(MemoryTree::new(files), |tree, (from, to)| tree.with_link(from, to));
    load(&tree, case, Reading::Files, Some(&kept.open()), |_| ());
    load(&tree, case, Reading::Declarations, Some(&kept.open()), |_| ());
}

/// Loads the project of a case, and asks it.
fn load<T>(
    tree: &MemoryTree,
    case: &Case,
    reading: Reading,
    cache: Option<&Cache>,
    ask: impl FnOnce(&Project<'_>) -> T,
) -> T {
    let plugins = Plugins { languages: owed_plugins::languages(), runners: owed_plugins::runners() };
    let settings = case.settings.clone();
    let project = match cache {
        Some(cache) => Project::load_with(tree, plugins, settings, reading, &NoLoader, cache),
        None => {
            let mut project = Project::read(tree, plugins, settings, reading);
            project.discover(&NoLoader);
            project.resolve();
            project
        }
    };
    ask(&project)
}

fn once(case: &Case, reversed: bool, check: bool, kept: Option<&Kept>) -> Result<Answer, String> {
    let mut files: Vec<(String, Vec<u8>)> = case.files.clone().into_iter().collect();
    if reversed {
        files.reverse();
    }
    let links = case.links.iter();
    let tree = links.fold(MemoryTree::new(files), |tree, (from, to)| tree.with_link(from, to));
    let asked = case.block(Part::Opacity).is_some();
    let classes = (asked || check).then(|| {
        let cache = kept.map(Kept::open);
        let packages = case.packages.then(Budget::default);
        let options = OpacityOptions { packages, ..OpacityOptions::default() };
        load(&tree, case, Reading::Declarations, cache.as_ref(), |project| opacity_with(project, &options))
    });
    let cache = kept.map(Kept::open);
    load(&tree, case, Reading::Files, cache.as_ref(), |project| {
        let selection = select(project, &case.delta, &case.options);
        if check {
            let mut faults = inconsistent(case, project, &selection);
            faults.extend(classes.iter().flat_map(|classes| worse(classes, &selection)));
            if !faults.is_empty() {
                let whole = render::selection(&selection);
                return Err(format!("{}\n-- the whole answer\n{whole}", faults.join("\n")));
            }
        }
        Ok((selection, classes.filter(|_| asked)))
    })
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
