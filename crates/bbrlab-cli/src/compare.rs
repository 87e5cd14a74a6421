//! `bbrlab compare`: folders of results side by side.

use bbrlab_lab::{LabError, read_document};
use bbrlab_report::compare_table;
use bbrlab_run::RunSummary;

use crate::args::CompareArgs;
use crate::output::{Output, Verdict};

/// Compares the folders, the first with each of the others.
pub(crate) fn compare(args: &CompareArgs, output: &mut Output) -> Verdict {
    let documents =
        args.folders.iter().map(|folder| read_document(folder)).collect::<Result<Vec<_>, _>>()?;
    let runs: Vec<&[RunSummary]> = documents.iter().map(|it| it.runs.as_slice()).collect();
    let comparison = bbrlab_report::compare(&runs);
    if !comparison.points.iter().any(|point| point.is_in_all) {
        let swept = |runs: &&[RunSummary]| -> Vec<String> {
            runs.first().map(|run| run.point.keys().cloned().collect()).unwrap_or_default()
        };
        let keys: Vec<String> =
            runs.iter().map(|runs| format!("[{}]", swept(runs).join(", "))).collect();
        return Err(LabError::Usage(format!(
            "expected folders with a point in common; found none: the swept keys are {}",
            keys.join(" and ")
        ))
        .into());
    }
    if args.json {
        return output.json(&comparison);
    }
    let width = if args.wide { None } else { Output::width() };
    let names: Vec<String> = args
        .folders
        .iter()
        .map(|folder| {
            folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned()
        })
        .collect();
    output.text(&compare_table(&names, &comparison, width))
}
