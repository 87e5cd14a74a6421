//! Checks that each built-in scenario can be read, and that the list of built-in scenarios matches
//! the folder `scenarios`.

#![expect(clippy::format_push_string, reason = "a test's output")]

use std::path::{Path, PathBuf};

use bbrlab_cost::Estimate;
use bbrlab_scenario::{BUILTINS, STARTER, Scenario};
use expect_test::expect;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

#[test]
fn every_file_below_scenarios_is_in_the_list_under_its_id() {
    let mut files = Vec::new();
    for group in std::fs::read_dir(folder()).unwrap() {
        let group = group.unwrap().path();
        for file in std::fs::read_dir(&group).unwrap() {
            let stem = file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
            files.push(format!("{}.{stem}", group.file_name().unwrap().to_string_lossy()));
        }
    }
    files.sort();
    let mut ids: Vec<String> = BUILTINS.iter().map(|builtin| builtin.id.to_owned()).collect();
    ids.sort();
    assert_eq!(files, ids);
    for builtin in BUILTINS {
        let (group, name) = builtin.id.split_once('.').unwrap();
        assert_eq!(builtin.file, format!("scenarios/{group}/{name}.toml"));
    }
}

#[test]
fn every_line_of_the_order_is_a_folder_or_a_scenario() {
    let order = include_str!("../../src/builtin_order.txt");
    for line in order.lines().filter(|line| *line != "*" && !line.starts_with('#')) {
        let is_it = |id: &str| id == line || id.split('.').next() == Some(line);
        assert!(BUILTINS.iter().any(|builtin| is_it(builtin.id)), "{line}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a line for each scenario")]
fn every_built_in_scenario_can_be_run() {
    let mut lines = String::new();
    for builtin in BUILTINS {
        match Scenario::builtin(builtin.id, &[]) {
            Ok(scenario) => {
                let estimate = Estimate::of_scenario(&scenario);
                lines.push_str(&format!(
                    "{}: {} runs, {} flows, {} packets\n",
                    builtin.id,
                    scenario.runs(),
                    estimate.flows,
                    estimate.data_packets
                ));
                for run in 0..scenario.runs() {
                    assert!(!scenario.run(run).flows.is_empty());
                }
            }
            // A built-in scenario may need an algorithm that is not implemented yet.
            Err(errors) => {
                let unbuilt =
                    errors.0.iter().all(|error| error.title.contains("not supported yet"));
                assert!(unbuilt, "{}:\n{errors}", builtin.id);
                lines.push_str(&format!("{}: not built\n", builtin.id));
            }
        }
    }
    expect![[r#"
        lanigan2020.single-flow: 48 runs, 1 flows, 7439152 packets
        lanigan2020.single-flow.as-run: 48 runs, 2 flows, 8088632 packets
        lanigan2020.bandwidth-step: 21 runs, 1 flows, 13081404 packets
        lanigan2020.bandwidth-step.as-run: 21 runs, 2 flows, 12984174 packets
        lanigan2020.intra-protocol: 72 runs, 4 flows, 29900304 packets
        lanigan2020.intra-protocol.as-run: 72 runs, 5 flows, 32676168 packets
        lanigan2020.vs-vegas: 24 runs, 2 flows, 9966768 packets
        lanigan2020.vs-vegas.as-run: 24 runs, 3 flows, 10879696 packets
        lanigan2020.vs-cubic: 24 runs, 2 flows, 9966768 packets
        lanigan2020.vs-cubic.as-run: 24 runs, 3 flows, 10879696 packets
        song2021.single-buffer: 16 runs, 1 flows, 3295008 packets
        song2021.bandwidth-step: 2 runs, 1 flows, 1585204 packets
        song2021.random-loss: 300 runs, 1 flows, 53285980 packets
        song2021.two-flows: 320 runs, 2 flows, 1416459680 packets
        song2021.five-flows: 6 runs, 5 flows, 2476884 packets
        song2021.v1-vs-v2: 8 runs, 2 flows, 3302512 packets
        song2021.rtt-sweep: 24 runs, 2 flows, 104029068 packets
        song2021.rtt-buffer: 32 runs, 2 flows, 138705424 packets
        song2021.vs-cubic: 32 runs, 2 flows, 138705424 packets
        song2021.two-vs-two-cubic: 16 runs, 4 flows, 6605024 packets
        mahmud2020.testbed: 8 runs, 10 flows, 1981504 packets
        mahmud2020.testbed.as-described: 8 runs, 10 flows, 1981504 packets
        mahmud2020.sim-congested: 60 runs, 7 flows, 4143660 packets
        mahmud2020.sim-congested.as-described: 60 runs, 7 flows, 4143660 packets
        mahmud2020.alpha-sweep: 3 runs, 7 flows, 207183 packets
        mahmud2020.alpha-sweep.as-described: 3 runs, 7 flows, 207183 packets
        kato2025.sixteen-340: 5 runs, 16 flows, 12383120 packets
        kato2025.sixteen-344: 5 runs, 16 flows, 12383120 packets
        kato2025.ported: 1 runs, 16 flows, 2476624 packets
        piotrowska2024.single-flow: 3 runs, 1 flows, 739425 packets
        piotrowska2024.bandwidth-step: 3 runs, 1 flows, 1035504 packets
        piotrowska2024.rtt-ratio: 252 runs, 2 flows, 309097656 packets
        piotrowska2024.access-link: 16 runs, 9 flows, 19625248 packets
        piotrowska2024.vs-cubic: 12 runs, 4 flows, 14718936 packets
        c4.alone: 2 runs, 1 flows, 13814 packets
        c4.alone-200: 2 runs, 1 flows, 27626 packets
        c4.alone-1-5m: 2 runs, 1 flows, 5526 packets
        c4.alone-512k: 2 runs, 1 flows, 1382 packets
        c4.low-and-up: 2 runs, 1 flows, 9670 packets
        c4.drop-and-back: 2 runs, 1 flows, 9670 packets
        c4.blackhole: 2 runs, 1 flows, 13814 packets
        c4.short-long: 2 runs, 1 flows, 27626 packets
        c4.satellite: 2 runs, 1 flows, 138122 packets
        c4.vs-bbr: 2 runs, 2 flows, 20722 packets
        c4.vs-cubic: 2 runs, 2 flows, 20722 packets
        c4.vs-bbr-lg: 2 runs, 2 flows, 69064 packets
        c4.vs-bbr-lg2: 2 runs, 2 flows, 34534 packets
        c4.vs-cubic-lg: 2 runs, 2 flows, 69064 packets
        c4.vs-cubic-lg2: 2 runs, 2 flows, 34534 packets
        c4.wifi-suspension: 2 runs, 1 flows, 13814 packets
        c4.wifi-bad: 2 runs, 1 flows, 5526 packets
        c4.wifi-bad-bbr: 2 runs, 2 flows, 19340 packets
        c4.wifi-bad-cubic: 2 runs, 2 flows, 19340 packets
        c4.ecn: 2 runs, 1 flows, 13814 packets
        c4.ecn-cubic: 2 runs, 2 flows, 41440 packets
        c4.ecn-bbr: 2 runs, 2 flows, 41440 packets
        contradictions.x01: 720 runs, 2 flows, 445838760 packets
        contradictions.x02: 360 runs, 4 flows, 904997250 packets
        contradictions.x03: 200 runs, 16 flows, 82352250 packets
        contradictions.x04: 360 runs, 4 flows, 148055760 packets
        contradictions.x05: 100 runs, 7 flows, 6906100 packets
        contradictions.x06: 560 runs, 2 flows, 230020000 packets
        contradictions.x07: 60 runs, 1 flows, 10402890 packets
        contradictions.x08: 81 runs, 16 flows, 195471258 packets
        contradictions.x09: 480 runs, 16 flows, 197907840 packets
        contradictions.x10: 30 runs, 9 flows, 36797340 packets
        contradictions.x11: 140 runs, 7 flows, 57677520 packets
        contradictions.x12: 125 runs, 1 flows, 10285875 packets
        contradictions.x12-vs-vegas: 125 runs, 2 flows, 10320375 packets
        contradictions.x13: 50 runs, 10 flows, 12384400 packets
        contradictions.x16: 320 runs, 1 flows, 65900160 packets
        ecn.bbr2: 2 runs, 2 flows, 247688 packets
        ecn.bbr3: 2 runs, 2 flows, 247688 packets
        ecn.dctcp: 2 runs, 2 flows, 247688 packets
        ecn.cubic: 2 runs, 2 flows, 247688 packets
        queues.vs-cubic: 165 runs, 2 flows, 70821080 packets
        queues.alone: 165 runs, 1 flows, 70636830 packets
        examples.dumbbell: 1 runs, 1 flows, 16490 packets
        examples.bbr3-vs-cubic: 30 runs, 2 flows, 3684360 packets
        examples.completion-times: 3 runs, 1 flows, 186122 packets
        examples.rtt-unfairness: 20 runs, 2 flows, 4912480 packets
        examples.bufferbloat: 21 runs, 1 flows, 518700 packets
        examples.queue-disciplines: 10 runs, 2 flows, 495380 packets
        examples.l4s: 3 runs, 2 flows, 297225 packets
        examples.expedited: 5 runs, 3 flows, 123845 packets
        examples.web-traffic: 9 runs, 2 flows, 1114596 packets
        examples.web-search: 6 runs, 1 flows, 1238640 packets
        examples.rpc: 6 runs, 2 flows, 297228 packets
        examples.page-loads: 6 runs, 7 flows, 594450 packets
        examples.video: 6 runs, 2 flows, 874170 packets
        examples.video-call: 4 runs, 2 flows, 103664 packets
        examples.udp: 12 runs, 2 flows, 319695 packets
        examples.rate-drop: 3 runs, 1 flows, 222918 packets
        examples.two-bbr: 80 runs, 2 flows, 33025120 packets
        examples.parking-lot: 2 runs, 4 flows, 396302 packets
        examples.two-way: 1 runs, 2 flows, 294566 packets
        networks.measured-path: 6 runs, 1 flows, 607824 packets
        networks.wifi: 4 runs, 1 flows, 592080 packets
        networks.shared-airtime: 16 runs, 1 flows, 852464 packets
        networks.cellular: 3 runs, 1 flows, 888150 packets
        networks.blockage: 3 runs, 1 flows, 1477617 packets
        networks.leo: 3 runs, 1 flows, 1657387 packets
        networks.geo: 4 runs, 1 flows, 389606 packets
        networks.cable: 3 runs, 1 flows, 983973 packets
        networks.cable-grants: 12 runs, 1 flows, 3935892 packets
        networks.dsl: 3 runs, 2 flows, 370125 packets
        networks.route-change: 3 runs, 1 flows, 555255 packets
        networks.carrier-policer: 4 runs, 1 flows, 392784 packets
        networks.ack-filter: 3 runs, 1 flows, 491847 packets
    "#]]
    .assert_eq(&lines);
}

/// Checks that the text of `bbrlab new` is valid, both unchanged and with any one of its commented
/// examples activated.
#[test]
fn the_starter_and_each_of_its_examples_are_right() {
    let lines: Vec<&str> = STARTER.lines().collect();
    let mut tried = 0;
    for place in 0..=lines.len() {
        let mut text = lines.clone();
        if let Some(example) = lines.get(place) {
            let Some((_, example)) = example.split_once("# ").filter(|(before, after)| {
                before.is_empty() && after.contains(" = ") && !after.contains('`')
            }) else {
                continue;
            };
            text[place] = example;
            tried += 1;
        }
        let text = text.join("\n");
        if let Err(errors) = Scenario::parse("starter", "starter.toml", &text, None, &[]) {
            panic!("{errors}");
        }
    }
    assert!(tried > 12, "{tried} examples");
}
