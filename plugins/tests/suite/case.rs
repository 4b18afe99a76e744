//! Reads one case: a Markdown file with a title, a reason, the files of a project, a
//! change, and the answer. `corpus/README.md` describes the format for people.
//!
//! It refuses what it does not know: a block without a meaning is an error, so that a
//! misspelt `affected` cannot make a case check nothing.

use std::collections::BTreeMap;
use std::ops::Range;

use owed_engine::change::{Change, ChangeKind};
use owed_engine::project::{DeclaredInput, Delta, Settings};
use owed_engine::select::SelectOptions;
use owed_engine::selection::ReasonKind;

/// One case.
#[derive(Debug, Default)]
pub(crate) struct Case {
    /// The sentence that states the behaviour.
    pub(crate) title: String,
    /// The project as it is after the change.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Directory links (`node_modules/x` to a workspace package).
    pub(crate) links: Vec<(String, String)>,
    /// What changed, with what is known of the base side.
    pub(crate) delta: Delta,
    /// `owed.toml`, as far as the engine needs it.
    pub(crate) settings: Settings,
    /// What the caller asks for.
    pub(crate) options: SelectOptions,
    /// Whether classes count installed packages.
    pub(crate) packages: bool,
    /// The answer, block by block.
    pub(crate) blocks: Vec<Block>,
    /// Why today's answer is known to differ from the one in the case.
    pub(crate) known_wrong: Option<String>,
    /// Why the case has no test that must stay unselected.
    pub(crate) one_sided: Option<String>,
}

/// A block of the answer.
#[derive(Debug)]
pub(crate) struct Block {
    /// Which part of the answer.
    pub(crate) part: Part,
    /// Its lines; empty for `none`.
    pub(crate) lines: Vec<String>,
    /// Where its body stands in the Markdown, in lines.
    pub(crate) at: Range<usize>,
}

/// A part of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The owed tests, each with its reason.
    Affected,
    /// Why everything is owed.
    Widened,
    /// What was not understood.
    Problems,
    /// Files that were not read or not parsed.
    Unchecked,
    /// What kind of file each change is.
    Placed,
    /// The class of each test, with its reasons.
    Opacity,
}

/// The right side of a line of `affected`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    /// Which rule; `None` (written `*`) for any, where a behaviour has no single right one.
    pub(crate) kind: Option<ReasonKind>,
    /// The chain, or the path or word after the colon; `None` checks the rule alone.
    pub(crate) detail: Option<String>,
}

const KINDS: &[ReasonKind] = &[
    ReasonKind::Changed,
    ReasonKind::Depends,
    ReasonKind::Companion,
    ReasonKind::Snapshot,
    ReasonKind::Declared,
    ReasonKind::Observed,
    ReasonKind::Shared,
    ReasonKind::Package,
    ReasonKind::Negative,
    ReasonKind::InputOpaque,
    ReasonKind::NotUnderstood,
    ReasonKind::Requested,
];

impl Expected {
    /// Reads `a -> b`, `shared: x`, or a lone rule word.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.contains(" -> ") {
            return Ok(Self { kind: Some(ReasonKind::Depends), detail: Some(text.to_owned()) });
        }
        if text == "*" {
            return Ok(Self { kind: None, detail: None });
        }
        let (word, detail) = match text.split_once(": ") {
            Some((word, detail)) => (word, Some(detail.to_owned())),
            None => (text, None),
        };
        let kind = KINDS.iter().copied().find(|k| k.word() == word);
        let kind = kind.ok_or_else(|| format!("{text:?} is no reason"))?;
        Ok(Self { kind: Some(kind), detail })
    }
}

/// A fenced block as it stands in the Markdown.
pub(crate) struct Fence {
    pub(crate) info: String,
    /// The path in the line before it, and whether it is the base side.
    pub(crate) file: Option<(String, bool)>,
    pub(crate) body: Vec<String>,
    pub(crate) at: Range<usize>,
}

