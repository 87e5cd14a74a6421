//! Checks built-in scenarios and measured rows against the papers' data files. The scenarios must
//! have the parameter points, flows, start times and durations of `papers/*.toml`, and the measured
//! rows must have every metric that a claim uses.

use std::collections::BTreeSet;

use bbrlab_link::{Buffer, Rate};
use bbrlab_run::{Run, Sample};
use bbrlab_scenario::Scenario;
use bbrlab_units::{Span, Time};
use toml::{Table, Value};

use crate::claims::LOCATING_KEYS;
use crate::figures::tests::not_found;
use crate::metrics::{Measured, PAPERS, place_of, rows_of_run, with_compared};
use crate::papers::{Experiment, Key, papers};
use crate::row::MeasuredRow;
use crate::rows::keys_of;

/// Returns the papers that state the number of bytes per packet, each with its data file. The
/// parameter points and flows of these papers are checked here; `tests/papers/` checks the points
/// and flows of the other papers.
fn checked_here() -> impl Iterator<Item = (&'static str, Table)> {
    let all = PAPERS.iter().map(|paper| (paper.key, paper.text.parse().expect("valid TOML")));
    all.filter(|(_, file)| packet_bytes(file).is_some())
}

/// Returns the IP packet size that a paper states, in bytes; `None` if the paper states no size.
fn packet_bytes(file: &Table) -> Option<f64> {
    figure(file.get("common")?.as_table()?, "packet_bytes")
}

fn tables<'a>(of: &'a Table, key: &str) -> Vec<&'a Table> {
    let list = of.get(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_table).collect()
}

fn word<'a>(of: &'a Table, key: &str) -> &'a str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn words<'a>(of: &'a Table, key: &str) -> Vec<&'a str> {
    let list = of.get(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

#[expect(clippy::cast_precision_loss, reason = "quantities of the papers")]
fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|value| value as f64))
}

fn figure(of: &Table, key: &str) -> Option<f64> {
    of.get(key).and_then(number)
}

/// Returns a paper's experiments, each with its table in the data file. Experiments without
/// parameter points are omitted: they only summarise other experiments.
fn experiments(paper: &str, file: &Table) -> Vec<(&'static Experiment, Table)> {
    let of = papers().iter().find(|of| of.key == paper).expect("a paper");
    let mut found = Vec::new();
    for table in
        tables(file, "experiments").into_iter().filter(|table| !tables(table, "points").is_empty())
    {
        let experiment = of.experiments.iter().find(|of| of.id == word(table, "id"));
        found.push((experiment.expect("all are read"), table.clone()));
    }
    found
}

/// Returns the run with the first seed for every sweep point of an experiment's scenarios.
fn first_runs(experiment: &Experiment) -> Vec<Run> {
    let mut runs = Vec::new();
    for id in &experiment.scenarios {
        let scenario = Scenario::builtin(id, &["repeat=1".to_owned()]).expect("a built-in");
        runs.extend((0..scenario.runs()).map(|number| scenario.run(number)));
    }
    runs
}

/// Returns the algorithms under test. If a flow of the experiment has the algorithm `subject`,
/// returns the names in `algorithms`, except the algorithms that other flows name. Otherwise,
/// returns only the first name in `algorithms`.
fn subjects(table: &Table) -> Vec<&str> {
    let fixed: BTreeSet<&str> =
        tables(table, "flows").iter().map(|flow| word(flow, "algorithm")).collect();
    let mut subjects = words(table, "algorithms");
    if fixed.contains("subject") {
        subjects.retain(|name| !fixed.contains(name));
    } else {
        subjects.truncate(1);
    }
    subjects
}

