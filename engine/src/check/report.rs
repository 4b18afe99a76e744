//! The answer of a check, as values: the ledger of files, functions, debt, and repeated
//! implementations. Renderings and JSON are the callers' work.

use std::collections::BTreeMap;

use super::exclusion::Rule;
use super::ratchet::{Judged, Ratchet};
use super::repeated::{Found, Group, Suppression};
use crate::function::FunctionKind;
use crate::problem::{NotChecked, Problem};

/// Everything a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What became of each file.
    pub files: Ledger,
    /// Functions over their cap, or all of them when asked for; by path and place.
    pub functions: Vec<Measured>,
    /// What became of the recorded debt; empty when tokens were not asked about.
    pub ratchet: Ratchet,
    /// Repeated implementations: claims first, those with the most to gain first.
    pub repeated: Vec<Group>,
    /// Functions that a comment keeps out of [`Report::repeated`]; by path and line.
    pub suppressed: Vec<Suppression>,
    /// What was not understood, sorted.
    pub problems: Vec<Problem>,
}

/// Every discovered file is in exactly one of the three lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Read and measured, by path.
    pub checked: Vec<CheckedFile>,
    /// In scope, and not measured; by path.
    pub not_checked: Vec<NotChecked>,
    /// Out of scope, and by which rule; by path.
    pub excluded: Vec<Excluded>,
}

/// A file that was measured.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckedFile {
    /// Project-relative path.
    pub path: String,
    /// Its language.
    pub language: &'static str,
    /// How many functions it has.
    pub functions: u32,
}

/// A file that is out of scope.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Excluded {
    /// Project-relative path.
    pub path: String,
    /// Why.
    pub rule: Rule,
}

impl Ledger {
    /// How many files each rule left out, in the order of [`Rule::ALL`].
    pub fn excluded_by_rule(&self) -> Vec<(Rule, usize)> {
        let mut counts: BTreeMap<Rule, usize> = BTreeMap::new();
        for file in &self.excluded {
            *counts.entry(file.rule).or_default() += 1;
        }
        counts.into_iter().collect()
    }
}

/// A measured function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Project-relative path.
    pub path: String,
    /// Its language.
    pub language: &'static str,
    /// Qualified name.
    pub name: String,
    /// Which one of that name in the file, from 1.
    pub nth: u32,
    /// How it is written.
    pub kind: FunctionKind,
    /// 1-based first line.
    pub start_line: u32,
    /// 1-based last line.
    pub end_line: u32,
    /// Tokens without nested functions.
    pub own: u32,
    /// Tokens with nested functions.
    pub total: u32,
    /// 1 + decisions.
    pub cyclomatic: u32,
    /// Cognitive complexity.
    pub cognitive: u32,
    /// CRAP, when coverage was given.
    pub crap: Option<Crap>,
    /// The cap that holds here.
    pub cap: u32,
    /// What the ratchet says; `None` for functions within their cap.
    pub debt: Option<Judged>,
}

impl Measured {
    /// Whether it is over its cap.
    pub fn over(&self) -> bool {
        self.own > self.cap
    }
}

/// Change Risk Anti-Patterns: `c² · (1 − coverage)³ + c` for the cyclomatic complexity `c`
/// (A. Savoia, B. Evans, 2007). Kept in hundredths so that it has an order and no rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crap {
    /// The score, in hundredths.
    pub hundredths: u64,
    /// Covered part of the function's instrumented lines in thousandths; `None` when the
    /// coverage does not know the function, which counts as not covered at all.
    pub coverage: Option<u32>,
}

/// What a gate makes of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The debt held, and all in scope was looked at.
    Kept,
    /// Debt is new, has grown, or was revealed and not recorded.
    Broken,
    /// Something in scope was NOT CHECKED, or nothing was looked at.
    CannotVouch,
}

/// What a gate insists on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateRules {
    /// New claims of repeated implementations break it, too.
    pub repeated: bool,
    /// Files of languages that nobody reads do not stop it.
    pub allow_unsupported: bool,
    /// Looking at nothing is no reason to refuse (single files were named).
    pub allow_nothing: bool,
}

impl Report {
    /// The part that is about one file: what became of it, its functions, its debt, and every
    /// group in which it has a member (with all members).
    pub fn about(mut self, file: &str) -> Self {
        self.files.checked.retain(|one| one.path == file);
        self.files.not_checked.retain(|one| one.path == file);
        self.files.excluded.retain(|one| one.path == file);
        self.functions.retain(|one| one.path == file);
        self.ratchet.stale.retain(|one| one.path == file);
        self.ratchet.frozen.retain(|one| one.path == file);
        self.repeated.retain(|group| group.members.iter().any(|member| member.path == file));
        self.suppressed.retain(|one| one.path == file);
        self.problems.retain(|one| one.path == file);
        self
    }

    pub(super) fn take(&mut self, found: Found) {
        self.repeated = found.groups;
        self.suppressed = found.suppressed;
        self.problems.extend(found.problems);
        self.problems.sort();
        self.problems.dedup();
    }

    /// The verdict of a gate. A broken ratchet outweighs what was not checked.
    pub fn verdict(&self, rules: GateRules) -> Verdict {
        let broken = self.functions.iter().filter_map(|f| f.debt.as_ref()).any(|debt| !debt.passes);
        let repeated = rules.repeated && self.repeated.iter().any(Group::is_new_claim);
        if broken || repeated {
            return Verdict::Broken;
        }
        let unsupported = crate::problem::Unchecked::UnsupportedLanguage;
        let stops = |file: &NotChecked| !(rules.allow_unsupported && file.reason == unsupported);
        if self.files.not_checked.iter().any(stops) {
            return Verdict::CannotVouch;
        }
        if self.files.checked.is_empty() && !rules.allow_nothing {
            return Verdict::CannotVouch;
        }
        Verdict::Kept
    }
}
