//! Configuration: where it is, what it says, and what is wrong with it.
//!
//! It lives in one of three files at the project root. Two of them is an error, not a
//! matter of precedence; so is a key that does not exist. A manifest that cannot be
//! parsed and does not mention `owed` is not this module's business.

mod keys;
mod never;

use std::ops::Range;

use owed_engine::check::{Caps, PathCap};
use owed_engine::function::Limits;
use owed_engine::project::{DeclaredInput, Settings};
use owed_gates::policy::Rules;

pub(crate) use keys::Keys;
pub(crate) use never::NeverReused;

use crate::complaint::Complaint;
use crate::near::near;

/// The file that holds nothing but configuration.
pub(crate) const FILE: &str = "owed.toml";

/// Every key, for suggestions; nested tables included.
const KEYS: &[&str] = &[
    "cap",
    "caps",
    "exclude",
    "inert",
    "inputs",
    "limits",
    "policy",
    "record",
    "deny",
    "reuse",
    "never",
    "allow",
    "pattern",
    "reason",
    "paths",
    "file_size",
    "depth",
    "tests",
    "files",
];

/// The configuration of a project.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// The file it was read from; `None` when there is none.
    pub source: Option<&'static str>,
    /// What the engine needs of it.
    pub settings: Settings,
    /// Which commands `owed record` may run.
    pub record: Rules,
    /// The token caps of functions.
    pub caps: Caps,
    /// How far checks go into one file.
    pub limits: Limits,
    /// Which tests are run whatever any receipt says.
    pub never_reused: NeverReused,
    /// Keys that are valid but have no effect on selection (yet), with what they are for.
    pub without_effect: Vec<(&'static str, &'static str)>,
}

/// The limit for the size of files when none is set.
pub(crate) fn default_limit() -> u64 {
    Settings::default().file_size
}

/// Reads the configuration. `read` gives the text of a file of the project root, `None`
/// when there is no such file.
pub(crate) fn load(read: impl Fn(&str) -> anyhow::Result<Option<String>>) -> anyhow::Result<Config> {
    let mut found: Vec<(&'static str, Keys)> = Vec::new();
    if let Some(text) = read(FILE)? {
        found.push((FILE, own_file(&text)?));
    }
    if let Some(text) = read("pyproject.toml")?
        && let Some(keys) = pyproject(&text)?
    {
        found.push(("pyproject.toml", keys));
    }
    if let Some(text) = read("package.json")?
        && let Some(keys) = package_json(&text)?
    {
        found.push(("package.json", keys));
    }
    if found.len() > 1 {
        let names: Vec<&str> = found.iter().map(|(name, _)| section(name)).collect();
        return Err(Complaint::new(
            format!("configuration stands in more than one place: {}", names.join(" and ")),
            format!("keep one of them (owed.toml is the plainest) and delete the {}", rest(names.len())),
        )
        .into());
    }
    Ok(found.pop().map(|(source, keys)| Config::from_keys(source, keys)).unwrap_or_default())
}

fn rest(places: usize) -> &'static str {
    if places == 2 { "other" } else { "others" }
}

/// How a person names the place of the configuration in `file`.
pub(crate) fn section(file: &str) -> &'static str {
    match file {
        "pyproject.toml" => "[tool.owed] in pyproject.toml",
        "package.json" => "\"owed\" in package.json",
        _ => FILE,
    }
}

impl Config {
    fn from_keys(source: &'static str, keys: Keys) -> Self {
        let mut settings = Settings::default();
        let patterns =
            |list: Vec<keys::Pattern>| list.into_iter().map(|pattern| pattern.0).collect::<Vec<_>>();
        if let Some(bytes) = keys.limits.file_size {
            settings.file_size = bytes.0;
        }
        settings.exclude = patterns(keys.exclude);
        settings.inert = keys.inert.map(patterns);
        settings.inputs = keys
            .inputs
            .into_iter()
            .map(|input| DeclaredInput { tests: patterns(input.tests), files: patterns(input.files) })
            .collect();
        let mut caps = Caps::default();
        caps.default = keys.cap.unwrap_or(caps.default);
        caps.paths = keys
            .caps
            .into_iter()
            .map(|table| PathCap { paths: patterns(table.paths), cap: table.cap })
            .collect();
        let mut limits = Limits::default();
        limits.depth = keys.limits.depth.map_or(limits.depth, |depth| depth.0);
        let mut without_effect = Vec::new();
        if keys.policy.as_ref().is_some_and(|policy| !policy.others.is_empty()) {
            without_effect.push(("policy", "rules for running tests, which `owed run` does not ask yet"));
        }
        let (record, reuse) = keys.policy.map(|policy| (policy.record, policy.reuse)).unwrap_or_default();
        let never_reused =
            NeverReused::new(reuse.never.into_iter().map(|never| (patterns(never.tests), never.reason)));
        Self { source: Some(source), settings, record, caps, limits, never_reused, without_effect }
    }
}

fn own_file(text: &str) -> anyhow::Result<Keys> {
    toml::from_str(text).map_err(|error| from_toml(FILE, text, &error).into())
}

