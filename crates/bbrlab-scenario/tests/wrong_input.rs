//! The answers to wrong scenarios: file, line and columns, what was expected, what was found, what is suggested.
//!
//! The tables have one row for each mistake: the change of the right scenario, `line:first column-last column` in `s.toml`
//! or in `--set`, what was found, and below it the suggestion if there is one. The heading of rows says what was
//! expected. The tests after the tables compare the whole message, once for each kind.

#![expect(clippy::disallowed_methods, reason = "measures how long a wrong input takes")]

use bbrlab_scenario::{Scenario, ScenarioErrors};
use expect_test::{Expect, expect};

/// A right scenario, to be changed.
const RIGHT: &str = r#"duration = "10s"

[bottleneck]
rate = "50Mbit/s"
delay = "5ms"
buffer = "1bdp"

[[flows]]
cc = "reno"
rtt = "30ms"
"#;

/// The answer to a wrong text. It must not take long.
fn refusal(text: &str, sets: &[String]) -> ScenarioErrors {
    let began = std::time::Instant::now();
    let answer = Scenario::parse("s", "s.toml", text, None, sets);
    assert!(began.elapsed().as_secs() < 15, "took {:?}", began.elapsed());
    answer.expect_err("the scenario is wrong")
}

/// The answer to a change of the right scenario. In a change `;` ends a line.
///
/// - `A -> B`: B in place of the first A.
/// - `+ LINES`: more lines at the end, which is inside `[[flows]]`.
/// - `[bottleneck] + LINES`: more lines at the end of that table.
/// - `= LINES`: another text altogether.
/// - `--set SETTING`: the right text, and a setting from the command line.
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

/// Makes the change in the first column of each row and compares the answers with the rest of the table.
///
/// Nothing but that column is read: to add a row, write `CHANGE | ` and run with `UPDATE_EXPECT=1`. A change with
/// several mistakes has several rows, which begin with `also` from the second on.
fn check(table: &Expect) {
    // Heading, change, the rest of the row.
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
            let line = error.line.expect("whole files are not in the tables");
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
    table.assert_eq(&answers);
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
                help: quantities are strings with their unit, so that no reader has to guess
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
                help: quantities are strings with their unit, so that no reader has to guess
            1bdp -> -1pkt | 6:10-16 | found "-1pkt", which is negative
        `bottleneck.buffer`: expected a buffer of at most 2^50 packets or bytes
            1bdp -> 1e29bdp | 6:10-18 | found "100000000000000000000000000000bdp", which is more
        `seed`: expected a whole number from 0 to 9223372036854775807
            duration -> seed = -1; duration | 1:8-9 | found the number -1
        `repeat`: expected a whole number from 1 to 1000000
            duration -> repeat = 1000000000; duration | 1:10-19 | found the number 1000000000
    "#]]);
}

