//! From facts to the graph: follows every closure from the tests outward, one level at a
//! time, each level in parallel, and resolves what is written on the way.
//!
//! Only what some test can reach is resolved. Generated files that git ignores are read
//! when a closure names them. No recursion: a chain of 10,000 imports is 10,000 levels.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;

use crate::alike::{Alike, Resolvers, Step};
use crate::effects::{add_effect, starts_at_roots};
use crate::facts::{FileFacts, Import, ImportKind, Opaque, Presence};
use crate::graph::{Absent, Edge, EdgeKind, Graph, NodeId, NodeKey, Origin, Trait};
use crate::links::{Links, other_name};
use crate::problem::{NotChecked, Problem, Unchecked};
use crate::project::Project;
use crate::reader::read_source;
use crate::resolve::{Listing, Resolution, Resolver, Target, UnknownImport};
use crate::runner::{Load, Shared};
use crate::selection::Opacity;
use crate::taken;
use crate::tree::{Kind, Tree};
use crate::wires::{Building, Wires};

/// What one source file depends on, before its targets have numbers.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) edges: Vec<(NodeKey, Edge)>,
    /// Numbers of imports, each with where its edges begin; they end where the next begins.
    pub(crate) imports: Vec<(u32, u32)>,
    pub(crate) absent: Vec<(Absent, u32)>,
    pub(crate) traits: Vec<Trait>,
    pub(crate) problems: Vec<Problem>,
    /// A file outside of the inventory that was read for it.
    pub(crate) extra: Option<(String, Result<FileFacts, Unchecked>)>,
    /// Whether options of its class had a say that others of the group need not share.
    pub(crate) own: bool,
}

/// Builds `project.graph`. With `keep`, also gives what each node was found to depend on.
/// Contents and the root are asked of `tree`, which is the project's or one that remembers.
pub(crate) fn resolve(project: &mut Project<'_>, tree: &dyn Tree, keep: bool) -> Vec<Wires> {
    let mut building = Building { graph: Graph::default(), frontier: Vec::new(), wires: keep.then(Vec::new) };
    let links = Links::new(project.tree);
    for number in 0..project.tests.len() {
        add_test(project, &links, &mut building, number);
    }
    for path in &project.followed {
        building.target(file_key(project, 0, path));
    }
    let mut extra: BTreeMap<String, FileFacts> = BTreeMap::new();
    let mut not_checked = Vec::new();
    let mut problems = Vec::new();
    let languages = project.plugins.languages;
    let resolvers: Resolvers<'_> = languages.iter().map(|l| l.resolvers(tree, &project.classes)).collect();
    let mut shared = Alike::new(project, &resolvers);
    while !building.frontier.is_empty() {
        let frontier = std::mem::take(&mut building.frontier);
        let keys: Vec<&NodeKey> = frontier.iter().map(|id| building.graph.key(*id)).collect();
        let of = |class: u32, language: usize| &*resolvers[language][class as usize];
        let follow = |key: &NodeKey| follow(project, tree, &links, &extra, &of, key);
        let level = shared.follow(project, &extra, &resolvers, &keys, &follow);
        for (id, step) in frontier.into_iter().zip(level) {
            let (found, first) = match step {
                Step::Alone(found) => (found, None),
                Step::First(at, found) => (found, Some(at)),
                Step::Again(at) => {
                    let &NodeKey::Source { class, .. } = building.graph.key(id) else {
                        unreachable!("only sources are shared");
                    };
                    let wires = shared.again(at, class, &mut building);
                    problems.extend(building.wire(id, wires).0);
                    continue;
                }
            };
            let Found { edges, imports, absent, traits, problems: more, extra: read, own: _ } = found;
            let edges: Vec<_> = edges.into_iter().map(|(key, edge)| (building.target(key), edge)).collect();
            if let Some(at) = first {
                shared.wired(at, &edges);
            }
            let unread = read.and_then(|(path, read)| match read {
                Ok(facts) => {
                    extra.insert(path, facts);
                    None
                }
                Err(reason) => Some(NotChecked { path, reason, line: None }),
            });
            let wires = Wires { edges, imports, absent, traits, problems: more, unread };
            let (more, unread) = building.wire(id, wires);
            problems.extend(more);
            not_checked.extend(unread);
        }
    }
    drop((shared, resolvers));
    let Building { mut graph, wires, .. } = building;
    graph.finish();
    project.graph = graph;
    project.problems.extend(problems);
    project.not_checked.extend(not_checked);
    project.not_checked.sort();
    project.not_checked.dedup();
    project.facts.extend(extra);
    wires.unwrap_or_default()
}

