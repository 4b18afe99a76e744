//! Asks the engine a case of checks, several times over, and says the answer in lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use owed_engine::check::repeated::Tier;
use owed_engine::check::{
    Base, Debt, GateRules, Input, Policy, Report, StaleWhy, Survey, Tests, Verdict, update,
};
use owed_engine::problem::Unchecked;
use owed_engine::project::Plugins;
use owed_engine::tree::{Kind, MemoryTree, Tree};

use super::case::Case;

/// Thread pools, made once.
pub(super) struct Pools(Vec<rayon::ThreadPool>);

impl Pools {
    pub(super) fn new() -> Self {
        let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).stack_size(16 << 20).build().unwrap();
        Self(vec![pool(1), pool(4)])
    }
}

/// A tree whose inventory comes in the other order.
struct Reversed(MemoryTree, Vec<String>);

impl Tree for Reversed {
    fn root(&self) -> &Path {
        self.0.root()
    }
    fn files(&self) -> &[String] {
        &self.1
    }
    fn kind(&self, path: &str) -> Option<Kind> {
        self.0.kind(path)
    }
    fn read(&self, path: &str) -> Result<Vec<u8>, Unchecked> {
        self.0.read(path)
    }
    fn list(&self, dir: &str) -> Vec<(String, Kind)> {
        self.0.list(dir)
    }
    fn real(&self, path: &str) -> Option<String> {
        self.0.real(path)
    }
}

/// The lines of each part.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answer(BTreeMap<&'static str, Vec<String>>);

impl Answer {
    pub(super) fn block(&self, part: &str) -> Vec<String> {
        self.0.get(part).cloned().unwrap_or_default()
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (part, lines) in self.0.iter().filter(|(_, lines)| !lines.is_empty()) {
            writeln!(f, "{part}")?;
            for line in lines {
                writeln!(f, "  {line}")?;
            }
        }
        Ok(())
    }
}

/// The answer to `case`; it must be the same every time.
pub(super) fn ask(case: &Case, pools: &Pools) -> Result<Answer, String> {
    let mut first: Option<Answer> = None;
    for (reversed, threads) in [(false, 0), (false, 1), (true, 0), (true, 1), (false, 1)] {
        let answer = pools.0[threads].install(|| once(case, reversed, first.is_none()))?;
        match &first {
            None => first = Some(answer),
            Some(first) if *first == answer => {}
            Some(first) => {
                return Err(format!(
                    "the answer differs with other threads or order\n-- first\n{first}-- then\n{answer}"
                ));
            }
        }
    }
    first.ok_or_else(|| "not asked".to_owned())
}

fn once(case: &Case, reversed: bool, each_file: bool) -> Result<Answer, String> {
    let tree = |files: &BTreeMap<String, Vec<u8>>| -> Box<dyn Tree> {
        let tree = MemoryTree::new(files.clone());
        if !reversed {
            return Box::new(tree);
        }
        let files = tree.files().iter().rev().cloned().collect();
        Box::new(Reversed(tree, files))
    };
    let (before, now) = (tree(&case.before), tree(&case.now));
    let debt = if case.has_debt { Some(start(&*before, &case.policy_before)?) } else { None };
    let tests = discover(&*now, &case.policy);
    let mut survey = Survey::read(input(&*now, &tests, debt.as_ref(), None), case.policy.clone());
    let report = survey.report();
    consistent(&report, &*now, &case.policy)?;
    let updated = update(debt.as_ref(), &report, &case.policy, &survey.measures(), case.accept.as_deref());
    for path in now.files().iter().filter(|_| each_file) {
        about_one_file(&mut survey, &report, &*now, path)?;
    }
    let base = base(case);
    let against = Survey::read(input(&*now, &tests, None, Some(&base)), case.policy.clone()).report();
    let mut answer = Answer::default();
    lines(&report, &mut answer);
    answer.0.insert("base", statuses(&against));
    answer.0.insert(
        "updated",
        updated
            .functions
            .iter()
            .map(|entry| {
                let who = &entry.identity;
                let reason =
                    if entry.reason.is_empty() { String::new() } else { format!(" | {}", entry.reason) };
                format!("{} | {} | {}{reason}", who.path, who.name, who.tokens)
            })
            .collect(),
    );
    Ok(answer)
}