fn pyproject(text: &str) -> anyhow::Result<Option<Keys>> {
    #[derive(serde::Deserialize)]
    struct Manifest {
        tool: Option<Tool>,
    }
    #[derive(serde::Deserialize)]
    struct Tool {
        owed: Option<Keys>,
    }
    // Most manifests say nothing about us, and reading one takes longer than the rest of a small plan.
    if !may_name_owed(text) {
        return Ok(None);
    }
    match toml::from_str::<Manifest>(text) {
        Ok(manifest) => Ok(manifest.tool.and_then(|tool| tool.owed)),
        Err(error) if mentions(text, &["tool.owed", "owed"]) => {
            Err(from_toml("pyproject.toml", text, &error).into())
        }
        // Broken, and not about us: discovery says so where it matters.
        Err(_) => Ok(None),
    }
}

/// Whether the text of a manifest may hold a key of the name `owed`. `false` is certain: the name
/// stands nowhere as a word of its own, and no escape sequence could spell it.
fn may_name_owed(text: &str) -> bool {
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let bytes = text.as_bytes();
    let stands_alone = |(at, word): (usize, &str)| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        !before.is_some_and(is_of_word) && !bytes.get(at + word.len()).is_some_and(is_of_word)
    };
    text.match_indices("owed").any(stands_alone)
        || [r"\u", r"\U", r"\x"].iter().any(|escape| text.contains(escape))
}

fn package_json(text: &str) -> anyhow::Result<Option<Keys>> {
    #[derive(serde::Deserialize)]
    struct Manifest {
        owed: Option<Keys>,
    }
    if !text.contains("\"owed\"") && !text.contains(r"\u") {
        return Ok(None);
    }
    match serde_json::from_str::<Manifest>(text) {
        Ok(manifest) => Ok(manifest.owed),
        Err(error) if mentions(text, &["\"owed\""]) => {
            let place = Place { line: error.line(), column: error.column() };
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(head, _)| head);
            Err(complaint("package.json", Some(place), message).into())
        }
        Err(_) => Ok(None),
    }
}

/// Whether a manifest that does not parse may hold our section, comments aside.
fn mentions(text: &str, words: &[&str]) -> bool {
    text.lines().map(str::trim_start).filter(|line| !line.starts_with('#')).any(|line| {
        words.iter().any(|word| line.starts_with('[') && line.contains(word) || line.starts_with(word))
    }) || words.iter().any(|word| word.starts_with('"') && text.contains(word))
}

struct Place {
    line: usize,
    column: usize,
}

fn from_toml(file: &str, text: &str, error: &toml::de::Error) -> Complaint {
    complaint(file, error.span().map(|span| place(text, &span)), error.message())
}

