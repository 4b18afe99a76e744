//! What two readers of a language say about whole projects, and what other parsers say of it.
//!
//! ```text
//! cargo run -p benches --bin agreement -- [--out FILE] [--no-references] DIR…
//! ```
//!
//! Each `DIR` is a checkout of `benches/projects.toml`, or any folder with sources; the corpus
//! comes first, always. The first reader (oxc, ruff) and the tolerant one (tree-sitter and
//! `queries/`) are compared by imports, places of functions and token counts; the first reader
//! is then compared with rustpython's parser, TypeScript's and CPython's own. Every difference
//! must have a cause in `benches/conformance/agreement.txt`, or the program fails.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a bench program")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use benches::agreement::corpus::sources;
use benches::agreement::explained::Explained;
use benches::agreement::opinion::{Opinion, rustpython};
use benches::agreement::{Compared, compare};
use clap::Parser;
use owed_plugins::tolerant::Dialect;
use serde::Deserialize;

/// Compares the readers of a language with each other and with other parsers.
#[derive(Parser)]
struct Arguments {
    /// Folders with sources.
    folders: Vec<PathBuf>,
    /// Where the scores go besides standard output.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Without TypeScript's and CPython's own parsers, which need node and take most of the
    /// time.
    #[arg(long)]
    no_references: bool,
}

/// What a reference says about one file.
#[derive(Deserialize)]
struct Reference {
    path: String,
    fault: Option<String>,
    /// First byte, end, own tokens, total tokens.
    functions: Vec<[u32; 4]>,
    imports: Vec<(u32, u32, String)>,
}

/// Sums over the files of one language in one project.
#[derive(Default)]
struct Row {
    files: usize,
    refused: usize,
    grammar: usize,
    imports: [usize; 2],
    functions: [usize; 3],
}

/// Sums over one other parser.
#[derive(Default)]
struct Other {
    files: usize,
    refused: usize,
    functions: usize,
    imports: usize,
    differences: usize,
}

