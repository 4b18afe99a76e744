//! What changed: as git sees it, or as the caller says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use owed_engine::change::{Change, ChangeKind};
use owed_engine::path;
use owed_engine::project::{Delta, Project};
use owed_engine::vcs::{self, AtBase, Changes};

use super::{Compared, Trouble, git_failed};
use crate::answer::Base;
use crate::args::Against;
use crate::complaint::Complaint;
use crate::render::count;
use crate::site::{Git, Site};

/// What is asked.
pub(crate) struct Question<'a> {
    /// Which states are compared.
    pub against: &'a Against,
    /// Exactly these files are the change, unless empty.
    pub paths: &'a [PathBuf],
    /// Every test; then no comparison is needed.
    pub all: bool,
}

impl Question<'_> {
    fn names_revisions(&self) -> bool {
        self.against.base.is_some() || self.against.staged || self.against.revision.is_some()
    }

    /// Whether the answer depends on git.
    fn needs_git(&self) -> bool {
        self.names_revisions() || (self.paths.is_empty() && !self.all)
    }

    /// Refuses a question that cannot be answered here.
    pub(crate) fn needs(&self, site: &Site) -> anyhow::Result<()> {
        match &site.git {
            Git::None if self.needs_git() => {
                let what = format!(
                    "{} is in no git repository, so there is nothing to compare with",
                    site.root.display()
                );
                let next = "name the changed files (`owed plan PATH…`), ask for all tests (`owed plan --all`), \
                            or run `git init` and commit";
                Err(Complaint::new(what, next).into())
            }
            Git::Failed(error) if self.needs_git() => Err(git_failed(error).into()),
            _ => Ok(()),
        }
    }

    fn base(&self) -> vcs::Base {
        let against = self.against;
        let rev = || against.base.clone().unwrap_or_else(|| "HEAD".to_owned());
        match &against.revision {
            Some(commit) => vcs::Base::Revision { rev: commit.clone(), base: against.base.clone() },
            None if against.staged => vcs::Base::Staged { rev: rev() },
            None => vcs::Base::Worktree { rev: rev() },
        }
    }
}

/// What git says, with the base's bytes of what may be a manifest.
#[derive(Debug)]
pub(crate) struct Found {
    changes: Changes,
    /// By path of the repository.
    base_bytes: BTreeMap<String, AtBase>,
}

/// Asks git, if the question needs it or is answered better with it.
pub(crate) fn find(site: &Site, question: &Question<'_>) -> anyhow::Result<Option<Found>> {
    let Some(repository) = site.repository() else { return Ok(None) };
    if question.all && !question.names_revisions() {
        return Ok(None);
    }
    let changes = match repository.changes(&question.base()) {
        Ok(changes) => changes,
        // The caller has said what changed; git would only have told the kinds.
        Err(_) if !question.needs_git() => return Ok(None),
        Err(error) => return Err(git_failed(&error).into()),
    };
    let wanted: Vec<&str> =
        changes.changes.iter().flat_map(Change::paths).filter(|path| may_be_manifest(path)).collect();
    let bytes = repository.base_bytes(&changes, &wanted).map_err(|error| git_failed(&error))?;
    let base_bytes = wanted.iter().map(|path| (*path).to_owned()).zip(bytes).collect();
    Ok(Some(Found { changes, base_bytes }))
}

/// Whether the base's bytes of a file may be worth having. Where they are left out, a
/// changed manifest counts as a new one: more is owed, never less.
fn may_be_manifest(path: &str) -> bool {
    matches!(
        path::extension(path),
        "json" | "jsonc" | "json5" | "toml" | "yaml" | "yml" | "lock" | "txt" | "cfg" | "ini" | "in"
    ) || matches!(path::basename(path), "Pipfile" | "setup.py" | ".npmrc" | ".yarnrc" | ".pnp.cjs")
}

/// Puts together what changed in the project.
pub(crate) fn settle(
    site: &Site,
    project: &Project<'_>,
    question: &Question<'_>,
    found: Option<Found>,
) -> anyhow::Result<Compared> {
    let mut trouble = Trouble::default();
    let (changes, base, base_bytes, sentence) = match found {
        Some(found) => {
            let sentence = sentence(question.against, &found.changes);
            let base = base_of(&found.changes);
            let changes = inside(site, &found.changes, &mut trouble);
            (changes, base, found.base_bytes, sentence)
        }
        None => (Vec::new(), None, BTreeMap::new(), "all tests, as asked".to_owned()),
    };
    let mut compared = if question.paths.is_empty() {
        Compared { delta: Delta { changes, ..Delta::default() }, base, sentence, trouble }
    } else {
        let changes = given(site, project, question, &changes, &mut trouble)?;
        let base = base.filter(|_| question.names_revisions());
        let paths = format!("{} as given", count(question.paths.len(), "path"));
        let sentence = if base.is_some() { format!("{paths}, in the {sentence}") } else { paths };
        Compared { delta: Delta { changes, ..Delta::default() }, base, sentence, trouble }
    };
    let Delta { changes, base, lost } = &mut compared.delta;
    for path in changes.iter().flat_map(Change::paths) {
        match base_bytes.get(&in_repository(site, path)) {
            Some(AtBase::Bytes(bytes)) => drop(base.insert(path.to_owned(), bytes.clone())),
            Some(AtBase::Lost) => drop(lost.insert(path.to_owned())),
            Some(AtBase::Nothing) | None => {}
        }
    }
    Ok(compared)
}

