//! Who loads executable configuration: a bounded child process, or nobody.
//!
//! A child reads the disk. When the index or a commit is judged and the disk holds
//! something else, a child would answer for the wrong bytes, so nothing is loaded then.

use owed_engine::runner::ConfigLoader;
use owed_engine::vcs::Base;

use crate::args::Against;
use crate::child::{BoundedChild, Limits};
use crate::host;
use crate::site::Site;

/// Refuses to load, with the reason.
struct Nobody(&'static str);

impl ConfigLoader for Nobody {
    fn load(&self, _: &str, _: &str, _: &str, _: &[&str]) -> Result<String, String> {
        Err(self.0.to_owned())
    }
}

/// The loader for what `against` judges.
pub(crate) fn choose(site: &Site, against: &Against, is_static: bool) -> Box<dyn ConfigLoader> {
    if is_static {
        return Box::new(Nobody("--static forbids it"));
    }
    let judges_disk = !against.staged && against.revision.is_none();
    if judges_disk || disk_is_judged(site, against) {
        return Box::new(BoundedChild::new(&site.root, Limits::default()));
    }
    Box::new(Nobody("the files on disk are not those that are judged"))
}

/// Whether the disk holds exactly the index, or the commit, that is judged. Every
/// failure to find out is a no: then nothing is loaded.
fn disk_is_judged(site: &Site, against: &Against) -> bool {
    let Some(repository) = site.repository() else { return false };
    let head = || "HEAD".to_owned();
    let Ok(on_disk) = repository.changes(&Base::Worktree { rev: head() }) else { return false };
    match &against.revision {
        Some(rev) => {
            let same_commit = repository.commit_of(rev).ok() == repository.commit_of("HEAD").ok();
            same_commit && on_disk.changes.is_empty() && on_disk.undecodable.is_empty()
        }
        // The same paths differ from HEAD, and git sees no difference between the two.
        None => {
            let staged = repository.changes(&Base::Staged { rev: head() });
            staged.is_ok_and(|staged| staged.changes == on_disk.changes)
                && on_disk.undecodable.is_empty()
                && host::run("git", ["diff", "--quiet", "--no-ext-diff"], &site.root).is_ok()
        }
    }
}
