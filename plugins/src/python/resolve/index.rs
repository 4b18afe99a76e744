//! Which modules lie in which directory: built once from the inventory, so that an
//! import costs a few look-ups and no question to the disk. Files that are not in the
//! inventory (ignored, generated, compiled in place, behind a link) are seen by listing
//! a directory once, when an import first looks into it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use owed_engine::path;
use owed_engine::tree::{Kind, Tree};
use rustc_hash::FxHashMap;

use crate::python::project::names::is_identifier;

/// In which forms a module of one name lies in a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Forms(u8);

impl Forms {
    /// `x.py`.
    pub(crate) const SOURCE: Self = Self(1);
    /// `x.pyi`.
    pub(crate) const STUB: Self = Self(2);
    /// `x.so`, `x.pyd`, with any ABI tag.
    pub(crate) const BINARY: Self = Self(4);
    /// What a build makes a binary of: `x.pyx`, `x.c`, … (Rust files are not named after
    /// the modules they make).
    pub(crate) const NATIVE: Self = Self(8);

    /// Whether any of `other`'s forms is there.
    pub(crate) fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The module name and form of a file name; `None` for what Python does not import.
fn form(file: &str) -> Option<(&str, Forms)> {
    let (stem, extension) = file.rsplit_once('.')?;
    let form = match extension {
        "py" => Forms::SOURCE,
        "pyi" => Forms::STUB,
        "so" | "pyd" => Forms::BINARY,
        "pyx" | "pxd" | "c" | "cc" | "cpp" | "cxx" | "cu" | "f90" => Forms::NATIVE,
        _ => return None,
    };
    // `_x.cpython-311-x86_64-linux-gnu.so` is `_x`.
    let stem = if form == Forms::BINARY { stem.split('.').next().unwrap_or(stem) } else { stem };
    (!stem.is_empty()).then_some((stem, form))
}

/// A directory, by its number in the index, or by its path when it is outside the inventory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Holds files of the inventory.
    Known(u32),
    /// Holds only others.
    Loose(String),
}

struct Dir<'a> {
    path: &'a str,
    modules: FxHashMap<&'a str, Module>,
    dirs: FxHashMap<&'a str, u32>,
    /// Whether a file that Python loads lies in it or below.
    python: bool,
    /// Where pytest's `prepend` mode would insert for a test file in here: the nearest
    /// directory at or above it without `__init__.py`.
    base: u32,
    /// Whether a test file or `conftest.py` makes pytest insert this directory.
    inserted: bool,
    others: OnceLock<Others>,
}

#[derive(Default)]
struct Module {
    forms: Forms,
    /// Its source's path with links followed, when that is another.
    real: OnceLock<Option<String>>,
}

/// Entries outside the inventory.
#[derive(Default)]
struct Others {
    modules: BTreeMap<String, Forms>,
    dirs: BTreeSet<String>,
}

/// What a name means in a directory.
pub(crate) enum Child {
    /// A directory with `__init__.py`.
    Package(Place),
    /// A source file, or only a stub or native form of one.
    Module(Forms),
    /// A directory without `__init__.py`.
    Namespace(Place),
    /// Nothing that loads; the forms tell whether a native module was meant.
    Nothing(Forms),
}

/// All modules of a tree, by directory.
pub(crate) struct Index<'a> {
    tree: &'a dyn Tree,
    dirs: Vec<Dir<'a>>,
    numbers: FxHashMap<&'a str, u32>,
    /// Name to the directories, themselves no packages, that have a package or module of it.
    tops: OnceLock<FxHashMap<&'a str, Vec<u32>>>,
}

/// Whether pytest, by default, collects the file or loads it as a conftest.
fn is_test_like(name: &str) -> bool {
    name == "conftest.py"
        || name.ends_with("_test.py")
        || (name.starts_with("test_") && name.ends_with(".py"))
}

