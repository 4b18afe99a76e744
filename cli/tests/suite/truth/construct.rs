//! Reads one construct: a Markdown file with a title, a reason, the files of a small project
//! and what the change makes of them. `corpus/truth/README.md` describes the format.
//!
//! It refuses what it does not know, so that a misspelt word cannot make a construct
//! check less than it seems to.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::execute::Runner;

/// Path to content.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// Path to the target of a link, as written.
pub(super) type Links = BTreeMap<String, String>;

/// One construct.
#[derive(Debug, Default)]
pub(super) struct Construct {
    /// The name of its file.
    pub(super) name: String,
    /// The project before the change.
    pub(super) base: Files,
    /// The project after it.
    pub(super) head: Files,
    /// Links before the change: path, then target as written.
    pub(super) base_links: Links,
    /// Links after it.
    pub(super) head_links: Links,
    /// It is a project of its own, because it has an effect on everything beside it.
    pub(super) alone: bool,
    /// The change is about what all tests share: the bystander may rightly be owed.
    pub(super) everyone: bool,
    /// Where the bystander lies; `None` for no bystander.
    pub(super) bystander: Option<String>,
    /// What is run instead of the runner's usual command.
    pub(super) run: Option<String>,
    /// Why today's answer is known to miss.
    pub(super) known_wrong: Option<String>,
}

/// The folder of all constructs.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/truth")
}

/// The constructs of a runner, sorted by name.
pub(super) fn all(runner: Runner) -> Vec<Construct> {
    let dir = root().join(runner.folder());
    let mut paths: Vec<PathBuf> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let only = std::env::var("TRUTH").unwrap_or_default();
    let mut constructs = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap().to_str().unwrap();
        if !name.contains(&only) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let construct = Construct::parse(name, &text, runner);
        constructs.push(construct.unwrap_or_else(|fault| panic!("{}: {fault}", path.display())));
    }
    constructs
}

impl Construct {
    /// Reads a construct.
    pub(super) fn parse(name: &str, text: &str, runner: Runner) -> Result<Self, String> {
        let mut construct = Self { name: name.to_owned(), bystander: Some(String::new()), ..Self::default() };
        let mut after = Files::new();
        let mut gone = Vec::new();
        let mut moved = Vec::new();
        let mut links_after = None;
        let mut pending: Option<(String, bool)> = None;
        let mut prose = 0;
        let mut lines = text.lines();
        if !lines.next().is_some_and(|line| line.starts_with("# ")) {
            return Err("the first line is no `# title`".to_owned());
        }
        while let Some(line) = lines.next() {
            if let Some(info) = line.strip_prefix("```") {
                let ticks: String = line.chars().take_while(|c| *c == '`').collect();
                let mut body = Vec::new();
                loop {
                    match lines.next() {
                        Some(line) if line == ticks => break,
                        Some(line) => body.push(line),
                        None => return Err("a block does not end".to_owned()),
                    }
                }
                let info = info.trim_start_matches('`').trim();
                if let Some((path, is_after)) = pending.take() {
                    let side = if is_after { &mut after } else { &mut construct.base };
                    if side.insert(path.clone(), content(info, &body)?).is_some() {
                        return Err(format!("{path} is given twice"));
                    }
                    continue;
                }
                match info {
                    "changed" => {
                        for line in body {
                            match (line.strip_prefix("D "), line.strip_prefix("R ")) {
                                (Some(path), _) => gone.push(path.to_owned()),
                                (_, Some(pair)) => moved.push(pair_of(pair)?),
                                _ => return Err(format!("{line:?} is neither `D path` nor `R old -> new`")),
                            }
                        }
                    }
                    "links" => {
                        construct.base_links = body.into_iter().map(pair_of).collect::<Result<_, _>>()?
                    }
                    "links after" => {
                        links_after = Some(body.into_iter().map(pair_of).collect::<Result<_, _>>()?);
                    }
                    "options" => construct.read_options(&body)?,
                    "run" => construct.run = Some(body.join(" ")),
                    other => return Err(format!("a block {other:?} has no meaning")),
                }
            } else if let Some(reason) = line.strip_prefix("<!-- known-wrong: ") {
                construct.known_wrong = Some(reason.trim_end_matches(" -->").to_owned());
            } else if let Some((path, rest)) = line.strip_prefix('`').and_then(|rest| rest.split_once('`'))
                && matches!(rest, ":" | " after:")
            {
                pending = Some((path.to_owned(), rest == " after:"));
            } else {
                prose += line.split_whitespace().count();
            }
        }
        if prose < 3 {
            return Err("a paragraph must say why".to_owned());
        }
        construct.head_links = links_after.unwrap_or_else(|| construct.base_links.clone());
        construct.alone |= runner.always_alone();
        construct.complete(runner, after, &gone, &moved)
    }

