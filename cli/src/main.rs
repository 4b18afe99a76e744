//! The `owed` binary: arguments, rendering, exit codes; nothing else. What a change
//! owes is decided in `owed-engine`, with the languages and runners of `owed-plugins`.

mod answer;
mod args;
mod child;
mod command;
mod complaint;
mod config;
mod exit;
mod host;
mod memory;
mod near;
mod output;
mod progress;
mod render;
mod session;
mod site;

use std::process::ExitCode;

use crate::args::Cli;
use crate::exit::Exit;
use crate::output::Output;

/// Parsing is many small allocations on every thread. Against the system's allocator: about
/// a tenth less user time in a cold plan, 3 % less with system time, and more memory. Huge pages
/// are not asked for (`no_thp`): each is two megabytes of zeros to write, and a plan needs a tenth.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Readers descend into nested sources; the default of 2 MiB is little for that.
const STACK: usize = 16 << 20;

/// The one word that makes this program the supervisor of another command.
pub(crate) const SUPERVISE: &str = "__supervise";

/// The one word that makes this program print what it sees of a checkout.
pub(crate) const OBSERVE: &str = "__observe";

fn main() -> ExitCode {
    if host::first_word().is_some_and(|word| word == SUPERVISE) {
        return owed_gates::supervise::serve();
    }
    if let Some(dir) = host::second_word().filter(|_| host::first_word().is_some_and(|word| word == OBSERVE))
    {
        return owed_gates::check::print_observation(dir.as_ref());
    }
    let cli = match Cli::read(&host::words()) {
        Ok(cli) => cli,
        Err(message) => return said_by_clap(&message).into(),
    };
    let output = Output::new(&cli.global);
    let exit = match pool(&cli).and_then(|pool| pool.install(|| command::run(&cli, &output))) {
        Ok(exit) => exit,
        Err(error) => {
            output.failure(&error);
            Exit::Unusable
        }
    };
    memory::give_back_at_the_end();
    exit.into()
}

/// Help and versions are answers; everything else clap says is about usage.
fn said_by_clap(message: &clap::Error) -> Exit {
    let exit = if message.use_stderr() { Exit::Unusable } else { Exit::Answered };
    // A reader that went away does not change what the command line said.
    let _ = message.print();
    exit
}

fn pool(cli: &Cli) -> anyhow::Result<rayon::ThreadPool> {
    let threads = cli.global.threads.map_or(0, usize::from);
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build()?)
}