#[test]
fn every_experiment_has_a_scenario_with_all_points_and_algorithms() {
    for (paper, file) in checked_here() {
        let of = papers().iter().find(|of| of.key == paper).unwrap();
        for experiment in &of.experiments {
            assert!(!experiment.scenarios.is_empty(), "{}: no scenario", experiment.id);
        }
        for (experiment, table) in experiments(paper, &file) {
            let runs = first_runs(experiment);
            let places: Vec<Vec<(&str, Key)>> =
                runs.iter().map(|run| place_of(experiment, run)).collect();
            let mut expected = 0;
            for algorithm in subjects(&table) {
                for point in tables(&table, "points") {
                    // If a parameter point does not set the buffer, there must be a run for every
                    // buffer in the experiment's `axes`.
                    let axis = table.get("axes").and_then(|axes| axes.get("buffer_bdp"));
                    let buffers: Vec<Option<f64>> = match axis.and_then(Value::as_array) {
                        Some(axis) if !point.contains_key("buffer_bdp") => {
                            axis.iter().map(number).collect()
                        }
                        _ => vec![None],
                    };
                    for buffer in buffers {
                        let fits = places.iter().filter(|place| {
                            place.iter().all(|(name, here)| match (*name, buffer) {
                                ("algorithm", _) => *here == Key::word(algorithm),
                                ("buffer_bdp", Some(bdp)) => here.is(&Value::Float(bdp)),
                                _ => point.get(*name).is_none_or(|there| here.is(there)),
                            })
                        });
                        assert_eq!(
                            fits.count(),
                            1,
                            "{}: {algorithm} at {point} {buffer:?}",
                            experiment.id
                        );
                        // A parameter point with `step_from_mbps` describes a rate step, which is
                        // only a part of a run, so the point does not count as a run.
                        expected += usize::from(!point.contains_key("step_from_mbps"));
                    }
                }
            }
            if expected > 0 {
                assert_eq!(runs.len(), expected, "{}", experiment.id);
            }
        }
    }
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "quantities of the papers")]
fn flows_rates_buffers_and_durations_are_those_of_the_data_files() {
    const NS: f64 = 1e9;
    let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
    for (paper, file) in checked_here() {
        for (experiment, table) in experiments(paper, &file) {
            let flows = tables(&table, "flows");
            for run in first_runs(experiment) {
                let id = &experiment.id;
                let place = place_of(experiment, &run);
                let key = |name: &str| {
                    place.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone())
                };
                assert_eq!(run.flows.len(), flows.len(), "{id}");
                let mss = f64::from(run.class(0).mss);
                let bytes = packet_bytes(&file).expect("chosen by it");
                assert!(near(mss + 52.0, bytes), "{id}: segments of {mss}");
                // A flow may stop after `duration_s`. If a flow stops after `duration_s`, the run
                // lasts until the last stop.
                let last_s =
                    flows.iter().filter_map(|flow| figure(flow, "stop_s")).fold(0.0, f64::max);
                let duration_s = figure(&table, "duration_s").unwrap().max(last_s);
                assert!(near(run.duration.0 as f64 / NS, duration_s), "{id}: {:?}", run.duration);
                for (number, flow) in flows.iter().enumerate() {
                    let class = run.class(u32::try_from(number).unwrap());
                    let at_s = run.flows[number].start.0 as f64 / NS;
                    match word(flow, "algorithm") {
                        "subject" => {
                            assert_eq!(key("algorithm"), Some(Key::word(class.cc.name())), "{id}");
                        }
                        fixed => assert_eq!(class.cc.name(), fixed, "{id}"),
                    }
                    if let Some(start_s) = figure(flow, "start_s") {
                        let is_random = word(&table, "flows_note").contains("randomised around");
                        let scatter_s = if is_random { 1.0 } else { 0.0 };
                        assert!((start_s..=start_s + scatter_s).contains(&at_s), "{id}: {at_s} s");
                    }
                    if let Some(latest_s) = figure(flow, "start_s_max") {
                        assert!((0.0..=latest_s).contains(&at_s), "{id}: {at_s} s");
                    }
                    let stop_s =
                        run.flows[number].stop.map_or(duration_s, |stop| stop.0 as f64 / NS);
                    assert!(
                        near(stop_s, figure(flow, "stop_s").unwrap_or(duration_s)),
                        "{id}: {stop_s}"
                    );
                    if let Some(rtt_ms) = figure(flow, "rtt_ms") {
                        assert!(
                            near(class.base_rtt.0 as f64 / 1e6, rtt_ms),
                            "{id}: {:?}",
                            class.base_rtt
                        );
                    }
                    if let (Some(name), true) = (&class.name, flow.contains_key("id")) {
                        assert_eq!(name, word(flow, "id"), "{id}");
                    }
                }
                of_point(&experiment.id, &table, &run, &place);
            }
        }
    }
}

