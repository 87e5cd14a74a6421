//! Tests that a run's results follow their definitions: totals from the first flow's start to the
//! end of the traffic, fairness while all flows are active, values of groups of flows, losses by
//! cause.

use crate::scenario_text::results;
use bbrlab_run::{Delays, FlowSummary, LinkSummary, RunResult, RunSummary};
use expect_test::expect_file;

fn run(scenario: &str) -> RunResult {
    results(scenario).remove(0)
}

/// Returns the bytes that flow `id` had read according to the last row at or before `at_s`.
#[expect(clippy::cast_precision_loss, reason = "bytes of a short run")]
fn bytes_by(result: &RunResult, id: u32, at_s: f64) -> f64 {
    let series = &result.series;
    let mut rows = (0..series.len()).rev();
    let last = rows.find(|&row| series.flow[row] == id && series.time_s[row] < at_s + 1e-9);
    last.map_or(0.0, |row| series.received_bytes[row].0.unwrap() as f64)
}

fn assert_near(found: Option<f64>, expected: f64, what: &str) {
    let found = found.unwrap_or_else(|| panic!("{what} is null"));
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{what}: {found}, not {expected}");
}

/// The first flow lasts from 0 to 6 s, the second from 2 s to the end: both are active from 2 s to
/// 6 s.
const OVERLAP: &str = r#"
    title = "two flows that overlap"
    duration = "8s"
    [bottleneck]
    rate = "10Mbit/s"
    delay = "5ms"
    buffer = "1bdp"
    [[flows]]
    name = "early"
    cc = "cubic"
    rtt = "20ms"
    stop = "6s"
    [[flows]]
    name = "late"
    cc = "bbr1"
    rtt = "40ms"
    start = "2s"
"#;

#[test]
fn the_runs_goodput_is_over_one_window_and_shares_add_up() {
    let result = run(OVERLAP);
    let run = &result.summary;
    // Data that the stopped flow still had in its buffer arrives before the traffic ends.
    let (early, late) = (bytes_by(&result, 0, 8.0), bytes_by(&result, 1, 8.0));
    assert_near(run.goodput_mbps, (early + late) * 8.0 / 8.0 / 1e6, "goodput");
    let groups = &run.flow_groups;
    assert_eq!(groups.iter().map(|it| it.group.as_str()).collect::<Vec<_>>(), ["cubic", "bbr1"]);
    assert_near(groups[0].goodput_mbps, early * 8.0 / 8.0 / 1e6, "goodput of the first group");
    assert_near(groups[1].share, late / (early + late), "share of the second group");
    // A flow's own goodput is computed over its active time, which is 6 s for each of the two
    // flows.
    assert_near(run.flows[0].goodput_mbps, bytes_by(&result, 0, 6.0) * 8.0 / 6.0 / 1e6, "flow 0");
    assert_near(run.flows[1].goodput_mbps, late * 8.0 / 6.0 / 1e6, "flow 1");
    let names: Vec<_> = run.flows.iter().map(|flow| flow.name.as_deref()).collect();
    assert_eq!(names, [Some("early"), Some("late")]);
}

#[test]
fn jains_index_is_over_the_time_in_which_all_are_active() {
    let result = run(OVERLAP);
    let while_all = |id| bytes_by(&result, id, 6.0) - bytes_by(&result, id, 2.0);
    let (x, y): (f64, f64) = (while_all(0), while_all(1));
    let expected = (x + y) * (x + y) / (2.0 * (x * x + y * y));
    assert_near(result.summary.jain, expected, "Jain's index");
    // In a run of up to 30 s, the steady state begins 5 s after the last start, here at 7 s. The
    // first flow ends at 6 s, so the two flows are never both active in the steady state.
    assert_eq!(result.summary.jain_ss, None);
    assert_near(
        result.summary.goodput_ss_mbps,
        (bytes_by(&result, 1, 8.0) - bytes_by(&result, 1, 7.0)) * 8.0 / 1.0 / 1e6,
        "goodput in the steady state",
    );
}

