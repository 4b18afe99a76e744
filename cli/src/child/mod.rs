//! Loads executable configuration in a bounded child process.
//!
//! A configuration is a program of the project's: it may loop, print without end, eat
//! memory, or start helpers that outlive it (esbuild does). The child gets a process
//! group of its own, a deadline, and limits for output and memory; at its end, however
//! it ends, the whole group is killed. There is no shell, no standard input, and no
//! file of the project is written (what a configuration itself does is its own affair).
//!
//! The program is written to a temporary directory and run from the asked directory.
//! It finds the project's modules through `createRequire` of its working directory,
//! not through `import`, which would look beside the temporary file.
//!
//! Why rustix: it is in the build already (tempfile and the JavaScript resolver use
//! it), and signals to a group, limits of another process and waiting without reaping
//! come without `unsafe`. Limits for address space do not suit node, which reserves
//! far more than it uses; its heap is limited by its own option instead.
#![expect(clippy::disallowed_methods, reason = "this module starts processes and measures their time")]

mod group;
mod interpreter;
mod reader;
mod words;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use owed_engine::path;
use owed_engine::runner::ConfigLoader;
use owed_gates::supervise::ADAPTER_HEAP;

use group::Group;
use interpreter::{find, node_options};
use reader::{Captured, Reader};
use words::{first_line, strip};

/// Bounds of one child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// How long it may take.
    pub(crate) deadline: Duration,
    /// How many bytes it may print on standard output.
    pub(crate) output: usize,
    /// How large the heap of node may grow, in MiB.
    pub(crate) heap: u32,
    /// How much address space another interpreter may use, in MiB.
    pub(crate) address_space: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { deadline: Duration::from_secs(20), output: 4 << 20, heap: ADAPTER_HEAP, address_space: 4096 }
    }
}

/// Loads configuration of the project at a root.
#[derive(Clone, Debug)]
pub(crate) struct BoundedChild {
    root: PathBuf,
    limits: Limits,
}

impl BoundedChild {
    /// For the project at `root` (absolute).
    pub(crate) fn new(root: &Path, limits: Limits) -> Self {
        Self { root: root.to_owned(), limits }
    }
}

impl ConfigLoader for BoundedChild {
    fn load(
        &self,
        interpreter: &str,
        program: &str,
        cwd: &str,
        arguments: &[&str],
    ) -> Result<String, String> {
        let cwd = path::join("", cwd).ok_or("the working directory lies outside of the project")?;
        let found = find(interpreter, &self.root, &cwd)
            .ok_or_else(|| format!("`{interpreter}` was not found; install it or put it on PATH"))?;
        let place = tempfile::Builder::new().prefix("owed-").tempdir();
        let place = place.map_err(|e| format!("no temporary directory could be made: {e}"))?;
        let script = place.path().join(if interpreter == "node" { "program.mjs" } else { "program.py" });
        std::fs::write(&script, program).map_err(|e| format!("the program could not be written: {e}"))?;

        let mut command = Command::new(found);
        // One worker, should the configuration start any: it is beside the project's own work.
        command.current_dir(self.root.join(cwd)).env("VITEST_MAX_WORKERS", "1");
        if interpreter == "node" {
            let heap = format!("--max-old-space-size={}", self.limits.heap);
            // As an option for the child itself, and in the environment for its workers.
            command.env("NODE_OPTIONS", node_options(std::env::var_os("NODE_OPTIONS"), &heap)).arg(heap);
        } else {
            command.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONIOENCODING", "utf-8");
        }
        command.arg(&script).args(arguments);
        let end = run(command, interpreter, &self.limits)
            .map_err(|error| format!("`{interpreter}` could not be run: {error}"))?;
        let said = |text: &str| first_line(&strip(text, &[(place.path(), ""), (&self.root, ".")]));
        self.judge(interpreter, end, said)
    }
}

/// How a child ended.
struct End {
    status: Option<ExitStatus>,
    stdout: Captured,
    stderr: Captured,
}

impl BoundedChild {
    fn judge(&self, name: &str, end: End, said: impl Fn(&str) -> String) -> Result<String, String> {
        if end.stdout.is_over {
            return Err(format!("`{name}` printed more than {} and was ended", size(self.limits.output)));
        }
        let stderr = String::from_utf8_lossy(&end.stderr.bytes);
        let Some(status) = end.status else {
            return Err(format!("`{name}` took longer than {:?} and was ended", self.limits.deadline));
        };
        if status.success() {
            return String::from_utf8(end.stdout.bytes)
                .map_err(|_| format!("`{name}` printed something that is no UTF-8"));
        }
        if stderr.contains("JavaScript heap out of memory") {
            return Err(format!("`{name}` needed more than {} MiB of memory", self.limits.heap));
        }
        let how = match status.code() {
            Some(code) => format!("exited with code {code}"),
            None => "was ended by a signal".to_owned(),
        };
        match said(&stderr) {
            line if line.is_empty() => Err(format!("`{name}` {how}")),
            line => Err(format!("`{name}` {how}: {line}")),
        }
    }
}

/// As much of standard error as is kept: enough for a stack trace. More is read and
/// dropped, for a child must not be blocked by its warnings.
const ERROR_OUTPUT: usize = 64 << 10;

fn run(mut command: Command, interpreter: &str, limits: &Limits) -> std::io::Result<End> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let deadline = Instant::now() + limits.deadline;
    let mut group = Group::spawn(command)?;
    if interpreter != "node" {
        group.limit_address_space(limits.address_space << 20);
    }
    // Should this process be killed, the child goes on without a deadline, but not for ever.
    group.limit_processor_time(limits.deadline.as_secs().max(1) * 8);
    let stdout = Reader::start(group.child.stdout.take(), limits.output, true);
    let stderr = Reader::start(group.child.stderr.take(), ERROR_OUTPUT, false);

    let mut pause = Duration::from_millis(1);
    let has_ended = loop {
        if group.has_ended()? {
            break true;
        }
        if stdout.is_over() || Instant::now() >= deadline {
            break false;
        }
        std::thread::sleep(pause.min(deadline.saturating_duration_since(Instant::now())));
        pause = (pause * 2).min(Duration::from_millis(10));
    };
    let status = group.end()?;
    Ok(End { status: has_ended.then_some(status), stdout: stdout.finish(), stderr: stderr.finish() })
}

fn size(bytes: usize) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{bytes} bytes") }
}
