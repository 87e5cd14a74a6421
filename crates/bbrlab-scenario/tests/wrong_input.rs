//! What a wrong scenario is answered with: file, line, column, what was found, what was expected.

#![expect(clippy::disallowed_methods, reason = "tells how long a wrong input takes")]

use bbrlab_scenario::Scenario;
use expect_test::{Expect, expect};

/// A right scenario, to be spoilt.
const RIGHT: &str = r#"duration = "10s"

[bottleneck]
rate = "50Mbit/s"
delay = "5ms"
buffer = "1bdp"

[[flows]]
cc = "reno"
rtt = "30ms"
"#;

fn refusal(text: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let began = std::time::Instant::now();
    let answer = Scenario::parse("s", "s.toml", text, None, &sets);
    assert!(began.elapsed().as_secs() < 15, "took {:?}", began.elapsed());
    format!("{}\n", answer.expect_err("the scenario is wrong"))
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&refusal(text, &[]));
}

/// The right scenario with one piece of text in place of another.
fn spoilt(right: &str, wrong: &str, expected: &Expect) {
    assert!(RIGHT.contains(right), "{right}");
    check(&RIGHT.replacen(right, wrong, 1), expected);
}

fn check_set(sets: &[&str], expected: &Expect) {
    expected.assert_eq(&refusal(RIGHT, sets));
}

fn check_with(addition: &str, expected: &Expect) {
    check(&format!("{RIGHT}{addition}"), expected);
}

#[test]
fn the_right_scenario_is_right() {
    assert_eq!(
        Scenario::parse("s", "s.toml", RIGHT, None, &[]).map(|scenario| scenario.runs()),
        Ok(1)
    );
}

