//! Tests the effect of keys of `[stack]`, `[bottleneck]` and `[[flows]]` on a run, with two or more
//! values for each key.

use crate::scenario_text::result;
use bbrlab_run::{FlowSummary, RunResult};

/// Runs one flow over 20 Mbit/s and 30 ms for 8 s. The arguments are added to `[stack]`,
/// `[bottleneck]` and `[[flows]]`.
fn one(stack: &str, bottleneck: &str, flow: &str) -> RunResult {
    result(&format!(
        "title = \"one flow\"\nduration = \"8s\"\n[stack]\n{stack}\n\
         [bottleneck]\nrate = \"20Mbit/s\"\nbuffer = \"2bdp\"\n{bottleneck}\n\
         [[flows]]\nrtt = \"30ms\"\n{flow}\n"
    ))
}

fn flow(result: &RunResult) -> &FlowSummary {
    &result.summary.flows[0]
}

fn goodput(result: &RunResult) -> f64 {
    flow(result).goodput_mbps.expect("it ran")
}

const CUBIC: &str = "cc = \"cubic\"";
const BBR: &str = "cc = \"bbr1\"";

#[test]
fn a_fixed_send_buffer_bounds_the_flight() {
    let small = one("sndbuf = \"12KB\"", "", CUBIC);
    let large = one("", "", CUBIC);
    // More than 12 KB can be in flight: the kernel fills an skb of up to 64 KB that it has begun,
    // even if the send buffer is smaller.
    assert!(goodput(&small) < 0.8 * goodput(&large), "{}", goodput(&small));
    assert!(flow(&small).limited_by.sndbuf.unwrap() > 0.4, "{:?}", flow(&small).limited_by);
}

#[test]
fn a_fixed_receive_buffer_and_a_bound_on_the_window_bound_the_flight() {
    for stack in ["rcvbuf = \"32KB\"", "rwnd = \"30000B\""] {
        let small = one(stack, "", CUBIC);
        // 30,000 B per RTT of 30 ms are 8 Mbit/s. A `rcvbuf` of 32 KB is 64 KB of memory, which
        // holds somewhat more payload than 30,000 B.
        assert!(goodput(&small) < 10.0, "{stack}: {}", goodput(&small));
        assert!(flow(&small).limited_by.rwnd.unwrap() > 0.5, "{stack}");
    }
}

#[test]
fn a_reader_that_waits_for_64_kib_gets_the_same_in_clumps() {
    let lazy = one("rcvlowat = \"65536B\"", "", CUBIC);
    let eager = one("", "", CUBIC);
    assert!((goodput(&lazy) / goodput(&eager) - 1.0).abs() < 0.03);
    assert_ne!(lazy.summary.digest, eager.summary.digest);
}

#[test]
fn a_slower_tick_moves_the_timeouts() {
    let at = |hz: u32| one(&format!("hz = {hz}"), "loss = 0.3", "cc = \"reno\"");
    let (fast, slow) = (at(1000), at(100));
    assert!(flow(&fast).rto_count > Some(0) && flow(&slow).rto_count > Some(0));
    assert_ne!(fast.summary.digest, slow.summary.digest);
}

#[test]
fn fq_at_the_sender_paces_in_place_of_tcp() {
    let fq = one("sender_qdisc = \"fq\"", "", BBR);
    let own = one("", "", BBR);
    assert_ne!(fq.summary.digest, own.summary.digest);
    assert!(
        (goodput(&fq) / goodput(&own) - 1.0).abs() < 0.02,
        "{} {}",
        goodput(&fq),
        goodput(&own)
    );
}

