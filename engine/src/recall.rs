//! From the cache to a project, without reading what did not change.
//!
//! A project is a value of: the settings and plugins; which paths there are; what lies in
//! the directories and behind the links that were looked at beyond those; the contents that
//! runners and resolvers read; the facts of the sources; and, where a child process was
//! asked, its answer. The cache holds all of these beside the project ([`Seen`]). Whoever
//! differs decides what is done anew:
//!
//! | what differs | done anew |
//! | --- | --- |
//! | nothing | nothing |
//! | the content of a source | its facts; if those differ, what it depends on, in each class |
//! | facts that discovery may look at, a content that a runner read (of configuration: its code), the root if it asked for it, or it had asked a child | that runner's discovery; if that differs, everything |
//! | anything else | everything but the facts of contents that are known |
//!
//! A source that is followed anew may lead to nodes that are new, which are then followed,
//! too; then the whole graph is numbered again by walking it in the order in which a cold run
//! discovers it. So the answer, which depends on these numbers where two chains are equally
//! short, is the same to the byte.
//!
//! Why that is sound: what a source depends on is a function of its facts, of the class's
//! options (which come from discovery) and of what a resolver is told by the tree. All that
//! any resolver was told is in the layout, the witness and the contents read, which are the
//! same here; so an unchanged source depends on the same as before.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::cache::snapshot::{Code, Found, Lack, RunnerSeen, Seen, Snapshot, Source, State};
use crate::cache::{Ahead, Cache};
use crate::closure;
use crate::digest::Digest;
use crate::facts::{FileFacts, ImportKind, Span};
use crate::graph::{AbsentRow, Edge, EdgeKind, Graph, NodeId, NodeKey};
use crate::links::Links;
use crate::problem::NotChecked;
use crate::project::{Plugins, Project, Reading, Settings, considered, root_of, setting_of};
use crate::read::state_behind;
use crate::reader::Reader;
use crate::resolve::Resolver;
use crate::runner::{ConfigLoader, visible_facts};
use crate::sources::Sources;
use crate::taken;
use crate::tree::Tree;
use crate::wires::{Wires, is_followed};

/// With more changed sources than this, everything is resolved anew and kept.
const FEW: usize = 64;

/// Opens what is kept of the project that lies at `root`, and asks the disk about all that
/// was looked at for it, so that this is done while somebody waits for git. Nothing is
/// decided by it: [`Project::recall`] still compares everything.
pub fn look_ahead(cache: &Cache, root: &Path, reading: Reading, limit: u64) {
    let Some(snapshot) = cache.snapshot(reading) else { return };
    let stats = cache.stats();
    let known = |path: &&str| {
        let now = state_behind(&root.join(path)).filter(|now| now.size <= limit)?;
        stats.digest(path, &now)
    };
    let known = match stats.is_empty() {
        true => Vec::new(),
        false => snapshot.seen.looked_at().par_iter().with_min_len(64).map(known).collect(),
    };
    cache.put_ahead(Ahead { reading, snapshot, known });
}

impl<'a> Project<'a> {
    /// The project as it was kept, with what changed since done anew; `None` when too much
    /// changed, or nothing is kept.
    pub fn recall(
        tree: &'a dyn Tree,
        plugins: Plugins<'a>,
        settings: Settings,
        reading: Reading,
        loader: &dyn ConfigLoader,
        cache: &'a Cache,
    ) -> Option<Self> {
        let layout = tree.layout()?;
        let (mut snapshot, known) = match cache.take_ahead(reading) {
            Some(ahead) => (ahead.snapshot, ahead.known),
            None => (cache.snapshot(reading)?, Vec::new()),
        };
        let seen = &snapshot.seen;
        let same_root = seen.root == root_of(tree);
        let same = seen.setting == setting_of(plugins, &settings)
            && seen.layout == layout
            && (same_root || !seen.located)
            && tree.confirms(&seen.witness);
        if !same {
            return None;
        }
        let reader = Reader { tree, plugins, settings, reading, cache: Some(cache) };
        let now = Contents::look(tree, seen, &known);
        if !now.are_same(&seen.reads) {
            return None;
        }
        let knows = |r: &RunnerSeen| {
            !r.asked
                && (same_root || !r.located)
                && now.are_same(&r.reads)
                && now.lack_the_same(tree, &r.lacks)
                && now.have_the_same_code(tree, plugins, &r.codes)
        };
        let runners_know: Vec<bool> = seen.runners.iter().map(knows).collect();
        let differing = now.differing(seen);
        let mut seen = std::mem::take(&mut snapshot.seen);
        cache.begin_recall();
        let changed = read_changed(&reader, &mut seen, &differing);
        cache.end_recall(changed.is_some());
        let changed = changed?;
        let alike = changed.iter().all(|c| c.looks_alike_to_runners());
        let project = with_facts(reader, &mut seen, &changed);
        let mut project = rediscover(project, &mut seen, loader, |runner| alike && runners_know[runner])?;
        let mut followed: Vec<String> =
            changed.iter().filter(|c| c.differs()).map(|c| c.path.clone()).collect();
        followed.extend(takers(&snapshot.graph, &changed));
        followed.sort_unstable();
        followed.dedup();
        rewire(&mut project, snapshot, &followed)?;
        let is_reached = |path: &String| !project.graph.nodes_of(path).is_empty();
        let beyond: Vec<_> = seen.beyond.into_iter().filter(|(path, _)| is_reached(path)).collect();
        project.facts.fetch_beyond(beyond);
        Some(project)
    }
}

