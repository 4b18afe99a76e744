//! Which tests a change owes: the rules of selection, over the graph.
//!
//! Every rule is a set of *seeds* (nodes that a change touches) and a search from them to
//! the tests. Edges at the base need no graph of their own: on any chain from a test, the
//! part before the first changed file is made of unchanged files, which say the same at
//! base and head; what they resolved to at the base and no longer do is among their absent
//! candidates; and manifests that decided a resolution are nodes themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use rayon::prelude::*;

use crate::change::Change;
use crate::facts::Opaque;
use crate::graph::{EdgeKind, NodeId, NodeKey};
use crate::opacity::Classes;
use crate::path;
use crate::place::{Place, Placer};
use crate::problem::{Problem, Widening};
use crate::project::{Delta, Project};
use crate::resolve::Listing;
use crate::runner::SharedRole;
use crate::selection::{
    Inventory, Mode, Opacity, OwedTest, Placed, PlacedChange, Reason, ReasonKind, Selection,
};

pub use crate::view::{GraphOptions, graph};
pub use crate::why::why;

/// What the caller asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectOptions {
    /// Every test, because the caller says so.
    pub all: bool,
    /// `--opacity strict`: time-opaque tests are owed by any change, too.
    pub strict_opacity: bool,
    /// By path of a file: the paths of the tests that loaded it when they were last run. Such
    /// a test is owed by a change of the file, whatever its closure says; the closure is never
    /// narrowed by it.
    pub observed: BTreeMap<String, BTreeSet<String>>,
}

/// How many reasons a test keeps in a plan; `why` gives all of them.
const REASONS_KEPT: usize = 8;
/// How many changes are searched at once.
const BATCH: usize = 64;

/// Selects the tests that `delta` owes.
pub fn select(project: &Project<'_>, delta: &Delta, options: &SelectOptions) -> Selection {
    let context = Context::new(project, delta, options);
    let mut reasons: Vec<Vec<Reason>> = vec![Vec::new(); project.tests.len()];
    let mut owes = Vec::with_capacity(delta.changes.len());
    for batch in context.changes.chunks(BATCH) {
        let found: Vec<Vec<(usize, Option<Reason>)>> =
            batch.par_iter().map(|placed| context.owed_by(placed, &reasons)).collect();
        for list in found {
            let tests: BTreeSet<usize> = list.iter().map(|(test, _)| *test).collect();
            let paths: BTreeSet<&str> =
                tests.iter().map(|test| project.test_path(project.tests[*test])).collect();
            owes.push(paths.len());
            for (test, reason) in list {
                reasons[test].extend(reason);
            }
        }
    }
    let widened = context.widenings();
    for (number, list) in reasons.iter_mut().enumerate() {
        list.extend(context.owed_by_anything(number));
        if options.all || !widened.is_empty() {
            let kind = if options.all { ReasonKind::Requested } else { ReasonKind::NotUnderstood };
            let cause = widened.first();
            if options.all || list.is_empty() {
                list.push(Reason {
                    kind,
                    changed: cause.filter(|w| !w.path.is_empty()).map(|w| w.path.clone()),
                    chain: vec![project.test_path(project.tests[number]).to_owned()],
                    detail: cause.map(|w| format!("the plan is widened: {}", w.reason)),
                });
            }
        }
        list.sort();
        list.dedup();
    }
    let tests = owed_tests(&context, reasons);
    let paths: BTreeSet<&str> = project.tests.iter().map(|t| project.test_path(*t)).collect();
    let owed: BTreeSet<&str> = tests.iter().map(|t| t.path.as_str()).collect();
    let omitted = paths.len() - owed.len();
    let mode = if !widened.is_empty() || options.all {
        Mode::Widened
    } else if tests.is_empty() {
        Mode::None
    } else {
        Mode::Selective
    };
    Selection {
        mode,
        widened: if options.all && widened.is_empty() { vec![requested()] } else { widened },
        changes: context
            .changes
            .iter()
            .zip(owes)
            .map(|(c, owes)| PlacedChange { change: c.change.clone(), placed: c.place.placed, owes })
            .collect(),
        tests,
        omitted,
        inventory: inventory(project),
        not_checked: project.not_checked.clone(),
        problems: problems(project),
    }
}

