//! Writes the JSON document of one or more runs, `bbrlab_run::RunsDocument`. The document is
//! written one run at a time, so that the results of a sweep's runs need not all be in memory.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, Write};

use bbrlab_report::Members;
use bbrlab_run::{RunSummary, Runs};
use serde::ser::{Error as _, SerializeSeq as _};
use serde::{Serialize, Serializer};

use crate::provenance::{COMMIT, VERSION};
use crate::unwritten::Unwritten;

/// The largest number of flows for which the JSON is indented. With more flows, the JSON is not
/// indented, because most of its bytes would be indentation and people do not read such long
/// documents.
const FLOWS_INDENTED: usize = 1000;

/// Writes `summary.json`: the results of the runs and, for a sweep, the groups of runs that differ
/// only in the seed. The bytes are the same on every machine.
///
/// # Errors
/// Fails if `out` cannot be written to, or a run cannot be read.
pub fn write_summary_json<R>(
    out: impl Write,
    runs: &R,
    is_sweep: bool,
) -> Result<(), Unwritten<R::Error>>
where
    R: Runs + ?Sized,
    R::Error: Display,
{
    let mut flows = 0;
    let members = Members::of(runs, |run| flows += run.flows.len()).map_err(Unwritten::Without)?;
    let form = Form { has_time: false, has_groups: is_sweep, is_indented: flows <= FLOWS_INDENTED };
    write(out, runs, &members, form)
}

/// Writes the output of `--json` for several batches, each with the runs of one scenario. The
/// document has the results of the runs with their CPU time. If there are several runs, it also has
/// the means over runs that differ only in the seed.
///
/// # Errors
/// Fails if `out` cannot be written to, or a run cannot be read.
pub fn write_runs_json<R>(out: impl Write, batches: &[R]) -> Result<(), Unwritten<R::Error>>
where
    R: Runs,
    R::Error: Display,
{
    let runs = &Joined(batches);
    let members = Members::of(runs, |_| {}).map_err(Unwritten::Without)?;
    let form = Form { has_time: true, has_groups: runs.count() > 1, is_indented: true };
    write(out, runs, &members, form)
}

/// The parts that the JSON document has besides the results of runs, and whether the JSON is
/// indented.
#[derive(Clone, Copy)]
struct Form {
    has_time: bool,
    has_groups: bool,
    is_indented: bool,
}

fn write<R>(
    mut out: impl Write,
    runs: &R,
    members: &Members,
    form: Form,
) -> Result<(), Unwritten<R::Error>>
where
    R: Runs + ?Sized,
    R::Error: Display,
{
    let failed = RefCell::new(None);
    let document = Document {
        version: VERSION,
        commit: COMMIT,
        runs: EachRun { runs, has_time: form.has_time, failed: &failed },
        groups: form.has_groups.then_some(EachGroup { runs, members, failed: &failed }),
    };
    let written = if form.is_indented {
        serde_json::to_writer_pretty(&mut out, &document)
    } else {
        serde_json::to_writer(&mut out, &document)
    };
    if let Some(error) = failed.take() {
        return Err(Unwritten::Without(error));
    }
    written.map_err(io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

/// The runs of several batches in one JSON document.
struct Joined<'a, R>(&'a [R]);

impl<R: Runs> Runs for Joined<'_, R> {
    type Error = R::Error;

    fn count(&self) -> usize {
        self.0.iter().map(Runs::count).sum()
    }

    fn get(&self, place: usize) -> Result<Cow<'_, RunSummary>, R::Error> {
        let mut place = place;
        for batch in self.0 {
            if place < batch.count() {
                return batch.get(place);
            }
            place -= batch.count();
        }
        panic!("there is no run with the index {place}")
    }
}

#[derive(Serialize)]
#[serde(bound = "R::Error: Display")]
struct Document<'a, R: Runs + ?Sized> {
    version: &'a str,
    commit: &'a str,
    runs: EachRun<'a, R>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<EachGroup<'a, R>>,
}

/// The results of all runs. In `summary.json`, results have no CPU time, because it differs each
/// time a run is computed.
struct EachRun<'a, R: Runs + ?Sized> {
    runs: &'a R,
    has_time: bool,
    /// The reason why a run's results could not be read; `None` if there was no such error.
    failed: &'a RefCell<Option<R::Error>>,
}

impl<R: Runs + ?Sized> Serialize for EachRun<'_, R>
where
    R::Error: Display,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let as_written = |run: Cow<'_, RunSummary>| {
            let cpu_s = run.cpu_s.filter(|_| self.has_time);
            RunSummary { cpu_s, ..run.into_owned() }
        };
        each(serializer, self.runs.each().map(|run| run.map(as_written)), self.failed)
    }
}

/// The groups of runs that differ only in the seed. The groups are computed and serialised one at a
/// time.
struct EachGroup<'a, R: Runs + ?Sized> {
    runs: &'a R,
    members: &'a Members,
    failed: &'a RefCell<Option<R::Error>>,
}

impl<R: Runs + ?Sized> Serialize for EachGroup<'_, R>
where
    R::Error: Display,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        each(serializer, self.members.groups(self.runs), self.failed)
    }
}

/// Serialises `records` one at a time. Stops at the first record that cannot be read, and stores
/// the error in `failed`.
fn each<S: Serializer, T: Serialize, E: Display>(
    serializer: S,
    records: impl Iterator<Item = Result<T, E>>,
    failed: &RefCell<Option<E>>,
) -> Result<S::Ok, S::Error> {
    let mut sequence = serializer.serialize_seq(None)?;
    for record in records {
        match record {
            Ok(record) => sequence.serialize_element(&record)?,
            Err(error) => {
                let told = S::Error::custom(&error);
                failed.replace(Some(error));
                return Err(told);
            }
        }
    }
    sequence.end()
}
