//! `bbrlab check`: validates scenarios and estimates what a run would cost. The exit status is 2 if
//! `run` with the same flags would refuse a scenario.

use std::fmt::Write as _;

use bbrlab_cost::{Estimate, SocketLimit};
use bbrlab_lab::{
    LabError, check_backend, check_limit, open_named, processors, refuse_second_stdin,
};
use bbrlab_papers::not_a_scenario;
use bbrlab_report::{count, figure};
use bbrlab_scenario::Scenario;
use serde::Serialize;

use crate::args::CheckArgs;
use crate::output::{Output, Stopped, Verdict};
use crate::run::{check_plugins, load, notes_of_files, on, sets, with_plugins};

pub(crate) fn check(args: &CheckArgs, output: &mut Output) -> Verdict {
    let sets = sets(&args.set, args.seed);
    let plugins = load(&args.plugin)?;
    let jobs = args.jobs.map_or_else(processors, |jobs| usize::try_from(jobs).unwrap_or(1));
    refuse_second_stdin(&args.scenarios)?;
    let mut documents = Vec::new();
    // If one file is invalid, the other files are still checked.
    let mut wrong: Option<LabError> = None;
    let mut is_refused = false;
    for name in &args.scenarios {
        // `check` writes nothing, so `--set` may change keys even of a scenario in a folder of
        // results.
        let sets = with_plugins(name, &sets, &plugins);
        let named = match open_named(name, &sets, true, not_a_scenario) {
            Ok(named) => named,
            Err(error) => {
                if let Some(before) = wrong.replace(error) {
                    output.note(&before.to_string());
                }
                Vec::new()
            }
        };
        check_plugins(&named, &plugins)?;
        for named in named {
            let on = on(args.on, &named)?;
            let scenario = named.scenario;
            notes_of_files(&scenario, output);
            let estimate = Estimate::of_scenario(&scenario);
            let over = check_limit(&estimate, jobs, estimate.sweep_bytes, args.limit)
                .and_then(|()| check_backend(&scenario, on))
                .err();
            is_refused |= over.is_some();
            let cost = Cost { cpu_s: on.cpu_s(&estimate)?, real_s: on.real_s(&estimate) };
            if args.json {
                documents.push(of_scenario(&scenario, &estimate, cost, over.as_ref()));
            } else {
                output.text(&describe(&scenario, &estimate, cost, jobs, over.as_ref()))?;
            }
        }
    }
    if args.json {
        output.json(&Document { version: bbrlab_lab::VERSION, scenarios: documents })?;
    }
    match wrong {
        Some(error) => Err(Stopped::Lab(error)),
        None if is_refused => Err(Stopped::Status(2)),
        None => Ok(()),
    }
}

/// The time that the runs of a scenario are expected to take together.
#[derive(Clone, Copy)]
struct Cost {
    cpu_s: f64,
    /// Seconds of real time; `None` if the back end does not compute in real time.
    real_s: Option<f64>,
}

impl Cost {
    fn text(self, at_most: bool, about: &str, jobs: usize) -> String {
        let cpu_s = time(self.cpu_s, at_most);
        match self.real_s {
            None => {
                format!("{about} {cpu_s} of CPU on this machine, up to {jobs} runs in parallel")
            }
            Some(real_s) => format!(
                "about {} of real time, one run at a time; {about} {cpu_s} of CPU on this machine",
                time(real_s, false)
            ),
        }
    }
}

fn describe(
    scenario: &Scenario,
    estimate: &Estimate,
    cost: Cost,
    jobs: usize,
    over: Option<&LabError>,
) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        writeln!(text, "  {name:<14}{value}").expect("writing to a string cannot fail");
    };
    let seeds = scenario.repeat();
    line(
        "runs",
        match (scenario.points(), seeds) {
            (1, 1) => "1".to_owned(),
            (points, seeds) => {
                let of =
                    |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
                let (points, seeds) = (of(points, "point"), of(seeds, "seed"));
                let bound = if scenario.until().is_some() { "at most " } else { "" };
                format!("{bound}{} ({points} x {bound}{seeds})", count(estimate.runs))
            }
        },
    );
    if let Some(until) = scenario.until() {
        let (of, share) = (until.of().name(), until.percentage());
        line(
            "seeds",
            format!(
                "until half the 95 % interval of `{of}` is at most {share} of its mean; the values below are for {seeds} \
                 seeds per point, an upper bound"
            ),
        );
    }
    line("flows", format!("{} in the largest run", count(estimate.flows)));
    line("simulated", format!("{} s", figure(estimate.sim_s)));
    let at_most = estimate.at_most();
    let about = |is_at_most: bool| if is_at_most { "at most" } else { "about" };
    let packets = about(at_most.packets);
    let amount = |value: u64, is_at_most: bool| count(two_digits(value, is_at_most));
    line("data packets", format!("{packets} {}", amount(estimate.data_packets, at_most.packets)));
    line("events", format!("{packets} {}", amount(estimate.events, at_most.packets)));
    line("time", cost.text(at_most.packets, packets, jobs));
    line(
        "memory",
        format!(
            "{} {} per run",
            about(at_most.memory),
            bytes(two_digits(estimate.memory_bytes, at_most.memory))
        ),
    );
    if estimate.sweep_bytes > 0 {
        let more = bytes(two_digits(estimate.sweep_bytes, false));
        line(
            "",
            format!(
                "about {more} for summary and table, and about 30 MB for plots, in addition to the runs"
            ),
        );
    }
    let disk = about(at_most.disk);
    line(
        "series",
        format!(
            "{} {} rows, {disk} {} on disk",
            about(at_most.rows),
            amount(estimate.series_rows, at_most.rows),
            bytes(two_digits(estimate.series_bytes, at_most.disk))
        ),
    );
    line(
        "disk",
        format!(
            "{disk} {} in total, without plots",
            bytes(two_digits(estimate.disk_bytes, at_most.disk))
        ),
    );
    line(
        "",
        "about: within a factor of two (time: at this machine's present speed); at most: an upper bound"
            .to_owned(),
    );
    if let Some(limit) = estimate.socket_limit {
        line("sockets", socket_limit(limit));
    }
    let verdict = match over {
        None => "valid".to_owned(),
        Some(error) => format!("valid, but `run` refuses it: {error}"),
    };
    format!("{}: {verdict}\n{text}", scenario.name())
}