fn add_test(project: &Project<'_>, links: &Links, building: &mut Building, number: usize) {
    let reference = project.tests[number];
    let suite = project.suite(reference);
    let test = &suite.project.tests[reference.test];
    let (id, _) = building.graph.add_node(NodeKey::Test(number_of(number)));
    let (common, new) = building.graph.add_node(NodeKey::Suite(number_of(reference.suite)));
    if new {
        let edges = shared_edges(project, links, building, suite.class, &suite.project.shared);
        building.wire(common, Wires { edges, ..Wires::default() });
    }
    let mut edges = shared_edges(project, links, building, suite.class, &test.shared);
    let kind = if suite.project.checked { EdgeKind::Checked } else { EdgeKind::Own };
    let mut own = vec![(file_key(project, suite.class, &test.path), Edge { kind, line: 0 })];
    add_other_names(project, links, &mut own);
    edges.extend(own.into_iter().map(|(key, edge)| (building.target(key), edge)));
    edges.push((common, Edge { kind: EdgeKind::Suite, line: 0 }));
    building.wire(id, Wires { edges, ..Wires::default() });
}

fn shared_edges(
    project: &Project<'_>,
    links: &Links,
    building: &mut Building,
    class: u32,
    shared: &[Shared],
) -> Vec<(NodeId, Edge)> {
    let edge = |shared: &Shared| {
        let edge = Edge { kind: EdgeKind::Shared(shared.role), line: 0 };
        (shared_key(project, class, shared), edge)
    };
    let mut keys: Vec<(NodeKey, Edge)> = shared.iter().map(edge).collect();
    add_other_names(project, links, &mut keys);
    keys.into_iter().map(|(key, edge)| (building.target(key), edge)).collect()
}

fn number_of(index: usize) -> u32 {
    u32::try_from(index).expect("there are fewer than four thousand million of anything")
}

fn shared_key(project: &Project<'_>, class: u32, shared: &Shared) -> NodeKey {
    match &shared.target {
        Target::File(path) => match shared.load {
            Load::Content => data_key(project, path),
            Load::Project => file_key(project, class, path),
            Load::Config => file_key(project, 0, path),
        },
        other => target_key(project, class, other),
    }
}

fn file_key(project: &Project<'_>, class: u32, path: &str) -> NodeKey {
    if project.plugins.language_of(path).is_some() {
        NodeKey::Source { class, path: path.into() }
    } else {
        data_key(project, path)
    }
}

/// A path as data: a directory counts with everything below it.
pub(crate) fn data_key(project: &Project<'_>, path: &str) -> NodeKey {
    if path.is_empty() || project.tree.kind(path) == Some(Kind::Dir) {
        let listing = Listing { dir: path.to_owned(), glob: "**".to_owned() };
        NodeKey::Listing { listing, contents: true }
    } else {
        NodeKey::Data(path.into())
    }
}

fn target_key(project: &Project<'_>, class: u32, target: &Target) -> NodeKey {
    match target {
        Target::File(path) => file_key(project, class, path),
        Target::Manifest(path) => NodeKey::Manifest(path.as_str().into()),
        Target::Listing(listing) => NodeKey::Listing { listing: listing.clone(), contents: false },
        Target::Package(name) => NodeKey::Package(name.as_str().into()),
        Target::Env(name) => NodeKey::Env(name.as_str().into()),
        Target::Sources(dir) => NodeKey::Sources { class, dir: dir.as_str().into() },
    }
}

/// Records what is read through a link under its other name, too.
fn add_other_names(project: &Project<'_>, links: &Links, edges: &mut Vec<(NodeKey, Edge)>) {
    let mut more = Vec::new();
    for (key, edge) in edges.iter() {
        match key {
            NodeKey::Source { path, .. } | NodeKey::Data(path) => {
                // Without links in the inventory, its files have one name.
                if links.is_empty() && in_inventory(project, path) {
                    continue;
                }
                let other = other_name(project.tree, path);
                more.extend(other.map(|other| (data_key(project, &other), *edge)));
            }
            NodeKey::Listing { listing, contents } => {
                if *contents {
                    more.extend(links.below(&listing.dir).map(|real| (data_key(project, real), *edge)));
                }
                if let Some(dir) = other_name(project.tree, &listing.dir) {
                    let listing = Listing { dir, glob: listing.glob.clone() };
                    more.push((NodeKey::Listing { listing, contents: *contents }, *edge));
                }
            }
            NodeKey::Test(_)
            | NodeKey::Suite(_)
            | NodeKey::Manifest(_)
            | NodeKey::Package(_)
            | NodeKey::Env(_)
            | NodeKey::Sources { .. } => {}
        }
    }
    edges.append(&mut more);
}

