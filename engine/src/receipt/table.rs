//! Entries, the table of all of them, and the identity of a set of entries.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// What kind of input an entry is. The order is the order of explanation: when several
/// differ, the first is named first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dimension {
    /// `owed` itself: its version, its readers, its effect tables.
    Engine,
    /// The owner's rules: `owed.toml`, caps, baselines, runner configuration at the root.
    Policy,
    /// Operating system and architecture.
    Platform,
    /// Executables by their bytes and versions: interpreter, runner, compiler.
    Toolchain,
    /// The runner's logical command line: mode, workers, coverage, reporters, deadline.
    Command,
    /// An environment name: unset, empty, or the digest of its value.
    Environment,
    /// Anything else with a name: time zone, locale, working directory.
    Pin,
    /// An installed package, by its bytes and its place.
    Package,
    /// A file of the project: absent, or its kind, mode and content.
    File,
    /// The entries of a directory.
    Listing,
    /// What the imports of a file led to, and which candidates were absent.
    Resolution,
}

impl Dimension {
    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Policy => "policy",
            Self::Platform => "platform",
            Self::Toolchain => "toolchain",
            Self::Command => "command",
            Self::Environment => "environment",
            Self::Pin => "pin",
            Self::Package => "package",
            Self::File => "file",
            Self::Listing => "listing",
            Self::Resolution => "resolution",
        }
    }
}

/// One input as it was seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Entry {
    /// Its kind.
    pub dimension: Dimension,
    /// Its name: a path, an environment name, a package with its place.
    pub name: String,
    /// A digest or a word (`absent`, `unset`, `empty`); never a value.
    pub seen: String,
}

impl Entry {
    /// An entry.
    pub fn new(dimension: Dimension, name: impl Into<String>, seen: impl Into<String>) -> Self {
        Self { dimension, name: name.into(), seen: seen.into() }
    }

    /// The hash of its three parts, each with its length before it, so that no two entries
    /// run into one another.
    fn hash(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        for part in [self.dimension.word(), &self.name, &self.seen] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

/// The hash of everything that decides a verdict.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity([u8; 32]);

impl Identity {
    /// In hexadecimal.
    pub fn hex(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

/// Hashes that are hashed at once.
const PIECE: usize = 512;

/// Entries, each once, sorted; a test's inputs are numbers in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    entries: Vec<Entry>,
    hashes: Vec<[u8; 32]>,
}

impl Table {
    /// A table of these entries.
    pub fn new(mut entries: Vec<Entry>) -> Self {
        entries.sort_unstable();
        entries.dedup();
        let hashes = entries.iter().map(Entry::hash).collect();
        Self { entries, hashes }
    }

    /// All entries, sorted.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The number of an entry of this table.
    pub fn number(&self, entry: &Entry) -> Option<u32> {
        let at = self.entries.binary_search(entry).ok()?;
        u32::try_from(at).ok()
    }

    /// The identity of the entries with these numbers, sorted and without repetition.
    pub fn identity(&self, members: &[u32]) -> Identity {
        let mut hasher = blake3::Hasher::new_derive_key("owed identity 2");
        // Many at a time: the hash is fastest over long pieces.
        let mut piece = Vec::with_capacity(PIECE * 32);
        for members in members.chunks(PIECE) {
            piece.clear();
            members.iter().for_each(|&member| piece.extend_from_slice(&self.hashes[member as usize]));
            hasher.update(&piece);
        }
        Identity(*hasher.finalize().as_bytes())
    }

    /// The hash of the whole table, by which it is stored.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("owed table 2");
        for hash in &self.hashes {
            hasher.update(hash);
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The entries with these numbers; `None` when one is not of this table.
    pub fn of(&self, members: &[u32]) -> Option<Vec<&Entry>> {
        members.iter().map(|&member| self.entries.get(member as usize)).collect()
    }
}

/// An input that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Difference {
    /// Its kind.
    pub dimension: Dimension,
    /// Its name.
    pub name: String,
    /// What was seen then; `None` when it was no input.
    pub before: Option<String>,
    /// What is seen now; `None` when it is no input any more.
    pub after: Option<String>,
}

/// Every input that differs, by dimension and name; empty when the identities are equal.
pub fn differences<'e>(
    before: impl IntoIterator<Item = &'e Entry>,
    after: impl IntoIterator<Item = &'e Entry>,
) -> Vec<Difference> {
    type Sides<'e> = (Option<&'e str>, Option<&'e str>);
    let mut sides: BTreeMap<(Dimension, &str), Sides<'e>> = BTreeMap::new();
    for entry in before {
        sides.entry((entry.dimension, &entry.name)).or_default().0 = Some(&entry.seen);
    }
    for entry in after {
        sides.entry((entry.dimension, &entry.name)).or_default().1 = Some(&entry.seen);
    }
    sides
        .into_iter()
        .filter(|(_, (before, after))| before != after)
        .map(|((dimension, name), (before, after))| Difference {
            dimension,
            name: name.to_owned(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, seen: &str) -> Entry {
        Entry::new(Dimension::File, name, seen)
    }

    #[test]
    fn entries_do_not_run_into_one_another() {
        assert_ne!(file("ab", "c").hash(), file("a", "bc").hash());
        assert_ne!(file("a", "").hash(), Entry::new(Dimension::Listing, "a", "").hash());
    }

    #[test]
    fn the_identity_is_of_the_members_whatever_else_the_table_holds() {
        let small = Table::new(vec![file("b", "2"), file("a", "1")]);
        let large = Table::new(vec![file("c", "3"), file("b", "2"), file("a", "1"), file("a", "1")]);
        assert_eq!(large.entries().len(), 3);
        assert_eq!(small.identity(&[0, 1]), large.identity(&[0, 1]));
        assert_ne!(large.identity(&[0, 1]), large.identity(&[0, 1, 2]));
        assert_ne!(small.digest(), large.digest());
        assert_eq!(large.of(&[7]), None);
    }

    #[test]
    fn the_first_difference_is_the_most_telling_one() {
        let before = [file("a", "1"), file("b", "1"), Entry::new(Dimension::Environment, "TZ", "unset")];
        let after = [file("a", "2"), Entry::new(Dimension::Environment, "TZ", "empty"), file("c", "1")];
        let found = differences(&before, &after);
        let words: Vec<String> = found
            .iter()
            .map(|d| format!("{} {} {:?} {:?}", d.dimension.word(), d.name, d.before, d.after))
            .collect();
        assert_eq!(
            words,
            [
                "environment TZ Some(\"unset\") Some(\"empty\")",
                "file a Some(\"1\") Some(\"2\")",
                "file b Some(\"1\") None",
                "file c None Some(\"1\")",
            ]
        );
    }
}
