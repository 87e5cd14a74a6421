//! The papers' experiments: published figures next to measured ones.
//!
//! An experiment is a built-in scenario and the rows that its paper printed. Each run is located by the paper's
//! own keys (algorithm, bandwidth, delay ...), the paper's metrics are computed by the paper's own formulas and
//! in its units, and the figures printed for the same place are shown next to them.

mod locate;
mod metrics;

use std::path::PathBuf;

use bbrlab_report::{PublishedCell, PublishedRow, interval};
use bbrlab_run::Run;
use bbrlab_scenario::Scenario;
use toml::{Table, Value};

pub use self::locate::NO_KEY;
use self::locate::{Place, place_of};
use self::metrics::{Measured, measure};
use crate::batch::{Batch, BatchOptions, default_out, run_batch};
use crate::error::LabError;
use crate::limit::check_limit;
use crate::papers::{Experiment, Paper, papers};
use crate::picture_files::{plot, read_series};
use crate::pool::{Pool, Progress, Worker};
use crate::stop::Stop;

/// Seeds of an experiment by default.
pub const DEFAULT_SEEDS: u64 = 5;

/// From this rate on, the default is one seed.
const FAST_BPS: u64 = 1_000_000_000;

/// How experiments are reproduced.
#[derive(Clone, Debug)]
pub struct ReproduceOptions {
    /// Seeds per point; `None` means the default.
    pub seeds: Option<u64>,
    /// First seed.
    pub seed: Option<u64>,
    /// The folder in which each experiment gets its own.
    pub out: Option<PathBuf>,
    /// Whether to recompute complete runs.
    pub force: bool,
    /// Whether to draw pictures beside the data.
    pub pictures: bool,
    /// Runs at a time.
    pub jobs: usize,
    /// The limit on the work, in data packets.
    pub limit: u64,
    /// Set when the user asks for an early end.
    pub stop: Stop,
}

/// An experiment with its published and measured figures.
#[derive(Clone, Debug)]
pub struct Reproduced {
    /// Its id.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// Tables and figures of the paper.
    pub source: Vec<String>,
    /// What a reader should know before comparing.
    pub note: &'static str,
    /// Hash of the scenario with its seeds.
    pub scenario_hash: String,
    /// Rows, in the order of the sweep.
    pub rows: Vec<PublishedRow>,
    /// The number of seeds of each row.
    pub seeds: Vec<u64>,
    /// The scenario hash of each row.
    pub hashes: Vec<String>,
    /// Where runs and pictures are.
    pub out: PathBuf,
    /// CPU seconds of all its runs.
    pub cpu_s: f64,
    /// Runs computed by this call.
    pub computed: u64,
    /// Runs that were found complete.
    pub found: u64,
}

/// The experiments that the user names: `PAPER`, `PAPER.EXPERIMENT`, or nothing for all.
///
/// # Errors
/// If there is no such paper or experiment, or no scenario for it yet.
pub fn select(names: &[String]) -> Result<Vec<&'static Experiment>, LabError> {
    let built = |paper: &'static Paper| paper.experiments.iter().filter(|e| e.is_built);
    if names.is_empty() {
        return Ok(papers().iter().flat_map(built).collect());
    }
    let mut selected: Vec<&'static Experiment> = Vec::new();
    for name in names {
        let of_paper: Vec<&Experiment> =
            papers().iter().filter(|paper| paper.key == *name).flat_map(built).collect();
        let is_paper = papers().iter().any(|paper| paper.key == *name);
        if is_paper && of_paper.is_empty() {
            return Err(LabError::Usage(format!("`{name}`: none of its experiments is built yet")));
        }
        let all = papers().iter().flat_map(|paper| &paper.experiments);
        let named: Vec<&'static Experiment> = match all.clone().find(|e| e.id == *name) {
            Some(experiment) if experiment.is_built => vec![experiment],
            Some(_) => return Err(LabError::Usage(format!("`{name}` is not built yet"))),
            None if is_paper => of_paper,
            None => {
                let built: Vec<&str> = all.filter(|e| e.is_built).map(|e| e.id.as_str()).collect();
                return Err(LabError::Usage(format!(
                    "`{name}`: no such paper or experiment; there are {}",
                    built.join(", ")
                )));
            }
        };
        for experiment in named {
            if !selected.iter().any(|e| e.id == experiment.id) {
                selected.push(experiment);
            }
        }
    }
    Ok(selected)
}

