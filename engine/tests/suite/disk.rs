//! The working tree without git.

use std::os::unix::fs::PermissionsExt;

use crate::project::Project;
use owed_engine::problem::Unchecked;
use owed_engine::read::{DiskTree, Inventory, walk};
use owed_engine::tree::{Kind, Tree};

fn tree(p: &Project) -> DiskTree {
    DiskTree::new(p.root(), walk(p.root()))
}

#[test]
fn a_walk_leaves_out_what_is_installed() {
    let p = Project::plain(&[
        ("b.ts", "1"),
        ("a.ts", "1"),
        (".hidden/x.ts", "1"),
        (".gitignore", "ignored\n"),
        ("ignored/x.ts", "1"),
        (".ignore", "kept.ts\n"),
        ("kept.ts", "1"),
        (".git/HEAD", "1"),
        ("sub/.git", "gitdir: x"),
        (".owed/ledger/x", "1"),
        ("pkg/node_modules/x/index.js", "1"),
        ("py/__pycache__/x.pyc", "1"),
        (".venv/pyvenv.cfg", ""),
        (".venv/lib/x.py", "1"),
        ("venv/not-one.py", "1"),
        ("lib/site-packages/x.py", "1"),
        ("dir/node_modules", "a file of that name"),
    ]);
    p.link("link.ts", "a.ts");
    p.link("loop", "loop");
    p.write_bytes(b"caf\xe9.ts", b"1");
    let inventory = walk(p.root());
    assert_eq!(
        inventory.files,
        [
            ".gitignore",
            ".hidden/x.ts",
            ".ignore",
            "a.ts",
            "b.ts",
            "dir/node_modules",
            "kept.ts",
            "venv/not-one.py"
        ]
    );
    assert_eq!(inventory.links, ["link.ts", "loop"]);
    assert_eq!(inventory.not_checked[0].path, "caf\u{fffd}.ts");
    assert_eq!(inventory.not_checked[0].reason, Unchecked::Unreadable);
    assert_eq!(walk(p.root()), inventory, "the same for any order of threads");
}

#[test]
fn links_in_node_modules_lead_to_sources() {
    let p = Project::plain(&[
        ("packages/b/src/index.ts", "b"),
        ("packages/b/package.json", "{}"),
        ("node_modules/.store/c@1/node_modules/c/index.js", "c"),
    ]);
    p.link("node_modules/@scope/b", "../../packages/b");
    p.link("node_modules/c", ".store/c@1/node_modules/c");
    p.link("packages/b/node_modules/c", "../../../node_modules/c");
    let tree = tree(&p);
    assert_eq!(tree.real("node_modules/@scope/b/src/index.ts").as_deref(), Some("packages/b/src/index.ts"));
    assert_eq!(
        tree.real("packages/b/node_modules/c/index.js").as_deref(),
        Some("node_modules/.store/c@1/node_modules/c/index.js")
    );
    assert_eq!(tree.text("node_modules/@scope/b/src/index.ts").as_deref(), Some("b"));
    assert_eq!(tree.kind("node_modules/@scope/b"), Some(Kind::Dir));
    assert_eq!(tree.kind("node_modules/@scope/b/src/index.js"), None);
    assert_eq!(tree.kind("node_modules/absent/deep/path/x.js"), None);
    assert_eq!(tree.kind("packages/b/src/index.ts/x"), None, "below a file is nothing");
    assert_eq!(tree.list("node_modules/@scope"), [("b".to_owned(), Kind::Dir)]);
    let names: Vec<String> = tree.list("node_modules").into_iter().map(|(n, _)| n).collect();
    assert_eq!(names, [".store", "@scope", "c"]);
}

#[test]
fn loops_and_ways_out_end() {
    let outer = Project::plain(&[("elsewhere/x.js", "x")]);
    let p = Project::plain(&[("src/a.ts", "1")]);
    p.link("one", "two");
    p.link("two", "one");
    p.link("self/self", "../self");
    p.link("away", outer.path("elsewhere").to_str().unwrap());
    p.link("home", p.path("src").to_str().unwrap());
    p.link("round", &format!("../{}/src", p.root().file_name().unwrap().to_str().unwrap()));
    outer.link("elsewhere/back", p.path("src").to_str().unwrap());
    let tree = tree(&p);
    assert_eq!((tree.kind("one"), tree.real("one/x")), (None, None));
    assert_eq!(tree.kind("self/self"), Some(Kind::Dir), "not a loop: one step each");
    assert_eq!(tree.kind("self/self/self/self/self"), Some(Kind::Dir));
    assert_eq!(tree.kind("away/x.js"), Some(Kind::File));
    assert_eq!(tree.text("away/x.js").as_deref(), Some("x"));
    assert_eq!(tree.real("away/x.js"), None, "it lies outside");
    assert_eq!(tree.real("away/back/a.ts").as_deref(), Some("src/a.ts"), "and back in");
    assert_eq!(tree.real("home/a.ts").as_deref(), Some("src/a.ts"));
    assert_eq!(tree.real("round/a.ts").as_deref(), Some("src/a.ts"));
    let names: Vec<String> = tree.list("away").into_iter().map(|(n, _)| n).collect();
    assert_eq!(names, ["back", "x.js"]);
    assert_eq!(tree.real(""), Some(String::new()));
    assert_eq!(tree.kind(""), Some(Kind::Dir));
}

#[test]
fn sizes_are_limited() {
    let p = Project::plain(&[("a", "12345")]);
    let tree = tree(&p).with_size_limit(4);
    assert_eq!(tree.read("a"), Err(Unchecked::TooLarge));
    assert_eq!(tree.read("absent"), Err(Unchecked::Unreadable));
    assert_eq!(tree.read(""), Err(Unchecked::Unreadable));
}

#[test]
fn a_directory_that_refuses_to_be_listed() {
    let p = Project::plain(&[("a", "1"), ("closed/x", "1")]);
    std::fs::set_permissions(p.path("closed"), std::fs::Permissions::from_mode(0o100)).unwrap();
    let tree = DiskTree::new(p.root(), Inventory::of_files(vec!["a".to_owned()]));
    let (found, listed, unlisted) = (tree.kind("closed/x"), tree.list("closed"), tree.unlisted());
    std::fs::set_permissions(p.path("closed"), std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(found, Some(Kind::File), "its names are judged one by one");
    // Who may do everything is refused nothing.
    if listed.is_empty() {
        assert_eq!(unlisted, ["closed"]);
    }
}