fn place(text: &str, span: &Range<usize>) -> Place {
    let before = text.get(..span.start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    Place { line, column }
}

fn complaint(file: &str, place: Option<Place>, message: &str) -> Complaint {
    let position = place.map(|at| format!(":{}:{}", at.line, at.column)).unwrap_or_default();
    let message = message.trim().replace('\n', ", ");
    let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
    let Some((key, expected)) = unknown else {
        return Complaint::new(
            format!("{file}{position}: {message}"),
            format!("correct {file} there; `owed init` in an empty folder writes an example of every key"),
        );
    };
    let valid: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let next = match (near(key, valid.iter().copied(), 1).first(), KEYS.contains(&key)) {
        (Some(right), _) => format!("did you mean `{right}`?"),
        (None, true) => {
            format!("`{key}` is a key of another table; here one of these can stand: {}", list(&valid))
        }
        (None, false) => format!("the keys here are {}", list(&valid)),
    };
    Complaint::new(format!("{file}{position}: unknown key `{key}`"), next)
}

fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)]) -> Result<Config, (String, String)> {
        load(|name| Ok(files.iter().find(|(file, _)| *file == name).map(|(_, text)| (*text).to_owned())))
            .map_err(|error| {
                let complaint = error.downcast::<Complaint>().expect("every error is a complaint");
                (complaint.what, complaint.next.unwrap_or_default())
            })
    }

    #[test]
    fn a_manifest_is_read_wherever_it_may_name_us() {
        for text in [
            "[tool.owed]\ncap = 7",
            "[tool]\nowed = { cap = 7 }",
            "[tool]\nowed.cap = 7",
            "tool.\"owed\".cap=7",
            "tool={ 'owed'={cap=7} }",
            "[tool.\"\\u006fwed\"]\ncap = 7",
            "[tool.\"\\U0000006fwed\"]\ncap = 7",
            "[tool.\"\\x6fwed\"]\ncap = 7",
        ] {
            assert_eq!(check(&[("pyproject.toml", text)]).unwrap().caps.default, 7, "{text}");
        }
        for text in ["[tool.allowed]\ncap = 7", "[tool.owed-more]\ncap = 7", "[owedness", "x = 'followed'"] {
            assert!(!may_name_owed(text), "{text}");
            assert_eq!(check(&[("pyproject.toml", text)]).unwrap().source, None);
        }
        for text in ["{\"owed\": {\"cap\": 7}}", "{\"\\u006fwed\": {\"cap\": 7}}"] {
            assert_eq!(check(&[("package.json", text)]).unwrap().caps.default, 7, "{text}");
        }
        assert_eq!(check(&[("package.json", "{\"allowed\": 1")]).unwrap().source, None);
    }

    #[test]
    fn every_key_is_read() {
        let config = check(&[(
            "owed.toml",
            "cap = 800\nexclude = [\"gen/**\"]\ninert = [\"*.md\"]\n[limits]\nfile_size = \"2 MiB\"\ndepth = 9\n\
             [[caps]]\npaths = [\"src/**\"]\ncap = 5\n[[inputs]]\ntests = [\"a.test.ts\"]\nfiles = [\"x.graphql\"]\n[policy]\nany = 1\n",
        )])
        .unwrap();
        assert_eq!(config.source, Some("owed.toml"));
        assert_eq!(config.settings.file_size, 2 * 1024 * 1024);
        assert_eq!(config.settings.exclude, ["gen/**"]);
        assert_eq!(config.settings.inert.as_deref(), Some(&["*.md".to_owned()][..]));
        assert_eq!(config.settings.inputs[0].files, ["x.graphql"]);
        let unused: Vec<&str> = config.without_effect.iter().map(|(key, _)| *key).collect();
        assert_eq!(unused, ["policy"]);
        assert_eq!(config.limits.depth, 9);
        assert_eq!((config.caps.default, config.caps.paths[0].cap), (800, 5));
    }

    #[test]
    fn no_configuration_is_the_default() {
        for files in [
            &[][..],
            &[("package.json", "{\"name\": \"x\"}")],
            &[("pyproject.toml", "[project]\nname='x'\n")],
        ] {
            let config = check(files).unwrap();
            assert_eq!((config.source, config.settings), (None, Settings::default()));
        }
    }

    #[test]
    fn a_broken_manifest_without_our_section_is_not_our_error() {
        assert!(check(&[("package.json", "{\"name\": ")]).is_ok());
        assert!(check(&[("pyproject.toml", "[project\nname = 'owed'")]).is_ok());
        assert!(check(&[("package.json", "{\"owed\": {")]).is_err());
        assert!(check(&[("pyproject.toml", "[tool.owed]\ncap = \n")]).is_err());
    }

    #[test]
    fn errors_name_the_place_and_the_way_out() {
        for (files, what, next) in [
            (
                &[("owed.toml", "cap = 1\nexlude = []\n")][..],
                "owed.toml:2:1: unknown key `exlude`",
                "did you mean `exclude`?",
            ),
            (
                &[("owed.toml", "[limits]\nfilesize = 3\n")][..],
                "owed.toml:2:1: unknown key `filesize`",
                "did you mean `file_size`?",
            ),
            (
                &[("owed.toml", "[limits]\ndepth = 2\n")][..],
                "owed.toml:2:9: a depth of 2 is out of reach: it is a number of levels from 8 to 10000",
                "correct owed.toml",
            ),
            (
                &[("owed.toml", "[limits]\ndepth = 5000000000\n")][..],
                "owed.toml:2:9: a depth of 5000000000 is out of reach",
                "correct owed.toml",
            ),
            (
                &[("owed.toml", "[limits]\nfile_size = 5\n")][..],
                "a limit of 5 bytes would leave out nearly every file; for 5 MiB write \"5 MiB\"",
                "correct owed.toml",
            ),
            (
                &[("package.json", "{\"owed\": {\"limits\": {\"file_size\": \"9 GiB\"}}}")][..],
                "is more than can be read: at most \"1 GiB\"",
                "correct package.json",
            ),
            (&[("owed.toml", "tests = []\n")][..], "owed.toml:1:1: unknown key `tests`", "another table"),
            (&[("owed.toml", "exclude = 3\n")][..], "owed.toml:1:11: ", "correct owed.toml"),
            (&[("owed.toml", "exclude = [\"a[\"]\n")][..], "owed.toml:1:11: `a[` is no glob", "correct"),
            (&[("owed.toml", "cap 3\n")][..], "owed.toml:1:5: ", "correct owed.toml"),
            (
                &[("package.json", "{\n  \"owed\": {\n    \"exclud\": []\n  }\n}")][..],
                "package.json:3:",
                "did you mean `exclude`?",
            ),
            (
                &[("pyproject.toml", "[tool.owed]\nlimit = {}\n")][..],
                "pyproject.toml:2:1: unknown key `limit`",
                "did you mean `limits`?",
            ),
            (
                &[("owed.toml", ""), ("package.json", "{\"owed\": {}}")][..],
                "more than one place: owed.toml and \"owed\" in package.json",
                "keep one of them",
            ),
        ] {
            let error = check(files).expect_err(what);
            assert!(error.0.contains(what), "{} does not contain {what}", error.0);
            assert!(error.1.contains(next), "{} does not contain {next}", error.1);
        }
    }
}
