//! What can befall a project between two runs. Each mutation has a kind, by which it is
//! counted, and says what it did, so that a person can do it again.

mod around;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use anyhow::Result;
use fastrand::Rng;

use self::around::{
    bookkeeping, configuration, environment, lock, moved, named_by_environment, package, program, receipts,
};
use crate::world::{Kind, Machine, Thing, World};

/// What was done.
pub(crate) struct Done {
    /// The kind of mutation.
    pub(crate) kind: &'static str,
    /// Where and how.
    pub(crate) what: String,
}

/// One kind of mutation: what it did, or nothing when there was nothing to do it to.
pub(crate) type Mutation = fn(&mut World, &Machine, &mut Rng) -> Result<Option<String>>;

/// Every kind of mutation, with how often it is chosen.
pub(crate) const ALL: &[(&str, u32, Mutation)] = &[
    ("edit", 12, edit),
    ("edit, same size and times", 6, edit_in_secret),
    ("a value that fails", 5, edit_bad),
    ("a comment or a line end", 4, append),
    ("carriage returns", 2, carriage_returns),
    ("byte order mark", 2, byte_order_mark),
    ("delete", 4, delete),
    ("rename", 3, rename),
    ("case-only rename", 2, case_rename),
    ("executable bit", 3, mode),
    ("times only", 3, touch),
    ("link in the place of a file", 3, to_link),
    ("link retargeted", 3, retarget),
    ("hard link, edited behind it", 2, hard_link),
    ("contents of two files swapped", 2, swap),
    ("restore one", 4, restore_one),
    ("a file that shadows", 8, shadow),
    ("setup or configuration by name", 6, convention),
    ("a new entry in a folder", 4, entry),
    ("environment", 10, environment),
    ("a file that the environment names", 4, named_by_environment),
    ("installed package", 7, package),
    ("lock file", 3, lock),
    ("configuration", 6, configuration),
    ("program", 5, program),
    ("git bookkeeping", 4, bookkeeping),
    ("receipts damaged", 3, receipts),
    ("the project is moved", 1, moved),
];

/// Those that need nothing of a generated project.
pub(crate) const FETCHED: &[(&str, u32, Mutation)] = &[
    ("a line is gone", 12, line_gone),
    ("a comment or a line end", 6, append),
    ("carriage returns", 1, carriage_returns),
    ("byte order mark", 1, byte_order_mark),
    ("delete", 3, delete),
    ("rename", 2, rename),
    ("executable bit", 1, mode),
    ("times only", 2, touch),
    ("link in the place of a file", 2, to_link),
    ("restore one", 3, restore_one),
    ("environment", 3, environment),
    ("git bookkeeping", 2, bookkeeping),
    ("receipts damaged", 2, receipts),
];

