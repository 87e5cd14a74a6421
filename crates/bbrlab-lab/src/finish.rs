//! Writes the summary and the plots of a sweep when all of its runs are in their folders.

use std::path::Path;

use bbrlab_backends::{LabError, SIMULATOR};
use bbrlab_report::Points;
use bbrlab_results::{COMMIT, VERSION, write_summary, write_summary_json};
use bbrlab_run::Runs as _;
use bbrlab_scenario::Scenario;

use crate::atomic_file::{sync_folder, write_by};
use crate::lock::Lock;
use crate::own_plots::Draw;
use crate::picture_files::write_missing_pictures;
use crate::records::{Held, RECORDS_HELD, Records, folder_of, named_as_in};
use crate::run_folder::{
    Found, Maker, RunKey, SUMMARY_JSON, SUMMARY_PARQUET, complete_key, examine, read_sweep,
};

/// The number of complete runs of a sweep, and the results of the sweep's runs.
#[derive(Debug)]
pub struct SweepStatus<'s> {
    /// The number of the sweep's runs that are complete in its folder.
    pub complete: u64,
    /// The results of all runs; empty if not all runs are complete.
    pub records: Records<'s>,
}

/// Writes the summary and the plots of a sweep if all of its runs are complete in its folder.
///
/// # Errors
/// Fails if a file cannot be written.
pub fn finish_if_complete<'s>(
    scenario: &'s Scenario,
    out: &Path,
    pictures: bool,
) -> Result<SweepStatus<'s>, LabError> {
    let _lock = Lock::take(out)?;
    let maker = read_sweep(out).map_or_else(|| Maker::with(SIMULATOR), |sweep| sweep.maker);
    finish(scenario, &maker, out, Draw::of(pictures, false))
}

/// Does the same as [`finish_if_complete`], for a caller that already holds the folder's lock.
pub(crate) fn finish<'s>(
    scenario: &'s Scenario,
    maker: &Maker,
    out: &Path,
    draw: Draw,
) -> Result<SweepStatus<'s>, LabError> {
    let folder = |number| folder_of(out, scenario, number, &maker.backend);
    let key = |number| RunKey::of(scenario, number, &maker.backend);
    let is_there = |number: &u64| complete_key(&folder(*number)) == Some(key(*number));
    let records_of =
        |numbers, held| Records::new(scenario, maker, Some(out.to_path_buf()), numbers, held);
    let there = (0..scenario.runs()).filter(is_there).count() as u64;
    if there < scenario.runs() {
        return Ok(SweepStatus { complete: there, records: records_of(0..0, Held::new(0)) });
    }
    // Every run is marked as complete by its `run.json`. Check the runs' other files against the
    // hashes in `run.json`.
    let (mut complete, mut held) = (0, Held::new(RECORDS_HELD));
    for number in 0..scenario.runs() {
        if let Found::Complete(found) = examine(&folder(number), &key(number), maker) {
            held.offer(number, Box::new(named_as_in(scenario, number, *found)));
            complete += 1;
        }
    }
    if complete < scenario.runs() {
        return Ok(SweepStatus { complete, records: records_of(0..0, held) });
    }
    let records = records_of(0..complete, held);
    write_sweep(scenario, &records, out, draw)?;
    Ok(SweepStatus { complete, records })
}

/// Writes the summary of all runs of a sweep, and the sweep's plots.
///
/// # Errors
/// Fails if a file cannot be written, or a run cannot be read.
pub(crate) fn write_sweep(
    scenario: &Scenario,
    runs: &Records<'_>,
    out: &Path,
    draw: Draw,
) -> Result<(), LabError> {
    if runs.count() == 0 {
        return Ok(());
    }
    write_by(&out.join(SUMMARY_PARQUET), |file| {
        write_summary(file, runs, &sweep_origin(scenario))
    })?;
    write_by(&out.join(SUMMARY_JSON), |file| write_summary_json(file, runs, true))?;
    if draw != Draw::Nothing {
        let title = if scenario.title().is_empty() { scenario.name() } else { scenario.title() };
        write_missing_pictures(out, &Points::of(runs)?.pictures(title), draw)?;
    }
    sync_folder(out)
}

/// Returns the metadata of a sweep's Parquet file. Seeds and hashes are not metadata, because they
/// are columns of the file.
fn sweep_origin(scenario: &Scenario) -> [(&'static str, String); 3] {
    [
        ("bbrlab.version", VERSION.to_owned()),
        ("bbrlab.commit", COMMIT.to_owned()),
        ("bbrlab.scenario", scenario.name().to_owned()),
    ]
}
