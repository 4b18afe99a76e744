//! Asks a project's own runner for its configuration, in a bounded child.

use owed_engine::path;
use owed_engine::runner::View;
use owed_engine::tree::Tree;

use super::{config, manifest};

/// Whether the npm package `name` is installed for the directory `dir`.
pub(super) fn installed(tree: &dyn Tree, dir: &str, name: &str) -> Result<(), String> {
    let there = manifest::chain(dir)
        .filter_map(|d| path::join(d, &format!("node_modules/{name}/package.json")))
        .any(|m| tree.is_file(&m));
    if there { Ok(()) } else { Err("it is not installed".to_owned()) }
}

/// Runs `program` in a bounded child in `cwd` and gives its answer: the last line that
/// starts as an answer does, because configurations print, too.
pub(super) fn ask(
    view: &View<'_>,
    program: &str,
    cwd: &str,
    request: &serde_json::Value,
) -> Result<serde_json::Value, String> {
    let output = view.loader.load("node", program, cwd, &[&request.to_string()])?;
    let answer = output.lines().rev().find(|l| l.starts_with("{\"owed\":")).ok_or("it gave no answer")?;
    let answer: serde_json::Value = serde_json::from_str(answer).map_err(|e| e.to_string())?;
    match answer.get("error").and_then(serde_json::Value::as_str) {
        // No path of this machine leaves the program.
        Some(error) => Err(error.replace(&config::root_of(view.tree), ".")),
        None => Ok(answer),
    }
}
