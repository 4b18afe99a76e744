//! Reads one case of functions: a title, a reason, files, and answers about them.

use std::collections::BTreeMap;
use std::ops::Range;

/// One case.
#[derive(Debug, Default)]
pub(super) struct Case {
    pub(super) title: String,
    /// In order of their path.
    pub(super) files: BTreeMap<String, Vec<u8>>,
    pub(super) blocks: Vec<Block>,
}

/// A block of the answer.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) part: Part,
    /// Its lines; empty for `none`.
    pub(super) lines: Vec<String>,
    /// Where its body stands in the Markdown, in lines.
    pub(super) at: Range<usize>,
}

/// A part of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Functions,
    Unchecked,
    Same,
}

impl Case {
    /// Reads the Markdown; `tree` holds files that Markdown cannot hold.
    pub(super) fn parse(text: &str, tree: BTreeMap<String, Vec<u8>>) -> Result<Self, String> {
        let mut case = Self { files: tree, ..Self::default() };
        let mut lines = text.lines().enumerate().peekable();
        let title = lines.next().and_then(|(_, line)| line.strip_prefix("# "));
        case.title = title.ok_or("the first line is no title")?.to_owned();
        let mut prose = false;
        let mut file: Option<String> = None;
        while let Some((_, line)) = lines.next() {
            if let Some(name) = line.strip_prefix('`').and_then(|line| line.strip_suffix("`:")) {
                file = Some(name.to_owned());
                continue;
            }
            let Some(info) = line.strip_prefix("```") else {
                prose |= !line.trim().is_empty();
                continue;
            };
            let fence = &line[..line.len() - info.trim_start_matches('`').len()];
            let info = info.trim_start_matches('`');
            let start = lines.peek().map_or(0, |(number, _)| *number);
            let mut body = Vec::new();
            let end = loop {
                let (number, line) = lines.next().ok_or("a block does not end")?;
                if line == fence {
                    break number;
                }
                body.push(line.to_owned());
            };
            if let Some(name) = file.take() {
                let mut text = body.join("\n");
                if !text.is_empty() {
                    text.push('\n');
                }
                if case.files.insert(name.clone(), text.into_bytes()).is_some() {
                    return Err(format!("{name} occurs twice"));
                }
                continue;
            }
            let part = match info {
                "functions" => Part::Functions,
                "unchecked" => Part::Unchecked,
                "same" => Part::Same,
                other => return Err(format!("{other:?} is no block")),
            };
            let none = body.len() == 1 && body[0] == "none";
            let lines = if none { Vec::new() } else { body };
            case.blocks.push(Block { part, lines, at: start..end });
        }
        if !prose {
            return Err("there is no reason below the title".to_owned());
        }
        if case.files.is_empty() || case.blocks.is_empty() {
            return Err("there are no files or no answers".to_owned());
        }
        Ok(case)
    }
}

/// The Markdown with other lines at `at`.
pub(super) fn replaced(text: &str, at: &Range<usize>, lines: &[String]) -> String {
    let old: Vec<&str> = text.lines().collect();
    let before = old[..at.start].iter().map(|line| (*line).to_owned());
    let after = old[at.end..].iter().map(|line| (*line).to_owned());
    let all: Vec<String> = before.chain(lines.iter().cloned()).chain(after).collect();
    all.join("\n") + "\n"
}
