//! Where receipts lie: `.owed/receipts/`, which only this module writes.
//!
//! ```text
//! passed/<identity>.<name>     one receipt, sealed; <name> is the hash of test and runner
//! tables/<digest>              the entries that receipts of one run share
//! last/<name>                  the receipt of the last passing run of a test
//! ```
//!
//! Every file is written whole beside its place and moved there; none is changed. What
//! cannot be read, is of another form or was edited is no receipt.
#![expect(clippy::disallowed_methods, reason = "this module is the door to the receipts")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use owed_engine::receipt::{Entry, Members, Receipt, ReceiptFault, Table};

use super::look::is_absent;
use crate::home;

/// Receipts of one project.
#[derive(Clone, Debug)]
pub struct Receipts {
    root: PathBuf,
    dir: PathBuf,
    /// Tables that were read, by digest: all receipts of one run share one.
    tables: Arc<Mutex<BTreeMap<String, Option<Arc<Table>>>>>,
}

/// The table of entries that is there now, if it is among those that are kept.
#[derive(Clone, Debug, Default)]
pub struct Now(Option<String>);

/// A table as it is stored: a line an entry.
fn text_of(table: &Table) -> io::Result<String> {
    let mut text = Vec::new();
    for entry in table.entries() {
        serde_json::to_writer(&mut text, entry).map_err(io::Error::other)?;
        text.push(b'\n');
    }
    String::from_utf8(text).map_err(io::Error::other)
}

/// Which test of which runner project a receipt is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key<'a> {
    /// Project-relative path of the test file.
    pub test: &'a str,
    /// The runner.
    pub runner: &'a str,
    /// Directory of the runner project.
    pub project: &'a str,
    /// Its name.
    pub name: Option<&'a str>,
    /// Whether its types are checked and nothing is run: a file may be both, in projects that
    /// have all else in common.
    pub types: bool,
}

impl Key<'_> {
    fn file_name(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let types = self.types.then_some("types");
        let parts = [self.test, self.runner, self.project, self.name.unwrap_or("\0")];
        for part in parts.into_iter().chain(types) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }

    fn is_of(&self, receipt: &Receipt) -> bool {
        let of = (&*receipt.test, &*receipt.runner, &*receipt.project, receipt.name.as_deref());
        (self.test, self.runner, self.project, self.name) == of && self.types == receipt.types
    }
}

/// Files that are no receipts, by name, with why.
pub type Faults = Vec<(String, ReceiptFault)>;

/// What is known of a test's last passing run.
#[derive(Clone, Debug)]
pub enum Last {
    /// Nothing.
    None,
    /// A file that is no receipt.
    Fault(ReceiptFault),
    /// A receipt, with its entries; without them when its table is gone or edited.
    Receipt(Box<Receipt>, Option<Vec<Entry>>),
}

impl Receipts {
    /// The receipts of the project in `root`.
    pub fn of(root: &Path) -> Self {
        Self { root: root.to_owned(), dir: root.join(".owed/receipts"), tables: Arc::default() }
    }

    /// The receipt of `key` with this identity.
    ///
    /// # Errors
    /// When there is a file for it that is no receipt of it.
    pub fn find(&self, key: &Key<'_>, identity: &str) -> Result<Option<Receipt>, ReceiptFault> {
        match self.parsed(key, identity)? {
            Some(receipt) => self.followed(receipt, identity).map(Some),
            None => Ok(None),
        }
    }

    /// The table that is there now, for [`Receipts::find_now`].
    pub fn now(&self, table: &Table) -> Now {
        let digest = table.digest();
        // Whole and unedited, byte for byte: then it need not be understood.
        let bytes = fs::read(self.dir.join("tables").join(&digest)).ok();
        let is_kept = bytes.is_some_and(|bytes| text_of(table).is_ok_and(|text| text.as_bytes() == bytes));
        Now(is_kept.then_some(digest))
    }

    /// The same as [`Receipts::find`] for a test that has these members in the table of `now`: a
    /// receipt that names the very same entries need not be held against its own once more.
    ///
    /// # Errors
    /// When there is a file for it that is no receipt of it.
    pub fn find_now(
        &self,
        key: &Key<'_>,
        identity: &str,
        (now, members): (&Now, &Members),
    ) -> Result<Option<Receipt>, ReceiptFault> {
        let Some(receipt) = self.parsed(key, identity)? else { return Ok(None) };
        if now.0.as_ref() == Some(&receipt.table) && receipt.members == *members {
            return Ok(Some(receipt));
        }
        self.followed(receipt, identity).map(Some)
    }