fn requested() -> Widening {
    Widening {
        reason: "requested".to_owned(),
        path: String::new(),
        detail: "the caller asks for every test".to_owned(),
    }
}

fn owed_tests(context: &Context<'_, '_>, reasons: Vec<Vec<Reason>>) -> Vec<OwedTest> {
    let project = context.project;
    let mut tests = Vec::new();
    for (number, list) in reasons.into_iter().enumerate() {
        if list.is_empty() {
            continue;
        }
        let reference = project.tests[number];
        let suite = project.suite(reference);
        tests.push(OwedTest {
            path: project.test_path(reference).to_owned(),
            runner: suite.runner_name,
            project: suite.project.root.clone(),
            reasons: list,
            opacity: context.classes().class(context.node_of(number)),
        });
    }
    tests.sort_by(|a, b| (&a.path, a.runner, &a.project).cmp(&(&b.path, b.runner, &b.project)));
    tests.dedup_by(|b, a| {
        let same = (&a.path, a.runner, &a.project) == (&b.path, b.runner, &b.project);
        if same {
            // Two projects of one runner at one root run the same file: one entry, all reasons.
            a.reasons.append(&mut b.reasons);
            a.reasons.sort();
            a.reasons.dedup();
            a.opacity = a.opacity.max(b.opacity);
        }
        same
    });
    tests
}

fn inventory(project: &Project<'_>) -> Inventory {
    let mut by_runner: BTreeMap<&'static str, BTreeSet<&str>> = BTreeMap::new();
    let mut all = BTreeSet::new();
    for &test in &project.tests {
        let path = project.test_path(test);
        by_runner.entry(project.suite(test).runner_name).or_default().insert(path);
        all.insert(path);
    }
    Inventory {
        files: project.files.len(),
        tests: all.len(),
        by_runner: by_runner.into_iter().map(|(runner, tests)| (runner, tests.len())).collect(),
    }
}

/// What was not understood of a project, sorted.
pub(crate) fn problems(project: &Project<'_>) -> Vec<Problem> {
    let mut problems = project.problems.clone();
    for suite in &project.suites {
        problems.extend(suite.project.unsettled.iter().map(|w| Problem {
            code: w.reason.clone(),
            path: w.path.clone(),
            line: None,
            detail: w.detail.clone(),
        }));
    }
    problems.sort();
    problems.dedup();
    problems
}

/// A change, placed, with the nodes it touches.
pub(crate) struct ChangeSeeds<'d> {
    pub(crate) change: &'d Change,
    pub(crate) place: Place,
    /// Nodes whose own bytes, set or version differ.
    pub(crate) touched: Vec<(NodeId, SeedKind)>,
}

/// How a change touches a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SeedKind {
    /// It is that file, manifest or a file in that set.
    Bytes,
    /// It is in the set that a listing names, newly or no longer.
    Entry,
    /// An import in that file would mean (or meant) it; with the line.
    Candidate(u32),
    /// It is that package.
    Package,
}

/// Everything a selection asks again and again.
pub(crate) struct Context<'p, 'd> {
    pub(crate) project: &'p Project<'p>,
    classes: OnceLock<Classes>,
    pub(crate) changes: Vec<ChangeSeeds<'d>>,
    pub(crate) options: &'d SelectOptions,
    /// Whether there is a change that owes the input-opaque tests.
    anything: bool,
    by_path: BTreeMap<&'p str, Vec<usize>>,
    nodes: Vec<NodeId>,
}

