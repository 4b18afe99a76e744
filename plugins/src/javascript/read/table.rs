//! The effect table: `queries/javascript/effects.toml`, one row an operation.
//!
//! The loader refuses unknown keys, unknown words and duplicates; a table that does
//! not load is a build that does not pass its tests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use owed_engine::facts::Opaque;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;

use super::rows::{RawRoot, RawRow, RawTable, Rest};

const SOURCE: &str = include_str!("../../../../queries/javascript/effects.toml");
const SCHEMA: &str = "effects/1";

/// The table, loaded once.
pub(super) fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| Table::load(SOURCE).expect("the embedded table is checked by a test"))
}

/// Changes whenever the table does.
pub(super) fn fingerprint() -> String {
    blake3::hash(SOURCE.as_bytes()).to_hex().as_str()[..12].to_owned()
}

/// How an operation is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Use {
    /// In any way.
    Any,
    /// Called.
    Call,
    /// Called with no argument, or one that is or may be `undefined`.
    CallEmpty,
    /// Constructed.
    New,
    /// Constructed with no argument, or one that is or may be `undefined`.
    NewEmpty,
    /// Read as a value, so that anyone may use it.
    Read,
}

/// What an operation makes of the file that uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Nothing.
    Pure,
    /// An input with this name.
    Pinned(String),
    /// It cannot be named.
    Opaque(Opaque),
    /// The environment: the member read is the name.
    Env,
    /// A file-system or process operation whose arguments say which input it is.
    Acts(Act),
}

/// Operations whose class depends on their arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Reads the file named by the argument with that number.
    Read(usize),
    /// Reads kind and size of it; more when more fields are used.
    Stat(usize),
    /// Lists the directory.
    List(usize),
    /// Reads everything below it.
    Tree(usize),
    /// Lists what a pattern matches.
    Glob(usize),
    /// Writes.
    Write,
    /// Loads an environment file.
    EnvFile,
    /// Starts a program: the command and its arguments.
    Spawn,
    /// Runs a shell command line.
    Shell,
    /// Runs a script of the same interpreter.
    Run(usize),
    /// Starts a worker.
    Worker,
}

/// One row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// When it holds.
    pub(super) when: Use,
    /// What it says.
    pub(super) class: Class,
}

/// A global or a module with its operations.
#[derive(Debug, Default)]
pub(super) struct Root {
    /// `Math`, `node:fs`, `npm:execa`.
    pub(super) name: String,
    /// Its name in answers.
    pub(super) shown: String,
    rows: FxHashMap<String, Vec<Row>>,
    pure: FxHashSet<String>,
    /// Members that stand for the root itself (`fs.promises`).
    through: FxHashSet<String>,
    /// Members without a row are pure.
    rest_is_pure: bool,
    /// The class of its worst member, which is the root's own when it escapes.
    pub(super) worst: Option<Class>,
}

impl Root {
    /// The row for a member path under a use, and how many segments it covers. `None`
    /// when the table says nothing about it.
    pub(super) fn find(&self, path: &[&str], when: Use) -> Option<(&Class, usize)> {
        for covered in (0..=path.len()).rev() {
            let key = path[..covered].join(".");
            if let Some(row) = self.rows.get(&key).and_then(|rows| choose(rows, when)) {
                return Some((&row.class, covered));
            }
            if covered == 1 && self.pure.contains(&key) {
                return Some((&Class::Pure, covered));
            }
        }
        (self.rest_is_pure || path.is_empty()).then_some((&Class::Pure, 0))
    }

    /// Whether a member only leads to the root again.
    pub(super) fn is_through(&self, member: &str) -> bool {
        self.through.contains(member)
    }
}

/// The row that fits best; a function that is read as a value may be called by anyone.
fn choose(rows: &[Row], when: Use) -> Option<&Row> {
    let order: &[Use] = match when {
        Use::Call => &[Use::Call, Use::Any],
        Use::CallEmpty => &[Use::CallEmpty, Use::Call, Use::Any],
        Use::New => &[Use::New, Use::Any],
        Use::NewEmpty => &[Use::NewEmpty, Use::New, Use::Any],
        Use::Read | Use::Any => &[Use::Read, Use::Any, Use::CallEmpty, Use::Call],
    };
    order.iter().find_map(|wanted| rows.iter().find(|row| row.when == *wanted))
}