/// Does one mutation; another one is tried where the chosen has nothing to work on.
pub(crate) fn mutate(
    world: &mut World,
    all: &[(&'static str, u32, Mutation)],
    machine: &Machine,
    rng: &mut Rng,
) -> Result<Done> {
    let total: u32 = all.iter().map(|(_, weight, _)| weight).sum();
    for _ in 0..50 {
        let mut at = rng.u32(..total);
        for (kind, weight, mutation) in all {
            if at < *weight {
                if let Some(what) = mutation(world, machine, rng)? {
                    return Ok(Done { kind, what });
                }
                break;
            }
            at -= weight;
        }
    }
    Ok(Done { kind: "nothing", what: String::new() })
}

/// Files that tests may look at: not programs, not the runner's own packages.
fn targets(world: &World) -> Result<Vec<String>> {
    let runners = ["/pytest", "/_pytest", "/pluggy", "/iniconfig", "/packaging", "/pygments", "/py.py"];
    Ok(world
        .paths()?
        .into_iter()
        .filter(|path| !path.starts_with(".venv/bin"))
        .filter(|path| {
            !path.starts_with(".venv/")
                || path.contains("site-packages/") && !runners.iter().any(|r| path.contains(r))
        })
        .collect())
}

fn choose(world: &World, rng: &mut Rng, wanted: impl Fn(&str) -> bool) -> Result<Option<String>> {
    Ok(rng.choice(targets(world)?.into_iter().filter(|path| wanted(path)).collect::<Vec<_>>()))
}

/// A file with a value in it, and its bytes.
fn with_value(world: &World, rng: &mut Rng) -> Result<Option<(String, String, bool)>> {
    for _ in 0..20 {
        let Some(path) = choose(world, rng, |_| true)? else { return Ok(None) };
        if let Thing::File(bytes, executable) = world.thing(&path)?
            && let Ok(text) = String::from_utf8(bytes)
            && value(&text).is_some()
        {
            return Ok(Some((path, text, executable)));
        }
    }
    Ok(None)
}

/// Where the first value of a text is: `v` and digits, or `bad`.
fn value(text: &str) -> Option<std::ops::Range<usize>> {
    let digits = |at: usize| text[at..].bytes().take_while(u8::is_ascii_digit).count();
    let found = text.match_indices('v').find_map(|(at, _)| {
        let before = text[..at].chars().next_back();
        let count = digits(at + 1);
        (count > 0 && before.is_none_or(|c| !c.is_alphanumeric())).then(|| at..at + 1 + count)
    });
    found.or_else(|| text.find("bad").map(|at| at..at + 3))
}

fn replaced(text: &str, new: &str) -> Option<String> {
    let at = value(text)?;
    Some(format!("{}{new}{}", &text[..at.start], &text[at.end..]))
}

fn set(world: &World, rng: &mut Rng, new: &str) -> Result<Option<String>> {
    let Some((path, text, executable)) = with_value(world, rng)? else { return Ok(None) };
    let Some(text) = replaced(&text, new) else { return Ok(None) };
    // In place, so that hard links and inodes stay.
    if executable {
        world.put(&path, &Thing::File(text.into(), true))?
    } else {
        fs::write(world.root.join(&path), text)?
    }
    Ok(Some(format!("{path}: {new}")))
}

fn edit(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let new = format!("v{}", rng.u32(1..40));
    set(world, rng, &new)
}

fn edit_bad(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    set(world, rng, "bad")
}

fn edit_in_secret(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let Some((path, text, _)) = with_value(world, rng)? else { return Ok(None) };
    let Some(at) = value(&text) else { return Ok(None) };
    if at.len() != 2 {
        return Ok(None);
    }
    let at_path = world.root.join(&path);
    let times = fs::metadata(&at_path)?.modified()?;
    let new = format!("v{}", rng.u32(1..10));
    fs::write(&at_path, format!("{}{new}{}", &text[..at.start], &text[at.end..]))?;
    fs::File::options().write(true).open(&at_path)?.set_modified(times)?;
    Ok(Some(format!("{path}: {new}")))
}

fn text_of(world: &World, rng: &mut Rng) -> Result<Option<(String, String)>> {
    let Some(path) = choose(world, rng, |path| !path.contains("pyvenv"))? else { return Ok(None) };
    match world.thing(&path)? {
        Thing::File(bytes, _) => Ok(String::from_utf8(bytes).ok().map(|text| (path, text))),
        Thing::Link(_) => Ok(None),
    }
}

fn line_gone(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let Some((path, text)) = text_of(world, rng)? else { return Ok(None) };
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.is_empty() {
        return Ok(None);
    }
    let at = rng.usize(..lines.len());
    lines.remove(at);
    fs::write(world.root.join(&path), lines.concat())?;
    Ok(Some(format!("{path}:{}", at + 1)))
}

fn append(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let Some((path, text)) = text_of(world, rng)? else { return Ok(None) };
    let comment = if Path::new(&path).extension().is_some_and(|e| e == "js" || e == "cjs") {
        "// more\n"
    } else {
        "\n"
    };
    fs::write(world.root.join(&path), text + comment)?;
    Ok(Some(path))
}

fn carriage_returns(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let Some((path, text)) = text_of(world, rng)? else { return Ok(None) };
    let text = if text.contains('\r') { text.replace('\r', "") } else { text.replace('\n', "\r\n") };
    fs::write(world.root.join(&path), text)?;
    Ok(Some(path))
}

fn byte_order_mark(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let Some((path, text)) = text_of(world, rng)? else { return Ok(None) };
    fs::write(world.root.join(&path), format!("\u{feff}{text}"))?;
    Ok(Some(path))
}

fn delete(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let keep = |path: &str| !matches!(path, "package.json" | "pyproject.toml") && !path.contains("pyvenv");
    let Some(path) = choose(world, rng, keep)? else { return Ok(None) };
    fs::remove_file(world.root.join(&path))?;
    Ok(Some(path))
}

fn rename(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let keep = |path: &str| !matches!(path, "package.json" | "pyproject.toml") && !path.contains("pyvenv");
    let Some(path) = choose(world, rng, keep)? else { return Ok(None) };
    let (stem, extension) = path.rsplit_once('.').unwrap_or((&path, "txt"));
    let to = format!("{stem}x.{extension}");
    world.clear(&to)?;
    fs::rename(world.root.join(&path), world.root.join(&to))?;
    Ok(Some(format!("{path} -> {to}")))
}

fn case_rename(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let Some(path) = choose(world, rng, |path| path.starts_with("src/") || path.starts_with("tests/"))?
    else {
        return Ok(None);
    };
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let mut letters = name.chars();
    let first = letters.next().map_or(String::new(), |c| {
        if c.is_uppercase() { c.to_lowercase().to_string() } else { c.to_uppercase().to_string() }
    });
    let to = format!("{dir}/{first}{}", letters.as_str());
    if to == path {
        return Ok(None);
    }
    world.clear(&to)?;
    fs::rename(world.root.join(&path), world.root.join(&to))?;
    Ok(Some(format!("{path} -> {to}")))
}

fn mode(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let Some(path) = choose(world, rng, |path| path.contains("mode") || path.len() % 3 == 0)? else {
        return Ok(None);
    };
    let Thing::File(_, executable) = world.thing(&path)? else { return Ok(None) };
    let bits = if executable { 0o644 } else { 0o755 };
    fs::set_permissions(world.root.join(&path), fs::Permissions::from_mode(bits))?;
    Ok(Some(format!("{path}: {bits:o}")))
}

fn touch(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let Some(path) = choose(world, rng, |path| path.contains("time") || path.len() % 3 == 0)? else {
        return Ok(None);
    };
    let Thing::File(..) = world.thing(&path)? else { return Ok(None) };
    let seconds = rng.u64(1_000_000..1_000_000_000);
    let file = fs::File::options().append(true).open(world.root.join(&path))?;
    file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds))?;
    Ok(Some(format!("{path}: {seconds}")))
}