impl<'p, 'd> Context<'p, 'd> {
    pub(crate) fn new(project: &'p Project<'_>, delta: &'d Delta, options: &'d SelectOptions) -> Self {
        let mut by_path: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, &test) in project.tests.iter().enumerate() {
            by_path.entry(project.test_path(test)).or_default().push(number);
        }
        let paths: BTreeSet<&str> = by_path.keys().copied().collect();
        let placer = Placer::new(project);
        let listings = Listings::new(project);
        let changes: Vec<ChangeSeeds<'_>> = delta
            .changes
            .par_iter()
            .map(|change| {
                let place = placer.place(project, delta, &paths, change);
                let touched = touched(project, &listings, change, &place);
                ChangeSeeds { change, place, touched }
            })
            .collect();
        let anything = changes.iter().any(|c| !placer.is_declared_inert(project, &c.place));
        let node = |number: usize| {
            let number = u32::try_from(number).expect("test numbers were made from u32");
            project.graph.node(&NodeKey::Test(number)).expect("every test has a node")
        };
        let nodes: Vec<NodeId> = (0..project.tests.len()).map(node).collect();
        Self { project, classes: OnceLock::new(), changes, options, anything, by_path, nodes }
    }

    /// The classes of the tests; nobody asks when nothing changed.
    pub(crate) fn classes(&self) -> &Classes {
        self.classes.get_or_init(|| Classes::new(&self.project.graph))
    }

    /// The node of a test.
    pub(crate) fn node_of(&self, number: usize) -> NodeId {
        self.nodes[number]
    }

    /// The numbers of the tests at `path`.
    pub(crate) fn tests_at(&self, path: &str) -> &[usize] {
        self.by_path.get(path).map_or(&[], Vec::as_slice)
    }

    /// Every test that one change owes, with its strongest reason by that change; without
    /// it when the test has enough of them already (but never without a step of its own).
    fn owed_by(&self, placed: &ChangeSeeds<'_>, have: &[Vec<Reason>]) -> Vec<(usize, Option<Reason>)> {
        let mut owed = Vec::new();
        let seeds: Vec<NodeId> = placed.touched.iter().map(|(node, _)| *node).collect();
        if !seeds.is_empty() {
            let reach = self.project.graph.dependents(&seeds, |_| true);
            for &node in reach.order() {
                let NodeKey::Test(number) = self.project.graph.key(node) else { continue };
                let number = *number as usize;
                let wanted = have[number].len() < REASONS_KEPT || reach.distance(node) == Some(1);
                owed.push((number, wanted.then(|| self.reason(placed, &reach.chain(node)))));
            }
        }
        let by_name = self.companions(placed.change).into_iter().chain(self.declared(placed.change));
        for (number, reason) in by_name.chain(self.observed(placed.change)) {
            if !owed.iter().any(|(n, _)| *n == number) {
                owed.push((number, Some(reason)));
            }
        }
        owed.sort();
        owed
    }

    /// The reason that a chain of nodes, from a test to a seed, stands for.
    pub(crate) fn reason(&self, placed: &ChangeSeeds<'_>, chain: &[NodeId]) -> Reason {
        let graph = &self.project.graph;
        let seed = *chain.last().expect("a chain holds at least the test");
        let seed_kind = placed.touched.iter().find(|(node, _)| *node == seed).map(|(_, kind)| *kind);
        let first = match chain.get(1).map(|n| graph.key(*n)) {
            Some(NodeKey::Suite(_)) => &chain[1..],
            _ => chain,
        };
        let role = first.get(1).and_then(|next| {
            let edges = graph.outgoing(first[0]);
            edges.iter().filter(|(to, _)| to == next).map(|(_, edge)| edge.kind).min()
        });
        // A file of the same program of types is a dependency like an imported one.
        let role = role.filter(|kind| *kind != EdgeKind::Shared(SharedRole::Program));
        let vanished_or_new = placed.change.appeared().is_some() || placed.change.vanished().is_some();
        let kind = match (role, seed_kind) {
            (Some(EdgeKind::Own | EdgeKind::Checked), Some(SeedKind::Bytes)) if chain.len() == 2 => {
                ReasonKind::Changed
            }
            (Some(EdgeKind::Shared(SharedRole::Snapshot)), _) => ReasonKind::Snapshot,
            (Some(EdgeKind::Shared(_)), Some(SeedKind::Entry)) if vanished_or_new => ReasonKind::Negative,
            (Some(EdgeKind::Shared(_)), _) => ReasonKind::Shared,
            (_, Some(SeedKind::Package)) => ReasonKind::Package,
            (_, Some(SeedKind::Candidate(_))) => ReasonKind::Negative,
            (_, Some(SeedKind::Entry)) if vanished_or_new => ReasonKind::Negative,
            _ => ReasonKind::Depends,
        };
        let mut steps: Vec<String> = Vec::with_capacity(chain.len());
        for &node in chain {
            if !graph.key(node).is_step() {
                continue;
            }
            let step = self.step(node);
            if steps.last() != Some(&step) {
                steps.push(step);
            }
        }
        let changed = match seed_kind {
            Some(SeedKind::Candidate(_) | SeedKind::Entry) => self.named(placed, seed),
            _ => placed.change.path.clone(),
        };
        let detail = match seed_kind {
            Some(SeedKind::Candidate(line)) => {
                Some(format!("{}:{line} would resolve to it", self.step(seed)))
            }
            Some(SeedKind::Package) => Some(self.step(seed)),
            Some(SeedKind::Entry) => Some(format!("in {}", self.step(seed))),
            _ => None,
        };
        if matches!(seed_kind, Some(SeedKind::Candidate(_) | SeedKind::Entry | SeedKind::Package))
            && steps.last() != Some(&changed)
        {
            if matches!(seed_kind, Some(SeedKind::Entry)) && steps.len() > 1 {
                steps.pop();
            }
            steps.push(changed.clone());
        }
        Reason { kind, changed: Some(placed.change.path.clone()), chain: steps, detail }
    }

    /// The side of a rename that matches, for display.
    fn named(&self, placed: &ChangeSeeds<'_>, seed: NodeId) -> String {
        let graph = &self.project.graph;
        let is_it = |path: &&str| graph.waiting_for(path).any(|(node, _)| node == seed);
        placed.change.paths().find(is_it).unwrap_or(&placed.change.path).to_owned()
    }

    /// How a node is written in a chain.
    pub(crate) fn step(&self, node: NodeId) -> String {
        match self.project.graph.key(node) {
            NodeKey::Test(number) => self.project.test_path(self.project.tests[*number as usize]).to_owned(),
            NodeKey::Source { path, .. } | NodeKey::Data(path) | NodeKey::Manifest(path) => path.to_string(),
            NodeKey::Listing { listing, .. } => listing.shown(),
            NodeKey::Package(name) => name.to_string(),
            NodeKey::Env(name) => format!("${name}"),
            NodeKey::Sources { dir, .. } if dir.is_empty() => "**".to_owned(),
            NodeKey::Sources { dir, .. } => format!("{dir}/**"),
            NodeKey::Suite(_) => String::new(),
        }
    }

    /// Tests that any change owes, because their inputs or their project are not known.
    pub(crate) fn owed_by_anything(&self, number: usize) -> Vec<Reason> {
        let mut reasons = Vec::new();
        if !self.anything {
            return reasons;
        }
        let reference = self.project.tests[number];
        let test = self.project.test_path(reference);
        let node = self.node_of(number);
        let class = self.classes().class(node);
        let owed = class >= Opacity::Unknown || (self.options.strict_opacity && class == Opacity::TimeOpaque);
        if owed && let Some((chain, fact)) = self.classes().cause(&self.project.graph, node, class) {
            let is_step = |n: &&NodeId| self.project.graph.key(**n).is_step();
            let mut steps: Vec<String> = chain.iter().filter(is_step).map(|n| self.step(*n)).collect();
            steps.dedup();
            let place = steps.last().cloned().unwrap_or_default();
            let word = fact.reason.map_or("", Opaque::word);
            let line = if fact.line == 0 { String::new() } else { format!(":{}", fact.line) };
            reasons.push(Reason {
                kind: ReasonKind::InputOpaque,
                changed: None,
                chain: steps,
                detail: Some(format!("{place}{line} {} ({word})", fact.operation)),
            });
        }
        for widening in &self.project.suite(reference).project.unsettled {
            reasons.push(Reason {
                kind: ReasonKind::NotUnderstood,
                changed: None,
                chain: vec![test.to_owned()],
                detail: Some(if widening.path.is_empty() {
                    format!("{}: {}", widening.reason, widening.detail)
                } else {
                    format!("{}: {} ({})", widening.reason, widening.detail, widening.path)
                }),
            });
        }
        reasons
    }

    /// Why the whole suite is owed, if it is.
    pub(crate) fn widenings(&self) -> Vec<Widening> {
        let mut widened = Vec::new();
        for placed in &self.changes {
            let path = placed.change.path.clone();
            if let Some(why) = placed.place.why {
                widened.push(Widening {
                    reason: "unplaced".to_owned(),
                    path: path.clone(),
                    detail: format!(
                        "it is not known what this file does: {why}; list it under `inert` or `[[inputs]]` in owed.toml"
                    ),
                });
            }
            if let Some(broken) = placed.place.manifest.as_ref().and_then(|m| m.broken.clone()) {
                let reason = if placed.place.placed == Placed::Lock {
                    "lock-unreadable"
                } else {
                    "manifest-unreadable"
                };
                widened.push(Widening { reason: reason.to_owned(), path, detail: broken });
            }
        }
        if !self.changes.is_empty() {
            for suite in &self.project.suites {
                widened.extend(suite.project.unsettled.iter().filter(|w| is_discovery(w)).cloned());
            }
        }
        widened.sort();
        widened.dedup();
        widened
    }
}

