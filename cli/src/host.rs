//! The machine, as far as the command line touches it: environment, working
//! directory, a few files, and programs. Everything else in this crate goes
//! through these functions; the project's own files are read through the engine's
//! trees, not here.
#![expect(clippy::disallowed_methods, reason = "this module is the command line's door to the machine")]

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

/// The process's working directory.
pub(crate) fn current_dir() -> io::Result<PathBuf> {
    std::env::current_dir()
}

/// An environment value that is set, not empty, and UTF-8.
pub(crate) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Every environment name and value that is UTF-8.
pub(crate) fn environment() -> Vec<(String, String)> {
    std::env::vars_os().filter_map(|(n, v)| Some((n.into_string().ok()?, v.into_string().ok()?))).collect()
}

/// Every environment name and value, whatever they are made of.
pub(crate) fn variables() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    std::env::vars_os().collect()
}

/// The command line.
pub(crate) fn words() -> Vec<std::ffi::OsString> {
    std::env::args_os().collect()
}

/// The second word of the command line.
pub(crate) fn second_word() -> Option<std::ffi::OsString> {
    std::env::args_os().nth(2)
}

/// A number that nobody else will have: the seed that the system gives to hash tables.
pub(crate) fn nonce() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}

/// The first word of the command line.
pub(crate) fn first_word() -> Option<std::ffi::OsString> {
    std::env::args_os().nth(1)
}

/// This program's own file.
pub(crate) fn current_exe() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// A stop watch, for `-v` and the spinner only: no answer depends on it.
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Where the user's state is kept (XDG Base Directory Specification); `None` when neither
/// `XDG_STATE_HOME` nor `HOME` is an absolute path.
pub(crate) fn state_dir() -> Option<PathBuf> {
    let absolute = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))
}

/// The folder for temporary files.
pub(crate) fn temp_dir() -> PathBuf {
    std::env::temp_dir()
}

/// `path` with all links followed.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// Whether anything is at `path`, a dangling link included.
pub(crate) fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Whether `path` is a directory, links followed.
pub(crate) fn is_dir(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_dir())
}

/// Whether `path` is a regular file, links followed.
pub(crate) fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file())
}

/// The text at `path`; `None` when nothing is there. A byte order mark is dropped.
pub(crate) fn read_text(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes a file that must not exist yet.
pub(crate) fn write_new(path: &Path, text: &str) -> io::Result<()> {
    fs::File::options().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}

/// Writes a file and the folders above it.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, text)
}

/// The bytes at `path`.
pub(crate) fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path)
}

/// The bytes at `path`, which is only ever replaced as a whole ([`replace`]). Small files are
/// read, large ones mapped.
pub(crate) fn map(path: &Path) -> io::Result<Arc<dyn AsRef<[u8]> + Send + Sync>> {
    /// What is smaller is read faster than it is mapped.
    const SMALL: u64 = 64 << 10;
    let mut file = fs::File::open(path)?;
    if file.metadata()?.len() < SMALL {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        return Ok(Arc::new(bytes));
    }
    #[expect(
        unsafe_code,
        reason = "mapping is unsafe where another program may cut the file; ours never does"
    )]
    // SAFETY: the file is replaced, never written in place, so its bytes stay as they are.
    let bytes = unsafe { memmap2::Mmap::map(&file)? };
    Ok(Arc::new(bytes))
}

/// Puts `bytes` at `path` at once: whoever reads sees the old file or the new one. It is not
/// made to survive a loss of power; readers check what they find.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let parent = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(parent)?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Writes the file at `path`, and gives the time at which its file system says it was
/// written: a clock that times of other files there can be compared with.
#[cfg(unix)]
pub(crate) fn tick(path: &Path) -> io::Result<owed_engine::cache::Time> {
    use std::os::unix::fs::MetadataExt as _;
    let mut file = fs::File::create(path)?;
    file.write_all(b"\n")?;
    let metadata = file.metadata()?;
    let nanoseconds = u32::try_from(metadata.mtime_nsec()).unwrap_or_default();
    Ok(owed_engine::cache::Time { seconds: metadata.mtime(), nanoseconds })
}

/// Elsewhere files are not known again by what the system says of them.
#[cfg(not(unix))]
pub(crate) fn tick(_: &Path) -> io::Result<owed_engine::cache::Time> {
    Ok(owed_engine::cache::Time::default())
}

/// Makes a folder and those above it.
pub(crate) fn create_dir_all(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Whether `dir` holds anything.
pub(crate) fn is_empty_dir(dir: &Path) -> bool {
    fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none())
}

/// Runs a program to its end with no input, and gives what it printed.
///
/// # Errors
/// The program cannot be started, or exits with another code than 0 (the message is
/// then the last line it wrote on standard error).
pub(crate) fn run<I: AsRef<OsStr>>(
    program: &str,
    arguments: impl IntoIterator<Item = I>,
    cwd: &Path,
) -> io::Result<String> {
    finish(program, Command::new(program).args(arguments).current_dir(cwd))
}

/// The same for git, apart from a repository that the caller's environment names (a
/// hook's, for example).
///
/// # Errors
/// As [`run`].
pub(crate) fn run_git_apart<I: AsRef<OsStr>>(
    arguments: impl IntoIterator<Item = I>,
    cwd: &Path,
) -> io::Result<String> {
    let mut command = Command::new("git");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"] {
        command.env_remove(name);
    }
    finish("git", command.args(arguments).current_dir(cwd))
}

fn finish(program: &str, command: &mut Command) -> io::Result<String> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let last = errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message");
    Err(io::Error::other(format!("{program} ended with {}: {}", output.status, last.trim())))
}
