//! What `use` trees stand for, and where modules lie.

use std::collections::BTreeMap;

use owed_engine::facts::Import;
use owed_engine::language::{Language, SourceFile};
use owed_engine::resolve::{ResolveOptions, Target};
use owed_engine::tree::MemoryTree;

use super::RUST;

fn imports(text: &str) -> Vec<Import> {
    RUST.read(SourceFile { path: "a.rs", bytes: text.as_bytes() }).imports
}

fn specifiers(text: &str) -> Vec<String> {
    imports(text).into_iter().map(|import| import.specifier).collect()
}

#[test]
fn a_use_tree_is_one_import_a_path() {
    let text =
        "use a::{b, c::{self, d as e, f::*}, /* x */ self};\nuse ::g;\nuse r#type::h as _;\nuse {i, j::k};";
    let expected = ["a::b", "a::c", "a::c::d", "a::c::f", "a", "::g", "type::h", "i", "j::k"];
    assert_eq!(specifiers(text), expected);
}

#[test]
fn modules_are_told_from_where_they_stand() {
    let text = "mod a;\nmod b { mod c; use super::d; use self::e; use super::super::f; #[path = \"g.rs\"] mod g; }\n\
                #[path = \"x/y.rs\"]\n#[cfg(unix)]\nmod h;\ninclude!(\"i.rs\");";
    let expected = [
        "mod a",
        "mod b/c",
        "self::d",
        "self::b::e",
        "super::f",
        "path b/g.rs",
        "path x/y.rs",
        "include i.rs",
    ];
    assert_eq!(specifiers(text), expected);
}

fn resolved(files: &[(&str, &str)], from: &str) -> Vec<String> {
    let files: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    let bytes = files[from].clone();
    let tree = MemoryTree::new(files);
    let resolver = RUST.resolver(&tree, &ResolveOptions::default());
    let facts = RUST.read(SourceFile { path: from, bytes: &bytes });
    let mut all = Vec::new();
    for import in &facts.imports {
        let found = resolver.resolve(from, import);
        for target in &found.targets {
            match target {
                Target::File(path) => all.push(path.clone()),
                Target::Package(name) => all.push(name.clone()),
                other => panic!("{other:?}"),
            }
        }
        if let Some(unknown) = found.unknown {
            all.push(format!("{unknown:?} {}", import.specifier));
        }
    }
    all
}

#[test]
fn paths_lead_to_files_of_the_crate_its_neighbours_and_packages() {
    let files = [
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"app\", \"shop\"]\n[workspace.dependencies]\nshop-core = { path = \"shop\" }\n",
        ),
        (
            "app/Cargo.toml",
            "[package]\nname = \"app\"\n[dependencies]\nshop-core.workspace = true\nserde = \"1\"\nlocal = { path = \"../shop\", package = \"shop-core\" }\n",
        ),
        (
            "app/src/lib.rs",
            "mod cart;\nmod gone;\nuse crate::cart::item::Item;\nuse shop_core::price::Price;\nuse local::x;\nuse serde::Serialize;\n\
             use std::fmt;\nuse nobody::x;\nuse Item as I;\nfn f() { cart::item::make(); serde::de(); missing::x() }\n",
        ),
        ("app/src/cart.rs", "mod item;\nuse super::util;\nuse self::item::Item;\nuse crate::util::x;"),
        ("app/src/cart/item.rs", "use super::super::util::y; use super::total;"),
        ("app/src/util/mod.rs", "mod deep;"),
        ("app/src/util/deep.rs", "use super::z;"),
        ("app/tests/it.rs", "mod common;\nuse app::cart::Cart;\nuse crate::common::help;"),
        ("app/tests/common/mod.rs", ""),
        ("shop/Cargo.toml", "[package]\nname = \"shop-core\"\n[lib]\npath = \"lib/start.rs\"\n"),
        ("shop/lib/start.rs", "pub mod price;"),
        ("shop/lib/price.rs", ""),
    ];
    let of = |from: &str| resolved(&files, from);
    assert_eq!(
        of("app/src/lib.rs"),
        [
            "app/src/cart.rs",
            "Unresolved mod gone",
            "app/src/cart/item.rs",
            "shop/lib/price.rs",
            "shop/lib/start.rs",
            "cargo:serde",
            "Undeclared nobody::x",
            "app/src/cart/item.rs",
            "cargo:serde",
        ]
    );
    assert_eq!(
        of("app/src/cart.rs"),
        ["app/src/cart/item.rs", "app/src/util/mod.rs", "app/src/cart/item.rs", "app/src/util/mod.rs"]
    );
    assert_eq!(of("app/src/cart/item.rs"), ["app/src/util/mod.rs", "app/src/cart.rs"]);
    assert_eq!(of("app/src/util/mod.rs"), ["app/src/util/deep.rs"]);
    assert_eq!(of("app/src/util/deep.rs"), ["app/src/util/mod.rs"]);
    assert_eq!(
        of("app/tests/it.rs"),
        ["app/tests/common/mod.rs", "app/src/cart.rs", "app/tests/common/mod.rs"]
    );
    assert_eq!(of("shop/lib/start.rs"), ["shop/lib/price.rs"]);
}
