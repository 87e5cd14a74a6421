//! Pictures of made-up runs. Set `BBRLAB_PICTURES` to a folder to look at the tests' pictures.

mod labelled;

use std::fmt::Write as _;

use bbrlab_run::{QueueRow, QueueSeries, Run, RunSummary, Series, SeriesRow};
use bbrlab_scenario::Scenario;

use super::axis::Ratios;
use super::font::{bold_width_of, width_of};
use super::{CdfInput, CdfSample, cdf_picture};
use super::{Labels, Picture, RunChoice, RunPanel, RunPicture, Shape, SweepChoice};
use super::{OverTime, Overlay, OverlayPair, OverlayPanel, overlay_picture};
use super::{chosen_run_picture, chosen_sweep_pictures, run_picture, sweep_pictures};
use crate::table::tests::sample_run;

const BUFFER_PACKETS: u64 = 248;

/// Returns a run on a path with 50 Mbit/s, a base RTT of 30 ms and a buffer of two BDP. Each flow
/// starts two seconds after the previous flow.
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

/// Returns made-up time series of a run: cwnd is a saw tooth, and the states are a start-up, a
/// drain and a ProbeRTT every ten seconds. The series are computed with integers, so that all
/// machines give the same picture.
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
            let paces = run.class(flow).cc.is_paced();
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
                cwnd_packets: cwnd.into(),
                inflight_packets: inflight.into(),
                srtt_us: (age > 30).then_some(rtt),
                rtt_us: (age > 30).then_some(rtt + (tick * 7919) % 2000),
                received_bytes: received[flow as usize].into(),
                delivered_packets: (received[flow as usize] / 1448).into(),
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
            drops: drops.into(),
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
            flow.stop_s = Some(40.0);
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
        #[cfg(feature = "png")]
        std::fs::write(folder.join(format!("{name}.png")), picture.png()).unwrap();
    }
}

fn assert_has(svg: &str, words: &[&str]) {
    for word in words {
        assert!(svg.contains(word), "`{word}` is missing");
    }
    assert_sound(svg);
}

/// A text of a picture: the left, top, right and bottom of its bounding box, and the text.
type TextLook = (f64, f64, f64, f64, String);

