//! The supervising process on its own, for programs that embed `owed-gates` and have
//! no command line to hide it in; `owed` carries the same one inside itself.

fn main() -> std::process::ExitCode {
    owed_gates::supervise::serve()
}
