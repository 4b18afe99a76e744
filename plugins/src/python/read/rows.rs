//! The effect table `queries/python/effects.toml`, as data that was checked on loading.
//!
//! A key the table does not define, a class without what it needs, an operation named twice
//! or one with an effect and no advice is refused: a typo must not become a row that never
//! matches. That every operation has a case is checked by the suite of snippets.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use owed_engine::facts::Opaque;
use ruff_python_ast::Stmt;
use rustc_hash::FxHashMap;
use serde::Deserialize;

const SOURCE: &str = include_str!("../../../../queries/python/effects.toml");

/// The table of the product.
pub(super) static TABLE: LazyLock<Table> =
    LazyLock::new(|| Table::parse(SOURCE).expect("the embedded table is checked by a unit test"));

/// What a row makes of its operations; `effects.toml` says what each means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Class {
    Pure,
    Pinned,
    Opaque,
    Reads,
    Writes,
    Load,
    Resource,
    Unpickle,
    Sql,
    Environ,
    #[serde(rename = "syspath")]
    SysPath,
    #[serde(rename = "sysmodules")]
    SysModules,
}

/// What a reading row takes from the place it is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Takes {
    #[default]
    File,
    Listing,
    Tree,
    Glob,
    Rglob,
}

/// With what arguments a call is harmless at import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Arguments {
    Constant,
    Any,
}

/// One row, without its operations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    #[serde(default)]
    operations: Vec<String>,
    pub(super) class: Class,
    pub(super) reason: Option<Opaque>,
    pub(super) pin: Option<String>,
    #[serde(default)]
    fix: String,
    #[serde(default)]
    pub(super) path: u8,
    pub(super) keyword: Option<String>,
    pub(super) also: Option<u8>,
    #[serde(default)]
    pub(super) what: Takes,
    pub(super) mode: Option<u8>,
    pub(super) also_reason: Option<Opaque>,
    #[serde(default)]
    pub(super) optional: bool,
    #[serde(default)]
    pub(super) dotenv: bool,
    #[serde(default)]
    pub(super) receiver: bool,
    #[serde(default)]
    pub(super) distinct: bool,
    pub(super) given: Option<u8>,
    pub(super) given_pin: Option<String>,
    #[serde(default)]
    pub(super) called: bool,
    pub(super) returns: Option<String>,
    /// What it amounts to when the class itself is handed on.
    pub(super) handed_on: Option<Opaque>,
    pub(super) arguments: Option<Arguments>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: String,
    modelled: Vec<String>,
    row: Vec<Row>,
}

/// What the table says about a qualified name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entry<'t> {
    /// A row, and the operation it is the row of.
    Row(&'t Row, &'t str),
    /// Something operations are members of: a module, or a class.
    Holder,
    /// A member of an instance, or a constant: making the instance was judged.
    Member,
    /// No row at all.
    Unlisted,
}

/// What handing on a module or class amounts to: the worst of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worst<'t> {
    Opaque(Opaque),
    Pinned(&'t str),
    Pure,
}

/// The rows, by operation.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<Row>,
    by_name: FxHashMap<String, usize>,
    /// The same, sorted.
    sorted: Vec<(String, usize)>,
    /// Those of fixtures, by the names of the fixtures.
    fixtures: FxHashMap<String, usize>,
    /// Packages outside the standard library whose rows say all they do.
    modelled: BTreeSet<String>,
    /// All operations without a final `.*`, and everything they are members of; `true`
    /// for the operations themselves, whose members may have rows by pattern.
    prefixes: FxHashMap<String, bool>,
}

impl Table {
    /// Reads and checks a table.
    pub(super) fn parse(source: &str) -> Result<Self, String> {
        let file: File = toml::from_str(source).map_err(|e| e.to_string())?;
        if file.schema != "effects/1" {
            return Err(format!("schema is {:?}, not effects/1", file.schema));
        }
        let mut table = Self {
            rows: Vec::new(),
            by_name: FxHashMap::default(),
            sorted: Vec::new(),
            fixtures: FxHashMap::default(),
            modelled: BTreeSet::new(),
            prefixes: FxHashMap::default(),
        };
        for package in file.modelled {
            if package.is_empty() || package.contains('.') || is_stdlib(&package) {
                return Err(format!("{package:?} is no package to be modelled"));
            }
            if !table.modelled.insert(package.clone()) {
                return Err(format!("{package} is modelled twice"));
            }
        }
        for (at, mut row) in file.row.into_iter().enumerate() {
            row.check()?;
            for operation in std::mem::take(&mut row.operations) {
                let name = operation.strip_suffix(".*").unwrap_or(&operation);
                if name.is_empty() || name.contains('*') {
                    return Err(format!("{operation:?} is no operation"));
                }
                for (dot, _) in name.match_indices('.') {
                    table.prefixes.entry(name[..dot].to_owned()).or_insert(false);
                }
                table.prefixes.insert(name.to_owned(), true);
                if table.by_name.insert(operation.clone(), at).is_some() {
                    return Err(format!("two rows for {operation}"));
                }
            }
            table.rows.push(row);
        }
        table.sorted = table.by_name.iter().map(|(name, at)| (name.clone(), *at)).collect();
        table.sorted.sort();
        let fixture = |(name, at): &(String, usize)| Some((name.strip_prefix("fixture:")?.to_owned(), *at));
        table.fixtures = table.sorted.iter().filter_map(fixture).collect();
        for row in &table.rows {
            if let Some(class) = &row.returns
                && !table.prefixes.contains_key(class)
            {
                return Err(format!("returns {class}, which has no rows"));
            }
        }
        Ok(table)
    }

