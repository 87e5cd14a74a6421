//! Tests of the messages about mistakes in `[[flows]]`.

use expect_test::expect;

use super::check;

#[test]
fn algorithms_and_their_parameters() {
    check(&expect![[r#"
        `flows[0].cc`: expected a congestion control
        note: algorithms: <algorithms>; "udp" sends datagrams without a congestion control
        note: custom congestion controls are defined in `controls`: see docs/python.md
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
                help: several values are swept: as a list in [sweep], or `--set 'sweep.KEY=[...]'`
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
                help: several values are swept: as a list in [sweep], or `--set 'sweep.KEY=[...]'`
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
        `flows[0].rtt`: expected at least 10ms, the delays of the links in both directions
            30ms -> 9.9ms | 10:7-13 | found 9.9ms, which would need negative access delays
        `flows[0].stop`: expected a time after the start
            + start = "5s"; stop = "5s"                 | 12:8-11 | found "5s"; the latest start is 5s
            + count = 3; start_step = "2s"; stop = "4s" | 13:8-11 | found "4s"; the latest start is 4s
        `flows[0].start`: expected a start before the end of the run, 10s
            + start = "10s" | 11:9-13 | found "10s"; the flow starts at 10s
        `flows[0].start_step`: expected a start before the end of the run, 10s
            + start = "9s"; start_step = "500ms"; count = 3 | 12:14-20 | found "500ms"; the last flow starts at 10s
        `flows[0].start_jitter`: expected a start before the end of the run, 10s
            + start = "9s"; start_jitter = "1s"                                     | 12:16-19 | found "1s"; the last flow may start at 10s
            + start = "9s"; start_step = "400ms"; count = 3; start_jitter = "300ms" | 14:16-22 | found "300ms"; the last flow may start at 10.1s
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
        `flows[0].ecn`: expected a `cc` that responds to the share of marks
            + ecn = "l4s"                 | 11:7-11 | found "l4s" with `cc = "reno"`
                help: `prague`, `dctcp`, `bbr3`, or `bbr2` with `cc_params = { ecn_enable = true }`; for other algorithms: `ecn = true`
            "reno" -> "bbr2"; ecn = "l4s" | 10:7-11 | found "l4s" with `cc = "bbr2"`
                help: `prague`, `dctcp`, `bbr3`, or `bbr2` with `cc_params = { ecn_enable = true }`; for other algorithms: `ecn = true`
        `flows[0].dscp`: expected a DSCP such as "EF" or 46
            + dscp = "EFF" | 11:8-12 | found "EFF"
                help: did you mean "EF"?
        `flows[0].dscp`: expected a whole number from 0 to 63
            + dscp = 64   | 11:8-9 | found the number 64
            + dscp = true | 11:8-11 | found true
    "#]]);
}

#[test]
fn arrivals() {
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
                help: write the quantity as a string with its unit
            + arrivals = { rate = "-1/s" }; bytes = "1KB" | 11:21-26 | found "-1/s", which is negative
        `flows[0].arrivals.load`: expected a number from 0 to 1, or a percentage such as "1%"
            + arrivals = { load = "130%" }; bytes = "1KB" | 11:21-26 | found "130%"
        `flows[0].arrivals.load`: expected a share above one millionth such as "30%"
            + arrivals = { load = 0 }; bytes = "1KB" | 11:21-21 | found the number 0
        `flows[0].arrivals.rate`: expected the arrival rate, such as "50/s", or `load`
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
        `flows[0].sizes`: expected the sizes of flows or responses, or `bytes`
            + arrivals = { rate = "5/s" } | 8:1-9 | found nothing: the key is missing
        `flows[0]`: expected `arrivals`, `requests` or `page`
            + sizes = { distribution = "constant", mean = "1KB" } | 11:9-51 | found `sizes` without them
        `flows[0]`: expected one source
            + arrivals = { rate = "5/s" }; rate = "1Mbit/s"; bytes = "1KB" | 13:1-5 | found `bytes` and `rate` and `arrivals`
        `flows[0].count`: expected 1 with `arrivals`
            + arrivals = { rate = "5/s" }; bytes = "1KB"; count = 5 | 13:9-9 | found the number 5
        `flows[0].requests.think.distribution`: expected "constant" or "exponential" or "pareto" or "lognormal"
            + requests = { think = { distribution = "cdf", mean = "1s" } }; bytes = "9KB" | 11:39-43 | found "cdf"
        `flows[0].arrivals.load`: expected a link with a rate
            [bottleneck] + ; [[flows]]; cc = "reno"; arrivals = { load = 0.5 }; bytes = "1KB"; path = ["a"]; [[links]]; name = "a"; delay = "1ms" | 8:1-9 | found none on the path of its data
        `flows[1]`: expected at most 1048576 flows in all
            + arrivals = { rate = "5/s", at_most = 1000000 }; bytes = "1KB"; [[flows]]; cc = "reno"; count = 500000 | 13:1-9 | found 1500000 so far
        `flows[0].arrivals`: expected a table such as { rate = "50/s" } or { load = "30%" }
            + arrivals = []; bytes = "1KB" | 11:12-13 | found an empty list
                help: several values are swept: as a list in [sweep], or `--set 'sweep.KEY=[...]'`
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
    "#]]);
}

#[test]
fn sizes_of_flows() {
    check(&expect![[r#"
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
                help: several values are swept: as a list in [sweep], or `--set 'sweep.KEY=[...]'`
        `flows[0].sizes.points`: expected a number from 0 to 1, or a percentage such as "1%"
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = [["1KB", 2]] } | 12:51-51 | found the number 2
        `flows[0].sizes.points`: expected a number of bytes such as "131072B"
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = [[1000, 1]] }                    | 12:44-47 | found the number 1000, which has no unit
                help: write the quantity as a string with its unit
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = [["9GB", 0], ["9000000GB", 1]] } | 12:56-66 | found "9000000GB", more than the largest, 1PiB
        `flows[0].sizes.points`: expected points that rise up to a share of 1
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = [["1KB", 0.5], ["2KB", 0.9]] } | 12:42-69 | found a distribution that does not end with a share of 1
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = [["2KB", 0.5], ["1KB", 1]] }   | 12:42-67 | found a distribution that has descending values
        `flows[0].sizes.points`: expected the path of a file whose lines have a number of bytes and a share
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = "no-such.txt" } | 12:42-54 | found "no-such.txt"; as a distribution it cannot be read: No such file or directory
        `flows[0].sizes.points.no`: expected a key of `flows[0].sizes.points`
        note: keys of `flows[0].sizes.points`: trace, rows
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = { rows = [["1KB", 1]], no = 1 } } | 12:65-66 | found an unknown key
        `flows[0].sizes.mean`: expected a key of `flows[0].sizes`
        note: keys of `flows[0].sizes`: distribution
            + arrivals = { rate = "5/s" }; sizes = { distribution = "web_search", mean = "9KB" } | 12:40-43 | found an unknown key
        `flows[0].sizes.sigma`: expected a number from 0.001 to 5, of at most three decimals
            + arrivals = { rate = "5/s" }; sizes = { distribution = "lognormal", mean = "9KB", sigma = "2" } | 12:61-63 | found "2"
        `flows[0].sizes.mean`: expected a number of bytes above zero such as "131072B"
            + arrivals = { rate = "5/s" }; sizes = { distribution = "lognormal", mean = "9PB", sigma = 2 } | 12:46-50 | found "9PB", whose unit is none of B, KB, KiB, MB, MiB, GB or GiB
                help: did you mean "9KB"?
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
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = [["1KB", 0.9], ["2KB", 0.1]] } | 12:42-69 | found a distribution that has descending shares
        `flows[0].sizes.points`: expected the path of a file whose lines have a number of bytes and a share
            + arrivals = { rate = "5/s" }; sizes = { distribution = "cdf", points = "/dev/null" } | 12:42-52 | found "/dev/null"; as a distribution it is not a regular file
        `flows[0].sizes.max`: expected a number of bytes above zero such as "131072B"
            + arrivals = { rate = "5/s" }; sizes = { distribution = "pareto", mean = "1KB", max = 5 } | 12:56-56 | found the number 5, which has no unit
                help: write the quantity as a string with its unit
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
                help: write the quantity as a string with its unit
        `flows[0].requests.count`: expected a whole number from 1 to 1000000000
            + requests = { count = 0 }; bytes = "1KB" | 11:22-22 | found the number 0
        `flows[0].requests.pause`: expected a key of `flows[0].requests`
        note: keys of `flows[0].requests`: think, count
            + requests = { pause = "1s" }; bytes = "1KB" | 11:14-18 | found an unknown key
        `flows[0].sizes`: expected the sizes of flows or responses, or `bytes`
            + requests = {} | 8:1-9 | found nothing: the key is missing
        `flows[0]`: expected one source
            + requests = {}; video = { rate = "1Mbit/s" }; bytes = "1KB" | 13:1-5 | found `bytes` and `requests` and `video`
        `flows[0].video`: expected a table such as { rate = "4Mbit/s" }
            + video = "1Mbit/s" | 11:9-17 | found "1Mbit/s"
        `flows[0].video.rate`: expected the rate at which the video plays, such as "4Mbit/s"
            + video = { piece = "4s" } | 11:9-24 | found nothing: the key is missing
        `flows[0].video.rate`: expected a rate above zero such as "50Mbit/s"
            + video = { rate = "0Mbit/s" } | 11:18-26 | found "0Mbit/s", which is zero
        `flows[0].video.buffer`: expected room for at least one `piece`
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
                help: write the quantity as a string with its unit
        `flows[0].on.distribution`: expected the name of a distribution such as "pareto"
            + on = { mean = "1s" }; off = "1s" | 11:6-20 | found nothing: the key is missing
        `flows[0].on.shape`: expected a number from 1.001 to 100, of at most three decimals
            + on = { distribution = "pareto", mean = "1s", shape = 1 }; off = "1s" | 11:54-54 | found the number 1
        `flows[0].on.max`: expected at least the mean
            + on = { distribution = "exponential", mean = "1s", max = "0.5s" }; off = "1s" | 11:57-62 | found "0.5s"
        `flows[0].off.mean`: expected a time above zero such as "30ms"
            + on = "1s"; off = { distribution = "exponential", mean = "0s" } | 12:46-49 | found "0s", which is zero
        `flows[0]`: expected one source
            + on = "1s"; off = "1s"; bytes = "1KB" | 13:1-5 | found `on` and `off` and `bytes`
        `flows[0].rate`: expected a rate above zero such as "2Mbit/s" or [["0s", "2Mbit/s"], ["10s", "unlimited"]]
            + rate = "0Mbit/s" | 11:8-16 | found "0Mbit/s", which is zero
        `flows[0].bytes`: expected a number of bytes above zero such as "131072B"
            + bytes = "1pkt" | 11:9-14 | found "1pkt", whose unit is none of B, KB, KiB, MB, MiB, GB or GiB
            + bytes = -5     | 11:9-10 | found the number -5, which has no unit
                help: write the quantity as a string with its unit
        `flows[0].write`: expected a table such as { bytes = "64KiB", every = "50ms" }
            + write = "1KB" | 11:9-13 | found "1KB"
        `flows[0].write.bytes`: expected a number of bytes above zero such as "131072B"
            + write = { bytes = "0B", every = "0ms" } | 11:19-22 | found "0B", which is zero
        `flows[0].write.every`: expected a time above zero such as "30ms"
            also | 11:33-37 | found "0ms", which is zero
        `flows[0].page.objects`: expected a list of 1 to 1000 numbers of objects
            + page = { objects = [] }; bytes = "1KB" | 11:20-21 | found an empty list
        `flows[0].start_step`: expected no such key with `page`
            + page = { objects = [1] }; bytes = "1KB"; count = 2; start_step = "1ms" | 14:1-10 | found both; the browser opens a connection when the page needs it
        `flows[0].sizes`: expected the sizes of flows or responses, or `bytes`
            + page = { objects = [1] } | 8:1-9 | found nothing: the key is missing
        `flows[0].frames.key_every`: expected the number of frames from one key frame to the next, such as 60
            + frames = { rate = "30/s", bytes = "8KB", key_bytes = "60KB" } | 11:10-61 | found nothing: the key is missing
        `flows[0].frames.bytes`: expected at most "100MB"
            + frames = { rate = "30/s", bytes = "1GB" } | 11:35-39 | found "1GB"
        `flows[0].frames.rate`: expected from "0.000001/s" to "1000000/s"
            + frames = { rate = "0/s", bytes = "8KB" } | 11:19-23 | found "0/s"
        `flows[0].late`: expected a source with messages: a constant `rate`, `write`, `frames`, `bytes`, `train`, `arrivals`, `requests`, `page` or `video`
            + rate = [["0s", "1Mbit/s"], ["1s", "2Mbit/s"]]; late = "10ms" | 12:1-4 | found rates with times, which write a stream without messages; `latency = true` measures the queueing delays of its packets
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
        `flows[0].rate`: expected the rate of the datagrams, such as "10Mbit/s", or `frames`
            "reno" -> "udp" | 8:1-9 | found nothing: the key is missing
        `flows[0].cc`: expected a congestion control
        note: algorithms: <algorithms>; "udp" sends datagrams without a congestion control
        note: custom congestion controls are defined in `controls`: see docs/python.md
            "reno" -> "UDP"; rate = "1Mbit/s" | 9:6-10 | found "UDP"
                help: did you mean "udp"?
        `flows[0].rate`: expected the rate of the datagrams, such as "10Mbit/s", or `frames`
            "reno" -> "udp"; bytes = "1KB" | 8:1-9 | found nothing: the key is missing
        `flows[0].bytes`: expected no such key with `cc = "udp"`
            also | 10:9-13 | found "1KB"
        `flows[0].ecn`: expected no such key with `cc = "udp"`
            "reno" -> "udp"; rate = "1Mbit/s"; ecn = true | 11:7-10 | found true
        `flows[0].cc_params`: expected no such key with `cc = "udp"`
            "reno" -> "udp"; rate = "1Mbit/s"; cc_params = { lambda = 1 } | 11:13-26 | found a table
        `flows[0].rate`: expected the rate of the datagrams, such as "10Mbit/s", or `frames`
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
        note: keys of `flows[0]`: <keys of [[flows]]>
            "reno" -> "udp"; rate = "1Mbit/s"; sack = true | 11:1-4 | found an unknown key
        `flows[0].cc`: expected a congestion control
        note: algorithms: <algorithms>; "udp" sends datagrams without a congestion control
        note: custom congestion controls are defined in `controls`: see docs/python.md
            "reno" -> ["udp"]; rate = "1Mbit/s" | 9:6-12 | found a list
    "#]]);
}

