//! How long each phase took, for people (`-v`, `--timings`) and for programs
//! (`--timings=json`). No answer depends on it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::args::TimingsAs;
use crate::host;
use crate::output::Output;
use crate::render::style;

/// The phases of one run.
pub(crate) struct Timings {
    start: Instant,
    phases: Mutex<Vec<Phase>>,
    shown: Option<TimingsAs>,
    output: Output,
}

#[derive(Clone, Serialize)]
struct Phase {
    phase: String,
    /// Milliseconds from the start of the command.
    at_ms: f64,
    /// Milliseconds that it took.
    ms: f64,
    #[serde(skip_serializing_if = "String::is_empty")]
    found: String,
}

#[derive(Serialize)]
struct All<'a> {
    schema: &'static str,
    total_ms: f64,
    phases: &'a [Phase],
}

impl Timings {
    /// Begins to measure.
    pub(crate) fn start(shown: Option<TimingsAs>, output: &Output) -> Self {
        Self { start: host::now(), phases: Mutex::default(), shown, output: *output }
    }

    /// Runs `work`, and notes how long it took and what came of it.
    pub(crate) fn step<T>(
        &self,
        phase: &str,
        work: impl FnOnce() -> T,
        found: impl FnOnce(&T) -> String,
    ) -> T {
        let start = host::now();
        let result = work();
        self.took(phase, start, start.elapsed(), found(&result));
        result
    }

    /// Notes something that is no phase, for people who ask for more.
    pub(crate) fn remark(&self, text: &str) {
        if self.output.view.verbose {
            self.output.aside(&style::dim(text));
        }
    }

    fn took(&self, phase: &str, start: Instant, time: Duration, found: String) {
        let ms = milliseconds(time);
        if self.output.view.verbose {
            self.output.aside(&style::dim(&row(phase, ms, &found)));
        }
        let at_ms = milliseconds(start.saturating_duration_since(self.start));
        let phase = Phase { phase: phase.to_owned(), at_ms, ms, found };
        self.phases.lock().unwrap_or_else(PoisonError::into_inner).push(phase);
    }
}

impl Drop for Timings {
    /// Said at the end, on standard error: phases overlap, and the answer comes first.
    fn drop(&mut self) {
        let Some(shown) = self.shown else { return };
        let total_ms = milliseconds(self.start.elapsed());
        let mut phases = std::mem::take(&mut *self.phases.lock().unwrap_or_else(PoisonError::into_inner));
        phases.sort_by(|a, b| a.at_ms.total_cmp(&b.at_ms));
        match shown {
            TimingsAs::Json => {
                let all = All { schema: "owed.timings/1", total_ms, phases: &phases };
                if let Ok(text) = serde_json::to_string(&all) {
                    self.output.aside(&text);
                }
            }
            TimingsAs::Human => {
                self.output.aside(&style::bold("phase          from         took"));
                for Phase { phase, at_ms, ms, found } in &phases {
                    let line = format!("{phase:<10} {at_ms:>6.1} ms  {ms:>8.1} ms  {found}");
                    self.output.aside(&style::plain(line.trim_end()));
                }
                self.output.aside(&style::plain(&format!("{:<10} {:>9}  {total_ms:>8.1} ms", "all", "")));
            }
        }
    }
}

fn row(phase: &str, ms: f64, found: &str) -> String {
    format!("{phase:<10} {ms:>8.1} ms  {found}").trim_end().to_owned()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