    /// What to do about an operation, in one line.
    pub(super) fn fix(&self, operation: &str) -> Option<&str> {
        match self.entry(operation) {
            Entry::Row(row, _) if !row.fix.is_empty() => Some(&row.fix),
            Entry::Row(..) => None,
            _ if operation.contains('.') => Some(UNLISTED_FIX),
            _ => Some("bind the name, or import it by its name"),
        }
    }

    /// Every operation as answers show it, and whether it is named in the code of a case
    /// (else in what a case expects), sorted.
    pub(super) fn operations(&self) -> Vec<(String, bool)> {
        let mut all: Vec<(String, bool)> = self
            .sorted
            .iter()
            .map(|(name, at)| {
                let row = &self.rows[*at];
                let silent = matches!(
                    row.class,
                    Class::Pure | Class::Load | Class::Resource | Class::Environ | Class::Sql
                );
                match name.strip_prefix("fixture:") {
                    Some(fixture) => (fixture.to_owned(), silent),
                    None => (name.clone(), silent),
                }
            })
            .collect();
        all.sort();
        all
    }

    /// Whether any row can match `name` or a member of it.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.prefixes.contains_key(name)
            || name.rmatch_indices('.').any(|(at, _)| self.prefixes.get(&name[..at]) == Some(&true))
    }

    /// Whether the rows say all that a package outside the standard library does.
    pub(super) fn models(&self, package: &str) -> bool {
        self.modelled.contains(package)
    }

    /// Whether operations are members of `name`.
    pub(super) fn is_holder(&self, name: &str) -> bool {
        self.prefixes.contains_key(name)
    }

    fn exact(&self, name: &str) -> Option<(&Row, &str)> {
        self.by_name.get_key_value(name).map(|(name, at)| (&self.rows[*at], name.as_str()))
    }

    /// The row of a qualified name: its own, that of the object it is a member of
    /// (`sys.stdin.read`), or that of `prefix.*`; the longest prefix decides. Members of
    /// an instance have none: making the instance was judged (`random.Random(1).random`).
    pub(super) fn entry(&self, name: &str) -> Entry<'_> {
        if let Some((row, operation)) = self.exact(name) {
            return Entry::Row(row, operation);
        }
        if self.prefixes.contains_key(name) {
            return Entry::Holder;
        }
        let mut end = name.len();
        let mut pattern = String::with_capacity(name.len() + 2);
        while let Some(dot) = name[..end].rfind('.') {
            if let Some((row, operation)) = self.exact(&name[..dot]) {
                let last = name[..dot].rsplit('.').next().unwrap_or("");
                let is_class = last.starts_with(|c: char| c.is_uppercase())
                    || matches!(operation, "datetime.datetime" | "datetime.date" | "datetime.time");
                return match row.class {
                    _ if is_class => Entry::Member,
                    Class::Pure | Class::Opaque | Class::Pinned | Class::Unpickle => {
                        Entry::Row(row, operation)
                    }
                    _ => Entry::Member,
                };
            }
            pattern.clear();
            pattern.push_str(&name[..dot]);
            pattern.push_str(".*");
            if let Some((row, operation)) = self.exact(&pattern) {
                return Entry::Row(row, operation);
            }
            end = dot;
        }
        Entry::Unlisted
    }

    /// The row of a qualified name.
    pub(super) fn row(&self, name: &str) -> Option<&Row> {
        match self.entry(name) {
            Entry::Row(row, _) => Some(row),
            _ => None,
        }
    }

    /// The row of a fixture. Nearly every parameter of a test asks.
    pub(super) fn fixture(&self, name: &str) -> Option<&Row> {
        if name.contains('.') {
            return self.row(&format!("fixture:{name}"));
        }
        self.fixtures.get(name).map(|at| &self.rows[*at])
    }

    /// The worst that a member of a module or class may do, when any may be meant.
    /// Members of submodules are none of its own.
    pub(super) fn worst(&self, holder: &str) -> Worst<'_> {
        let is_own = |name: &str| {
            let Some(rest) = name.strip_prefix(holder).and_then(|rest| rest.strip_prefix('.')) else {
                return false;
            };
            rest.rsplit_once('.').is_none_or(|(inner, _)| {
                inner == "path"
                    || holder == "datetime"
                    || inner.rsplit('.').next().is_some_and(|c| c.starts_with(|c: char| c.is_uppercase()))
            })
        };
        let mut reasons = Vec::new();
        let mut pins = Vec::new();
        let first = self.sorted.partition_point(|(name, _)| name.as_str() < holder);
        for (name, at) in self.sorted[first..].iter().take_while(|(name, _)| name.starts_with(holder)) {
            if !is_own(name) {
                continue;
            }
            let row = &self.rows[*at];
            match row.class {
                Class::Reads | Class::Resource | Class::Load => reasons.push(Opaque::ComputedLoad),
                Class::SysPath | Class::SysModules => reasons.push(Opaque::Loader),
                Class::Environ => pins.push("whole-env"),
                Class::Pinned => pins.extend(row.pin.as_deref()),
                _ => reasons.extend(row.reason),
            }
        }
        reasons.sort_by_key(|r| (!r.is_input_opaque(), *r));
        pins.sort_unstable();
        match (reasons.first(), pins.first()) {
            (Some(reason), _) => Worst::Opaque(*reason),
            (None, Some(pin)) => Worst::Pinned(pin),
            (None, None) => Worst::Pure,
        }
    }

    /// The row of a method of `pathlib.Path`, and the operation.
    pub(super) fn path_method(&self, name: &str) -> Option<(&Row, &str)> {
        METHODS.get(name).and_then(|full| self.exact(full))
    }
}

