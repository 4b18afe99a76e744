//! What counts as a change, and as which.

use std::os::unix::fs::PermissionsExt;

use crate::project::{Project, lines, worktree};
use owed_engine::vcs::{AtBase, Base};

const LONG: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
const NOTHING: [&str; 0] = [];

#[test]
fn staged_unstaged_untracked_and_deleted_count() {
    let p = Project::new(&[("a", "1"), ("b", "1"), ("c", "1"), ("d", "1"), (".gitignore", "out/\n")]);
    assert_eq!(p.changed("HEAD"), NOTHING);
    p.write("a", "22");
    p.write("b", "22");
    p.write("new", "another text");
    p.write("sub/untracked", "1");
    p.write("out/ignored", "1");
    p.git(&["add", "b", "new"]);
    p.remove("c");
    p.git(&["rm", "-q", "d"]);
    assert_eq!(
        p.changed("HEAD"),
        ["modified a", "modified b", "deleted c", "deleted d", "added new", "untracked sub/untracked"]
    );
    assert_eq!(p.staged(), ["modified b", "deleted d", "added new"]);
    assert_eq!(p.files(), [".gitignore", "a", "b", "new", "sub/untracked"]);
}

#[test]
fn a_rename_has_both_sides() {
    let p = Project::new(&[("old.ts", LONG), ("kept.ts", "x")]);
    p.git(&["mv", "old.ts", "new.ts"]);
    p.write("new.ts", &format!("{LONG}nine\n"));
    assert_eq!(p.changed("HEAD"), ["renamed new.ts < old.ts"]);
    assert_eq!(p.staged(), ["renamed new.ts < old.ts"]);
    let changes = p.changes(&worktree("HEAD"));
    let bytes = p.repository().base_bytes(&changes, &["old.ts", "new.ts", "kept.ts", "none", ""]).unwrap();
    assert_eq!(
        bytes,
        [
            AtBase::Bytes(LONG.into()),
            AtBase::Nothing,
            AtBase::Bytes(b"x".to_vec()),
            AtBase::Nothing,
            AtBase::Nothing
        ]
    );
}

#[test]
fn empty_files_are_not_paired() {
    let p = Project::new(&[("a/__init__.py", "")]);
    p.git(&["rm", "-q", "a/__init__.py"]);
    p.write("b/__init__.py", "");
    p.git(&["add", "-A"]);
    assert_eq!(p.changed("HEAD"), ["deleted a/__init__.py", "added b/__init__.py"]);
}

/// nrwl/nx#36660: names that git would quote.
#[test]
fn names_are_taken_as_they_are() {
    let names = ["Einkäufe/größe.ts", "new\nline", "quo\"te", "tab\tb", "space and\\back", " lead"];
    let p = Project::new(&names.map(|n| (n, "1")));
    for name in names {
        p.write(name, "22");
    }
    let mut expected = names.map(|n| format!("modified {n}"));
    expected.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
    assert_eq!(p.changed("HEAD"), expected);
    let changes = p.changes(&worktree("HEAD"));
    let bytes = p.repository().base_bytes(&changes, &names).unwrap();
    assert_eq!(bytes, vec![AtBase::Bytes(b"1".to_vec()); names.len()]);
}

#[test]
fn names_that_are_no_text_are_reported() {
    let p = Project::new(&[("a", "1")]);
    p.write_bytes(b"caf\xe9", b"1");
    p.commit();
    p.write_bytes(b"caf\xe9", b"22");
    p.write_bytes(b"\xffnew", b"1");
    let changes = p.changes(&worktree("HEAD"));
    assert_eq!(lines(&changes), NOTHING);
    assert_eq!(changes.undecodable, ["caf\u{fffd}", "\u{fffd}new"]);
    let inventory = p.repository().files().unwrap();
    assert_eq!(inventory.files, ["a"]);
    let refused: Vec<&str> = inventory.not_checked.iter().map(|n| n.path.as_str()).collect();
    assert_eq!(refused, ["caf\u{fffd}", "\u{fffd}new"]);
}

#[test]
fn modes_and_types_count() {
    let p = Project::new(&[("script", "x"), ("file", "x"), ("target", "x")]);
    std::fs::set_permissions(p.path("script"), std::fs::Permissions::from_mode(0o755)).unwrap();
    p.remove("file");
    p.link("file", "target");
    assert_eq!(p.changed("HEAD"), ["type-changed file", "modified script"]);
}

