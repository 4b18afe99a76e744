//! Digests of files that were read before, by what the file system says of them now.
//!
//! The bytes of a file are its truth. Reading them again is spared where device, inode, size
//! and both times are what they were when they were read, and were then older than a tick of
//! the file system's clock, so that no later write can look the same (git's rule, "racy git").
//! `ctime` cannot be set by whoever sets `mtime` back.
//!
//! Who certifies reads: a receipt is written only after everything was looked at again with
//! [`Digests::none`], which knows nothing. Here only the question "is it paid for?" is answered
//! sooner. What is kept, `.owed/cache/digests`, may be deleted at any time; damaged, it is as
//! if it were not there.
#![expect(clippy::disallowed_methods, reason = "this module reads the files whose digests it gives")]

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use owed_engine::cache::{Stat, Time};

use crate::home;

/// The first bytes of what is kept.
const FORM: &[u8] = b"owed.digests/1\n";

/// Its name in the cache.
const NAME: &str = "digests";

/// More files than this are not kept.
const MOST: usize = 200_000;

/// What is known of the bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// Their BLAKE3.
    pub(super) digest: [u8; 32],
    /// Whether they are a module of Python that knows its own place.
    pub(super) knows_place: bool,
}

impl Known {
    fn of(path: &Path, bytes: &[u8]) -> Self {
        const OWN: &[&str] = &["__cached__", "__file__", "__path__", "__spec__", "co_filename"];
        let is_python = path.extension().is_some_and(|extension| extension == "py");
        let names = |name: &&str| memchr::memmem::find(bytes, name.as_bytes()).is_some();
        Self { digest: *blake3::hash(bytes).as_bytes(), knows_place: is_python && OWN.iter().any(names) }
    }

    /// The digest in hexadecimal.
    pub(super) fn hex(&self) -> String {
        blake3::Hash::from_bytes(self.digest).to_hex().to_string()
    }
}

/// A file as it is kept: where its path lies in the text, and what was known.
type Row = (std::ops::Range<usize>, Stat, Known);

/// Digests in use by one call.
#[derive(Debug, Default)]
pub struct Digests {
    /// What was kept, and its rows, sorted by path.
    text: Vec<u8>,
    rows: Vec<Row>,
    /// When this call began, by the clock of the disk.
    start: Option<Time>,
    learnt: Mutex<BTreeMap<Vec<u8>, (Stat, Known)>>,
}

impl Digests {
    /// Without any memory of earlier calls: every file is read.
    pub fn none() -> Self {
        Self::default()
    }

    /// What is kept for the project at `root`, for a call that began at `start`.
    pub fn of(root: &Path, start: Time) -> Self {
        let text = fs::read(root.join(".owed/cache").join(NAME)).unwrap_or_default();
        let rows = parse(&text).unwrap_or_default();
        Self { text, rows, start: Some(start), learnt: Mutex::default() }
    }

    /// The bytes of the file at `path`.
    pub(super) fn file(&self, path: &Path) -> io::Result<Known> {
        self.seen(path, &fs::metadata(path)?)
    }

    /// The same, when what the file system says of it has just been asked.
    pub(super) fn seen(&self, path: &Path, metadata: &Metadata) -> io::Result<Known> {
        let key = path.as_os_str().as_bytes();
        let now = stat(metadata);
        // Within one call every file is read once.
        let learnt = || self.learnt.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = learnt().get(key).filter(|(stat, _)| *stat == now) {
            return Ok(*known);
        }
        if let Ok(at) = self.rows.binary_search_by(|(range, ..)| self.text[range.clone()].cmp(key))
            && self.rows[at].1 == now
        {
            return Ok(self.rows[at].2);
        }
        let mut file = File::open(path)?;
        let before = stat(&file.metadata()?);
        let known = read(path, &mut file, before.size)?;
        let after = stat(&file.metadata()?);
        // Times of the very file that was read, and not of one that was put in its place.
        if before == after && before == now {
            learnt().insert(key.to_owned(), (before, known));
        }
        Ok(known)
    }

    /// Keeps what was learnt.
    ///
    /// # Errors
    /// When it cannot be written; then the next call reads again.
    pub fn keep(&self, root: &Path) -> io::Result<()> {
        let mut learnt = self.learnt.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(start) = self.start else { return Ok(()) };
        learnt.retain(|_, (stat, _)| stat.is_settled(start));
        if learnt.is_empty() {
            return Ok(());
        }
        let mut all: BTreeMap<&[u8], (Stat, Known)> = BTreeMap::new();
        if self.rows.len() + learnt.len() <= MOST {
            all.extend(self.rows.iter().map(|(range, stat, known)| {
                let path: &[u8] = &self.text[range.clone()];
                (path, (*stat, *known))
            }));
        }
        all.extend(learnt.iter().map(|(path, known)| (path.as_slice(), *known)));
        let mut payload = Vec::new();
        for (path, (stat, known)) in all {
            put(&mut payload, path, &stat, &known);
        }
        let dir = home::own(root, "cache")?;
        let new = dir.join(format!(".{NAME}-{}", std::process::id()));
        let mut file = File::create(&new)?;
        file.write_all(FORM)?;
        file.write_all(blake3::hash(&payload).as_bytes())?;
        file.write_all(&payload)?;
        fs::rename(new, dir.join(NAME))
    }
}

