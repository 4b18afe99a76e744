//! `owed record` for people. What a command printed, and the command itself, are shown
//! behind marks and with their control characters spelled out.

use std::fmt::Write as _;

use owed_gates::check::untrusted::{visible, wrapped};

use super::{View, count, style};
use crate::answer::record::{RecordAnswer, RecordsAnswer, SuggestAnswer, Untrusted};

/// Characters of a command on one line.
const COMMAND: usize = 160;

/// One call, or why there is none.
pub(crate) fn record(answer: &RecordAnswer, view: View) -> String {
    let mut out = String::new();
    if let Some(refusal) = &answer.refusal {
        let effect =
            if refusal.did_not_start { "the command did not start" } else { "its outcome is unknown" };
        let head = format!("refused: {effect} ({})", refusal.code);
        let _ = writeln!(out, "{}", style::bad(&head));
        let _ = writeln!(out, "  {}", style::wrap(&style::plain(&refusal.detail), 2, 2, view.width));
        let _ = writeln!(out, "  {} {}", style::bold("next:"), style::wrap(refusal.remedy, 8, 2, view.width));
        if answer.phase.is_none() {
            open(&mut out, answer, view);
            return out;
        }
        let _ = writeln!(out, "\nRecorded under this id:");
    }
    let _ = writeln!(out, "{}{}", headline(answer), style::dim(&whose(answer)));
    facts(&mut out, answer, view);
    for (name, stream) in [("stdout", &answer.stdout), ("stderr", &answer.stderr)] {
        if let Some(stream) = stream.as_ref().filter(|stream| stream.bytes > 0) {
            out += &wrapped(name, &note(stream), &stream.untrusted);
        }
    }
    advice(&mut out, answer, view);
    open(&mut out, answer, view);
    out
}

fn headline(answer: &RecordAnswer) -> String {
    let reason = answer
        .reason
        .as_deref()
        .map(|reason| format!(": {}", reason.replace(['_', '-'], " ")))
        .unwrap_or_default();
    match (answer.state, answer.exit_code, answer.signal) {
        ("completed", Some(0), _) => style::good("completed with exit code 0"),
        ("completed", Some(code), _) => style::bad(&format!("completed with exit code {code}")),
        ("completed", None, Some(signal)) => {
            style::bad(&format!("completed: ended by its own signal {signal}"))
        }
        ("not_started", ..) => style::warn(&format!("did not start{reason}")),
        ("unknown", ..) if answer.settled => style::warn("unknown, settled: nothing of it runs any more"),
        ("unknown", ..) => style::bad(&format!("unknown{reason}")),
        _ => style::warn("pending: its process may be at work"),
    }
}

fn whose(answer: &RecordAnswer) -> String {
    let purpose = answer.purpose.map(|purpose| format!("{purpose} ")).unwrap_or_default();
    let how = match (answer.replayed, answer.recovered) {
        (_, true) => ", found where its supervisor left it: nothing ran now",
        (true, _) => ", saved result: nothing ran now",
        _ => "",
    };
    format!("  ({purpose}{} in run {}{how})", answer.id, answer.run)
}

fn facts(out: &mut String, answer: &RecordAnswer, view: View) {
    if let Some(command) = &answer.command {
        let line = visible(&command.untrusted).replace('\n', "\\n");
        let is_long = !view.verbose && line.chars().count() > COMMAND;
        let line = if is_long { line.chars().take(COMMAND).collect::<String>() + " …" } else { line };
        let _ = writeln!(out, "  command   {line}");
    }
    if let Some(observed) = &answer.observed {
        let head = observed.head.as_deref().map_or("no commit", |head| &head[..head.len().min(12)]);
        let fingerprint =
            if view.verbose { observed.fingerprint.as_str() } else { short(&observed.fingerprint) };
        let _ = writeln!(
            out,
            "  observed  {} at {head}, {fingerprint}  {}",
            style::plain(&observed.path),
            style::dim("(before the command; no snapshot)")
        );
    }
    if let Some(abort) = &answer.abort {
        let _ = writeln!(out, "  ended by  {}", abort.replace('_', " "));
    }
    if let Some(part) = &answer.infrastructure {
        let _ = writeln!(out, "  failed    {part}");
    }
    if view.verbose
        && let Some(hash) = &answer.command_hash
    {
        let _ = writeln!(out, "  hash      {hash}");
    }
    match answer.checkpoint {
        "written" => drop(writeln!(out, "  notes     written as the run's current ones")),
        "not_replaced" => drop(writeln!(
            out,
            "  notes     as they were: only a new verification with exit code 0 replaces them"
        )),
        "unknown" => drop(writeln!(
            out,
            "  notes     {}",
            style::bad("may or may not have been written; look at them before writing others")
        )),
        _ => {}
    }
}

