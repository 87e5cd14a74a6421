//! `bbrlab table`: the tables of existing results, for a terminal or another program.

use std::path::Path;

use bbrlab_lab::{LabError, read_results};
use bbrlab_report::{
    Points, TableFormat, Tables, chosen_sweep_tables, compared_tables, run_tables,
};

use crate::args::TableArgs;
use crate::compare::{compared, unknown};
use crate::output::{Output, Verdict};

/// Prints the table of one folder as `run` does, or of several as `compare` does.
pub(crate) fn table(args: &TableArgs, output: &mut Output) -> Verdict {
    let format = match (args.latex, args.markdown, args.csv) {
        (true, ..) => TableFormat::Latex,
        (_, true, _) => TableFormat::Markdown,
        (.., true) => TableFormat::Csv,
        _ if args.wide => TableFormat::Text(None),
        _ => TableFormat::Text(output.width()),
    };
    let tables = match args.folders.as_slice() {
        [folder] => {
            let tables = of_folder(folder, &args.metric)?;
            output.notes_of_missing(&args.folders);
            tables
        }
        folders => {
            let (names, mut comparison) = compared(folders, output)?;
            comparison.keep(&args.metric).map_err(unknown)?;
            compared_tables(&names, &comparison, !args.metric.is_empty())
        }
    };
    let tables = tables.labelled(&args.legend).map_err(LabError::Usage)?;
    output.text(&tables.formatted(format))
}

/// Returns the usual tables of a folder, or the table of the chosen metrics.
fn of_folder(folder: &Path, metrics: &[String]) -> Result<Tables, LabError> {
    let runs = read_results(folder)?.runs;
    if !metrics.is_empty() {
        return chosen_sweep_tables(&runs, metrics).map_err(unknown);
    }
    Ok(match runs.as_slice() {
        [run] => run_tables(run),
        runs => {
            let Ok(points) = Points::of(runs);
            points.tables()
        }
    })
}