impl<'a> Index<'a> {
    /// Reads the inventory of `tree`.
    pub(crate) fn new(tree: &'a dyn Tree) -> Self {
        let mut index = Self { tree, dirs: Vec::new(), numbers: FxHashMap::default(), tops: OnceLock::new() };
        index.dir("");
        let mut test_dirs = Vec::new();
        for file in tree.files() {
            let name = path::basename(file);
            let Some((stem, forms)) = form(name) else { continue };
            let number = index.dir(path::dirname(file));
            let dir = &mut index.dirs[number as usize];
            let module = dir.modules.entry(stem).or_default();
            module.forms = module.forms.with(forms);
            if !forms.any(Forms::NATIVE) && !dir.python {
                index.mark_python(number);
            }
            if is_test_like(name) && test_dirs.last() != Some(&number) {
                test_dirs.push(number);
            }
        }
        // A parent's number is smaller than its children's.
        for number in 0..index.dirs.len() {
            let dir = &index.dirs[number];
            if index.has_init(number) {
                let parent = index.numbers[path::dirname(dir.path)];
                index.dirs[number].base =
                    if dir.path.is_empty() { 0 } else { index.dirs[parent as usize].base };
            } else {
                index.dirs[number].base = u32::try_from(number).expect("fewer directories than u32::MAX");
            }
        }
        for number in test_dirs {
            let base = index.dirs[number as usize].base as usize;
            index.dirs[base].inserted = true;
        }
        index
    }

    fn dir(&mut self, path: &'a str) -> u32 {
        if let Some(number) = self.numbers.get(path) {
            return *number;
        }
        let parent = if path.is_empty() { None } else { Some(self.dir(path::dirname(path))) };
        let number = u32::try_from(self.dirs.len()).expect("fewer directories than u32::MAX");
        self.dirs.push(Dir {
            path,
            modules: FxHashMap::default(),
            dirs: FxHashMap::default(),
            python: false,
            base: number,
            inserted: false,
            others: OnceLock::new(),
        });
        self.numbers.insert(path, number);
        if let Some(parent) = parent {
            self.dirs[parent as usize].dirs.insert(path::basename(path), number);
        }
        number
    }

    fn mark_python(&mut self, number: u32) {
        let mut number = number as usize;
        while !self.dirs[number].python {
            self.dirs[number].python = true;
            number = self.numbers[path::dirname(self.dirs[number].path)] as usize;
        }
    }

    fn has_init(&self, number: usize) -> bool {
        self.dirs[number].modules.get("__init__").is_some_and(|m| m.forms.any(Forms::SOURCE))
    }

