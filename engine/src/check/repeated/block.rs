//! Advice about statements: five or more neighbours that stand in several places, as long as
//! possible, and not inside a group of functions that is reported anyway.
//!
//! Every five neighbouring statements are a window with a hash; equal windows are extended
//! together in both directions, and the result is read again and compared. A run of one
//! statement that repeats itself (a table, a migration) is no finding.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::comment;
use super::group::{Advice, Group, Member, Tier};
use super::normal::{digest, renumbered_part};
use super::{Found, Sources};
use crate::check::ratchet::mix;
use crate::function::{Function, Statement};

/// Statements of a window.
const WINDOW: usize = 5;
/// Different statements in a window, at least.
const DIFFERENT: usize = 3;
/// Symbols of a window, at least.
const FEWEST_SYMBOLS: u32 = 30;

/// Five neighbouring statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::check) struct Window {
    hash: u64,
    pub(super) file: u32,
    pub(super) number: u32,
    /// Which of its block.
    block: u32,
    at: u32,
}

impl Window {
    pub(super) fn within(self, file: u32) -> Self {
        Self { file, ..self }
    }
}

/// Statements of a function by block, in order.
fn blocks(function: &Function) -> Vec<Vec<Statement>> {
    let mut statements: Vec<Statement> = function.shape.statements.clone();
    statements.sort_by_key(|statement| (statement.block, statement.start));
    statements.chunk_by(|a, b| a.block == b.block).map(<[Statement]>::to_vec).collect()
}

/// The windows of a function.
pub(super) fn windows(function: &Function, number: u32) -> Vec<Window> {
    let mut windows = Vec::new();
    for siblings in blocks(function).iter().filter(|siblings| siblings.len() >= WINDOW) {
        let hashes: Vec<u64> = siblings.iter().map(|statement| hash(function, statement)).collect();
        for (at, five) in hashes.windows(WINDOW).enumerate() {
            let mut different = five.to_vec();
            different.sort_unstable();
            different.dedup();
            let symbols = siblings[at + WINDOW - 1].end.saturating_sub(siblings[at].start);
            if different.len() >= DIFFERENT && symbols >= FEWEST_SYMBOLS {
                let hash = five.iter().fold(0u64, |all, one| mix(all.rotate_left(19) ^ one));
                windows.push(Window { hash, file: 0, number, block: siblings[0].block, at: at as u32 });
            }
        }
    }
    windows
}

/// How many different statements a function has.
pub(super) fn different(function: &Function) -> usize {
    let mut hashes: Vec<u64> =
        function.shape.statements.iter().map(|statement| hash(function, statement)).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes.len()
}

/// Whether a function has at least `least` different statements.
pub(super) fn has_different(function: &Function, least: usize) -> bool {
    let mut found: Vec<u64> = Vec::with_capacity(least);
    for statement in &function.shape.statements {
        let hash = hash(function, statement);
        if !found.contains(&hash) {
            found.push(hash);
        }
        if found.len() >= least {
            return true;
        }
    }
    false
}

fn hash(function: &Function, statement: &Statement) -> u64 {
    let symbols = &function.shape.symbols[statement.start as usize..statement.end as usize];
    renumbered_part(symbols).into_iter().fold(0, |all, one| mix(all.rotate_left(11) ^ one))
}

/// Which statements (from, to) of a block (file, function, block) are reported already.
type Covered = FxHashMap<(u32, u32, u32), Vec<(u32, u32)>>;

/// A run of windows that starts at several places.
struct Run {
    places: Vec<Window>,
    statements: u32,
}

/// Finds blocks among `windows`, outside of the functions in `taken`.
pub(super) fn find(
    mut windows: Vec<Window>,
    taken: &FxHashSet<(u32, u32)>,
    asked: &[bool],
    sources: &dyn Sources,
    across_files: bool,
    found: &mut Found,
) {
    windows.retain(|window| !taken.contains(&(window.file, window.number)));
    windows.par_sort_unstable_by_key(|w| (w.hash, if across_files { 0 } else { w.file }, *w));
    let mut runs = runs(&windows, across_files);
    runs.sort_by(|a, b| {
        let gain = |run: &Run| u64::from(run.statements) * (run.places.len() as u64 - 1);
        gain(b).cmp(&gain(a)).then_with(|| a.places.cmp(&b.places))
    });
    let mut covered = Covered::default();
    for run in runs {
        let places = free_places(&run, &covered);
        if places.len() < 2 || !places.iter().any(|place| asked[place.file as usize]) {
            continue;
        }
        for place in &places {
            let key = (place.file, place.number, place.block);
            covered.entry(key).or_default().push((place.at, place.at + run.statements));
        }
        report(&places, run.statements, sources, found);
    }
}

