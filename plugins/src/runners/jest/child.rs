//! Asks the project's own jest to resolve its configuration, in a bounded child.

use owed_engine::path;
use owed_engine::runner::View;

use super::locate::{Place, Starter};
use crate::runners::child::{ask, installed};
use crate::runners::config::json;
use crate::runners::config::value::Value;

const PROGRAM: &str = include_str!("../scripts/jest.mjs");

/// The resolved projects of `place`, each as a configuration value.
///
/// # Errors
/// Why jest could not be asked.
pub(super) fn load(view: &View<'_>, place: &Place) -> Result<Vec<Value>, String> {
    if place.starter == Starter::ReactScripts {
        return Err("`react-scripts` cannot be asked for its configuration".to_owned());
    }
    installed(view.tree, &place.dir, "jest")?;
    let beside = |p: &String| path::relative(&place.dir, p);
    let request = serde_json::json!({
        "owed": "jest",
        "config": place.config.as_ref().map(beside),
        "rootDir": place.root.as_ref().map(beside),
        "projects": place.projects,
    });
    let answer = ask(view, PROGRAM, &place.dir, &request)?;
    match answer.get("projects").and_then(|p| p.as_array()) {
        Some(projects) if !projects.is_empty() => Ok(projects.iter().map(json::from_json).collect()),
        _ => Err("it found no project".to_owned()),
    }
}
