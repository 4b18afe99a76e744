//! The supervising process on its own, for programs that embed `owed-gates` and have no
//! command line to hide it in; `owed` carries the same one inside itself. With
//! `observe DIR` it is the observer of checkouts instead.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match (arguments.next(), arguments.next()) {
        (Some(word), Some(dir)) if word == "observe" => owed_gates::check::print_observation(Path::new(&dir)),
        (None, _) => owed_gates::supervise::serve(),
        _ => ExitCode::from(2),
    }
}