/// Returns the text that states how a socket's buffer or window limits the goodput of a flow.
fn socket_limit(limit: SocketLimit) -> String {
    let SocketLimit { least_bits_per_s, most_bits_per_s, key } = limit;
    let least = figure(least_bits_per_s / 1e6);
    let limits = match most_bits_per_s.map(|most| figure(most / 1e6)) {
        None => format!("can limit a flow to {least} Mbit/s"),
        Some(most) if most == least => format!("limits a flow to {least} Mbit/s"),
        Some(most) => format!("limits a flow to {least} to {most} Mbit/s"),
    };
    format!("`stack.{key}` {limits}, below the rate of its path")
}

/// The JSON document that `check --json` prints.
#[derive(Serialize)]
struct Document {
    version: &'static str,
    scenarios: Vec<OfScenario>,
}

#[derive(Serialize)]
struct OfScenario {
    scenario: String,
    title: String,
    hash: String,
    points: u64,
    seeds: u64,
    runs: u64,
    flows: u64,
    sim_s: f64,
    data_packets: u64,
    events: u64,
    cpu_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    real_s: Option<f64>,
    memory_bytes: u64,
    sweep_bytes: u64,
    series_rows: u64,
    series_bytes: u64,
    disk_bytes: u64,
    /// The keys of this struct, such as `memory_bytes`, whose values are only upper bounds. Values
    /// that are not upper bounds are correct within a factor of two.
    at_most: Vec<&'static str>,
    refused: Option<String>,
}

fn of_scenario(
    scenario: &Scenario,
    estimate: &Estimate,
    cost: Cost,
    over: Option<&LabError>,
) -> OfScenario {
    let at_most = estimate.at_most();
    let kinds: [(bool, &[&str]); 4] = [
        (at_most.packets, &["data_packets", "events", "cpu_s"]),
        (at_most.memory, &["memory_bytes"]),
        (at_most.rows, &["series_rows"]),
        (at_most.disk, &["series_bytes", "disk_bytes"]),
    ];
    // If `repeat` has `until`, the totals over all runs are upper bounds: they are for the largest
    // number of seeds.
    let is_decided = scenario.until().is_some();
    let of_all: &[&str] = if is_decided { &["seeds", "runs", "sim_s", "sweep_bytes"] } else { &[] };
    let bounds = kinds.iter().filter(|(is_bound, _)| *is_bound || is_decided);
    let bounds = of_all.iter().chain(bounds.flat_map(|(_, keys)| *keys));
    OfScenario {
        scenario: scenario.name().to_owned(),
        title: scenario.title().to_owned(),
        hash: scenario.hash().to_owned(),
        points: scenario.points(),
        seeds: scenario.repeat(),
        runs: estimate.runs,
        flows: estimate.flows,
        sim_s: estimate.sim_s,
        data_packets: estimate.data_packets,
        events: estimate.events,
        cpu_s: cost.cpu_s,
        real_s: cost.real_s,
        memory_bytes: estimate.memory_bytes,
        sweep_bytes: estimate.sweep_bytes,
        series_rows: estimate.series_rows,
        series_bytes: estimate.series_bytes,
        disk_bytes: estimate.disk_bytes,
        at_most: bounds.copied().collect(),
        refused: over.map(ToString::to_string),
    }
}

/// Rounds to two significant digits. An upper bound is rounded up, so that it stays an upper bound.
fn two_digits(value: u64, is_at_most: bool) -> u64 {
    let mut unit = 1;
    while value / unit >= 100 {
        unit *= 10;
    }
    let rounded = if is_at_most { value.div_ceil(unit) } else { (value + unit / 2) / unit };
    rounded.saturating_mul(unit)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the time is shown rounded; times above 10^15 s are shown as 10^15 s"
)]
fn time(seconds: f64, is_at_most: bool) -> String {
    let milliseconds = two_digits((seconds * 1e3).min(1e18) as u64, is_at_most);
    match milliseconds as f64 / 1e3 {
        s if s < 90.0 => format!("{} s", figure(s)),
        s if s < 5400.0 => format!("{} min", figure(s / 60.0)),
        s if s < 172_800.0 => format!("{} h", figure(s / 3600.0)),
        s => format!("{} days", figure(s / 86_400.0)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "the number of bytes is shown rounded")]
fn bytes(value: u64) -> String {
    match value as f64 {
        v if v < 1e6 => format!("{} kB", figure(v / 1e3)),
        v if v < 1e9 => format!("{} MB", figure(v / 1e6)),
        v => format!("{} GB", figure(v / 1e9)),
    }
}

#[cfg(test)]
mod tests {
    use super::Cost;

    #[test]
    fn the_real_time_of_runs_is_not_called_cpu_time() {
        let text = |real_s| Cost { cpu_s: 8.2, real_s }.text(false, "about", 2);
        assert_eq!(text(None), "about 8.20 s of CPU on this machine, up to 2 runs in parallel");
        assert_eq!(
            text(Some(22.5)),
            "about 23.00 s of real time, one run at a time; about 8.20 s of CPU on this machine"
        );
    }
}
