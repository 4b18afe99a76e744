//! The resolver against trees in memory, one table a topic, and against `oxc_resolver`.

use owed_engine::facts::{Import, ImportKind, LoadMode, Names, Presence, Span};
use owed_engine::resolve::{Alias, AliasFind, Resolution, ResolveOptions, Resolver, Target};
use owed_engine::tree::MemoryTree;

mod oracle;
mod packages;

fn tree(files: &[(&str, &str)]) -> MemoryTree {
    MemoryTree::new(files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())))
}

fn import(kind: ImportKind, specifier: &str) -> Import {
    Import {
        specifier: specifier.to_owned(),
        kind,
        mode: if kind == ImportKind::Require { LoadMode::Cjs } else { LoadMode::Esm },
        presence: Presence::Required,
        names: Names::Effects,
        line: 1,
        span: Span::default(),
    }
}

/// Targets and the reason when unknown: `a.ts npm:x [dir glob] !unresolved`.
fn short(resolution: &Resolution) -> String {
    let target = |target: &Target| match target {
        Target::File(file) => file.clone(),
        Target::Package(name) => name.clone(),
        Target::Listing(listing) => format!("[{} {}]", listing.dir, listing.glob),
        other => format!("{other:?}"),
    };
    let unknown = resolution.unknown.as_ref().map(|unknown| format!("!{unknown:?}").to_lowercase());
    resolution.targets.iter().map(target).chain(unknown).collect::<Vec<_>>().join(" ")
}

type Row<'a> = (ImportKind, &'a str, &'a str, &'a str);

/// Whole packages written out.
fn expanded(resolver: &dyn Resolver, resolution: &Resolution) -> Resolution {
    let mut out = resolution.clone();
    out.targets = (resolution.targets.iter())
        .flat_map(|target| match target {
            Target::Sources(dir) => resolver.sources(dir).targets,
            other => vec![other.clone()],
        })
        .collect();
    out.targets.sort();
    out
}

