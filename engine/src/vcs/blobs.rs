//! Contents of blobs, through `git cat-file --batch`.
//!
//! Objects are asked for by id, never by `commit:path`: the protocol is made of lines,
//! and names may hold newlines. Contents are as stored, without filters.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::Mutex;

use super::error::VcsError;
use super::run::Git;

/// Reads blobs of one repository. One git process is kept open for single blobs.
#[derive(Debug)]
pub(crate) struct Blobs {
    git: Git,
    process: Mutex<Option<Process>>,
}

/// What is stored under an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Blob {
    Bytes(Vec<u8>),
    /// Over the limit; its bytes were passed over.
    TooLarge,
    /// Not in this repository, or no blob.
    Missing,
}

#[derive(Debug)]
struct Process {
    child: Child,
    /// `None` only while it is being ended.
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Blobs {
    pub(crate) fn of(git: Git) -> Self {
        Self { git, process: Mutex::new(None) }
    }

    /// One blob, by a round trip to the open process.
    pub(crate) fn read(&self, oid: &str, limit: u64) -> Result<Blob, VcsError> {
        // A poisoned lock means that a thread died in the middle of an answer: what is
        // left of it would be taken for ours, so the process is not used again.
        let mut process = match self.process.lock() {
            Ok(process) => process,
            Err(poisoned) => {
                let mut process = poisoned.into_inner();
                *process = None;
                self.process.clear_poison();
                process
            }
        };
        let mut open = match process.take() {
            Some(open) => open,
            None => Process::start(&self.git, &["--batch"])?,
        };
        let stdin = open.stdin.as_mut().expect("it is taken only when the process ends");
        let written = stdin.write_all(format!("{oid}\n").as_bytes()).and_then(|()| stdin.flush());
        let blob = written.map_err(|e| broken(&e)).and_then(|()| answer(&mut open.stdout, limit))?;
        // Put back only after a whole answer.
        *process = Some(open);
        Ok(blob)
    }

    /// Many blobs at once, in the order asked. Questions are written while answers are
    /// read, by a process of its own.
    pub(crate) fn read_all(&self, oids: &[&str], limit: u64) -> Result<Vec<Blob>, VcsError> {
        if oids.is_empty() {
            return Ok(Vec::new());
        }
        let mut process = Process::start(&self.git, &["--batch", "--buffer"])?;
        let mut stdin = process.stdin.take().expect("it was started with one");
        let questions = oids.join("\n") + "\n";
        std::thread::scope(|scope| {
            // When git dies, the reading side says so.
            scope.spawn(move || drop(stdin.write_all(questions.as_bytes())));
            oids.iter().map(|_| answer(&mut process.stdout, limit)).collect()
        })
    }
}

impl Process {
    fn start(git: &Git, arguments: &[&str]) -> Result<Self, VcsError> {
        let mut command = git.command("cat-file", arguments);
        command.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().map_err(|e| git.not_started(&e))?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("its standard output is piped");
        Ok(Self { child, stdin, stdout: BufReader::with_capacity(64 * 1024, stdout) })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Without input it ends; killed as well, for it may be waiting to write an
        // answer that nobody reads.
        drop(self.stdin.take());
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// `OID SP TYPE SP SIZE LF CONTENTS LF`, or `OID SP missing LF`.
fn answer(stdout: &mut BufReader<ChildStdout>, limit: u64) -> Result<Blob, VcsError> {
    let mut head = Vec::new();
    stdout.read_until(b'\n', &mut head).map_err(|e| broken(&e))?;
    let head = String::from_utf8_lossy(&head);
    let mut words = head.trim_end().split(' ').skip(1);
    let (kind, size) = (words.next(), words.next());
    if kind == Some("missing") {
        return Ok(Blob::Missing);
    }
    let size: u64 = size.and_then(|s| s.parse().ok()).ok_or_else(|| VcsError::Unexpected {
        command: "cat-file --batch".to_owned(),
        detail: if head.is_empty() { "it ended early".to_owned() } else { head.trim_end().to_owned() },
    })?;
    let whole = if kind == Some("blob") && size <= limit {
        let mut bytes = vec![0; usize::try_from(size).map_err(|_| too_large(size))?];
        stdout.read_exact(&mut bytes).map_err(|e| broken(&e))?;
        Blob::Bytes(bytes)
    } else {
        let passed = std::io::copy(&mut stdout.by_ref().take(size), &mut std::io::sink());
        if passed.map_err(|e| broken(&e))? != size {
            return Err(broken(&std::io::ErrorKind::UnexpectedEof.into()));
        }
        if kind == Some("blob") { Blob::TooLarge } else { Blob::Missing }
    };
    stdout.read_exact(&mut [0]).map_err(|e| broken(&e))?;
    Ok(whole)
}

fn broken(error: &std::io::Error) -> VcsError {
    VcsError::Io { action: "talking to `git cat-file`".to_owned(), detail: error.to_string() }
}

fn too_large(size: u64) -> VcsError {
    VcsError::Unexpected { command: "cat-file --batch".to_owned(), detail: format!("a blob of {size} bytes") }
}
