//! `owed status`: what has no verdict yet, what was seen at work, and what is kept. It looks;
//! nothing is started or signalled.

use owed_gates::lease::{Host as _, System};
use owed_gates::queue::{Queue, Refused, Request};
use owed_gates::runs::store::Receipts;

use crate::answer;
use crate::answer::status::{self, Deferred, HeldRequest, Job, PendingRequest, StatusAnswer, Word};
use crate::args::{Format, Global, Status};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::output::Output;
use crate::render;
use crate::site::Site;

/// Answers.
pub(crate) fn run(global: &Global, args: &Status, output: &Output) -> anyhow::Result<Exit> {
    let site = Site::open(&global.cwd)?;
    let queue = if Queue::is_in(&site.root) { Some(Queue::of(&site.root)?) } else { None };
    if let Some(id) = &args.acknowledge {
        acknowledge(queue.as_ref(), id, &args.because)?;
    }
    let receipts = receipts(&Receipts::of(&site.root))?;
    let mut answer = StatusAnswer {
        schema: "owed.status/1",
        observed_ms: System.now_ms(),
        pending: Vec::new(),
        held: Vec::new(),
        acknowledged: Vec::new(),
        job: None,
        receipts,
    };
    if let Some(queue) = &queue {
        let pending = queue.pending()?;
        for request in pending.requests {
            answer.pending.push(seen(queue, request)?);
        }
        let held = pending.held.into_iter();
        answer.held = held.map(|held| HeldRequest { name: held.name, why: held.why.word() }).collect();
        let words = pending.acknowledged.into_iter().map(|(_, word)| word);
        answer.acknowledged =
            words.map(|word| Word { id: word.request, because: word.because, at_ms: word.at_ms }).collect();
        answer.job = job(queue);
    }
    match global.format {
        Format::Json => output.raw(&answer::json(&answer)?)?,
        _ => output.answer(&render::status::status(&answer, output.view))?,
    }
    let is_open = !answer.pending.is_empty() || !answer.held.is_empty();
    Ok(if args.gate && is_open { Exit::CannotVouch } else { Exit::Answered })
}

fn seen(queue: &Queue, request: Request) -> anyhow::Result<PendingRequest> {
    let note = queue.note(&request.id);
    Ok(PendingRequest {
        awaited: queue.awaited(&request.id)?,
        deferred: note.map(|note| Deferred { reason: note.reason, detail: note.detail, at_ms: note.at_ms }),
        id: request.id,
        created_ms: request.created_ms,
        pid: request.by.pid,
        priority: request.priority.word(),
        full: request.asks.full,
        coverage: request.asks.coverage,
        paths: request.asks.changes.into_keys().collect(),
    })
}

/// The job that was seen last. One that nobody has seen the end of is `running`, as far as
/// was observed.
fn job(queue: &Queue) -> Option<Job> {
    let running = queue.taken().and_then(Result::ok).map(|taken| Job {
        id: taken.batch,
        pid: taken.owner.pid,
        since_ms: taken.since_ms,
        state: "running",
        requests: taken.requests,
        ended_ms: None,
        verdict: None,
    });
    running.or_else(|| {
        let last = queue.last().and_then(Result::ok)?;
        Some(Job {
            id: last.job.batch,
            pid: last.job.owner.pid,
            since_ms: last.job.since_ms,
            state: "ended",
            requests: last.job.requests,
            ended_ms: Some(last.ended_ms),
            verdict: Some(last.verdict),
        })
    })
}

fn receipts(receipts: &Receipts) -> anyhow::Result<status::Receipts> {
    let (all, faults) = receipts.all()?;
    let tests: std::collections::BTreeSet<&str> = all.iter().map(|receipt| receipt.test.as_str()).collect();
    Ok(status::Receipts { kept: all.len(), tests: tests.len(), ignored: faults.len() })
}

fn acknowledge(queue: Option<&Queue>, id: &str, because: &str) -> anyhow::Result<()> {
    let refused = match queue.map(|queue| queue.acknowledge(id, because)) {
        Some(Ok(_)) => return Ok(()),
        Some(Err(refused)) => refused,
        None => Refused::Unknown,
    };
    let next = match refused {
        Refused::Unknown => "`owed status` lists the names of pending requests",
        Refused::Unbound(_) => "run it instead: `owed run --all`",
        Refused::Fault(_) => "make .owed/queue writable",
    };
    Err(Complaint::new(format!("{id}: {refused}"), next).into())
}
