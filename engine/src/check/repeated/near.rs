//! Advice about whole functions: nearly the same, or the same but for what they call.
//!
//! Exact copies count once. Candidates are pairs that share rare sequences of four symbols
//! (of each function the 64 with the least hashes are known, and the rarest of these are
//! indexed); a pair is compared when its sketches say that it may be alike. Groups are
//! built around a middle function, to which every member is alike; no function is in two.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::align::{Body, NOT_LOCAL};
use super::comment;
use super::group::{Advice, Group, Member, Tier, shared_name};
use super::normal::{blinded, digest, renumbered_part};
use super::{Found, Sources};
use crate::check::ratchet::mix;
use crate::function::{Function, Symbol};

/// How alike a member is to the middle of its group, in thousandths, at least.
const ALIKE: u32 = 750;
/// The same for short bodies, of which one statement is a large part.
const ALIKE_SHORT: u32 = 700;
/// A pair with fewer symbols than this together is short.
const SHORT: u32 = 240;
/// Sketches of pairs that are compared share this part, in thousandths, at least: a fifth
/// of the statements replaced leaves about 600.
const MAYBE: usize = 250;
/// Sequences of four that are known of a function.
const SKETCH: usize = 64;
/// Of these, how many are indexed.
const INDEXED: usize = 20;
/// In a longer list of functions that share a sequence each is paired with its next few.
const LONG_LIST: usize = 40;
const NEXT: usize = 6;
/// Fewer symbols say too little.
const FEWEST_SYMBOLS: usize = 40;
/// Different statements, at least: a list of one statement is a table.
const FEWEST_DIFFERENT: usize = 4;
/// Functions that differ in what they call need more in common.
const FEWEST_FOR_CALLEES: u32 = 8;
/// Symbols that are held at once.
const MOST_SYMBOLS: usize = 8 << 20;

/// What is kept of a function for advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::check) struct Near {
    pub(super) digest: u128,
    pub(super) file: u32,
    pub(super) number: u32,
    statements: u32,
    symbols: u32,
    /// The digest with callees left open.
    without_callees: u128,
    /// Least hashes of its sequences of four, sorted.
    sketch: Box<[u32]>,
}

impl Near {
    pub(super) fn of(function: &Function, digest_of: u128, number: u32) -> Option<Self> {
        let symbols = &function.shape.symbols;
        if symbols.len() < FEWEST_SYMBOLS || super::block::different(function) < FEWEST_DIFFERENT {
            return None;
        }
        let blind: Vec<u64> = blinded(symbols).collect();
        let mut grams: Vec<u32> = blind
            .windows(4)
            .map(|four| four.iter().fold(0u64, |hash, symbol| mix(hash.rotate_left(17) ^ symbol)))
            .map(|hash| (hash >> 32) as u32)
            .collect();
        grams.sort_unstable();
        grams.dedup();
        grams.truncate(SKETCH);
        Some(Self {
            digest: digest_of,
            file: 0,
            number,
            statements: function.statements,
            symbols: u32::try_from(symbols.len()).unwrap_or(u32::MAX),
            without_callees: digest(&renumbered_part(&open_callees(symbols))),
            sketch: grams.into(),
        })
    }

    pub(super) fn within(&self, file: u32) -> Self {
        Self { file, ..self.clone() }
    }
}

fn open_callees(symbols: &[Symbol]) -> Vec<Symbol> {
    let open = |symbol: &Symbol| match symbol {
        Symbol::Callee(_) => Symbol::Callee(0),
        other => *other,
    };
    symbols.iter().map(open).collect()
}

/// Finds groups among `all`; gives the functions that are in one.
pub(super) fn find(
    mut all: Vec<Near>,
    asked: &[bool],
    sources: &dyn Sources,
    across_files: bool,
    found: &mut Found,
) -> FxHashSet<(u32, u32)> {
    // Exact copies once; with files apart, once a file.
    let apart = |one: &Near| if across_files { 0 } else { one.file };
    all.par_sort_unstable_by_key(|one| (apart(one), one.digest, one.file, one.number));
    all.dedup_by(|b, a| a.digest == b.digest && apart(a) == apart(b));
    let mut used: FxHashSet<usize> = FxHashSet::default();
    let mut drafts = same_but_for_callees(&all, &apart, &mut used);
    let pairs = candidates(&all, &apart, &used);
    drafts.extend(near(&all, &pairs, sources, asked));
    drafts.retain(|draft| draft.members.iter().any(|at| asked[all[*at].file as usize]));
    let described = describe(&drafts, &all, sources);
    let mut taken = FxHashSet::default();
    for draft in drafts {
        report(&draft, &all, &described, found, &mut taken);
    }
    taken
}

