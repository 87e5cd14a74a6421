//! `bbrlab compare`: the metrics of several folders of results, or of the values of a swept key,
//! with their differences.

use std::path::{Path, PathBuf};

use bbrlab_lab::{DifferentKey, LabError, different_keys, read_results};
use bbrlab_papers::not_a_metric;
use bbrlab_report::{
    ComparedPoint, ComparisonLook, FolderComparison, TableFormat, compare_table, paired,
    paired_table, value_text,
};
use bbrlab_run::RunSummary;

use crate::args::CompareArgs;
use crate::output::{Output, Stopped, Verdict};

/// Compares the first folder with each other folder, or the values of a key of one sweep.
pub(crate) fn compare(args: &CompareArgs, output: &mut Output) -> Verdict {
    match (&args.paired, args.folders.as_slice()) {
        (Some(key), [folder]) => return compare_pairs(args, key, folder, output),
        (Some(_), folders) => {
            return Err(LabError::Usage(format!(
                "--paired: expected one folder of a sweep, whose runs it compares; found {} folders",
                folders.len()
            ))
            .into());
        }
        (None, [folder]) => {
            return Err(LabError::Usage(format!(
                "expected two folders or more, found only {}; --paired KEY compares the values of a swept key in it",
                folder.display()
            ))
            .into());
        }
        (None, _) => {}
    }
    let (names, mut comparison) = compared(&args.folders, output)?;
    comparison.keep(&args.metric).map_err(unknown)?;
    if args.json {
        return output.json(&comparison);
    }
    output.text(&compare_table(&names, &comparison, look(args, output)))
}

/// Returns the names of the folders, and the comparison of their results. Fails if the folders have
/// no sweep point in common.
pub(crate) fn compared(
    folders: &[PathBuf],
    output: &mut Output,
) -> Result<(Vec<String>, FolderComparison), Stopped> {
    let documents =
        folders.iter().map(|folder| read_results(folder)).collect::<Result<Vec<_>, _>>()?;
    output.notes_of_missing(folders);
    for text in differences(folders) {
        output.note(&text);
    }
    let runs: Vec<&[RunSummary]> = documents.iter().map(|it| it.runs.as_slice()).collect();
    let comparison = bbrlab_report::compare(&runs);
    if !comparison.points.iter().any(ComparedPoint::is_in_all) {
        let found: Vec<String> =
            folders.iter().zip(&runs).map(|(folder, runs)| points_of(folder, runs)).collect();
        return Err(LabError::Usage(format!(
            "expected folders with a point in common, found none: {}",
            found.join("; ")
        ))
        .into());
    }
    let mut scenarios: Vec<&str> = Vec::new();
    for run in runs.iter().copied().flatten() {
        if !scenarios.contains(&run.scenario.as_str()) {
            scenarios.push(&run.scenario);
        }
    }
    if scenarios.len() > 1 {
        let listed = scenarios.join(", ");
        output.note(&format!(
            "the folders have different scenarios ({listed}), whose points are compared if all swept keys have equal values"
        ));
    }
    let names = folders.iter().map(|folder| {
        folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned()
    });
    Ok((names.collect(), comparison))
}

/// Returns a line for each key whose values in the folders' scenarios differ, with the values in
/// the order of the folders.
fn differences(folders: &[PathBuf]) -> Vec<String> {
    /// The largest number of keys that are listed.
    const SHOWN: usize = 6;
    /// The largest number of characters of a value; the value of a trace can have megabytes.
    const LENGTH: usize = 60;
    let keys = different_keys(folders);
    let short = |value: &str| match value.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    };
    let line = |it: &DifferentKey| {
        let values = it.values.iter().map(|value| value.as_deref().map_or("not set".into(), short));
        format!("note: `{}` differs: {}", it.key, values.collect::<Vec<_>>().join(", "))
    };
    let mut lines: Vec<String> = keys.iter().take(SHOWN).map(line).collect();
    if keys.len() > SHOWN {
        lines.push(format!("note: {} more keys differ", keys.len() - SHOWN));
    }
    lines
}

/// Compares one value of a swept key with each of the remaining values. The one value is the first,
/// or the value that the user chose with `--against`.
fn compare_pairs(args: &CompareArgs, key: &str, folder: &Path, output: &mut Output) -> Verdict {
    let document = read_results(folder)?;
    output.notes_of_missing(&args.folders);
    let mut comparison = paired(&document.runs, key, args.against.as_deref())
        .map_err(|reason| LabError::Usage(format!("{}: {reason}", folder.display())))?;
    comparison.keep(&args.metric).map_err(unknown)?;
    if args.json {
        return output.json(&comparison);
    }
    output.text(&paired_table(&comparison, look(args, output)))
}

pub(crate) fn look(args: &CompareArgs, output: &Output) -> ComparisonLook {
    let width = if args.wide { None } else { output.width() };
    ComparisonLook { is_chosen: !args.metric.is_empty(), format: TableFormat::Text(width) }
}

/// Returns the error about an unknown metric. If the name is a metric in the tables of a paper, the
/// error names the command that prints these tables.
pub(crate) fn unknown(reason: String) -> LabError {
    let name = reason.strip_prefix("unknown metric `").and_then(|rest| rest.split('`').next());
    let elsewhere = name.and_then(not_a_metric);
    LabError::Usage(match elsewhere {
        Some(known) => format!("{reason}; {known}"),
        None => reason,
    })
}

/// Returns the path of a folder and the swept keys of its runs, with at most six values of each
/// key. The error about folders without a common sweep point contains this text.
fn points_of(folder: &Path, runs: &[RunSummary]) -> String {
    const SHOWN: usize = 6;
    let mut swept: Vec<(&str, Vec<String>)> = Vec::new();
    for (key, value) in runs.iter().flat_map(|run| &run.point) {
        let value = value_text(value);
        match swept.iter_mut().find(|(known, _)| known == key) {
            Some((_, values)) if values.contains(&value) => {}
            Some((_, values)) => values.push(value),
            None => swept.push((key, vec![value])),
        }
    }
    let listed = |(key, values): &(&str, Vec<String>)| {
        let more = if values.len() > SHOWN { ", …" } else { "" };
        format!("{key} = {}{more}", values[..values.len().min(SHOWN)].join(", "))
    };
    let keys: Vec<String> = swept.iter().map(listed).collect();
    let keys = if keys.is_empty() { "nothing swept".to_owned() } else { keys.join(" and ") };
    format!("{} has {keys}", folder.display())
}