fn check(tree: &MemoryTree, options: &ResolveOptions, rows: &[Row<'_>]) {
    let resolver = super::resolver(tree, options);
    for (kind, from, specifier, want) in rows {
        let got = resolver.resolve(from, &import(*kind, specifier));
        let shown = short(&expanded(&*resolver, &got));
        assert_eq!(shown, *want, "{kind:?} {specifier:?} in {from}");
        assert_eq!(got, resolver.resolve(from, &import(*kind, specifier)), "asked again");
    }
}

fn absent(tree: &MemoryTree, from: &str, specifier: &str) -> Vec<String> {
    super::resolver(tree, &ResolveOptions::default())
        .resolve(from, &import(ImportKind::Static, specifier))
        .absent
}

fn alias(find: AliasFind, replacement: &str) -> Alias {
    Alias { find, replacement: replacement.to_owned() }
}

use ImportKind::{Computed, Dynamic, Glob, Mock, Require, Script, Static, StringRef, TypeOnly};

#[test]
fn relative_specifiers() {
    let tree = tree(&[
        ("src/a.ts", ""),
        ("src/b.tsx", ""),
        ("src/c.mts", ""),
        ("src/d.cts", ""),
        ("src/both.js", ""),
        ("src/both.ts", ""),
        ("src/typed.js", ""),
        ("src/typed.d.ts", ""),
        ("src/only.d.ts", ""),
        ("src/dir/index.ts", ""),
        ("src/main/package.json", r#"{"main": "./m.js"}"#),
        ("src/main/m.js", ""),
        ("src/loop/package.json", r#"{"main": "."}"#),
        ("src/loop/index.js", ""),
        ("src/data.json", "{}"),
        ("src/x.svg", ""),
        ("src/x.css", ""),
        ("src/App.vue", ""),
        ("src/f#g.js", ""),
        ("src/native.node", ""),
        ("src/file.js", ""),
        ("src/file/index.js", ""),
        ("src/x.service.ts", ""),
        ("node_modules/p/i.js", ""),
        ("index.ts", ""),
    ]);
    check(
        &tree,
        &ResolveOptions::default(),
        &[
            (Static, "src/z.ts", "./a", "src/a.ts"),
            (Static, "src/z.ts", "./a.ts", "src/a.ts"),
            (Static, "src/z.ts", "./a.js", "src/a.ts"),
            (Static, "src/z.ts", "./b.js", "src/b.tsx"),
            (Static, "src/z.ts", "./b.jsx", "src/b.tsx"),
            (Static, "src/z.ts", "./c.mjs", "src/c.mts"),
            (Require, "src/z.ts", "./d.cjs", "src/d.cts"),
            (Static, "src/z.ts", "./both", "src/both.js src/both.ts"),
            (Static, "src/z.ts", "./both.js", "src/both.js src/both.ts"),
            (Static, "src/z.ts", "./typed", "src/typed.js"),
            (TypeOnly, "src/z.ts", "./typed", "src/typed.d.ts src/typed.js"),
            (TypeOnly, "src/z.ts", "./typed.js", "src/typed.d.ts src/typed.js"),
            (Static, "src/z.ts", "./only", "src/only.d.ts"),
            (Static, "src/z.ts", "./dir", "src/dir/index.ts"),
            (Static, "src/z.ts", "./dir/", "src/dir/index.ts"),
            (Static, "src/dir/z.ts", ".", "src/dir/index.ts"),
            (Static, "src/z.ts", "..", "index.ts"),
            (Static, "src/z.ts", "./main", "src/main/m.js"),
            (Static, "src/z.ts", "./loop", "src/loop/index.js"),
            (Static, "src/z.ts", "./data.json", "src/data.json"),
            (Static, "src/z.ts", "./data", "src/data.json"),
            (Static, "src/z.ts", "./x.svg?raw", "src/x.svg"),
            (Static, "src/z.ts", "./x.css?inline#a", "src/x.css"),
            (Static, "src/z.ts", "!!raw-loader!./x.css", "src/x.css"),
            (Static, "src/z.ts", "./f#g.js", "src/f#g.js"),
            (Static, "src/z.ts", "./App.vue", "src/App.vue"),
            (Static, "src/z.ts", "./App", "!unresolved"),
            (Static, "src/z.ts", "./A", "!unresolved"),
            (Static, "src/z.ts", "./file", "src/file.js"),
            (Static, "src/z.ts", "./file/", "src/file/index.js"),
            (Static, "src/z.ts", "./x.service", "src/x.service.ts"),
            (Require, "src/z.ts", "./native.node", "src/native.node !native"),
            (Require, "src/z.ts", "./native", "src/native.node !native"),
            (Static, "src/z.ts", "./gone", "!unresolved"),
            (TypeOnly, "src/z.ts", "./gone", ""),
            (Static, "src/z.ts", "../../out", "!unresolved"),
            (Static, "src/z.ts", "../node_modules/p/i.js", "npm:p"),
            (Static, "src/z.ts", "/src/a", "src/a.ts"),
            (Static, "src/z.ts", "/project/src/a", "src/a.ts"),
            (Static, "src/z.ts", "file:///project/src/x%2ecss", "src/x.css"),
            (Static, "src/z.ts", "/etc/passwd", "!unresolved"),
            (Static, "src/z.ts", "", "!unresolved"),
            (StringRef, "src/z.ts", "./gone", ""),
            (StringRef, "src/z.ts", "./a", "src/a.ts"),
            (StringRef, "src/z.ts", "whatever", ""),
        ],
    );
}

#[test]
fn absent_candidates() {
    let tree = tree(&[("src/a.ts", ""), ("src/b.mjs", ""), ("src/d/index.ts", ""), ("src/e.js", "")]);
    assert_eq!(absent(&tree, "src/z.ts", "./a.js"), ["src/a.js"]);
    assert_eq!(
        absent(&tree, "src/z.ts", "./a"),
        ["src/a", "src/a.cjs", "src/a.js", "src/a.jsx", "src/a.mjs", "src/a.mts"]
    );
    assert_eq!(absent(&tree, "src/z.ts", "./e.js"), ["src/e.ts", "src/e.tsx"]);
    let dir = absent(&tree, "src/z.ts", "./d");
    for path in ["src/d.ts", "src/d.tsx", "src/d/package.json", "src/d/index.js"] {
        assert!(dir.iter().any(|p| p == path), "{path} in {dir:?}");
    }
    assert!(!dir.iter().any(|p| p == "src/d"), "a directory is there");
    let gone = absent(&tree, "src/z.ts", "./gone/x.js");
    for path in ["src/gone/x.js", "src/gone/x.ts", "src/gone/x.tsx", "src/gone/x.js/index.js"] {
        assert!(gone.iter().any(|p| p == path), "{path} in {gone:?}");
    }
}

#[test]
fn extensions_of_the_runner() {
    let tree = tree(&[("a.native.ts", ""), ("a.ts", ""), ("b.vue", ""), ("c.ts", "")]);
    let options = ResolveOptions {
        extensions: [".native.ts", ".ts", ".vue"].map(str::to_owned).to_vec(),
        ..ResolveOptions::default()
    };
    check(
        &tree,
        &options,
        &[
            (Static, "z.ts", "./a", "a.native.ts a.ts"),
            (Static, "z.ts", "./b", "b.vue"),
            (Static, "z.ts", "./c", "c.ts"),
        ],
    );
    let resolver = super::resolver(&tree, &options);
    let absent = resolver.resolve("z.ts", &import(Static, "./c")).absent;
    assert_eq!(absent, ["c", "c.native.ts"]);
}

#[test]
fn tsconfig_paths() {
    let tree = tree(&[
        (
            "tsconfig.base.json",
            r#"{"compilerOptions": {"baseUrl": ".", "paths": {
            "@foo/bar": ["libs/bar/src/index.ts"], "@foo/bar-core/*": ["libs/bar-core/src/*"],
            "*.style": ["styles/*.css"], "react": ["node_modules/react"], "late": ["gone/late", "libs/late"]}}}"#,
        ),
        ("libs/bar/src/index.ts", ""),
        ("libs/bar-core/src/x.ts", ""),
        ("libs/late.ts", ""),
        ("styles/a.css", ""),
        ("app/tsconfig.json", r#"{"files": [], "references": [{"path": "./tsconfig.app.json"}]}"#),
        ("app/tsconfig.app.json", r#"{"extends": ["../tsconfig.base.json"]}"#),
        ("app/src/a.ts", ""),
        ("broken/tsconfig.json", "{ not json"),
        ("broken/a.ts", ""),
        ("broken/b.ts", ""),
        ("dirs/tsconfig.json", r#"{"compilerOptions": {"rootDirs": ["src", "gen"]}}"#),
        ("dirs/gen/g.ts", ""),
        ("dirs/src/a.ts", ""),
    ]);
    check(
        &tree,
        &ResolveOptions::default(),
        &[
            (Static, "app/src/a.ts", "@foo/bar", "libs/bar/src/index.ts"),
            (Static, "app/src/a.ts", "@foo/bar-core/x", "libs/bar-core/src/x.ts"),
            (Static, "app/src/a.ts", "@foo/bar-core/gone", "npm:@foo/bar-core !undeclared"),
            (Static, "app/src/a.ts", "a.style", "styles/a.css"),
            (Static, "app/src/a.ts", "react", "npm:react"),
            (Static, "app/src/a.ts", "late", "libs/late.ts"),
            // baseUrl
            (Static, "app/src/a.ts", "libs/late", "libs/late.ts"),
            (Static, "broken/a.ts", "./b", "broken/b.ts"),
            (Static, "dirs/src/a.ts", "./g", "dirs/gen/g.ts"),
        ],
    );
    let resolver = super::resolver(&tree, &ResolveOptions::default());
    let got = resolver.resolve("app/src/a.ts", &import(Static, "late"));
    assert_eq!(got.consulted, ["app/tsconfig.app.json", "app/tsconfig.json", "tsconfig.base.json"]);
    assert!(
        got.absent.contains(&"gone/late.ts".to_owned())
            && got.absent.contains(&"app/src/tsconfig.json".to_owned())
    );
    let forced = ResolveOptions {
        tsconfig: Some("tsconfig.base.json".to_owned()),
        tsconfig_paths: true,
        ..ResolveOptions::default()
    };
    check(
        &tree,
        &forced,
        &[
            (Static, "dirs/src/a.ts", "@foo/bar", "libs/bar/src/index.ts"),
            (Static, "dirs/src/a.ts", "@foo/bar-core/gone", "npm:@foo/bar-core !unresolved"),
        ],
    );
}

#[test]
fn aliases_of_the_runner() {
    let tree = tree(&[
        ("package.json", r#"{"dependencies": {"vue": "3", "x": "1"}}"#),
        ("src/a.ts", ""),
        ("src/x.css", ""),
        ("mocks/style.js", ""),
        ("web/src/b.ts", ""),
        ("local/paths/m.ts", ""),
        ("deep/shared/s.ts", ""),
    ]);
    let regex = |s: &str| AliasFind::Regex(s.to_owned());
    let options = ResolveOptions {
        root: "web".to_owned(),
        aliases: vec![
            alias(AliasFind::Prefix("@".to_owned()), "/src"),
            alias(regex("\\.(css|less)$"), "/mocks/style.js"),
            alias(AliasFind::Exact("vue".to_owned()), "/gone/vue.js"),
            alias(regex("^lib/(.*)$"), "/none/$1"),
            alias(regex("^lib/(.*)$"), "/src/$1"),
            alias(AliasFind::Prefix("up".to_owned()), "../src/a"),
        ],
        module_paths: vec!["local/paths".to_owned()],
        module_directories: vec!["node_modules".to_owned(), "shared".to_owned()],
        ..ResolveOptions::default()
    };
    check(
        &tree,
        &options,
        &[
            (Static, "web/z.ts", "@/a", "src/a.ts"),
            (Static, "web/z.ts", "@/a?raw", "src/a.ts"),
            (Static, "src/z.ts", "./x.css", "mocks/style.js"),
            (Static, "web/z.ts", "vue", "npm:vue !unresolved"),
            (Static, "web/z.ts", "lib/a", "src/a.ts"),
            (Static, "web/z.ts", "up", "src/a.ts"),
            (Static, "web/z.ts", "/src/b", "web/src/b.ts"),
            (Static, "web/z.ts", "m", "local/paths/m.ts"),
            (Static, "deep/er/z.ts", "s", "deep/shared/s.ts"),
            (Static, "web/z.ts", "x", "npm:x"),
            (Static, "web/z.ts", "@/gone", "!unresolved"),
        ],
    );
    // An expression that cannot be compiled may match: both readings.
    let broken = ResolveOptions { aliases: vec![alias(regex("("), "/src/a")], ..ResolveOptions::default() };
    check(&tree, &broken, &[(Static, "web/src/z.ts", "./b", "src/a.ts web/src/b.ts")]);
}

#[test]
fn mocks() {
    let tree = tree(&[
        ("package.json", r#"{"dependencies": {"lodash": "4", "@s/n": "1", "axios": "1"}}"#),
        ("src/a.ts", ""),
        ("src/b.ts", ""),
        ("src/__mocks__/a.ts", ""),
        ("src/__mocks__/gone.js", ""),
        ("test/__mocks__/@s/n.js", ""),
        ("lib/__mocks__/lodash/index.js", ""),
        ("src/dir/index.ts", ""),
        ("src/dir/__mocks__/index.ts", ""),
    ]);
    let options = ResolveOptions { mock_roots: vec!["test".to_owned()], ..ResolveOptions::default() };
    check(
        &tree,
        &options,
        &[
            (Mock, "src/t.ts", "./a", "src/__mocks__/a.ts src/a.ts"),
            (Mock, "src/t.ts", "./b", "src/b.ts"),
            (Mock, "src/t.ts", "./gone", "src/__mocks__/gone.js !unresolved"),
            (Mock, "src/t.ts", "./dir", "src/dir/__mocks__/index.ts src/dir/index.ts"),
            (Mock, "src/t.ts", "@s/n", "test/__mocks__/@s/n.js npm:@s/n"),
            (Mock, "src/t.ts", "lodash", "lib/__mocks__/lodash/index.js npm:lodash"),
            // Only a call asks for it; where jest does so by itself, its projects share it.
            (Static, "src/t.ts", "@s/n", "npm:@s/n"),
            (Mock, "src/t.ts", "node:fs", ""),
            (Mock, "src/t.ts", "axios", "npm:axios"),
        ],
    );
    let resolver = super::resolver(&tree, &options);
    let absent = |specifier: &str| resolver.resolve("src/t.ts", &import(Mock, specifier)).absent;
    assert!(absent("./b").contains(&"src/__mocks__/b.ts".to_owned()));
    for path in ["test/__mocks__/axios.ts", "__mocks__/axios.js", "__mocks__/axios/index.js"] {
        assert!(absent("axios").contains(&path.to_owned()), "{path}");
    }
    assert!(absent("node:fs").contains(&"__mocks__/fs.js".to_owned()));
}

#[test]
fn globs_and_computed() {
    let tree = tree(&[
        ("src/l/de.ts", ""),
        ("src/l/en.ts", ""),
        ("src/l/readme.md", ""),
        ("src/l/sub/x.ts", ""),
        ("src/p/one/index.ts", ""),
        ("web/src/w.ts", ""),
        ("tsconfig.json", r#"{"compilerOptions": {"paths": {"~/*": ["./src/*"]}}}"#),
        ("package.json", r#"{"dependencies": {"lodash": "4"}, "name": "root"}"#),
    ]);
    let options = ResolveOptions {
        root: "web".to_owned(),
        aliases: vec![alias(AliasFind::Prefix("@".to_owned()), "/src")],
        ..ResolveOptions::default()
    };
    check(
        &tree,
        &options,
        &[
            (Glob, "src/a.ts", "./l/*.ts", "src/l/de.ts src/l/en.ts [src/l *.ts]"),
            (Glob, "src/a.ts", "./l/**/*.ts?raw", "src/l/de.ts src/l/en.ts src/l/sub/x.ts [src/l **/*.ts]"),
            (Glob, "src/p/a.ts", "../l/{de,fr}.ts", "src/l/de.ts [src/l {de,fr}.ts]"),
            (Glob, "src/a.ts", "/src/*.ts", "web/src/w.ts [src *.ts] [web/src *.ts]"),
            (Glob, "src/a.ts", "@/l/@(de|en).ts", "src/l/de.ts src/l/en.ts [src/l *.ts]"),
            (Glob, "src/a.ts", "~/l/d*.ts", "src/l/de.ts [src/l d*.ts]"),
            (Glob, "src/a.ts", "!./l/x.ts", ""),
            (Glob, "src/a.ts", "./none/*.ts", "[src/none *.ts]"),
            (Glob, "src/a.ts", "../../out/*.ts", "!computed"),
            (Computed, "src/a.ts", "", "!computed"),
            (Computed, "src/a.ts", "*", "!computed"),
            (Computed, "src/a.ts", "./l/*.js", "src/l/de.ts src/l/en.ts [src/l {*.[jt]s,*.tsx}]"),
            (Computed, "src/a.ts", "./p/*", "src/p/one/index.ts [src/p {*,*.*,*/index.*,*/package.json}]"),
            (Computed, "src/a.ts", "lodash/*", "npm:lodash"),
            (
                Computed,
                "src/a.ts",
                "./l/{de,fr}",
                "src/l/de.ts [src/l {{de,fr},{de,fr}.*,{de,fr}/index.*,{de,fr}/package.json}]",
            ),
        ],
    );
}

#[test]
fn scripts() {
    let tree = tree(&[("src/w.ts", ""), ("web/c.js", ""), ("tools/t.js", "")]);
    let options = ResolveOptions { root: "web".to_owned(), ..ResolveOptions::default() };
    check(
        &tree,
        &options,
        &[
            (Script, "src/a.ts", "./w.js", "src/w.ts"),
            (Script, "src/a.ts", "c.js", "web/c.js"),
            (Script, "src/a.ts", "tools/t.js", "tools/t.js"),
            (Script, "src/a.ts", "./gone.js", "!unresolved"),
            (Dynamic, "src/a.ts", "./w", "src/w.ts"),
        ],
    );
}

#[test]
fn nothing_panics() {
    let tree = tree(&[
        (
            "package.json",
            r##"{"name": "é", "imports": {"#": "./a", "#é*": 1, "#l": "#l"}, "exports": {"./*é*": "x"}, "main": 3}"##,
        ),
        (
            "tsconfig.json",
            r#"{"extends": ["é", "/", ""], "compilerOptions": {"paths": {"*": ["*", "/x/*", "../../*"], "é*é": [1]}, "baseUrl": "../.."}}"#,
        ),
        ("src/é.ts", ""),
        ("node_modules/x/i.js", ""),
    ]);
    let options = ResolveOptions {
        root: "src".to_owned(),
        aliases: vec![
            alias(AliasFind::Prefix(String::new()), ""),
            alias(AliasFind::Regex(".".to_owned()), "$"),
            alias(AliasFind::Regex("(é)|x".to_owned()), "$1$2$9$é$&"),
            alias(AliasFind::Exact("é".to_owned()), "é"),
        ],
        module_paths: vec!["..".to_owned()],
        module_directories: vec!["../é".to_owned()],
        tsconfig: Some("gone.json".to_owned()),
        ..ResolveOptions::default()
    };
    let specifiers = [
        "",
        ".",
        "..",
        "/",
        "//",
        "///x",
        "./",
        "../..",
        "#",
        "#é",
        "#l",
        "##",
        "?",
        "./?",
        "./#",
        "@",
        "@/",
        "@é/x",
        "é",
        "é/é",
        "./é",
        "./é?é",
        "a\\b",
        "%",
        "file:",
        "file:///%é",
        "file://h/x",
        "npm:",
        "npm:@",
        "npm:é@1",
        "jsr:/",
        ":",
        "a:",
        "1:x",
        "node_modules",
        "./node_modules/",
        "../node_modules/@x",
        "!",
        "!!",
        "a!b",
        "**",
        "./**/{",
        "./[",
        "./(x",
        "./+(é|x",
        "\0",
        "./a/../../../..",
        "é:x",
        "$",
        "~",
        "./x/./",
        " ",
        "\n",
    ];
    let kinds = [Static, TypeOnly, Require, Mock, Script, StringRef, Glob, Computed, Dynamic];
    for options in [ResolveOptions::default(), options] {
        let resolver = super::resolver(&tree, &options);
        for specifier in specifiers {
            for kind in kinds {
                for from in ["src/a.ts", "a.ts", "é/é/b.ts"] {
                    resolver.resolve(from, &import(kind, specifier));
                }
            }
        }
    }
}
