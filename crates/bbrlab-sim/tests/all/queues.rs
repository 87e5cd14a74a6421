//! Known properties of queue disciplines, in whole runs. In these tests, the engine calls the
//! disciplines, and senders react. `bbrlab-oracle` compares each decision of a queue discipline
//! with the kernel's packet logs.

use crate::scenario_text::result;
use bbrlab_run::{RunResult, TinSummary};

/// Runs flows over 10 Mbit/s and 20 ms for 30 s, without segmentation offload, as in the kernel's
/// logs.
fn run(queue: &str, flows: &[&str]) -> RunResult {
    run_at("10Mbit/s", queue, flows)
}

fn run_at(rate: &str, queue: &str, flows: &[&str]) -> RunResult {
    let mut text = format!(
        "title = \"queue\"\nduration = \"30s\"\n[stack]\ntso = \"off\"\n\
         [bottleneck]\nrate = \"{rate}\"\nqueue = {queue}\n"
    );
    for flow in flows {
        text += &format!("[[flows]]\nrtt = \"20ms\"\n{flow}\n");
    }
    result(&text)
}

const CUBIC: &str = "cc = \"cubic\"";
const BBR: &str = "cc = \"bbr1\"";

/// In Linux's `codel`, one CUBIC flow has a mean backlog of 4.1 packets (5.0 ms), sampled every 20
/// ms. There are 67 drops in 30 s, and the utilisation is 98.7 %.
#[test]
fn a_lone_cubic_flow_stands_at_codels_target() {
    let codel = run("\"codel\"", &[CUBIC]);
    let link = &codel.summary.links[0];
    let (mean, drops) = (link.queue_packets.mean.unwrap(), link.drops.unwrap());
    assert!((mean - 4.1).abs() < 0.3 && drops.abs_diff(67) <= 3, "{mean} packets, {drops} drops");
    assert!((link.utilization.unwrap() - 0.987).abs() < 0.001, "{link:?}");
}

/// With one flow there is one queue, and `fq_codel` uses `codel`'s algorithm. ECN is on only in
/// `fq_codel`, but no flow of the test is ECN-capable.
#[test]
fn a_lone_flow_in_fq_codel_is_that_in_codel() {
    for flow in [CUBIC, BBR, "cc = \"reno\""] {
        let digests = ["\"codel\"", "\"fq_codel\""].map(|queue| run(queue, &[flow]).summary.digest);
        assert_eq!(digests[0], digests[1], "{flow}");
    }
}

/// Disciplines with one queue per flow share the link equally, whatever the senders' algorithms. A
/// single queue that drops early gives most of the link to BBR.
#[test]
fn disciplines_with_a_queue_for_each_flow_share_equally() {
    let share = |queue: &str| {
        let flows = run(queue, &[CUBIC, BBR]).summary.flows;
        let goodput = |flow: usize| flows[flow].goodput_ss_mbps.unwrap();
        goodput(0) / (goodput(0) + goodput(1))
    };
    for queue in ["\"fq_codel\"", "\"fq_pie\"", "\"fq\"", "\"sfq\"", "\"cake\""] {
        let cubic = share(queue);
        assert!((cubic - 0.5).abs() < 0.02, "{queue}: {cubic}");
    }
    for queue in ["\"codel\"", "\"pie\"", "\"dualpi2\""] {
        let cubic = share(queue);
        assert!(cubic < 0.3, "{queue}: {cubic}");
    }
}

/// `cake` gives equal shares to sending hosts, receiving hosts, flows or combinations of these,
/// depending on `isolation`. Each flow of this test has its own sending host and its own receiving
/// host, so the flows get equal shares with each of the tested values.
#[test]
fn cake_keeps_flows_of_different_hosts_apart() {
    for isolation in ["srchost", "dsthost", "hosts", "flows", "triple-isolate"] {
        let queue = format!("{{ discipline = \"cake\", isolation = \"{isolation}\" }}");
        let jain = run(&queue, &[CUBIC, BBR]).summary.jain.unwrap();
        assert!(jain > 0.99, "{isolation}: {jain}");
    }
}

