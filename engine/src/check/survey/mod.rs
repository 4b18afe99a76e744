//! What was read of a project for a check, kept so that one file can be replaced and the
//! question asked again.
//!
//! Of a file only digests and the functions that are to be listed are kept; bodies are read
//! again where they are compared.

mod functions;
mod watch;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::check::coverage::{Coverage, crap};
use crate::check::exclusion::{Exclusions, Rule};
use crate::check::policy::{CompiledCaps, Policy};
use crate::check::ratchet::{Base, Debt, Fate, Identity, Judged, Looked, Ratchet, Seen, judge};
use crate::check::repeated::{self, Claims, Kept, Sources};
use crate::check::report::{CheckedFile, Excluded, Ledger, Measured, Report};
use crate::check::tests::Tests;
use crate::function::FunctionFacts;
use crate::language::Language;
use crate::path;
use crate::problem::{NotChecked, Problem, Unchecked};
use crate::project::Project;
use crate::tree::Tree;
use functions::functions;
use watch::Watch;

/// What a check is asked about.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The project's files.
    pub tree: &'a dyn Tree,
    /// The languages, in order.
    pub languages: &'a [&'a dyn Language],
    /// Files that a runner runs as tests, whatever their names are; may be empty.
    pub tests: &'a BTreeSet<String>,
    /// What discovery could not look at.
    pub unseen: &'a [NotChecked],
    /// Links that lead nowhere, or in circles: files that cannot be read.
    pub broken_links: &'a [String],
    /// The recorded debt; `None` when there is no file.
    pub debt: Option<&'a Debt>,
    /// The revision to judge against.
    pub base: Option<&'a Base>,
    /// Coverage, by project-relative path.
    pub coverage: Option<&'a Coverage>,
}

impl<'a> Input<'a> {
    /// A project that was read, with the tests that its runners know; no debt, base or coverage.
    pub fn of(project: &'a Project<'_>, tests: &'a Tests) -> Self {
        Self {
            tree: project.tree,
            languages: project.plugins.languages,
            tests: &tests.paths,
            unseen: &project.not_checked,
            broken_links: &[],
            debt: None,
            base: None,
            coverage: None,
        }
    }
}

/// A project, read for checks.
pub struct Survey<'a> {
    input: Input<'a>,
    policy: Policy,
    rules: Exclusions,
    caps: CompiledCaps,
    watch: Watch,
    /// Files in what is asked about, and those that only say who is who.
    files: BTreeMap<String, Outcome>,
    /// Texts that stand in for what the tree holds.
    overlay: BTreeMap<String, Vec<u8>>,
    /// Functions of changed files before the change.
    before: Option<Vec<Identity>>,
    problems: Vec<Problem>,
    /// Claims that were verified for answers about one file.
    claims: Claims,
}

/// What became of a file.
enum Outcome {
    Checked(Box<Digest>),
    NotChecked(Unchecked, Option<u32>),
    Excluded(Rule),
}

/// What is kept of a measured file.
struct Digest {
    language: &'static str,
    functions: u32,
    listed: Vec<Measured>,
    identities: Vec<Identity>,
    repeated: Kept,
}

impl<'a> Survey<'a> {
    /// Reads what `policy` asks about, in parallel.
    pub fn read(input: Input<'a>, policy: Policy) -> Self {
        let mut survey = Self {
            rules: Exclusions::new(input.tree, &policy.exclude),
            caps: policy.caps.compile(),
            watch: Watch::new(input.debt, input.base),
            files: BTreeMap::new(),
            overlay: BTreeMap::new(),
            before: None,
            problems: Vec::new(),
            claims: Claims::default(),
            input,
            policy,
        };
        let files = input.tree.files().iter().chain(input.broken_links);
        let wanted: Vec<&String> = files.filter(|path| survey.is_wanted(path)).collect();
        let outcomes: Vec<(String, Outcome)> =
            wanted.par_iter().map(|path| ((*path).clone(), survey.look(path))).collect();
        survey.files = outcomes.into_iter().collect();
        survey.before = input.base.map(|base| survey.read_base(base));
        survey
    }

