//! The round-trip time of a flow's packets: one value for each data packet that arrived, from the
//! transmission that arrived to the ACK or SACK that reports it.

use crate::scenario_text::result;
use bbrlab_run::{FlowSummary, RunSummary};

fn run(keys: &str, flow: &str) -> RunSummary {
    result(&format!(
        "title = \"round-trip times\"\nduration = \"20s\"\nsample = \"off\"\n[bottleneck]\n{keys}\n[[flows]]\n{flow}\n"
    ))
    .summary
}

fn flow(keys: &str, of: &str) -> FlowSummary {
    run(keys, of).flows.remove(0)
}

/// A flow's mean RTT is the path's RTT, plus the mean queueing delay, plus the time for which the
/// receiver delays the ACK.
#[test]
fn rtts_are_the_base_rtt_and_what_packets_waited() {
    for (cc, queue) in [
        ("bbr1", "droptail"),
        ("bbr3", "fq_codel"),
        ("cubic", "droptail"),
        ("cubic", "fq_codel"),
        ("reno", "codel"),
    ] {
        let run = run(
            &format!("rate = \"50Mbit/s\"\nbuffer = \"1bdp\"\nqueue = \"{queue}\""),
            &format!("cc = \"{cc}\"\nrtt = \"100ms\""),
        );
        let (rtt, queue_ms) =
            (run.flows[0].rtt_ms.mean.unwrap(), run.links[0].queue_delay_ms.mean.unwrap());
        // A full packet takes 0.24 ms. In bulk transfer, the ACK of every second packet is delayed
        // by 0.24 ms.
        let rest_ms = rtt - 100.0 - 0.2422 - queue_ms;
        assert!((0.0..1.0).contains(&rest_ms), "{cc} over {queue}: {rtt} and {queue_ms}");
    }
}

/// While a flow repairs losses, few ACKs give an RTT sample. The mean of RTT samples
/// (`rtt_sample_ms`) therefore omits most long delays; the RTTs of packets (`rtt_ms`) include them.
#[test]
fn packets_that_wait_while_few_acks_give_samples_count() {
    let flow = flow(
        "rate = \"20Mbit/s\"\nbuffer = \"2bdp\"\nreverse_rate = \"2Mbit/s\"\nack_thinning = 8",
        "cc = \"cubic\"\nrtt = \"40ms\"",
    );
    let (packets, samples) = (flow.rtt_ms, flow.rtt_sample_ms);
    assert_ne!(packets.mean, samples.mean);
    assert!(packets.min >= Some(40.0), "{packets:?}");
    assert!(packets.p50 <= packets.p95 && packets.p95 <= packets.p99 && packets.p99 <= packets.max);
}

/// The RTT of a retransmission is measured from its own departure, however long ago its original
/// was lost. No packet's RTT exceeds the sum of the base RTT, the delay of a full queue and the
/// time by which the receiver delays an ACK.
#[test]
fn a_retransmission_counts_from_its_own_departure() {
    // At most 100 packets wait in the queue, for at most 24.2 ms. While a segment is missing, the
    // receiver delays no ACK.
    let flow = flow(
        "rate = \"50Mbit/s\"\nbuffer = \"100pkt\"\nloss = 0.02",
        "cc = \"bbr1\"\nrtt = \"100ms\"",
    );
    assert!(flow.retransmitted_packets.unwrap() > 500, "{flow:?}");
    let rtt = flow.rtt_ms;
    assert!(rtt.min > Some(100.2) && rtt.max < Some(100.0 + 25.0 + 41.0), "{rtt:?}");
    assert!(flow.delivered_packets > Some(10_000));
}

/// Packets whose ACKs are lost are reported by later ACKs, so their RTTs are longer.
#[test]
fn what_a_lost_ack_would_have_reported_waits_for_the_next() {
    let of = |loss: &str| {
        flow(
            &format!("rate = \"50Mbit/s\"\nbuffer = \"500pkt\"\n{loss}"),
            "cc = \"bbr1\"\nrtt = \"30ms\"\nrate = \"5Mbit/s\"",
        )
    };
    let (all, half) = (of("").rtt_ms, of("reverse_loss = 0.5").rtt_ms);
    // The flow sends a packet every 2.3 ms. If the ACK of a packet is lost, the ACK of the next one
    // or two packets reports the packet.
    assert!(half.mean.unwrap() > all.mean.unwrap() + 1.0, "{all:?} {half:?}");
    assert!(half.min >= all.min && half.p99 > all.p99, "{all:?} {half:?}");
}
