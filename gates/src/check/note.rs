//! The failure note of a call: what is known first, excerpts last, all of it bounded.
//!
//! Its text fields come out of the ledger, where each was redacted by itself before it
//! was stored, so nothing here looks for secrets across fields and nothing can swallow an
//! identity.

use std::fmt::Write as _;

use super::answer::Answer;
use super::untrusted::visible;

/// Characters of a note.
pub const NOTE_CHARS: usize = 2_000;

/// Characters of one excerpt.
const EXCERPT: usize = 600;

/// The note of an answer that is no completed check; `None` for one that is.
///
/// In this order: call id, command hash, outcome kind, unknown reason, infrastructure
/// reason, then the command and what it printed.
#[must_use]
pub fn failure(answer: &Answer) -> Option<String> {
    let receipt = answer.receipt.as_ref();
    let kind = match (&answer.refusal, receipt) {
        (Some(why), _) => format!("refused ({})", why.code()),
        (None, Some(receipt)) if receipt.exit.is_none() => receipt.state.word().to_owned(),
        _ => return None,
    };
    let word = |value: Option<serde_json::Value>| {
        value.as_ref().and_then(|value| value.as_str()).unwrap_or("none").to_owned()
    };
    let hash = answer.record.as_ref().map(|call| call.request.command_hash.hex());
    let mut note = String::new();
    let _ = writeln!(note, "call: {}", answer.call);
    let _ = writeln!(note, "command hash: {}", hash.as_deref().unwrap_or("none"));
    let _ = writeln!(note, "outcome: {kind}");
    let _ = writeln!(
        note,
        "unknown reason: {}",
        word(receipt.and_then(|r| serde_json::to_value(r.unknown).ok()))
    );
    let _ =
        writeln!(note, "infrastructure: {}", word(receipt.and_then(|r| serde_json::to_value(r.infra).ok())));
    if let Some(why) = &answer.refusal {
        let started =
            if why.did_not_start() { "the command did not start" } else { "the outcome is unknown" };
        let _ = writeln!(note, "{started}; next: {}", why.remedy());
    }
    let mut excerpt = |name: &str, text: &str| {
        if !text.is_empty() {
            let text: String = visible(text).replace('\n', "\\n").chars().take(EXCERPT).collect();
            let _ = writeln!(note, "{name} (untrusted): {text}");
        }
    };
    if let Some(call) = &answer.record {
        excerpt("command", &call.request.command.text);
    }
    if let Some(output) = receipt.and_then(|receipt| receipt.output.as_ref()) {
        excerpt("stderr", output.stderr.text());
        excerpt("stdout", output.stdout.text());
    }
    Some(note.chars().take(NOTE_CHARS).collect())
}