#[test]
fn a_rate_without_a_unit() {
    spoilt(
        "\"50Mbit/s\"",
        "50",
        &expect![[r#"
        error: `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
         --> s.toml:4:8
          |
        4 | rate = 50
          |        ^^ found the number 50, which has no unit
          |
          = help: quantities are strings with their unit, so that no reader has to guess
    "#]],
    );
    spoilt(
        "50Mbit/s",
        "50",
        &expect![[r#"
        error: `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
         --> s.toml:4:8
          |
        4 | rate = "50"
          |        ^^^^ found "50", which has no unit
          |
          = help: write the unit, as in "50Mbit/s"
    "#]],
    );
}

#[test]
fn a_rate_in_bytes_is_refused_with_both_readings() {
    spoilt(
        "50Mbit/s",
        "6MBps",
        &expect![[r#"
        error: `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
         --> s.toml:4:8
          |
        4 | rate = "6MBps"
          |        ^^^^^^^ found "6MBps", which can be read as bits or as bytes
          |
          = help: write "6Mbit/s" if Mbit per second is meant, "48Mbit/s" if Mbyte per second is
    "#]],
    );
}

#[test]
fn a_wrong_or_misspelt_unit() {
    spoilt(
        "50Mbit/s",
        "50Mbt/s",
        &expect![[r#"
        error: `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
         --> s.toml:4:8
          |
        4 | rate = "50Mbt/s"
          |        ^^^^^^^^^ found "50Mbt/s", whose unit is none of bit/s, kbit/s, Mbit/s, Gbit/s or Tbit/s
          |
          = help: did you mean "50Mbit/s"?
    "#]],
    );
    spoilt(
        "\"5ms\"",
        "\"5 parsec\"",
        &expect![[r#"
        error: `bottleneck.delay`: expected a time such as "30ms"
         --> s.toml:5:9
          |
        5 | delay = "5 parsec"
          |         ^^^^^^^^^^ found "5 parsec", whose unit is none of ns, us, ms, s, min or h
    "#]],
    );
    spoilt(
        "1bdp",
        "1pdb",
        &expect![[r#"
        error: `bottleneck.buffer`: expected room for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
         --> s.toml:6:10
          |
        6 | buffer = "1pdb"
          |          ^^^^^^ found "1pdb", whose unit is none of pkt, B (KB, KiB, MB ...), ms or bdp
    "#]],
    );
}

#[test]
fn a_negative_or_zero_rate() {
    spoilt(
        "50Mbit/s",
        "-50Mbit/s",
        &expect![[r#"
        error: `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
         --> s.toml:4:8
          |
        4 | rate = "-50Mbit/s"
          |        ^^^^^^^^^^^ found "-50Mbit/s", which is negative
    "#]],
    );
    spoilt(
        "50Mbit/s",
        "0Mbit/s",
        &expect![[r#"
        error: `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
         --> s.toml:4:8
          |
        4 | rate = "0Mbit/s"
          |        ^^^^^^^^^ found "0Mbit/s", which is zero
    "#]],
    );
}

#[test]
fn a_zero_or_missing_duration() {
    spoilt(
        "\"10s\"",
        "\"0s\"",
        &expect![[r#"
        error: `duration`: expected a time above zero such as "30ms"
         --> s.toml:1:12
          |
        1 | duration = "0s"
          |            ^^^^ found "0s", which is zero
    "#]],
    );
    spoilt(
        "duration = \"10s\"\n",
        "",
        &expect![[r#"
        error: `duration`: expected a time such as "100s"
         --> s.toml:1:1
          |
        1 |
          | ^ found nothing: the key is missing
    "#]],
    );
    spoilt(
        "10s",
        "1e40s",
        &expect![[r#"
        error: `duration`: expected a time above zero such as "30ms"
         --> s.toml:1:12
          |
        1 | duration = "1e40s"
          |            ^^^^^^^ found "1e40s", whose number is too long or malformed
    "#]],
    );
    spoilt(
        "10s",
        "11574d",
        &expect![[r#"
        error: `duration`: expected a time above zero such as "30ms"
         --> s.toml:1:12
          |
        1 | duration = "11574d"
          |            ^^^^^^^^ found "11574d", whose unit is none of ns, us, ms, s, min or h
    "#]],
    );
}

#[test]
fn a_misspelt_key() {
    spoilt(
        "buffer =",
        "bufer =",
        &expect![[r#"
        error: `bottleneck.bufer`: expected a key of `bottleneck`
         --> s.toml:6:1
          |
        6 | bufer = "1bdp"
          | ^^^^^ found an unknown key
          |
          = help: did you mean `buffer`?
          = note: keys of `bottleneck`: rate, delay, buffer, buffer_unit, bdp_rtt, device_queue, queue, loss, loss_at, rate_change, reverse_rate, reverse_buffer, framing, burst, ecn_threshold, jitter, reorder
    "#]],
    );
    spoilt(
        "[bottleneck]",
        "[botleneck]",
        &expect![[r#"
        error: `botleneck`: expected a key of the file
         --> s.toml:3:2
          |
        3 | [botleneck]
          |  ^^^^^^^^^ found an unknown key
          |
          = help: did you mean `bottleneck`?
          = note: keys of the file: title, duration, seed, repeat, sample, stack, bottleneck, access, links, flows, sweep
    "#]],
    );
    spoilt(
        "rtt =",
        "base_rtt =",
        &expect![[r#"
        error: `flows[0].base_rtt`: expected a key of `flows[0]`
          --> s.toml:10:1
           |
        10 | base_rtt = "30ms"
           | ^^^^^^^^ found an unknown key
           |
           = note: keys of `flows[0]`: cc, cc_params, count, start, start_step, start_jitter, stop, rtt, left_delay, right_delay, left_link, right_link, path, return_path, ecn, mss, bytes, rate, on, off, write, train
    "#]],
    );
}

#[test]
fn an_unknown_or_misspelt_algorithm() {
    spoilt(
        "\"reno\"",
        "\"cubci\"",
        &expect![[r#"
        error: `flows[0].cc`: expected a congestion control
         --> s.toml:9:6
          |
        9 | cc = "cubci"
          |      ^^^^^^^ found "cubci"
          |
          = help: did you mean "cubic"?
          = note: algorithms: bbr1, bbr_prime, bbr_hsr, bbrplus, delay_bbr, bbr_acd, bbr2, bbr2_exp, bbr3, bbr3_ietf, cubic, reno, vegas, dctcp, bic, htcp, illinois, highspeed, scalable, veno, westwood, yeah, hybla
    "#]],
    );
    spoilt(
        "\"reno\"",
        "\"quick\"",
        &expect![[r#"
        error: `flows[0].cc`: expected a congestion control
         --> s.toml:9:6
          |
        9 | cc = "quick"
          |      ^^^^^^^ found "quick"
          |
          = note: algorithms: bbr1, bbr_prime, bbr_hsr, bbrplus, delay_bbr, bbr_acd, bbr2, bbr2_exp, bbr3, bbr3_ietf, cubic, reno, vegas, dctcp, bic, htcp, illinois, highspeed, scalable, veno, westwood, yeah, hybla
    "#]],
    );
    spoilt(
        "\"reno\"",
        "7",
        &expect![[r#"
        error: `flows[0].cc`: expected a congestion control
         --> s.toml:9:6
          |
        9 | cc = 7
          |      ^ found the number 7
          |
          = note: algorithms: bbr1, bbr_prime, bbr_hsr, bbrplus, delay_bbr, bbr_acd, bbr2, bbr2_exp, bbr3, bbr3_ietf, cubic, reno, vegas, dctcp, bic, htcp, illinois, highspeed, scalable, veno, westwood, yeah, hybla
    "#]],
    );
    spoilt(
        "cc = \"reno\"\n",
        "",
        &expect![[r#"
        error: `flows[0].cc`: expected a congestion control such as "bbr1"
         --> s.toml:8:1
          |
        8 | [[flows]]
          | ^^^^^^^^^ found nothing: the key is missing
    "#]],
    );
}

#[test]
fn a_wrong_parameter_of_an_algorithm() {
    spoilt(
        "\"reno\"",
        "\"reno\"\ncc_params = { lambda = 0.5 }",
        &expect![[r#"
        error: `flows[0].cc_params.lambda`: `reno` has no parameters
          --> s.toml:10:15
           |
        10 | cc_params = { lambda = 0.5 }
           |               ^^^^^^ found the number 0.5
    "#]],
    );
    spoilt(
        "\"reno\"",
        "\"bbr_hsr\"\ncc_params = { lamda = 0.5 }",
        &expect![[r#"
        error: `flows[0].cc_params.lamda`: `bbr_hsr` has no such parameter; it has lambda
          --> s.toml:10:15
           |
        10 | cc_params = { lamda = 0.5 }
           |               ^^^^^ found the number 0.5
           |
           = help: did you mean `lambda`?
    "#]],
    );
    spoilt(
        "\"reno\"",
        "\"bbr_hsr\"\ncc_params = { lambda = \"much\" }",
        &expect![[r#"
        error: `flows[0].cc_params.lambda`: found "much", expected a number from 0 to 16
          --> s.toml:10:24
           |
        10 | cc_params = { lambda = "much" }
           |                        ^^^^^^ found "much"
    "#]],
    );
    spoilt(
        "\"reno\"",
        "\"bbr_hsr\"\ncc_params = { lambda = [1] }",
        &expect![[r#"
        error: `flows[0].cc_params.lambda`: expected a number, true or false, or a string
          --> s.toml:10:24
           |
        10 | cc_params = { lambda = [1] }
           |                        ^^^ found a list
    "#]],
    );
    spoilt(
        "\"reno\"",
        "\"bbr_hsr\"\ncc_params = 1",
        &expect![[r#"
        error: `flows[0].cc_params`: expected a table such as { lambda = 0.125 }
          --> s.toml:10:13
           |
        10 | cc_params = 1
           |             ^ found the number 1
    "#]],
    );
}

#[test]
fn no_flows() {
    let flows = &RIGHT[RIGHT.find("[[flows]]").unwrap()..];
    spoilt(
        flows,
        "",
        &expect![[r#"
        error: `flows`: expected at least one [[flows]]
         --> s.toml:1:1
          |
        1 | duration = "10s"
          | ^ found nothing: the key is missing
    "#]],
    );
    spoilt(
        flows,
        "[flows]\ncc = \"reno\"\n",
        &expect![[r#"
        error: `flows`: expected a list of tables [[flows]]
         --> s.toml:8:1
          |
        8 | [flows]
          | ^^^^^^^ found a table
          |
          = help: write [[flows]], with two brackets
    "#]],
    );
    check(
        "duration = \"1s\"\nflows = []\n",
        &expect![[r#"
        error: `flows`: expected at least one [[flows]]
         --> s.toml:2:9
          |
        2 | flows = []
          |         ^^ found an empty list
    "#]],
    );
}

#[test]
fn a_buffer_of_nothing() {
    spoilt(
        "1bdp",
        "0pkt",
        &expect![[r#"
        error: `bottleneck.buffer`: expected room for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
         --> s.toml:6:10
          |
        6 | buffer = "0pkt"
          |          ^^^^^^ found "0pkt", which drops every packet that has to wait
    "#]],
    );
    spoilt(
        "1bdp",
        "0bdp",
        &expect![[r#"
        error: `bottleneck.buffer`: expected room for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
         --> s.toml:6:10
          |
        6 | buffer = "0bdp"
          |          ^^^^^^ found "0bdp", which drops every packet that has to wait
    "#]],
    );
    spoilt(
        "\"1bdp\"",
        "0",
        &expect![[r#"
        error: `bottleneck.buffer`: expected room for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
         --> s.toml:6:10
          |
        6 | buffer = 0
          |          ^ found the number 0, which has no unit
          |
          = help: quantities are strings with their unit, so that no reader has to guess
    "#]],
    );
    spoilt(
        "1bdp",
        "-1pkt",
        &expect![[r#"
        error: `bottleneck.buffer`: expected room for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
         --> s.toml:6:10
          |
        6 | buffer = "-1pkt"
          |          ^^^^^^^ found "-1pkt", which is negative
    "#]],
    );
}

#[test]
fn a_million_million_flows() {
    check_with(
        "count = 1000000000000\n",
        &expect![[r#"
        error: `flows[0].count`: expected a whole number from 1 to 1048576
          --> s.toml:11:9
           |
        11 | count = 1000000000000
           |         ^^^^^^^^^^^^^ found the number 1000000000000
    "#]],
    );
    let many = "\n[[flows]]\ncc = \"reno\"\ncount = 600000\n".repeat(2);
    check_with(
        &many,
        &expect![[r#"
        error: `flows[2]`: expected at most 1048576 flows in all
          --> s.toml:16:1
           |
        16 | [[flows]]
           | ^^^^^^^^^ found 1200001 so far
    "#]],
    );
}

#[test]
fn a_huge_number() {
    check_with(
        "count = 99999999999999999999999999999999999999999999\n",
        &expect![[r#"
        error: `flows[0].count`: expected a whole number from 1 to 1048576
          --> s.toml:11:9
           |
        11 | count = 99999999999999999999999999999999999999999999
           |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ found a number beyond 128 bits
    "#]],
    );
    spoilt(
        "50Mbit/s",
        "1e30Gbit/s",
        &expect![[r#"
        error: `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
         --> s.toml:4:8
          |
        4 | rate = "1e30Gbit/s"
          |        ^^^^^^^^^^^^ found "1e30Gbit/s", more than the largest, 10Tbit/s
    "#]],
    );
    spoilt(
        "50Mbit/s",
        &"9".repeat(5000),
        &expect![[r#"
        error: `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
         --> s.toml:4:8
          |
        4 | rate = "9999999999999999999999999999999999999999999999999999999999999999999999999999999
          |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ found "999999999999999999999999999999999999999999999999999999999999"..., whose number is too long or malformed
    "#]],
    );
    spoilt(
        "1bdp",
        "1e29bdp",
        &expect![[r#"
        error: expected a buffer that fits into a network
         --> s.toml:6:10
          |
        6 | buffer = "1e29bdp"
          |          ^^^^^^^^^ found more than 2^50 packets or bytes
    "#]],
    );
    spoilt(
        "duration",
        "seed = -1\nduration",
        &expect![[r#"
        error: `seed`: expected a whole number from 0 to 9223372036854775807
         --> s.toml:1:8
          |
        1 | seed = -1
          |        ^^ found the number -1
    "#]],
    );
}

#[test]
fn not_toml() {
    check(
        "duration == 10\n",
        &expect![[r#"
        error: not TOML
         --> s.toml:1:11
          |
        1 | duration == 10
          |           ^ extra `=`
    "#]],
    );
    check(
        "<scenario/>\n",
        &expect![[r#"
        error: not TOML: expected letters, numbers, `-`, `_`
         --> s.toml:1:1
          |
        1 | <scenario/>
          | ^ invalid unquoted key
    "#]],
    );
    check(
        "{\"duration\": \"10s\"}\n",
        &expect![[r#"
        error: not TOML: expected key
         --> s.toml:1:1
          |
        1 | {"duration": "10s"}
          | ^ invalid key-value pair
    "#]],
    );
    check(
        &"[".repeat(100_000),
        &expect![[r#"
        error: not TOML: expected letters, numbers, `-`, `_`
         --> s.toml:1:3
          |
        1 | [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
          |   ^ unquoted keys cannot be empty
    "#]],
    );
    check(
        "a = \u{1}\n",
        &expect![[r#"
        error: not TOML: expected literal string
         --> s.toml:1:5
          |
        1 | a = ␁
          |     ^ string values must be quoted
    "#]],
    );
}

#[test]
fn a_key_given_twice() {
    spoilt(
        "delay =",
        "rate = \"1Mbit/s\"\ndelay =",
        &expect![[r#"
        error: not TOML
         --> s.toml:5:1
          |
        5 | rate = "1Mbit/s"
          | ^^^^ duplicate key
    "#]],
    );
}

#[test]
fn an_empty_text() {
    check(
        "",
        &expect![[r#"
        error: expected a scenario
        --> s.toml
         = note: found an empty file
    "#]],
    );
    check(
        " \n\t\n",
        &expect![[r#"
        error: expected a scenario
        --> s.toml
         = note: found an empty file
    "#]],
    );
}

#[test]
fn a_base_rtt_beside_explicit_delays() {
    check_with(
        "left_delay = \"1ms\"\n",
        &expect![[r#"
        error: `flows[0].rtt`: expected either `rtt` or explicit delays
          --> s.toml:10:7
           |
        10 | rtt = "30ms"
           |       ^^^^^^ found `left_delay` beside it
    "#]],
    );
}

#[test]
fn a_base_rtt_that_needs_negative_delays() {
    spoilt(
        "30ms",
        "9.9ms",
        &expect![[r#"
        error: `flows[0].rtt`: expected at least 10ms, the delays of the links there and back
          --> s.toml:10:7
           |
        10 | rtt = "9.9ms"
           |       ^^^^^^^ found 9.9ms, which would need negative access delays
    "#]],
    );
}

#[test]
fn a_stop_before_the_start() {
    check_with(
        "start = \"5s\"\nstop = \"5s\"\n",
        &expect![[r#"
        error: `flows[0].stop`: expected a time after the start
          --> s.toml:12:8
           |
        12 | stop = "5s"
           |        ^^^^ found "5s"; the flow starts at 5s
    "#]],
    );
    check_with(
        "count = 3\nstart_step = \"2s\"\nstop = \"4s\"\n",
        &expect![[r#"
        error: `flows[0].stop`: expected a time after the start
          --> s.toml:13:8
           |
        13 | stop = "4s"
           |        ^^^^ found "4s"; the flow starts at 4s
    "#]],
    );
}

#[test]
fn two_sources_of_one_flow() {
    check_with(
        "bytes = \"1MB\"\nrate = \"1Mbit/s\"\n",
        &expect![[r#"
        error: `flows[0]`: expected one source
          --> s.toml:12:1
           |
        12 | rate = "1Mbit/s"
           | ^^^^ found `bytes` and `rate`
    "#]],
    );
    check_with(
        "on = \"1s\"\n",
        &expect![[r#"
        error: `flows[0].off`: expected the other period, such as "1s"
         --> s.toml:8:1
          |
        8 | [[flows]]
          | ^^^^^^^^^ found nothing: the key is missing
    "#]],
    );
    check_with(
        "write = { bytes = \"64KiB\" }\n",
        &expect![[r#"
        error: `flows[0].write.every`: expected the interval, such as "50ms"
          --> s.toml:11:9
           |
        11 | write = { bytes = "64KiB" }
           |         ^^^^^^^^^^^^^^^^^^^ found nothing: the key is missing
    "#]],
    );
    check_with(
        "train = { bytes = \"64KiB\", count = 0, gap = \"1ms\" }\n",
        &expect![[r#"
        error: `flows[0].train.count`: expected a whole number from 1 to 1000000000
          --> s.toml:11:36
           |
        11 | train = { bytes = "64KiB", count = 0, gap = "1ms" }
           |                                    ^ found the number 0
    "#]],
    );
}

#[test]
fn what_is_known_but_not_built() {
    spoilt(
        "1bdp\"",
        "1bdp\"\nqueue = \"codel\"",
        &expect![[r#"
        error: `bottleneck.queue`: `codel` is known but not built yet
         --> s.toml:7:9
          |
        7 | queue = "codel"
          |         ^^^^^^^ found "codel"
    "#]],
    );
    check_with(
        "[stack]\nprofile = \"ns3\"\n",
        &expect![[r#"
        error: `stack.profile`: `ns3` is known but not built yet
          --> s.toml:12:11
           |
        12 | profile = "ns3"
           |           ^^^^^ found "ns3"
    "#]],
    );
    check_with(
        "[stack]\nrate_ack_interval = \"previous\"\n",
        &expect![[r#"
        error: `stack.rate_ack_interval`: `rate_ack_interval` is known but not built yet
          --> s.toml:12:1
           |
        12 | rate_ack_interval = "previous"
           | ^^^^^^^^^^^^^^^^^ found a key that nothing honours so far
    "#]],
    );
}

#[test]
fn a_choice_that_does_not_exist() {
    spoilt(
        "1bdp\"",
        "1bdp\"\nqueue = \"drop-tail\"",
        &expect![[r#"
        error: `bottleneck.queue`: expected "droptail" or "codel" or "fq_codel" or "pie" or "red" or "dualpi2"
         --> s.toml:7:9
          |
        7 | queue = "drop-tail"
          |         ^^^^^^^^^^^ found "drop-tail"
          |
          = help: did you mean "droptail"?
    "#]],
    );
    check_with(
        "[stack]\ntso = \"on\"\nsack = \"yes\"\nhz = 50\n",
        &expect![[r#"
        error: `stack.tso`: expected "cut" or "whole" or "off"
          --> s.toml:12:7
           |
        12 | tso = "on"
           |       ^^^^ found "on"

        error: `stack.sack`: expected true or false
          --> s.toml:13:8
           |
        13 | sack = "yes"
           |        ^^^^^ found "yes"

        error: `stack.hz`: expected a whole number from 100 to 1000
          --> s.toml:14:6
           |
        14 | hz = 50
           |      ^^ found the number 50
    "#]],
    );
    check_with(
        "[stack]\ndelack = { every = 2 }\n",
        &expect![[r#"
        error: `stack.delack.timer`: expected the longest that an ACK waits, such as "200ms"
          --> s.toml:12:10
           |
        12 | delack = { every = 2 }
           |          ^^^^^^^^^^^^^ found nothing: the key is missing
    "#]],
    );
}

#[test]
fn wrong_loss_jitter_and_reordering() {
    spoilt(
        "1bdp\"",
        "1bdp\"\nloss = 1.5",
        &expect![[r#"
        error: `bottleneck.loss`: expected a number from 0 to 1
         --> s.toml:7:8
          |
        7 | loss = 1.5
          |        ^^^ found the number 1.5
    "#]],
    );
    spoilt(
        "1bdp\"",
        "1bdp\"\nloss = \"1 in 100\"",
        &expect![[r#"
        error: `bottleneck.loss`: expected a number from 0 to 1
         --> s.toml:7:8
          |
        7 | loss = "1 in 100"
          |        ^^^^^^^^^^ found "1 in 100"
    "#]],
    );
    spoilt(
        "1bdp\"",
        "1bdp\"\nloss = nan",
        &expect![[r#"
        error: `bottleneck.loss`: expected a number from 0 to 1
         --> s.toml:7:8
          |
        7 | loss = nan
          |        ^^^ found the number nan
    "#]],
    );
    spoilt(
        "1bdp\"",
        "1bdp\"\nloss = { model = \"gilbert\" }",
        &expect![[r#"
        error: `bottleneck.loss.model`: expected "bernoulli" or "gilbert-elliott"
         --> s.toml:7:18
          |
        7 | loss = { model = "gilbert" }
          |                  ^^^^^^^^^ found "gilbert"
    "#]],
    );
    spoilt(
        "1bdp\"",
        "1bdp\"\nloss = { model = \"gilbert-elliott\", p = 0.1 }",
        &expect![[r#"
        error: `bottleneck.loss.r`: expected a number from 0 to 1
         --> s.toml:7:8
          |
        7 | loss = { model = "gilbert-elliott", p = 0.1 }
          |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ found nothing: the key is missing
    "#]],
    );
    spoilt(
        "1bdp\"",
        "1bdp\"\njitter = \"0ms\"",
        &expect![[r#"
        error: `bottleneck.jitter`: expected a time above zero such as "30ms"
         --> s.toml:7:10
          |
        7 | jitter = "0ms"
          |          ^^^^^ found "0ms", which is zero
    "#]],
    );
    spoilt(
        "1bdp\"",
        "1bdp\"\nreorder = { ratio = 0.01 }",
        &expect![[r#"
        error: `bottleneck.reorder.by`: expected how long the other packets wait, such as "1ms"
         --> s.toml:7:11
          |
        7 | reorder = { ratio = 0.01 }
          |           ^^^^^^^^^^^^^^^^ found nothing: the key is missing
    "#]],
    );
}

#[test]
fn wrong_schedules_and_traces() {
    spoilt(
        "\"50Mbit/s\"",
        "[[\"1s\", \"50Mbit/s\"]]",
        &expect![[r#"
        error: `bottleneck.rate`: expected a schedule that begins at "0s"
         --> s.toml:4:10
          |
        4 | rate = [["1s", "50Mbit/s"]]
          |          ^^^^ found "1s" in entry 1
    "#]],
    );
    spoilt(
        "\"50Mbit/s\"",
        "[[\"0s\", \"50Mbit/s\"], [\"0s\", \"5Mbit/s\"]]",
        &expect![[r#"
        error: `bottleneck.rate`: expected a schedule whose times rise
         --> s.toml:4:30
          |
        4 | rate = [["0s", "50Mbit/s"], ["0s", "5Mbit/s"]]
          |                              ^^^^ found "0s" in entry 2
    "#]],
    );
    spoilt(
        "\"50Mbit/s\"",
        "[[\"0s\"]]",
        &expect![[r#"
        error: `bottleneck.rate`: expected a time and a rate
         --> s.toml:4:9
          |
        4 | rate = [["0s"]]
          |         ^^^^^^ found a list of 1 values
    "#]],
    );
    spoilt(
        "50Mbit/s",
        "no-such.trace",
        &expect![[r#"
        error: `bottleneck.rate`: expected a rate such as "50Mbit/s", a schedule or a trace file
         --> s.toml:4:8
          |
        4 | rate = "no-such.trace"
          |        ^^^^^^^^^^^^^^^ found "no-such.trace"; as a trace file it cannot be read: No such file or directory (os error 2)
    "#]],
    );
    spoilt(
        "50Mbit/s",
        "/dev/null",
        &expect![[r#"
        error: `bottleneck.rate`: expected a rate such as "50Mbit/s", a schedule or a trace file
         --> s.toml:4:8
          |
        4 | rate = "/dev/null"
          |        ^^^^^^^^^^^ found "/dev/null"; as a trace file it is not a regular file
    "#]],
    );
    spoilt(
        "\"50Mbit/s\"",
        "{ opportunities_ms = [3, 2] }",
        &expect![[r#"
        error: `bottleneck.rate.opportunities_ms`: expected a list of rising milliseconds
         --> s.toml:4:29
          |
        4 | rate = { opportunities_ms = [3, 2] }
          |                             ^^^^^^ found a trace that goes back in time
    "#]],
    );
}

#[test]
fn links_that_do_not_exist() {
    check_with(
        "path = [\"a\"]\n",
        &expect![[r#"
        error: `flows[0].path`: expected the name of a link
          --> s.toml:11:9
           |
        11 | path = ["a"]
           |         ^^^ found "a"
           |
           = note: links: bottleneck
    "#]],
    );
    let parking = "[[links]]\nname = \"core\"\nrate = \"1Mbit/s\"\n";
    check(
        &RIGHT.replacen("[[flows]]", &format!("{parking}[[flows]]\nleft_link = \"cor\""), 1),
        &expect![[r#"
        error: `flows[0].left_link`: expected the name of a link
          --> s.toml:12:13
           |
        12 | left_link = "cor"
           |             ^^^^^ found "cor"
           |
           = help: did you mean "core"?
           = note: links: bottleneck, core
    "#]],
    );
    check_with(
        "[[links]]\nrate = \"1Mbit/s\"\n",
        &expect![[r#"
        error: `links[0].name`: expected the name by which flows call this link
          --> s.toml:11:1
           |
        11 | [[links]]
           | ^^^^^^^^^ found nothing: the key is missing
    "#]],
    );
    check_with(
        &format!("{parking}{parking}"),
        &expect![[r#"
        error: `links[1].name`: expected a name of its own
          --> s.toml:15:8
           |
        15 | name = "core"
           |        ^^^^^^ found "core", which another link has
    "#]],
    );
    check_with(
        "[[links]]\nname = \"bottleneck\"\n",
        &expect![[r#"
            error: `links[0].name`: expected a name of its own
              --> s.toml:12:8
               |
            12 | name = "bottleneck"
               |        ^^^^^^^^^^^^ found "bottleneck", which another link has
        "#]],
    );
}

#[test]
fn a_link_twice_on_a_way() {
    check_with(
        "left_link = \"bottleneck\"\n",
        &expect![[r#"
        error: `flows[0].left_link`: expected each link once on a way
          --> s.toml:11:13
           |
        11 | left_link = "bottleneck"
           |             ^^^^^^^^^^^^ found "bottleneck" again
    "#]],
    );
    check_with(
        "path = [\"bottleneck\", \"bottleneck\"]\n",
        &expect![[r#"
        error: `flows[0].path`: expected each link once
          --> s.toml:11:23
           |
        11 | path = ["bottleneck", "bottleneck"]
           |                       ^^^^^^^^^^^^ found "bottleneck" twice
    "#]],
    );
    let lan = "left_link = \"lan\"\nright_link = \"lan\"\n[[links]]\nname = \"lan\"\n";
    check_with(
        lan,
        &expect![[r#"
        error: `flows[0].right_link`: expected each link once on a way
          --> s.toml:12:14
           |
        12 | right_link = "lan"
           |              ^^^^^ found "lan" again
    "#]],
    );
}

#[test]
fn a_flow_without_a_way() {
    check(
        "duration = \"1s\"\n[[flows]]\ncc = \"reno\"\n",
        &expect![[r#"
        error: `flows[0]`: expected a [bottleneck], or a `path` of [[links]]
         --> s.toml:2:1
          |
        2 | [[flows]]
          | ^^^^^^^^^ found neither: this flow has no way to its receiver
    "#]],
    );
    check(
        "duration = \"1s\"\n[bottleneck]\n[[flows]]\ncc = \"reno\"\n",
        &expect![[r#"
        error: `flows[0]`: expected a rate or a delay on its way
         --> s.toml:3:1
          |
        3 | [[flows]]
          | ^^^^^^^^^ found neither: it would send without end in no time
    "#]],
    );
}

#[test]
fn a_buffer_that_makes_no_sense() {
    spoilt(
        "rate = \"50Mbit/s\"\n",
        "",
        &expect![[r#"
        error: `bottleneck.buffer`: expected a `rate` beside it
         --> s.toml:5:10
          |
        5 | buffer = "1bdp"
          |          ^^^^^^ found a buffer of a link without a rate, which never queues
    "#]],
    );
    spoilt(
        "delay = \"5ms\"",
        "reverse_buffer = \"5pkt\"",
        &expect![[r#"
        error: `bottleneck.reverse_buffer`: expected a `reverse_rate` beside it
         --> s.toml:5:18
          |
        5 | reverse_buffer = "5pkt"
          |                  ^^^^^^ found a buffer of a link without a rate, which never queues
    "#]],
    );
    check(
        "duration = \"1s\"\n[bottleneck]\nrate = \"1Mbit/s\"\nbuffer = \"1bdp\"\n[[flows]]\ncc = \"reno\"\n",
        &expect![[r#"
        error: expected a `bdp_rtt`, or another unit than `bdp`
         --> s.toml:4:10
          |
        4 | buffer = "1bdp"
          |          ^^^^^^ found a buffer in BDP, but the first flow's base RTT is zero
    "#]],
    );
}

#[test]
fn wrong_sweeps() {
    check_with(
        "[sweep]\n\"bottleneck.bufer\" = [\"1bdp\", \"2bdp\"]\n",
        &expect![[r#"
        error: `bottleneck.bufer`: expected a key of `bottleneck`
          --> s.toml:12:1
           |
        12 | "bottleneck.bufer" = ["1bdp", "2bdp"]
           | ^^^^^^^^^^^^^^^^^^ found an unknown key
           |
           = help: did you mean `buffer`?
           = note: keys of `bottleneck`: rate, delay, buffer, buffer_unit, bdp_rtt, device_queue, queue, loss, loss_at, rate_change, reverse_rate, reverse_buffer, framing, burst, ecn_threshold, jitter, reorder
    "#]],
    );
    check_with(
        "[sweep]\n\"bottleneck.buffer\" = \"1bdp\"\n",
        &expect![[r#"
        error: `sweep."bottleneck.buffer"`: expected a list of values
          --> s.toml:12:23
           |
        12 | "bottleneck.buffer" = "1bdp"
           |                       ^^^^^^ found "1bdp"
    "#]],
    );
    check_with(
        "[sweep]\n\"bottleneck.buffer\" = []\n",
        &expect![[r#"
        error: `sweep."bottleneck.buffer"`: expected a list of values
          --> s.toml:12:23
           |
        12 | "bottleneck.buffer" = []
           |                       ^^ found an empty list
    "#]],
    );
    check_with(
        "[sweep]\n\"bottleneck.buffer\" = [\"1bdp\", \"1 bpd\"]\n",
        &expect![[r#"
        error: `bottleneck.buffer`: expected room for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
          --> s.toml:12:32
           |
        12 | "bottleneck.buffer" = ["1bdp", "1 bpd"]
           |                                ^^^^^^^ found "1 bpd", whose unit is none of pkt, B (KB, KiB, MB ...), ms or bdp
           |
           = help: did you mean "1bdp"?
           = note: at the point bottleneck.buffer = "1 bpd"
    "#]],
    );
    check_with(
        "[sweep]\n\"flows[1].cc\" = [\"reno\", \"cubic\"]\n",
        &expect![[r#"
        error: `sweep`: expected a key of the scenario
          --> s.toml:12:1
           |
        12 | "flows[1].cc" = ["reno", "cubic"]
           | ^^^^^^^^^^^^^ found `flows[1]`, but there are 1 [[flows]], counted from 0
    "#]],
    );
}

#[test]
fn wrong_values_of_a_sweep() {
    check_with(
        "[sweep]\nseed = [1, 2]\n",
        &expect![[r#"
        error: `sweep`: expected a key that can differ between points
          --> s.toml:12:1
           |
        12 | seed = [1, 2]
           | ^^^^ found `seed`
           |
           = help: use `repeat`, which runs seed, seed + 1 ...
    "#]],
    );
    check_with(
        "[sweep]\n\"flows.rtt\" = [\"30ms\", \"5ms\"]\n",
        &expect![[r#"
        error: `flows[0].rtt`: expected at least 10ms, the delays of the links there and back
          --> s.toml:12:24
           |
        12 | "flows.rtt" = ["30ms", "5ms"]
           |                        ^^^^^ found 5ms, which would need negative access delays
           |
           = note: at the point flows.rtt = "5ms"
    "#]],
    );
    check_with(
        "[sweep]\n\"flows.rtt\" = [\"30ms\", \"30ms\"]\n",
        &expect![[r#"
        error: `sweep."flows.rtt"`: expected each value once
          --> s.toml:12:24
           |
        12 | "flows.rtt" = ["30ms", "30ms"]
           |                        ^^^^^^ found "30ms" a second time
    "#]],
    );
    check_with(
        "[sweep]\npoints = [{ \"flows.rtt\" = \"30ms\" }, 5]\n",
        &expect![[r#"
        error: `sweep.points`: expected a list of tables such as [{ "flows.cc" = "bbr1" }]
          --> s.toml:12:37
           |
        12 | points = [{ "flows.rtt" = "30ms" }, 5]
           |                                     ^ found the number 5 in it
    "#]],
    );
    check_with(
        "[sweep]\n\"flows.rtt\" = [\"30ms\"]\npoints = [{ \"flows.rtt\" = \"30ms\" }]\n",
        &expect![[r#"
        error: `sweep`: expected `flows.rtt` once
          --> s.toml:13:13
           |
        13 | points = [{ "flows.rtt" = "30ms" }]
           |             ^^^^^^^^^^^ found it in a list and in `points`, or twice
    "#]],
    );
}

#[test]
fn a_sweep_of_a_thousand_million_points() {
    let list = (1..=1000).map(|n| format!("\"{n}pkt\"")).collect::<Vec<_>>().join(", ");
    let delays = list.replace("pkt", "us");
    let sweep = format!(
        "[sweep]\n\"bottleneck.buffer\" = [{list}]\n\"bottleneck.delay\" = [{delays}]\n\"flows.start\" = [{delays}]\n"
    );
    check_with(
        &sweep,
        &expect![[r#"
            error: `sweep`: expected at most 50000 points
              --> s.toml:11:1
               |
            11 | [sweep]
               | ^^^^^^^ found a product of 1000 x 1000 x 1000
        "#]],
    );
    spoilt(
        "duration",
        "repeat = 1000000000\nduration",
        &expect![[r#"
        error: `repeat`: expected a whole number from 1 to 1000000
         --> s.toml:1:10
          |
        1 | repeat = 1000000000
          |          ^^^^^^^^^^ found the number 1000000000
    "#]],
    );
}

#[test]
fn wrong_settings() {
    check_set(
        &["bottleneck.bufer=2bdp"],
        &expect![[r#"
        error: `bottleneck.bufer`: expected a key of `bottleneck`
         --> --set:1:1
          |
        1 | bottleneck.bufer=2bdp
          | ^^^^^^^^^^^^^^^^ found an unknown key
          |
          = help: did you mean `buffer`?
          = note: keys of `bottleneck`: rate, delay, buffer, buffer_unit, bdp_rtt, device_queue, queue, loss, loss_at, rate_change, reverse_rate, reverse_buffer, framing, burst, ecn_threshold, jitter, reorder
    "#]],
    );
    check_set(
        &["bottleneck.buffer=2pdb"],
        &expect![[r#"
        error: `bottleneck.buffer`: expected room for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
         --> --set:1:19
          |
        1 | bottleneck.buffer=2pdb
          |                   ^^^^ found "2pdb", whose unit is none of pkt, B (KB, KiB, MB ...), ms or bdp
    "#]],
    );
    check_set(
        &["bottleneck.buffer"],
        &expect![[r#"
        error: `--set`: expected key=value such as bottleneck.buffer=2bdp
         --> --set:1:1
          |
        1 | bottleneck.buffer
          | ^^^^^^^^^^^^^^^^^ found no `=`
    "#]],
    );
    check_set(
        &["bottleneck.rate=50"],
        &expect![[r#"
        error: `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
         --> --set:1:17
          |
        1 | bottleneck.rate=50
          |                 ^^ found the number 50, which has no unit
          |
          = help: quantities are strings with their unit, so that no reader has to guess
    "#]],
    );
    check_set(
        &["flows[3].cc=reno"],
        &expect![[r#"
        error: `--set`: expected a key of the scenario
         --> --set:1:1
          |
        1 | flows[3].cc=reno
          | ^^^^^^^^^^^ found `flows[3]`, but there are 1 [[flows]], counted from 0
    "#]],
    );
}

#[test]
fn settings_that_lead_nowhere() {
    check_set(
        &["flows[x].cc=reno"],
        &expect![[r#"
        error: `--set`: expected a key of the scenario
         --> --set:1:1
          |
        1 | flows[x].cc=reno
          | ^^^^^^^^^^^ found `flows[x]`, which has no index as in `flows[1]`
    "#]],
    );
    check_set(
        &["duration.x=1s"],
        &expect![[r#"
        error: `--set`: expected a key of the scenario
         --> --set:1:1
          |
        1 | duration.x=1s
          | ^^^^^^^^^^ found a key of `duration`, which is a string
    "#]],
    );
    check_set(
        &["=1"],
        &expect![[r#"
        error: `--set`: expected a key of the scenario
         --> --set:1:1
          |
        1 | =1
          | ^ found ``, which has an empty part
    "#]],
    );
    check_set(
        &["links.a.rate=1Mbit/s"],
        &expect![[r#"
        error: `--set`: expected a key of the scenario
         --> --set:1:1
          |
        1 | links.a.rate=1Mbit/s
          | ^^^^^^^^^^^^ found `links`, but there is no [[links]]
    "#]],
    );
    check_set(
        &["flows.rtt=2ms"],
        &expect![[r#"
        error: `flows[0].rtt`: expected at least 10ms, the delays of the links there and back
         --> --set:1:11
          |
        1 | flows.rtt=2ms
          |           ^^^ found 2ms, which would need negative access delays
    "#]],
    );
    check_set(
        &["sweep.flows.cc=[\"cubci\"]"],
        &expect![[r#"
        error: `flows[0].cc`: expected a congestion control
         --> --set:1:17
          |
        1 | sweep.flows.cc=["cubci"]
          |                 ^^^^^^^ found "cubci"
          |
          = help: did you mean "cubic"?
          = note: algorithms: bbr1, bbr_prime, bbr_hsr, bbrplus, delay_bbr, bbr_acd, bbr2, bbr2_exp, bbr3, bbr3_ietf, cubic, reno, vegas, dctcp, bic, htcp, illinois, highspeed, scalable, veno, westwood, yeah, hybla
    "#]],
    );
}

#[test]
fn several_mistakes_are_told_at_once() {
    let text = RIGHT.replace("50Mbit/s", "50MBps").replace("reno", "rino").replace("\"10s\"", "10");
    check(
        &text,
        &expect![[r#"
        error: `duration`: expected a time above zero such as "30ms"
         --> s.toml:1:12
          |
        1 | duration = 10
          |            ^^ found the number 10, which has no unit
          |
          = help: quantities are strings with their unit, so that no reader has to guess

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
          = note: algorithms: bbr1, bbr_prime, bbr_hsr, bbrplus, delay_bbr, bbr_acd, bbr2, bbr2_exp, bbr3, bbr3_ietf, cubic, reno, vegas, dctcp, bic, htcp, illinois, highspeed, scalable, veno, westwood, yeah, hybla
    "#]],
    );
}

#[test]
fn a_file_that_is_none() {
    let folder = std::env::temp_dir().join(format!("bbrlab-scenario-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut told = String::new();
    let mut tell = |name: &str, bytes: Option<&[u8]>| {
        let path = folder.join(name);
        if let Some(bytes) = bytes {
            std::fs::write(&path, bytes).unwrap();
        }
        let error = Scenario::open(path.to_str().unwrap(), &[]).unwrap_err().to_string();
        told.push_str(&error.replace(folder.to_str().unwrap(), "DIR"));
        told.push_str("\n\n");
    };
    tell("missing.toml", None);
    tell("", None);
    tell("empty.toml", Some(b""));
    tell("binary.toml", Some(b"duration = \"1s\"\n\x7fELF\xff\x00\x01"));
    tell("zeros.toml", Some(&[0; 100]));
    tell("large.toml", Some(&vec![b'#'; 2_000_000]));
    told.push_str(&Scenario::open("/dev/zero", &[]).unwrap_err().to_string());
    told.push_str("\n\n");
    told.push_str(&Scenario::open("lanigan2020.single-flo", &[]).unwrap_err().to_string());
    told.push_str("\n\n");
    told.push_str(&Scenario::builtin("two-bbr", &[]).unwrap_err().to_string());
    std::fs::remove_dir_all(&folder).unwrap();
    expect![[r#"
        error: expected a scenario file
        --> DIR/missing.toml
         = note: found no such file, and no built-in scenario of that name

        error: expected a scenario file
        --> DIR/
         = note: found a directory

        error: expected a scenario
        --> DIR/empty.toml
         = note: found an empty file

        error: expected a scenario file
        --> DIR/binary.toml
         = note: found a byte that is no UTF-8 text on line 2 (0xff)

        error: expected a scenario
        --> DIR/zeros.toml
         = note: found a binary file: a zero byte on line 1

        error: expected a scenario file
        --> DIR/large.toml
         = note: found more than 1048576 bytes

        error: expected a scenario file
        --> /dev/zero
         = note: found more than 1048576 bytes

        error: expected a scenario file
        --> lanigan2020.single-flo
         = note: found no such file, and no built-in scenario of that name
         = help: did you mean the built-in `lanigan2020.single-flow`?

        error: expected a built-in scenario
        --> two-bbr
         = note: found no such id"#]]
    .assert_eq(&told);
}