#[test]
fn there_is_no_fairness_of_one_flow_and_of_flows_that_never_meet() {
    let alone = run(r#"
        title = "one flow"
        duration = "1s"
        [bottleneck]
        rate = "10Mbit/s"
        [[flows]]
        cc = "cubic"
        rtt = "20ms"
    "#);
    assert_eq!((alone.summary.jain, alone.summary.jain_ss), (None, None));
    let apart = run(r#"
        title = "one after the other"
        duration = "4s"
        [bottleneck]
        rate = "10Mbit/s"
        [[flows]]
        cc = "cubic"
        rtt = "20ms"
        bytes = "100KB"
        [[flows]]
        cc = "cubic"
        rtt = "20ms"
        bytes = "100KB"
        start = "2s"
    "#);
    assert_eq!(apart.summary.jain, None);
    // The traffic ends with the second transfer, before the run does, so goodput is computed over
    // the time until then.
    let end_s = apart.summary.flows[1].stop_s.unwrap();
    assert!(end_s < 3.0);
    assert_near(apart.summary.goodput_mbps, 200_000.0 * 8.0 / end_s / 1e6, "goodput");
    assert_eq!(apart.summary.goodput_ss_mbps, None);
}

#[test]
fn groups_are_named_by_the_difference_of_their_flows() {
    let names = |flows: &str| -> Vec<(String, u64)> {
        let head = "title = \"groups\"\nduration = \"0.2s\"\n[bottleneck]\nrate = \"10Mbit/s\"\n";
        let groups = run(&format!("{head}{flows}")).summary.flow_groups;
        groups.into_iter().map(|group| (group.group, group.flows)).collect()
    };
    let flow = |keys: &str| format!("[[flows]]\n{keys}\n");
    let named = |names: &[(&str, u64)]| -> Vec<(String, u64)> {
        names.iter().map(|&(name, flows)| (name.to_owned(), flows)).collect()
    };
    let (near, far) = ("cc = \"cubic\"\nrtt = \"20ms\"", "cc = \"cubic\"\nrtt = \"100ms\"");
    let other = "cc = \"bbr3\"\nrtt = \"20ms\"";
    assert_eq!(names(&flow(near)), named(&[("cubic", 1)]));
    assert_eq!(names(&(flow(near) + &flow(far))), named(&[("20ms", 1), ("100ms", 1)]));
    assert_eq!(
        names(&(flow(near) + &flow(far) + &flow(other))),
        named(&[("cubic", 2), ("bbr3", 1)])
    );
    let web = flow(&format!("{near}\ncount = 3\ngroup = \"web\""));
    assert_eq!(names(&(web + &flow(other))), named(&[("web", 3), ("bbr3", 1)]));
}

#[test]
fn a_slowdown_is_the_completion_time_over_that_of_the_idle_path() {
    let result = run(r#"
        title = "one transfer at a time"
        duration = "20s"
        [bottleneck]
        rate = "10Mbit/s"
        delay = "5ms"
        buffer = "4bdp"
        [[flows]]
        cc = "cubic"
        rtt = "20ms"
        train = { bytes = "1448KB", count = 3, gap = "100ms" }
    "#);
    let transfers = &result.transfers;
    assert_eq!(transfers.len(), 3);
    // 1,000 full segments of 1,514 B take 1.2112 s at 10 Mbit/s, and the round trip takes 20 ms.
    let alone_s = 1000.0 * 1514.0 * 8.0 / 10e6 + 0.020;
    for row in 0..3 {
        let expected = transfers.fct_s[row].unwrap() / alone_s;
        assert_near(transfers.slowdown[row], expected, "slowdown");
        assert!(expected > 1.0);
    }
    let group = &result.summary.flow_groups[0];
    assert_eq!((group.fct_ms.n, group.fct_ms.unfinished), (Some(3), Some(0)));
    let median = group.slowdown.p50.unwrap();
    assert!((median / transfers.slowdown[1].unwrap() - 1.0).abs() < 0.01, "{median}");
}

#[test]
fn a_series_row_shows_the_connection_as_it_is() {
    use bbrlab_cc::Control;
    use bbrlab_sim::Sim;
    use bbrlab_units::Time;

    let scenario = r#"
        title = "columns"
        duration = "3s"
        sample = "100ms"
        [bottleneck]
        rate = "10Mbit/s"
        delay = "5ms"
        buffer = "0.5bdp"
        loss = 0.002
        [[flows]]
        cc = "cubic"
        rtt = "20ms"
        [[flows]]
        cc = "bbr3"
        rtt = "20ms"
    "#;
    let result = run(scenario);
    let run = crate::scenario_text::runs(scenario).remove(0);
    let mut sim = Sim::new(&run).unwrap();
    let series = &result.series;
    let (mut drops, mut had_ssthresh) = (0, false);
    for row in 0..series.len() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a time within the run"
        )]
        let at = Time((series.time_s[row] * 1e9).round() as u64);
        sim.advance(at);
        let flow = series.flow[row];
        let (conn, info) = (sim.conn(flow), sim.info(flow));
        assert_eq!(series.cwnd_packets[row].0.unwrap(), conn.ctl.cwnd);
        let limit = conn.ctl.ssthresh;
        let ssthresh = (limit < Control::INFINITE_SSTHRESH).then_some(limit);
        assert_eq!(series.ssthresh_packets[row], ssthresh);
        had_ssthresh |= ssthresh.is_some();
        assert_eq!(series.inflight_packets[row].0.unwrap(), conn.inflight);
        assert_eq!(series.srtt_us[row], (conn.srtt_us > 0).then_some(conn.srtt_us >> 3));
        assert_eq!(series.bw_bps[row], info.bw.map(|bw| bw * 8));
        assert_eq!(series.state[row], info.state);
        assert_eq!(series.inflight_hi_packets[row], info.inflight_hi);
        assert_eq!(series.bw_lo_bps[row], info.bw_lo.map(|bw| bw * 8));
        assert_eq!(series.lost_packets[row].0, Some(conn.lost.into()));
        let phases = ["slow_start", "avoidance", "cwr", "recovery", "loss"];
        assert!(phases.contains(&&*series.ca_state[row]), "{}", series.ca_state[row]);
        assert!(["cwnd", "pacing", "rwnd", "sndbuf", "app"].contains(&&*series.limited_by[row]));
        drops = drops.max(conn.lost);
    }
    assert!(drops > 0 && had_ssthresh, "expected lost packets and a finite ssthresh");
    // The test's two flows share one link. In each bin of 100 ms, the two flows together receive at
    // most what the link can send in that time, plus one packet whose transmission began in the bin
    // before.
    for bin in 1..=30_u32 {
        let at_s = f64::from(bin) / 10.0;
        let rows = (0..series.len()).filter(|&row| (series.time_s[row] - at_s).abs() < 1e-9);
        let bps: u64 = rows.map(|row| series.throughput_bps[row].unwrap()).sum();
        assert!(bps <= 10_000_000 + 1514 * 8 * 10, "{bps} bit/s up to {at_s} s");
    }
    let links = &result.queue;
    let last = links.len() - 1;
    let link = &result.summary.links[0];
    assert_eq!(Some(links.drops[last].0.unwrap()), link.drops);
    assert_eq!(links.random_losses[last].0, link.random_losses);
    assert_eq!(links.arrivals[last].0, link.arrivals);
}