#[test]
fn super_packets_take_one_place_in_the_queue() {
    let packets = |tso: &str| {
        let result = one(&format!("tso = \"{tso}\""), "", CUBIC);
        (result.summary.data_packets.unwrap(), flow(&result).srtt_ms.mean.unwrap())
    };
    let (cut, whole, off) = (packets("cut"), packets("whole"), packets("off"));
    assert!(whole.0 * 3 < cut.0 * 2, "{whole:?} {cut:?}");
    assert!(
        whole.1 > cut.1,
        "packets and smoothed RTT in ms, with whole bursts and with cut ones: {whole:?} {cut:?}"
    );
    // The link carries the same number of packets, within 2 %, whether it sends them one by one or
    // in bursts.
    assert!(off.0.abs_diff(cut.0) * 50 < cut.0, "{off:?} {cut:?}");
}

/// On the wire, a burst has the headers of all its packets. The expected values are from the
/// recorded Linux run `v_tso_cubic_b2`.
#[test]
fn super_packets_have_the_headers_of_their_packets() {
    let text = "duration = \"30s\"\n[stack]\nclock_step = \"256ns\"\ntso = \"whole\"\n\
                [bottleneck]\nrate = \"50Mbit/s\"\nbuffer = \"248pkt\"\n\
                [[flows]]\ncc = \"cubic\"\nrtt = \"30ms\"\nstart = \"0.1s\"\n";
    let summary = result(text).summary;
    let (flow, link) = (&summary.flows[0], &summary.links[0]);
    assert_eq!((flow.retransmitted_packets, link.drops), (Some(37), Some(21)));
    assert!((flow.goodput_mbps.unwrap() - 47.611).abs() < 0.001, "{:?}", flow.goodput_mbps);
}

/// In a complete transfer, the number of packets that the flow has sent equals its delivered
/// packets plus its lost packets. A link counts what crosses it: with `tso = "whole"`, a burst of
/// several packets is one packet for the link.
#[test]
fn losses_of_a_flow_are_packets_also_where_bursts_cross_the_network_whole() {
    for (link, lost_in_network) in [
        ("buffer = \"12pkt\"", true),
        ("loss = 0.002", true),
        ("police = { rate = \"19Mbit/s\", burst = \"60KB\" }", true),
        ("buffer = \"12pkt\"\nqueue = \"codel\"\nloss = 0.002", true),
        ("buffer = \"12pkt\"\njitter = \"1us\"\nloss = 0.002", true),
        ("buffer = \"unlimited\"", false),
    ] {
        for tso in ["cut", "whole"] {
            let text = format!(
                "duration = \"20s\"\n[stack]\ntso = \"{tso}\"\n[bottleneck]\nrate = \"20Mbit/s\"\n{link}\n\
                 [[flows]]\ncc = \"cubic\"\nrtt = \"30ms\"\nbytes = \"9MB\"\n"
            );
            let summary = result(&text).summary;
            let (flow, link) = (&summary.flows[0], &summary.links[0]);
            let [sent, delivered, drops, random] =
                [flow.sent_packets, flow.delivered_packets, flow.drops, flow.random_losses]
                    .map(Option::unwrap);
            let policed = flow.policer_drops.unwrap_or(0);
            let lost = drops + random + policed;
            assert_eq!(flow.fct_ms.n, Some(1), "{tso} {link:?}");
            assert_eq!(sent, delivered + lost, "{tso}: {flow:?}");
            assert_eq!(lost > 0, lost_in_network, "{tso}: {flow:?}");
            let of_link =
                link.drops.unwrap() + link.random_losses.unwrap() + link.policer_drops.unwrap_or(0);
            if tso == "cut" {
                assert_eq!(of_link, lost, "{link:?}");
            } else {
                assert!(
                    of_link <= lost,
                    "{of_link} losses at the link, where a burst counts once, exceed the flow's {lost}"
                );
            }
        }
    }
}

#[test]
fn without_sack_recovery_takes_longer() {
    let with = one("", "loss = 0.01", CUBIC);
    let without = one("sack = false", "loss = 0.01", CUBIC);
    assert!(goodput(&without) < goodput(&with), "{} {}", goodput(&without), goodput(&with));
}

