//! Reading a stream to its end and keeping its beginning and its end.
//!
//! Reading never stops before the stream does, for a command must not be blocked by
//! what it prints. The end is what matters most in the output of tests, so most of the
//! room is for it.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::Stream;
use crate::redact::{Edge, Redactor};

const HEAD: usize = 16 << 10;
const TAIL: usize = 48 << 10;

/// How long a stream may stay open after the whole tree is gone: somebody outside of
/// the tree was given its end.
const GRACE: Duration = Duration::from_millis(500);

/// A stream that is being read on a thread of its own.
pub(super) struct Capture {
    kept: Arc<Mutex<Kept>>,
    thread: JoinHandle<()>,
}

/// What is kept of a stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Capture {
    pub(super) fn start(pipe: Option<impl Read + Send + 'static>) -> Self {
        let kept = Arc::new(Mutex::new(Kept::default()));
        let into = Arc::clone(&kept);
        let thread = std::thread::spawn(move || {
            let Some(mut pipe) = pipe else { return };
            let mut buffer = [0; 16 << 10];
            loop {
                match pipe.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(count) => into.lock().unwrap_or_else(PoisonError::into_inner).add(&buffer[..count]),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => return,
                }
            }
        });
        Self { kept, thread }
    }

    /// What was read until the stream ended.
    pub(super) fn finish(self) -> Kept {
        let until = Instant::now() + GRACE;
        while !self.thread.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Kept {
    fn add(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(TAIL)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(TAIL);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    /// As it goes into a report: text, without secrets, of at most `chars` characters.
    pub(super) fn stream(self, chars: usize, redactor: Option<&Redactor>) -> Stream {
        let tail: Vec<u8> = self.tail.into();
        let kept = (self.head.len() + tail.len()) as u64;
        let missing = self.total - kept;
        let mut stream = Stream { bytes: self.total, ..Stream::default() };
        if missing == 0 {
            let all = [self.head, tail].concat();
            let text = text(&all, &mut stream);
            let text = clean(text, Edge::None, redactor, &mut stream);
            stream.text = shorten(&text, chars, &mut stream.truncated);
            return stream;
        }
        // What was cut in two is cut away: half a secret has no form to know it by.
        let head = clean(text(whole_end(&self.head), &mut stream), Edge::End, redactor, &mut stream);
        let tail = clean(text(whole_start(&tail), &mut stream), Edge::Start, redactor, &mut stream);
        stream.truncated = true;
        stream.text = join(&head, &tail, chars);
        stream
    }
}

fn text(bytes: &[u8], stream: &mut Stream) -> String {
    let text = String::from_utf8_lossy(bytes);
    stream.lossy |= matches!(text, std::borrow::Cow::Owned(_));
    text.into_owned()
}

fn clean(text: String, edge: Edge, redactor: Option<&Redactor>, stream: &mut Stream) -> String {
    let Some(redactor) = redactor else { return text };
    let redacted = redactor.part(&text, edge);
    stream.redactions += redacted.count;
    redacted.text
}

/// Without the beginning of a character at its end.
fn whole_end(bytes: &[u8]) -> &[u8] {
    let from = bytes.len().saturating_sub(4);
    match std::str::from_utf8(&bytes[from..]) {
        Err(error) if error.error_len().is_none() => &bytes[..from + error.valid_up_to()],
        _ => bytes,
    }
}

/// Without the end of a character at its start.
fn whole_start(bytes: &[u8]) -> &[u8] {
    let skip = bytes.iter().take(3).take_while(|byte| (0x80..0xC0).contains(*byte)).count();
    &bytes[skip..]
}

fn shorten(text: &str, chars: usize, truncated: &mut bool) -> String {
    if text.chars().count() <= chars {
        return text.to_owned();
    }
    *truncated = true;
    join(text, text, chars)
}

/// The beginning of `head` and the end of `tail`, `chars` characters in all, with a
/// line between that says that something is missing.
fn join(head: &str, tail: &str, chars: usize) -> String {
    const GAP: &str = "\n[... output left out here ...]\n";
    let room = chars.saturating_sub(GAP.len());
    let begin = room / 4;
    let begin: String = head.chars().take(begin).collect();
    let rest = room - begin.chars().count();
    let skip = tail.chars().count().saturating_sub(rest);
    let end: String = tail.chars().skip(skip).collect();
    let joined = format!("{begin}{GAP}{end}");
    joined.chars().take(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(bytes: &[u8]) -> Kept {
        let mut kept = Kept::default();
        for part in bytes.chunks(1000) {
            kept.add(part);
        }
        kept
    }

    #[test]
    fn short_output_is_kept_whole() {
        let stream = kept("grün\n".as_bytes()).stream(4_000, Some(&Redactor::new()));
        assert_eq!(stream, Stream { text: "grün\n".to_owned(), bytes: 6, ..Stream::default() });
    }

    #[test]
    fn long_output_keeps_beginning_and_end_and_says_so() {
        for size in [4_001, 60_000, 300_000] {
            let lines: String = (0..).map(|n| format!("line {n}\n")).take(size).collect();
            let all = &lines[..size];
            let stream = kept(all.as_bytes()).stream(4_000, Some(&Redactor::new()));
            assert!(stream.truncated);
            assert_eq!(stream.bytes, size as u64);
            assert!(stream.text.chars().count() <= 4_000, "{}", stream.text.chars().count());
            assert!(stream.text.starts_with("line 0\n"));
            assert!(stream.text.contains("output left out here"));
            assert_eq!(stream.text[stream.text.len() - 20..], all[size - 20..]);
        }
    }

    #[test]
    fn characters_are_not_cut_and_bytes_that_are_none_are_said() {
        let many = "ü".repeat(100_000);
        let stream = kept(many.as_bytes()).stream(4_000, Some(&Redactor::new()));
        assert!(!stream.lossy && !stream.text.contains('\u{fffd}'));
        assert!(kept(b"a\xffb").stream(10, None).lossy);
        assert_eq!(kept(b"a\xffb").stream(10, None).text, "a\u{fffd}b");
    }

    #[test]
    fn a_secret_that_is_cut_in_two_does_not_show_a_half() {
        let secret = format!("ghp_{}", "A1".repeat(18));
        // The cut falls into the secret wherever it stands around the end of the head.
        for shift in 0..secret.len() {
            let mut all = vec![b'.'; HEAD - shift - 1];
            all.push(b' ');
            all.extend_from_slice(secret.as_bytes());
            all.extend_from_slice(&vec![b' '; TAIL + 500]);
            let kept = kept(&all);
            let head = String::from_utf8(kept.head.clone()).unwrap();
            let cleaned = Redactor::new().part(&head, Edge::End).text;
            assert!(!cleaned.contains("A1A1"), "{shift}: {}", &cleaned[cleaned.len() - 50..]);
        }
    }
}