/// With ECN, CoDel marks packets of an ECN-capable flow instead of dropping them, and goodput stays
/// the same. Linux marks 67 times.
#[test]
fn codel_marks_instead_of_dropping_where_flow_and_discipline_are_capable() {
    let ecn = "cc = \"cubic\"\necn = true";
    let marked = run("{ discipline = \"codel\", ecn = true }", &[ecn]);
    let link = &marked.summary.links[0];
    assert_eq!(link.drops, Some(0), "{link:?}");
    assert!(link.marks.unwrap().abs_diff(67) <= 3, "{link:?}");
    let dropped = run("\"codel\"", &[CUBIC]);
    let goodput = |result: &RunResult| result.summary.flows[0].goodput_mbps.unwrap();
    assert!((goodput(&marked) / goodput(&dropped) - 1.0).abs() < 0.01);
}

/// RFC 9332, section 1: scalable and classic senders with the same RTT get roughly equal rates, in
/// this test within a factor of two. Packets in the L queue wait for at most about 1 ms, the
/// queue's threshold. At 40 Mbit/s, two full packets take 0.6 ms to transmit, so a packet that
/// waits only for two others is not marked.
#[test]
fn dualpi2_lets_a_scalable_and_a_classic_flow_share() {
    let scalable = "cc = \"dctcp\"\necn = \"l4s\"";
    let flows = run_at("40Mbit/s", "\"dualpi2\"", &[scalable, CUBIC]).summary.flows;
    let [dctcp, cubic] = [0, 1].map(|flow| flows[flow].goodput_ss_mbps.unwrap());
    assert!((0.5..2.0).contains(&(dctcp / cubic)), "{dctcp} and {cubic} Mbit/s");
    let [dctcp, cubic] = [0, 1].map(|flow| flows[flow].rtt_ms.mean.unwrap());
    assert!(dctcp < 21.5 && cubic > 30.0, "RTTs of {dctcp} and {cubic} ms");
}

/// Linux's default `priomap` is older than DSCP, so it puts EF into the band of best effort. With
/// another `priomap`, EF has a separate band.
#[test]
fn a_band_or_tin_of_its_own_keeps_a_call_from_waiting() {
    let call = "cc = \"cubic\"\nrate = \"1Mbit/s\"\ndscp = \"EF\"";
    let rtt = |queue: &str| run(queue, &[call, CUBIC]).summary.flows[0].rtt_ms.mean.unwrap();
    let moved = "{ discipline = \"prio\", \
                 priomap = [1, 2, 2, 2, 0, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1] }";
    let voice = "{ discipline = \"cake\", tins = \"diffserv4\", isolation = \"flowblind\" }";
    assert!(rtt("\"prio\"") > 100.0);
    for queue in [moved, voice] {
        let rtt = rtt(queue);
        assert!(rtt < 24.0, "{queue}: {rtt} ms");
    }
}

/// The link's counts are the sums over its tins. In `cake`, each tin reports the waiting time of
/// its own packets.
#[test]
fn a_links_metrics_are_listed_by_tin() {
    let call = "cc = \"cubic\"\nrate = \"1Mbit/s\"\ndscp = \"EF\"";
    let scalable = "cc = \"dctcp\"\necn = \"l4s\"";
    let voice = "{ discipline = \"cake\", tins = \"diffserv4\", isolation = \"flowblind\" }";
    let first_band = "{ discipline = \"prio\", \
                 priomap = [1, 2, 2, 2, 0, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1] }";
    for (queue, flow, names, quick) in [
        (voice, call, &["bulk", "best_effort", "video", "voice"][..], "voice"),
        (first_band, call, &["band0", "band1", "band2"], "band0"),
        ("\"dualpi2\"", scalable, &["l4s", "classic"], "l4s"),
    ] {
        let result = run(queue, &[flow, CUBIC]);
        let link = &result.summary.links[0];
        assert_eq!(link.tins.iter().map(|tin| tin.name.as_str()).collect::<Vec<_>>(), names);
        let sum =
            |of: fn(&TinSummary) -> Option<u64>| link.tins.iter().map(of).sum::<Option<u64>>();
        assert_eq!(sum(|tin| tin.arrivals), link.arrivals, "{queue}");
        assert_eq!(sum(|tin| tin.departures), link.departures, "{queue}");
        assert_eq!(sum(|tin| tin.drops), link.drops, "{queue}");
        assert_eq!(sum(|tin| tin.marks), link.marks, "{queue}");
        let used: f64 = link.tins.iter().map(|tin| tin.utilization.unwrap()).sum();
        assert!((used - link.utilization.unwrap()).abs() < 1e-12, "{queue}");
        let wait = |tin: &TinSummary| tin.sojourn_ms.mean;
        let (fast, slow): (Vec<_>, Vec<_>) =
            link.tins.iter().filter(|tin| wait(tin).is_some()).partition(|tin| tin.name == quick);
        let [fast, slow] = [fast, slow].map(|tins: Vec<&TinSummary>| wait(tins[0]).unwrap());
        assert!(fast * 2.0 < slow, "{queue}: {fast} and {slow} ms");
    }
    assert!(run("\"codel\"", &[CUBIC]).summary.links[0].tins.is_empty());
}