/// Checks that the bottleneck and the RTTs of a run equal the values of its parameter point in the
/// data file.
#[expect(clippy::cast_precision_loss, reason = "quantities of the papers")]
fn of_point(id: &str, table: &Table, run: &Run, place: &[(&str, Key)]) {
    let link = &run.links[run.bottleneck.expect("a bottleneck") as usize];
    let Buffer::Packets(packets_of) = link.buffer else { panic!("{id}: {:?}", link.buffer) };
    let packets = packets_of.0 as f64;
    let points = tables(table, "points");
    let fits = |point: &&&Table| {
        place.iter().all(|(name, here)| {
            *name == "algorithm" || point.get(*name).is_none_or(|there| here.is(there))
        })
    };
    let point = points.iter().find(fits).unwrap_or_else(|| panic!("{id}: no point for {place:?}"));
    if let Some(bytes) = figure(point, "buffer_bytes") {
        let wire = f64::from(run.class(0).mss) + 52.0 + link.framing.0 as f64;
        assert!(
            (packets * wire - bytes).abs() <= wire,
            "{id}: {packets} packets for {bytes} bytes"
        );
    }
    if let Some(printed) = figure(point, "buffer_packets") {
        assert!((packets - printed).abs() < 1e-9, "{id}: {packets} packets");
    }
    if let Some(rtt_ms) = figure(point, "bbr_rtt_ms") {
        let last = u32::try_from(run.flows.len() - 1).unwrap();
        assert!((run.class(last).base_rtt.0 as f64 / 1e6 - rtt_ms).abs() < 1e-9, "{id}");
    }
    for (key, flow) in [("rtt_ms", 0), ("rtt2_ms", 1)] {
        if let Some(rtt_ms) = figure(point, key) {
            assert!((run.class(flow).base_rtt.0 as f64 / 1e6 - rtt_ms).abs() < 1e-9, "{id}: {key}");
        }
    }
    if let Some(mbps) = figure(point, "bandwidth_mbps") {
        assert!((link.rate.at_start().unwrap().0 as f64 / 1e6 - mbps).abs() < 1e-9, "{id}");
    }
    if let Some(step) = table.get("step").and_then(Value::as_table) {
        let Rate::Schedule(steps) = &link.rate else { panic!("{id}: {:?}", link.rate) };
        let levels: Vec<f64> =
            step["levels_mbps"].as_array().unwrap().iter().filter_map(number).collect();
        for (number, (at, rate)) in steps.iter().enumerate() {
            let period_s = figure(step, "period_s").unwrap();
            assert!((at.0 as f64 / 1e9 - number as f64 * period_s).abs() < 1e-9, "{id}: {at:?}");
            assert!((rate.0 as f64 / 1e6 - levels[number % 2]).abs() < 1e-9, "{id}: {rate:?}");
        }
        for (key, rises) in [("up_at_s", true), ("down_at_s", false)] {
            let at_s = figure(step, key).unwrap();
            let place = steps.iter().position(|(at, _)| (at.0 as f64 / 1e9 - at_s).abs() < 1e-9);
            let place = place.unwrap_or_else(|| panic!("{id}: no step at {at_s} s"));
            assert_eq!(steps[place].1 > steps[place - 1].1, rises, "{id}: {key}");
        }
    }
    if let Some(links) = table.get("links").and_then(Value::as_table) {
        assert!(
            (link.delay.0 as f64 / 1e6 - figure(links, "bottleneck_delay_ms").unwrap()).abs()
                < 1e-9
        );
        for (name, delay) in links["access_delay_ms"].as_table().unwrap() {
            let access = run.links.iter().find(|link| link.name == *name).expect("all six");
            assert!(
                (access.delay.0 as f64 / 1e6 - number(delay).unwrap()).abs() < 1e-9,
                "{id}: {name}"
            );
            let mbps = access.rate.at_start().unwrap().0 as f64 / 1e6;
            assert!((mbps - figure(links, "access_mbps").unwrap()).abs() < 1e-9, "{id}: {name}");
        }
    }
}