/// What is now at every path that was read, each looked at once.
struct Contents<'s>(FxHashMap<&'s str, Digest>);

impl<'s> Contents<'s> {
    /// `known` is what is known already, of all paths or of none.
    fn look(tree: &dyn Tree, seen: &'s Seen, known: &[Option<Digest>]) -> Self {
        let paths = seen.looked_at();
        let now = |(at, path): (usize, &&'s str)| {
            let known = known.get(at).copied().flatten();
            (*path, known.unwrap_or_else(|| Digest::or_reason(tree.digest(path))))
        };
        let now: Vec<(&'s str, Digest)> = paths.par_iter().enumerate().with_min_len(64).map(now).collect();
        Self(now.into_iter().collect())
    }

    /// Whether contents that held none of some words still hold none of them.
    fn lack_the_same(&self, tree: &dyn Tree, lacks: &[Lack]) -> bool {
        let same = |Lack { path, digest, words }: &Lack| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            self.0.get(path.as_str()) == Some(digest) || tree.text_with(path, &words).is_none()
        };
        lacks.iter().all(same)
    }

    /// Whether texts that were looked at without their comments are the same without them.
    fn have_the_same_code(&self, tree: &dyn Tree, plugins: Plugins<'_>, codes: &[Code]) -> bool {
        let of = |path: &str| plugins.language_of(path)?.code(path, &tree.text(path)?);
        let same = |Code { path, digest, code }: &Code| {
            self.0.get(path.as_str()) == Some(digest) || of(path) == Some(*code)
        };
        codes.iter().all(same)
    }

    fn are_same(&self, reads: &[(String, Digest)]) -> bool {
        reads.iter().all(|(path, digest)| self.0.get(path.as_str()) == Some(digest))
    }

    /// The numbers of the sources that differ.
    fn differing(&self, seen: &Seen) -> Vec<usize> {
        let differs =
            |at: &usize| self.0.get(seen.sources[*at].path.as_str()) != Some(&seen.sources[*at].digest);
        (0..seen.sources.len()).filter(differs).collect()
    }
}

/// A source whose content differs.
struct Changed {
    path: String,
    before: Option<FileFacts>,
    now: Option<FileFacts>,
}

impl Changed {
    /// Whether what it depends on may differ.
    fn differs(&self) -> bool {
        let plain = |facts: &Option<FileFacts>| {
            facts.clone().map(|mut facts| {
                facts.declarations.clear();
                facts.exports.clear();
                facts.tests.clear();
                facts.offered.clear();
                facts.listed = None;
                facts.imports.iter_mut().for_each(|i| i.span = Span::default());
                facts.effects.iter_mut().for_each(|e| e.span = Span::default());
                facts.damage.iter_mut().for_each(|d| d.span = Span::default());
                facts
            })
        };
        self.before.is_none() || plain(&self.before) != plain(&self.now)
    }

    /// Whether what others take of it by the way may differ.
    fn is_taken_otherwise(&self) -> bool {
        self.before.as_ref().map(taken::takeable) != self.now.as_ref().map(taken::takeable)
    }

    /// Whether no runner sees a difference.
    fn looks_alike_to_runners(&self) -> bool {
        self.before.is_some()
            && self.before.as_ref().map(visible_facts) == self.now.as_ref().map(visible_facts)
    }
}

