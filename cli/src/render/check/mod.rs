//! `owed check` for people: the functions over their cap, worst first, the repeated
//! implementations with two members side by side, and what was not looked at. Other formats
//! have a module each.

pub(crate) mod codeclimate;
mod frame;
pub(crate) mod github;
mod groups;
pub(crate) mod junit;
pub(crate) mod sarif;

use std::cmp::Reverse;
use std::fmt::Write as _;

use owed_engine::check::Questions;

use super::style::{self, Piece};
use super::{View, count, trouble};
use crate::answer::check::{CheckAnswer, FunctionSeen, GroupSeen, NamedSeen, RuleSeen};

const FUNCTIONS: usize = 20;
const FILES: usize = 10;
const ENTRIES: usize = 6;

/// What was asked, as far as the answer is shown by it.
pub(crate) struct Asked<'a> {
    /// Whether the exit code is a verdict.
    pub gate: bool,
    /// Whether files of other languages do not stop the gate.
    pub allow_unsupported: bool,
    /// Whether there is something that debt is judged against.
    pub judged: bool,
    /// Which questions.
    pub questions: Questions,
    /// Whether repeated implementations were looked for across files.
    pub across_files: bool,
    /// Whether all functions are listed.
    pub all_functions: bool,
    /// The text of a file, for code frames.
    pub text: &'a dyn Fn(&str) -> Option<String>,
}

/// The whole answer.
pub(crate) fn check(answer: &CheckAnswer, asked: &Asked<'_>, view: View) -> String {
    let mut out = header(answer, view);
    if asked.questions.tokens || asked.questions.complexity {
        out += &functions(answer, asked, view);
        out += &debt(answer, view);
    }
    if asked.questions.repeated {
        out += &groups::groups(answer, asked, view);
    }
    out += &not_checked(answer, view);
    out += &trouble::problems(&answer.problems, view);
    out += &verdict(answer, asked, view);
    out
}

fn header(answer: &CheckAnswer, view: View) -> String {
    let files = &answer.files;
    let mut pieces = vec![Piece::new(&format!("{} checked", count(files.checked, "file")), style::bold)];
    let not = format!("{} NOT CHECKED", files.not_checked.len());
    pieces.push(if files.not_checked.is_empty() {
        Piece::new(&not, style::plain)
    } else {
        Piece::new(&not, style::bad)
    });
    pieces.push(Piece::new(&format!("{} excluded", answer.excluded()), style::plain));
    let mut text: Vec<Piece> = Vec::new();
    let last = pieces.len() - 1;
    for (at, piece) in pieces.into_iter().enumerate() {
        text.push(if at < last { piece.followed(",") } else { piece });
    }
    let mut out = format!("{}\n", style::flow(&text, 0, 2, view.width));
    if !files.excluded.is_empty() {
        let _ = writeln!(out, "  {}", style::dim(&format!("excluded: {}", rules(&files.excluded))));
    }
    for named in &files.named {
        let _ = writeln!(out, "  {}", style::wrap(&outcome(named), 2, 4, view.width));
    }
    out
}

fn rules(rules: &[RuleSeen]) -> String {
    rules.iter().map(|rule| format!("{} {}", rule.rule, rule.count)).collect::<Vec<_>>().join(", ")
}

/// What became of a path that was named.
fn outcome(named: &NamedSeen) -> String {
    let mut parts = Vec::new();
    if named.checked > 0 {
        parts.push(format!("{} checked", count(named.checked, "file")));
    }
    if named.not_checked > 0 {
        parts.push(format!("{} NOT CHECKED", named.not_checked));
    }
    if !named.excluded.is_empty() {
        parts.push(format!("excluded by {}", rules(&named.excluded)));
    }
    if parts.is_empty() {
        parts.push("no file in it is considered".to_owned());
    }
    format!("{}: {}", named.path, parts.join(", "))
}

fn functions(answer: &CheckAnswer, asked: &Asked<'_>, view: View) -> String {
    let over = answer.functions.iter().filter(|function| function.over).count();
    let total = count(answer.functions_total, "function");
    let lists_all = asked.all_functions || !asked.questions.tokens;
    let mut out = String::new();
    if asked.questions.tokens {
        let title = if over == 0 { "No function is over its cap" } else { "Over the cap" };
        let _ = writeln!(out, "\n{} {}", style::bold(title), style::dim(&format!("({over} of {total})")));
    } else {
        let _ = writeln!(out, "\n{} {}", style::bold("Most complex"), style::dim(&format!("(of {total})")));
    }
    let mut sorted: Vec<&FunctionSeen> =
        answer.functions.iter().filter(|function| lists_all || function.over).collect();
    if asked.questions.tokens {
        // What breaks a gate first, then by size.
        sorted.sort_by_key(|f| (f.debt.as_ref().is_none_or(|debt| debt.passes), Reverse(f.tokens.own)));
    } else {
        sorted.sort_by(|a, b| {
            let crap = |f: &FunctionSeen| f.complexity.crap.as_ref().map_or(0.0, |crap| crap.score);
            crap(b).total_cmp(&crap(a)).then(b.complexity.cognitive.cmp(&a.complexity.cognitive))
        });
    }
    let shown = view.shown(sorted.len(), FUNCTIONS);
    for function in &sorted[..shown] {
        out += &line(function, asked, view);
    }
    out.extend(view.rest(sorted.len(), shown, "  "));
    out
}

