//! Known properties of flows: Mathis' law, BBR's queue, BBR's bound on cwnd, and the effect of
//! random loss.

use crate::scenario_text::{results, runs};
use bbrlab_run::RunResult;
use bbrlab_sim::Sim;
use bbrlab_units::{Span, Time};

#[expect(clippy::cast_precision_loss, reason = "a handful of runs")]
fn mean(results: &[RunResult], pick: impl Fn(&RunResult) -> f64) -> f64 {
    results.iter().map(pick).sum::<f64>() / results.len() as f64
}

fn goodput(result: &RunResult) -> f64 {
    result.summary.flows[0].goodput_mbps.expect("it ran")
}

/// Compares goodput with the law of [mathis]: the rate of a Reno flow with loss ratio p is MSS /
/// RTT * sqrt(3 / 2) / sqrt(p). Delayed ACKs have no effect, because cwnd grows by the packets
/// acknowledged, not by the number of ACKs. The check uses twenty seeds of 100 s.
fn check_mathis(loss: f64, tolerance: f64) {
    let text = format!(
        r#"
        title = "Reno under random loss"
        duration = "100s"
        repeat = 20
        sample = "off"
        [bottleneck]
        rate = "100Mbit/s"
        buffer = "1bdp"
        loss = {loss}
        [[flows]]
        cc = "reno"
        rtt = "30ms"
        "#
    );
    let results = results(&text);
    let measured = mean(&results, goodput);
    let rtt_s = mean(&results, |result| result.summary.flows[0].rtt_ms.mean.unwrap()) / 1e3;
    let law = 1448.0 * 8.0 / rtt_s * (1.5 / loss).sqrt() / 1e6;
    let off = measured / law - 1.0;
    assert!(off.abs() < tolerance, "{measured:.3} Mbit/s, the law says {law:.3}: {off:+.3}");
}

#[test]
fn reno_obeys_mathis_at_a_thousandth() {
    check_mathis(0.001, 0.10);
}

/// At 1 % loss there are timeouts, which Mathis' law does not include. The tolerance is therefore
/// 20 %.
#[test]
fn reno_obeys_mathis_at_a_hundredth() {
    check_mathis(0.01, 0.20);
}

/// Two BBR v1 flows together overestimate the bandwidth. The cwnds of two BBR v1 flows add up to
/// more than 2 BDP, so the flows keep 1 to 1.3 BDP queued if the buffer is large enough ([song]
/// Figure 9). In recorded runs of real Linux, the queue is 1.1 to 1.2 BDP.
#[test]
fn two_bbr1_flows_keep_a_bdp_in_a_deep_buffer() {
    let result = &results(TWO_BBR)[0];
    let bdp = 50e6 * 0.030 / (8.0 * 1514.0);
    let queue = result.summary.links[0].queue_packets.mean.unwrap() / bdp;
    assert!((1.0..=1.3).contains(&queue), "mean queue {queue:.3} BDP");
}

const TWO_BBR: &str = r#"
    title = "two BBR v1 flows in 4 BDP"
    duration = "100s"
    [bottleneck]
    rate = "50Mbit/s"
    buffer = "4bdp"
    [[flows]]
    cc = "bbr1"
    rtt = "30ms"
    [[flows]]
    cc = "bbr1"
    rtt = "30ms"
    start = "2s"
"#;

/// `bbr_set_cwnd`: once STARTUP has found the bandwidth (`full_bw_reached`), cwnd is at or below
/// its target after every ACK. ACKs are at least 242 us apart, so steps of 50 us show the state
/// after each ACK.
#[test]
fn cwnd_never_exceeds_its_target_once_the_pipe_is_full() {
    let run = &runs(TWO_BBR)[0];
    let mut sim = Sim::new(run).unwrap();
    let mut checked = 0_u64;
    let mut delivered = [0; 2];
    let mut at = Time::ZERO;
    while at < Time(20_000_000_000) {
        at += Span::from_micros(50);
        sim.advance(at);
        for flow in 0..2_u32 {
            let conn = sim.conn(flow);
            if conn.delivered == delivered[flow as usize] {
                continue;
            }
            delivered[flow as usize] = conn.delivered;
            let state = State::of(&sim, flow);
            if state.full_bw_reached == 0 {
                continue;
            }
            checked += 1;
            let target = state.target_cwnd(conn.ctl.pacing_rate, conn.mss);
            assert!(
                i64::from(conn.ctl.cwnd) <= target.max(4),
                "flow {flow} at {at}: cwnd {} above the target {target}",
                conn.ctl.cwnd
            );
        }
    }
    assert!(checked > 30_000, "only {checked} ACKs were seen");
}

