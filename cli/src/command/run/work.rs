//! What one attempt of `owed run` works on, how far it may go, and what came of it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use owed_engine::change::{Change, ChangeKind};
use owed_engine::project::{Delta, Project};
use owed_engine::receipt::Entry;
use owed_engine::selection::{Placed, PlacedChange, Selection};
use owed_gates::lease::lanes::{BACKGROUND_TIME, Lanes};
use owed_gates::queue::{Asks, Changes, Kind, Look, Shared, Sight};
use owed_gates::runs::environment::Environment;
use owed_gates::runs::execute::Executed;
use owed_gates::supervise::{self, GIB, Stop, StopReason};

use super::shared;
use crate::answer::run::{Denied, RunAnswer, TestResult};
use crate::args::{Against, Run};
use crate::host;
use crate::session::{Compared, Session};

/// What an attempt works on.
pub(super) struct Work<'a> {
    /// The question of this call; `None` for requests of others only.
    pub(super) own: Option<&'a Run>,
    /// What pending requests ask for besides.
    pub(super) also: Asks,
    /// A result that may be taken, when everything is as it was.
    pub(super) shared: Option<&'a Shared>,
}

/// An attempt.
pub(super) struct Attempt {
    pub(super) answer: RunAnswer,
    pub(super) executed: Vec<Executed>,
    pub(super) sentence: String,
    /// What this call itself asks for.
    pub(super) asks: Asks,
    /// The files, from before they were read.
    pub(super) sources: Sources,
    /// Untracked files that nothing is known to read.
    pub(super) idle: BTreeSet<String>,
    /// What it rested on, if that was the same before and after.
    pub(super) sight: Option<Sight>,
}

/// What is about to be run.
pub(super) struct Planned<'a> {
    /// What this call itself asks for.
    pub(super) asks: &'a Asks,
    /// How many test files are neither reused nor answered otherwise.
    pub(super) open: usize,
    /// Whether every test of the project is owed.
    pub(super) is_whole: bool,
}

/// Whether it is run.
pub(super) enum Go {
    /// Within these limits.
    Run(Limits),
    /// Not now.
    Defer(Denied),
}

impl<'a> Work<'a> {
    pub(super) fn against(&self) -> Against {
        Against { base: self.own.and_then(|args| args.base.clone()), ..Against::default() }
    }

    pub(super) fn paths(&self) -> &'a [PathBuf] {
        self.own.map_or(&[], |args| &args.paths)
    }

    /// Whether nothing is to be compared: every test is wanted, or only requests of others are
    /// worked on, which say themselves what changed.
    pub(super) fn compares_nothing(&self) -> bool {
        self.own.is_none_or(|args| args.all)
    }

    /// Whether every test is selected.
    pub(super) fn selects_all(&self) -> bool {
        self.also.full || self.own.is_some_and(|args| args.all)
    }

    /// Looks at every file, and at what is asked about besides.
    pub(super) fn look(&self, session: &Session) -> Sources {
        let root = &session.site.root;
        let files: Vec<&str> = session.files().iter().map(String::as_str).collect();
        let inventory: BTreeSet<&str> = files.iter().copied().collect();
        let given = self.paths().iter().filter_map(|path| session.site.inside(path).ok());
        let others: BTreeSet<String> = given
            .chain(self.also.changes.keys().cloned())
            .filter(|path| !inventory.contains(path.as_str()))
            // A folder is the files in it.
            .filter(|path| !host::is_dir(&root.join(path)))
            .collect();
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        Sources { files: Look::at(root, &files), others: Look::at(root, &others) }
    }

    /// What this call asks for, as its own changes say.
    pub(super) fn asks(&self, delta: &Delta) -> Asks {
        let mut asks = Asks {
            full: self.own.is_some_and(|args| args.all),
            coverage: self.own.is_some_and(|args| args.coverage),
            ..Asks::default()
        };
        for change in &delta.changes {
            for (path, kind) in kinds(change) {
                asks.changes.entry(path.to_owned()).and_modify(|own| *own = own.and(kind)).or_insert(kind);
            }
        }
        asks
    }

    /// Adds the changes that pending requests are about. A path that is not as the request
    /// says any more counts as one that came and went.
    pub(super) fn unite(&self, compared: &mut Compared, project: &Project<'_>) {
        let delta = &mut compared.delta;
        let mut known = Changes::new();
        for (path, kind) in delta.changes.iter().flat_map(kinds) {
            known.entry(path.to_owned()).and_modify(|own| *own = own.and(kind)).or_insert(kind);
        }
        for (path, &asked) in &self.also.changes {
            let is_there = project.tree.kind(path).is_some();
            let kind = match (asked, is_there) {
                (Kind::Added | Kind::Modified, true) | (Kind::Deleted, false) => asked,
                _ => Kind::Any,
            };
            let kind = known.get(path).map_or(kind, |own| own.and(kind));
            if known.get(path) == Some(&kind) {
                continue;
            }
            delta.changes.retain(|change| change.path != *path);
            delta.changes.push(Change { path: path.clone(), kind: change_of(kind) });
        }
        delta.changes.sort();
        if self.own.is_none() {
            compared.sentence = "requests of earlier runs".to_owned();
        } else if !self.also.changes.is_empty() || self.also.full {
            compared.sentence.push_str(", and requests of earlier runs");
        }
    }

    /// Takes results of a run that rested on the very same things.
    pub(super) fn borrow<'r>(&self, now: Option<&Sight>, results: impl Iterator<Item = &'r mut TestResult>) {
        let (Some(shared), Some(now)) = (self.shared, now) else { return };
        if shared.sight.first_difference(now).is_some() {
            return;
        }
        let known = shared::read(&shared.answer);
        for result in results.filter(|result| result.outcome == "not-run") {
            shared::take(&known, result, shared.by.pid);
        }
    }
}

