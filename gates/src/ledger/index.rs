//! An index over all runs, for listing: SQLite, rebuilt from the frames whenever it is gone,
//! damaged, of another version, or behind. It is never asked for a decision, so deleting it
//! loses nothing.
//!
//! A run is read again when the size or time of its frames, or what was acknowledged, is
//! another than when it was indexed. Where the index cannot be written (a read-only disk), it
//! is built in memory.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, Row as SqlRow, TransactionBehavior, params, types::Type};
use serde::Serialize;

use super::call::Call;
use super::history::History;
use super::names::{CallId, Digest, RunId};
use super::refusal::Refusal;
use super::store::{Store, unavailable};
use super::terms::{Exit, Purpose};
use crate::disk::Mode;
use crate::state::CallState;

/// Changes whenever the tables do: an index of another version is thrown away.
const VERSION: i64 = 1;

/// How long another process may have the index before it is done without.
const BUSY: Duration = Duration::from_secs(2);

const TABLES: &str = "
    CREATE TABLE runs (
        run TEXT PRIMARY KEY, size INTEGER NOT NULL, modified_ms INTEGER NOT NULL,
        head TEXT NOT NULL, held TEXT
    ) STRICT;
    CREATE TABLE calls (
        run TEXT NOT NULL, call TEXT NOT NULL, sequence INTEGER NOT NULL, purpose TEXT NOT NULL,
        command_hash TEXT NOT NULL, state TEXT NOT NULL, exit_kind TEXT, exit_number INTEGER,
        partial INTEGER NOT NULL, asked_ms INTEGER NOT NULL, ended_ms INTEGER,
        PRIMARY KEY (run, call)
    ) STRICT;
    CREATE INDEX calls_by_command ON calls (command_hash);
";

/// Size and time of the frames, and the last acknowledged digest.
type Mark = (i64, i64, String);

/// Which calls to list; an absent field does not restrict.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Of one run.
    pub run: Option<RunId>,
    /// For one purpose.
    pub purpose: Option<Purpose>,
    /// Of one command.
    pub command_hash: Option<Digest>,
    /// Only those that are pending or unknown.
    pub unresolved: bool,
}

/// One call in a listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its run.
    pub run: RunId,
    /// Its identity.
    pub call: CallId,
    /// What it was for.
    pub purpose: Purpose,
    /// Its command.
    pub command_hash: Digest,
    /// Where it stands.
    pub state: CallState,
    /// How its command ended, when that is known.
    pub exit: Option<Exit>,
    /// Whether less of its output is kept than was written.
    pub partial: bool,
    /// When it was asked for, in milliseconds since 1970.
    pub asked_ms: u64,
    /// When its last state was recorded, in milliseconds since 1970.
    pub ended_ms: Option<u64>,
}

/// A run that cannot be listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeldRun {
    /// Which.
    pub run: RunId,
    /// Why, in words.
    pub why: String,
}

/// The answer to a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// The calls: runs by name, calls by age.
    pub calls: Vec<Row>,
    /// Runs that are held or cannot be read. They are not empty: their calls are not known.
    pub held: Vec<HeldRun>,
}

impl Store {
    /// Lists calls over all runs.
    ///
    /// # Errors
    /// When the runs themselves cannot be listed. A run that is held is in the listing.
    pub fn list(&self, filter: &Filter) -> Result<Listing, Refusal> {
        let runs = self.runs()?;
        let path = self.index();
        // When this fails, so does opening, and the index is built in memory.
        let _ = self.make_directory_of(&path);
        let listed = match open(&path) {
            Ok(mut index) => self.refresh(&mut index, &runs).and_then(|()| ask(&index, filter)),
            Err(error) => Err(error),
        };
        listed.or_else(|error| self.list_afresh(&path, &error, &runs, filter)).map_err(|error| {
            let error = io::Error::other(error.to_string());
            unavailable("index", &path, &error)
        })
    }

