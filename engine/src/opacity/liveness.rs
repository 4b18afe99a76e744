//! The project as units, with its tests on top and its causes in it.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{LazyLock, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::classes::counts;
use super::module::{Module, Part, UnitId};
use super::packages::Packages;
use super::units::{self, Units};
use crate::facts::{EffectClass, FileFacts, Opaque};
use crate::graph::{NodeId, NodeKey, Origin, Trait};
use crate::problem::Widening;
use crate::project::{Project, Reading};
use crate::runner::RunnerEffect;
use crate::selection::Opacity;

pub(crate) static NOTHING: LazyLock<FileFacts> = LazyLock::new(FileFacts::default);

/// The graph of units of a project.
pub(crate) struct Liveness<'p> {
    /// Its files, one for each resolution class that reaches it.
    pub(crate) modules: Vec<Module<'p>>,
    /// What the use of each unit brings to life; after the units of the modules come those
    /// of the tests, then those of the suites.
    pub(crate) units: Units,
    /// The unit of the first test.
    pub(crate) tests: UnitId,
    /// The unit of the first suite.
    pub(crate) suites: UnitId,
    /// What some test may depend on that no edge names.
    pub(crate) causes: Vec<Cause<'p>>,
    /// How many of the causes are written in the files; those after them are what is left of
    /// others.
    pub(crate) written: usize,
    /// By cause: what a stopped clock makes of it.
    pub(crate) answered: FxHashMap<usize, Left>,
    numbers: FxHashMap<NodeId, u32>,
    /// By module: its node; the modules of installed packages come last and have none.
    nodes: Vec<NodeId>,
    /// By module: its first unit.
    firsts: Vec<UnitId>,
    /// Ways between modules that do not load each other directly, once found.
    between: Mutex<FxHashMap<(u32, u32), Vec<u32>>>,
}

/// Something that a test which reaches its unit depends on.
#[derive(Clone, Debug)]
pub(crate) struct Cause<'p> {
    /// The unit whose use brings it about.
    pub(crate) unit: UnitId,
    /// Where it is written.
    pub(crate) at: At<'p>,
    /// What it is.
    pub(crate) fact: Cow<'p, Trait>,
}

/// What a stopped clock makes of a cause.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    /// The cause that is left, if any.
    pub(crate) left: Option<usize>,
    /// Whether it stands in the body of a test itself.
    pub(crate) in_test: bool,
}

/// Where a cause is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At<'p> {
    /// In the module with this number.
    Module(u32),
    /// In a file that is no module (a configuration that was not understood).
    Path(&'p str),
}

