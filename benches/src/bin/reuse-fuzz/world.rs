//! A generated project: its files, its installed packages, its programs and its environment,
//! with a copy of how they were at first.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use fastrand::Rng;

use crate::templates::{BUNDLED, NODE, PYTHON, Template};

/// What runs a project's tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// node's runner.
    Node,
    /// unittest in a virtual environment of the project.
    Unittest,
    /// unittest with the interpreter of the platform.
    Bare,
    /// pytest in a virtual environment of the project.
    Pytest,
    /// vitest, installed above the project.
    Vitest,
    /// jest, installed above the project.
    Jest,
}

impl Kind {
    /// Its name in the report.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Node => "node:test",
            Self::Unittest => "unittest",
            Self::Bare => "unittest (no environment of its own)",
            Self::Pytest => "pytest",
            Self::Vitest => "vitest",
            Self::Jest => "jest",
        }
    }

    /// Whether Python runs it.
    pub(crate) fn is_python(self) -> bool {
        matches!(self, Self::Unittest | Self::Bare | Self::Pytest)
    }
}

/// Programs of this machine.
pub(crate) struct Machine {
    /// node, and a copy of it with other bytes.
    pub(crate) nodes: [PathBuf; 2],
    /// The interpreter, and another version when there is one.
    pub(crate) pythons: Vec<PathBuf>,
    /// `node_modules` with vitest and jest.
    pub(crate) node_modules: Option<PathBuf>,
    /// `site-packages` with pytest, of the first interpreter.
    pub(crate) site_packages: Option<PathBuf>,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Thing {
    /// A file with its executable bit.
    File(Vec<u8>, bool),
    /// A link.
    Link(PathBuf),
}

/// A project that is being changed.
pub(crate) struct World {
    /// What runs it.
    pub(crate) kind: Kind,
    /// Where it is.
    pub(crate) root: PathBuf,
    /// The environment of everything that is started in it.
    pub(crate) environment: BTreeMap<String, String>,
    /// Whether `owed` is asked for a strict environment.
    pub(crate) strict: bool,
    base: BTreeMap<String, Thing>,
    start: BTreeMap<String, String>,
    home: PathBuf,
    programs: Vec<(&'static str, PathBuf)>,
    kept: Vec<&'static str>,
}

/// Folders that no mutation and no restoring touches.
const KEPT: &[&str] = &[".git", ".owed", "__pycache__", ".pytest_cache"];

impl World {
    /// Makes a project of about `tests` test files in `root`, which must not exist.
    pub(crate) fn new(
        kind: Kind,
        root: &Path,
        tests: usize,
        machine: &Machine,
        rng: &mut Rng,
    ) -> Result<Self> {
        fs::create_dir_all(root)?;
        let root = fs::canonicalize(root)?;
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        standing(kind, &mut files);
        for number in 0..tests {
            test(kind, number, &mut files, rng);
        }
        for (path, text) in &files {
            write(&root, path, text.as_bytes())?;
        }
        for n in 0..3 {
            if !kind.is_python() {
                symlink(format!("../packages/ws{n}"), root.join(format!("node_modules/ws{n}")))?;
            }
        }
        let tools = tools(&root, kind, machine)?;
        let environment = environment(&tools, machine);
        git(&root, &["init", "-q"])?;
        git(&root, &["add", "-A"])?;
        git(&root, &["commit", "-q", "-m", "start"])?;
        let mut world = Self {
            kind,
            home: root.clone(),
            programs: programs(machine),
            kept: KEPT.to_vec(),
            root,
            start: environment.clone(),
            environment,
            strict: rng.bool(),
            base: BTreeMap::new(),
        };
        world.base = world.things()?;
        Ok(world)
    }

    /// A checkout in `root` with its dependencies installed, to be changed in place; its
    /// packages are left alone.
    pub(crate) fn adopt(kind: Kind, root: &Path, machine: &Machine) -> Result<Self> {
        let root = fs::canonicalize(root)?;
        let path = std::env::var("PATH").unwrap_or_default();
        let environment = environment(machine.nodes[0].parent().unwrap_or(&root), machine);
        let environment: BTreeMap<String, String> = environment
            .into_iter()
            .map(|(n, v)| if n == "PATH" { (n, path.clone()) } else { (n, v) })
            .collect();
        let mut world = Self {
            kind,
            home: root.clone(),
            root,
            environment: environment.clone(),
            strict: false,
            base: BTreeMap::new(),
            start: environment,
            programs: Vec::new(),
            kept: KEPT.iter().copied().chain(["node_modules", ".venv", "venv", ".cache"]).collect(),
        };
        world.base = world.things()?;
        Ok(world)
    }

