//! Installed packages, those of the workspace, and what their manifests say.

use super::*;

#[test]
fn packages_of_a_registry() {
    let tree = tree(&[
        (
            "package.json",
            r#"{"name": "root", "dependencies": {"react": "^18", "alias": "npm:@s/real@1"},
                "devDependencies": {"@types/estree": "1", "@types/s__n": "1"}}"#,
        ),
        ("src/a.ts", ""),
        ("node_modules/hoisted/package.json", "{}"),
        ("sub/package.json", "{"),
        ("src/utils/x.ts", ""),
    ]);
    check(
        &tree,
        &ResolveOptions::default(),
        &[
            (Static, "src/a.ts", "react", "npm:react"),
            (Static, "src/a.ts", "react/jsx-runtime", "npm:react"),
            (Static, "src/a.ts", "alias", "npm:@s/real npm:alias"),
            (Static, "src/a.ts", "hoisted", "npm:hoisted"),
            (Static, "src/a.ts", "nobody", "npm:nobody !undeclared"),
            (Static, "sub/a.ts", "nobody", "npm:nobody !unresolved"),
            (Static, "sub/a.ts", "react", "npm:react"),
            (Static, "src/a.ts", "node:fs", ""),
            (Static, "src/a.ts", "fs/promises", ""),
            (Static, "src/a.ts", "data:text/javascript,1", ""),
            (Static, "src/a.ts", "virtual:pwa", "!virtual"),
            (Static, "src/a.ts", "~icons/x", "!virtual"),
            (Static, "src/a.ts", "@/x", "!unresolved"),
            (Static, "src/a.ts", "npm:chalk@5", "npm:chalk"),
            (Static, "src/a.ts", "https://h/x.js", "url:https://h/x.js"),
            (TypeOnly, "src/a.ts", "estree", "npm:@types/estree npm:estree"),
            (TypeOnly, "src/a.ts", "@s/n", "npm:@s/n npm:@types/s__n"),
            (StringRef, "src/a.ts", "react", "npm:react"),
            // Nothing declares it, but it is a path from the root all the same.
            (Static, "src/a.ts", "src/utils/x", "src/utils/x.ts npm:src"),
        ],
    );
    let resolver = super::super::resolver(&tree, &ResolveOptions::default());
    let got = resolver.resolve("src/a.ts", &import(Static, "nobody"));
    assert_eq!(got.consulted, ["package.json"]);
}