#[test]
fn unknown_and_missing_keys() {
    check(&expect![[r#"
        `bottleneck.bufer`: expected a key of `bottleneck`
        note: keys of `bottleneck`: rate, delay, keep_order, buffer, buffer_unit, bdp_rtt, device_queue, queue, reverse_queue, loss, trace, loss_at, rate_change, reverse_rate, reverse_buffer, framing, burst, peak_rate, police, ecn_threshold, jitter, reorder, ack_thinning, slot, reverse_slot, airtime, grant, reverse_grant
            buffer = -> bufer = | 6:1-5 | found an unknown key
                help: did you mean `buffer`?
        `botleneck`: expected a key of the file
        note: keys of the file: title, duration, seed, repeat, sample, stack, bottleneck, access, links, flows, sweep
            [bottleneck] -> [botleneck] | 3:2-10 | found an unknown key
                help: did you mean `bottleneck`?
        `flows[0].base_rtt`: expected a key of `flows[0]`
        note: keys of `flows[0]`: cc, cc_params, count, name, group, start, start_step, start_jitter, stop, rtt, left_delay, right_delay, left_link, right_link, path, return_path, ecn, dscp, mss, rate_samples, bytes, rate, on, off, write, train, arrivals, requests, video, sizes
            rtt = -> base_rtt = | 10:1-8 | found an unknown key
        `flows[0].cc`: expected a congestion control such as "bbr1"
            cc = "reno"; -> | 8:1-9 | found nothing: the key is missing
    "#]]);
}

#[test]
fn algorithms_and_their_parameters() {
    check(&expect![[r#"
        `flows[0].cc`: expected a congestion control
        note: algorithms: bbr1, bbr_prime, bbr_hsr, bbrplus, delay_bbr, bbr_acd, bbr2, bbr2_exp, bbr3, bbr3_ietf, cubic, reno, vegas, dctcp, bic, htcp, illinois, highspeed, scalable, veno, westwood, yeah, hybla; "udp": datagrams, without one
            "reno" -> "quick" | 9:6-12 | found "quick"
            "reno" -> 7       | 9:6-6 | found the number 7
        `flows[0].cc_params.lambda`: `reno` has no parameters
            "reno" -> "reno"; cc_params = { lambda = 0.5 } | 10:15-20 | found the number 0.5
        `flows[0].cc_params.lamda`: `bbr_hsr` has no such parameter; it has lambda, integer_lambda, min_rtt, min_rtt_renew, margin, seed_bw, cycle_rand, extra_acked, probertt_app_limited, quantum, probe_extra, edt, policer, losses, rto_resets_full_bw
            "reno" -> "bbr_hsr"; cc_params = { lamda = 0.5 } | 10:15-19 | found the number 0.5
                help: did you mean `lambda`?
        `flows[0].cc_params.lambda`: found "much", expected a number from 0 to 16
            "reno" -> "bbr_hsr"; cc_params = { lambda = "much" } | 10:24-29 | found "much"
        `flows[0].cc_params.lambda`: expected a number, true or false, or a string
            "reno" -> "bbr_hsr"; cc_params = { lambda = [1] } | 10:24-26 | found a list
        `flows[0].cc_params`: expected a table such as { lambda = 0.125 }
            "reno" -> "bbr_hsr"; cc_params = 1 | 10:13-13 | found the number 1
    "#]]);
}

#[test]
fn flows() {
    check(&expect![[r#"
        `flows`: expected at least one [[flows]]
            [[flows]]; cc = "reno"; rtt = "30ms"; -> | 1:1-1 | found nothing: the key is missing
            = duration = "1s"; flows = []            | 2:9-10 | found an empty list
        `flows`: expected a list of tables [[flows]]
            [[flows]]; cc = "reno"; rtt = "30ms"; -> [flows]; cc = "reno"; | 8:1-7 | found a table
                help: write [[flows]], with two brackets
        `flows[0].count`: expected a whole number from 1 to 1048576
            + count = 1000000000000                                | 11:9-21 | found the number 1000000000000
            + count = 99999999999999999999999999999999999999999999 | 11:9-52 | found a number beyond 128 bits
        `flows[2]`: expected at most 1048576 flows in all
            + ; [[flows]]; cc = "reno"; count = 600000; ; [[flows]]; cc = "reno"; count = 600000 | 16:1-9 | found 1200001 so far
        `flows[0].rtt`: expected either `rtt` or explicit delays
            + left_delay = "1ms" | 10:7-12 | found `left_delay` as well
        `flows[0].rtt`: expected at least 10ms, the delays of the links there and back
            30ms -> 9.9ms | 10:7-13 | found 9.9ms, which would need negative access delays
        `flows[0].stop`: expected a time after the start
            + start = "5s"; stop = "5s"                 | 12:8-11 | found "5s"; the flow starts at 5s
            + count = 3; start_step = "2s"; stop = "4s" | 13:8-11 | found "4s"; the flow starts at 4s
        `flows[0].start`: expected a start before the end of the run, 10s
            + start = "10s" | 11:9-13 | found "10s"; the flow starts at 10s
        `flows[0].start_step`: expected a start before the end of the run, 10s
            + start = "9s"; start_step = "500ms"; count = 3 | 12:14-20 | found "500ms"; the last flow starts at 10s
        `flows[0].start_jitter`: expected a start before the end of the run, 10s
            + start = "9s"; start_jitter = "1s"                                     | 12:16-19 | found "1s"; with it the last start can reach 10s
            + start = "9s"; start_step = "400ms"; count = 3; start_jitter = "300ms" | 14:16-22 | found "300ms"; with it the last start can reach 10.1s
        `flows[0].start`: expected a start before the end of the run, 10s
            + start = "1000000000s"; start_step = "1000000000s"; count = 1048576 | 11:9-21 | found "1000000000s"; the flow starts at 1000000000s
        `flows[0].start_step`: expected a start before the end of the run, 10s
            + start_step = "1000000000s"; count = 1048576 | 11:14-26 | found "1000000000s"; the last flow starts at 1048575000000000s
        `duration`: expected a time above zero such as "30ms"
            = duration = "10"; [bottleneck]; rate = "1Mbit/s"; delay = "5ms"; [[flows]]; cc = "reno"; start = "11s" | 1:12-15 | found "10", which has no unit
                help: write the unit, as in "30ms"
        `flows[0]`: expected one source
            + bytes = "1MB"; rate = "1Mbit/s" | 12:1-4 | found `bytes` and `rate`
        `flows[0].off`: expected the other period, such as "1s"
            + on = "1s" | 8:1-9 | found nothing: the key is missing
        `flows[0].write.every`: expected the interval, such as "50ms"
            + write = { bytes = "64KiB" } | 11:9-27 | found nothing: the key is missing
        `flows[0].train.count`: expected a whole number from 1 to 1000000000
            + train = { bytes = "64KiB", count = 0, gap = "1ms" } | 11:36-36 | found the number 0
    "#]]);
}

#[test]
fn the_ip_header() {
    check(&expect![[r#"
        `flows[0].ecn`: expected false, true, "low" or "l4s"
            + ecn = "L4S" | 11:7-11 | found "L4S"
        `flows[0].ecn`: expected a `cc` that answers marks by their share
            + ecn = "l4s"                 | 11:7-11 | found "l4s" with `cc = "reno"`
                help: `dctcp`, `bbr3`, or `bbr2` with `cc_params = { ecn_enable = true }`; others: `ecn = true`
            "reno" -> "bbr2"; ecn = "l4s" | 10:7-11 | found "l4s" with `cc = "bbr2"`
                help: `dctcp`, `bbr3`, or `bbr2` with `cc_params = { ecn_enable = true }`; others: `ecn = true`
        `flows[0].dscp`: expected a DSCP such as "EF" or 46
            + dscp = "EFF" | 11:8-12 | found "EFF"
                help: did you mean "EF"?
        `flows[0].dscp`: expected a whole number from 0 to 63
            + dscp = 64   | 11:8-9 | found the number 64
            + dscp = true | 11:8-11 | found true
    "#]]);
}

#[test]
fn flows_that_come_and_go() {
    check(&expect![[r#"
        `flows[0].arrivals`: expected a table such as { rate = "50/s" } or { load = "30%" }
            + arrivals = "50/s"; bytes = "1KB" | 11:12-17 | found "50/s"
        `flows[0].arrivals.rate`: expected a number of flows per second such as "50/s"
            + arrivals = { rate = "50" }; bytes = "1KB"     | 11:21-24 | found "50", which has no unit
                help: write the unit, as in "50/s"
            + arrivals = { rate = "50/min" }; bytes = "1KB" | 11:21-28 | found "50/min", whose unit is none of /s
        `flows[0].arrivals.rate`: expected from "0.000001/s" to "1000000/s"
            + arrivals = { rate = "0/s" }; bytes = "1KB"       | 11:21-25 | found "0/s"
            + arrivals = { rate = "2000000/s" }; bytes = "1KB" | 11:21-31 | found "2000000/s"
        `flows[0].arrivals.rate`: expected a number of flows per second such as "50/s"
            + arrivals = { rate = 50 }; bytes = "1KB"     | 11:21-22 | found the number 50, which has no unit
                help: quantities are strings with their unit, so that no reader has to guess
            + arrivals = { rate = "-1/s" }; bytes = "1KB" | 11:21-26 | found "-1/s", which is negative
        `flows[0].arrivals.load`: expected a number from 0 to 1, or a percentage such as "1%"
            + arrivals = { load = "130%" }; bytes = "1KB" | 11:21-26 | found "130%"
        `flows[0].arrivals.load`: expected a share above one millionth such as "30%"
            + arrivals = { load = 0 }; bytes = "1KB" | 11:21-21 | found the number 0
        `flows[0].arrivals.rate`: expected how many flows come, such as "50/s", or `load`
            + arrivals = { process = "poisson" }; bytes = "1KB" | 11:12-34 | found nothing: the key is missing
        `flows[0].arrivals`: expected either `rate` or `load`
            + arrivals = { rate = "5/s", load = 0.5 }; bytes = "1KB" | 11:35-37 | found `load` as well
        `flows[0].arrivals.process`: expected "poisson" or "pareto" or "constant"
            + arrivals = { process = "fractal", rate = "5/s" }; bytes = "1KB" | 11:24-32 | found "fractal"
        `flows[0].arrivals.shape`: expected a number from 1.001 to 100, of at most three decimals
            + arrivals = { process = "pareto", shape = 1, rate = "5/s" }; bytes = "1KB" | 11:42-42 | found the number 1
        `flows[0].arrivals.shape`: expected a key of `flows[0].arrivals`
        note: keys of `flows[0].arrivals`: process, rate, load, at_most
            + arrivals = { rate = "5/s", shape = 1.5 }; bytes = "1KB" | 11:28-32 | found an unknown key
        `flows[0].arrivals.at_most`: expected a whole number from 1 to 1000000
            + arrivals = { rate = "5/s", at_most = 0 }; bytes = "1KB" | 11:38-38 | found the number 0
        `flows[0].sizes`: expected the sizes of flows or answers, or `bytes`
            + arrivals = { rate = "5/s" } | 8:1-9 | found nothing: the key is missing
        `flows[0]`: expected `arrivals` or `requests`
            + sizes = { distribution = "constant", mean = "1KB" } | 11:9-51 | found `sizes` without them
        `flows[0]`: expected one source
            + arrivals = { rate = "5/s" }; rate = "1Mbit/s"; bytes = "1KB" | 13:1-5 | found `bytes` and `rate` and `arrivals`
        `flows[0].count`: expected 1 with `arrivals`
            + arrivals = { rate = "5/s" }; bytes = "1KB"; count = 5 | 13:9-9 | found the number 5
        `flows[0]`: expected either `bytes` or `sizes`
            + arrivals = { rate = "5/s" }; bytes = "1KB"; sizes = { distribution = "constant", mean = "1KB" } | 13:9-51 | found `sizes` as well
        `flows[0].sizes`: expected a table such as { distribution = "pareto", mean = "30KB" }
            + arrivals = { rate = "5/s" }; sizes = "1KB" | 12:9-13 | found "1KB"
        `flows[0].sizes.distribution`: expected "constant" or "exponential" or "pareto" or "lognormal" or "cdf" or "web_search"
            + arrivals = { rate = "5/s" }; sizes = { distribution = "web", mean = "1KB" } | 12:26-30 | found "web"
        `flows[0].sizes.mean`: expected the mean, such as "30KB"
            + arrivals = { rate = "5/s" }; sizes = { distribution = "pareto" } | 12:9-35 | found nothing: the key is missing
        `flows[0].sizes.mean`: expected a number of bytes above zero such as "131072B"
            + arrivals = { rate = "5/s" }; sizes = { distribution = "pareto", mean = "0B" } | 12:43-46 | found "0B", which is zero
        `flows[0].sizes.shape`: expected a number from 1.001 to 100, of at most three decimals
            + arrivals = { rate = "5/s" }; sizes = { distribution = "pareto", mean = "9KB", shape = 1.2345 } | 12:58-63 | found the number 1.2345
        `flows[0].sizes.max`: expected at least the mean
            + arrivals = { rate = "5/s" }; sizes = { distribution = "pareto", mean = "9KB", max = "8KB" } | 12:56-60 | found "8KB"
        `flows[0].sizes.points`: expected points such as [["1KB", 0], ["10KB", "50%"], ["1MB", 1]], or the path of a file
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf" }             | 12:9-32 | found nothing: the key is missing
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = 5 } | 12:42-42 | found the number 5
        `flows[0].sizes.points`: expected pairs of a size and a share, such as ["10KB", "50%"]
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = [["1KB"]] } | 12:43-49 | found a list
        `flows[0].sizes.points`: expected a number from 0 to 1, or a percentage such as "1%"
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = [["1KB", 2]] } | 12:51-51 | found the number 2
        `flows[0].sizes.points`: expected a number of bytes such as "131072B"
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = [[1000, 1]] }                    | 12:44-47 | found the number 1000, which has no unit
                help: quantities are strings with their unit, so that no reader has to guess
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = [["9GB", 0], ["9000000GB", 1]] } | 12:56-66 | found "9000000GB", more than the largest, 1PiB
        `flows[0].sizes.points`: expected points that rise up to a share of 1
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = [["1KB", 0.5], ["2KB", 0.9]] } | 12:42-69 | found a distribution that does not end with all of the draws
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = [["2KB", 0.5], ["1KB", 1]] }   | 12:42-67 | found a distribution that has values that fall
        `flows[0].sizes.points`: expected the path of a file with bytes and a share a line
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = "no-such.txt" } | 12:42-54 | found "no-such.txt"; as a distribution it cannot be read: No such file or directory (os error 2)
        `flows[0].sizes.points.no`: expected a key of `flows[0].sizes.points`
        note: keys of `flows[0].sizes.points`: trace, rows
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = { rows = [["1KB", 1]], no = 1 } } | 12:65-66 | found an unknown key
        `flows[0].sizes.mean`: expected a key of `flows[0].sizes`
        note: keys of `flows[0].sizes`: distribution
            + arrivals = { rate = "5/s" }; sizes = { distribution = "web_search", mean = "9KB" } | 12:40-43 | found an unknown key
        `flows[0].requests.think.distribution`: expected "constant" or "exponential" or "pareto" or "lognormal"
            + requests = { think = { distribution = "cdf", mean = "1s" } }; bytes = "9KB" | 11:39-43 | found "cdf"
        `flows[0].sizes.sigma`: expected a number from 0.001 to 5, of at most three decimals
            + arrivals = { rate = "5/s" }; sizes = { distribution = "lognormal", mean = "9KB", sigma = "2" } | 12:61-63 | found "2"
        `flows[0].sizes.mean`: expected a number of bytes above zero such as "131072B"
            + arrivals = { rate = "5/s" }; sizes = { distribution = "lognormal", mean = "9PB", sigma = 2 } | 12:46-50 | found "9PB", whose unit is none of B, KB, KiB, MB, MiB, GB or GiB
                help: did you mean "9KB"?
        `flows[0].arrivals.load`: expected a link with a rate
            [bottleneck] + ; [[flows]]; cc = "reno"; arrivals = { load = 0.5 }; bytes = "1KB"; path = ["a"]; [[links]]; name = "a"; delay = "1ms" | 8:1-9 | found none on the way of its data
        `flows[1]`: expected at most 1048576 flows in all
            + arrivals = { rate = "5/s", at_most = 1000000 }; bytes = "1KB"; [[flows]]; cc = "reno"; count = 500000 | 13:1-9 | found 1500000 so far
        `flows[0].arrivals`: expected a table such as { rate = "50/s" } or { load = "30%" }
            + arrivals = []; bytes = "1KB" | 11:12-13 | found an empty list
        `flows[0].arrivals.rate`: expected from "0.000001/s" to "1000000/s"
            + arrivals = { rate = "1e-7/s" }; bytes = "1KB" | 11:21-28 | found "1e-7/s"
        `flows[0].bytes`: expected a number of bytes above zero such as "131072B"
            + arrivals = { rate = "5/s" }; bytes = "0B" | 12:9-12 | found "0B", which is zero
        `flows[0].start`: expected a start before the end of the run, 10s
            + arrivals = { rate = "5/s" }; bytes = "1KB"; start = "10s" | 13:9-13 | found "10s"; the flow starts at 10s
        `flows[0].stop`: expected a time above zero such as "30ms"
            + arrivals = { rate = "5/s" }; bytes = "1KB"; stop = "0s" | 13:8-11 | found "0s", which is zero
        `flows[0].arrivals.shape`: expected a number from 1.001 to 100, of at most three decimals
            + arrivals = { rate = "5/s", process = "pareto", shape = "2" }; bytes = "1KB" | 11:56-58 | found "2"
        `flows[0].arrivals.at_most`: expected a whole number from 1 to 1000000
            + arrivals = { rate = "5/s", at_most = 1000001 }; bytes = "1KB" | 11:38-44 | found the number 1000001
        `flows[0].sizes.distribution`: expected the name of a distribution such as "pareto"
            + arrivals = { rate = "5/s" }; sizes = { mean = "1KB" } | 12:9-24 | found nothing: the key is missing
        `flows[0].sizes.mean`: expected the mean, such as "30KB"
            + arrivals = { rate = "5/s" }; sizes = { distribution = "constant" } | 12:9-37 | found nothing: the key is missing
        `flows[0].sizes.sigma`: expected a number from 0.001 to 5, of at most three decimals
            + arrivals = { rate = "5/s" }; sizes = { distribution = "lognormal", mean = "1KB", sigma = 0 } | 12:61-61 | found the number 0
        `flows[0].sizes.shape`: expected a key of `flows[0].sizes`
        note: keys of `flows[0].sizes`: distribution, mean, sigma, max
            + arrivals = { rate = "5/s" }; sizes = { distribution = "lognormal", mean = "1KB", shape = 2 } | 12:53-57 | found an unknown key
        `flows[0].sizes.points`: expected points that rise up to a share of 1
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = [] }                           | 12:42-43 | found a distribution that has no points
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = [["1KB", 0.9], ["2KB", 0.1]] } | 12:42-69 | found a distribution that has shares that fall
        `flows[0].sizes.points`: expected the path of a file with bytes and a share a line
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = "/dev/null" } | 12:42-52 | found "/dev/null"; as a distribution it is not a regular file
        `flows[0].sizes.max`: expected a number of bytes above zero such as "131072B"
            + arrivals = { rate = "5/s" }; sizes = { distribution = "pareto", mean = "1KB", max = 5 } | 12:56-56 | found the number 5, which has no unit
                help: quantities are strings with their unit, so that no reader has to guess
    "#]]);
}

#[test]
fn requests_videos_and_random_bursts() {
    check(&expect![[r#"
        `flows[0].requests`: expected a table such as { think = "100ms" }
            + requests = "1s"; bytes = "1KB" | 11:12-15 | found "1s"
        `flows[0].requests.think`: expected a time above zero such as "30ms"
            + requests = { think = "0s" }; bytes = "1KB" | 11:22-25 | found "0s", which is zero
            + requests = { think = 1 }; bytes = "1KB"    | 11:22-22 | found the number 1, which has no unit
                help: quantities are strings with their unit, so that no reader has to guess
        `flows[0].requests.count`: expected a whole number from 1 to 1000000000
            + requests = { count = 0 }; bytes = "1KB" | 11:22-22 | found the number 0
        `flows[0].requests.pause`: expected a key of `flows[0].requests`
        note: keys of `flows[0].requests`: think, count
            + requests = { pause = "1s" }; bytes = "1KB" | 11:14-18 | found an unknown key
        `flows[0].sizes`: expected the sizes of flows or answers, or `bytes`
            + requests = {} | 8:1-9 | found nothing: the key is missing
        `flows[0]`: expected one source
            + requests = {}; video = { rate = "1Mbit/s" }; bytes = "1KB" | 13:1-5 | found `bytes` and `requests` and `video`
        `flows[0].video`: expected a table such as { rate = "4Mbit/s" }
            + video = "1Mbit/s" | 11:9-17 | found "1Mbit/s"
        `flows[0].video.rate`: expected the rate at which it plays, such as "4Mbit/s"
            + video = { piece = "4s" } | 11:9-24 | found nothing: the key is missing
        `flows[0].video.rate`: expected a rate above zero such as "50Mbit/s"
            + video = { rate = "0Mbit/s" } | 11:18-26 | found "0Mbit/s", which is zero
        `flows[0].video.buffer`: expected room for a piece
            + video = { rate = "1Mbit/s", piece = "40s" } | 11:37-41 | found 30s; a piece is 40s
            + video = { rate = "1Mbit/s", buffer = "1s" } | 11:38-41 | found 1s; a piece is 4s
        `flows[0]`: expected one source
            + video = { rate = "1Mbit/s" }; bytes = "1KB" | 12:1-5 | found `bytes` and `video`
        `flows[0].on.mean`: expected the mean, such as "2s"
            + on = { distribution = "exponential" }; off = "1s" | 11:6-37 | found nothing: the key is missing
        `flows[0].on.mean`: expected a time above zero such as "30ms"
            + on = { distribution = "exponential", mean = "1KB" }; off = "1s" | 11:45-49 | found "1KB", whose unit is none of ns, us, ms, s, min or h
        `flows[0].off.distribution`: expected "constant" or "exponential" or "pareto" or "lognormal"
            + on = "1s"; off = { distribution = "normal", mean = "1s" } | 12:24-31 | found "normal"
        `flows[0].on.mean`: expected at most "4503599.627370496s"
            + on = { distribution = "constant", mean = "10000000s" }; off = "1s" | 11:42-52 | found "10000000s"
        `flows[0].on`: expected the other period, such as "1s"
            + off = "1s" | 8:1-9 | found nothing: the key is missing
        `flows[0].on`: expected a time above zero such as "30ms"
            + on = "0s"; off = "1s" | 11:6-9 | found "0s", which is zero
            + on = 1; off = "1s"    | 11:6-6 | found the number 1, which has no unit
                help: quantities are strings with their unit, so that no reader has to guess
        `flows[0].on.distribution`: expected the name of a distribution such as "pareto"
            + on = { mean = "1s" }; off = "1s" | 11:6-20 | found nothing: the key is missing
        `flows[0].on.shape`: expected a number from 1.001 to 100, of at most three decimals
            + on = { distribution = "pareto", mean = "1s", shape = 1 }; off = "1s" | 11:54-54 | found the number 1
        `flows[0].on.max`: expected at least the mean
            + on = { distribution = "exponential", mean = "1s", max = "0.5s" }; off = "1s" | 11:57-62 | found "0.5s"
        `flows[0].off.mean`: expected a time above zero such as "30ms"
            + on = "1s"; off = { distribution = "exponential", mean = "0s" } | 12:46-49 | found "0s", which is zero
        `flows[0]`: expected one source
            + on = "1s"; off = "1s"; bytes = "1KB" | 13:1-5 | found `bytes` and `on` and `off`
        `flows[0].rate`: expected a rate above zero such as "50Mbit/s"
            + rate = "0Mbit/s"           | 11:8-16 | found "0Mbit/s", which is zero
            + rate = [["0s", "1Mbit/s"]] | 11:8-26 | found a list
        `flows[0].bytes`: expected a number of bytes above zero such as "131072B"
            + bytes = "1pkt" | 11:9-14 | found "1pkt", whose unit is none of B, KB, KiB, MB, MiB, GB or GiB
            + bytes = -5     | 11:9-10 | found the number -5, which has no unit
                help: quantities are strings with their unit, so that no reader has to guess
        `flows[0].write`: expected a table such as { bytes = "64KiB", every = "50ms" }
            + write = "1KB" | 11:9-13 | found "1KB"
        `flows[0].write.bytes`: expected a number of bytes above zero such as "131072B"
            + write = { bytes = "0B", every = "0ms" } | 11:19-22 | found "0B", which is zero
        `flows[0].write.every`: expected a time above zero such as "30ms"
            also | 11:33-37 | found "0ms", which is zero
        `flows[0].train.count`: expected a whole number from 1 to 1000000000
            + train = { bytes = "1KB", count = -5, gap = "-1ms" } | 11:34-35 | found the number -5
        `flows[0].train.gap`: expected a time such as "30ms"
            also | 11:44-49 | found "-1ms", which is negative
        `flows[0].train.every`: expected a key of `flows[0].train`
        note: keys of `flows[0].train`: bytes, count, gap
            + train = { bytes = "1KB", count = 5, gap = "1ms", every = "1s" } | 11:50-54 | found an unknown key
        `flows[0].requests.think.mean`: expected the mean, such as "2s"
            + requests = { think = { distribution = "exponential" } }; bytes = "1KB" | 11:22-53 | found nothing: the key is missing
        `flows[0]`: expected one source
            + requests = {}; bytes = "1KB"; rate = "1Mbit/s" | 13:1-4 | found `bytes` and `rate` and `requests`
        `flows[0].video.buffer`: expected a time above zero such as "30ms"
            + video = { rate = "1Mbit/s", buffer = "unlimited" } | 11:38-48 | found "unlimited", which does not begin with a number
        `flows[0].video.ladder`: expected a key of `flows[0].video`
        note: keys of `flows[0].video`: rate, piece, buffer
            + video = { rate = "1Mbit/s", ladder = [] } | 11:29-34 | found an unknown key
    "#]]);
}

#[test]
fn datagrams() {
    check(&expect![[r#"
        `flows[0].rate`: expected the rate of the datagrams, such as "10Mbit/s"
            "reno" -> "udp" | 8:1-9 | found nothing: the key is missing
        `flows[0].cc`: expected a congestion control
        note: algorithms: bbr1, bbr_prime, bbr_hsr, bbrplus, delay_bbr, bbr_acd, bbr2, bbr2_exp, bbr3, bbr3_ietf, cubic, reno, vegas, dctcp, bic, htcp, illinois, highspeed, scalable, veno, westwood, yeah, hybla; "udp": datagrams, without one
            "reno" -> "UDP"; rate = "1Mbit/s" | 9:6-10 | found "UDP"
                help: did you mean "udp"?
        `flows[0].rate`: expected the rate of the datagrams, such as "10Mbit/s"
            "reno" -> "udp"; bytes = "1KB" | 8:1-9 | found nothing: the key is missing
        `flows[0].bytes`: expected no such key with `cc = "udp"`
            also | 10:9-13 | found "1KB"
        `flows[0].ecn`: expected no such key with `cc = "udp"`
            "reno" -> "udp"; rate = "1Mbit/s"; ecn = true | 11:7-10 | found true
        `flows[0].cc_params`: expected no such key with `cc = "udp"`
            "reno" -> "udp"; rate = "1Mbit/s"; cc_params = { lambda = 1 } | 11:13-26 | found a table
        `flows[0].rate`: expected the rate of the datagrams, such as "10Mbit/s"
            "reno" -> "udp"; on = "1s"; off = "1s"        | 8:1-9 | found nothing: the key is missing
            "reno" -> "udp"; video = { rate = "1Mbit/s" } | 8:1-9 | found nothing: the key is missing
        `flows[0].video`: expected no such key with `cc = "udp"`
            also | 10:9-28 | found a table
        `flows[0].train`: expected no such key with `cc = "udp"`
            "reno" -> "udp"; rate = "1Mbit/s"; train = { bytes = "1KB", count = 1, gap = "1ms" } | 11:9-49 | found a table
        `flows[0].arrivals`: expected no such key with `cc = "udp"`
            "reno" -> "udp"; rate = "1Mbit/s"; arrivals = { rate = "5/s" }; bytes = "1KB" | 11:12-27 | found a table
        `flows[0].bytes`: expected no such key with `cc = "udp"`
            also | 12:9-13 | found "1KB"
        `flows[0].write`: expected no such key with `cc = "udp"`
            "reno" -> "udp"; rate = "1Mbit/s"; write = { bytes = "1KB", every = "1ms" } | 11:9-40 | found a table
        `flows[0].ecn`: expected no such key with `cc = "udp"`
            "reno" -> "udp"; rate = "1Mbit/s"; ecn = "l4s" | 11:7-11 | found "l4s"
        `flows[0].rate_samples`: expected no such key with `cc = "udp"`
            "reno" -> "udp"; rate = "1Mbit/s"; rate_samples = false | 11:16-20 | found false
        `flows[0].off`: expected the other period, such as "1s"
            "reno" -> "udp"; rate = "1Mbit/s"; on = "1s" | 8:1-9 | found nothing: the key is missing
        `flows[0].mss`: expected a number of bytes above zero such as "131072B"
            "reno" -> "udp"; rate = "1Mbit/s"; mss = "0B" | 11:7-10 | found "0B", which is zero
        `flows[0].mss`: expected at most "65483B", so that the segment fits into an IP packet
            "reno" -> "udp"; rate = "1Mbit/s"; mss = "70000B" | 11:7-14 | found "70000B"
        `flows[0].stop`: expected a time above zero such as "30ms"
            "reno" -> "udp"; rate = "1Mbit/s"; stop = "0s" | 11:8-11 | found "0s", which is zero
        `flows[0].return_path`: expected a `path` as well
            "reno" -> "udp"; rate = "1Mbit/s"; return_path = ["bottleneck"] | 11:1-11 | found a `return_path` without a `path`
        `flows[0].sack`: expected a key of `flows[0]`
        note: keys of `flows[0]`: cc, cc_params, count, name, group, start, start_step, start_jitter, stop, rtt, left_delay, right_delay, left_link, right_link, path, return_path, ecn, dscp, mss, rate_samples, bytes, rate, on, off, write, train, arrivals, requests, video, sizes
            "reno" -> "udp"; rate = "1Mbit/s"; sack = true | 11:1-4 | found an unknown key
        `flows[0].cc`: expected a congestion control
        note: algorithms: bbr1, bbr_prime, bbr_hsr, bbrplus, delay_bbr, bbr_acd, bbr2, bbr2_exp, bbr3, bbr3_ietf, cubic, reno, vegas, dctcp, bic, htcp, illinois, highspeed, scalable, veno, westwood, yeah, hybla; "udp": datagrams, without one
            "reno" -> ["udp"]; rate = "1Mbit/s" | 9:6-12 | found a list
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
        `stack.profile`: expected "linux" or "ns3" or "ns3-3.40" or "ns3-3.27" or "lanigan" or "piotrowska"
            + [stack]; profile = "ns-3" | 12:11-16 | found "ns-3"
                help: did you mean "ns3"?
        `stack.handshake`: connections without a handshake are known but not built yet
            + [stack]; handshake = false | 12:13-17 | found false
        `stack.handshake`: expected "linux" or "ns3"
            + [stack]; handshake = "bsd" | 12:13-17 | found "bsd"
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
        `stack.bbr`: expected a table of parameters such as { margin = 0.01 }
            + [stack]; bbr = true | 12:7-10 | found true
        `stack.vegas.diff`: found "cwnd", expected "base" or "rtt"
            + [stack]; vegas = { diff = "cwnd" } | 12:18-23 | found "cwnd"
        `stack.cubic.bic_scale`: expected a key of `stack.cubic`
        note: keys of `stack.cubic`: beta, fast_convergence, friendly, growth, hystart, wmax_on_rto
            + [stack]; cubic = { bic_scale = 41 } | 12:11-19 | found an unknown key
        `stack.cubic.growth`: found "ns3", expected "linux" or "ns2"
            + [stack]; cubic = { growth = "ns3" } | 12:20-24 | found "ns3"
        `stack.metrics`: `metrics` is known but not built yet
            + [stack]; metrics = "flowmon" | 12:1-7 | found a key that has no effect yet
    "#]]);
}

#[test]
fn the_bandwidth_of_cake() {
    check(&expect![[r#"
        `bottleneck.queue.bandwidth`: expected no `rate` beside it
            [bottleneck] + queue = { discipline = "cake", bandwidth = "9Mbit/s" } | 4:1-4 | found both, and the shaper's is the link's rate
        `bottleneck.queue.bandwidth`: expected a rate above zero such as "50Mbit/s"
            rate = "50Mbit/s"; -> queue = { discipline = "cake", bandwidth = "0Mbit/s" }; | 4:44-52 | found "0Mbit/s", which is zero
        `bottleneck.queue.bandwidth`: expected no `burst` beside it
            rate = "50Mbit/s"; -> burst = "9KB"; queue = { discipline = "cake", bandwidth = "9Mbit/s" }; | 4:1-5 | found a token bucket behind a shaper of the same rate
        `bottleneck.queue.bandwidth`: expected no `reverse_rate` beside it
            rate = "50Mbit/s"; -> reverse_rate = "1Mbit/s"; queue = { discipline = "cake", bandwidth = "9Mbit/s" }; | 4:1-12 | found two rates in the reverse direction, whose `reverse_queue` is `queue` if not given
        `bottleneck.reverse_queue.bandwidth`: expected no `reverse_rate` beside it
            [bottleneck] + reverse_rate = "1Mbit/s"; reverse_queue = { discipline = "cake", bandwidth = "9Mbit/s" } | 7:1-12 | found both, and the shaper's is the link's rate
    "#]]);
}

#[test]
fn peak_rates() {
    check(&expect![[r#"
        `bottleneck.peak_rate`: expected a `burst` as well
            [bottleneck] + peak_rate = "90Mbit/s" | 7:1-9 | found no bucket to empty
        `bottleneck.peak_rate`: expected more than the `rate` of the link
            [bottleneck] + burst = "64KiB"; peak_rate = "50Mbit/s" | 8:1-9 | found 50Mbit/s, and 50Mbit/s
        `bottleneck.peak_rate.rate`: expected how fast the bucket is emptied, such as "100Mbit/s"
            [bottleneck] + burst = "64KiB"; peak_rate = { mtu = "9KB" } | 8:13-27 | found nothing: the key is missing
        `bottleneck.peak_rate.mtu`: expected a number of bytes above zero such as "131072B"
            [bottleneck] + burst = "64KiB"; peak_rate = { rate = "90Mbit/s", mtu = 1500 } | 8:40-43 | found the number 1500, which has no unit
                help: quantities are strings with their unit, so that no reader has to guess
        `bottleneck.burst`: expected a `rate` or a schedule of rates
            rate = "50Mbit/s"; -> burst = "64KiB"; peak_rate = "90Mbit/s"; | 4:1-5 | found a link without a rate
        `bottleneck.peak_rate`: expected a `rate` or a schedule of rates
            also | 5:1-9 | found a link without tokens
        `bottleneck.buffer`: expected a `rate` as well
            also | 7:10-15 | found a buffer of a link without a rate, which never has a queue
    "#]]);
}

#[test]
fn queues_loss_and_reordering() {
    check(&expect![[r#"
        `bottleneck.queue.divisor`: expected a power of two
            [bottleneck] + queue = { discipline = "sfq", divisor = 500 } | 7:41-43 | found the number 500
        `bottleneck.queue.priomap`: expected a list of 16 bands
            [bottleneck] + queue = { discipline = "prio", priomap = [1, 2] } | 7:42-47 | found a list
        `bottleneck.queue.bands`: expected a whole number from 2 to 16
            [bottleneck] + queue = { discipline = "prio", bands = 17 } | 7:40-41 | found the number 17
        `bottleneck.queue.tins`: expected "besteffort" or "precedence" or "diffserv3" or "diffserv4" or "diffserv8"
            [bottleneck] + queue = { discipline = "cake", tins = "diffserv" } | 7:39-48 | found "diffserv"
                help: did you mean "diffserv3"?
        `bottleneck.queue.ack_filter`: expected true, false or "aggressive"
            [bottleneck] + queue = { discipline = "cake", ack_filter = "yes" }        | 7:45-49 | found "yes"
            [bottleneck] + queue = { discipline = "cake", ack_filter = 4 }            | 7:45-45 | found the number 4
            [bottleneck] + queue = { discipline = "cake", ack_filter = "ack-filter" } | 7:45-56 | found "ack-filter"
        `bottleneck.police`: expected a table such as { rate = "10Mbit/s", burst = "32KiB" }
            [bottleneck] + police = "10Mbit/s" | 7:10-19 | found "10Mbit/s"
        `bottleneck.police.rate`: expected a rate above zero such as "50Mbit/s"
            [bottleneck] + police = { rate = "0Mbit/s", burst = "9KB" } | 7:19-27 | found "0Mbit/s", which is zero
        `bottleneck.police.burst`: expected what may pass at once, such as "32KiB"
            [bottleneck] + police = { rate = "1Mbit/s" } | 7:10-29 | found nothing: the key is missing
        `bottleneck.police.burst`: expected a bucket in which the largest packet fits
            [bottleneck] + police = { rate = "1Mbit/s", burst = "100B" } | 7:38-43 | found "100B"; the largest packet that crosses the link has 1514 B on the wire
        `bottleneck.police.burst`: expected a bucket that fills in at most 274 s
            [bottleneck] + police = { rate = "1bit/s", burst = "1GB" } | 7:37-41 | found more than `tc` can say, which counts ticks of 64 ns in 32 bits
        `bottleneck.queue.bands`: expected a `priomap` of bands below `bands`
            [bottleneck] + queue = { discipline = "prio", bands = 2 } | 7:32-36 | found band 2, counted from 0, of 2
        `bottleneck.queue.discipline`: expected the name of a queue discipline
            --set bottleneck.queue.target=5ms | --set 1:1-23 | found nothing: the key is missing
        `bottleneck.queue`: expected "droptail" or "codel" or "fq_codel" or "pie" or "fq_pie" or "dualpi2" or "red" or "fq" or "sfq" or "cake" or "prio"
            [bottleneck] + queue = "dualpi" | 7:9-16 | found "dualpi"
                help: did you mean "dualpi2"?
        `bottleneck.queue.alpha`: expected a whole number from 0 to 32
            [bottleneck] + queue = { discipline = "pie", alpha = 33 } | 7:39-40 | found the number 33
        `bottleneck.queue.step_thresh`: expected a wait or a number of packets such as "1ms" or "5pkt"
            [bottleneck] + queue = { discipline = "dualpi2", step_thresh = "1bdp" } | 7:49-54 | found "1bdp"
        `bottleneck.queue.flows`: expected a key of `bottleneck.queue`
        note: keys of `bottleneck.queue`: discipline, limit, target, interval, ecn, ce_threshold
            [bottleneck] + queue = { discipline = "codel", flows = 4 } | 7:33-37 | found an unknown key
        `bottleneck.queue.target`: expected a time above zero such as "30ms"
            [bottleneck] + queue = { discipline = "codel", target = "5us2" } | 7:42-47 | found "5us2", whose unit is none of ns, us, ms, s, min or h
                help: did you mean "5us"?
        `bottleneck.queue.target`: expected whole microseconds, at most 4294967295
            [bottleneck] + queue = { discipline = "codel", target = "1500ns" } | 7:42-49 | found "1500ns"
        `bottleneck.queue.discipline`: expected the name of a queue discipline
            [bottleneck] + queue = { target = "5ms" } | 7:9-26 | found nothing: the key is missing
        `bottleneck.queue.flows`: expected a whole number from 1 to 65408
            [bottleneck] + queue = { discipline = "fq_codel", flows = 0 } | 7:44-44 | found the number 0
        `bottleneck.queue.quantum`: expected from "256B" to "1048576B"
            [bottleneck] + queue = { discipline = "fq_codel", quantum = "1B" } | 7:46-49 | found "1B"
        `bottleneck.queue.limit`: expected no `buffer` beside it
            [bottleneck] + queue = { discipline = "fq_codel", limit = "9pkt" } | 7:44-49 | found both, and they are the same limit
        `bottleneck.reverse_queue`: expected a `reverse_rate` as well
            [bottleneck] + reverse_queue = "codel" | 7:1-13 | found the discipline of a link without a rate, which never has a queue
        `bottleneck.queue`: expected a `rate` as well
            rate = "50Mbit/s"; -> queue = "codel"; | 4:1-5 | found the discipline of a link without a rate, which never has a queue
        `bottleneck.buffer`: expected a `rate` as well
            also | 6:10-15 | found a buffer of a link without a rate, which never has a queue
        `bottleneck.queue`: expected "droptail" or "codel" or "fq_codel" or "pie" or "fq_pie" or "dualpi2" or "red" or "fq" or "sfq" or "cake" or "prio"
            [bottleneck] + queue = "htb"       | 7:9-13 | found "htb"
            [bottleneck] + queue = "fq-codel"  | 7:9-18 | found "fq-codel"
                help: did you mean "fq_codel"?
            [bottleneck] + queue = "drop-tail" | 7:9-19 | found "drop-tail"
                help: did you mean "droptail"?
        `bottleneck.loss`: expected a number from 0 to 1, or a percentage such as "1%"
            [bottleneck] + loss = 1.5        | 7:8-10 | found the number 1.5
            [bottleneck] + loss = "1 in 100" | 7:8-17 | found "1 in 100"
            [bottleneck] + loss = nan        | 7:8-10 | found the number nan
        `bottleneck.loss.model`: expected "bernoulli" or "gilbert-elliott"
            [bottleneck] + loss = { model = "gilbert" } | 7:18-26 | found "gilbert"
        `bottleneck.loss.r`: expected a number from 0 to 1
            [bottleneck] + loss = { model = "gilbert-elliott", p = 0.1 } | 7:8-45 | found nothing: the key is missing
        `bottleneck.jitter`: expected a time above zero such as "2ms", or a table such as { up_to = "2ms", keep_order = false }
            [bottleneck] + jitter = "0ms" | 7:10-14 | found "0ms", which is zero
        `bottleneck.reorder.by`: expected how long the other packets wait, such as "1ms"
            [bottleneck] + reorder = { ratio = 0.01 } | 7:11-26 | found nothing: the key is missing
        `bottleneck.ack_thinning`: expected a whole number from 1 to 1000
            [bottleneck] + ack_thinning = 0      | 7:16-16 | found the number 0
            [bottleneck] + ack_thinning = 2.5    | 7:16-18 | found the number 2.5
            [bottleneck] + ack_thinning = "4pkt" | 7:16-21 | found "4pkt"
        `bottleneck.buffer`: expected a `rate` as well
            rate = "50Mbit/s"; -> | 5:10-15 | found a buffer of a link without a rate, which never has a queue
        `bottleneck.reverse_buffer`: expected a `reverse_rate` as well
            delay = "5ms" -> reverse_buffer = "5pkt" | 5:18-23 | found a buffer of a link without a rate, which never has a queue
        `bottleneck.buffer`: expected an `rtt` of the first flow, a `bdp_rtt`, or a unit other than `bdp`
            = duration = "1s"; [bottleneck]; rate = "1Mbit/s"; buffer = "1bdp"; [[flows]]; cc = "reno" | 4:10-15 | found "1bdp", but the first flow's base RTT is zero
        `bottleneck.queue.discipline`: expected the name of a queue discipline
            [bottleneck] + queue = {} | 7:9-10 | found nothing: the key is missing
        `bottleneck.queue`: expected "droptail" or "codel" or "fq_codel" or "pie" or "fq_pie" or "dualpi2" or "red" or "fq" or "sfq" or "cake" or "prio"
            [bottleneck] + queue = [] | 7:9-10 | found an empty list
        `bottleneck.queue.discipline`: expected "droptail" or "codel" or "fq_codel" or "pie" or "fq_pie" or "dualpi2" or "red" or "fq" or "sfq" or "cake" or "prio"
            [bottleneck] + queue = { discipline = ["codel"] } | 7:24-32 | found a list
        `bottleneck.queue.limit`: expected a buffer for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
            buffer = "1bdp" -> queue = { discipline = "codel", limit = "1Mbit/s" } | 6:41-49 | found "1Mbit/s", whose unit is none of pkt, B (KB, KiB, MB ...), ms or bdp
        `bottleneck.queue.target`: expected a key of `bottleneck.queue`
        note: keys of `bottleneck.queue`: discipline, limit
            [bottleneck] + queue = { discipline = "droptail", target = "5ms" } | 7:36-41 | found an unknown key
        `bottleneck.queue.ecn_prob`: expected a whole number from 0 to 100
            [bottleneck] + queue = { discipline = "fq_pie", ecn_prob = 101 } | 7:45-47 | found the number 101
        `bottleneck.queue.flows`: expected a whole number from 1 to 65408
            [bottleneck] + queue = { discipline = "fq_pie", flows = 65537 } | 7:42-46 | found the number 65537
        `bottleneck.queue.avpkt`: expected from "1B" to "65536B"
            [bottleneck] + queue = { discipline = "red", avpkt = "0B" } | 7:39-42 | found "0B"
        `bottleneck.queue.burst`: expected a whole number from 1 to 1048576
            [bottleneck] + queue = { discipline = "red", burst = 0 } | 7:39-39 | found the number 0
        `bottleneck.queue.probability`: expected a number from 0 to 1, or a percentage such as "1%"
            [bottleneck] + queue = { discipline = "red", max = "1GiB", probability = 2 } | 7:59-59 | found the number 2
        `bottleneck.queue.coupling_factor`: expected a whole number from 1 to 255
            [bottleneck] + queue = { discipline = "dualpi2", coupling_factor = 0, classic_protection = 101, min_qlen_step = -1 } | 7:53-53 | found the number 0
        `bottleneck.queue.classic_protection`: expected a whole number from 0 to 100
            also | 7:77-79 | found the number 101
        `bottleneck.queue.min_qlen_step`: expected a whole number from 0 to 4294967295
            also | 7:98-99 | found the number -1
        `bottleneck.queue.step_thresh`: expected a wait or a number of packets such as "1ms" or "5pkt"
            [bottleneck] + queue = { discipline = "dualpi2", step_thresh = "unlimited" } | 7:49-59 | found "unlimited"
        `bottleneck.queue.flow_limit`: expected a whole number from 1 to 4294967295
            [bottleneck] + queue = { discipline = "fq", flow_limit = 0, ce_threshold = "0ms" } | 7:43-43 | found the number 0
        `bottleneck.queue.ce_threshold`: expected a time above zero such as "30ms"
            also | 7:61-65 | found "0ms", which is zero
        `bottleneck.queue.depth`: expected a whole number from 1 to 127
            [bottleneck] + queue = { discipline = "sfq", depth = 128, flows = 0 } | 7:39-41 | found the number 128
        `bottleneck.queue.flows`: expected a whole number from 1 to 65408
            also | 7:52-52 | found the number 0
        `bottleneck.queue.rtt`: expected a time above zero such as "30ms"
            [bottleneck] + queue = { discipline = "cake", rtt = "0s", isolation = "flow" } | 7:38-41 | found "0s", which is zero
        `bottleneck.queue.isolation`: expected "flowblind" or "srchost" or "dsthost" or "hosts" or "flows" or "dual-srchost" or "dual-dsthost" or "triple-isolate"
            also | 7:56-61 | found "flow"
                help: did you mean "flows"?
        `bottleneck.queue.bands`: expected a whole number from 2 to 16
            [bottleneck] + queue = { discipline = "prio", bands = 1 } | 7:40-40 | found the number 1
        `bottleneck.queue.priomap`: expected a whole number from 0 to 15
            [bottleneck] + queue = { discipline = "prio", priomap = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "1"] } | 7:88-90 | found "1"
        `bottleneck.ecn_threshold`: expected a backlog or a wait such as "20pkt", "30000B" or "5ms"
            [bottleneck] + ecn_threshold = "0pkt" | 7:17-22 | found "0pkt", which is zero
            [bottleneck] + ecn_threshold = "1bdp" | 7:17-22 | found "1bdp"
        `bottleneck.device_queue`: expected "none" or a number of packets such as "100pkt"
            [bottleneck] + device_queue = "0pkt"      | 7:16-21 | found "0pkt", which is zero
            [bottleneck] + device_queue = 5           | 7:16-16 | found the number 5, which has no unit
                help: quantities are strings with their unit, so that no reader has to guess
            [bottleneck] + device_queue = "5ms"       | 7:16-20 | found "5ms"
            [bottleneck] + device_queue = "unlimited" | 7:16-26 | found "unlimited"
        `bottleneck.police`: expected a table such as { rate = "10Mbit/s", burst = "32KiB" }
            [bottleneck] + police = [] | 7:10-11 | found an empty list
        `bottleneck.police.burst`: expected a number of bytes above zero such as "131072B"
            [bottleneck] + police = { rate = "1Mbit/s", burst = "5ms" } | 7:38-42 | found "5ms", whose unit is none of B, KB, KiB, MB, MiB, GB or GiB
                help: did you mean "5MB"?
        `bottleneck.police.mtu`: expected a key of `bottleneck.police`
        note: keys of `bottleneck.police`: rate, burst
            [bottleneck] + police = { rate = "1Mbit/s", burst = "10KB", mtu = "1500B" } | 7:46-48 | found an unknown key
        `bottleneck.police.rate`: expected a rate above zero such as "50Mbit/s"
            [bottleneck] + police = { rate = [["0s", "1Mbit/s"]], burst = "10KB" } | 7:19-37 | found a list
            [bottleneck] + police = { rate = "11Tbit/s", burst = "10KB" }          | 7:19-28 | found "11Tbit/s", more than the largest, 10Tbit/s
        `bottleneck.loss`: expected a number from 0 to 1, or a percentage such as "1%"
            [bottleneck] + loss = -0.1   | 7:8-11 | found the number -0.1
            [bottleneck] + loss = "101%" | 7:8-13 | found "101%"
        `bottleneck.loss`: expected a number from 0 to 1, a schedule, or a table with a `model`
            [bottleneck] + loss = true | 7:8-11 | found true
        `bottleneck.loss.ratio`: expected a number from 0 to 1
            [bottleneck] + loss = { model = "bernoulli" } | 7:8-30 | found nothing: the key is missing
        `bottleneck.loss.model`: expected "bernoulli" or "gilbert-elliott"
            [bottleneck] + loss = { ratio = 0.1 } | 7:8-22 | found nothing: the key is missing
        `bottleneck.loss.p`: expected a key of `bottleneck.loss`
        note: keys of `bottleneck.loss`: model, ratio
            [bottleneck] + loss = { model = "bernoulli", ratio = 0.1, p = 0.1 } | 7:44-44 | found an unknown key
        `bottleneck.loss.p`: expected a number from 0 to 1, or a percentage such as "1%"
            [bottleneck] + loss = { model = "gilbert-elliott", p = 2, r = 0.1, ratio = 0.2 } | 7:41-41 | found the number 2
        `bottleneck.loss.ratio`: expected a key of `bottleneck.loss`
        note: keys of `bottleneck.loss`: model, p, r, loss_bad, loss_good
            also | 7:53-57 | found an unknown key
        `bottleneck.loss_at`: expected "after" or "before"
            [bottleneck] + loss_at = "both" | 7:11-16 | found "both"
        `bottleneck.jitter`: expected a time above zero such as "2ms", or a table such as { up_to = "2ms", keep_order = false }
            [bottleneck] + jitter = ["1ms", "2ms"] | 7:10-23 | found a list
        `bottleneck.jitter.keep_order`: expected true or false
            [bottleneck] + jitter = { up_to = "1ms", keep_order = 1 } | 7:40-40 | found the number 1
        `bottleneck.reorder`: expected a table such as { ratio = 0.01, by = "1ms" }
            [bottleneck] + reorder = "1ms" | 7:11-15 | found "1ms"
        `bottleneck.reorder.ratio`: expected a number from 0 to 1, or a percentage such as "1%"
            [bottleneck] + reorder = { ratio = "1 in 9", by = "0s" } | 7:21-28 | found "1 in 9"
        `bottleneck.reorder.by`: expected a time above zero such as "30ms"
            also | 7:36-39 | found "0s", which is zero
    "#]]);
}

#[test]
fn what_has_no_room_for_the_packets_that_cross_the_link() {
    check(&expect![[r#"
        `bottleneck.police.burst`: expected a bucket in which the largest packet fits
            [bottleneck] + police = { rate = "1Mbit/s", burst = "1513B" }                                                                                                        | 7:38-44 | found "1513B"; the largest packet that crosses the link has 1514 B on the wire
            = duration = "1s"; [bottleneck]; rate = "9Mbit/s"; police = { rate = "1Mbit/s", burst = "213B" }; [[flows]]; cc = "udp"; rtt = "9ms"; rate = "1Mbit/s"; mss = "172B" | 4:38-43 | found "213B"; the largest packet that crosses the link has 214 B on the wire
        `bottleneck.burst`: expected a bucket in which the largest packet fits
            [bottleneck] + burst = "1KB" | 7:9-13 | found "1000B"; the largest packet that crosses the link has 1514 B on the wire
        `bottleneck.peak_rate.mtu`: expected a bucket in which the largest packet fits
            [bottleneck] + burst = "9KB"; peak_rate = { rate = "90Mbit/s", mtu = "1500B" } | 8:40-46 | found "1500B"; the largest packet that crosses the link has 1514 B on the wire
        `bottleneck.peak_rate`: expected a bucket in which the largest packet fits
            [bottleneck] + burst = "64KB"; peak_rate = "90Mbit/s"; [stack]; mss = "8948B" | 8:13-22 | found the default of "1514B"; the largest packet that crosses the link has 9014 B on the wire
        `bottleneck.buffer`: expected a buffer in which the largest packet fits
            buffer = "1bdp" -> buffer = "0.001bdp"; buffer_unit = "B" | 6:10-19 | found "0.001bdp", which is 188 B; the largest packet that crosses the link has 1514 B on the wire
        `bottleneck.reverse_buffer`: expected a buffer in which the largest packet fits
            [bottleneck] + reverse_rate = "1Mbit/s"; reverse_buffer = "93B" | 8:18-22 | found "93B"; the largest packet that crosses the link has 94 B on the wire
        `bottleneck.reverse_queue.limit`: expected a buffer in which the largest packet fits
            [bottleneck] + reverse_rate = "1Mbit/s"; reverse_queue = { discipline = "codel", limit = "50B" } | 8:49-53 | found "50B"; the largest packet that crosses the link has 94 B on the wire
        `bottleneck.reverse_buffer`: expected a buffer in which the largest packet fits
            [bottleneck] + reverse_rate = "1Mbit/s"; reverse_buffer = "73B"; [stack]; sack = false | 8:18-22 | found "73B"; the largest packet that crosses the link has 74 B on the wire
        `access.buffer`: expected a buffer in which the largest packet fits
            [bottleneck] + [access]; rate = "1Gbit/s"; buffer = "1KB"                                                | 9:10-14 | found "1000B"; the largest packet that crosses the link has 1514 B on the wire
            [bottleneck] + [access]; rate = "1Gbit/s"; reverse_rate = "forward"; buffer = "90B"; [stack]; mss = "1B" | 10:10-14 | found "90B"; the largest packet that crosses the link has 94 B on the wire
        `bottleneck.buffer`: expected a buffer in which the largest packet fits
            buffer = "1bdp" -> buffer = "2KB"; [[flows]]; cc = "bbr1"; rtt = "30ms"; mss = "8948B" | 6:10-14 | found "2000B"; the largest packet that crosses the link has 9014 B on the wire
        `links[0].buffer`: expected a buffer in which the largest packet fits
            = duration = "1s"; [[links]]; name = "a"; rate = "9Mbit/s"; buffer = "1pkt"; buffer_unit = "B"; [[links]]; name = "b"; rate = "9Mbit/s"; buffer = "999B"; police = { rate = "9Mbit/s", burst = "99B" }; [[flows]]; cc = "reno"; mss = "99B"; rtt = "9ms"; path = ["a"]; [[flows]]; cc = "reno"; rtt = "9ms"; path = ["a", "b"] | 5:10-15 | found "1pkt", which is 165 B; the largest packet that crosses the link has 1514 B on the wire
        `links[1].buffer`: expected a buffer in which the largest packet fits
            also | 10:10-15 | found "999B"; the largest packet that crosses the link has 1514 B on the wire
        `links[1].police.burst`: expected a bucket in which the largest packet fits
            also | 11:38-42 | found "99B"; the largest packet that crosses the link has 1514 B on the wire
    "#]]);
}

#[test]
fn what_has_just_room_for_the_packets_that_cross_the_link_is_right() {
    let link = "rate = \"9Mbit/s\"\nbuffer = \"SIZE\"\npolice = { rate = \"1Mbit/s\", burst = \"SIZE\" }\n";
    for (flow, size) in [
        ("cc = \"udp\"\nrate = \"1Mbit/s\"\nmss = \"172B\"", "214B"),
        ("cc = \"reno\"\nmss = \"500B\"", "566B"),
        ("cc = \"reno\"\nbytes = \"300B\"", "366B"),
        ("cc = \"reno\"\narrivals = { rate = \"9/s\" }\nbytes = \"1B\"", "74B"),
    ] {
        // The other link and the flow on it have nothing to do with this one.
        let text = format!(
            "duration = \"1s\"\n[[links]]\nname = \"a\"\n{}[[links]]\nname = \"b\"\nrate = \"9Mbit/s\"\n\
             [[flows]]\n{flow}\nrtt = \"9ms\"\npath = [\"a\"]\n\
             [[flows]]\ncc = \"reno\"\nrtt = \"9ms\"\npath = [\"b\"]\n",
            link.replace("SIZE", size)
        );
        let flow_of = |text: &str| Scenario::parse("s", "s.toml", text, None, &[]).map(|_| ());
        assert_eq!(flow_of(&text), Ok(()), "{flow}");
        let least: u64 = size.trim_end_matches('B').parse().unwrap();
        let smaller = text.replace(size, &format!("{}B", least - 1));
        let refused = flow_of(&smaller).unwrap_err().to_string();
        assert_eq!(refused.matches("the largest packet fits").count(), 2, "{refused}");
    }
}

#[test]
fn waits_for_slots_turns_and_grants() {
    check(&expect![[r#"
        `bottleneck.slot`: expected a time above zero such as "4ms", or a table such as { min_delay = "2ms", max_delay = "8ms" }
            [bottleneck] + slot = "0ms" | 7:8-12 | found "0ms", which is zero
            [bottleneck] + slot = 4     | 7:8-8 | found the number 4, which has no unit
                help: quantities are strings with their unit, so that no reader has to guess
        `bottleneck.slot.min_delay`: expected the shortest time from one slot to the next, such as "4ms"
            [bottleneck] + slot = { max_delay = "4ms" } | 7:8-28 | found nothing: the key is missing
        `bottleneck.slot.max_delay`: expected a time above zero beside a `min_delay` of zero
            [bottleneck] + slot = { min_delay = "0ms" } | 7:8-28 | found nothing: the key is missing
        `bottleneck.slot.max_delay`: expected no less than `min_delay`
            [bottleneck] + slot = { min_delay = "4ms", max_delay = "2ms" } | 7:41-45 | found 2ms, and 4ms
        `bottleneck.slot.packets`: expected a whole number from 1 to 1000000000
            [bottleneck] + slot = { min_delay = "4ms", packets = 0 } | 7:39-39 | found the number 0
        `bottleneck.reverse_slot.bytes`: expected a number of bytes above zero such as "131072B"
            [bottleneck] + reverse_slot = { min_delay = "4ms", bytes = 100 } | 7:45-47 | found the number 100, which has no unit
                help: quantities are strings with their unit, so that no reader has to guess
        `bottleneck.reverse_slot.packet`: expected a key of `bottleneck.reverse_slot`
        note: keys of `bottleneck.reverse_slot`: min_delay, max_delay, packets, limit, bytes
            [bottleneck] + reverse_slot = { min_delay = "4ms", packet = 1 } | 7:37-42 | found an unknown key
                help: did you mean `packets`?
        `bottleneck.grant`: expected a time above zero such as "4ms", or a table such as { delay = "4ms", every = "2ms" }
            [bottleneck] + grant = 4     | 7:9-9 | found the number 4, which has no unit
                help: quantities are strings with their unit, so that no reader has to guess
            [bottleneck] + grant = "0ms" | 7:9-13 | found "0ms", which is zero
        `bottleneck.grant.delay`: expected the time from a request to its grant, such as "4ms"
            [bottleneck] + grant = { every = "2ms" } | 7:9-25 | found nothing: the key is missing
        `bottleneck.grant.every`: expected a time above zero such as "30ms"
            [bottleneck] + grant = { delay = "4ms", every = "0ms" } | 7:34-38 | found "0ms", which is zero
        `bottleneck.reverse_grant.bytes`: expected a number of bytes above zero such as "131072B"
            [bottleneck] + reverse_grant = { delay = "4ms", bytes = "0B" } | 7:42-45 | found "0B", which is zero
        `bottleneck.reverse_grant.limit`: expected a whole number from 1 to 1000000000
            [bottleneck] + reverse_grant = { delay = "4ms", limit = 0 } | 7:42-42 | found the number 0
        `bottleneck.reverse_grant.packets`: expected a key of `bottleneck.reverse_grant`
        note: keys of `bottleneck.reverse_grant`: delay, every, bytes, limit
            [bottleneck] + reverse_grant = { delay = "4ms", packets = 3 } | 7:34-40 | found an unknown key
        `bottleneck.grant`: expected no `slot` beside it
            [bottleneck] + grant = "4ms"; slot = "4ms" | 7:1-5 | found both, and packets wait either for slots or for grants
        `bottleneck.reverse_grant`: expected no `reverse_slot` beside it
            [bottleneck] + reverse_grant = "4ms"; reverse_slot = "4ms" | 7:1-13 | found both, and packets wait either for slots or for grants
        `bottleneck.airtime`: expected no `grant` or `reverse_grant`
            [bottleneck] + airtime = "186us"; reverse_rate = "forward"; grant = "4ms" | 7:1-7 | found both, and a grant is leave to send at once
        `bottleneck.airtime`: expected a time such as "186us", or a table such as { overhead = "186us", packets = 64 }
            [bottleneck] + airtime = 5      | 7:11-11 | found the number 5, which has no unit
                help: quantities are strings with their unit, so that no reader has to guess
            [bottleneck] + airtime = "-1us" | 7:11-16 | found "-1us", which is negative
        `bottleneck.airtime.overhead`: expected what a turn takes beside its packets, such as "186us"
            [bottleneck] + airtime = { packets = 4 } | 7:11-25 | found nothing: the key is missing
        `bottleneck.airtime.packets`: expected a whole number from 1 to 1000000000
            [bottleneck] + airtime = { overhead = "1us", packets = 0 } | 7:41-41 | found the number 0
        `bottleneck.airtime.time`: expected a time above zero such as "30ms"
            [bottleneck] + airtime = { overhead = "1us", time = "0s" }; reverse_rate = "forward" | 7:38-41 | found "0s", which is zero
        `bottleneck.airtime.txop`: expected a key of `bottleneck.airtime`
        note: keys of `bottleneck.airtime`: overhead, packets, time
            [bottleneck] + airtime = { overhead = "1us", txop = "4ms" }; reverse_rate = "forward" | 7:31-34 | found an unknown key
        `bottleneck.airtime`: expected a `reverse_rate` as well
            [bottleneck] + airtime = "186us" | 7:1-7 | found a direction without one, which takes no time on the medium
        `bottleneck.airtime`: expected a `rate` as well
            rate = "50Mbit/s" -> airtime = "186us"; reverse_rate = "1Mbit/s" | 4:1-7 | found a direction without one, which takes no time on the medium
        `bottleneck.buffer`: expected a `rate` as well
            also | 7:10-15 | found a buffer of a link without a rate, which never has a queue
        `bottleneck.airtime`: expected a `reverse_rate` that is no Mahimahi trace
            [bottleneck] + airtime = "186us"; reverse_rate = { opportunities_ms = [1] } | 7:1-7 | found delivery opportunities, which are one direction's own
        `bottleneck.airtime`: expected no `burst`
            [bottleneck] + airtime = "186us"; reverse_rate = "forward"; burst = "9KB" | 7:1-7 | found a token bucket, whose packets would hold the medium while they wait
        `bottleneck.airtime`: expected no `slot` or `reverse_slot`
            [bottleneck] + airtime = "186us"; reverse_rate = "forward"; reverse_slot = "4ms" | 7:1-7 | found both, and slots stand for waiting for the medium
        `bottleneck.airtime`: expected `rate_change = "follow"`
            [bottleneck] + airtime = "186us"; reverse_rate = "forward"; rate_change = "keep" | 7:1-7 | found "keep", where a packet's departure is fixed when it arrives
        `bottleneck.airtime`: expected no `bandwidth` of `cake`
            [bottleneck] + airtime = "186us"; reverse_queue = { discipline = "cake", bandwidth = "5Mbit/s" } | 7:1-7 | found a shaper, which sends when it wants to
        `bottleneck.slot`: expected a time above zero such as "4ms", or a table such as { min_delay = "2ms", max_delay = "8ms" }
            [bottleneck] + slot = ["4ms", "8ms"] | 7:8-21 | found a list
        `bottleneck.slot.min_delay`: expected a time such as "30ms"
            [bottleneck] + slot = { min_delay = "-1ms" } | 7:22-27 | found "-1ms", which is negative
        `bottleneck.slot.max_delay`: expected a time above zero such as "30ms"
            [bottleneck] + slot = { min_delay = "4ms", max_delay = "0ms" } | 7:41-45 | found "0ms", which is zero
        `bottleneck.slot.packets`: expected a whole number from 1 to 1000000000
            [bottleneck] + slot = { min_delay = "4ms", packets = 1.5 } | 7:39-41 | found the number 1.5
        `bottleneck.slot.bytes`: expected a number of bytes above zero such as "131072B"
            [bottleneck] + slot = { min_delay = "4ms", bytes = "5pkt" } | 7:37-42 | found "5pkt", whose unit is none of B, KB, KiB, MB, MiB, GB or GiB
        `bottleneck.slot.limit`: expected a whole number from 1 to 1000000000
            [bottleneck] + slot = { min_delay = "4ms", limit = "100pkt" } | 7:37-44 | found "100pkt"
        `bottleneck.slot.distribution`: expected a key of `bottleneck.slot`
        note: keys of `bottleneck.slot`: min_delay, max_delay, packets, limit, bytes
            [bottleneck] + slot = { min_delay = "4ms", distribution = "pareto" } | 7:29-40 | found an unknown key
        `bottleneck.grant`: expected a time above zero such as "4ms", or a table such as { delay = "4ms", every = "2ms" }
            [bottleneck] + grant = "4"  | 7:9-11 | found "4", which has no unit
                help: write the unit, as in "30ms"
            [bottleneck] + grant = true | 7:9-12 | found true
        `bottleneck.grant.delay`: expected a time above zero such as "30ms"
            [bottleneck] + grant = { delay = "0s" } | 7:19-22 | found "0s", which is zero
        `bottleneck.grant.limit`: expected a whole number from 1 to 1000000000
            [bottleneck] + grant = { delay = "4ms", limit = "9" } | 7:34-36 | found "9"
        `bottleneck.grant.request`: expected a key of `bottleneck.grant`
        note: keys of `bottleneck.grant`: delay, every, bytes, limit
            [bottleneck] + grant = { delay = "4ms", request = "2ms" } | 7:26-32 | found an unknown key
        `bottleneck.airtime`: expected a time such as "186us", or a table such as { overhead = "186us", packets = 64 }
            [bottleneck] + airtime = []; reverse_rate = "forward" | 7:11-12 | found an empty list
        `bottleneck.airtime.overhead`: expected what a turn takes beside its packets, such as "186us"
            [bottleneck] + airtime = { time = "4ms" }; reverse_rate = "forward" | 7:11-26 | found nothing: the key is missing
        `bottleneck.airtime`: expected a `reverse_rate` as well
            [bottleneck] + airtime = "1us"; reverse_rate = "unlimited" | 7:1-7 | found a direction without one, which takes no time on the medium
    "#]]);
}

#[test]
fn what_would_be_without_effect() {
    check(&expect![[r#"
        `bottleneck.burst`: expected a `rate` or a schedule of rates
            rate = "50Mbit/s" -> burst = "9KB" | 4:1-5 | found a link without a rate
        `bottleneck.buffer`: expected a `rate` as well
            also | 6:10-15 | found a buffer of a link without a rate, which never has a queue
        `bottleneck.burst`: expected a `rate` or a schedule of rates
            rate = "50Mbit/s" -> rate = { opportunities_ms = [1] }; burst = "9KB" | 5:1-5 | found a Mahimahi trace, whose opportunities are no tokens
        `bottleneck.queue.min`: expected less than `max`
            [bottleneck] + queue = { discipline = "red", min = "30000B", max = "30000B" } | 7:31-33 | found 30000 B, and 30000 B
            [bottleneck] + queue = { discipline = "red", min = "90KB", max = "30KB" }     | 7:31-33 | found 90000 B, and 30000 B
        `bottleneck.reverse_queue.min`: expected less than `max`
            [bottleneck] + reverse_rate = "9Mbit/s"; reverse_queue = { discipline = "red", min = "9KB", max = "8KB" } | 8:39-41 | found 9000 B, and 8000 B
        `bottleneck.queue.step_thresh`: expected a wait or a number of packets such as "1ms" or "5pkt"
            [bottleneck] + queue = { discipline = "dualpi2", step_thresh = "0ms" }  | 7:49-53 | found "0ms", which is zero
            [bottleneck] + queue = { discipline = "dualpi2", step_thresh = "0pkt" } | 7:49-54 | found "0pkt", which is zero
            [bottleneck] + queue = { discipline = "dualpi2", step_thresh = "9KB" }  | 7:49-53 | found "9KB"
        `bottleneck.buffer`: expected a buffer in which the largest packet fits
            buffer = "1bdp" -> buffer = "100B" | 6:10-15 | found "100B"; the largest packet that crosses the link has 1514 B on the wire
        `bottleneck.buffer`: expected a buffer for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
            buffer = "1bdp" -> buffer = "0B" | 6:10-13 | found "0B", which drops every packet that has to wait
        `bottleneck.queue.limit`: expected a buffer in which the largest packet fits
            buffer = "1bdp" -> queue = { discipline = "codel", limit = "1513B" } | 6:41-47 | found "1513B"; the largest packet that crosses the link has 1514 B on the wire
        `bottleneck.device_queue`: expected `queue = "droptail"` or `device_queue = "none"`
            [bottleneck] + queue = "codel"; device_queue = "100pkt"  | 8:16-23 | found a queue discipline, below which packets would wait unseen
            [bottleneck] + queue = "codel"; [stack]; profile = "ns3" | 3:1-12 | found a queue discipline above the device queue of the `profile`, where packets would wait unseen
    "#]]);
}

#[test]
fn schedules_and_traces() {
    check(&expect![[r#"
        `bottleneck.rate`: expected a schedule that begins at "0s"
            "50Mbit/s" -> [["1s", "50Mbit/s"]] | 4:10-13 | found "1s" in entry 1
        `bottleneck.rate`: expected a schedule whose times rise
            "50Mbit/s" -> [["0s", "50Mbit/s"], ["0s", "5Mbit/s"]] | 4:30-33 | found "0s" in entry 2
        `bottleneck.rate`: expected a time and a rate
            "50Mbit/s" -> [["0s"]] | 4:9-14 | found a list of length 1
        `bottleneck.rate`: expected a rate such as "50Mbit/s", a schedule or a trace file
            50Mbit/s -> no-such.trace | 4:8-22 | found "no-such.trace"; as a trace file it cannot be read: No such file or directory (os error 2)
            50Mbit/s -> /dev/null     | 4:8-18 | found "/dev/null"; as a trace file it is not a regular file
        `bottleneck.rate.opportunities_ms`: expected a list of rising milliseconds
            "50Mbit/s" -> { opportunities_ms = [3, 2] } | 4:29-34 | found a trace that goes back in time
        `bottleneck.rate`: expected a rate above zero at the start and at the end
            "50Mbit/s" -> [["0s", "0Mbit/s"], ["1s", "5Mbit/s"]] | 4:8-45 | found a schedule that begins with a rate of 0
            "50Mbit/s" -> [["0s", "5Mbit/s"], ["1s", "0Mbit/s"]] | 4:8-45 | found a schedule that ends with a rate of 0, at which nothing would ever leave
        `bottleneck.rate_change`: expected "follow"
            "50Mbit/s" -> [["0s", "5Mbit/s"], ["1s", "0Mbit/s"], ["2s", "5Mbit/s"]]; rate_change = "keep" | 5:1-11 | found "keep", with which a packet that arrives at a rate of 0 never leaves
        `bottleneck.delay`: expected a time such as "30ms"
            "5ms" -> [["0s", "5Mbit/s"]] | 5:17-25 | found "5Mbit/s", whose unit is none of ns, us, ms, s, min or h
        `bottleneck.delay`: expected a schedule that begins at "0s"
            "5ms" -> [["1s", "5ms"]] | 5:11-14 | found "1s" in entry 1
        `bottleneck.delay`: expected a schedule such as [["0s", "20ms"], ["15s", "45ms"]]
            "5ms" -> []                     | 5:9-10 | found an empty list
            "5ms" -> [["0s", "5ms"], "9ms"] | 5:25-29 | found "9ms"
        `bottleneck.keep_order`: expected a `delay` that changes
            [bottleneck] + keep_order = false | 7:1-10 | found one that does not
        `bottleneck.keep_order`: expected true or false
            "5ms" -> [["0s", "5ms"]]; keep_order = 1 | 6:14-14 | found the number 1
        `bottleneck.loss`: expected a number from 0 to 1, or a percentage such as "1%"
            [bottleneck] + loss = [["0s", 2]] | 7:16-16 | found the number 2
        `bottleneck.loss`: expected a time such as "30ms"
            [bottleneck] + loss = [[0, 0.1]] | 7:10-10 | found the number 0, which has no unit
                help: quantities are strings with their unit, so that no reader has to guess
        `bottleneck.loss`: expected a time and a ratio
            [bottleneck] + loss = [["0s"]] | 7:9-14 | found a list of length 1
        `bottleneck.trace`: expected the path of a CSV file, or a table with a `model`
            [bottleneck] + trace = "no-such.csv" | 7:9-21 | found "no-such.csv"; as a trace it cannot be read: No such file or directory (os error 2)
            [bottleneck] + trace = 5             | 7:9-9 | found the number 5
        `bottleneck.trace.rows`: expected the lines of a CSV file
            [bottleneck] + trace = { rows = ["time_s,loss", "0,2"] } | 7:18-39 | found a list; as a trace it has no loss from 0 to 1 on line 2: "2"
        `bottleneck.rate`: expected no `rate` beside `trace`
            [bottleneck] + trace = { rows = ["time_s,rate_mbps", "0,2"] } | 4:1-4 | found both, and the trace has it
        `bottleneck.trace.model`: expected "leo" or "walk" or "blockage"
            [bottleneck] + trace = { model = "geo" } | 7:19-23 | found "geo"
                help: did you mean "leo"?
        `bottleneck.trace.rate`: expected the lowest and the highest, such as ["50Mbit/s", "200Mbit/s"]
            [bottleneck] + trace = { model = "leo", rate = "5Mbit/s", delay = ["1ms", "2ms"], every = "1s" }              | 7:33-41 | found "5Mbit/s"
            [bottleneck] + trace = { model = "leo", rate = ["5Mbit/s", "1Mbit/s"], delay = ["1ms", "2ms"], every = "1s" } | 7:33-54 | found "5Mbit/s" before "1Mbit/s"
        `bottleneck.rate`: expected no `rate` beside `trace`
            [bottleneck] + trace = { model = "walk", rate = ["1Mbit/s", "5Mbit/s"], delay = ["1ms", "2ms"], every = "1s" } | 4:1-4 | found both, and the trace has it
        `bottleneck.delay`: expected no `delay` beside `trace`
            also | 5:1-5 | found both, and the trace has it
        `bottleneck.trace.outage`: expected less than `every`
            rate = "50Mbit/s"; delay = "5ms" -> trace = { model = "leo", rate = ["1Mbit/s", "5Mbit/s"], delay = ["1ms", "2ms"], every = "1s", outage = "1s" } | 4:104-107 | found 1s, every 1s
        `bottleneck.trace.outage`: expected no `outage` of a `walk`
            rate = "50Mbit/s"; delay = "5ms" -> trace = { model = "walk", rate = ["1Mbit/s", "5Mbit/s"], delay = ["1ms", "2ms"], every = "1s", outage = "1s" } | 4:105-108 | found "1s"
        `bottleneck.trace.outage`: expected the mean length of a blockage, such as "200ms"
            rate = "50Mbit/s"; delay = "5ms" -> trace = { model = "blockage", rate = ["1Mbit/s", "5Mbit/s"], delay = ["1ms", "2ms"], every = "1s" } | 4:9-99 | found nothing: the key is missing
        `bottleneck.trace.every`: expected fewer than 50000 changes in the run
            rate = "50Mbit/s"; delay = "5ms" -> trace = { model = "walk", rate = ["1Mbit/s", "5Mbit/s"], delay = ["1ms", "2ms"], every = "1us" } | 4:90-94 | found 1us in a run of 10s
        `bottleneck.delay`: expected a time such as "30ms"
            "5ms" -> [["0s", "5ms"], ["1s", "-5ms"]] | 5:32-37 | found "-5ms", which is negative
        `bottleneck.delay`: expected a time and a delay
            "5ms" -> [["0s", "5ms", "6ms"]] | 5:10-29 | found a list of length 3
        `bottleneck.delay`: expected a time such as "30ms"
            "5ms" -> [["0s", 5]] | 5:17-17 | found the number 5, which has no unit
                help: quantities are strings with their unit, so that no reader has to guess
        `bottleneck.delay`: expected a time such as "30ms", or a schedule such as [["0s", "20ms"], ["15s", "45ms"]]
            "5ms" -> { "0s" = "5ms" } | 5:9-24 | found a table
        `flows[0].rtt`: expected at least 100ms, the delays of the links there and back
            "5ms" -> [["0s", "50ms"], ["1s", "5ms"]] | 10:7-12 | found 30ms, which would need negative access delays
        `bottleneck.rate`: expected a schedule such as [["0s", "40Mbit/s"], ["40s", "80Mbit/s"]]
            "50Mbit/s" -> ["9Mbit/s", "5Mbit/s"] | 4:9-17 | found "9Mbit/s"
        `bottleneck.rate`: expected a rate such as "50Mbit/s"
            "50Mbit/s" -> [["0s", "9Mbit/s"], ["1s", "0"]] | 4:35-37 | found "0", which has no unit
                help: write the unit, as in "50Mbit/s"
        `bottleneck.rate`: expected a schedule such as [["0s", "40Mbit/s"], ["40s", "80Mbit/s"]]
            "50Mbit/s" -> [] | 4:8-9 | found an empty list
        `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
            "50Mbit/s" -> true | 4:8-11 | found true
        `bottleneck.rate.opportunities_ms`: expected a list of rising milliseconds
            "50Mbit/s" -> {}                      | 4:8-9 | found nothing: the key is missing
            "50Mbit/s" -> { opportunities = [1] } | 4:8-30 | found nothing: the key is missing
        `bottleneck.rate.opportunities`: expected a key of `bottleneck.rate`
        note: keys of `bottleneck.rate`: trace, opportunities_ms
            also | 4:10-22 | found an unknown key
                help: did you mean `opportunities_ms`?
        `bottleneck.rate.opportunities_ms`: expected a list of rising milliseconds
            "50Mbit/s" -> { opportunities_ms = [] }  | 4:29-30 | found a trace that has no delivery opportunity
            "50Mbit/s" -> { opportunities_ms = [0] } | 4:29-31 | found a trace that ends at 0 ms, so it has no period
        `bottleneck.rate.opportunities_ms`: expected a whole number from 0 to 86400000
            "50Mbit/s" -> { opportunities_ms = [1, -1] } | 4:33-34 | found the number -1
        `bottleneck.rate.opportunities_ms`: expected a list of rising milliseconds
            "50Mbit/s" -> { opportunities_ms = 5 } | 4:29-29 | found the number 5
        `bottleneck.reverse_rate`: expected a rate above zero at the start and at the end
            [bottleneck] + reverse_rate = [["0s", "1Mbit/s"], ["1s", "0Mbit/s"]] | 7:16-53 | found a schedule that ends with a rate of 0, at which nothing would ever leave
        `bottleneck.reverse_rate`: expected a rate such as "50Mbit/s", a schedule or a trace file
        note: or "unlimited" or "forward"
            [bottleneck] + reverse_rate = "backward" | 7:16-25 | found "backward"; as a trace file it cannot be read: No such file or directory (os error 2)
        `bottleneck.loss`: expected a schedule whose times rise
            [bottleneck] + loss = [["0s", 0.1], ["0s", 0.2]] | 7:23-26 | found "0s" in entry 2
        `bottleneck.loss`: expected a schedule such as [["0s", 0], ["10s", 0.01]]
            [bottleneck] + loss = ["1%"] | 7:9-12 | found "1%"
        `bottleneck.rate_change`: expected "follow" or "keep"
            [bottleneck] + rate_change = "drop" | 7:15-20 | found "drop"
        `bottleneck.trace.model`: expected "leo" or "walk" or "blockage", or in its place `trace` with the path of a CSV file
            [bottleneck] + trace = {}                                | 7:9-10 | found nothing: the key is missing
            [bottleneck] + trace = { every = "1s" }                  | 7:9-24 | found nothing: the key is missing
            --set bottleneck.trace.every=1s                          | --set 1:1-22 | found nothing: the key is missing
            + [sweep]; "bottleneck.trace.every" = ["100ms", "200ms"] | 12:1-24 | found nothing: the key is missing
        `bottleneck.trace.trace`: expected the path of a CSV file, or a table with a `model`
            [bottleneck] + trace = { trace = 5 } | 7:19-19 | found the number 5
        `bottleneck.trace.rows`: expected the lines of a CSV file
            [bottleneck] + trace = { rows = "time_s,loss" } | 7:18-30 | found "time_s,loss"
        `bottleneck.trace.rows`: expected a string
            [bottleneck] + trace = { rows = [5] } | 7:19-19 | found the number 5
        `bottleneck.trace.rows`: expected the lines of a CSV file
            [bottleneck] + trace = { rows = [] }                            | 7:18-19 | found an empty list; as a trace it is empty; its first line should name its columns, `time_s` and some of `rate_mbps`, `delay_ms`, `loss`
            [bottleneck] + trace = { rows = ["time_s"] }                    | 7:18-27 | found a list; as a trace it has the columns "time_s" in place of `time_s` and some of `rate_mbps`, `delay_ms`, `loss`
            [bottleneck] + trace = { rows = ["time_s,loss", "1,0"] }        | 7:18-39 | found a list; as a trace it does not begin at 0, but on line 2 at 1
            [bottleneck] + trace = { rows = ["time_s,loss", "0,0", "1"] }   | 7:18-44 | found a list; as a trace it has 2 columns, but 1 on line 3
            [bottleneck] + trace = { rows = ["time_s,loss", "0,0", "0,1"] } | 7:18-46 | found a list; as a trace it has a time on line 3 that does not rise
            [bottleneck] + trace = { rows = ["time_s,loss"], every = "1s" } | 7:18-32 | found a list; as a trace it has no line below its columns
        `bottleneck.trace.every`: expected a key of `bottleneck.trace`
        note: keys of `bottleneck.trace`: trace, rows
            also | 7:35-39 | found an unknown key
        `bottleneck.trace.rows`: expected the lines of a CSV file
            rate = "50Mbit/s"; delay = "5ms" -> trace = { rows = ["time_s,rate_mbps", "0,5", "1,0"] }        | 4:18-51 | found a list; as a trace it ends with a rate of 0, at which nothing would ever leave
            rate = "50Mbit/s"; delay = "5ms" -> trace = { rows = ["time_s,rate_mbps,delay_ms", "0,5,1e20"] } | 4:18-58 | found a list; as a trace it has no delay in ms on line 2: "1e20", more than the largest, 1000000000s
        `bottleneck.trace.rate`: expected the lowest and the highest, such as ["50Mbit/s", "200Mbit/s"]
            rate = "50Mbit/s"; delay = "5ms" -> trace = { model = "leo" } | 4:9-25 | found nothing: the key is missing
        `bottleneck.trace.delay`: expected the shortest and the longest, such as ["10ms", "30ms"]
            also | 4:9-25 | found nothing: the key is missing
        `bottleneck.trace.every`: expected the time between two changes, such as "15s"
            also | 4:9-25 | found nothing: the key is missing
        `bottleneck.trace.rate`: expected the lowest and the highest, such as ["50Mbit/s", "200Mbit/s"]
            rate = "50Mbit/s"; delay = "5ms" -> trace = { model = "leo", rate = ["1Mbit/s"], delay = ["2ms", "1ms"], every = "0s" } | 4:33-43 | found a list
        `bottleneck.trace.delay`: expected the shortest and the longest, such as ["10ms", "30ms"]
            also | 4:54-67 | found "2ms" before "1ms"
        `bottleneck.trace.every`: expected a time above zero such as "30ms"
            also | 4:78-81 | found "0s", which is zero
        `bottleneck.trace.seed`: expected a key of `bottleneck.trace`
        note: keys of `bottleneck.trace`: model, rate, delay, every, outage
            rate = "50Mbit/s"; delay = "5ms" -> trace = { model = "leo", rate = ["1Mbit/s", "5Mbit/s"], delay = ["1ms", "2ms"], every = "1s", seed = 4 } | 4:95-98 | found an unknown key
        `bottleneck.trace.outage`: expected a time above zero such as "30ms"
            rate = "50Mbit/s"; delay = "5ms" -> trace = { model = "blockage", rate = ["1Mbit/s", "5Mbit/s"], delay = ["1ms", "2ms"], every = "1s", outage = "0s" } | 4:109-112 | found "0s", which is zero
        `bottleneck.trace.model`: expected a run shorter than 500s with a `blockage`
            = duration = "10min"; [bottleneck]; trace = { model = "blockage", rate = ["1Mbit/s", "5Mbit/s"], delay = ["1ms", "2ms"], every = "9s", outage = "1s" }; [[flows]]; cc = "reno" | 3:19-28 | found a run of 600s: the state may change every 10ms
        `bottleneck.rate_change`: expected "follow"
            rate = "50Mbit/s"; delay = "5ms" -> trace = { model = "leo", rate = ["1Mbit/s", "5Mbit/s"], delay = ["1ms", "2ms"], every = "1s", outage = "9ms" }; rate_change = "keep" | 5:1-11 | found "keep", with which a packet that arrives at a rate of 0 never leaves
    "#]]);
}

#[test]
fn links_and_paths() {
    check(&expect![[r#"
        `flows[0].path`: expected the name of a link
        note: links: bottleneck
            + path = ["a"] | 11:9-11 | found "a"
        `flows[0].left_link`: expected the name of a link
        note: links: bottleneck, core
            [[flows]] -> [[links]]; name = "core"; rate = "1Mbit/s"; [[flows]]; left_link = "cor" | 12:13-17 | found "cor"
                help: did you mean "core"?
        `links[0].name`: expected the name by which flows refer to this link
            + [[links]]; rate = "1Mbit/s" | 11:1-9 | found nothing: the key is missing
        `links[1].name`: expected a name of its own
            + [[links]]; name = "core"; rate = "1Mbit/s"; [[links]]; name = "core"; rate = "1Mbit/s" | 15:8-13 | found "core", which another link has
        `links[0].name`: expected a name of its own
            + [[links]]; name = "bottleneck" | 12:8-19 | found "bottleneck", which another link has
        `flows[0].left_link`: expected each link at most once on a path
            + left_link = "bottleneck" | 11:13-24 | found "bottleneck" again
        `flows[0].right_link`: expected each link at most once on a path
            + left_link = "lan"; right_link = "lan"; [[links]]; name = "lan" | 12:14-18 | found "lan" again
        `flows[0].path`: expected each link once
            + path = ["bottleneck", "bottleneck"] | 11:23-34 | found "bottleneck" twice
        `flows[0]`: expected a [bottleneck], or a `path` of [[links]]
            = duration = "1s"; [[flows]]; cc = "reno" | 2:1-9 | found neither: this flow has no path to its receiver
        `flows[0]`: expected a rate or a delay on its path
            = duration = "1s"; [bottleneck]; [[flows]]; cc = "reno" | 3:1-9 | found neither: it would send an endless amount in no time
    "#]]);
}

#[test]
fn sweeps() {
    check(&expect![[r#"
        `bottleneck.bufer`: expected a key of `bottleneck`
        note: keys of `bottleneck`: rate, delay, keep_order, buffer, buffer_unit, bdp_rtt, device_queue, queue, reverse_queue, loss, trace, loss_at, rate_change, reverse_rate, reverse_buffer, framing, burst, peak_rate, police, ecn_threshold, jitter, reorder, ack_thinning, slot, reverse_slot, airtime, grant, reverse_grant
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
        `flows[0].rtt`: expected at least 10ms, the delays of the links there and back
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
            + start_jitter = "5s"; [sweep]; points = [{ duration = "6s" }, { duration = "5s" }] | 11:16-19 | found "5s"; with it the last start can reach 5s
        `sweep."flows.rtt"`: expected each value once
            + [sweep]; "flows.rtt" = ["30ms", "30ms"] | 12:24-29 | found "30ms" a second time
        `sweep.points`: expected a list of tables such as [{ "flows.cc" = "bbr1" }]
            + [sweep]; points = [{ "flows.rtt" = "30ms" }, 5] | 12:37-37 | found the number 5 in it
        `sweep`: expected `flows.rtt` once
            + [sweep]; "flows.rtt" = ["30ms"]; points = [{ "flows.rtt" = "30ms" }] | 13:13-23 | found it in a list and in `points`, or twice
        `sweep`: expected keys of which none contains another
            + [sweep]; "bottleneck.police" = [{ rate = "9Mbit/s", burst = "64KB" }, { rate = "9Mbit/s", burst = "99KB" }]; "bottleneck.police.rate" = ["1Mbit/s", "5Mbit/s"]                    | 13:1-24 | found `bottleneck.police` and `bottleneck.police.rate`
            + [sweep]; "bottleneck.police.rate" = ["1Mbit/s", "5Mbit/s"]; "bottleneck.police" = [{ rate = "9Mbit/s", burst = "64KB" }]                                                          | 13:1-19 | found `bottleneck.police.rate` and `bottleneck.police`
            + [sweep]; "flows[0].cc" = ["reno", "cubic"]; "flows.cc" = ["vegas", "bbr1"]                                                                                                        | 13:1-10 | found `flows[0].cc` and `flows.cc`
            + [sweep]; "flows.cc" = ["vegas", "bbr1"]; "flows[0].cc" = ["reno", "cubic"]                                                                                                        | 13:1-13 | found `flows.cc` and `flows[0].cc`
            + [sweep]; "flows.cc_params" = [{ lambda = 0.5 }]; points = [{ "flows.cc" = "bbr_hsr", "flows[0].cc_params.lambda" = 0.25 }]                                                        | 13:37-63 | found `flows.cc_params` and `flows[0].cc_params.lambda`
            + [sweep]; points = [{ "bottleneck.police.rate" = "1Mbit/s", "bottleneck.police" = { rate = "9Mbit/s", burst = "64KB" } }]                                                          | 12:51-69 | found `bottleneck.police.rate` and `bottleneck.police`
            + [sweep]; "bottleneck.queue.target" = ["5ms", "9ms"]; "bottleneck.queue" = ["codel", "fq_codel"]                                                                                   | 13:1-18 | found `bottleneck.queue.target` and `bottleneck.queue`
            = duration = "1s"; [[links]]; name = "a"; rate = "1Mbit/s"; [[flows]]; cc = "reno"; rtt = "9ms"; path = ["a"]; [sweep]; "links.a.rate" = ["2Mbit/s"]; "links[0].rate" = ["3Mbit/s"] | 11:1-15 | found `links.a.rate` and `links[0].rate`
        `sweep`: expected points of which no two are the same run
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

/// What becomes of settings from the command line beside a sweep: the points that are left, or the mistakes.
fn beside(sweep: &str, sets: &[&str]) -> String {
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
        // A part of what is swept, and the other way round.
        (police, &["bottleneck.police.rate=3Mbit/s"][..]),
        (rate, &[r#"bottleneck.police={ rate = "3Mbit/s", burst = "64KB" }"#]),
        (coupled, &["bottleneck.police.burst=64KB", "bottleneck.police.rate=3Mbit/s"]),
        (coupled, &[r#"bottleneck.police={ rate = "3Mbit/s", burst = "64KB" }"#]),
        (r#"points = [{ "flows.cc" = "cubic" }, { "flows.rtt" = "40ms" }]"#, &["flows.cc=bbr1"]),
        (queue, &["bottleneck.queue.target=5ms"]),
        (r#""bottleneck.queue.discipline" = ["codel", "pie"]"#, &["bottleneck.queue=fq_codel"]),
        // All flows and one of them.
        (first_cc, &["flows.cc=vegas"]),
        (r#""flows.cc" = ["reno", "cubic"]"#, &["flows[0].cc=vegas"]),
        // A value and a sweep of one key.
        (police, &["flows.cc=vegas", r#"sweep.flows.cc=["reno", "cubic"]"#]),
        (police, &[r#"sweep.flows[0].cc=["reno", "cubic"]"#, "flows.cc=vegas"]),
        // What is set is no longer swept, or has nothing that is.
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
            beside(sweep, sets)
        ));
    }
    expect![[r#"
        bottleneck.police.rate=3Mbit/s beside "bottleneck.police"
        --set:1 `--set`: expected a key that no point of the sweep sets anew
          found `bottleneck.police.rate` beside the sweep of `bottleneck.police`
          help: `--set 'sweep.bottleneck.police=[...]'` replaces the list of values
        --set:1 `bottleneck.police.burst`: expected what may pass at once, such as "32KiB"
          found nothing: the key is missing
        bottleneck.police={ rate = "3Mbit/s", burst = "64KB" } beside "bottleneck.police.rate"
        --set:1 `--set`: expected a key that no point of the sweep sets anew
          found `bottleneck.police` beside the sweep of `bottleneck.police.rate`
          help: `--set 'sweep.bottleneck.police.rate=[...]'` replaces the list of values
        bottleneck.police.burst=64KB and bottleneck.police.rate=3Mbit/s beside points
        --set:1 `--set`: expected a key that no point of the sweep sets anew
          found `bottleneck.police.rate` beside `sweep.points`, which set `bottleneck.police.rate`
        bottleneck.police={ rate = "3Mbit/s", burst = "64KB" } beside points
        --set:1 `--set`: expected a key that no point of the sweep sets anew
          found `bottleneck.police` beside `sweep.points`, which set `bottleneck.police.rate`
        flows.cc=bbr1 beside points
        --set:1 `--set`: expected a key that no point of the sweep sets anew
          found `flows.cc` beside `sweep.points`, which set `flows.cc`
        bottleneck.queue.target=5ms beside "bottleneck.queue"
        --set:1 `--set`: expected a key that no point of the sweep sets anew
          found `bottleneck.queue.target` beside the sweep of `bottleneck.queue`
          help: `--set 'sweep.bottleneck.queue=[...]'` replaces the list of values
        --set:1 `bottleneck.queue.discipline`: expected the name of a queue discipline
          found nothing: the key is missing
        bottleneck.queue=fq_codel beside "bottleneck.queue.discipline"
        --set:1 `--set`: expected a key that no point of the sweep sets anew
          found `bottleneck.queue` beside the sweep of `bottleneck.queue.discipline`
          help: `--set 'sweep.bottleneck.queue.discipline=[...]'` replaces the list of values
        flows.cc=vegas beside "flows[0].cc"
        --set:1 `--set`: expected a key that no point of the sweep sets anew
          found `flows.cc` beside the sweep of `flows[0].cc`
          help: `--set 'sweep.flows[0].cc=[...]'` replaces the list of values
        flows[0].cc=vegas beside "flows.cc"
        --set:1 `--set`: expected a key that no point of the sweep sets anew
          found `flows[0].cc` beside the sweep of `flows.cc`
          help: `--set 'sweep.flows.cc=[...]'` replaces the list of values
        flows.cc=vegas and sweep.flows.cc=["reno", "cubic"] beside "bottleneck.police"
        --set:1 `--set`: expected a key that no point of the sweep sets anew
          found `flows.cc` beside `sweep.flows.cc`
        sweep.flows[0].cc=["reno", "cubic"] and flows.cc=vegas beside "bottleneck.police"
        --set:1 `--set`: expected a key that no point of the sweep sets anew
          found `flows.cc` beside `sweep.flows[0].cc`
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
    // A link by its name and by its number.
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
        note: keys of `bottleneck`: rate, delay, keep_order, buffer, buffer_unit, bdp_rtt, device_queue, queue, reverse_queue, loss, trace, loss_at, rate_change, reverse_rate, reverse_buffer, framing, burst, peak_rate, police, ecn_threshold, jitter, reorder, ack_thinning, slot, reverse_slot, airtime, grant, reverse_grant
            --set bottleneck.bufer=2bdp | --set 1:1-16 | found an unknown key
                help: did you mean `buffer`?
        `--set`: expected key=value such as bottleneck.buffer=2bdp
            --set bottleneck.buffer | --set 1:1-17 | found no `=`
        `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
            --set bottleneck.rate=50 | --set 1:17-18 | found the number 50, which has no unit
                help: quantities are strings with their unit, so that no reader has to guess
        `--set`: expected a key of the scenario
            --set flows[3].cc=reno     | --set 1:1-11 | found `flows[3]`, but there are 1 [[flows]], counted from 0
            --set flows[x].cc=reno     | --set 1:1-11 | found `flows[x]`, which has no index as in `flows[1]`
            --set duration.x=1s        | --set 1:1-10 | found a key of `duration`, which is a string
            --set =1                   | --set 1:1-1 | found ``, which has an empty part
            --set links.a.rate=1Mbit/s | --set 1:1-12 | found `links`, but there is no [[links]]
        `flows[0].start`: expected a start before the end of the run, 10s
            --set flows.start=10s | --set 1:13-15 | found "10s"; the flow starts at 10s
        `flows[0].rtt`: expected at least 10ms, the delays of the links there and back
            --set flows.rtt=2ms | --set 1:11-13 | found 2ms, which would need negative access delays
        `flows[0].cc`: expected a congestion control
        note: algorithms: bbr1, bbr_prime, bbr_hsr, bbrplus, delay_bbr, bbr_acd, bbr2, bbr2_exp, bbr3, bbr3_ietf, cubic, reno, vegas, dctcp, bic, htcp, illinois, highspeed, scalable, veno, westwood, yeah, hybla; "udp": datagrams, without one
            --set sweep.flows.cc=["cubci"] | --set 1:17-23 | found "cubci"
                help: did you mean "cubic"?
    "#]]);
}

/// The whole message, as the user sees it.
fn check_in_full(answer: &ScenarioErrors, expected: &Expect) {
    expected.assert_eq(&format!("{answer}\n"));
}

#[test]
fn each_kind_of_message_in_full() {
    // A key that is missing, with nothing to mark.
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
    // A suggestion and the names to choose from.
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
              = note: algorithms: bbr1, bbr_prime, bbr_hsr, bbrplus, delay_bbr, bbr_acd, bbr2, bbr2_exp, bbr3, bbr3_ietf, cubic, reno, vegas, dctcp, bic, htcp, illinois, highspeed, scalable, veno, westwood, yeah, hybla; "udp": datagrams, without one
        "#]],
    );
    // The point of a sweep.
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
    // A control character is shown as a picture of it.
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
    // The file as a whole.
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
              = note: algorithms: bbr1, bbr_prime, bbr_hsr, bbrplus, delay_bbr, bbr_acd, bbr2, bbr2_exp, bbr3, bbr3_ietf, cubic, reno, vegas, dctcp, bic, htcp, illinois, highspeed, scalable, veno, westwood, yeah, hybla; "udp": datagrams, without one
        "#]],
    );
}

#[test]
fn files_that_hold_no_scenario() {
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
         = note: found a byte that is not UTF-8 text on line 2 (0xff)

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