    /// Paths of everything that mutations may touch, sorted: files and links.
    pub(crate) fn paths(&self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let mut open = vec![String::new()];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(self.root.join(&dir))? {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if self.kept.contains(&name.as_str()) {
                    continue;
                }
                let path = if dir.is_empty() { name } else { format!("{dir}/{name}") };
                if entry.file_type()?.is_dir() { open.push(path) } else { found.push(path) }
            }
        }
        found.sort();
        Ok(found)
    }

    /// What is at a path.
    pub(crate) fn thing(&self, path: &str) -> Result<Thing> {
        let at = self.root.join(path);
        let metadata = fs::symlink_metadata(&at)?;
        if metadata.is_symlink() {
            return Ok(Thing::Link(fs::read_link(&at)?));
        }
        Ok(Thing::File(fs::read(&at)?, metadata.permissions().mode() & 0o100 != 0))
    }

    fn things(&self) -> Result<BTreeMap<String, Thing>> {
        self.paths()?.into_iter().map(|path| Ok((path.clone(), self.thing(&path)?))).collect()
    }

    /// Puts something at a path, whatever is there.
    pub(crate) fn put(&self, path: &str, thing: &Thing) -> Result<()> {
        self.clear(path)?;
        let at = self.root.join(path);
        match thing {
            Thing::Link(to) => symlink(to, &at)?,
            Thing::File(bytes, executable) => {
                fs::write(&at, bytes)?;
                let mode = if *executable { 0o755 } else { 0o644 };
                fs::set_permissions(&at, fs::Permissions::from_mode(mode))?;
            }
        }
        Ok(())
    }

    /// Makes room for something at a path: nothing is there then, and it has a folder.
    pub(crate) fn clear(&self, path: &str) -> Result<()> {
        for above in Path::new(path).ancestors().skip(1).filter(|at| !at.as_os_str().is_empty()) {
            let at = self.root.join(above);
            if fs::symlink_metadata(&at).is_ok_and(|m| !m.is_dir()) {
                fs::remove_file(&at)?;
            }
        }
        let at = self.root.join(path);
        fs::create_dir_all(at.parent().context("a path has a folder")?)?;
        match fs::symlink_metadata(&at) {
            Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(&at)?,
            Ok(_) => fs::remove_file(&at)?,
            Err(_) => {}
        }
        Ok(())
    }

    /// Takes every change back: what was there at first is there again, with new times.
    pub(crate) fn restore(&mut self) -> Result<()> {
        self.environment = self.start.clone();
        if self.root != self.home {
            fs::rename(&self.root, &self.home)?;
            self.root = self.home.clone();
        }
        link_programs(&self.root.with_file_name("bin"), &self.programs)?;
        for path in self.paths()? {
            if !self.base.contains_key(&path) {
                fs::remove_file(self.root.join(&path))?;
            }
        }
        self.prune()?;
        for (path, thing) in &self.base {
            if self.thing(path).ok().as_ref() != Some(thing) {
                self.put(path, thing)?;
            }
        }
        Ok(())
    }

    /// One of the files that were there at first and are not as they were.
    pub(crate) fn restore_one(&self, rng: &mut Rng) -> Result<Option<String>> {
        let differs: Vec<&String> = self
            .base
            .iter()
            .filter(|(p, t)| self.thing(p).ok().as_ref() != Some(*t))
            .map(|(p, _)| p)
            .collect();
        let Some(path) = rng.choice(differs) else { return Ok(None) };
        self.put(path, &self.base[path])?;
        Ok(Some(path.clone()))
    }

    /// Removes empty folders, deepest first.
    fn prune(&self) -> Result<()> {
        let mut dirs = Vec::new();
        let mut open = vec![self.root.clone()];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(&dir)? {
                let entry = entry?;
                let kept = self.kept.iter().any(|kept| entry.file_name() == *kept);
                if entry.file_type()?.is_dir() && !kept {
                    dirs.push(entry.path());
                    open.push(entry.path());
                }
            }
        }
        for dir in dirs.iter().rev() {
            let _ = fs::remove_dir(dir);
        }
        Ok(())
    }
}

