//! `owed.check/1`.

use owed_engine::check::repeated::{Group, Suppression, Tier};
use owed_engine::check::{Ledger, Measured, Ratchet, Report, Rule, StaleWhy, Status, Verdict};
use owed_engine::function::FunctionKind;
use owed_engine::path;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::{NotCheckedFile, ProblemSeen, all, one_of};

/// The answer of `owed check`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct CheckAnswer {
    /// The version of this form.
    #[schemars(schema_with = "tag")]
    pub schema: &'static str,
    /// What a gate makes of it.
    #[schemars(schema_with = "verdicts")]
    pub verdict: &'static str,
    /// What became of each file.
    pub files: FilesSeen,
    /// How many functions the checked files have.
    pub functions_total: usize,
    /// Functions over their cap (all of them with `--all-functions`), by path and line.
    pub functions: Vec<FunctionSeen>,
    /// What became of the recorded debt.
    pub debt: DebtSeen,
    /// Repeated implementations, those with the most to gain first.
    pub repeated: Vec<GroupSeen>,
    /// Functions that a comment keeps out of `repeated`.
    pub suppressed: Vec<SuppressedSeen>,
    /// What was not understood.
    pub problems: Vec<ProblemSeen>,
}

/// The ledger of files.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FilesSeen {
    /// How many were read and measured.
    pub checked: usize,
    /// In scope, and not measured.
    pub not_checked: Vec<NotCheckedFile>,
    /// Out of scope, by rule.
    pub excluded: Vec<RuleSeen>,
    /// What became of each path that was named.
    pub named: Vec<NamedSeen>,
}

/// Files that a rule left out.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RuleSeen {
    /// The rule.
    #[schemars(schema_with = "rules")]
    pub rule: &'static str,
    /// How many files.
    pub count: usize,
}

/// A path that was named, and what became of the files in it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct NamedSeen {
    /// Project-relative.
    pub path: String,
    /// How many files were measured.
    pub checked: usize,
    /// How many were not.
    pub not_checked: usize,
    /// Out of scope, by rule.
    pub excluded: Vec<RuleSeen>,
}

/// A function.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FunctionSeen {
    /// Project-relative path.
    pub path: String,
    /// Qualified name.
    pub name: String,
    /// Which one of that name in the file, from 1.
    pub nth: u32,
    /// How it is written.
    #[schemars(schema_with = "kinds")]
    pub kind: &'static str,
    /// Its language.
    pub language: &'static str,
    /// 1-based first line.
    pub start_line: u32,
    /// 1-based last line.
    pub end_line: u32,
    /// Its size.
    pub tokens: TokensSeen,
    /// The cap that holds here.
    pub cap: u32,
    /// Whether it is over its cap.
    pub over: bool,
    /// Its complexity.
    pub complexity: ComplexitySeen,
    /// What the ratchet says; null within the cap.
    pub debt: Option<JudgedSeen>,
}

/// Sizes in syntax tokens.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct TokensSeen {
    /// Without nested functions; what the cap applies to.
    pub own: u32,
    /// With nested functions.
    pub total: u32,
}

/// Complexities, nested functions excluded.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ComplexitySeen {
    /// 1 + decisions.
    pub cyclomatic: u32,
    /// Cognitive complexity.
    pub cognitive: u32,
    /// CRAP, when coverage was given.
    pub crap: Option<CrapSeen>,
}

/// Complexity with coverage.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct CrapSeen {
    /// `c² · (1 − coverage)³ + c`.
    pub score: f64,
    /// Covered part; null when the coverage does not know this function, which counts as 0.
    pub coverage: Option<f64>,
}

/// A debt.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct JudgedSeen {
    /// How many tokens are allowed; null when nothing allows it to be over its cap.
    pub allowed: Option<u32>,
    /// What became of it.
    #[schemars(schema_with = "statuses")]
    pub status: &'static str,
    /// Whether a gate lets it through.
    pub passes: bool,
    /// Where it was recorded, if at another place.
    pub was: Option<PlaceSeen>,
}

/// A path and a name in it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct PlaceSeen {
    /// Project-relative path.
    pub path: String,
    /// Qualified name.
    pub name: String,
}

