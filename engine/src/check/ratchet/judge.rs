//! What became of each debt: held, shrunk, grown, new or revealed; stale or frozen.

use rustc_hash::FxHashMap;

use super::debt::Debt;
use super::identity::Identity;
use super::matching::match_functions;
use crate::check::exclusion::Rule;
use crate::check::policy::CompiledCaps;
use crate::problem::Unchecked;

/// What became of a function's debt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// As large as before, or only formatted differently.
    Held,
    /// Smaller than before, and still over its cap.
    Shrunk,
    /// Larger than before.
    Grown,
    /// Over its cap, and was not.
    New,
    /// Over its cap only because the cap, the language or the reader changed.
    Revealed,
}

impl Status {
    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Shrunk => "shrunk",
            Self::Grown => "grown",
            Self::New => "new",
            Self::Revealed => "revealed",
        }
    }
}

/// The verdict on one function over its cap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// What became of it.
    pub status: Status,
    /// How many tokens it may have; `None` when nothing allows it to be over its cap.
    pub allowed: Option<u32>,
    /// Whether a gate lets it through.
    pub passes: bool,
    /// The entry of the debt file that it is.
    pub entry: Option<usize>,
    /// Where it was recorded, when that is another place: path and name.
    pub was: Option<(String, String)>,
    /// Who it is, for the debt file.
    pub identity: Identity,
}

/// Why an entry can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StaleWhy {
    /// The function is not there any more.
    Gone,
    /// It is within its cap.
    Paid,
}

/// An entry that can go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stale {
    /// Path of the entry.
    pub path: String,
    /// Name of the entry.
    pub name: String,
    /// Why.
    pub why: StaleWhy,
    /// Its number in the debt file.
    pub entry: usize,
}

/// An entry that stays because nobody looked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frozen {
    /// Path of the entry.
    pub path: String,
    /// Name of the entry.
    pub name: String,
    /// Why its function was not looked at, in one word.
    pub reason: &'static str,
    /// Its number in the debt file.
    pub entry: usize,
}

/// What became of the debt file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ratchet {
    /// How many entries it has.
    pub entries: usize,
    /// Entries that can go, in order of the file.
    pub stale: Vec<Stale>,
    /// Entries that stay because nobody looked, in order of the file.
    pub frozen: Vec<Frozen>,
}

/// The older side of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Base {
    /// What each changed path held before; `None` where nothing was. A path that is not
    /// here is as it was.
    pub files: std::collections::BTreeMap<String, Option<Vec<u8>>>,
}

/// What became of the file of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum Fate {
    Checked,
    NotChecked(Unchecked),
    Excluded(Rule),
    OutOfScope,
    Absent,
}

/// A function that is there.
#[derive(Clone, Debug)]
pub(in crate::check) struct Seen {
    pub(in crate::check) identity: Identity,
    pub(in crate::check) cap: u32,
    /// Whether it belongs to the answer; others only say who is who.
    pub(in crate::check) in_scope: bool,
}

/// What was looked at, besides functions.
pub(in crate::check) struct Looked<'a> {
    /// What became of a path.
    pub(in crate::check) fate: &'a dyn Fn(&str) -> Fate,
    /// Whether files of a language were in scope and not checked.
    pub(in crate::check) left_out: &'a dyn Fn(&str) -> bool,
    /// Whether only a part of the project was looked at.
    pub(in crate::check) partial: bool,
    /// How the tokens of a language are counted today.
    pub(in crate::check) measure: &'a dyn Fn(&str) -> Option<&'static str>,
    /// The functions of changed files before the change, with the caps that hold.
    pub(in crate::check) before: Option<&'a [Identity]>,
    /// Whether a path is among the changed ones.
    pub(in crate::check) changed: &'a dyn Fn(&str) -> bool,
}

/// Judges `seen`, which holds every function over its cap, and every one that may be
/// somebody of `debt` or of the base. Gives a verdict for each that is over its cap and
/// in scope, by its number in `seen`.
pub(in crate::check) fn judge(
    debt: Option<&Debt>,
    seen: &[Seen],
    looked: &Looked<'_>,
) -> (Vec<(usize, Judged)>, Ratchet) {
    let news: Vec<Identity> = seen.iter().map(|one| one.identity.clone()).collect();
    let entries: Vec<Identity> =
        debt.into_iter().flat_map(|debt| &debt.functions).map(|entry| entry.identity.clone()).collect();
    let entry_of = inverse(&match_functions(&entries, &news, false));
    let before = looked.before.map(|before| Before::new(before, &news, looked));
    let recorded = debt.map(|debt| (debt, debt.caps.compile()));
    let mut judged = Vec::new();
    for (number, one) in seen.iter().enumerate() {
        if one.in_scope && one.identity.tokens > one.cap {
            let entry = entry_of.get(&number).copied();
            let was = before.as_ref().and_then(|before| before.of(number));
            let verdict = verdict(one, recorded.as_ref(), entry, before.is_some(), was, looked);
            judged.push((number, verdict));
        }
    }
    let ratchet = leftovers(&entries, seen, &entry_of, looked);
    (judged, ratchet)
}

fn inverse(new_of: &[Option<usize>]) -> FxHashMap<usize, usize> {
    new_of.iter().enumerate().filter_map(|(old, new)| Some(((*new)?, old))).collect()
}

/// What the functions were before the change.
struct Before<'a> {
    olds: &'a [Identity],
    old_of: FxHashMap<usize, usize>,
    news: &'a [Identity],
    unchanged: Vec<bool>,
}

