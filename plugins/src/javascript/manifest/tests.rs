//! Changes of manifests and lock files, one table a format.

use owed_engine::language::ManifestDiff;
use owed_engine::tree::MemoryTree;

use super::diff;

/// `shared`, packages, `any`, `broken`: what a change means, in short.
fn short(diff: &ManifestDiff) -> String {
    let mut words = Vec::new();
    words.extend(diff.shared.then(|| "shared".to_owned()));
    words.extend(diff.packages.iter().cloned());
    words.extend(diff.any_package.is_some().then(|| "any".to_owned()));
    words.extend(diff.broken.is_some().then(|| "broken".to_owned()));
    words.join(" ")
}

fn check(path: &str, base: &str, head: &str, want: &str) {
    let tree = MemoryTree::default();
    let got = diff(&tree, path, Some(base.as_bytes()), Some(head.as_bytes())).expect("a manifest");
    assert_eq!(short(&got), want, "{path}: {base} -> {head}");
}

#[test]
fn which_files() {
    let tree = MemoryTree::default();
    for (path, want) in [
        ("package.json", true),
        ("a/tsconfig.build.json", true),
        ("tsconfig-base.json", true),
        ("base.tsconfig.json", true),
        ("jsconfig.json", true),
        ("pnpm-lock.yaml", true),
        ("node_modules/x/package.json", false),
        ("composer.json", false),
        ("mytsconfig.json", false),
    ] {
        assert_eq!(diff(&tree, path, Some(b"{}"), Some(b"{}")).is_some(), want, "{path}");
    }
}

