//! A cause as people see it: where it is written, what kind it is, what to do about it.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::liveness::{At, Cause, Liveness, NOTHING};
use crate::effects;
use crate::facts::{Effect, EffectClass, Opaque, PathBase, Pin, When};
use crate::graph::{NodeKey, Origin, Trait};
use crate::path;
use crate::project::Project;
use crate::selection::Opacity;

/// An input that joins the identity of a test.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PinName {
    /// An environment name.
    Env(String),
    /// A file, by its project-relative path.
    File(String),
    /// The entries of a directory that match a glob.
    Listing {
        /// The directory.
        dir: String,
        /// The glob, relative to it.
        glob: String,
    },
    /// Everything below a directory.
    Directory(String),
    /// Anything else with a name: `TZ`, `argv`, `cwd`.
    Named(String),
}

impl PinName {
    /// The word used in answers.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Env(_) => "env",
            Self::File(_) => "file",
            Self::Listing { .. } => "listing",
            Self::Directory(_) => "directory",
            Self::Named(_) => "named",
        }
    }
}

/// One place in one file, whatever reaches it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReasonHere {
    /// What it makes of a test that reaches it.
    pub class: Opacity,
    /// Why: a word of [`Opaque`], or of [`PinName`] for an input with a name.
    pub reason: &'static str,
    /// What is known of the reason besides: `loopback-only`.
    pub label: Option<&'static str>,
    /// The operation, or the specifier.
    pub operation: String,
    /// Project-relative path.
    pub path: String,
    /// 1-based line; 0 where none exists.
    pub line: u32,
    /// 1-based column in bytes; 0 where none exists.
    pub column: u32,
    /// The declaration whose use brings it about; `None` when loading the file does.
    pub declaration: Option<String>,
    /// The smallest change that would lift it.
    pub fix: String,
}

/// What is said of the causes of a project: by number of the cause, the number of its
/// place, and the inputs it names.
pub(crate) struct Described {
    /// The places, sorted; one that several resolution classes see is there once.
    pub(crate) places: Vec<ReasonHere>,
    /// By cause.
    pub(crate) place_of: Vec<usize>,
    /// By cause.
    pub(crate) pins: Vec<Vec<PinName>>,
}

impl Described {
    /// Describes all causes.
    pub(crate) fn new(project: &Project<'_>, live: &Liveness<'_>) -> Self {
        let starts = LineStarts::of(project, live);
        let described: Vec<(ReasonHere, Vec<PinName>)> = live
            .causes
            .par_iter()
            .map(|cause| {
                let facts = match cause.at {
                    At::Module(module) => live.modules[module as usize].facts,
                    At::Path(_) => &NOTHING,
                };
                let pins = pins(project, live, cause);
                (here(project, live.path(cause.at), facts, &cause.fact, &pins, &starts), pins)
            })
            .collect();
        let mut places: Vec<ReasonHere> = described.iter().map(|(place, _)| place.clone()).collect();
        places.sort();
        places.dedup();
        let number = |place: &ReasonHere| places.binary_search(place).expect("it was put in above");
        let place_of = described.iter().map(|(place, _)| number(place)).collect();
        let pins = described.into_iter().map(|(_, pins)| pins).collect();
        Self { places, place_of, pins }
    }
}

/// Where lines begin, in the files that have causes.
pub(crate) struct LineStarts(BTreeMap<String, Vec<u8>>);

impl LineStarts {
    fn of(project: &Project<'_>, live: &Liveness<'_>) -> Self {
        let mut paths: Vec<&str> = live.causes.iter().map(|cause| live.path(cause.at)).collect();
        paths.sort_unstable();
        paths.dedup();
        Self::read(project, &paths)
    }

    /// Of these files.
    pub(crate) fn read(project: &Project<'_>, paths: &[&str]) -> Self {
        let read = |path: &&str| Some(((*path).to_owned(), project.tree.read(path).ok()?));
        Self(paths.par_iter().filter_map(read).collect::<Vec<_>>().into_iter().collect())
    }

