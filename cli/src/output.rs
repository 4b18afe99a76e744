//! Standard output and standard error: where the answer goes, and where everything
//! else goes. Colours are decided here, once.

use std::io::{self, IsTerminal as _, Write as _};

use anstream::{AutoStream, ColorChoice};
use serde::Serialize;

use crate::args::{Color, Global};
use crate::complaint::Complaint;
use crate::host;
use crate::render::{View, style};

const WIDTH: usize = 80;
const NARROWEST: usize = 40;

/// Where a command prints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    color: ColorChoice,
    /// How much to show.
    pub view: View,
}

impl Output {
    /// As the flags, the environment and the terminal say.
    pub(crate) fn new(global: &Global) -> Self {
        let color = match global.color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        Self { color, view: View { width: columns(), verbose: global.verbose, quiet: global.quiet } }
    }

    /// The same, without hints about what to type next.
    pub(crate) fn without_hints(&self) -> Self {
        Self { view: View { quiet: true, ..self.view }, ..*self }
    }

    /// Prints an answer for programs, byte by byte as it is: what looks like a colour in
    /// it is part of a name.
    pub(crate) fn raw(&self, text: &str) -> io::Result<()> {
        let mut stream = io::stdout().lock();
        quiet_pipe(stream.write_all(text.as_bytes()).and_then(|()| stream.flush()))
    }

    /// Prints an answer as [`crate::answer::json`] writes it, and never holds the whole text.
    pub(crate) fn json(&self, answer: &impl Serialize) -> io::Result<()> {
        let mut stream = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
        let written = serde_json::to_writer_pretty(&mut stream, answer).map_err(io::Error::from);
        quiet_pipe(written.and_then(|()| stream.write_all(b"\n")).and_then(|()| stream.flush()))
    }

    /// Prints (a part of) an answer for people. A reader that went away is no error.
    pub(crate) fn answer(&self, text: &str) -> io::Result<()> {
        let mut stream = AutoStream::new(io::stdout(), self.color).lock();
        quiet_pipe(stream.write_all(text.as_bytes()).and_then(|()| stream.flush()))
    }

    /// Says something beside the answer.
    pub(crate) fn aside(&self, text: &str) {
        let mut stream = AutoStream::new(io::stderr(), self.color).lock();
        // There is nowhere left to complain to.
        let _ = writeln!(stream, "{text}");
    }

    /// Says what went wrong, and what to do next.
    pub(crate) fn failure(&self, error: &anyhow::Error) {
        let next = error.chain().find_map(|cause| cause.downcast_ref::<Complaint>()?.next.as_deref());
        self.aside(&format!("{} {}", style::bad("owed:"), style::plain(&format!("{error:#}"))));
        if let Some(next) = next {
            self.aside(&format!("  {} {}", style::bold("next:"), style::plain(next)));
        }
    }
}

fn quiet_pipe(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// The terminal's columns; COLUMNS where there is none, and 80 where that is not set.
fn columns() -> usize {
    let terminal = || {
        let size = io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
        size.map(|(terminal_size::Width(columns), _)| usize::from(columns))
    };
    let asked = host::env("COLUMNS").and_then(|columns| columns.parse().ok());
    terminal().or(asked).unwrap_or(WIDTH).max(NARROWEST)
}
