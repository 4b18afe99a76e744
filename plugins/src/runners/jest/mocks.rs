//! Files in `__mocks__` directories that replace packages without any call: jest takes
//! them for every import of a package of that name.

use owed_engine::path;
use owed_engine::tree::Tree;

use crate::runners::manifest::{Packages, chain};

/// The files among `files` that mock a package. A mock of a user's module (a file that
/// lies beside the `__mocks__` directory) takes effect by a call only, and is left to
/// the resolver.
pub(super) fn of_packages<'a>(tree: &dyn Tree, packages: &Packages, files: &[&'a String]) -> Vec<&'a str> {
    let mut found = Vec::new();
    for file in files {
        let Some((dir, name)) = split(file) else { continue };
        let stem = name.rfind('.').map_or(name, |i| &name[..i]);
        let package = stem.strip_suffix("/index").unwrap_or(stem);
        let adjacent =
            packages.at(dir).is_some() || path::join(dir, "node_modules").is_some_and(|d| tree.is_dir(&d));
        let known = || {
            let (name, _) = crate::runners::config::package_and_rest(package);
            packages.declared(dir, name).is_some()
                || chain(dir)
                    .filter_map(|d| path::join(d, &format!("node_modules/{name}")))
                    .any(|d| tree.is_dir(&d))
        };
        if adjacent || known() {
            found.push(file.as_str());
        }
    }
    found
}

/// The directory that holds the (outermost) `__mocks__` of `file`, and the rest.
fn split(file: &str) -> Option<(&str, &str)> {
    if let Some(rest) = file.strip_prefix("__mocks__/") {
        return Some(("", rest));
    }
    file.find("/__mocks__/").map(|i| (&file[..i], &file[i + "/__mocks__/".len()..]))
}