/// The answer about a single file is the part of the whole that concerns it; also after the
/// file was something else, or was not there, for a while.
fn about_one_file(
    survey: &mut Survey<'_>,
    report: &Report,
    tree: &dyn Tree,
    path: &str,
) -> Result<(), String> {
    let Ok(bytes) = tree.read(path) else { return Ok(()) };
    let whole = report.clone().about(path);
    let same = |survey: &mut Survey<'_>, state: &str, whole: &Report| {
        let about = survey.report_about(path);
        if about == *whole {
            return Ok(());
        }
        Err(format!("about {path} alone, {state}:\n{about:#?}\nand as part of the whole:\n{whole:#?}"))
    };
    same(survey, "as it was read", &whole)?;
    if tree.real(path).is_some_and(|real| real != path) {
        return Ok(());
    }
    let twice = [&bytes[..], b"\n", &bytes[..]].concat();
    for (state, text) in [("written twice", Some(twice)), ("empty", Some(Vec::new())), ("gone", None)] {
        survey.replace(path, text);
        let anew = survey.report().about(path);
        same(survey, state, &anew)?;
    }
    survey.replace(path, Some(bytes));
    same(survey, "as it was again", &whole)?;
    if survey.report() != *report {
        return Err(format!("the answer is another after {path} was replaced and put back"));
    }
    Ok(())
}

/// The tests that the runners of the tree name.
fn discover(tree: &dyn Tree, policy: &Policy) -> BTreeSet<String> {
    let plugins = Plugins { languages: owed_plugins::languages(), runners: owed_plugins::runners() };
    Tests::discover(tree, plugins, &policy.exclude).paths
}

fn input<'a>(
    tree: &'a dyn Tree,
    tests: &'a BTreeSet<String>,
    debt: Option<&'a Debt>,
    base: Option<&'a Base>,
) -> Input<'a> {
    Input {
        tree,
        languages: owed_plugins::languages(),
        tests,
        unseen: &[],
        broken_links: &[],
        debt,
        base,
        coverage: None,
    }
}

/// The debt file that is written first; through its text, as it is on disk.
fn start(tree: &dyn Tree, policy: &Policy) -> Result<Debt, String> {
    let tests = discover(tree, policy);
    let survey = Survey::read(input(tree, &tests, None, None), policy.clone());
    let debt = update(None, &survey.report(), policy, &survey.measures(), None);
    Debt::parse(&debt.render()).map_err(|error| format!("the debt file cannot be read: {}", error.message))
}

fn base(case: &Case) -> Base {
    let paths: BTreeSet<&String> = case.before.keys().chain(case.now.keys()).collect();
    let changed = paths.into_iter().filter(|path| case.before.get(*path) != case.now.get(*path));
    Base { files: changed.map(|path| (path.clone(), case.before.get(path).cloned())).collect() }
}

/// What no report may be: every discovered file is in exactly one list.
fn consistent(report: &Report, tree: &dyn Tree, policy: &Policy) -> Result<(), String> {
    let files = &report.files;
    let mut listed: Vec<&str> = files.checked.iter().map(|file| file.path.as_str()).collect();
    listed.extend(files.not_checked.iter().map(|file| file.path.as_str()));
    listed.extend(files.excluded.iter().map(|file| file.path.as_str()));
    listed.sort_unstable();
    let mut discovered: Vec<&str> =
        tree.files().iter().map(String::as_str).filter(|path| policy.holds(path)).collect();
    discovered.extend(
        policy
            .within
            .iter()
            .map(String::as_str)
            .filter(|path| tree.is_file(path) && !tree.files().iter().any(|file| file == path)),
    );
    discovered.sort_unstable();
    if listed != discovered {
        return Err(format!("the ledger holds {listed:?}, and there is {discovered:?}"));
    }
    let mut seen = BTreeSet::new();
    for group in report.repeated.iter().filter(|group| group.is_claim()) {
        for member in &group.members {
            if !seen.insert((&member.path, member.start_line, &member.name)) {
                return Err(format!("{member:?} is in two groups"));
            }
        }
    }
    Ok(())
}

