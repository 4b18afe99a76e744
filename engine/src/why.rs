//! Why one test is owed: every independent reason, or the proof that there is none.

use std::collections::BTreeSet;

use crate::graph::{NodeId, NodeKey};
use crate::project::{Delta, Project};
use crate::select::{Context, SelectOptions};
use crate::selection::{Absence, Reason, Why};

/// Every reason for which `test` (a project-relative path) is owed by `delta`, or the
/// proof that there is none; one answer for each runner that claims it. Empty when no
/// runner does.
pub fn why(project: &Project<'_>, delta: &Delta, options: &SelectOptions, test: &str) -> Vec<Why> {
    let context = Context::new(project, delta, options);
    let selection = crate::select::select(project, delta, options);
    let mut answers = Vec::new();
    for &number in context.tests_at(test) {
        let suite = project.suite(project.tests[number]);
        let mut reasons = independent(&context, number);
        // Rules that need no chain: companions, declared inputs, widening, opacity.
        for owed in &selection.tests {
            if owed.path == test && owed.runner == suite.runner_name && owed.project == suite.project.root {
                for reason in &owed.reasons {
                    let known = |r: &Reason| r.kind == reason.kind && r.changed == reason.changed;
                    if !reasons.iter().any(known) {
                        reasons.push(reason.clone());
                    }
                }
            }
        }
        reasons.sort();
        reasons.dedup();
        let absence = reasons.is_empty().then(|| absence(&context, number, &selection));
        answers.push(Why {
            path: test.to_owned(),
            runner: suite.runner_name,
            project: suite.project.root.clone(),
            opacity: context.classes().class(context.node_of(number)),
            reasons,
            absence,
        });
    }
    answers
}

/// For each change, the shortest chain through each first step of the test.
fn independent(context: &Context<'_, '_>, number: usize) -> Vec<Reason> {
    let graph = &context.project.graph;
    let test = context.node_of(number);
    let mut reasons = Vec::new();
    for placed in &context.changes {
        let seeds: Vec<NodeId> = placed.touched.iter().map(|(node, _)| *node).collect();
        if seeds.is_empty() {
            continue;
        }
        let reach = graph.dependents(&seeds, |_| true);
        for (first, edge) in graph.outgoing(test) {
            if edge.kind.is_own() {
                if seeds.contains(&first) {
                    reasons.push(context.reason(placed, &[test, first]));
                }
                for (second, _) in graph.outgoing(first) {
                    let rest = reach.chain(second);
                    // A way back through the test's own file is not another reason.
                    if !rest.is_empty() && !rest.contains(&first) {
                        let chain: Vec<NodeId> = [test, first].into_iter().chain(rest).collect();
                        reasons.push(context.reason(placed, &chain));
                    }
                }
            } else {
                let shared = match edge.kind {
                    crate::graph::EdgeKind::Suite => graph.outgoing(first),
                    _ => vec![(first, edge)],
                };
                for (target, _) in shared {
                    let rest = reach.chain(target);
                    if !rest.is_empty() {
                        let way = [test].into_iter().chain((target != first).then_some(first));
                        let chain: Vec<NodeId> = way.chain(rest).collect();
                        reasons.push(context.reason(placed, &chain));
                    }
                }
            }
        }
    }
    reasons
}

fn absence(context: &Context<'_, '_>, number: usize, selection: &crate::selection::Selection) -> Absence {
    let graph = &context.project.graph;
    let forward = graph.dependencies(&[context.node_of(number)], |_| true);
    let files: BTreeSet<&str> = forward.order().iter().filter_map(|n| graph.key(*n).path()).collect();
    let mut nearest: Option<(u32, String)> = None;
    for placed in &context.changes {
        let seeds: Vec<NodeId> = placed.touched.iter().map(|(node, _)| *node).collect();
        if seeds.is_empty() {
            continue;
        }
        let importers = graph.dependents(&seeds, |_| true);
        let around = graph.dependencies(importers.order(), |_| true);
        for &node in forward.order() {
            if !matches!(graph.key(node), NodeKey::Source { .. }) {
                continue;
            }
            let (Some(a), Some(b)) = (forward.distance(node), around.distance(node)) else { continue };
            let candidate = (a + b, context.step(node));
            if nearest.as_ref().is_none_or(|n| candidate < *n) {
                nearest = Some(candidate);
            }
        }
    }
    Absence {
        closure: files.len(),
        changes: context.changes.len(),
        nearest_common: nearest.map(|(_, path)| path),
        others: selection.tests.iter().map(|t| t.path.clone()).take(5).collect(),
    }
}