/// A generator of pseudo-random numbers for scenarios.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        let at = self.below(choices.len() as u64);
        choices[usize::try_from(at).expect("small")]
    }
}

/// Returns a short scenario with several flows of all kinds over a lossy dumbbell.
fn random_scenario(dice: &mut Dice) -> String {
    use std::fmt::Write as _;
    let mut text =
        String::from("title = \"random\"\nduration = \"900ms\"\nsample = \"off\"\n[bottleneck]\n");
    let rate = [
        "\"2Mbit/s\"",
        "\"6Mbit/s\"",
        "[[\"0s\", \"5Mbit/s\"], [\"300ms\", \"1Mbit/s\"]]",
        "{ opportunities_ms = [1, 2, 9, 10] }",
    ];
    writeln!(text, "rate = {}", dice.of(&rate)).unwrap();
    writeln!(text, "delay = \"{}ms\"", dice.below(20)).unwrap();
    writeln!(text, "buffer = \"{}\"", dice.of(&["3pkt", "0.5bdp", "20000B", "50ms", "unlimited"]))
        .unwrap();
    if dice.one_in(2) {
        writeln!(text, "loss = {}", dice.of(&["0.01", "0.1", "0.5"])).unwrap();
        writeln!(text, "loss_at = \"{}\"", dice.of(&["before", "after"])).unwrap();
    }
    if dice.one_in(3) {
        text.push_str("reverse_rate = \"1Mbit/s\"\nreverse_buffer = \"5pkt\"\n");
    }
    if dice.one_in(4) {
        text.push_str("ecn_threshold = \"3pkt\"\n");
    }
    if dice.one_in(3) {
        text.push_str("[access]\nrate = \"4Mbit/s\"\nbuffer = \"10pkt\"\n");
    }
    for _ in 0..=dice.below(3) {
        writeln!(text, "[[flows]]\ncc = \"{}\"", dice.of(&["cubic", "bbr1", "reno", "bbr3"]))
            .unwrap();
        writeln!(text, "rtt = \"{}ms\"", 40 + dice.below(60)).unwrap();
        writeln!(text, "count = {}", 1 + dice.below(3)).unwrap();
        let start = dice.below(400);
        writeln!(text, "start = \"{start}ms\"\necn = {}", dice.one_in(2)).unwrap();
        if dice.one_in(3) {
            writeln!(text, "stop = \"{}ms\"", start + 1 + dice.below(700)).unwrap();
        }
        match dice.below(5) {
            0 => writeln!(text, "bytes = \"{}B\"", 1 + dice.below(60_000)).unwrap(),
            1 => writeln!(text, "rate = \"{}kbit/s\"", 50 + dice.below(3_000)).unwrap(),
            2 => text.push_str("train = { bytes = \"5KB\", count = 4, gap = \"20ms\" }\n"),
            _ => {}
        }
    }
    // A scenario with `ecn_threshold` but without an ECN-capable flow is invalid, so the line with
    // `ecn_threshold` is removed.
    if text.contains("ecn = true") { text } else { text.replace("ecn_threshold = \"3pkt\"\n", "") }
}

