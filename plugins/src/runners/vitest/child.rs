//! Asks the project's own vitest to resolve its configuration, in a bounded child.

use owed_engine::path;
use owed_engine::runner::View;

use super::locate::Place;
use crate::runners::child::{ask, installed};
use crate::runners::config::json;
use crate::runners::config::value::Value;

const PROGRAM: &str = include_str!("../scripts/vitest.mjs");

/// The resolved projects of `place`, each as a configuration value.
///
/// # Errors
/// Why vitest could not be asked.
pub(super) fn load(view: &View<'_>, place: &Place) -> Result<Vec<Value>, String> {
    installed(view.tree, &place.dir, "vitest")?;
    let beside = |p: &String| path::relative(&place.dir, p);
    let request = serde_json::json!({
        "owed": "vitest",
        "config": place.config.as_ref().map(beside),
        "root": place.root.as_ref().map(beside),
        "workspace": place.workspace.as_ref().map(beside),
    });
    let answer = ask(view, PROGRAM, &place.dir, &request)?;
    match answer.get("projects").and_then(|p| p.as_array()) {
        Some(projects) if !projects.is_empty() => Ok(projects.iter().map(json::from_json).collect()),
        _ => Err("it found no project".to_owned()),
    }
}