fn to_link(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let Some(path) = choose(world, rng, |path| !path.contains("node_modules/ws"))? else { return Ok(None) };
    let thing = world.thing(&path)?;
    let Thing::File(..) = thing else { return Ok(None) };
    let (stem, extension) = path.rsplit_once('.').unwrap_or((&path, "txt"));
    let to = format!("{stem}.real.{extension}");
    world.put(&to, &thing)?;
    let name = to.rsplit('/').next().unwrap_or(&to).to_owned();
    world.put(&path, &Thing::Link(PathBuf::from(&name)))?;
    Ok(Some(format!("{path} -> {name}")))
}

fn retarget(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let links: Vec<String> = targets(world)?
        .into_iter()
        .filter(|path| {
            !path.starts_with("node_modules/.bin") && matches!(world.thing(path), Ok(Thing::Link(_)))
        })
        .collect();
    let Some(path) = rng.choice(links) else { return Ok(None) };
    let Thing::Link(old) = world.thing(&path)? else { return Ok(None) };
    let to = if let Some(n) = path.strip_prefix("node_modules/ws") {
        PathBuf::from(format!("../packages/ws{}", (n.parse::<u32>().unwrap_or(0) + 1) % 3))
    } else {
        let at = world.root.join(&path);
        let Ok(bytes) = fs::read(&at) else { return Ok(None) };
        let Ok(text) = String::from_utf8(bytes) else { return Ok(None) };
        let text = replaced(&text, &format!("v{}", rng.u32(1..10))).unwrap_or(text);
        let name = format!("{}.other", old.display());
        let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
        let place = if dir.is_empty() { name.clone() } else { format!("{dir}/{name}") };
        world.put(&place, &Thing::File(text.into(), false))?;
        PathBuf::from(name)
    };
    world.put(&path, &Thing::Link(to.clone()))?;
    Ok(Some(format!("{path} -> {}", to.display())))
}

fn hard_link(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let Some((path, text, _)) = with_value(world, rng)? else { return Ok(None) };
    let other = world.root.join("ignored-link");
    let _ = fs::remove_file(&other);
    fs::hard_link(world.root.join(&path), &other)?;
    let new = format!("v{}", rng.u32(1..10));
    fs::write(&other, replaced(&text, &new).unwrap_or(text))?;
    Ok(Some(format!("{path}: {new}")))
}

