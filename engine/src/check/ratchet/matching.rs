//! Which remembered function is which present one.
//!
//! The tiers, from sure to likely; inside one, the cheapest assignment counts, and what is
//! matched stays matched:
//!
//! 1. same place (path and qualified name) and same body;
//! 2. same place: a place that holds one function before and after holds the same one,
//!    whatever became of its body (so two functions that swap their sizes have not swapped
//!    places, and the one that got larger has grown). Among several of one name, and for
//!    made-up names, those whose bodies are alike;
//! 3. same content elsewhere, when the old place is gone: moved or renamed;
//! 4. same name elsewhere, or the same last name in the same file, with a similar body;
//! 5. nearest: in the same file, at least 0.7 alike.
//!
//! A new function never inherits the debt of a deleted one beyond that: it would have to
//! be nearly the same, in the same file.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::assign::{Candidate, assign};
use super::identity::Identity;

/// How alike two bodies of the same name must be, in thousandths.
const SIMILAR: u32 = 500;
/// How alike two bodies of one file must be when nothing else speaks for them.
const NEAREST: u32 = 700;
/// Bodies of fewer tokens say nothing about who a function is.
const TELLING: u32 = 16;

/// For each of `olds`, the one of `news` it has become. `complete` says that `olds` is all
/// that was there (a revision), not only what was over its cap (a debt file): then a place
/// that was taken before is not one that something can have moved to.
pub(super) fn match_functions(olds: &[Identity], news: &[Identity], complete: bool) -> Vec<Option<usize>> {
    let mut matching = Matching::new(olds, news, complete);
    matching.same_place_and_body();
    matching.same_place();
    matching.same_content_elsewhere();
    matching.same_name_elsewhere();
    matching.nearest();
    matching.new_of
}

type Place<'a> = (&'a str, &'a str);

struct Matching<'a> {
    olds: &'a [Identity],
    news: &'a [Identity],
    complete: bool,
    new_of: Vec<Option<usize>>,
    taken: Vec<bool>,
    olds_at: FxHashMap<Place<'a>, Vec<usize>>,
    news_at: FxHashMap<Place<'a>, Vec<usize>>,
}

fn place(who: &Identity) -> Place<'_> {
    (&who.path, &who.name)
}

fn by_place(list: &[Identity]) -> FxHashMap<Place<'_>, Vec<usize>> {
    let mut places: FxHashMap<Place<'_>, Vec<usize>> = FxHashMap::default();
    for (at, who) in list.iter().enumerate() {
        places.entry(place(who)).or_default().push(at);
    }
    places
}

impl<'a> Matching<'a> {
    fn new(olds: &'a [Identity], news: &'a [Identity], complete: bool) -> Self {
        Self {
            olds,
            news,
            complete,
            new_of: vec![None; olds.len()],
            taken: vec![false; news.len()],
            olds_at: by_place(olds),
            news_at: by_place(news),
        }
    }

    fn pair(&mut self, candidates: Vec<Candidate>) {
        for (old, new) in assign(candidates) {
            self.new_of[old] = Some(new);
            self.taken[new] = true;
        }
    }

    /// Candidates among what is not matched yet and has an equal key.
    fn candidates<K: Ord>(
        &self,
        key: impl Fn(&'a Identity) -> K,
        cost: impl Fn(&Identity, &Identity) -> Option<u32>,
    ) -> Vec<Candidate> {
        let mut free: BTreeMap<K, Vec<usize>> = BTreeMap::new();
        for (at, who) in self.news.iter().enumerate().filter(|(at, _)| !self.taken[*at]) {
            free.entry(key(who)).or_default().push(at);
        }
        let mut candidates = Vec::new();
        for (old, who) in self.olds.iter().enumerate().filter(|(at, _)| self.new_of[*at].is_none()) {
            for &new in free.get(&key(who)).into_iter().flatten() {
                let other = &self.news[new];
                if who.language == other.language
                    && let Some(cost) = cost(who, other)
                {
                    candidates.push(Candidate { cost, old, new });
                }
            }
        }
        candidates
    }

    fn same_place_and_body(&mut self) {
        let found =
            self.candidates(|who| (place(who), who.body), |old, new| Some(old.ordinal.abs_diff(new.ordinal)));
        self.pair(found);
    }

    fn same_place(&mut self) {
        let found = self.candidates(place, |old, new| {
            let lone = self.olds_at[&place(old)].len() == 1 && self.news_at[&place(new)].len() == 1;
            if lone && !old.is_anonymous() {
                return (!self.left_a_delegate(old, new)).then_some(0);
            }
            let alike = old.sketch.alike(&new.sketch);
            (alike >= SIMILAR).then(|| (1000 - alike) * 64 + old.ordinal.abs_diff(new.ordinal).min(63))
        });
        self.pair(found);
        // Of several with one name, the last that is left on both sides.
        let found = self.candidates(place, |old, new| {
            let left = |list: &[usize], is_free: &dyn Fn(usize) -> bool| {
                list.iter().filter(|at| is_free(**at)).count()
            };
            let lone = left(&self.olds_at[&place(old)], &|at| self.new_of[at].is_none()) == 1
                && left(&self.news_at[&place(new)], &|at| !self.taken[at]) == 1;
            (lone && !old.is_anonymous() && !self.left_a_delegate(old, new)).then_some(0)
        });
        self.pair(found);
    }

    /// Whether the body has gone elsewhere and `new` only calls it.
    fn left_a_delegate(&self, old: &Identity, new: &Identity) -> bool {
        new.delegate
            && !old.delegate
            && self.news.iter().enumerate().any(|(at, other)| !self.taken[at] && other.content == old.content)
    }

    /// Whether `old` is not where it was, so that it may be at the place of `new`.
    fn may_have_moved(&self, old: &Identity, new: &Identity) -> bool {
        if old.tokens < TELLING || new.tokens < TELLING {
            return false;
        }
        // A made-up name goes to whoever stands there now.
        if old.is_anonymous() {
            return true;
        }
        if self.complete && !self.olds_at.contains_key(&place(new)) {
            return true;
        }
        let before = self.olds_at[&place(old)].len();
        let now = self
            .news_at
            .get(&place(old))
            .map_or(0, |list| list.iter().filter(|at| old.delegate || !self.news[**at].delegate).count());
        now < before
    }

    fn same_content_elsewhere(&mut self) {
        let found = self.candidates(
            |who| who.content,
            |old, new| self.may_have_moved(old, new).then(|| distance(old, new)),
        );
        self.pair(found);
    }

    fn same_name_elsewhere(&mut self) {
        let found = self.candidates(Identity::simple, |old, new| {
            let near = old.path == new.path || old.name == new.name;
            let alike = old.sketch.alike(&new.sketch);
            (near && alike >= SIMILAR && self.may_have_moved(old, new)).then_some(1000 - alike)
        });
        self.pair(found);
    }

    fn nearest(&mut self) {
        let found = self.candidates(
            |who| who.path.as_str(),
            |old, new| {
                let alike = old.sketch.alike(&new.sketch);
                (alike >= NEAREST && self.may_have_moved(old, new)).then_some(1000 - alike)
            },
        );
        self.pair(found);
    }
}

/// How far two functions of one body lie apart.
fn distance(old: &Identity, new: &Identity) -> u32 {
    let differs = |is: bool, cost: u32| if is { cost } else { 0 };
    differs(old.path != new.path, 64)
        + differs(old.name != new.name, 16)
        + differs(old.simple() != new.simple(), 16)
        + old.ordinal.abs_diff(new.ordinal).min(15)
}