/// Runs an experiment and compares.
///
/// # Errors
/// If a run or a write fails, or the user interrupts it.
///
/// # Panics
/// If an assertion in the simulator fails, which is a bug.
pub fn reproduce(
    experiment: &Experiment,
    options: &ReproduceOptions,
    watch: impl FnMut(Progress),
) -> Result<Reproduced, LabError> {
    let seeds = options.seeds.unwrap_or(DEFAULT_SEEDS);
    let mut sets = vec![format!("repeat={seeds}")];
    sets.extend(options.seed.map(|seed| format!("seed={seed}")));
    let scenario = Scenario::builtin(&experiment.id, &sets)?;
    check_limit(&scenario.estimate(), options.jobs, options.limit)?;
    let own = default_out(&scenario);
    let out = match &options.out {
        Some(out) => out.join(own.file_name().expect("the default has a name")),
        None => own,
    };
    let batch_options = BatchOptions {
        out: Some(out.clone()),
        force: options.force,
        jobs: options.jobs,
        pictures: options.pictures,
        leave_out: if options.seeds.is_none() { Some(is_fast_and_repeated) } else { None },
        stop: options.stop.clone(),
    };
    let batch = run_batch(&scenario, &batch_options, watch)?;
    if batch.is_interrupted {
        return Err(LabError::Interrupted(format!(
            "interrupted: {} of {} runs of {} are finished and in {}; the same command continues from there",
            batch.runs.len(),
            scenario.runs(),
            experiment.id,
            out.display()
        )));
    }
    let groups = groups_of(&scenario, &batch);
    if options.pictures {
        draw_first_seeds(&batch, &groups, options.jobs, &options.stop)?;
    }
    let (rows, seeds, hashes) = compare(experiment, &batch, &groups)?;
    Ok(Reproduced {
        id: experiment.id.clone(),
        title: experiment.title.clone(),
        source: experiment.source.clone(),
        note: note(&experiment.id),
        scenario_hash: scenario.hash().to_owned(),
        rows,
        seeds,
        hashes,
        out,
        cpu_s: batch.runs.iter().filter_map(|run| run.cpu_s).sum(),
        computed: batch.computed,
        found: batch.found,
    })
}

/// At 1 Gbit/s and above only the first seed of each point is run unless the user asks for more.
fn is_fast_and_repeated(scenario: &Scenario, number: u64) -> bool {
    let is_repeated = !number.is_multiple_of(scenario.repeat());
    is_repeated && {
        let run = scenario.run(number);
        run.links.iter().any(|link| link.rate.at_start().is_some_and(|rate| rate.0 >= FAST_BPS))
    }
}

/// The runs of one point.
struct OfPoint {
    /// One of them, resolved.
    run: Run,
    /// Their indices in the batch.
    members: Vec<usize>,
}

fn groups_of(scenario: &Scenario, batch: &Batch) -> Vec<OfPoint> {
    let mut groups: Vec<(u64, OfPoint)> = Vec::new();
    for (place, &number) in batch.numbers.iter().enumerate() {
        let (point, _) = scenario.point_and_seed(number);
        match groups.last_mut() {
            Some((last, group)) if *last == point => group.members.push(place),
            _ => groups.push((point, OfPoint { run: scenario.run(number), members: vec![place] })),
        }
    }
    let mut groups: Vec<OfPoint> = groups.into_iter().map(|(_, group)| group).collect();
    // As in the papers: grouped by algorithm, otherwise in the order of the sweep.
    let ccs: Vec<_> = groups.iter().map(|group| group.run.class(0).cc).collect();
    groups.sort_by_key(|group| ccs.iter().position(|&cc| cc == group.run.class(0).cc));
    groups
}

/// Draws the first seed of every point over time, beside its data, on all cores.
fn draw_first_seeds(
    batch: &Batch,
    groups: &[OfPoint],
    jobs: usize,
    stop: &Stop,
) -> Result<(), LabError> {
    let undrawn: Vec<&PathBuf> = groups
        .iter()
        .filter_map(|group| batch.folders[*group.members.first()?].as_ref())
        .filter(|folder| !(folder.join("run.svg").exists() && folder.join("run.png").exists()))
        .collect();
    let work = |folder: &&PathBuf, _: &Worker<'_>| plot(folder, None);
    Pool { jobs, stop }.each(&undrawn, |_| 1, work, |_| {}).map(drop)
}

type Compared = (Vec<PublishedRow>, Vec<u64>, Vec<String>);