#[test]
fn workspace_packages() {
    let tree = tree(&[
        ("package.json", r#"{"name": "root", "private": true, "workspaces": ["packages/*"]}"#),
        ("packages/app/package.json", r#"{"name": "app", "dependencies": {"@o/lib": "workspace:*"}}"#),
        ("packages/app/src/a.ts", ""),
        // Sources directly.
        (
            "packages/direct/package.json",
            r#"{"name": "direct", "exports": {".": "./src/index.ts", "./*": "./src/*.ts"}}"#,
        ),
        ("packages/direct/src/index.ts", ""),
        ("packages/direct/src/deep.ts", ""),
        // Output by rootDir and outDir.
        (
            "packages/lib/package.json",
            r#"{"name": "@o/lib", "main": "./build-out/main.js", "types": "./build-out/main.d.ts"}"#,
        ),
        (
            "packages/lib/tsconfig.build.json",
            r#"{"compilerOptions": {"rootDir": "source", "outDir": "build-out"}}"#,
        ),
        ("packages/lib/source/main.ts", ""),
        ("packages/lib/source/sub.tsx", ""),
        // Output by custom.
        (
            "packages/dual/package.json",
            r#"{"name": "dual", "exports": {
                ".": {"import": "./dist/index.mjs", "require": "./dist/index.cjs"},
                "./sub/*": {"import": "./dist/esm/sub/*.js", "require": "./dist/cjs/sub/*.js"},
                "./cond": {"@o/source": "./src/cond/entry.ts", "default": "./dist/c.js"},
                "./style.css": "./dist/style.css"}}"#,
        ),
        ("packages/dual/src/index.ts", ""),
        ("packages/dual/src/sub/x.ts", ""),
        ("packages/dual/src/cond/entry.ts", ""),
        ("packages/dual/src/style.css", ""),
        // A bundle whose name says nothing.
        ("packages/bundle/package.json", r#"{"name": "bundle", "main": "dist/bundle.umd.js"}"#),
        ("packages/bundle/src/one.ts", ""),
        ("packages/bundle/src/two.ts", ""),
        ("packages/bundle/src/two.test.ts", ""),
        ("packages/bundle/__tests__/x.ts", ""),
        // No manifest fields at all.
        ("packages/bare/package.json", r#"{"name": "bare"}"#),
        ("packages/bare/src/index.ts", ""),
        ("packages/bare/src/x.ts", ""),
        ("packages/empty/package.json", r#"{"name": "empty"}"#),
        ("packages/broken/package.json", "{"),
    ]);
    check(
        &tree,
        &ResolveOptions::default(),
        &[
            (Static, "packages/app/src/a.ts", "direct", "packages/direct/src/index.ts npm:direct"),
            (Static, "packages/app/src/a.ts", "direct/deep", "packages/direct/src/deep.ts npm:direct"),
            (Static, "packages/app/src/a.ts", "direct/gone", "npm:direct !unresolved"),
            (Static, "packages/app/src/a.ts", "@o/lib", "packages/lib/source/main.ts npm:@o/lib"),
            (
                Static,
                "packages/app/src/a.ts",
                "@o/lib/build-out/sub.js",
                "packages/lib/source/sub.tsx npm:@o/lib",
            ),
            (Static, "packages/app/src/a.ts", "dual", "packages/dual/src/index.ts npm:dual"),
            (Require, "packages/app/src/a.ts", "dual", "packages/dual/src/index.ts npm:dual"),
            (Static, "packages/app/src/a.ts", "dual/sub/x", "packages/dual/src/sub/x.ts npm:dual"),
            (Static, "packages/app/src/a.ts", "dual/cond", "packages/dual/src/cond/entry.ts npm:dual"),
            (Static, "packages/app/src/a.ts", "dual/style.css", "packages/dual/src/style.css npm:dual"),
            (
                Static,
                "packages/app/src/a.ts",
                "bundle",
                "packages/bundle/src/one.ts packages/bundle/src/two.ts [packages/bundle **] npm:bundle",
            ),
            (Static, "packages/app/src/a.ts", "bare", "packages/bare/src/index.ts npm:bare"),
            (Static, "packages/app/src/a.ts", "bare/src/x", "packages/bare/src/x.ts npm:bare"),
            (Static, "packages/app/src/a.ts", "empty", "npm:empty !unresolved"),
            (TypeOnly, "packages/app/src/a.ts", "dual", "packages/dual/src/index.ts npm:dual"),
            // A package by its own name.
            (Static, "packages/dual/src/x.test.ts", "dual", "packages/dual/src/index.ts npm:dual"),
            // Relative output that is not built.
            (Static, "packages/dual/src/x.test.ts", "../dist/index.mjs", "packages/dual/src/index.ts"),
        ],
    );
    let resolver = super::super::resolver(&tree, &ResolveOptions::default());
    let got = resolver.resolve("packages/app/src/a.ts", &import(Static, "direct"));
    assert_eq!(got.consulted, ["package.json", "packages/direct/package.json"]);
}

#[test]
fn output_that_is_built_brings_its_sources() {
    let files = [
        ("pnpm-workspace.yaml", "packages:\n  - packages/*\n"),
        ("packages/a/package.json", r#"{"name": "a", "main": "node_modules/.out/index.js"}"#),
        ("packages/a/src/index.ts", ""),
        ("packages/a/node_modules/.out/index.js", ""),
    ];
    // In memory only `node_modules` is ignored, so it stands for `dist` here.
    check(
        &tree(&files),
        &ResolveOptions::default(),
        &[(
            Static,
            "x.ts",
            "a",
            "packages/a/node_modules/.out/index.js packages/a/src/index.ts [packages/a **] npm:a",
        )],
    );
}

#[test]
fn links_and_local_addresses() {
    let tree = tree(&[
        (
            "package.json",
            r#"{"name": "root", "dependencies": {"local": "file:./vendor/local", "lost": "link:../away", "ws": "workspace:*",
                "tar": "file:vendor/t.tgz", "renamed": "workspace:a@*", "a": "1", "third": "1"}}"#,
        ),
        ("vendor/local/package.json", r#"{"name": "other-name", "main": "m.js"}"#),
        ("vendor/local/m.js", ""),
        ("vendor/t.tgz", ""),
        ("libs/linked/package.json", r#"{"main": "l.js"}"#),
        ("libs/linked/l.js", ""),
        ("libs/a/package.json", r#"{"name": "a", "main": "l.js"}"#),
        ("libs/a/l.js", ""),
        ("node_modules/.pnpm/third/node_modules/third/package.json", "{}"),
        ("shared/real/s.ts", ""),
        ("src/x.ts", ""),
    ])
    .with_link("node_modules/linked", "libs/linked")
    .with_link("node_modules/third", "node_modules/.pnpm/third/node_modules/third")
    .with_link("src/shared", "shared/real")
    .with_link("src/loop1", "src/loop2")
    .with_link("src/loop2", "src/loop1");
    check(
        &tree,
        &ResolveOptions::default(),
        &[
            (Static, "src/x.ts", "local", "vendor/local/m.js npm:local"),
            (Static, "src/x.ts", "lost", "npm:lost !unresolved"),
            (Static, "src/x.ts", "ws", "npm:ws !unresolved"),
            (Static, "src/x.ts", "tar", "vendor/t.tgz npm:tar"),
            (Static, "src/x.ts", "renamed", "libs/a/l.js npm:renamed"),
            (Static, "src/x.ts", "linked", "libs/linked/l.js npm:linked"),
            (Static, "src/x.ts", "../node_modules/linked/l", "libs/linked/l.js"),
            (Static, "src/x.ts", "third", "npm:third"),
            // Declared from a registry and in no workspace: not the directory of that name.
            (Static, "src/x.ts", "a", "npm:a"),
            (Static, "src/x.ts", "./shared/s", "shared/real/s.ts"),
            (Static, "src/x.ts", "./loop1/s", "!unresolved"),
        ],
    );
}

#[test]
fn package_imports() {
    let tree = tree(&[
        (
            "a/package.json",
            r##"{"name": "a", "imports": {"#*": "./src/*.js", "#dep": "lodash", "#int/*": {"node": "./int/*.ts", "default": "./x.js"}},
            "dependencies": {"lodash": "4"}}"##,
        ),
        ("a/src/x.ts", ""),
        ("a/int/y.ts", ""),
        ("b/package.json", r##"{"name": "b", "imports": {"#*": "./lib/*.js", "#dist": "./dist/y.js"}}"##),
        ("b/lib/x.js", ""),
        ("b/src/y.ts", ""),
        ("c/tsconfig.json", r##"{"compilerOptions": {"paths": {"#/*": ["./c/*"]}}}"##),
        ("c/c/x.ts", ""),
    ]);
    check(
        &tree,
        &ResolveOptions::default(),
        &[
            (Static, "a/t.ts", "#x", "a/src/x.ts"),
            (Static, "a/deep/t.ts", "#int/y", "a/int/y.ts"),
            (Static, "a/t.ts", "#dep", "npm:lodash"),
            (Static, "b/t.ts", "#x", "b/lib/x.js"),
            (Static, "b/t.ts", "#dist", "b/src/y.ts"),
            (Static, "c/t.ts", "#/x", "c/c/x.ts"),
            (Static, "c/t.ts", "#gone", "!unresolved"),
        ],
    );
}
