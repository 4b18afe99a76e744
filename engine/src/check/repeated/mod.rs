//! Implementations written twice.
//!
//! The *claim* tier names whole functions of the same normalised structure; it is the
//! documented scope, and the only one that may gate. The *advice* tier names what is worth
//! a look. Neither says that two contracts are equal: the members, their lines and their
//! differing literals are shown, and whoever knows the contracts decides.
//!
//! The first pass keeps digests and a few numbers of each function, never its body; members
//! of a group are read again to be compared. The size of the answer is linear in members.

mod accepted;
mod align;
mod block;
mod claim;
mod comment;
mod group;
mod near;
mod normal;

pub use group::{Advice, Group, Hole, Member, Suppression, Tier};

pub(crate) use normal::content_digest;

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::check::policy::Policy;
use crate::check::ratchet::{AcceptedGroup, Debt};
use crate::check::report::CheckedFile;
use crate::function::{Function, FunctionFacts};
use crate::problem::Problem;

/// Fewer statements make no claim: two short functions are alike by chance.
pub const FEWEST_STATEMENTS: u32 = 5;

/// Different statements that make more than a table.
const FEWEST_DIFFERENT: usize = 3;

/// Whether a function says the same thing over and over with other values: a list of calls, a
/// `switch` from names to names. Two of these are one implementation only when most of what
/// they say is equal, too.
pub fn is_table(function: &Function) -> bool {
    !block::has_different(function, FEWEST_DIFFERENT)
}

/// What is kept of a function until groups are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Candidate {
    digest: u128,
    file: u32,
    number: u32,
    symbols: u32,
}

/// What is kept of a file until groups are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::check) struct Kept {
    claims: Vec<Candidate>,
    near: Vec<near::Near>,
    windows: Vec<block::Window>,
}

impl Kept {
    /// Keeps what is needed of `function`, the `number`th of its file.
    pub(in crate::check) fn add(&mut self, function: &Function, number: usize, advice: bool) {
        let Ok(number) = u32::try_from(number) else { return };
        if function.statements < FEWEST_STATEMENTS || function.has_nested || function.delegate {
            return;
        }
        let digest = normal::digest(&normal::claimed(function));
        let symbols = u32::try_from(function.shape.symbols.len()).unwrap_or(u32::MAX);
        self.claims.push(Candidate { digest, file: 0, number, symbols });
        if advice {
            self.near.extend(near::Near::of(function, digest, number));
            self.windows.extend(block::windows(function, number));
        }
    }
}

impl Kept {
    /// The digests of its functions.
    pub(in crate::check) fn digests(&self) -> impl Iterator<Item = u128> {
        self.claims.iter().map(|candidate| candidate.digest)
    }
}

/// Files that can be read again.
pub(in crate::check) trait Sources: Sync {
    /// The file's path and language.
    fn file(&self, number: u32) -> &CheckedFile;
    /// Its bytes and functions; `None` when it is not what it was.
    fn read(&self, number: u32) -> Option<(Vec<u8>, FunctionFacts)>;
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub(in crate::check) struct Found {
    pub(in crate::check) groups: Vec<Group>,
    pub(in crate::check) suppressed: Vec<Suppression>,
    pub(in crate::check) problems: Vec<Problem>,
}

/// Finds the groups in `files`, as far as a member lies in a file of `asked`; both by the
/// number of the file.
pub(in crate::check) fn find(
    files: &[&Kept],
    asked: &[bool],
    sources: &dyn Sources,
    policy: &Policy,
    debt: Option<&Debt>,
) -> Found {
    let mut found = Found::default();
    let numbered = || files.iter().zip(0u32..);
    let across_files = policy.across_files;
    let mut taken: FxHashSet<(u32, u32)> = FxHashSet::default();
    for claimed in claim::find(candidates(files, |_| true), asked, sources, across_files) {
        found.take(claimed.found);
        taken.extend(claimed.taken);
    }
    if policy.advice {
        let near = numbered().flat_map(|(kept, file)| kept.near.iter().map(move |one| one.within(file)));
        taken.extend(near::find(near.collect(), asked, sources, across_files, &mut found));
        let windows =
            numbered().flat_map(|(kept, file)| kept.windows.iter().map(move |one| one.within(file)));
        block::find(windows.collect(), &taken, asked, sources, across_files, &mut found);
    }
    found.settle(debt);
    found
}

fn candidates(files: &[&Kept], wanted: impl Fn(u128) -> bool) -> Vec<Candidate> {
    let numbered = files.iter().zip(0u32..);
    let all = numbered.flat_map(|(kept, file)| kept.claims.iter().map(move |c| Candidate { file, ..*c }));
    all.filter(|candidate| wanted(candidate.digest)).collect()
}

/// Claims that were verified before, by digest: when a file changes, only the digests that it
/// had or has are looked at again.
#[derive(Debug, Default)]
pub(in crate::check) struct Claims {
    by_digest: BTreeMap<u128, Vec<Found>>,
    /// Digests that are to be looked at again; `None` for all.
    stale: Option<FxHashSet<u128>>,
}

impl Claims {
    /// Functions of these digests came or went.
    pub(in crate::check) fn changed(&mut self, digests: impl Iterator<Item = u128>) {
        if let Some(stale) = &mut self.stale {
            stale.extend(digests);
        }
    }

