//! Estimates the cost of a scenario, and refuses runs that are too large for the module.

use std::collections::BTreeSet;

use bbrlab_cost::Estimate;
use bbrlab_scenario::Scenario;
use serde::Serialize;

/// The largest number of data packets of a run that the module accepts. A run with this number of
/// packets takes about half an hour, and the user can stop it at any time.
const PACKETS_MAX: u64 = 1_000_000_000;

/// The largest number of events of a run that the module accepts, for runs with few data packets
/// and many other events.
const EVENTS_MAX: u64 = 4 * PACKETS_MAX;

/// The largest number of rows of time series that the lab's page can store and draw.
const ROWS_MAX: u64 = 4_000_000;

/// Memory in bytes of the largest run that the module accepts: half of a module's memory
/// (`MEMORY_MAX` of `xtask/src/web.rs`), because estimates are right within a factor of two. The
/// memory of rows is not included, because the page takes them out of the module during the run.
const BYTES_MAX: u64 = 1_000_000_000;

/// CPU seconds per event in a run with one flow: 34 ns in the command-line program, twice as much
/// in a WebAssembly module.
const SECONDS_PER_EVENT: f64 = 68e-9;

/// The answer to the call `Check`: the scenario's size and cost.
#[derive(Debug, Serialize)]
pub(crate) struct Checked {
    title: String,
    hash: String,
    points: u64,
    repeat: u64,
    runs: u64,
    sweep: Vec<Swept>,
    duration_s: f64,
    flows: u64,
    data_packets: u64,
    events: u64,
    series_rows: u64,
    memory_bytes: u64,
    cpu_s: f64,
    at_most: bool,
    refused: Option<String>,
    notes: Vec<String>,
    settings: Vec<(String, Option<String>)>,
    canonical: String,
}

/// A swept key with its values.
#[derive(Debug, Serialize)]
struct Swept {
    key: String,
    values: Vec<String>,
}

impl Checked {
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let run = Estimate::of_run(scenario, 0);
        Self {
            title: scenario.title().to_owned(),
            hash: scenario.hash().to_owned(),
            points: scenario.points(),
            repeat: scenario.repeat(),
            runs: scenario.runs(),
            sweep: sweep(scenario),
            duration_s: run.sim_s,
            flows: run.flows,
            data_packets: run.data_packets,
            events: run.events,
            series_rows: run.series_rows,
            memory_bytes: memory(&run),
            cpu_s: run.work * SECONDS_PER_EVENT,
            at_most: run.at_most().packets,
            refused: check(&run).err(),
            notes: scenario.notes(),
            settings: scenario.settings(0),
            canonical: scenario.run_toml(0),
        }
    }
}

/// Returns the swept keys. The values of each key are in the order of the sweep.
fn sweep(scenario: &Scenario) -> Vec<Swept> {
    let mut swept: Vec<Swept> = Vec::new();
    let mut seen = BTreeSet::new();
    for point in 0..if scenario.has_sweep() { scenario.points() } else { 0 } {
        for (key, value) in scenario.named_point(point) {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let place = swept.iter().position(|known| known.key == key).unwrap_or_else(|| {
                swept.push(Swept { key, values: Vec::new() });
                swept.len() - 1
            });
            if seen.insert((place, text.clone())) {
                swept[place].values.push(text);
            }
        }
    }
    swept
}

/// Returns the memory of a run in bytes, without its rows, which the lab's page takes out of the
/// module.
fn memory(run: &Estimate) -> u64 {
    run.memory_bytes.saturating_sub(run.rows_bytes)
}

/// Returns an error if a run with this estimate is too large for the module.
///
/// # Errors
/// Fails if the run is too large. The message is a sentence with the value that is too large and a
/// remedy.
pub(crate) fn check(run: &Estimate) -> Result<(), String> {
    let takes = if run.at_most().packets { "can take up to" } else { "takes about" };
    let [packets, events, rows, memory] =
        [run.data_packets, run.events, run.series_rows, memory(run)]
            .map(|amount| format!("{:.1e}", Shown(amount)));
    let advice = "shorten `duration` or lower the rates, or run it with the command line";
    if run.data_packets > PACKETS_MAX {
        return Err(format!(
            "This run {takes} {packets} data packets, and the page runs at most 1e9: {advice}."
        ));
    }
    if run.events > EVENTS_MAX {
        return Err(format!(
            "This run {takes} {events} events, and the page runs at most 4e9: {advice}."
        ));
    }
    if run.series_rows > ROWS_MAX {
        return Err(format!(
            "This run has about {rows} rows of time series, and the page draws at most 4e6: set a longer `sample`, or shorten `duration`."
        ));
    }
    if self::memory(run) > BYTES_MAX {
        return Err(format!(
            "This run needs about {memory} bytes of memory, and the page has 1e9: lower the number of flows, or run it with the command line."
        ));
    }
    Ok(())
}

/// A number that is formatted with a power of ten.
struct Shown(u64);

impl std::fmt::LowerExp for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::LowerExp::fmt(&self.0, f)
    }
}
