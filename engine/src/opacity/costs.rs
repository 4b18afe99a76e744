//! What holds tests back: how many a place or a reason keeps at their class, and what they
//! would be without it.

use std::collections::{BTreeMap, BTreeSet};

use super::cause::{Described, ReasonHere};
use super::report::Found;
use crate::selection::Opacity;

/// What one reason costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The class it gives.
    pub class: Opacity,
    /// The word of the reason.
    pub reason: &'static str,
    /// How many tests have this class and this reason for it.
    pub tests: usize,
    /// At how many places of those tests.
    pub places: usize,
    /// How many tests would have a better class if no such place were left.
    pub lifted: usize,
}

/// What one place costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The place.
    pub place: ReasonHere,
    /// How many tests have this class and this place among the reasons for it.
    pub tests: usize,
    /// How many tests would have which better class without it.
    pub becomes: BTreeMap<Opacity, usize>,
}

/// What each place costs these tests.
pub(super) fn held(
    described: &Described,
    tests: &[&Found],
    shown: impl Fn(&ReasonHere) -> bool,
) -> Vec<Held> {
    let mut costs: BTreeMap<usize, (usize, BTreeMap<Opacity, usize>)> = BTreeMap::new();
    for found in tests {
        let places: BTreeSet<usize> = found.causes.iter().map(|cause| described.place_of[*cause]).collect();
        let at = |class| places.iter().filter(move |place| described.places[**place].class == class);
        for &place in at(found.class) {
            costs.entry(place).or_default().0 += 1;
        }
        let mut worst = at(found.class);
        if let (Some(&only), None) = (worst.next(), worst.next()) {
            let rest = places.iter().filter(|place| **place != only);
            let class = rest.map(|place| described.places[*place].class).max().unwrap_or(Opacity::Pure);
            *costs.entry(only).or_default().1.entry(class).or_default() += 1;
        }
    }
    let costs = costs.into_iter().filter(|(place, _)| shown(&described.places[*place]));
    let mut held: Vec<Held> = costs
        .map(|(place, (tests, becomes))| Held { place: described.places[place].clone(), tests, becomes })
        .collect();
    held.sort_by(|a, b| {
        let key = |held: &Held| (std::cmp::Reverse(held.tests), std::cmp::Reverse(held.place.class));
        key(a).cmp(&key(b)).then_with(|| {
            let place =
                |held: &Held| (held.place.path.clone(), held.place.line, held.place.operation.clone());
            place(a).cmp(&place(b))
        })
    });
    held
}

/// What each reason costs these tests.
pub(super) fn kinds(described: &Described, tests: &[&Found]) -> Vec<Kind> {
    let mut costs: BTreeMap<(Opacity, &'static str), (usize, BTreeSet<usize>, usize)> = BTreeMap::new();
    for found in tests {
        let worst = found.causes.iter().map(|cause| described.place_of[*cause]);
        let worst: BTreeSet<usize> =
            worst.filter(|place| described.places[*place].class == found.class).collect();
        let reasons: BTreeSet<&'static str> =
            worst.iter().map(|place| described.places[*place].reason).collect();
        for &reason in &reasons {
            let cost = costs.entry((found.class, reason)).or_default();
            cost.0 += 1;
            cost.1.extend(worst.iter().filter(|place| described.places[**place].reason == reason));
            cost.2 += usize::from(reasons.len() == 1);
        }
    }
    let mut kinds: Vec<Kind> = costs
        .into_iter()
        .map(|((class, reason), (tests, places, lifted))| Kind {
            class,
            reason,
            tests,
            places: places.len(),
            lifted,
        })
        .collect();
    kinds.sort_by_key(|kind| (std::cmp::Reverse(kind.tests), std::cmp::Reverse(kind.class), kind.reason));
    kinds
}
