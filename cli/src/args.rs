//! The command line, as clap reads it: names, help and examples. Pure; nothing here
//! looks at the machine.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod audit;
mod check;
mod record;
mod run;
mod status;

pub(crate) use audit::{AuditCommand, AuditCompare};
pub(crate) use check::{Check, CheckQuestion};
use run::duration;
pub(crate) use run::{ReceiptsCommand, Run};
pub(crate) use status::Status;

pub(crate) use record::{Purpose, RecordCall, RecordCommand, RecordOf, RecordRun, RecordSuggest};

/// `owed`: which tests does a change owe, and why.
#[derive(Debug, Parser)]
#[command(
    name = "owed",
    version,
    about = "Which tests does this change owe, and why",
    long_about = LONG_ABOUT,
    after_help = "Start with `owed demo`, or with `owed plan` in a repository. `owed --help` explains the words.",
    after_long_help = WORDS,
    max_term_width = 100,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    /// Flags every command takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The command line of one command alone. Whatever is not that, help and complaints included, is
/// none: then the whole command line says what is to be said.
#[derive(Debug, Parser)]
#[command(name = "owed", disable_help_subcommand = true)]
struct Only<C: Subcommand> {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: C,
}

#[derive(Debug, Subcommand)]
enum OnlyPlan {
    Plan(Plan),
}

#[derive(Debug, Subcommand)]
enum OnlyCheck {
    Check(Check),
}

impl Cli {
    /// As [`Cli::try_parse_from`]. Defining every command takes longer than half of what a plan of a
    /// small project does; so the two that stand in hooks are tried alone first.
    pub(crate) fn read(words: &[OsString]) -> Result<Self, clap::Error> {
        let alone = match words.get(1).and_then(|word| word.to_str()) {
            Some("plan") => Only::<OnlyPlan>::try_parse_from(words).ok().map(|only| {
                let OnlyPlan::Plan(plan) = only.command;
                Self { global: only.global, command: Command::Plan(plan) }
            }),
            Some("check") => Only::<OnlyCheck>::try_parse_from(words).ok().map(|only| {
                let OnlyCheck::Check(check) = only.command;
                Self { global: only.global, command: Command::Check(check) }
            }),
            _ => None,
        };
        alone.map_or_else(|| Self::try_parse_from(words), Ok)
    }
}

const LONG_ABOUT: &str = "\
Which tests does this change owe, and why.

owed reads the sources of a repository, follows what every test file depends on, and names the \
test files that a change can reach, each with the chain of files that leads from the test to the \
change. It runs no test, and needs neither a build nor installed packages. Runner configuration is \
read from its source; where that is not enough and the runner is installed, it is loaded in a child \
process with bounds (--static forbids it). What owed cannot understand is named in the answer and \
makes the answer larger, never smaller.";

const WORDS: &str = "\
Reasons for which a test is owed:
  changed         the test file itself changed
  depends         a changed file is among what it imports, directly or not
  companion       a file changed that belongs to it by name (a.ts and a.test.ts)
  snapshot        its snapshot changed
  declared        an input declared in owed.toml changed
  observed        an input that an earlier run of it loaded changed
  shared          runner configuration, setup, conftest.py or a manifest changed
  package         an installed package that it loads changed
  negative        a file appeared or vanished that changes what an import or a listing means
  input-opaque    what it reads cannot be bounded, so any change owes it
  not-understood  its runner or its project is not understood, so any change owes it
  requested       you asked for it (--all)

Opacity, from best to worst:
  pure            the sources alone determine the verdict
  pinned          so do the sources and inputs that can be named (an environment name, a file)
  bounded         it reads below a constant directory
  time-opaque     the verdict may differ with no file changed (clock, randomness, network)
  unknown         a file it needs could not be read, or an import of it leads nowhere
  input-opaque    the set of its inputs cannot be bounded (computed loads, subprocesses, eval)

Modes of a plan:
  none            nothing is owed
  selective       the listed tests are owed
  widened         all tests are owed, and the plan says for which reason

Exit codes:
  0   the question was answered
  1   a verdict failed
  2   usage, configuration, or a needed tool is unavailable
  3   a gate cannot vouch: something in scope was NOT CHECKED
  75  no verdict: deferred, stale or interrupted

Environment: NO_COLOR and CLICOLOR_FORCE are honoured.";