impl<'p> Liveness<'p> {
    /// Takes a resolved project apart, with the files that it runs of installed packages.
    pub(crate) fn new(project: &'p Project<'_>, packages: &'p Packages) -> Self {
        let graph = &project.graph;
        let mut modules: Vec<Module<'p>> = Vec::new();
        let mut nodes: Vec<NodeId> = Vec::new();
        let mut numbers: FxHashMap<NodeId, u32> = FxHashMap::default();
        let mut first: UnitId = 0;
        let whole = project.reading == Reading::Declarations;
        for node in graph.nodes() {
            let NodeKey::Source { path, class } = graph.key(node) else { continue };
            let facts = match project.facts.get(path) {
                Some(facts) => facts,
                None if graph.traits(node).is_empty() => continue,
                None => &NOTHING,
            };
            numbers.insert(node, number(modules.len()));
            nodes.push(node);
            // What its imports lead to has a number only after this loop.
            let mut module = Module::new(path, facts, first, whole);
            module.checked = project.classes[*class as usize].checked;
            first += module.size();
            modules.push(module);
        }
        let own = number(modules.len());
        for file in &packages.files {
            let module = Module::new(&file.path, &file.facts, first, true);
            first += module.size();
            modules.push(module);
        }
        let mut causes = Vec::new();
        let mut because = |modules: &[Module<'p>], at: usize, facts: &'p [Trait]| {
            let module = &modules[at];
            let facts_here = facts.iter().filter(|fact| {
                // What is taken by the way is a unit of the file that has it.
                !matches!(fact.origin, Origin::Taken(_)) && !is_said_twice(fact, facts)
            });
            causes.extend(facts_here.map(|fact| Cause {
                unit: module.unit(module.part_of(fact.origin)),
                at: At::Module(number(at)),
                fact: Cow::Borrowed(fact),
            }));
            // What a type checker cannot find or read; what the code would do is nothing to it.
            let gaps = facts.iter().filter(|fact| module.checked && is_gap(fact));
            causes.extend(gaps.map(|fact| Cause {
                unit: module.unit(Part::Checked),
                at: At::Module(number(at)),
                fact: Cow::Borrowed(fact),
            }));
        };
        for (at, &node) in nodes.iter().enumerate() {
            let loads = graph.loads(node).iter();
            let loads = loads.flat_map(|(import, to)| {
                behind(project, *to).filter_map(|to| Some((*import, *numbers.get(&to)?))).collect::<Vec<_>>()
            });
            let into = packages.loads.get(&node).into_iter().flatten();
            let into = into.map(|(import, file)| (*import, own + file));
            modules[at].lead(loads.chain(into).collect());
            because(&modules, at, graph.traits(node));
            because(&modules, at, packages.traits.get(&node).map_or(&[], Vec::as_slice));
        }
        for (at, file) in packages.files.iter().enumerate() {
            let at = own as usize + at;
            modules[at].lead(file.loads.iter().map(|(import, file)| (*import, own + file)).collect());
            because(&modules, at, &file.traits);
        }
        for (at, module) in modules.iter().enumerate() {
            causes.extend(offered(module).map(|fact| Cause {
                unit: module.unit(module.part_of(fact.origin)),
                at: At::Module(number(at)),
                fact: Cow::Owned(fact),
            }));
        }
        let mut edges = units::edges(&modules);
        let tests = number(edges.len());
        let suites = tests + number(project.tests.len());
        let root = |node: NodeId, part| numbers.get(&node).map(|at| modules[*at as usize].unit(part));
        let below = |node: NodeId| -> Vec<UnitId> {
            let mut list: Vec<UnitId> = graph
                .outgoing(node)
                .into_iter()
                .filter(|(_, edge)| counts(*edge))
                .flat_map(|(to, edge)| match graph.key(to) {
                    NodeKey::Suite(suite) => vec![suites + suite],
                    _ => {
                        let part = if edge.kind.is_checked() { Part::Checked } else { Part::Own };
                        behind(project, to).filter_map(|node| root(node, part)).collect()
                    }
                })
                .collect();
            let setup = packages.loads.get(&node).into_iter().flatten();
            list.extend(setup.map(|(_, file)| modules[(own + file) as usize].unit(Part::Own)));
            list.sort_unstable();
            list.dedup();
            list
        };
        let key = |at: usize| graph.node(&NodeKey::Test(number(at))).expect("every test has a node");
        edges.extend((0..project.tests.len()).map(|at| below(key(at))));
        edges.extend(
            (0..project.suites.len())
                .map(|at| graph.node(&NodeKey::Suite(number(at))).map_or(Vec::new(), below)),
        );
        for (unit, key) in (0..project.tests.len())
            .map(|at| (tests + number(at), NodeKey::Test(number(at))))
            .chain((0..project.suites.len()).map(|at| (suites + number(at), NodeKey::Suite(number(at)))))
        {
            let facts = graph.node(&key).and_then(|node| packages.traits.get(&node)).into_iter().flatten();
            causes.extend(facts.map(|fact| Cause { unit, at: At::Path(""), fact: Cow::Borrowed(fact) }));
        }
        for (at, suite) in project.suites.iter().enumerate() {
            causes.extend(suite.project.unsettled.iter().map(|widening| Cause {
                unit: suites + number(at),
                at: At::Path(&widening.path),
                fact: Cow::Owned(unsettled(widening)),
            }));
        }
        for (at, suite) in project.suites.iter().enumerate() {
            causes.extend(suite.project.effects.iter().map(|effect| Cause {
                unit: suites + number(at),
                at: At::Path(&effect.path),
                fact: Cow::Owned(of_runner(effect)),
            }));
        }
        let written = causes.len();
        let answered = answered(&modules, &mut causes);
        let firsts = modules.iter().map(|module| module.first).collect();
        Self {
            units: Units::new(edges),
            modules,
            tests,
            suites,
            causes,
            written,
            answered,
            numbers,
            nodes,
            firsts,
            between: Mutex::default(),
        }
    }

    /// The path of the file that a cause is written in.
    pub(crate) fn path(&self, at: At<'p>) -> &'p str {
        match at {
            At::Module(module) => self.modules[module as usize].path,
            At::Path(path) => path,
        }
    }

    /// The node of a module; `None` for those of installed packages.
    pub(crate) fn node(&self, module: u32) -> Option<NodeId> {
        self.nodes.get(module as usize).copied()
    }

    /// The module of a node.
    pub(crate) fn module_at(&self, node: NodeId) -> Option<u32> {
        self.numbers.get(&node).copied()
    }

    /// Whether a unit is a declaration of a module, and not the loading of one.
    pub(crate) fn is_declaration(&self, unit: UnitId) -> bool {
        self.module_of(unit).is_some_and(|module| {
            module.split && unit >= module.unit(Part::Declaration(0)) && unit < module.first + module.size()
        })
    }

    /// By unit: whether it is reached from `starts`. `instead` gives other edges of a unit.
    pub(crate) fn reach<'a>(
        &'a self,
        starts: impl IntoIterator<Item = UnitId>,
        instead: impl Fn(UnitId) -> Option<&'a [UnitId]>,
    ) -> Vec<bool> {
        let mut reached = vec![false; self.units.len()];
        let mut open: Vec<UnitId> = starts.into_iter().collect();
        while let Some(unit) = open.pop() {
            if std::mem::replace(&mut reached[unit as usize], true) {
                continue;
            }
            open.extend(instead(unit).unwrap_or_else(|| self.units.of(unit)));
        }
        reached
    }

    /// The number of the module that a unit belongs to; `None` for tests and suites.
    fn number_of(&self, unit: UnitId) -> Option<u32> {
        if unit >= self.tests {
            return None;
        }
        let after = self.firsts.partition_point(|first| *first <= unit);
        after.checked_sub(1).map(number)
    }

    /// The module that a unit belongs to; `None` for tests and suites.
    pub(crate) fn module_of(&self, unit: UnitId) -> Option<&Module<'p>> {
        self.modules.get(self.number_of(unit)? as usize)
    }

