//! Tests the keys that make sockets and receivers act as in ns-3: each key alone, with Linux's
//! values of the other keys, and all keys together in the profiles.

use crate::scenario_text::result;
use bbrlab_run::{FlowSummary, RunResult};

/// Runs one flow over 20 Mbit/s, with an ACK path of the same rate. The arguments are added to
/// `[stack]` and `[[flows]]`.
fn one(stack: &str, flow: &str) -> RunResult {
    result(&format!(
        "title = \"one flow\"\nduration = \"6s\"\nsample = \"ack\"\n[stack]\n{stack}\n\
         [bottleneck]\nrate = \"20Mbit/s\"\nbuffer = \"100pkt\"\nreverse_rate = \"20Mbit/s\"\n\
         [[flows]]\n{flow}\n"
    ))
}

fn flow(result: &RunResult) -> &FlowSummary {
    &result.summary.flows[0]
}

const CUBIC: &str = "cc = \"cubic\"\nrtt = \"100ms\"";

#[test]
fn either_buffer_of_payload_is_the_flight_of_a_round_trip() {
    for stack in ["sndbuf = \"65536B\"", "rcvbuf = \"65536B\""] {
        let result = one(&format!("sockbuf = \"payload\"\n{stack}"), CUBIC);
        // 45 segments of 1448 bytes fill 65,160 of the 65,536 bytes of the buffer. The round trip
        // is about 1 ms longer than 100 ms: a segment and its ACK are serialised, and the ACK is
        // delayed until a second segment arrives.
        let mbps = flow(&result).goodput_ss_mbps.unwrap();
        assert!((5.10..5.25).contains(&mbps), "{stack}: {mbps} Mbit/s");
        let limited = &flow(&result).limited_by;
        let share = if stack.starts_with("snd") { limited.sndbuf } else { limited.rwnd };
        assert!(share.unwrap() > 0.7, "{stack}: {limited:?}");
    }
}

/// Lanigan's thesis has paths of 10 Mbit/s and socket buffers of 131072 bytes (artifact
/// lanigan2020.a01). On the path of 84 ms a single flow fills the link; on the path of 204 ms it
/// sends one socket buffer of data per round trip. Both statements hold for every queue and every
/// algorithm. In the thesis, the ratio of the two goodputs of a single flow is 0.564 to 0.571.
#[test]
fn the_rates_of_lanigan_have_the_ratio_0_570() {
    let measure = |cc: &str, delay: &str, buffer: u32| {
        let result = result(&format!(
            "duration = \"40s\"\nsample = \"off\"\n[stack]\nprofile = \"lanigan\"\n\
             [bottleneck]\nrate = \"10Mbit/s\"\ndelay = \"{delay}\"\nbuffer = \"{buffer}pkt\"\n\
             [access]\nrate = \"40Mbit/s\"\ndelay = \"1ms\"\n[[flows]]\ncc = \"{cc}\"\n"
        ));
        let flow = flow(&result);
        (flow.goodput_ss_mbps.unwrap(), flow.rtt_ms.mean.unwrap())
    };
    for cc in ["cubic", "reno"] {
        let ((near, _), (far, rtt_ms)) = (measure(cc, "40ms", 286), measure(cc, "100ms", 706));
        // A packet of 530 bytes carries 476 bytes of payload, so goodput is 8.98 of 10 Mbit/s.
        assert!((near - 8.98).abs() < 0.02, "{cc}: {near} Mbit/s at 84 ms");
        // The flow sends 275 whole segments of 476 bytes per round trip. Bursts lengthen the round
        // trip by some milliseconds.
        let window = 275.0 * 476.0 * 8e-3 / rtt_ms;
        assert!((204.0..208.0).contains(&rtt_ms), "{cc}: {rtt_ms} ms");
        assert!((far / window - 1.0).abs() < 0.004, "{cc}: {far} of {window} Mbit/s at 204 ms");
        assert!((0.564..0.571).contains(&(far / near)), "{cc}: {}", far / near);
    }
}