    /// What [`find`] gives for all of `files` when no advice is asked for.
    pub(in crate::check) fn find(
        &mut self,
        files: &[&Kept],
        sources: &dyn Sources,
        policy: &Policy,
        debt: Option<&Debt>,
    ) -> Found {
        let stale = self.stale.replace(FxHashSet::default());
        let wanted = |digest| stale.as_ref().is_none_or(|stale| stale.contains(&digest));
        self.by_digest.retain(|digest, _| !wanted(*digest));
        let asked = vec![true; files.len()];
        for claimed in claim::find(candidates(files, wanted), &asked, sources, policy.across_files) {
            self.by_digest.entry(claimed.digest).or_default().push(claimed.found);
        }
        let mut found = Found::default();
        for one in self.by_digest.values().flatten() {
            found.take(one.clone());
        }
        found.settle(debt);
        found
    }
}

impl Found {
    fn take(&mut self, more: Self) {
        self.groups.extend(more.groups);
        self.suppressed.extend(more.suppressed);
        self.problems.extend(more.problems);
    }

    /// In the order of answers, with what was accepted before marked.
    fn settle(&mut self, debt: Option<&Debt>) {
        group::sort(&mut self.groups);
        let accepted: &[AcceptedGroup] = debt.map_or(&[], |debt| &debt.repeated);
        accepted::mark(&mut self.groups, accepted);
        self.suppressed.sort();
        self.suppressed.dedup();
        self.problems.sort();
        self.problems.dedup();
    }
}

/// Takes the members out that a comment with a reason speaks for.
fn suppress<T>(
    members: &mut Vec<T>,
    found: &mut Found,
    about: impl Fn(&T) -> (&Member, Option<&comment::Allowed>),
) {
    members.retain(|one| {
        let (member, Some(allowed)) = about(one) else { return true };
        if allowed.reason.is_empty() {
            found.problems.push(Problem {
                code: "suppression-without-reason".to_owned(),
                path: member.path.clone(),
                line: Some(allowed.line),
                detail: "`owed: allow repeated` needs a reason after a dash; without one it has no effect"
                    .to_owned(),
            });
            return true;
        }
        found.suppressed.push(Suppression {
            path: member.path.clone(),
            line: allowed.line,
            name: member.name.clone(),
            reason: allowed.reason.clone(),
        });
        false
    });
}

/// The lines of a text; a line ends at LF, CRLF, CR, U+2028 or U+2029. (Python does not know
/// the last two, which stand in no file anybody could find a comment in by line.)
fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}') {
            lines.push(&text[start..at]);
            start = at + c.len_utf8();
            if c == '\r' && chars.next_if(|(_, next)| *next == '\n').is_some() {
                start += 1;
            }
        }
    }
    lines.push(&text[start..]);
    lines
}
