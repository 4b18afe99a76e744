//! From an effect that a reader found to the graph: the paths it names under a resolution
//! class, and what it makes of a test that reaches it. Nothing is read here.

use crate::closure::{Found, data_key};
use crate::facts::{Effect, EffectClass, Opaque, PathBase, PathExpr, Pin};
use crate::graph::{Edge, EdgeKind, NodeKey, Origin, Trait};
use crate::path;
use crate::project::Project;
use crate::resolve::Listing;
use crate::selection::Opacity;
use crate::tree::Tree;

/// Adds what the effect with this number makes of the node of `from`: inputs with names, and
/// what cannot be named.
pub(crate) fn add_effect(
    project: &Project<'_>,
    tree: &dyn Tree,
    found: &mut Found,
    class: u32,
    from: &str,
    number: u32,
    effect: &Effect,
) {
    let fact = |opacity, reason| Trait {
        opacity,
        reason,
        operation: effect.operation.as_str().into(),
        line: effect.line,
        origin: Origin::Effect(number),
    };
    let edge = Edge { kind: EdgeKind::Data, line: effect.line };
    match &effect.class {
        EffectClass::Opaque(reason) => {
            let opacity = if reason.is_input_opaque() { Opacity::InputOpaque } else { Opacity::TimeOpaque };
            found.traits.push(fact(opacity, Some(*reason)));
        }
        EffectClass::Bounded(expression) => {
            found.traits.push(fact(Opacity::Bounded, None));
            for place in places(project, tree, class, from, expression) {
                match place {
                    // The whole project is no bound.
                    Some(dir) if dir.is_empty() => {
                        found.traits.push(fact(Opacity::InputOpaque, Some(Opaque::ComputedLoad)));
                    }
                    Some(dir) => {
                        let listing = Listing { dir, glob: "**".to_owned() };
                        found.edges.push((NodeKey::Listing { listing, contents: true }, edge));
                    }
                    None => found.traits.push(fact(Opacity::InputOpaque, Some(Opaque::Unresolved))),
                }
            }
        }
        EffectClass::Pinned(pin) => {
            found.traits.push(fact(Opacity::Pinned, None));
            match pin {
                Pin::Env(name) => found.edges.push((NodeKey::Env(name.as_str().into()), edge)),
                Pin::Named(_) => {}
                Pin::File(expression) => {
                    for place in places(project, tree, class, from, expression) {
                        match place {
                            Some(path) => found.edges.push((data_key(project, &path), edge)),
                            None => found.traits.push(fact(Opacity::TimeOpaque, Some(Opaque::Host))),
                        }
                    }
                }
                Pin::Listing { dir, glob } => {
                    for place in places(project, tree, class, from, dir) {
                        let Some(dir) = place else {
                            found.traits.push(fact(Opacity::TimeOpaque, Some(Opaque::Host)));
                            continue;
                        };
                        let listing = Listing { dir, glob: glob.clone() };
                        found.edges.push((NodeKey::Listing { listing, contents: false }, edge));
                    }
                }
            }
        }
    }
}

/// Whether what an effect names depends on where the runner's project is.
pub(crate) fn starts_at_roots(effect: &Effect) -> bool {
    let path = match &effect.class {
        EffectClass::Bounded(path) | EffectClass::Pinned(Pin::File(path)) => path,
        EffectClass::Pinned(Pin::Listing { dir, .. }) => dir,
        EffectClass::Opaque(_) | EffectClass::Pinned(Pin::Env(_) | Pin::Named(_)) => return false,
    };
    path.base == PathBase::Cwd
}

/// The project paths a literal path may mean; `None` stands for a place outside.
pub(crate) fn places(
    project: &Project<'_>,
    tree: &dyn Tree,
    class: u32,
    from: &str,
    expression: &PathExpr,
) -> Vec<Option<String>> {
    match expression.base {
        PathBase::Module => vec![path::join(path::dirname(from), &expression.path)],
        PathBase::Absolute => {
            let root = tree.root().to_string_lossy();
            let inside = expression.path.strip_prefix(&*root).map(|rest| rest.trim_start_matches('/'));
            vec![inside.and_then(|rest| path::join("", rest))]
        }
        PathBase::Cwd => {
            // The working directory is the runner project's root, as `owed` runs it; a
            // person may also start the runner at the project's root.
            let roots = project.classes[class as usize].all_roots();
            let mut places: Vec<Option<String>> =
                roots.map(|root| path::join(root, &expression.path)).collect();
            places.push(path::join("", &expression.path));
            // Leaving the project from one of several places is the business of that place.
            if places.iter().any(Option::is_some) {
                places.retain(Option::is_some);
            }
            places.sort();
            places.dedup();
            places
        }
    }
}
