//! `package.json` as the resolver needs it, and the algorithm of its `exports` and
//! `imports` maps (Node.js, "Packages"). Values only: no file is asked for here.
//!
//! It lists every target that the conditions allow, in order, and leaves it to the caller
//! which of them exist.

use serde_json::Value;

use super::jsonc;

/// A manifest that was read.
#[derive(Debug)]
pub(super) struct Package {
    /// Its directory, project-relative.
    pub(super) dir: String,
    /// Whether it could not be read as JSON with an object in it.
    pub(super) broken: bool,
    json: Value,
}

/// Fields that declare dependencies, the strongest first.
const DEPENDENCY_FIELDS: &[&str] =
    &["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

impl Package {
    /// Reads the manifest of `dir`.
    pub(super) fn parse(dir: &str, text: Option<&str>) -> Self {
        let json = text.and_then(|text| jsonc::parse(text).ok()).filter(Value::is_object);
        Self { dir: dir.to_owned(), broken: json.is_none(), json: json.unwrap_or_default() }
    }

    /// The path of the manifest.
    pub(super) fn manifest(&self) -> String {
        below(&self.dir, "package.json")
    }

    /// A field that is a non-empty string.
    pub(super) fn string(&self, field: &str) -> Option<&str> {
        self.json.get(field)?.as_str().filter(|s| !s.is_empty())
    }

    /// Any field that is not `null`.
    pub(super) fn field(&self, field: &str) -> Option<&Value> {
        self.json.get(field).filter(|v| !v.is_null())
    }

    /// The range or address that the manifest gives for a dependency.
    pub(super) fn declares(&self, name: &str) -> Option<&str> {
        DEPENDENCY_FIELDS.iter().find_map(|field| self.json.get(field)?.get(name)?.as_str())
    }

    /// The directories that `workspaces` names, as globs.
    pub(super) fn workspaces(&self) -> Vec<&str> {
        let globs = match self.json.get("workspaces") {
            Some(Value::Object(map)) => map.get("packages"),
            other => other,
        };
        globs.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
    }
}

/// `dir/name`, for a name without `.` segments.
pub(super) fn below(dir: &str, name: &str) -> String {
    join(dir, &[name])
}

/// `dir/` and `parts` behind each other. These names are made by the hundred thousand:
/// one allocation each.
pub(super) fn join(dir: &str, parts: &[&str]) -> String {
    let mut path = String::with_capacity(dir.len() + 1 + parts.iter().map(|part| part.len()).sum::<usize>());
    if !dir.is_empty() {
        path.push_str(dir);
        path.push('/');
    }
    parts.iter().for_each(|part| path.push_str(part));
    path
}

/// What a map says about one key.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Mapped {
    /// Targets in the order in which they are tried: `./x`, or in `imports` a specifier.
    pub(super) targets: Vec<String>,
    /// Whether the map has the key at all, be it with `null` or for other conditions.
    pub(super) known: bool,
}

/// The targets of `./sub/path` (or `.`) in an `exports` map.
pub(super) fn exports(map: &Value, subpath: &str, accepts: &dyn Fn(&str) -> bool) -> Mapped {
    let by_path = map.as_object().is_some_and(|object| object.keys().any(|key| key.starts_with('.')));
    if by_path {
        return lookup(map, subpath, accepts);
    }
    // The short form: one target, or conditions, for the package itself.
    let mut mapped = Mapped::default();
    if subpath == "." {
        mapped.known = true;
        collect(map, "", accepts, &mut mapped.targets);
    }
    mapped
}

/// The targets of `#name` in an `imports` map.
pub(super) fn imports(map: &Value, name: &str, accepts: &dyn Fn(&str) -> bool) -> Mapped {
    lookup(map, name, accepts)
}

/// All targets of a key under any condition, for what is not built: one of them may be a
/// source (`source`, `development`, or a condition of the repository's own).
pub(super) fn every(map: &Value, key: &str) -> Vec<String> {
    let by_path = map.as_object().is_some_and(|object| object.keys().any(|key| key.starts_with(['.', '#'])));
    let mut targets = Vec::new();
    if by_path {
        if let Some((middle, target)) = find(map, key) {
            collect_all(target, middle, &mut targets);
        }
    } else if key == "." {
        collect_all(map, "", &mut targets);
    }
    targets
}

fn collect_all(target: &Value, middle: &str, out: &mut Vec<String>) {
    match target {
        Value::String(_) => _ = collect(target, middle, &|_| true, out),
        Value::Array(items) => items.iter().for_each(|item| collect_all(item, middle, out)),
        Value::Object(conditions) => conditions.values().for_each(|item| collect_all(item, middle, out)),
        _ => {}
    }
}

fn lookup(map: &Value, key: &str, accepts: &dyn Fn(&str) -> bool) -> Mapped {
    let mut mapped = Mapped::default();
    if let Some((middle, target)) = find(map, key) {
        mapped.known = true;
        collect(target, middle, accepts, &mut mapped.targets);
    }
    mapped
}

