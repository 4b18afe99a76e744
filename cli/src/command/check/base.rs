//! What changed files held at the base.

use owed_engine::change::Change;
use owed_engine::check::Base;
use owed_engine::problem::Problem;
use owed_engine::vcs::{self, AtBase};

use crate::args::Against;
use crate::complaint::Complaint;
use crate::session::Session;
use crate::site::Git;

/// Asks git. What it lacks is a problem, and counts as not having been there.
pub(super) fn read(
    session: &Session,
    against: &Against,
    problems: &mut Vec<Problem>,
) -> anyhow::Result<Base> {
    let repository = match &session.site.git {
        Git::Here(repository) => repository,
        Git::Failed(error) => return Err(Complaint::new(error.sentence(), error.remedy()).into()),
        Git::None => {
            let what =
                format!("{} is in no git repository, so there is no base", session.site.root.display());
            return Err(Complaint::new(what, "leave out --base, or run `git init` and commit").into());
        }
    };
    let failed = |error: vcs::VcsError| Complaint::new(error.sentence(), error.remedy());
    let rev = against.base.clone().unwrap_or_else(|| "HEAD".to_owned());
    let asked = match &against.revision {
        Some(commit) => vcs::Base::Revision { rev: commit.clone(), base: against.base.clone() },
        None if against.staged => vcs::Base::Staged { rev },
        None => vcs::Base::Worktree { rev },
    };
    let changes = repository.changes(&asked).map_err(failed)?;
    let measured = |path: &&str| owed_plugins::languages().iter().any(|language| language.reads(path));
    let mut paths: Vec<&str> = changes.changes.iter().flat_map(Change::paths).filter(measured).collect();
    paths.sort_unstable();
    paths.dedup();
    let held = repository.base_bytes(&changes, &paths).map_err(failed)?;
    let mut base = Base::default();
    for (path, at_base) in paths.into_iter().zip(held) {
        let Some(inside) = session.site.project_path(path) else { continue };
        let bytes = match at_base {
            AtBase::Bytes(bytes) => Some(bytes),
            AtBase::Nothing => None,
            AtBase::Lost => {
                problems.push(Problem {
                    code: "base-not-checked".to_owned(),
                    path: inside.to_owned(),
                    line: None,
                    detail:
                        "the repository lacks what it was before (a partial clone?), so its functions over \
                             their cap count as new"
                            .to_owned(),
                });
                None
            }
        };
        base.files.insert(inside.to_owned(), bytes);
    }
    Ok(base)
}
