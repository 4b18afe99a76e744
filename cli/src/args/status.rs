//! `owed status`: what its help says and what it takes.

use clap::Args;

pub(super) const LONG: &str = "\
Requests that have no verdict yet, the job that was last seen, and the receipts that are kept.

A request stays until a run met it: an interrupted, deferred or killed run leaves it, with the reason. \
`owed run` works them off. What is said of a job is what was observed, and when: whether its process \
still works is not known, and not claimed.

--gate is for hooks before a commit: the exit code is 3 while a request is pending or held, else 0. \
--acknowledge takes your word in the place of a run, for the bytes as they are now: once one of them \
differs, the request is pending again. It makes no receipt and no verdict.";

pub(super) const EXAMPLES: &str = "\
Examples:
  owed status
  owed status --gate && git commit
  owed status --acknowledge 001a22f8a5e86-c3ec214967670e4e --because 'only a comment'

The formats are human and json.";

/// `owed status`.
#[derive(Args, Debug)]
pub(crate) struct Status {
    /// End with code 3 while anything is pending or held
    #[arg(long, conflicts_with = "acknowledge")]
    pub gate: bool,
    /// Vouch for a pending request, or a held file, by its name
    #[arg(long, value_name = "ID")]
    pub acknowledge: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT", requires = "acknowledge", default_value = "")]
    pub because: String,
}