/// All that is found.
#[derive(Default)]
struct Scores {
    rows: Vec<(String, &'static str, Row)>,
    others: BTreeMap<(usize, &'static str), Other>,
    /// By cause: what differs.
    known: BTreeMap<String, Vec<String>>,
    open: Vec<String>,
}

const TYPESCRIPT: &str = "TypeScript 5.9.3";
const CPYTHON: &str = "CPython 3.14.2";
const RUSTPYTHON: &str = "rustpython 0.4.0";

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let causes = here.join("conformance/agreement.txt");
    let causes =
        fs::read_to_string(&causes).with_context(|| format!("{} cannot be read", causes.display()))?;
    let causes = Explained::parse(&causes).map_err(anyhow::Error::msg)?;
    let mut scores = Scores::default();
    let corpus: Vec<File> = sources(&here.join("../corpus"))?
        .into_iter()
        .map(|it| File { name: format!("corpus/{}", it.name), path: it.path, at: None, bytes: it.bytes })
        .collect();
    scores.project("corpus", &corpus, &causes);
    for folder in &arguments.folders {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or("?").to_owned();
        let files = files(folder, &name)?;
        let shown = format!("{name} {}", commit(folder));
        let first = scores.rows.len();
        let compared = scores.project(&shown, &files, &causes);
        println!("{shown}: {} files", files.len());
        if !arguments.no_references {
            for (script, who, python) in
                [("typescript.mjs", TYPESCRIPT, false), ("python.mjs", CPYTHON, true)]
            {
                scores.reference(first, script, who, python, &files, &compared, &causes)?;
            }
        }
    }
    let text = scores.text()?;
    println!("{text}");
    if let Some(out) = arguments.out {
        fs::write(&out, &text).with_context(|| format!("{} cannot be written", out.display()))?;
    }
    if !scores.open.is_empty() {
        bail!("{} differences without a cause:\n{}", scores.open.len(), scores.open.join("\n"));
    }
    Ok(())
}

/// A source to be read.
struct File {
    /// How it is shown.
    name: String,
    /// By which its dialect is told.
    path: String,
    /// Where it is on the disk.
    at: Option<PathBuf>,
    bytes: Vec<u8>,
}

fn files(folder: &Path, project: &str) -> Result<Vec<File>> {
    let walk = ignore::WalkBuilder::new(folder)
        .filter_entry(|entry| entry.file_name() != "node_modules" && entry.file_name() != ".git")
        .build();
    let mut found = Vec::new();
    for entry in walk {
        let at = entry?.into_path();
        let path = at.strip_prefix(folder).unwrap_or(&at).to_string_lossy().replace('\\', "/");
        if Dialect::of(&path).is_none() || !at.is_file() || at.is_symlink() {
            continue;
        }
        let bytes = fs::read(&at).with_context(|| format!("{} cannot be read", at.display()))?;
        found.push(File { name: format!("{project}/{path}"), path, at: Some(at), bytes });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// The first ten digits of the commit that is checked out.
fn commit(folder: &Path) -> String {
    let output = Command::new("git").arg("-C").arg(folder).args(["rev-parse", "HEAD"]).output();
    let output = output.ok().filter(|output| output.status.success());
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.map_or_else(|| "without git".to_owned(), |text| text.chars().take(10).collect())
}

fn is_python(path: &str) -> bool {
    Dialect::of(path) == Some(Dialect::Python)
}

impl Scores {
    fn found(&mut self, causes: &Explained, line: String) {
        match causes.difference(&line) {
            Some(cause) => self.known.entry(cause.to_owned()).or_default().push(line),
            None => self.open.push(line),
        }
    }

    /// Both readers on all files, and rustpython on Python; what was compared, by file.
    fn project(&mut self, project: &str, files: &[File], causes: &Explained) -> Vec<Option<Compared>> {
        let mut all = Vec::with_capacity(files.len());
        let first = self.rows.len();
        self.rows.push((project.to_owned(), "JavaScript, TypeScript", Row::default()));
        self.rows.push((project.to_owned(), "Python", Row::default()));
        for file in files {
            let compared = compare(&file.path, &file.bytes);
            if let Some(compared) = &compared {
                self.file(first, file, compared, causes);
            }
            all.push(compared);
        }
        all
    }

    fn file(&mut self, first: usize, file: &File, compared: &Compared, causes: &Explained) {
        let python = is_python(&file.path);
        let at = first + usize::from(python);
        let row = &mut self.rows[at].2;
        row.files += 1;
        if compared.refused.is_some() {
            row.refused += 1;
            return;
        }
        if let Some((line, text)) = &compared.error {
            row.grammar += 1;
            let shown = format!("{}:{line}: the grammar gives up at: {text}", file.name);
            match causes.error(&shown, text) {
                Some(cause) => self.known.entry(cause.to_owned()).or_default().push(shown),
                None => self.open.push(shown),
            }
        } else {
            for (sum, more) in row.imports.iter_mut().zip(compared.imports) {
                *sum += more;
            }
            for (sum, more) in row.functions.iter_mut().zip(compared.functions) {
                *sum += more;
            }
            for difference in &compared.differences {
                let shown = format!("{}:{}: {}", file.name, difference.line, difference.what);
                self.found(causes, shown);
            }
        }
        if python {
            let (bytes, offset) = match file.bytes.strip_prefix(b"\xEF\xBB\xBF") {
                Some(rest) => (rest, 3),
                None => (file.bytes.as_slice(), 0),
            };
            let opinion = match std::str::from_utf8(bytes) {
                Ok(text) => rustpython(text, offset),
                Err(fault) => Err(fault.to_string()),
            };
            let ours = compared.first.clone().without_lambdas(&file.bytes);
            self.opinion(at, RUSTPYTHON, file, &ours, opinion, causes);
        }
    }

    fn opinion(
        &mut self,
        at: usize,
        who: &'static str,
        file: &File,
        ours: &Opinion,
        theirs: Result<Opinion, String>,
        causes: &Explained,
    ) {
        let other = self.others.entry((at, who)).or_default();
        other.files += 1;
        match theirs {
            Err(fault) => {
                other.refused += 1;
                self.found(causes, format!("{}: {who} refuses it: {fault}", file.name));
            }
            Ok(theirs) => {
                other.functions += theirs.functions.len();
                other.imports += theirs.imports.len();
                let differences = ours.differences(&theirs, who);
                other.differences += differences.len();
                for difference in differences {
                    self.found(causes, format!("{}: {difference}", file.name));
                }
            }
        }
    }

    /// The opinion of a language's own parser, on the files that the first reader accepts.
    #[expect(clippy::too_many_arguments, reason = "one call")]
    fn reference(
        &mut self,
        first: usize,
        script: &str,
        who: &'static str,
        python: bool,
        files: &[File],
        compared: &[Option<Compared>],
        causes: &Explained,
    ) -> Result<()> {
        let accepted = |it: &&Option<Compared>| it.as_ref().is_some_and(|it| it.refused.is_none());
        let mut wanted: BTreeMap<&Path, (&File, &Compared)> = BTreeMap::new();
        for (file, compared) in files.iter().zip(compared).filter(|(_, it)| accepted(it)) {
            if let (Some(at), Some(compared)) = (&file.at, compared)
                && is_python(&file.path) == python
            {
                wanted.insert(at, (file, compared));
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let home = fs::canonicalize(here.join("../target/conformance"))
            .context("run token-conformance once: it installs TypeScript and CPython")?;
        let mut child = Command::new("node")
            .arg("--stack-size=4000")
            .arg(here.join("conformance").join(script))
            .arg(home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("node could not be started")?;
        let mut input = child.stdin.take().context("the parser takes no paths")?;
        let list: String = wanted.keys().map(|path| format!("{}\n", path.display())).collect();
        let writer = std::thread::spawn(move || input.write_all(list.as_bytes()));
        let output = BufReader::new(child.stdout.take().context("the parser says nothing")?);
        let mut answers = 0;
        for line in output.lines() {
            let said: Reference = serde_json::from_str(&line?)?;
            let (file, compared) = wanted.get(Path::new(&said.path)).context("an answer to no question")?;
            answers += 1;
            let opinion = match said.fault {
                Some(fault) => Err(fault),
                None => Ok(Opinion {
                    functions: said.functions.iter().map(|it| (it[0], it[1])).collect(),
                    imports: said.imports.into_iter().collect(),
                }),
            };
            self.opinion(first + usize::from(python), who, file, &compared.first, opinion, causes);
        }
        writer.join().map_err(|_| anyhow::anyhow!("writing paths failed"))??;
        if !child.wait()?.success() || answers != wanted.len() {
            bail!("{who} answered {answers} of {}", wanted.len());
        }
        Ok(())
    }

    /// The tables and the list of differences by cause.
    fn text(&self) -> Result<String> {
        let mut text = String::from(
            "Two readers of a language about the same files: the first (oxc, ruff) and the tolerant\n\
             one (tree-sitter and queries/). `cargo run -p benches --bin agreement -- DIR…` writes this.\n\n\
             project, commit | language | files | refused by the first | grammar gives up | \
             imports, equal | functions, equal in place and tokens, and in name\n",
        );
        for (project, language, row) in self.rows.iter().filter(|(.., row)| row.files > 0) {
            let ([imports, same], [functions, equal, named]) = (row.imports, row.functions);
            writeln!(
                text,
                "{project} | {language} | {} | {} | {} | {imports}, {same} | {functions}, {equal}, {named}",
                row.files, row.refused, row.grammar
            )?;
        }
        text.push_str(
            "\nThe first reader beside other parsers: places of functions and import statements.\n\n\
             project, commit | parser | files | refused by it | functions | imports | differences\n",
        );
        for ((row, who), other) in &self.others {
            let Other { files, refused, functions, imports, differences } = other;
            let project = &self.rows[*row].0;
            writeln!(
                text,
                "{project} | {who} | {files} | {refused} | {functions} | {imports} | {differences}"
            )?;
        }
        text.push_str("\nDifferences by cause, with their files.\n");
        for (cause, lines) in &self.known {
            writeln!(text, "\n{cause} ({})", lines.len())?;
            for line in lines {
                let short: String = line.chars().take(200).collect();
                writeln!(text, "  {}", short.replace(['\n', '\r'], " "))?;
            }
        }
        Ok(text)
    }
}
