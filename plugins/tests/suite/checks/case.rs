//! Reads one case of checks. The format is that of `corpus/README.md`; what is special to
//! checks is described there under "Checks".

use std::collections::BTreeMap;
use std::ops::Range;

use owed_engine::check::{Caps, PathCap, Policy, Questions};

use super::answer::Answer;
use crate::case::{split, strings};

/// One case.
#[derive(Debug, Default)]
pub(super) struct Case {
    pub(super) title: String,
    /// The files before.
    pub(super) before: BTreeMap<String, Vec<u8>>,
    /// The files now.
    pub(super) now: BTreeMap<String, Vec<u8>>,
    /// What was asked before; the debt file is written from it.
    pub(super) policy_before: Policy,
    /// What is asked now.
    pub(super) policy: Policy,
    /// A debt file was written before.
    pub(super) has_debt: bool,
    /// The reason with which growth is accepted.
    pub(super) accept: Option<String>,
    pub(super) blocks: Vec<Block>,
}

/// A block of the answer.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) part: String,
    pub(super) lines: Vec<String>,
    at: Range<usize>,
}

/// The parts an answer has.
const PARTS: &[&str] = &[
    "files",
    "functions",
    "debt",
    "base",
    "updated",
    "repeated",
    "literals",
    "suggested",
    "suppressed",
    "problems",
    "verdict",
];

impl Case {
    pub(super) fn parse(text: &str, tree: BTreeMap<String, Vec<u8>>) -> Result<Self, String> {
        let (prose, fences) = split(text)?;
        let mut lines = prose.iter();
        let title =
            lines.next().and_then(|line| line.strip_prefix("# ")).ok_or("the first line is no `# title`")?;
        if !lines.any(|line| line.split_whitespace().count() > 3) {
            return Err("a paragraph must say why the behaviour matters".to_owned());
        }
        let mut case = Self { title: title.trim().to_owned(), now: tree, ..Self::default() };
        let mut before = BTreeMap::new();
        let mut changed: Vec<String> = Vec::new();
        let (mut options, mut has_before) = (Vec::new(), false);
        for fence in fences {
            if let Some((path, is_base)) = fence.file {
                let bytes: String = fence.body.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
                let side = if is_base { &mut before } else { &mut case.now };
                if side.insert(path.clone(), bytes.into_bytes()).is_some() {
                    return Err(format!("{path} is given twice"));
                }
                continue;
            }
            match fence.info.as_str() {
                "config" => configure(&mut case.policy, &fence.body.join("\n"))?,
                "config-before" => {
                    has_before = true;
                    configure(&mut case.policy_before, &fence.body.join("\n"))?;
                }
                "options" => options = fence.body,
                "changed" => changed = fence.body,
                part if PARTS.contains(&part) => {
                    let lines: Vec<String> =
                        fence.body.iter().filter(|l| !l.trim().is_empty()).cloned().collect();
                    let lines = match lines.as_slice() {
                        [] => return Err(format!("{part} is empty: write `none`")),
                        [only] if only == "none" => Vec::new(),
                        _ => lines,
                    };
                    case.blocks.push(Block { part: part.to_owned(), lines, at: fence.at });
                }
                other => return Err(format!("line {}: a block {other:?} has no meaning", fence.at.start)),
            }
        }
        if case.blocks.is_empty() {
            return Err("a case needs an answer".to_owned());
        }
        // Without a history there is nothing that could have been recorded.
        let asks = |part: &str| case.blocks.iter().any(|block| block.part == part);
        case.has_debt =
            has_before || !before.is_empty() || !changed.is_empty() || asks("debt") || asks("updated");
        case.read_sides(before, &changed)?;
        case.read_options(&options)?;
        if !has_before {
            case.policy_before = Policy { within: Vec::new(), ..case.policy.clone() };
        }
        Ok(case)
    }

