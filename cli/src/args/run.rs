//! `owed run` and `owed receipts`: what their help says and what they take.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use owed_gates::audit::Percent;

pub(super) const RUN_LONG: &str = "\
Runs what is owed and not already paid for, and records receipts.

What is owed is what `owed plan` says for the same paths and options. A test is paid for when it \
passed before with every input equal: files, listings, packages, environment, programs, command \
line. Only tests whose inputs all have names (class pure or pinned, see `owed opacity`) can be paid \
for; the others run each time. After a run every input is looked at again: one that was written \
meanwhile leaves no receipt and no verdict.

Without paths, requests of earlier runs that have no verdict yet (`owed status`) are part of what is \
owed. One run works on a project at a time: another one waits, and takes the result of the first for \
its own when sources, inputs, environment and platform are the same. A run that ends without a verdict \
leaves its request in the queue.

The exit code is 0 when everything owed passed or is paid for, 1 when a test failed, 2 when a \
runner is unavailable, and 75 when there is no verdict (interrupted, stale, deferred).";

pub(super) const RUN_EXAMPLES: &str = "\
Examples:
  owed run                           what the uncommitted work owes
  owed run --base origin/main        what this branch owes
  owed run --all                     everything that is not paid for
  owed run --all --no-reuse          everything
  owed run --env-strict              receipts that outlive this shell
  owed run --all --audit 5           runs a twentieth of what is paid for all the same
  owed run --timeout 5m -- --bail 1  words after -- go to every runner
  owed run --wait 30s                for at most 30 seconds behind another run
  owed run --background --defer src/a.ts   from a hook: at once, or later

The formats are human and json.";

pub(super) const RECEIPTS_EXAMPLES: &str = "\
Examples:
  owed receipts list                       every receipt
  owed receipts show src/a.test.ts         its inputs, by kind, with their digests
  owed receipts why-not src/a.test.ts      every input that is not as it was
  owed receipts diff 3f2a9c 77be01         what differs between two receipts
  owed receipts verify                     each receipt again from its entries and the tree
  owed receipts prune                      keeps the last receipt of each test

The formats are human and json. Receipts lie in .owed/receipts and never hold a value, only names
and digests.";

/// `owed run`.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Run {
    /// Exactly these files are the change (a folder stands for the files in it)
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Compare with this revision, from the merge base on [default: HEAD]
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// Every test, changed or not; works without git
    #[arg(long, conflicts_with = "paths")]
    pub all: bool,
    /// How many workers each runner may use [default: its own choice]
    #[arg(long, value_name = "N")]
    pub workers: Option<NonZeroUsize>,
    /// How long one command of a runner may take: 1500ms, 90s, 5m, 1h [default: 30m]
    #[arg(long, value_name = "D", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Run what is paid for, too
    #[arg(long)]
    pub no_reuse: bool,
    /// How long to wait while other work has this project's lane: 90s, 5m
    /// [default: 10m; with --background 2m]
    #[arg(long, value_name = "D", value_parser = duration, help_heading = "Queue")]
    pub wait: Option<Duration>,
    /// Do not wait: leave the request in the queue and end with code 75 (for hooks)
    #[arg(long, conflicts_with = "wait", help_heading = "Queue")]
    pub defer: bool,
    /// Make room for whoever waits for an answer: one background run a user, at most 10m, put
    /// off when everything or more than --most test files are owed (for edits)
    #[arg(long, overrides_with = "foreground", help_heading = "Queue")]
    pub background: bool,
    /// Overrides an earlier --background
    #[arg(long, overrides_with = "background", help_heading = "Queue")]
    pub foreground: bool,
    /// How many test files a --background run may take on
    #[arg(long, value_name = "N", default_value_t = 150, help_heading = "Queue")]
    pub most: usize,
    /// Memory that owed, a runner and all it starts may hold, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096, help_heading = "Queue")]
    pub memory: u64,
    /// Memory that must stay free on the host, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 512, help_heading = "Queue")]
    pub reserve: u64,
    /// Let tests see only the environment names that they are known to read, and count only
    /// these: receipts then outlive a shell and a machine
    #[arg(long)]
    pub env_strict: bool,
    /// Run this share of what is paid for all the same, and hold it against the receipts (0 to
    /// 100; which tests is decided by their inputs alone)
    #[arg(long, value_name = "PERCENT", conflicts_with = "no_reuse")]
    pub audit: Option<Percent>,
    /// Words for every runner, after its own
    #[arg(last = true, value_name = "RUNNER-ARGS")]
    pub runner_arguments: Vec<String>,
}

/// `owed receipts`.
#[derive(Subcommand, Debug)]
pub(crate) enum ReceiptsCommand {
    /// Every receipt, and what is none
    List,
    /// One receipt with its inputs
    Show {
        /// The beginning of its id, or a test file
        receipt: String,
    },
    /// Why a test would not be reused now
    WhyNot {
        /// The test file
        test: PathBuf,
    },
    /// What differs between two receipts
    Diff {
        /// The beginning of an id, or a test file
        a: String,
        /// The other one
        b: String,
    },
    /// Each receipt again from its entries, and its entries again from the tree
    Verify,
    /// Remove what is not the last receipt of its test
    Prune,
}

/// `1500ms`, `90s`, `5m`, `1h`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let each: u64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err("write a number and a unit: 1500ms, 90s, 5m, 1h".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "write a number and a unit: 90s".to_owned())?;
    match number.checked_mul(each) {
        Some(0) => Err("it must be more than nothing".to_owned()),
        Some(ms) => Ok(Duration::from_millis(ms)),
        None => Err("that is too long".to_owned()),
    }
}
