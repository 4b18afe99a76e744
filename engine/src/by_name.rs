//! The rules of selection that go by names and need no graph: companions, declared inputs, and
//! what earlier runs loaded. They only ever add tests to what the graph says.

use crate::change::Change;
use crate::path;
use crate::project::globs;
use crate::select::Context;
use crate::selection::{Reason, ReasonKind};

impl Context<'_, '_> {
    /// Rule 3: tests that share the changed file's name.
    pub(crate) fn companions(&self, change: &Change) -> Vec<(usize, Reason)> {
        let mut owed = Vec::new();
        for changed in change.paths() {
            for test in companion_tests(changed) {
                for &number in self.tests_at(&test) {
                    owed.push((
                        number,
                        Reason {
                            kind: ReasonKind::Companion,
                            changed: Some(change.path.clone()),
                            chain: vec![test.clone(), changed.to_owned()],
                            detail: None,
                        },
                    ));
                }
            }
        }
        owed
    }

    /// Rule 4: tests whose declared inputs hold the changed file.
    pub(crate) fn declared(&self, change: &Change) -> Vec<(usize, Reason)> {
        let mut owed = Vec::new();
        for input in &self.project.settings.inputs {
            let files = globs(&input.files);
            let Some(hit) = change.paths().find(|p| files.is_match(p)) else { continue };
            let tests = globs(&input.tests);
            for (number, &reference) in self.project.tests.iter().enumerate() {
                let test = self.project.test_path(reference);
                if tests.is_match(test) {
                    owed.push((
                        number,
                        Reason {
                            kind: ReasonKind::Declared,
                            changed: Some(change.path.clone()),
                            chain: vec![test.to_owned(), hit.to_owned()],
                            detail: None,
                        },
                    ));
                }
            }
        }
        owed
    }

    /// Rule 5: tests that loaded the changed file when they were last run.
    pub(crate) fn observed(&self, change: &Change) -> Vec<(usize, Reason)> {
        let mut owed = Vec::new();
        for path in change.paths() {
            for test in self.options.observed.get(path).into_iter().flatten() {
                for &number in self.tests_at(test) {
                    let reason = Reason {
                        kind: ReasonKind::Observed,
                        changed: Some(change.path.clone()),
                        chain: vec![test.clone(), path.to_owned()],
                        detail: None,
                    };
                    owed.push((number, reason));
                }
            }
        }
        owed
    }
}

/// The test files that are companions of `path` by name (`selection.md` 2, rule 3).
fn companion_tests(path: &str) -> Vec<String> {
    let (dir, name, extension) = (path::dirname(path), path::basename(path), path::extension(path));
    if extension.is_empty() {
        return Vec::new();
    }
    let stem = &name[..name.len() - extension.len() - 1];
    let in_dir = |dir: &str, file: String| if dir.is_empty() { file } else { format!("{dir}/{file}") };
    let mut names = Vec::new();
    match extension {
        "py" => names.extend([format!("test_{stem}.py"), format!("{stem}_test.py")]),
        "ts" | "tsx" | "mts" | "cts" | "js" | "jsx" | "mjs" | "cjs" | "vue" | "svelte" | "astro" => {
            for e in ["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs"] {
                names.extend([format!("{stem}.test.{e}"), format!("{stem}.spec.{e}")]);
            }
        }
        _ => return Vec::new(),
    }
    let mut tests = Vec::new();
    for name in names {
        for sub in ["__tests__", "tests", "test"] {
            tests.push(in_dir(dir, format!("{sub}/{name}")));
        }
        tests.push(in_dir(dir, name));
    }
    tests
}