impl Case {
    /// Reads a case; `tree` holds the files beside it that Markdown cannot hold.
    pub(crate) fn parse(text: &str, tree: BTreeMap<String, Vec<u8>>) -> Result<Self, String> {
        let (prose, fences) = split(text)?;
        let mut case = Self { files: tree, ..Self::default() };
        case.read_prose(&prose)?;
        let mut given: BTreeMap<String, Vec<u8>> = std::mem::take(&mut case.files);
        let mut before: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let mut changed = None;
        for fence in fences {
            if let Some((path, is_base)) = fence.file {
                let bytes: String = fence.body.iter().flat_map(|l| [l.as_str(), "\n"]).collect();
                let side = if is_base { &mut before } else { &mut given };
                if side.insert(path.clone(), bytes.into_bytes()).is_some() {
                    return Err(format!("{path} is given twice"));
                }
                continue;
            }
            match fence.info.as_str() {
                "changed" => changed = Some(fence.body),
                "config" => case.read_config(&fence.body.join("\n"))?,
                "options" => case.read_options(&fence.body)?,
                "links" => {
                    for line in fence.body.iter().filter(|l| !l.is_empty()) {
                        let (from, to) =
                            line.split_once(" -> ").ok_or_else(|| format!("{line:?} is no link"))?;
                        case.links.push((from.trim().to_owned(), to.trim().to_owned()));
                    }
                }
                info => case.read_block(info, &fence.body, fence.at)?,
            }
        }
        // A case about classes alone needs no change.
        if changed.is_none() && case.block(Part::Affected).is_none() && case.block(Part::Opacity).is_some() {
            changed = Some(Vec::new());
        } else if case.block(Part::Affected).is_none() {
            return Err("a case needs an `affected` block".to_owned());
        }
        case.read_changes(&changed.ok_or("a case needs a `changed` block")?, given, before)?;
        Ok(case)
    }

    /// The block of one part, if the case has it.
    pub(crate) fn block(&self, part: Part) -> Option<&Block> {
        self.blocks.iter().find(|b| b.part == part)
    }

    fn read_prose(&mut self, prose: &[String]) -> Result<(), String> {
        let mut lines = prose.iter();
        let title =
            lines.next().and_then(|l| l.strip_prefix("# ")).ok_or("the first line is no `# title`")?;
        title.trim().clone_into(&mut self.title);
        let mut why = false;
        for line in lines {
            let mark = |name: &str| {
                let rest = line.trim().strip_prefix("<!-- ")?.strip_suffix(" -->")?;
                Some(rest.strip_prefix(name)?.strip_prefix(": ")?.to_owned())
            };
            if let Some(reason) = mark("known-wrong") {
                self.known_wrong = Some(reason);
            } else if let Some(reason) = mark("one-sided") {
                self.one_sided = Some(reason);
            } else if line.trim_start().starts_with("<!--") {
                return Err(format!("{line:?} is no mark"));
            } else {
                why |= line.split_whitespace().count() > 3;
            }
        }
        if why { Ok(()) } else { Err("a paragraph must say why the behaviour matters".to_owned()) }
    }

    fn read_config(&mut self, text: &str) -> Result<(), String> {
        let table: toml::Table = text.parse().map_err(|e| format!("config: {e}"))?;
        for (key, value) in table {
            match key.as_str() {
                "exclude" => self.settings.exclude = strings(&value)?,
                "inert" => self.settings.inert = Some(strings(&value)?),
                "file_size" => {
                    let size = value.as_integer().and_then(|n| u64::try_from(n).ok());
                    self.settings.file_size = size.ok_or("file_size is no number of bytes")?;
                }
                "inputs" => {
                    for input in value.as_array().ok_or("inputs is no array of tables")? {
                        let list = |key: &str| input.get(key).map_or(Ok(Vec::new()), strings);
                        let input = DeclaredInput { tests: list("tests")?, files: list("files")? };
                        self.settings.inputs.push(input);
                    }
                }
                other => return Err(format!("config: unknown key {other:?}")),
            }
        }
        Ok(())
    }

    fn read_options(&mut self, lines: &[String]) -> Result<(), String> {
        for line in lines {
            match line.as_str() {
                "all" => self.options.all = true,
                "packages" => self.packages = true,
                "strict-opacity" => self.options.strict_opacity = true,
                other => return Err(format!("options: unknown word {other:?}")),
            }
        }
        Ok(())
    }

    fn read_block(&mut self, info: &str, body: &[String], at: Range<usize>) -> Result<(), String> {
        let part = match info {
            "affected" => Part::Affected,
            "widened" => Part::Widened,
            "problems" => Part::Problems,
            "unchecked" => Part::Unchecked,
            "placed" => Part::Placed,
            "opacity" => Part::Opacity,
            other => return Err(format!("line {}: a block {other:?} has no meaning", at.start)),
        };
        if self.block(part).is_some() {
            return Err(format!("{info} is given twice"));
        }
        let lines: Vec<String> = body.iter().filter(|l| !l.trim().is_empty()).cloned().collect();
        let lines = match lines.as_slice() {
            [] => return Err(format!("{info} is empty: write `none`")),
            [only] if only == "none" => Vec::new(),
            _ => lines,
        };
        for line in &lines {
            let lone = part == Part::Affected && line == "all";
            match line.split_once(" | ") {
                Some((_, right)) if part == Part::Affected => {
                    Expected::parse(right)?;
                }
                Some(_) if part == Part::Opacity => _ = crate::opacity::Line::parse(line)?,
                Some(_) => {}
                None if lone => {}
                None => return Err(format!("{info}: {line:?} has no ` | `")),
            }
        }
        self.blocks.push(Block { part, lines, at });
        Ok(())
    }

