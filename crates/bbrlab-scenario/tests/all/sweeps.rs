//! Tests of sweeps, seeds, settings, hashes, and the text that is stored in a run's folder.

#![expect(clippy::format_push_string, reason = "a test's output")]

use std::collections::BTreeSet;

use bbrlab_scenario::{BUILTINS, Scenario};
use expect_test::{Expect, expect};

const BASE: &str = "duration = \"10s\"\n[bottleneck]\nrate = \"50Mbit/s\"\nbuffer = \"1bdp\"\n\
                    [[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\n[[flows]]\ncc = \"reno\"\nrtt = \"60ms\"\n";

fn scenario(text: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    Scenario::parse("test", "test.toml", text, None, &sets)
        .unwrap_or_else(|errors| panic!("{errors}"))
}

/// Compares one line for each run with `expected`: the run's sweep point, seed, algorithms, buffer
/// and base RTTs.
fn check(sweep: &str, sets: &[&str], expected: &Expect) {
    let scenario = scenario(&format!("{BASE}{sweep}"), sets);
    let mut lines = String::new();
    for index in 0..scenario.runs() {
        let run = scenario.run(index);
        let point = serde_json::Value::Object(run.point.clone());
        let flows: Vec<String> = run
            .classes
            .iter()
            .map(|class| format!("{} {} ms", class.cc.name(), class.base_rtt.0 / 1_000_000))
            .collect();
        lines.push_str(&format!(
            "{point} seed {}: {:?}, {}\n",
            run.seed,
            run.links[0].buffer,
            flows.join(", ")
        ));
    }
    expected.assert_eq(&lines);
}