fn line(function: &FunctionSeen, asked: &Asked<'_>, view: View) -> String {
    let mut pieces = Vec::new();
    // Without a measure everything would be new.
    if let Some(debt) = function.debt.as_ref().filter(|_| asked.judged || asked.gate) {
        let word = format!("{:<8}", debt.status);
        pieces.push(Piece::new(&word, |word| if debt.passes { style::dim(word) } else { style::bad(word) }));
    }
    let size = match function.debt.as_ref().and_then(|debt| debt.allowed) {
        Some(allowed) if allowed != function.tokens.own => {
            format!("{} tokens (allowed {allowed})", function.tokens.own)
        }
        _ => format!("{} tokens", function.tokens.own),
    };
    pieces.push(Piece::new(&size, if function.over { style::bold } else { style::plain }));
    pieces.push(Piece::new(&format!("{}:{}", function.path, function.start_line), style::changed));
    pieces.push(Piece::new(&function.name, style::bold));
    let mut more = Vec::new();
    if function.over && function.cap != owed_engine::check::DEFAULT_CAP {
        more.push(format!("cap {}", function.cap));
    }
    if function.tokens.total != function.tokens.own {
        more.push(format!("{} with nested", function.tokens.total));
    }
    if asked.questions.complexity {
        more.push(format!("cyclomatic {}", function.complexity.cyclomatic));
        more.push(format!("cognitive {}", function.complexity.cognitive));
        if let Some(crap) = &function.complexity.crap {
            let covered = match crap.coverage {
                Some(part) => format!("{:.0} % covered", part * 100.0),
                None => "coverage not known".to_owned(),
            };
            more.push(format!("CRAP {:.1}, {covered}", crap.score));
        }
    }
    if let Some(was) = function.debt.as_ref().and_then(|debt| debt.was.as_ref()) {
        more.push(format!("was {} in {}", was.name, was.path));
    }
    if !more.is_empty() {
        pieces.extend(format!("({})", more.join(", ")).split(' ').map(|word| Piece::new(word, style::dim)));
    }
    format!("  {}\n", style::flow(&pieces, 2, 6, view.width))
}

fn debt(answer: &CheckAnswer, view: View) -> String {
    let mut out = String::new();
    let debt = &answer.debt;
    let blocks = [
        (
            "Stale debt",
            debt.stale.iter().map(|e| (&e.path, &e.name, stale_words(e.why).to_owned())).collect::<Vec<_>>(),
        ),
        (
            "Frozen debt",
            debt.frozen.iter().map(|e| (&e.path, &e.name, format!("not looked at: {}", e.reason))).collect(),
        ),
    ];
    for (title, entries) in blocks.iter().filter(|(_, entries)| !entries.is_empty()) {
        let _ = writeln!(out, "\n{} {}", style::bold(title), style::dim(&format!("({})", entries.len())));
        let shown = view.shown(entries.len(), ENTRIES);
        for (path, name, why) in &entries[..shown] {
            let sentence = format!("{path}  {name}  {why}");
            let _ = writeln!(out, "  {}", style::wrap(&sentence, 2, 6, view.width));
        }
        out.extend(view.rest(entries.len(), shown, "  "));
    }
    if !debt.stale.is_empty() && !view.quiet {
        let _ = writeln!(out, "  {}", style::dim("owed check --update-debt takes stale entries out"));
    }
    out
}

fn stale_words(why: &str) -> &'static str {
    match why {
        "paid" => "is within its cap now",
        _ => "is not there any more",
    }
}

fn not_checked(answer: &CheckAnswer, view: View) -> String {
    let files = &answer.files.not_checked;
    let mut out = String::new();
    if files.is_empty() {
        return out;
    }
    let _ = writeln!(out, "\n{} {}", style::bad("NOT CHECKED"), style::dim(&format!("({})", files.len())));
    // Languages that nobody measures are counted; everything else is named.
    let (unsupported, named): (Vec<_>, Vec<_>) =
        files.iter().partition(|file| file.reason == "unsupported-language");
    let shown = view.shown(named.len(), FILES);
    for file in &named[..shown] {
        let at = trouble::place(&file.path, file.line);
        let sentence = reason(file.reason);
        let column = style::width(&at) + 4;
        let _ = writeln!(out, "  {}  {}", style::bold(&at), style::wrap(sentence, column, 6, view.width));
    }
    out.extend(view.rest(named.len(), shown, "  "));
    if !unsupported.is_empty() {
        let mut by_extension: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
        for file in &unsupported {
            *by_extension.entry(owed_engine::path::extension(&file.path)).or_default() += 1;
        }
        let list: Vec<String> =
            by_extension.iter().map(|(name, number)| format!(".{name} {number}")).collect();
        let sentence = format!("languages that owed does not measure: {}", list.join(", "));
        let _ = writeln!(out, "  {}", style::wrap(&sentence, 2, 6, view.width));
        if view.verbose {
            for file in &unsupported {
                let _ = writeln!(out, "    {}", style::plain(&file.path));
            }
        }
    }
    out
}

