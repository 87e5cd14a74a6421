//! Pictures of made-up runs. Set `BBRLAB_PICTURES` to a folder to look at them.

use std::fmt::Write as _;

use bbrlab_run::{QueueRow, QueueSeries, Run, RunSummary, Series, SeriesRow};
use bbrlab_scenario::Scenario;

use super::{Picture, RunPicture, run_picture, sweep_pictures};
use crate::table::tests::sample_run;

const BUFFER_PACKETS: u64 = 248;

/// 50 Mbit/s, 30 ms, two BDP of buffer; each flow two seconds after the one before.
fn run(ccs: &[&str]) -> Run {
    let mut text = format!(
        "title = \"A made-up run: nothing here was simulated\"\nduration = \"40s\"\nseed = 7\n\
         [bottleneck]\nrate = \"50Mbit/s\"\ndelay = \"10ms\"\nbuffer = \"{BUFFER_PACKETS}pkt\"\n"
    );
    for (place, cc) in ccs.iter().enumerate() {
        let start = 2 * place;
        writeln!(text, "[[flows]]\ncc = \"{cc}\"\nrtt = \"30ms\"\nstart = \"{start}s\"").unwrap();
    }
    let mut run = Scenario::parse("made-up", "made-up.toml", &text, None, &[]).unwrap().run(0);
    run.scenario_hash = "3fa9c2d17b604f0f".repeat(4);
    run
}

/// A saw tooth with a start-up, a drain and a ProbeRTT every ten seconds. Integers only.
fn samples(run: &Run) -> (RunSummary, Series, QueueSeries) {
    let mut series = Series::default();
    let mut queue = QueueSeries::default();
    let n = u32::try_from(run.flows.len()).unwrap();
    let mut received = vec![0u64; run.flows.len()];
    let mut drops = 0;
    for tick in 0u32..4000 {
        let ms = tick * 10;
        let mut sum = 0;
        for flow in 0..n {
            let start = u32::try_from(run.flows[flow as usize].start.0 / 1_000_000).unwrap();
            if ms < start {
                continue;
            }
            let age = ms - start;
            let paces = run.class(flow).cc.name().starts_with("bbr");
            let (state, cwnd) = if !paces {
                ("", 40 + (age / 20) % 120)
            } else if age < 400 {
                ("STARTUP", 10 + age / 2)
            } else if age < 600 {
                ("DRAIN", 240)
            } else if age % 10_000 > 9_800 {
                ("PROBE_RTT", 4)
            } else {
                ("PROBE_BW", 250 / n + 8 * u32::from(age % 240 < 30))
            };
            let inflight =
                if paces { cwnd.min(130 / n + 30 * u32::from(age % 240 < 30)) } else { cwnd };
            received[flow as usize] += u64::from(60_000 / n) * u64::from(inflight.min(125)) / 125;
            sum += inflight;
            let rtt = 30_000 + 240 * inflight.saturating_sub(124 / n);
            series.push(SeriesRow {
                time_s: f64::from(ms) / 1e3,
                flow,
                cwnd_packets: cwnd,
                inflight_packets: inflight,
                srtt_us: (age > 30).then_some(rtt),
                rtt_us: (age > 30).then_some(rtt + (tick * 7919) % 2000),
                received_bytes: received[flow as usize],
                delivered_packets: received[flow as usize] / 1448,
                state: state.into(),
                ..SeriesRow::default()
            });
        }
        let packets = u64::from(sum.saturating_sub(100)).min(BUFFER_PACKETS);
        drops += u64::from(packets > 110);
        queue.push(QueueRow {
            time_s: f64::from(ms) / 1e3,
            link: 0,
            packets,
            bytes: (packets * 1514).into(),
            drops,
            marks: 0.into(),
            ..QueueRow::default()
        });
    }
    let mut summary = sample_run();
    summary.flows.truncate(1);
    let flow = summary.flows[0].clone();
    summary.flows = (0..n)
        .map(|id| {
            let mut flow = flow.clone();
            flow.id = id;
            flow.stop_s = 40.0;
            flow
        })
        .collect();
    (summary, series, queue)
}

fn picture(ccs: &[&str]) -> Picture {
    let run = run(ccs);
    let (summary, series, queue) = samples(&run);
    run_picture(&RunPicture {
        run: &run,
        summary: &summary,
        series: &series,
        queue: &queue,
        made_by: "bbrlab 0",
    })
}