/// Checks that each packet that arrived at a link has left it, was lost for one reason, or is still
/// queued.
fn assert_conserved(link: &LinkSummary, loss_is_before: bool) {
    let [arrivals, departures, queued, drops, losses] =
        [link.arrivals, link.departures, link.queued_at_end, link.drops, link.random_losses]
            .map(Option::unwrap);
    let before = if loss_is_before { losses } else { 0 };
    assert_eq!(arrivals, departures + drops + queued + before, "{link:?}");
    assert!(loss_is_before || losses <= departures, "{link:?}");
    assert_eq!(link.policer_drops, None);
}

#[test]
fn no_total_exceeds_its_link_in_five_hundred_random_scenarios() {
    let mut dice = Dice(1);
    for number in 0..500 {
        let text = random_scenario(&mut dice);
        let result = run(&text);
        let run = &result.summary;
        let context = || format!("scenario {number}:\n{text}\n{run:#?}");
        let bottleneck = run.links.iter().find(|link| link.name == "bottleneck").unwrap();
        for link in &run.links {
            assert_conserved(link, text.contains("\"before\"") && link.name == "bottleneck");
        }
        // From the first flow's start to the last flow's end, the flows together get at most the
        // bytes that the link can send in this time, plus one packet, or ten packets with
        // `opportunities`.
        let first_start =
            run.flows.iter().map(|flow| flow.start_s.unwrap()).fold(f64::MAX, f64::min);
        let last_end = run.flows.iter().map(|flow| flow.stop_s.unwrap()).fold(0.0, f64::max);
        let spare = 1514.0 * 8.0 / 1e6;
        if let (Some(goodput), Some(rate)) = (run.goodput_mbps, bottleneck.rate_mbps) {
            let window = last_end - first_start;
            // `rate` is the link's mean rate over the whole run. A schedule begins at 5 Mbit/s and
            // falls, so the goodput up to the end of the last flow may exceed this mean.
            let most = if text.contains("[[\"0s\"") { 5.0 } else { rate };
            let slack = if text.contains("opportunities") { 10.0 * spare } else { spare };
            assert!(goodput * window <= most * window + slack, "{}", context());
        }
        assert!(bottleneck.utilization.is_none_or(|used| used <= 1.01), "{}", context());
        let shares: f64 = run.flow_groups.iter().filter_map(|group| group.share).sum();
        assert!(
            run.goodput_mbps.is_none_or(|it| it == 0.0) || (shares - 1.0).abs() < 1e-9,
            "{}",
            context()
        );
        let total: f64 = run.flow_groups.iter().filter_map(|group| group.goodput_mbps).sum();
        assert!((total - run.goodput_mbps.unwrap_or(0.0)).abs() < 1e-9, "{}", context());
        for jain in [run.jain, run.jain_ss].into_iter().flatten() {
            let least = 1.0 / f64::from(u32::try_from(run.flows.len()).unwrap());
            assert!(
                run.flows.len() > 1 && (least - 1e-9..=1.0 + 1e-9).contains(&jain),
                "{}",
                context()
            );
        }
        let data_losses =
            |of: fn(&FlowSummary) -> Option<u64>| run.flows.iter().filter_map(of).sum::<u64>();
        let link_losses =
            |of: fn(&LinkSummary) -> Option<u64>| run.links.iter().filter_map(of).sum::<u64>();
        // A link's counts include SYNs and ACKs; a flow's counts include only its data packets.
        let lost_data = data_losses(|flow| flow.random_losses);
        assert!(lost_data <= link_losses(|link| link.random_losses), "{}", context());
        assert!(data_losses(|flow| flow.drops) <= link_losses(|link| link.drops), "{}", context());
        for group in &run.flow_groups {
            let is_finite = group.fct_ms.unfinished.is_some();
            assert!(is_finite || group.fct_ms.p50.is_none() && group.slowdown.p50.is_none());
        }
    }
}