/// A git command in a folder, with an identity of its own.
pub(crate) fn git(root: &Path, arguments: &[&str]) -> Result<()> {
    let status = Command::new("git")
        .args(["-c", "user.name=f", "-c", "user.email=f@example.invalid", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .current_dir(root)
        .stdin(Stdio::null())
        .status()?;
    ensure!(status.success(), "git {arguments:?} failed in {}", root.display());
    Ok(())
}

fn write(root: &Path, path: &str, bytes: &[u8]) -> Result<()> {
    let at = root.join(path);
    fs::create_dir_all(at.parent().context("a path has a folder")?)?;
    Ok(fs::write(at, bytes)?)
}

/// Manifests, configuration and installed packages.
fn standing(kind: Kind, files: &mut BTreeMap<String, String>) {
    let mut put = |path: &str, text: &str| files.insert(path.to_owned(), text.to_owned());
    put(".gitignore", "node_modules/\n.venv/\n__pycache__/\nignored*\n");
    put("README.md", "v1\n");
    put(
        "owed.toml",
        "[[inputs]]\ntests = [\"**/*0.test.js\", \"tests/test_*0.py\"]\nfiles = [\"schema/**\"]\n",
    );
    put("schema/a.txt", "v1\n");
    if kind.is_python() {
        put("app/__init__.py", "");
        put("tests/__init__.py", "");
        put("alt/extra0.py", "V = \"v1\"\n");
        let mut project = "[project]\nname = \"fuzzed\"\nversion = \"0\"\n".to_owned();
        if kind == Kind::Pytest {
            project.push_str("\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n");
            put("tests/conftest.py", "import pytest\n\n\n@pytest.fixture\ndef given():\n    return \"v1\"\n");
            put("requirements.txt", "pytest\n");
        }
        put("pyproject.toml", &project);
        return;
    }
    for n in 0..3 {
        let dep = format!("node_modules/dep{n}");
        put(
            &format!("{dep}/package.json"),
            &format!(
                "{{ \"name\": \"dep{n}\", \"version\": \"1.0.0\", \"type\": \"module\", \"exports\": {{ \".\": {{ \"alt\": \"./alt.js\", \"default\": \"./index.js\" }}, \"./sub\": \"./sub.js\" }}, \"dependencies\": {{ \"inner{n}\": \"1\" }} }}\n"
            ),
        );
        put(&format!("{dep}/index.js"), &format!("export {{ inner as dep }} from \"inner{n}\";\n"));
        put(&format!("{dep}/alt.js"), "export const dep = \"v3\";\n");
        put(&format!("{dep}/sub.js"), "export const v = \"v1\";\n");
        let inner = format!("node_modules/inner{n}");
        put(
            &format!("{inner}/package.json"),
            &format!(
                "{{ \"name\": \"inner{n}\", \"version\": \"1.0.0\", \"type\": \"module\", \"exports\": \"./index.js\" }}\n"
            ),
        );
        put(&format!("{inner}/index.js"), "export const inner = \"v1\";\n");
        put(&format!("node_modules/common{n}/index.js"), "exports.v = require(\"./lib/v\").v;\n");
        put(&format!("node_modules/common{n}/lib/v.js"), "exports.v = \"v1\";\n");
        put(
            &format!("node_modules/common{n}/package.json"),
            &format!("{{ \"name\": \"common{n}\", \"version\": \"1.0.0\" }}\n"),
        );
        put(
            &format!("packages/ws{n}/package.json"),
            &format!(
                "{{ \"name\": \"ws{n}\", \"version\": \"1.0.0\", \"type\": \"module\", \"exports\": \"./index.js\" }}\n"
            ),
        );
        put(&format!("packages/ws{n}/index.js"), "export const ws = \"v1\";\n");
    }
    put("lib/picked.js", "export const v = \"v1\";\n");
    put("lib/other.js", "export const v = \"v2\";\n");
    put("preset.cjs", "globalThis.preset = \"v1\";\n");
    put("preset.mjs", "globalThis.preset = \"v2\";\n");
    put("alt_modules/lost/index.js", "exports.v = \"v1\";\n");
    put(
        "package-lock.json",
        "{ \"name\": \"fuzzed\", \"lockfileVersion\": 3, \"packages\": { \"\": { \"name\": \"fuzzed\" }, \"node_modules/dep0\": { \"version\": \"1.0.0\" }, \"node_modules/inner0\": { \"version\": \"1.0.0\" } } }\n",
    );
    let (script, more) = match kind {
        Kind::Vitest => ("vitest run", "\"devDependencies\": { \"vitest\": \"*\" }, "),
        Kind::Jest => (
            "jest",
            "\"devDependencies\": { \"jest\": \"*\" }, \"jest\": { \"moduleNameMapper\": { \"^@lib/(.*)$\": \"<rootDir>/lib/$1\" }, \"setupFiles\": [\"./setup.js\"], \"transformIgnorePatterns\": [] }, ",
        ),
        _ => ("node --test", ""),
    };
    put(
        "package.json",
        &format!(
            "{{ \"name\": \"fuzzed\", \"version\": \"1.0.0\", \"type\": \"{}\", \"scripts\": {{ \"test\": \"{script}\" }}, {more}\"workspaces\": [\"packages/*\"], \"exports\": {{ \"./*\": \"./lib/*.js\" }}, \"imports\": {{ \"#lib/*\": \"./lib/*\", \"#picked\": {{ \"alt\": \"./lib/other.js\", \"default\": \"./lib/picked.js\" }} }}, \"dependencies\": {{ \"dep0\": \"1\", \"dep1\": \"1\", \"dep2\": \"1\", \"common0\": \"1\", \"common1\": \"1\", \"common2\": \"1\", \"ws0\": \"*\", \"ws1\": \"*\", \"ws2\": \"*\" }} }}\n",
            if kind == Kind::Jest { "commonjs" } else { "module" }
        ),
    );
    match kind {
        Kind::Vitest => {
            put(
                "vitest.config.js",
                "import { defineConfig } from \"vitest/config\";\n\nexport default defineConfig({ test: { setupFiles: [\"./setup.js\"], alias: { \"@lib\": new URL(\"./lib\", import.meta.url).pathname } } });\n",
            );
            put("setup.js", "const preset = \"v1\";\nif (preset === \"bad\") throw new Error(\"bad\");\n");
        }
        Kind::Jest => {
            put("setup.js", "const preset = \"v1\";\nif (preset === \"bad\") throw new Error(\"bad\");\n");
            put(
                "babel.config.json",
                "{ \"presets\": [[\"@babel/preset-env\", { \"targets\": { \"node\": \"current\" } }]] }\n",
            );
        }
        _ => {}
    }
}

/// One test file with everything that it looks at.
fn test(kind: Kind, number: usize, files: &mut BTreeMap<String, String>, rng: &mut Rng) {
    let templates: &[Template] = match kind {
        Kind::Node => NODE,
        Kind::Unittest | Kind::Bare | Kind::Pytest => PYTHON,
        Kind::Vitest | Kind::Jest => BUNDLED,
    };
    let (mut heads, mut values) = (Vec::new(), Vec::new());
    for part in 0..1 + rng.usize(..3) {
        // Every template is used before chance decides.
        let at = if part == 0 { number % templates.len() } else { rng.usize(..templates.len()) };
        let template = &templates[at];
        if kind == Kind::Bare && template.head.contains("dep$j") {
            continue;
        }
        let (own, shared) = (format!("{number}_{part}"), rng.usize(..3).to_string());
        let fill = |text: &str| text.replace("$i", &own).replace("$j", &shared);
        let head = fill(template.head);
        heads.push(head.replace("$mock", if kind == Kind::Jest { "jest.mock" } else { "vi.mock" }));
        values.push(fill(template.value));
        for (path, text) in template.files {
            files.entry(fill(path)).or_insert_with(|| fill(text));
        }
    }
    let (heads, values) = (heads.join("\n"), values.join(", "));
    let (path, text) = match kind {
        Kind::Node => (
            format!("src/t{number}.test.js"),
            format!(
                "import assert from \"node:assert\";\nimport test from \"node:test\";\n{heads}\n\nconst seen = [{values}];\ntest(`saw ${{JSON.stringify(seen)}}`, () => assert.ok(!seen.join().includes(\"bad\")));\n"
            ),
        ),
        Kind::Vitest => (
            format!("src/t{number}.test.js"),
            format!(
                "import {{ expect, test, vi }} from \"vitest\";\n{heads}\n\nconst seen = [{values}];\ntest(`saw ${{JSON.stringify(seen)}}`, () => expect(seen.join().includes(\"bad\")).toBe(false));\n"
            ),
        ),
        Kind::Jest => (
            format!("src/t{number}.test.js"),
            format!(
                "{heads}\n\nconst seen = [{values}];\ntest(`saw ${{JSON.stringify(seen)}}`, () => expect(seen.join().includes(\"bad\")).toBe(false));\n"
            ),
        ),
        Kind::Pytest => (
            format!("tests/test_t{number}.py"),
            format!(
                "{heads}\n\nSEEN = [{values}]\n\n\ndef test_seen({}):\n    assert \"bad\" not in \",\".join(SEEN)\n",
                if number.is_multiple_of(4) { "given" } else { "" }
            ),
        ),
        Kind::Unittest | Kind::Bare => (
            format!("tests/test_t{number}.py"),
            format!(
                "import unittest\n{heads}\n\nSEEN = [{values}]\n\n\nclass T(unittest.TestCase):\n    def test_seen(self):\n        self.assertNotIn(\"bad\", \",\".join(SEEN))\n"
            ),
        ),
    };
    files.insert(path, text);
}

/// Names of programs, and what they are at first.
fn programs(machine: &Machine) -> Vec<(&'static str, PathBuf)> {
    let python = machine.pythons.first().map(|python| ("python3", python.clone()));
    [("node", machine.nodes[0].clone())].into_iter().chain(python).collect()
}

fn link_programs(bin: &Path, programs: &[(&'static str, PathBuf)]) -> Result<()> {
    for (name, to) in programs {
        if fs::read_link(bin.join(name)).ok().as_ref() != Some(to) {
            let _ = fs::remove_file(bin.join(name));
            symlink(to, bin.join(name))?;
        }
    }
    Ok(())
}

/// A folder of programs, first on `PATH`: links that mutations retarget. Also the virtual
/// environment.
fn tools(root: &Path, kind: Kind, machine: &Machine) -> Result<PathBuf> {
    // Beside the project, so that a moved one has the same `PATH`.
    let bin = root.with_file_name("bin");
    fs::create_dir_all(&bin)?;
    link_programs(&bin, &programs(machine))?;
    if matches!(kind, Kind::Unittest | Kind::Pytest)
        && let Some(python) = machine.pythons.first()
    {
        let made =
            Command::new(python).args(["-m", "venv", "--without-pip", ".venv"]).current_dir(root).status()?;
        ensure!(made.success(), "no virtual environment could be made");
        let site = site_packages(&root.join(".venv")).context("an environment has packages")?;
        if kind == Kind::Pytest {
            let from = machine.site_packages.as_ref().context("pytest is not installed")?;
            for name in ["pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py.py"] {
                copy(&from.join(name), &site.join(name))?;
            }
            for entry in fs::read_dir(from)? {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                let wanted = ["pytest-", "pluggy-", "iniconfig-", "packaging-"];
                if wanted.iter().any(|start| name.starts_with(start)) {
                    copy(&entry.path(), &site.join(name))?;
                }
            }
        }
        for n in 0..3 {
            let dep = site.join(format!("dep{n}"));
            fs::create_dir(&dep)?;
            fs::write(dep.join("__init__.py"), "V = \"v1\"\n")?;
            fs::write(dep.join("sub.py"), "V = \"v1\"\n")?;
            let info = site.join(format!("dep{n}-1.0.dist-info"));
            fs::create_dir(&info)?;
            fs::write(info.join("METADATA"), format!("Name: dep{n}\nVersion: 1.0\n"))?;
        }
    }
    if let (Kind::Vitest | Kind::Jest, Some(from)) = (kind, &machine.node_modules) {
        // Above the project, as in a monorepo: the packages themselves are nobody's to change.
        let above = root.parent().context("a project has a folder")?.join("node_modules");
        if fs::symlink_metadata(&above).is_err() {
            symlink(from, above)?;
        }
    }
    Ok(bin)
}

/// The one `site-packages` of a virtual environment.
pub(crate) fn site_packages(venv: &Path) -> Option<PathBuf> {
    let mut dirs: Vec<PathBuf> =
        fs::read_dir(venv.join("lib")).ok()?.filter_map(|e| Some(e.ok()?.path())).collect();
    dirs.sort();
    dirs.first().map(|dir| dir.join("site-packages"))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if from.is_dir() {
        let status = Command::new("cp").arg("-R").arg(from).arg(to).status()?;
        ensure!(status.success(), "{} could not be copied", from.display());
    } else if from.is_file() {
        fs::copy(from, to)?;
    }
    Ok(())
}

fn environment(tools: &Path, machine: &Machine) -> BTreeMap<String, String> {
    let mut path = vec![tools.to_path_buf()];
    path.extend(machine.nodes[0].parent().map(Path::to_path_buf));
    path.extend(["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from));
    let path = std::env::join_paths(path).map(|p| p.to_string_lossy().into_owned()).unwrap_or_default();
    [
        ("PATH", path.as_str()),
        ("HOME", "/nonexistent"),
        ("TMPDIR", "/tmp"),
        ("LANG", "C.UTF-8"),
        ("TZ", "UTC"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}
