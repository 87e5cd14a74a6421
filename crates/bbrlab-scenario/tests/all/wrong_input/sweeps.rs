//! Tests of the messages about mistakes in `[sweep]` and `--set`.

use bbrlab_scenario::Scenario;
use expect_test::expect;

use super::{RIGHT, check, check_in_full, refusal};

#[test]
fn sweeps() {
    check(&expect![[r#"
        `bottleneck.bufer`: expected a key of `bottleneck`
        note: keys of `bottleneck`: <keys of [bottleneck]>
            + [sweep]; "bottleneck.bufer" = ["1bdp", "2bdp"] | 12:1-18 | found an unknown key
                help: did you mean `buffer`?
        `sweep."bottleneck.buffer"`: expected a list of values
            + [sweep]; "bottleneck.buffer" = "1bdp" | 12:23-28 | found "1bdp"
            + [sweep]; "bottleneck.buffer" = []     | 12:23-24 | found an empty list
        `sweep`: expected a key of the scenario
            + [sweep]; "flows[1].cc" = ["reno", "cubic"] | 12:1-13 | found `flows[1]`, but there are 1 [[flows]], counted from 0
        `sweep`: expected a key that can differ between points
            + [sweep]; seed = [1, 2] | 12:1-4 | found `seed`
                help: use `repeat`, which runs seed, seed + 1 ...
        `flows[0].rtt`: expected at least 10ms, the delays of the links in both directions
        note: at the point flows.rtt = "5ms"
            + [sweep]; "flows.rtt" = ["30ms", "5ms"] | 12:24-28 | found 5ms, which would need negative access delays
        `flows[0].start`: expected a start before the end of the run, 10s
        note: at the point flows.start = "10s"
            + [sweep]; "flows.start" = ["9s", "10s"] | 12:24-28 | found "10s"; the flow starts at 10s
        `flows[0].start`: expected a start before the end of the run, 5s
        note: at the point duration = "5s"
            + start = "5s"; [sweep]; duration = ["6s", "5s"] | 11:9-12 | found "5s"; the flow starts at 5s
        `flows[0].start_step`: expected a start before the end of the run, 10s
        note: at the point flows.count = 11
            + start_step = "1s"; [sweep]; "flows.count" = [10, 11] | 11:14-17 | found "1s"; the last flow starts at 10s
        `flows[0].start_jitter`: expected a start before the end of the run, 5s
        note: at the point duration = "5s"
            + start_jitter = "5s"; [sweep]; points = [{ duration = "6s" }, { duration = "5s" }] | 11:16-19 | found "5s"; the last flow may start at 5s
        `sweep."flows.rtt"`: expected each value once
            + [sweep]; "flows.rtt" = ["30ms", "30ms"] | 12:24-29 | found "30ms" a second time
        `sweep.points`: expected a list of tables such as [{ "flows.cc" = "bbr1" }]
            + [sweep]; points = [{ "flows.rtt" = "30ms" }, 5] | 12:37-37 | found the number 5 in it
        `sweep`: expected `flows.rtt` once
            + [sweep]; "flows.rtt" = ["30ms"]; points = [{ "flows.rtt" = "30ms" }] | 13:13-23 | found the key in a list and in `points`, or in two lists
        `sweep`: expected keys that do not contain each other
            + [sweep]; "bottleneck.police" = [{ rate = "9Mbit/s", burst = "64KB" }, { rate = "9Mbit/s", burst = "99KB" }]; "bottleneck.police.rate" = ["1Mbit/s", "5Mbit/s"]                    | 13:1-24 | found `bottleneck.police` and `bottleneck.police.rate`
            + [sweep]; "bottleneck.police.rate" = ["1Mbit/s", "5Mbit/s"]; "bottleneck.police" = [{ rate = "9Mbit/s", burst = "64KB" }]                                                          | 13:1-19 | found `bottleneck.police.rate` and `bottleneck.police`
            + [sweep]; "flows[0].cc" = ["reno", "cubic"]; "flows.cc" = ["vegas", "bbr1"]                                                                                                        | 13:1-10 | found `flows[0].cc` and `flows.cc`
            + [sweep]; "flows.cc" = ["vegas", "bbr1"]; "flows[0].cc" = ["reno", "cubic"]                                                                                                        | 13:1-13 | found `flows.cc` and `flows[0].cc`
            + [sweep]; "flows.cc_params" = [{ lambda = 0.5 }]; points = [{ "flows.cc" = "bbr_hsr", "flows[0].cc_params.lambda" = 0.25 }]                                                        | 13:37-63 | found `flows.cc_params` and `flows[0].cc_params.lambda`
            + [sweep]; points = [{ "bottleneck.police.rate" = "1Mbit/s", "bottleneck.police" = { rate = "9Mbit/s", burst = "64KB" } }]                                                          | 12:51-69 | found `bottleneck.police.rate` and `bottleneck.police`
            + [sweep]; "bottleneck.queue.target" = ["5ms", "9ms"]; "bottleneck.queue" = ["codel", "fq_codel"]                                                                                   | 13:1-18 | found `bottleneck.queue.target` and `bottleneck.queue`
            = duration = "1s"; [[links]]; name = "a"; rate = "1Mbit/s"; [[flows]]; cc = "reno"; rtt = "9ms"; path = ["a"]; [sweep]; "links.a.rate" = ["2Mbit/s"]; "links[0].rate" = ["3Mbit/s"] | 11:1-15 | found `links.a.rate` and `links[0].rate`
        `sweep`: expected points that give different runs
            + [sweep]; "bottleneck.rate" = ["1Mbit/s", "5Mbit/s", "1000kbit/s"]                    | 11:2-6 | found bottleneck.rate = "1Mbit/s" and bottleneck.rate = "1000kbit/s"
                help: `repeat` runs a point with several seeds
            + [sweep]; "bottleneck.rate" = ["1Mbit/s", "5Mbit/s"]; "flows.rtt" = ["30ms", "0.03s"] | 11:2-6 | found bottleneck.rate = "1Mbit/s", flows.rtt = "30ms" and bottleneck.rate = "1Mbit/s", flows.rtt = "0.03s"
                help: `repeat` runs a point with several seeds
            + [sweep]; points = [{ "flows.cc" = "cubic" }, { "flows[0].cc" = "cubic" }]            | 11:2-6 | found flows.cc = "cubic" and flows[0].cc = "cubic"
                help: `repeat` runs a point with several seeds
            --set sweep.flows.rtt=["30ms", "30000us"]                                              | --set 1:1-15 | found flows.rtt = "30ms" and flows.rtt = "30000us"
                help: `repeat` runs a point with several seeds
    "#]]);
}

/// Returns the outcome of settings from the command line together with a sweep: the number of
/// remaining points, or the mistakes.
fn outcome_with(sweep: &str, sets: &[&str]) -> String {
    let text = format!("{RIGHT}[sweep]\n{sweep}\n");
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    match Scenario::parse("s", "s.toml", &text, None, &sets) {
        Ok(scenario) => format!("{} points\n", scenario.points()),
        Err(errors) => {
            let told = errors.0.iter().map(|error| {
                let help: Vec<_> =
                    error.help.iter().map(|help| format!("  help: {help}\n")).collect();
                format!(
                    "{}:{} {}\n  {}\n{}",
                    error.origin,
                    error.column,
                    error.title,
                    error.found,
                    help.concat()
                )
            });
            told.collect()
        }
    }
}

#[test]
fn a_setting_is_not_overwritten_by_a_sweep_without_a_word() {
    let police = r#""bottleneck.police" = [{ rate = "9Mbit/s", burst = "64KB" }, { rate = "5Mbit/s", burst = "64KB" }]"#;
    let rate = r#""bottleneck.police.rate" = ["9Mbit/s", "5Mbit/s"]"#;
    let first_cc = r#""flows[0].cc" = ["reno", "cubic"]"#;
    let queue = r#""bottleneck.queue" = ["codel", "pie"]"#;
    let target = r#""bottleneck.queue.target" = ["5ms", "9ms"]"#;
    let coupled = r#"points = [{ "bottleneck.police.rate" = "9Mbit/s", "flows.rtt" = "30ms" }]"#;
    let mut told = String::new();
    for (sweep, sets) in [
        // The `--set` and the sweep set the same key, or one sets a part of the value that the
        // other sets.
        (police, &["bottleneck.police.rate=3Mbit/s"][..]),
        (rate, &[r#"bottleneck.police={ rate = "3Mbit/s", burst = "64KB" }"#]),
        (coupled, &["bottleneck.police.burst=64KB", "bottleneck.police.rate=3Mbit/s"]),
        (coupled, &[r#"bottleneck.police={ rate = "3Mbit/s", burst = "64KB" }"#]),
        (r#"points = [{ "flows.cc" = "cubic" }, { "flows.rtt" = "40ms" }]"#, &["flows.cc=bbr1"]),
        (queue, &["bottleneck.queue.target=5ms"]),
        (r#""bottleneck.queue.discipline" = ["codel", "pie"]"#, &["bottleneck.queue=fq_codel"]),
        // The `--set` is for all flows and the sweep for one flow, or the reverse.
        (first_cc, &["flows.cc=vegas"]),
        (r#""flows.cc" = ["reno", "cubic"]"#, &["flows[0].cc=vegas"]),
        // The mistake is two settings for the same key: a value and a list to sweep.
        (police, &["flows.cc=vegas", r#"sweep.flows.cc=["reno", "cubic"]"#]),
        (police, &[r#"sweep.flows[0].cc=["reno", "cubic"]"#, "flows.cc=vegas"]),
        // Valid combinations: the setting replaces the swept list, or does not overlap with a swept
        // key.
        (police, &[r#"bottleneck.police={ rate = "3Mbit/s", burst = "64KB" }"#]),
        (first_cc, &["flows[0].cc=vegas"]),
        (target, &["bottleneck.queue=codel"]),
        (target, &[r#"bottleneck.queue={ discipline = "codel", interval = "90ms" }"#]),
        (police, &[r#"sweep.bottleneck.police=[{ rate = "3Mbit/s", burst = "64KB" }]"#]),
    ] {
        told.push_str(&format!(
            "{} beside {}\n{}",
            sets.join(" and "),
            sweep.split(" =").next().unwrap(),
            outcome_with(sweep, sets)
        ));
    }
    expect![[r#"
        bottleneck.police.rate=3Mbit/s beside "bottleneck.police"
        --set:1 `--set`: expected a key that no point of the sweep overwrites
          found `bottleneck.police.rate` as well as the sweep of `bottleneck.police`
          help: `--set 'sweep.bottleneck.police=[...]'` replaces the list of values
        --set:1 `bottleneck.police.burst`: expected the size of the bucket, such as "32KiB"
          found nothing: the key is missing
        bottleneck.police={ rate = "3Mbit/s", burst = "64KB" } beside "bottleneck.police.rate"
        --set:1 `--set`: expected a key that no point of the sweep overwrites
          found `bottleneck.police` as well as the sweep of `bottleneck.police.rate`
          help: `--set 'sweep.bottleneck.police.rate=[...]'` replaces the list of values
        bottleneck.police.burst=64KB and bottleneck.police.rate=3Mbit/s beside points
        --set:1 `--set`: expected a key that no point of the sweep overwrites
          found `bottleneck.police.rate` as well as `sweep.points`, which set `bottleneck.police.rate`
          help: `--set 'sweep.points=[{ "KEY" = VALUE, ... }]'` replaces the points, for example by one of them
        bottleneck.police={ rate = "3Mbit/s", burst = "64KB" } beside points
        --set:1 `--set`: expected a key that no point of the sweep overwrites
          found `bottleneck.police` as well as `sweep.points`, which set `bottleneck.police.rate`
          help: `--set 'sweep.points=[{ "KEY" = VALUE, ... }]'` replaces the points, for example by one of them
        flows.cc=bbr1 beside points
        --set:1 `--set`: expected a key that no point of the sweep overwrites
          found `flows.cc` as well as `sweep.points`, which set `flows.cc`
          help: `--set 'sweep.points=[{ "KEY" = VALUE, ... }]'` replaces the points, for example by one of them
        bottleneck.queue.target=5ms beside "bottleneck.queue"
        --set:1 `--set`: expected a key that no point of the sweep overwrites
          found `bottleneck.queue.target` as well as the sweep of `bottleneck.queue`
          help: `--set 'sweep.bottleneck.queue=[...]'` replaces the list of values
        --set:1 `bottleneck.queue.discipline`: expected the name of a queue discipline
          found nothing: the key is missing
        bottleneck.queue=fq_codel beside "bottleneck.queue.discipline"
        --set:1 `--set`: expected a key that no point of the sweep overwrites
          found `bottleneck.queue` as well as the sweep of `bottleneck.queue.discipline`
          help: `--set 'sweep.bottleneck.queue.discipline=[...]'` replaces the list of values
        flows.cc=vegas beside "flows[0].cc"
        --set:1 `--set`: expected a key that no point of the sweep overwrites
          found `flows.cc` as well as the sweep of `flows[0].cc`
          help: `--set 'sweep.flows[0].cc=[...]'` replaces the list of values
        flows[0].cc=vegas beside "flows.cc"
        --set:1 `--set`: expected a key that no point of the sweep overwrites
          found `flows[0].cc` as well as the sweep of `flows.cc`
          help: `--set 'sweep.flows.cc=[...]'` replaces the list of values
        flows.cc=vegas and sweep.flows.cc=["reno", "cubic"] beside "bottleneck.police"
        --set:1 `--set`: expected a key that no point of the sweep overwrites
          found `flows.cc` as well as `sweep.flows.cc`
        sweep.flows[0].cc=["reno", "cubic"] and flows.cc=vegas beside "bottleneck.police"
        --set:1 `--set`: expected a key that no point of the sweep overwrites
          found `flows.cc` as well as `sweep.flows[0].cc`
        bottleneck.police={ rate = "3Mbit/s", burst = "64KB" } beside "bottleneck.police"
        1 points
        flows[0].cc=vegas beside "flows[0].cc"
        1 points
        bottleneck.queue=codel beside "bottleneck.queue.target"
        2 points
        bottleneck.queue={ discipline = "codel", interval = "90ms" } beside "bottleneck.queue.target"
        2 points
        sweep.bottleneck.police=[{ rate = "3Mbit/s", burst = "64KB" }] beside "bottleneck.police"
        1 points
    "#]].assert_eq(&told);
    // The setting names the link, and the sweep has the link's number. The two names mean the same
    // key.
    let text = "duration = \"1s\"\n[[links]]\nname = \"a\"\nrate = \"1Mbit/s\"\n[[flows]]\ncc = \"reno\"\nrtt = \"9ms\"\n\
                path = [\"a\"]\n[sweep]\n\"links[0].rate\" = [\"2Mbit/s\", \"3Mbit/s\"]\n";
    let set = ["links.a.rate=5Mbit/s".to_owned()];
    let scenario = Scenario::parse("s", "s.toml", text, None, &set).unwrap();
    assert_eq!(scenario.points(), 1);
    assert_eq!(scenario.run(0).links[0].rate.at_start().map(|rate| rate.0), Some(5_000_000));
}

#[test]
fn settings() {
    check(&expect![[r#"
        `bottleneck.bufer`: expected a key of `bottleneck`
        note: keys of `bottleneck`: <keys of [bottleneck]>
            --set bottleneck.bufer=2bdp | --set 1:1-16 | found an unknown key
                help: did you mean `buffer`?
        `--set`: expected key=value such as bottleneck.buffer=2bdp
            --set bottleneck.buffer | --set 1:1-17 | found no `=`
        `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
            --set bottleneck.rate=50 | --set 1:17-18 | found the number 50, which has no unit
                help: write the quantity as a string with its unit
        `--set`: expected a key of the scenario
            --set flows[3].cc=reno     | --set 1:1-11 | found `flows[3]`, but there are 1 [[flows]], counted from 0
            --set flows[x].cc=reno     | --set 1:1-11 | found `flows[x]`, which has no index as in `flows[1]`
            --set duration.x=1s        | --set 1:1-10 | found a key of `duration`, but the value of `duration` is a string, which has no keys
            --set =1                   | --set 1:1-1 | found ``, which has an empty part
            --set links.a.rate=1Mbit/s | --set 1:1-12 | found `links`, but there is no [[links]]
        `flows[0].start`: expected a start before the end of the run, 10s
            --set flows.start=10s | --set 1:13-15 | found "10s"; the flow starts at 10s
        `flows[0].rtt`: expected at least 10ms, the delays of the links in both directions
            --set flows.rtt=2ms | --set 1:11-13 | found 2ms, which would need negative access delays
        `flows[0].cc`: expected a congestion control
        note: algorithms: <algorithms>; "udp" sends datagrams without a congestion control
        note: custom congestion controls are defined in `controls`: see docs/python.md
            --set sweep.flows.cc=["cubci"] | --set 1:17-23 | found "cubci"
                help: did you mean "cubic"?
    "#]]);
}

#[test]
fn a_sweep_of_a_thousand_million_points() {
    let list = (1..=1000).map(|n| format!("\"{n}pkt\"")).collect::<Vec<_>>().join(", ");
    let delays = list.replace("pkt", "us");
    let sweep = format!(
        "[sweep]\n\"bottleneck.buffer\" = [{list}]\n\"bottleneck.delay\" = [{delays}]\n\"flows.start\" = [{delays}]\n"
    );
    check_in_full(
        &refusal(&format!("{RIGHT}{sweep}"), &[]),
        &expect![[r#"
        error: `sweep`: expected at most 50000 points
          --> s.toml:11:1
           |
        11 | [sweep]
           | ^^^^^^^ found a product of 1000 x 1000 x 1000
    "#]],
    );
}

/// Two of the three tables `[[flows]]` have the group `bulk`. The key `flows.bulk.cc` sets `cc` in
/// both of these tables. A sweep of `flows.bulk.cc` therefore conflicts with `cc` of one of these
/// tables, and with `cc` of the whole list `flows`. `--set` of the swept key itself replaces the
/// sweep.
#[test]
fn a_group_of_tables_is_all_of_its_tables() {
    let text = |sweep: &str| {
        let flow = |cc: &str, group: &str| {
            format!("[[flows]]\ncc = \"{cc}\"\nrtt = \"20ms\"\ngroup = \"{group}\"\n")
        };
        let flows = [flow("reno", "bulk"), flow("cubic", "bulk"), flow("cubic", "calls")].concat();
        format!(
            "duration = \"1s\"\n[bottleneck]\nrate = \"5Mbit/s\"\nbuffer = \"20pkt\"\n{flows}[sweep]\n{sweep}\n"
        )
    };
    let told = |sweep: &str, sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        match Scenario::parse("s", "s.toml", &text(sweep), None, &sets) {
            Ok(scenario) => format!("{} points", scenario.points()),
            Err(errors) => errors.0[0].found.clone(),
        }
    };
    let swept = r#""flows.bulk.cc" = ["reno", "bbr1"]"#;
    for (sweep, set, expected) in [
        (swept, "flows[0].cc=vegas", "found `flows[0].cc` as well as the sweep of `flows.bulk.cc`"),
        (swept, "flows[1].cc=vegas", "found `flows[1].cc` as well as the sweep of `flows.bulk.cc`"),
        (swept, "flows.cc=vegas", "found `flows.cc` as well as the sweep of `flows.bulk.cc`"),
        (swept, "flows[2].cc=vegas", "2 points"),
        (swept, "flows.calls.cc=vegas", "2 points"),
        (swept, "flows.bulk.cc=vegas", "1 points"),
        (
            r#""flows[0].cc" = ["reno", "bbr1"]"#,
            "flows.bulk.cc=vegas",
            "found `flows.bulk.cc` as well as the sweep of `flows[0].cc`",
        ),
        (r#""flows[2].cc" = ["reno", "bbr1"]"#, "flows.bulk.cc=vegas", "2 points"),
    ] {
        assert_eq!(told(sweep, &[set]), expected, "{set} beside {sweep}");
    }
    let both = |other: &str| {
        told(
            &format!(
                "\"flows.bulk.rtt\" = [\"20ms\", \"30ms\"]\n\"{other}.rtt\" = [\"40ms\", \"50ms\"]"
            ),
            &[],
        )
    };
    assert_eq!(both("flows[2]"), "4 points");
    for other in ["flows[0]", "flows[1]", "flows"] {
        assert!(both(other).contains("flows.bulk.rtt"), "{other}: {}", both(other));
    }
}