/// Writes the picture if `BBRLAB_PICTURES` names a folder.
fn show(name: &str, picture: &Picture) {
    if let Some(folder) = std::env::var_os("BBRLAB_PICTURES") {
        let folder = std::path::PathBuf::from(folder);
        std::fs::write(folder.join(format!("{name}.svg")), &picture.svg).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), picture.png()).unwrap();
    }
}

fn assert_has(svg: &str, words: &[&str]) {
    for word in words {
        assert!(svg.contains(word), "`{word}` is missing");
    }
    assert!(!svg.contains("NaN"));
}

#[test]
fn a_single_bbr_flow_has_four_panels_with_units_references_and_state_bands() {
    let picture = picture(&["bbr1"]);
    show("single", &picture);
    assert_has(
        &picture.svg,
        &[
            "Throughput, Mbit/s",
            "RTT, ms",
            "cwnd and inflight, packets",
            "Queue, packets",
            "time, s",
            "link rate",
            "base RTT 30 ms",
            "buffer 248 packets",
            "BDP 124",
            "PROBE_RTT",
            "STARTUP",
            "seed 7",
            "hash 3fa9c2d17b60",
        ],
    );
}

#[test]
fn four_flows_are_told_apart_by_number_and_colour() {
    let picture = picture(&["bbr1", "cubic", "reno", "bbr1"]);
    show("four", &picture);
    assert_has(&picture.svg, &["0 bbr1", "1 cubic", "2 reno", "3 bbr1", "#0072B2", "#D55E00"]);
}

#[test]
fn twenty_flows_are_drawn_as_mean_and_range_of_their_kind() {
    let mut ccs = vec!["bbr1"; 10];
    ccs.extend(["cubic"; 10]);
    let picture = picture(&ccs);
    show("twenty", &picture);
    assert_has(&picture.svg, &["10 bbr1: mean, range", "10 cubic: mean, range"]);
    assert!(picture.svg.len() < 400_000);
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let (one, other) = (picture(&["bbr1"]), picture(&["bbr1"]));
    assert_eq!(one, other);
    assert_eq!(one.png(), other.png());
}

#[test]
fn a_run_without_samples_is_an_empty_frame_and_no_panic() {
    let run = run(&["bbr1"]);
    let picture = run_picture(&RunPicture {
        run: &run,
        summary: &sample_run(),
        series: &Series::default(),
        queue: &QueueSeries::default(),
        made_by: "bbrlab 0",
    });
    assert_has(&picture.svg, &["Throughput, Mbit/s"]);
}

#[test]
fn a_sweep_has_a_line_per_algorithm_and_bars_over_seeds() {
    let mut runs = Vec::new();
    for (at, buffer) in
        (0u32..).zip(["0.1bdp", "0.2bdp", "0.5bdp", "1bdp", "2bdp", "4bdp", "8bdp", "16bdp"])
    {
        for (which, cc) in (0u32..).zip(["bbr1", "bbr2", "cubic"]) {
            for seed in 1..=5u32 {
                let mut run = sample_run();
                run.seed = seed.into();
                run.scenario_hash = format!("{buffer}{cc}");
                run.point.insert("bottleneck.buffer".to_owned(), buffer.into());
                run.point.insert("flows.cc".to_owned(), cc.into());
                for flow in &mut run.flows {
                    flow.goodput_mbps =
                        Some(20.0 + f64::from(at * (which + 1)) / 4.0 + f64::from(seed % 3) / 2.0);
                    flow.rtt_ms.mean = Some(31.0 + f64::from(at * at * (which + 1)));
                }
                runs.push(run);
            }
        }
    }
    let pictures = sweep_pictures("Two flows against the buffer", &runs);
    let names: Vec<&str> = pictures.iter().map(|picture| picture.name.as_str()).collect();
    assert_eq!(names, ["sweep-bottleneck-buffer"]);
    show("sweep", &pictures[0]);
    assert_has(
        &pictures[0].svg,
        &[
            "Goodput, Mbit/s",
            "bottleneck.buffer",
            "16bdp",
            "cubic",
            "95 % intervals",
            "Queue delay, ms",
        ],
    );
}