#[test]
fn the_recoveries_of_ns3_differ_from_linux() {
    let digest = |recovery: &str| {
        one(&format!("recovery = \"{recovery}\""), "loss = 0.01", CUBIC).summary.digest
    };
    let (linux, classic, prr) = (digest("linux"), digest("classic"), digest("prr"));
    assert!(linux != classic && classic != prr && linux != prr);
}

#[test]
fn a_longer_path_lengthens_the_rtt_in_both_directions_and_a_shorter_one_lets_packets_overtake() {
    let at = |delay: &str, more: &str| {
        one("", &format!("delay = {delay}\n{more}"), "cc = \"bbr1\"\nrate = \"5Mbit/s\"")
    };
    let rtt = |result: &RunResult| {
        let rtt = &flow(result).rtt_ms;
        (rtt.min.unwrap(), rtt.max.unwrap())
    };
    // At the start the RTT is 30 ms. The link's delay grows by 25 ms in each direction, so the RTT
    // becomes 80 ms.
    let longer = rtt(&at("[[\"0s\", \"5ms\"], [\"4s\", \"30ms\"]]", ""));
    assert!((30.0..31.0).contains(&longer.0) && (80.0..83.0).contains(&longer.1), "{longer:?}");
    let shorter = |more| at("[[\"0s\", \"15ms\"], [\"4s\", \"5ms\"]]", more);
    let (in_order, overtaking) = (shorter(""), shorter("keep_order = false"));
    assert!((10.0..11.0).contains(&rtt(&in_order).0), "{:?}", rtt(&in_order));
    assert_eq!(flow(&in_order).lost_packets, Some(0));
    assert_ne!(in_order.summary.digest, overtaking.summary.digest);
    assert!((goodput(&in_order) - goodput(&overtaking)).abs() < 0.1);
}

#[test]
fn nothing_leaves_a_link_during_an_outage() {
    let steady = one("", "", CUBIC);
    let steps = "[[\"0s\", \"20Mbit/s\"], [\"2s\", \"0Mbit/s\"], [\"3s\", \"20Mbit/s\"]]";
    let text = format!(
        "title = \"outage\"\nduration = \"8s\"\n[bottleneck]\nrate = {steps}\nbuffer = \"2bdp\"\n\
         [[flows]]\nrtt = \"30ms\"\n{CUBIC}\n"
    );
    let outage = result(&text);
    let lost = 1.0 - goodput(&outage) / goodput(&steady);
    assert!((0.11..0.2).contains(&lost), "{lost}");
    assert!(
        outage.summary.links[0].utilization > Some(0.97),
        "the capacity during the outage must not count"
    );
}

#[test]
fn loss_comes_and_goes_as_its_schedule_says() {
    let lossy = one("", "loss = [[\"0s\", 0], [\"4s\", 0.05], [\"6s\", 0]]", BBR);
    let link = &lossy.summary.links[0];
    let ratio = |lost: Option<u64>, of: Option<u64>| lost.unwrap() * 1000 / of.unwrap();
    // The loss ratio is 5 % during a quarter of the time.
    assert!((9..16).contains(&ratio(link.random_losses, link.departures)), "{link:?}");
}

#[test]
fn one_of_four_acks_passes_while_nothing_is_lost() {
    let acks = |of: u32| {
        let link = format!("ack_thinning = {of}\nreverse_rate = \"10Mbit/s\"");
        let result = one("", &link, "cc = \"bbr1\"\nrate = \"10Mbit/s\"");
        let back = result.summary.links.iter().find(|link| link.name == "bottleneck.reverse");
        let arrived = back.unwrap().arrivals.unwrap();
        (arrived, goodput(&result), flow(&result).retransmitted_packets.unwrap())
    };
    let (all, fourth) = (acks(1), acks(4));
    assert!((all.0 / 4).abs_diff(fourth.0) * 20 < all.0 / 4, "{all:?} {fourth:?}");
    assert!((all.1 / fourth.1 - 1.0).abs() < 0.02 && fourth.2 < 30, "{all:?} {fourth:?}");
}