/// Flags every command takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// Work in this directory instead of the current one; paths are relative to it
    #[arg(long, global = true, value_name = "DIR", default_value = ".", help_heading = "Global options")]
    pub cwd: PathBuf,
    /// How to print the answer; each command has its own set
    #[arg(long, global = true, value_enum, default_value_t = Format::Human, help_heading = "Global options")]
    pub format: Format,
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN", help_heading = "Global options")]
    pub color: Color,
    /// Leave out hints and progress; what was NOT CHECKED is still said
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Global options")]
    pub quiet: bool,
    /// Show whole lists, and how long each phase took
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub verbose: bool,
    /// Use this many threads (the answer is the same for any number)
    #[arg(long, global = true, value_name = "N", help_heading = "Global options")]
    pub threads: Option<NonZeroUsize>,
    /// Do not run runner configuration, not even in a bounded child process; what cannot
    /// be read from its source makes its tests owed by any change
    #[arg(long = "static", global = true, help_heading = "Global options")]
    pub is_static: bool,
    /// Read every file afresh, and keep nothing in .owed/cache (the answer is the same)
    #[arg(long, global = true, help_heading = "Global options")]
    pub no_cache: bool,
    /// Say on standard error how long each phase took
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "human",
        help_heading = "Global options"
    )]
    pub timings: Option<TimingsAs>,
}

/// How to print how long each phase took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimingsAs {
    /// A table
    Human,
    /// One JSON object (owed.timings/1)
    Json,
}

/// How to print an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Human,
    /// One JSON object (see `owed schema`)
    Json,
    /// plan: one test path a line
    Paths,
    /// plan: one JSON array of runner argument lists
    Argv,
    /// graph: Graphviz
    Dot,
    /// graph: Mermaid
    Mermaid,
    /// graph: one self-contained page
    Html,
    /// check: SARIF 2.1.0
    Sarif,
    /// check: GitHub annotations
    Github,
    /// check: Code Climate (GitLab's code quality report)
    Codeclimate,
    /// check: JUnit XML
    Junit,
}

impl Format {
    /// The word on the command line.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Json => "json",
            Self::Paths => "paths",
            Self::Argv => "argv",
            Self::Dot => "dot",
            Self::Mermaid => "mermaid",
            Self::Html => "html",
            Self::Sarif => "sarif",
            Self::Github => "github",
            Self::Codeclimate => "codeclimate",
            Self::Junit => "junit",
        }
    }
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, and as NO_COLOR and CLICOLOR_FORCE say
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The tests a change owes
    #[command(long_about = PLAN_LONG, after_help = PLAN_EXAMPLES)]
    Plan(Plan),
    /// Every independent reason why a test is owed, or the proof that there is none
    #[command(long_about = WHY_LONG, after_help = WHY_EXAMPLES)]
    Why(Why),
    /// Run what is owed and not already paid for, and record receipts
    #[command(long_about = run::RUN_LONG, after_help = run::RUN_EXAMPLES)]
    Run(Run),
    /// Requests without a verdict, the job that was last seen, receipts
    #[command(long_about = status::LONG, after_help = status::EXAMPLES)]
    Status(Status),
    /// What passed before, with which inputs, and why a test is not reused
    #[command(subcommand, after_help = run::RECEIPTS_EXAMPLES)]
    Receipts(ReceiptsCommand),
    /// Plans held against full runs, and receipts that were contradicted
    #[command(subcommand, long_about = audit::AUDIT_LONG, after_help = audit::AUDIT_EXAMPLES)]
    Audit(AuditCommand),
    /// Run a command with a record of how it ended; look at records
    #[command(subcommand, long_about = record::LONG, after_help = record::EXAMPLES)]
    Record(RecordCommand),
    /// What each test depends on that is not a file: its class, why, and what would lift it
    #[command(long_about = OPACITY_LONG, after_help = OPACITY_EXAMPLES)]
    Opacity(Opacity),
    /// Functions over their cap of tokens, and implementations written twice
    #[command(long_about = check::LONG, after_help = check::EXAMPLES)]
    Check(Check),
    /// The dependency graph: a tree, json, dot, mermaid or one html page
    #[command(after_help = GRAPH_EXAMPLES)]
    Graph(Graph),
    /// Write a commented owed.toml, and show what was detected
    #[command(after_help = INIT_EXAMPLES)]
    Init,
    /// Is everything here that owed needs, and what costs precision
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor,
    /// The JSON Schema of a command's answer
    #[command(after_help = SCHEMA_EXAMPLES)]
    Schema(Schema),
    /// A completion script for your shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(Completions),
    /// Make a small project, change it, and show plan and why on it
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(Demo),
}

const PLAN_LONG: &str = "\
The tests a change owes.