/// Whether a reason means that there may be tests the plan does not know.
fn is_discovery(widening: &Widening) -> bool {
    matches!(widening.reason.as_str(), "discovery-incomplete" | "collection-hook")
}

/// Listings with their globs, compiled when a change lies in their directory.
struct Listings<'p> {
    listings: Vec<(NodeId, &'p Listing, bool, OnceLock<globset::GlobMatcher>)>,
}

impl<'p> Listings<'p> {
    fn new(project: &'p Project<'_>) -> Self {
        let mut listings = Vec::new();
        for &node in project.graph.listings() {
            let NodeKey::Listing { listing, contents } = project.graph.key(node) else { continue };
            listings.push((node, listing, *contents, OnceLock::new()));
        }
        Self { listings }
    }

    fn touched_by(&self, change: &Change, into: &mut Vec<(NodeId, SeedKind)>) {
        let entry: BTreeSet<&str> = change.appeared().into_iter().chain(change.vanished()).collect();
        for (node, listing, contents, compiled) in &self.listings {
            for path in change.paths() {
                if !*contents && !entry.contains(path) {
                    continue;
                }
                let Some(rest) = path::strip(path, &listing.dir) else { continue };
                let glob = compiled.get_or_init(|| matcher(&listing.glob));
                // A directory that appears is an entry of a listing of its parent.
                let hit = glob.is_match(rest)
                    || (entry.contains(path)
                        && path::ancestors(rest).any(|d| !d.is_empty() && glob.is_match(d)));
                if hit {
                    into.push((*node, SeedKind::Entry));
                    break;
                }
            }
        }
    }
}

