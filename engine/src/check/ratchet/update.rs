//! The debt file that a report justifies.

use super::debt::{AcceptedGroup, Debt, Entry};
use super::judge::Status;
use crate::check::policy::Policy;
use crate::check::report::Report;

/// The new debt file. It lowers what shrank, moves what moved, drops what is stale and keeps
/// what is frozen. New, grown and revealed debt is written only with the reason in `accept`,
/// or when there was no file at all: then what is there now is where the ratchet starts.
///
/// `measures` are the languages that were measured, with how.
pub fn update(
    debt: Option<&Debt>,
    report: &Report,
    policy: &Policy,
    measures: &[(String, String)],
    accept: Option<&str>,
) -> Debt {
    let start = debt.is_none();
    let reason = accept.unwrap_or("");
    let may_raise = start || accept.is_some();
    let mut left_out = false;
    let mut next = Debt { measures: measures.to_vec(), ..Debt::default() };
    let kept = |number: usize| debt.map(|debt| debt.functions[number].clone());
    for function in &report.functions {
        let Some(judged) = &function.debt else { continue };
        let now = |tokens, reason: &str| {
            let identity = super::Identity { tokens, ..judged.identity.clone() };
            Entry { identity, reason: reason.to_owned() }
        };
        match (judged.status, judged.entry.and_then(kept)) {
            (Status::Held | Status::Shrunk, Some(old)) => {
                let tokens = function.own.min(old.identity.tokens);
                next.functions.push(now(tokens, &old.reason));
            }
            (_, Some(old)) => {
                let accepted = may_raise.then(|| now(function.own, reason));
                left_out |= accepted.is_none();
                next.functions.push(accepted.unwrap_or(old));
            }
            (_, None) if may_raise => next.functions.push(now(function.own, reason)),
            (_, None) => left_out = true,
        }
    }
    next.functions.extend(report.ratchet.frozen.iter().filter_map(|frozen| kept(frozen.entry)));
    // What was left out must stay visible as revealed: it was not there under these caps.
    let same_terms = debt.filter(|_| left_out || !policy.within.is_empty() || !policy.questions.tokens);
    next.caps = same_terms.map_or_else(|| policy.caps.clone(), |debt| debt.caps.clone());
    if let Some(debt) = same_terms {
        next.measures = debt.measures.clone();
    }
    if !policy.questions.tokens {
        next.functions = debt.map(|debt| debt.functions.clone()).unwrap_or_default();
    }
    next.repeated = groups(debt, report, policy, may_raise, reason);
    next
}

fn groups(
    debt: Option<&Debt>,
    report: &Report,
    policy: &Policy,
    may_raise: bool,
    reason: &str,
) -> Vec<AcceptedGroup> {
    let recorded = || debt.into_iter().flat_map(|debt| &debt.repeated);
    if !policy.questions.repeated {
        return recorded().cloned().collect();
    }
    let mut next: Vec<AcceptedGroup> = Vec::new();
    let mut used = vec![false; recorded().count()];
    for group in report.repeated.iter().filter(|group| group.is_claim()) {
        let old = group.accepted.and_then(|number| recorded().nth(number));
        if let (Some(number), Some(_)) = (group.accepted, old) {
            used[number] = true;
        }
        match old {
            Some(old) if !group.is_new() => next.push(group.to_accepted(&old.reason)),
            _ if may_raise => next.push(group.to_accepted(reason)),
            Some(old) => next.push(old.clone()),
            None => {}
        }
    }
    // Not looked for is not gone.
    let not_looked_for = |old: &AcceptedGroup| {
        old.across_files && !policy.across_files
            || !policy.within.is_empty()
            || !report.files.not_checked.is_empty()
    };
    next.extend(
        recorded().zip(used).filter(|(old, used)| !used && not_looked_for(old)).map(|(old, _)| old.clone()),
    );
    next
}