/// Returns a run with a duration of at most 300 ms, which is enough to compute rows. The times of
/// starts, stops and rate steps are reduced by the same factor as the duration.
fn shortened(mut run: Run) -> Run {
    let packets_a_second =
        run.links.iter().filter_map(|link| link.rate.at_start()).map(|rate| rate.0).max();
    // Despite its name, `packets_a_second` is the rate of the fastest link in bits per second. The
    // run lasts as long as this link takes to send 15 Mbit, but at most 300 ms.
    let wanted = Span(15_000_000_000_000_000 / packets_a_second.unwrap_or(1).max(50_000_000));
    let sooner = |ns: u64| {
        u64::try_from(u128::from(ns) * u128::from(wanted.0) / u128::from(run.duration.0)).unwrap()
    };
    for flow in &mut run.flows {
        flow.start = Time(sooner(flow.start.0));
        flow.stop = flow.stop.map(|stop| Time(sooner(stop.0)));
    }
    for link in &mut run.links {
        if let Rate::Schedule(steps) = &link.rate {
            link.rate = Rate::Schedule(
                steps.iter().map(|(at, rate)| (Time(sooner(at.0)), *rate)).collect(),
            );
        }
    }
    run.duration = wanted;
    run.sample = Sample::Every(Span::from_millis(1));
    run
}

/// Returns the measured rows of an experiment, from shortened runs.
fn shortened_rows(experiment: &Experiment) -> Vec<MeasuredRow> {
    let mut rows = Vec::new();
    for run in first_runs(experiment) {
        let place = place_of(experiment, &run);
        let run = shortened(run);
        let result = bbrlab_sim::simulate(&run).expect("it can be run");
        let of_run = Measured::of_result(&run, &result);
        for found in rows_of_run(experiment, &of_run).expect("nothing is read") {
            let metrics =
                found.metrics.iter().map(|(name, value)| ((*name).to_owned(), vec![*value]));
            rows.push(MeasuredRow {
                keys: keys_of(&place, &found),
                metrics: metrics.collect(),
                seeds_run: 1,
                scenario_hash: run.scenario_hash.clone(),
            });
        }
    }
    with_compared(experiment, rows)
}

/// A metric that a paper's claim uses, with the keys at which the claim looks it up.
#[derive(Debug)]
struct Asked {
    metric: String,
    keys: Vec<(String, Value)>,
}

