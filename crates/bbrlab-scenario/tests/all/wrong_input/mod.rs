//! Tests of the messages about wrong scenarios: file, line and columns, expected value, value found
//! and suggestion.
//!
//! The tables have one row for each mistake. The columns are the change that [`RIGHT`] gets, the
//! position of the mistake, and the value found. A suggestion, if there is one, is below the row.
//! The position is `line:first column-last column` in `s.toml` or in `--set`. The heading above one
//! or more rows is the title of their messages, which gives the key and the expected value. The
//! tests after the tables compare the whole message, once for each kind of message.

mod flows;
mod links;
mod lists;
mod sweeps;

use self::lists::with_names_of_lists;
use crate::cpu_time::cpu_s;
use bbrlab_scenario::{Scenario, ScenarioErrors};
use expect_test::{Expect, expect};

/// A valid scenario, to which each test applies a change.
const RIGHT: &str = r#"duration = "10s"

[bottleneck]
rate = "50Mbit/s"
delay = "5ms"
buffer = "1bdp"

[[flows]]
cc = "reno"
rtt = "30ms"
"#;

/// Returns the error of reading a file that a wrong text names. `/dev/null` is a device; all other
/// files are missing.
fn files(name: &str) -> Result<String, String> {
    Err(match name {
        "/dev/null" => "is not a regular file".to_owned(),
        _ => "cannot be read: No such file or directory".to_owned(),
    })
}

/// Returns the mistakes in a wrong text. Also checks that reading the text takes less than 15 s of
/// CPU time.
fn refusal(text: &str, sets: &[String]) -> ScenarioErrors {
    let began = cpu_s();
    let answer = Scenario::parse("s", "s.toml", text, Some(&files), sets);
    assert!(cpu_s() - began < 15, "took {} s", cpu_s() - began);
    answer.expect_err("the scenario is wrong")
}

/// Returns the mistakes that a change of [`RIGHT`] causes. In a change `;` ends a line.
///
/// - `A -> B`: B replaces the first A.
/// - `+ LINES`: more lines at the end, which is inside `[[flows]]`.
/// - `[bottleneck] + LINES`: more lines at the end of that table.
/// - `= LINES`: a different text.
/// - `--set SETTING`: the valid text with a setting from the command line.
fn answer(change: &str) -> ScenarioErrors {
    let lines = |piece: &str| piece.replace("; ", "\n").replace(';', "\n");
    let text = if let Some(setting) = change.strip_prefix("--set ") {
        return refusal(RIGHT, &[setting.to_owned()]);
    } else if let Some(more) = change.strip_prefix("+ ") {
        format!("{RIGHT}{}\n", lines(more))
    } else if let Some(more) = change.strip_prefix("[bottleneck] + ") {
        RIGHT.replace("\n\n[[flows]]", &format!("\n{}\n\n[[flows]]", lines(more)))
    } else if let Some(whole) = change.strip_prefix("= ") {
        lines(whole) + "\n"
    } else {
        let (right, wrong) = change.split_once(" ->").expect("one of the five kinds of change");
        let right = lines(right);
        assert!(RIGHT.contains(&right), "{right}");
        RIGHT.replacen(&right, &lines(wrong.trim_start()), 1)
    };
    refusal(&text, &[])
}