/// The loaded table.
#[derive(Debug, Default)]
pub(super) struct Table {
    roots: Vec<Root>,
    globals: FxHashMap<String, usize>,
    modules: FxHashMap<String, usize>,
    pure: FxHashSet<String>,
    members: FxHashMap<String, Vec<Row>>,
    fixes: FxHashMap<String, String>,
    by_name: FxHashMap<String, usize>,
}

impl Table {
    /// The root of a global name.
    pub(super) fn global(&self, name: &str) -> Option<&Root> {
        self.globals.get(name).map(|&at| &self.roots[at])
    }

    /// Whether every use of a global is pure.
    pub(super) fn is_pure_global(&self, name: &str) -> bool {
        self.pure.contains(name)
    }

    /// The root of a module specifier.
    pub(super) fn module(&self, specifier: &str) -> Option<&Root> {
        let name = specifier.strip_prefix("node:").unwrap_or(specifier);
        self.modules.get(name).map(|&at| &self.roots[at])
    }

    /// The class of a member of any value (`.localeCompare`).
    pub(super) fn member(&self, name: &str, when: Use) -> Option<&Class> {
        choose(self.members.get(name)?, when).map(|row| &row.class)
    }

    /// Whether some row is about a member of that name.
    pub(super) fn has_member(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// What to do about an operation, in one line.
    pub(super) fn fix(&self, operation: &str) -> Option<&str> {
        self.fixes.get(operation).map(String::as_str)
    }

    /// Every operation as answers show it, and whether all its uses are pure; sorted.
    pub(super) fn operations(&self) -> Vec<(String, bool)> {
        let mut found: BTreeMap<String, bool> = BTreeMap::new();
        let mut note = |name: String, pure: bool| *found.entry(name).or_insert(true) &= pure;
        for root in &self.roots {
            let mut rows: Vec<(&String, &Vec<Row>)> = root.rows.iter().collect();
            rows.sort_unstable_by_key(|(path, _)| *path);
            for (path, rows) in rows {
                let name =
                    if path.is_empty() { root.shown.clone() } else { format!("{}.{path}", root.shown) };
                note(name, rows.iter().all(|row| row.class == Class::Pure));
            }
            for member in root.pure.iter().collect::<BTreeSet<_>>() {
                note(format!("{}.{member}", root.shown), true);
            }
        }
        for name in self.pure.iter().collect::<BTreeSet<_>>() {
            note(name.clone(), true);
        }
        for name in self.members.keys().collect::<BTreeSet<_>>() {
            note(name.clone(), false);
        }
        found.into_iter().collect()
    }

    fn load(source: &str) -> Result<Self, String> {
        let raw: RawTable = toml::from_str(source).map_err(|error| error.to_string())?;
        if raw.schema != SCHEMA {
            return Err(format!("schema {:?} is not {SCHEMA:?}", raw.schema));
        }
        let mut table = Self::default();
        for name in raw.pure {
            if !table.pure.insert(name.clone()) {
                return Err(format!("pure global {name:?} is given twice"));
            }
        }
        for root in raw.root {
            table.add_root(root)?;
        }
        for row in raw.row {
            table.add_row(row)?;
        }
        for root in &mut table.roots {
            let classes = root.rows.iter().map(|(key, rows)| (key.as_str(), rows));
            let mut sorted: Vec<(&str, &Vec<Row>)> = classes.collect();
            sorted.sort_unstable_by_key(|(key, _)| *key);
            root.worst = match root.rows.get("").and_then(|rows| rows.iter().find(|r| r.when == Use::Read)) {
                Some(own) => Some(own.class.clone()),
                None => sorted
                    .iter()
                    .flat_map(|(_, rows)| rows.iter())
                    .map(|row| &row.class)
                    .max_by_key(|class| class.rank())
                    .cloned(),
            };
        }
        Ok(table)
    }

    fn add_root(&mut self, raw: RawRoot) -> Result<(), String> {
        let at = self.roots.len();
        let shown = raw.name.trim_start_matches("node:").trim_start_matches("npm:").to_owned();
        let (mut globals, mut modules) = (raw.globals, raw.modules);
        if shown == raw.name {
            globals.push(shown.clone());
        } else {
            modules.push(shown.clone());
        }
        for name in globals {
            if self.pure.contains(&name) || self.globals.insert(name.clone(), at).is_some() {
                return Err(format!("global {name:?} is given twice"));
            }
        }
        for name in modules {
            if self.modules.insert(name.clone(), at).is_some() {
                return Err(format!("module {name:?} is given twice"));
            }
        }
        if self.by_name.insert(raw.name.clone(), at).is_some() {
            return Err(format!("root {:?} is given twice", raw.name));
        }
        self.roots.push(Root {
            name: raw.name,
            shown,
            pure: raw.pure.into_iter().collect(),
            through: raw.through.into_iter().collect(),
            rest_is_pure: raw.rest == Rest::Pure,
            ..Root::default()
        });
        Ok(())
    }

    fn add_row(&mut self, raw: RawRow) -> Result<(), String> {
        let class = raw.class()?;
        let when = raw.when.unwrap_or(Use::Any);
        for operation in raw.operation.list() {
            self.add_operation(operation, Row { when, class: class.clone() })?;
            if let Some(fix) = &raw.fix {
                self.fixes.insert(operation.clone(), fix.clone());
            }
        }
        Ok(())
    }

    fn add_operation(&mut self, operation: &str, row: Row) -> Result<(), String> {
        let rows = if let Some(member) = operation.strip_prefix('.') {
            self.members.entry(member.to_owned()).or_default()
        } else {
            let at = self.root_of(operation).ok_or_else(|| format!("{operation:?} has no root"))?;
            let root = &mut self.roots[at];
            let path = operation[root.name.len()..].trim_start_matches('.').to_owned();
            if root.pure.contains(&path) {
                return Err(format!("{operation:?} is pure and has a row"));
            }
            root.rows.entry(path).or_default()
        };
        if rows.iter().any(|old| old.when == row.when) {
            return Err(format!("{operation:?} is given twice for one use"));
        }
        rows.push(row);
        Ok(())
    }

    /// The longest root that an operation starts with (package names may hold dots).
    fn root_of(&self, operation: &str) -> Option<usize> {
        let mut ends = operation.match_indices('.').map(|(at, _)| at).chain([operation.len()]).rev();
        ends.find_map(|end| self.by_name.get(&operation[..end]).copied())
    }
}

impl Class {
    /// Worse classes have higher ranks.
    fn rank(&self) -> u32 {
        match self {
            Self::Pure => 0,
            Self::Pinned(_) | Self::Env => 1,
            Self::Acts(Act::Write | Act::EnvFile) => 2,
            Self::Opaque(reason) if reason.is_input_opaque() => 4,
            Self::Opaque(_) => 3,
            Self::Acts(_) => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_table_loads() {
        Table::load(SOURCE).unwrap();
    }

    #[test]
    fn mistakes_are_refused() {
        let base = "schema = \"effects/1\"\npure = []\n[[root]]\nname = \"A\"\n";
        let row = "[[row]]\noperation = \"A.b\"\nclass = \"pure\"\n";
        let cases = [
            ("schema = \"effects/2\"\npure = []\nroot = []\nrow = []".to_owned(), "schema"),
            (format!("{base}color = 1\n{row}"), "unknown field"),
            (format!("{base}{row}colour = 1\n"), "unknown field"),
            (format!("{base}{row}{row}"), "twice"),
            (format!("{base}[[root]]\nname = \"A\"\n{row}"), "twice"),
            (format!("{base}[[row]]\noperation = \"B.c\"\nclass = \"pure\"\n"), "no root"),
            (format!("{base}[[row]]\noperation = \"A.c\"\nclass = \"opaque\"\n"), "lacks reason"),
            (format!("{base}[[row]]\noperation = \"A.c\"\nclass = \"pinned\"\n"), "lacks pin"),
            (format!("{base}[[row]]\noperation = \"A.c\"\nclass = \"shiny\"\n"), "unknown variant"),
        ];
        for (source, expected) in cases {
            let error = Table::load(&source).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn the_most_specific_row_wins() {
        let table = table();
        let date = table.global("Date").unwrap();
        assert_eq!(date.find(&["now"], Use::Call), Some((&Class::Opaque(Opaque::Clock), 1)));
        assert_eq!(date.find(&["UTC"], Use::Call).map(|(class, _)| class.rank()), Some(1));
        let process = table.global("process").unwrap();
        assert_eq!(process.find(&["env", "HOME"], Use::Read), Some((&Class::Env, 1)));
        assert_eq!(table.module("node:fs").map(|root| root.name.as_str()), Some("node:fs"));
        let pure = table.global("Math").unwrap().find(&["abs"], Use::Call);
        assert_eq!(pure.map(|(class, _)| class), Some(&Class::Pure));
    }
}