/// Files that are new to git, in no closure, no listing and nowhere in the place of another:
/// that they are written meanwhile means nothing to the tests that ran.
pub(super) fn idle(selection: &Selection) -> BTreeSet<String> {
    let is_idle = |placed: &&PlacedChange| {
        placed.owes == 0
            && placed.change.kind == ChangeKind::Untracked
            && matches!(placed.placed, Placed::Data | Placed::Inert)
    };
    selection.changes.iter().filter(is_idle).map(|placed| placed.change.path.clone()).collect()
}

fn kinds(change: &Change) -> Vec<(&str, Kind)> {
    match &change.kind {
        ChangeKind::Added | ChangeKind::Untracked => vec![(&change.path, Kind::Added)],
        ChangeKind::Modified => vec![(&change.path, Kind::Modified)],
        ChangeKind::Deleted => vec![(&change.path, Kind::Deleted)],
        ChangeKind::TypeChanged => vec![(&change.path, Kind::Any)],
        ChangeKind::Renamed { from } => vec![(&change.path, Kind::Added), (from, Kind::Deleted)],
    }
}

fn change_of(kind: Kind) -> ChangeKind {
    match kind {
        Kind::Added => ChangeKind::Added,
        Kind::Modified => ChangeKind::Modified,
        Kind::Deleted => ChangeKind::Deleted,
        Kind::Any => ChangeKind::TypeChanged,
    }
}

/// Files at one moment.
pub(super) struct Sources {
    files: Look,
    others: Look,
}

impl Sources {
    /// All of them.
    pub(super) fn all(&self) -> Look {
        self.files.clone().and(&self.others)
    }

    /// What a result rests on.
    pub(super) fn sight(&self, environment: &Environment, common: &[Entry]) -> Option<Sight> {
        let standing: Vec<String> = common
            .iter()
            .map(|entry| format!("{} {} {}", entry.dimension.word(), entry.name, entry.seen))
            .collect();
        Sight::of(&self.files, &self.others, environment, &standing)
    }
}

/// How far a run may go.
pub(super) struct Limits {
    pub(super) timeout: Duration,
    pub(super) memory: u64,
    pub(super) reserve: u64,
    pub(super) stop: Stop,
    workers: Option<usize>,
    until: Option<Instant>,
    is_background: bool,
    watch: Watch,
}

impl Limits {
    /// Of a run with these arguments; `None` when this program alone holds more memory than
    /// the run may.
    pub(super) fn of(args: &Run, stop: &Stop, lanes: &Lanes) -> Option<Self> {
        let memory = (args.memory << 20).checked_sub(supervise::own_memory()?).filter(|left| *left > 0)?;
        let until = args.background.then(|| host::now() + BACKGROUND_TIME);
        Some(Self {
            timeout: args.timeout.unwrap_or(Duration::from_secs(1_800)),
            memory,
            reserve: args.reserve << 20,
            stop: stop.clone(),
            workers: args.workers.map(std::num::NonZeroUsize::get),
            until,
            is_background: args.background,
            watch: Watch::start(args.background.then(|| lanes.clone()), stop.clone()),
        })
    }

    /// The same for one batch of a recovery: as long as its process may take, and no more
    /// workers than that.
    pub(super) fn within(mut self, process: Duration, workers: usize) -> Self {
        self.timeout = process;
        let most = |asked: usize| asked.min(workers);
        self.workers = Some(self.workers().map_or(workers, most));
        self
    }

    /// How many workers a runner may use: what was asked for, else as many as the processors
    /// that are idle and the memory that is free now; its own choice when nothing is scarce.
    pub(super) fn workers(&self) -> Option<usize> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let fit = || supervise::workers_now(GIB, self.reserve);
        self.workers.or_else(|| Some(fit()).filter(|fit| *fit < processors))
    }

    /// How long the next command may take.
    pub(super) fn time_left(&self) -> Duration {
        let left = self.until.map(|until| until.saturating_duration_since(host::now()));
        left.unwrap_or(self.timeout).min(self.timeout)
    }

    /// Says by whom a run was ended that was ended.
    pub(super) fn explain(&self, no_verdict: &mut Vec<Denied>) {
        if self.watch.was_wanted() {
            let detail = "it made room for foreground work, and is done later";
            no_verdict.push(Denied::new("deferred", detail));
        } else if self.is_background && self.time_left().is_zero() {
            let detail = "background work has ten minutes, and they are over; the rest is done later";
            no_verdict.push(Denied::new("deferred", detail));
        }
    }
}

/// Ends background work when foreground work wants its place.
struct Watch {
    over: Arc<AtomicBool>,
    wanted: Arc<AtomicBool>,
}

/// How often it is asked whether foreground work is going on.
const EACH: Duration = Duration::from_millis(50);

impl Watch {
    fn start(lanes: Option<Lanes>, stop: Stop) -> Self {
        let watch = Self { over: Arc::default(), wanted: Arc::default() };
        if let Some(lanes) = lanes {
            let (over, wanted) = (Arc::clone(&watch.over), Arc::clone(&watch.wanted));
            std::thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    if lanes.is_wanted() {
                        wanted.store(true, Ordering::Relaxed);
                        stop.stop(StopReason::Run);
                        return;
                    }
                    std::thread::sleep(EACH);
                }
            });
        }
        watch
    }

    fn was_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}