/// What a source depends on. `resolver` gives the one of a class and a language.
pub(crate) fn follow<'r>(
    project: &Project<'_>,
    tree: &dyn Tree,
    links: &Links,
    extra: &BTreeMap<String, FileFacts>,
    resolver: &dyn Fn(u32, usize) -> &'r dyn Resolver,
    key: &NodeKey,
) -> Found {
    let mut found = Found::default();
    if let NodeKey::Sources { class, dir } = key {
        for language in 0..project.plugins.languages.len() {
            let sources = resolver(*class, language).sources(dir);
            add_resolution(project, &mut found, *class, sources, ImportKind::Glob, 0);
        }
        add_other_names(project, links, &mut found.edges);
        return found;
    }
    let NodeKey::Source { class, path } = key else { return found };
    let number = project.plugins.languages.iter().position(|l| l.reads(path));
    let Some(number) = number else { return found };
    let owned;
    let facts = match project.facts.get(path).or_else(|| extra.get(&**path)) {
        Some(facts) => facts,
        None if project.tree.is_file(path) && !in_inventory(project, path) => {
            let language = project.plugins.languages[number];
            let read = read_source(tree, language, &project.settings, path, project.reading);
            match read {
                Ok(facts) => {
                    owned = facts;
                    found.extra = Some((path.to_string(), Ok(owned.clone())));
                    &owned
                }
                Err(reason) => {
                    found.extra = Some((path.to_string(), Err(reason)));
                    found.traits.push(unreadable(reason.word()));
                    return found;
                }
            }
        }
        None if project.tree.is_file(path) => {
            found.traits.push(unreadable("not read"));
            return found;
        }
        // A shared file that need not exist: its appearance is a change of this path.
        None => return found,
    };
    let types_erased = project.classes[*class as usize].types_erased;
    let resolver = resolver(*class, number);
    let around = resolver.surroundings(path);
    found.own |= around.own || facts.effects.iter().any(starts_at_roots);
    found.edges.extend(
        around
            .targets
            .iter()
            .map(|target| (target_key(project, *class, target), Edge { kind: EdgeKind::Consulted, line: 0 })),
    );
    for manifest in around.consulted {
        let key = NodeKey::Manifest(manifest.into());
        found.edges.push((key, Edge { kind: EdgeKind::Consulted, line: 0 }));
    }
    found.absent.extend(around.absent.iter().map(|path| (Absent::new(path), 0)));
    for (number, import) in facts.imports.iter().enumerate() {
        if import.kind == ImportKind::TypeOnly && types_erased {
            continue;
        }
        found.imports.push((number_of(number), number_of(found.edges.len())));
        add_import(project, &mut found, resolver, *class, path, number_of(number), import);
    }
    found.imports.push((u32::MAX, number_of(found.edges.len())));
    if project.plugins.languages[number].offers_by_the_way() {
        add_taken(project, tree, extra, &mut found, resolver, facts);
    }
    for (number, effect) in facts.effects.iter().enumerate() {
        add_effect(project, tree, &mut found, *class, path, number_of(number), effect);
    }
    add_other_names(project, links, &mut found.edges);
    found.absent.sort_unstable();
    found.absent.dedup_by_key(|(path, _)| *path);
    found.traits.extend(damage(facts));
    found
}

/// Adds what a file takes by the way of those that it imports.
fn add_taken(
    project: &Project<'_>,
    tree: &dyn Tree,
    extra: &BTreeMap<String, FileFacts>,
    found: &mut Found,
    resolver: &dyn Resolver,
    facts: &FileFacts,
) {
    // Where names come through stars, what the stars of other files mean has a say, too.
    let own = Cell::new(false);
    let others = taken::Others {
        facts: &|path| facts_of(project, tree, extra, path),
        resolve: &|path, import| {
            let resolution = resolver.resolve(path, import);
            own.set(own.get() || resolution.own || resolver.decides(import));
            let file = |target| match target {
                Target::File(path) => Some(path),
                _ => None,
            };
            resolution.targets.into_iter().filter_map(file).collect()
        },
    };
    found.traits.extend(taken::traits(facts, &found.imports, &found.edges, &others));
    found.own |= own.get();
}

/// The facts of a source that another one imports, also of one outside of the inventory that
/// was not followed yet.
fn facts_of<'f>(
    project: &'f Project<'_>,
    tree: &dyn Tree,
    extra: &'f BTreeMap<String, FileFacts>,
    path: &str,
) -> Option<Cow<'f, FileFacts>> {
    if let Some(facts) = project.facts.get(path).or_else(|| extra.get(path)) {
        return Some(Cow::Borrowed(facts));
    }
    if in_inventory(project, path) || !project.tree.is_file(path) {
        return None;
    }
    let language = *project.plugins.languages.iter().find(|language| language.reads(path))?;
    read_source(tree, language, &project.settings, path, project.reading).ok().map(Cow::Owned)
}

