//! `bbrlab import`: converts the files of a measurement in a testbed to the result files of a run.

use bbrlab_exchange::{ImportOptions, Imported};
use bbrlab_lab::{COMMIT, VERSION};
use bbrlab_report::{TableFormat, run_tables};
use bbrlab_run::RunsDocument;

use crate::args::ImportArgs;
use crate::output::{Output, Verdict};

/// Imports the files and prints the table of the run.
pub(crate) fn import(args: &ImportArgs, output: &mut Output) -> Verdict {
    let options = ImportOptions {
        out: args.out.clone(),
        force: args.force,
        name: args.name.clone(),
        cc: args.cc.clone(),
        side: args.side,
    };
    let Imported { summary, notes } = bbrlab_exchange::import(&args.files, &options)?;
    if !args.quiet {
        for note in &notes {
            output.note(&format!("note: {note}"));
        }
    }
    if args.json {
        let (version, commit) = (VERSION.to_owned(), COMMIT.to_owned());
        return output.json(&RunsDocument { version, commit, runs: vec![summary], groups: None });
    }
    let width = output.width();
    output.text(&run_tables(&summary).formatted(TableFormat::Text(width)))?;
    output.text(&format!("{}\n", args.out.display()))
}
