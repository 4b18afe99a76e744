//! The answer: the class of every test and file, each reason with the way to it, and what
//! holds most tests back.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::cause::{self, Described, LineStarts};
use super::classes::counts;
use super::costs::{held, kinds};
use super::liveness::{At, Cause, Liveness};
use super::module::UnitId;
use super::packages::{Budget, Packages};
use super::reach::{Reached, Way};
use super::stopped::without_answered;
use crate::closure;
use crate::facts::{FileFacts, Opaque};
use crate::graph::{NodeId, NodeKey, Origin, Trait};
use crate::path;
use crate::problem::Problem;
use crate::project::Project;
use crate::select::problems;
use crate::selection::Opacity;

pub use super::cause::{PinName, ReasonHere};
pub use super::costs::{Held, Kind};

/// The whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpacityReport {
    /// The tests asked for, sorted by path, then by runner and runner project.
    pub tests: Vec<TestOpacity>,
    /// The files asked for, sorted by path; own effects only.
    pub files: Vec<FileOpacity>,
    /// What holds tests back by reason, the reason of most tests first.
    pub reasons: Vec<Kind>,
    /// The same by place, the place that holds most tests back first.
    pub held: Vec<Held>,
    /// What configuration does that all tests of a project have in common: it is in every
    /// identity and lowers no class. Sorted.
    pub common: Vec<ReasonHere>,
    /// What was not understood, sorted.
    pub problems: Vec<Problem>,
}

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestOpacity {
    /// Project-relative path.
    pub path: String,
    /// The runner's name.
    pub runner: &'static str,
    /// Directory of the runner project (`""` for the root).
    pub project: String,
    /// The worst of its reasons.
    pub class: Opacity,
    /// Every input that joins its identity, sorted.
    pub pins: Vec<PinName>,
    /// One reason an operation, at its nearest place; worst first.
    pub reasons: Vec<ReasonFor>,
}

/// A reason of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReasonFor {
    /// The nearest place.
    pub place: ReasonHere,
    /// How many places with this operation the test reaches.
    pub places: usize,
    /// From the test to the place, shortest.
    pub chain: Vec<String>,
    /// Whether the way begins with what all tests of its project share.
    pub shared: bool,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOpacity {
    /// Project-relative path.
    pub path: String,
    /// The worst of its own effects.
    pub class: Opacity,
    /// The inputs it names itself.
    pub pins: Vec<PinName>,
    /// Its own effects, in the order of the source.
    pub reasons: Vec<ReasonHere>,
}

/// A test with what it reaches.
pub(super) struct Found {
    key: (String, &'static str, String),
    units: Vec<UnitId>,
    /// Numbers of causes, ascending.
    pub(super) causes: Vec<usize>,
    pub(super) class: Opacity,
}

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpacityOptions {
    /// Only the tests and files at or below these (project-relative); all when empty.
    pub paths: Vec<String>,
    /// How much of installed packages is followed; `None`: they are not looked at, as in
    /// a plan.
    pub packages: Option<Budget>,
}

/// Classes and reasons of the tests and files at or below `paths` (project-relative; all
/// when empty), installed packages included.
pub fn opacity(project: &Project<'_>, paths: &[String]) -> OpacityReport {
    let packages = Some(Budget::default());
    opacity_with(project, &OpacityOptions { paths: paths.to_vec(), packages })
}

/// Classes and reasons of tests and files. The project is to be read with declarations: without them
/// classes are coarser, never better.
pub fn opacity_with(project: &Project<'_>, options: &OpacityOptions) -> OpacityReport {
    let paths = &options.paths;
    let packages = options.packages.map_or_else(Packages::default, |budget| Packages::walk(project, budget));
    let live = Liveness::new(project, &packages);
    let described = Described::new(project, &live);
    let back = live.units.reversed();
    let units: Vec<UnitId> = live.causes[..live.written].iter().map(|cause| cause.unit).collect();
    let reached = Reached::new(&live.units, &back, &units);
    let asked =
        |path: &str| paths.is_empty() || paths.iter().any(|p| p.is_empty() || path::is_within(path, p));
    let all = tests(project, &live, &described, &reached);
    let mut chosen: Vec<&Found> = all.iter().filter(|found| asked(&found.key.0)).collect();
    let common = common(project, &live, &described);
    let files = files(project, &live, &described, &asked);
    let answers = answers(&live, &described, &back, &chosen);
    // A question about files that are no tests is about all tests they hold back.
    let about_files = chosen.is_empty();
    if about_files {
        chosen = all.iter().collect();
    }
    let held = held(&described, &chosen, |place| !about_files || asked(&place.path));
    OpacityReport {
        tests: answers,
        files,
        reasons: kinds(&described, &chosen),
        held,
        common,
        problems: problems(project),
    }
}

/// What configuration files do themselves.
fn common(project: &Project<'_>, live: &Liveness<'_>, described: &Described) -> Vec<ReasonHere> {
    let graph = &project.graph;
    let all = graph.nodes().filter(|node| matches!(graph.key(*node), NodeKey::Test(_) | NodeKey::Suite(_)));
    let edges = all.flat_map(|node| graph.outgoing(node));
    let configuration: BTreeSet<NodeId> =
        edges.filter(|(_, edge)| !counts(*edge)).map(|(to, _)| to).collect();
    let is_common = |at: At<'_>| match at {
        At::Module(module) => live.node(module).is_some_and(|node| configuration.contains(&node)),
        At::Path(_) => false,
    };
    let is_effect = |cause: &Cause<'_>| matches!(cause.fact.origin, Origin::Effect(_));
    let numbers = live.causes.iter().enumerate().filter(|(_, cause)| is_effect(cause) && is_common(cause.at));
    let places: BTreeSet<usize> = numbers.map(|(number, _)| described.place_of[number]).collect();
    let mut common: Vec<ReasonHere> =
        places.into_iter().map(|place| described.places[place].clone()).collect();
    common.sort_by(|a, b| (&a.path, a.line, a.column).cmp(&(&b.path, b.line, b.column)));
    common
}