    /// Replaces the text of one file, as an editor holds it; `None` removes the file.
    pub fn replace(&mut self, path: &str, bytes: Option<Vec<u8>>) {
        let outcome = match bytes {
            None => {
                self.overlay.remove(path);
                None
            }
            Some(bytes) => {
                self.overlay.insert(path.to_owned(), bytes);
                self.is_wanted(path).then(|| self.look(path))
            }
        };
        let changed = |claims: &mut Claims, outcome: &Outcome| {
            if let Outcome::Checked(digest) = outcome {
                claims.changed(digest.repeated.digests());
            }
        };
        if let Some(old) = self.files.remove(path) {
            changed(&mut self.claims, &old);
        }
        if let Some(new) = outcome {
            changed(&mut self.claims, &new);
            self.files.insert(path.to_owned(), new);
        }
    }

    /// The whole answer.
    pub fn report(&self) -> Report {
        let mut report = self.measured(&|_| true);
        if self.policy.questions.repeated {
            self.with_files(|kept, asked, again| {
                report.take(repeated::find(kept, asked, again, &self.policy, self.input.debt));
            });
        }
        report
    }

    /// The part of [`Survey::report`] that is about one file, as [`Report::about`] gives it, in
    /// the time that one file takes: what was verified for the last answer is not verified
    /// again. With [`Policy::advice`] it takes as long as the whole.
    pub fn report_about(&mut self, file: &str) -> Report {
        if self.policy.advice {
            return self.report().about(file);
        }
        let mut report = self.measured(&|path| path == file);
        if self.policy.questions.repeated {
            let mut claims = std::mem::take(&mut self.claims);
            self.with_files(|kept, _, again| {
                report.take(claims.find(kept, again, &self.policy, self.input.debt));
            });
            self.claims = claims;
        }
        report.about(file)
    }

    /// How each measured language counts tokens, sorted.
    pub fn measures(&self) -> Vec<(String, String)> {
        let mut measures: Vec<(String, String)> = self
            .files
            .values()
            .filter_map(|outcome| match outcome {
                Outcome::Checked(digest) => Some(digest.language),
                _ => None,
            })
            .filter_map(|language| Some((language.to_owned(), self.measure(language)?.to_owned())))
            .collect();
        measures.sort();
        measures.dedup();
        measures
    }

    fn is_wanted(&self, path: &str) -> bool {
        self.policy.holds(path) || self.policy.questions.tokens && self.watch.holds_path(path)
    }

