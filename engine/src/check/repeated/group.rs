//! A group of repeated implementations, as it is answered.

use crate::check::ratchet::{AcceptedGroup, simple};
use crate::function::FunctionKind;

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Whole functions of the same normalised structure.
    Claim,
    /// Something to look at.
    Advice(Advice),
}

/// What an advice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Advice {
    /// Functions that are nearly the same.
    NearMiss,
    /// Functions that are the same but for what they call.
    OtherCallees,
    /// Statements inside functions that stand in several places.
    Block,
}

impl Advice {
    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::NearMiss => "near-miss",
            Self::OtherCallees => "other-callees",
            Self::Block => "block",
        }
    }
}

/// Implementations that are the same, or nearly so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// 32 hexadecimal digits: the digest of what the members share.
    pub id: String,
    /// How sure it is.
    pub tier: Tier,
    /// Whether the members lie in several files.
    pub across_files: bool,
    /// Statements of one member (the largest, where they differ).
    pub statements: u32,
    /// By path and line; at least two.
    pub members: Vec<Member>,
    /// Literals that are not the same in all members, in order.
    pub literals: Vec<Hole>,
    /// How alike the least alike member is to the middle one, in thousandths.
    pub alike: u32,
    /// One sentence: what could be shared when the contracts match.
    pub suggestion: String,
    /// The accepted group of the debt file that it is.
    pub accepted: Option<usize>,
    /// Whether it was accepted before, as large as it is.
    pub is_known: bool,
}

/// One member of a group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// Project-relative path.
    pub path: String,
    /// 1-based first line.
    pub start_line: u32,
    /// 1-based last line.
    pub end_line: u32,
    /// Qualified name of the function (the one around it, for a block).
    pub name: String,
    /// How the function is written.
    pub kind: FunctionKind,
}

/// A literal of which the members have different values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hole {
    /// Which literal of the body, from 1.
    pub hole: u32,
    /// The value in each member, as written, in the order of members.
    pub values: Vec<String>,
}

/// A function that a comment keeps out of all groups.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Suppression {
    /// Project-relative path.
    pub path: String,
    /// 1-based line of the comment.
    pub line: u32,
    /// Qualified name of the function.
    pub name: String,
    /// The reason given.
    pub reason: String,
}

impl Group {
    /// Whether it belongs to the tier that may gate.
    pub fn is_claim(&self) -> bool {
        self.tier == Tier::Claim
    }

    /// Whether it was not accepted before, or has more members now.
    pub fn is_new(&self) -> bool {
        !self.is_known
    }

    /// A claim that was not accepted before.
    pub fn is_new_claim(&self) -> bool {
        self.is_claim() && self.is_new()
    }

    /// What could be saved, for the order of answers: statements of all members but one.
    pub(super) fn gain(&self) -> u64 {
        u64::from(self.statements) * (self.members.len() as u64 - 1)
    }

    /// As it is recorded.
    pub(in crate::check) fn to_accepted(&self, reason: &str) -> AcceptedGroup {
        let mut members: Vec<(String, String)> =
            self.members.iter().map(|member| (member.path.clone(), member.name.clone())).collect();
        members.sort();
        AcceptedGroup {
            shape: self.id.clone(),
            across_files: self.across_files,
            members,
            reason: reason.to_owned(),
        }
    }
}

/// Claims before advice, then what saves most, then by place.
pub(super) fn sort(groups: &mut [Group]) {
    groups.sort_by(|a, b| {
        let rank = |group: &Group| (!group.is_claim(), std::cmp::Reverse(group.gain()));
        (rank(a), &a.members, a.tier, &a.id).cmp(&(rank(b), &b.members, b.tier, &b.id))
    });
}

/// A name for what functions of these names share: the words they all have, in order.
pub(super) fn shared_name<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<String> {
    let first = simple(names.next()?);
    let mut shared = words(first);
    let snake = first.contains('_');
    for name in names {
        let name = simple(name);
        if name.starts_with('<') {
            return None;
        }
        let other = words(name);
        let mut rest = other.iter();
        shared.retain(|word| {
            let mut ahead = rest.clone();
            let found = ahead.any(|one| one == word);
            if found {
                rest = ahead;
            }
            found
        });
    }
    if first.starts_with('<') || shared.iter().map(String::len).sum::<usize>() < 3 {
        return None;
    }
    if snake {
        return Some(shared.join("_"));
    }
    let camel = shared.iter().enumerate().map(|(at, word)| match (at, word.chars().next()) {
        (1.., Some(c)) => format!("{}{}", c.to_uppercase(), &word[c.len_utf8()..]),
        _ => word.clone(),
    });
    Some(camel.collect())
}

/// `loadUserRow` and `load_user_row` are `load`, `user`, `row`.
fn words(name: &str) -> Vec<String> {
    let name = name.split('@').next().unwrap_or(name);
    let mut words = vec![String::new()];
    let mut before_lower = false;
    for c in name.chars() {
        let splits = !c.is_alphanumeric() || c.is_uppercase() && before_lower;
        if splits && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("there is one").extend(c.to_lowercase());
        }
        before_lower = c.is_lowercase() || c.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_names_are_the_words_in_common() {
        let of = |names: &[&str]| shared_name(names.iter().copied());
        assert_eq!(of(&["Cart.parseUserRow", "Order.parseOrderRow"]).as_deref(), Some("parseRow"));
        assert_eq!(of(&["load_user_page", "load_item_page"]).as_deref(), Some("load_page"));
        assert_eq!(of(&["total", "total"]).as_deref(), Some("total"));
        assert_eq!(of(&["alpha", "beta"]), None);
        assert_eq!(of(&["<anonymous>#1 in load", "<anonymous>#2 in load"]), None);
    }
}