/// Members of a group to be, by number in the list.
struct Draft {
    kind: Advice,
    members: Vec<usize>,
    alike: u32,
}

fn same_but_for_callees(
    all: &[Near],
    apart: &dyn Fn(&Near) -> u32,
    used: &mut FxHashSet<usize>,
) -> Vec<Draft> {
    let mut by_digest: BTreeMap<(u32, u128), Vec<usize>> = BTreeMap::new();
    for (at, one) in all.iter().enumerate().filter(|(_, one)| one.statements >= FEWEST_FOR_CALLEES) {
        by_digest.entry((apart(one), one.without_callees)).or_default().push(at);
    }
    let groups = by_digest.into_values().filter(|members| members.len() > 1);
    let drafts: Vec<Draft> =
        groups.map(|members| Draft { kind: Advice::OtherCallees, members, alike: 1000 }).collect();
    used.extend(drafts.iter().flat_map(|draft| &draft.members));
    drafts
}

/// Pairs that may be alike, sorted.
fn candidates(all: &[Near], apart: &dyn Fn(&Near) -> u32, used: &FxHashSet<usize>) -> Vec<(u32, u32)> {
    let mut frequency: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let free = || all.iter().enumerate().filter(|(at, _)| !used.contains(at));
    for (_, one) in free() {
        for gram in &one.sketch {
            *frequency.entry((apart(one), *gram)).or_default() += 1;
        }
    }
    let mut postings: Vec<(u32, u32, u32, u32)> = Vec::new();
    for (at, one) in free() {
        let mut rare: Vec<(u32, u32)> = one
            .sketch
            .iter()
            .map(|gram| (frequency[&(apart(one), *gram)], *gram))
            .filter(|(n, _)| *n > 1)
            .collect();
        rare.sort_unstable();
        postings.extend(
            rare.into_iter().take(INDEXED).map(|(_, gram)| (apart(one), gram, one.symbols, at as u32)),
        );
    }
    drop(frequency);
    postings.par_sort_unstable();
    let mut pairs: Vec<(u32, u32)> = postings
        .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
        .flat_map(|list| {
            let reach = if list.len() <= LONG_LIST { list.len() } else { NEXT };
            list.iter().enumerate().flat_map(move |(at, a)| {
                list[at + 1..].iter().take(reach).map(move |b| (a.3.min(b.3), a.3.max(b.3)))
            })
        })
        .collect();
    pairs.par_sort_unstable();
    pairs.dedup();
    pairs.retain(|(a, b)| {
        let (a, b) = (&all[*a as usize], &all[*b as usize]);
        sizes_fit(a.symbols, b.symbols) && resemblance(&a.sketch, &b.sketch) >= MAYBE
    });
    pairs
}

/// Whether two bodies of these lengths can be alike enough.
fn sizes_fit(a: u32, b: u32) -> bool {
    let (short, long) = (u64::from(a.min(b)), u64::from(a.max(b)));
    2000 * short >= u64::from(least(a + b)) * (short + long)
}

/// How alike two bodies of so many symbols together must be.
fn least(symbols: u32) -> u32 {
    if symbols < SHORT { ALIKE_SHORT } else { ALIKE }
}

/// The estimated Jaccard index of two bottom-k sketches, in thousandths.
fn resemblance(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut shared, mut seen) = (0, 0, 0, 0);
    let most = a.len().min(b.len()).max(1);
    while i < a.len() && j < b.len() && seen < most {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, shared) = (i + 1, j + 1, shared + 1),
        }
        seen += 1;
    }
    shared * 1000 / seen.max(1)
}

