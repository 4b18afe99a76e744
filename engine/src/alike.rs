//! Following a file once for all resolution classes that agree about it.
//!
//! Many runner projects differ only in where they are, or in aliases that most files do not
//! use. Their resolvers say so ([`Resolver::group`], [`Resolver::decides`], `Resolution::own`),
//! and then what a file depends on under one class is what it depends on under the others, but
//! for the class of the sources that it leads to. Everything that is not said to be alike is
//! followed by itself; the nodes, their numbers and their edges are the same either way.

use hashbrown::HashMap;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;
use std::collections::BTreeMap;

use crate::closure::Found;
use crate::facts::FileFacts;
use crate::graph::{Edge, NodeId, NodeKey};
use crate::project::Project;
use crate::resolve::Resolver;
use crate::wires::{Building, Wires};

/// Resolvers by language, then by class.
pub(crate) type Resolvers<'a> = Vec<Vec<Box<dyn Resolver + 'a>>>;

/// What has to be done about one node of a level.
pub(crate) enum Step {
    /// This was found.
    Alone(Found),
    /// This was found, and is known under this number once it is [wired](Alike::wired).
    First(usize, Found),
    /// It is what has this number.
    Again(usize),
}

/// What was found for files that several classes may share.
pub(crate) struct Alike {
    /// By language and class: the number of the group, where it has several classes.
    groups: Vec<Vec<Option<u32>>>,
    /// By group and path.
    known: HashMap<(u32, Box<str>), usize, FxBuildHasher>,
    met: Vec<Met>,
}

/// Where an edge leads under another class.
enum Way {
    /// To the same node.
    Node(NodeId),
    /// To this source under that class.
    Source(Box<str>),
    /// To the sources of this package under that class.
    Sources(Box<str>),
}

struct Met {
    ways: Vec<(Way, Edge)>,
    /// All but the edges.
    rest: Wires,
}

/// What is done about a key of a level, by the numbers of keys and of [`Alike::met`].
enum Plan {
    Alone,
    First,
    Waits(usize),
    Known(usize),
}

impl Alike {
    pub(crate) fn new(project: &Project<'_>, resolvers: &Resolvers<'_>) -> Self {
        let mut numbers: BTreeMap<(usize, u32, bool), (u32, usize)> = BTreeMap::new();
        let kind = |language: usize, class: usize, resolver: &dyn Resolver| {
            let erased = project.classes[class].types_erased;
            resolver.group().map(|group| (language, group, erased))
        };
        for (language, classes) in resolvers.iter().enumerate() {
            for (class, resolver) in classes.iter().enumerate() {
                if let Some(kind) = kind(language, class, &**resolver) {
                    let next = u32::try_from(numbers.len()).expect("there are fewer groups than classes");
                    numbers.entry(kind).or_insert((next, 0)).1 += 1;
                }
            }
        }
        let group = |kind| numbers.get(&kind).filter(|(_, members)| *members > 1).map(|(number, _)| *number);
        let groups = resolvers.iter().enumerate().map(|(language, classes)| {
            let classes = classes.iter().enumerate();
            classes.map(|(class, resolver)| kind(language, class, &**resolver).and_then(group)).collect()
        });
        Self { groups: groups.collect(), known: HashMap::default(), met: Vec::new() }
    }