fn in_repository(site: &Site, path: &str) -> String {
    if site.prefix.is_empty() { path.to_owned() } else { format!("{}/{path}", site.prefix) }
}

/// The changes of the repository that concern the project, in its own paths.
fn inside(site: &Site, found: &Changes, trouble: &mut Trouble) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut outside = 0usize;
    for change in &found.changes {
        let path = site.project_path(&change.path);
        let from = match &change.kind {
            ChangeKind::Renamed { from } => site.project_path(from),
            _ => None,
        };
        let renamed = matches!(change.kind, ChangeKind::Renamed { .. });
        let (path, kind) = match (path, from) {
            (Some(path), Some(from)) => (path, ChangeKind::Renamed { from: from.to_owned() }),
            (Some(path), None) if renamed => (path, ChangeKind::Added),
            (Some(path), None) => (path, change.kind.clone()),
            (None, Some(from)) => (from, ChangeKind::Deleted),
            (None, None) => {
                outside += 1;
                continue;
            }
        };
        changes.push(Change { path: path.to_owned(), kind });
    }
    if outside > 0 {
        let detail = format!(
            "{} of the repository outside of this project {} not considered; run owed in the directory that holds both, \
             or declare what tests read there",
            count(outside, "change"),
            if outside == 1 { "is" } else { "are" }
        );
        trouble.say("outside-root", "", detail);
    }
    if let Some(why) = &found.without_renames {
        let detail = format!(
            "{why}; each rename counts as a deletion and an addition, which owe the same tests; \
             `git fetch --refetch` or a full clone brings what is missing"
        );
        trouble.say("renames-not-detected", "", detail);
    }
    for name in &found.undecodable {
        let Some(name) = site.project_path(name) else { continue };
        // Nothing is known about it but that it changed: as if it had come and gone.
        changes.push(Change { path: name.to_owned(), kind: ChangeKind::TypeChanged });
        let detail =
            "its name is not UTF-8, so nothing but directory listings can be matched to it; rename it"
                .to_owned();
        trouble.say("undecodable-name", name, detail);
    }
    changes.sort();
    changes
}

/// The files that the caller named, each with the kind that git knows, if it does.
fn given(
    site: &Site,
    project: &Project<'_>,
    question: &Question<'_>,
    known: &[Change],
    trouble: &mut Trouble,
) -> anyhow::Result<Vec<Change>> {
    let mut kinds: BTreeMap<&str, ChangeKind> = BTreeMap::new();
    for change in known {
        match &change.kind {
            // Exactly what was named: one side of a rename says nothing about the other.
            ChangeKind::Renamed { from } => {
                kinds.insert(from, ChangeKind::Deleted);
                kinds.insert(&change.path, ChangeKind::Added);
            }
            kind => {
                kinds.insert(&change.path, kind.clone());
            }
        }
    }
    let mut paths = BTreeSet::new();
    for argument in question.paths {
        let path = site.inside(argument)?;
        // A folder that is gone stands for its files, too.
        let was_dir = !project.tree.is_file(&path)
            && kinds.keys().any(|file| *file != path && path::is_within(file, &path));
        if !project.tree.is_dir(&path) && !was_dir {
            paths.insert(path);
            continue;
        }
        let before = paths.len();
        let files = project.files.iter().map(String::as_str).chain(kinds.keys().copied());
        paths.extend(files.filter(|file| path::is_within(file, &path)).map(str::to_owned));
        if paths.len() == before {
            let what = format!("no file in {} is considered", argument.display());
            let next = "it is empty, ignored or excluded; name files in it to ask about them nevertheless";
            return Err(Complaint::new(what, next).into());
        }
    }
    let changes = paths.into_iter().map(|path| {
        let kind = kinds.get(path.as_str()).cloned().unwrap_or_else(|| {
            if project.tree.kind(&path).is_some() {
                return ChangeKind::Modified;
            }
            let detail =
                "nothing is there, so it counts as deleted; if the name is wrong, this answer is, too"
                    .to_owned();
            trouble.say("path-absent", &path, detail);
            ChangeKind::Deleted
        });
        Change { path, kind }
    });
    Ok(changes.collect())
}

fn base_of(changes: &Changes) -> Option<Base> {
    let info = &changes.base;
    let commit = info.commit.clone()?;
    Some(Base {
        rev: info.rev.clone(),
        merge_base: info.merge_base.clone().unwrap_or_else(|| commit.clone()),
        commit,
    })
}

/// Between what, for people.
fn sentence(against: &Against, changes: &Changes) -> String {
    let head = match (&changes.head, &against.revision) {
        (Some(commit), Some(rev)) if commit.starts_with(rev.as_str()) => format!("commit {}", short(commit)),
        (Some(commit), Some(rev)) => format!("{rev} ({})", short(commit)),
        _ if against.staged => "index".to_owned(),
        _ => "working tree".to_owned(),
    };
    let info = &changes.base;
    let base = match (&info.commit, &info.merge_base) {
        (Some(commit), Some(merge_base)) if commit != merge_base => {
            format!("{} (merge base {})", info.rev, short(merge_base))
        }
        (Some(commit), _) => format!("{} ({})", info.rev, short(commit)),
        (None, _) => "nothing, for there is no earlier commit".to_owned(),
    };
    format!("{head} against {base}")
}

fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}
