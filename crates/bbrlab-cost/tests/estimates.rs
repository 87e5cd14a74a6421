//! Tests of the estimates: values that follow from their definitions, and a table of all values for
//! many scenarios.
//!
//! `crates/bbrlab-lab/tests/all/estimates.rs` compares estimates with runs, and checks that the
//! estimates are right within a factor of two. If a value below changes, so does the output of
//! `bbrlab check`; the test in `bbrlab-lab` decides whether the new value is acceptable.

use bbrlab_cost::Estimate;
use bbrlab_scenario::Scenario;
use expect_test::expect;

fn scenario(text: &str) -> Scenario {
    Scenario::parse("test", "test.toml", text, None, &[])
        .unwrap_or_else(|errors| panic!("{text}\n{errors}"))
}

/// Returns a scenario of 6 s. The bottleneck has 20 Mbit/s unless `link` begins with another rate.
/// The RTT is 40 ms unless `flow` begins with another RTT. In the arguments, `; ` ends a line.
fn dumbbell(link: &str, flow: &str) -> String {
    let rate = if link.starts_with("rate =") { "" } else { "rate = \"20Mbit/s\"; " };
    let rtt = if flow.starts_with("rtt =") { "" } else { "rtt = \"40ms\"; " };
    format!(
        "duration = \"6s\"; [bottleneck]; {rate}delay = \"10ms\"; {link}; [[flows]]; {rtt}{flow}; "
    )
    .replace("; ", "\n")
}

fn estimate(top: &str, link: &str, flow: &str) -> Estimate {
    Estimate::of_scenario(&scenario(&format!("{top}\n{}", dumbbell(link, flow))))
}

/// Returns all values of an estimate as a line of text. `<` before a value marks an upper bound.
fn line(name: &str, estimate: &Estimate) -> String {
    let at_most = estimate.at_most();
    let mark = |is_at_most: bool| if is_at_most { "<" } else { "" };
    format!(
        "{name}: {}{} packets, {} unsure, {} events, {}{} rows, {} unsure, {}{} KB, series {} B, disk {}{} B, work {:.0}\n",
        mark(at_most.packets),
        estimate.data_packets,
        estimate.data_packets_unsure,
        estimate.events,
        mark(at_most.rows),
        estimate.series_rows,
        estimate.series_rows_unsure,
        mark(at_most.memory),
        estimate.memory_bytes / 1000,
        estimate.series_bytes,
        mark(at_most.disk),
        estimate.disk_bytes,
        estimate.work,
    )
}

#[test]
fn a_source_at_a_constant_rate_sends_that_much_and_a_transfer_its_bytes() {
    let packets = |flow: &str| estimate("", "", &format!("cc = \"cubic\"; {flow}")).data_packets;
    // 2 Mbit/s / (8 x 1448 B) = 172.65 packets per second.
    assert_eq!(packets("rate = \"2Mbit/s\""), 1036);
    assert_eq!(packets("rate = \"2Mbit/s\"; count = 3"), 3108);
    assert_eq!(packets("rate = \"2Mbit/s\"; start = \"2s\"; stop = \"3s\""), 173);
    assert_eq!(packets("on = \"1s\"; off = \"3s\"; rate = \"2Mbit/s\""), 259);
    // The last bytes of a transfer have a segment of their own: 14,481 bytes are 10 segments of
    // 1,448 bytes and one of 1 byte.
    assert_eq!(packets("bytes = \"14481B\""), 11);
    assert_eq!(packets("bytes = \"14480B\"; count = 7"), 70);
    assert_eq!(packets("train = { bytes = \"14480B\", count = 5, gap = \"10ms\" }"), 50);
    // The application writes two full segments, ten times per second.
    assert_eq!(packets("write = { bytes = \"2896B\", every = \"100ms\" }"), 120);
    // 20 Mbit/s carry 9,907 packets of 1,514 bytes in 6 s. The flow sends a few hundred packets
    // fewer, because of the connect and of slow start's cwnd of 10, 20 and 40 packets.
    let full = packets("");
    assert!((9600..=9907).contains(&full), "{full}");
}

#[test]
fn an_application_that_turns_on_and_off_has_an_event_for_each_turn() {
    let events = |flow: &str| estimate("", "", &format!("cc = \"cubic\"; {flow}")).events;
    let each = |on: &str| events(&format!("on = {on}; off = {on}"));
    assert!(each("\"1us\"") > 6_000_000, "two events (on, off) every 2 us for 6 s");
    assert!(each("\"1ns\"") > 6_000_000_000);
    let distribution = "{ distribution = \"exponential\", mean = \"1ns\" }";
    assert!(each(distribution) > 6_000_000_000);
}

