//! The files of the project: the working tree, the index or a commit, cut down to the
//! directory of the project when that is not the whole repository.

use std::path::{Path, PathBuf};

use owed_engine::cache::{Cache, Objects, Stats, Time};
use owed_engine::digest::Digest;
use owed_engine::path;
use owed_engine::problem::{NotChecked, Unchecked};
use owed_engine::read::{DiskTree, Inventory, walk};
use owed_engine::tree::{Kind, Tree, Witness};
use owed_engine::vcs::ObjectTree;

use super::{Trouble, git_failed};
use crate::args::Against;
use crate::complaint::Complaint;
use crate::site::{Git, Site};

/// The tree of a site.
pub(crate) struct SiteTree {
    whole: Whole,
    /// The project's directory in `whole`; `""` for all of it.
    prefix: String,
    root: PathBuf,
    /// The inventory below `prefix`; empty when `prefix` is.
    files: Vec<String>,
    not_checked: Vec<NotChecked>,
    embedded: Vec<String>,
}

enum Whole {
    Disk(Box<DiskTree>),
    Objects(Box<ObjectTree>),
}

impl SiteTree {
    /// The tree that `against` judges.
    /// What the cache knows of contents is not read.
    pub(crate) fn new(
        site: &Site,
        against: &Against,
        limit: u64,
        cache: Option<&Cache>,
    ) -> anyhow::Result<Self> {
        let (whole, (not_checked, embedded), prefix) = match &site.git {
            Git::Here(repository) if against.staged || against.revision.is_some() => {
                let tree = match &against.revision {
                    Some(rev) => repository.revision_tree(rev),
                    None => repository.staged_tree(),
                };
                let digests = cache.map(Cache::objects).unwrap_or_default();
                let tree = tree.map_err(|error| git_failed(&error))?.with_size_limit(limit);
                let tree = tree.with_digests(digests);
                let files = tree.files().iter().map(String::as_str);
                let wanted: Vec<&str> = files.filter(|path| is_read(path) && tree.is_unknown(path)).collect();
                tree.prefetch(&wanted).map_err(|error| git_failed(&error))?;
                let unseen = unseen(tree.inventory());
                (Whole::Objects(Box::new(tree)), unseen, site.prefix.clone())
            }
            Git::Failed(error) if against.staged || against.revision.is_some() => {
                return Err(git_failed(error).into());
            }
            Git::None if against.staged || against.revision.is_some() => {
                let what = format!(
                    "{} is in no git repository, so there is no index and no commit",
                    site.root.display()
                );
                return Err(Complaint::new(what, "name the changed files, or ask for --all").into());
            }
            Git::Here(repository) => {
                let inventory = repository.files().map_err(|error| git_failed(&error))?;
                let unseen = unseen(&inventory);
                let tree = DiskTree::new(repository.root(), inventory).with_size_limit(limit);
                let tree = tree.with_stats(cache.map(Cache::stats).unwrap_or_default());
                (Whole::Disk(Box::new(tree)), unseen, site.prefix.clone())
            }
            Git::None | Git::Failed(_) => {
                let inventory = walk(&site.root);
                let unseen = unseen(&inventory);
                let tree = DiskTree::new(&site.root, inventory).with_size_limit(limit);
                let tree = tree.with_stats(cache.map(Cache::stats).unwrap_or_default());
                (Whole::Disk(Box::new(tree)), unseen, String::new())
            }
        };
        let mut tree =
            Self { whole, root: site.root.clone(), files: Vec::new(), not_checked, embedded, prefix };
        if !tree.prefix.is_empty() {
            tree.narrow();
        }
        Ok(tree)
    }

    /// Keeps what was learnt about contents since `start`.
    pub(crate) fn keep(&self, cache: &Cache, start: Time) {
        match &self.whole {
            Whole::Disk(tree) => {
                let stats: Option<Stats> = tree.stats(start);
                stats.iter().for_each(|stats| cache.keep_stats(stats));
            }
            Whole::Objects(tree) => {
                let objects: Option<Objects> = tree.digests();
                objects.iter().for_each(|objects| cache.keep_objects(objects));
            }
        }
    }