/// The sources that import one that has other things by the way, also through stars.
fn takers(graph: &Graph, changed: &[Changed]) -> Vec<String> {
    let seeds = changed.iter().filter(|c| c.is_taken_otherwise()).flat_map(|c| graph.nodes_of(&c.path));
    let seeds: Vec<NodeId> = seeds.collect();
    if seeds.is_empty() {
        return Vec::new();
    }
    let through = graph.dependents(&seeds, |edge| edge.kind == EdgeKind::Import(ImportKind::Star));
    let through = through.order().to_vec();
    let takers = graph.dependents(&through, |edge| matches!(edge.kind, EdgeKind::Import(_)));
    let direct = takers.order().iter().filter(|node| takers.distance(**node).is_some_and(|d| d <= 1));
    direct
        .filter_map(|node| match graph.key(*node) {
            NodeKey::Source { path, .. } => Some(path.to_string()),
            _ => None,
        })
        .collect()
}

/// Reads the sources whose content differs, and brings `seen` up to date; `None` when there
/// are many, or one of them had or has no facts.
fn read_changed(reader: &Reader<'_>, seen: &mut Seen, differing: &[usize]) -> Option<Vec<Changed>> {
    if differing.len() > FEW {
        return None;
    }
    let sources = &seen.sources;
    let read: Vec<(usize, Source, Changed)> = differing
        .par_iter()
        .map(|&at| {
            let Source { path, digest, .. } = &sources[at];
            let language = reader.plugins.language_of(path)?;
            let before = reader.kept(language, path, *digest).and_then(Result::ok);
            let (digest, facts) = reader.read(language, path);
            let source = Source::new(path, digest, facts.as_ref().map_err(|e| *e));
            Some((at, source, Changed { path: path.clone(), before, now: facts.ok() }))
        })
        .collect::<Option<_>>()?;
    let mut changed = Vec::with_capacity(read.len());
    for (at, source, change) in read {
        seen.sources[at] = source;
        changed.push(change);
    }
    Some(changed)
}

fn with_facts<'a>(reader: Reader<'a>, seen: &mut Seen, changed: &[Changed]) -> Project<'a> {
    let mut now: FxHashMap<&str, &FileFacts> = FxHashMap::default();
    now.extend(changed.iter().filter_map(|c| Some((c.path.as_str(), c.now.as_ref()?))));
    let sources = std::mem::take(&mut seen.sources);
    let not_checked = sources.iter().filter_map(Source::not_checked).collect();
    let has_facts = |source: &Source| !matches!(source.state, State::Unread(_));
    let contents = sources.into_iter().filter(has_facts).map(|source| {
        let known = now.get(source.path.as_str()).map(|facts| (*facts).clone());
        (source.path, source.digest, known)
    });
    let contents = contents.collect();
    let Reader { tree, plugins, reading, cache, .. } = reader;
    let settings = reader.settings.clone();
    let files = considered(tree, &settings);
    let mut project =
        Project::new(tree, plugins, settings, reading, files, Sources::to_fetch(contents, reader));
    project.cache = cache;
    project.not_checked = not_checked;
    project
}

/// Asks those runners again whose answer may differ; `None` when one does.
fn rediscover<'a>(
    mut project: Project<'a>,
    seen: &mut Seen,
    loader: &dyn ConfigLoader,
    is_known: impl Fn(usize) -> bool + Sync,
) -> Option<Project<'a>> {
    let is_same = |n: usize| is_known(n) || project.ask(n, loader).discovery == seen.runners[n].discovery;
    if seen.runners.len() != project.plugins.runners.len()
        || !(0..seen.runners.len()).into_par_iter().all(is_same)
    {
        return None;
    }
    project.take_discoveries(std::mem::take(&mut seen.runners).into_iter().map(|runner| runner.discovery));
    Some(project)
}

