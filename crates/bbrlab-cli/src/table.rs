//! `bbrlab table`: the tables of existing results, for a terminal or another program.

use std::path::Path;

use bbrlab_lab::{LabError, read_results};
use bbrlab_report::{ComparisonLook, Points, TableFormat, compare_table, run_table_as};

use crate::args::TableArgs;
use crate::compare::compared;
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
    let table = match args.folders.as_slice() {
        [folder] => {
            let table = of_folder(folder, format)?;
            output.notes_of_missing(&args.folders);
            table
        }
        folders => {
            let (names, comparison) = compared(folders, output)?;
            compare_table(&names, &comparison, ComparisonLook { is_chosen: false, format })
        }
    };
    output.text(&table)
}

fn of_folder(folder: &Path, format: TableFormat) -> Result<String, LabError> {
    let runs = read_results(folder)?.runs;
    Ok(match runs.as_slice() {
        [run] => run_table_as(run, format),
        runs => {
            let Ok(points) = Points::of(runs);
            points.table_as(format)
        }
    })
}
