//! Receipts that other programs kept before this ledger: to be looked at, nothing else.
//!
//! A legacy receipt is an object in JSON with a call id (`callId`, `call_id` or `id`). It
//! stays *held*: it is not made into a record of ours, replays nothing, suppresses nothing
//! and proves nothing, and what is missing of its identity is not filled in. The file it
//! was read from is not changed.

use serde_json::{Map, Value};

use crate::redact::Redactor;

/// Receipts that are read from one file. More are counted, not kept.
pub const RECEIPTS: usize = 256;

/// Characters of one text field.
const FIELD_CHARS: usize = 4_000;

/// Why a legacy receipt is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HeldFor {
    /// It names no owner.
    NoOwner,
    /// Its unit is there and empty: nobody can say whose it is.
    EmptyUnit,
    /// It is whole, and of another format than ours.
    OtherFormat,
}

impl HeldFor {
    /// The word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NoOwner => "no_owner",
            Self::EmptyUnit => "empty_unit",
            Self::OtherFormat => "other_format",
        }
    }
}

/// A legacy receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Legacy {
    /// Its call id.
    pub call: String,
    /// What else it says, each text redacted by itself and bounded. Untrusted.
    pub fields: Map<String, Value>,
    /// Why it is held.
    pub held: HeldFor,
}

/// What a file of legacy receipts holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LegacyFile {
    /// In the order of the file.
    pub receipts: Vec<Legacy>,
    /// Values that are no receipt, and receipts beyond [`RECEIPTS`].
    pub passed_over: usize,
}

/// Reads a file of legacy receipts: one array, or one object a line.
///
/// # Errors
/// When it is neither; it is then no file without receipts.
pub fn read(text: &str) -> Result<LegacyFile, NotLegacy> {
    let values: Vec<Value> = match serde_json::from_str(text) {
        Ok(Value::Array(values)) => values,
        Ok(value @ Value::Object(_)) => vec![value],
        Ok(_) => return Err(NotLegacy),
        Err(_) => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            lines.map(serde_json::from_str).collect::<Result<_, _>>().map_err(|_| NotLegacy)?
        }
    };
    let mut file = LegacyFile::default();
    for value in values {
        match receipt(value).filter(|_| file.receipts.len() < RECEIPTS) {
            Some(receipt) => file.receipts.push(receipt),
            None => file.passed_over += 1,
        }
    }
    Ok(file)
}

/// The text is no file of receipts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotLegacy;

fn receipt(value: Value) -> Option<Legacy> {
    let Value::Object(fields) = value else { return None };
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let call =
        ["callId", "call_id", "id"].into_iter().find_map(text).filter(|call| !call.is_empty())?.to_owned();
    let has_owner = ["owner", "ownerId", "runId", "run"]
        .into_iter()
        .any(|name| text(name).is_some_and(|one| !one.is_empty()));
    let held = if text("unit").is_some_and(str::is_empty) {
        HeldFor::EmptyUnit
    } else if has_owner {
        HeldFor::OtherFormat
    } else {
        HeldFor::NoOwner
    };
    let redactor = Redactor::new();
    let bounded = |value: Value| match value {
        Value::String(text) => Value::String(redactor.field(&text).text.chars().take(FIELD_CHARS).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
        // What is nested is not looked into, and so not kept.
        Value::Array(_) | Value::Object(_) => Value::Null,
    };
    let fields = fields.into_iter().map(|(name, value)| (name, bounded(value))).collect();
    Some(Legacy { call, fields, held })
}
