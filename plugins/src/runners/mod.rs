//! Test runners, one module each, and what the JavaScript ones share: reading of
//! configuration ([`config`]), of manifests and scripts, of globs.

pub mod claims;
pub mod config;
pub mod glob;
pub mod jest;
pub mod manifest;
pub mod mocha;
pub mod node_test;
pub mod pytest;
pub mod regex;
pub mod shared;
pub mod shell;
pub mod unittest;
pub mod vitest;

use owed_engine::problem::Widening;

use config::value::Unknown;

/// The part of the sorted `files` that lies below the directory `dir`.
fn below<'a>(files: &'a [String], dir: &str) -> &'a [String] {
    if dir.is_empty() {
        return files;
    }
    let prefix = format!("{dir}/");
    let start = files.partition_point(|f| f.as_str() < prefix.as_str());
    let len = files[start..].partition_point(|f| f.starts_with(&prefix));
    &files[start..start + len]
}

/// What is not known about a project, as reasons to run all of its tests. `error` is why
/// its runner could not be asked; `None` when it was, and that did not settle it.
fn unsettled(runner: &str, config: Option<&str>, unknown: &[Unknown], error: Option<&str>) -> Vec<Widening> {
    let mut widenings: Vec<Widening> = unknown
        .iter()
        .map(|one| {
            let path = if one.path.is_empty() { config.unwrap_or_default() } else { &one.path };
            let place = if one.line > 0 { format!(" (line {})", one.line) } else { String::new() };
            let (reason, why) = match error {
                Some(error) => {
                    let error = error.lines().next().unwrap_or_default();
                    let remedy = "Install the dependencies, or write this part as a constant";
                    ("config-not-loaded", format!("; {runner} could not be asked: {error}. {remedy}"))
                }
                None => ("config-not-understood", String::new()),
            };
            Widening {
                reason: reason.to_owned(),
                path: path.to_owned(),
                detail: format!("{}{place} is not known{why}", one.reason),
            }
        })
        .collect();
    widenings.sort();
    widenings.dedup();
    widenings
}