#[test]
fn a_file_replaced_by_a_directory() {
    let p = Project::new(&[("x", "1"), ("d/y", "1")]);
    p.remove("x");
    p.write("x/inner", "1");
    std::fs::remove_dir_all(p.path("d")).unwrap();
    p.write("d", "1");
    assert_eq!(p.changed("HEAD"), ["untracked d", "deleted d/y", "deleted x", "untracked x/inner"]);
    assert_eq!(p.files(), ["d", "x/inner"]);
}

#[test]
fn a_time_stamp_is_no_change() {
    let p = Project::new(&[("a", "1")]);
    p.write("a", "1");
    assert_eq!(p.changed("HEAD"), NOTHING);
    // Even where the configuration says that git may believe it.
    p.git(&["config", "diff.autoRefreshIndex", "false"]);
    p.write("a", "1");
    assert_eq!(p.changed("HEAD"), NOTHING);
}

#[test]
fn a_change_of_the_same_size_and_second_is_seen() {
    let p = Project::new(&[("a", "1")]);
    p.write("a", "2");
    assert_eq!(p.changed("HEAD"), ["modified a"]);
}

/// Settings for file systems that lie about these have git overlook such an edit.
#[test]
fn a_change_with_its_old_size_and_time_is_seen() {
    let p = Project::new(&[("a", "1")]);
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let set_back = || std::fs::File::open(p.path("a")).unwrap().set_modified(old).unwrap();
    set_back();
    p.git(&["add", "a"]);
    p.git(&["config", "core.trustctime", "false"]);
    p.git(&["config", "core.checkStat", "minimal"]);
    p.git(&["config", "core.untrackedCache", "true"]);
    p.git(&["update-index", "--refresh"]);
    // Git compares whole seconds.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    std::fs::write(p.path("a"), "2").unwrap();
    set_back();
    assert_eq!(p.git(&["status", "--porcelain", "--untracked-files=no"]), "", "git does not see it");
    assert_eq!(p.changed("HEAD"), ["modified a"]);
}

#[test]
fn a_change_undone_is_none() {
    let p = Project::new(&[("a", "1"), ("b", "1")]);
    p.write("a", "2");
    p.git(&["add", "a"]);
    p.write("a", "1");
    assert_eq!(p.changed("HEAD"), NOTHING, "the working tree is what it was");
    assert_eq!(p.staged(), ["modified a"]);
}

#[test]
fn no_longer_tracked_but_there() {
    let p = Project::new(&[("same", LONG), ("other", "1"), ("gone", "1"), ("ignored", "1")]);
    p.git(&["rm", "-q", "--cached", "same", "other", "gone", "ignored"]);
    p.write("other", "22");
    p.remove("gone");
    p.write(".gitignore", "ignored\n");
    assert_eq!(
        p.changed("HEAD"),
        ["untracked .gitignore", "deleted gone", "deleted ignored", "modified other"]
    );
    assert_eq!(p.staged(), ["deleted gone", "deleted ignored", "deleted other", "deleted same"]);
}

#[test]
fn a_rename_whose_source_is_still_there() {
    let p = Project::new(&[("a", LONG)]);
    p.git(&["rm", "-q", "--cached", "a"]);
    p.write("b", LONG);
    p.git(&["add", "b"]);
    assert_eq!(p.staged(), ["renamed b < a"]);
    assert_eq!(p.changed("HEAD"), ["added b"], "`a` holds what it held");
}

#[test]
fn intended_to_be_added() {
    let p = Project::new(&[("a", "1")]);
    p.write("soon", "another text");
    p.write("empty", "");
    p.git(&["add", "-N", "soon"]);
    p.git(&["add", "empty"]);
    assert_eq!(p.changed("HEAD"), ["added empty", "added soon"]);
    assert_eq!(p.staged(), ["added empty"]);
    assert_eq!(p.files(), ["a", "empty", "soon"]);
}

#[test]
fn before_the_first_commit_everything_is_new() {
    let p = Project::unborn(&[("a", "1"), ("b", "1")]);
    p.git(&["add", "a"]);
    let changes = p.changes(&worktree("HEAD"));
    assert_eq!(lines(&changes), ["added a", "untracked b"]);
    assert_eq!((changes.base.commit, changes.base.merge_base), (None, None));
    assert_eq!(p.staged(), ["added a"]);
    assert_eq!(p.files(), ["a", "b"]);
}

