//! What an interpreter loads before it is given a test, because it lies in a certain place or
//! because the environment or the command line says so.
//!
//! Python runs `.pth` files, `sitecustomize` and `usercustomize`; `PYTHONPATH` comes before
//! the standard library. Options may load modules or change what imports mean: those that do
//! neither are known by name, and any other leaves a test without an identity, because what
//! it loads is not in the closure.
#![expect(clippy::disallowed_methods, reason = "this module looks at what interpreters load by themselves")]

use std::fs;
use std::io;
use std::path::Path;

use owed_engine::receipt::{Dimension, Entry};

use super::digests::Digests;
use super::environment::Environment;
use super::look::{digest, is_absent, utf8};
use super::packages::{Packages, tree_digest};

/// Options of node that load nothing and leave the meaning of imports alone; what follows
/// `=` is theirs.
const NODE_HARMLESS: &[&str] = &[
    "--dns-result-order",
    "--enable-source-maps",
    "--experimental-strip-types",
    "--experimental-transform-types",
    "--experimental-vm-modules",
    "--expose-gc",
    "--force-color",
    "--localstorage-size",
    "--max-http-header-size",
    "--max-old-space-size",
    "--max-semi-space-size",
    "--max_old_space_size",
    "--no-deprecation",
    "--no-experimental-fetch",
    "--no-experimental-strip-types",
    "--no-warnings",
    "--openssl-legacy-provider",
    "--pending-deprecation",
    "--stack-trace-limit",
    "--test-concurrency",
    "--test-timeout",
    "--throw-deprecation",
    "--trace-deprecation",
    "--trace-uncaught",
    "--trace-warnings",
    "--unhandled-rejections",
];

/// The same for pytest and unittest.
const PYTHON_HARMLESS: &[&str] = &[
    "-q",
    "-qq",
    "-v",
    "-vv",
    "-vvv",
    "-x",
    "-s",
    "-l",
    "-f",
    "-b",
    "--quiet",
    "--verbose",
    "--exitfirst",
    "--maxfail",
    "--failfast",
    "--buffer",
    "--color",
    "--tb",
    "--durations",
    "--no-header",
    "--no-summary",
    "--showlocals",
    "--strict-markers",
    "--strict-config",
    "--capture",
];

/// The same for vitest, jest and mocha.
const BUNDLED_HARMLESS: &[&str] = &[
    "--bail",
    "--silent",
    "--verbose",
    "--no-color",
    "--color",
    "--colors",
    "--ci",
    "--maxWorkers",
    "--runInBand",
    "-i",
    "--testTimeout",
    "--no-file-parallelism",
    "--hideSkippedTests",
];

/// Names that make programs load or replace code; where one is set, nothing is known.
const FOREIGN: &[&str] = &[
    "DYLD_INSERT_LIBRARIES",
    "LD_AUDIT",
    "LD_PRELOAD",
    "NODE_ICU_DATA",
    "NODE_PRESERVE_SYMLINKS",
    "NODE_PRESERVE_SYMLINKS_MAIN",
    "PYTEST_PLUGINS",
    "PYTHONHOME",
    "PYTHONPLATLIBDIR",
];

/// What is loaded before the tests of one suite.
pub(super) struct Startup<'a> {
    /// The project's root.
    pub(super) root: &'a Path,
    /// What children see.
    pub(super) environment: &'a Environment,
    /// A person's words for the runner.
    pub(super) arguments: &'a [String],
    /// Files that were read before.
    pub(super) digests: &'a Digests,
}