#[test]
fn acks_in_slots_delay_an_rtt_by_less_than_a_slot() {
    let rtt = |link: &str| {
        let flow = one("", link, "cc = \"bbr1\"\nrate = \"1Mbit/s\"").summary.flows[0].clone();
        (flow.rtt_ms.min.unwrap(), flow.rtt_ms.mean.unwrap(), flow.rtt_ms.max.unwrap())
    };
    let plain = rtt("delay = \"5ms\"");
    let slots = rtt("delay = \"5ms\"\nreverse_slot = \"4ms\"");
    // An ACK leaves when a slot begins. The flow is slow, so the slot that was drawn last has
    // mostly begun already when an ACK arrives. Such an ACK causes the draw of a new slot, which
    // begins 4 ms later, and waits for this slot.
    assert!(slots.0 >= plain.0 && slots.2 < plain.2 + 4.1, "{plain:?} {slots:?}");
    assert!(slots.1 > plain.1 + 1.0 && slots.1 < plain.1 + 4.0, "{plain:?} {slots:?}");
}

#[test]
fn a_slot_lets_so_many_packets_pass() {
    // 4 packets of 1,448 B every 5 ms are 9.3 Mbit/s of goodput. Without `packets`, all waiting
    // packets leave in a slot.
    let few = one("", "slot = { min_delay = \"5ms\", packets = 4 }", CUBIC);
    assert!((8.3..9.3).contains(&goodput(&few)), "{}", goodput(&few));
    let all = one("", "slot = \"5ms\"", CUBIC);
    assert!(goodput(&all) > 18.0, "{}", goodput(&all));
    // Packets above `limit` are dropped before they wait for slots, and count as drops of the flow.
    let short = one("", "slot = { min_delay = \"5ms\", packets = 4, limit = 30 }", CUBIC);
    assert!(flow(&short).drops > Some(0) && flow(&few).drops == Some(0), "{:?}", flow(&short));
}

#[test]
fn acks_wait_for_the_opportunity_and_for_the_grant() {
    let rtt = |link: &str| {
        let flow = one("", link, "cc = \"bbr1\"\nrate = \"400kbit/s\"").summary.flows[0].clone();
        (flow.rtt_ms.min.unwrap(), flow.rtt_ms.mean.unwrap(), flow.rtt_ms.max.unwrap())
    };
    let plain = rtt("delay = \"5ms\"");
    // A packet leaves every 29 ms, so only one ACK waits at a time. The link requests a grant for
    // the ACK at the next multiple of 2 ms, and the grant comes 4 ms later.
    let grants = rtt("delay = \"5ms\"\nreverse_grant = { delay = \"4ms\", every = \"2ms\" }");
    assert!(grants.0 >= plain.0 + 4.0 && grants.2 < plain.2 + 6.1, "{plain:?} {grants:?}");
    assert!((4.5..5.5).contains(&(grants.1 - plain.1)), "{plain:?} {grants:?}");
}

#[test]
fn a_grant_lets_so_many_bytes_pass() {
    // A grant of 6,100 B has space for 4 packets; one grant every 5 ms gives 9.3 Mbit/s of goodput.
    // Without `bytes`, one grant covers all bytes that waited when the link requested the grant.
    let few = one("", "grant = { delay = \"5ms\", bytes = \"6100B\" }", CUBIC);
    assert!((8.3..9.3).contains(&goodput(&few)), "{}", goodput(&few));
    let all = one("", "grant = \"5ms\"", CUBIC);
    assert!(goodput(&all) > 18.0, "{}", goodput(&all));
    let short = one("", "grant = { delay = \"5ms\", bytes = \"6100B\", limit = 30 }", CUBIC);
    assert!(flow(&short).drops > Some(0) && flow(&few).drops == Some(0), "{:?}", flow(&short));
}

