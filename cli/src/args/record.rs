//! The words of `owed record`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::duration;

/// What `owed record --help` says first.
pub(crate) const LONG: &str = "\
Commands with a record that cannot claim more than is known.

`owed record run` writes down that it is about to run a command, runs it, and writes down how its \
process ended, each durable before the next step. The record lies under .owed/ledger, one \
directory a run; a call in it has an id.

The same id again gives the saved result and runs nothing. The same id with anything else changed \
(the command, the purpose, a timeout that was left out before) is refused. A call whose end is not \
known (timed out, interrupted, killed midway) is never repeated, and its command is not run under \
another id either, until `owed record settle` has proof that nothing of it runs any more.

The command runs at the root of the project, with the caller's environment, its own $TMPDIR, an \
empty standard input and no terminal. When it ends, everything it started ends. At most 4,000 \
characters of each stream are kept, without secrets that could be recognised.

A record says how a process ended. Exit code 0 does not say that assertions ran, another one not \
that one failed, and neither is an approval to publish.";

/// Its examples.
pub(crate) const EXAMPLES: &str = "\
Examples:
  owed record run --run fix-42 --purpose baseline -- npm test
  owed record run --run fix-42 --purpose verification --id after -- 'npm test && npm run lint'
  owed record run --run fix-42 --purpose verification --id after -- 'npm test && npm run lint'
                                     the saved result: nothing runs
  owed record show after --run fix-42
  owed record list --run fix-42
  owed record settle after --run fix-42
                                     retire a call whose end nobody knows
  owed record suggest src/cart.ts    a bounded check for a change, from the project's own scripts

One argument after -- is a text for /bin/sh; several are executed as they are.

Exit codes: 0 completed with exit code 0; 1 completed with another one; 2 refused, nothing started;
75 no verdict: unknown, pending, or not started for want of room, time or memory. The formats are
human and json.";

/// `owed record`.
#[derive(Subcommand, Debug)]
pub(crate) enum RecordCommand {
    /// Run a command and record it, or give the saved result
    #[command(after_help = EXAMPLES)]
    Run(RecordRun),
    /// One call, as it was recorded
    #[command(after_help = SHOW_EXAMPLES)]
    Show(RecordCall),
    /// The calls of a run
    #[command(after_help = LIST_EXAMPLES)]
    List(RecordOf),
    /// Retire a call whose end is not known, by proof that nothing of it runs any more
    #[command(long_about = SETTLE_LONG, after_help = SETTLE_EXAMPLES)]
    Settle(RecordCall),
    /// A bounded check for a change, from the project's own scripts; runs nothing
    #[command(after_help = SUGGEST_EXAMPLES)]
    Suggest(RecordSuggest),
}

const SHOW_EXAMPLES: &str = "\
Examples:
  owed record show after --run fix-42
  owed record show after --run fix-42 --format json";

const LIST_EXAMPLES: &str = "\
Examples:
  owed record list --run fix-42";

const SETTLE_LONG: &str = "\
Retires a call whose end is not known, by proof that nothing of it runs any more.

The proof is the exit record of its supervisor, or the word of the operating system that its \
processes are gone. Without proof it refuses and says what still runs. Nothing is started or \
signalled. What the command did stays unknown; it may then be run again under a new id.";

const SETTLE_EXAMPLES: &str = "\
Examples:
  owed record settle after --run fix-42";

const SUGGEST_EXAMPLES: &str = "\
Examples:
  owed record suggest                what the uncommitted work asks for
  owed record suggest packages/cart/src/price.ts";

/// `owed record run`.
#[derive(Args, Debug)]
pub(crate) struct RecordRun {
    /// Which run, in whose name.
    #[command(flatten)]
    pub of: RecordOf,
    /// The identity of the call [default: a new one, which is printed]
    #[arg(long, value_name = "CALL")]
    pub id: Option<String>,
    /// What the check is for
    #[arg(long, value_enum, value_name = "PURPOSE")]
    pub purpose: Purpose,
    /// How long the command may take: 1500ms, 90s, 5m, 1h [default: 10m; leaving it out and
    /// giving 10m are different requests]
    #[arg(long, value_name = "D", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// How much time the run has left: it clips the timeout
    #[arg(long, value_name = "D", value_parser = duration)]
    pub budget: Option<Duration>,
    /// A JSON file with notes about the work, kept when a verification succeeds: phase, goal,
    /// decisions, rejected, completed, unproven, next
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Refuse when the run has no record yet
    #[arg(long)]
    pub must_exist: bool,
    /// Memory that the command and all it starts may hold, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    pub memory: u64,
    /// Memory that must stay free on the host, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 512)]
    pub reserve: u64,
    /// The command
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// A run, and in whose name it is asked about.
#[derive(Args, Debug)]
pub(crate) struct RecordOf {
    /// The run: 1 to 64 letters, digits, '.', '_' or '-'
    #[arg(long, value_name = "RUN")]
    pub run: String,
    /// Who owns the run; compared as it is, like the next four
    #[arg(long, value_name = "LABEL", default_value = "local", help_heading = "Labels")]
    pub owner: String,
    /// The owner's unit
    #[arg(long, value_name = "LABEL", help_heading = "Labels")]
    pub unit: Option<String>,
    /// The thread that the run belongs to
    #[arg(long, value_name = "LABEL", default_value = "local", help_heading = "Labels")]
    pub thread: String,
    /// What was authorized
    #[arg(long, value_name = "LABEL", default_value = "local", help_heading = "Labels")]
    pub resource: String,
    /// Which of several owners is the newest
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Labels")]
    pub fence: u64,
}

/// One call of a run.
#[derive(Args, Debug)]
pub(crate) struct RecordCall {
    /// The identity of the call
    #[arg(value_name = "CALL")]
    pub call: String,
    /// Which run, in whose name.
    #[command(flatten)]
    pub of: RecordOf,
}

/// `owed record suggest`.
#[derive(Args, Debug)]
pub(crate) struct RecordSuggest {
    /// Files that change [default: what differs from HEAD]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// What a check is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Purpose {
    /// Before the intended change
    Baseline,
    /// After it
    Verification,
}