impl Startup<'_> {
    /// Refuses what the environment or the command line adds and nobody can name.
    pub(super) fn refused(&self, runner: &str) -> Result<(), String> {
        let set = |name: &&&str| self.environment.get(name).is_some_and(|value| !value.is_empty());
        if let Some(name) = FOREIGN.iter().find(set) {
            return Err(format!("{name} is set; what it makes programs load is not followed"));
        }
        let python = is_python(runner);
        let options = self.environment.get("NODE_OPTIONS").filter(|_| !python).unwrap_or_default();
        harmless("NODE_OPTIONS", options.split_whitespace(), NODE_HARMLESS)?;
        let more = self.environment.get("PYTEST_ADDOPTS").filter(|_| runner == "pytest").unwrap_or_default();
        harmless("PYTEST_ADDOPTS", more.split_whitespace(), PYTHON_HARMLESS)?;
        let known = match runner {
            _ if python => PYTHON_HARMLESS,
            "node:test" => NODE_HARMLESS,
            _ => BUNDLED_HARMLESS,
        };
        harmless("the command line", self.arguments.iter().map(String::as_str), known)
    }

    /// Directories that the environment puts on the path of modules, with all they hold.
    /// Relative ones are below `cwd`; `roots` are those whose modules are in closures.
    pub(super) fn module_path(
        &self,
        runner: &str,
        cwd: &str,
        roots: &[String],
    ) -> Result<Vec<Entry>, String> {
        let python = is_python(runner);
        let name = if python { "PYTHONPATH" } else { "NODE_PATH" };
        let mut entries = Vec::new();
        for written in self.environment.get(name).unwrap_or_default().split(':').filter(|dir| !dir.is_empty())
        {
            let dir = self.root.join(cwd).join(written);
            if python {
                if dir.is_file() {
                    return Err(format!("{written} of {name} is an archive; what is in it is not followed"));
                }
                let said = |error| format!("{written} of {name} cannot be looked at: {error}");
                customised(&dir).map_err(said)??;
            }
            let known = dir.strip_prefix(self.root).ok().and_then(Path::to_str);
            let known = known.is_some_and(|dir| dir == cwd || roots.iter().any(|root| root == dir));
            let seen = match tree(&dir, known, self.digests) {
                Ok(seen) => seen,
                Err(error) if is_absent(&error) => "absent".to_owned(),
                Err(error) => return Err(format!("{written} of {name} cannot be looked at: {error}")),
            };
            entries.push(Entry::new(Dimension::Pin, format!("{written} of {name}"), seen));
        }
        Ok(entries)
    }

    /// What Python runs of its installed packages before anything else.
    pub(super) fn site(&self, dir: &Path, packages: &Packages<'_>) -> Result<Vec<Entry>, String> {
        let said = |error: io::Error| format!("{} cannot be looked at: {error}", dir.display());
        customised(dir).map_err(said)??;
        let (mut seen, mut runs) = (String::new(), false);
        let mut names = fs::read_dir(dir)
            .and_then(|entries| {
                entries.map(|entry| utf8(entry?.file_name())).collect::<io::Result<Vec<String>>>()
            })
            .map_err(said)?;
        names.sort();
        for name in names {
            if Path::new(&name).extension().is_none_or(|extension| extension != "pth") {
                continue;
            }
            let at = dir.join(&name);
            let bytes = if at.is_dir() { Vec::new() } else { fs::read(&at).map_err(said)? };
            if let Some(line) = bytes.split(|b| *b == b'\n').find(|line| is_code(line) && changes(line)) {
                let line = String::from_utf8_lossy(line);
                let line: String = line.trim_end().chars().take(60).collect();
                return Err(format!("{}: `{line}`", unfollowed(&at)));
            }
            // Code may import anything that is installed.
            runs |= bytes.split(|b| *b == b'\n').any(is_code);
            seen.push_str(&format!("{name} {}\n", digest(&bytes)));
            for line in String::from_utf8_lossy(&bytes).lines() {
                let added = dir.join(line.trim());
                let is_path = !line.trim().is_empty() && !line.starts_with('#') && !is_code(line.as_bytes());
                if is_path && added.is_dir() {
                    customised(&added).map_err(said)??;
                }
            }
        }
        let mut entries = if runs { packages.python()? } else { Vec::new() };
        let place = dir.strip_prefix(self.root).unwrap_or(dir).display();
        entries.push(Entry::new(
            Dimension::Pin,
            format!("startup files of {place}"),
            digest(seen.as_bytes()),
        ));
        Ok(entries)
    }
}

/// Whether a line of a `.pth` file is run; others name directories.
pub(super) fn is_code(line: &[u8]) -> bool {
    line.starts_with(b"import ") || line.starts_with(b"import\t")
}

/// Whether Python runs the tests of a runner.
pub(super) fn is_python(runner: &str) -> bool {
    matches!(runner, "pytest" | "unittest")
}

/// Options of which each is known to load nothing. A number after one is its value.
fn harmless<'w>(place: &str, words: impl Iterator<Item = &'w str>, known: &[&str]) -> Result<(), String> {
    for word in words {
        let name = word.split('=').next().unwrap_or(word);
        if !known.contains(&name) && !word.bytes().all(|b| b.is_ascii_digit()) {
            return Err(format!("{place} has `{word}`; what it loads or changes is not followed"));
        }
    }
    Ok(())
}

/// Everything below a directory; the modules of one that is `known` are in closures.
fn tree(dir: &Path, known: bool, digests: &Digests) -> io::Result<String> {
    if known {
        return fs::metadata(dir).map(|_| "modules of closures".to_owned());
    }
    let skip = ["__pycache__", ".git", ".owed", ".venv", "venv", "node_modules"];
    tree_digest(dir, &|name| skip.contains(&name), digests)
}