/// Follows the sources `again`, and takes over the graph: as it is kept, or built again.
/// `None` when what it is built from is damaged.
fn rewire(project: &mut Project<'_>, snapshot: Snapshot, again: &[String]) -> Option<()> {
    let graph = &snapshot.graph;
    let is_source = |node: &NodeId| matches!(graph.key(*node), NodeKey::Source { .. });
    let nodes = again.iter().flat_map(|path| graph.nodes_of(path)).filter(is_source);
    let mut frontier: Vec<usize> = nodes.map(NodeId::index).collect();
    frontier.sort_unstable();
    if frontier.is_empty() {
        project.graph = snapshot.graph;
        project.problems.extend(snapshot.problems.into_iter().map(|(_, problem)| problem));
        project.not_checked.extend(snapshot.unread.into_iter().map(|(_, unread)| unread));
        order_lists(project);
        return Some(());
    }
    let Found { mut nodes, mut wires, mut absent } = snapshot.found()?;
    let mut beyond: BTreeMap<String, FileFacts> = BTreeMap::new();
    let mut moved = false;
    // What they looked for in vain is looked for again.
    absent.retain(|row| frontier.binary_search(&(row.node as usize)).is_err());
    let mut numbers: FxHashMap<NodeKey, NodeId> = FxHashMap::default();
    numbers.extend(nodes.iter().enumerate().map(|(n, key)| (key.clone(), NodeId::new(n))));
    {
        let links = Links::new(project.tree);
        let mut resolvers = Resolvers::new(project);
        while !frontier.is_empty() {
            frontier.iter().for_each(|n| resolvers.make_for(&nodes[*n]));
            let of = |class, language| resolvers.get(class, language);
            let follow =
                |&n: &usize| (n, closure::follow(project, project.tree, &links, &beyond, &of, &nodes[n]));
            let found: Vec<(usize, closure::Found)> = frontier.par_iter().map(follow).collect();
            frontier = Vec::new();
            for (n, found) in found {
                let mut edges = Vec::with_capacity(found.edges.len());
                for (key, edge) in found.edges {
                    let to = *numbers.entry(key).or_insert_with_key(|key| {
                        if is_followed(key) {
                            frontier.push(nodes.len());
                        }
                        nodes.push(key.clone());
                        NodeId::new(nodes.len() - 1)
                    });
                    edges.push((to, edge));
                }
                let unread = found.extra.and_then(|(path, read)| match read {
                    Ok(facts) => {
                        beyond.insert(path, facts);
                        None
                    }
                    Err(reason) => Some(NotChecked { path, reason, line: None }),
                });
                wires.resize_with(nodes.len(), Wires::default);
                let node = number_of(n);
                absent.extend(found.absent.iter().map(|(path, line)| AbsentRow {
                    hash: path.0,
                    node,
                    line: *line,
                }));
                moved |= !wires[n].edges.iter().map(|e| e.0).eq(edges.iter().map(|e| e.0));
                wires[n] = Wires {
                    edges,
                    imports: found.imports,
                    absent: Vec::new(),
                    traits: found.traits,
                    problems: found.problems,
                    unread,
                };
            }
        }
    }
    project.facts.extend(beyond);
    wires.resize_with(nodes.len(), Wires::default);
    let order = if moved { order_of(&nodes, &wires) } else { Order::as_is(&nodes) };
    build(project, nodes, wires, absent, &order);
    Some(())
}

fn number_of(index: usize) -> u32 {
    u32::try_from(index).expect("there are fewer than four thousand million nodes")
}

/// The order in which a cold run makes nodes, and in which it follows them.
struct Order {
    /// Old numbers of the nodes that are reached, in their new order.
    made: Vec<usize>,
    /// New numbers by old ones; meaningless for what is not reached.
    numbers: Vec<u32>,
    /// Old numbers in the order in which their edges are added.
    followed: Vec<usize>,
}

impl Order {
    /// When nothing moved: tests, each suite before the first of its tests, and then sources,
    /// in the order of their numbers.
    fn as_is(nodes: &[NodeKey]) -> Self {
        let mut followed = Vec::with_capacity(nodes.len());
        for (n, key) in nodes.iter().enumerate() {
            if matches!(key, NodeKey::Test(_)) {
                followed.extend(matches!(nodes.get(n + 1), Some(NodeKey::Suite(_))).then_some(n + 1));
                followed.push(n);
            }
        }
        followed.extend((0..nodes.len()).filter(|n| is_followed(&nodes[*n])));
        Self { made: (0..nodes.len()).collect(), numbers: (0..).take(nodes.len()).collect(), followed }
    }
}

const UNREACHED: u32 = u32::MAX;