impl<'a> Before<'a> {
    fn new(olds: &'a [Identity], news: &'a [Identity], looked: &Looked<'_>) -> Self {
        let unchanged: Vec<bool> = news.iter().map(|new| !(looked.changed)(&new.path)).collect();
        // Functions of unchanged files are themselves; they take nobody else's place.
        let moving: Vec<usize> = (0..news.len()).filter(|at| !unchanged[*at]).collect();
        let changed: Vec<Identity> = moving.iter().map(|at| news[*at].clone()).collect();
        let old_of = inverse(&match_functions(olds, &changed, true));
        let mut by_number = FxHashMap::default();
        for (at, number) in moving.iter().enumerate() {
            if let Some(old) = old_of.get(&at) {
                by_number.insert(*number, *old);
            }
        }
        Self { olds, old_of: by_number, news, unchanged }
    }

    fn of(&self, number: usize) -> Option<&Identity> {
        if self.unchanged[number] {
            return Some(&self.news[number]);
        }
        self.old_of.get(&number).map(|old| &self.olds[*old])
    }
}

fn verdict(
    one: &Seen,
    recorded: Option<&(&Debt, CompiledCaps)>,
    entry: Option<usize>,
    with_base: bool,
    was: Option<&Identity>,
    looked: &Looked<'_>,
) -> Judged {
    let who = &one.identity;
    let judged = |status, allowed, passes, entry, was: Option<&Identity>| Judged {
        status,
        allowed,
        passes,
        entry,
        was: was
            .filter(|old| (&old.path, &old.name) != (&who.path, &who.name))
            .map(|old| (old.path.clone(), old.name.clone())),
        identity: who.clone(),
    };
    let against = |old: &Identity| {
        if who.body == old.body || who.tokens == old.tokens {
            Status::Held
        } else if who.tokens < old.tokens {
            Status::Shrunk
        } else {
            Status::Grown
        }
    };
    // Only what was over the cap before the change can be debt of before.
    let owed_before = was.filter(|old| old.tokens > one.cap);
    if let (Some(number), Some((debt, _))) = (entry, recorded) {
        let old = &debt.functions[number].identity;
        let status = against(old);
        if status != Status::Grown {
            return judged(status, Some(old.tokens), true, Some(number), Some(old));
        }
        // The file may lag behind the revision that is the measure now.
        if let Some(before) = owed_before.filter(|before| before.tokens > old.tokens) {
            let status = against(before);
            return judged(status, Some(before.tokens), status != Status::Grown, Some(number), Some(old));
        }
        let counted_anew = measure_changed(debt, &who.language, looked);
        let status = if counted_anew { Status::Revealed } else { Status::Grown };
        return judged(status, Some(old.tokens), false, Some(number), Some(old));
    }
    match (owed_before, recorded) {
        (Some(before), None) => {
            let status = against(before);
            judged(status, Some(before.tokens), status != Status::Grown, None, Some(before))
        }
        (Some(before), Some(_)) => match against(before) {
            Status::Grown => judged(Status::Grown, Some(before.tokens), false, None, Some(before)),
            _ => judged(Status::Revealed, None, true, None, Some(before)),
        },
        (None, Some((debt, caps))) if !with_base => {
            let stricter = who.tokens <= caps.of(&who.path);
            let unknown = measure_changed(debt, &who.language, looked);
            let status = if stricter || unknown { Status::Revealed } else { Status::New };
            judged(status, None, false, None, None)
        }
        (None, _) => judged(Status::New, None, false, None, None),
    }
}

/// Whether the language was not measured, or otherwise, when the debt was recorded.
fn measure_changed(debt: &Debt, language: &str, looked: &Looked<'_>) -> bool {
    let then = debt.measures.iter().find(|(name, _)| name == language).map(|(_, measure)| measure.as_str());
    then != (looked.measure)(language)
}

/// What became of the entries that no function over its cap stands for.
fn leftovers(
    entries: &[Identity],
    seen: &[Seen],
    entry_of: &FxHashMap<usize, usize>,
    looked: &Looked<'_>,
) -> Ratchet {
    let mut new_of: Vec<Option<usize>> = vec![None; entries.len()];
    for (new, _) in seen.iter().enumerate() {
        if let Some(old) = entry_of.get(&new) {
            new_of[*old] = Some(new);
        }
    }
    let mut ratchet = Ratchet { entries: entries.len(), ..Ratchet::default() };
    for (number, entry) in entries.iter().enumerate() {
        let (path, name) = (entry.path.clone(), entry.name.clone());
        let mut freeze = |reason| {
            ratchet.frozen.push(Frozen { path: path.clone(), name: name.clone(), reason, entry: number })
        };
        match new_of[number].map(|new| &seen[new]) {
            Some(new) if !new.in_scope => freeze("not-asked"),
            Some(new) if new.identity.tokens > new.cap => {}
            Some(_) => ratchet.stale.push(Stale { path, name, why: StaleWhy::Paid, entry: number }),
            None => match (looked.fate)(&entry.path) {
                Fate::NotChecked(reason) => freeze(reason.word()),
                Fate::Excluded(rule) => freeze(rule.word()),
                Fate::OutOfScope => freeze("not-asked"),
                // It may have moved to where nobody looked.
                Fate::Checked | Fate::Absent if looked.partial => freeze("not-asked"),
                Fate::Checked | Fate::Absent if (looked.left_out)(&entry.language) => freeze("not-checked"),
                Fate::Checked | Fate::Absent => {
                    ratchet.stale.push(Stale { path, name, why: StaleWhy::Gone, entry: number });
                }
            },
        }
    }
    ratchet
}
