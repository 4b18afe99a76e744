//! The audit's own record: `.owed/audit/log`, one sealed JSON object a line, each with the
//! seal of the line before, and `.owed/audit/head`, which says how many lines there are and
//! how the last one is sealed.
//!
//! A row that is removed, edited, or put in between breaks the chain, and one that is cut off
//! the end is missed by the head: both are *held*, with the reason, and nothing is counted.
//! A line that was being written when the machine stopped was told to nobody, and is cut off
//! by the next writer. Whoever rewrites both files in agreement is not found out: the log is
//! local and unsigned, like receipts.
#![expect(clippy::disallowed_methods, reason = "this module is the door to the audit log")]

use std::fmt;
use std::fs;
use std::io::{self, Seek as _, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::compare::Row;
use super::trip::Trip;
use crate::home;
use crate::runs::look::is_absent;

const SCHEMA: &str = "owed.audit-log/1";

/// More than this is no log of ours.
const MOST_BYTES: u64 = 256 << 20;

/// Something that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Event {
    /// A plan was held against a full run.
    Compared(Row),
    /// A receipt was contradicted.
    Tripped(Trip),
    /// Somebody has looked at trips.
    Acknowledged {
        /// Numbers of the entries; empty when only the mark beside the receipts was left.
        trips: Vec<u64>,
        /// What they say.
        reason: String,
    },
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    schema: String,
    number: u64,
    previous: String,
    event: Event,
    seal: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    count: u64,
    seal: String,
}

impl Line {
    fn new(number: u64, previous: &str, event: Event) -> Self {
        let mut line = Self {
            schema: SCHEMA.to_owned(),
            number,
            previous: previous.to_owned(),
            event,
            seal: String::new(),
        };
        line.seal = line.sealed();
        line
    }

    fn sealed(&self) -> String {
        let open = Self { seal: String::new(), ..self.clone() };
        blake3::hash(text_of(&open).as_bytes()).to_hex().to_string()
    }
}

fn text_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("the log is made of texts and numbers")
}

/// An entry with its number, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    /// Its number.
    pub number: u64,
    /// What it says.
    pub event: Event,
    /// Whether it was there before.
    pub known: bool,
}

/// Why a log cannot be believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held(String);

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Held {}

/// Everything that was kept, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The entries.
    pub entries: Vec<(u64, Event)>,
    seal: String,
    /// The seal of the last line that was acknowledged.
    acknowledged: String,
    /// Bytes of whole lines.
    bytes: u64,
}

impl Log {
    /// Reads the log of the project at `root`; an empty one where nothing was ever kept.
    ///
    /// # Errors
    /// Why it cannot be believed.
    pub fn read(root: &Path) -> Result<Self, Held> {
        let dir = root.join(".owed/audit");
        let of = |name: &str| match fs::metadata(dir.join(name)) {
            Ok(metadata) if metadata.len() > MOST_BYTES => Err(Held(format!("{name} is too large"))),
            Ok(_) => fs::read(dir.join(name)).map(Some).map_err(|error| Held(format!("{name}: {error}"))),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(Held(format!("{name}: {error}"))),
        };
        let (log, head) = (of("log")?, of("head")?);
        if head.is_none() && log.is_none() {
            return Ok(Self::default());
        }
        // The very first line may have been written without its acknowledgement.
        let head = match head {
            None => Head { count: 0, seal: String::new() },
            Some(bytes) => {
                serde_json::from_slice(&bytes).map_err(|_| Held("head is malformed".to_owned()))?
            }
        };
        let log = Self::parse(&log.unwrap_or_default(), head.count)?;
        log.reaches(&head)?;
        Ok(log)
    }

    fn parse(bytes: &[u8], acknowledged: u64) -> Result<Self, Held> {
        let mut log = Self::default();
        for text in bytes.split_inclusive(|byte| *byte == b'\n') {
            let number = log.entries.len() as u64 + 1;
            let fault = |what: &str| Held(format!("line {number} {what}"));
            // Half a line that nobody was told about.
            if !text.ends_with(b"\n") {
                return if number > acknowledged { Ok(log) } else { Err(fault("is cut off")) };
            }
            let line: Line = serde_json::from_slice(text).map_err(|_| fault("is malformed"))?;
            if line.schema != SCHEMA {
                return Err(fault("has another form"));
            }
            // Byte by byte: what has the same meaning in other bytes was not written here.
            if line.seal != line.sealed() || format!("{}\n", text_of(&line)).as_bytes() != text {
                return Err(fault("is not as it was sealed"));
            }
            if line.number != number || line.previous != log.seal {
                return Err(fault("does not follow the one before"));
            }
            log.bytes += text.len() as u64;
            log.seal = line.seal;
            if number == acknowledged {
                log.acknowledged.clone_from(&log.seal);
            }
            log.entries.push((number, line.event));
        }
        Ok(log)
    }

    /// Whether everything that was acknowledged is there.
    fn reaches(&self, head: &Head) -> Result<(), Held> {
        let here = self.entries.len() as u64;
        if here < head.count {
            return Err(Held(format!("{here} of {} lines are left", head.count)));
        }
        if head.seal == self.acknowledged {
            return Ok(());
        }
        Err(Held(format!("line {} is not the one that was acknowledged", head.count)))
    }

    /// Adds an event, durably, unless it is a row of the same plan and reports.
    ///
    /// # Errors
    /// When the log cannot be believed or written.
    pub fn append(root: &Path, event: Event) -> io::Result<Noted> {
        let dir = home::own(root, "audit")?;
        let lock = fs::File::create(dir.join("lock"))?;
        lock.lock()?;
        let log = Self::read(root).map_err(io::Error::other)?;
        if let Event::Compared(row) = &event
            && let Some((number, event)) = log
                .entries
                .iter()
                .find(|(_, known)| matches!(known, Event::Compared(other) if other.source == row.source))
        {
            return Ok(Noted { number: *number, event: event.clone(), known: true });
        }
        let line = Line::new(log.entries.len() as u64 + 1, &log.seal, event);
        let mut file =
            fs::OpenOptions::new().create(true).truncate(false).write(true).open(dir.join("log"))?;
        // What was half written goes.
        file.set_len(log.bytes)?;
        file.seek(io::SeekFrom::End(0))?;
        file.write_all(format!("{}\n", text_of(&line)).as_bytes())?;
        file.sync_all()?;
        let new = dir.join(format!(".head-{}", std::process::id()));
        let mut head = fs::File::create(&new)?;
        head.write_all(text_of(&Head { count: line.number, seal: line.seal.clone() }).as_bytes())?;
        head.sync_all()?;
        fs::rename(new, dir.join("head"))?;
        fs::File::open(&dir)?.sync_all()?;
        Ok(Noted { number: line.number, event: line.event, known: false })
    }

    /// The rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = (u64, &Row)> {
        self.entries.iter().filter_map(|(number, event)| match event {
            Event::Compared(row) => Some((*number, row)),
            _ => None,
        })
    }

    /// Contradictions that nobody has acknowledged.
    pub fn open_trips(&self) -> impl Iterator<Item = (u64, &Trip)> {
        let closed: Vec<u64> = self
            .entries
            .iter()
            .filter_map(|(_, event)| match event {
                Event::Acknowledged { trips, .. } => Some(trips.iter().copied()),
                _ => None,
            })
            .flatten()
            .collect();
        self.entries.iter().filter_map(move |(number, event)| match event {
            Event::Tripped(trip) if !closed.contains(number) => Some((*number, trip)),
            _ => None,
        })
    }
}
