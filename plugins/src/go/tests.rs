//! Where packages of Go lie.

use std::collections::BTreeMap;

use owed_engine::language::{Language, SourceFile};
use owed_engine::resolve::{Resolution, ResolveOptions, Target};
use owed_engine::tree::MemoryTree;

use super::GO;
use super::resolve::Module;

const FILES: &[(&str, &str)] = &[
    (
        "go.mod",
        "module example.org/shop // the shop\n\ngo 1.23\n\nrequire (\n\tgithub.com/a/b v1.0.0\n\tgithub.com/a/b/deep v1.0.0 // indirect\n)\n\
         replace example.org/tool v1 => ./tool\n",
    ),
    (
        "main.go",
        "package main\n\nimport (\n\t\"fmt\"\n\tc \"example.org/shop/cart\"\n\t. \"example.org/shop/internal/db\"\n\t_ \"github.com/a/b/deep/x\"\n\
         \t\"github.com/a/bc\"\n\t\"example.org/tool/run\"\n\t\"example.org/gone\"\n\t\"example.org/shop/gone\"\n\t\"example.org/v/x\"\n)\n\
         //go:embed static/*.txt page.html\nvar files string\n",
    ),
    ("other.go", "package main\nimport \"C\"\n"),
    ("main_test.go", "package main\n"),
    ("cart/cart.go", "package cart\n"),
    ("cart/cart_linux.go", "package cart\n"),
    ("cart/cart_test.go", "package cart\n"),
    ("internal/db/db.go", "package db\n"),
    ("tool/go.mod", "module example.org/tool\n"),
    ("tool/run/run.go", "package run\n"),
    ("vendor/example.org/v/x/x.go", "package x\n"),
    ("static/a.txt", ""),
    ("static/b.md", ""),
    ("page.html", ""),
];

fn shown(found: &Resolution) -> Vec<String> {
    let target = |target: &Target| match target {
        Target::File(path) => Some(path.clone()),
        Target::Package(name) => Some(name.clone()),
        Target::Listing(_) => None,
        other => panic!("{other:?}"),
    };
    let unknown = found.unknown.as_ref().map(|unknown| format!("{unknown:?}"));
    found.targets.iter().filter_map(target).chain(unknown).collect()
}

#[test]
fn an_import_is_every_file_of_a_directory() {
    let files: BTreeMap<String, Vec<u8>> =
        FILES.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    let tree = MemoryTree::new(files.clone());
    let resolver = GO.resolver(&tree, &ResolveOptions::default());
    let of = |from: &str| -> Vec<(String, Vec<String>)> {
        let facts = GO.read(SourceFile { path: from, bytes: &files[from] });
        assert_eq!(facts.damage, []);
        let imports = facts.imports.iter();
        imports.map(|import| (import.specifier.clone(), shown(&resolver.resolve(from, import)))).collect()
    };
    let expected: &[(&str, &[&str])] = &[
        ("fmt", &[]),
        ("example.org/shop/cart", &["cart/cart.go", "cart/cart_linux.go"]),
        ("example.org/shop/internal/db", &["internal/db/db.go"]),
        ("github.com/a/b/deep/x", &["go:github.com/a/b/deep"]),
        ("github.com/a/bc", &["Undeclared"]),
        ("example.org/tool/run", &["tool/run/run.go"]),
        ("example.org/gone", &["Undeclared"]),
        ("example.org/shop/gone", &["Unresolved"]),
        ("example.org/v/x", &["vendor/example.org/v/x/x.go"]),
        ("./static/*.txt", &["static/a.txt"]),
        ("./page.html", &["page.html"]),
    ];
    let expected: Vec<(String, Vec<String>)> = expected
        .iter()
        .map(|(from, to)| ((*from).to_owned(), to.iter().map(|it| (*it).to_owned()).collect()))
        .collect();
    assert_eq!(of("main.go"), expected);
    assert_eq!(of("other.go"), [("C".to_owned(), vec!["Native".to_owned()])]);
    assert_eq!(shown(&resolver.surroundings("main.go")), ["other.go"]);
    assert_eq!(shown(&resolver.surroundings("main_test.go")), ["main.go", "other.go"]);
    assert_eq!(resolver.surroundings("tool/run/run.go").consulted, ["tool/go.mod"]);
}

#[test]
fn a_manifest_says_where_modules_lie() {
    let module = Module::read(FILES[0].1);
    assert_eq!(module.name, "example.org/shop");
    assert_eq!(module.required, ["github.com/a/b", "github.com/a/b/deep"]);
    assert_eq!(module.replaced, [("example.org/tool".to_owned(), "./tool".to_owned())]);
}
