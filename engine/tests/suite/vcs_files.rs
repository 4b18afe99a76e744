//! The inventory from git, and the tree of it.

use crate::project::Project;
use owed_engine::problem::Unchecked;
use owed_engine::tree::{Kind, Tree};

#[test]
fn tracked_links_are_followed() {
    let p = Project::unborn(&[("src/a.ts", "1")]);
    p.link("file", "src/a.ts");
    p.link("dir", "src");
    p.link("dangling", "nowhere");
    p.link("loop", "loop");
    p.link("outside", "/etc/hostname");
    p.commit();
    p.link("untracked", "src/a.ts");
    let inventory = p.repository().files().unwrap();
    assert_eq!(inventory.files, ["src/a.ts"]);
    assert_eq!(inventory.links, ["dangling", "dir", "file", "loop", "outside", "untracked"]);
    let tree = p.tree();
    assert!(tree.files().iter().any(|f| f == "file"));
    assert!(tree.files().iter().all(|f| f != "dir" && f != "loop" && f != "dangling"));
    assert_eq!(tree.kind("dir"), Some(Kind::Dir));
    assert_eq!(tree.real("dir/a.ts").as_deref(), Some("src/a.ts"));
    assert_eq!(tree.real("untracked").as_deref(), Some("src/a.ts"));
    assert_eq!(tree.kind("loop"), None);
    assert_eq!(tree.real("outside"), None);
}

#[test]
fn a_file_that_vanishes_is_unreadable() {
    let p = Project::new(&[("a", "1"), ("b", "1")]);
    let tree = p.tree();
    p.remove("a");
    assert_eq!(tree.kind("a"), Some(Kind::File), "as it was seen");
    assert_eq!(tree.read("a"), Err(Unchecked::Unreadable));
    assert_eq!(tree.read("b").as_deref(), Ok(&b"1"[..]));
}

#[test]
fn ignored_files_are_seen_but_not_listed() {
    let p = Project::new(&[(".gitignore", "node_modules\n*.gen.ts\n"), ("src/a.ts", "1")]);
    p.write("src/b.gen.ts", "1");
    p.write("node_modules/x/package.json", "{}");
    let tree = p.tree();
    assert_eq!(tree.files(), [".gitignore", "src/a.ts"]);
    assert_eq!(tree.kind("src/b.gen.ts"), Some(Kind::File));
    assert_eq!(tree.kind("src/b.ts"), None);
    assert_eq!(tree.text("node_modules/x/package.json").as_deref(), Some("{}"));
    assert_eq!(tree.list("src"), [("a.ts".to_owned(), Kind::File), ("b.gen.ts".to_owned(), Kind::File)]);
    let names: Vec<String> = tree.list("").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [".gitignore", "node_modules", "src"]);
    let ignored = p.repository().ignored(&["src/b.gen.ts", "src/a.ts", "node_modules/x"]).unwrap();
    assert_eq!(ignored, ["node_modules/x", "src/b.gen.ts"]);
    assert!(p.repository().ignored(&["src/a.ts", ":(glob)src/*.gen.t?", ""]).unwrap().is_empty());
}