#[test]
fn a_connection_has_events_besides_those_of_its_packets() {
    let of = |link: &str, flow: &str| estimate("", link, &format!("cc = \"cubic\"; {flow}"));
    // Opening a connection takes 6 events: the connect, the SYN and the ACK each at the link and at
    // the receiver, and the SYN-ACK at the sender. Each of the first 200 packets takes 3 events,
    // because each has its own ACK. Each packet after the first 200 takes 2.5 events.
    let transfer =
        |packets: u64| of("rate = \"1Gbit/s\"", &format!("bytes = \"{}B\"", 1448 * packets));
    assert_eq!([1, 7, 200].map(|packets| transfer(packets).events), [9, 27, 606]);
    assert_eq!(transfer(300).events, 606 + 250);
    // 1000 flows per second arrive for 6 s. Each flow sends one packet and causes 9 events, like
    // the transfer of one packet above.
    let come = of("rate = \"1Gbit/s\"", "arrivals = { rate = \"1000/s\" }; bytes = \"1KB\"");
    assert_eq!((come.data_packets, come.events), (6000, 6000 * 9));
    // Each departure is an event, except from a drop-tail queue.
    let queue = |name: &str| of(&format!("queue = \"{name}\""), "").events;
    assert!(queue("fq_codel") > queue("droptail") + 9000);
}

#[test]
fn flows_that_come_faster_than_they_are_served_wait_and_try_again() {
    let of = |flow: &str| {
        estimate("sample = \"off\"", "", &format!("cc = \"cubic\"; bytes = \"10KB\"; {flow}"))
    };
    // A link of 20 Mbit/s serves 236 flows of 7 packets each per second.
    let come = |rate: u32, at_most: u32| {
        of(&format!("arrivals = {{ rate = \"{rate}/s\", at_most = {at_most} }}"))
    };
    let (all, few) = (come(10_000, 1_000_000), come(10_000, 100));
    assert_eq!(all.data_packets, few.data_packets);
    // In `all`, 58,600 flows still wait for the link when the run ends. Each of them has sent its
    // initial window, and has retried about three times in the three seconds that a flow waits on
    // average.
    assert!(all.events > 58_600 * (7 + 2 * 3), "{}", all.events);
    assert!(all.memory_bytes > 58_600 * 5600);
    // In `few`, flows are rejected instead of waiting. A rejected flow causes one event.
    assert!(few.events > 58_600 && few.events < 58_600 + 4 * few.data_packets, "{}", few.events);
    assert!(all.work > 15.0 * few.work);
    // At 100 arrivals per second the link serves every flow.
    assert_eq!(come(100, 1_000_000).data_packets, 4200);
    assert!(come(100, 1_000_000).events < 4200 * 4);
}

#[test]
fn flows_that_meet_at_a_link_share_it_and_others_do_not() {
    let parking_lot = |flows: &[&str]| {
        let mut text = "duration = \"100s\"\n".to_owned();
        for link in ["a", "b"] {
            text += &format!(
                "[[links]]\nname = \"{link}\"\nrate = \"12112kbit/s\"\nbuffer = \"100pkt\"\n"
            );
        }
        for flow in flows {
            text += &format!("[[flows]]\ncc = \"bbr1\"\nrtt = \"20ms\"\npath = {flow}\n");
        }
        Estimate::of_scenario(&scenario(&text)).data_packets
    };
    // Each link can send 1000 packets of 1514 bytes per second.
    let (a, b, both) = ("[\"a\"]", "[\"b\"]", "[\"a\", \"b\"]");
    let near = |found: u64, expected: u64| found.abs_diff(expected) <= expected / 100;
    assert!(near(parking_lot(&[a]), 100_000));
    assert!(near(parking_lot(&[a, a, a]), 100_000));
    assert!(near(parking_lot(&[a, b]), 200_000));
    // By max-min fairness, the flow that crosses both links gets half of each link.
    assert!(near(parking_lot(&[a, b, both]), 150_000));
    assert!(
        near(parking_lot(&[a, a, a, b, both]), 175_000),
        "{}",
        parking_lot(&[a, a, a, b, both])
    );
}

#[test]
fn a_flow_takes_5600_bytes_and_state_outside_the_cache_makes_events_slower() {
    let of = |count: u32| {
        let flow = format!("cc = \"cubic\"; rate = \"1Mbit/s\"; count = {count}");
        estimate("sample = \"off\"", "rate = \"10Gbit/s\"", &flow)
    };
    assert_eq!(of(1001).memory_bytes - of(1).memory_bytes, 5_600_000);
    // If there are no rows of time series, the work beyond the events is set-up and the writing of
    // files: 50,000 units per run and 570 per flow. One unit is the time of an event in a run of
    // one flow.
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let per_event = |count: u32| {
        let estimate = of(count);
        let work = estimate.work - 50_000.0 - 570.0 * f64::from(count);
        format!("{:.2}", work / estimate.events as f64)
    };
    let known = [1, 16, 1000, 10_000, 100_000, 1_000_000].map(per_event);
    assert_eq!(known, ["1.00", "1.20", "2.10", "4.20", "6.20", "6.20"]);
    // Between two numbers of flows in the table, the work per event is interpolated linearly in the
    // logarithm of the number. On this scale, 4 is halfway between 1 and 16, and 100 is 44 % of the
    // way from 16 to 1000.
    assert_eq!([4, 100].map(per_event), ["1.10", "1.60"]);
}

