//! The project's `.owed` directory: what this program keeps between runs. Whoever writes there
//! first hides it from git. The ledger does the same through its own door to the disk, which
//! its tests can make fail.
#![expect(clippy::disallowed_methods, reason = "this module makes the directories of our own state")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder `name` (or `""` for the directory itself) of what is kept for the project at
/// `root`, made when it is missing.
///
/// # Errors
/// When it cannot be made, or not be hidden.
pub fn own(root: &Path, name: &str) -> io::Result<PathBuf> {
    let home = root.join(".owed");
    let dir = home.join(name);
    fs::create_dir_all(&dir)?;
    let ignore = home.join(".gitignore");
    if !fs::exists(&ignore)? {
        // Whoever reads it meanwhile sees it whole or not at all.
        let new = home.join(format!(".new-{}", std::process::id()));
        fs::write(&new, "# What owed keeps between runs; cache/ may be deleted at any time.\n*\n")?;
        fs::rename(new, ignore)?;
    }
    Ok(dir)
}

/// What is kept for the user on this host, beyond projects, below the directory `state`
/// (`$XDG_STATE_HOME`); made when it is missing.
///
/// # Errors
/// When it cannot be made.
pub fn of_user(state: &Path) -> io::Result<PathBuf> {
    let dir = state.join("owed");
    fs::create_dir_all(&dir)?;
    Ok(dir)
}