fn swap(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let (Some(a), Some(b)) = (with_value(world, rng)?, with_value(world, rng)?) else { return Ok(None) };
    if a.0 == b.0 || Path::new(&a.0).extension() != Path::new(&b.0).extension() {
        return Ok(None);
    }
    let (from, to) = (world.root.join(&a.0), world.root.join(&b.0));
    let between = world.root.join("ignored-between");
    fs::rename(&from, &between)?;
    fs::rename(&to, &from)?;
    fs::rename(&between, &to)?;
    Ok(Some(format!("{} <-> {}", a.0, b.0)))
}

fn restore_one(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    world.restore_one(rng)
}

/// Another file that a resolution would rather take.
fn shadow(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let n = rng.u32(..3);
    let value = format!("v{}", rng.u32(50..90));
    let (path, text) = if world.kind.is_python() {
        let standard =
            ["random", "types", "string", "colorsys", "json/__init__", "enum", "locale", "datetime"];
        match rng.u32(..8) {
            0 | 1 => match choose(world, rng, |p| {
                p.starts_with("app/") && p.ends_with(".py") && !p.contains("__init__")
            })? {
                Some(file) => (
                    format!("{}/__init__.py", file.trim_end_matches(".py")),
                    format!("V = W = \"{value}\"\n"),
                ),
                None => return Ok(None),
            },
            2 => (format!("dep{n}.py"), format!("V = \"{value}\"\n")),
            3 => (format!("extra{n}.py"), format!("V = \"{value}\"\n")),
            4 => (format!("{}.py", standard[rng.usize(..standard.len())]), format!("V = \"{value}\"\n")),
            5 => (
                ["sitecustomize.py", "usercustomize.py"][rng.usize(..2)].to_owned(),
                "import builtins\nbuiltins.bad = 1\n".to_owned(),
            ),
            6 => (format!("tests/dep{n}.py"), format!("V = \"{value}\"\n")),
            _ => match choose(world, rng, |p| p.starts_with("app/ns") && p.ends_with(".py"))? {
                Some(file) => {
                    (format!("{}/__init__.py", file.rsplit_once('/').map_or("", |(d, _)| d)), String::new())
                }
                None => return Ok(None),
            },
        }
    } else {
        let module = format!("export const v = \"{value}\", w = v, dep = v, ws = v, m = v;\n");
        match rng.u32(..9) {
            0..=2 => {
                let source = |p: &str| (p.starts_with("src/") || p.starts_with("lib/")) && !p.contains(".test.");
                let Some(file) = choose(world, rng, source)? else { return Ok(None) };
                let stem = file.rsplit_once('.').map_or(&*file, |(stem, _)| stem).to_owned();
                let common = file.contains("common") || file.contains("deep");
                let ends = if common { [".js", ".json", "", "/index.js"] } else { [".ts", ".mjs", ".jsx", "/index.js"] };
                let end = ends[rng.usize(..4)];
                let text = match (common, end) {
                    (true, ".json") => format!("\"{value}\"\n"),
                    (true, _) => format!("module.exports = \"{value}\";\n"),
                    _ => module,
                };
                (format!("{stem}{end}"), text)
            }
            3 => {
                let dir = format!("src/node_modules/dep{n}");
                world.put(&format!("{dir}/package.json"), &Thing::File(b"{ \"type\": \"module\", \"exports\": { \".\": \"./i.js\", \"./sub\": \"./i.js\" } }\n".to_vec(), false))?;
                (format!("{dir}/i.js"), module)
            }
            4 => (format!("src/node_modules/common{n}.js"), format!("exports.v = \"{value}\";\n")),
            5 => ("src/package.json".to_owned(), "{ \"type\": \"module\" }\n".to_owned()),
            6 => ("src/package.json".to_owned(), "{ \"name\": \"fuzzed\", \"type\": \"module\", \"imports\": { \"#picked\": \"../lib/other.js\" } }\n".to_owned()),
            7 => (format!("node_modules/dep{n}/node_modules/inner{n}/index.js"), format!("exports.inner = \"{value}\";\n")),
            _ => (format!("node_modules/common{n}/lib/v"), format!("exports.v = \"{value}\";\n")),
        }
    };
    world.put(&path, &Thing::File(text.into(), false))?;
    Ok(Some(path))
}

