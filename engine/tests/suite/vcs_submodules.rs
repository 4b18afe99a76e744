//! Repositories inside of repositories.

use crate::project::{Project, lines, worktree};
use owed_engine::problem::Unchecked;
use owed_engine::tree::{Kind, Tree};
use owed_engine::vcs::{AtBase, Base, SubmoduleChange};

/// A project with a submodule at `vendor/lib`, and the commit of the latter.
fn with_submodule() -> (Project, Project) {
    let library = Project::new(&[("lib.ts", "1"), ("README", "1")]);
    let project = Project::new(&[("a.ts", "1")]);
    let url = library.root().to_str().unwrap();
    project.git(&["submodule", "--quiet", "add", url, "vendor/lib"]);
    project.commit();
    (project, library)
}

#[test]
fn files_of_a_submodule_belong_to_the_project() {
    let (p, _library) = with_submodule();
    let inventory = p.repository().files().unwrap();
    assert_eq!(inventory.files, [".gitmodules", "a.ts", "vendor/lib/README", "vendor/lib/lib.ts"]);
    assert!(inventory.submodules[0].listed);
    assert_eq!(p.changed("HEAD"), [""; 0]);
    p.write("vendor/lib/node_modules/x/index.js", "installed");
    let tree = p.repository().revision_tree("HEAD").unwrap();
    assert_eq!(tree.files(), p.tree().files());
    assert_eq!(tree.kind("vendor/lib/node_modules/x/index.js"), Some(Kind::File));
    assert_eq!(tree.text("vendor/lib/lib.ts").as_deref(), Some("1"));
}

#[test]
fn changes_inside_are_listed() {
    let (p, _library) = with_submodule();
    p.write("vendor/lib/lib.ts", "22");
    p.write("vendor/lib/new.ts", "1");
    let changes = p.changes(&worktree("HEAD"));
    let expected = ["modified vendor/lib", "modified vendor/lib/lib.ts", "untracked vendor/lib/new.ts"];
    assert_eq!(lines(&changes), expected);
    assert_eq!(changes.submodules, [SubmoduleChange { path: "vendor/lib".to_owned(), listed: true }]);
    let bytes = p.repository().base_bytes(&changes, &["vendor/lib/lib.ts", "vendor/lib/new.ts"]).unwrap();
    assert_eq!(bytes, [AtBase::Bytes(b"1".to_vec()), AtBase::Nothing]);
    let unchanged = p.repository().base_bytes(&changes, &["vendor/lib/README", "vendor/none"]).unwrap();
    assert_eq!(unchanged, [AtBase::Bytes(b"1".to_vec()), AtBase::Nothing]);
    // Flags do not hide it.
    p.git(&["update-index", "--assume-unchanged", "vendor/lib"]);
    assert_eq!(p.changed("HEAD"), expected);
}

#[test]
fn another_commit_of_a_submodule() {
    let (p, library) = with_submodule();
    library.write("lib.ts", "22");
    library.commit();
    p.git(&["-C", "vendor/lib", "pull", "-q"]);
    let expected = ["modified vendor/lib", "modified vendor/lib/lib.ts"];
    assert_eq!(p.changed("HEAD"), expected);
    assert_eq!(p.staged(), [""; 0]);
    let tree = p.repository().staged_tree().unwrap();
    assert_eq!(tree.text("vendor/lib/lib.ts").as_deref(), Some("1"), "the recorded commit");
    p.git(&["add", "vendor/lib"]);
    assert_eq!(p.staged(), expected);
    assert_eq!(p.repository().staged_tree().unwrap().text("vendor/lib/lib.ts").as_deref(), Some("22"));
    p.commit();
    assert_eq!(lines(&p.changes(&Base::Revision { rev: "HEAD".to_owned(), base: None })), expected);
}

#[test]
fn a_submodule_that_is_not_checked_out() {
    let (p, _library) = with_submodule();
    let clone = p.cloned(&[]);
    let inventory = clone.repository().files().unwrap();
    assert_eq!(inventory.files, [".gitmodules", "a.ts"]);
    assert!(!inventory.submodules[0].listed);
    assert_eq!(inventory.not_checked[0].path, "vendor/lib");
    assert_eq!(inventory.not_checked[0].reason, Unchecked::Unreadable);
    assert_eq!(clone.tree().kind("vendor/lib"), Some(Kind::Dir));
    assert_eq!(clone.changed("HEAD"), [""; 0]);
    let tree = clone.repository().revision_tree("HEAD").unwrap();
    assert_eq!(tree.kind("vendor/lib"), Some(Kind::Dir));
    assert_eq!(tree.list("vendor/lib"), []);
    assert_eq!(tree.inventory().not_checked[0].path, "vendor/lib");
    // Its content against an earlier commit is not known, and said to be.
    let changes = clone.changes(&worktree("HEAD~1"));
    assert_eq!(lines(&changes), ["added .gitmodules", "added vendor/lib"]);
    assert_eq!(changes.submodules, [SubmoduleChange { path: "vendor/lib".to_owned(), listed: false }]);
}

#[test]
fn a_new_submodule_is_new_files() {
    let (p, _library) = with_submodule();
    assert_eq!(
        p.changed("HEAD~1"),
        ["added .gitmodules", "added vendor/lib", "added vendor/lib/README", "added vendor/lib/lib.ts"]
    );
}
