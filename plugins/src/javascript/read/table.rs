//! The effect table: `queries/javascript/effects.toml`, one row an operation.
//!
//! The loader refuses unknown keys, unknown words and duplicates; a table that does
//! not load is a build that does not pass its tests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use owed_engine::facts::Opaque;
use rustc_hash::{FxHashMap, FxHashSet};

use super::class::{Class, Row, Use};
use super::rows::{RawRoot, RawRow, RawTable, Rest};

const SOURCE: &str = include_str!("../../../../queries/javascript/effects.toml");
const SCHEMA: &str = "effects/1";

/// The table, loaded once.
pub(super) fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| Table::load(SOURCE).expect("the embedded table is checked by a test"))
}

/// Changes whenever the table does: its FNV-1a hash, taken when this is compiled.
#[allow(long_running_const_eval, reason = "a pass over a hundred thousand bytes")]
pub(super) const FINGERPRINT: u64 = {
    let bytes = SOURCE.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
};

/// A global or a module with its operations.
#[derive(Debug, Default)]
pub(super) struct Root {
    /// `Math`, `node:fs`, `npm:execa`.
    pub(super) name: String,
    /// Its name in answers.
    pub(super) shown: String,
    /// A global of the language or of node: changing it is a change for everyone.
    pub(super) builtin: bool,
    /// A global without any effect.
    pub(super) harmless: bool,
    rows: FxHashMap<String, Vec<Row>>,
    pure: FxHashSet<String>,
    /// Members that are other roots.
    leads: FxHashMap<String, usize>,
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
            // What is said of the root alone holds for its members only when it holds for any use.
            let when = if covered == 0 && !path.is_empty() { Use::Unspecific } else { when };
            if let Some(row) = self.rows.get(&key).and_then(|rows| choose(rows, when)) {
                return Some((&row.class, covered));
            }
            if covered == 1 && self.pure.contains(&key) {
                return Some((&Class::Pure, covered));
            }
        }
        let harmless = self.rest_is_pure || path.first().is_none_or(|member| of_every_function(member));
        harmless.then_some((&Class::Pure, 0))
    }

    /// Whether a member only leads to the root again.
    pub(super) fn is_through(&self, member: &str) -> bool {
        self.through.contains(member)
    }
}

/// What functions, classes and objects have without saying anything new.
fn of_every_function(member: &str) -> bool {
    matches!(member, "name" | "length" | "prototype" | "toString" | "hasOwnProperty" | "valueOf")
}

