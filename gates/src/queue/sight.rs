//! What a run rested on, as another process can see it again: sources, requested inputs,
//! environment, platform.
//!
//! Two looks at the same working tree are compared by what the file system says of every
//! file (device, inode, size, mode, times of change). A file that was written in between
//! shows, also when its bytes are the old ones again. A file system counts time in ticks: a
//! look waits until the newest file is older than one, so that a later write has another
//! time. Where that cannot be had (a file from the future) the look is *unsure*, and equals
//! nothing.
#![expect(clippy::disallowed_methods, reason = "this module looks at files and their times")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::request::Changes;
use crate::runs::environment::Environment;

/// How long a kernel may count two writes as one: the longest tick of Linux is 10 ms.
const TICK: Duration = Duration::from_millis(25);
/// The same where times have no fraction of a second (FAT counts two).
const COARSE_TICK: Duration = Duration::from_millis(2_100);

/// The state of one path; `None` when nothing is there. A link is itself and what it leads to.
type State = Option<[i128; 7]>;

/// The files of a project at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    states: BTreeMap<String, State>,
    is_sure: bool,
    idle: BTreeSet<String>,
}

impl Look {
    /// At these files of the project in `root`.
    pub fn at(root: &Path, paths: &[&str]) -> Self {
        let look = || paths.par_iter().map(|path| ((*path).to_owned(), state(&root.join(path)))).collect();
        let states: BTreeMap<String, State> = look();
        match rest(&states) {
            Some(Duration::ZERO) => Self { states, is_sure: true, idle: BTreeSet::new() },
            Some(pause) => {
                std::thread::sleep(pause);
                let again: BTreeMap<String, State> = look();
                // Whoever writes at this very moment leaves a look that is not sure.
                let is_sure = again == states;
                Self { states: again, is_sure, idle: BTreeSet::new() }
            }
            None => Self { states, is_sure: false, idle: BTreeSet::new() },
        }
    }

    /// The first of these changes whose file is not in the state in which it was at this
    /// look, as it is now in `root`; a path that was not looked at must not be there.
    pub fn first_written<'c>(&self, root: &Path, changes: &'c Changes) -> Option<&'c str> {
        let is_written = |path: &&String| {
            if self.idle.contains(path.as_str()) {
                return false;
            }
            let now = state(&root.join(path));
            match self.states.get(path.as_str()) {
                Some(then) => !self.is_sure || *then != now,
                None => now.is_some(),
            }
        };
        changes.keys().find(is_written).map(String::as_str)
    }

    /// The first file that is not in the state in which it was at this look, as it is now in
    /// `root`.
    pub fn first_difference(&self, root: &Path) -> Option<&str> {
        let differs = |(path, then): &(&String, &State)| {
            !self.idle.contains(*path) && (!self.is_sure || state(&root.join(path)) != **then)
        };
        self.states.iter().find(differs).map(|(path, _)| path.as_str())
    }

    /// The same, but for files that nothing is known to read: a log that is written while the
    /// tests run makes no verdict stale.
    #[must_use]
    pub fn apart_from(mut self, idle: BTreeSet<String>) -> Self {
        self.idle = idle;
        self
    }

    /// This look and another one of the same moment.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.states.extend(other.states.iter().map(|(path, state)| (path.clone(), *state)));
        self.is_sure &= other.is_sure;
        self
    }

    fn digest(&self) -> Option<String> {
        let mut hasher = blake3::Hasher::new();
        for (path, state) in &self.states {
            hasher.update(&(path.len() as u64).to_le_bytes());
            hasher.update(path.as_bytes());
            hasher.update(&[u8::from(state.is_some())]);
            for number in state.iter().flatten() {
                hasher.update(&number.to_le_bytes());
            }
        }
        self.is_sure.then(|| hasher.finalize().to_hex().to_string())
    }
}

fn state(path: &Path) -> State {
    let link = fs::symlink_metadata(path).ok()?;
    // A dangling link has no target; that is a state of its own.
    let target = if link.is_symlink() { fs::metadata(path).ok() } else { Some(link.clone()) };
    let time = |seconds: i64, nanoseconds: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
    let of = target.as_ref().unwrap_or(&link);
    Some([
        i128::from(of.dev()),
        i128::from(of.ino()),
        i128::from(of.size()),
        i128::from(of.mode()) << 32 | i128::from(link.mode()),
        time(of.mtime(), of.mtime_nsec()),
        time(of.ctime(), of.ctime_nsec()),
        time(link.ctime(), link.ctime_nsec()),
    ])
}

/// How long to wait until the newest of these files is older than a tick; `None` when it lies
/// in the future.
fn rest(states: &BTreeMap<String, State>) -> Option<Duration> {
    let newest = states.values().flatten().map(|state| state[5].max(state[6])).max().unwrap_or(0);
    let is_coarse = newest % 1_000_000_000 == 0;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let age = i128::try_from(now.as_nanos()).ok()? - newest;
    let tick = if is_coarse { COARSE_TICK } else { TICK };
    let left = i128::try_from(tick.as_nanos()).ok()? - age;
    if left <= 0 {
        return Some(Duration::ZERO);
    }
    // Beyond one tick of ours the two clocks do not agree.
    u64::try_from(left).ok().map(Duration::from_nanos).filter(|left| *left <= tick + TICK)
}

/// What has to be equal for somebody else's result to be one's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sight {
    /// The state of every file of the project.
    source: String,
    /// The state of each input that was asked about and is no file of the project.
    inputs: BTreeMap<String, String>,
    /// The environment that children see, exactly.
    environment: String,
    /// The system, this program, its readers, the settings and the terms.
    platform: String,
}

impl Sight {
    /// Of a look at all files and one at the other inputs; `None` when a look is unsure.
    pub fn of(files: &Look, inputs: &Look, environment: &Environment, platform: &[String]) -> Option<Self> {
        let hash = |parts: &mut dyn Iterator<Item = &str>| {
            let mut hasher = blake3::Hasher::new();
            for part in parts {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
            hasher.finalize().to_hex().to_string()
        };
        let system = [std::env::consts::OS, std::env::consts::ARCH];
        let is_there =
            |(path, state): (&String, &State)| state.map(|state| (path.clone(), format!("{state:x?}")));
        Some(Self {
            source: files.digest()?,
            inputs: inputs.digest().map(|_| inputs.states.iter().filter_map(is_there).collect())?,
            environment: hash(&mut environment.pairs().flat_map(|(name, value)| [name, value])),
            platform: hash(&mut system.into_iter().chain(platform.iter().map(String::as_str))),
        })
    }

    /// The first part in which what is seen `now` differs from what this result rested on,
    /// by its name; `None` when the result may be taken.
    pub fn first_difference(&self, now: &Self) -> Option<&'static str> {
        // What this one knows nothing of was not there, or was not looked at.
        let same_inputs = now.inputs.iter().all(|(path, state)| self.inputs.get(path) == Some(state));
        let gone = self.inputs.keys().any(|path| !now.inputs.contains_key(path));
        [
            ("source", self.source == now.source),
            ("inputs", same_inputs && !gone),
            ("environment", self.environment == now.environment),
            ("platform", self.platform == now.platform),
        ]
        .into_iter()
        .find(|(_, equal)| !equal)
        .map(|(name, _)| name)
    }
}