    /// What each of `keys` depends on, in their order; `follow` finds it.
    pub(crate) fn follow(
        &mut self,
        project: &Project<'_>,
        extra: &BTreeMap<String, FileFacts>,
        resolvers: &Resolvers<'_>,
        keys: &[&NodeKey],
        follow: &(dyn Fn(&NodeKey) -> Found + Sync),
    ) -> Vec<Step> {
        if self.groups.iter().flatten().all(Option::is_none) {
            return keys.par_iter().map(|key| Step::Alone(follow(key))).collect();
        }
        let groups: Vec<Option<u32>> =
            keys.par_iter().map(|key| self.group_of(project, extra, resolvers, key)).collect();
        let mut first: HashMap<(u32, &str), usize, FxBuildHasher> = HashMap::default();
        let mut plans: Vec<Plan> = Vec::with_capacity(keys.len());
        for (number, (key, group)) in keys.iter().zip(&groups).enumerate() {
            let place = group.zip(key.path());
            plans.push(match place {
                None => Plan::Alone,
                Some((group, path)) => match self.known.get(&Borrowed(group, path)) {
                    Some(at) => Plan::Known(*at),
                    None => match first.entry((group, path)) {
                        hashbrown::hash_map::Entry::Occupied(first) => Plan::Waits(*first.get()),
                        hashbrown::hash_map::Entry::Vacant(new) => {
                            new.insert(number);
                            Plan::First
                        }
                    },
                },
            });
        }
        let found: Vec<Option<Found>> = keys
            .par_iter()
            .zip(&plans)
            .map(|(key, plan)| matches!(plan, Plan::Alone | Plan::First).then(|| follow(key)))
            .collect();
        // What those found that others wait for.
        let mut steps: Vec<Option<Step>> = Vec::with_capacity(keys.len());
        for ((number, found), plan) in found.into_iter().enumerate().zip(&plans) {
            steps.push(match (found, plan) {
                (Some(found), Plan::First) if !found.own && found.extra.is_none() => {
                    let (group, path) = (groups[number], keys[number].path());
                    let (group, path) = group.zip(path).expect("only sources of a group come first");
                    self.known.insert((group, path.into()), self.met.len());
                    self.met.push(Met::new(&found));
                    Some(Step::First(self.met.len() - 1, found))
                }
                (Some(found), _) => Some(Step::Alone(found)),
                (None, Plan::Known(at)) => Some(Step::Again(*at)),
                (None, Plan::Waits(first)) => match &steps[*first] {
                    Some(Step::First(at, _)) => Some(Step::Again(*at)),
                    _ => None,
                },
                (None, Plan::Alone | Plan::First) => unreachable!("they were followed"),
            });
        }
        let rest = keys.par_iter().zip(steps);
        rest.map(|(key, step)| step.unwrap_or_else(|| Step::Alone(follow(key)))).collect()
    }

    /// The group in which a source may be shared.
    fn group_of(
        &self,
        project: &Project<'_>,
        extra: &BTreeMap<String, FileFacts>,
        resolvers: &Resolvers<'_>,
        key: &NodeKey,
    ) -> Option<u32> {
        let NodeKey::Source { class, path } = key else { return None };
        let language = project.plugins.languages.iter().position(|l| l.reads(path))?;
        let group = self.groups[language][*class as usize]?;
        let facts = project.facts.get(path).or_else(|| extra.get(&**path))?;
        let resolver = &resolvers[language][*class as usize];
        (!facts.imports.iter().any(|import| resolver.decides(import))).then_some(group)
    }

    /// Notes the nodes to which the edges of a first lead.
    pub(crate) fn wired(&mut self, at: usize, edges: &[(NodeId, Edge)]) {
        for ((way, _), (id, _)) in self.met[at].ways.iter_mut().zip(edges) {
            if let Way::Node(node) = way {
                *node = *id;
            }
        }
    }

    /// What the file that was met under this number depends on under `class`.
    pub(crate) fn again(&self, at: usize, class: u32, building: &mut Building) -> Wires {
        let Met { ways, rest } = &self.met[at];
        let edges = ways.iter().map(|(way, edge)| {
            let node = match way {
                Way::Node(node) => *node,
                Way::Source(path) => building.target(NodeKey::Source { class, path: path.clone() }),
                Way::Sources(dir) => building.target(NodeKey::Sources { class, dir: dir.clone() }),
            };
            (node, *edge)
        });
        Wires { edges: edges.collect(), ..rest.clone() }
    }
}

impl Met {
    fn new(found: &Found) -> Self {
        let way = |key: &NodeKey| match key {
            NodeKey::Source { path, .. } => Way::Source(path.clone()),
            NodeKey::Sources { dir, .. } => Way::Sources(dir.clone()),
            _ => Way::Node(NodeId::end()),
        };
        let rest = Wires {
            edges: Vec::new(),
            imports: found.imports.clone(),
            absent: found.absent.clone(),
            traits: found.traits.clone(),
            problems: found.problems.clone(),
            unread: None,
        };
        Self { ways: found.edges.iter().map(|(key, edge)| (way(key), *edge)).collect(), rest }
    }
}

/// A key of [`Alike::known`] that is looked for.
#[derive(Hash)]
struct Borrowed<'k>(u32, &'k str);

impl hashbrown::Equivalent<(u32, Box<str>)> for Borrowed<'_> {
    fn equivalent(&self, key: &(u32, Box<str>)) -> bool {
        self.0 == key.0 && self.1 == &*key.1
    }
}