#[test]
fn package_json() {
    for (base, head, want) in [
        // White space and order.
        (
            r#"{"a": 1, "dependencies": {"x": "1", "y": "2"}}"#,
            "{\n\"dependencies\":{\"y\":\"2\",\"x\":\"1\"},\"a\":1}",
            "",
        ),
        // For people and publishing.
        (
            r#"{"version": "1.0.0", "description": "a", "files": ["x"]}"#,
            r#"{"version": "1.0.1", "keywords": []}"#,
            "",
        ),
        (r#"{"lint-staged": {"*": "a"}}"#, r#"{"lint-staged": {"*": "b"}, "prettier": "x"}"#, ""),
        // Ranges.
        (
            r#"{"dependencies": {"x": "1"}}"#,
            r#"{"dependencies": {"x": "2"}, "devDependencies": {"y": "1"}}"#,
            "npm:x npm:y",
        ),
        (r#"{"dependencies": {"x": "1"}}"#, "{}", "npm:x"),
        (r#"{"resolutions": {"a/**/b": "1", "@s/n@npm:1": "2"}}"#, "{}", "npm:@s/n npm:b"),
        (r#"{"overrides": {"a": {"b@1": "1", ".": "2"}}}"#, "{}", "npm:a npm:b"),
        (r#"{"pnpm": {"overrides": {"a>b@1": "1"}}}"#, r#"{"pnpm": {"overrides": {"a>b@1": "2"}}}"#, "npm:b"),
        (r#"{"pnpm": {"patchedDependencies": {"x@1": "p"}}}"#, "{}", "npm:x"),
        (r#"{"pnpm": {"peerDependencyRules": {}}}"#, "{}", "shared"),
        // Scripts.
        (r#"{"scripts": {"build": "tsc"}}"#, r#"{"scripts": {"build": "tsc -p ."}}"#, ""),
        (r#"{"scripts": {"test": "x"}}"#, r#"{"scripts": {"test": "y"}}"#, "shared"),
        (r#"{"scripts": {"test:unit": "x"}}"#, "{}", "shared"),
        (r#"{"scripts": {"pretest": "x"}}"#, "{}", "shared"),
        (r#"{"scripts": {"ci": "vitest run"}}"#, r#"{"scripts": {"ci": "true"}}"#, "shared"),
        // Meaning.
        (r#"{"type": "module"}"#, r#"{"type": "commonjs"}"#, "shared"),
        (
            r#"{"exports": {"import": "./a", "default": "./b"}}"#,
            r#"{"exports": {"default": "./b", "import": "./a"}}"#,
            "shared",
        ),
        (r#"{"exports": {"import": "./a"}}"#, r#"{ "exports": { "import": "./a" } }"#, ""),
        (r#"{"name": "a"}"#, r#"{"name": "b"}"#, "shared npm:a npm:b"),
        (r#"{"engines": {"node": ">=18"}}"#, r#"{"engines": {"node": ">=20"}}"#, "shared"),
        (r#"{"jest": {"a": 1}}"#, "{}", "shared"),
        ("{}", r#"{"somethingNew": 1}"#, "shared"),
        // Not understood.
        ("{", "{}", "broken"),
        ("{}", "[]", "broken"),
        (r#"{"dependencies": []}"#, "{}", "shared"),
    ] {
        check("package.json", base, head, want);
    }
}

#[test]
fn a_manifest_that_comes_or_goes() {
    let text = br#"{"name": "n", "dependencies": {"x": "1", "l": "link:../l"}}"#;
    let got =
        |tree: &MemoryTree, base, head| short(&diff(tree, "a/package.json", base, head).expect("a manifest"));
    let bare = MemoryTree::default();
    assert_eq!(got(&bare, None, Some(text)), "shared npm:l npm:n npm:x");
    let locked = MemoryTree::new([("yarn.lock".to_owned(), Vec::new())]);
    assert_eq!(got(&locked, Some(text), None), "shared npm:l npm:n");
}

#[test]
fn settings() {
    for (path, base, head, want) in [
        ("tsconfig.json", "{\"a\": 1, \"b\": [1]} // x", "{\"b\": [1,], \"a\": 1}", ""),
        ("tsconfig.json", r#"{"include": ["a"]}"#, r#"{"include": ["b"]}"#, "shared"),
        ("tsconfig.json", "{", "{}", "broken"),
        ("lerna.json", r#"{"packages": ["a"]}"#, "{}", "shared"),
        ("pnpm-workspace.yaml", "packages:\n  - a\n", "packages:\n- 'a'\n", ""),
        ("pnpm-workspace.yaml", "packages:\n  - a\n", "packages:\n  - b\n", "shared"),
        ("pnpm-workspace.yaml", "catalog:\n  x: 1\n", "catalog:\n  x: 2\n", "npm:x"),
        ("pnpm-workspace.yaml", "catalogs:\n  one:\n    x: 1\n", "catalogs:\n  one:\n    x: 2\n", "npm:x"),
        ("pnpm-workspace.yaml", "a: &b 1\n", "a: 1\n", "broken"),
        (".npmrc", "registry=a\n//h/:_authToken=x\n", "# c\nregistry=b\n", ""),
        (".npmrc", "", "node-linker = hoisted\n", "shared any"),
        (".yarnrc.yml", "nodeLinker: pnp\n", "nodeLinker: node-modules\n", "shared any"),
        ("bun.lockb", "a", "b", "any"),
    ] {
        check(path, base, head, want);
    }
}

#[test]
fn npm_locks() {
    let v3 = |a: &str, extra: &str| {
        format!(
            r#"{{"lockfileVersion": 3, "packages": {{
            "": {{"dependencies": {{"top": "1"}}}},
            "node_modules/top": {{"version": "1.0.0", "integrity": "t", "dependencies": {{"mid": "1"}}}},
            "node_modules/mid": {{"version": "1.0.0", "integrity": "m", "dependencies": {{"a": "1"}}}},
            "node_modules/a": {{"version": "1.0.0", "integrity": "{a}", "license": "MIT"}},
            "node_modules/own": {{"link": true, "resolved": "packages/own"}},
            "packages/own": {{"dependencies": {{"a": "1"}}}},
            "node_modules/b": {{"version": "1.0.0", "integrity": "b"}}{extra}}}}}"#
        )
    };
    let base = v3("a1", "");
    check("package-lock.json", &base, &v3("a2", ""), "npm:a npm:mid npm:top");
    check("package-lock.json", &base, &base.replace("MIT", "ISC").replace('\n', " "), "");
    let nested = r#", "node_modules/top/node_modules/b": {"version": "2.0.0", "integrity": "b2"}"#;
    check("package-lock.json", &base, &v3("a1", nested), "npm:b");
    check("package-lock.json", &base, "{", "broken");
    check("package-lock.json", &base, "{}", "broken");
    let v1 = |version: &str| {
        format!(
            r#"{{"lockfileVersion": 1, "dependencies": {{
            "top": {{"version": "1.0.0", "integrity": "t", "requires": {{"a": "1"}},
                "dependencies": {{"a": {{"version": "{version}", "integrity": "x{version}"}}}}}},
            "b": {{"version": "1.0.0"}}}}}}"#
        )
    };
    check("npm-shrinkwrap.json", &v1("1"), &v1("2"), "npm:a npm:top");
    check("package-lock.json", &v1("1"), &base, "any");
    let tree = MemoryTree::default();
    let only = |path| short(&diff(&tree, path, None, Some(v1("1").as_bytes())).expect("a lock"));
    assert_eq!(only("package-lock.json"), "any");
    assert_eq!(only("examples/e/package-lock.json"), "npm:a npm:b npm:top");
}

#[test]
fn pnpm_locks() {
    let v9 = |a: &str, app: &str| {
        format!(
            "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      top:\n        specifier: ^1\n        version: 1.0.0(react@18.0.0)\n\n  app:\n    dependencies:\n      b:\n        specifier: '*'\n        version: {app}\n      own:\n        specifier: workspace:*\n        version: link:../own\n\npackages:\n\n  '@s/a@1.0.0':\n    resolution: {{integrity: {a}}}\n    engines: {{node: '>=1'}}\n\n  b@1.0.0:\n    resolution: {{integrity: b1}}\n\n  b@2.0.0:\n    resolution: {{integrity: b2}}\n    deprecated: |-\n      do not\n        use\n\n  top@1.0.0:\n    resolution: {{integrity: t}}\n    peerDependencies:\n      react: '*'\n\nsnapshots:\n\n  '@s/a@1.0.0': {{}}\n\n  b@1.0.0: {{}}\n\n  b@2.0.0: {{}}\n\n  top@1.0.0(react@18.0.0):\n    dependencies:\n      '@s/a': 1.0.0\n"
        )
    };
    let base = v9("a1", "1.0.0");
    check("pnpm-lock.yaml", &base, &v9("a2", "1.0.0"), "npm:@s/a npm:top");
    check("pnpm-lock.yaml", &base, &v9("a1", "2.0.0"), "npm:b");
    check("pnpm-lock.yaml", &base, &base.replace(">=1", ">=2").replace("\n\n", "\n"), "");
    check("pnpm-lock.yaml", &base, &format!("{base}\nnews:\n  x: 1\n"), "any");
    check("pnpm-lock.yaml", &base, "packages: &a {}\n", "broken");
    for (name, dependency) in
        [("/@s/a/1.0.0", "/top/1.0.0_react@18"), ("/@s/a@1.0.0", "/top@1.0.0(react@18)")]
    {
        let old = |integrity: &str| {
            format!(
                "lockfileVersion: 5.4\nspecifiers:\n  top: ^1\ndependencies:\n  top: 1.0.0_react@18\npackages:\n  {name}:\n    resolution: {{integrity: {integrity}}}\n    dev: true\n  {dependency}:\n    resolution: {{integrity: t}}\n    dependencies:\n      '@s/a': 1.0.0\n"
            )
        };
        check("pnpm-lock.yaml", &old("1"), &old("2"), "npm:@s/a npm:top");
        check("pnpm-lock.yaml", &old("1"), &base, "any");
    }
}

#[test]
fn yarn_locks() {
    let v1 = |integrity: &str, keys: &str| {
        format!(
            "# yarn lockfile v1\n\n\n\"@s/a@^1.0.0\":\n  version \"1.0.0\"\n  resolved \"https://h/a\"\n  integrity {integrity}\n\n{keys}:\n  version \"1.0.0\"\n  integrity b\n\ntop@^1:\n  version \"1.0.0\"\n  dependencies:\n    \"@s/a\" \"^1.0.0\"\n"
        )
    };
    let base = v1("a1", "b@^1, b@^1.0.0");
    check("yarn.lock", &base, &v1("a2", "b@^1, b@^1.0.0"), "npm:@s/a npm:top");
    check("yarn.lock", &base, &v1("a1", "b@^1.0.0, b@^1").replace("https://h", "https://mirror"), "");
    check("yarn.lock", &base, &v1("a1", "b@^1"), "npm:b");
    check("yarn.lock", &base, "top@^1\n", "broken");
    check("yarn.lock", &base, "top@^1:\n      version 1\n", "broken");
    let berry = |checksum: &str| {
        format!(
            "__metadata:\n  version: 8\n  cacheKey: 10c0\n\n\"@s/a@npm:^1\":\n  version: 1.0.0\n  resolution: \"@s/a@npm:1.0.0\"\n  checksum: {checksum}\n  languageName: node\n  linkType: hard\n\n\"own@workspace:packages/own\":\n  version: 0.0.0-use.local\n  resolution: \"own@workspace:packages/own\"\n  dependencies:\n    \"@s/a\": \"npm:^1\"\n  languageName: unknown\n  linkType: soft\n\n\"al@npm:top@^1, top@npm:^1\":\n  version: 1.0.0\n  resolution: \"top@npm:1.0.0\"\n  dependencies:\n    \"@s/a\": \"npm:^1\"\n  checksum: t\n  linkType: hard\n"
        )
    };
    check("yarn.lock", &berry("1"), &berry("2"), "npm:@s/a npm:al npm:top");
    check("yarn.lock", &berry("1"), &berry("1").replace("\n\n", "\n"), "");
    check("yarn.lock", &base, &berry("1"), "any");
}

#[test]
fn bun_locks() {
    let lock = |integrity: &str| {
        format!(
            r#"{{
  "lockfileVersion": 1,
  "workspaces": {{ "": {{ "name": "root", "dependencies": {{ "top": "^1" }}, }}, }},
  "packages": {{
    "@s/a": ["@s/a@1.0.0", "", {{}}, "{integrity}"],
    "top": ["top@1.0.0", "", {{ "dependencies": {{ "@s/a": "^1" }} }}, "sha512-t"],
    "top/@s/a": ["@s/a@2.0.0", "", {{}}, "sha512-a2"],
    "own": ["own@workspace:packages/own"],
  }}
}}"#
        )
    };
    check("bun.lock", &lock("sha512-a"), &lock("sha512-b"), "npm:@s/a npm:top");
    check("bun.lock", &lock("sha512-a"), &lock("sha512-a").replace('\n', " "), "");
    check("bun.lock", &lock("a"), r#"{"packages": {"x": 1}}"#, "broken");
}
