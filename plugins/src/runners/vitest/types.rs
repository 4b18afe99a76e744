//! Type tests as a project of their own: a checker reads them with the whole program of their
//! `tsconfig.json`, and nobody runs them.
//!
//! Setup files, environments and plugins are nothing to a checker. Global setup is: it runs
//! before, in vitest's own process, and may write declarations.

use owed_engine::resolve::ResolveOptions;
use owed_engine::runner::{RunnerProject, SharedRole, TestFile};
use owed_engine::tree::Tree;

use super::matcher::Checker;
use crate::runners::manifest::Packages;
use crate::runners::outcome::unsettled;
use crate::runners::shared::Inputs;
use crate::runners::tsconfig;

/// How TypeScript looks for files.
const EXTENSIONS: &[&str] =
    &[".ts", ".tsx", ".d.ts", ".mts", ".d.mts", ".cts", ".d.cts", ".js", ".jsx", ".mjs", ".cjs", ".json"];

/// The project of the type tests `tests` of `project`.
pub(super) fn project(
    tree: &dyn Tree,
    packages: &Packages,
    project: &RunnerProject,
    checker: &Checker,
    config: Option<&str>,
    tests: Vec<TestFile>,
) -> RunnerProject {
    let root = project.resolve.root.clone();
    let program = tsconfig::program(tree, packages, &root, checker.tsconfig.as_deref());
    let mut shared: Inputs = program.inputs;
    let kept = |role| {
        matches!(
            role,
            SharedRole::Config | SharedRole::Manifest | SharedRole::GlobalSetup | SharedRole::Toolchain
        )
    };
    for one in project.shared.iter().filter(|one| kept(one.role)) {
        shared.add(one.target.clone(), one.role, one.load);
    }
    for package in &checker.packages {
        shared.package(package, SharedRole::Toolchain);
    }
    let mut conditions = project.resolve.conditions.clone();
    conditions.extend(program.conditions);
    let mut not_known = project.unsettled.clone();
    not_known.extend(checker.unsettled.iter().cloned());
    not_known.extend(unsettled("vitest", config, &program.unknown, None));
    not_known.sort();
    not_known.dedup();
    let strings = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
    RunnerProject {
        root: project.root.clone(),
        name: project.name.clone(),
        resolve: ResolveOptions {
            root,
            conditions,
            extensions: strings(EXTENSIONS),
            main_fields: strings(&["types", "typings", "module", "main"]),
            tsconfig: (!program.config.is_empty()).then_some(program.config),
            tsconfig_paths: true,
            checked: true,
            ..ResolveOptions::default()
        },
        tests,
        shared: shared.finish(),
        isolated: project.isolated,
        unsettled: not_known,
        checked: true,
        ..RunnerProject::default()
    }
}