    /// The tree it was made of.
    pub(crate) fn tree(&self) -> &'a dyn Tree {
        self.tree
    }

    /// The place of the directory `path`; `None` when there is no such directory.
    pub(crate) fn place(&self, path: &str) -> Option<Place> {
        match self.numbers.get(path) {
            Some(number) => Some(Place::Known(*number)),
            None => self.tree.is_dir(path).then(|| Place::Loose(path.to_owned())),
        }
    }

    /// The path of a place.
    pub(crate) fn path<'s>(&'s self, place: &'s Place) -> &'s str {
        match place {
            Place::Known(number) => self.dirs[*number as usize].path,
            Place::Loose(path) => path,
        }
    }

    /// Whether a file of the inventory that Python loads lies in `place` or below.
    pub(crate) fn holds_python(&self, place: &Place) -> bool {
        matches!(place, Place::Known(number) if self.dirs[*number as usize].python)
    }

    /// Whether `place` has an `__init__.py`.
    pub(crate) fn is_package(&self, place: &Place) -> bool {
        self.forms(place, "__init__").any(Forms::SOURCE)
    }

    /// Where pytest would insert for a test in the directory of the file `from`.
    pub(crate) fn base(&self, from: &str) -> Option<u32> {
        Some(self.dirs[*self.numbers.get(path::dirname(from))? as usize].base)
    }

    /// Directories at or above the file `from` that pytest inserts, nearest first.
    pub(crate) fn inserted_above(&self, from: &str) -> impl Iterator<Item = u32> {
        path::ancestors(from)
            .filter_map(|dir| self.numbers.get(dir).copied())
            .filter(|number| self.dirs[*number as usize].inserted)
    }

    /// All directories, themselves no packages, that have a package or module `name`: were
    /// one of them on `sys.path`, `name` would mean that.
    pub(crate) fn tops_with(&self, name: &str) -> &[u32] {
        let tops = self.tops.get_or_init(|| {
            let mut tops: FxHashMap<&'a str, Vec<u32>> = FxHashMap::default();
            for (number, dir) in self.dirs.iter().enumerate().filter(|(at, _)| !self.has_init(*at)) {
                let number = u32::try_from(number).expect("fewer directories than u32::MAX");
                let modules = dir.modules.iter().filter(|(_, module)| module.forms.any(Forms::SOURCE));
                let packages = dir.dirs.iter().filter(|(_, inner)| self.has_init(**inner as usize));
                let mut names: Vec<&'a str> = modules.map(|(name, _)| *name).collect();
                names.extend(packages.map(|(name, _)| *name));
                names.sort_unstable();
                names.dedup();
                for name in names {
                    tops.entry(name).or_default().push(number);
                }
            }
            tops
        });
        tops.get(name).map_or(&[], Vec::as_slice)
    }

    fn others<'s>(&'s self, dir: &'s Dir<'a>) -> &'s Others {
        // Filled by whichever thread comes first; the listing is the same for all.
        dir.others.get_or_init(|| {
            let mut others = Others::default();
            for (name, kind) in self.tree.list(dir.path) {
                match kind {
                    Kind::Dir if !dir.dirs.contains_key(name.as_str()) && is_identifier(&name) => {
                        others.dirs.insert(name);
                    }
                    Kind::Dir => {}
                    Kind::File => {
                        if let Some((stem, forms)) = form(&name)
                            && !dir.modules.get(stem).is_some_and(|known| known.forms.any(forms))
                        {
                            let entry = others.modules.entry(stem.to_owned()).or_default();
                            *entry = entry.with(forms);
                        }
                    }
                }
            }
            others
        })
    }

    /// The forms in which the module `name` lies directly in `place`.
    pub(crate) fn forms(&self, place: &Place, name: &str) -> Forms {
        match place {
            Place::Known(number) => {
                let dir = &self.dirs[*number as usize];
                let known = dir.modules.get(name).map_or(Forms::default(), |module| module.forms);
                if known.any(Forms::SOURCE) {
                    return known;
                }
                known.with(self.others(dir).modules.get(name).copied().unwrap_or_default())
            }
            Place::Loose(path) => {
                let mut forms = Forms::default();
                for (extension, form) in [("py", Forms::SOURCE), ("pyi", Forms::STUB)] {
                    if self.tree.is_file(&format!("{path}/{name}.{extension}")) {
                        forms = forms.with(form);
                    }
                }
                forms
            }
        }
    }

    /// The directory `name` in `place`.
    fn subdir(&self, place: &Place, name: &str) -> Option<Place> {
        match place {
            Place::Known(number) => {
                let dir = &self.dirs[*number as usize];
                if let Some(inner) = dir.dirs.get(name) {
                    return Some(Place::Known(*inner));
                }
                let loose = self.others(dir).dirs.contains(name);
                loose.then(|| Place::Loose(join(dir.path, name)))
            }
            Place::Loose(path) => {
                let inner = join(path, name);
                self.tree.is_dir(&inner).then_some(Place::Loose(inner))
            }
        }
    }

    /// What `name` means in `place`, in Python's order: package, module, namespace.
    pub(crate) fn child(&self, place: &Place, name: &str) -> Child {
        let inner = self.subdir(place, name);
        if let Some(inner) = &inner
            && self.is_package(inner)
        {
            return Child::Package(inner.clone());
        }
        let forms = self.forms(place, name);
        if forms.any(Forms::SOURCE) || forms.any(Forms::BINARY) || (forms.any(Forms::STUB) && inner.is_none())
        {
            return Child::Module(forms);
        }
        match inner {
            Some(inner) => Child::Namespace(inner),
            None => Child::Nothing(forms),
        }
    }

    /// The path of the source of module `name` in `place`, links followed.
    pub(crate) fn source(&self, place: &Place, name: &str) -> String {
        let written = within(self.path(place), name, ".py");
        let known = match place {
            Place::Known(number) => self.dirs[*number as usize].modules.get(name),
            Place::Loose(_) => None,
        };
        let follow = || self.tree.real(&written).filter(|real| *real != written);
        let real = match known {
            Some(module) => module.real.get_or_init(follow).clone(),
            None => follow(),
        };
        real.unwrap_or(written)
    }

    /// Whether the inventory or the tree has a file at `path`.
    pub(crate) fn is_file(&self, path: &str) -> bool {
        if let Some(number) = self.numbers.get(path::dirname(path))
            && let Some((stem, forms)) = form(path::basename(path))
            && self.dirs[*number as usize].modules.get(stem).is_some_and(|m| m.forms.any(forms))
        {
            return true;
        }
        self.tree.is_file(path)
    }
}

/// `name` in the directory `dir`.
pub(crate) fn join(dir: &str, name: &str) -> String {
    within(dir, name, "")
}

/// `name` with `suffix` in the directory `dir`. Most of what a resolution makes are such paths.
pub(crate) fn within(dir: &str, name: &str, suffix: &str) -> String {
    let mut path = String::with_capacity(dir.len() + 1 + name.len() + suffix.len());
    if !dir.is_empty() {
        path.push_str(dir);
        path.push('/');
    }
    path.push_str(name);
    path.push_str(suffix);
    path
}