/// Files that runners and interpreters take up because of their names.
fn convention(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let autouse = "import pytest\nimport builtins\n\n\n@pytest.fixture(autouse=True)\ndef always():\n    builtins.given = 1\n";
    let given =
        format!("import pytest\n\n\n@pytest.fixture\ndef given():\n    return \"v{}\"\n", rng.u32(1..9));
    let failing =
        "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef always():\n    raise RuntimeError(\"bad\")\n"
            .to_owned();
    let choices: Vec<(&str, String)> = match world.kind {
        Kind::Pytest => vec![
            ("conftest.py", autouse.to_owned()),
            ("conftest.py", failing.clone()),
            ("tests/conftest.py", given),
            ("tests/conftest.py", failing),
            ("pytest.ini", "[pytest]\ntestpaths = tests\naddopts = -x\n".to_owned()),
            ("pytest.ini", "[pytest]\npython_functions = nothing_*\n".to_owned()),
            ("tox.ini", "[pytest]\naddopts = -q\n".to_owned()),
            ("tests/__init__.py", "raise RuntimeError(\"bad\")\n".to_owned()),
        ],
        Kind::Unittest | Kind::Bare => vec![
            ("tests/__init__.py", "import builtins\nbuiltins.given = 1\n".to_owned()),
            ("tests/__init__.py", "raise RuntimeError(\"bad\")\n".to_owned()),
            ("conftest.py", "raise RuntimeError(\"bad\")\n".to_owned()),
            ("setup.cfg", "[tool:pytest]\n".to_owned()),
        ],
        Kind::Node => vec![
            (".npmrc", "node-options=--conditions=alt\n".to_owned()),
            ("node.config.json", "{}\n".to_owned()),
            (".env", "LEVEL0=bad\n".to_owned()),
            (
                "tsconfig.json",
                "{ \"compilerOptions\": { \"paths\": { \"*\": [\"./lib/*\"] } } }\n".to_owned(),
            ),
        ],
        Kind::Vitest => vec![
            (".env", "LEVEL0=bad\n".to_owned()),
            (".env.test.local", "VITE_A=bad\n".to_owned()),
            (
                "vitest.config.ts",
                "import { defineConfig } from \"vitest/config\";\n\nexport default defineConfig({});\n"
                    .to_owned(),
            ),
            ("vite.config.js", "throw new Error(\"bad\");\n".to_owned()),
            ("__mocks__/dep0.js", "export const dep = \"v70\";\n".to_owned()),
            ("src/__mocks__/low0.js", "export const w = \"v70\";\n".to_owned()),
            ("setup.js", "throw new Error(\"bad\");\n".to_owned()),
            ("setup.js", "const more = \"v77\";\n".to_owned()),
            ("tsconfig.json", "{ \"compilerOptions\": { \"target\": \"es2015\" } }\n".to_owned()),
        ],
        Kind::Jest => vec![
            ("__mocks__/dep0.js", "exports.dep = \"v70\";\n".to_owned()),
            ("__mocks__/fs.js", "exports.readFileSync = () => \"v71\";\n".to_owned()),
            ("src/__mocks__/low0.js", "exports.w = \"v70\";\n".to_owned()),
            ("setup.js", "const more = \"v77\";\n".to_owned()),
            ("setup.js", "throw new Error(\"bad\");\n".to_owned()),
            (".babelrc", "{ \"presets\": [] }\n".to_owned()),
            ("src/.babelrc.json", "{ \"compact\": true }\n".to_owned()),
        ],
    };
    let Some((path, text)) = rng.choice(choices) else { return Ok(None) };
    world.put(path, &Thing::File(text.into(), false))?;
    Ok(Some(path.to_owned()))
}

fn entry(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let listed =
        |path: &str| ["pages", "deep", "globbed", "fix", "some"].iter().any(|name| path.contains(name));
    let Some(beside) = choose(world, rng, listed)? else { return Ok(None) };
    let dir = beside.rsplit_once('/').map_or("", |(dir, _)| dir);
    let name =
        ["new.txt", "new.md", ".hidden.txt", "sub/deeper.txt", "ignored.txt", "V1.txt"][rng.usize(..6)];
    let path = format!("{dir}/{name}");
    world.put(&path, &Thing::File(b"v1\n".to_vec(), false))?;
    Ok(Some(path))
}