/// What became of the debt file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct DebtSeen {
    /// How many entries it has.
    pub entries: usize,
    /// Entries that can go.
    pub stale: Vec<StaleSeen>,
    /// Entries that stay because nobody looked.
    pub frozen: Vec<FrozenSeen>,
}

/// An entry that can go.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct StaleSeen {
    /// Path of the entry.
    pub path: String,
    /// Name of the entry.
    pub name: String,
    /// `gone` (there is no such function) or `paid` (it is within its cap).
    #[schemars(schema_with = "stale_words")]
    pub why: &'static str,
}

/// An entry that stays.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FrozenSeen {
    /// Path of the entry.
    pub path: String,
    /// Name of the entry.
    pub name: String,
    /// Why its function was not looked at.
    pub reason: &'static str,
}

/// A group of repeated implementations.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct GroupSeen {
    /// The digest of what the members share.
    pub id: String,
    /// How sure it is.
    #[schemars(schema_with = "tiers")]
    pub tier: &'static str,
    /// What an advice is about; null for a claim.
    #[schemars(schema_with = "advices")]
    pub advice: Option<&'static str>,
    /// Where the members lie.
    #[schemars(schema_with = "scopes")]
    pub scope: &'static str,
    /// `new`, or `known` when the debt file accepts it.
    #[schemars(schema_with = "group_statuses")]
    pub status: &'static str,
    /// Statements of one member.
    pub statements: u32,
    /// How alike the least alike member is, from 0 to 1.
    pub alike: f64,
    /// By path and line.
    pub members: Vec<MemberSeen>,
    /// Literals that differ, with the value in each member.
    pub literals: Vec<HoleSeen>,
    /// What could be shared when the contracts match.
    pub suggestion: String,
}

/// One member.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct MemberSeen {
    /// Project-relative path.
    pub path: String,
    /// Qualified name.
    pub name: String,
    /// 1-based first line.
    pub start_line: u32,
    /// 1-based last line.
    pub end_line: u32,
}

/// One literal that differs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct HoleSeen {
    /// Which literal of the body, from 1.
    pub hole: u32,
    /// As written, in the order of members.
    pub values: Vec<String>,
}

/// A function that a comment keeps out.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SuppressedSeen {
    /// Project-relative path.
    pub path: String,
    /// Qualified name.
    pub name: String,
    /// 1-based line of the comment.
    pub line: u32,
    /// The reason given.
    pub reason: String,
}

impl CheckAnswer {
    /// The answer of a report.
    pub(crate) fn new(report: Report, verdict: Verdict, named: &[String]) -> Self {
        let total = report.files.checked.iter().map(|file| file.functions as usize).sum();
        Self {
            schema: "owed.check/1",
            verdict: verdict_word(verdict),
            files: files(report.files, named),
            functions_total: total,
            functions: report.functions.into_iter().map(FunctionSeen::from).collect(),
            debt: debt(report.ratchet),
            repeated: report.repeated.into_iter().map(GroupSeen::from).collect(),
            suppressed: report.suppressed.into_iter().map(SuppressedSeen::from).collect(),
            problems: all(report.problems),
        }
    }

    /// Files left out, all rules together.
    pub(crate) fn excluded(&self) -> usize {
        self.files.excluded.iter().map(|rule| rule.count).sum()
    }
}

fn files(ledger: Ledger, named: &[String]) -> FilesSeen {
    let within = |file: &str, dir: &str| path::is_within(file, dir);
    let named = named
        .iter()
        .map(|dir| {
            let part = Ledger {
                excluded: ledger.excluded.iter().filter(|file| within(&file.path, dir)).cloned().collect(),
                ..Ledger::default()
            };
            NamedSeen {
                path: dir.clone(),
                checked: ledger.checked.iter().filter(|file| within(&file.path, dir)).count(),
                not_checked: ledger.not_checked.iter().filter(|file| within(&file.path, dir)).count(),
                excluded: rules_of(&part),
            }
        })
        .collect();
    let excluded = rules_of(&ledger);
    FilesSeen { checked: ledger.checked.len(), not_checked: all(ledger.not_checked), excluded, named }
}

fn rules_of(ledger: &Ledger) -> Vec<RuleSeen> {
    ledger.excluded_by_rule().into_iter().map(|(rule, count)| RuleSeen { rule: rule.word(), count }).collect()
}