fn stat(metadata: &Metadata) -> Stat {
    let time = |seconds, nanoseconds: i64| Time {
        seconds,
        nanoseconds: u32::try_from(nanoseconds).unwrap_or_default(),
    };
    Stat {
        device: metadata.dev(),
        inode: metadata.ino(),
        size: metadata.size(),
        modified: time(metadata.mtime(), metadata.mtime_nsec()),
        changed: time(metadata.ctime(), metadata.ctime_nsec()),
    }
}

/// Reads a file; a large one in pieces.
fn read(path: &Path, file: &mut File, size: u64) -> io::Result<Known> {
    const LARGE: u64 = 4 << 20;
    if size <= LARGE {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        return Ok(Known::of(path, &bytes));
    }
    if path.extension().is_some_and(|extension| extension == "py") {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        return Ok(Known::of(path, &bytes));
    }
    let mut hasher = blake3::Hasher::new();
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece)? {
            0 => break,
            n => drop(hasher.update(&piece[..n])),
        }
    }
    Ok(Known { digest: *hasher.finalize().as_bytes(), knows_place: false })
}

fn put(into: &mut Vec<u8>, path: &[u8], stat: &Stat, known: &Known) {
    into.extend((path.len() as u64).to_le_bytes());
    into.extend(path);
    [stat.device, stat.inode, stat.size].iter().for_each(|number| into.extend(number.to_le_bytes()));
    for time in [stat.modified, stat.changed] {
        into.extend(time.seconds.to_le_bytes());
        into.extend(time.nanoseconds.to_le_bytes());
    }
    into.extend(known.digest);
    into.push(u8::from(known.knows_place));
}

/// The rows of a whole text; `None` when it is none.
fn parse(text: &[u8]) -> Option<Vec<Row>> {
    let (digest, payload) = text.strip_prefix(FORM)?.split_at_checked(32)?;
    if blake3::hash(payload).as_bytes() != digest {
        return None;
    }
    let mut rows = Vec::new();
    let mut rest = payload;
    while !rest.is_empty() {
        let length = usize::try_from(u64::from_le_bytes(take(&mut rest)?)).ok()?;
        let start = text.len() - rest.len();
        rest = rest.split_at_checked(length)?.1;
        let mut number = || Some(u64::from_le_bytes(take(&mut rest)?));
        let (device, inode, size) = (number()?, number()?, number()?);
        let mut time = || {
            let seconds = i64::from_le_bytes(take(&mut rest)?);
            Some(Time { seconds, nanoseconds: u32::from_le_bytes(take(&mut rest)?) })
        };
        let (modified, changed) = (time()?, time()?);
        let digest: [u8; 32] = take(&mut rest)?;
        let [place]: [u8; 1] = take(&mut rest)?;
        let known = Known { digest, knows_place: place != 0 };
        rows.push((start..start + length, Stat { device, inode, size, modified, changed }, known));
    }
    rows.is_sorted_by(|a, b| text[a.0.clone()] < text[b.0.clone()]).then_some(rows)
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A time at which everything in `dir` that was written before is settled.
    fn later() -> Time {
        Time { seconds: i64::MAX / 2, nanoseconds: 1 }
    }

    fn hex(digests: &Digests, path: &Path) -> String {
        digests.file(path).unwrap().hex()
    }

    #[test]
    fn a_file_is_read_again_when_the_file_system_says_anything_else_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        fs::write(&a, "one").unwrap();
        fs::write(&b, "two").unwrap();
        let first = Digests::of(dir.path(), later());
        let (one, two) = (hex(&first, &a), hex(&first, &b));
        assert_eq!(one, blake3::hash(b"one").to_hex().to_string());
        first.keep(dir.path()).unwrap();
        let second = Digests::of(dir.path(), later());
        assert_eq!(second.rows.len(), 2);
        assert_eq!((hex(&second, &a), hex(&second, &b)), (one.clone(), two.clone()));
        assert!(second.learnt.lock().unwrap().is_empty(), "nothing was read");
        // Same size, and the time of writing set back.
        let then = fs::metadata(&a).unwrap().modified().unwrap();
        fs::write(&a, "six").unwrap();
        File::options().write(true).open(&a).unwrap().set_modified(then).unwrap();
        let third = Digests::of(dir.path(), later());
        assert_eq!(hex(&third, &a), blake3::hash(b"six").to_hex().to_string());
        // Another file in its place, older than everything.
        fs::rename(&b, &a).unwrap();
        assert_eq!(hex(&third, &a), two);
    }

    #[test]
    fn what_was_written_just_now_is_not_kept_and_damage_is_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let a = dir.path().join("a.py");
        fs::write(&a, "print(__file__)").unwrap();
        let early = Digests::of(dir.path(), Time { seconds: 1, nanoseconds: 1 });
        assert!(early.file(&a).unwrap().knows_place);
        early.keep(dir.path()).unwrap();
        assert!(Digests::of(dir.path(), later()).rows.is_empty());
        let late = Digests::of(dir.path(), later());
        hex(&late, &a);
        late.keep(dir.path()).unwrap();
        let again = Digests::of(dir.path(), later());
        assert!(again.file(&a).unwrap().knows_place && again.learnt.lock().unwrap().is_empty());
        let at = dir.path().join(".owed/cache/digests");
        let whole = fs::read(&at).unwrap();
        for cut in [0, 20, whole.len() - 1] {
            fs::write(&at, &whole[..cut]).unwrap();
            assert!(Digests::of(dir.path(), later()).rows.is_empty(), "{cut}");
        }
        let mut edited = whole.clone();
        *edited.last_mut().unwrap() ^= 1;
        fs::write(&at, edited).unwrap();
        assert!(Digests::of(dir.path(), later()).rows.is_empty());
    }
}
