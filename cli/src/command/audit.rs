//! `owed audit`: plans held against full runs, and what became of contradicted receipts.

use std::path::Path;

use owed_engine::path;
use owed_gates::audit::{self, Compared, Event, Log, Named, Plan, RowOutcome, Standing, reports};
use owed_gates::runs::observed::Observations;

use crate::answer;
use crate::answer::audit::{AuditAnswer, RowSeen};
use crate::args::{AuditCommand, AuditCompare, Format, Global};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::host;
use crate::output::Output;
use crate::render;
use crate::site::Site;

/// Answers.
pub(crate) fn run(global: &Global, command: &AuditCommand, output: &Output) -> anyhow::Result<Exit> {
    let site = Site::open(&global.cwd)?;
    let answer = match Log::read(&site.root) {
        Err(held) => AuditAnswer {
            held: Some(held.to_string()),
            ..AuditAnswer::new(&Log::default(), Observations::of(&site.root).findings())
        },
        Ok(_) => match command {
            AuditCommand::Compare(args) => compare(&site, args)?,
            AuditCommand::Status => told(&site)?,
            AuditCommand::Acknowledge { reason } => acknowledge(&site, reason)?,
        },
    };
    match global.format {
        Format::Json => output.raw(&answer::json(&answer)?)?,
        _ => output.answer(&render::audit::audit(&answer, command, output.view))?,
    }
    let outcome = answer.row.as_ref().map(|row| row.outcome);
    Ok(match (&answer.held, outcome) {
        (Some(_), _) => Exit::CannotVouch,
        (None, Some(word)) if word == RowOutcome::Miss.word() => Exit::Failed,
        (None, Some(word)) if word == RowOutcome::Incomplete.word() => Exit::CannotVouch,
        _ => Exit::Answered,
    })
}

fn told(site: &Site) -> anyhow::Result<AuditAnswer> {
    let mut answer = AuditAnswer::new(&Log::read(&site.root)?, Observations::of(&site.root).findings());
    // A mark beside the receipts stops reuse as well, whatever the log says.
    if answer.tripped.is_empty()
        && let Standing::Tripped(why) = Standing::of(&site.root)
    {
        answer.held = Some(why);
    }
    Ok(answer)
}

fn acknowledge(site: &Site, reason: &str) -> anyhow::Result<AuditAnswer> {
    if reason.trim().is_empty() {
        let next = "say what was found, and why receipts may be believed again";
        return Err(Complaint::new("the reason is empty", next).into());
    }
    let acknowledged = audit::trip::acknowledge(&site.root, reason.trim())?;
    Ok(AuditAnswer { acknowledged, ..told(site)? })
}

fn compare(site: &Site, args: &AuditCompare) -> anyhow::Result<AuditAnswer> {
    let at = site.cwd.join(&args.plan);
    let bytes = host::read_bytes(&at).map_err(|error| {
        let what = format!("the plan {} cannot be read: {error}", args.plan.display());
        Complaint::new(what, "write one with `owed plan --base REV --format json`")
    })?;
    let plan = Plan::parse(&bytes).map_err(|why| {
        let what = format!("{}: {why}", args.plan.display());
        Complaint::new(what, "write one with `owed plan --base REV --format json`")
    })?;
    let made_in = args.report_root.as_deref().unwrap_or(&site.root).to_owned();
    let place = |named: &str| place(&made_in, &site.root, named);
    let read = |file: &std::path::PathBuf| read(site, file);
    let base = (!args.base_report.is_empty()).then(|| args.base_report.iter().map(read).collect());
    let row = audit::compare(&Compared {
        plan: (&plan, &bytes),
        reports: args.report.iter().map(read).collect(),
        base,
        label: args.label.clone(),
        place: &place,
    });
    let noted = Log::append(&site.root, Event::Compared(row))?;
    let Event::Compared(row) = noted.event else { unreachable!("a row was added") };
    Ok(AuditAnswer { row: Some(RowSeen::new(noted.number, noted.known, row)), ..told(site)? })
}

fn read(site: &Site, file: &std::path::PathBuf) -> Named {
    let name = file.display().to_string();
    let is_file = |path: &str| !path.is_empty() && host::is_file(&site.root.join(path));
    match host::read_bytes(&site.cwd.join(file)) {
        Ok(bytes) => (name, reports::read(&bytes, &is_file), bytes),
        Err(_) => (name, Err(reports::ReportFault::Missing), Vec::new()),
    }
}

/// A path of a report as a project-relative one: absolute ones lie below the root of the
/// checkout that the report was made in, or, through links, below this one.
fn place(made_in: &Path, root: &Path, named: &str) -> Option<String> {
    let named = named.strip_prefix("file://").unwrap_or(named);
    let path = Path::new(named);
    let inside = if path.is_absolute() {
        match path.strip_prefix(made_in).or_else(|_| path.strip_prefix(root)) {
            Ok(inside) => inside.to_owned(),
            Err(_) => host::canonical(path).ok()?.strip_prefix(root).ok()?.to_owned(),
        }
    } else {
        path.to_owned()
    };
    path::join("", inside.to_str()?).filter(|path| !path.is_empty())
}
