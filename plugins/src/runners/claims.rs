//! Which test framework a file says it is written for, by what it imports. Where globs
//! of two runners match one file, the import decides; where the file says nothing, both
//! keep it.

use owed_engine::facts::{FileFacts, ImportKind};

use super::manifest::Packages;

/// A test framework, by the module that its tests import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Framework {
    /// `vitest`.
    Vitest,
    /// `@jest/globals`.
    Jest,
    /// `mocha`.
    Mocha,
    /// `node:test`.
    Node,
    /// One that no runner here runs, with its name.
    Other(&'static str),
}

const OTHERS: &[(&str, &str)] = &[
    ("@playwright/test", "Playwright"),
    ("playwright/test", "Playwright"),
    ("bun:test", "Bun"),
    ("cypress", "Cypress"),
    ("ava", "AVA"),
    ("tap", "tap"),
    ("tape", "tape"),
    ("uvu", "uvu"),
    ("qunit", "QUnit"),
    ("jasmine", "Jasmine"),
    ("@wdio/globals", "WebdriverIO"),
    ("@web/test-runner", "Web Test Runner"),
    ("@open-wc/testing", "Web Test Runner"),
    ("@std/testing", "Deno"),
    ("jsr:@std/testing", "Deno"),
    ("jsr:@std/assert", "Deno"),
    ("@rstest/core", "Rstest"),
    ("testcafe", "TestCafe"),
    ("@storybook/test-runner", "Storybook"),
];

/// The framework a specifier belongs to.
pub fn framework(specifier: &str) -> Option<Framework> {
    match specifier {
        "vitest" => Some(Framework::Vitest),
        "@jest/globals" => Some(Framework::Jest),
        "mocha" => Some(Framework::Mocha),
        "node:test" => Some(Framework::Node),
        _ if specifier.starts_with("https://deno.land/std") => Some(Framework::Other("Deno")),
        _ => OTHERS.iter().find(|(module, _)| *module == specifier).map(|(_, name)| Framework::Other(name)),
    }
}

/// The frameworks that a file imports at run time, each with its first line, sorted.
pub fn frameworks(facts: &FileFacts) -> Vec<(Framework, u32)> {
    let mut found: Vec<(Framework, u32)> = Vec::new();
    for import in &facts.imports {
        let runs = matches!(
            import.kind,
            ImportKind::Static
                | ImportKind::Require
                | ImportKind::Dynamic
                | ImportKind::Star
                | ImportKind::ReExport
        );
        if runs
            && let Some(framework) = framework(&import.specifier)
            && !found.iter().any(|(f, _)| *f == framework)
        {
            found.push((framework, import.line));
        }
    }
    found.sort_unstable();
    found
}

/// Whether a file that matches the globs of the runner `own` says that it belongs to
/// another supported runner, which the packages above `dir` use. A broken file says nothing
/// for sure, and its runner will try to load it.
pub fn belongs_elsewhere(facts: Option<&FileFacts>, own: Framework, packages: &Packages, dir: &str) -> bool {
    let Some(facts) = facts.filter(|facts| facts.damage.is_empty()) else { return false };
    let found = frameworks(facts);
    if found.is_empty() || found.iter().any(|(f, _)| *f == own) {
        return false;
    }
    found.iter().any(|(framework, _)| match framework {
        Framework::Node => true,
        Framework::Vitest => packages.declared(dir, "vitest").is_some(),
        Framework::Jest => packages.declared(dir, "jest").is_some(),
        Framework::Mocha => packages.declared(dir, "mocha").is_some(),
        Framework::Other(_) => false,
    })
}

/// Whether facts show a test: a case or a suite.
pub fn defines_tests(facts: Option<&FileFacts>) -> bool {
    facts.is_some_and(|f| !f.tests.is_empty())
}
