//! `owed check`: what its help says and what it takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub(super) const LONG: &str = "\
Functions over their cap of tokens, and implementations written twice.

Every file is CHECKED, NOT CHECKED (with the reason and the line) or EXCLUDED (with the rule: test, \
generated, vendored, declaration, link, not-source, ignored, or configured). A function's size is its \
number of syntax tokens, nested functions not counted; the cap is 400 unless `cap` or `[[caps]]` in \
owed.toml say otherwise. Comments, layout and type of quotes cost nothing.

The ratchet: `owed.debt.toml` lists the functions that may stay over their cap, and how large they \
may be. They may shrink or hold, never grow; moving, renaming and reformatting them is no growth. \
`owed check --update-debt` writes the file the first time, and afterwards lowers and prunes it. New, \
grown or revealed debt is written only with --accept-growth REASON, which the file keeps. With --base \
REV the debt of that revision is the measure, and no file is needed.

Repeated implementations are whole functions of at least five statements with the same structure, \
names and literals aside: inside one file, or with --across files anywhere. They are advice: whether \
two functions should be one depends on their contracts, which only people know. A comment \
`owed: allow repeated — REASON` at a function keeps it out.

Without --gate this is an inventory and exits with 0. With --gate it exits with 1 when debt is new, \
has grown or was revealed, and with 3 when something in scope was NOT CHECKED.";

pub(super) const EXAMPLES: &str = "\
Examples:
  owed check                                 the inventory of this project
  owed check src/cart.ts                     of one file or folder
  owed check --only repeated --across files  what is written twice, anywhere
  owed check --only complexity --coverage coverage/lcov.info
  owed check --update-debt                   start the ratchet, and lower it afterwards
  owed check --gate                          in CI: has the debt grown?
  owed check --gate --base origin/main       the same without a file of debt
  owed check --gate --staged                 in a pre-commit hook
  owed check --format sarif > owed.sarif

The formats are human, json, sarif, github, codeclimate and junit.";

/// `owed check`.
#[derive(Args, Debug)]
pub(crate) struct Check {
    /// Only these files and folders
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Only these questions [default: all]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "QUESTION")]
    pub only: Vec<CheckQuestion>,
    /// The token cap, instead of `cap` in owed.toml (`[[caps]]` still hold)
    #[arg(long, value_name = "N")]
    pub cap: Option<u32>,
    /// Where repeated implementations are looked for beyond one file
    #[arg(long, value_enum, value_name = "WHERE")]
    pub across: Option<Across>,
    /// Also near misses, repeated blocks, and functions that differ in what they call
    #[arg(long)]
    pub advice: bool,
    /// Exit with 1 when the debt has grown, with 3 when something was NOT CHECKED
    #[arg(long)]
    pub gate: bool,
    /// With --gate: new repeated implementations break it, too
    #[arg(long, requires = "gate")]
    pub gate_repeated: bool,
    /// With --gate: files of languages that owed does not measure (`.sh`, `.rb`) do not stop it
    #[arg(long, requires = "gate")]
    pub allow_unsupported: bool,
    /// Judge the debt against this revision, from the merge base on
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// Check what is staged, not what lies on disk
    #[arg(long, conflicts_with_all = ["revision", "update_debt"])]
    pub staged: bool,
    /// Check this commit, not what lies on disk
    #[arg(long, value_name = "REV", conflicts_with = "update_debt")]
    pub revision: Option<String>,
    /// Write owed.debt.toml: all debt the first time; later only what shrank or is gone
    #[arg(long, conflicts_with = "gate")]
    pub update_debt: bool,
    /// Write new, grown and revealed debt as well, with this reason
    #[arg(long, value_name = "REASON", requires = "update_debt")]
    pub accept_growth: Option<String>,
    /// List every function, not only those over their cap
    #[arg(long)]
    pub all_functions: bool,
    /// Coverage for CRAP: lcov, coverage.py's JSON or istanbul's JSON
    #[arg(long, value_name = "FILE")]
    pub coverage: Option<PathBuf>,
}

/// A question of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckQuestion {
    /// Functions over their cap, and the ratchet
    Tokens,
    /// Implementations written twice
    Repeated,
    /// Cyclomatic and cognitive complexity; CRAP with --coverage
    Complexity,
}

/// How far repeated implementations are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Across {
    /// In all files together
    Files,
}