    /// Splits what the case gives into the head side (the tree) and the base side.
    fn read_changes(
        &mut self,
        lines: &[String],
        mut given: BTreeMap<String, Vec<u8>>,
        mut before: BTreeMap<String, Vec<u8>>,
    ) -> Result<(), String> {
        for line in lines.iter().map(|l| l.trim()).filter(|l| !l.is_empty() && *l != "none") {
            let (word, rest) = match line.split_once(' ') {
                Some((word @ ("M" | "A" | "D" | "R" | "U"), rest)) => (word, rest.trim()),
                _ => ("M", line),
            };
            let (path, kind) = match word {
                "A" => (rest, ChangeKind::Added),
                "U" => (rest, ChangeKind::Untracked),
                "D" => (rest, ChangeKind::Deleted),
                "R" => {
                    let (from, to) = rest.split_once(" -> ").ok_or("a rename is `R old -> new`")?;
                    (to, ChangeKind::Renamed { from: from.to_owned() })
                }
                _ => (rest, ChangeKind::Modified),
            };
            match &kind {
                ChangeKind::Deleted => {
                    let bytes = before.remove(path).or_else(|| given.remove(path));
                    let bytes = bytes.ok_or_else(|| format!("the content of deleted {path} is missing"))?;
                    self.delta.base.insert(path.to_owned(), bytes);
                }
                ChangeKind::Renamed { from } => {
                    let bytes = before.remove(from).or_else(|| given.get(path).cloned());
                    let bytes = bytes.ok_or_else(|| format!("{path} is not given"))?;
                    self.delta.base.insert(from.clone(), bytes);
                }
                ChangeKind::Modified => {
                    if let Some(bytes) = before.remove(path) {
                        self.delta.base.insert(path.to_owned(), bytes);
                    }
                }
                _ => {}
            }
            if kind != ChangeKind::Deleted && !given.contains_key(path) {
                return Err(format!("{path} changed but is not given"));
            }
            self.delta.changes.push(Change { path: path.to_owned(), kind });
        }
        if let Some(path) = before.keys().next() {
            return Err(format!("{path} has a `before` but did not change"));
        }
        self.delta.changes.sort();
        self.files = given;
        Ok(())
    }
}

pub(crate) fn strings(value: &toml::Value) -> Result<Vec<String>, String> {
    let list = value.as_array().ok_or_else(|| format!("{value} is no list"))?;
    list.iter().map(|v| v.as_str().map(str::to_owned).ok_or_else(|| format!("{v} is no string"))).collect()
}

/// Prose lines and fenced blocks.
pub(crate) fn split(text: &str) -> Result<(Vec<String>, Vec<Fence>), String> {
    let mut prose = Vec::new();
    let mut fences = Vec::new();
    let mut pending: Option<(String, bool)> = None;
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let ticks = line.chars().take_while(|c| *c == '`').count();
        if ticks >= 3 {
            let (fence, info) = line.split_at(ticks);
            let mut body = Vec::new();
            let end = loop {
                match lines.next() {
                    Some((end, line)) if line.trim_end() == fence => break end,
                    Some((_, line)) => body.push(line.to_owned()),
                    None => return Err(format!("line {}: the block does not end", number + 1)),
                }
            };
            let info = info.trim().to_owned();
            fences.push(Fence { info, file: pending.take(), body, at: number + 1..end });
        } else if let Some(file) = file_line(line) {
            if pending.is_some() {
                return Err(format!("line {}: the file before it has no block", number + 1));
            }
            pending = Some(file);
        } else if !line.trim().is_empty() {
            if let Some((path, _)) = pending {
                return Err(format!("line {}: {path} has no block", number + 1));
            }
            prose.push(line.to_owned());
        }
    }
    match pending {
        Some((path, _)) => Err(format!("{path} has no block")),
        None => Ok((prose, fences)),
    }
}

