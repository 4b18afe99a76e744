//! A receipt: the record that a run with a certain identity passed.
//!
//! Receipts are local and unsigned; the seal finds accidents and clumsy edits, it is no
//! signature. A receipt that is not of this version, not whole, or not sealed by its own
//! bytes is no receipt, and says why.

use serde::{Deserialize, Serialize};

use super::Members;
use crate::outcome::Cases;

/// The form of receipts; others are ignored.
const SCHEMA: &str = "owed.receipt/2";

/// What a receipt vouches for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// One test file of one runner project.
    File,
    /// Every test file of a project, run at once.
    Full,
}

/// A passing run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// [`SCHEMA`].
    schema: String,
    /// What it vouches for.
    pub scope: Scope,
    /// The test file, project-relative; empty for [`Scope::Full`].
    pub test: String,
    /// The runner.
    pub runner: String,
    /// Directory of the runner project.
    pub project: String,
    /// Name of the runner project.
    pub name: Option<String>,
    /// Whether its types were checked and nothing was run
    /// ([`RunnerProject::checked`](crate::runner::RunnerProject::checked)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub types: bool,
    /// The identity, in hexadecimal.
    pub identity: String,
    /// The table that holds its entries, by its digest.
    pub table: String,
    /// Its entries in that table.
    pub members: Members,
    /// The class that the test had: `pure` or `pinned`.
    pub class: String,
    /// What ran.
    pub cases: Cases,
    /// Milliseconds by the runner's clock.
    pub duration_ms: Option<u64>,
    /// Those of its entries that are files which the run really loaded, when that was watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Members>,
    /// BLAKE3 of everything above.
    seal: String,
}

/// Why something is no receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiptFault {
    /// It has another form: an older or newer version, or something else altogether.
    OtherForm,
    /// It is cut off or not JSON.
    Malformed,
    /// Its bytes are not the ones that were sealed.
    Tampered,
}

impl ReceiptFault {
    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::OtherForm => "other-form",
            Self::Malformed => "malformed",
            Self::Tampered => "tampered",
        }
    }
}

impl Receipt {
    /// A sealed receipt; every field but the seal as given.
    #[expect(clippy::too_many_arguments, reason = "one place makes receipts, and names each part")]
    pub fn new(
        scope: Scope,
        test: &str,
        runner: &str,
        (project, name): (&str, Option<&str>),
        identity: &str,
        (table, members): (&str, Members),
        class: &str,
        (cases, duration_ms): (Cases, Option<u64>),
    ) -> Self {
        let mut receipt = Self {
            schema: SCHEMA.to_owned(),
            scope,
            test: test.to_owned(),
            runner: runner.to_owned(),
            project: project.to_owned(),
            name: name.map(str::to_owned),
            types: false,
            identity: identity.to_owned(),
            table: table.to_owned(),
            members,
            class: class.to_owned(),
            cases,
            duration_ms,
            observed: None,
            seal: String::new(),
        };
        receipt.seal = receipt.sealed();
        receipt
    }

    /// The same of a test whose types were checked, when `types` says so.
    #[must_use]
    pub fn of_types(mut self, types: bool) -> Self {
        self.types = types;
        self.seal = self.sealed();
        self
    }

    /// The same with the files that were really loaded.
    #[must_use]
    pub fn with_observed(mut self, observed: Members) -> Self {
        self.observed = Some(observed);
        self.seal = self.sealed();
        self
    }

    fn sealed(&self) -> String {
        seal_of(&self.text())
    }

    /// Its name: the seal.
    pub fn id(&self) -> &str {
        &self.seal
    }

    /// As it is stored.
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string(self).expect("a receipt is made of texts and numbers");
        text.push('\n');
        text
    }

    /// Reads one.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReceiptFault> {
        let receipt: Self = serde_json::from_slice(bytes).map_err(|_| fault(bytes))?;
        if receipt.schema != SCHEMA {
            return Err(ReceiptFault::OtherForm);
        }
        // Byte by byte: a receipt with the same meaning and other bytes was not written here.
        let text = receipt.text();
        if text.as_bytes() != bytes || receipt.seal != seal_of(&text) {
            return Err(ReceiptFault::Tampered);
        }
        Ok(receipt)
    }
}

/// Why these bytes are no receipt of this form.
fn fault(bytes: &[u8]) -> ReceiptFault {
    match serde_json::from_slice::<serde_json::Value>(bytes) {
        Ok(value) if value.get("schema").and_then(serde_json::Value::as_str) != Some(SCHEMA) => {
            ReceiptFault::OtherForm
        }
        _ => ReceiptFault::Malformed,
    }
}

/// The seal of a receipt by its text, which ends with a seal of any kind.
fn seal_of(text: &str) -> String {
    const LAST: &str = "\"seal\":\"";
    let end = text.rfind(LAST).map_or(text.len(), |at| at + LAST.len());
    let mut hasher = blake3::Hasher::new();
    hasher.update(&text.as_bytes()[..end]);
    hasher.update(b"\"}");
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_sealed_is_a_receipt() {
        let receipt = Receipt::new(
            Scope::File,
            "a.test.ts",
            "vitest",
            ("", None),
            "1f",
            ("2f", Members::new(vec![1, 2, 5])),
            "pure",
            (Cases { passed: 1, ..Cases::default() }, Some(3)),
        );
        let text = receipt.text();
        assert_eq!(Receipt::parse(text.as_bytes()), Ok(receipt));
        for (from, to, want) in [
            ("a.test.ts", "b.test.ts", ReceiptFault::Tampered),
            ("\"1-2,5\"", "\"1-2\"", ReceiptFault::Tampered),
            ("{\"schema\"", "{ \"schema\"", ReceiptFault::Tampered),
            ("\n", "", ReceiptFault::Tampered),
            ("}\n", "", ReceiptFault::Malformed),
            ("receipt/2", "receipt/1", ReceiptFault::OtherForm),
            ("\"class\"", "\"more\":1,\"class\"", ReceiptFault::Malformed),
        ] {
            assert_eq!(Receipt::parse(text.replace(from, to).as_bytes()), Err(want), "{from}");
        }
        assert_eq!(Receipt::parse(b"[]"), Err(ReceiptFault::OtherForm));
    }
}