#[test]
fn rates_that_change_and_slow_readers() {
    check(&expect![[r#"
        `flows[0].rate`: expected a schedule that begins at "0s"
            + rate = [["1s", "2Mbit/s"]] | 11:10-13 | found "1s" in entry 1
        `flows[0].rate`: expected a schedule whose times rise
            + rate = [["0s", "2Mbit/s"], ["0s", "unlimited"]] | 11:29-32 | found "0s" in entry 2
        `flows[0].rate`: expected a rate above zero in some step
            + rate = [["0s", "0bit/s"]] | 11:8-25 | found only pauses
        `flows[0].rate`: expected a rate such as "50Mbit/s"
            + rate = [["0s", "fast"]] | 11:16-21 | found "fast", which does not begin with a number
        `flows[0].rate`: expected a constant rate with `on` and `off`
            + on = "1s"; off = "1s"; rate = [["0s", "2Mbit/s"]] | 13:8-26 | found a list
        `flows[0].rate`: expected a rate in each step with `cc = "udp"`
            "reno" -> "udp"; rate = [["0s", "2Mbit/s"], ["1s", "unlimited"]] | 10:8-47 | found "unlimited"
        `flows[0].device`: expected "ethernet" or "wifi"
            + device = "wlan" | 11:10-15 | found "wlan"
        `flows[0].device`: expected no such key with `cc = "udp"`
            "reno" -> "udp"; rate = "1Mbit/s"; device = "wifi" | 11:10-15 | found "wifi"
        `flows[0].rate`: expected steps that begin before the end of the run, 10s
            + rate = [["0s", "2Mbit/s"], ["10s", "unlimited"]] | 11:8-48 | found a step at 10s
        `flows[0].read`: expected steps that begin before the end of the run, 10s
            + start = "4s"; read = [["0s", "0bit/s"], ["6s", "unlimited"]] | 12:8-46 | found a step at 6s after the flow's start at 4s
        `flows[0].read`: expected no such key with `requests`
            + read = "1Mbit/s"; requests = {}; bytes = "1KB" | 11:1-4 | found `requests` as well
        `flows[0].read`: expected no such key with `cc = "udp"`
            "reno" -> "udp"; rate = "1Mbit/s"; read = "1Mbit/s" | 11:8-16 | found "1Mbit/s"
        `flows[0].read.every`: expected the interval, such as "50ms"
            + read = { bytes = "1KB" } | 11:8-24 | found nothing: the key is missing
    "#]]);
}