/// `` `path`: `` or `` `path` before: `` alone in a line.
fn file_line(line: &str) -> Option<(String, bool)> {
    let (path, rest) = line.strip_prefix('`')?.split_once('`')?;
    match rest.trim_end() {
        ":" => Some((path.to_owned(), false)),
        " before:" => Some((path.to_owned(), true)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Case, String> {
        Case::parse(text, BTreeMap::new())
    }

    const HEAD: &str = "# A title\n\nA paragraph that says why.\n\n";

    #[test]
    fn reads_files_changes_and_answers() {
        let case = parse(&format!(
            "{HEAD}`a.ts`:\n```ts\nexport {{}};\n```\n`b.ts` before:\n```ts\n1\n```\n`b.ts`:\n````md\n```\n````\n\
             `old.ts`:\n```ts\n0\n```\n```links\nnode_modules/x -> packages/x\n```\n\
             ```changed\nb.ts\nD old.ts\nR c.ts -> a.ts\n```\n```affected\nt.ts | t.ts -> b.ts\n```\n```widened\nnone\n```\n"
        ))
        .unwrap();
        assert_eq!(case.title, "A title");
        assert_eq!(case.files.keys().collect::<Vec<_>>(), ["a.ts", "b.ts"]);
        assert_eq!(case.files["b.ts"], b"```\n");
        assert_eq!(case.delta.base["b.ts"], b"1\n");
        assert_eq!(case.delta.base["old.ts"], b"0\n");
        assert_eq!(case.delta.base["c.ts"], case.files["a.ts"]);
        let words: Vec<_> = case.delta.changes.iter().map(|c| (c.path.as_str(), c.kind.word())).collect();
        assert_eq!(words, [("a.ts", "renamed"), ("b.ts", "modified"), ("old.ts", "deleted")]);
        assert_eq!(case.block(Part::Affected).unwrap().lines, ["t.ts | t.ts -> b.ts"]);
        assert!(case.block(Part::Widened).unwrap().lines.is_empty());
        assert!(case.block(Part::Placed).is_none());
    }

    #[test]
    fn reads_settings() {
        let case = parse(&format!(
            "{HEAD}```config\nexclude = [\"x/**\"]\n[[inputs]]\ntests = [\"t\"]\nfiles = [\"f\"]\n```\n\
             ```options\nstrict-opacity\n```\n```changed\nnone\n```\n```affected\nnone\n```\n"
        ))
        .unwrap();
        assert_eq!(case.settings.exclude, ["x/**"]);
        assert_eq!(case.settings.inputs[0].files, ["f"]);
        assert!(case.options.strict_opacity && !case.options.all);
    }

    #[test]
    fn refuses_what_has_no_meaning() {
        let end = "```changed\nnone\n```\n```affected\nnone\n```\n";
        for (text, complaint) in [
            (format!("A title\n{end}"), "# title"),
            (format!("# T\n{end}"), "why"),
            (format!("{HEAD}```affcted\nnone\n```\n{end}"), "no meaning"),
            (format!("{HEAD}```affected\nnone\n```\n"), "`changed`"),
            (format!("{HEAD}```changed\nnone\n```\n"), "`affected`"),
            (format!("{HEAD}```opacity\na.ts | clean\n```\n"), "no class"),
            (format!("{HEAD}`a.ts`:\nprose\n{end}"), "no block"),
            (format!("{HEAD}```ts\n1\n"), "does not end"),
            (format!("{HEAD}```changed\na.ts\n```\n```affected\nnone\n```\n"), "not given"),
            (format!("{HEAD}```changed\nD a.ts\n```\n```affected\nnone\n```\n"), "missing"),
            (format!("{HEAD}```changed\nnone\n```\n```affected\na.ts | somehow\n```\n"), "no reason"),
            (format!("{HEAD}```changed\nnone\n```\n```affected\n```\n"), "`none`"),
            (format!("{HEAD}<!-- knownwrong: x -->\n{end}"), "no mark"),
            (format!("{HEAD}```config\nexlude = []\n```\n{end}"), "unknown key"),
        ] {
            let message = parse(&text).unwrap_err();
            assert!(message.contains(complaint), "{message:?} should hold {complaint:?}");
        }
    }

    #[test]
    fn reads_reasons() {
        let parse = |text| Expected::parse(text).unwrap();
        assert_eq!(parse("a -> b").kind, Some(ReasonKind::Depends));
        assert_eq!(parse("*").kind, None);
        assert_eq!(parse("input-opaque").detail, None);
        assert_eq!(parse("package: npm:x").detail.as_deref(), Some("npm:x"));
        assert!(Expected::parse("sharde: x").is_err());
    }
}
