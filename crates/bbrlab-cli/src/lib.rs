//! The `bbrlab` command: parses the command line, calls the lab and prints the result. The command
//! is a library because the Python package installs the same command.
//!
//! Results go to standard output, messages to standard error. Exit status: 0 done, 1 the run or a
//! check failed, 2 bad usage or bad input, 130 interrupted.

mod args;
mod bench;
mod builtin_id;
mod check;
mod compare;
mod evaluate;
mod import;
mod kernel;
mod lab;
mod list;
mod merge;
mod ns3;
mod output;
mod plot;
mod progress;
mod random_worlds;
mod reproduce;
mod reproduce_on;
mod reproduce_text;
mod run;
mod run_on;
mod shell_files;
mod show;
mod table;
mod unknown_flag;
mod validate;
mod validate_linux;
mod worlds;

use std::ffi::OsString;

use bbrlab_lab::{LabError, Stop, plain};
use clap::Parser as _;

use crate::args::{Cli, Verb};
use crate::output::{Output, Stopped, Verdict};
pub use crate::shell_files::shell_files;
use crate::unknown_flag::explained;

/// Runs a user's command line, whose first word is the program's name, and returns the exit status.
/// `again` is the beginning of a command line that starts this command in another process: the
/// path of the program, or `python -m bbrlab` if Python runs the command.
#[must_use]
pub fn run_command(words: impl IntoIterator<Item = OsString>, again: &[OsString]) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    let cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(answer) => {
            let answer = explained(answer, &words);
            // Help and version also arrive here, because clap returns them as errors. If printing
            // fails, for example because the terminal was closed, the failure is ignored.
            let _ = answer.print();
            return u8::try_from(answer.exit_code()).unwrap_or(2);
        }
    };
    let mut output = Output::of_user(again.to_vec());
    let result = call(&cli.verb, &mut output);
    output.end(result)
}

/// Runs a command line and returns the printed results to the calling program, without messages and
/// progress. The first word of the command line is a subcommand, not the program's name.
///
/// # Errors
/// Fails if the command line is invalid, or if the subcommand fails or is stopped.
pub fn answer<'a>(
    words: impl IntoIterator<Item = &'a str>,
    stop: &Stop,
) -> Result<String, LabError> {
    let words = std::iter::once("bbrlab").chain(words);
    let cli = Cli::try_parse_from(words).map_err(|error| {
        let text = error.render().to_string();
        LabError::Usage(text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned())
    })?;
    let mut output = Output::of_program(stop.clone());
    match call(&cli.verb, &mut output) {
        // The printed text already contains the reason for the status.
        Ok(()) | Err(Stopped::Status(_)) => {}
        Err(Stopped::Lab(error)) => return Err(error),
        Err(Stopped::Output(error)) => return Err(LabError::Failed(plain(&error))),
    }
    Ok(String::from_utf8_lossy(&output.answer()).into_owned())
}

fn call(verb: &Verb, output: &mut Output) -> Verdict {
    match verb {
        Verb::Run(args) => run::run(args, output),
        Verb::Merge(args) => merge::merge(args, output),
        Verb::Reproduce(args) => reproduce::reproduce(args, output),
        Verb::Lab(args) => lab::lab(args, output),
        Verb::List(args) => list::list(args, output),
        Verb::Show(args) => show::show(args, output),
        Verb::New(args) => show::new(args, output),
        Verb::Check(args) => check::check(args, output),
        Verb::Validate(args) => validate::validate(args, output),
        Verb::Plot(args) => plot::plot(args, output),
        Verb::Import(args) => import::import(args, output),
        Verb::Export(args) => plot::export(args, output),
        Verb::Table(args) => table::table(args, output),
        Verb::Compare(args) if args.on.is_empty() => compare::compare(args, output),
        Verb::Compare(args) => worlds::compare(args, output),
        Verb::Report(args) => plot::report(args, output),
        Verb::Kernel(args) => kernel::kernel(args, output),
        Verb::Ns3(args) => ns3::ns3(args, output),
        Verb::Evaluate(args) => evaluate::evaluate(args, output),
        Verb::Bench(args) => bench::bench(args, output),
        Verb::BenchCase(args) => bench::one(args, output),
        Verb::Completions { shell } => {
            output.text(&String::from_utf8_lossy(&shell_files::completions(*shell)))
        }
    }
}