/// What to do about an operation that no row names.
const UNLISTED_FIX: &str = "ask for a row for this name";

/// The receiver rows.
struct Methods {
    /// First letters by length; nearly every other method's name ends here.
    shapes: [u32; 16],
    full: FxHashMap<String, String>,
}

impl Methods {
    fn get(&self, name: &str) -> Option<&String> {
        let shape = self.shapes.get(name.len())?;
        (shape & letter(name) != 0).then(|| self.full.get(name)).flatten()
    }
}

fn letter(name: &str) -> u32 {
    name.bytes().next().map_or(0, |b| 1 << (b & 31))
}

static METHODS: LazyLock<Methods> = LazyLock::new(|| {
    let mut methods = Methods { shapes: [0; 16], full: FxHashMap::default() };
    for (full, _) in TABLE.sorted.iter().filter(|(_, at)| TABLE.rows[*at].receiver) {
        if let Some(name) = full.strip_prefix("pathlib.Path.")
            && let Some(shape) = methods.shapes.get_mut(name.len())
        {
            *shape |= letter(name);
            methods.full.insert(name.to_owned(), full.clone());
        }
    }
    methods
});

impl Row {
    fn check(&self) -> Result<(), String> {
        let problem = match self.class {
            _ if self.operations.is_empty() => "no operations",
            Class::Opaque | Class::Unpickle if self.reason.is_none() => "no reason",
            Class::Pinned if self.pin.is_none() => "no pin",
            Class::Pure | Class::Pinned | Class::Reads | Class::Writes if self.reason.is_some() => "a reason",
            Class::Pure | Class::Opaque | Class::Reads | Class::Writes if self.pin.is_some() => "a pin",
            Class::Pure | Class::Pinned | Class::Environ if !self.fix.is_empty() => {
                "a fix, but nothing to fix"
            }
            Class::Pure | Class::Pinned | Class::Environ if self.receiver => "keys of a reading row",
            Class::Pure | Class::Pinned | Class::Environ if self.also_reason.is_some() => "another reason",
            Class::Pure | Class::Pinned | Class::Environ => return self.check_keys(),
            _ if self.fix.is_empty() => "no fix",
            _ => return self.check_keys(),
        };
        Err(format!("the row of {:?} has {problem}", self.operations))
    }

