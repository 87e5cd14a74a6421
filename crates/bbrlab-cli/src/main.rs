//! The `bbrlab` command: parse, call, print.
//!
//! Results go to standard output, messages to standard error. Exit status: 0 done, 1 the run or a
//! check failed, 2 bad usage or bad input, 130 interrupted.

mod args;
mod bench;
mod check;
mod compare;
mod interrupt;
mod list;
mod output;
mod plot;
mod progress;
mod reproduce;
mod run;
mod show;
mod validate;
mod validate_linux;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use crate::args::{Cli, Verb};
use crate::output::Output;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut output = Output::new();
    let result = match &cli.verb {
        Verb::Run(args) => run::run(args, &mut output),
        Verb::Reproduce(args) => reproduce::reproduce(args, &mut output),
        Verb::List(args) => list::list(args, &mut output),
        Verb::Show(args) => show::show(args, &mut output),
        Verb::New(args) => show::new(args, &mut output),
        Verb::Check(args) => check::check(args, &mut output),
        Verb::Validate(args) => validate::validate(args, &mut output),
        Verb::Plot(args) => plot::plot(args, &mut output),
        Verb::Export(args) => plot::export(args, &mut output),
        Verb::Compare(args) => compare::compare(args, &mut output),
        Verb::Report(args) => plot::report(args, &mut output),
        Verb::Bench(args) => bench::bench(args, &mut output),
        Verb::BenchCase(args) => bench::one(args, &mut output),
        Verb::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "bbrlab", &mut script);
            output.text(&String::from_utf8_lossy(&script))
        }
    };
    output.end(result)
}