/// What a file that no test reaches cannot name: its effects, under default resolution, and
/// its damage. What its imports mean is not asked.
pub(crate) fn own_traits(project: &Project<'_>, path: &str, facts: &FileFacts) -> Vec<Trait> {
    let mut found = Found::default();
    for (number, effect) in facts.effects.iter().enumerate() {
        add_effect(project, project.tree, &mut found, 0, path, number_of(number), effect);
    }
    found.traits.extend(damage(facts));
    found.traits
}

/// What a syntax error makes of its file.
fn damage(facts: &FileFacts) -> Option<Trait> {
    facts.damage.first().map(|damage| Trait {
        opacity: Opacity::Unknown,
        reason: Some(Opaque::Unparsable),
        operation: damage.cause.as_str().into(),
        line: damage.line,
        origin: Origin::File,
    })
}

fn in_inventory(project: &Project<'_>, path: &str) -> bool {
    project.files.binary_search_by(|f| f.as_str().cmp(path)).is_ok()
}

pub(crate) fn unreadable(why: &str) -> Trait {
    Trait {
        opacity: Opacity::Unknown,
        reason: Some(Opaque::Unparsable),
        operation: why.into(),
        line: 0,
        origin: Origin::File,
    }
}

fn add_import(
    project: &Project<'_>,
    found: &mut Found,
    resolver: &dyn Resolver,
    class: u32,
    from: &str,
    number: u32,
    import: &Import,
) {
    let mut resolution = resolver.resolve(from, import);
    let unknown = resolution.unknown.take();
    add_resolution(project, found, class, resolution, import.kind, import.line);
    if let Some(unknown) = unknown {
        let checked = project.classes[class as usize].checked;
        add_unknown(found, from, number, import, checked, &unknown);
    }
}

/// What a resolution leads to, and what it was decided by.
fn add_resolution(
    project: &Project<'_>,
    found: &mut Found,
    class: u32,
    resolution: Resolution,
    kind: ImportKind,
    line: u32,
) {
    found.own |= resolution.own;
    let edge = Edge { kind: EdgeKind::Import(kind), line };
    for target in &resolution.targets {
        let key = match target {
            // The content of a module that is only resolved counts, its closure does not.
            Target::File(path) if kind == ImportKind::Resolve => data_key(project, path),
            other => target_key(project, class, other),
        };
        found.edges.push((key, edge));
    }
    for manifest in &resolution.consulted {
        let kind = EdgeKind::Consulted;
        found.edges.push((NodeKey::Manifest(manifest.as_str().into()), Edge { kind, line }));
    }
    for path in resolution.absent {
        if !path.starts_with("node_modules/") && !path.contains("/node_modules/") {
            found.absent.push((Absent::new(&path), line));
        }
    }
}

fn add_unknown(
    found: &mut Found,
    from: &str,
    number: u32,
    import: &Import,
    checked: bool,
    unknown: &UnknownImport,
) {
    let optional = import.presence == Presence::Optional
        || (import.kind == ImportKind::TypeOnly && !checked)
        || matches!(import.kind, ImportKind::StringRef | ImportKind::Mock);
    let (opacity, reason, code, detail) = match unknown {
        UnknownImport::Unresolved if optional => return,
        UnknownImport::Undeclared => {
            if !optional {
                found.problems.push(Problem {
                    code: "undeclared-package".to_owned(),
                    path: from.to_owned(),
                    line: Some(import.line),
                    detail: format!(
                        "`{}` is neither installed nor declared in a manifest above this file",
                        import.specifier
                    ),
                });
            }
            return;
        }
        UnknownImport::Unresolved => (
            Opacity::Unknown,
            Opaque::Unresolved,
            "unresolved-import",
            format!("`{}` leads to no file; if it is generated, generate it first", import.specifier),
        ),
        UnknownImport::Computed => (
            Opacity::InputOpaque,
            Opaque::ComputedLoad,
            "computed-import",
            "the specifier is computed and nothing bounds it; a constant prefix would".to_owned(),
        ),
        UnknownImport::Native => (
            Opacity::InputOpaque,
            Opaque::Native,
            "native-module",
            format!("`{}` is native code, whose inputs are not seen", import.specifier),
        ),
        UnknownImport::Virtual => (
            Opacity::InputOpaque,
            Opaque::Unresolved,
            "virtual-module",
            format!("`{}` is made by a plugin, whose inputs are not seen", import.specifier),
        ),
    };
    found.traits.push(Trait {
        opacity,
        reason: Some(reason),
        operation: import_operation(import).into(),
        line: import.line,
        origin: Origin::Import(number),
    });
    found.problems.push(Problem {
        code: code.to_owned(),
        path: from.to_owned(),
        line: Some(import.line),
        detail,
    });
}

fn import_operation(import: &Import) -> String {
    let word = EdgeKind::Import(import.kind).word();
    if import.specifier.is_empty() { format!("{word} import") } else { import.specifier.clone() }
}