/// A sentence for each reason.
pub(crate) fn reason(word: &str) -> &'static str {
    match word {
        "unparsable" => "it does not parse, so none of its functions was measured",
        "too-large" => "it is larger than limits.file_size",
        "binary" => "it holds binary data",
        "not-utf8" => "it is not UTF-8",
        "unreadable" => "it cannot be read",
        "depth" => "it is nested more deeply than limits.depth, or than its language allows",
        "timeout" => "measuring it takes more steps than a file may: its names lie in too many scopes",
        "unsupported-language" => "owed does not measure functions of its language",
        _ => "it was not read",
    }
}

fn verdict(answer: &CheckAnswer, asked: &Asked<'_>, view: View) -> String {
    let nothing = answer.files.checked == 0;
    let broken = answer.functions.iter().filter_map(|f| f.debt.as_ref()).filter(|debt| !debt.passes).count();
    let text = match answer.verdict {
        "broken" if asked.gate => style::bad(&format!("The gate is broken: {}", why_broken(answer, broken))),
        "cannot-vouch" if asked.gate && nothing => style::bad("The gate cannot vouch: nothing was checked"),
        "cannot-vouch" if asked.gate => cannot_vouch(answer, asked, view),
        "kept" if asked.gate => style::good("The gate is passed"),
        _ if nothing => {
            style::warn("Nothing was checked: no file in scope is source code that owed measures")
        }
        _ if view.quiet => return String::new(),
        _ if broken > 0 && answer.debt.entries == 0 => {
            style::dim("Next: owed check --update-debt records this as the debt to start from")
        }
        _ => return String::new(),
    };
    format!("\n{text}\n")
}

/// What was not checked, and what can be done about it.
fn cannot_vouch(answer: &CheckAnswer, asked: &Asked<'_>, view: View) -> String {
    let files = &answer.files.not_checked;
    let unsupported = files.iter().filter(|file| file.reason == "unsupported-language").count();
    let others = files.len() - unsupported;
    let unsupported = if asked.allow_unsupported { 0 } else { unsupported };
    let them = if unsupported == 1 { "it" } else { "them" };
    let (what, next) = match (unsupported, others) {
        (0, others) => (
            format!("{} in scope NOT CHECKED", count(others, "file")),
            "mend what stops each of them, or leave it out with `exclude` in owed.toml".to_owned(),
        ),
        (some, 0) => (
            format!("{} in scope of languages that owed does not measure", count(some, "file")),
            format!(
                "--allow-unsupported lets the gate pass without {them}; `exclude` in owed.toml leaves {them} out"
            ),
        ),
        (some, others) => (
            format!("{} in scope NOT CHECKED", count(some + others, "file")),
            format!(
                "--allow-unsupported lets the gate pass without the {some} of languages that owed does not \
                 measure; mend what stops the others, or leave them out with `exclude` in owed.toml"
            ),
        ),
    };
    let next = style::wrap(&format!("Next: {next}"), 0, 6, view.width);
    format!("{}\n{}", style::bad(&format!("The gate cannot vouch: {what}")), style::dim(&next))
}

fn why_broken(answer: &CheckAnswer, broken: usize) -> String {
    let groups =
        answer.repeated.iter().filter(|group| group.tier == "claim" && group.status == "new").count();
    match (broken, groups) {
        (0, groups) => format!("{} of repeated implementations", count(groups, "new group")),
        (broken, _) => format!("{} with new, grown or revealed debt", count(broken, "function")),
    }
}

/// One sentence about a function over its cap.
fn sentence(function: &FunctionSeen) -> String {
    let size = format!("{} has {} tokens, cap {}", function.name, function.tokens.own, function.cap);
    match &function.debt {
        Some(debt) => match debt.allowed {
            Some(allowed) => format!("{size}; debt {}: {allowed} are allowed", debt.status),
            None => format!("{size}; debt {}", debt.status),
        },
        None => size,
    }
}

/// One sentence about a group.
fn group_sentence(group: &GroupSeen) -> String {
    const MOST: usize = 8;
    let places: Vec<String> = group
        .members
        .iter()
        .take(MOST)
        .map(|member| format!("{} ({}:{}-{})", member.name, member.path, member.start_line, member.end_line))
        .collect();
    let more = group.members.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let what = match group.tier {
        "claim" => "The same implementation",
        _ => "Nearly the same implementation",
    };
    format!("{what} stands in {}{more}; {}", places.join(", "), group.suggestion)
}