/// A cycle has three transmission opportunities: two for packets of 1,514 B, and one for their ACK
/// of 66 B. The cycle takes 0.6 ms for overhead, 1.2112 ms for the packets and 0.0264 ms for the
/// ACK.
#[test]
fn a_bulk_flow_over_a_shared_medium_gets_what_turns_and_acks_leave() {
    let cycle_ms = 3.0 * 0.2 + 2.0 * 0.6056 + 0.0264;
    let expected = 2.0 * 1448.0 * 8.0 / 1000.0 / cycle_ms;
    for cc in [BBR, CUBIC] {
        let shared = one("", "airtime = \"0.2ms\"\nreverse_rate = \"forward\"", cc);
        let got = shared.summary.flows[0].goodput_ss_mbps.unwrap();
        // The tolerance is 3 %, because a delayed ACK does not always cover two packets.
        assert!((got / expected - 1.0).abs() < 0.03, "{cc}: {got} of {expected}");
    }
    // With 32 packets per transmission opportunity, a cycle has two transmission opportunities, 32
    // packets and 16 ACKs. The packets take 96 % of the cycle.
    let turns = "airtime = { overhead = \"0.2ms\", packets = 32 }\nreverse_rate = \"forward\"";
    let cycle_ms = 2.0 * 0.2 + 32.0 * 0.6056 + 16.0 * 0.0264;
    let expected = 32.0 * 1448.0 * 8.0 / 1000.0 / cycle_ms;
    let got = one("", turns, CUBIC).summary.flows[0].goodput_ss_mbps.unwrap();
    assert!((got / expected - 1.0).abs() < 0.03, "{got} of {expected}");
}

#[test]
fn acks_come_as_often_as_delack_says() {
    let acks = |delack: &str| {
        let result = one(
            &format!("delack = {delack}\nrwnd = \"20000B\""),
            "reverse_rate = \"10Mbit/s\"",
            CUBIC,
        );
        let back = result.summary.links.iter().find(|link| link.name == "bottleneck.reverse");
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        let ratio = back.unwrap().arrivals.unwrap() as f64
            / flow(&result).delivered_packets.unwrap() as f64;
        ratio
    };
    let every = acks("{ every = 1 }");
    let fourth = acks("{ every = 4, timer = \"100ms\" }");
    let linux = acks("\"linux\"");
    assert!((0.99..1.02).contains(&every), "{every}");
    assert!((0.24..0.35).contains(&fourth), "{fourth}");
    assert!((0.45..1.02).contains(&linux), "{linux}");
}

#[test]
fn the_smallest_timeout_decides_after_a_lost_flight() {
    let at = |min_rto: &str| {
        goodput(&one(&format!("min_rto = \"{min_rto}\""), "loss = 0.3", "cc = \"reno\""))
    };
    assert!(at("50ms") > at("1s"), "{} {}", at("50ms"), at("1s"));
}

#[test]
fn the_initial_window_saves_round_trips() {
    let fct = |segments: u32| {
        let result =
            one(&format!("initial_cwnd = {segments}"), "", "cc = \"cubic\"\nbytes = \"40000B\"");
        flow(&result).fct_ms.mean.unwrap()
    };
    assert!(fct(1) > fct(10) + 60.0, "{} {}", fct(1), fct(10));
    assert!(fct(10) > fct(40) + 20.0, "{} {}", fct(10), fct(40));
}

#[test]
fn framing_counts_on_the_wire_and_not_in_goodput() {
    let with = one("", "framing = \"14B\"", CUBIC);
    let without = one("", "framing = \"0B\"", CUBIC);
    let ratio = flow(&without).goodput_ss_mbps.unwrap() / flow(&with).goodput_ss_mbps.unwrap();
    assert!((ratio - 1514.0 / 1500.0).abs() < 0.002, "{ratio}");
}

