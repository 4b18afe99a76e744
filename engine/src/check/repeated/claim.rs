//! The claim tier: whole functions of at least five statements with the same normalised
//! structure. Groups are found by sorting digests, and verified by reading the members
//! again and comparing their symbols: a digest alone never makes a claim.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::comment;
use super::group::{Group, Hole, Member, Tier, shared_name};
use super::normal::{self, claimed};
use super::{Candidate, Found, Sources};
use crate::check::report::CheckedFile;

/// Symbols that are held at once while members are compared: 128 MiB of them. Beyond that
/// only one member of each group is held, and the others are read a second time.
const MOST_SYMBOLS: u64 = 16 << 20;
/// Groups that are verified together.
const BATCH: usize = 20_000;

/// One function of a group, while it is verified.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wanted {
    file: u32,
    number: u32,
    group: u32,
    is_first: bool,
}

/// A function that was read again.
struct Loaded {
    wanted: Wanted,
    member: Member,
    statements: u32,
    literals: Vec<String>,
    symbols: Vec<u64>,
    is_table: bool,
    allowed: Option<comment::Allowed>,
    /// Whether it is the same as the first of its group, as far as that was held.
    same: Option<bool>,
}

/// What was found among the functions of one digest.
#[derive(Debug, Default)]
pub(super) struct Claimed {
    pub(super) digest: u128,
    pub(super) found: Found,
    /// The functions that are in a group, by file and number.
    pub(super) taken: Vec<(u32, u32)>,
}

/// Finds the groups among `candidates`, by digest.
pub(super) fn find(
    mut candidates: Vec<Candidate>,
    asked: &[bool],
    sources: &dyn Sources,
    across_files: bool,
) -> Vec<Claimed> {
    candidates.par_sort_unstable_by_key(|c| (c.digest, c.file, c.number));
    let same = |a: &Candidate, b: &Candidate| a.digest == b.digest && (across_files || a.file == b.file);
    let is_asked = |group: &[Candidate]| group.iter().any(|one| asked[one.file as usize]);
    let groups = candidates.chunk_by(same).filter(|group| group.len() > 1 && is_asked(group));
    let groups: Vec<&[Candidate]> = groups.collect();
    groups.chunks(BATCH).flat_map(|batch| verify(batch, sources)).collect()
}

fn verify(batch: &[&[Candidate]], sources: &dyn Sources) -> Vec<Claimed> {
    let total: u64 = batch.iter().flat_map(|group| group.iter()).map(|c| u64::from(c.symbols)).sum();
    let wanted: Vec<Wanted> = batch
        .iter()
        .enumerate()
        .flat_map(|(number, group)| {
            group.iter().enumerate().map(move |(at, candidate)| Wanted {
                file: candidate.file,
                number: candidate.number,
                group: number as u32,
                is_first: at == 0,
            })
        })
        .collect();
    let loaded = if total <= MOST_SYMBOLS {
        load(wanted, sources, &|_, symbols| (None, symbols))
    } else {
        let firsts = wanted.iter().copied().filter(|w| w.is_first).collect();
        let firsts: FxHashMap<u32, Vec<u64>> = load(firsts, sources, &|_, symbols| (None, symbols))
            .into_iter()
            .map(|first| (first.wanted.group, first.symbols))
            .collect();
        load(wanted, sources, &|wanted, symbols| {
            let same = firsts.get(&wanted.group) == Some(&symbols);
            // One that differs (two texts with one digest) is held, for a group of its own.
            (Some(same), if same { Vec::new() } else { symbols })
        })
    };
    let mut by_group: BTreeMap<u32, Vec<Loaded>> = BTreeMap::new();
    for one in loaded {
        by_group.entry(one.wanted.group).or_default().push(one);
    }
    let of_group = |(number, members): (u32, Vec<Loaded>)| {
        let digest = batch[number as usize][0].digest;
        let mut claimed = Claimed { digest, ..Claimed::default() };
        for mut same in split(members) {
            // Tables of one form may make several groups, which are told apart by their values.
            let id = match &same[0] {
                table if table.is_table => normal::with_values(digest, &table.literals),
                _ => digest,
            };
            let id = format!("{id:032x}");
            super::suppress(&mut same, &mut claimed.found, |one| (&one.member, one.allowed.as_ref()));
            if same.len() > 1 {
                claimed.taken.extend(same.iter().map(|one| (one.wanted.file, one.wanted.number)));
                claimed.found.groups.push(group(&id, &same));
            }
        }
        claimed
    };
    by_group.into_iter().map(of_group).collect()
}