    fn narrow(&mut self) {
        let prefix = self.prefix.clone();
        let below = |path: &String| Some(path::strip(path, &prefix)?.to_owned());
        self.files = self.inner().files().iter().filter_map(below).collect();
        self.embedded = self.embedded.iter().filter_map(below).collect();
        self.not_checked = std::mem::take(&mut self.not_checked)
            .into_iter()
            .filter_map(|file| Some(NotChecked { path: below(&file.path)?, ..file }))
            .collect();
    }

    /// What could not be looked at, so far.
    pub(crate) fn trouble(&self, site: &Site) -> Trouble {
        let mut trouble = Trouble { not_checked: self.not_checked.clone(), ..Trouble::default() };
        for path in &self.embedded {
            let detail = "it is a repository of its own, whose files are not considered; \
                          add it as a submodule, or ignore it"
                .to_owned();
            trouble.say("embedded-repository", path, detail);
        }
        if let Whole::Disk(disk) = &self.whole {
            for dir in disk.unlisted() {
                let path = if self.prefix.is_empty() { Some(dir.as_str()) } else { site.project_path(&dir) };
                if let Some(path) = path {
                    let detail = "the directory cannot be listed; imports into it may be missed".to_owned();
                    trouble.say("directory-unlisted", path, detail);
                }
            }
        }
        trouble
    }

    /// Links that lead nowhere, or in circles.
    pub(crate) fn broken_links(&self) -> Vec<String> {
        let Whole::Disk(disk) = &self.whole else { return Vec::new() };
        let inside = |link: &String| Some(path::strip(link, &self.prefix)?.to_owned());
        disk.broken_links().iter().filter_map(inside).collect()
    }

    fn inner(&self) -> &dyn Tree {
        match &self.whole {
            Whole::Disk(tree) => &**tree,
            Whole::Objects(tree) => &**tree,
        }
    }

    fn whole_path<'a>(&self, path: &'a str) -> std::borrow::Cow<'a, str> {
        match (self.prefix.as_str(), path) {
            ("", path) => path.into(),
            (prefix, "") => prefix.to_owned().into(),
            (prefix, path) => format!("{prefix}/{path}").into(),
        }
    }
}

/// What an inventory could not look into: files, and repositories within.
fn unseen(inventory: &Inventory) -> (Vec<NotChecked>, Vec<String>) {
    (inventory.not_checked.clone(), inventory.embedded.clone())
}

/// Whether a file is likely to be read when the project is, so that its bytes are worth
/// fetching together with the others.
fn is_read(path: &str) -> bool {
    owed_plugins::selecting().iter().any(|language| language.reads(path))
        || matches!(path::extension(path), "json" | "jsonc" | "toml" | "yaml" | "yml" | "cfg" | "ini")
}

impl Tree for SiteTree {
    fn root(&self) -> &Path {
        &self.root
    }

    fn files(&self) -> &[String] {
        if self.prefix.is_empty() { self.inner().files() } else { &self.files }
    }

    fn kind(&self, path: &str) -> Option<Kind> {
        self.inner().kind(&self.whole_path(path))
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, Unchecked> {
        self.inner().read(&self.whole_path(path))
    }

    fn list(&self, dir: &str) -> Vec<(String, Kind)> {
        self.inner().list(&self.whole_path(dir))
    }

    fn real(&self, path: &str) -> Option<String> {
        let real = self.inner().real(&self.whole_path(path))?;
        path::strip(&real, &self.prefix).map(str::to_owned)
    }

    fn read_with_digest(&self, path: &str) -> Result<(Vec<u8>, Digest), Unchecked> {
        self.inner().read_with_digest(&self.whole_path(path))
    }

    fn known_digest(&self, path: &str) -> Option<Digest> {
        self.inner().known_digest(&self.whole_path(path))
    }

    fn layout(&self) -> Option<Digest> {
        let whole = self.inner().layout()?;
        Some(Digest::of_parts([&whole.0[..], self.prefix.as_bytes()]))
    }

    fn witness(&self) -> Option<Witness> {
        self.inner().witness()
    }

    fn confirms(&self, witness: &Witness) -> bool {
        self.inner().confirms(witness)
    }
}