#[test]
fn reordering_and_jitter_act_behind_the_queue() {
    let plain = one("", "", CUBIC);
    let reordered = one("", "reorder = { ratio = 0.01, by = \"3ms\" }", CUBIC);
    let shaken = one("", "jitter = { up_to = \"5ms\", keep_order = false }", CUBIC);
    let orderly = one("", "jitter = \"5ms\"", CUBIC);
    // `reorder` delays all packets by another 3 ms, except the 1 % that overtake them.
    let more = flow(&reordered).rtt_ms.p50.unwrap() - flow(&plain).rtt_ms.p50.unwrap();
    assert!(more > 0.0, "{more}");
    assert!(flow(&shaken).rtt_ms.mean.unwrap() > 30.0);
    assert_eq!(flow(&orderly).rto_count, Some(0));
    assert!(goodput(&shaken) > 0.5 * goodput(&plain), "{}", goodput(&shaken));
}

/// Packets that arrive after a lost packet and before its retransmission are out of order. A
/// duplicate is not counted as delivered again.
#[test]
fn packets_out_of_order_are_counted_among_the_delivered_ones() {
    let counts = |link: &str| {
        let result = result(&format!(
            "duration = \"20s\"\n[bottleneck]\nrate = \"20Mbit/s\"\nbuffer = \"unlimited\"\n{link}\n\
             [[flows]]\ncc = \"cubic\"\nrtt = \"30ms\"\nbytes = \"3MB\"\n"
        ));
        let flow = flow(&result);
        let twice = flow.sent_packets.unwrap()
            - flow.delivered_packets.unwrap()
            - flow.drops.unwrap()
            - flow.random_losses.unwrap();
        assert_eq!(flow.duplicate_packets, Some(twice));
        (flow.out_of_order_packets.unwrap(), flow.delivered_packets.unwrap(), twice)
    };
    assert_eq!(counts(""), (0, 2_072, 0));
    let (above, delivered, _) = counts("loss = 0.01");
    assert!(above > 20 && delivered == 2_072, "{above} of {delivered}");
    let (above, delivered, twice) = counts("jitter = { up_to = \"25ms\", keep_order = false }");
    assert!(twice > 0 && delivered == 2_072 && above < delivered, "{above}, {twice} twice");
}

#[test]
fn loss_before_the_queue_leaves_it_shorter() {
    let at = |place: &str| {
        one("", &format!("loss = 0.02\nloss_at = \"{place}\""), BBR).summary.links[0].clone()
    };
    let (before, after) = (at("before"), at("after"));
    assert!(
        before.utilization.unwrap() < after.utilization.unwrap(),
        "packets lost before the queue must not use the link's capacity"
    );
}

/// The bucket has space for ten packets and the FIN of 66 B. With a peak rate of 50 Mbit/s, each
/// packet except the first waits for the time that its own bytes take at that rate.
#[test]
fn a_bucket_is_emptied_at_the_peak_rate() {
    let fct = |peak: &str| {
        let link = format!("burst = \"16000B\"\n{peak}");
        let result = one("initial_cwnd = 20", &link, "cc = \"cubic\"\nbytes = \"14480B\"");
        flow(&result).fct_ms.mean.unwrap()
    };
    let (all_at_once, spread) = (fct(""), fct("peak_rate = \"50Mbit/s\""));
    let expected = (9.0 * 1514.0 + 66.0) * 8.0 / 50e3;
    assert!((spread - all_at_once - expected).abs() < 0.001, "{all_at_once} {spread} {expected}");
}

