//! Clocks that tests stop at a literal time, for reads in the files that they use.
//!
//! A stopped clock answers a read when three things hold. The read looks the clock up anew
//! ([`crate::facts::Answered`]; only its reader can say that). Nothing that runs before the
//! clock stands still brings the read to life: no evaluation of a module, no setup file, no
//! statement or hook of the test file, only the bodies of its tests. And nothing that the test
//! reaches may start the real clock again before the last body is done, or puts something else
//! in the place of what is built in.

use super::liveness::{At, Liveness};
use super::module::{Part, UnitId};
use super::units;
use crate::facts::{Clock, DeclarationKind, Opaque, Restarts, Stops};
use crate::graph::{EdgeKind, NodeKey};
use crate::project::Project;
use crate::runner::SharedRole;

/// `causes` of the test with this number without those that a stopped clock answers, ascending;
/// `reached` are all that it reaches.
pub(crate) fn without_answered(
    project: &Project<'_>,
    live: &Liveness<'_>,
    test: usize,
    causes: Vec<usize>,
    reached: &[usize],
) -> Vec<usize> {
    if !causes.iter().any(|cause| live.answered.contains_key(cause)) {
        return causes;
    }
    match early(project, live, test, reached) {
        None => causes,
        Some((own, early)) => {
            let mut kept: Vec<usize> = Vec::with_capacity(causes.len());
            for cause in causes {
                let of = &live.causes[cause];
                let answered = live.answered.get(&cause).filter(|answered| {
                    let in_body = answered.in_test && matches!(of.at, At::Module(at) if at == own);
                    in_body || (!early[of.unit as usize] && live.is_declaration(of.unit))
                });
                match answered {
                    Some(answered) => kept.extend(answered.left),
                    None => kept.push(cause),
                }
            }
            kept.sort_unstable();
            kept
        }
    }
}

/// The module of the test, and by unit whether it may run before the clock stands still; `None`
/// when the clock does not surely stand still in all bodies of its tests.
fn early(
    project: &Project<'_>,
    live: &Liveness<'_>,
    test: usize,
    causes: &[usize],
) -> Option<(u32, Vec<bool>)> {
    let graph = &project.graph;
    let number = u32::try_from(test).ok()?;
    let node = graph.node(&NodeKey::Test(number))?;
    let mut edges = graph.outgoing(node);
    let own = edges.iter().find(|(_, edge)| edge.kind == EdgeKind::Own)?.0;
    let own = live.module_at(own)?;
    let suites: Vec<_> = edges.iter().filter(|(_, edge)| edge.kind == EdgeKind::Suite).copied().collect();
    edges.extend(suites.iter().flat_map(|(suite, _)| graph.outgoing(*suite)));
    let setups = edges.iter().filter(|(_, edge)| edge.kind == EdgeKind::Shared(SharedRole::Setup));
    let setups = setups.filter_map(|(to, _)| live.module_at(*to));
    let clock = |module: u32| live.modules[module as usize].facts.clock.as_deref();
    let stops = setups.chain([own]).filter_map(|module| clock(module)?.stops).min()?;
    let allowed = match stops {
        Stops::Each => Restarts::AfterEach,
        Stops::Once => Restarts::AfterAll,
    };
    let before = clock(own)?.early.as_ref()?;
    let replaces = |cause: &usize| live.causes[*cause].fact.reason == Some(Opaque::MutateGlobal);
    if causes.iter().any(replaces) {
        return None;
    }
    // What the test reaches at all.
    let start = live.tests + number;
    let reached = live.reach([start], |_| None);
    let restarts = |clock: &Clock| clock.restarts > allowed;
    let modules = live.modules.iter().enumerate();
    let mut touched = modules.filter(|(_, module)| {
        (module.first..module.first + module.size()).any(|unit| reached[unit as usize])
    });
    if touched.any(|(_, module)| module.facts.clock.as_deref().is_some_and(restarts)) {
        return None;
    }
    // What of that is reached without the bodies of its tests.
    let module = &live.modules[own as usize];
    let statements = module.facts.declarations.iter().position(|declaration| {
        declaration.kind == DeclarationKind::Module && declaration.name == "<module>"
    })?;
    let statements = module.unit(Part::Declaration(u32::try_from(statements).ok()?));
    let mut instead = vec![module.unit(Part::Evaluation)];
    units::references(&live.modules, own, before, &mut instead);
    let whole: UnitId = module.unit(Part::Own);
    let first = live.units.of(start).iter().copied().filter(|unit| *unit != whole);
    let starts: Vec<UnitId> = first.chain([module.unit(Part::Evaluation)]).collect();
    let early = live.reach(starts, |unit| (unit == statements).then_some(instead.as_slice()));
    Some((own, early))
}
