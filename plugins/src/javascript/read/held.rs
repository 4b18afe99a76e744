//! Effects that wait for the rest of the file: what is read only matters once something
//! else in the file makes it matter.
//!
//! - `.buffer`, `.byteOffset`, `.offset` and `.parent` of an unknown value tell where in
//!   node's pool a buffer lies, in a file that makes buffers;
//! - `console.time…` tells how long something took, in a file that reads what is printed;
//! - the times of a `Stats` object of an open file, in a file that opens files;
//! - `.findByText` and its like poll until an element is there, in a file that imports
//!   Testing Library;
//! - a request or response with an unknown body has a random boundary, in a file that
//!   makes forms;
//! - a global that the table does not know is known after all when the file sets it.

use owed_engine::facts::{EffectClass, Opaque};
use oxc_span::Span;
use rustc_hash::FxHashSet;

use super::effects::{Noted, shown};
use super::operations::Op;
use super::usage::Usage;
use super::walk::Walk;

/// What is waiting, and for what.
#[derive(Default)]
pub(super) struct Held<'a> {
    /// The file makes buffers.
    pub(super) buffers: bool,
    /// The file gets buffers from a module of node.
    given: bool,
    of_given: Vec<Noted>,
    /// The file replaces functions of the console.
    console: bool,
    /// The file makes forms.
    pub(super) forms: bool,
    /// The file opens files.
    handles: bool,
    of_handles: Vec<Noted>,
    /// The file imports queries that wait.
    pub(super) queries: bool,
    of_queries: Vec<Noted>,
    of_buffers: Vec<Noted>,
    pub(super) of_console: Vec<Noted>,
    pub(super) of_forms: Vec<Noted>,
    /// Names of globals that the file sets.
    pub(super) assigned: FxHashSet<&'a str>,
    /// Reads of unknown globals.
    pub(super) unlisted: Vec<(&'a str, Noted)>,
}

impl<'a> Walk<'_, 'a> {
    /// Notes what a use of an operation says about the file.
    pub(super) fn note_flags(&mut self, op: &Op<'a>, usage: Usage<'a>) {
        self.held.given |= matches!(
            op.root.name.as_str(),
            "node:fs" | "node:zlib" | "node:crypto" | "node:child_process" | "node:net" | "node:stream"
        );
        let stdout = matches!(op.path.as_slice(), ["stdout" | "stderr", "write"] | ["stdout" | "stderr"]);
        match op.root.name.as_str() {
            "Buffer" => {
                self.held.buffers |= !matches!(usage, Usage::Test)
                    && !matches!(op.path.as_slice(), ["isBuffer" | "isEncoding" | "byteLength" | "compare"]);
            }
            "node:fs" if op.path.as_slice() == ["open"] => self.held.handles = true,
            "FormData" => self.held.forms = true,
            "console" => {
                self.held.console |= matches!(usage, Usage::Patch | Usage::Write | Usage::Update);
            }
            "process" if stdout => {
                self.held.console |= matches!(usage, Usage::Patch | Usage::Write | Usage::Update);
            }
            _ => {}
        }
    }

    /// A member is read whose value depends on node's buffer pool, if it is a buffer's.
    pub(super) fn on_pool_member(&mut self, name: &str, span: Span) {
        let noted = self.noted(&format!("Buffer.{name}"), EffectClass::Opaque(Opaque::Addr), span);
        // Tree walkers read files, too: their `.parent` is no buffer's.
        if matches!(name, "buffer" | "byteOffset") {
            self.held.of_given.push(noted);
        } else {
            self.held.of_buffers.push(noted);
        }
    }

    /// A time of a file is read, if the value is a `Stats` object.
    pub(super) fn on_file_time(&mut self, span: Span) {
        let noted = self.noted("FileHandle.stat", EffectClass::Opaque(Opaque::FsMeta), span);
        self.held.of_handles.push(noted);
    }

    /// A query is used that waits, if it is one of Testing Library.
    pub(super) fn on_waiting_query(&mut self, name: &str, span: Span) {
        let shown = format!("@testing-library/dom.{name}");
        let noted = self.noted(&shown, EffectClass::Opaque(Opaque::Clock), span);
        self.held.of_queries.push(noted);
    }

    /// Lets go of what the rest of the file made matter.
    pub(super) fn release(&mut self) {
        let held = std::mem::take(&mut self.held);
        for (matters, effects) in [
            (held.handles, held.of_handles),
            (held.queries, held.of_queries),
            (held.buffers || held.given, held.of_given),
            (held.buffers, held.of_buffers),
            (held.console, held.of_console),
            (held.forms, held.of_forms),
        ] {
            if matters {
                self.effects.extend(effects);
            }
        }
        let unknown = held.unlisted.into_iter().filter(|(name, _)| !held.assigned.contains(name));
        self.effects.extend(unknown.map(|(_, noted)| noted));
    }

    /// `console.time…` is used.
    pub(super) fn console_time(&mut self, shown: &str, span: Span) {
        let noted = self.noted(shown, EffectClass::Opaque(Opaque::Clock), span);
        self.held.of_console.push(noted);
    }

    /// Whether an operation is a form.
    pub(super) fn is_form(&self, op: &Op<'a>) -> bool {
        shown(op) == "FormData"
    }
}
