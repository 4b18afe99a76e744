//! Reading a pipe to its end, keeping no more than is allowed.
#![expect(clippy::disallowed_methods, reason = "how long a pipe is waited for")]

use std::io::{ErrorKind, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Reads a pipe on a thread of its own.
pub(super) struct Reader {
    captured: Arc<Mutex<Captured>>,
    is_over: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<()>,
}

/// What was read from a pipe: all of it, or as much as was allowed.
#[derive(Default)]
pub(super) struct Captured {
    pub(super) bytes: Vec<u8>,
    pub(super) is_over: bool,
}

/// How long a pipe may stay open after the group was killed: someone who left the
/// group holds it. What the child itself printed has been read long before.
const GRACE: Duration = Duration::from_millis(500);

impl Reader {
    /// Keeps `limit` bytes; what is over is dropped, or (`stops`) ends the reading.
    pub(super) fn start(pipe: Option<impl Read + Send + 'static>, limit: usize, stops: bool) -> Self {
        let captured = Arc::new(Mutex::new(Captured::default()));
        let is_over = Arc::new(AtomicBool::new(false));
        let (into, over) = (Arc::clone(&captured), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || {
            let Some(mut pipe) = pipe else { return };
            let mut buffer = [0; 16 << 10];
            loop {
                let count = match pipe.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(count) => count,
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(_) => return,
                };
                let mut captured = into.lock().unwrap_or_else(PoisonError::into_inner);
                let room = limit - captured.bytes.len();
                captured.bytes.extend_from_slice(&buffer[..count.min(room)]);
                if count > room {
                    captured.is_over = true;
                    over.store(true, Ordering::Relaxed);
                    if stops {
                        return;
                    }
                }
            }
        });
        Self { captured, is_over, thread }
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    pub(super) fn finish(self) -> Captured {
        let until = Instant::now() + GRACE;
        while !self.thread.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::mem::take(&mut *self.captured.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