    /// The 1-based column of a byte, in bytes; 0 when the file is not there.
    fn column(&self, path: &str, byte: u32) -> u32 {
        let Some(bytes) = self.0.get(path) else { return 0 };
        let before = &bytes[..bytes.len().min(byte as usize)];
        let start = before.iter().rposition(|b| matches!(b, b'\n' | b'\r')).map_or(0, |at| at + 1);
        let start = if start == 0 && before.starts_with(b"\xEF\xBB\xBF") { 3 } else { start };
        u32::try_from(before.len() - start + 1).unwrap_or(0)
    }
}

/// A fact as a place.
pub(crate) fn here(
    project: &Project<'_>,
    path: &str,
    facts: &crate::facts::FileFacts,
    fact: &Trait,
    pins: &[PinName],
    starts: &LineStarts,
) -> ReasonHere {
    let effect = match fact.origin {
        Origin::Effect(number) => facts.effects.get(number as usize),
        Origin::Offered(number) => facts.offered.get(number as usize),
        Origin::Import(_) | Origin::Taken(_) | Origin::File => None,
    };
    let span = match fact.origin {
        Origin::Effect(_) | Origin::Offered(_) => effect.map(|effect| effect.span),
        Origin::Import(number) | Origin::Taken(number) => {
            facts.imports.get(number as usize).map(|import| import.span)
        }
        Origin::File => facts.damage.first().map(|damage| damage.span),
    };
    let reason = match fact.reason {
        Some(reason) => reason.word(),
        None if fact.opacity == Opacity::Unknown => "not-understood",
        None => pins.first().map_or("named", PinName::word),
    };
    ReasonHere {
        class: fact.opacity,
        reason,
        label: fact.reason.and_then(Opaque::label),
        operation: fact.operation.to_string(),
        path: path.to_owned(),
        line: fact.line,
        column: if fact.line == 0 { 0 } else { span.map_or(0, |span| starts.column(path, span.start)) },
        declaration: match effect.map(|effect| &effect.when) {
            Some(When::Call(name)) => Some(name.clone()),
            _ => None,
        },
        fix: fix(project, path, fact),
    }
}

/// The inputs that a cause names.
fn pins(project: &Project<'_>, live: &Liveness<'_>, cause: &Cause<'_>) -> Vec<PinName> {
    let At::Module(at) = cause.at else { return Vec::new() };
    let module = &live.modules[at as usize];
    if !matches!(cause.fact.opacity, Opacity::Pinned | Opacity::Bounded) {
        return Vec::new();
    }
    let class = match live.node(at).map(|node| project.graph.key(node)) {
        Some(NodeKey::Source { class, .. }) => *class,
        // What a package reads from the working directory is looked for from the root.
        _ => 0,
    };
    let effect = match cause.fact.origin {
        Origin::Effect(number) => &module.facts.effects[number as usize],
        Origin::Offered(number) => &module.facts.offered[number as usize],
        Origin::Import(_) | Origin::Taken(_) | Origin::File => return Vec::new(),
    };
    // What a stopped clock leaves.
    if let (EffectClass::Opaque(_), Origin::Effect(number)) = (&effect.class, cause.fact.origin) {
        let clock = module.facts.clock.iter().flat_map(|clock| &clock.answered);
        let left = clock.filter(|answered| answered.effect == number).filter_map(|a| a.leaves.as_ref());
        let name = |pin: &Pin| match pin {
            Pin::Named(name) => Some(PinName::Named(name.clone())),
            _ => None,
        };
        return left.filter_map(name).collect();
    }
    pins_of(project, class, module.path, effect)
}

/// The inputs that an effect names, for a file resolved by a class.
pub(crate) fn pins_of(project: &Project<'_>, class: u32, path: &str, effect: &Effect) -> Vec<PinName> {
    let places =
        |expression| effects::places(project, project.tree, class, path, expression).into_iter().flatten();
    match &effect.class {
        EffectClass::Opaque(_) => Vec::new(),
        EffectClass::Bounded(expression) => places(expression).map(PinName::Directory).collect(),
        EffectClass::Pinned(pin) => match pin {
            Pin::Env(name) => vec![PinName::Env(name.clone())],
            Pin::Named(name) => vec![PinName::Named(name.clone())],
            Pin::File(expression) => places(expression).map(PinName::File).collect(),
            Pin::Listing { dir, glob } => {
                places(dir).map(|dir| PinName::Listing { dir, glob: glob.clone() }).collect()
            }
        },
    }
}

