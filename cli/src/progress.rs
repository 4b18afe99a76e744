//! A spinner on standard error, for work that takes a person's time.
//!
//! It is a dozen lines and not a crate: there is one phase and nothing to count, so a
//! progress-bar library would bring more code than it saves. It appears only on a
//! terminal and only after 300 ms, so that scripts and quick answers never see it.

use std::io::{IsTerminal as _, Write as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

const QUIET: Duration = Duration::from_millis(300);
const FRAME: Duration = Duration::from_millis(90);
const FRAMES: [&str; 4] = ["-", "\\", "|", "/"];

/// Shows that something goes on until it is dropped.
pub(crate) struct Spinner {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Spinner {
    /// Starts one, unless standard error is no terminal or `quiet` is asked for.
    pub(crate) fn start(message: &'static str, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self { running: None };
        }
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new().name("spinner".to_owned());
        // A spinner that cannot start is no reason to fail.
        let running = thread.spawn(move || spin(message, &stopped)).ok().map(|handle| (stop, handle));
        Self { running }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some((stop, handle)) = self.running.take() {
            drop(stop);
            // It only writes; whether it did so well does not matter.
            let _ = handle.join();
        }
    }
}

fn spin(message: &str, stopped: &Receiver<()>) {
    let mut wait = QUIET;
    let mut shown = false;
    for frame in FRAMES.iter().cycle() {
        if stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
            break;
        }
        let _ = write!(std::io::stderr(), "\r{frame} {message}");
        shown = true;
        wait = FRAME;
    }
    if shown {
        let _ = write!(std::io::stderr(), "\r{}\r", " ".repeat(message.len() + 2));
    }
}
