//! `owed record`: commands with a record of how they ended.

use std::path::Path;

use owed_engine::vcs::Base;
use owed_gates::check::{Checkpoint, Checks, Command, Executor, Identity, Session, Submission, Why, suggest};
use owed_gates::ledger::{self, CallId, Invalid, Label, Purpose, Refusal, RunId, Store};
use owed_gates::policy::{PolicySource, Rules};
use owed_gates::supervise::{Stop, Supervisor};

use crate::answer;
use crate::answer::record::{RecordAnswer, RecordsAnswer, RefusedNote, SuggestAnswer, Suggested, word};
use crate::args::{self, Format, Global, RecordCall, RecordCommand, RecordOf, RecordRun, RecordSuggest};
use crate::complaint::Complaint;
use crate::config;
use crate::exit::Exit;
use crate::host;
use crate::output::Output;
use crate::render;
use crate::site::Site;

/// The state directory of a project.
const STATE: &str = ".owed";

/// Answers.
pub(crate) fn run(global: &Global, command: &RecordCommand, output: &Output) -> anyhow::Result<Exit> {
    let site = Site::open(&global.cwd)?;
    match command {
        RecordCommand::Run(args) => execute(&site, args, global, output),
        RecordCommand::Show(args) => show(&site, args, global, output),
        RecordCommand::List(args) => list(&site, args, global, output),
        RecordCommand::Settle(args) => settle(&site, args, global, output),
        RecordCommand::Suggest(args) => suggested(&site, args, global, output),
    }
}

/// Everything that checks need, from the site.
struct Bench {
    store: Store,
    executor: Executor,
    policy: Configured,
    must_exist: bool,
}

impl Bench {
    fn of(site: &Site) -> anyhow::Result<Self> {
        let program = host::current_exe()?;
        let own = |word: &str| Supervisor { program: program.clone(), arguments: vec![word.into()] };
        Ok(Self {
            store: Store::at(site.root.join(STATE)),
            executor: Executor::new(
                own(crate::SUPERVISE),
                own(crate::OBSERVE),
                host::variables(),
                host::temp_dir(),
            ),
            policy: Configured(site.root.clone()),
            must_exist: false,
        })
    }

    fn checks<'a>(&'a self, site: &'a Site) -> Checks<'a> {
        Checks {
            store: &self.store,
            executor: &self.executor,
            policy: &self.policy,
            checkout: &site.root,
            must_exist: self.must_exist,
        }
    }
}

/// The rules of the project's configuration, read anew each time.
struct Configured(std::path::PathBuf);

impl PolicySource for Configured {
    fn rules(&self) -> Result<Rules, String> {
        let read = |name: &str| Ok(host::read_text(&self.0.join(name))?);
        config::load(read).map(|config| config.record).map_err(|error| format!("{error:#}"))
    }
}

fn execute(site: &Site, args: &RecordRun, global: &Global, output: &Output) -> anyhow::Result<Exit> {
    let who = identity(&args.of)?;
    let id = match &args.id {
        Some(id) => call_id(id)?,
        None => call_id(&format!("call-{:016x}", host::nonce()))?,
    };
    let submission = Submission {
        purpose: match args.purpose {
            args::Purpose::Baseline => Purpose::Baseline,
            args::Purpose::Verification => Purpose::Verification,
        },
        command: match &args.command[..] {
            [text] => Command::Shell(text.clone()),
            words => Command::Program(words.to_vec()),
        },
        timeout: args.timeout,
        checkpoint: args.checkpoint.as_deref().map(|file| checkpoint(&site.cwd.join(file))).transpose()?,
    };
    let mut bench = Bench::of(site)?;
    bench.must_exist = args.must_exist;
    bench.executor.tree_memory = mebibytes(args.memory);
    bench.executor.host_reserve = mebibytes(args.reserve);
    // What a command may hold need not all be free before it starts, but half of it.
    bench.executor.admission = bench.executor.admission.min(mebibytes(args.memory) / 2);
    let stop = Stop::default();
    stop.on_signals()?;
    let mut session = Session::new(stop);
    if let Some(budget) = args.budget {
        session = session.narrowed(budget);
    }
    let answer = bench.checks(site).run(&who, &id, &submission, &session);
    if output.view.verbose {
        output.aside(&answer.diagnostic());
    }
    print(&RecordAnswer::of(&answer), global, output)?;
    Ok(exit(answer.exit_code()))
}

fn mebibytes(number: u64) -> u64 {
    number.saturating_mul(1 << 20)
}

fn show(site: &Site, args: &RecordCall, global: &Global, output: &Output) -> anyhow::Result<Exit> {
    let (who, id) = (identity(&args.of)?, call_id(&args.call)?);
    let bench = Bench::of(site)?;
    match bench.checks(site).show(&who, &id) {
        Ok((call, receipt)) => {
            print(&RecordAnswer::recorded(who.run.as_str(), &call, &receipt), global, output)?;
            Ok(exit(receipt.exit_code()))
        }
        Err(why) => refused(&who, &id, &why, global, output),
    }
}