#[test]
fn a_sweep_costs_what_its_runs_cost_and_its_records() {
    let text = format!(
        "repeat = 2\n{}[sweep]\n\"bottleneck.rate\" = [\"5Mbit/s\", \"80Mbit/s\", \"20Mbit/s\"]\n",
        dumbbell("", "cc = \"cubic\"")
    );
    let text = text.replace("rate = \"20Mbit/s\"\ndelay", "delay");
    let scenario = scenario(&text);
    let all = Estimate::of_scenario(&scenario);
    let runs: Vec<Estimate> = (0..6).map(|run| Estimate::of_run(&scenario, run)).collect();
    let sum = |figure: fn(&Estimate) -> u64| runs.iter().map(figure).sum::<u64>();
    assert_eq!((all.runs, all.flows, all.sim_s), (6, 1, 36.0));
    assert_eq!(all.data_packets, sum(|run| run.data_packets));
    assert_eq!(all.events, sum(|run| run.events));
    assert_eq!(all.series_rows, sum(|run| run.series_rows));
    assert_eq!(all.series_bytes, sum(|run| run.series_bytes));
    assert_eq!(all.disk_bytes, sum(|run| run.disk_bytes) + 6 * 10_000);
    assert!((all.work - runs.iter().map(|run| run.work).sum::<f64>()).abs() < 1.0);
    // The memory of a sweep is the memory of the run that needs the most, not of the last run.
    assert_eq!(all.memory_bytes, runs[2].memory_bytes.max(runs[3].memory_bytes));
    assert!(runs.iter().all(|run| run.memory_bytes <= all.memory_bytes));
    // A single run has no sweep folder.
    assert_eq!(estimate("", "", "cc = \"cubic\"").disk_bytes, runs[4].disk_bytes);
}

#[test]
fn a_sum_of_which_most_is_an_upper_bound_is_one() {
    let estimate = Estimate { data_packets: 100, series_rows: 100, ..Estimate::default() };
    let at_most = |packets: u64, rows: u64, memory: bool| {
        let estimate = Estimate {
            data_packets_unsure: packets,
            series_rows_unsure: rows,
            is_memory_at_most: memory,
            ..estimate
        }
        .at_most();
        [estimate.packets, estimate.rows, estimate.memory, estimate.disk]
    };
    assert_eq!(at_most(50, 50, false), [false, false, false, false]);
    assert_eq!(at_most(51, 50, false), [true, false, false, true]);
    assert_eq!(at_most(50, 51, false), [false, true, false, true]);
    assert_eq!(at_most(0, 0, true), [false, false, true, false]);

    let large = Estimate { memory_bytes: 7, is_memory_at_most: true, flows: 2, ..estimate };
    let small = Estimate { memory_bytes: 6, flows: 9, ..estimate };
    for both in [large.and(small), small.and(large)] {
        assert_eq!((both.memory_bytes, both.is_memory_at_most, both.flows), (7, true, 9));
        assert_eq!((both.data_packets, both.series_rows), (200, 200));
    }
}

