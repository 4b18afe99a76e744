//! Operations that one file takes from another by the way: `from helpers import subprocess`
//! gives whatever `helpers` has under that name, if only for itself.
//!
//! A class by file counts what a file does with what it imports. What it only *has*
//! ([`FileFacts::offered`]) counts here, for the file that takes it, so that whoever takes
//! other names is none the worse. Names are followed through star imports. A name that is
//! taken to be taken again counts for the first taker, on which the others depend.
//!
//! A module that is handed on as a value is not followed; nor is a name in a string.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use crate::facts::{EffectClass, FileFacts, Import, ImportKind, Names};
use crate::graph::{Edge, EdgeKind, NodeKey, Origin, Trait};
use crate::opacity::is_chain;
use crate::selection::Opacity;

/// What is asked about other files.
pub(crate) struct Others<'o, 'p> {
    /// The facts of a source, when it could be read.
    pub(crate) facts: &'o dyn Fn(&str) -> Option<Cow<'p, FileFacts>>,
    /// The files that an import of a source leads to.
    pub(crate) resolve: &'o dyn Fn(&str, &Import) -> Vec<String>,
}

/// What the imports of `facts` take by the way. `starts` says where the edges of each import
/// begin in `edges`.
pub(crate) fn traits(
    facts: &FileFacts,
    starts: &[(u32, u32)],
    edges: &[(NodeKey, Edge)],
    others: &Others<'_, '_>,
) -> Vec<Trait> {
    let mut traits = Vec::new();
    for pair in starts.windows(2) {
        let [(number, from), (_, to)] = *pair else { continue };
        let import = &facts.imports[number as usize];
        let names = taken(import);
        if names.is_empty() && import.kind != ImportKind::Star {
            continue;
        }
        for (key, edge) in &edges[from as usize..to as usize] {
            let (NodeKey::Source { path, .. }, EdgeKind::Import(_)) = (key, edge.kind) else { continue };
            let Some(target) = (others.facts)(path) else { continue };
            let mut add = |file: &FileFacts, name: &str| {
                let is_it = |effect: &&crate::facts::Effect| name_of(effect) == Some(name);
                for effect in file.offered.iter().filter(is_it) {
                    let EffectClass::Opaque(reason) = effect.class else { continue };
                    let opacity =
                        if reason.is_input_opaque() { Opacity::InputOpaque } else { Opacity::TimeOpaque };
                    let operation = effect.operation.as_str().into();
                    let (reason, line, origin) = (Some(reason), import.line, Origin::Taken(number));
                    traits.push(Trait { opacity, reason, operation, line, origin });
                }
            };
            if import.kind == ImportKind::Star {
                // Names that spell an operation are judged where they are read.
                let renamed = target.offered.iter().filter_map(name_of);
                renamed
                    .filter(|name| is_starred(&target, name) && !is_own_name(&target, name))
                    .for_each(|name| add(&target, name));
                continue;
            }
            for name in &names {
                let is_read_through = is_chain(import);
                follow(path, &target, name, others, &mut |file| {
                    if !(is_read_through && is_own_name(file, name)) {
                        add(file, name);
                    }
                });
            }
        }
    }
    traits.sort();
    traits.dedup();
    traits
}

/// What of a file decides what others take of it by the way: the operations behind its names,
/// and whether a name is the operation's own; its star imports; what stars take.
pub(crate) type Takeable = (Vec<(String, String, EffectClass, bool)>, Vec<String>, Option<Vec<String>>);

/// All that other files may depend on of what `facts` has by the way.
pub(crate) fn takeable(facts: &FileFacts) -> Takeable {
    let operations: Vec<_> = facts
        .offered
        .iter()
        .filter_map(|effect| {
            let name = name_of(effect)?.to_owned();
            let own = is_own_name(facts, &name);
            Some((name, effect.operation.clone(), effect.class.clone(), own))
        })
        .collect();
    let stars = facts.imports.iter().filter(|import| import.kind == ImportKind::Star);
    (operations, stars.map(|import| import.specifier.clone()).collect(), facts.listed.clone())
}

/// The names that an import takes.
fn taken(import: &Import) -> Vec<&str> {
    match &import.names {
        // Which part of the chain is the file's own name depends on the file.
        Names::List(_) if is_chain(import) => import.specifier.split('.').filter(|p| !p.is_empty()).collect(),
        Names::List(list) => list.iter().map(|name| name.imported.as_str()).collect(),
        Names::Namespace(_) | Names::Effects => Vec::new(),
    }
}

/// Shows every file that may have `name`: the one at `path`, and those that it takes by stars.
fn follow(
    path: &str,
    facts: &FileFacts,
    name: &str,
    others: &Others<'_, '_>,
    found: &mut dyn FnMut(&FileFacts),
) {
    let is_star = |import: &&Import| import.kind == ImportKind::Star;
    found(facts);
    if !facts.imports.iter().any(|import| is_star(&import)) {
        return;
    }
    let mut seen: FxHashSet<String> = FxHashSet::from_iter([path.to_owned()]);
    let stars = |path: &str, facts: &FileFacts| -> Vec<String> {
        facts.imports.iter().filter(is_star).flat_map(|import| (others.resolve)(path, import)).collect()
    };
    let mut open = stars(path, facts);
    while let Some(path) = open.pop() {
        if let Some(facts) = (others.facts)(&path)
            && seen.insert(path.clone())
        {
            if is_starred(&facts, name) {
                found(&facts);
            }
            open.extend(stars(&path, &facts));
        }
    }
}

/// Whether a star import of a file takes `name`.
fn is_starred(facts: &FileFacts, name: &str) -> bool {
    match &facts.listed {
        Some(listed) => listed.iter().any(|listed| listed == name),
        None => !name.starts_with('_'),
    }
}

fn name_of(effect: &crate::facts::Effect) -> Option<&str> {
    match &effect.when {
        crate::facts::When::Call(name) => Some(name),
        crate::facts::When::Import => None,
    }
}

/// Whether `name` is a module that is imported under its own name (`import time`): what is
/// read of it elsewhere is judged by the reader, member by member.
fn is_own_name(facts: &FileFacts, name: &str) -> bool {
    let binds = |import: &&Import| match &import.names {
        Names::Namespace(local) => local == name,
        Names::List(list) => !is_chain(import) && list.iter().any(|n| n.local == name),
        Names::Effects => false,
    };
    // `import a.b` binds `a`.
    let root = |import: &Import| import.specifier.split('.').next() == Some(name);
    let own = |import: &Import| matches!(&import.names, Names::Namespace(_)) && root(import);
    let mut binding = facts.imports.iter().filter(binds).peekable();
    binding.peek().is_some() && binding.all(own)
}
