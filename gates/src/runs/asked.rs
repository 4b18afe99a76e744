//! Asking an interpreter what it is, where its file does not say so: scripts that choose one
//! (version managers), launchers under another name, interpreters that share packages.
//!
//! Nothing of the project is run. One that fails, or takes too long, has said nothing, and
//! then there is no identity. Within one look at the inputs each is asked once.
#![expect(clippy::disallowed_methods, reason = "this module starts interpreters to ask them")]

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use owed_engine::receipt::{Dimension, Entry};
use serde_json::Value;

use super::digests::Digests;
use super::environment::{DROPPED, Environment};
use super::look::digest;

/// How long an interpreter may take to say what it is.
const PATIENCE: Duration = Duration::from_secs(20);

/// Interpreters that run tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Node,
    Python,
}

impl Family {
    /// By the name under which a program is started.
    pub(super) fn of(name: &str) -> Option<Self> {
        if matches!(name, "node" | "nodejs") {
            return Some(Self::Node);
        }
        let version = name.strip_prefix("python")?;
        version.bytes().all(|b| b.is_ascii_digit() || b == b'.').then_some(Self::Python)
    }

    /// Whether a native program of this name is the interpreter itself.
    pub(super) fn is_plain(self, real: &str) -> bool {
        Self::of(real) == Some(self)
    }

    fn question(self) -> [&'static str; 2] {
        match self {
            Self::Node => [
                "-e",
                "process.stdout.write(JSON.stringify({ at: process.execPath, is: [process.version, process.execArgv], \
                 env: process.env }))",
            ],
            Self::Python => [
                "-c",
                "import json, os, sys; print(json.dumps({'at': os.path.realpath(sys.executable), 'is': [sys.version, \
                 list(sys.flags), sys.prefix], 'path': sys.path, 'env': dict(os.environ)}))",
            ],
        }
    }
}

/// What interpreters said, by program and the directory in which they were asked.
#[derive(Debug, Default)]
pub(super) struct Answers(Mutex<BTreeMap<(PathBuf, PathBuf), Result<Value, String>>>);

impl Answers {
    fn of(
        &self,
        family: Family,
        program: &Path,
        cwd: &Path,
        environment: &Environment,
    ) -> Result<Value, String> {
        let key = (program.to_path_buf(), cwd.to_path_buf());
        // Held while it is asked: two that want to know the same wait for one answer.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(key).or_insert_with(|| ask(family, program, cwd, environment)).clone()
    }
}

/// What an interpreter comes to: the bytes of the real one, its version and options, and the
/// environment that it is given in the end.
pub(super) fn entries(
    answers: &Answers,
    (family, program): (Family, &Path),
    (root, cwd): (&Path, &Path),
    (environment, digests): (&Environment, &Digests),
) -> Result<Vec<Entry>, String> {
    let said = answers.of(family, program, cwd, environment)?;
    let real = said["at"].as_str().ok_or_else(|| format!("{} does not say what it is", program.display()))?;
    let bytes = digests.file(Path::new(real)).map_err(|e| format!("{real} cannot be read: {e}"))?;
    let mut env = said["env"].as_object().cloned().unwrap_or_default();
    env.retain(|name, _| !DROPPED.contains(&name.as_str()));
    // Where the project lies is an input of its own, where it is one.
    let root = root.display().to_string();
    let hash = |value: &Value| digest(value.to_string().replace(&root, "").as_bytes());
    let name = program.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok(vec![
        Entry::new(Dimension::Toolchain, format!("{name} in the end"), bytes.hex()),
        Entry::new(Dimension::Pin, format!("what {name} says"), hash(&said["is"])),
        Entry::new(Dimension::Pin, format!("what {name} adds to the environment"), hash(&Value::Object(env))),
    ])
}

/// Directories of installed packages on the path of a Python interpreter.
pub(super) fn sites(
    answers: &Answers,
    python: &Path,
    cwd: &Path,
    environment: &Environment,
) -> Result<Vec<PathBuf>, String> {
    let said = answers.of(Family::Python, python, cwd, environment)?;
    let path = said["path"].as_array().ok_or_else(|| format!("{} has no path", python.display()))?;
    let path = path.iter().filter_map(|dir| dir.as_str().map(PathBuf::from));
    let site = |dir: &PathBuf| dir.ends_with("site-packages") || dir.ends_with("dist-packages");
    Ok(path.filter(|dir| site(dir) && dir.is_dir()).collect())
}

fn ask(family: Family, program: &Path, cwd: &Path, environment: &Environment) -> Result<Value, String> {
    let failed = |why: String| format!("{} does not say what it is: {why}", program.display());
    let mut child = Command::new(program)
        .args(family.question())
        .current_dir(cwd)
        .env_clear()
        .envs(environment.pairs())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| failed(e.to_string()))?;
    let out = child.stdout.take();
    // Read beside the wait: what is said may be more than a pipe holds.
    let reader = thread::spawn(move || {
        let mut text = String::new();
        out.map_or(Ok(0), |mut out| out.read_to_string(&mut text)).map(|_| text)
    });
    let started = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|e| failed(e.to_string()))? {
            Some(status) => break status,
            None if started.elapsed() > PATIENCE => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(failed(format!("it took more than {} s", PATIENCE.as_secs())));
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    if !status.success() {
        return Err(failed(format!("it ended with {status}")));
    }
    let text = reader.join().map_err(|_| failed("its words were lost".to_owned()))?;
    let text = text.map_err(|e| failed(e.to_string()))?;
    serde_json::from_str(&text).map_err(|e| failed(e.to_string()))
}
