//! Reads a file of snippets. It refuses what it does not know, so that a misspelt
//! `expect` cannot make a snippet check nothing.

/// One labelled snippet.
pub(super) struct Snippet {
    file: String,
    title: String,
    /// The path the reader is told: `snippet.ts`, unless the fence names one.
    pub(super) path: String,
    pub(super) code: String,
    /// The effects, sorted, as [`super::score::effects`] writes them; empty for pure.
    pub(super) effects: Vec<String>,
    /// `expect: unknown`: the snippet does not parse.
    pub(super) unknown: bool,
    /// Imports that must be among those found: `mock | ./a`.
    pub(super) edges: Vec<String>,
    /// Why today's answer is known to differ from the labels.
    pub(super) known_wrong: Option<String>,
}

impl Snippet {
    /// Where it stands, for messages.
    pub(super) fn name(&self) -> String {
        format!("{}: {}", self.file, self.title)
    }

    /// Whether it must have no effect at all.
    pub(super) fn is_pure(&self) -> bool {
        self.effects.is_empty() && !self.unknown
    }
}

/// The snippets of one file.
pub(super) fn parse(file: &str, text: &str) -> Result<Vec<Snippet>, String> {
    let mut lines = text.lines().enumerate();
    if !lines.next().is_some_and(|(_, line)| line.starts_with("# ")) {
        return Err("the first line is no title".to_owned());
    }
    let mut snippets = Vec::new();
    let mut open: Option<Open> = None;
    let mut fence: Option<String> = None;
    for (number, line) in lines {
        let fault = |message: &str| format!("line {}: {message}: {line:?}", number + 1);
        if let Some(end) = &fence {
            if line == end {
                fence = None;
            } else if let Some(open) = &mut open {
                open.code.push_str(line);
                open.code.push('\n');
            }
            continue;
        }
        if let Some(title) = line.strip_prefix("## ") {
            if let Some(done) = open.replace(Open { title: title.to_owned(), ..Open::default() }) {
                snippets.push(done.close(file)?);
            }
            continue;
        }
        let Some(open) = &mut open else {
            if line.starts_with("```") {
                return Err(fault("a block without a title"));
            }
            continue;
        };
        let ticks = line.len() - line.trim_start_matches('`').len();
        if ticks >= 3 {
            if open.path.is_some() {
                return Err(fault("a second block under one title"));
            }
            let mut words = line[ticks..].split_ascii_whitespace();
            let language = words.next().ok_or_else(|| fault("a block without a language"))?;
            open.path = Some(words.next().map_or_else(|| format!("snippet.{language}"), str::to_owned));
            fence = Some("`".repeat(ticks));
        } else if let Some((key, value)) = line.split_once(": ").filter(|(key, _)| is_key(key)) {
            let value = value.trim().to_owned();
            match key {
                "expect" => open.expect.push(value),
                "edge" => open.edges.push(value),
                _ => open.known_wrong = Some(value),
            }
        } else if open.path.is_some() && !line.is_empty() {
            return Err(fault("neither expect, edge nor known-wrong"));
        }
    }
    snippets.extend(open.map(|open| open.close(file)).transpose()?);
    Ok(snippets)
}

fn is_key(key: &str) -> bool {
    matches!(key, "expect" | "edge" | "known-wrong")
}

#[derive(Default)]
struct Open {
    title: String,
    path: Option<String>,
    code: String,
    expect: Vec<String>,
    edges: Vec<String>,
    known_wrong: Option<String>,
}

impl Open {
    fn close(self, file: &str) -> Result<Snippet, String> {
        let fault = |message: String| format!("{:?} {message}", self.title);
        let path = self.path.clone().ok_or_else(|| fault("has no block".to_owned()))?;
        let mut effects = Vec::new();
        let mut unknown = false;
        match self.expect.as_slice() {
            [] => return Err(fault("expects nothing".to_owned())),
            [one] if one == "pure" => {}
            list => {
                for line in list {
                    if line == "unknown" {
                        unknown = true;
                        continue;
                    }
                    let parts: Vec<&str> = line.split(" | ").collect();
                    let right = matches!(
                        parts.as_slice(),
                        ["opaque" | "pinned" | "bounded", _, _, "import" | "call"]
                    );
                    if !right {
                        return Err(fault(format!(
                            "expects {line:?}, which is not `class | what | operation | import or call`"
                        )));
                    }
                    effects.push(line.clone());
                }
            }
        }
        effects.sort();
        effects.dedup();
        Ok(Snippet {
            file: file.to_owned(),
            title: self.title,
            path,
            code: self.code,
            effects,
            unknown,
            edges: self.edges,
            known_wrong: self.known_wrong,
        })
    }
}