    /// Two states from what is given.
    fn read_sides(&mut self, before: BTreeMap<String, Vec<u8>>, changed: &[String]) -> Result<(), String> {
        self.before = self.now.clone();
        for (path, bytes) in before {
            self.before.insert(path, bytes);
        }
        for line in changed.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
            let given = |map: &BTreeMap<String, Vec<u8>>, path: &str| {
                map.get(path).cloned().ok_or_else(|| format!("{path} is not given"))
            };
            match line.split_once(' ') {
                Some(("A", path)) => drop(self.before.remove(path)),
                Some(("D", path)) => {
                    given(&self.before, path)?;
                    self.now.remove(path);
                }
                Some(("R", paths)) => {
                    let (from, to) = paths.split_once(" -> ").ok_or("a rename is `R old -> new`")?;
                    let old = self.before.get(from).cloned().map_or_else(|| given(&self.now, to), Ok)?;
                    self.now.remove(from);
                    self.before.remove(to);
                    self.before.insert(from.to_owned(), old);
                }
                Some(("CRLF", path)) => {
                    let text = String::from_utf8_lossy(&given(&self.now, path)?).replace('\n', "\r\n");
                    self.now.insert(path.to_owned(), text.into_bytes());
                }
                Some(("CR", path)) => {
                    let text = String::from_utf8_lossy(&given(&self.now, path)?).replace('\n', "\r");
                    self.now.insert(path.to_owned(), text.into_bytes());
                }
                _ => return Err(format!("changed: {line:?} is not understood")),
            }
        }
        Ok(())
    }

    fn read_options(&mut self, lines: &[String]) -> Result<(), String> {
        for line in lines {
            match line.split_once(' ').unwrap_or((line, "")) {
                ("across-files", "") => self.policy.across_files = true,
                ("advice", "") => self.policy.advice = true,
                ("all-functions", "") => self.policy.all_functions = true,
                ("no-debt", "") => self.has_debt = false,
                ("within", path) => self.policy.within.push(path.to_owned()),
                ("accept", reason) => self.accept = Some(reason.to_owned()),
                ("only", question) => {
                    let questions = &mut self.policy.questions;
                    *questions = Questions {
                        tokens: question == "tokens",
                        repeated: question == "repeated",
                        complexity: question == "complexity",
                    };
                }
                _ => return Err(format!("options: {line:?} is not understood")),
            }
        }
        Ok(())
    }
}

fn configure(policy: &mut Policy, text: &str) -> Result<(), String> {
    let table: toml::Table = text.parse().map_err(|error| format!("config: {error}"))?;
    let number = |value: &toml::Value| {
        value.as_integer().and_then(|n| u32::try_from(n).ok()).ok_or_else(|| format!("{value} is no number"))
    };
    for (key, value) in table {
        match key.as_str() {
            "cap" => policy.caps = Caps { default: number(&value)?, ..std::mem::take(&mut policy.caps) },
            "caps" => {
                for cap in value.as_array().ok_or("caps is no array of tables")? {
                    let paths = cap.get("paths").map_or(Ok(Vec::new()), strings)?;
                    let cap = number(cap.get("cap").ok_or("a cap is missing")?)?;
                    policy.caps.paths.push(PathCap { paths, cap });
                }
            }
            "exclude" => policy.exclude = strings(&value)?,
            "file_size" => policy.file_size = u64::from(number(&value)?),
            "depth" => policy.limits.depth = number(&value)?,
            other => return Err(format!("config: unknown key {other:?}")),
        }
    }
    Ok(())
}

/// The case with its answers replaced; refuses to turn `none` into something or back.
pub(super) fn rewrite(case: &Case, text: &str, answer: &Answer) -> Result<String, String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut blocks: Vec<&Block> = case.blocks.iter().collect();
    blocks.sort_by_key(|block| std::cmp::Reverse(block.at.start));
    for block in blocks {
        let found = answer.block(&block.part);
        if block.lines.is_empty() != found.is_empty() {
            return Err(format!("{}: `none` is changed by a person only\n", block.part));
        }
        if !found.is_empty() {
            lines.splice(block.at.clone(), found);
        }
    }
    Ok(lines.join("\n") + "\n")
}