    /// The modules that lie between `from` and `to` on a shortest way of loads: those that
    /// only hand a name on have no unit in a way.
    fn between(&self, from: u32, to: u32) -> Vec<u32> {
        if self.modules[from as usize].loads.iter().any(|(_, target)| *target == to) {
            return Vec::new();
        }
        let known = self.between.lock().unwrap_or_else(PoisonError::into_inner).get(&(from, to)).cloned();
        known.unwrap_or_else(|| {
            let found = self.search(from, to);
            let mut between = self.between.lock().unwrap_or_else(PoisonError::into_inner);
            between.insert((from, to), found.clone());
            found
        })
    }

    fn search(&self, from: u32, to: u32) -> Vec<u32> {
        let mut before: FxHashMap<u32, u32> = FxHashMap::default();
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            if at == to {
                break;
            }
            for &(_, next) in &self.modules[at as usize].loads {
                if next != from && !before.contains_key(&next) {
                    before.insert(next, at);
                    queue.push_back(next);
                }
            }
        }
        let mut way = Vec::new();
        let mut at = to;
        while let Some(&previous) = before.get(&at) {
            if previous != from {
                way.push(previous);
            }
            at = previous;
        }
        way.reverse();
        way
    }

    /// The paths of a way from a test, the test's own first, repetitions left out.
    pub(crate) fn chain(&self, test: &str, way: &[UnitId]) -> Vec<String> {
        let mut steps: Vec<u32> = Vec::with_capacity(way.len());
        for module in way.iter().filter_map(|&unit| self.number_of(unit)) {
            if let Some(&last) = steps.last().filter(|last| **last != module) {
                steps.extend(self.between(last, module));
            }
            steps.push(module);
        }
        let mut chain = vec![test.to_owned()];
        for path in steps.into_iter().map(|module| self.modules[module as usize].path) {
            if chain.last().is_none_or(|last| last != path) {
                chain.push(path.to_owned());
            }
        }
        chain
    }
}