Without paths the change is everything that differs from --base (default: HEAD): staged, unstaged, \
deleted and untracked files. With a base other than HEAD the comparison starts at the merge base, \
so that what happened only on the other branch does not count. With paths, exactly these files \
are the change; that works without git, too.

The formats are human, json, paths (one test file a line) and argv (one JSON array of commands to \
run). When nothing is owed, paths and argv print nothing and the exit code is 0.";

const PLAN_EXAMPLES: &str = "\
Examples:
  owed plan                          what the uncommitted work owes
  owed plan --base origin/main       what this branch owes
  owed plan --staged                 what the commit you are about to make owes
  owed plan --revision HEAD          what the last commit owed
  owed plan src/a.ts src/b.ts        what changing these two files would owe
  owed plan --format paths | xargs -r npx vitest run
  owed plan --format argv            commands for every runner, ready to execute
  owed plan --shards 4               a CI matrix of at most 4 jobs, as JSON";

const WHY_LONG: &str = "\
Every independent reason why a test is owed, or the proof that there is none.

Chains that leave the test by different imports are different reasons; of those that leave it by \
the same one, the shortest is shown. Each step has the line of the import. The proof of absence says \
how many files the test depends on, that the changed ones are not among them, and which tests do \
depend on them.";

const WHY_EXAMPLES: &str = "\
Examples:
  owed why src/cart.test.ts                          why the uncommitted work owes it, or not
  owed why src/cart.test.ts --changed src/price.ts   would a change of this file owe it?
  owed why tests/test_cart.py --base origin/main

The formats are human and json.";

const OPACITY_LONG: &str = "\
What each test depends on that is not a file.

The class of a test is the worst of its reasons; `owed --help` has the classes in order. Each \
reason names the operation, where it is, the chain of files from the test, and the smallest change \
that would lift it. What is done inside a function or class counts only for tests that can reach \
that function or class. With a test, a source or a folder the answer is about these; for sources it \
also says which tests they hold back.";

const OPACITY_EXAMPLES: &str = "\
Examples:
  owed opacity                       how many tests are pure, pinned, opaque, and what holds them back
  owed opacity src/cart.test.ts      every reason for one test
  owed opacity test/setup.ts         what this file does, and how many tests it holds back
  owed opacity --format json

The formats are human and json.";

const GRAPH_EXAMPLES: &str = "\
Examples:
  owed graph --from src/cart.test.ts                 what this test depends on
  owed graph --to src/price.ts                       which tests reach this file, and how
  owed graph --from src/cart.test.ts --to src/price.ts
  owed graph --format html > graph.html              one page, searchable, no network needed
  owed graph --depth 2 --format dot | dot -Tsvg > graph.svg

The formats are human, json, dot, mermaid and html. Paths where an import looked in vain (absent
candidates: a file that appears there changes the import's meaning) are in json, and with -v in all.";

const INIT_EXAMPLES: &str = "\
Examples:
  owed init                          write owed.toml here
  owed init --cwd packages/core      make packages/core a project of its own

An existing configuration is never overwritten. owed works without any configuration.";

const DOCTOR_EXAMPLES: &str = "\
Examples:
  owed doctor
  owed doctor --format json

The exit code is 2 when something is missing that owed cannot work without, and 0 otherwise.";

const SCHEMA_EXAMPLES: &str = "\
Examples:
  owed schema plan > plan.schema.json";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  owed completions bash > ~/.local/share/bash-completion/completions/owed
  owed completions zsh  > ~/.zfunc/_owed
  owed completions fish > ~/.config/fish/completions/owed.fish";

const DEMO_EXAMPLES: &str = "\
Examples:
  owed demo                          in a new temporary folder, which is kept
  owed demo --into playground        in a folder of your choice (new or empty)

It needs git and nothing else: no network, no node, no python.";

/// `owed plan`.
#[derive(Args, Debug)]
pub(crate) struct Plan {
    /// Exactly these files are the change (a folder stands for the files in it)
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// What is compared.
    #[command(flatten)]
    pub against: Against,
    /// Every test, changed or not; works without git
    #[arg(long, conflicts_with = "paths")]
    pub all: bool,
    /// How finely a change is followed. Selection below the file is not built yet: decl
    /// gives the same answer as file
    #[arg(long, value_enum, default_value_t = Precision::File)]
    pub precision: Precision,
    /// Whether tests that depend on time, randomness or the network are owed by any
    /// change (strict), or only by what they depend on (split)
    #[arg(long, value_enum, default_value_t = OpacityRule::Split)]
    pub opacity: OpacityRule,
    /// Print a CI matrix of at most N jobs as JSON, balanced by the number of test files
    #[arg(long, value_name = "N")]
    pub shards: Option<NonZeroUsize>,
}

/// Which two states of the project are compared.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Against {
    /// Compare with this revision, from the merge base on [default: HEAD; with
    /// --revision its first parent]
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// Judge what is staged, not what lies on disk
    #[arg(long, conflicts_with = "revision")]
    pub staged: bool,
    /// Judge this commit, not what lies on disk
    #[arg(long, value_name = "REV")]
    pub revision: Option<String>,
}