/// The row that fits best; a function that is read as a value may be called by anyone.
fn choose(rows: &[Row], when: Use) -> Option<&Row> {
    let order: &[Use] = match when {
        Use::Call => &[Use::Call, Use::Any],
        Use::CallEmpty => &[Use::CallEmpty, Use::Call, Use::Any],
        Use::New => &[Use::New, Use::Any],
        Use::NewEmpty => &[Use::NewEmpty, Use::New, Use::Any],
        Use::Unspecific => &[Use::Any],
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
    members: FxHashMap<String, Vec<Row>>,
    /// By operation as answers show it; `None` for one that needs none.
    fixes: FxHashMap<String, Option<String>>,
    reasons: BTreeMap<Opaque, String>,
    by_name: FxHashMap<String, usize>,
}

impl Table {
    /// The root of a global name.
    pub(super) fn global(&self, name: &str) -> Option<&Root> {
        self.globals.get(name).map(|&at| &self.roots[at])
    }

    /// The root that a member of a root is.
    pub(super) fn lead(&self, root: &Root, member: &str) -> Option<&Root> {
        root.leads.get(member).map(|&at| &self.roots[at])
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

    /// What to do about an operation as answers show it, in one line.
    pub(super) fn fix(&self, operation: &str) -> Option<&str> {
        let mut name = operation;
        loop {
            if let Some(fix) = self.fixes.get(name) {
                return fix.as_deref();
            }
            name = &name[..name.rfind('.')?];
        }
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
            if root.harmless {
                note(root.shown.clone(), true);
            }
            for member in root.pure.iter().collect::<BTreeSet<_>>() {
                note(format!("{}.{member}", root.shown), true);
            }
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
        let mut table = Self { reasons: raw.fixes, ..Self::default() };
        for (names, builtin) in [(raw.pure, true), (raw.platform, false)] {
            for name in names {
                table.add_harmless(name, builtin)?;
            }
        }
        let mut leads = Vec::new();
        for mut root in raw.root {
            leads.push((root.name.clone(), std::mem::take(&mut root.leads)));
            table.add_root(root)?;
        }
        for row in raw.row {
            table.add_row(row)?;
        }
        for (name, members) in leads {
            let at = table.by_name[&name];
            for (member, other) in members {
                let to = table.by_name.get(&other).ok_or_else(|| format!("{other:?} is no root"))?;
                table.roots[at].leads.insert(member, *to);
            }
        }
        table.find_worst();
        Ok(table)
    }

    /// The class of each root's worst member, which is the root's own when it escapes.
    fn find_worst(&mut self) {
        for root in &mut self.roots {
            let mut rows: Vec<(&str, &Vec<Row>)> =
                root.rows.iter().map(|(key, rows)| (key.as_str(), rows)).collect();
            rows.sort_unstable_by_key(|(key, _)| *key);
            let own = root.rows.get("").and_then(|rows| rows.iter().find(|r| r.when == Use::Read));
            let worst = match own {
                Some(own) => Some(&own.class),
                None => {
                    rows.iter().flat_map(|(_, rows)| *rows).map(|row| &row.class).max_by_key(|c| c.rank())
                }
            };
            root.worst = worst.cloned();
        }
        for at in 0..self.roots.len() {
            let mut others: Vec<usize> = self.roots[at].leads.values().copied().collect();
            others.sort_unstable();
            let inherited = others.iter().filter_map(|&other| self.roots[other].worst.clone());
            let worst = inherited.chain(self.roots[at].worst.clone()).max_by_key(Class::rank);
            let own =
                self.roots[at].rows.get("").is_some_and(|rows| rows.iter().any(|r| r.when == Use::Read));
            if !own {
                self.roots[at].worst = worst;
            }
        }
    }

    fn add_harmless(&mut self, name: String, builtin: bool) -> Result<(), String> {
        let at = self.roots.len();
        if self.globals.insert(name.clone(), at).is_some() {
            return Err(format!("pure global {name:?} is given twice"));
        }
        self.roots.push(Root {
            name: name.clone(),
            shown: name,
            builtin,
            harmless: true,
            rest_is_pure: true,
            ..Root::default()
        });
        Ok(())
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
            if self.globals.insert(name.clone(), at).is_some() {
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
            builtin: !raw.own,
            pure: raw.pure.into_iter().collect(),
            through: raw.through.into_iter().collect(),
            rest_is_pure: raw.rest == Rest::Pure,
            ..Root::default()
        });
        Ok(())
    }

    fn add_row(&mut self, raw: RawRow) -> Result<(), String> {
        let class = raw.class()?;
        if raw.fix.is_none() && raw.needs_fix() {
            let covered = matches!(&class, Class::Opaque(reason) if self.reasons.contains_key(reason));
            let acts = matches!(class, Class::Acts(_));
            if !covered && !acts {
                return Err(format!("{:?} lacks fix", raw.operation));
            }
        }
        let when = raw.when.unwrap_or(Use::Any);
        let of_reason = match &class {
            Class::Opaque(reason) => self.reasons.get(reason).cloned(),
            _ => None,
        };
        let fix = raw.fix.clone().or(of_reason);
        for operation in raw.operation.list() {
            self.add_operation(operation, Row { when, class: class.clone() })?;
            let shown = operation.trim_start_matches("node:").trim_start_matches("npm:");
            let known = self.fixes.entry(shown.trim_start_matches('.').to_owned()).or_default();
            if known.is_none() {
                known.clone_from(&fix);
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
            (
                format!("{base}[[row]]\noperation = \"A.c\"\nclass = \"opaque\"\nreason = \"clock\"\n"),
                "lacks fix",
            ),
            (format!("{base}leads = {{ c = \"C\" }}\n{row}"), "is no root"),
            (format!("schema = \"effects/1\"\npure = [\"A\"]\n[[root]]\nname = \"A\"\n{row}"), "twice"),
            (
                "schema = \"effects/1\"\npure = []\nplatform = [\"A\", \"A\"]\nroot = []\nrow = []"
                    .to_owned(),
                "twice",
            ),
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
        assert!(table.fix("process.env").is_none() && table.fix("process.hrtime.bigint").is_some());
        let process = table.global("process").unwrap();
        assert_eq!(process.find(&["env", "HOME"], Use::Read), Some((&Class::Env, 1)));
        assert_eq!(table.module("node:fs").map(|root| root.name.as_str()), Some("node:fs"));
        let pure = table.global("Math").unwrap().find(&["abs"], Use::Call);
        assert_eq!(pure.map(|(class, _)| class), Some(&Class::Pure));
    }
}