#[test]
fn rtt_samples_of_timestamps_are_whole_milliseconds() {
    let samples = |stack: &str, rtt: &str| {
        let result = one(stack, &format!("cc = \"reno\"\nrtt = \"{rtt}\""));
        let mut rtt_us: Vec<u32> = result.series.rtt_us.iter().flatten().copied().collect();
        rtt_us.sort_unstable();
        rtt_us.dedup();
        rtt_us
    };
    assert!(samples("", "10.3ms").iter().any(|us| us % 1000 != 0));
    let whole = samples("rtt_clock = \"1ms\"", "10.3ms");
    assert!(whole.len() > 3 && whole.iter().all(|us| us % 1000 == 0), "{whole:?}");
    // The RTT is 10.3 ms plus 0.6 ms of serialisation. An RTT sample is the difference of two clock
    // values in whole milliseconds: 10 or 11 ms.
    assert!((10_000..=11_000).contains(&whole[0]), "{whole:?}");
    // A round trip that begins and ends in the same millisecond gives a sample of 1 us; with
    // `1ms-positive` it gives no sample.
    let short = "mss = \"100B\"\nrwnd = \"600B\"\ndelack = { every = 1 }";
    let counted = samples(&format!("rtt_clock = \"1ms\"\n{short}"), "100us");
    assert_eq!(counted, [1, 1000]);
    assert_eq!(samples(&format!("rtt_clock = \"1ms-positive\"\n{short}"), "100us"), [1000]);
}

#[test]
fn what_vegas_sees_of_the_rtt_changes_when_it_is_smoothed() {
    let digest = |stack: &str| one(stack, "cc = \"vegas\"\nrtt = \"30ms\"").summary.digest;
    assert_ne!(digest(""), digest("cc_rtt = \"srtt\""));
    assert_ne!(digest("rtt_clock = \"1ms\""), digest(""));
}

#[test]
fn an_ack_of_a_retransmitted_head_gives_a_sample_or_none() {
    for clock in ["exact", "1ms"] {
        let srtt = |retrans: bool| {
            let stack = format!("rtt_clock = \"{clock}\"\nrtt_retrans = {retrans}");
            let result = one(&stack, CUBIC);
            assert!(flow(&result).retransmitted_packets.unwrap() > 0);
            result.series.srtt_us
        };
        assert_ne!(srtt(true), srtt(false), "{clock}");
    }
}

#[test]
fn sack_blocks_take_less_where_options_are_packed() {
    let bytes = |options: &str| {
        let stack = format!("tcp_options = \"{options}\"\nrwnd = \"100000B\"");
        let result = result(&format!(
            "duration = \"6s\"\n[stack]\n{stack}\n[bottleneck]\nrate = \"20Mbit/s\"\nloss = 0.02\n\
             reverse_rate = \"20Mbit/s\"\n[[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\n"
        ));
        let back = result.summary.links.iter().find(|link| link.name == "bottleneck.reverse");
        let back = back.unwrap();
        #[expect(clippy::cast_precision_loss, reason = "some thousand packets")]
        let departures = back.departures.unwrap() as f64;
        back.rate_mbps.unwrap_or_default() * back.utilization.unwrap() / departures
    };
    assert!(bytes("packed") < bytes("aligned"));
}

/// [lanigan]'s code truncates `lambda` to an integer, so the thesis's values 0.5 and 0.125 both act
/// as 0.
#[test]
fn both_lambdas_as_run_give_identical_packets() {
    let digest = |lambda: f64, of: bool| {
        let result = result(&format!(
            "duration = \"12s\"\nsample = \"off\"\n[stack]\nprofile = \"lanigan\"\n\
             [bottleneck]\nrate = \"10Mbit/s\"\ndelay = \"10ms\"\nbuffer = \"76pkt\"\n\
             [access]\nrate = \"40Mbit/s\"\ndelay = \"1ms\"\n[[flows]]\ncc = \"bbr_hsr\"\n\
             cc_params = {{ lambda = {lambda}, integer_lambda = {of} }}\n"
        ));
        result.summary.digest.unwrap()
    };
    assert_eq!(digest(0.5, true), digest(0.125, true));
    assert_ne!(digest(0.5, false), digest(0.125, false));
}