    /// A receipt for `key` that says it has this identity.
    fn parsed(&self, key: &Key<'_>, identity: &str) -> Result<Option<Receipt>, ReceiptFault> {
        let name = format!("{identity}.{}", key.file_name());
        let Ok(bytes) = fs::read(self.dir.join("passed").join(name)) else { return Ok(None) };
        let receipt = Receipt::parse(&bytes)?;
        if receipt.identity != identity || !key.is_of(&receipt) {
            return Err(ReceiptFault::Tampered);
        }
        Ok(Some(receipt))
    }

    /// The identity must follow from the entries: a receipt that names another one lies.
    fn followed(&self, receipt: Receipt, identity: &str) -> Result<Receipt, ReceiptFault> {
        match self.identity_of(&receipt) {
            Some(again) if again == identity => Ok(receipt),
            _ => Err(ReceiptFault::Tampered),
        }
    }

    /// Those in a directory of another checkout, for the project at `root`.
    pub fn elsewhere(root: &Path, dir: &Path) -> Self {
        Self { root: root.to_owned(), dir: dir.to_owned(), tables: Arc::default() }
    }

    /// Where they lie.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Takes over a receipt of another store, with the table that it needs.
    ///
    /// # Errors
    /// When the table is not what the receipt says, or something cannot be written.
    pub fn take(&self, from: &Self, receipt: &Receipt) -> io::Result<()> {
        let table = from.table(&receipt.table).ok_or_else(|| io::Error::other("its entries are gone"))?;
        self.put_table(&table)?;
        self.put_receipt(receipt)
    }

    /// Whether there is none at all.
    pub fn is_empty(&self) -> bool {
        fs::read_dir(self.dir.join("passed")).map_or(true, |mut entries| entries.next().is_none())
    }

    /// The last passing run of `key`.
    pub fn last(&self, key: &Key<'_>) -> Last {
        let Ok(bytes) = fs::read(self.dir.join("last").join(key.file_name())) else { return Last::None };
        match Receipt::parse(&bytes) {
            Err(fault) => Last::Fault(fault),
            Ok(receipt) if !key.is_of(&receipt) => Last::Fault(ReceiptFault::Tampered),
            Ok(receipt) => {
                let entries = self.entries(&receipt);
                Last::Receipt(Box::new(receipt), entries)
            }
        }
    }