/// Fields that results did not have when the file of digests (`answers/random_scenarios.txt`) was
/// made, such as those of policers, waits and custom congestion controls. The random scenarios
/// leave these fields empty. Each pair has the text of such an empty field in a result's debug
/// output, and the text that the output had in its place before the field existed. [`digest_of`]
/// replaces the first text by the second.
const OF_OTHERS: [(&str, &str); 9] = [
    (", controls: []", ""),
    ("waits: [], ", ""),
    ("rejected: None, ", ""),
    (", stalled_s: None", ""),
    ("drops_enqueue: None, drops_dequeue: None, ", ""),
    (", sojourn_ms: Sojourn { mean: None, p95: None, max: None }", ""),
    ("policer_drops: None, rto_count", "rto_count"),
    ("policer_drops: None, rtt_ms", "rtt_ms"),
    (", tins: []", ""),
];

/// Returns a digest of a value's debug text.
fn digest_of(value: &impl std::fmt::Debug) -> u64 {
    let fold = |digest: u64, byte: u8| {
        (digest.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95)
    };
    let printed = format!("{value:?}");
    let without = |text: String, (found, before): &(&str, &str)| text.replace(found, before);
    OF_OTHERS.iter().fold(printed, without).bytes().fold(0, fold)
}

/// Checks that every percentile of the summary agrees with its distribution, and that the
/// distribution of a link's delays contains each packet that left the link. `has_flows` is true if
/// the distributions include the RTTs of single flows.
fn check_percentiles(summary: &RunSummary, delays: &Delays, has_flows: bool) {
    let percentile = |metric: &str, index: usize, per_mille: u64| {
        let total: u64 = delays.of(metric, index).map(|(_, count)| count).sum();
        let rank = (total * per_mille).div_ceil(1000).max(1);
        let mut seen = 0;
        let mut reached = delays.of(metric, index).skip_while(|(_, count)| {
            seen += count;
            seen < rank
        });
        reached.next().map(|(delay_ms, _)| delay_ms)
    };
    for (index, link) in summary.links.iter().enumerate().filter(|(_, link)| !link.is_private()) {
        let waited = &link.queue_delay_ms;
        for (per_mille, printed) in [(500, waited.p50), (950, waited.p95), (990, waited.p99)] {
            assert_eq!(percentile(Delays::QUEUE_DELAY, index, per_mille), printed, "{}", link.name);
        }
        let counted: u64 = delays.of(Delays::QUEUE_DELAY, index).map(|(_, count)| count).sum();
        assert_eq!(Some(counted), link.departures, "{}", link.name);
    }
    for (index, group) in summary.flow_groups.iter().enumerate() {
        assert_eq!(percentile(Delays::GROUP_RTT, index, 950), group.rtt_ms.p95, "{}", group.group);
    }
    for (index, flow) in summary.flows.iter().enumerate() {
        let rtt = &flow.rtt_ms;
        for (per_mille, printed) in [(500, rtt.p50), (950, rtt.p95), (990, rtt.p99)] {
            let printed = printed.filter(|_| has_flows);
            assert_eq!(percentile(Delays::FLOW_RTT, index, per_mille), printed, "flow {index}");
        }
    }
}

