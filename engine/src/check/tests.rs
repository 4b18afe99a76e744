//! Which files are tests by the word of a runner, whatever their names are.
//!
//! The runners are asked for the tests that their configurations name. Nothing is executed for
//! it, and no source is read whose name says already what it is. What this module refuses to
//! do: a file that holds source code besides its tests (in-source tests, docstrings) is never
//! taken for a test.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::exclusion::Exclusions;
use crate::facts::FileFacts;
use crate::language::SourceFile;
use crate::problem::Problem;
use crate::project::{Plugins, Project};
use crate::runner::{Discovery, NoLoader, RunnerProject, View};
use crate::tree::Tree;

/// What the runners say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// Files that are tests and nothing else.
    pub paths: BTreeSet<String>,
    /// Configurations that cannot be understood without executing them: of what they name,
    /// only files that define tests are known to be tests. Sorted.
    pub problems: Vec<Problem>,
}

impl Tests {
    /// Asks the runners about the files of `tree`; `exclude` as in
    /// [`Policy::exclude`](super::Policy::exclude).
    pub fn discover(tree: &dyn Tree, plugins: Plugins<'_>, exclude: &[String]) -> Self {
        let rules = Exclusions::new(tree, exclude);
        // Only what no name settles is asked about.
        let open: Vec<&str> = tree
            .files()
            .par_iter()
            .map(String::as_str)
            .filter(|path| rules.by_name(path).is_none())
            .collect();
        let facts: FxHashMap<&str, OnceLock<Option<FileFacts>>> =
            open.into_iter().map(|path| (path, OnceLock::new())).collect();
        let only = |path: &str| facts.contains_key(path);
        let lookup = |path: &str| {
            let read = || {
                let language = plugins.language_of(path)?;
                let bytes = tree.read(path).ok()?;
                std::str::from_utf8(&bytes).ok()?;
                Some(language.read_without_declarations(SourceFile { path, bytes: &bytes }))
            };
            facts.get(path)?.get_or_init(read).as_ref()
        };
        let ask = |runner: &&dyn crate::runner::Runner| {
            runner.discover(&View { tree, facts: &lookup, loader: &NoLoader, only: Some(&only) })
        };
        let found: Vec<Discovery> = plugins.runners.par_iter().map(ask).collect();
        Self::of(found.iter().flat_map(|discovery| &discovery.projects))
    }

    /// What the runners of a project that was read have said.
    pub fn of_project(project: &Project<'_>) -> Self {
        Self::of(project.suites.iter().map(|suite| &suite.project))
    }

    fn of<'p>(projects: impl IntoIterator<Item = &'p RunnerProject>) -> Self {
        let mut tests = Self::default();
        for project in projects {
            let only_tests = project.tests.iter().filter(|test| !test.also_source);
            tests.paths.extend(only_tests.map(|test| test.path.clone()));
            tests.problems.extend(project.unsettled.iter().map(|why| Problem {
                code: "tests-by-name".to_owned(),
                path: why.path.clone(),
                line: None,
                detail: format!("which files are tests is told by their names and contents: {}", why.detail),
            }));
        }
        tests.problems.sort();
        tests.problems.dedup();
        tests
    }
}