    /// The index is damaged, busy for too long, or on a read-only disk: build it again, in
    /// memory when it cannot be in its place. One that another process uses is left alone.
    fn list_afresh(
        &self,
        path: &Path,
        why: &rusqlite::Error,
        runs: &[RunId],
        filter: &Filter,
    ) -> rusqlite::Result<Listing> {
        let busy = [Some(ErrorCode::DatabaseBusy), Some(ErrorCode::DatabaseLocked)];
        let removed = !busy.contains(&why.sqlite_error_code()) && self.disk().remove(path).is_ok();
        let mut index = match if removed { open(path) } else { Err(rusqlite::Error::InvalidQuery) } {
            Ok(index) => index,
            Err(_) => make(Connection::open_in_memory()?)?,
        };
        self.refresh(&mut index, runs)?;
        ask(&index, filter)
    }

    /// Reads the runs that are not as they were indexed, then writes them down in one go:
    /// nobody waits for the index while a run is read.
    fn refresh(&self, index: &mut Connection, runs: &[RunId]) -> rusqlite::Result<()> {
        let mut known: BTreeMap<String, Option<Mark>> = index
            .prepare("SELECT run, size, modified_ms, head, held FROM runs")?
            .query_map([], |row| {
                let mark = (row.get(1)?, row.get(2)?, row.get(3)?);
                // A run that was held is looked at each time.
                let held: Option<String> = row.get(4)?;
                Ok((row.get(0)?, held.is_none().then_some(mark)))
            })?
            .collect::<rusqlite::Result<_>>()?;
        let mut changed = Vec::new();
        for run in runs {
            let mark = self.mark(run);
            let indexed = known.remove(run.as_str()).flatten();
            if indexed.as_ref() != Some(&mark) {
                changed.push((run, mark, self.inspect(run)));
            }
        }
        if changed.is_empty() && known.is_empty() {
            return Ok(());
        }
        let change = index.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for gone in known.keys() {
            change.execute("DELETE FROM runs WHERE run = ?1", [gone])?;
            change.execute("DELETE FROM calls WHERE run = ?1", [gone])?;
        }
        for (run, (size, modified_ms, head), read) in changed {
            change.execute("DELETE FROM calls WHERE run = ?1", [run.as_str()])?;
            let held = match read {
                Ok(snapshot) => {
                    insert(&change, &snapshot.history)?;
                    None
                }
                Err(refusal) => Some(refusal.to_string()),
            };
            let replace = "INSERT OR REPLACE INTO runs (run, size, modified_ms, head, held) \
                           VALUES (?1, ?2, ?3, ?4, ?5)";
            change.execute(replace, params![run.as_str(), size, modified_ms, head, held])?;
        }
        change.commit()
    }

    /// What tells whether a run is another than when it was indexed.
    fn mark(&self, run: &RunId) -> Mark {
        let frames = self.disk().open(&self.frames_of(run), Mode::Read).ok();
        let number = |value: Option<u64>| value.and_then(|value| i64::try_from(value).ok()).unwrap_or(-1);
        let size = frames.as_ref().and_then(|file| file.size().ok());
        let modified = frames.as_ref().and_then(|file| file.modified_ms().ok());
        (number(size), number(modified), self.acknowledged_head(run))
    }
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    match version {
        VERSION => Ok(connection),
        0 => make(connection),
        _ => Err(rusqlite::Error::InvalidQuery),
    }
}

fn make(mut connection: Connection) -> rusqlite::Result<Connection> {
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have made it in the meantime.
    let version: i64 = change.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version != VERSION {
        change.execute_batch(TABLES)?;
        change.pragma_update(None, "user_version", VERSION)?;
    }
    change.commit()?;
    Ok(connection)
}

fn insert(connection: &Connection, history: &History) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "INSERT INTO calls (run, call, sequence, purpose, command_hash, state, exit_kind, \
         exit_number, partial, asked_ms, ended_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    for call in history.calls() {
        let request = &call.request;
        let (exit_kind, exit_number) = match exit(call) {
            Some(Exit::Code(code)) => (Some("code"), Some(code)),
            Some(Exit::Signal(signal)) => (Some("signal"), Some(signal)),
            None => (None, None),
        };
        statement.execute(params![
            history.run().as_str(),
            request.call.as_str(),
            i64::try_from(call.sequence).unwrap_or(i64::MAX),
            request.purpose.word(),
            request.command_hash.hex(),
            state_word(call.state()),
            exit_kind,
            exit_number,
            partial(call),
            i64::try_from(call.preflight.intended_ms).unwrap_or(i64::MAX),
            ended(call).map(|ms| i64::try_from(ms).unwrap_or(i64::MAX)),
        ])?;
    }
    Ok(())
}