/// Returns the texts of a picture with their bounding boxes.
fn texts(svg: &str) -> Vec<TextLook> {
    let attribute = |tag: &str, name: &str| {
        let (_, rest) = tag.split_once(&format!(" {name}=\"")).unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let one = |piece: &str| {
        let (tag, rest) = piece.split_once('>').unwrap();
        let words = rest.split("</text>").next().unwrap().trim();
        let words = words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        let number = |name: &str| attribute(tag, name).parse::<f64>().unwrap();
        let (x, y, size) = (number("x"), number("y"), number("font-size"));
        let baseline = y + size
            * match attribute(tag, "dy").as_str() {
                "0.76em" => 0.76,
                "0.5ex" => 0.27,
                _ => -0.27,
            };
        let is_bold = tag.contains("font-weight");
        let width = if is_bold { bold_width_of(&words, size) } else { width_of(&words, size) };
        let left = x - width
            * match attribute(tag, "text-anchor").as_str() {
                "start" => 0.0,
                "middle" => 0.5,
                _ => 1.0,
            };
        // The position of a text that runs upwards is the upper end of the text.
        if tag.contains("rotate(270") {
            return (x - 0.5 * size, y, x + 0.5 * size, y + width, words);
        }
        (left, baseline - 0.73 * size, left + width, baseline + 0.2 * size, words)
    };
    svg.split("<text").skip(1).map(one).collect()
}

/// Checks that no coordinate is NaN or infinite, that every text is on the sheet, and that no two
/// texts overlap.
fn assert_sound(svg: &str) {
    assert!(!svg.contains("NaN") && !svg.contains("inf\""));
    let (_, rest) = svg.split_once("viewBox=\"0 0 ").unwrap();
    let mut size = rest.split(['"', ' ']).map(|number| number.parse::<f64>().unwrap());
    let (width, height) = (size.next().unwrap(), size.next().unwrap());
    let texts = texts(svg);
    for (at, (left, top, right, bottom, words)) in texts.iter().enumerate() {
        assert!(
            *left >= 0.0 && *top >= 0.0 && *right <= width && *bottom <= height,
            "`{words}` leaves the sheet of {width} x {height}: {left} {top} {right} {bottom}"
        );
        for other in &texts[at + 1..] {
            let is_apart =
                *right <= other.0 || other.2 <= *left || *bottom <= other.1 || other.3 <= *top;
            assert!(is_apart, "`{words}` and `{}` lie over one another", other.4);
        }
    }
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
fn four_flows_differ_by_number_and_colour() {
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
    assert_has(&picture.svg, &["bbr1 (10 flows)", "cubic (10 flows)", "sum of each group"]);
    assert!(picture.svg.len() < 400_000);
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let (one, other) = (picture(&["bbr1"]), picture(&["bbr1"]));
    assert_eq!(one, other);
    #[cfg(feature = "png")]
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

/// Returns the picture of a run of this scenario with made-up time series.
fn picture_of(run: &Run, choice: &RunChoice) -> Result<Picture, String> {
    let (summary, series, queue) = samples(run);
    let input =
        RunPicture { run, summary: &summary, series: &series, queue: &queue, made_by: "bbrlab 0" };
    chosen_run_picture(&input, choice)
}

/// Returns the points of the longest line that the picture draws in the colour `color`.
fn longest_line(svg: &str, color: &str) -> Vec<(f64, f64)> {
    let lines = lines_of(svg, color, 0);
    lines.into_iter().max_by_key(Vec::len).unwrap_or_default()
}

/// Returns the points of each drawn line that has the colour `color` and at least `least` points.
fn lines_of(svg: &str, color: &str, least: usize) -> Vec<Vec<(f64, f64)>> {
    let lines = svg.split("<polyline").skip(1).filter(|line| {
        line.split("/>").next().is_some_and(|tag| tag.contains(&format!("stroke=\"{color}\"")))
    });
    let points = lines.map(|line| {
        let (_, rest) = line.split_once("points=\"").unwrap();
        let points = rest.split('"').next().unwrap().split_whitespace();
        let point = |point: &str| {
            let (x, y) = point.split_once(',').unwrap();
            (x.parse().unwrap(), y.parse().unwrap())
        };
        points.map(point).collect::<Vec<(f64, f64)>>()
    });
    points.filter(|line| line.len() >= least).collect()
}

#[test]
fn a_figure_for_a_column_of_paper_has_the_chosen_panels_and_times_only() {
    let choice = RunChoice {
        panels: vec![RunPanel::Rtt, RunPanel::Cwnd],
        from_s: Some(5.0),
        to_s: Some(12.0),
        shape: Shape::paper(84.0, 60.0),
        ..RunChoice::default()
    };
    let picture = picture_of(&run(&["bbr1", "cubic"]), &choice).unwrap();
    show("paper", &picture);
    assert_has(
        &picture.svg,
        &["Smoothed RTT, ms", "cwnd and inflight", "width=\"84mm\"", "time, s"],
    );
    for absent in ["Throughput", "Queue", ">\n0.5"] {
        assert!(!picture.svg.contains(absent), "{absent}");
    }
    let crowded = RunChoice { shape: Shape::paper(84.0, 60.0), ..RunChoice::default() };
    let refused = picture_of(&run(&["bbr1", "cubic"]), &crowded).unwrap_err();
    assert!(refused.contains("no room for 4 panels"), "{refused}");
}

#[test]
fn bandwidth_and_pacing_are_drawn_on_demand() {
    let choice =
        RunChoice { panels: vec![RunPanel::Bandwidth, RunPanel::Pacing], ..RunChoice::default() };
    let picture = picture_of(&run(&["bbr1"]), &choice).unwrap();
    assert_has(&picture.svg, &["Bandwidth estimate, Mbit/s", "Pacing rate, Mbit/s"]);
}

#[test]
fn a_step_of_the_rate_moves_capacity_and_bdp() {
    let text = "title = \"Größer → schneller, α ≥ ½\"\nduration = \"40s\"\n\
                [bottleneck]\nrate = [[\"0s\", \"50Mbit/s\"], [\"20s\", \"10Mbit/s\"]]\ndelay = \"10ms\"\n\
                buffer = \"248pkt\"\n[[flows]]\nname = \"upload\"\ncc = \"bbr1\"\nrtt = \"30ms\"\n";
    let run = Scenario::parse("step", "step.toml", text, None, &[]).unwrap().run(0);
    let picture = picture_of(&run, &RunChoice::default()).unwrap();
    show("step", &picture);
    assert_has(
        &picture.svg,
        &["Größer → schneller, α ≥ ½", "link rate", "BDP", "buffer 248 packets"],
    );
    assert!(!picture.svg.contains("BDP 1"), "it is not constant");
}

#[test]
fn the_bdp_follows_the_base_rtt_as_well_as_the_rate() {
    let text = "duration = \"40s\"\n[bottleneck]\nrate = [[\"0s\", \"50Mbit/s\"], [\"30s\", \"25Mbit/s\"]]\n\
                delay = [[\"0s\", \"10ms\"], [\"20s\", \"25ms\"]]\nbuffer = \"248pkt\"\n\
                [[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\n";
    let run = Scenario::parse("bdp", "bdp.toml", text, None, &[]).unwrap().run(0);
    let (summary, series, queue) = samples(&run);
    let input = RunPicture {
        run: &run,
        summary: &summary,
        series: &series,
        queue: &queue,
        made_by: "bbrlab 0",
    };
    let sheet = super::run::tests::bdp(&input);
    // The BDP is 124 packets with a base RTT of 30 ms, 248 with 60 ms, and 124 again when the rate
    // is halved.
    let packets: Vec<(f64, f64)> =
        sheet.iter().map(|&(time_s, packets)| (time_s, packets.round())).collect();
    assert_eq!(
        packets,
        [(0.0, 124.0), (20.0, 124.0), (20.0, 248.0), (30.0, 248.0), (30.0, 124.0), (40.0, 124.0)]
    );
    let picture = run_picture(&input);
    show("bdp", &picture);
    assert!(!picture.svg.contains("BDP 1"), "it is not constant");
}

#[test]
fn a_policer_above_the_axis_is_named_and_not_drawn_at_its_edge() {
    let of_rate = |rate: &str| {
        let text = format!(
            "duration = \"40s\"\n[bottleneck]\nrate = \"50Mbit/s\"\ndelay = \"10ms\"\nbuffer = \"248pkt\"\n\
             police = {{ rate = \"{rate}\", burst = \"64KiB\" }}\n[[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\n"
        );
        let run = Scenario::parse("policer", "policer.toml", &text, None, &[]).unwrap().run(0);
        let choice = RunChoice { panels: vec![RunPanel::Throughput], ..RunChoice::default() };
        picture_of(&run, &choice).unwrap()
    };
    // Only the line of the policer's rate and this line's entry in the legend have the colour
    // `#E69F00`. If the rate is far above the traffic, only the entry in the legend is drawn.
    let dashes = |picture: &Picture| picture.svg.matches("#E69F00").count();
    let (below, above) = (of_rate("40Mbit/s"), of_rate("90Mbit/s"));
    show("policer-above", &above);
    assert!(below.svg.contains("policed") && dashes(&below) > 50, "{}", dashes(&below));
    assert_has(&above.svg, &["policed at 90 (above)"]);
    assert!(dashes(&above) < 10, "{}", dashes(&above));
}

#[test]
fn datagrams_have_no_panels_of_what_only_a_connection_has() {
    let text = |flows: &str| {
        format!(
            "duration = \"40s\"\n[bottleneck]\nrate = \"50Mbit/s\"\ndelay = \"10ms\"\nbuffer = \"248pkt\"\n{flows}"
        )
    };
    let run_of =
        |flows: &str| Scenario::parse("udp", "udp.toml", &text(flows), None, &[]).unwrap().run(0);
    let datagrams = "[[flows]]\ncc = \"udp\"\nrate = \"9Mbit/s\"\nrtt = \"90ms\"\n";
    let alone = run_of(datagrams);
    let picture = picture_of(&alone, &RunChoice::default()).unwrap();
    show("datagrams", &picture);
    assert_has(&picture.svg, &["Throughput", "Queue, packets", "time, s"]);
    for absent in ["RTT", "cwnd"] {
        assert!(!picture.svg.contains(absent), "{absent}");
    }
    let asked = RunChoice { panels: vec![RunPanel::Queue, RunPanel::Cwnd], ..RunChoice::default() };
    let refused = picture_of(&alone, &asked).unwrap_err();
    assert!(refused.starts_with("`cwnd`: needs flows with a time series"), "{refused}");
    // If the run also has a connection, the panels of RTT and cwnd show only the connection, with
    // its base RTT.
    let beside = run_of(&format!("{datagrams}[[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\n"));
    let picture = picture_of(&beside, &RunChoice::default()).unwrap();
    show("datagrams-beside", &picture);
    assert_has(&picture.svg, &["base RTT 30 ms", "cwnd and inflight"]);
}

#[test]
fn the_effects_of_a_path_on_packets_are_drawn() {
    let text = "duration = \"40s\"\n[bottleneck]\nrate = \"50Mbit/s\"\nloss = 0.01\n\
                delay = [[\"0s\", \"10ms\"], [\"20s\", \"25ms\"]]\nbuffer = \"248pkt\"\n\
                police = { rate = \"40Mbit/s\", burst = \"64KiB\" }\n\
                [[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\n\
                [[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\nbytes = \"9KB\"\narrivals = { rate = \"9/s\" }\n";
    let run = Scenario::parse("way", "way.toml", text, None, &[]).unwrap().run(0);
    let (summary, series, mut queue) = samples(&run);
    for row in 0..queue.len() {
        queue.random_losses[row] = (row as u64 / 1000).into();
        queue.policer_drops[row] = Some(row as u64 / 500);
    }
    let input = RunPicture {
        run: &run,
        summary: &summary,
        series: &series,
        queue: &queue,
        made_by: "bbrlab 0",
    };
    let picture = chosen_run_picture(&input, &RunChoice::default()).unwrap();
    show("way", &picture);
    // The flows of `arrivals` (the second table) have no curve. The throughput panel states this as
    // "without flows that come and go".
    let words = ["without flows that come and go", "policed", "lost at random", "drops"];
    assert_has(&picture.svg, &words);
    assert!(!picture.svg.contains("base RTT 30 ms"), "the base RTT is 60 ms from 20 s on");
}

#[test]
fn no_line_is_drawn_through_a_time_without_the_flow() {
    let text = "duration = \"40s\"\n[bottleneck]\nrate = \"50Mbit/s\"\ndelay = \"10ms\"\n\
                buffer = \"248pkt\"\n[[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\n";
    let run = Scenario::parse("gap", "gap.toml", text, None, &[]).unwrap().run(0);
    let (summary, all, queue) = samples(&run);
    let mut series = Series::default();
    for (row, &time_s) in all.time_s.iter().enumerate() {
        if time_s < 20.0 {
            series.push(SeriesRow {
                time_s,
                throughput_bps: Some(40_000_000),
                cwnd_packets: all.cwnd_packets[row],
                ..SeriesRow::default()
            });
        }
    }
    let input = RunPicture {
        run: &run,
        summary: &summary,
        series: &series,
        queue: &queue,
        made_by: "bbrlab 0",
    };
    let choice = RunChoice { panels: vec![RunPanel::Throughput], ..RunChoice::default() };
    let picture = chosen_run_picture(&input, &choice).unwrap();
    assert_sound(&picture.svg);
    let throughput = longest_line(&picture.svg, "#0072B2");
    let end = throughput.iter().map(|point| point.0).fold(0.0, f64::max);
    assert!((900.0..1100.0).contains(&end), "the curve ends at {end}, not at half of 2000 units");
}

/// Returns the runs of a made-up sweep with `seeds` seeds for each sweep point. The metrics of a
/// run are computed from the indices of its swept values.
fn swept(keys: &[(&str, &[&str])], seeds: u32) -> Vec<RunSummary> {
    let points = keys.iter().map(|(_, values)| values.len()).product::<usize>();
    let mut runs = Vec::new();
    for point in 0..points {
        for seed in 1..=seeds {
            let mut run = sample_run();
            let mut below = points;
            let mut sum = 0;
            for (key, values) in keys {
                below /= values.len();
                let at = point / below % values.len();
                sum += at;
                run.point.insert((*key).to_owned(), values[at].into());
            }
            let sum = f64::from(u32::try_from(sum).unwrap());
            run.seed = seed.into();
            run.scenario_hash = format!("point {point}");
            run.digest = Some(format!("{point} {seed}"));
            let share = 0.2 + 0.05 * sum + 0.02 * f64::from(seed % 3);
            run.flow_groups[0].share = Some(share);
            run.flow_groups[1].share = Some(1.0 - share);
            run.links[0].queue_delay_ms.mean = Some(14.8 + 2.0 * sum);
            run.goodput_mbps = Some(46.0 + 0.1 * sum + 0.05 * f64::from(seed));
            runs.push(run);
        }
    }
    runs
}

const BUFFERS: (&str, &[&str]) =
    ("bottleneck.buffer", &["0.1bdp", "0.2bdp", "0.5bdp", "1bdp", "2bdp", "4bdp", "8bdp", "16bdp"]);

#[test]
fn a_sweep_begins_with_shares_of_each_group_on_a_whole_axis() {
    let pictures = sweep_pictures("Two flows against the buffer", &swept(&[BUFFERS], 5));
    let names: Vec<&str> = pictures.iter().map(|picture| picture.name.as_str()).collect();
    assert_eq!(names, ["sweep-bottleneck-buffer"]);
    show("sweep", &pictures[0]);
    assert_has(
        &pictures[0].svg,
        &[
            "Share of the goodput, %",
            "bottleneck.buffer, bdp",
            "Mean queue delay, ms",
            "bbr1",
            "cubic",
        ],
    );
    let words: Vec<String> = texts(&pictures[0].svg).into_iter().map(|text| text.4).collect();
    assert!(words.contains(&"100".to_owned()) && words.contains(&"16".to_owned()), "{words:?}");
    // Goodput differs by only two per cent between the sweep points, but its axis begins at zero.
    let goodput = words.iter().position(|word| word.starts_with("Goodput")).unwrap();
    assert!(words[..goodput].iter().rev().take(12).any(|word| word == "0"), "{words:?}");
    // Each of the eight sweep points has a mark for each group of flows, in front of five dots for
    // the seeds.
    assert!(pictures[0].svg.matches("<circle").count() > 8 * 5);
}

#[test]
fn a_third_key_makes_small_multiples_and_names_are_not_joined() {
    let rates: (&str, &[&str]) = ("bottleneck.rate", &["10Mbit/s", "100Mbit/s", "1Gbit/s"]);
    let ccs: (&str, &[&str]) = ("flows[0].cc", &["bbr1", "bbr2", "bbr3"]);
    let pictures = sweep_pictures("Three keys", &swept(&[BUFFERS, rates, ccs], 2));
    let names: Vec<&str> = pictures.iter().map(|picture| picture.name.as_str()).collect();
    assert_eq!(names, ["sweep-bottleneck-buffer", "sweep-bottleneck-rate"]);
    show("multiples", &pictures[0]);
    assert_has(&pictures[0].svg, &["rate 10Mbit/s", "rate 100Mbit/s", "rate 1Gbit/s", "bbr3"]);
    assert_sound(&pictures[1].svg);

    let pictures = sweep_pictures("Names", &swept(&[ccs], 2));
    show("names", &pictures[0]);
    assert_has(&pictures[0].svg, &["bbr2", "flows[0].cc"]);
    let joined = longest_line(&pictures[0].svg, "#0072B2").len();
    assert!(joined <= 2, "the longest line has {joined} points: a bar has two, a curve three");
}

#[test]
fn of_many_points_there_are_lines_without_marks_and_round_ticks() {
    let rates: Vec<String> = (0..150).map(|at| format!("{}kbit/s", 1000 + 13 * at)).collect();
    let rates: Vec<&str> = rates.iter().map(String::as_str).collect();
    let sizes: Vec<String> = (1..=40).map(|at| format!("{at}pkt")).collect();
    let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();

    let many = [("bottleneck.rate", &rates[..])];
    let pictures = sweep_pictures("Many", &swept(&many, 3));
    show("many-points", &pictures[0]);
    assert_has(
        &pictures[0].svg,
        &["means over 3 seeds; thin lines: 95 % intervals of the mean", "1500", "2500"],
    );
    assert_eq!(pictures[0].svg.matches("<circle").count(), 0);
    assert_sound(&pictures[0].svg);

    // With forty lines, not all are shown, but the first and the last are.
    let both = [("bottleneck.rate", &rates[..20]), ("bottleneck.buffer", &sizes[..])];
    let pictures = sweep_pictures("Many lines", &swept(&both, 1));
    show("many-lines", &pictures[0]);
    assert_has(
        &pictures[0].svg,
        &["one run per point; 32 of 40 lines shown", "buffer 1pkt", "buffer 40pkt"],
    );
    assert_eq!(pictures[1].name, "sweep-bottleneck-buffer");

    // The dots of a sweep point are in the order of the seeds, and their number is limited.
    let pictures = sweep_pictures("Many seeds", &swept(&[BUFFERS], 120));
    assert_has(&pictures[0].svg, &["small dots: the first 100 seeds"]);
}

#[test]
fn every_name_along_an_axis_is_read_however_many_there_are() {
    let queues: (&str, &[&str]) = (
        "bottleneck.queue",
        &["codel", "fq_codel", "pie", "fq_pie", "red", "dualpi2", "cake", "sfq", "fq", "prio"],
    );
    let pictures = sweep_pictures("Disciplines", &swept(&[queues], 1));
    show("disciplines", &pictures[0]);
    assert_has(&pictures[0].svg, queues.1);
    assert_sound(&pictures[0].svg);

    let long = [
        "codel target=5ms interval=100ms ecn=true",
        "codel target=1ms interval=100ms ecn=true",
        "fq_codel target=1ms interval=100ms flows=4096 quantum=300B limit=10000pkt ecn=true",
    ];
    let pictures = sweep_pictures("Their parameters", &swept(&[("bottleneck.queue", &long)], 1));
    show("parameters", &pictures[0]);
    assert_has(&pictures[0].svg, &["codel target=5ms", "codel target=1ms", "fq_codel"]);
    assert_sound(&pictures[0].svg);
}

#[test]
fn many_names_are_vertical_on_a_column_of_paper_and_on_a_screen() {
    let ccs: (&str, &[&str]) = (
        "flows.cc",
        &[
            "bbr1",
            "bbr_prime",
            "bbr_hsr",
            "bbrplus",
            "delay_bbr",
            "bbr_acd",
            "bbr2",
            "bbr2_exp",
            "bbr3",
            "bbr3_ietf",
            "cubic",
            "reno",
            "vegas",
            "dctcp",
            "illinois",
            "highspeed",
            "scalable",
            "westwood",
        ],
    );
    let runs = swept(&[ccs], 2);
    for (name, shape) in [
        ("narrow", Shape::paper(84.0, 60.0)),
        ("high", Shape::paper(84.0, 120.0)),
        ("wide", Shape::SCREEN),
    ] {
        let choice = SweepChoice { shape, ..SweepChoice::default() };
        let pictures = chosen_sweep_pictures("Algorithms", &runs, &choice).unwrap();
        show(&format!("many-names-{name}"), &pictures[0]);
        assert_has(&pictures[0].svg, ccs.1);
        assert!(!pictures[0].svg.contains('…'), "{name}: something is cut off");
    }
    // Names that are longer than the space are cut off, but their beginnings, which differ, are
    // drawn.
    let long: Vec<String> =
        (0..18).map(|n| format!("{n} fq_codel target=5ms interval=100ms")).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    let choice = SweepChoice { shape: Shape::paper(84.0, 90.0), ..SweepChoice::default() };
    let runs = swept(&[("bottleneck.queue", &long)], 1);
    let pictures = chosen_sweep_pictures("Parameters", &runs, &choice).unwrap();
    show("many-names-long", &pictures[0]);
    assert_has(&pictures[0].svg, &["0 fq_codel", "17 fq_codel"]);
}

#[test]
fn seeds_that_changed_nothing_are_said_so_and_have_no_bars() {
    let mut runs = swept(&[BUFFERS], 3);
    for run in &mut runs {
        run.digest = Some(run.scenario_hash.clone());
    }
    let pictures = sweep_pictures("Nothing is random", &runs);
    assert_has(&pictures[0].svg, &["seeds with identical digests: no bars"]);
}

#[test]
fn a_sweep_is_drawn_as_somebody_chose() {
    let ccs: (&str, &[&str]) = ("flows[0].cc", &["bbr1", "bbr2", "bbr3"]);
    let runs = swept(&[BUFFERS, ccs], 3);
    let choice = SweepChoice {
        metrics: vec!["share".to_owned()],
        against: None,
        x: Some("buffer".to_owned()),
        by: Some("flows[0].cc".to_owned()),
        shape: Shape::paper(84.0, 60.0),
        ..SweepChoice::default()
    };
    let pictures = chosen_sweep_pictures("Chosen", &runs, &choice).unwrap();
    show("chosen", &pictures[0]);
    assert_has(&pictures[0].svg, &["Share of the goodput, %", "width=\"84mm\""]);
    assert!(!pictures[0].svg.contains("Goodput"));
    let refused =
        |choice: SweepChoice| chosen_sweep_pictures("Chosen", &runs, &choice).unwrap_err();
    let metric = refused(SweepChoice { metrics: vec!["fct_p95".to_owned()], ..choice.clone() });
    // Among the metrics of transfers, only the listed ones have a value in the runs.
    assert_eq!(metric, "unknown metric `fct_p95`; similar metrics: fct_ms.n, fct_ms.unfinished");
    let key = refused(SweepChoice { x: Some("rate".to_owned()), ..choice });
    assert_eq!(key, "`rate` is not swept; swept keys are bottleneck.buffer, flows[0].cc");
}

#[test]
fn a_figure_against_another_has_a_point_for_each_combination() {
    let rates: (&str, &[&str]) = ("bottleneck.rate", &["10Mbit/s", "100Mbit/s", "1Gbit/s"]);
    let ccs: (&str, &[&str]) = ("flows[0].cc", &["bbr1", "bbr2"]);
    let runs = swept(&[BUFFERS, rates, ccs], 2);
    let choice = SweepChoice {
        metrics: vec!["share".to_owned()],
        against: Some("queue_delay_ms.mean".to_owned()),
        x: Some("buffer".to_owned()),
        ..SweepChoice::default()
    };
    let pictures = chosen_sweep_pictures("Against", &runs, &choice).unwrap();
    show("against", &pictures[0]);
    assert_eq!(pictures[0].name, "share-against-queue_delay_ms-mean");
    let shown = ["rate 10Mbit/s", "rate 1Gbit/s", "Mean queue delay, ms", "bbr2"];
    assert_has(&pictures[0].svg, &shown);
    assert_has(&pictures[0].svg, &["dashed: equal shares"]);
    // Only the share of the first of the two groups of flows is shown, because it determines the
    // share of the second. The plot therefore has one circle per point, and two more in the legend.
    let points = pictures[0].svg.matches("<circle").count();
    assert_eq!(points, 2 + BUFFERS.1.len() * 3 * 2);

    let refused =
        |choice: SweepChoice| chosen_sweep_pictures("Against", &runs, &choice).unwrap_err();
    let figure = refused(SweepChoice { against: Some("delay".to_owned()), ..choice.clone() });
    assert!(figure.contains("unknown metric `delay`"), "{figure}");
    let twice = refused(SweepChoice { by: Some("buffer".to_owned()), ..choice });
    assert!(twice.contains("--by needs another swept key"), "{twice}");
}

/// Returns made-up transfers of two algorithms at two loss rates. In the test data, one transfer in
/// ten never ends.
fn transfers(runs: &[RunSummary]) -> Vec<CdfSample> {
    let sample = |(run, group): (usize, &str)| CdfSample {
        run,
        group: group.to_owned(),
        values: (1..=9u32).map(|at| (f64::from(at * at) * 100.0, 1)).collect(),
        without: 1,
    };
    let each = (0..runs.len()).flat_map(|run| [(run, "short"), (run, "long")]);
    each.map(sample).collect()
}

#[test]
fn a_distribution_has_a_curve_a_group_and_stays_below_one_where_transfers_never_ended() {
    let ccs: (&str, &[&str]) = ("flows.cc", &["bbr1", "cubic"]);
    let loss: (&str, &[&str]) = ("bottleneck.loss", &["0", "0.01"]);
    let runs = swept(&[ccs, loss], 1);
    let input = CdfInput {
        name: "cdf-fct".to_owned(),
        title: "Completion times",
        of: "completion time, ms",
        counted: "transfers",
        without: "not completed",
        runs: &runs,
        samples: transfers(&runs),
        by: None,
        only: "",
        shape: Shape::SCREEN,
        labels: Labels::default(),
    };
    let picture = cdf_picture(&input).unwrap();
    show("cdf", &picture);
    assert_has(
        &picture.svg,
        &[
            "loss 0 (4 not completed)",
            "loss 0.01 (4 not",
            "bbr1, short",
            "completion time, ms",
            "5000",
        ],
    );
    // The top of the panel is at a share of 1.04. Nine in ten of these transfers end, so their
    // curve reaches 0.9.
    let curve = longest_line(&picture.svg, "#0072B2");
    let (low, high) = curve
        .iter()
        .fold((f64::INFINITY, 0.0f64), |(low, high), point| (low.min(point.1), high.max(point.1)));
    let share = (high - low) / (2.0 * 260.0) * 1.04;
    assert!((share - 0.9).abs() < 0.01, "{share}");
    let paper = CdfInput { shape: Shape::paper(84.0, 60.0), ..input.clone() };
    let paper = cdf_picture(&paper).unwrap();
    show("cdf-paper", &paper);
    assert_sound(&paper.svg);
    let only = cdf_picture(&CdfInput { only: "cc bbr1", ..input.clone() }).unwrap();
    assert!(only.svg.contains("\ncc bbr1; "), "{}", only.svg);
    let refused = cdf_picture(&CdfInput { by: Some("rate".to_owned()), ..input }).unwrap_err();
    assert_eq!(refused, "`rate` is not swept; swept keys are flows.cc, bottleneck.loss");
}

#[test]
fn percentiles_read_off_a_curve_are_those_of_the_packets() {
    // Out of 1,000 packets, 241 waited 0 ms. The median is 100 ms, the 95th percentile 1,500 ms and
    // the 99th percentile 4,000 ms.
    let values = vec![(0.0, 241), (100.0, 300), (700.0, 389), (1500.0, 50), (4000.0, 20)];
    let mut run = sample_run();
    run.flow_groups.truncate(1);
    let input = CdfInput {
        name: "cdf-queue".to_owned(),
        title: "Packets",
        of: "queue delay at bottleneck, ms",
        counted: "packets",
        without: "",
        runs: &[run],
        samples: vec![CdfSample { run: 0, group: "bottleneck".to_owned(), values, without: 0 }],
        by: None,
        only: "",
        shape: Shape::SCREEN,
        labels: Labels::default(),
    };
    let picture = cdf_picture(&input).unwrap();
    show("cdf-queue", &picture);
    assert_has(&picture.svg, &["1,000 packets", "queue delay at bottleneck, ms"]);
    let curve = longest_line(&picture.svg, "#0072B2");
    let ((left, bottom), (right, top)) = (curve[0], curve[curve.len() - 1]);
    let end = Ratios::new(0.0, 4000.0, 8).axis.high;
    // Returns the value on the x axis at which the curve first reaches a share.
    let read = |share: f64| {
        let height = bottom - share * (bottom - top);
        let reached = curve.iter().find(|point| point.1 <= height).unwrap();
        (reached.0 - left) / (right - left) * end
    };
    // One pixel column of the picture corresponds to 4 ms, and one pixel row to 4 packets.
    for (share, delay_ms) in
        [(0.23, 0.0), (0.25, 100.0), (0.5, 100.0), (0.92, 700.0), (0.95, 1500.0), (0.99, 4000.0)]
    {
        assert!((read(share) - delay_ms).abs() < 4.0, "{share}: {}, {delay_ms}", read(share));
    }
}

/// Returns two recordings of `flows` flows and one queue, with long names.
fn overlay(flows: u32, shape: Shape) -> Overlay {
    let rising = |from: f64| -> OverTime {
        (0..100).map(|at| (f64::from(at) / 10.0, Some(from + f64::from(at)))).collect()
    };
    let pair = |name: String| OverlayPair { name, below: rising(10.0), above: rising(20.0) };
    let of_flows = |title: &str| OverlayPanel {
        title: title.to_owned(),
        pairs: (0..flows).map(|flow| pair(format!("{flow} bbr1 / cubic"))).collect(),
    };
    Overlay {
        name: "two".to_owned(),
        title: "Two recordings".to_owned(),
        facts: "17 more flows are not drawn".to_owned(),
        below: "bottleneck.buffer 100 packets".to_owned(),
        above: "bottleneck.buffer 1.5 BDP".to_owned(),
        start_s: 0.0,
        end_s: 10.0,
        shape,
        labels: Labels::default(),
        panels: vec![
            of_flows("Payload read by the application, Mbit/s (jumps after loss recovery)"),
            of_flows("Smoothed RTT, ms"),
            OverlayPanel { title: "Queue, packets".to_owned(), pairs: vec![pair(String::new())] },
        ],
    }
}

#[test]
fn two_recordings_have_one_legend_that_keeps_clear_of_the_titles_at_every_size() {
    for shape in [Shape::SCREEN, Shape::paper(84.0, 110.0), Shape::pixels(1600.0, 900.0)] {
        for flows in [1, 2, 4] {
            let picture = overlay_picture(&overlay(flows, shape)).unwrap();
            show(&format!("overlay{flows}-{}", shape.width), &picture);
            assert_has(&picture.svg, &["buffer 100 packets", "17 more flows", "Queue, packets"]);
            let times = |words: &str| picture.svg.matches(words).count();
            assert_eq!(times("1.5 BDP"), 1);
            assert_eq!(times("0 bbr1 / cubic"), usize::from(flows > 1));
        }
    }
    let reason = overlay_picture(&overlay(2, Shape::paper(84.0, 50.0))).unwrap_err();
    assert!(reason.contains("no room for 3 panels"), "{reason}");
}

#[cfg(feature = "pdf")]
#[test]
fn a_pdf_has_the_size_of_the_paper_and_the_same_bytes_each_time() {
    let choice = RunChoice {
        panels: vec![RunPanel::Rtt],
        shape: Shape::paper(84.0, 60.0),
        ..RunChoice::default()
    };
    let picture = picture_of(&run(&["bbr1"]), &choice).unwrap();
    let pdf = picture.pdf();
    assert_eq!(pdf, picture.pdf());
    assert!(pdf.starts_with(b"%PDF-1.4") && pdf.ends_with(b"%%EOF\n"));
    let text = String::from_utf8_lossy(&pdf);
    // The page is 84 mm wide and 60 mm high; the file has these sizes in points of 1/72 inch.
    assert!(text.contains("/MediaBox[0 0 238.1"), "{}", &text[..400]);
    let start: usize =
        text.rsplit("startxref\n").next().unwrap().split('\n').next().unwrap().parse().unwrap();
    assert!(pdf[start..].starts_with(b"xref"));
    if let Some(folder) = std::env::var_os("BBRLAB_PICTURES") {
        std::fs::write(std::path::PathBuf::from(folder).join("paper.pdf"), pdf).unwrap();
    }
}
