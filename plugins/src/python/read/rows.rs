//! The effect table `queries/python/effects.toml`, as data that was checked on loading.
//!
//! A key the table does not define, a class without what it needs, or an operation named
//! twice is refused: a typo must not become a row that never matches.

use std::sync::LazyLock;

use owed_engine::facts::Opaque;
use ruff_python_ast::Stmt;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;

const SOURCE: &str = include_str!("../../../../queries/python/effects.toml");

/// The table of the product.
pub(super) static TABLE: LazyLock<Table> =
    LazyLock::new(|| Table::parse(SOURCE).expect("the embedded table is checked by a unit test"));

/// What a row makes of its operation; `effects.toml` says what each means.
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
    Escape,
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

/// How harmless a pure call is at import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Arguments {
    #[default]
    Constant,
    Any,
}

/// One row.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) operation: String,
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
    #[serde(default)]
    pub(super) arguments: Arguments,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: String,
    row: Vec<Row>,
}

/// The rows, by operation.
#[derive(Debug)]
pub(super) struct Table {
    rows: FxHashMap<String, Row>,
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
        let mut table = Self { rows: FxHashMap::default(), prefixes: FxHashMap::default() };
        for row in file.row {
            row.check()?;
            let name = row.operation.strip_suffix(".*").unwrap_or(&row.operation);
            for (at, _) in name.match_indices('.') {
                table.prefixes.entry(name[..at].to_owned()).or_insert(false);
            }
            table.prefixes.insert(name.to_owned(), true);
            if let Some(twice) = table.rows.insert(row.operation.clone(), row) {
                return Err(format!("two rows for {}", twice.operation));
            }
        }
        Ok(table)
    }

    /// What to do about an operation, in one line.
    pub(super) fn fix(&self, operation: &str) -> Option<&str> {
        let row = self.row(operation)?;
        (!row.fix.is_empty()).then_some(row.fix.as_str())
    }

    /// Whether any row can match `name` or a member of it.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.prefixes.contains_key(name)
            || name.rmatch_indices('.').any(|(at, _)| self.prefixes.get(&name[..at]) == Some(&true))
    }

    /// The row of a qualified name: its own, that of the object it is a member of
    /// (`sys.stdin.read`), or that of `prefix.*`; the longest prefix decides. Members of
    /// an instance have none: making the instance was judged (`random.Random(1).random`).
    pub(super) fn row(&self, name: &str) -> Option<&Row> {
        if let Some(row) = self.rows.get(name) {
            return Some(row);
        }
        let mut end = name.len();
        let mut pattern = String::with_capacity(name.len());
        while let Some(dot) = name[..end].rfind('.') {
            if let Some(row) = self.rows.get(&name[..dot])
                && matches!(
                    row.class,
                    Class::Pure | Class::Opaque | Class::Pinned | Class::Reads | Class::Unpickle
                )
            {
                let last = name[..dot].rsplit('.').next().unwrap_or("");
                let is_class = last.starts_with(|c: char| c.is_uppercase());
                return (!is_class && row.class != Class::Reads).then_some(row);
            }
            pattern.clear();
            pattern.push_str(&name[..dot]);
            pattern.push_str(".*");
            if let Some(row) = self.rows.get(pattern.as_str()) {
                return Some(row);
            }
            end = dot;
        }
        None
    }

    /// The worst that a member of a module may do, when any member may be meant.
    pub(super) fn worst(&self, module: &str) -> Option<Opaque> {
        let mut reasons: Vec<Opaque> = self
            .rows
            .values()
            .filter(|r| {
                r.operation.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
            .filter_map(|r| match r.class {
                Class::Reads | Class::Resource => Some(Opaque::ComputedLoad),
                _ => r.reason,
            })
            .collect();
        reasons.sort_by_key(|r| (!r.is_input_opaque(), *r));
        reasons.first().copied()
    }

    /// The row of a method of `pathlib.Path`.
    pub(super) fn path_method(&self, name: &str) -> Option<&Row> {
        METHODS.get(name).and_then(|full| self.rows.get(full))
    }
}

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
    let mut names: Vec<&String> = TABLE.rows.values().filter(|r| r.receiver).map(|r| &r.operation).collect();
    names.sort();
    for full in names {
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
            Class::Opaque | Class::Unpickle | Class::Escape if self.reason.is_none() => "no reason",
            Class::Pinned if self.pin.is_none() => "no pin",
            Class::Pure | Class::Pinned | Class::Reads | Class::Writes if self.reason.is_some() => "a reason",
            Class::Pure | Class::Opaque | Class::Reads | Class::Writes if self.pin.is_some() => "a pin",
            Class::Reads | Class::Writes => return Ok(()),
            _ if self.receiver
                || self.mode.is_some()
                || self.what != Takes::File && self.class != Class::Resource =>
            {
                "keys of a reading row"
            }
            _ => return Ok(()),
        };
        Err(format!("the row of {} has {problem}", self.operation))
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

/// Whether a dotted name is below a module of the standard library (3.8 to 3.15).
pub(super) fn is_stdlib(name: &str) -> bool {
    let root = name.split('.').next().unwrap_or(name);
    STDLIB.contains(root)
}

static STDLIB: LazyLock<FxHashSet<&'static str>> =
    LazyLock::new(|| STDLIB_NAMES.split_whitespace().collect());

const STDLIB_NAMES: &str = "
__future__ __main__ _thread abc aifc annotationlib argparse array ast asynchat asyncio asyncore atexit
audioop base64 bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs
codeop collections colorsys compileall compression concurrent configparser contextlib contextvars copy
copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils doctest email
encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc
genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http imaplib imghdr imp
importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma mailbox
mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt
ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes
pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc
pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets
select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3
sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau
symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap threading time timeit
tkinter token tokenize tomllib trace traceback tracemalloc tty turtle types typing unicodedata unittest
urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp
zipfile zipimport zlib zoneinfo
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_table_loads() {
        let table = Table::parse(SOURCE).unwrap();
        assert!(table.rows.len() > 500);
        assert_eq!(table.row("random.shuffle").unwrap().reason, Some(Opaque::Random));
        assert_eq!(table.row("pytest.mark.parametrize").unwrap().class, Class::Pure);
        assert_eq!(table.path_method("read_text").unwrap().operation, "pathlib.Path.read_text");
        assert!(table.row("nothing.here").is_none());
        for row in table.rows.values().filter(|r| r.receiver) {
            let method = row.operation.rsplit('.').next().unwrap();
            assert_eq!(table.path_method(method).map(|r| &r.operation), Some(&row.operation));
        }
        assert!(table.knows("os") && table.knows("os.path") && table.knows("random.anything"));
        assert!(!table.knows("django.db.models") && table.knows("django.utils"));
        assert_eq!(table.row("random.Random.random").map(|r| r.class), None);
        assert_eq!(table.row("sys.stdin.read").unwrap().reason, Some(Opaque::Stdin));
        assert!(table.fix("time.time").is_some());
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let head = "schema = \"effects/1\"\n";
        let cases = [
            ("[[row]]\noperation = \"a\"\nclass = \"pure\"\nclas = \"x\"", "unknown field"),
            ("[[row]]\noperation = \"a\"\nclass = \"sometimes\"", "unknown variant"),
            ("[[row]]\noperation = \"a\"\nclass = \"opaque\"", "no reason"),
            ("[[row]]\noperation = \"a\"\nclass = \"opaque\"\nreason = \"weather\"", "unknown variant"),
            ("[[row]]\noperation = \"a\"\nclass = \"pinned\"", "no pin"),
            ("[[row]]\noperation = \"a\"\nclass = \"pure\"\nmode = 1", "reading row"),
            (
                "[[row]]\noperation = \"a\"\nclass = \"pure\"\n[[row]]\noperation = \"a\"\nclass = \"pure\"",
                "two rows",
            ),
        ];
        for (rows, message) in cases {
            let error = Table::parse(&format!("{head}{rows}")).unwrap_err();
            assert!(error.contains(message), "{rows}: {error}");
        }
        assert!(Table::parse("schema = \"effects/2\"\nrow = []").is_err());
    }
}
