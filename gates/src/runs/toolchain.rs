//! Which program runs what, and what that program is.
//!
//! The interpreter of Python is the active virtual environment's, else the project's own
//! (`.venv`, `venv`), else the platform's; one that is named and not there is unavailable,
//! and no other takes its place. Programs of npm packages are taken from the nearest
//! `node_modules/.bin`; nothing is fetched.
#![expect(clippy::disallowed_methods, reason = "this module looks for programs")]

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use owed_engine::receipt::{Dimension, Entry};

use super::asked::{self, Answers, Family};
use super::digests::Digests;
use super::environment::Environment;

/// A program that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// What is missing.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

/// A program, found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What is started.
    pub path: PathBuf,
    /// Arguments before all others.
    pub before: Vec<String>,
}

/// Programs of one project.
#[derive(Debug)]
pub struct Toolchain<'a> {
    root: &'a Path,
    environment: &'a Environment,
    answers: Answers,
}

impl<'a> Toolchain<'a> {
    /// For the project in `root`, as the environment finds programs.
    pub fn new(root: &'a Path, environment: &'a Environment) -> Self {
        Self { root, environment, answers: Answers::default() }
    }

    /// The program that `argv` starts in the project directory `cwd`, and how many words of
    /// `argv` it stands for.
    ///
    /// # Errors
    /// When it is not there.
    pub fn program(&self, cwd: &str, argv: &[String]) -> Result<(Program, usize), Unavailable> {
        let plain = |path| Program { path, before: Vec::new() };
        match argv.first().map(String::as_str) {
            Some("npx") => {
                let name = argv.get(1).map(String::as_str).unwrap_or_default();
                let dir = self.root.join(cwd);
                let found = dir.ancestors().map(|at| at.join("node_modules/.bin").join(name));
                let found = found.into_iter().find(|at| is_program(at));
                let found = found.ok_or_else(|| Unavailable {
                    what: format!("{name} is not installed for {}", if cwd.is_empty() { "." } else { cwd }),
                    remedy: "install the project's packages first (npm ci, pnpm install, yarn install)"
                        .to_owned(),
                })?;
                Ok((plain(found), 2))
            }
            Some("python" | "python3") => Ok((plain(self.python()?), 1)),
            Some(name) => {
                let found = self.on_path(name).ok_or_else(|| Unavailable {
                    what: format!("{name} is not on PATH"),
                    remedy: format!("install {name}, or put it on PATH"),
                })?;
                Ok((plain(found), 1))
            }
            None => Err(Unavailable {
                what: "the runner has no command".to_owned(),
                remedy: "report this as a fault of owed".to_owned(),
            }),
        }
    }

    /// The interpreter for Python.
    ///
    /// # Errors
    /// When the one that is asked for is not there.
    pub fn python(&self) -> Result<PathBuf, Unavailable> {
        if let Some(active) = self.environment.get("VIRTUAL_ENV").filter(|v| !v.is_empty()) {
            let python = Path::new(active).join("bin/python");
            return if is_program(&python) {
                Ok(python)
            } else {
                Err(Unavailable {
                    what: format!("the active virtual environment {active} has no interpreter"),
                    remedy: "activate another one, or unset VIRTUAL_ENV".to_owned(),
                })
            };
        }
        for dir in [".venv", "venv"] {
            let home = self.root.join(dir);
            if home.join("pyvenv.cfg").is_file() {
                let python = home.join("bin/python");
                return if is_program(&python) {
                    Ok(python)
                } else {
                    Err(Unavailable {
                        what: format!("the project's {dir} has no interpreter"),
                        remedy: format!("make {dir} again"),
                    })
                };
            }
        }
        let found = self.on_path("python3").or_else(|| self.on_path("python"));
        found.ok_or_else(|| Unavailable {
            what: "there is no Python interpreter".to_owned(),
            remedy: "make a virtual environment in .venv, or put python3 on PATH".to_owned(),
        })
    }

    /// Where packages of an interpreter are installed, when it has a virtual environment of its
    /// own; `None` where packages of the system or the user may come in besides.
    fn site_packages(&self, python: &Path) -> Option<PathBuf> {
        let home = python.parent()?.parent()?;
        let settings = fs::read_to_string(home.join("pyvenv.cfg")).ok()?;
        let shares = settings.lines().filter_map(|line| line.split_once('=')).any(|(key, value)| {
            key.trim() == "include-system-site-packages" && !value.trim().eq_ignore_ascii_case("false")
        });
        let lib = fs::read_dir(home.join("lib")).ok()?;
        let dirs = lib.map(|entry| Some(entry.ok()?.path().join("site-packages")));
        let dirs: Vec<PathBuf> = dirs.collect::<Option<_>>()?;
        let mut found = dirs.into_iter().filter(|dir| dir.is_dir());
        let only = found.next().filter(|_| !shares)?;
        found.next().is_none().then_some(only)
    }