fn settle(site: &Site, args: &RecordCall, global: &Global, output: &Output) -> anyhow::Result<Exit> {
    let (who, id) = (identity(&args.of)?, call_id(&args.call)?);
    let bench = Bench::of(site)?;
    match bench.checks(site).settle(&who, &id) {
        Ok(settled) => {
            print(
                &RecordAnswer::recorded(who.run.as_str(), &settled.call, &settled.receipt),
                global,
                output,
            )?;
            Ok(Exit::Answered)
        }
        Err(why) => refused(&who, &id, &why, global, output),
    }
}

fn refused(who: &Identity, id: &CallId, why: &Why, global: &Global, output: &Output) -> anyhow::Result<Exit> {
    let mut answer = RecordAnswer::nothing(who.run.as_str(), id.as_str());
    answer.refuse(why);
    print(&answer, global, output)?;
    Ok(match why {
        Why::Ledger(Refusal::StillRuns { .. } | Refusal::CannotTell { .. } | Refusal::InProgress { .. }) => {
            Exit::NoVerdict
        }
        _ => Exit::Unusable,
    })
}

fn print(answer: &RecordAnswer, global: &Global, output: &Output) -> anyhow::Result<()> {
    match global.format {
        Format::Json => output.raw(&answer::json(answer)?)?,
        _ => output.answer(&render::record::record(answer, output.view))?,
    }
    Ok(())
}

fn list(site: &Site, args: &RecordOf, global: &Global, output: &Output) -> anyhow::Result<Exit> {
    let who = identity(args)?;
    let bench = Bench::of(site)?;
    let listing =
        bench.checks(site).list(&who).map_err(|why| Complaint::new(why.to_string(), why.remedy()))?;
    let seen = |(call, receipt): &(ledger::Call, _)| RecordAnswer::recorded(who.run.as_str(), call, receipt);
    let answer = RecordsAnswer {
        schema: "owed.records/1",
        run: who.run.to_string(),
        calls: listing.calls.iter().map(seen).collect(),
        refused: listing
            .refused
            .iter()
            .map(|(id, reason)| RefusedNote {
                id: id.to_string(),
                reason: word(&Some(reason)).unwrap_or_default(),
            })
            .collect(),
    };
    match global.format {
        Format::Json => output.raw(&answer::json(&answer)?)?,
        _ => output.answer(&render::record::list(&answer, output.view))?,
    }
    Ok(Exit::Answered)
}

fn suggested(site: &Site, args: &RecordSuggest, global: &Global, output: &Output) -> anyhow::Result<Exit> {
    let changed = if args.paths.is_empty() { changed(site)? } else { given(site, args)? };
    let read = |path: &str| host::read_text(&site.root.join(path)).ok().flatten();
    let suggestions = suggest(&read, &changed).into_iter().map(Suggested::from).collect();
    let answer = SuggestAnswer { schema: "owed.suggest/1", suggestions };
    match global.format {
        Format::Json => output.raw(&answer::json(&answer)?)?,
        _ => output.answer(&render::record::suggest(&answer, output.view))?,
    }
    Ok(Exit::Answered)
}

fn given(site: &Site, args: &RecordSuggest) -> anyhow::Result<Vec<String>> {
    args.paths.iter().map(|path| site.inside(path)).collect()
}

fn changed(site: &Site) -> anyhow::Result<Vec<String>> {
    let repository = site.repository().ok_or_else(|| {
        Complaint::new("without git it cannot be told what changed", "name the changed files")
    })?;
    let changes = repository.changes(&Base::Worktree { rev: "HEAD".to_owned() })?;
    let paths = changes.changes.iter().flat_map(|change| change.paths());
    Ok(paths.filter_map(|path| site.project_path(path)).map(str::to_owned).collect())
}

fn checkpoint(file: &Path) -> anyhow::Result<Checkpoint> {
    let text = host::read_text(file)?.ok_or_else(|| {
        Complaint::new(
            format!("there is no file {}", file.display()),
            "write the checkpoint first; nothing was started",
        )
    })?;
    Checkpoint::from_json(&text).map_err(|place| {
        let fields = "phase, goal, decisions, rejected, completed, unproven, next";
        Complaint::new(
            format!("{} is no checkpoint ({place})", file.display()),
            format!("give exactly these fields: {fields}; nothing was started"),
        )
        .into()
    })
}

fn identity(of: &RecordOf) -> anyhow::Result<Identity> {
    Ok(Identity {
        run: RunId::new(&of.run).map_err(invalid)?,
        owner: Label::new(&of.owner).map_err(invalid)?,
        unit: of.unit.as_deref().map(Label::new).transpose().map_err(invalid)?,
        thread: Label::new(&of.thread).map_err(invalid)?,
        resource: Label::new(&of.resource).map_err(invalid)?,
        fence: of.fence,
    })
}

fn call_id(text: &str) -> anyhow::Result<CallId> {
    CallId::new(text).map_err(|fault| invalid(fault).into())
}

fn invalid(fault: Invalid) -> Complaint {
    Complaint::new(format!("not a {}: {}", fault.what, fault.rule), "correct it; nothing was started")
}

/// The exit code of an answer; there are no others.
fn exit(code: u8) -> Exit {
    match code {
        0 => Exit::Answered,
        1 => Exit::Failed,
        2 => Exit::Unusable,
        _ => Exit::NoVerdict,
    }
}