fn order_of(nodes: &[NodeKey], wires: &[Wires]) -> Order {
    let mut order = Order { made: Vec::new(), numbers: vec![UNREACHED; nodes.len()], followed: Vec::new() };
    let mut queue = std::collections::VecDeque::new();
    let reach = |order: &mut Order, n: usize, queue: &mut std::collections::VecDeque<usize>| {
        if order.numbers[n] != UNREACHED {
            return false;
        }
        order.numbers[n] = u32::try_from(order.made.len()).expect("they were numbered by u32 before");
        order.made.push(n);
        if is_followed(&nodes[n]) {
            queue.push_back(n);
        }
        true
    };
    let mut tests: Vec<(u32, usize)> = Vec::new();
    tests.extend(nodes.iter().enumerate().filter_map(|(n, key)| match key {
        NodeKey::Test(number) => Some((*number, n)),
        _ => None,
    }));
    tests.sort_unstable();
    for (_, test) in tests {
        reach(&mut order, test, &mut queue);
        let is_suite = |(_, edge): &&(NodeId, Edge)| edge.kind == EdgeKind::Suite;
        if let Some((suite, _)) = wires[test].edges.iter().find(is_suite)
            && reach(&mut order, suite.index(), &mut queue)
        {
            for (to, _) in &wires[suite.index()].edges {
                reach(&mut order, to.index(), &mut queue);
            }
            order.followed.push(suite.index());
        }
        for (to, _) in &wires[test].edges {
            reach(&mut order, to.index(), &mut queue);
        }
        order.followed.push(test);
    }
    while let Some(n) = queue.pop_front() {
        for (to, _) in &wires[n].edges {
            reach(&mut order, to.index(), &mut queue);
        }
        order.followed.push(n);
    }
    order
}

fn build(
    project: &mut Project<'_>,
    mut nodes: Vec<NodeKey>,
    mut wires: Vec<Wires>,
    mut absent: Vec<AbsentRow>,
    order: &Order,
) {
    let edges = wires.iter().map(|wires| wires.edges.len()).sum();
    let mut graph = Graph::with_capacity(order.made.len(), edges);
    for &n in &order.made {
        let key = std::mem::replace(&mut nodes[n], NodeKey::Test(0));
        graph.add_node(key);
    }
    let number = |n: NodeId| NodeId::from(order.numbers[n.index()]);
    let mut problems = Vec::new();
    for &n in &order.followed {
        let mut own = std::mem::take(&mut wires[n]);
        for (to, _) in &mut own.edges {
            *to = number(*to);
        }
        let (more, unread) = own.add_to(&mut graph, number(NodeId::new(n)));
        problems.extend(more);
        project.not_checked.extend(unread);
    }
    absent.retain(|row| order.numbers[row.node as usize] != UNREACHED);
    for row in &mut absent {
        row.node = order.numbers[row.node as usize];
    }
    graph.set_absent(absent);
    graph.finish();
    project.graph = graph;
    project.problems.extend(problems);
    order_lists(project);
}

fn order_lists(project: &mut Project<'_>) {
    project.problems.sort();
    project.problems.dedup();
    project.not_checked.sort();
    project.not_checked.dedup();
}

/// The resolvers that are needed, by class and language: a few in most runs. They are made
/// before sources are followed in parallel, and not by whoever comes first.
struct Resolvers<'p, 'a> {
    project: &'p Project<'a>,
    made: Vec<Vec<Option<Box<dyn Resolver + 'p>>>>,
}

impl<'p, 'a> Resolvers<'p, 'a> {
    fn new(project: &'p Project<'a>) -> Self {
        let row = || project.plugins.languages.iter().map(|_| None).collect();
        Self { project, made: project.classes.iter().map(|_| row()).collect() }
    }

    /// Makes those that following this node may ask.
    fn make_for(&mut self, key: &NodeKey) {
        let languages = self.project.plugins.languages;
        let (class, wanted) = match key {
            NodeKey::Source { class, path } => {
                let number = languages.iter().position(|l| l.reads(path)).unwrap_or(languages.len());
                (*class, number..(number + 1).min(languages.len()))
            }
            NodeKey::Sources { class, .. } => (*class, 0..languages.len()),
            _ => return,
        };
        for language in wanted {
            let options = &self.project.classes[class as usize];
            self.made[class as usize][language]
                .get_or_insert_with(|| languages[language].resolver(self.project.tree, options));
        }
    }

    fn get(&self, class: u32, language: usize) -> &(dyn Resolver + 'p) {
        self.made[class as usize][language].as_deref().expect("it was made for every node that is followed")
    }
}