/// How finely a change is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Precision {
    /// Declaration by declaration (not built yet: the same as file)
    Decl,
    /// File by file
    File,
}

/// What time-opaque tests are owed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OpacityRule {
    /// By what they depend on
    Split,
    /// By any change
    Strict,
}

/// `owed why`.
#[derive(Args, Debug)]
pub(crate) struct Why {
    /// The test file
    #[arg(value_name = "TEST")]
    pub test: PathBuf,
    /// Suppose that exactly these files changed
    #[arg(long, value_name = "PATH")]
    pub changed: Vec<PathBuf>,
    /// What is compared.
    #[command(flatten)]
    pub against: Against,
}

/// `owed opacity`.
#[derive(Args, Debug)]
pub(crate) struct Opacity {
    /// Only these tests, sources or folders
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// `owed graph`.
#[derive(Args, Debug)]
pub(crate) struct Graph {
    /// Only what these files depend on [default: all tests]
    #[arg(long, value_name = "PATH")]
    pub from: Vec<PathBuf>,
    /// Only what lies on a way to these files
    #[arg(long, value_name = "PATH")]
    pub to: Vec<PathBuf>,
    /// At most this many steps from the start
    #[arg(long, value_name = "N")]
    pub depth: Option<usize>,
}

/// `owed schema`.
#[derive(Args, Debug)]
pub(crate) struct Schema {
    /// Whose answer
    #[arg(value_enum, value_name = "COMMAND")]
    pub of: SchemaOf,
}

/// Answers with a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// owed.plan/1
    Plan,
    /// owed.matrix/1 (`owed plan --shards`)
    Matrix,
    /// owed.run/1
    Run,
    /// owed.status/1
    Status,
    /// owed.receipts/1
    Receipts,
    /// owed.audit/1
    Audit,
    /// owed.record/1
    Record,
    /// owed.records/1 (`owed record list`)
    Records,
    /// owed.suggest/1 (`owed record suggest`)
    Suggest,
    /// owed.why/1
    Why,
    /// owed.opacity/1
    Opacity,
    /// owed.check/1
    Check,
    /// owed.graph/1
    Graph,
    /// owed.doctor/1
    Doctor,
}

/// `owed completions`.
#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// Your shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// `owed demo`.
#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// The folder to make the project in; it must be new or empty
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn a_command_alone_is_read_as_among_all() {
        let lines = [
            "plan",
            "plan --base HEAD --format json --threads 2",
            "plan why a.ts -- --all",
            "plan --all a.ts",
            "plan --shards 3 --opacity strict -v",
            "plan -qv",
            "plan --help",
            "plan -h",
            "plan --version",
            "plan --bse x",
            "plan --format nonsense",
            "plan help",
            "check",
            "check src --format sarif",
            "check repeated",
            "check repeated --help",
            "check --nonsense",
            "check --cap 5 --ratchet --base main a b",
            "why a.test.ts",
            "--cwd x plan",
            "help",
            "",
        ];
        for line in lines {
            let words: Vec<OsString> =
                std::iter::once("owed").chain(line.split_whitespace()).map(Into::into).collect();
            let said = |read: Result<Cli, clap::Error>| match read {
                Ok(cli) => format!("{cli:?}"),
                Err(error) => format!("{:?} {}", error.kind(), error.render().ansi()),
            };
            assert_eq!(said(Cli::read(&words)), said(Cli::try_parse_from(&words)), "{line}");
        }
    }

    #[test]
    fn clap_finds_no_fault_in_the_definitions() {
        Cli::command().debug_assert();
        Only::<OnlyPlan>::command().debug_assert();
        Only::<OnlyCheck>::command().debug_assert();
    }

    #[test]
    fn help_names_only_what_is_built() {
        let names: Vec<String> =
            Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect();
        let tests =
            ["plan", "why", "run", "status", "receipts", "audit", "record", "opacity", "check", "graph"];
        let rest = ["init", "doctor", "schema", "completions", "demo"];
        assert_eq!(names, [&tests[..], &rest].concat());
    }
}