fn statuses(report: &Report) -> Vec<String> {
    let functions = report.functions.iter().filter_map(|function| {
        let debt = function.debt.as_ref()?;
        let allowed = debt.allowed.map(|allowed| format!(" of {allowed}")).unwrap_or_default();
        let gate = if debt.passes { "" } else { " | breaks" };
        let was = debt.was.as_ref().map(|(path, name)| format!(" | was {path} {name}")).unwrap_or_default();
        Some(format!(
            "{} | {} | {} {}{allowed}{was}{gate}",
            function.path,
            function.name,
            debt.status.word(),
            function.own
        ))
    });
    functions.collect()
}

fn lines(report: &Report, answer: &mut Answer) {
    let mut files: Vec<String> = Vec::new();
    files.extend(report.files.checked.iter().map(|file| format!("{} | checked", file.path)));
    files.extend(report.files.not_checked.iter().map(|file| {
        let line = file.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{} | NOT CHECKED {}{line}", file.path, file.reason.word())
    }));
    files.extend(
        report.files.excluded.iter().map(|file| format!("{} | excluded {}", file.path, file.rule.word())),
    );
    files.sort();
    answer.0.insert("files", files);
    answer.0.insert(
        "functions",
        report
            .functions
            .iter()
            .map(|f| {
                let over = if f.over() { format!(" > {}", f.cap) } else { String::new() };
                format!("{} | {} | {}{over}", f.path, f.name, f.own)
            })
            .collect(),
    );
    let mut debt = statuses(report);
    debt.extend(report.ratchet.stale.iter().map(|entry| {
        let why = if entry.why == StaleWhy::Gone { "gone" } else { "paid" };
        format!("{} | {} | stale: {why}", entry.path, entry.name)
    }));
    debt.extend(
        report
            .ratchet
            .frozen
            .iter()
            .map(|entry| format!("{} | {} | frozen: {}", entry.path, entry.name, entry.reason)),
    );
    answer.0.insert("debt", debt);
    let (mut repeated, mut literals, mut suggested) = (Vec::new(), Vec::new(), Vec::new());
    for group in &report.repeated {
        let tier = match group.tier {
            Tier::Claim => "claim",
            Tier::Advice(advice) => advice.word(),
        };
        let known = if group.is_known { " known" } else { "" };
        let places =
            group.members.iter().map(|m| format!(" | {}:{}-{} {}", m.path, m.start_line, m.end_line, m.name));
        repeated.push(format!("{tier}{known}{}", places.collect::<String>()));
        let holes = group.literals.iter().map(|hole| format!("{} | {}", hole.hole, hole.values.join(" | ")));
        literals.extend(holes);
        suggested.push(group.suggestion.clone());
    }
    answer.0.insert("repeated", repeated);
    answer.0.insert("literals", literals);
    answer.0.insert("suggested", suggested);
    answer.0.insert(
        "suppressed",
        report
            .suppressed
            .iter()
            .map(|s| format!("{}:{} | {} | {}", s.path, s.line, s.name, s.reason))
            .collect(),
    );
    answer.0.insert(
        "problems",
        report
            .problems
            .iter()
            .map(|p| {
                format!("{} | {}{}", p.code, p.path, p.line.map(|l| format!(":{l}")).unwrap_or_default())
            })
            .collect(),
    );
    let verdict = match report.verdict(GateRules::default()) {
        Verdict::Kept => "kept",
        Verdict::Broken => "broken",
        Verdict::CannotVouch => "cannot vouch",
    };
    answer.0.insert("verdict", vec![verdict.to_owned()]);
}
