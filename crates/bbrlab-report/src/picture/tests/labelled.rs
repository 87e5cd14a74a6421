//! Pictures with labels and groups of flows that the user chose, at the size of a paper's column
//! and on a screen.

use bbrlab_run::RunSummary;

use super::{
    BUFFERS, assert_has, assert_sound, overlay, picture_of, run, show, swept, texts, transfers,
};
use crate::picture::{
    CdfInput, CdfSample, Labels, Overlay, OverlayPanel, Picture, RunChoice, RunPanel, Shape,
    SweepChoice, cdf_picture, chosen_sweep_pictures, overlay_picture, sweep_pictures,
};

const LONG: &str = "A long title that says in full what a reader of the paper should see here";
const LONG_X: &str =
    "size of the buffer at the bottleneck, in bandwidth-delay products of the base RTT";
const LONG_Y: &str =
    "Share of the goodput of both flows that the flow with BBRv1 gets, in per cent";

/// Returns the sizes at which every picture is drawn and checked.
fn sizes() -> [(&'static str, Shape); 2] {
    [("paper", Shape::paper(84.0, 60.0)), ("screen", Shape::SCREEN)]
}

fn long(legend: &[&str]) -> Labels {
    Labels {
        title: Some(LONG.to_owned()),
        x: Some(LONG_X.to_owned()),
        y: Some(LONG_Y.to_owned()),
        legend: legend.iter().map(|&own| own.to_owned()).collect(),
        no_caption: true,
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Returns all words of a picture in the order of their lines, so that a text broken into lines is
/// one text.
fn read(picture: &Picture) -> String {
    assert_sound(&picture.svg);
    let lines: Vec<String> = texts(&picture.svg).into_iter().map(|text| text.4).collect();
    lines.join(" ")
}

/// Whether the picture contains each of these words. The order of the words is not checked, because
/// the lines of a panel's title are drawn from the last one up.
fn has_lines(picture: &Picture, words: &str) -> bool {
    let all = read(picture);
    words.split(' ').all(|word| all.contains(word))
}

fn sweep(runs: &[RunSummary], choice: &SweepChoice) -> Result<Picture, String> {
    let mut pictures = chosen_sweep_pictures("Usual", runs, choice)?;
    assert_eq!(pictures.len(), 1);
    Ok(pictures.remove(0))
}

#[test]
fn every_panel_of_a_run_fits_a_column_of_paper() {
    let run = run(&["bbr1", "cubic"]);
    for (name, panel) in RunPanel::NAMED {
        for (size, shape) in sizes() {
            let mut panels = vec![*panel];
            if *panel == RunPanel::State {
                panels.push(RunPanel::Throughput);
            }
            // State bands with a panel below them need more height than a panel alone.
            let shape = match (panel, size) {
                (RunPanel::State, "paper") => Shape::paper(84.0, 80.0),
                _ => shape,
            };
            let labels = long(&["0 bbr1=BBR, version 1 (Linux 6.12)", "1 cubic=CUBIC"]);
            let own = RunChoice { panels: panels.clone(), shape, labels, ..RunChoice::default() };
            let picture = picture_of(&run, &own).unwrap();
            show(&format!("run-{name}-own-{size}"), &picture);
            let shown = [LONG, LONG_X, LONG_Y];
            assert!(shown.iter().all(|words| has_lines(&picture, words)), "{}", read(&picture));
            assert!(!picture.svg.contains("hash 3fa9c2d17b60") && !picture.svg.contains("time, s"));
            if *panel != RunPanel::Queue {
                assert_has(&picture.svg, &["BBR, version 1 (Linux 6.12)", "CUBIC"]);
            }
            assert!(picture.entries.iter().any(|entry| entry == "0 bbr1"));
            let usual = RunChoice { panels, shape, ..RunChoice::default() };
            let picture = picture_of(&run, &usual).unwrap();
            show(&format!("run-{name}-{size}"), &picture);
            assert_sound(&picture.svg);
        }
    }
}

#[test]
fn a_run_of_some_groups_has_their_flows_in_their_colours() {
    let run = run(&["bbr1", "cubic", "reno"]);
    let of = |groups: &[&str]| {
        let panels = vec![RunPanel::Throughput, RunPanel::Cwnd];
        let choice = RunChoice { panels, groups: names(groups), ..RunChoice::default() };
        let picture = picture_of(&run, &choice).unwrap();
        show(&format!("run-group-{}", groups.len()), &picture);
        assert_sound(&picture.svg);
        let colors = ["#0072B2", "#D55E00", "#009E73"].map(|color| picture.svg.contains(color));
        (colors, picture)
    };
    let (colors, picture) = of(&["cubic", "reno"]);
    assert_eq!(colors, [false, true, true]);
    assert_has(&picture.svg, &["1 cubic", "2 reno"]);
    assert!(!picture.svg.contains("0 bbr1"));
    // With a single flow, the colours distinguish cwnd from inflight.
    let (colors, picture) = of(&["reno"]);
    assert_eq!(colors, [true, true, false]);
    assert_has(&picture.svg, &["2 reno"]);
}

#[test]
fn a_choice_that_has_no_use_in_a_run_is_an_error() {
    let run = run(&["bbr1", "cubic"]);
    let refused = |panels: &[RunPanel], groups: &[&str], labels: Labels| {
        let panels = panels.to_vec();
        let choice = RunChoice { panels, groups: names(groups), labels, ..RunChoice::default() };
        picture_of(&run, &choice).unwrap_err()
    };
    let y = Labels { y: Some("Own".to_owned()), ..Labels::default() };
    assert_eq!(
        refused(&[RunPanel::Rtt, RunPanel::Cwnd], &[], y.clone()),
        "--ylabel: expected a plot of one quantity, found 2: `rtt`, `cwnd`; choose one with --panels"
    );
    assert!(refused(&[RunPanel::State], &[], y).contains("found none"));
    let group = refused(&[RunPanel::Queue], &["bbr1"], Labels::default());
    assert!(group.starts_with("--group: expected a panel of flows, found a queue"), "{group}");
}

#[test]
fn a_sweep_with_words_of_its_own_fits_a_column_of_paper() {
    let ccs: (&str, &[&str]) = ("flows[0].cc", &["bbr1", "bbr2", "bbr3"]);
    let (one, two) = (swept(&[BUFFERS], 3), swept(&[BUFFERS, ccs], 3));
    for (size, shape) in sizes() {
        let labels = long(&["bbr1=BBR, version 1", "cubic=CUBIC, as in Linux"]);
        let metrics = names(&["share"]);
        let choice = SweepChoice { metrics, shape, labels, ..SweepChoice::default() };
        let picture = sweep(&one, &choice).unwrap();
        show(&format!("sweep-own-{size}"), &picture);
        for words in [LONG, LONG_X, LONG_Y] {
            assert!(has_lines(&picture, words), "{}", read(&picture));
        }
        assert_has(&picture.svg, &["BBR, version 1", "CUBIC, as in Linux"]);
        assert!(!picture.svg.contains("means over") && !picture.svg.contains("Usual"));
        assert_eq!(picture.entries, ["bbr1", "cubic"]);
        let usual = SweepChoice { labels: Labels::default(), ..choice };
        for (name, runs) in [("one", &one), ("two", &two)] {
            let picture = sweep(runs, &usual).unwrap();
            show(&format!("sweep-{name}-{size}"), &picture);
            assert_sound(&picture.svg);
            let sheet = SweepChoice { metrics: Vec::new(), ..usual.clone() };
            let picture = sweep(runs, &sheet).unwrap();
            show(&format!("sweep-{name}-sheet-{size}"), &picture);
            assert_sound(&picture.svg);
        }
    }
}

#[test]
fn small_multiples_have_one_label_of_their_own() {
    let rates: (&str, &[&str]) = ("bottleneck.rate", &["10Mbit/s", "100Mbit/s", "1Gbit/s"]);
    let ccs: (&str, &[&str]) = ("flows[0].cc", &["bbr1", "bbr2"]);
    let runs = swept(&[BUFFERS, rates, ccs], 2);
    for (size, shape) in sizes() {
        let shape = if size == "paper" { Shape::paper(84.0, 100.0) } else { shape };
        let labels = Labels { x: Some("buffer, BDP".to_owned()), ..long(&[]) };
        let choice = SweepChoice {
            metrics: names(&["share"]),
            x: Some("buffer".to_owned()),
            shape,
            labels,
            ..SweepChoice::default()
        };
        let picture = sweep(&runs, &choice).unwrap();
        show(&format!("multiples-own-{size}"), &picture);
        assert!(has_lines(&picture, LONG_Y) && has_lines(&picture, LONG));
    }
}

#[test]
fn shares_have_a_grey_line_at_the_fair_share_of_each_group() {
    let grey = |runs: &[RunSummary]| {
        let choice = SweepChoice { metrics: names(&["share"]), ..SweepChoice::default() };
        let picture = sweep(runs, &choice).unwrap();
        let heights = super::lines_of(&picture.svg, "#969696", 2);
        (heights, picture)
    };
    let runs = swept(&[BUFFERS], 2);
    let (one, picture) = grey(&runs);
    show("fair-equal", &picture);
    assert_has(&picture.svg, &["grey: fair share"]);
    // Two groups with equal fair shares have one line; the other grey lines are marks of ticks.
    assert_eq!(one.iter().filter(|line| is_level(line)).count(), 1);
    // Now a group of three flows competes with one flow.
    let mut uneven = runs.clone();
    for run in &mut uneven {
        run.flow_groups[0].flows = 3;
    }
    let (lines, picture) = grey(&uneven);
    show("fair-uneven", &picture);
    let mut heights: Vec<f64> =
        lines.iter().filter(|line| is_level(line)).map(|line| line[0].1).collect();
    heights.sort_by(f64::total_cmp);
    assert_eq!(heights.len(), 2);
    // The axis ends at 104 %, and the panel is 220 layout points high: 440 units of the picture.
    let apart = (heights[1] - heights[0]) / 440.0 * 104.0;
    assert!((apart - 50.0).abs() < 0.5, "the shares of 75 % and 25 % are {apart} % apart");
    // Only groups with `arrivals`, whose flows come and go, have a number in `rejected`. A run with
    // such a group has no fair shares.
    for run in &mut uneven {
        run.flow_groups[0].rejected = Some(0);
    }
    let (lines, picture) = grey(&uneven);
    assert!(!picture.svg.contains("fair share"));
    assert_eq!(lines.iter().filter(|line| is_level(line)).count(), 0);
}

fn is_level(line: &[(f64, f64)]) -> bool {
    line.len() == 2
        && line[0].1.to_bits() == line[1].1.to_bits()
        && (line[1].0 - line[0].0).abs() > 100.0
}

#[test]
fn the_default_sheet_leaves_out_what_is_the_same_everywhere() {
    let runs = swept(&[BUFFERS], 2);
    let picture = sweep(&runs, &SweepChoice::default()).unwrap();
    assert_has(
        &picture.svg,
        &["Share of the goodput, %", "the same everywhere: retrans, RTT mean, used, dropped, Jain"],
    );
    assert!(!picture.svg.contains("Retransmissions"));
    // A metric that the user chose is drawn even if its values are equal at all sweep points.
    let choice = SweepChoice { metrics: names(&["jain"]), ..SweepChoice::default() };
    let chosen = sweep(&runs, &choice).unwrap();
    assert_has(&chosen.svg, &["s index"]);
    assert!(!chosen.svg.contains("the same everywhere"));
    // If no metric differs between sweep points or groups, all metrics are drawn.
    let mut same = swept(&[BUFFERS], 1);
    let first = same[0].clone();
    for run in &mut same {
        run.flow_groups[0].share = Some(0.5);
        run.flow_groups[1].share = Some(0.5);
        run.goodput_mbps = first.goodput_mbps;
        run.links = first.links.clone();
        run.flow_groups[0].goodput_mbps = Some(20.0);
        run.flow_groups[1].goodput_mbps = Some(20.0);
    }
    let picture = sweep_pictures("Nothing differs", &same).remove(0);
    assert_has(&picture.svg, &["Share of the goodput, %", "Retransmissions, packets"]);
    assert!(!picture.svg.contains("the same everywhere"));
}

#[test]
fn a_sweep_of_one_group_has_its_curves_only() {
    let runs = swept(&[BUFFERS], 2);
    let choice = SweepChoice { groups: names(&["cubic"]), ..SweepChoice::default() };
    let picture = sweep(&runs, &choice).unwrap();
    show("sweep-group", &picture);
    assert_has(&picture.svg, &["Share of the goodput, %", "cubic"]);
    assert!(!picture.svg.contains("bbr1") && !picture.svg.contains("Goodput of all flows"));
    assert!(!picture.svg.contains("#0072B2"), "cubic keeps the second colour");
}

/// Returns a sweep of two keys: the buffer, and the first flow's algorithm. The algorithm is also
/// the name of the first flow's group.
fn swept_group() -> Vec<RunSummary> {
    let ccs: (&str, &[&str]) = ("flows[0].cc", &["bbr1", "bbr3"]);
    let mut runs = swept(&[BUFFERS, ccs], 2);
    for run in &mut runs {
        run.flow_groups[0].group = run.point["flows[0].cc"].as_str().unwrap().to_owned();
    }
    runs
}

#[test]
fn the_values_of_a_key_that_names_a_group_stand_for_the_group() {
    let runs = swept_group();
    let of = |groups: &[&str], against: Option<&str>| {
        let choice = SweepChoice {
            metrics: names(&["share"]),
            against: against.map(str::to_owned),
            groups: names(groups),
            ..SweepChoice::default()
        };
        let picture = sweep(&runs, &choice).unwrap();
        show(&format!("swept-group-{}-{}", groups.join("-"), against.is_some()), &picture);
        picture
    };
    let all = of(&[], None);
    assert_eq!(all.entries, ["flows[0].cc bbr1", "flows[0].cc bbr3", "cubic"]);
    assert_eq!(of(&["bbr1"], None).entries, ["bbr1"]);
    assert_eq!(of(&["bbr1", "bbr3"], None).entries, ["bbr1", "bbr3"]);
    let of_other = of(&["cubic"], None);
    assert_eq!(of_other.entries, ["flows[0].cc bbr1", "flows[0].cc bbr3", "cubic"]);
    // If a scatter plot draws only one group of flows, the title above the panel names this group.
    // The user's texts may replace this name like the name of a legend entry, so `entries` contains
    // the name. In the first plot below, the group "bbr1" is chosen, so the title says "bbr1". In
    // the second plot, no group is chosen. The title says "flows[0]", and the legend explains the
    // colours of "bbr1" and "bbr3".
    let delay = Some("queue_delay_ms.mean");
    assert_eq!(of(&["bbr1"], delay).entries, ["bbr1"]);
    assert_eq!(of(&[], delay).entries, ["bbr1", "bbr3", "flows[0]"]);
}

#[test]
fn metrics_of_single_flows_are_means_over_the_flows_of_a_group() {
    let mut runs = swept(&[BUFFERS], 1);
    for run in &mut runs {
        // The mean cwnd is 100, 200 and 600 packets for three flows of BBR, and 50 for a flow of
        // CUBIC.
        let cwnd = [100.0, 200.0, 600.0, 50.0];
        let flow = run.flows[0].clone();
        run.flows = (0..4).map(|id| bbrlab_run::FlowSummary { id, ..flow.clone() }).collect();
        for (flow, cwnd) in run.flows.iter_mut().zip(cwnd) {
            flow.cwnd_packets.mean = Some(cwnd);
        }
        run.flows[3].group = "cubic".to_owned();
    }
    for name in ["cwnd_packets.mean", "flows.cwnd_packets.mean"] {
        let choice = SweepChoice { metrics: names(&[name]), ..SweepChoice::default() };
        let picture = sweep(&runs, &choice).unwrap();
        show("per-flow", &picture);
        assert_has(&picture.svg, &["Mean cwnd per flow, packets", "bbr1", "cubic"]);
        let height = |color: &str| super::longest_line(&picture.svg, color)[0].1;
        let frame =
            super::longest_line(&picture.svg, "#969696").iter().map(|at| at.1).fold(0.0, f64::max);
        let (bbr, cubic) = (frame - height("#0072B2"), frame - height("#D55E00"));
        assert!(
            (bbr / cubic - 6.0).abs() < 0.1,
            "300 and 50 packets have the heights {bbr} and {cubic}"
        );
    }
    let choice = SweepChoice {
        metrics: names(&["flows.retransmitted_packets"]),
        against: Some("flows.rtt_ms.p95".to_owned()),
        ..SweepChoice::default()
    };
    assert_has(&sweep(&runs, &choice).unwrap().svg, &["RTT per flow, p95, ms"]);
}

#[test]
fn a_choice_that_has_no_use_in_a_sweep_is_an_error() {
    let rates: (&str, &[&str]) = ("bottleneck.rate", &["10Mbit/s", "100Mbit/s"]);
    let runs = swept(&[BUFFERS, rates], 1);
    let refused = |choice: SweepChoice| chosen_sweep_pictures("Usual", &runs, &choice).unwrap_err();
    let usual = SweepChoice { metrics: names(&["share"]), ..SweepChoice::default() };
    let y = Labels { y: Some("Own".to_owned()), ..Labels::default() };
    let several = names(&["share", "jain"]);
    assert_eq!(
        refused(SweepChoice { metrics: several.clone(), labels: y.clone(), ..usual.clone() }),
        "--ylabel: expected a plot of one quantity, found 2: `share`, `jain`; choose one with --metric"
    );
    let against = Some("queue_delay_ms.mean".to_owned());
    let scatter = SweepChoice { metrics: several, against, labels: y, ..usual.clone() };
    assert!(refused(scatter).starts_with("--ylabel: expected a plot of one quantity"));
    let x = Labels { x: Some("Own".to_owned()), ..Labels::default() };
    assert_eq!(
        refused(SweepChoice { labels: x, ..usual.clone() }),
        "--xlabel: expected plots along one key, found bottleneck.buffer, bottleneck.rate; choose one with --x"
    );
    let metrics = names(&["goodput_mbps"]);
    let group = refused(SweepChoice { metrics, groups: names(&["bbr1"]), ..usual.clone() });
    assert!(group.contains("--group: expected metrics of groups of flows, found `goodput_mbps`"));
    let dots = refused(SweepChoice { dot_labels: true, ..usual });
    assert_eq!(dots, "--dot-labels: expected a scatter, which --metric and --against draw");
}

#[test]
fn a_scatter_is_square_and_its_dots_have_labels_that_meet_nothing() {
    let ccs: (&str, &[&str]) = ("flows[0].cc", &["bbr1", "bbr2"]);
    let rates: (&str, &[&str]) = ("bottleneck.rate", &["10Mbit/s", "100Mbit/s", "1Gbit/s"]);
    let mut alone = swept(&[BUFFERS, ccs], 2);
    let mut several = swept(&[BUFFERS, ccs, rates], 2);
    for run in alone.iter_mut().chain(&mut several) {
        let share = run.flow_groups[0].share.unwrap_or(0.0);
        run.links[0].queue_delay_ms.mean = Some(120.0 * share * share);
    }
    for (size, shape) in sizes() {
        for (name, runs) in [("alone", &alone), ("several", &several)] {
            let legend = names(&["bbr1=BBR, version 1"]);
            let choice = SweepChoice {
                metrics: names(&["share"]),
                against: Some("queue_delay_ms.mean".to_owned()),
                x: Some("buffer".to_owned()),
                by: Some("flows[0].cc".to_owned()),
                dot_labels: true,
                shape: if size == "paper" && name == "several" {
                    Shape::paper(84.0, 110.0)
                } else {
                    shape
                },
                labels: Labels { legend, ..Labels::default() },
                ..SweepChoice::default()
            };
            let picture = sweep(runs, &choice).unwrap();
            show(&format!("scatter-{name}-{size}"), &picture);
            assert_has(
                &picture.svg,
                &["BBR, version 1", "0.1bdp", "16bdp", "dashed: equal shares"],
            );
            if size == "screen" {
                let (width, height) = first_frame(&picture.svg);
                assert!((width - height).abs() <= 2.0, "{name}: {width} x {height}");
            }
            let own = SweepChoice { labels: long(&[]), dot_labels: false, ..choice };
            if name == "alone" {
                let picture = sweep(runs, &own).unwrap();
                show(&format!("scatter-own-{size}"), &picture);
                for words in [LONG, LONG_X, LONG_Y] {
                    assert!(has_lines(&picture, words), "{}", read(&picture));
                }
            }
        }
    }
    // The share of the last group is drawn if the user chooses this group.
    let choice = SweepChoice {
        metrics: names(&["share"]),
        against: Some("queue_delay_ms.mean".to_owned()),
        groups: names(&["cubic"]),
        ..SweepChoice::default()
    };
    assert_has(&sweep(&alone, &choice).unwrap().svg, &["(cubic)"]);
}

/// Returns width and height of the first panel. The border of a panel is one line along its left
/// and lower side, so the line has three points: the upper left, the lower left and the lower right
/// corner.
fn first_frame(svg: &str) -> (f64, f64) {
    let lines = super::lines_of(svg, "#969696", 3);
    let line = lines.iter().find(|line| line.len() == 3).unwrap();
    (line[2].0 - line[1].0, line[1].1 - line[0].1)
}

#[test]
fn a_distribution_of_five_groups_fits_a_column_of_paper() {
    let runs = swept(&[], 1);
    let groups = ["bbr1", "bbr2", "bbr3", "cubic with a long name", "reno"];
    let samples: Vec<CdfSample> = groups
        .iter()
        .zip(1u32..)
        .map(|(group, at)| CdfSample {
            run: 0,
            group: (*group).to_owned(),
            values: (1..=50u32).map(|x| (f64::from(x * at), 1)).collect(),
            without: u64::from(at == 2) * 5,
        })
        .collect();
    for (size, shape) in sizes() {
        let input = CdfInput {
            name: "cdf-fct".to_owned(),
            title: "Completion times",
            of: "completion time, ms",
            counted: "transfers",
            without: "not completed",
            runs: &runs,
            samples: samples.clone(),
            by: None,
            only: "",
            shape,
            labels: Labels::default(),
        };
        let usual = cdf_picture(&input).unwrap();
        show(&format!("cdf-five-{size}"), &usual);
        assert_has(&usual.svg, &["Cumulative share", "bbr2 (5 not completed)", "reno"]);
        let labels = long(&["bbr2=BBR, version 2", "reno=Reno"]);
        let own = cdf_picture(&CdfInput { labels, ..input.clone() }).unwrap();
        show(&format!("cdf-own-{size}"), &own);
        for words in [LONG, LONG_X, LONG_Y] {
            assert!(has_lines(&own, words), "{}", read(&own));
        }
        assert_has(&own.svg, &["BBR, version 2 (5 not completed)", "Reno"]);
        assert!(!own.svg.contains("Cumulative share") && !own.svg.contains("255 transfers"));
        assert_eq!(own.entries, groups);
    }
    // All small multiples share one label of the y axis, which is above them.
    let ccs: (&str, &[&str]) = ("flows.cc", &["bbr1", "cubic"]);
    let loss: (&str, &[&str]) = ("bottleneck.loss", &["0", "0.01"]);
    let runs = swept(&[ccs, loss], 1);
    for (size, shape) in sizes() {
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
            shape: if size == "paper" { Shape::paper(84.0, 80.0) } else { shape },
            labels: Labels { title: None, x: None, ..long(&["bbr1, short=BBR, short transfers"]) },
        };
        let picture = cdf_picture(&input).unwrap();
        show(&format!("cdf-multiples-own-{size}"), &picture);
        assert!(has_lines(&picture, LONG_Y));
        assert_has(&picture.svg, &["BBR, short transfers"]);
    }
}

#[test]
fn an_overlay_has_the_words_of_the_user() {
    for (size, shape) in sizes() {
        let labels = long(&["bottleneck.buffer 1.5 BDP=1.5 BDP", "0 bbr1 / cubic=first flow"]);
        let several = Overlay { labels: labels.clone(), ..overlay(2, shape) };
        let refused = overlay_picture(&several).unwrap_err();
        assert!(refused.starts_with("--ylabel: expected a plot of one quantity, found 3"));
        let panels: Vec<OverlayPanel> = several.panels[1..2].to_vec();
        let picture = overlay_picture(&Overlay { panels, ..several }).unwrap();
        show(&format!("overlay-own-{size}"), &picture);
        for words in [LONG, LONG_X, LONG_Y] {
            assert!(has_lines(&picture, words), "{}", read(&picture));
        }
        assert_has(&picture.svg, &["first flow", "1 bbr1 / cubic"]);
        assert!(!picture.svg.contains("bottleneck.buffer 1.5 BDP"));
        assert!(!picture.svg.contains("17 more flows"));
    }
}

#[test]
fn wide_numbers_stay_on_a_column_of_paper() {
    let shape = Shape::paper(84.0, 60.0);
    let mut runs = swept(&[BUFFERS], 1);
    for (run, at) in runs.iter_mut().zip(1u64..) {
        run.flow_groups[0].retransmitted_packets = Some(at * 10_000_000);
    }
    let metrics = names(&["flow_groups.retransmitted_packets"]);
    let choice = SweepChoice { metrics, shape, ..SweepChoice::default() };
    let picture = sweep(&runs, &choice).unwrap();
    show("wide-sweep", &picture);
    assert_has(&picture.svg, &["80,000,000"]);

    let values = vec![(400_000.0, 1), (1_000_000.0, 1)];
    let sample = CdfSample { run: 0, group: "bbr1".to_owned(), values, without: 0 };
    let input = CdfInput {
        name: "cdf-fct".to_owned(),
        title: "Completion times",
        of: "completion time, ms",
        counted: "transfers",
        without: "not completed",
        runs: &runs[..1],
        samples: vec![sample],
        by: None,
        only: "",
        shape,
        labels: Labels::default(),
    };
    let picture = cdf_picture(&input).unwrap();
    show("wide-cdf", &picture);
    assert_has(&picture.svg, &["1,000,000"]);

    let mut wide = overlay(1, Shape::paper(84.0, 110.0));
    for point in &mut wide.panels[1].pairs[0].above {
        point.1 = point.1.map(|value| value * 1e6);
    }
    let picture = overlay_picture(&wide).unwrap();
    show("wide-overlay", &picture);
    assert_has(&picture.svg, &["100,000,000"]);

    let run = run(&["bbr1"]);
    let (summary, series, mut queue) = super::samples(&run);
    queue.packets.iter_mut().for_each(|packets| *packets *= 100_000);
    let input = crate::picture::RunPicture {
        run: &run,
        summary: &summary,
        series: &series,
        queue: &queue,
        made_by: "bbrlab 0",
    };
    let panels = vec![RunPanel::Queue];
    let choice = RunChoice { panels, shape, ..RunChoice::default() };
    let picture = crate::picture::chosen_run_picture(&input, &choice).unwrap();
    show("wide-run", &picture);
    assert_has(&picture.svg, &[",000,000"]);
}

#[test]
fn intervals_beyond_the_possible_values_end_in_arrows() {
    let far = |mean: f64, seed: u64| if seed == 1 { 0.0 } else { mean };
    let mut runs = swept(&[BUFFERS], 2);
    for run in runs.iter_mut().filter(|run| run.point["bottleneck.buffer"] == "16bdp") {
        run.flow_groups[0].share = Some(1.0 - far(0.04, run.seed));
        run.flow_groups[1].share = Some(far(0.04, run.seed));
    }
    for (size, shape) in sizes() {
        let of = |against: Option<&str>| {
            let choice = SweepChoice {
                metrics: names(&["share"]),
                against: against.map(str::to_owned),
                shape,
                ..SweepChoice::default()
            };
            let picture = sweep(&runs, &choice).unwrap();
            show(&format!("beyond-{}-{size}", against.is_some()), &picture);
            read(&picture)
        };
        assert!(of(None).contains("arrows"), "{}", of(None));
        assert!(of(Some("queue_delay_ms.mean")).contains("arrows: the interval"));
    }
    for run in &mut runs {
        run.flow_groups[0].share = Some(0.5 + 0.001 * f64::from(u32::try_from(run.seed).unwrap()));
        run.flow_groups[1].share = Some(0.5);
    }
    let choice = SweepChoice { metrics: names(&["share"]), ..SweepChoice::default() };
    assert!(!read(&sweep(&runs, &choice).unwrap()).contains("arrows"));
}