#[test]
fn a_policer_lets_its_rate_through_and_its_drops_are_neither_the_queues_nor_random() {
    let policed = one("", "police = { rate = \"5Mbit/s\", burst = \"32KiB\" }", BBR);
    let link = &policed.summary.links[0];
    assert!(link.policer_drops.unwrap() > 0 && goodput(&policed) < 5.0, "{link:?}");
    assert_eq!((link.drops, link.random_losses), (Some(0), Some(0)));
    // All dropped packets are data of the only flow, so link, flow and group have the same count.
    let of_flow = policed.summary.flows[0].policer_drops;
    assert_eq!(
        (of_flow, policed.summary.flow_groups[0].policer_drops),
        (link.policer_drops, of_flow)
    );
    let accounted = [link.departures, link.queued_at_end, link.policer_drops];
    assert_eq!(link.arrivals.unwrap(), accounted.iter().flatten().sum::<u64>());
}

#[test]
fn drops_are_divided_by_whether_a_packet_arrived_or_left() {
    let link = |queue: &str| one("", queue, CUBIC).summary.links[0].clone();
    let codel = link("queue = \"codel\"");
    assert_eq!((codel.drops_enqueue, codel.drops_dequeue), (Some(0), codel.drops));
    assert!(codel.drops > Some(0), "{codel:?}");
    let sojourn = codel.sojourn_ms;
    assert!(sojourn.mean < sojourn.p95 && sojourn.p95 < sojourn.max, "{sojourn:?}");
    let red = link("queue = \"red\"");
    assert_eq!((red.drops_enqueue, red.drops_dequeue), (red.drops, Some(0)));
    let tail = link("");
    assert_eq!((tail.drops_enqueue, tail.drops_dequeue, tail.sojourn_ms.max), (None, None, None));
}

#[test]
fn a_shaper_of_cake_sends_each_packet_at_the_start_of_its_time() {
    let at = |link: &str| {
        result(&format!(
            "title = \"cake\"\nduration = \"8s\"\n[bottleneck]\n{link}\n\
             [[flows]]\ncc = \"cubic\"\nrtt = \"30ms\"\n"
        ))
    };
    let shaped = at("queue = { discipline = \"cake\", bandwidth = \"2Mbit/s\" }");
    let served = at("rate = \"2Mbit/s\"\nqueue = \"cake\"");
    let rtt_ms_min = |result: &RunResult| flow(result).rtt_sample_ms.min.unwrap();
    // The SYN has the smallest RTT. With the shaper it is 30 ms, because the shaper sends a packet
    // before the packet's transmission time passes, not after it. A link with a rate adds the
    // transmission time of the SYN's 74 bytes, 0.296 ms.
    assert!((rtt_ms_min(&shaped) - 30.0).abs() < 1e-9, "{}", rtt_ms_min(&shaped));
    assert!((rtt_ms_min(&served) - 30.296).abs() < 1e-9, "{}", rtt_ms_min(&served));
    for result in [&shaped, &served] {
        let link = &result.summary.links[0];
        assert_eq!(link.rate_mbps, Some(2.0));
        assert!(link.utilization.is_some_and(|used| used > 0.9 && used < 1.001), "{link:?}");
    }
}

#[test]
fn a_rate_schedule_keeps_or_follows() {
    let at = |change: &str| {
        let text = format!(
            "title = \"a step down\"\nduration = \"4s\"\n[bottleneck]\n\
             rate = [[\"0s\", \"20Mbit/s\"], [\"2s\", \"2Mbit/s\"]]\nbuffer = \"100pkt\"\nrate_change = \"{change}\"\n\
             [[flows]]\ncc = \"cubic\"\nrtt = \"30ms\"\n"
        );
        result(&text)
    };
    let (keep, follow) = (at("keep"), at("follow"));
    assert_ne!(keep.summary.digest, follow.summary.digest);
    // The rate is 20 Mbit/s for 2 s, then 2 Mbit/s for 2 s: 11 Mbit/s on average. With `keep`, the
    // packets that wait at 2 s, at most 100, still depart at 20 Mbit/s. These packets can add 0.3
    // Mbit/s to the average over 4 s.
    assert!(
        goodput(&follow) < 11.0 && goodput(&keep) < 11.5,
        "{} {}",
        goodput(&follow),
        goodput(&keep)
    );
}