/// Each row has four texts: the scenario's name, keys of the top level, keys of the bottleneck, and
/// keys of the flows and of later tables.
#[rustfmt::skip]
const TABLE: &[(&str, &str, &str, &str)] = &[
    ("bulk", "", "", "cc = \"cubic\""),
    ("paced", "", "", "cc = \"bbr1\""),
    ("paced by DelayBbr", "", "", "cc = \"delay_bbr\""),
    ("every ACK", "sample = \"ack\"", "", "cc = \"cubic\""),
    ("no rows", "sample = \"off\"", "", "cc = \"cubic\""),
    ("rows of a second", "sample = \"1s\"", "", "cc = \"cubic\"; count = 3"),
    ("schedule", "", "rate = [[\"0s\", \"5Mbit/s\"], [\"3s\", \"40Mbit/s\"]]", "cc = \"bbr1\""),
    ("trace", "", "rate = { opportunities_ms = [1, 3, 3, 3, 5, 8, 10] }; buffer = \"100pkt\"", "cc = \"bbr1\""),
    ("buffer of bytes", "", "buffer = \"151400B\"", "cc = \"reno\""),
    ("buffer without a limit", "", "buffer = \"unlimited\"", "cc = \"reno\""),
    ("short buffer", "", "buffer = \"4pkt\"", "cc = \"reno\""),
    ("short buffer of many", "", "buffer = \"9pkt\"", "cc = \"reno\"; count = 16"),
    ("two ways", "", "reverse_rate = \"5Mbit/s\"; reverse_buffer = \"50pkt\"", "cc = \"cubic\""),
    ("few ACKs", "", "reverse_rate = \"50kbit/s\"; reverse_buffer = \"50pkt\"", "cc = \"cubic\""),
    ("access links", "", "", "cc = \"cubic\"; count = 3; [access]; rate = \"3Mbit/s\"; buffer = \"20pkt\""),
    ("access links both ways", "", "", "cc = \"cubic\"; count = 3; [access]; rate = \"3Mbit/s\"; reverse_rate = \"forward\""),
    ("two groups", "", "", "cc = \"cubic\"; count = 4; [[flows]]; rtt = \"80ms\"; cc = \"bbr3\"; count = 4; start = \"2s\""),
    ("one stops", "", "", "cc = \"cubic\"; start = \"4s\"; [[flows]]; rtt = \"40ms\"; cc = \"cubic\"; stop = \"2s\""),
    ("stopped early", "", "", "cc = \"cubic\"; stop = \"1s\""),
    ("1001 flows", "", "", "cc = \"cubic\"; count = 1001"),
    ("1000 flows", "", "", "cc = \"cubic\"; count = 1000"),
    ("transfers in a row", "", "", "cc = \"cubic\"; count = 60; start_step = \"80ms\"; bytes = \"100KB\""),
    ("transfers at random", "", "", "cc = \"reno\"; count = 20; start_jitter = \"4s\"; bytes = \"100KB\""),
    ("a row with jitter", "", "", "cc = \"reno\"; count = 20; start_step = \"100ms\"; start_jitter = \"1s\"; bytes = \"100KB\""),
    ("overload", "", "", "cc = \"cubic\"; count = 50; start_step = \"50ms\"; bytes = \"1MB\""),
    ("transfer in slow start", "", "rate = \"10Gbit/s\"", "cc = \"cubic\"; bytes = \"20MB\""),
    ("transfer with loss", "", "loss = 0.02", "cc = \"cubic\"; bytes = \"1MB\"; count = 3"),
    ("transfers with loss and many rows", "sample = \"100us\"", "loss = 0.02", "cc = \"cubic\"; bytes = \"1MB\"; count = 3"),
    ("constant rate that stops", "", "", "cc = \"cubic\"; rate = \"200kbit/s\"; stop = \"3s\""),
    ("constant rate above the link's rate, then a stop", "", "", "cc = \"cubic\"; rate = \"40Mbit/s\"; stop = \"3s\""),
    ("constant rate", "", "", "cc = \"cubic\"; rate = \"200kbit/s\""),
    ("constant rate and bulk", "", "", "cc = \"cubic\"; rate = \"2Mbit/s\"; [[flows]]; rtt = \"40ms\"; cc = \"cubic\""),
    ("on and off periods at a constant rate", "", "", "cc = \"cubic\"; on = \"1s\"; off = \"1s\"; rate = \"4Mbit/s\""),
    ("on and off", "", "", "cc = \"cubic\"; on = \"10ms\"; off = \"500ms\""),
    ("writes", "", "", "cc = \"cubic\"; write = { bytes = \"64KiB\", every = \"50ms\" }"),
    ("small writes", "", "", "cc = \"cubic\"; write = { bytes = \"100B\", every = \"10ms\" }; count = 5"),
    ("frames", "", "", "cc = \"cubic\"; frames = { rate = \"30/s\", bytes = \"8KB\", key_bytes = \"60KB\", key_every = 60 }"),
    ("frames in datagrams", "", "", "cc = \"udp\"; frames = { rate = \"30/s\", bytes = \"8KB\" }"),
    ("pages", "", "", "cc = \"cubic\"; page = { objects = [1, 12, 20], think = \"1s\" }; bytes = \"20KB\"; count = 6"),
    ("train", "", "", "cc = \"cubic\"; train = { bytes = \"150KB\", count = 1000, gap = \"100ms\" }"),
    ("train that ends", "", "", "cc = \"cubic\"; train = { bytes = \"15KB\", count = 5, gap = \"100ms\" }; count = 5"),
    ("datagrams", "", "", "cc = \"udp\"; rate = \"200kbit/s\""),
    ("datagrams above the link's rate", "", "", "cc = \"udp\"; rate = \"40Mbit/s\"; stop = \"3s\""),
    ("datagrams in bursts", "", "", "cc = \"udp\"; on = \"100ms\"; off = \"100ms\"; rate = \"400kbit/s\""),
    ("answers", "", "", "cc = \"cubic\"; requests = { think = \"100ms\" }; bytes = \"15KB\""),
    ("answers without a pause", "", "", "cc = \"cubic\"; requests = {}; bytes = \"1MB\""),
    ("so many answers", "", "", "cc = \"cubic\"; requests = { think = \"10ms\", count = 20 }; bytes = \"15KB\""),
    ("video", "", "", "cc = \"cubic\"; video = { rate = \"1Mbit/s\", piece = \"1s\", buffer = \"2s\" }"),
    ("random bursts", "", "", "cc = \"cubic\"; on = { distribution = \"exponential\", mean = \"100ms\" }; off = \"300ms\"; rate = \"1Mbit/s\""),
    ("arriving flows of one size", "", "", "cc = \"cubic\"; arrivals = { rate = \"20/s\" }; bytes = \"15KB\""),
    ("arriving flows and a bulk flow", "", "", "cc = \"cubic\"; arrivals = { load = 0.3 }; bytes = \"15KB\"; [[flows]]; rtt = \"40ms\"; cc = \"cubic\""),
    ("arriving flows with the sizes of web search", "", "", "cc = \"cubic\"; arrivals = { load = 0.3 }; sizes = { distribution = \"web_search\" }"),
    ("flows of random sizes", "", "", "cc = \"cubic\"; arrivals = { load = 0.3 }; sizes = { distribution = \"pareto\", mean = \"15KB\" }"),
    ("arriving flows above the link's rate", "", "", "cc = \"cubic\"; arrivals = { rate = \"500/s\", at_most = 100 }; bytes = \"15KB\""),
    ("small window", "", "", "cc = \"cubic\"; [stack]; rwnd = \"30KiB\""),
    ("receive buffer", "", "", "cc = \"cubic\"; [stack]; rcvbuf = \"32KiB\""),
    ("send buffer", "", "", "cc = \"cubic\"; [stack]; sndbuf = \"16KiB\""),
    ("buffers of payload", "", "", "cc = \"cubic\"; [stack]; sockbuf = \"payload\"; rcvbuf = \"32KiB\""),
    ("no SACK", "", "", "cc = \"reno\"; [stack]; sack = false"),
    ("no SACK, paced", "", "", "cc = \"bbr1\"; [stack]; sack = false"),
    ("small segments", "", "", "cc = \"cubic\"; [stack]; mss = \"536B\""),
    ("loss of 0.1 percent, Reno", "", "loss = 0.001", "cc = \"reno\""),
    ("loss of 1 percent, CUBIC", "", "loss = 0.01", "cc = \"cubic\""),
    ("loss of 1 percent, CUBIC with an RTT of 400 ms", "", "loss = 0.01", "rtt = \"400ms\"; cc = \"cubic\""),
    ("loss of 1 percent, BBR", "", "loss = 0.01", "cc = \"bbr1\""),
    ("loss of 1 percent, BBRv3", "", "loss = 0.01", "cc = \"bbr3\""),
    ("loss of 6 percent, BBR", "", "loss = 0.06", "cc = \"bbr1\""),
    ("loss in bursts", "", "loss = { model = \"gilbert-elliott\", p = 0.001, r = 0.1, loss_bad = 0.9, loss_good = 0.0001 }", "cc = \"cubic\""),
    ("reordering", "", "reorder = { ratio = 0.1, by = \"3ms\" }", "cc = \"cubic\""),
    ("jitter in order", "", "jitter = \"2ms\"", "cc = \"cubic\""),
    ("jitter out of order", "", "jitter = { up_to = \"2ms\", keep_order = false }", "cc = \"cubic\""),
    ("delay that changes", "", "", "cc = \"cubic\"; right_link = \"l\"; [[links]]; name = \"l\"; delay = [[\"0s\", \"5ms\"], [\"3s\", \"2ms\"]]"),
    ("loss that changes", "", "loss = [[\"0s\", 0], [\"3s\", 0.01]]", "cc = \"cubic\""),
    ("data in slots", "", "slot = \"4ms\"", "cc = \"cubic\""),
    ("ACKs in slots", "", "reverse_slot = { min_delay = \"2ms\", max_delay = \"8ms\" }", "cc = \"cubic\""),
    ("ACKs that wait for grants", "", "reverse_grant = { delay = \"4ms\", every = \"2ms\" }", "cc = \"cubic\""),
    ("airtime that is shared", "", "reverse_rate = \"forward\"; airtime = { overhead = \"186us\", packets = 64 }", "cc = \"cubic\""),
    ("Westwood", "", "", "cc = \"westwood\""),
    ("long growth of Reno", "", "rate = \"200Mbit/s\"", "cc = \"reno\""),
    ("growth of CUBIC", "", "rate = \"200Mbit/s\"", "cc = \"cubic\""),
    ("long growth of CUBIC", "", "rate = \"10Gbit/s\"", "rtt = \"200ms\"; cc = \"cubic\""),
    ("slow start until the run ends", "", "", "rtt = \"900ms\"; cc = \"cubic\""),
];