/// Every test file of every runner project, once.
fn tests(project: &Project<'_>, live: &Liveness<'_>, described: &Described, reached: &Reached) -> Vec<Found> {
    let mut grouped: BTreeMap<(String, &'static str, String), (Vec<UnitId>, bool)> = BTreeMap::new();
    for (at, &test) in project.tests.iter().enumerate() {
        let suite = project.suite(test);
        let key = (project.test_path(test).to_owned(), suite.runner_name, suite.project.root.clone());
        let unit = live.tests + u32::try_from(at).expect("test numbers were made from u32");
        let (units, isolated) = grouped.entry(key).or_insert((Vec::new(), true));
        units.push(unit);
        *isolated &= suite.project.isolated;
    }
    let grouped: Vec<_> = grouped.into_iter().collect();
    grouped
        .into_par_iter()
        .map(|(key, (units, isolated))| {
            // What a file changes of the language is its own code when nobody else sees it:
            // the value it puts there has its own effects.
            let counts =
                |cause: &usize| !isolated || live.causes[*cause].fact.reason != Some(Opaque::MutateGlobal);
            let causes: BTreeSet<usize> =
                units.iter().flat_map(|unit| reached.causes(*unit)).filter(counts).collect();
            let all: Vec<usize> = causes.into_iter().collect();
            // A file of several runner projects has to be lifted in each: it is left alone.
            let causes = match units.as_slice() {
                [unit] => {
                    let test = (unit - live.tests) as usize;
                    without_answered(project, live, test, all, &reached.causes(*unit))
                }
                _ => all,
            };
            let class = causes.iter().map(|cause| described.class(*cause)).max().unwrap_or(Opacity::Pure);
            Found { key, units, causes, class }
        })
        .collect()
}

/// The answers for some tests: for each operation the nearest place.
fn answers(
    live: &Liveness<'_>,
    described: &Described,
    back: &super::units::Units,
    chosen: &[&Found],
) -> Vec<TestOpacity> {
    // Causes that count as one reason of a test.
    let mut kinds: BTreeMap<(std::cmp::Reverse<Opacity>, &str, &str), Vec<usize>> = BTreeMap::new();
    for (cause, &place) in described.place_of.iter().enumerate() {
        let place = &described.places[place];
        kinds
            .entry((std::cmp::Reverse(place.class), place.reason, &place.operation))
            .or_default()
            .push(cause);
    }
    let kinds: Vec<Vec<usize>> = kinds.into_values().collect();
    let mut kind_of = vec![0; described.place_of.len()];
    for (kind, causes) in kinds.iter().enumerate() {
        for &cause in causes {
            kind_of[cause] = kind;
        }
    }
    let mut wanted: Vec<Vec<usize>> = vec![Vec::new(); kinds.len()];
    for (test, found) in chosen.iter().enumerate() {
        let kinds: BTreeSet<usize> = found.causes.iter().map(|cause| kind_of[*cause]).collect();
        for kind in kinds {
            wanted[kind].push(test);
        }
    }
    let found: Vec<Vec<(usize, ReasonFor)>> = kinds
        .par_iter()
        .zip(&wanted)
        .map(|(causes, tests)| {
            if tests.is_empty() {
                return Vec::new();
            }
            let goals: Vec<UnitId> = causes.iter().map(|cause| live.causes[*cause].unit).collect();
            let way = Way::to(back, &goals);
            let reason = |&test: &usize| Some((test, reason(live, described, chosen[test], causes, &way)?));
            tests.iter().filter_map(reason).collect()
        })
        .collect();
    let mut reasons: Vec<Vec<ReasonFor>> = vec![Vec::new(); chosen.len()];
    for (test, reason) in found.into_iter().flatten() {
        reasons[test].push(reason);
    }
    chosen
        .par_iter()
        .zip(reasons)
        .map(|(found, reasons)| {
            let pins: BTreeSet<&PinName> =
                found.causes.iter().flat_map(|cause| &described.pins[*cause]).collect();
            let (path, runner, project) = found.key.clone();
            let pins = pins.into_iter().cloned().collect();
            TestOpacity { path, runner, project, class: found.class, pins, reasons }
        })
        .collect()
}

/// One reason of one test: the nearest of `causes`.
fn reason(
    live: &Liveness<'_>,
    described: &Described,
    found: &Found,
    causes: &[usize],
    way: &Way,
) -> Option<ReasonFor> {
    let ways = found.units.iter().filter_map(|&unit| way.from(unit));
    let way = ways.min_by_key(Vec::len)?;
    let goal = *way.last()?;
    let mut own = causes.iter().filter(|cause| found.causes.binary_search(cause).is_ok());
    let places: BTreeSet<usize> = own.clone().map(|cause| described.place_of[*cause]).collect();
    let nearest = own.find(|cause| live.causes[**cause].unit == goal)?;
    let mut place = described.places[described.place_of[*nearest]].clone();
    // A label holds for a test when it holds for every place.
    place.label = place.label.filter(|_| places.iter().all(|at| described.places[*at].label.is_some()));
    let shared = way.get(1).is_some_and(|&unit| {
        unit >= live.suites || live.module_of(unit).is_some_and(|module| module.path != found.key.0)
    });
    let mut chain = live.chain(&found.key.0, &way);
    // The file of a configuration is no module of the way.
    if !place.path.is_empty() && chain.last() != Some(&place.path) {
        chain.push(place.path.clone());
    }
    Some(ReasonFor { place, places: places.len(), chain, shared })
}

/// The files asked for, with their own effects.
fn files(
    project: &Project<'_>,
    live: &Liveness<'_>,
    described: &Described,
    asked: &dyn Fn(&str) -> bool,
) -> Vec<FileOpacity> {
    let mut reached: BTreeMap<&str, (BTreeSet<usize>, BTreeSet<&PinName>)> = BTreeMap::new();
    for module in &live.modules {
        reached.entry(module.path).or_default();
    }
    for (number, cause) in live.causes[..live.written].iter().enumerate() {
        let own = reached.entry(live.path(cause.at)).or_default();
        own.0.insert(described.place_of[number]);
        own.1.extend(&described.pins[number]);
    }
    let mut listed: BTreeMap<&str, Option<&FileFacts>> =
        project.not_checked.iter().map(|unread| (unread.path.as_str(), None)).collect();
    listed.extend(project.facts.iter().map(|(path, facts)| (path, Some(facts))));
    listed.retain(|path, _| asked(path));
    let listed: Vec<_> = listed.into_iter().collect();
    listed
        .into_par_iter()
        .map(|(path, facts)| match (reached.get(path), facts) {
            (Some((places, pins)), _) => {
                let places = places.iter().map(|place| described.places[*place].clone()).collect();
                file(path, places, pins.iter().map(|pin| (*pin).clone()).collect())
            }
            (None, Some(facts)) => unreached(project, path, facts, closure::own_traits(project, path, facts)),
            (None, None) => {
                let unread = project.not_checked.iter().find(|unread| unread.path == path);
                let why = unread.map_or("not read", |unread| unread.reason.word());
                unreached(project, path, &FileFacts::default(), vec![closure::unreadable(why)])
            }
        })
        .collect()
}

/// A file that no test reaches: nobody says how its imports resolve, but what it does
/// itself is known.
fn unreached(project: &Project<'_>, path: &str, facts: &FileFacts, traits: Vec<Trait>) -> FileOpacity {
    let wanted: &[&str] = if traits.is_empty() { &[] } else { &[path] };
    let starts = LineStarts::read(project, wanted);
    let mut pins = BTreeSet::new();
    let mut places = BTreeSet::new();
    for fact in &traits {
        let named = match fact.origin {
            Origin::Effect(number) if fact.reason.is_none() => {
                cause::pins_of(project, 0, path, &facts.effects[number as usize])
            }
            _ => Vec::new(),
        };
        places.insert(cause::here(project, path, facts, fact, &named, &starts));
        pins.extend(named);
    }
    file(path, places.into_iter().collect(), pins)
}

fn file(path: &str, mut reasons: Vec<ReasonHere>, pins: BTreeSet<PinName>) -> FileOpacity {
    reasons.sort_by(|a, b| (a.line, a.column, &a.operation).cmp(&(b.line, b.column, &b.operation)));
    let class = reasons.iter().map(|place| place.class).max().unwrap_or(Opacity::Pure);
    FileOpacity { path: path.to_owned(), class, pins: pins.into_iter().collect(), reasons }
}

impl Described {
    fn class(&self, cause: usize) -> Opacity {
        self.places[self.place_of[cause]].class
    }
}