/// PrimeIntellect-ai/prime-agent#2237: flags hide an edit from `git status` and `git diff`.
#[test]
fn files_git_was_told_not_to_look_at_are_read() {
    let names = ["assumed", "skipped", "same", "new\nline", "gone", "link", "mode"];
    let p = Project::new(&names.map(|n| (n, "1")));
    for name in ["assumed", "same", "new\nline", "gone", "link", "mode"] {
        p.git(&["update-index", "--assume-unchanged", name]);
    }
    p.git(&["update-index", "--skip-worktree", "skipped"]);
    assert_eq!(p.changed("HEAD"), NOTHING);
    p.write("assumed", "2");
    p.write("skipped", "2");
    p.write("new\nline", "2");
    p.remove("gone");
    p.remove("link");
    p.link("link", "1");
    std::fs::set_permissions(p.path("mode"), std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(p.git(&["status", "--porcelain"]), "", "git does not see them");
    assert_eq!(
        p.changed("HEAD"),
        [
            "modified assumed",
            "deleted gone",
            "type-changed link",
            "modified mode",
            "modified new\nline",
            "modified skipped"
        ]
    );
    let inventory = p.repository().files().unwrap();
    assert_eq!(inventory.files, ["assumed", "mode", "new\nline", "same", "skipped"]);
    assert_eq!(inventory.links, ["link"]);
}

#[test]
fn a_flagged_link_is_compared_by_its_target() {
    let p = Project::unborn(&[("a", "1")]);
    p.link("l", "a");
    p.link("m", "a");
    p.commit();
    p.git(&["update-index", "--assume-unchanged", "l", "m"]);
    p.remove("l");
    p.link("l", "b");
    assert_eq!(p.changed("HEAD"), ["modified l"]);
}

#[test]
fn a_sparse_checkout_deletes_nothing() {
    let p = Project::new(&[("in/a", "1"), ("out/b", "1"), ("out/c", "1"), ("top", "1")]);
    p.git(&["sparse-checkout", "set", "in"]);
    assert!(!p.path("out/b").exists());
    assert_eq!(p.changed("HEAD"), NOTHING);
    assert_eq!(p.files(), ["in/a", "top"]);
    // The same when the index itself is sparse.
    p.git(&["sparse-checkout", "reapply", "--sparse-index"]);
    assert_eq!(p.changed("HEAD"), NOTHING);
    assert_eq!(p.files(), ["in/a", "top"]);
    assert_eq!(p.staged(), NOTHING);
    let staged = p.repository().staged_tree().unwrap();
    assert_eq!(owed_engine::tree::Tree::files(&staged), ["in/a", "out/b", "out/c", "top"]);
    p.write("in/a", "22");
    p.write("out/b", "22");
    assert_eq!(p.changed("HEAD"), ["modified in/a", "modified out/b"]);
    assert_eq!(p.files(), ["in/a", "out/b", "top"]);
}

#[test]
fn conflicts_are_modified() {
    let p = Project::new(&[("a", "1\n"), ("b", "1\n"), ("clean", "1\n")]);
    p.git(&["checkout", "-q", "-b", "other"]);
    p.write("a", "other\n");
    p.write("b", "other\n");
    p.write("clean", "other\n");
    p.commit();
    p.git(&["checkout", "-q", "main"]);
    p.write("a", "ours\n");
    p.remove("b");
    p.commit();
    let merge = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| p.git(&["merge", "-q", "other"])));
    assert!(merge.is_err(), "there are conflicts");
    // Deleted by us, `b` is new on the disk; in the index neither is anything yet.
    assert_eq!(p.changed("HEAD"), ["modified a", "added b", "modified clean"]);
    assert_eq!(p.staged(), ["modified a", "modified b", "modified clean"]);
    assert_eq!(p.files(), ["a", "b", "clean"]);
    let tree = p.repository().staged_tree().unwrap();
    let text = |path| owed_engine::tree::Tree::text(&tree, path);
    assert_eq!(text("a").as_deref(), Some("ours\n"), "our side");
    assert_eq!(text("b").as_deref(), Some("other\n"), "theirs, where ours is gone");
}