/// The entry of a map for `key`, and what its `*` stands for.
fn find<'m>(map: &'m Value, key: &'m str) -> Option<(&'m str, &'m Value)> {
    let object = map.as_object()?;
    if !key.contains('*')
        && let Some(target) = object.get(key)
    {
        return Some(("", target));
    }
    let fits = |(pattern, target): (&'m String, &'m Value)| {
        // `./dir/` is the older spelling of `./dir/*`, for folders.
        let (prefix, suffix) = match pattern.split_once('*') {
            Some(parts) => parts,
            None if pattern.ends_with('/') => (pattern.as_str(), ""),
            None => return None,
        };
        let middle = key.strip_prefix(prefix)?.strip_suffix(suffix)?;
        (!middle.is_empty()).then_some((prefix.len(), pattern.len(), middle, target))
    };
    let best = object.iter().filter_map(fits).max_by_key(|(prefix, length, _, _)| (*prefix, *length))?;
    Some((best.2, best.3))
}

/// Adds the targets that `target` stands for. The depth is bounded by the JSON reader's.
/// Returns whether a condition was met, so that the next one is not looked at.
fn collect(target: &Value, middle: &str, accepts: &dyn Fn(&str) -> bool, out: &mut Vec<String>) -> bool {
    match target {
        Value::String(text) => {
            let folder = text.ends_with('/') && !text.contains('*');
            let text = if folder { format!("{text}{middle}") } else { text.replace('*', middle) };
            if !out.contains(&text) {
                out.push(text);
            }
            true
        }
        Value::Array(items) => {
            // Tried one after the other; all of them are kept, since which one is valid
            // depends on what is there.
            let mut any = false;
            for item in items {
                any |= collect(item, middle, accepts, out);
            }
            any
        }
        Value::Object(conditions) => conditions.iter().any(|(name, target)| {
            (name == "default" || accepts(name)) && collect(target, middle, accepts, out)
        }),
        // `null` is an answer: not exported.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_and_imports() {
        let map = r##"{
            ".": {"types": "./t.d.ts", "import": {"node": "./n.mjs", "default": "./i.mjs"}, "require": "./r.cjs"},
            "./a": "./src/a.ts",
            "./features/*.js": "./src/features/*.js",
            "./features/private/*": null,
            "./f/*": ["./one/*.js", {"import": "./two/*.js"}],
            "./old/": "./lib/old/",
            "./only": {"browser": "./b.js"}
        }"##;
        let map: Value = serde_json::from_str(map).unwrap();
        let esm = |c: &str| c == "import";
        let cjs = |c: &str| c == "require";
        let node = |c: &str| c == "import" || c == "node";
        let types = |c: &str| c == "import" || c == "types";
        let check = |subpath: &str, accepts: &dyn Fn(&str) -> bool, want: &[&str], known| {
            let got = exports(&map, subpath, accepts);
            assert_eq!(
                (got.targets, got.known),
                (want.iter().map(|s| (*s).to_owned()).collect(), known),
                "{subpath}"
            );
        };
        check(".", &esm, &["./i.mjs"], true);
        check(".", &node, &["./n.mjs"], true);
        check(".", &cjs, &["./r.cjs"], true);
        check(".", &types, &["./t.d.ts"], true);
        check("./a", &esm, &["./src/a.ts"], true);
        check("./features/x/y.js", &esm, &["./src/features/x/y.js"], true);
        check("./features/private/x.js", &esm, &[], true);
        check("./f/x", &esm, &["./one/x.js", "./two/x.js"], true);
        check("./old/x.js", &esm, &["./lib/old/x.js"], true);
        check("./only", &esm, &[], true);
        check("./none", &esm, &[], false);
        for (map, want) in [
            (r#""./m.js""#, vec!["./m.js"]),
            (r#"{"import": null, "default": "./d.js"}"#, vec![]),
            (r#"{"require": "./r.js"}"#, vec![]),
            (r#"["./x.js", "./y.js"]"#, vec!["./x.js", "./y.js"]),
        ] {
            let map: Value = serde_json::from_str(map).unwrap();
            assert_eq!(exports(&map, ".", &esm).targets, want);
        }
        let map: Value =
            serde_json::from_str(r##"{"#a": "./a.js", "#b/*": "pkg/*", "#*": "./src/*.ts"}"##).unwrap();
        assert_eq!(imports(&map, "#a", &esm).targets, ["./a.js"]);
        assert_eq!(imports(&map, "#b/x", &esm).targets, ["pkg/x"]);
        assert_eq!(imports(&map, "#c", &esm).targets, ["./src/c.ts"]);
    }

    #[test]
    fn broken_manifests_have_no_fields() {
        for text in [None, Some("{"), Some("[]"), Some("1")] {
            let package = Package::parse("a", text);
            assert!(package.broken && package.string("name").is_none() && package.workspaces().is_empty());
        }
        let package = Package::parse(
            "",
            Some(r#"{"workspaces": {"packages": ["a/*"]}, "devDependencies": {"x": "1"}}"#),
        );
        assert_eq!((package.workspaces(), package.declares("x")), (vec!["a/*"], Some("1")));
    }
}