/// The label and the first digits.
fn short(fingerprint: &str) -> &str {
    let end = fingerprint.find(':').map_or(0, |at| at + 1) + 12;
    fingerprint.get(..end).unwrap_or(fingerprint)
}

fn note(stream: &Untrusted) -> String {
    let mut note = count(usize::try_from(stream.bytes).unwrap_or(usize::MAX), "byte");
    if stream.truncated {
        note += ", PARTIAL: some are left out";
    }
    if stream.lossy {
        note += ", not all UTF-8";
    }
    note
}

fn advice(out: &mut String, answer: &RecordAnswer, view: View) {
    let sentence = match (answer.state, answer.exit_code) {
        ("completed", Some(126 | 127)) => {
            "A shell gives 126 and 127 when it cannot run a program: then a tool is missing, and no assertion failed."
        }
        ("completed", _) => {
            "This says how the process ended. It does not say that assertions ran or that one failed, and approves nothing."
        }
        ("unknown", _) if !answer.settled => {
            "It is not run again, under no id, until it is settled; what it did stays unknown."
        }
        _ => return,
    };
    if !view.quiet {
        let _ = writeln!(out, "{}", style::wrap(sentence, 0, 0, view.width));
    }
    if answer.state == "unknown" && !answer.settled && !view.quiet {
        let _ = writeln!(
            out,
            "{}",
            style::dim(&format!("Next: owed record settle {} --run {}", answer.id, answer.run))
        );
    }
}

fn open(out: &mut String, answer: &RecordAnswer, view: View) {
    if !answer.open.is_empty() {
        let ids: Vec<String> = answer.open.iter().map(|id| style::plain(id)).collect();
        let sentence = format!(
            "The end of {} of this run is not known: {}",
            count(ids.len(), "other call"),
            ids.join(", ")
        );
        let _ = writeln!(out, "{}", style::wrap(&sentence, 0, 2, view.width));
    }
}

/// The calls of a run.
pub(crate) fn list(answer: &RecordsAnswer, view: View) -> String {
    let mut out = format!("{} in run {}\n", count(answer.calls.len(), "call"), answer.run);
    let shown = view.shown(answer.calls.len(), 64);
    for call in &answer.calls[..shown] {
        let command = call
            .command
            .as_ref()
            .map(|command| visible(&command.untrusted).replace('\n', "\\n"))
            .unwrap_or_default();
        let command: String = command.chars().take(60).collect();
        let purpose = call.purpose.unwrap_or_default();
        let _ = writeln!(
            out,
            "  {}  {purpose}  {}  {}",
            style::plain(&call.id),
            headline(call),
            style::dim(&command)
        );
    }
    out += &view.rest(answer.calls.len(), shown, "  ").unwrap_or_default();
    for note in &answer.refused {
        let _ = writeln!(
            out,
            "  {} was refused and did not start: {}",
            style::plain(&note.id),
            note.reason.replace('_', " ")
        );
    }
    out
}

/// Suggested checks.
pub(crate) fn suggest(answer: &SuggestAnswer, view: View) -> String {
    if answer.suggestions.is_empty() {
        return "Nothing changed, so no check is suggested.\n".to_owned();
    }
    let mut out = String::new();
    for one in &answer.suggestions {
        let package = style::bold(&style::plain(&one.package));
        match &one.command {
            Some(command) => drop(writeln!(out, "{package}  {}", style::good(&style::plain(command)))),
            None => drop(writeln!(out, "{package}  {}", style::warn("no useful bounded check"))),
        }
        let reason = format!("{} ({})", one.reason, count(one.paths.len(), "changed file"));
        let _ = writeln!(out, "  {}", style::wrap(&style::plain(&reason), 2, 2, view.width));
    }
    out
}
