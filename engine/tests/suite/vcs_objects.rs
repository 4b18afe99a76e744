//! The index and commits as trees.

use crate::project::Project;
use owed_engine::problem::Unchecked;
use owed_engine::tree::{Kind, Tree};

#[test]
fn the_index_is_what_is_staged() {
    let p = Project::new(&[(".gitignore", "node_modules\ndist/\n"), ("a", "committed"), ("gone/x", "1")]);
    p.write("a", "staged");
    p.write("new", "staged");
    p.git(&["add", "-A"]);
    p.write("a", "unstaged fix");
    p.git(&["rm", "-q", "gone/x"]);
    p.write("untracked/u", "1");
    p.write("soon", "1");
    p.git(&["add", "-N", "soon"]);
    p.write("node_modules/x/index.js", "installed");
    p.write("untracked/dist/y", "ignored");
    let tree = p.repository().staged_tree().unwrap();
    assert_eq!(tree.files(), [".gitignore", "a", "new"]);
    assert_eq!(tree.text("a").as_deref(), Some("staged"));
    for absent in ["untracked/u", "soon", "gone", "gone/x", ".git/HEAD"] {
        assert_eq!(tree.kind(absent), None, "{absent}");
    }
    assert_eq!(tree.read("soon"), Err(Unchecked::Unreadable));
    assert_eq!(tree.text("node_modules/x/index.js").as_deref(), Some("installed"));
    assert_eq!(tree.kind("node_modules/x"), Some(Kind::Dir));
    assert_eq!(tree.kind("node_modules/y"), None);
    assert_eq!(tree.kind("untracked/dist/y"), Some(Kind::File));
    let names: Vec<String> = tree.list("").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [".gitignore", "a", "new", "node_modules", "untracked"]);
    assert_eq!(tree.list("untracked"), [("dist".to_owned(), Kind::Dir)]);
}

#[test]
fn a_commit_is_what_was_committed() {
    let p = Project::new(&[("a", "1"), ("dir/b", "1"), ("empty", "")]);
    p.write("a", "2");
    p.write("c", "1");
    p.commit();
    p.write("dir/b", "3");
    let repository = p.repository();
    let tree = repository.revision_tree("HEAD~1").unwrap();
    assert_eq!(tree.files(), ["a", "dir/b", "empty"]);
    assert_eq!(tree.text("a").as_deref(), Some("1"));
    assert_eq!(tree.text("dir/b").as_deref(), Some("1"));
    assert_eq!(tree.text("empty").as_deref(), Some(""));
    assert_eq!(tree.kind("c"), None);
    assert_eq!(tree.list("dir"), [("b".to_owned(), Kind::File)]);
}

#[test]
fn links_lead_through_objects() {
    let p = Project::unborn(&[("src/a.ts", "old"), ("pkg/index.ts", "p")]);
    p.link("link.ts", "src/a.ts");
    p.link("l/dir", "../src");
    p.link("loop1", "loop2");
    p.link("loop2", "loop1");
    p.link("up", "../../../../../../../../../../nowhere/at/all");
    p.link("absolute", p.path("src").to_str().unwrap());
    p.commit();
    p.write(".gitignore", "node_modules\n");
    p.link("node_modules/pkg", "../pkg");
    p.write("src/a.ts", "new");
    p.write("src/untracked.ts", "1");
    let tree = p.repository().revision_tree("HEAD").unwrap();
    assert_eq!(tree.text("link.ts").as_deref(), Some("old"));
    assert_eq!(tree.text("l/dir/a.ts").as_deref(), Some("old"));
    assert_eq!(tree.real("l/dir/a.ts").as_deref(), Some("src/a.ts"));
    assert_eq!(tree.kind("l/dir/untracked.ts"), None);
    assert_eq!(tree.real("absolute/a.ts").as_deref(), Some("src/a.ts"));
    for nowhere in ["loop1", "loop2/x", "up"] {
        assert_eq!(tree.kind(nowhere), None, "{nowhere}");
        assert_eq!(tree.real(nowhere), None, "{nowhere}");
    }
    assert_eq!(tree.real("node_modules/pkg/index.ts").as_deref(), Some("pkg/index.ts"));
    assert_eq!(tree.text("node_modules/pkg/index.ts").as_deref(), Some("p"));
    assert_eq!(tree.files(), ["link.ts", "pkg/index.ts", "src/a.ts"]);
}

#[test]
fn many_blobs_are_read_at_once() {
    let names: Vec<String> = (0..600).map(|i| format!("d{}/f{i}\n", i % 7)).collect();
    let contents: Vec<String> = (0..600).map(|i| format!("{i}\0\n").repeat(i % 5)).collect();
    let files: Vec<(&str, &str)> =
        names.iter().map(String::as_str).zip(contents.iter().map(String::as_str)).collect();
    let p = Project::new(&files);
    let tree = p.repository().revision_tree("HEAD").unwrap().with_size_limit(10);
    let all: Vec<&str> = tree.files().iter().map(String::as_str).collect();
    tree.prefetch(&all[..300]).unwrap();
    for (name, content) in &files {
        let expected =
            if content.len() > 10 { Err(Unchecked::TooLarge) } else { Ok(content.as_bytes().to_vec()) };
        assert_eq!(tree.read(name), expected, "{name}");
    }
    let results: Vec<bool> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| all[300..340].iter().all(|f| tree.kind(f).is_some()))).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(results, [true; 4]);
}