fn debt(ratchet: Ratchet) -> DebtSeen {
    let stale = |why| match why {
        StaleWhy::Gone => "gone",
        StaleWhy::Paid => "paid",
    };
    DebtSeen {
        entries: ratchet.entries,
        stale: ratchet
            .stale
            .into_iter()
            .map(|entry| StaleSeen { path: entry.path, name: entry.name, why: stale(entry.why) })
            .collect(),
        frozen: ratchet
            .frozen
            .into_iter()
            .map(|entry| FrozenSeen { path: entry.path, name: entry.name, reason: entry.reason })
            .collect(),
    }
}

impl From<Measured> for FunctionSeen {
    fn from(function: Measured) -> Self {
        let over = function.over();
        let part = |thousandths: u32| f64::from(thousandths) / 1000.0;
        let crap = function.crap.map(|crap| CrapSeen {
            // Scores are far below 2^53, where every integer is exact.
            score: crap.hundredths as f64 / 100.0,
            coverage: crap.coverage.map(part),
        });
        Self {
            path: function.path,
            name: function.name,
            nth: function.nth,
            kind: function.kind.word(),
            language: function.language,
            start_line: function.start_line,
            end_line: function.end_line,
            tokens: TokensSeen { own: function.own, total: function.total },
            cap: function.cap,
            over,
            complexity: ComplexitySeen {
                cyclomatic: function.cyclomatic,
                cognitive: function.cognitive,
                crap,
            },
            debt: function.debt.map(|debt| JudgedSeen {
                allowed: debt.allowed,
                status: debt.status.word(),
                passes: debt.passes,
                was: debt.was.map(|(path, name)| PlaceSeen { path, name }),
            }),
        }
    }
}

impl From<Group> for GroupSeen {
    fn from(group: Group) -> Self {
        let (tier, advice) = match group.tier {
            Tier::Claim => ("claim", None),
            Tier::Advice(advice) => ("advice", Some(advice.word())),
        };
        Self {
            id: group.id,
            tier,
            advice,
            scope: if group.across_files { "across-files" } else { "same-file" },
            status: if group.is_known { "known" } else { "new" },
            statements: group.statements,
            alike: f64::from(group.alike) / 1000.0,
            members: group
                .members
                .into_iter()
                .map(|member| MemberSeen {
                    path: member.path,
                    name: member.name,
                    start_line: member.start_line,
                    end_line: member.end_line,
                })
                .collect(),
            literals: group
                .literals
                .into_iter()
                .map(|hole| HoleSeen { hole: hole.hole, values: hole.values })
                .collect(),
            suggestion: group.suggestion,
        }
    }
}

impl From<Suppression> for SuppressedSeen {
    fn from(one: Suppression) -> Self {
        Self { path: one.path, name: one.name, line: one.line, reason: one.reason }
    }
}

fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Kept => "kept",
        Verdict::Broken => "broken",
        Verdict::CannotVouch => "cannot-vouch",
    }
}

fn tag(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": "owed.check/1" })
}

fn verdicts(_: &mut SchemaGenerator) -> Schema {
    one_of(&[Verdict::Kept, Verdict::Broken, Verdict::CannotVouch].map(verdict_word))
}

fn rules(_: &mut SchemaGenerator) -> Schema {
    one_of(&Rule::ALL.map(Rule::word))
}

fn kinds(_: &mut SchemaGenerator) -> Schema {
    use FunctionKind::{Accessor, Arrow, Closure, Constructor, Function, Lambda, Method};
    one_of(&[Function, Method, Arrow, Accessor, Constructor, Lambda, Closure].map(FunctionKind::word))
}

fn statuses(_: &mut SchemaGenerator) -> Schema {
    use Status::{Grown, Held, New, Revealed, Shrunk};
    one_of(&[Held, Shrunk, Grown, New, Revealed].map(Status::word))
}

fn stale_words(_: &mut SchemaGenerator) -> Schema {
    one_of(&["gone", "paid"])
}

fn tiers(_: &mut SchemaGenerator) -> Schema {
    one_of(&["claim", "advice"])
}

fn advices(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": ["near-miss", "other-callees", "block", null] })
}

fn scopes(_: &mut SchemaGenerator) -> Schema {
    one_of(&["same-file", "across-files"])
}

fn group_statuses(_: &mut SchemaGenerator) -> Schema {
    one_of(&["new", "known"])
}