/// Reads members again, file by file; what cannot be read the same way twice is left out.
fn load(
    mut wanted: Vec<Wanted>,
    sources: &dyn Sources,
    keep: &(dyn Fn(Wanted, Vec<u64>) -> (Option<bool>, Vec<u64>) + Sync),
) -> Vec<Loaded> {
    wanted.sort_unstable();
    let files: Vec<&[Wanted]> = wanted.chunk_by(|a, b| a.file == b.file).collect();
    let loaded: Vec<Vec<Loaded>> = files
        .par_iter()
        .map(|of_file| {
            let CheckedFile { path, .. } = sources.file(of_file[0].file);
            let Some((bytes, facts)) = sources.read(of_file[0].file) else { return Vec::new() };
            let text = String::from_utf8_lossy(&bytes);
            // Only a file that holds the words has its lines looked at.
            let lines: Vec<&str> =
                if text.contains("owed: allow") { super::lines(&text) } else { Vec::new() };
            let one = |wanted: &Wanted| {
                let function = facts.functions.get(wanted.number as usize)?;
                let (same, symbols) = keep(*wanted, claimed(function));
                Some(Loaded {
                    wanted: *wanted,
                    member: Member {
                        path: path.clone(),
                        start_line: function.start_line,
                        end_line: function.end_line,
                        name: function.name.clone(),
                        kind: function.kind,
                    },
                    statements: function.statements,
                    literals: function.shape.literals.clone(),
                    symbols,
                    is_table: super::is_table(function),
                    allowed: comment::find(&lines, function.start_line, function.end_line),
                    same,
                })
            };
            of_file.iter().filter_map(one).collect()
        })
        .collect();
    loaded.into_iter().flatten().collect()
}

/// Whether two tables say the same: at least two thirds of their values are equal. A copy in which a
/// value was changed is a copy; two lists of different things that have one form are none.
fn values_agree(a: &Loaded, b: &Loaded) -> bool {
    if !a.is_table {
        return true;
    }
    let equal = a.literals.iter().zip(&b.literals).filter(|(a, b)| a == b).count();
    3 * equal >= 2 * a.literals.len().max(b.literals.len())
}

/// Members that are really the same, apart.
fn split(members: Vec<Loaded>) -> Vec<Vec<Loaded>> {
    let mut groups: Vec<Vec<Loaded>> = Vec::new();
    for one in members {
        let home = groups.iter_mut().find(|group| match (group[0].same, one.same) {
            (Some(true), Some(true)) => values_agree(&group[0], &one),
            (Some(true), _) | (_, Some(true)) => false,
            _ => group[0].symbols == one.symbols && values_agree(&group[0], &one),
        });
        match home {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

fn group(id: &str, members: &[Loaded]) -> Group {
    let mut sorted: Vec<&Loaded> = members.iter().collect();
    sorted.sort_by(|a, b| a.member.cmp(&b.member));
    let literals = holes(&sorted);
    let members: Vec<Member> = sorted.iter().map(|one| one.member.clone()).collect();
    Group {
        id: id.to_owned(),
        tier: Tier::Claim,
        across_files: members.iter().any(|member| member.path != members[0].path),
        statements: sorted[0].statements,
        suggestion: suggestion(&members, &literals),
        members,
        literals,
        alike: 1000,
        accepted: None,
        is_known: false,
    }
}

/// The literals that are not the same in all members.
fn holes(members: &[&Loaded]) -> Vec<Hole> {
    let most = members.iter().map(|one| one.literals.len()).min().unwrap_or(0);
    (0..most)
        .filter(|at| members.iter().any(|one| one.literals[*at] != members[0].literals[*at]))
        .map(|at| Hole {
            hole: u32::try_from(at + 1).unwrap_or(u32::MAX),
            values: members.iter().map(|one| one.literals[at].clone()).collect(),
        })
        .collect()
}

fn suggestion(members: &[Member], literals: &[Hole]) -> String {
    let name = shared_name(members.iter().map(|member| member.name.as_str()));
    // Holes with equal rows are one parameter.
    let mut rows: Vec<&[String]> = literals.iter().map(|hole| hole.values.as_slice()).collect();
    rows.sort_unstable();
    rows.dedup();
    let parameters: Vec<String> = match rows.len() {
        few @ 0..=4 => (1..=few).map(|at| format!("value{at}")).collect(),
        many => vec![format!("{{ {many} values }}")],
    };
    let parameters = ["…".to_owned()].into_iter().chain(parameters).collect::<Vec<_>>().join(", ");
    let shared = match name {
        Some(name) => format!("one `{name}({parameters})`"),
        None => format!("one function of ({parameters})"),
    };
    let differ = match rows.len() {
        0 => "nothing but names and layout differs".to_owned(),
        1 => "one literal differs and would be a parameter".to_owned(),
        many => format!("{many} literals differ and would be parameters"),
    };
    format!("if their contracts are the same, {shared} can serve all {}: {differ}", members.len())
}