/// The file `answers/random_scenarios.txt` has one line per scenario. The line has the numbers of
/// data packets, of events and of rows in the time series. The line also has a digest of the
/// results and a digest of the time series and transfers. Only a commit that intends to change
/// results may change this file. `cargo xtask bless` rewrites the file.
#[test]
fn sixty_random_scenarios_come_out_as_they_did() {
    use std::fmt::Write as _;
    let mut dice = Dice(2);
    let mut list = String::new();
    for number in 0..60 {
        let text = random_scenario(&mut dice);
        let sample = ["\"20ms\"", "\"ack\"", "\"off\""][number % 3];
        let mut result = run(&text.replace("\"off\"", sample));
        // The summary contains the program's version, on which the digest must not depend.
        result.summary.backend_version = "0.1.0".to_owned();
        let RunResult { summary, series, queue, transfers, delays } = &result;
        check_percentiles(summary, delays, sample != "\"off\"");
        writeln!(
            list,
            "scenario {number}: {} packets, {} events, {} rows; digest of figures {:016x}, of rows {:016x}",
            summary.data_packets.unwrap_or(0),
            summary.events.expect("it is simulated"),
            series.time_s.len() + queue.time_s.len(),
            digest_of(summary),
            digest_of(&(series, queue, transfers)),
        )
        .unwrap();
    }
    expect_file!["answers/random_scenarios.txt"].assert_eq(&list);
}

/// In each row of the time series, the packets in flight include the packets that the last event
/// before the row's time sent, as in Linux's `tcp_info`. The file `answers/lone_reno_in_linux.csv`
/// has cwnd and packets in flight of Linux 6.12 every 5 ms. A lone Reno flow overflows a buffer of
/// 100 packets, recovers, and then grows without loss.
#[test]
fn packets_in_flight_are_the_kernels() {
    let result = run(r#"
        title = "lone Reno"
        duration = "3s"
        sample = "5ms"
        [bottleneck]
        rate = "20Mbit/s"
        delay = "15ms"
        buffer = "100 packets"
        [[flows]]
        cc = "reno"
        rtt = "30ms"
    "#);
    let series = &result.series;
    let mut differing = Vec::new();
    for line in include_str!("answers/lone_reno_in_linux.csv").lines().skip(1) {
        let [time_ms, cwnd, inflight]: [u32; 3] =
            line.split(',').map(|it| it.parse().unwrap()).collect::<Vec<_>>().try_into().unwrap();
        let at = |row: &usize| (series.time_s[*row] * 1e3 - f64::from(time_ms)).abs() < 1e-6;
        let row = (0..series.len()).find(at).unwrap();
        let ours = (series.cwnd_packets[row].0.unwrap(), series.inflight_packets[row].0.unwrap());
        if ours != (cwnd, inflight) {
            differing.push((time_ms, ours, (cwnd, inflight)));
        }
    }
    assert_eq!(differing, []);
}