/// The fields of BBRv1's private state from which the target of cwnd is computed, under the
/// kernel's names.
#[derive(Default)]
struct State {
    full_bw_reached: i64,
    cwnd_gain: i64,
    bw: i64,
    min_rtt_us: i64,
    mode: i64,
    cycle_idx: i64,
    extra_acked: [i64; 2],
}

impl State {
    fn of(sim: &Sim, flow: u32) -> Self {
        let mut state = Self::default();
        sim.cc_snapshot(flow, &mut |name, value| match name {
            "full_bw_reached" => state.full_bw_reached = value,
            "cwnd_gain" => state.cwnd_gain = value,
            "bw" => state.bw = value,
            "min_rtt_us" => state.min_rtt_us = value,
            "mode" => state.mode = value,
            "cycle_idx" => state.cycle_idx = value,
            "extra_acked0" => state.extra_acked[0] = value,
            "extra_acked1" => state.extra_acked[1] = value,
            _ => {}
        });
        state
    }

    /// Returns the target of cwnd in packets. The target is the sum of `gain * bw * min_rtt`, the
    /// estimate `extra_acked` of aggregation (at most what `bw` delivers in 100 ms) and three
    /// bursts, rounded up to an even number. In the phase with a pacing gain of 1.25, 2 packets are
    /// added. `gain` is the gain of cwnd: 2 from PROBE_BW on. In DRAIN, it is still STARTUP's 2.89.
    fn target_cwnd(&self, pacing_rate: u64, mss: u32) -> i64 {
        let gain = self.cwnd_gain;
        assert!(self.mode == 1 || gain <= 512, "mode {} has a cwnd gain of {gain}/256", self.mode);
        let bdp = (((self.bw * self.min_rtt_us * gain) >> 8) + (1 << 24) - 1) >> 24;
        let aggregation =
            self.extra_acked[0].max(self.extra_acked[1]).min((self.bw * 100_000) >> 24);
        let burst = ((pacing_rate >> 10) / u64::from(mss)).clamp(2, 127).cast_signed();
        let even = (bdp + aggregation + 3 * burst + 1) & !1;
        let is_probing = self.mode == 2 && self.cycle_idx == 0;
        even + if is_probing { 2 } else { 0 }
    }
}

/// [song] Figure 8: CUBIC's throughput collapses under random loss, BBRv1's does not.
#[test]
fn random_loss_breaks_cubic_and_spares_bbr1() {
    let at = |cc: &str, loss: &str| {
        let text = format!(
            r#"
            title = "one flow under random loss"
            duration = "50s"
            repeat = 10
            sample = "off"
            [bottleneck]
            rate = "50Mbit/s"
            buffer = "10bdp"
            loss = {loss}
            [[flows]]
            cc = "{cc}"
            rtt = "30ms"
            "#
        );
        mean(&results(&text), goodput)
    };
    let share = at("cubic", "0.0001") / at("cubic", "0.0");
    assert!((0.85..=0.95).contains(&share), "cubic at 0.01 %: {share:.3} of its loss-free rate");
    let cubic = at("cubic", "0.01");
    assert!(cubic < 6.0, "cubic at 1 %: {cubic:.2} Mbit/s");
    // On a real Linux stack, BBRv1 reaches 40 to 43 Mbit/s at 5 % loss.
    let bbr1 = at("bbr1", "0.05");
    assert!(bbr1 >= 39.0, "bbr1 at 5 %: {bbr1:.2} Mbit/s");
}
