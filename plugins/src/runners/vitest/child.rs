//! Asks the project's own vitest to resolve its configuration, in a bounded child.

use owed_engine::path;
use owed_engine::runner::View;

use super::locate::Place;
use crate::runners::config::json;
use crate::runners::config::value::Value;
use crate::runners::manifest::chain;

const PROGRAM: &str = include_str!("../scripts/vitest.mjs");

/// The resolved projects of `place`, each as a configuration value.
///
/// # Errors
/// Why vitest could not be asked.
pub(super) fn load(view: &View<'_>, place: &Place) -> Result<Vec<Value>, String> {
    let installed = chain(&place.dir)
        .filter_map(|d| path::join(d, "node_modules/vitest/package.json"))
        .any(|m| view.tree.is_file(&m));
    if !installed {
        return Err("it is not installed".to_owned());
    }
    let beside = |p: &String| path::relative(&place.dir, p);
    let request = serde_json::json!({
        "owed": "vitest",
        "config": place.config.as_ref().map(beside),
        "root": place.root.as_ref().map(beside),
        "workspace": place.workspace.as_ref().map(beside),
    });
    let output = view.loader.load("node", PROGRAM, &place.dir, &[&request.to_string()])?;
    // Configurations print too; the answer is the last line.
    let answer = output.lines().rev().find(|l| l.starts_with("{\"owed\":")).ok_or("it gave no answer")?;
    let answer: serde_json::Value = serde_json::from_str(answer).map_err(|e| e.to_string())?;
    if let Some(error) = answer.get("error").and_then(|e| e.as_str()) {
        return Err(error.to_owned());
    }
    match answer.get("projects").and_then(|p| p.as_array()) {
        Some(projects) if !projects.is_empty() => Ok(projects.iter().map(json::from_json).collect()),
        _ => Err("it found no project".to_owned()),
    }
}