/// Refuses a directory on Python's path with a module that customises every process: it may
/// change what is built in, to something that is another each time.
fn customised(dir: &Path) -> io::Result<Result<(), String>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(Ok(())),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        // As a package, as source, as byte code or as native code.
        let name = entry.file_name();
        if matches!(name.to_string_lossy().split('.').next(), Some("sitecustomize" | "usercustomize")) {
            return Ok(Err(unfollowed(&entry.path())));
        }
    }
    Ok(Ok(()))
}

fn unfollowed(at: &Path) -> String {
    format!("{} runs before every test; what it changes is not followed", at.display())
}

/// Whether a line of code in a `.pth` file may change what it did not make: it assigns to an
/// attribute or an item, or has a word by which that is done otherwise. What it calls is code
/// of packages, which count by their bytes.
fn changes(line: &[u8]) -> bool {
    const WORDS: [&str; 7] = ["builtins", "setattr", "__dict__", "putenv", "vars(", "globals(", "update("];
    let has = |word: &&str| memchr::memmem::find(line, word.as_bytes()).is_some();
    WORDS.iter().any(has) || memchr::memchr_iter(b'=', line).any(|at| assigns(line, at))
}

/// Whether the `=` at `at` stands behind an attribute or an item.
fn assigns(line: &[u8], at: usize) -> bool {
    if line.get(at + 1) == Some(&b'=') {
        return false;
    }
    let before = &line[..at];
    let before = before.strip_suffix(b"//").or_else(|| before.strip_suffix(b"**")).unwrap_or(before);
    // Of an augmented assignment, not of a comparison.
    let before = match before.last() {
        Some(b'=' | b'!' | b'<' | b'>' | b':') => return false,
        Some(b'+' | b'-' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^') => &before[..before.len() - 1],
        _ => before,
    };
    let target = before.trim_ascii_end();
    let name = target.iter().rev().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_' || !b.is_ascii());
    let rest = target[..target.len() - name.count()].trim_ascii_end();
    target.ends_with(b"]") || rest.ends_with(b".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(environment: &[(&str, &str)], arguments: &[&str], runner: &str) -> Option<String> {
        let pairs = environment.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        let environment = Environment::new(pairs);
        let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
        let digests = Digests::none();
        Startup { root: Path::new("/"), environment: &environment, arguments: &arguments, digests: &digests }
            .refused(runner)
            .err()
    }

    #[test]
    fn what_loads_code_is_refused_and_the_rest_is_not() {
        for (environment, arguments, runner) in [
            (vec![("NODE_OPTIONS", "--no-warnings --max-old-space-size=4096")], vec![], "vitest"),
            (vec![("NODE_OPTIONS", "--require ./x.cjs")], vec![], "pytest"),
            (vec![("PYTEST_ADDOPTS", "-q --tb=short --maxfail 1")], vec![], "pytest"),
            (vec![("LD_PRELOAD", "")], vec!["--bail", "1"], "jest"),
        ] {
            assert_eq!(refused(&environment, &arguments, runner), None, "{environment:?}");
        }
        for (environment, arguments, runner) in [
            (vec![("NODE_OPTIONS", "--no-warnings --require ./x.cjs")], vec![], "vitest"),
            (vec![("NODE_OPTIONS", "--conditions=alt")], vec![], "node:test"),
            (vec![("PYTEST_ADDOPTS", "-p plug")], vec![], "pytest"),
            (vec![("LD_PRELOAD", "x.so")], vec![], "jest"),
            (vec![], vec!["--config", "other.ts"], "vitest"),
        ] {
            assert!(refused(&environment, &arguments, runner).is_some(), "{environment:?} {arguments:?}");
        }
    }

    #[test]
    fn code_of_path_files_that_changes_something() {
        for line in [
            "import builtins; builtins.hash = id",
            "import os; os . environ ['X'] = '1'",
            "import sys; sys.x += 1",
            "import shop; setattr(shop, 'a', 1)",
            "import sys; exec('import os\\nos.sep = 1')",
        ] {
            assert!(changes(line.as_bytes()), "{line}");
        }
        // As setuptools, virtualenv and coverage write them.
        for line in [
            "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') == 'local'; \
             enabled and __import__('_distutils_hack').add_shim(); ",
            "import __editable___shop_1_0_finder; __editable___shop_1_0_finder.install()",
            "import _virtualenv",
            "import sys; exec('import os\\n\\nif os.getenv(\"COVERAGE_PROCESS_START\"):\\n try:\\n  import coverage\\n \
             except:\\n  pass\\n else:\\n  coverage.process_startup(slug=\"pth\")')",
        ] {
            assert!(is_code(line.as_bytes()) && !changes(line.as_bytes()), "{line}");
        }
    }
}
