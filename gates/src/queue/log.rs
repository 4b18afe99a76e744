//! The log of requests that left: one line each, append-only.

use serde::Serialize;

use super::request::Request;
use super::{Fault, Queue};
use crate::disk::{Disk, DiskFile, Mode};
use std::io;

/// Beyond this a new log is begun, and the one before is kept as `log.old`.
const MOST_BYTES: u64 = 4 << 20;

/// Why a request left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Event {
    /// A wider one took its place.
    Superseded,
    /// A run met it.
    Discharged,
    /// A person vouched for it.
    Acknowledged,
}

#[derive(Serialize)]
struct Line<'a> {
    at_ms: u64,
    event: Event,
    request: &'a str,
    by: Option<&'a str>,
    full: bool,
    coverage: bool,
    paths: Vec<&'a str>,
}

impl Queue {
    /// Adds a line; one about a retirement is durable when this returns.
    pub(super) fn log(&self, event: Event, request: &Request, by: Option<&str>) -> Result<(), Fault> {
        let line = Line {
            at_ms: self.host.now_ms(),
            event,
            request: &request.id,
            by,
            full: request.asks.full,
            coverage: request.asks.coverage,
            paths: request.asks.changes.keys().map(String::as_str).collect(),
        };
        let text = serde_json::to_string(&line).expect("a line is plain data");
        let path = self.dir.join("log");
        append(&*self.disk, &path, &text, event != Event::Discharged)
            .map_err(|error| Fault::Disk { path, error })
    }
}

fn append(disk: &dyn Disk, path: &std::path::Path, text: &str, is_durable: bool) -> io::Result<()> {
    let mut file = disk.open(path, Mode::Create)?;
    if file.size()? > MOST_BYTES {
        disk.rename(path, &path.with_extension("old"))?;
        file = disk.open(path, Mode::Create)?;
    }
    let size = file.size()?;
    // A line that was cut stays alone.
    let text = format!("{}{text}\n", if ends_a_line(&*file, size)? { "" } else { "\n" });
    let mut written = 0;
    while written < text.len() {
        match file.write_at(size + written as u64, &text.as_bytes()[written..])? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            more => written += more,
        }
    }
    if is_durable { file.sync() } else { Ok(()) }
}

fn ends_a_line(file: &dyn DiskFile, size: u64) -> io::Result<bool> {
    let Some(last) = size.checked_sub(1) else { return Ok(true) };
    let mut byte = [0_u8];
    Ok(file.read_at(last, &mut byte)? == 1 && byte == *b"\n")
}