fn compare(
    experiment: &Experiment,
    batch: &Batch,
    groups: &[OfPoint],
) -> Result<Compared, LabError> {
    let places: Vec<Place> =
        groups.iter().map(|group| place_of(&group.run, &experiment.id)).collect();
    let shown = locate::shown_keys(&places);
    let wants_series = experiment.metrics.iter().any(|metric| metrics::wants_series(metric));
    let (mut rows, mut seeds, mut hashes) = (Vec::new(), Vec::new(), Vec::new());
    for (group, place) in groups.iter().zip(&places) {
        let printed: Vec<&Table> =
            experiment.rows.iter().filter(|row| place.matches(row)).collect();
        let mut measured: Vec<Vec<metrics::Figure>> = Vec::new();
        for &member in &group.members {
            let series = match &batch.folders[member] {
                Some(folder) if wants_series => Some(read_series(folder)?),
                _ => None,
            };
            let of_run =
                Measured { run: &group.run, summary: &batch.runs[member], series: series.as_ref() };
            measured.push(measure(experiment, &of_run));
        }
        let mut cells = Vec::new();
        for (at, figure) in measured[0].iter().enumerate() {
            let values: Vec<f64> = measured.iter().filter_map(|run| run[at].value).collect();
            let found = interval(&values);
            let published = printed.iter().find_map(|row| row.get(figure.metric).and_then(number));
            cells.push(PublishedCell {
                metric: figure.name.clone(),
                unit: figure.unit.to_owned(),
                published,
                measured: found.mean,
                half: found.half,
                decimals: decimals(experiment, figure),
            });
        }
        rows.push(PublishedRow { keys: place.words(&shown), cells });
        seeds.push(group.members.len() as u64);
        hashes.push(group.run.scenario_hash.clone());
    }
    Ok((rows, seeds, hashes))
}

/// As many decimals as the paper prints for this metric, and at least as many as the figure asks for.
fn decimals(experiment: &Experiment, figure: &metrics::Figure) -> usize {
    let printed = experiment.rows.iter().filter_map(|row| row.get(figure.metric));
    let most = printed
        .map(|value| match value {
            Value::Float(value) => {
                let text = value.to_string();
                text.split_once('.').map_or(0, |(_, decimals)| decimals.len())
            }
            _ => 0,
        })
        .max();
    most.unwrap_or(0).max(figure.decimals)
}

fn number(value: &Value) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "printed figures are small")]
    match value {
        Value::Float(value) => Some(*value),
        Value::Integer(value) => Some(*value as f64),
        _ => None,
    }
}

/// What a reader should know before comparing: how the paper's runs differ from ours.
fn note(id: &str) -> &'static str {
    match id {
        "lanigan2020.single-flow" => {
            "Units and formulas are the thesis's: throughput in Mibit/s of IP packets over the flow's time, \
             goodput in Mbit/s over the duration plus 1 s. Its runs held a second, unreported flow, socket \
             buffers of 131072 bytes and 100 packets more of queue ([as_run] in papers/lanigan2020.toml); \
             ours are as the text describes them, so cells differ."
        }
        "lanigan2020.bandwidth-step" => {
            "The thesis draws the running mean since the flow's start, in Mibit/s of IP packets; its reported \
             flow started at 20 s beside an unreported one, ours alone at 0 s."
        }
        "song2021.single-buffer" | "song2021.random-loss" | "song2021.vs-cubic" => {
            "The paper shows these in figures only. Throughput is what iperf reports, payload; utilisation \
             allows for the headers."
        }
        "mahmud2020.sim-congested" => {
            "Throughput and goodput are the paper's: packets times a constant size over 300 s, here our \
             segments of 1448 bytes; the paper's had 477, so its packets count about three times as many."
        }
        "kato2025.sixteen-344" => {
            "The slides show these in figures only, and give neither RTT nor duration nor start times."
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::select;

    #[test]
    fn papers_and_experiments_can_be_named() {
        let ids = |names: &[&str]| -> Result<Vec<String>, String> {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            let selected = select(&names).map_err(|error| error.to_string())?;
            Ok(selected.into_iter().map(|experiment| experiment.id.clone()).collect())
        };
        assert!(ids(&[]).unwrap().len() >= 7);
        assert_eq!(ids(&["kato2025.sixteen-344"]).unwrap(), ["kato2025.sixteen-344"]);
        assert!(ids(&["song2021"]).unwrap().len() >= 3);
        assert!(
            ids(&["song2022"]).unwrap_err().starts_with("`song2022`: no such paper or experiment")
        );
    }
}
