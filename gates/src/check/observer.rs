//! The preflight's program: it prints one observation and ends.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use crate::observe::{Observed, Unobserved, observe};

/// Prints the observation of the checkout around `dir` as one line of JSON. To be called
/// by the program that is an [`super::Executor::observer`], and by nothing else in it.
pub fn print_observation(dir: &Path) -> ExitCode {
    match observe(dir) {
        Ok(observed) => {
            let line = serde_json::to_string(&observed).expect("texts have a form in JSON");
            let printed = writeln!(std::io::stdout(), "{line}");
            if printed.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(Unobserved::NoCheckout) => ExitCode::from(3),
        Err(Unobserved::Git(_)) => ExitCode::from(4),
        Err(Unobserved::Path) => ExitCode::from(5),
    }
}

/// Reads a saved observation back, as strictly as it was written: one line, its fields and
/// no others, of the checkout that was asked about.
pub(super) fn read(saved: &str, checkout: &Path) -> Option<Observed> {
    let observed: Observed = serde_json::from_str(saved.strip_suffix('\n')?).ok()?;
    let is_digest = observed.fingerprint.rsplit_once(':').is_some_and(|(_, digits)| is_hex(digits, 64));
    let is_commit = observed.head.as_ref().is_none_or(|head| is_hex(head, 40) || is_hex(head, 64));
    (observed.path == checkout.to_str()? && is_digest && is_commit).then_some(observed)
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
