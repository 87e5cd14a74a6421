//! `bbrlab table`: the tables of existing results, for a terminal or another program.

use std::path::Path;

use bbrlab_lab::{LabError, read_results};
use bbrlab_report::{
    TableFormat, Tables, chosen_sweep_tables, compared_tables, paired, paired_tables, run_tables,
    runs_where, where_words,
};
use bbrlab_run::RunSummary;

use crate::args::TableArgs;
use crate::compare::{compared, unknown};
use crate::output::{Output, Verdict};

/// Prints the table of one folder as `run` does, or the comparison of several folders as `compare`
/// does.
pub(crate) fn table(args: &TableArgs, output: &mut Output) -> Verdict {
    let format = match (args.latex, args.markdown, args.csv) {
        (true, ..) => TableFormat::Latex,
        (_, true, _) => TableFormat::Markdown,
        (.., true) => TableFormat::Csv,
        _ if args.wide => TableFormat::Text(None),
        _ => TableFormat::Text(output.width()),
    };
    let tables = match (args.folders.as_slice(), &args.paired) {
        ([folder], paired) => {
            let runs = read_results(folder)?.runs;
            let tables = match paired {
                Some(key) => of_pairs(args, key, folder, &runs)?,
                None => of_folder(args, folder, &runs)?,
            };
            output.notes_of_missing(&args.folders);
            tables
        }
        (folders, Some(_)) => {
            return Err(LabError::Usage(format!(
                "--paired: expected one folder of a sweep, whose runs it compares; found {} folders",
                folders.len()
            ))
            .into());
        }
        (folders, None) => {
            refuse_choice(args, "one folder of a sweep, found several folders")?;
            let (names, mut comparison) = compared(folders, output)?;
            comparison.keep(&args.metric).map_err(unknown)?;
            compared_tables(&names, &comparison, !args.metric.is_empty())
        }
    };
    let tables = tables.without(&args.omit).map_err(LabError::Usage)?;
    let tables = tables.labelled(&args.legend).map_err(LabError::Usage)?;
    output.text(&tables.formatted(format))
}

/// Returns the tables that `run` prints for the results in a folder or, if the user chose metrics,
/// the table of these metrics.
fn of_folder(args: &TableArgs, folder: &Path, runs: &[RunSummary]) -> Result<Tables, LabError> {
    if let ([run], []) = (runs, args.metric.as_slice()) {
        refuse_choice(args, "a sweep, found a single run")?;
        return Ok(run_tables(run));
    }
    let (runs, only) = chosen(args, folder, runs)?;
    let tables = chosen_sweep_tables(&runs, &args.metric, &args.group).map_err(unknown)?;
    Ok(tables.only(&only))
}

/// Returns the table that compares the values of the swept key `key`, seed by seed.
fn of_pairs(
    args: &TableArgs,
    key: &str,
    folder: &Path,
    runs: &[RunSummary],
) -> Result<Tables, LabError> {
    let (runs, only) = chosen(args, folder, runs)?;
    let mut comparison = paired(&runs, key, args.against.as_deref())
        .map_err(|reason| LabError::Usage(format!("{}: {reason}", folder.display())))?;
    comparison.keep(&args.metric).map_err(unknown)?;
    Ok(paired_tables(&comparison, !args.metric.is_empty()).only(&only))
}

/// Returns the runs that the user chose with `--where`, and the text that names the chosen values.
fn chosen(
    args: &TableArgs,
    folder: &Path,
    runs: &[RunSummary],
) -> Result<(Vec<RunSummary>, String), LabError> {
    let wrong = |reason: String| LabError::Usage(format!("{}: {reason}", folder.display()));
    let only = where_words(runs, &args.only).map_err(wrong)?;
    Ok((runs_where(runs, &args.only).map_err(wrong)?, only))
}

/// Returns an error that names the flag if the user chose runs (`--where`) or groups (`--group`).
/// Called where such a choice has no effect.
fn refuse_choice(args: &TableArgs, expected: &str) -> Result<(), LabError> {
    let flag = match (args.only.as_slice(), args.group.as_slice()) {
        ([], []) => return Ok(()),
        ([], _) => "--group",
        _ => "--where",
    };
    Err(LabError::Usage(format!("{flag}: expected {expected}")))
}