/// Applies the change in the first column of each row to the valid scenario, and compares the
/// messages with the headings and the other columns.
///
/// To add a row, write only `CHANGE | `: with `UPDATE_EXPECT=1`, the test fills in the heading and
/// the other columns. A change with several mistakes has several rows; the second and later ones
/// begin with `also`.
fn check(table: &Expect) {
    // For each row: the heading above it, the change, and the other columns as text.
    let mut rows: Vec<(String, &str, String)> = Vec::new();
    for row in table.data().lines() {
        let Some((change, _)) = row.split_once(" | ") else { continue };
        let change = change.trim();
        if change == "also" {
            continue;
        }
        for (nth, error) in answer(change).0.iter().enumerate() {
            let notes: Vec<_> = error.notes.iter().map(|note| format!("\nnote: {note}")).collect();
            let heading = format!("{}{}", error.title, notes.concat());
            let line = error.line.expect("the mistake is on a line of the file");
            let full = error.to_string();
            let mark =
                full.lines().find_map(|row| row.trim_start_matches([' ', '|']).strip_prefix('^'));
            let more = mark.unwrap().chars().take_while(|&c| c == '^').count();
            let columns = format!("{}-{}", error.column, error.column + more);
            let origin = if error.origin == "s.toml" { "" } else { &format!("{} ", error.origin) };
            let help: Vec<_> =
                error.help.iter().map(|help| format!("\n        help: {help}")).collect();
            let rest = format!("{origin}{line}:{columns} | {}{}", error.found, help.concat());
            rows.push((heading, if nth == 0 { change } else { "also" }, rest));
        }
    }
    let mut answers = String::new();
    for group in rows.chunk_by(|one, next| one.0 == next.0) {
        answers.push_str(&format!("{}\n", group[0].0));
        let width = group.iter().map(|row| row.1.chars().count()).max().unwrap_or(0);
        for (_, change, rest) in group {
            answers.push_str(&format!("    {change:width$} | {rest}\n"));
        }
    }
    table.assert_eq(&with_names_of_lists(&answers));
}

/// Compares the whole message, as the user sees it, with `expected`.
fn check_in_full(answer: &ScenarioErrors, expected: &Expect) {
    expected.assert_eq(&with_names_of_lists(&format!("{answer}\n")));
}

#[test]
fn the_right_scenario_is_right() {
    assert_eq!(
        Scenario::parse("s", "s.toml", RIGHT, None, &[]).map(|scenario| scenario.runs()),
        Ok(1)
    );
}

