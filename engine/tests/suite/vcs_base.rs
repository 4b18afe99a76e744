//! What a change is measured against, and errors that say what to do.

use crate::project::{Project, lines, worktree};
use owed_engine::vcs::{AtBase, Base, Missing, Repository, VcsError};

/// jestjs/jest#9602: what others did on the base since is not ours.
#[test]
fn the_base_is_where_the_branch_began() {
    let p = Project::new(&[("a", "1"), ("b", "1")]);
    let fork = p.git(&["rev-parse", "HEAD"]);
    p.git(&["checkout", "-q", "-b", "topic"]);
    p.write("a", "2");
    p.commit();
    p.git(&["checkout", "-q", "main"]);
    p.write("b", "2");
    let main = p.commit();
    p.git(&["checkout", "-q", "topic"]);
    p.write("c", "1");
    let changes = p.changes(&worktree("main"));
    assert_eq!(lines(&changes), ["modified a", "untracked c"]);
    assert_eq!(changes.base.rev, "main");
    assert_eq!(changes.base.commit, Some(main));
    assert_eq!(changes.base.merge_base.as_ref(), Some(&fork));
    assert_eq!(p.repository().merge_base("main").unwrap(), fork);
    let staged = p.changes(&Base::Staged { rev: "main".to_owned() });
    assert_eq!(lines(&staged), ["modified a"]);
    let revision = Base::Revision { rev: "topic".to_owned(), base: Some("main".to_owned()) };
    assert_eq!(lines(&p.changes(&revision)), ["modified a"]);
}

#[test]
fn an_unknown_revision_names_near_ones() {
    let p = Project::new(&[("a", "1")]);
    p.git(&["branch", "develop"]);
    p.git(&["update-ref", "refs/remotes/origin/release", "HEAD"]);
    let near = |rev: &str| match p.repository().changes(&worktree(rev)) {
        Err(VcsError::UnknownRevision { near, .. }) => near,
        other => panic!("{other:?}"),
    };
    assert_eq!(near("develp"), ["develop"]);
    assert_eq!(near("release"), ["origin/release"]);
    assert_eq!(near("origin/main"), ["main"]);
    assert!(near("something-else").is_empty());
    for odd in ["", "-h", "--all", "a\0b", "HEAD:a", "HEAD~7", "main..HEAD"] {
        assert!(matches!(p.repository().commit_of(odd), Err(VcsError::UnknownRevision { .. })), "{odd:?}");
    }
}

#[test]
fn a_shallow_clone_says_how_to_deepen_it() {
    let p = Project::new(&[("a", "1")]);
    p.write("a", "2");
    p.commit();
    p.git(&["checkout", "-q", "-b", "topic", "HEAD~1"]);
    p.write("b", "1");
    p.commit();
    let shallow = p.cloned(&["--depth=1", "--no-single-branch"]);
    let repository = shallow.repository();
    assert!(repository.is_shallow());
    let missing = |base: &Base| match repository.changes(base) {
        Err(error @ VcsError::ShallowBase { missing, .. }) => {
            assert!(error.to_string().contains("git fetch --deepen="), "{error}");
            missing
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(missing(&worktree("HEAD~1")), Missing::Commit);
    assert_eq!(missing(&worktree("origin/main")), Missing::MergeBase);
    assert_eq!(missing(&Base::Revision { rev: "HEAD".to_owned(), base: None }), Missing::Parent);
    assert_eq!(shallow.changed("HEAD"), [""; 0]);
    shallow.git(&["fetch", "-q", "--unshallow"]);
    assert_eq!(shallow.changed("origin/main"), ["added b"]);
}

#[test]
fn unrelated_histories_have_no_base() {
    let p = Project::new(&[("a", "1")]);
    p.git(&["checkout", "-q", "--orphan", "other"]);
    assert!(matches!(p.repository().changes(&worktree("main")), Err(VcsError::NoMergeBase { .. })));
    p.write("a", "2");
    p.commit();
    assert!(matches!(p.repository().changes(&worktree("main")), Err(VcsError::NoMergeBase { .. })));
}

#[test]
fn no_repository_is_an_answer_and_a_broken_one_is_an_error() {
    let p = Project::plain(&[("dir/a", "1")]);
    assert!(Repository::discover(p.root()).unwrap().is_none());
    p.write(".git/config", "");
    assert!(matches!(Repository::discover(&p.path("dir")), Err(VcsError::Broken { .. })));
    let q = Project::plain(&[(".git", "gitdir: /nowhere\n")]);
    assert!(matches!(Repository::discover(q.root()), Err(VcsError::Broken { .. })));
}

#[test]
fn a_bare_repository_has_nothing_to_look_at() {
    let p = Project::plain(&[]);
    p.git(&["init", "-q", "--bare", "bare.git"]);
    assert!(matches!(Repository::discover(&p.path("bare.git")), Err(VcsError::NoWorkTree)));
    let q = Project::new(&[("a", "1")]);
    assert!(matches!(Repository::discover(&q.path(".git")), Err(VcsError::NoWorkTree)));
}

#[test]
fn a_directory_inside_and_a_linked_worktree() {
    let p = Project::new(&[("dir/a", "1"), ("b", "1")]);
    let inner = Repository::discover(&p.path("dir")).unwrap().unwrap();
    assert_eq!(inner.root(), p.root());
    assert_eq!(inner.files().unwrap().files, ["b", "dir/a"]);
    p.git(&["worktree", "add", "-q", "trees/x"]);
    let linked = Repository::discover(&p.path("trees/x")).unwrap().unwrap();
    assert_eq!(linked.root(), p.path("trees/x"));
    p.write("trees/x/b", "22");
    assert_eq!(lines(&linked.changes(&worktree("HEAD")).unwrap()), ["modified b"]);
    // For the outer one it is a repository of its own.
    assert_eq!(p.changed("HEAD"), [""; 0]);
    assert_eq!(p.repository().files().unwrap().embedded, ["trees/x"]);
}

#[test]
fn a_newline_in_the_root() {
    let p = Project::plain(&[("a\nb/x", "1")]);
    p.git(&["init", "-q", "a\nb"]);
    let repository = Repository::discover(&p.path("a\nb")).unwrap().unwrap();
    assert_eq!(repository.root(), p.path("a\nb"));
    assert_eq!(repository.files().unwrap().files, ["x"]);
}

#[test]
fn sha256_repositories() {
    let p = Project::plain(&[("a", "1")]);
    p.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    p.git(&["add", "a"]);
    assert_eq!(p.changed("HEAD"), ["added a"]);
    let commit = p.commit();
    p.write("a", "2");
    let changes = p.changes(&worktree("HEAD"));
    assert_eq!(lines(&changes), ["modified a"]);
    assert_eq!(changes.base.commit, Some(commit));
    assert_eq!(p.repository().base_bytes(&changes, &["a"]).unwrap(), [AtBase::Bytes(b"1".to_vec())]);
}