/// Places of a run that overlap neither each other nor what is covered.
fn free_places(run: &Run, covered: &Covered) -> Vec<Window> {
    let overlap = |a: (u32, u32), b: (u32, u32)| a.0 < b.1 && b.0 < a.1;
    let mut places: Vec<Window> = Vec::new();
    for place in &run.places {
        let span = (place.at, place.at + run.statements);
        let key = (place.file, place.number, place.block);
        let is_covered = covered.get(&key).into_iter().flatten().any(|other| overlap(span, *other));
        let overlaps = places.iter().any(|other| {
            (other.file, other.number, other.block) == key
                && overlap(span, (other.at, other.at + run.statements))
        });
        if !is_covered && !overlaps {
            places.push(*place);
        }
    }
    places
}

/// Equal windows, extended while all places go on alike. A run whose places all continue an
/// earlier one is part of that.
fn runs(windows: &[Window], across_files: bool) -> Vec<Run> {
    let hash_at: FxHashMap<(u32, u32, u32, u32), u64> =
        windows.iter().map(|w| ((w.file, w.number, w.block, w.at), w.hash)).collect();
    let shifted = |place: &Window, by: i64| {
        let at = u32::try_from(i64::from(place.at) + by).ok()?;
        hash_at.get(&(place.file, place.number, place.block, at)).copied()
    };
    let together = |places: &[Window], by: i64| {
        let first = shifted(&places[0], by);
        first.is_some() && places.iter().all(|place| shifted(place, by) == first)
    };
    windows
        .chunk_by(|a, b| a.hash == b.hash && (across_files || a.file == b.file))
        .filter(|places| places.len() > 1 && !together(places, -1))
        .map(|places| {
            let more = (1..).take_while(|by| together(places, *by)).count();
            Run { places: places.to_vec(), statements: (WINDOW + more) as u32 }
        })
        .collect()
}

fn report(places: &[Window], statements: u32, sources: &dyn Sources, found: &mut Found) {
    let mut read: Vec<(Member, Option<comment::Allowed>, Vec<u64>)> = Vec::new();
    for place in places {
        let Some((bytes, facts)) = sources.read(place.file) else { continue };
        let Some(function) = facts.functions.get(place.number as usize) else { continue };
        let siblings = blocks(function).into_iter().find(|siblings| siblings[0].block == place.block);
        let range = place.at as usize..(place.at + statements) as usize;
        let Some(run) = siblings.as_ref().and_then(|siblings| siblings.get(range)) else { continue };
        let (first, last) = (run[0], run[run.len() - 1]);
        let symbols = renumbered_part(&function.shape.symbols[first.start as usize..last.end as usize]);
        let text = String::from_utf8_lossy(&bytes);
        let lines = if text.contains("owed: allow") { super::lines(&text) } else { Vec::new() };
        let member = Member {
            path: sources.file(place.file).path.clone(),
            start_line: first.lines.0,
            end_line: last.lines.1,
            name: function.name.clone(),
            kind: function.kind,
        };
        read.push((member, comment::find(&lines, function.start_line, function.end_line), symbols));
    }
    read.sort();
    // Names used differently make it another block.
    while let Some(symbols) = read.first().map(|(_, _, symbols)| symbols.clone()) {
        let (mut same, rest): (Vec<_>, Vec<_>) =
            read.into_iter().partition(|(_, _, other)| *other == symbols);
        read = rest;
        super::suppress(&mut same, found, |(member, allowed, _)| (member, allowed.as_ref()));
        if same.len() < 2 {
            continue;
        }
        let members: Vec<Member> = same.into_iter().map(|(member, _, _)| member).collect();
        found.groups.push(Group {
            id: format!("{:032x}", digest(&symbols)),
            tier: Tier::Advice(Advice::Block),
            across_files: members.iter().any(|member| member.path != members[0].path),
            statements,
            literals: Vec::new(),
            alike: 1000,
            suggestion: format!(
                "if these {statements} statements always belong together, they can be one operation for all {} places",
                members.len()
            ),
            members,
            accepted: None,
            is_known: false,
        });
    }
}
