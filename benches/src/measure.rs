//! Measures one process: wall time, CPU time and peak memory.
//!
//! The operating system tells the peak of *all* children that a process has waited for,
//! so each measurement runs in a process of its own: this program, started again with
//! `measure -- COMMAND`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};

/// What one run of a command took.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// Wall time, in milliseconds.
    pub wall_ms: f64,
    /// User and system time of the process and its children, in milliseconds.
    pub cpu_ms: f64,
    /// Largest resident set of any one process, in MiB.
    pub peak_mib: f64,
    /// Exit code, -1 after a signal.
    pub exit: i32,
}

/// Runs `command` in `dir` in a measuring process of its own.
///
/// # Errors
/// When it cannot be started or says nothing.
pub fn sample(dir: &Path, command: &[String]) -> Result<Sample> {
    let me = std::env::current_exe().context("this program's own path")?;
    let output = Command::new(me)
        .arg("measure")
        .arg("--")
        .args(command)
        .current_dir(dir)
        .stderr(Stdio::null())
        .output()
        .with_context(|| format!("starting {}", command.join(" ")))?;
    if !output.status.success() {
        bail!("measuring `{}` failed", command.join(" "));
    }
    serde_json::from_slice(&output.stdout).context("the measuring process prints a sample")
}

/// The measuring process: runs `command` with its output thrown away, prints a [`Sample`].
///
/// # Errors
/// When the command cannot be started.
pub fn measure(command: &[String]) -> Result<()> {
    let (program, arguments) = command.split_first().context("nothing to measure")?;
    let start = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| format!("starting {program}"))?;
    let wall = start.elapsed();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("resource usage of children")?;
    let cpu = |t: nix::sys::time::TimeVal| {
        Duration::from_micros(u64::try_from(t.tv_sec() * 1_000_000 + t.tv_usec()).unwrap_or_default())
    };
    #[expect(clippy::cast_precision_loss, reason = "peaks are far below 2^52 KiB")]
    let peak_mib = usage.max_rss() as f64 / 1024.0;
    let sample = Sample {
        wall_ms: wall.as_secs_f64() * 1e3,
        cpu_ms: (cpu(usage.user_time()) + cpu(usage.system_time())).as_secs_f64() * 1e3,
        peak_mib,
        exit: status.code().unwrap_or(-1),
    };
    println!("{}", serde_json::to_string(&sample)?);
    Ok(())
}

/// The median of some numbers; the mean of the middle two when there is an even number.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 0 => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}