/// Returns the share in percent of one BBR flow that competes with four CUBIC flows for a CAKE link
/// of 20 Mbit/s. `one` adds keys to the BBR flow, and `four` adds keys to the CUBIC flows.
fn share_of_one(isolation: &str, one: &str, four: &str) -> f64 {
    let text = format!(
        "duration = \"30s\"\n[bottleneck]\nrate = \"20Mbit/s\"\n\
         queue = {{ discipline = \"cake\", isolation = \"{isolation}\" }}\n\
         [[flows]]\ncc = \"bbr1\"\nrtt = \"30ms\"\n{one}\n\
         [[flows]]\ncc = \"cubic\"\nrtt = \"30ms\"\ncount = 4\n{four}\n"
    );
    let flows = result(&text).summary.flows;
    let all: f64 = flows.iter().map(|flow| flow.goodput_ss_mbps.unwrap()).sum();
    100.0 * flows[0].goodput_ss_mbps.unwrap() / all
}

#[test]
fn cake_shares_a_link_by_hosts_where_flows_have_the_same() {
    let modes = ["flows", "dual-srchost", "dual-dsthost", "hosts", "triple-isolate"];
    let shares = |one: &str, four: &str| modes.map(|mode| share_of_one(mode, one, four));
    // Shares may differ from a fifth or a half by two percentage points, because of slow start and
    // because quanta are rounded at random.
    let are = |shares: [f64; 5], expected: [f64; 5]| {
        let is_near = |(share, expected): (f64, f64)| (share - expected).abs() < 2.0;
        assert!(shares.into_iter().zip(expected).all(is_near), "{shares:?} for {expected:?}");
    };
    // The single flow uses BBR and gets the full rate that CAKE gives its queue. A single CUBIC
    // flow backs off at losses and would get 47 % instead of a half. In the first case, each flow
    // has its own two hosts.
    are(shares("", ""), [20.0; 5]);
    // In the second case, the four CUBIC flows share one host at each end.
    are(shares("host = \"A\"", "host = \"B\""), [20.0, 50.0, 50.0, 50.0, 50.0]);
    // In the third case, one server, host S, sends all five flows: one to host A and four to host
    // B. `triple-isolate` uses the larger of the sender's and the receiver's number of flows. The
    // server has five flows, more than either receiver, so the receivers' numbers of flows have no
    // effect.
    let from_one = |host: &str| format!("host = \"{host}\"\nsender_host = \"S\"");
    are(shares(&from_one("A"), &from_one("B")), [20.0, 20.0, 50.0, 50.0, 20.0]);
}

/// Slow start fills `fq_codel` up to its limit. The discipline then drops half of the packets at
/// once, before the control law drops a packet for the first time. Linux 6.12 as User-Mode Linux
/// retransmits 63 packets. If the control law treated the start of the run as an earlier dropping
/// state, it would drop all waiting packets.
#[test]
fn drops_at_the_limit_of_fq_codel_do_not_speed_up_the_control_law() {
    let result = result(
        "title = \"limit\"\nduration = \"10s\"\n\
         [bottleneck]\nrate = \"20Mbit/s\"\nbuffer = \"100pkt\"\nqueue = \"fq_codel\"\n\
         [[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\n",
    );
    let (flow, link) = (&result.summary.flows[0], &result.summary.links[0]);
    assert_eq!((flow.retransmitted_packets, link.drops), (Some(63), Some(63)));
}