    fn measure(&self, language: &str) -> Option<&'static str> {
        self.input.languages.iter().find(|l| l.name() == language).map(|l| l.measure())
    }

    fn language_of(&self, path: &str) -> Option<&'a dyn Language> {
        self.input.languages.iter().copied().find(|language| language.reads(path))
    }

    fn bytes(&self, path: &str) -> Result<Cow<'_, [u8]>, Unchecked> {
        match self.overlay.get(path) {
            Some(bytes) => Ok(Cow::Borrowed(bytes)),
            None => self.input.tree.read(path).map(Cow::Owned),
        }
    }

    /// What becomes of one file.
    fn look(&self, path: &str) -> Outcome {
        if let Some(rule) = self.rules.by_name(path) {
            return Outcome::Excluded(rule);
        }
        if self.input.tests.contains(path) {
            return Outcome::Excluded(Rule::Test);
        }
        let is_link = || self.input.tree.real(path).is_some_and(|real| real != path);
        if !self.overlay.contains_key(path) && is_link() {
            return Outcome::Excluded(Rule::Link);
        }
        let Some(language) = self.language_of(path) else {
            return Outcome::NotChecked(Unchecked::UnsupportedLanguage, None);
        };
        let bytes = match self.bytes(path) {
            Ok(bytes) => bytes,
            Err(reason) => return Outcome::NotChecked(reason, None),
        };
        if self.rules.is_generated(path, &bytes) {
            return Outcome::Excluded(Rule::Generated);
        }
        match functions(language, path, &bytes, self.policy.file_size, &self.policy.limits) {
            Ok(facts) => Outcome::Checked(Box::new(self.digest(language.name(), path, &bytes, &facts))),
            Err((reason, line)) => Outcome::NotChecked(reason, line),
        }
    }

    fn digest(&self, language: &'static str, path: &str, bytes: &[u8], facts: &FunctionFacts) -> Digest {
        let questions = self.policy.questions;
        let cap = self.caps.of(path);
        let lists_all = self.policy.all_functions || !questions.tokens && questions.complexity;
        let lists_any = questions.tokens || questions.complexity;
        let lines = u32::try_from(bytes.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() + 1);
        let lines = lines.unwrap_or(u32::MAX);
        let coverage = self.input.coverage.filter(|_| questions.complexity);
        let mut digest = Digest {
            language,
            functions: u32::try_from(facts.functions.len()).unwrap_or(u32::MAX),
            listed: Vec::new(),
            identities: Vec::new(),
            repeated: Kept::default(),
        };
        let mut ordinals: FxHashMap<&str, u32> = FxHashMap::default();
        for (number, function) in facts.functions.iter().enumerate() {
            let ordinal = ordinals.entry(&function.name).or_insert(0);
            *ordinal += 1;
            let over = questions.tokens && function.own_tokens > cap;
            if lists_any && (over || lists_all) && self.policy.holds(path) {
                digest.listed.push(Measured {
                    path: path.to_owned(),
                    language,
                    name: function.name.clone(),
                    nth: *ordinal,
                    kind: function.kind,
                    start_line: function.start_line,
                    end_line: function.end_line,
                    own: function.own_tokens,
                    total: function.total_tokens,
                    cyclomatic: function.cyclomatic,
                    cognitive: function.cognitive,
                    crap: coverage.map(|coverage| crap(facts, number, coverage.files.get(path), lines)),
                    cap,
                    debt: None,
                });
            }
            if over || questions.tokens && self.watch.holds(path, function) {
                digest.identities.push(Identity::of(language, path, function, *ordinal));
            }
            if questions.repeated && self.policy.holds(path) {
                digest.repeated.add(function, number, self.policy.advice);
            }
        }
        digest
    }

    fn read_base(&mut self, base: &Base) -> Vec<Identity> {
        let read: Vec<Result<Vec<Identity>, Problem>> = base
            .files
            .par_iter()
            .filter_map(|(path, bytes)| Some((path, bytes.as_ref()?)))
            .filter(|(path, bytes)| {
                self.rules.by_name(path).is_none() && !self.rules.is_generated(path, bytes)
            })
            .filter_map(|(path, bytes)| Some((path, bytes, self.language_of(path)?)))
            .map(|(path, bytes, language)| {
                let facts = functions(language, path, bytes, self.policy.file_size, &self.policy.limits)
                    .map_err(|(reason, line)| Problem {
                        code: "base-not-checked".to_owned(),
                        path: path.clone(),
                        line,
                        detail: format!(
                            "the base of this file is {}, so its functions over their cap count as new",
                            reason.word()
                        ),
                    })?;
                let mut ordinals: FxHashMap<&str, u32> = FxHashMap::default();
                let identities = facts.functions.iter().map(|function| {
                    let ordinal = ordinals.entry(&function.name).or_insert(0);
                    *ordinal += 1;
                    Identity::of(language.name(), path, function, *ordinal)
                });
                Ok(identities.collect())
            })
            .collect();
        let mut before = Vec::new();
        for file in read {
            match file {
                Ok(identities) => before.extend(identities),
                Err(problem) => self.problems.push(problem),
            }
        }
        before
    }

    /// The answer without repeated implementations; `listed` says whose functions are wanted.
    fn measured(&self, listed: &dyn Fn(&str) -> bool) -> Report {
        let mut report = Report { problems: self.problems.clone(), ..Report::default() };
        report.problems.sort();
        report.problems.dedup();
        report.files = self.ledger();
        for (_, digest) in self.checked().filter(|(path, _)| self.policy.holds(path) && listed(path)) {
            report.functions.extend(digest.listed.iter().cloned());
        }
        if self.policy.questions.tokens {
            let (judged, ratchet) = self.judge(&report.files);
            report.ratchet = ratchet;
            place(&mut report.functions, judged);
        }
        report
    }

    fn checked(&self) -> impl Iterator<Item = (&String, &Digest)> {
        self.files.iter().filter_map(|(path, outcome)| match outcome {
            Outcome::Checked(digest) => Some((path, &**digest)),
            _ => None,
        })
    }

    fn ledger(&self) -> Ledger {
        let holds = |path: &str| self.policy.holds(path);
        let mut ledger = Ledger::default();
        for (path, outcome) in self.files.iter().filter(|(path, _)| holds(path)) {
            let path = path.clone();
            match outcome {
                Outcome::Checked(digest) => ledger.checked.push(CheckedFile {
                    path,
                    language: digest.language,
                    functions: digest.functions,
                }),
                Outcome::NotChecked(reason, line) => {
                    ledger.not_checked.push(NotChecked { path, reason: *reason, line: *line });
                }
                Outcome::Excluded(rule) => ledger.excluded.push(Excluded { path, rule: *rule }),
            }
        }
        let unseen = self.input.unseen.iter().filter(|file| holds(&file.path));
        ledger.not_checked.extend(unseen.filter(|file| !self.files.contains_key(&file.path)).cloned());
        ledger.not_checked.sort();
        ledger.not_checked.dedup();
        for path in &self.policy.within {
            let known = self.files.keys().any(|file| path::is_within(file, path));
            if !known && self.input.tree.is_file(path) {
                ledger.excluded.push(Excluded { path: path.clone(), rule: Rule::Ignored });
            }
        }
        ledger.excluded.sort();
        ledger.excluded.dedup();
        ledger
    }

    fn judge(&self, files: &Ledger) -> (Vec<(Identity, Judged)>, Ratchet) {
        let holds = |path: &str| self.policy.holds(path);
        let mut seen: Vec<Seen> = Vec::new();
        for (path, digest) in self.checked() {
            let (cap, in_scope) = (self.caps.of(path), holds(path));
            seen.extend(digest.identities.iter().map(|identity| Seen {
                identity: identity.clone(),
                cap,
                in_scope,
            }));
        }
        let fate = |path: &str| match self.files.get(path) {
            _ if !holds(path) => Fate::OutOfScope,
            Some(Outcome::Checked(_)) => Fate::Checked,
            Some(Outcome::NotChecked(reason, _)) => Fate::NotChecked(*reason),
            Some(Outcome::Excluded(rule)) => Fate::Excluded(*rule),
            None => match files.not_checked.iter().find(|file| path::is_within(path, &file.path)) {
                Some(file) => Fate::NotChecked(file.reason),
                None => Fate::Absent,
            },
        };
        let left_out = |language: &str| {
            files.not_checked.iter().any(|file| match self.language_of(&file.path) {
                Some(of_file) => of_file.name() == language,
                // A directory that could not be looked into may hold anything.
                None => file.reason != Unchecked::UnsupportedLanguage,
            })
        };
        let looked = Looked {
            fate: &fate,
            left_out: &left_out,
            partial: !self.policy.within.is_empty(),
            measure: &|language| self.measure(language),
            before: self.before.as_deref(),
            changed: &|path| self.input.base.is_some_and(|base| base.files.contains_key(path)),
        };
        let (judged, ratchet) = judge(self.input.debt, &seen, &looked);
        (
            judged.into_iter().map(|(number, judged)| (seen[number].identity.clone(), judged)).collect(),
            ratchet,
        )
    }

    /// Hands over what is kept of each measured file, which are asked about, and how they are
    /// read again; all by the number of the file.
    fn with_files(&self, work: impl FnOnce(&[&Kept], &[bool], &dyn Sources)) {
        let files: Vec<CheckedFile> = self
            .checked()
            .map(|(path, digest)| CheckedFile {
                path: path.clone(),
                language: digest.language,
                functions: digest.functions,
            })
            .collect();
        let kept: Vec<&Kept> = self.checked().map(|(_, digest)| &digest.repeated).collect();
        let asked: Vec<bool> = files.iter().map(|file| self.policy.holds(&file.path)).collect();
        work(&kept, &asked, &Again { survey: self, files });
    }
}

/// Gives each verdict to the function it is about.
fn place(functions: &mut [Measured], judged: Vec<(Identity, Judged)>) {
    let mut verdicts: BTreeMap<(String, String, u32), Judged> =
        judged.into_iter().map(|(who, verdict)| ((who.path, who.name, who.ordinal), verdict)).collect();
    for function in functions.iter_mut().filter(|function| function.over()) {
        function.debt = verdicts.remove(&(function.path.clone(), function.name.clone(), function.nth));
    }
}

/// Reads files of a survey again.
struct Again<'s, 'a> {
    survey: &'s Survey<'a>,
    files: Vec<CheckedFile>,
}

impl Sources for Again<'_, '_> {
    fn file(&self, number: u32) -> &CheckedFile {
        &self.files[number as usize]
    }

    fn read(&self, number: u32) -> Option<(Vec<u8>, FunctionFacts)> {
        let path = &self.file(number).path;
        let language = self.survey.language_of(path)?;
        let bytes = self.survey.bytes(path).ok()?;
        let facts =
            functions(language, path, &bytes, self.survey.policy.file_size, &self.survey.policy.limits)
                .ok()?;
        Some((bytes.into_owned(), facts))
    }
}