    /// Entries of the executables behind a program that is started in `cwd` (absolute): itself
    /// and what its first line names, by their bytes. Scripts of npm are links into packages,
    /// which are inputs of their own.
    ///
    /// A script of a shell, or a program under another name, may start anything: such a one
    /// is asked what it comes to, and what it says counts, too.
    ///
    /// # Errors
    /// When one cannot be read, or does not answer.
    pub fn entries(&self, program: &Program, cwd: &Path, digests: &Digests) -> Result<Vec<Entry>, String> {
        let digest_of = |path: &Path| digests.file(path).map(|known| known.hex());
        let mut entries = Vec::new();
        let mut at = program.path.clone();
        for _ in 0..4 {
            let real = fs::canonicalize(&at).map_err(|e| format!("{} cannot be found: {e}", at.display()))?;
            let digest = digest_of(&real).map_err(|e| format!("{} cannot be read: {e}", real.display()))?;
            let name = file_name(&at);
            entries.push(Entry::new(Dimension::Toolchain, &name, digest));
            let interpreter = self.interpreter(&real);
            let family = Family::of(&name);
            match (family, interpreter) {
                (Some(family), None) if family.is_plain(&file_name(&real)) => break,
                (Some(family), _) => {
                    entries.extend(asked::entries(
                        &self.answers,
                        (family, &at),
                        (self.root, cwd),
                        (self.environment, digests),
                    )?);
                    break;
                }
                (None, Some(next)) if Family::of(&file_name(&next)).is_some() => at = next,
                // The scripts that pnpm and others put into `.bin` start node from a shell.
                (None, Some(next)) if is_installed(&real) || is_installed(&at) => {
                    let shell = fs::canonicalize(&next)
                        .and_then(|real| digest_of(&real))
                        .map_err(|e| format!("{} cannot be read: {e}", next.display()))?;
                    entries.push(Entry::new(Dimension::Toolchain, file_name(&next), shell));
                    let beside = at.parent().map(|dir| dir.join("node")).filter(|at| is_program(at));
                    at = beside
                        .or_else(|| self.on_path("node"))
                        .ok_or_else(|| format!("{} starts node, which is not on PATH", at.display()))?;
                }
                (None, Some(next)) => at = next,
                (None, None) => break,
            }
        }
        Ok(entries)
    }

    /// Where the programs of tests are, as tests may see it.
    pub(super) fn places(&self) -> String {
        let node = self.on_path("node").and_then(|node| fs::canonicalize(node).ok());
        let python = self.python().ok();
        [node, python].map(|at| at.map_or_else(String::new, |at| at.display().to_string())).join("\n")
    }

    /// Directories in which an interpreter finds installed packages, when it has no virtual
    /// environment of its own: it is asked.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn sites(&self, python: &Path, cwd: &Path) -> Result<Vec<PathBuf>, String> {
        if let Some(own) = self.site_packages(python) {
            return Ok(vec![own]);
        }
        asked::sites(&self.answers, python, cwd, self.environment)
    }

    /// What `#!/usr/bin/env node` stands for.
    fn interpreter(&self, file: &Path) -> Option<PathBuf> {
        let mut head = [0_u8; 256];
        let read = fs::File::open(file).ok()?.read(&mut head).ok()?;
        let line = head[..read].strip_prefix(b"#!")?.split(|b| *b == b'\n').next()?;
        let line = String::from_utf8_lossy(line).into_owned();
        let mut words = line.split_whitespace();
        let program = words.next()?;
        if program.ends_with("/env") {
            let name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
            return self.on_path(name);
        }
        Some(PathBuf::from(program))
    }

    fn on_path(&self, name: &str) -> Option<PathBuf> {
        if name.contains('/') {
            let path = PathBuf::from(name);
            return is_program(&path).then_some(path);
        }
        let path = self.environment.get("PATH")?;
        std::env::split_paths(path).map(|dir| dir.join(name)).find(|at| is_program(at))
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn is_installed(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "node_modules")
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}
