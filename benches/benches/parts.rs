//! The parts of a plan and of a check, each by itself, on generated projects of 1,000 files.
//!
//! ```text
//! cargo bench -p benches
//! ```
//!
//! Files are in memory, so that nothing but the work is timed. What whole processes take is
//! measured by `peers`, and instructions by `budget`.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used, reason = "a bench program")]

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;
use std::path::Path;
use std::sync::{Arc, Mutex};

use benches::generate::{Shape, generate};
use criterion::{Criterion, criterion_group, criterion_main};
use owed_engine::cache::{Bytes, Cache, Storage};
use owed_engine::change::{Change, ChangeKind};
use owed_engine::check::{Input, Policy, Survey};
use owed_engine::language::SourceFile;
use owed_engine::project::{Delta, Plugins, Project, Reading, Settings};
use owed_engine::read::walk;
use owed_engine::runner::NoLoader;
use owed_engine::select::{SelectOptions, select};
use owed_engine::tree::{MemoryTree, Tree};

const FILES: usize = 1000;

/// The files of a cache, in memory.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<BTreeMap<String, Arc<Vec<u8>>>>>);

impl Storage for Kept {
    fn load(&self, name: &str) -> Option<Bytes> {
        let kept = Arc::clone(self.0.lock().unwrap().get(name)?);
        Some(kept)
    }

    fn store(&self, name: &str, bytes: &[u8]) -> bool {
        self.0.lock().unwrap().insert(name.to_owned(), Arc::new(bytes.to_vec()));
        true
    }
}

fn plugins() -> Plugins<'static> {
    Plugins { languages: owed_plugins::languages(), runners: owed_plugins::runners() }
}

fn tree(shape: Shape) -> MemoryTree {
    let dir = tempfile::tempdir().unwrap();
    generate(dir.path(), shape, FILES).unwrap();
    let read = |path: String| {
        let bytes = std::fs::read(dir.path().join(Path::new(&path))).unwrap();
        (path, bytes)
    };
    MemoryTree::new(walk(dir.path()).files.into_iter().map(read))
}

fn parts(criterion: &mut Criterion, name: &str, shape: Shape, extension: &str) {
    let tree = tree(shape);
    let sources: Vec<String> =
        tree.files().iter().filter(|path| path.ends_with(extension)).cloned().collect();
    let one = sources[sources.len() / 2].clone();
    let bytes = tree.read(&one).unwrap();
    let language = plugins().language_of(&one).unwrap();
    let mut group = criterion.benchmark_group(name);
    group.bench_function("facts of one file", |bench| {
        bench
            .iter(|| language.read_without_declarations(black_box(SourceFile { path: &one, bytes: &bytes })));
    });
    group.bench_function("functions of one file", |bench| {
        bench.iter(|| language.functions(black_box(SourceFile { path: &one, bytes: &bytes })));
    });
    group.sample_size(20);
    let read = || Project::read(&tree, plugins(), Settings::default(), Reading::Files);
    group.bench_function("read", |bench| bench.iter(read));
    let discovered = || {
        let mut project = read();
        project.discover(&NoLoader);
        project
    };
    group.bench_function("resolve and graph", |bench| {
        bench.iter_batched_ref(discovered, |project| project.resolve(), criterion::BatchSize::LargeInput);
    });
    let mut project = discovered();
    project.resolve();
    let delta =
        Delta { changes: vec![Change { path: one.clone(), kind: ChangeKind::Modified }], ..Delta::default() };
    let options = SelectOptions::default();
    group.bench_function("select", |bench| bench.iter(|| select(&project, black_box(&delta), &options)));
    let kept = Kept::default();
    let open = || Cache::new(Box::new(kept.clone()), "bench");
    drop(Project::load_with(&tree, plugins(), Settings::default(), Reading::Files, &NoLoader, &open()));
    group.bench_function("recall", |bench| {
        bench.iter(|| {
            let cache = open();
            let project =
                Project::recall(&tree, plugins(), Settings::default(), Reading::Files, &NoLoader, &cache);
            assert!(project.is_some(), "nothing changed since it was kept");
        });
    });
    let tests = BTreeSet::new();
    let input = Input {
        tree: &tree,
        languages: owed_plugins::languages(),
        tests: &tests,
        unseen: &[],
        broken_links: &[],
        debt: None,
        base: None,
        coverage: None,
    };
    let mut survey = Survey::read(input, Policy { across_files: true, ..Policy::default() });
    let mut edited = bytes.clone();
    edited.push(b'\n');
    group.bench_function("check of one changed file", |bench| {
        bench.iter(|| {
            survey.replace(&one, Some(black_box(edited.clone())));
            survey.report_about(&one)
        });
    });
    group.finish();
}

fn all(criterion: &mut Criterion) {
    parts(criterion, "typescript", Shape::Typescript, ".ts");
    parts(criterion, "python", Shape::Python, ".py");
}

criterion_group!(benches, all);
criterion_main!(benches);
