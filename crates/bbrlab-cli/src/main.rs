//! The `bbrlab` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    let again = std::env::current_exe().map_or_else(|_| "bbrlab".into(), Into::into);
    ExitCode::from(bbrlab_cli::run_command(std::env::args_os(), &[again]))
}