    fn check_keys(&self) -> Result<(), String> {
        let reads = matches!(self.class, Class::Reads | Class::Writes);
        let problem = match self.class {
            _ if !reads
                && (self.receiver
                    || self.mode.is_some()
                    || self.what != Takes::File && self.class != Class::Resource) =>
            {
                "keys of a reading row"
            }
            Class::Pinned | Class::Opaque => return Ok(()),
            _ if self.given.is_some() || self.given_pin.is_some() => "an argument that lifts nothing",
            _ => return Ok(()),
        };
        Err(format!("the row of {:?} has {problem}", self.operations))
    }
}

/// Whether all modules of an import statement belong to the standard library. Loading
/// them runs nothing of the project.
pub(super) fn is_stdlib_import(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Import(s) => s.names.iter().all(|a| is_stdlib(&a.name)),
        Stmt::ImportFrom(s) => s.level == 0 && s.module.as_ref().is_some_and(|m| is_stdlib(m)),
        _ => false,
    }
}

/// Whether a dotted name is below a module of the standard library.
pub(super) fn is_stdlib(name: &str) -> bool {
    crate::python::project::names::is_stdlib(name.split('.').next().unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_table_loads() {
        let table = Table::parse(SOURCE).unwrap();
        assert!(table.by_name.len() > 2000);
        assert_eq!(table.row("random.shuffle").unwrap().reason, Some(Opaque::Random));
        assert_eq!(table.row("pytest.mark.parametrize").unwrap().class, Class::Pure);
        assert_eq!(table.path_method("read_text").unwrap().1, "pathlib.Path.read_text");
        assert!(table.row("nothing.here").is_none());
        assert!(table.knows("os") && table.knows("os.path") && table.knows("json.anything"));
        assert!(!table.knows("django.db.models") && table.knows("django.utils"));
        assert!(matches!(table.entry("random.Random.random"), Entry::Member));
        assert!(matches!(table.entry("random.not_there"), Entry::Unlisted));
        assert!(matches!(table.entry("os.path"), Entry::Holder));
        assert_eq!(table.row("sys.stdin.read").unwrap().reason, Some(Opaque::Stdin));
        assert!(table.fix("time.time").is_some());
        assert!(table.models("freezegun") && !table.models("numpy"));
        assert_eq!(table.worst("time"), Worst::Opaque(Opaque::Clock));
        assert_eq!(table.worst("datetime.datetime"), Worst::Opaque(Opaque::Clock));
        assert_eq!(table.worst("json"), Worst::Pure);
        assert_eq!(table.worst("logging"), Worst::Opaque(Opaque::Clock));
    }

    /// A member of the standard library without a row would be called unlisted, so every
    /// module of it has one.
    #[test]
    fn every_module_of_the_standard_library_has_rows() {
        let skipped = ["builtins", "antigravity", "test", "this"];
        let missing: Vec<&str> = include_str!("../../../../queries/python/stdlib.txt")
            .lines()
            .filter(|m| !m.is_empty() && !m.starts_with(['_', '#']) && !skipped.contains(m))
            .filter(|m| !TABLE.knows(super::super::modules::module_of(m)))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let head = "schema = \"effects/1\"\nmodelled = []\n[[row]]\noperations = [\"a\"]\n";
        let cases = [
            ("class = \"pure\"\nclas = \"x\"", "unknown field"),
            ("class = \"sometimes\"", "unknown variant"),
            ("class = \"opaque\"\nfix = \"x\"", "no reason"),
            ("class = \"opaque\"\nreason = \"clock\"", "no fix"),
            ("class = \"opaque\"\nreason = \"weather\"", "unknown variant"),
            ("class = \"pinned\"", "no pin"),
            ("class = \"pure\"\nmode = 1", "reading row"),
            ("class = \"pure\"\ngiven = 1", "lifts nothing"),
            ("class = \"pure\"\nfix = \"x\"", "nothing to fix"),
            ("class = \"pure\"\nreturns = \"b\"", "no rows"),
            ("class = \"pure\"\n[[row]]\noperations = [\"a\"]\nclass = \"pure\"", "two rows"),
            ("class = \"pure\"\n[[row]]\noperations = []\nclass = \"pure\"", "no operations"),
            ("class = \"pure\"\n[[row]]\noperations = [\"a.*.b\"]\nclass = \"pure\"", "no operation"),
        ];
        for (rows, message) in cases {
            let error = Table::parse(&format!("{head}{rows}")).unwrap_err();
            assert!(error.contains(message), "{rows}: {error}");
        }
        assert!(Table::parse("schema = \"effects/2\"\nmodelled = []\nrow = []").is_err());
        for modelled in ["[\"os\"]", "[\"a\", \"a\"]", "[\"a.b\"]"] {
            let table = format!("schema = \"effects/1\"\nmodelled = {modelled}\nrow = []");
            assert!(Table::parse(&table).is_err(), "{modelled}");
        }
    }
}