/// By cause, what is left of it where a stopped clock answers; that is added to the causes.
fn answered(modules: &[Module<'_>], causes: &mut Vec<Cause<'_>>) -> FxHashMap<usize, Left> {
    let mut found = FxHashMap::default();
    for number in 0..causes.len() {
        let cause = &causes[number];
        let (At::Module(at), Origin::Effect(effect)) = (cause.at, cause.fact.origin) else { continue };
        let clock = modules[at as usize].facts.clock.as_deref();
        let Some(answered) = clock.and_then(|c| c.answered.iter().find(|a| a.effect == effect)) else {
            continue;
        };
        if cause.fact.reason != Some(Opaque::Clock) {
            continue;
        }
        let in_test = answered.in_test;
        let mut left = None;
        if answered.leaves.is_some() {
            let fact = Trait { opacity: Opacity::Pinned, reason: None, ..cause.fact.clone().into_owned() };
            left = Some(causes.len());
            let cause = Cause { unit: cause.unit, at: cause.at, fact: Cow::Owned(fact) };
            causes.push(cause);
        }
        found.insert(number, Left { left, in_test });
    }
    found
}

/// Whether an effect of the same line says what an import that is computed says, too.
fn is_said_twice(fact: &Trait, facts: &[Trait]) -> bool {
    let same = |other: &Trait| {
        matches!(other.origin, Origin::Effect(_)) && (other.reason, other.line) == (fact.reason, fact.line)
    };
    matches!(fact.origin, Origin::Import(_))
        && fact.reason == Some(Opaque::ComputedLoad)
        && facts.iter().any(same)
}

/// Whether a fact is about a file or package that could not be found or read.
fn is_gap(fact: &Trait) -> bool {
    fact.opacity == Opacity::Unknown || (fact.reason == Some(Opaque::Unresolved) && is_of_package(fact))
}

/// Whether a fact says that a package is not installed.
fn is_of_package(fact: &Trait) -> bool {
    matches!(fact.origin, Origin::Import(_)) && fact.opacity == Opacity::InputOpaque
}

/// What names of a file stand for that it does not offer on purpose.
fn offered(module: &Module<'_>) -> impl Iterator<Item = Trait> {
    let named = if module.split { module.facts.offered.as_slice() } else { &[] };
    named.iter().enumerate().map(|(at, effect)| {
        let (opacity, reason) = match &effect.class {
            EffectClass::Opaque(reason) if reason.is_input_opaque() => (Opacity::InputOpaque, Some(*reason)),
            EffectClass::Opaque(reason) => (Opacity::TimeOpaque, Some(*reason)),
            EffectClass::Bounded(_) => (Opacity::Bounded, None),
            EffectClass::Pinned(_) => (Opacity::Pinned, None),
        };
        Trait {
            opacity,
            reason,
            operation: effect.operation.as_str().into(),
            line: effect.line,
            origin: Origin::Offered(number(at)),
        }
    })
}

/// Something about the way a runner runs tests.
fn of_runner(effect: &RunnerEffect) -> Trait {
    let opacity = if effect.reason.is_input_opaque() { Opacity::InputOpaque } else { Opacity::TimeOpaque };
    let operation = effect.operation.as_str().into();
    Trait { opacity, reason: Some(effect.reason), operation, line: 0, origin: Origin::File }
}

/// A runner project that is not understood may have inputs that nobody named.
fn unsettled(widening: &Widening) -> Trait {
    Trait {
        opacity: Opacity::Unknown,
        reason: None,
        operation: format!("{}: {}", widening.reason, widening.detail).into(),
        line: 0,
        origin: Origin::File,
    }
}

/// The sources that a node stands for: itself, or what a node of another kind leads to.
fn behind<'g>(project: &'g Project<'_>, node: NodeId) -> impl Iterator<Item = NodeId> + 'g {
    let graph = &project.graph;
    let nodes = match graph.key(node) {
        NodeKey::Source { .. } => vec![node],
        _ => graph.outgoing(node).into_iter().map(|(to, _)| to).collect(),
    };
    nodes.into_iter().filter(|node| matches!(graph.key(*node), NodeKey::Source { .. }))
}

fn number(of: usize) -> u32 {
    u32::try_from(of).expect("there are fewer than four thousand million of anything")
}