/// Returns the metrics that an expression looks up at a parameter point: its calls
/// `metric(algorithm, key=value ...)`. An algorithm or a value may be a name that the point
/// defines.
fn asked(expr: &str, point: &[(String, Value)], metrics: &[String], axes: &[&str]) -> Vec<Asked> {
    let named = |name: &str| {
        point
            .iter()
            .find(|(key, _)| key == name)
            .map_or_else(|| Value::String(name.to_owned()), |(_, value)| value.clone())
    };
    let value = |text: &str| match text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''))
    {
        Some(text) => Value::String(text.to_owned()),
        None => text.parse::<f64>().map_or_else(|_| named(text), Value::Float),
    };
    let mut found = Vec::new();
    for (place, _) in expr.match_indices('(') {
        let before = &expr[..place];
        let name = before
            .rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .next()
            .unwrap_or_default();
        if !metrics.iter().any(|metric| metric == name) {
            continue;
        }
        let arguments = &expr[place + 1..place + expr[place..].find(')').expect("closed")];
        let mut keys: Vec<(String, Value)> =
            point.iter().filter(|(key, _)| axes.contains(&key.as_str())).cloned().collect();
        let mut set = |key: &str, value: Value| {
            keys.retain(|(known, _)| known != key);
            keys.push((key.to_owned(), value));
        };
        // Words in quotes may contain commas, so split only at commas outside quotes.
        let mut quoted = false;
        let arguments = arguments.split(|c| {
            quoted ^= c == '\'';
            c == ',' && !quoted
        });
        for argument in arguments.map(str::trim).filter(|argument| !argument.is_empty()) {
            match argument.split_once('=') {
                Some((key, text)) => set(key, value(text)),
                None => set("algorithm", named(argument)),
            }
        }
        found.push(Asked { metric: name.to_owned(), keys });
    }
    found
}

/// Returns the parameter points of a claim: each combination of values in the lists of `forall`,
/// with the keys of `at` added.
fn points(claim: &Table) -> Vec<Vec<(String, Value)>> {
    let pairs = |key: &str| claim.get(key).and_then(Value::as_table).cloned().unwrap_or_default();
    let mut points: Vec<Vec<(String, Value)>> = vec![pairs("at").into_iter().collect()];
    for (key, list) in pairs("forall") {
        points = points
            .iter()
            .flat_map(|point| {
                let of_value = |value: &Value| {
                    let mut point = point.clone();
                    point.push((key.clone(), value.clone()));
                    point
                };
                list.as_array().expect("a list").iter().map(of_value).collect::<Vec<_>>()
            })
            .collect();
    }
    points
}

#[test]
fn every_figure_that_a_claim_or_the_report_asks_for_is_in_a_row() {
    let mut missing = Vec::new();
    let mut count = 0;
    for of in papers() {
        let of_files = PAPERS.iter().find(|files| files.key == of.key).unwrap();
        let file: Table = of_files.text.parse().unwrap();
        let metrics: Vec<String> =
            tables(&file, "metrics").iter().map(|metric| word(metric, "id").to_owned()).collect();
        for experiment in &of.experiments {
            let claims: Vec<&Table> = tables(&file, "claims")
                .into_iter()
                .filter(|claim| word(claim, "experiment") == experiment.id)
                .collect();
            let rows = shortened_rows(experiment);
            for row in &rows {
                assert!(matches!(row.key("algorithm"), Some(Key::Word(_))), "{row:?}");
            }
            for claim in claims {
                for point in points(claim) {
                    for asked in asked(word(claim, "expr"), &point, &metrics, LOCATING_KEYS) {
                        count += 1;
                        let is_there = rows.iter().any(|row| {
                            row.metric(&asked.metric).is_some()
                                && asked.keys.iter().all(|(key, there)| {
                                    row.key(key).is_some_and(|here| here.is(there))
                                })
                        });
                        if !is_there {
                            missing.push(format!("{}: {asked:?}", word(claim, "id")));
                        }
                    }
                }
            }
            let runs: Vec<Vec<(String, Key)>> = first_runs(experiment)
                .iter()
                .map(|run| place_of(experiment, run))
                .map(|keys| keys.into_iter().map(|(name, key)| (name.to_owned(), key)).collect())
                .collect();
            missing.extend(not_found(experiment, &rows, &runs));
            for metric in &experiment.metrics {
                if !rows.iter().any(|row| row.metric(metric).is_some()) {
                    missing.push(format!("{}: no row has {metric}", experiment.id));
                }
            }
        }
    }
    missing.dedup();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(count > 350, "{count} figures");
}
