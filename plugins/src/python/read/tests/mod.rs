//! One check for each kind of fact: source text on the left, facts as lines on the right.

mod declarations;
mod effects;
mod imports;

use owed_engine::facts::{
    EffectClass, FileFacts, ImportKind, Names, PathBase, PathExpr, Pin, Presence, When,
};
use owed_engine::language::SourceFile;

use super::read;

fn facts_of(path: &str, source: &str) -> FileFacts {
    read(SourceFile { path, bytes: source.as_bytes() })
}

fn import_lines(facts: &FileFacts) -> Vec<String> {
    let line = |i: &owed_engine::facts::Import| {
        let kind = match i.kind {
            ImportKind::Static => "static",
            ImportKind::TypeOnly => "type",
            ImportKind::Dynamic => "dynamic",
            ImportKind::Resolve => "resolve",
            ImportKind::Mock => "mock",
            ImportKind::Star => "star",
            ImportKind::StringRef => "string",
            ImportKind::Script => "script",
            ImportKind::Computed => "computed",
            ImportKind::Glob => "glob",
            ImportKind::Require | ImportKind::ReExport => "not python",
        };
        let optional =
            if i.presence == Presence::Optional && i.kind != ImportKind::StringRef { "?" } else { "" };
        let names = match &i.names {
            Names::Effects => String::new(),
            Names::Namespace(local) => format!(" as {local}"),
            Names::List(list) => {
                let list: Vec<_> = list
                    .iter()
                    .map(|n| {
                        if n.imported == n.local {
                            n.local.clone()
                        } else {
                            format!("{}={}", n.local, n.imported)
                        }
                    })
                    .collect();
                format!(" {{{}}}", list.join(","))
            }
        };
        format!("{kind}{optional} {}{names}", i.specifier)
    };
    facts.imports.iter().map(line).collect()
}

fn place(path: &PathExpr) -> String {
    let base = match path.base {
        PathBase::Module => "here",
        PathBase::Cwd => "cwd",
        PathBase::Absolute => "abs",
    };
    format!("{base}:{}", path.path)
}

fn effect_lines(facts: &FileFacts) -> Vec<String> {
    let line = |e: &owed_engine::facts::Effect| {
        let class = match &e.class {
            EffectClass::Pinned(Pin::Env(name)) => format!("env {name}"),
            EffectClass::Pinned(Pin::File(path)) => format!("file {}", place(path)),
            EffectClass::Pinned(Pin::Listing { dir, glob }) => format!("list {} {glob}", place(dir)),
            EffectClass::Pinned(Pin::Named(name)) => format!("pin {name}"),
            EffectClass::Bounded(path) => format!("below {}", place(path)),
            EffectClass::Opaque(reason) => reason.word().to_owned(),
        };
        let when = match &e.when {
            When::Import => String::new(),
            When::Call(name) => format!(" in {name}"),
        };
        format!("{class}{when}")
    };
    facts.effects.iter().map(line).collect()
}
