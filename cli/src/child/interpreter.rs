//! Which program runs a configuration, and with which options of the user's.
#![expect(clippy::disallowed_methods, reason = "PATH and the files it leads to decide what is started")]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use owed_engine::path;

/// The interpreter to use: for Python the environment nearest to `cwd` in the project;
/// otherwise what PATH names. Relative entries of PATH are passed over: they would let
/// a checkout choose the program.
pub(super) fn find(name: &str, root: &Path, cwd: &str) -> Option<PathBuf> {
    let search = std::env::var_os("PATH").unwrap_or_default();
    let on_path = |name: &str| {
        std::env::split_paths(&search)
            .filter(|dir| dir.is_absolute())
            .map(|dir| dir.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
            .find(|file| is_program(file))
    };
    if name != "python" {
        return on_path(name);
    }
    let inside = format!("{cwd}/x");
    let dirs = path::ancestors(inside.trim_start_matches('/')).map(|dir| root.join(dir));
    let places = [".venv/bin/python", "venv/bin/python", ".venv/Scripts/python.exe"];
    let own = dirs.flat_map(|dir| places.map(|place| dir.join(place))).find(|file| is_program(file));
    own.or_else(|| on_path("python3")).or_else(|| on_path("python"))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|m| m.is_file())
}

/// The user's options, without those that would wait for a debugger, and with ours
/// last: the last one counts.
pub(super) fn node_options(given: Option<OsString>, ours: &str) -> OsString {
    let given = given.unwrap_or_default();
    let Some(given) = given.to_str() else { return OsString::from(ours) };
    let kept = given.split_whitespace().filter(|word| !word.starts_with("--inspect"));
    let all: Vec<&str> = kept.chain([ours]).collect();
    OsStr::new(&all.join(" ")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_user_stay_except_for_debuggers() {
        let given = Some(OsString::from("--import tsx --inspect-brk=0 --max-old-space-size=9"));
        assert_eq!(
            node_options(given, "--max-old-space-size=1"),
            "--import tsx --max-old-space-size=9 --max-old-space-size=1"
        );
        assert_eq!(node_options(None, "--x"), "--x");
    }
}