#[test]
fn line_endings_are_git_s_to_judge() {
    let p = Project::new(&[("a", "1\n2\n"), (".gitattributes", "* text=auto eol=crlf\n")]);
    p.write("a", "1\r\n2\r\n");
    assert_eq!(p.changed("HEAD"), NOTHING);
    p.git(&["update-index", "--assume-unchanged", "a"]);
    assert_eq!(p.changed("HEAD"), NOTHING, "filters hold for flagged files as well");
}

#[test]
fn configuration_does_not_change_the_answer() {
    let p = Project::new(&[("dir/a", LONG), ("b", "1")]);
    let settings = [
        ("core.quotePath", "true"),
        ("core.pager", "false"),
        ("core.fsmonitor", "./no-such-hook"),
        ("diff.renames", "copies"),
        ("diff.relative", "true"),
        ("diff.noprefix", "true"),
        ("diff.external", "false"),
        ("diff.ignoreSubmodules", "all"),
        ("status.showUntrackedFiles", "no"),
        ("color.ui", "always"),
    ];
    for (key, value) in settings {
        p.git(&["config", key, value]);
    }
    p.write("dir/a", &format!("{LONG}x"));
    p.write("dir/copy", LONG);
    p.git(&["add", "dir/copy"]);
    p.write("ü", "1");
    assert_eq!(p.changed("HEAD"), ["modified dir/a", "added dir/copy", "untracked ü"]);
}

#[test]
fn installed_things_are_not_untracked_sources() {
    let p = Project::new(&[("a.ts", "1")]);
    p.write("node_modules/x/index.js", "1");
    p.write("py/env/pyvenv.cfg", "");
    p.write("py/env/lib/x.py", "1");
    p.write("py/__pycache__/x.pyc", "1");
    p.write(".owed/cache/x", "1");
    p.write("py/x.py", "1");
    assert_eq!(p.changed("HEAD"), ["untracked py/x.py"]);
    assert_eq!(p.files(), ["a.ts", "py/x.py"]);
}

#[test]
fn revisions_are_compared_with_their_parent_or_a_base() {
    let p = Project::new(&[("a", "1")]);
    let first = p.git(&["rev-parse", "HEAD"]);
    p.write("b", "1");
    p.commit();
    p.write("a", "2");
    p.commit();
    p.write("c", "not committed");
    let of = |rev: &str, base: Option<&str>| {
        p.changes(&Base::Revision { rev: rev.to_owned(), base: base.map(str::to_owned) })
    };
    assert_eq!(lines(&of("HEAD", None)), ["modified a"]);
    assert_eq!(lines(&of("HEAD~1", None)), ["added b"]);
    assert_eq!(lines(&of("HEAD", Some(&first))), ["modified a", "added b"]);
    let root = of(&first, None);
    assert_eq!((lines(&root), root.base.commit), (vec!["added a".to_owned()], None));
    assert_eq!(root.head, Some(first));
}

/// A partial clone without its promisor, or a damaged repository.
#[test]
fn without_the_old_contents_a_rename_is_a_deletion_and_an_addition() {
    let p = Project::new(&[("old.ts", LONG), ("kept.json", "kept"), ("changed.json", "1"), ("touched", "2")]);
    p.git(&["mv", "old.ts", "new.ts"]);
    p.write("new.ts", &format!("{LONG}nine\n"));
    p.write("changed.json", "22");
    p.git(&["add", "-A"]);
    assert_eq!(p.changes(&worktree("HEAD")).without_renames, None);
    p.write("touched", "2");
    for name in ["old.ts", "changed.json", "touched"] {
        p.lose(&format!("HEAD:{name}"));
    }
    let expected = ["modified changed.json", "added new.ts", "deleted old.ts"];
    for base in [worktree("HEAD"), Base::Staged { rev: "HEAD".to_owned() }] {
        let changes = p.changes(&base);
        assert_eq!(lines(&changes), expected, "{base:?}");
        assert!(changes.without_renames.is_some_and(|why| why.contains("unable to read")));
    }
    let changes = p.changes(&worktree("HEAD"));
    let names = ["old.ts", "new.ts", "kept.json", "changed.json"];
    let bytes = p.repository().base_bytes(&changes, &names).unwrap();
    assert_eq!(bytes, [AtBase::Lost, AtBase::Nothing, AtBase::Bytes(b"kept".to_vec()), AtBase::Lost]);
}