/// Whether all paths that an effect names lie in the installed package that `file` is of.
pub(crate) fn is_within_package(effect: &Effect, file: &str) -> bool {
    let package = super::packages::package_dir(file);
    let expression = match &effect.class {
        EffectClass::Bounded(expression) | EffectClass::Pinned(Pin::File(expression)) => expression,
        EffectClass::Pinned(Pin::Listing { dir, .. }) => dir,
        _ => return false,
    };
    expression.base == PathBase::Module
        && path::join(path::dirname(file), &expression.path).is_some_and(|to| path::is_within(&to, package))
}

/// What to do about a fact: as the language's table says, else by its reason.
fn fix(project: &Project<'_>, path: &str, fact: &Trait) -> String {
    let known = project.plugins.language_of(path).and_then(|language| language.fix(&fact.operation));
    if let (Some(known), Origin::Effect(_) | Origin::Offered(_)) = (known, fact.origin) {
        return known.to_owned();
    }
    let operation = &fact.operation;
    let mut of_runners = project.suites.iter().flat_map(|suite| &suite.project.effects);
    if let (Origin::File, Some(effect)) =
        (fact.origin, of_runners.find(|effect| effect.path == path && *effect.operation == **operation))
    {
        return effect.fix.clone();
    }
    let Some(reason) = fact.reason else {
        return match fact.opacity {
            Opacity::Unknown => {
                "make the configuration literal, or install the runner, so that it can be asked".to_owned()
            }
            Opacity::Bounded => {
                "name the files in the source, or leave it: the directory is the input".to_owned()
            }
            _ => "pass the value in as an argument, or leave it: it is part of the identity".to_owned(),
        };
    };
    match (fact.origin, reason) {
        (Origin::Import(_), Opaque::Unresolved) if fact.opacity == Opacity::InputOpaque => {
            "install the dependencies, so that their bytes can be read".to_owned()
        }
        (Origin::Import(_), Opaque::Unresolved) => {
            format!("make `{operation}` lead to a file: generate it first, or correct the specifier")
        }
        (origin, Opaque::ComputedLoad)
            if matches!(origin, Origin::Import(_)) || matches!(&**operation, "import" | "require") =>
        {
            "give the specifier a constant beginning, or import the candidates by name".to_owned()
        }
        (Origin::Import(_), Opaque::Native) => {
            format!("keep `{operation}` out of this test: its inputs cannot be seen")
        }
        (_, Opaque::Clock) => "pass the time in, or fake it with a literal date before it is read".to_owned(),
        (_, Opaque::Random) => "pass a generator with a literal seed in".to_owned(),
        (_, Opaque::Network | Opaque::Loopback) => "answer from the test instead of the network".to_owned(),
        (_, Opaque::Subprocess) => {
            "start a script of the project by its literal path, or test what it does in this process"
                .to_owned()
        }
        (_, Opaque::ComputedLoad) => "begin the path with a constant folder of the project".to_owned(),
        (_, Opaque::Eval) => "write the code as code".to_owned(),
        (_, Opaque::Tmp) => "leave it: reuse needs a run with its own temporary folder".to_owned(),
        (_, Opaque::FsMeta | Opaque::FsOrder) => "use names and contents, sorted, instead".to_owned(),
        (_, Opaque::Concurrency) => "await one thing at a time, or keep it out of this test".to_owned(),
        (_, Opaque::MutateGlobal) => "pass the replacement in instead of changing what all share".to_owned(),
        (_, Opaque::Unparsable) => "make the file readable and free of syntax errors".to_owned(),
        (_, Opaque::Unresolved) => "name a path inside the project".to_owned(),
        (_, Opaque::Budget) => "raise the budget of packages, or depend on less".to_owned(),
        (_, Opaque::Unlisted) => {
            format!("`{operation}` is in no row of the effect table: report it, or keep it out of this test")
        }
        (
            _,
            Opaque::Host
            | Opaque::Gc
            | Opaque::Addr
            | Opaque::Stdin
            | Opaque::Loader
            | Opaque::Native
            | Opaque::Cwd
            | Opaque::SharedSetup,
        ) => format!("keep `{operation}` out of this test, or pass its result in"),
    }
}