    fn read_options(&mut self, lines: &[&str]) -> Result<(), String> {
        for line in lines {
            match line.split_once(": ") {
                None if *line == "alone" => self.alone = true,
                None if *line == "everyone" => self.everyone = true,
                None if *line == "no-bystander" => self.bystander = None,
                Some(("bystander", dir)) => self.bystander = Some(format!("{dir}/")),
                _ => return Err(format!("options: unknown word {line:?}")),
            }
        }
        Ok(())
    }

    /// Adds what every project has, and makes the state after the change.
    fn complete(
        mut self,
        runner: Runner,
        after: Files,
        gone: &[String],
        moved: &[(String, String)],
    ) -> Result<Self, String> {
        if let Some(dir) = &self.bystander {
            for (path, text) in runner.bystander(&self.name) {
                self.base.insert(format!("{dir}{path}"), text.into_bytes());
            }
        }
        let mut head = self.base.clone();
        for path in gone {
            head.remove(path).ok_or_else(|| format!("deleted {path} is not given"))?;
        }
        for (from, to) in moved {
            let bytes = head.remove(from).ok_or_else(|| format!("renamed {from} is not given"))?;
            head.insert(to.clone(), bytes);
        }
        head.extend(after);
        if head == self.base && self.head_links == self.base_links {
            return Err("nothing changes".to_owned());
        }
        self.head = head;
        if !self.alone {
            self.base = below(&self.name, self.base);
            self.head = below(&self.name, self.head);
            self.base_links = below(&self.name, self.base_links);
            self.head_links = below(&self.name, self.head_links);
        }
        for (path, text) in runner.root_files() {
            if !self.alone && self.base.contains_key(*path) {
                return Err(format!("{path} belongs to the whole project: say `alone`"));
            }
            let has = |files: &Files| files.contains_key(*path);
            let bytes = text.as_bytes().to_vec();
            if !has(&self.base) && !has(&self.head) {
                self.base.insert((*path).to_owned(), bytes.clone());
                self.head.insert((*path).to_owned(), bytes);
            }
        }
        Ok(self)
    }
}

fn below<T>(name: &str, map: BTreeMap<String, T>) -> BTreeMap<String, T> {
    map.into_iter().map(|(path, value)| (format!("{name}/{path}"), value)).collect()
}

fn pair_of(line: &str) -> Result<(String, String), String> {
    let (from, to) = line.split_once(" -> ").ok_or_else(|| format!("{line:?} has no ` -> `"))?;
    Ok((from.trim().to_owned(), to.trim().to_owned()))
}

/// The bytes of a block; `hex` blocks hold what text cannot.
fn content(info: &str, body: &[&str]) -> Result<Vec<u8>, String> {
    if info == "hex" {
        let digits: Vec<char> =
            body.iter().flat_map(|line| line.chars()).filter(|c| !c.is_whitespace()).collect();
        let byte = |pair: &[char]| {
            u8::from_str_radix(&pair.iter().collect::<String>(), 16).map_err(|fault| fault.to_string())
        };
        return digits.chunks(2).map(byte).collect();
    }
    Ok(body.iter().flat_map(|line| [line.as_bytes(), b"\n"]).flatten().copied().collect())
}