/// Groups of near misses: pairs fall apart into components, and of each the best connected
/// function gathers what is alike to it, as long as something is.
fn near(all: &[Near], pairs: &[(u32, u32)], sources: &dyn Sources, asked: &[bool]) -> Vec<Draft> {
    let mut drafts = Vec::new();
    let mut batch: Vec<Vec<(u32, u32)>> = Vec::new();
    let mut symbols = 0;
    for component in components(pairs) {
        let members: FxHashSet<u32> = component.iter().flat_map(|(a, b)| [*a, *b]).collect();
        let members: Vec<u32> = sorted(members.into_iter().collect());
        if !members.iter().any(|at| asked[all[*at as usize].file as usize]) {
            continue;
        }
        let size: usize = members.iter().map(|at| all[*at as usize].symbols as usize).sum();
        if symbols + size > MOST_SYMBOLS && !batch.is_empty() {
            drafts.extend(compare(&batch, all, sources));
            batch.clear();
            symbols = 0;
        }
        symbols += size;
        batch.push(component);
    }
    drafts.extend(compare(&batch, all, sources));
    drafts
}

fn sorted(mut list: Vec<u32>) -> Vec<u32> {
    list.sort_unstable();
    list
}

fn components(pairs: &[(u32, u32)]) -> Vec<Vec<(u32, u32)>> {
    let mut parent: FxHashMap<u32, u32> = FxHashMap::default();
    fn root(parent: &mut FxHashMap<u32, u32>, mut at: u32) -> u32 {
        loop {
            let up = *parent.entry(at).or_insert(at);
            if up == at {
                return at;
            }
            let above = *parent.entry(up).or_insert(up);
            parent.insert(at, above);
            at = above;
        }
    }
    for (a, b) in pairs {
        let (a, b) = (root(&mut parent, *a), root(&mut parent, *b));
        parent.insert(a.max(b), a.min(b));
    }
    let mut groups: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    for pair in pairs {
        groups.entry(root(&mut parent, pair.0)).or_default().push(*pair);
    }
    groups.into_values().collect()
}

fn compare(batch: &[Vec<(u32, u32)>], all: &[Near], sources: &dyn Sources) -> Vec<Draft> {
    let wanted: Vec<u32> = batch.iter().flatten().flat_map(|(a, b)| [*a, *b]).collect();
    let bodies = load(wanted, all, sources);
    let drafts: Vec<Vec<Draft>> = batch.par_iter().map(|component| gather(component, &bodies)).collect();
    drafts.into_iter().flatten().collect()
}

fn load(wanted: Vec<u32>, all: &[Near], sources: &dyn Sources) -> FxHashMap<u32, Body> {
    let mut wanted = sorted(wanted);
    wanted.dedup();
    wanted.sort_by_key(|at| all[*at as usize].file);
    let files: Vec<&[u32]> = wanted.chunk_by(|a, b| all[*a as usize].file == all[*b as usize].file).collect();
    let loaded: Vec<Vec<(u32, Body)>> = files
        .par_iter()
        .map(|of_file| {
            let Some((_, facts)) = sources.read(all[of_file[0] as usize].file) else { return Vec::new() };
            let body = |at: &u32| {
                let shape = &facts.functions.get(all[*at as usize].number as usize)?.shape;
                let locals = shape.symbols.iter().map(|symbol| match symbol {
                    Symbol::Local(binding) => *binding,
                    _ => NOT_LOCAL,
                });
                Some((*at, Body::new(blinded(&shape.symbols).collect(), locals.collect())))
            };
            of_file.iter().filter_map(body).collect()
        })
        .collect();
    loaded.into_iter().flatten().collect()
}

fn gather(component: &[(u32, u32)], bodies: &FxHashMap<u32, Body>) -> Vec<Draft> {
    let alike = |a: u32, b: u32| {
        let (a, b) = (bodies.get(&a)?, bodies.get(&b)?);
        a.alike(b, least(u32::try_from(a.symbols.len() + b.symbols.len()).unwrap_or(u32::MAX)))
    };
    let mut neighbours: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    for &(a, b) in component {
        if let Some(score) = alike(a, b) {
            neighbours.entry(a).or_default().push((b, score));
            neighbours.entry(b).or_default().push((a, score));
        }
    }
    let mut left: Vec<u32> = neighbours.keys().copied().collect();
    let mut drafts = Vec::new();
    while left.len() > 1 {
        // Most neighbours first, then the most alike, then the first.
        let rank = |at: &u32| {
            let near = neighbours[at].iter().filter(|(other, _)| left.binary_search(other).is_ok());
            let (count, sum) =
                near.fold((0, 0u64), |(count, sum), (_, score)| (count + 1, sum + u64::from(*score)));
            (count, sum, std::cmp::Reverse(*at))
        };
        let Some(middle) = left.iter().copied().max_by_key(rank).filter(|at| rank(at).0 > 0) else { break };
        // Long lists were not paired in full: everything that is left is compared.
        let members: Vec<(u32, u32)> = left
            .par_iter()
            .filter(|at| **at != middle)
            .filter_map(|at| Some((*at, alike(middle, *at)?)))
            .collect();
        let least = members.iter().map(|(_, score)| *score).min().unwrap_or(0);
        let mut numbers: Vec<usize> = members.iter().map(|(at, _)| *at as usize).collect();
        numbers.push(middle as usize);
        numbers.sort_unstable();
        left.retain(|at| numbers.binary_search(&(*at as usize)).is_err());
        drafts.push(Draft { kind: Advice::NearMiss, members: numbers, alike: least });
    }
    drafts
}