    /// The last receipts of a test file, one for each runner project, sorted.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn last_of(&self, test: &str) -> io::Result<Vec<Receipt>> {
        let parsed =
            self.files("last")?.into_iter().filter_map(|path| Receipt::parse(&fs::read(path).ok()?).ok());
        let mut found: Vec<Receipt> = parsed.filter(|receipt| receipt.test == test).collect();
        found.sort_by(|a, b| (&a.runner, &a.project).cmp(&(&b.runner, &b.project)));
        Ok(found)
    }

    /// Every receipt, sorted by test, runner, project and identity; with what is none, by
    /// file name.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn all(&self) -> io::Result<(Vec<Receipt>, Faults)> {
        let mut receipts = Vec::new();
        let mut faults = Vec::new();
        for path in self.files("passed")? {
            let name = name_of(&path);
            // One that is being written.
            if name.starts_with('.') {
                continue;
            }
            match Receipt::parse(&fs::read(&path).unwrap_or_default()) {
                Ok(receipt) => receipts.push(receipt),
                Err(fault) => faults.push((name, fault)),
            }
        }
        receipts.sort_by(|a, b| {
            (&a.test, &a.runner, &a.project, &a.identity).cmp(&(&b.test, &b.runner, &b.project, &b.identity))
        });
        Ok((receipts, faults))
    }

    /// The files of a folder, sorted; none when there is no such folder yet.
    fn files(&self, folder: &str) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(self.dir.join(folder)) {
            Ok(entries) => entries,
            Err(error) if is_absent(&error) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut files = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
        files.sort();
        Ok(files)
    }

    /// Takes away what says that `key` passed with this identity: it was contradicted.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self, key: &Key<'_>, identity: &str) -> io::Result<()> {
        let name = key.file_name();
        let last = self.dir.join("last").join(&name);
        let same = Receipt::parse(&fs::read(&last).unwrap_or_default()).is_ok_and(|r| r.identity == identity);
        let passed = self.dir.join("passed").join(format!("{identity}.{name}"));
        for path in std::iter::once(passed).chain(same.then_some(last)) {
            match fs::remove_file(path) {
                Err(error) if !is_absent(&error) => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes away every receipt of `key`, whatever its identity.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn remove_all(&self, key: &Key<'_>) -> io::Result<()> {
        let name = key.file_name();
        let passed = self.files("passed")?.into_iter();
        let all = passed.filter(|path| name_of(path).split_once('.').is_some_and(|(_, own)| own == name));
        for path in all.chain(std::iter::once(self.dir.join("last").join(&name))) {
            match fs::remove_file(path) {
                Err(error) if !is_absent(&error) => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Where the receipt of `key` with this identity lies.
    pub fn place(&self, key: &Key<'_>, identity: &str) -> PathBuf {
        self.dir.join("passed").join(format!("{identity}.{}", key.file_name()))
    }

    /// The entries of a receipt; `None` when its table is gone or was edited.
    pub fn entries(&self, receipt: &Receipt) -> Option<Vec<Entry>> {
        let table = self.table(&receipt.table)?;
        Some(table.of(receipt.members.numbers())?.into_iter().cloned().collect())
    }

    fn identity_of(&self, receipt: &Receipt) -> Option<String> {
        let table = self.table(&receipt.table)?;
        table.of(receipt.members.numbers())?;
        Some(table.identity(receipt.members.numbers()).hex())
    }

    fn table(&self, digest: &str) -> Option<Arc<Table>> {
        let mut known = self.tables.lock().unwrap_or_else(|e| e.into_inner());
        known.entry(digest.to_owned()).or_insert_with(|| self.read_table(digest).map(Arc::new)).clone()
    }

    fn read_table(&self, digest: &str) -> Option<Table> {
        // A digest is a name of a file here, so it must be one.
        if digest.len() != 64 || !digest.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let text = fs::read_to_string(self.dir.join("tables").join(digest)).ok()?;
        let entries: Option<Vec<Entry>> = text.lines().map(|line| serde_json::from_str(line).ok()).collect();
        let table = Table::new(entries?);
        (table.digest() == digest).then_some(table)
    }

    /// Writes the table of a run.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put_table(&self, table: &Table) -> io::Result<String> {
        let digest = table.digest();
        self.put("tables", &digest, text_of(table)?.as_bytes())?;
        self.tables.lock().unwrap_or_else(|e| e.into_inner()).remove(&digest);
        Ok(digest)
    }

    /// Writes a receipt, and that it is the last one of its test.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put_receipt(&self, receipt: &Receipt) -> io::Result<()> {
        let key = Key {
            test: &receipt.test,
            runner: &receipt.runner,
            project: &receipt.project,
            name: receipt.name.as_deref(),
            types: receipt.types,
        };
        let name = key.file_name();
        let text = receipt.text();
        self.put("passed", &format!("{}.{name}", receipt.identity), text.as_bytes())?;
        self.put("last", &name, text.as_bytes())
    }

    fn put(&self, folder: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
        let dir = home::own(&self.root, "receipts")?.join(folder);
        fs::create_dir_all(&dir)?;
        let temporary = dir.join(format!(".{name}.{}", std::process::id()));
        let mut file = fs::File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, dir.join(name))
    }

    /// Removes receipts that are not the last of their test, tables that no receipt needs,
    /// and files that are no receipts; says how many files are gone.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn prune(&self) -> io::Result<usize> {
        let mut last = BTreeSet::new();
        let mut tables = BTreeSet::new();
        for path in self.files("last")? {
            if let Ok(receipt) = Receipt::parse(&fs::read(&path)?) {
                last.insert(format!("{}.{}", receipt.identity, name_of(&path)));
                tables.insert(receipt.table);
            }
        }
        let mut gone = 0;
        for (folder, kept) in [("passed", &last), ("tables", &tables)] {
            for path in self.files(folder)? {
                if !kept.contains(&name_of(&path)) {
                    fs::remove_file(&path)?;
                    gone += 1;
                }
            }
        }
        Ok(gone)
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The entries of a test in a table that holds them all.
pub(super) fn members(table: &Table, entries: &[Entry]) -> Members {
    let numbers = entries.iter().map(|entry| table.number(entry).expect("the table was made of them"));
    Members::new(numbers.collect())
}
