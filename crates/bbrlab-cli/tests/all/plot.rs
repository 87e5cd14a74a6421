//! Tests of `bbrlab plot`: pictures of existing results, without options and with options that
//! choose what is drawn.

use std::fs;

use crate::shell::{FOUR, ONE, Shell, printed};
use expect_test::expect;

#[test]
fn pictures_can_be_drawn_from_the_folder_alone() {
    let shell = Shell::new("plot");
    assert!(
        shell
            .output(&["run", "examples.dumbbell", "--set", "duration=2s", "--quiet", "--out", "r"])
            .status
            .success()
    );
    shell.check(
        &["plot", "r", "--out", "p"],
        &expect![[r#"
        p/run.svg
        p/run.png
        --- exit 0
    "#]],
    );
    for name in ["run.svg", "run.png"] {
        let drawn_at_once = fs::read(shell.folder().join("r").join(name)).unwrap();
        let drawn_later = fs::read(shell.folder().join("p").join(name)).unwrap();
        assert!(drawn_at_once == drawn_later, "{name} differs");
    }
}

#[test]
fn chosen_pictures_have_names_of_their_own_and_wrong_choices_say_what_there_is() {
    let shell = Shell::new("chosen");
    let args = ["run", "examples.dumbbell", "--set", "duration=2s", "--quiet", "--out", "r"];
    assert!(shell.output(&args).status.success());
    shell.check(
        &[
            "plot",
            "r",
            "--panels",
            "rtt,queue",
            "--from",
            "500ms",
            "--to",
            "1.5s",
            "--size",
            "84x60mm",
            "--format",
            "svg,pdf",
            "--out",
            "p",
        ],
        &expect![[r#"
            p/run-rtt-queue-from-500ms-to-1-5s-84x60mm.svg
            p/run-rtt-queue-from-500ms-to-1-5s-84x60mm.pdf
            --- exit 0
        "#]],
    );
    shell.check(
        &["plot", "r", "--cdf", "rtt,queue", "--format", "svg", "--out", "p"],
        &expect![[r#"
            p/cdf-rtt.svg
            p/cdf-queue.svg
            --- exit 0
        "#]],
    );
    let refused = |args: &[&str], wanted: &str| {
        let output = shell.output(&[&["plot", "r"], args].concat());
        let printed = printed(&output);
        assert_eq!(output.status.code(), Some(2), "{printed}");
        assert!(printed.contains(wanted), "{printed}");
    };
    refused(&["--panels", "rttt"], "unknown `rttt`; known are state, throughput, rtt");
    refused(&["--metric", "share"], "this is a single run");
    refused(&["--from", "5s"], "the run ends at 2 s");
    refused(&["--size", "84"], "expected a size such as 84x60mm");
    refused(&["--cdf", "fct"], "no transfers here");
    refused(&["--cdf", "queue", "--from", "1s"], "--cdf queue shows whole runs");
    refused(&["--format", "gif"], "known are svg, png, pdf");
}

/// A link whose rate falls to a tenth for a second. The link's full buffer takes more than a second
/// to empty at the low rate.
const SLOW_FOR_A_SECOND: &str = r#"
duration = "6s"
[bottleneck]
rate = [["0s", "20Mbit/s"], ["2s", "2Mbit/s"], ["3s", "20Mbit/s"]]
buffer = "200pkt"
[[flows]]
cc = "cubic"
rtt = "50ms"
"#;

/// Returns the rows of a metric for the first link, group or flow in `delays.csv`: the delay of
/// each bucket in milliseconds, and its count.
fn rows_of(csv: &str, metric: &str) -> Vec<(f64, u64)> {
    let rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let rows = rows.filter(|row| row[0] == metric && row[1] == "0");
    rows.map(|row| (row[2].parse::<f64>().unwrap() / 1e6, row[3].parse().unwrap())).collect()
}

#[test]
fn distributions_have_the_percentiles_of_the_table_and_what_packets_waited() {
    let shell = Shell::new("distributions");
    shell.write("slow.toml", SLOW_FOR_A_SECOND);
    assert!(shell.output(&["run", "slow.toml", "--quiet", "--out", "r"]).status.success());
    assert!(shell.output(&["export", "r", "--csv", "--out", "csv"]).status.success());
    let read = |name: &str| fs::read_to_string(shell.folder().join(name)).unwrap();
    let csv = read("csv/delays.csv");
    let json: serde_json::Value = serde_json::from_str(&read("r/summary.json")).unwrap();
    let run = &json["runs"][0];
    let mut longest = Vec::new();
    for (metric, summary) in [
        ("links.queue_delay_ms", &run["links"][0]["queue_delay_ms"]),
        ("flows.rtt_ms", &run["flows"][0]["rtt_ms"]),
        ("flow_groups.rtt_ms", &run["flow_groups"][0]["rtt_ms"]),
    ] {
        let rows = rows_of(&csv, metric);
        let total: u64 = rows.iter().map(|(_, count)| count).sum();
        for (name, per_mille) in [("p50", 500), ("p95", 950), ("p99", 990)] {
            let mut seen = 0;
            let reached = rows.iter().find(|(_, count)| {
                seen += count;
                seen * 1000 >= total * per_mille
            });
            if let Some(printed) = summary[name].as_f64() {
                assert_eq!(reached.unwrap().0.to_bits(), printed.to_bits(), "{metric} {name}");
            }
        }
        longest.push((rows.last().unwrap().0, total));
    }
    // At 2 Mbit/s, the link needs 1.2 s to send a full queue of 200 packets. The rate is 2 Mbit/s
    // for only one second, from 2 s to 3 s, so no packet waits much longer than one second.
    let (waited_ms, packets) = longest[0];
    let rtt_max_ms = run["flows"][0]["rtt_ms"]["max"].as_f64().unwrap();
    assert!(
        waited_ms > 500.0 && waited_ms < (rtt_max_ms - 50.0) * 1.01,
        "{waited_ms} {rtt_max_ms}"
    );
    assert_eq!(Some(packets), run["links"][0]["departures"].as_u64());
    shell.check(
        &["plot", "r", "--cdf", "queue,rtt", "--format", "svg", "--out", "p"],
        &expect![[r#"
            p/cdf-queue.svg
            p/cdf-rtt.svg
            --- exit 0
        "#]],
    );
    let svg = read("p/cdf-queue.svg");
    let digits: String = svg.chars().filter(|c| *c != ',').collect();
    assert!(
        digits.contains(&format!("{packets} packets")),
        "the picture states the number of all packets"
    );
    assert!(svg.contains("queue delay at bottleneck, ms"));
}

#[test]
fn a_folder_of_an_earlier_version_names_the_command_that_adds_distributions() {
    let shell = Shell::new("no-distributions");
    shell.write("one.toml", ONE);
    assert!(shell.output(&["run", "one.toml", "--quiet", "--out", "r"]).status.success());
    fs::remove_file(shell.folder().join("r/delays.parquet")).unwrap();
    for of in ["queue", "rtt"] {
        let output = shell.output(&["plot", "r", "--cdf", of]);
        assert_eq!(output.status.code(), Some(2));
        let wanted = "r has no delays.parquet, because an earlier version wrote the run; `bbrlab run r` adds it";
        assert!(printed(&output).contains(wanted), "{}", printed(&output));
    }
    assert!(shell.output(&["run", "r", "--quiet"]).status.success());
    assert!(shell.output(&["plot", "r", "--cdf", "queue,rtt"]).status.success());
}

#[test]
fn figures_and_distributions_of_a_sweep_are_drawn_as_somebody_chose() {
    let shell = Shell::new("chosen-sweep");
    shell.write("four.toml", FOUR);
    assert!(shell.output(&["run", "four.toml", "--quiet", "--out", "s"]).status.success());
    shell.check(
        &["plot", "s", "--metric", "jain,rtt_ms.p95", "--x", "buffer", "--format", "svg"],
        &expect![[r#"
            s/sweep-bottleneck-buffer-jain-rtt_ms-p95.svg
            --- exit 0
        "#]],
    );
    shell.check(
        &["plot", "s", "--cdf", "rtt,queue", "--by", "buffer", "--format", "svg", "--out", "p"],
        &expect![[r#"
            p/cdf-rtt-by-buffer.svg
            p/cdf-queue-by-buffer.svg
            --- exit 0
        "#]],
    );
    shell.check(
        &["plot", "s", "--cdf", "rtt", "--where", "buffer=1bdp", "--format", "svg", "--out", "p"],
        &expect![[r#"
            p/cdf-rtt-where-buffer-1bdp.svg
            --- exit 0
        "#]],
    );
    let svg = fs::read_to_string(shell.folder().join("p/cdf-rtt-where-buffer-1bdp.svg")).unwrap();
    assert!(svg.contains("bottleneck.buffer 1bdp; ") && !svg.contains("2bdp"), "{svg}");
    let refused = |args: &[&str], wanted: &str| {
        let output = shell.output(&[&["plot", "s"], args].concat());
        let printed = printed(&output);
        assert_eq!(output.status.code(), Some(2), "{printed}");
        assert!(printed.contains(wanted), "{printed}");
    };
    refused(&["--metric", "goodputs"], "unknown metric `goodputs`; similar metrics: goodput_mbps");
    refused(&["--metric", "digest"], "`digest` has no number in these results");
    refused(
        &["--metric", "true_loss_pct"],
        "`true_loss_pct` is a metric in mahmud2020's tables, which `bbrlab reproduce mahmud2020` prints",
    );
    // Metrics of single flows are drawn as means over the flows of a group.
    let args = ["plot", "s", "--metric", "rto_count,flows.lost_packets", "--format", "svg"];
    assert!(shell.output(&args).status.success());
    let drawn = "s/sweep-bottleneck-buffer-rto_count-flows-lost_packets.svg";
    let drawn = fs::read_to_string(shell.folder().join(drawn)).unwrap();
    assert!(drawn.contains("Retransmission timeouts per flow") && drawn.contains("Lost per flow"));
    refused(&["--metric", "flows.cc"], "`flows.cc` has no number in these results");
    let columns = [
        ("group_out_of_order_packets", "out_of_order_packets"),
        ("group_rtt_ms_p95", "rtt_ms.p95"),
        // If the run and its groups have a metric of the same name, the short name means the metric
        // of the run.
        ("group_goodput_mbps", "flow_groups.goodput_mbps"),
        ("run_goodput_mbps", "goodput_mbps"),
        ("bottleneck_queue_delay_ms_mean", "queue_delay_ms.mean"),
        // Groups also have a metric `drops`, and the short name means the metric of groups. The
        // metric of links therefore needs its full name.
        ("bottleneck_drops", "links.drops"),
    ];
    for (column, name) in columns {
        let wanted = format!("write the metric as `{name}`");
        refused(&["--metric", column], &wanted);
        let args = ["plot", "s", "--metric", name, "--format", "svg", "--out", "p"];
        assert!(shell.output(&args).status.success(), "{name}");
    }
    refused(&["--x", "rate"], "`rate` is not swept; swept keys are bottleneck.buffer");
    refused(&["--x", "buffer", "--by", "buffer"], "is on the x axis");
    refused(&["--panels", "rtt"], "this is a sweep");
    refused(&["--cdf", "rtt", "--where", "buffer=3bdp"], "`bottleneck.buffer` is never `3bdp`");
    refused(&["--cdf", "size"], "known are fct, rtt, queue, delay, path_queue_delay");
    refused(&["--cdf", "delay"], "no delays of messages here");
}

/// A sweep that two of the following tests run: two competing flows, with two buffers.
const TWO_GROUPS: &str = r#"
title = "Two groups"
duration = "1s"
[bottleneck]
rate = "4Mbit/s"
buffer = "1bdp"
[[flows]]
cc = "bbr1"
rtt = "20ms"
[[flows]]
cc = "cubic"
rtt = "20ms"
[sweep]
"bottleneck.buffer" = ["1bdp", "2bdp", "4bdp"]
"#;

/// Returns the contents of all text elements of an SVG picture, joined by blanks.
fn words(svg: &str) -> String {
    let texts = svg.split("<text").skip(1).filter_map(|text| {
        let (_, text) = text.split_once('>')?;
        Some(text.split("</text>").next()?.trim())
    });
    texts.collect::<Vec<_>>().join(" ")
}

#[test]
fn pictures_have_the_words_and_the_groups_that_the_user_chose() {
    let shell = Shell::new("labels");
    shell.write("two.toml", TWO_GROUPS);
    assert!(shell.output(&["run", "two.toml", "--quiet", "--out", "s"]).status.success());
    let run = fs::read_dir(shell.folder().join("s")).unwrap().map(|entry| entry.unwrap().path());
    let run = run.filter(|path| path.is_dir()).min().unwrap();
    let run = run.strip_prefix(shell.folder()).unwrap().to_str().unwrap().to_owned();
    let own = ["--title", "My title", "--xlabel", "my x", "--ylabel", "my y", "--no-caption"];
    let drawn = |args: &[&str], file: &str| {
        let common = ["--size", "84x60mm", "--format", "svg", "--out", "p"];
        let output = shell.output(&[&["plot"][..], args, &own, &common].concat());
        assert!(output.status.success(), "{}", printed(&output));
        words(&fs::read_to_string(shell.folder().join(file)).unwrap())
    };
    let of_sweep = drawn(
        &["s", "--metric", "share", "--legend", "bbr1=BBRv1", "--legend", "cubic=CUBIC = RFC 9438"],
        "p/sweep-bottleneck-buffer-share-84x60mm-labelled.svg",
    );
    let of_group = drawn(
        &["s", "--metric", "share", "--group", "cubic"],
        "p/sweep-bottleneck-buffer-share-group-cubic-84x60mm-labelled.svg",
    );
    let of_scatter = drawn(
        &["s", "--metric", "share", "--against", "queue_delay_ms.mean", "--dot-labels"],
        "p/share-against-queue_delay_ms-mean-84x60mm-labelled.svg",
    );
    let of_run = drawn(
        &[&*run, "--panels", "rtt", "--group", "bbr1", "--legend", "smoothed=SRTT"],
        "p/run-rtt-group-bbr1-84x60mm-labelled.svg",
    );
    let of_cdf =
        drawn(&[&*run, "--cdf", "rtt", "--legend", "bbr1=BBRv1"], "p/cdf-rtt-84x60mm-labelled.svg");
    // The legend's entry is `0 bbr1`, and `bbr1` is only a part of it.
    let of_short = drawn(
        &[&*run, "--panels", "throughput", "--legend", "bbr1=BBRv1"],
        "p/run-throughput-84x60mm-labelled.svg",
    );
    assert!(of_short.contains("BBRv1") && !of_short.contains("bbr1"), "{of_short}");
    expect![[r#"
        My title BBRv1 CUBIC = RFC 9438 0 20 40 60 80 100 my y 1 2 4 my x
        My title cubic 0 20 40 60 80 100 my y 1 2 4 my x
        My title my y 0 20 40 60 80 100  1bdp 2bdp 4bdp 0 10 20 30 40 50 60 70 my x
        My title 0 10 20 30 40 50 my y base RTT 20 ms SRTT sample 0 0.2 0.4 0.6 0.8 1.0 my x
        My title BBRv1 cubic 0 0.2 0.4 0.6 0.8 1.0 my y 0 10 20 30 40 50 my x
    "#]]
    .assert_eq(&format!("{of_sweep}\n{of_group}\n{of_scatter}\n{of_run}\n{of_cdf}\n"));
    let refused = |args: &[&str], wanted: &str| {
        let output = shell.output(&[&["plot"][..], args].concat());
        let text = printed(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(wanted), "{text}");
    };
    let entries =
        "--legend: unknown `bbr`; entries of the legend are bbr1, cubic; did you mean `bbr1`?";
    refused(&["s", "--metric", "share", "--legend", "bbr=BBRv1"], entries);
    refused(
        &["s", "--metric", "jain", "--legend", "a=b"],
        "these plots have no entries of a legend",
    );
    refused(
        &["s", "--metric", "share", "--legend", "bbr1"],
        "expected NAME=TEXT, such as bbr1=BBRv1",
    );
    refused(&["s", "--metric", "share", "--legend", "bbr1="], "expected NAME=TEXT");
    refused(
        &["s", "--metric", "godput_mbps"],
        "unknown metric `godput_mbps`; similar metrics: goodput_mbps",
    );
    let groups = "--group: unknown `cubik`; groups of flows are bbr1, cubic; did you mean `cubic`?";
    refused(&["s", "--group", "cubik"], groups);
    refused(&[&*run, "--group", "cubik"], groups);
    refused(&[&*run, "--cdf", "rtt", "--group", "cubik"], groups);
    refused(
        &[&*run, "--cdf", "rtt,queue", "--group", "cubic"],
        "--group: expected --cdf fct or --cdf rtt",
    );
    refused(
        &[&*run, "--panels", "queue", "--group", "cubic"],
        "--group: expected a panel of flows",
    );
    refused(
        &["s", "--metric", "jain", "--group", "cubic"],
        "--group: expected metrics of groups of flows",
    );
    refused(&[&*run, "--ylabel", "y"], "--ylabel: expected a plot of one quantity");
    refused(&["s", "--ylabel", "y"], "--ylabel: expected a plot of one quantity");
    refused(&[&*run, "--cdf", "rtt,queue", "--xlabel", "x"], "--xlabel: expected one distribution");
    refused(&["s", "--metric", "share", "--dot-labels"], "--dot-labels: expected a scatter");
    refused(&[&*run, "--cdf", "rtt", "--dot-labels"], "--dot-labels: expected a scatter");
    refused(&[&*run, "--dot-labels"], "this is a single run");
    let overlay = [&*run, &*run, "--overlay"];
    refused(&[&overlay[..], &["--ylabel", "y"]].concat(), "--ylabel: expected a plot of one");
    refused(&[&overlay[..], &["--group", "cubik"]].concat(), "--group: unknown `cubik`");
    refused(&[&overlay[..], &["--legend", "x=y"]].concat(), "--legend: unknown `x`; entries");
    refused(&[&overlay[..], &["--dot-labels"]].concat(), "--dot-labels or --cdf");
}

#[test]
fn characters_without_a_glyph_are_named_in_whatever_format_that_lacks_them() {
    let shell = Shell::new("glyphs");
    shell.write("two.toml", TWO_GROUPS.replace("Two groups", "漢字"));
    assert!(shell.output(&["run", "two.toml", "--quiet", "--out", "s"]).status.success());
    let note = |format: &str, more: &[&str]| {
        let args = ["plot", "s", "--metric", "share", "--out", format, "--format", format];
        let output = shell.output(&[&args[..], more].concat());
        let text = printed(&output);
        assert!(output.status.success(), "{text}");
        text.lines().find(|line| line.contains("glyph")).map(str::to_owned)
    };
    // Without `--title`, the plot shows the scenario's title. For PNG and PDF, the note must list
    // the characters of this title without a glyph. An SVG has these characters, so there is no
    // note.
    let of_png = note("png", &[]).unwrap();
    assert!(of_png.ends_with("without a glyph: 漢字; `--format svg` has them"), "{of_png}");
    assert_eq!(note("pdf", &[]), Some(of_png));
    assert_eq!(note("svg", &[]), None);
    let of_both = note("svg,png", &["--title", "x", "--ylabel", "分"]).unwrap();
    assert!(of_both.ends_with("without a glyph: 分; the SVG has them"), "{of_both}");
    // A plot with the title `x` has only characters that the font can draw.
    assert_eq!(note("png", &["--title", "x"]), None);
}

#[test]
fn two_runs_are_drawn_over_each_other_in_one_picture() {
    let shell = Shell::new("overlay");
    shell.write("one.toml", ONE);
    shell.write("four.toml", FOUR);
    let run = |args: &[&str]| assert!(shell.output(args).status.success());
    run(&["run", "one.toml", "--quiet", "--out", "bbr"]);
    run(&["run", "one.toml", "--quiet", "--set", "flows.cc=cubic", "--out", "cubic"]);
    run(&["run", "four.toml", "--quiet", "--out", "s"]);
    shell.check(
        &["plot", "bbr", "cubic", "--overlay", "--panels", "rtt,queue", "--out", "p"],
        &expect![[r#"
            p/overlay-bbr-rtt-queue.svg
            p/overlay-bbr-rtt-queue.png
            --- exit 0
        "#]],
    );
    let refused = |args: &[&str], wanted: &str| {
        let output = shell.output(&[&["plot", "--overlay"], args].concat());
        let printed = printed(&output);
        assert_eq!(output.status.code(), Some(2), "{printed}");
        assert!(printed.contains(wanted), "{printed}");
    };
    refused(&["bbr"], "expected the folders of two runs, found 1 folders");
    refused(&["bbr", "s"], "s: --overlay draws single runs, and this is a sweep");
    refused(&["bbr", "cubic", "--panels", "state"], "omit it from --panels");
    refused(&["bbr", "cubic", "--metric", "share"], "cannot be combined with --metric");
    refused(&["bbr", "cubic", "--from", "3s"], "--from 3 s is not before the end");
}

#[test]
fn a_sweep_of_which_runs_are_missing_is_named_with_what_computes_them() {
    let shell = Shell::new("plot-missing");
    shell.write("four.toml", FOUR);
    assert!(shell.output(&["run", "four.toml", "--quiet", "--out", "s"]).status.success());
    let folders =
        fs::read_dir(shell.folder().join("s")).unwrap().map(|entry| entry.unwrap().path());
    let mut runs: Vec<_> = folders.filter(|path| path.is_dir()).collect();
    runs.sort();
    fs::remove_dir_all(&runs[0]).unwrap();
    // The sweep's summary still has the values of the removed run, but the run's own files are
    // gone.
    let output = shell.output(&["plot", "s", "--cdf", "rtt"]);
    assert_eq!(output.status.code(), Some(2));
    let wanted =
        "s: the folders of 1 of its 4 runs are missing; `bbrlab run s` computes them again";
    assert!(printed(&output).contains(wanted), "{}", printed(&output));
    for name in ["summary.json", "summary.parquet"] {
        fs::remove_file(shell.folder().join("s").join(name)).unwrap();
    }
    for args in [&["plot", "s"][..], &["compare", "s", "s"], &["report", "s"]] {
        let output = shell.output(args);
        assert!(output.status.success(), "{}", printed(&output));
        let wanted = "note: s: 3 of 4 runs are complete; `bbrlab run s` computes the missing runs";
        assert!(printed(&output).contains(wanted), "{args:?}: {}", printed(&output));
    }
}

/// A sweep over three keys, with two groups of flows.
const THREE_KEYS: &str = r#"duration = "3s"
repeat = 3
[bottleneck]
rate = "5Mbit/s"
[[flows]]
cc = "reno"
rtt = "20ms"
start_jitter = "200ms"
[[flows]]
cc = "cubic"
rtt = "20ms"
start_jitter = "200ms"
[sweep]
"bottleneck.buffer" = ["40pkt", "10pkt"]
"flows.rtt" = ["10ms", "40ms", "20ms"]
"bottleneck.queue" = ["droptail", "fq_codel"]
"#;

#[test]
fn a_heat_map_shows_a_metric_over_two_keys_and_averages_only_seeds() {
    let shell = Shell::new("heatmap");
    shell.write("three.toml", THREE_KEYS);
    let args = ["run", "three.toml", "--quiet", "--no-pictures", "--out", "three"];
    assert!(shell.output(&args).status.success());
    let heat = ["plot", "three", "--heatmap", "share", "--out", "p", "--format", "svg"];
    let with = |more: &[&'static str]| [&heat[..], more].concat();
    let reno = ["--group", "reno", "--where", "queue=droptail"];
    shell.check(
        &with(&reno),
        &expect![[r#"
        p/heatmap-share-bottleneck-buffer-flows-rtt-where-queue-droptail-group-reno.svg
        --- exit 0
    "#]],
    );
    let file = "heatmap-share-bottleneck-buffer-flows-rtt-where-queue-droptail-group-reno.svg";
    let svg = fs::read_to_string(shell.folder().join("p").join(file)).unwrap();
    expect!["three bottleneck.queue droptail; mean of 3 seeds ± 95 % interval Share of the goodput (reno) 56.1 ±71.4* 50.1 ±34.6 47.4 ±52.7* 44.8 ±67.1* 45.9 ±31.7 52.0 ±40.2 0 20 40 60 80 100 % 10 40 bottleneck.buffer, pkt 10 20 40 flows.rtt, ms"].assert_eq(&words(&svg));
    let own = ["--x", "rtt", "--by", "buffer", "--size", "84x60mm", "--no-caption"];
    let own = [&reno[..], &own, &["--legend", "share=Reno", "--ylabel", "Buffer"]].concat();
    shell.check(&with(&own), &expect![[r#"
        p/heatmap-share-flows-rtt-bottleneck-buffer-where-queue-droptail-group-reno-84x60mm-labelled.svg
        --- exit 0
    "#]]);
    // The errors name the flag that chooses one group or one value.
    shell.check(&with(&[]), &expect![[r#"
        --- stderr
        error: three: --heatmap: a cell would average the metric over the values droptail, fq_codel of `bottleneck.queue`; choose one value with --where 'bottleneck.queue=VALUE', or other axes with --x and --by
        --- exit 2
    "#]]);
    shell.check(&with(&["--where", "queue=droptail"]), &expect![[r#"
        --- stderr
        error: three: --heatmap: expected one group of flows, found reno, cubic; choose one with --group NAME
        --- exit 2
    "#]]);
    // An unknown name is an error even if the other names are known.
    shell.check(
        &with(&["--where", "queue=droptail", "--group", "reno", "--group", "none"]),
        &expect![[r#"
        --- stderr
        error: three: --group: unknown `none`; groups of flows are reno, cubic
        --- exit 2
    "#]],
    );
    shell.check(
        &with(&["--where", "queue=red"]),
        &expect![[r#"
        --- stderr
        error: three: --where: `bottleneck.queue` is never `red`; its values are droptail, fq_codel
        --- exit 2
    "#]],
    );
    let one = ["--where", "queue=droptail", "--where", "rtt=10ms", "--group", "reno"];
    shell.check(&with(&one), &expect![[r#"
        --- stderr
        error: three: --heatmap: expected two swept keys with several values, found bottleneck.buffer alone
        --- exit 2
    "#]]);
    let twice = ["--x", "rtt", "--by", "flows.rtt", "--where", "queue=droptail"];
    shell.check(
        &with(&twice),
        &expect![[r#"
        --- stderr
        error: three: --heatmap: expected two swept keys, found `flows.rtt` in --x and in --by
        --- exit 2
    "#]],
    );
}
