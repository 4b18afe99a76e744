//! `owed receipts`: what passed before, with which inputs, and why it is not reused.

use owed_engine::project::Reading;
use owed_engine::receipt::{Entry, Receipt, Table, differences};
use owed_gates::audit::Standing;
use owed_gates::runs::decide::{Decision, may_reuse};
use owed_gates::runs::digests::Digests;
use owed_gates::runs::identify::{Asked, Context, identify};
use owed_gates::runs::look::{Look, input_of};
use owed_gates::runs::store::Receipts;
use owed_gates::runs::toolchain::Toolchain;

use super::paid::Paid;
use super::run::parts;
use crate::answer;
use crate::answer::receipts::{Differs, Ignored, ReceiptSeen, ReceiptsAnswer};
use crate::args::{Against, Format, Global, ReceiptsCommand, Run};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::near::near;
use crate::output::Output;
use crate::render;
use crate::session::Session;
use crate::site::Site;

/// Answers.
pub(crate) fn run(global: &Global, command: &ReceiptsCommand, output: &Output) -> anyhow::Result<Exit> {
    let site = Site::open(&global.cwd)?;
    let receipts = Receipts::of(&site.root);
    let (mut answer, exit) = match command {
        ReceiptsCommand::List => (list(&receipts)?, Exit::Answered),
        ReceiptsCommand::Show { receipt } => (show(&receipts, receipt)?, Exit::Answered),
        ReceiptsCommand::Diff { a, b } => (diff(&receipts, a, b)?, Exit::Answered),
        ReceiptsCommand::Verify => verify(global, &receipts, output)?,
        ReceiptsCommand::WhyNot { test } => {
            (why_not(global, &test.to_string_lossy(), output)?, Exit::Answered)
        }
        ReceiptsCommand::Prune => {
            let removed = receipts.prune()?;
            (ReceiptsAnswer { removed, ..ReceiptsAnswer::new() }, Exit::Answered)
        }
    };
    answer.tripped = Standing::of(&site.root).tripped().map(str::to_owned);
    match global.format {
        Format::Json => output.raw(&answer::json(&answer)?)?,
        _ => output.answer(&render::receipts::receipts(&answer, command, output.view))?,
    }
    Ok(exit)
}

fn list(receipts: &Receipts) -> anyhow::Result<ReceiptsAnswer> {
    let (all, faults) = receipts.all()?;
    let state =
        |receipt: &Receipt| if receipts.entries(receipt).is_some() { "whole" } else { "entries-gone" };
    Ok(ReceiptsAnswer {
        receipts: all
            .into_iter()
            .map(|receipt| (state(&receipt), receipt))
            .map(|(s, r)| ReceiptSeen::new(r, s))
            .collect(),
        ignored: faults.into_iter().map(|(file, fault)| Ignored { file, reason: fault.word() }).collect(),
        ..ReceiptsAnswer::new()
    })
}

/// The receipt that a person means: by the beginning of its id, or the newest of a test.
fn find(receipts: &Receipts, name: &str) -> anyhow::Result<(Receipt, Option<Vec<Entry>>)> {
    let (all, _) = receipts.all()?;
    let by_id: Vec<&Receipt> = all.iter().filter(|r| name.len() >= 4 && r.id().starts_with(name)).collect();
    let last = receipts.last_of(name)?;
    let by_test: Vec<&Receipt> = last.iter().collect();
    let found = match (by_id.as_slice(), by_test.as_slice()) {
        ([one], _) | ([], [one]) => Some(*one),
        ([], [_, ..]) | ([_, _, ..], _) => {
            let many: Vec<&str> = by_id.iter().chain(&by_test).map(|r| &r.id()[..12]).collect();
            let what = format!("{name} names {} receipts", many.len());
            return Err(Complaint::new(what, format!("name one of them: {}", many.join(", "))).into());
        }
        ([], []) => None,
    };
    let Some(receipt) = found else {
        let near = near(name, all.iter().map(|r| r.test.as_str()), 3);
        let next = match &near[..] {
            [] => "owed receipts list shows what there is".to_owned(),
            near => format!("did you mean {}?", near.join(" or ")),
        };
        return Err(Complaint::new(format!("there is no receipt {name}"), next).into());
    };
    Ok((receipt.clone(), receipts.entries(receipt)))
}

fn show(receipts: &Receipts, name: &str) -> anyhow::Result<ReceiptsAnswer> {
    let (receipt, entries) = find(receipts, name)?;
    let state = if entries.is_some() { "whole" } else { "entries-gone" };
    let mut seen = ReceiptSeen::new(receipt, state);
    seen.entries = answer::all(entries.unwrap_or_default());
    Ok(ReceiptsAnswer { receipts: vec![seen], ..ReceiptsAnswer::new() })
}

