//! `owed.why/1`.

use std::collections::BTreeMap;

use owed_engine::selection::{Absence, GraphEdge, GraphView, Why};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::plan::{WideningReason, directory, reason_words};
use super::{Base, NotCheckedFile, ProblemSeen};

/// Why a test is, or is not, owed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "owed.why/1")]
pub(crate) struct WhyAnswer {
    /// `owed.why/1`.
    #[schemars(schema_with = "why_tag")]
    pub schema: &'static str,
    /// What was compared with; null when the change was given with `--changed`.
    pub base: Option<Base>,
    /// The changed paths that were looked for.
    pub changes: Vec<String>,
    /// Why the plan widens to all tests, this one included; mostly empty.
    pub widened: Vec<WideningReason>,
    /// One answer for each runner that claims the test.
    pub answers: Vec<Answer>,
    /// Files that were not read or not parsed.
    pub not_checked: Vec<NotCheckedFile>,
    /// What was not understood.
    pub problems: Vec<ProblemSeen>,
}

/// The answer for one runner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// Project-relative path of the test.
    pub path: String,
    /// The runner's name.
    pub runner: &'static str,
    /// Directory of the runner project; `.` for the root.
    pub project: String,
    /// Whether it is owed.
    pub owed: bool,
    /// Its class.
    #[schemars(schema_with = "super::opacity_words")]
    pub opacity: &'static str,
    /// Every independent reason; empty when it is not owed, or only because the plan widens.
    pub reasons: Vec<ReasonChain>,
    /// When there is no reason: the proof.
    pub absence: Option<AbsenceProof>,
}

/// One reason, with its chain step by step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ReasonChain {
    /// Which rule.
    #[schemars(schema_with = "reason_words")]
    pub kind: &'static str,
    /// The changed path, when one change is the cause.
    pub changed: Option<String>,
    /// From the test to the changed file, shortest.
    pub chain: Vec<String>,
    /// Each step of the chain, where the graph names it.
    pub steps: Vec<Step>,
    /// More for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// One step of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Step {
    /// Who depends.
    pub from: String,
    /// On what.
    pub to: String,
    /// How.
    pub kind: &'static str,
    /// 1-based line in `from`, where one exists.
    pub line: Option<u32>,
}

/// Why a test is not owed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct AbsenceProof {
    /// How many files the test's closure holds.
    pub closure: usize,
    /// How many changed files were looked for in it.
    pub changes: usize,
    /// A file that both the test and an importer of the nearest change reach.
    pub nearest_common: Option<String>,
    /// Some tests that do depend on the changed files.
    pub others: Vec<String>,
}

impl Answer {
    /// The answer for one runner; `graph` holds the edges below the test.
    pub(crate) fn new(why: Why, graph: &GraphView, widened: bool) -> Self {
        let edges = Edges::of(graph);
        let reasons: Vec<ReasonChain> = why
            .reasons
            .into_iter()
            .map(|reason| ReasonChain {
                kind: reason.kind.word(),
                changed: reason.changed,
                steps: edges.along(&reason.chain),
                chain: reason.chain,
                detail: reason.detail,
            })
            .collect();
        Self {
            path: why.path,
            runner: why.runner,
            project: directory(why.project),
            owed: widened || !reasons.is_empty(),
            opacity: why.opacity.word(),
            reasons,
            absence: why.absence.map(AbsenceProof::from),
        }
    }
}

impl From<Absence> for AbsenceProof {
    fn from(absence: Absence) -> Self {
        Self {
            closure: absence.closure,
            changes: absence.changes,
            nearest_common: absence.nearest_common,
            others: absence.others,
        }
    }
}

/// Edges by their two ends; of several between the same two, the first.
struct Edges<'a>(BTreeMap<(&'a str, &'a str), &'a GraphEdge>);

impl<'a> Edges<'a> {
    fn of(graph: &'a GraphView) -> Self {
        let mut edges = BTreeMap::new();
        for edge in &graph.edges {
            edges.entry((edge.from.as_str(), edge.to.as_str())).or_insert(edge);
        }
        Self(edges)
    }

    fn along(&self, chain: &[String]) -> Vec<Step> {
        let pairs = chain.iter().zip(chain.iter().skip(1));
        pairs
            .filter_map(|(from, to)| self.0.get(&(from.as_str(), to.as_str())))
            .map(|edge| Step {
                from: edge.from.clone(),
                to: edge.to.clone(),
                kind: edge.kind,
                line: edge.line,
            })
            .collect()
    }
}

fn why_tag(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": "owed.why/1" })
}