fn exit(call: &Call) -> Option<Exit> {
    let completed = call.command.as_ref()?.completed.as_ref()?;
    Some(completed.outcome.exit)
}

fn partial(call: &Call) -> bool {
    let command = call.command.as_ref();
    let completed = command.and_then(|command| command.completed.as_ref());
    let unknown = command.and_then(|command| command.unknown.as_ref());
    completed.is_some_and(|completed| completed.outcome.output.partial())
        || unknown.is_some_and(|unknown| unknown.output.partial())
}

fn ended(call: &Call) -> Option<u64> {
    let half = call.command.as_ref().unwrap_or(&call.preflight);
    let completed = half.completed.as_ref().map(|record| record.at_ms);
    let not_started = half.not_started.as_ref().map(|record| record.at_ms);
    let unknown = half.unknown.as_ref().map(|record| record.at_ms);
    half.settled.as_ref().map(|record| record.at_ms).or(completed).or(not_started).or(unknown)
}

fn ask(connection: &Connection, filter: &Filter) -> rusqlite::Result<Listing> {
    let mut statement = connection.prepare(
        "SELECT run, call, purpose, command_hash, state, exit_kind, exit_number, partial, \
         asked_ms, ended_ms FROM calls \
         WHERE (?1 IS NULL OR run = ?1) AND (?2 IS NULL OR purpose = ?2) \
         AND (?3 IS NULL OR command_hash = ?3) \
         AND (NOT ?4 OR state IN ('pending', 'running', 'unknown')) ORDER BY run, sequence",
    )?;
    let run = filter.run.as_ref().map(RunId::as_str);
    let asked = params![
        run,
        filter.purpose.map(Purpose::word),
        filter.command_hash.map(|hash| hash.hex()),
        filter.unresolved,
    ];
    let calls = statement.query_map(asked, row)?.collect::<rusqlite::Result<_>>()?;
    let mut statement = connection.prepare(
        "SELECT run, held FROM runs WHERE held IS NOT NULL AND (?1 IS NULL OR run = ?1) ORDER BY run",
    )?;
    let held = statement
        .query_map([run], |row| Ok(HeldRun { run: text(row, 0, RunId::new)?, why: row.get(1)? }))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Listing { calls, held })
}

fn row(row: &SqlRow<'_>) -> rusqlite::Result<Row> {
    let exit = match (row.get::<_, Option<String>>(5)?.as_deref(), row.get(6)?) {
        (Some("code"), Some(code)) => Some(Exit::Code(code)),
        (Some("signal"), Some(signal)) => Some(Exit::Signal(signal)),
        _ => None,
    };
    let number = |at: usize| -> rusqlite::Result<Option<u64>> {
        Ok(row.get::<_, Option<i64>>(at)?.and_then(|number| u64::try_from(number).ok()))
    };
    Ok(Row {
        run: text(row, 0, RunId::new)?,
        call: text(row, 1, CallId::new)?,
        purpose: text(row, 2, |word| from_word(&word))?,
        command_hash: text(row, 3, Digest::try_from)?,
        state: text(row, 4, |word| from_word(&word))?,
        exit,
        partial: row.get(7)?,
        asked_ms: number(8)?.unwrap_or_default(),
        ended_ms: number(9)?,
    })
}

/// The index keeps the words of the records themselves.
fn state_word(state: CallState) -> &'static str {
    if state == CallState::Running { "running" } else { state.word() }
}

fn from_word<T: serde::de::DeserializeOwned>(word: &str) -> Result<T, serde_json::Error> {
    serde_json::from_value(serde_json::Value::String(word.to_owned()))
}

/// A text of the index as the type it was made from; anything else is a damaged index.
fn text<T, E: std::error::Error + Send + Sync + 'static>(
    row: &SqlRow<'_>,
    at: usize,
    make: impl FnOnce(String) -> Result<T, E>,
) -> rusqlite::Result<T> {
    make(row.get(at)?)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(at, Type::Text, Box::new(error)))
}