fn diff(receipts: &Receipts, a: &str, b: &str) -> anyhow::Result<ReceiptsAnswer> {
    let mut sides = Vec::new();
    for name in [a, b] {
        let (receipt, entries) = find(receipts, name)?;
        let Some(entries) = entries else {
            let what = format!("the entries of {name} are gone");
            return Err(Complaint::new(what, "run the test again to have new ones").into());
        };
        sides.push((receipt, entries));
    }
    let found = differences(&sides[0].1, &sides[1].1);
    let test = sides[0].0.test.clone();
    Ok(ReceiptsAnswer {
        receipts: sides.into_iter().map(|(receipt, _)| ReceiptSeen::new(receipt, "whole")).collect(),
        differences: found.into_iter().map(|d| Differs::input(&test, d)).collect(),
        ..ReceiptsAnswer::new()
    })
}

/// Each receipt again from its entries, and each entry that names its input fully again from
/// the tree. The planner has no part in this.
fn verify(global: &Global, receipts: &Receipts, output: &Output) -> anyhow::Result<(ReceiptsAnswer, Exit)> {
    let session = Session::open(global, &Against::default(), output)?;
    let environment = parts::environment(None);
    let root = &session.site.root;
    let toolchain = Toolchain::new(root, &environment);
    let python = toolchain.python().ok();
    let sites = python.and_then(|python| toolchain.sites(&python, root).ok());
    let files = session.files();
    // Who verifies reads.
    let digests = Digests::none();
    let look = Look::new(root, files, &environment, (sites.as_deref(), &digests));
    let mut answer = list(receipts)?;
    let (all, _) = receipts.all()?;
    for (seen, receipt) in answer.receipts.iter_mut().zip(&all) {
        let Some(entries) = receipts.entries(receipt) else { continue };
        let table = Table::new(entries.clone());
        let all: Vec<u32> = (0..table.entries().len()).filter_map(|n| u32::try_from(n).ok()).collect();
        if table.identity(&all).hex() != receipt.identity {
            seen.state = "entries-gone";
            continue;
        }
        let known: Vec<_> = entries.iter().filter_map(|entry| Some((entry, input_of(entry)?))).collect();
        let inputs: Vec<_> = known.iter().map(|(_, input)| input.clone()).collect();
        let now: Vec<Entry> =
            look.at(&inputs).into_iter().flat_map(|seen| seen.entries.unwrap_or_default()).collect();
        let before: Vec<&Entry> = known.iter().map(|(entry, _)| *entry).collect();
        let found = differences(before.iter().copied(), &now);
        seen.state = if found.is_empty() { "current" } else { "stale" };
        answer.differences.extend(found.into_iter().take(1).map(|d| Differs::input(&seen.test, d)));
    }
    let broken = !answer.ignored.is_empty() || answer.receipts.iter().any(|r| r.state == "entries-gone");
    Ok((answer, if broken { Exit::Failed } else { Exit::Answered }))
}

fn why_not(global: &Global, test: &str, output: &Output) -> anyhow::Result<ReceiptsAnswer> {
    let session = Session::open(global, &Against::default(), output)?;
    let path = session.site.inside(std::path::Path::new(test))?;
    let project = session.read(Reading::Declarations);
    let numbers: Vec<usize> =
        (0..project.tests.len()).filter(|&number| project.test_path(project.tests[number]) == path).collect();
    if numbers.is_empty() {
        let tests = project.tests.iter().map(|test| project.test_path(*test));
        let next = match &near(&path, tests, 3)[..] {
            [] => "owed doctor says which tests there are".to_owned(),
            near => format!("did you mean {}?", near.join(" or ")),
        };
        return Err(Complaint::new(format!("{path} is no test"), next).into());
    }
    let classes = parts::classes(&project, std::slice::from_ref(&path));
    let environment = parts::environment(None);
    let root = &session.site.root;
    let digests = Digests::none();
    let context = Context {
        root,
        digests: &digests,
        environment: &environment,
        arguments: &[],
        common: parts::standing(&session, &Run::default()),
    };
    let may = |number: &&usize| may_reuse(classes[**number].opacity);
    let asked: Vec<Asked> = numbers
        .iter()
        .filter(may)
        .map(|&number| Asked { number, pins: classes[number].pins.clone() })
        .collect();
    let identified = identify(&project, &asked, &context);
    let paid = Paid::open(&session);
    let deciding = paid.deciding(&identified);
    let mut answer = ReceiptsAnswer::new();
    for number in numbers {
        match deciding.decide(&project, number, &classes[number]) {
            Decision::Reuse(receipt) => answer.receipts.push(ReceiptSeen::new(*receipt, "current")),
            Decision::Run { denial, detail, differences } if differences.is_empty() => {
                answer.differences.push(Differs::other(&path, denial.word(), detail));
            }
            Decision::Run { differences, .. } => {
                answer.differences.extend(differences.into_iter().map(|d| Differs::input(&path, d)));
            }
        }
    }
    Ok(answer)
}