#[test]
fn all_figures() {
    let mut lines = String::new();
    for &(name, top, link, flow) in TABLE {
        lines += &line(name, &estimate(top, link, flow));
    }
    let no_rate = dumbbell("", "cc = \"cubic\"").replace("rate = \"20Mbit/s\"\n", "");
    lines += &line("no link with a rate", &Estimate::of_scenario(&scenario(&no_rate)));
    expect![[r#"
        bulk: 9713 packets, 0 unsure, 24497 events, 1202 rows, 0 unsure, 11607 KB, series 36915 B, disk 66715 B, work 96703
        paced: 9713 packets, 0 unsure, 29354 events, 1202 rows, 0 unsure, 11607 KB, series 36915 B, disk 66715 B, work 101560
        paced by DelayBbr: 9713 packets, 0 unsure, 29354 events, 1202 rows, 0 unsure, 11607 KB, series 36915 B, disk 66715 B, work 101560
        every ACK: 9713 packets, 0 unsure, 24497 events, 7399 rows, 0 unsure, 16119 KB, series 182236 B, disk 212036 B, work 264049
        no rows: 9713 packets, 0 unsure, 24497 events, 0 rows, 0 unsure, 11011 KB, series 10000 B, disk 39800 B, work 75067
        rows of a second: 9908 packets, 0 unsure, 25405 events, 28 rows, 0 unsure, 11039 KB, series 10737 B, disk 44137 B, work 79759
        schedule: 11146 packets, 0 unsure, 33828 events, 1202 rows, 0 unsure, 11603 KB, series 36972 B, disk 66772 B, work 106034
        trace: 4108 packets, 0 unsure, 12477 events, 1202 rows, 0 unsure, 11609 KB, series 36147 B, disk 65947 B, work 84683
        buffer of bytes: 9713 packets, 0 unsure, 24476 events, 1202 rows, 0 unsure, 11609 KB, series 36915 B, disk 66715 B, work 96682
        buffer without a limit: 9713 packets, 0 unsure, 24389 events, 1202 rows, 0 unsure, 11604 KB, series 36915 B, disk 66715 B, work 96595
        short buffer: <9713 packets, 9713 unsure, 31964 events, 1202 rows, 0 unsure, 11603 KB, series 49818 B, disk <79618 B, work 104170
        short buffer of many: 9908 packets, 0 unsure, 28472 events, 10217 rows, 0 unsure, 18250 KB, series 161240 B, disk 218040 B, work 358328
        two ways: 9713 packets, 0 unsure, 29563 events, 1803 rows, 0 unsure, 11770 KB, series 38537 B, disk 68337 B, work 107178
        few ACKs: <9713 packets, 9713 unsure, 38430 events, 1803 rows, 0 unsure, 11769 KB, series 51441 B, disk <81241 B, work 116045
        access links: 4429 packets, 0 unsure, 15824 events, 6010 rows, 0 unsure, 13448 KB, series 70810 B, disk 104210 B, work 155332
        access links both ways: 4429 packets, 0 unsure, 18342 events, 9616 rows, 0 unsure, 14403 KB, series 80546 B, disk 113946 B, work 190503
        two groups: 9908 packets, 0 unsure, 27887 events, 4609 rows, 0 unsure, 14127 KB, series 111312 B, disk 153712 B, work 199888
        one stops: 6481 packets, 0 unsure, 16486 events, 1003 rows, 0 unsure, 11468 KB, series 28526 B, disk 60126 B, work 83889
        stopped early: <1721 packets, 1721 unsure, 5755 events, 702 rows, 0 unsure, 11243 KB, series 21198 B, disk <50998 B, work 64461
        1001 flows: 9908 packets, 0 unsure, 46656 events, 601 rows, 0 unsure, 16770 KB, series 15409 B, disk 1164529 B, work 723998
        1000 flows: 9908 packets, 0 unsure, 46638 events, 601601 rows, 0 unsure, 454292 KB, series 950854 B, disk 2778854 B, work 16950350
        transfers in a row: 4200 packets, 0 unsure, 12960 events, 1766 rows, 0 unsure, 12348 KB, series 45536 B, disk 182496 B, work 134604
        transfers at random: 1400 packets, 0 unsure, 4320 events, 989 rows, 0 unsure, 11559 KB, series 25533 B, disk 89853 B, work 81617
        a row with jitter: 1400 packets, 0 unsure, 4320 events, 989 rows, 0 unsure, 11559 KB, series 25533 B, disk 89853 B, work 81617
        overload: 9908 packets, 0 unsure, 30198 events, 20186 rows, 0 unsure, 25702 KB, series 176008 B, disk 294808 B, work 653600
        transfer in slow start: 13813 packets, 0 unsure, 34639 events, 650 rows, 0 unsure, 13842 KB, series 17203 B, disk 47019 B, work 91952
        transfer with loss: <2115 packets, 2115 unsure, 7300 events, <2404 rows, 1803 unsure, 12493 KB, series 68080 B, disk <101528 B, work 113678
        transfers with loss and many rows: <2115 packets, 2115 unsure, 7300 events, <240004 rows, 180003 unsure, <157905 KB, series 1595531 B, disk <1628979 B, work 5459678
        constant rate that stops: 52 packets, 0 unsure, 239 events, 902 rows, 0 unsure, 11389 KB, series 18238 B, disk 48038 B, work 64345
        constant rate above the link's rate, then a stop: 5024 packets, 0 unsure, 20257 events, 902 rows, 0 unsure, 11389 KB, series 26187 B, disk 55987 B, work 84363
        constant rate: 104 packets, 0 unsure, 472 events, 1202 rows, 0 unsure, 11607 KB, series 21061 B, disk 50861 B, work 72678
        constant rate and bulk: 9908 packets, 0 unsure, 26728 events, 1803 rows, 0 unsure, 12050 KB, series 48965 B, disk 80565 B, work 117067
        on and off periods at a constant rate: 1036 packets, 0 unsure, 4256 events, 1202 rows, 0 unsure, 11607 KB, series 31290 B, disk 61090 B, work 76462
        on and off: <3303 packets, 3303 unsure, 10893 events, 1202 rows, 0 unsure, 11607 KB, series 47980 B, disk <77780 B, work 83099
        writes: 5520 packets, 0 unsure, 14026 events, 1202 rows, 0 unsure, 11607 KB, series 36517 B, disk 66317 B, work 86232
        small writes: 957 packets, 0 unsure, 5902 events, 3606 rows, 0 unsure, 13380 KB, series 34861 B, disk 71861 B, work 145981
        frames: 1282 packets, 0 unsure, 3492 events, 1202 rows, 0 unsure, 11607 KB, series 32463 B, disk 62263 B, work 75698
        frames in datagrams: 1080 packets, 0 unsure, 2340 events, 1202 rows, 0 unsure, 11607 KB, series 31530 B, disk 61330 B, work 73610
        pages: <4152 packets, 4152 unsure, 18360 events, 4207 rows, 0 unsure, 13823 KB, series 113544 B, disk <157090 B, work 176924
        train: 1946 packets, 0 unsure, 5952 events, 1202 rows, 0 unsure, 11607 KB, series 25778 B, disk 55878 B, work 78756
        train that ends: 275 packets, 0 unsure, 975 events, 1158 rows, 0 unsure, 11597 KB, series 18369 B, disk 55769 B, work 75060
        datagrams: 104 packets, 0 unsure, 311 events, 1202 rows, 0 unsure, 11607 KB, series 21061 B, disk 50861 B, work 72392
        datagrams above the link's rate: 4954 packets, 0 unsure, 20267 events, 902 rows, 0 unsure, 11389 KB, series 26184 B, disk 55984 B, work 76266
        datagrams in bursts: 104 packets, 0 unsure, 371 events, 1202 rows, 0 unsure, 11607 KB, series 21061 B, disk 50861 B, work 72428
        answers: <452 packets, 452 unsure, 2062 events, 1202 rows, 0 unsure, 11607 KB, series 32557 B, disk <63015 B, work 74268
        answers without a pause: 9055 packets, 0 unsure, 24040 events, 1202 rows, 0 unsure, 11607 KB, series 36881 B, disk 66891 B, work 96246
        so many answers: <220 packets, 220 unsure, 1004 events, 1202 rows, 0 unsure, 11607 KB, series 27179 B, disk <57299 B, work 73210
        video: <696 packets, 696 unsure, 2773 events, 1202 rows, 0 unsure, 11607 KB, series 36871 B, disk <66799 B, work 74979
        random bursts: <259 packets, 259 unsure, 1551 events, 1202 rows, 0 unsure, 11607 KB, series 28137 B, disk <57937 B, work 73757
        arriving flows of one size: 1320 packets, 0 unsure, 4680 events, 601 rows, 0 unsure, 13683 KB, series 15409 B, disk 47129 B, work 65327
        arriving flows and a bulk flow: 9908 packets, 0 unsure, 28617 events, 1202 rows, 0 unsure, 14145 KB, series 34804 B, disk 70982 B, work 115757
        arriving flows with the sizes of web search: <2973 packets, 2973 unsure, 10003 events, 601 rows, 0 unsure, 13672 KB, series 15409 B, disk <45249 B, work 66143
        flows of random sizes: <3148 packets, 3148 unsure, 13993 events, 601 rows, 0 unsure, 13702 KB, series 15409 B, disk <49787 B, work 82160
        arriving flows above the link's rate: 9908 packets, 0 unsure, 38862 events, 601 rows, 0 unsure, 11755 KB, series 15409 B, disk 60930 B, work 171419
        small window: 3149 packets, 0 unsure, 7978 events, 1202 rows, 0 unsure, 11607 KB, series 35667 B, disk 65467 B, work 80184
        receive buffer: 4240 packets, 0 unsure, 10707 events, 1202 rows, 0 unsure, 11607 KB, series 36194 B, disk 65994 B, work 82913
        send buffer: 9431 packets, 0 unsure, 23684 events, 1202 rows, 0 unsure, 11607 KB, series 36901 B, disk 66701 B, work 95890
        buffers of payload: 3357 packets, 0 unsure, 8497 events, 1202 rows, 0 unsure, 11607 KB, series 35798 B, disk 65598 B, work 80703
        no SACK: <9713 packets, 9713 unsure, 31845 events, 1202 rows, 0 unsure, 11607 KB, series 49818 B, disk <79618 B, work 104051
        no SACK, paced: 9713 packets, 0 unsure, 29354 events, 1202 rows, 0 unsure, 11607 KB, series 36915 B, disk 66715 B, work 101560
        small segments: 24230 packets, 0 unsure, 60790 events, 1202 rows, 0 unsure, 11615 KB, series 37145 B, disk 66945 B, work 132996
        loss of 0.1 percent, Reno: <9713 packets, 9713 unsure, 31845 events, 1202 rows, 0 unsure, 11607 KB, series 49818 B, disk <79618 B, work 104051
        loss of 1 percent, CUBIC: <3521 packets, 3521 unsure, 11580 events, 1202 rows, 0 unsure, 11607 KB, series 48177 B, disk <77977 B, work 83786
        loss of 1 percent, CUBIC with an RTT of 400 ms: <1051 packets, 1051 unsure, 3551 events, 1202 rows, 0 unsure, 11645 KB, series 40949 B, disk <70749 B, work 75757
        loss of 1 percent, BBR: 9713 packets, 0 unsure, 29354 events, 1202 rows, 0 unsure, 11607 KB, series 36915 B, disk 66715 B, work 101560
        loss of 1 percent, BBRv3: <9713 packets, 9713 unsure, 38159 events, 1202 rows, 0 unsure, 11607 KB, series 49818 B, disk <79618 B, work 110365
        loss of 6 percent, BBR: <9713 packets, 9713 unsure, 38159 events, 1202 rows, 0 unsure, 11607 KB, series 49818 B, disk <79618 B, work 110365
        loss in bursts: <9713 packets, 9713 unsure, 31845 events, 1202 rows, 0 unsure, 11607 KB, series 49818 B, disk <79618 B, work 104051
        reordering: <9713 packets, 9713 unsure, 31845 events, 1202 rows, 0 unsure, 11607 KB, series 49818 B, disk <79618 B, work 104051
        jitter in order: 9713 packets, 0 unsure, 24497 events, 1202 rows, 0 unsure, 11607 KB, series 36915 B, disk 66715 B, work 96703
        jitter out of order: <9713 packets, 9713 unsure, 31845 events, 1202 rows, 0 unsure, 11607 KB, series 49818 B, disk <79618 B, work 104051
        delay that changes: <9753 packets, 9753 unsure, 51266 events, 1202 rows, 0 unsure, 11607 KB, series 49821 B, disk <79621 B, work 123472
        loss that changes: <9713 packets, 9713 unsure, 31845 events, 1202 rows, 0 unsure, 11607 KB, series 49818 B, disk <79618 B, work 104051
        data in slots: <9713 packets, 9713 unsure, 57104 events, 1202 rows, 0 unsure, 11606 KB, series 49818 B, disk <79618 B, work 129310
        ACKs in slots: <9713 packets, 9713 unsure, 45015 events, 1202 rows, 0 unsure, 11607 KB, series 49818 B, disk <79618 B, work 117221
        ACKs that wait for grants: <9713 packets, 9713 unsure, 45015 events, 1202 rows, 0 unsure, 11607 KB, series 49818 B, disk <79618 B, work 117221
        airtime that is shared: <9713 packets, 9713 unsure, 38430 events, 1803 rows, 0 unsure, 11772 KB, series 51441 B, disk <81241 B, work 116045
        Westwood: <9713 packets, 9713 unsure, 31845 events, 1202 rows, 0 unsure, 11607 KB, series 49818 B, disk <79618 B, work 104051
        long growth of Reno: <95061 packets, 95061 unsure, 309225 events, 1202 rows, 0 unsure, 11655 KB, series 50299 B, disk <80099 B, work 381431
        growth of CUBIC: 95061 packets, 0 unsure, 237867 events, 1202 rows, 0 unsure, 11655 KB, series 37215 B, disk 67015 B, work 310073
        long growth of CUBIC: 539531 packets, 0 unsure, 1348932 events, 1202 rows, 0 unsure, 22698 KB, series 37225 B, disk 67025 B, work 1421138
        slow start until the run ends: <630 packets, 630 unsure, 2184 events, 1202 rows, 0 unsure, 11698 KB, series 35848 B, disk <65648 B, work 74390
        no link with a rate: 4058922 packets, 0 unsure, 6088487 events, 601 rows, 0 unsure, 11443 KB, series 31816 B, disk 61616 B, work 6155284
    "#]].assert_eq(&lines);
}

/// Returns a scenario with two Reno flows over 50 Mbit/s for 10 s, to which `sets` are applied.
fn two_flows(sets: &[&str]) -> Scenario {
    const TEXT: &str = "duration = \"10s\"\n[bottleneck]\nrate = \"50Mbit/s\"\nbuffer = \"1bdp\"\n\
                        [[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\n[[flows]]\ncc = \"reno\"\nrtt = \"60ms\"\n";
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    Scenario::parse("test", "test.toml", TEXT, None, &sets)
        .unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn the_cost_of_a_run_is_estimated_beforehand() {
    let mut lines = String::new();
    for (what, sets) in [
        ("a link shared by two flows", vec![]),
        ("flows that stop half way", vec!["flows.stop=5s"]),
        ("a few bytes", vec!["flows.bytes=1448000B"]),
        ("a constant rate", vec!["flows.rate=1448kbit/s"]),
        ("every ACK", vec!["sample=ack"]),
        ("a million flows", vec!["flows[0].count=1000000"]),
        ("10^11 packets", vec!["bottleneck.rate=10Tbit/s", "duration=200s"]),
        ("no rate at all", vec!["bottleneck={ delay = \"10ms\" }"]),
    ] {
        let estimate = Estimate::of_scenario(&two_flows(&sets));
        lines.push_str(&format!(
            "{what}: {} flows, {} packets, {} rows, {} MB, {} KB on disk\n",
            estimate.flows,
            estimate.data_packets,
            estimate.series_rows,
            estimate.memory_bytes / 1_000_000,
            estimate.series_bytes / 1000,
        ));
    }
    expect![[r#"
        a link shared by two flows: 2 flows, 41281 packets, 3003 rows, 12 MB, 84 KB on disk
        flows that stop half way: 2 flows, 22127 packets, 2003 rows, 12 MB, 51 KB on disk
        a few bytes: 2 flows, 2000 packets, 1100 rows, 11 MB, 22 KB on disk
        a constant rate: 2 flows, 2500 packets, 3003 rows, 12 MB, 58 KB on disk
        every ACK: 2 flows, 41281 packets, 29897 rows, 32 MB, 637 KB on disk
        a million flows: 1000001 flows, 41281 packets, 1001 rows, 5611 MB, 19 KB on disk
        10^11 packets: 2 flows, 292602017 packets, 60003 rows, 685 MB, 1516 KB on disk
        no rate at all: 2 flows, 13983498 packets, 2002 rows, 12 MB, 76 KB on disk
    "#]]
    .assert_eq(&lines);
}