/// A glob that cannot be compiled matches everything.
fn matcher(glob: &str) -> globset::GlobMatcher {
    let glob = globset::GlobBuilder::new(glob).literal_separator(true).empty_alternates(true).build();
    glob.unwrap_or_else(|_| globset::Glob::new("**").expect("`**` is a glob")).compile_matcher()
}

/// The nodes that a change touches.
fn touched(
    project: &Project<'_>,
    listings: &Listings<'_>,
    change: &Change,
    place: &Place,
) -> Vec<(NodeId, SeedKind)> {
    let graph = &project.graph;
    let mut touched = Vec::new();
    for path in change.paths() {
        touched.extend(graph.nodes_of(path).iter().map(|n| (*n, SeedKind::Bytes)));
        let shared = place.manifest.as_ref().is_none_or(|m| m.shared || m.broken.is_some());
        if shared && let Some(node) = graph.node(&NodeKey::Manifest(path.into())) {
            touched.push((node, SeedKind::Bytes));
        }
    }
    for path in change.appeared().into_iter().chain(change.vanished()) {
        touched.extend(graph.waiting_for(path).map(|(node, line)| (node, SeedKind::Candidate(line))));
    }
    listings.touched_by(change, &mut touched);
    if let Some(diff) = &place.manifest {
        if diff.any_package.is_some() {
            let same = |n: &&NodeId| match graph.key(**n) {
                NodeKey::Package(name) => diff.ecosystem.is_none_or(|e| name.starts_with(e)),
                _ => false,
            };
            touched.extend(graph.packages().iter().filter(same).map(|n| (*n, SeedKind::Package)));
        }
        for package in &diff.packages {
            if let Some(node) = graph.node(&NodeKey::Package(package.as_str().into())) {
                touched.push((node, SeedKind::Package));
            }
        }
    }
    touched.sort_unstable();
    touched.dedup_by_key(|(node, _)| *node);
    touched
}