/// A member and the comment at it, by its number in the list.
type Described = FxHashMap<usize, (Member, Option<comment::Allowed>)>;

/// Reads the members of all groups once, file by file.
fn describe(drafts: &[Draft], all: &[Near], sources: &dyn Sources) -> Described {
    let mut wanted: Vec<usize> = drafts.iter().flat_map(|draft| draft.members.iter().copied()).collect();
    wanted.sort_unstable_by_key(|at| (all[*at].file, *at));
    wanted.dedup();
    let files: Vec<&[usize]> = wanted.chunk_by(|a, b| all[*a].file == all[*b].file).collect();
    let described: Vec<Vec<_>> = files
        .par_iter()
        .map(|of_file| {
            let file = all[of_file[0]].file;
            let Some((bytes, facts)) = sources.read(file) else { return Vec::new() };
            let text = String::from_utf8_lossy(&bytes);
            let lines = if text.contains("owed: allow") { super::lines(&text) } else { Vec::new() };
            let one = |at: &usize| {
                let function = facts.functions.get(all[*at].number as usize)?;
                let member = Member {
                    path: sources.file(file).path.clone(),
                    start_line: function.start_line,
                    end_line: function.end_line,
                    name: function.name.clone(),
                    kind: function.kind,
                };
                Some((*at, (member, comment::find(&lines, function.start_line, function.end_line))))
            };
            of_file.iter().filter_map(one).collect()
        })
        .collect();
    described.into_iter().flatten().collect()
}

/// Names the members, and takes out those that a comment keeps out.
fn report(
    draft: &Draft,
    all: &[Near],
    described: &Described,
    found: &mut Found,
    taken: &mut FxHashSet<(u32, u32)>,
) {
    let mut stream = blake3::Hasher::new();
    let mut members: Vec<(Member, Option<comment::Allowed>, usize)> = draft
        .members
        .iter()
        .filter_map(|at| described.get(at).map(|(member, allowed)| (member.clone(), allowed.clone(), *at)))
        .collect();
    super::suppress(&mut members, found, |(member, allowed, _)| (member, allowed.as_ref()));
    if members.len() < 2 {
        return;
    }
    let mut digests: Vec<u128> = members.iter().map(|(_, _, at)| all[*at].digest).collect();
    digests.sort_unstable();
    for digest in digests {
        stream.update(&digest.to_le_bytes());
    }
    let id = stream.finalize().to_hex()[..32].to_owned();
    let statements = members.iter().map(|(_, _, at)| all[*at].statements).max().unwrap_or(0);
    taken.extend(members.iter().map(|(_, _, at)| (all[*at].file, all[*at].number)));
    let mut members: Vec<Member> = members.into_iter().map(|(member, _, _)| member).collect();
    members.sort();
    let name = shared_name(members.iter().map(|member| member.name.as_str()));
    let target = name.map_or_else(|| "one operation".to_owned(), |name| format!("one `{name}`"));
    let suggestion = match draft.kind {
        Advice::OtherCallees => {
            format!("they differ only in what they call; if that can be handed in, {target} can serve all")
        }
        _ => format!(
            "look at where they differ: if that is an accident, {target} can serve all; if not, a difference may be \
             a parameter"
        ),
    };
    found.groups.push(Group {
        id,
        tier: Tier::Advice(draft.kind),
        across_files: members.iter().any(|member| member.path != members[0].path),
        statements,
        members,
        literals: Vec::new(),
        alike: draft.alike,
        suggestion,
        accepted: None,
        is_known: false,
    });
}