#[test]
fn the_product_of_all_lists_is_run_the_last_turning_fastest() {
    check(
        "[sweep]\n\"flows.cc\" = [\"reno\", \"cubic\"]\n\"bottleneck.buffer\" = [\"5pkt\", \"10pkt\"]\n",
        &[],
        &expect![[r#"
            {"flows.cc":"reno","bottleneck.buffer":"5pkt"} seed 1: Packets(Packets(5)), reno 30 ms, reno 60 ms
            {"flows.cc":"reno","bottleneck.buffer":"10pkt"} seed 1: Packets(Packets(10)), reno 30 ms, reno 60 ms
            {"flows.cc":"cubic","bottleneck.buffer":"5pkt"} seed 1: Packets(Packets(5)), cubic 30 ms, cubic 60 ms
            {"flows.cc":"cubic","bottleneck.buffer":"10pkt"} seed 1: Packets(Packets(10)), cubic 30 ms, cubic 60 ms
        "#]],
    );
}

#[test]
fn coupled_points_multiply_with_the_lists() {
    check(
        "[sweep]\npoints = [{ \"flows.cc\" = \"bbr1\" }, { \"flows.cc\" = \"bbr_hsr\", \"flows.cc_params\" = { lambda = 0.5 } }]\n\
         \"bottleneck.buffer\" = [\"5pkt\", \"10pkt\"]\n",
        &[],
        &expect![[r#"
            {"flows.cc":"bbr1","bottleneck.buffer":"5pkt"} seed 1: Packets(Packets(5)), bbr1 30 ms, bbr1 60 ms
            {"flows.cc":"bbr1","bottleneck.buffer":"10pkt"} seed 1: Packets(Packets(10)), bbr1 30 ms, bbr1 60 ms
            {"flows.cc":"bbr_hsr","flows.cc_params":{"lambda":0.5},"bottleneck.buffer":"5pkt"} seed 1: Packets(Packets(5)), bbr_hsr 30 ms, bbr_hsr 60 ms
            {"flows.cc":"bbr_hsr","flows.cc_params":{"lambda":0.5},"bottleneck.buffer":"10pkt"} seed 1: Packets(Packets(10)), bbr_hsr 30 ms, bbr_hsr 60 ms
        "#]],
    );
}

#[test]
fn one_flow_or_all_of_them_can_be_addressed() {
    check(
        "[sweep]\n\"flows[1].cc\" = [\"cubic\", \"vegas\"]\n",
        &[],
        &expect![[r#"
        {"flows[1].cc":"cubic"} seed 1: Packets(Packets(124)), reno 30 ms, cubic 60 ms
        {"flows[1].cc":"vegas"} seed 1: Packets(Packets(124)), reno 30 ms, vegas 60 ms
    "#]],
    );
    check(
        "[sweep]\nflows.rtt = [\"20ms\", \"40ms\"]\n",
        &[],
        &expect![[r#"
        {"flows.rtt":"20ms"} seed 1: Packets(Packets(83)), reno 20 ms, reno 20 ms
        {"flows.rtt":"40ms"} seed 1: Packets(Packets(165)), reno 40 ms, reno 40 ms
    "#]],
    );
}

#[test]
fn every_point_has_every_seed() {
    check(
        "[sweep]\n\"flows[0].cc\" = [\"reno\", \"cubic\"]\n",
        &["seed=5", "repeat=2"],
        &expect![[r#"
        {"flows[0].cc":"reno"} seed 5: Packets(Packets(124)), reno 30 ms, reno 60 ms
        {"flows[0].cc":"reno"} seed 6: Packets(Packets(124)), reno 30 ms, reno 60 ms
        {"flows[0].cc":"cubic"} seed 5: Packets(Packets(124)), cubic 30 ms, reno 60 ms
        {"flows[0].cc":"cubic"} seed 6: Packets(Packets(124)), cubic 30 ms, reno 60 ms
    "#]],
    );
}

#[test]
fn a_setting_is_read_as_toml_else_as_a_string() {
    check(
        "",
        &["bottleneck.buffer=7pkt", "flows[1].cc=\"cubic\"", "flows.rtt = 44ms"],
        &expect![[r#"
        {} seed 1: Packets(Packets(7)), reno 44 ms, cubic 44 ms
    "#]],
    );
    check(
        "",
        &["flows=[{ cc = \"vegas\", rtt = \"8ms\" }]"],
        &expect![[r#"
        {} seed 1: Packets(Packets(33)), vegas 8 ms
    "#]],
    );
}

#[test]
fn a_value_that_is_set_is_no_longer_swept() {
    let sweep = "[sweep]\n\"flows.cc\" = [\"reno\", \"cubic\"]\n\"bottleneck.buffer\" = [\"5pkt\", \"10pkt\"]\n";
    check(
        sweep,
        &["bottleneck.buffer=6pkt"],
        &expect![[r#"
        {"flows.cc":"reno"} seed 1: Packets(Packets(6)), reno 30 ms, reno 60 ms
        {"flows.cc":"cubic"} seed 1: Packets(Packets(6)), cubic 30 ms, cubic 60 ms
    "#]],
    );
    check(
        sweep,
        &["sweep.bottleneck.buffer=[\"3pkt\"]"],
        &expect![[r#"
        {"flows.cc":"reno","bottleneck.buffer":"3pkt"} seed 1: Packets(Packets(3)), reno 30 ms, reno 60 ms
        {"flows.cc":"cubic","bottleneck.buffer":"3pkt"} seed 1: Packets(Packets(3)), cubic 30 ms, cubic 60 ms
    "#]],
    );
}

#[test]
fn links_are_addressed_by_name_or_number() {
    let text = "duration = \"1s\"\n[[links]]\nname = \"a\"\nrate = \"1Mbit/s\"\ndelay = \"1ms\"\n[[links]]\nname = \"b\"\n\
                rate = \"1Mbit/s\"\n[[flows]]\ncc = \"reno\"\npath = [\"a\", \"b\"]\n";
    let rates = |set: &str| {
        let run = scenario(text, &[set]).run(0);
        run.links.iter().map(|link| link.rate.at_start().unwrap().0 / 1_000_000).collect::<Vec<_>>()
    };
    assert_eq!(rates("links.b.rate=5Mbit/s"), [1, 5]);
    assert_eq!(rates("links[0].rate=5Mbit/s"), [5, 1]);
    assert_eq!(rates("links.rate=5Mbit/s"), [5, 5]);
}

#[test]
fn tens_of_thousands_of_points_are_checked() {
    let list = |n: u32, unit: &str| {
        (1..=n).map(|n| format!("\"{n}{unit}\"")).collect::<Vec<_>>().join(", ")
    };
    let sweep = format!(
        "[sweep]\n\"bottleneck.buffer\" = [{}]\n\"flows.start\" = [{}]\n",
        list(200, "pkt"),
        list(250, "ms")
    );
    assert_eq!(scenario(&format!("{BASE}{sweep}"), &[]).runs(), 50_000);
}

#[test]
fn the_hash_is_of_what_is_run_not_of_how_it_is_written() {
    let hash = |text: &str| scenario(text, &[]).run(0).scenario_hash;
    let plain = hash(BASE);
    let same = [
        format!("# a comment\n{BASE}"),
        BASE.replace("10s", "10000ms").replace("50Mbit/s", "0.05 Gbps"),
        format!("title = \"another\"\nseed = 9\nrepeat = 4\n{BASE}"),
        BASE.replace(
            "[bottleneck]\n",
            "[stack]\nmss = \"1448B\"\n[bottleneck]\nloss = 0.0\nqueue = \"droptail\"\n",
        ),
    ];
    for text in same {
        assert_eq!(hash(&text), plain, "{text}");
    }
    let others = [
        BASE.replace("10s", "11s"),
        BASE.replace("1bdp", "2bdp"),
        BASE.replace("60ms", "61ms"),
        format!("sample = \"20ms\"\n{BASE}"),
        format!("{BASE}count = 2\n"),
    ];
    let hashes: BTreeSet<String> = others.iter().map(|text| hash(text)).chain([plain]).collect();
    assert_eq!(hashes.len(), others.len() + 1);
    expect!["95c7d5e8b2e189359d77ef6d8ff25128f2d4423c8aee2d7986015cf339a6e4bf"]
        .assert_eq(&hash(BASE));
}

#[test]
fn the_hash_of_the_whole_tells_sweeps_and_seeds_apart() {
    let hash = |text: &str, sets: &[&str]| scenario(text, sets).hash().to_owned();
    let swept = format!("{BASE}[sweep]\n\"flows.cc\" = [\"reno\", \"cubic\"]\n");
    let all: BTreeSet<String> =
        [hash(BASE, &[]), hash(BASE, &["seed=2"]), hash(BASE, &["repeat=2"]), hash(&swept, &[])]
            .into();
    assert_eq!(all.len(), 4);
    assert_eq!(hash(BASE, &["duration=10s"]), hash(BASE, &[]));
}

/// A scenario with every key, in spellings that users might choose.
const ALL_KEYS: &str = r#"
title = "all \"keys\" \\ \t\u0001 ü"
duration = "12.5s"
seed = 3
sample = "ack"
[stack]
mss = "1000B"
sndbuf = "131072B"
rcvbuf = "64KiB"
rwnd = "65535B"
rcvlowat = "2B"
hz = 250
sender_qdisc = "fq"
tso = "off"
sack = false
recovery = "classic"
delack = { every = 2, timer = "0.2s" }
min_rto = "1s"
initial_cwnd = 2
[bottleneck]
rate = [["0s", "1.5Mbit/s"], ["1.5s", "3Mbit/s"]]
delay = "1.25ms"
buffer = "1.50bdp"
buffer_unit = "pkt"
bdp_rtt = "33ms"
device_queue = "3pkt"
queue = "droptail"
loss = { model = "gilbert-elliott", p = 0.001, r = 1, loss_bad = 0.5 }
loss_at = "before"
rate_change = "keep"
reverse_rate = { opportunities_ms = [1, 2, 2, 7] }
reverse_buffer = "20ms"
framing = "2B"
jitter = { up_to = "2ms", keep_order = false }
reorder = { ratio = 1e-3, by = "1ms" }
[access]
rate = "1Gbit/s"
delay = "1ms"
buffer = "50pkt"
[[links]]
name = "lan-1"
rate = "100Mbit/s"
loss = "0.1%"
jitter = "1us"
[[flows]]
cc = "bbr_hsr"
cc_params = { lambda = 0.125 }
count = 3
rtt = "30ms"
start = "1s"
start_step = "1ms"
start_jitter = "1ms"
stop = "9s"
left_link = "lan-1"
[[flows]]
cc = "reno"
left_delay = "1ms"
right_delay = "2ms"
mss = "536B"
on = "1s"
off = "1s"
rate = "1Mbit/s"
[[flows]]
cc = "reno"
path = ["lan-1", "bottleneck"]
return_path = ["lan-1"]
train = { bytes = "15KB", count = 2, gap = "100ms" }
[[flows]]
cc = "reno"
write = { bytes = "64KiB", every = "50ms" }
[[flows]]
cc = "reno"
bytes = "1MB"
[[flows]]
cc = "reno"
rate = "1Mbit/s"
"#;

#[test]
fn a_folder_keeps_a_text_that_reads_back_as_the_same_run() {
    let mut texts = vec![ALL_KEYS.to_owned(), BASE.to_owned(), format!("sample = \"off\"\n{BASE}")];
    texts.extend(BUILTINS.iter().map(|builtin| builtin.text.to_owned()));
    for text in texts {
        let scenario = scenario(&text, &[]);
        for index in 0..scenario.runs().min(40) {
            let (mut run, kept) = (scenario.run(index), scenario.run_toml(index));
            let again = Scenario::parse("test", "kept.toml", &kept, None, &[])
                .unwrap_or_else(|e| panic!("{e}\n{kept}"));
            assert_eq!(again.runs(), 1);
            assert_eq!(again.run_toml(0), kept);
            run.point.clear();
            run.point_values.clear();
            assert_eq!(again.run(0), run, "{kept}");
        }
    }
    expect![[r#"
        title = "all \"keys\" \\ \t\u0001 ü"
        duration = "12.5s"
        seed = 3
        sample = "ack"

        [stack]
        mss = "1000B"
        sndbuf = "131072B"
        rcvbuf = "65536B"
        rwnd = "65535B"
        rcvlowat = "2B"
        hz = 250
        sender_qdisc = "fq"
        tso = "off"
        sack = false
        recovery = "classic"
        delack = { every = 2, timer = "200ms" }
        min_rto = "1s"
        initial_cwnd = 2

        [bottleneck]
        rate = [["0s", "1.5Mbit/s"], ["1.5s", "3Mbit/s"]]
        delay = "1.25ms"
        buffer = "1.5bdp"
        buffer_unit = "pkt"
        bdp_rtt = "33ms"
        device_queue = "3pkt"
        loss = { model = "gilbert-elliott", p = 0.001, r = 1, loss_bad = 0.5, loss_good = 0 }
        loss_at = "before"
        rate_change = "keep"
        reverse_rate = { opportunities_ms = [1, 2, 2, 7] }
        reverse_buffer = "20ms"
        framing = "2B"
        jitter = { up_to = "2ms", keep_order = false }
        reorder = { ratio = 0.001, by = "1ms" }

        [access]
        rate = "1Gbit/s"
        delay = "1ms"
        buffer = "50pkt"

        [[links]]
        name = "lan-1"
        rate = "100Mbit/s"
        loss = 0.001
        jitter = "1us"

        [[flows]]
        cc = "bbr_hsr"
        cc_params = { lambda = 0.125 }
        count = 3
        rtt = "30ms"
        left_link = "lan-1"
        start = "1s"
        start_step = "1ms"
        start_jitter = "1ms"
        stop = "9s"

        [[flows]]
        cc = "reno"
        left_delay = "1ms"
        right_delay = "2ms"
        mss = "536B"
        on = "1s"
        off = "1s"
        rate = "1Mbit/s"

        [[flows]]
        cc = "reno"
        path = ["lan-1", "bottleneck"]
        return_path = ["lan-1"]
        train = { bytes = "15000B", count = 2, gap = "100ms" }

        [[flows]]
        cc = "reno"
        write = { bytes = "65536B", every = "50ms" }

        [[flows]]
        cc = "reno"
        bytes = "1000000B"

        [[flows]]
        cc = "reno"
        rate = "1Mbit/s"
    "#]]
    .assert_eq(&scenario(ALL_KEYS, &[]).run_toml(0));
}

#[test]
fn a_parameter_of_a_discipline_can_be_set_and_swept_where_the_scenario_only_names_it() {
    let text = BASE.replace("buffer =", "queue = \"codel\"\nbuffer =");
    let set = scenario(&text, &["bottleneck.queue.target=7ms"]);
    assert!(set.run_toml(0).contains("queue = { discipline = \"codel\", target = \"7ms\" }"));
    let swept = format!("{text}[sweep]\n\"bottleneck.queue.interval\" = [\"50ms\", \"100ms\"]\n");
    let runs: Vec<String> = (0..2).map(|run| scenario(&swept, &[]).run_toml(run)).collect();
    assert!(runs[0].contains("queue = { discipline = \"codel\", interval = \"50ms\" }"));
    assert!(runs[1].contains("queue = \"codel\"\n"), "{}", runs[1]);
}

#[test]
fn names_of_disciplines_and_a_parameter_of_theirs_are_swept_together() {
    let sweep = "[sweep]\n\"bottleneck.queue\" = [\"codel\", \"fq_codel\"]\n\"bottleneck.queue.target\" = [\"6ms\", \"7ms\"]\n";
    let scenario = scenario(&format!("{BASE}{sweep}"), &[]);
    for (run, (name, target)) in
        [("codel", 6), ("codel", 7), ("fq_codel", 6), ("fq_codel", 7)].iter().enumerate()
    {
        let queue = format!("queue = {{ discipline = \"{name}\", target = \"{target}ms\" }}");
        let text = scenario.run_toml(run as u64);
        assert!(text.contains(&queue), "{text}");
    }
}
