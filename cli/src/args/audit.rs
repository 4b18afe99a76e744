//! `owed audit`: what its help says and what it takes.

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub(super) const AUDIT_LONG: &str = "\
Holds plans and receipts against what really happens.

A plan may decide in CI once it has been right often enough: `audit compare` takes a plan and the \
machine reports of a full run of the same state, and writes one row. A `miss` is a test file that \
failed in the full run and that the plan had left out. A `widened` plan left nothing out and proves \
nothing. A row is `incomplete` when a report is missing or does not name every test file; a miss that \
was seen all the same still counts. Everything else is `clean`. The same plan and reports are one row, \
however often they are given.

A receipt is put to the test by `owed run --audit PERCENT`. When a test fails with the very inputs it \
passed with, an input exists that nobody knows of: from then on nothing is reused, until \
`audit acknowledge` says why that is safe again.

Reports are told by their content: owed.run/1 (`owed run --all --no-reuse --format json`), the \
reports of owed's own reporters, JSON of vitest and jest, JSON of mocha, and JUnit XML that names \
files (pytest, vitest, jest-junit). TAP, and JUnit XML of node:test, do not say which file a test \
that passed was in; use owed.run/1 for node:test.

The exit code of compare is 1 for a miss, 3 for an incomplete row, and 0 otherwise. A log that is \
damaged is never taken for an empty one: every command then says so, with 3.";

pub(super) const AUDIT_EXAMPLES: &str = "\
Examples:
  owed plan --base origin/main --format json > plan.json
  npx vitest run --reporter=json --outputFile=full.json
  owed audit compare --plan plan.json --report full.json
  owed audit compare --plan plan.json --report js.json --report py.xml --base-report main.json
  owed audit status
  owed run --all --audit 5
  owed audit acknowledge --reason \"TZ was read through a package; fixed in 1f2e3d\"

The formats are human and json.";

/// `owed audit`.
#[derive(Subcommand, Debug)]
pub(crate) enum AuditCommand {
    /// Hold a plan against the reports of a full run, and keep the row
    Compare(AuditCompare),
    /// Rows so far, contradictions, and tests whose closures are known not to be whole
    Status,
    /// Allow reuse again after a contradiction, and keep why
    Acknowledge {
        /// Why receipts may be believed again; kept in the log
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

/// `owed audit compare`.
#[derive(Args, Debug)]
pub(crate) struct AuditCompare {
    /// What `owed plan --format json` printed
    #[arg(long, value_name = "FILE")]
    pub plan: PathBuf,
    /// A machine report of the full run; one for each runner or lane. One that is not there makes
    /// the row incomplete
    #[arg(long, value_name = "FILE", required = true)]
    pub report: Vec<PathBuf>,
    /// A report of a full run at the plan's base: a file that failed there as well is no miss
    #[arg(long, value_name = "FILE")]
    pub base_report: Vec<PathBuf>,
    /// The root of the checkout that the reports were made in, when it was another one
    #[arg(long, value_name = "DIR")]
    pub report_root: Option<PathBuf>,
    /// A name for the row: a build, a pull request
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
}