#[test]
fn sources_send_what_they_say() {
    let sent = |source: &str| {
        let result = one("", "", &format!("cc = \"cubic\"\n{source}"));
        goodput(&result) * 8.0 * 1e6 / 8.0
    };
    let near = |bytes: f64, expected: f64| (bytes / expected - 1.0).abs() < 0.02;
    assert!(near(sent("rate = \"2Mbit/s\""), 2e6));
    assert!(near(sent("write = { bytes = \"10000B\", every = \"100ms\" }"), 80.0 * 10_000.0));
    // The run lasts 8 s, and the source is on for one second of every four, so it sends for two
    // seconds at 4 Mbit/s in total.
    assert!(near(sent("on = \"1s\"\noff = \"3s\"\nrate = \"4Mbit/s\""), 2.0 * 4e6 / 8.0));
    let train =
        one("", "", "cc = \"cubic\"\ntrain = { bytes = \"15000B\", count = 5, gap = \"50ms\" }");
    assert_eq!(flow(&train).fct_ms.n, Some(5));
    assert_eq!(train.transfers.len(), 5);
    let gap =
        train.transfers.start_s[1] - train.transfers.start_s[0] - train.transfers.fct_s[0].unwrap();
    assert!((gap - 0.05).abs() < 1e-9, "{gap}");
}

#[test]
fn a_source_with_a_rate_writes_while_off_what_the_socket_did_not_take_while_on() {
    // In each on period of one second, the source offers 500 kB: twice what the link carries in
    // that time, and seven times what fits into the socket.
    let sent = |source: &str| {
        let result = result(&format!(
            "duration = \"8s\"\n[stack]\nsndbuf = \"64KiB\"\n[bottleneck]\nrate = \"2Mbit/s\"\nbuffer = \"2bdp\"\n\
             [[flows]]\nrtt = \"30ms\"\ncc = \"cubic\"\n{source}\n"
        ));
        goodput(&result) * 8.0 * 1e6 / 8.0
    };
    let offered = 2.0 * 500_000.0;
    let near = |bytes: f64| (bytes / offered - 1.0).abs() < 0.01;
    let both = "rate = \"4Mbit/s\"\non = \"1s\"\noff = \"3s\"";
    assert!(near(sent(both)), "{} of {offered}", sent(both));
    // Without a rate, a source writes only the data that the socket takes during the on period.
    let greedy = sent("on = \"1s\"\noff = \"3s\"");
    assert!(greedy < 0.75 * offered, "{greedy}");
}

#[test]
fn a_stopped_flow_counts_up_to_its_stop() {
    let result = one("", "", "cc = \"cubic\"\nstop = \"4s\"");
    assert!((flow(&result).stop_s.unwrap() - 4.0).abs() < 1e-9);
    assert!(goodput(&result) > 15.0, "{}", goodput(&result));
    let late = flow(&result).goodput_ss_mbps;
    assert_eq!(late, None, "the flow stops before the steady state begins at 5 s");
}

#[test]
fn access_links_of_finite_rate_limit_and_queue() {
    let text = |access: &str| {
        format!(
            "title = \"slow access\"\nduration = \"8s\"\n[bottleneck]\nrate = \"20Mbit/s\"\nbuffer = \"2bdp\"\n\
             [access]\n{access}\n[[flows]]\ncc = \"cubic\"\nrtt = \"30ms\"\n"
        )
    };
    let slow = result(&text("rate = \"5Mbit/s\"\nbuffer = \"20pkt\""));
    assert!(goodput(&slow) < 5.0, "{}", goodput(&slow));
    let names: Vec<&str> = slow.summary.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["bottleneck", "left[0]", "right[0]"]);
    assert!(slow.summary.links[1].drops > Some(0));
}