#[test]
fn not_toml() {
    check(&expect![[r#"
        not TOML
            = duration == 10 | 1:11-11 | extra `=`
        not TOML: expected letters, numbers, `-`, `_`
            = <scenario/> | 1:1-1 | invalid unquoted key
        not TOML: expected key
            = {"duration": "10s"} | 1:1-1 | invalid key-value pair
        not TOML
            delay = -> rate = "1Mbit/s"; delay = | 5:1-4 | duplicate key
    "#]]);
}

#[test]
fn quantities() {
    check(&expect![[r#"
        `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
            "50Mbit/s" -> 50       | 4:8-9 | found the number 50, which has no unit
                help: write the quantity as a string with its unit
            50Mbit/s -> 50         | 4:8-11 | found "50", which has no unit
                help: write the unit, as in "50Mbit/s"
            50Mbit/s -> 6MBps      | 4:8-14 | found "6MBps", which can be read as bits or as bytes
                help: write "6Mbit/s" if Mbit per second is meant, "48Mbit/s" if Mbyte per second is
            50Mbit/s -> 50Mbt/s    | 4:8-16 | found "50Mbt/s", whose unit is none of bit/s, kbit/s, Mbit/s, Gbit/s or Tbit/s
                help: did you mean "50Mbit/s"?
            50Mbit/s -> -50Mbit/s  | 4:8-18 | found "-50Mbit/s", which is negative
            50Mbit/s -> 0Mbit/s    | 4:8-16 | found "0Mbit/s", which is zero
            50Mbit/s -> 1e30Gbit/s | 4:8-19 | found "1e30Gbit/s", more than the largest, 10Tbit/s
        `bottleneck.delay`: expected a time such as "30ms", or a schedule such as [["0s", "20ms"], ["15s", "45ms"]]
            "5ms" -> "5 parsec" | 5:9-18 | found "5 parsec", whose unit is none of ns, us, ms, s, min or h
        `duration`: expected a time above zero such as "30ms"
            "10s" -> "0s" | 1:12-15 | found "0s", which is zero
            10s -> 1e40s  | 1:12-18 | found "1e40s", whose number is too long or malformed
            10s -> 11574d | 1:12-19 | found "11574d", whose unit is none of ns, us, ms, s, min or h
        `bottleneck.buffer`: expected a buffer for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
            1bdp -> 1pdb  | 6:10-15 | found "1pdb", whose unit is none of pkt, B (KB, KiB, MB ...), ms or bdp
            1bdp -> 0pkt  | 6:10-15 | found "0pkt", which drops every packet that has to wait
            1bdp -> 0bdp  | 6:10-15 | found "0bdp", which drops every packet that has to wait
            "1bdp" -> 0   | 6:10-10 | found the number 0, which has no unit
                help: write the quantity as a string with its unit
            1bdp -> -1pkt | 6:10-16 | found "-1pkt", which is negative
        `bottleneck.buffer`: expected a buffer of at most 2^50 packets or bytes
            1bdp -> 1e29bdp | 6:10-18 | found "100000000000000000000000000000bdp", which is more
        `seed`: expected a whole number from 0 to 9223372036854775807
            duration -> seed = -1; duration | 1:8-9 | found the number -1
        `repeat`: expected a whole number from 1 to 1000000
            duration -> repeat = 1000000000; duration | 1:10-19 | found the number 1000000000
        `repeat`: expected at most 2, since seeds end at 2^63 - 1
            duration -> seed = 9223372036854775806; repeat = 3; duration | 2:10-10 | found 3 seeds from 9223372036854775806 on
    "#]]);
}

#[test]
fn seeds_until_an_interval() {
    check(&expect![[r#"
        `repeat`: expected a whole number from 1 to 1000000, or a table such as { until = "2%", of = "goodput_mbps", at_most = 200 }
            duration -> repeat = "some"; duration | 1:10-15 | found "some"
        `repeat.of`: expected the name of a metric such as "goodput_mbps"
            duration -> repeat = { until = "2%", at_most = 20 }; duration | 1:10-39 | found nothing: the key is missing
        `repeat.until`: expected a share above zero such as "2%"
            duration -> repeat = { until = "0%", of = "jain", at_most = 20 }; duration | 1:20-23 | found "0%"
        `repeat.of`: expected a metric of runs, of groups of flows or, with `links.NAME.` before it, of a link
            duration -> repeat = { until = "2%", of = "goodput", at_most = 20 }; duration             | 1:31-39 | found "goodput"; `bbrlab list metrics` lists all
            duration -> repeat = { until = "2%", of = "queue_delay_ms.mean", at_most = 20 }; duration | 1:31-51 | found "queue_delay_ms.mean"; `bbrlab list metrics` lists all
                help: did you mean `links.bottleneck.queue_delay_ms.mean`?
        `repeat.of`: expected a metric that differs between runs of this scenario
            duration -> repeat = { until = "2%", of = "links.nope.drops", at_most = 20 }; duration | 1:31-48 | found "links.nope.drops": no link is named `nope`; links are bottleneck
            duration -> repeat = { until = "2%", of = "fct_ms.p50", at_most = 20 }; duration       | 1:31-42 | found "flow_groups.fct_ms.p50": no flow has transfers: `bytes`, `train`, `requests`, `video`, `page` or `arrivals`
            duration -> repeat = { until = "2%", of = "late_ratio", at_most = 20 }; duration       | 1:31-42 | found "flow_groups.late_ratio": no flow has `late`
            duration -> repeat = { until = "2%", of = "share", at_most = 20 }; duration            | 1:31-37 | found "flow_groups.share": all flows are in the group `reno`, whose share is always 100 %
        `repeat.at_most`: expected a whole number from 10 to 1000000
            duration -> repeat = { until = "2%", of = "jain", at_most = 5 }; duration | 1:49-49 | found the number 5
        `repeat.batch`: expected a key of `repeat`
        note: keys of `repeat`: until, of, at_most
            duration -> repeat = { until = "2%", of = "jain", at_most = 20, batch = 3 }; duration | 1:53-57 | found an unknown key
    "#]]);
}

#[test]
fn unknown_and_missing_keys() {
    check(&expect![[r#"
        `bottleneck.bufer`: expected a key of `bottleneck`
        note: keys of `bottleneck`: <keys of [bottleneck]>
            buffer = -> bufer = | 6:1-5 | found an unknown key
                help: did you mean `buffer`?
        `botleneck`: expected a key of the file
        note: keys of the file: title, duration, seed, repeat, sample, controls, stack, bottleneck, access, links, flows, sweep
            [bottleneck] -> [botleneck] | 3:2-10 | found an unknown key
                help: did you mean `bottleneck`?
        `flows[0].base_rtt`: expected a key of `flows[0]`
        note: keys of `flows[0]`: <keys of [[flows]]>
            rtt = -> base_rtt = | 10:1-8 | found an unknown key
        `flows[0].cc`: expected a congestion control such as "bbr1"
            cc = "reno"; -> | 8:1-9 | found nothing: the key is missing
    "#]]);
}

#[test]
fn the_stack() {
    check(&expect![[r#"
        `stack.tso`: expected "cut" or "whole" or "off"
            + [stack]; tso = "on"; sack = "yes"; hz = 50 | 12:7-10 | found "on"
        `stack.sack`: expected true or false
            also | 13:8-12 | found "yes"
        `stack.hz`: expected a whole number from 100 to 1000
            also | 14:6-7 | found the number 50
        `stack.delack.timer`: expected the longest time that an ACK waits, such as "200ms"
            + [stack]; delack = { every = 2 } | 12:10-22 | found nothing: the key is missing
        `stack.profile`: expected "linux" or "linux-stock" or "ns3" or "ns3-3.40" or "ns3-3.27" or "lanigan" or "piotrowska"
            + [stack]; profile = "ns-3" | 12:11-16 | found "ns-3"
                help: did you mean "ns3"?
        `stack.handshake`: connections without a handshake are not supported yet
            + [stack]; handshake = false | 12:13-17 | found false
        `stack.handshake`: expected "linux" or "ns3"
            + [stack]; handshake = "bsd" | 12:13-17 | found "bsd"
        `stack.rate_loss_abs`: expected "marked" or true or false
            + [stack]; rate_loss_abs = "markd" | 12:17-23 | found "markd"
                help: did you mean "marked"?
        `stack.sockbuf`: expected "memory" or "payload"
            + [stack]; sockbuf = "bytes" | 12:11-17 | found "bytes"
        `stack.rtt_clock`: expected "exact" or "1ms" or "1ms-positive"
            + [stack]; rtt_clock = "2ms" | 12:13-17 | found "2ms"
                help: did you mean "1ms"?
        `stack.delack.timer`: expected a time above zero such as "30ms"
            + [stack]; delack = { every = 2, timer = "0s" } | 12:31-34 | found "0s", which is zero
        `stack.bbr.margn`: expected a key of `stack.bbr`
        note: keys of `stack.bbr`: probe_phase, drain_phase, min_rtt, min_rtt_renew, margin, seed_bw, cycle_rand, extra_acked, probertt_app_limited, quantum, probe_extra, edt, policer, losses, rto_resets_full_bw
            + [stack]; bbr = { margn = 0.0 } | 12:9-13 | found an unknown key
                help: did you mean `margin`?
        `stack.bbr.margin`: found 2, expected a number from 0 to 0.5
            + [stack]; bbr = { margin = 2 } | 12:18-18 | found the number 2
        `stack.bbr.quantum`: expected a number, true or false, or a string
            + [stack]; bbr = { quantum = [1] } | 12:19-21 | found a list
                help: several values are swept: as a list in [sweep], or `--set 'sweep.KEY=[...]'`
        `stack.bbr`: expected a table of parameters such as { margin = 0.01 }
            + [stack]; bbr = true | 12:7-10 | found true
        `stack.vegas.diff`: found "cwnd", expected "base" or "rtt"
            + [stack]; vegas = { diff = "cwnd" } | 12:18-23 | found "cwnd"
        `stack.cubic.bic_scale`: expected a key of `stack.cubic`
        note: keys of `stack.cubic`: beta, fast_convergence, friendly, growth, hystart, wmax_on_rto
            + [stack]; cubic = { bic_scale = 41 } | 12:11-19 | found an unknown key
        `stack.cubic.growth`: found "ns3", expected "linux" or "ns2"
            + [stack]; cubic = { growth = "ns3" } | 12:20-24 | found "ns3"
        `stack.metrics`: `metrics` is not supported yet
            + [stack]; metrics = "flowmon" | 12:1-7 | found a key that has no effect yet
    "#]]);
}

#[test]
fn each_kind_of_message_in_full() {
    // The key is missing, so the message marks nothing in the file.
    check_in_full(
        &answer("duration = \"10s\"; ->"),
        &expect![[r#"
        error: `duration`: expected a time such as "100s"
         --> s.toml:1:1
          |
        1 |
          | ^ found nothing: the key is missing
    "#]],
    );
    // The message has a suggestion and the list of names.
    check_in_full(
        &answer("\"reno\" -> \"cubci\""),
        &expect![[r#"
            error: `flows[0].cc`: expected a congestion control
             --> s.toml:9:6
              |
            9 | cc = "cubci"
              |      ^^^^^^^ found "cubci"
              |
              = help: did you mean "cubic"?
              = note: algorithms: <algorithms>; "udp" sends datagrams without a congestion control
              = note: custom congestion controls are defined in `controls`: see docs/python.md
        "#]],
    );
    // The message names the point of the sweep at which the mistake is.
    check_in_full(
        &answer("+ [sweep]; \"bottleneck.buffer\" = [\"1bdp\", \"1 bpd\"]"),
        &expect![[r#"
            error: `bottleneck.buffer`: expected a buffer for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
              --> s.toml:12:32
               |
            12 | "bottleneck.buffer" = ["1bdp", "1 bpd"]
               |                                ^^^^^^^ found "1 bpd", whose unit is none of pkt, B (KB, KiB, MB ...), ms or bdp
               |
               = help: did you mean "1bdp"?
               = note: at the point bottleneck.buffer = "1 bpd"
        "#]],
    );
    check_in_full(
        &answer("--set bottleneck.buffer=2pdb"),
        &expect![[r#"
            error: `bottleneck.buffer`: expected a buffer for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
             --> --set:1:19
              |
            1 | bottleneck.buffer=2pdb
              |                   ^^^^ found "2pdb", whose unit is none of pkt, B (KB, KiB, MB ...), ms or bdp
        "#]],
    );
    // A control character is shown as a visible symbol.
    check_in_full(
        &refusal("a = \u{1}\n", &[]),
        &expect![[r#"
        error: not TOML: expected literal string
         --> s.toml:1:5
          |
        1 | a = ␁
          |     ^ string values must be quoted
    "#]],
    );
    // The mistake concerns the whole file, so the message has no line.
    check_in_full(
        &refusal("", &[]),
        &expect![[r#"
        error: expected a scenario
        --> s.toml
         = note: found an empty file
    "#]],
    );
    check_in_full(
        &refusal(" \n\t\n", &[]),
        &expect![[r#"
        error: expected a scenario
        --> s.toml
         = note: found an empty file
    "#]],
    );
}

#[test]
fn long_lines_are_cut() {
    check_in_full(
        &refusal(&RIGHT.replace("50Mbit/s", &"9".repeat(5000)), &[]),
        &expect![[r#"
            error: `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
             --> s.toml:4:8
              |
            4 | rate = "9999999999999999999999999999999999999999999999999999999999999999999999999999999
              |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ found "999999999999999999999999999999999999999999999999999999999999"..., whose number is too long or malformed
        "#]],
    );
    check_in_full(
        &refusal(&"[".repeat(100_000), &[]),
        &expect![[r#"
        error: not TOML: expected letters, numbers, `-`, `_`
         --> s.toml:1:3
          |
        1 | [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
          |   ^ unquoted keys cannot be empty
    "#]],
    );
}

#[test]
fn several_mistakes_are_reported_at_once() {
    let text = RIGHT.replace("50Mbit/s", "50MBps").replace("reno", "rino").replace("\"10s\"", "10");
    check_in_full(
        &refusal(&text, &[]),
        &expect![[r#"
            error: `duration`: expected a time above zero such as "30ms"
             --> s.toml:1:12
              |
            1 | duration = 10
              |            ^^ found the number 10, which has no unit
              |
              = help: write the quantity as a string with its unit

            error: `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
             --> s.toml:4:8
              |
            4 | rate = "50MBps"
              |        ^^^^^^^^ found "50MBps", which can be read as bits or as bytes
              |
              = help: write "50Mbit/s" if Mbit per second is meant, "400Mbit/s" if Mbyte per second is

            error: `flows[0].cc`: expected a congestion control
             --> s.toml:9:6
              |
            9 | cc = "rino"
              |      ^^^^^^ found "rino"
              |
              = help: did you mean "reno"?
              = note: algorithms: <algorithms>; "udp" sends datagrams without a congestion control
              = note: custom congestion controls are defined in `controls`: see docs/python.md
        "#]],
    );
}
