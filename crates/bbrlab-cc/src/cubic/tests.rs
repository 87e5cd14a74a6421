//! Tests of single CUBIC instances with a few chosen inputs. The crate `bbrlab-oracle` compares
//! CUBIC with kernel traces.

use std::fmt::Write as _;

use super::{Cubic, CubicParams};
use crate::no_draw::NoDraw;
use crate::{AckSample, CaState, CongestionControl as _, Conn, CwndEvent, ParamValue};
use expect_test::{Expect, expect};

/// Makes a connection in congestion avoidance that is always limited by cwnd.
fn conn(cwnd: u32) -> Conn {
    let mut conn = Conn { hz: 1000, is_cwnd_limited: true, jiffies: 5_000, ..Conn::default() };
    conn.ctl.cwnd = cwnd;
    conn.ctl.cwnd_clamp = u32::MAX;
    conn.ctl.ssthresh = 2;
    conn
}

/// Compares cwnd with `expected` at each of the times `seconds` after a loss. The loss occurs at a
/// cwnd of 100 packets, and the RTT is 100 ms.
fn check_growth(seconds: &[u32], expected: &Expect) {
    let mut cubic = Cubic::new(CubicParams { tcp_friendliness: false, ..CubicParams::default() });
    let mut conn = conn(100);
    conn.ctl = cubic.init(&conn, &mut NoDraw);
    conn.ctl.cwnd = cubic.ssthresh(&conn);
    let mut lines = String::new();
    for round in 0..=seconds.last().unwrap() * 10 {
        if round % 10 == 0 && seconds.contains(&(round / 10)) {
            writeln!(lines, "{} s: {}", round / 10, conn.ctl.cwnd).unwrap();
        }
        conn.jiffies += 100;
        conn.ctl = cubic.cong_avoid(&conn, 0, conn.ctl.cwnd);
    }
    expected.assert_eq(&lines);
}

#[test]
fn window_returns_to_the_last_loss_lingers_and_goes_on() {
    check_growth(
        &[0, 1, 2, 3, 4, 5, 6, 8, 10],
        &expect![[r#"
            0 s: 70
            1 s: 86
            2 s: 96
            3 s: 100
            4 s: 100
            5 s: 100
            6 s: 102
            8 s: 120
            10 s: 173
        "#]],
    );
}

#[test]
fn a_timeout_forgets_the_curve() {
    let mut cubic = Cubic::default();
    let mut conn = conn(100);
    cubic.ssthresh(&conn);
    cubic.set_state(&conn, CaState::Loss, &mut NoDraw);
    conn.ctl.cwnd = 50;
    cubic.cong_avoid(&conn, 0, 1);
    // The timeout has deleted Wmax. Until the next loss, cwnd therefore grows by at least 5 % per
    // round trip: by one packet per 20 acknowledged packets.
    assert_eq!(cubic.epoch.cnt(), 20);
}

#[test]
fn fast_convergence_gives_way_when_the_last_maximum_was_not_reached() {
    let mut cubic = Cubic::default();
    assert_eq!(cubic.ssthresh(&conn(100)), 70);
    assert_eq!(cubic.ssthresh(&conn(90)), 63);
    let mut fields = Vec::new();
    cubic.snapshot(&mut |name, value| fields.push((name, value)));
    assert!(fields.contains(&("last_max_cwnd", 76)));
}

#[test]
fn idle_time_does_not_move_the_window_along_the_curve() {
    let mut cubic = Cubic::default();
    let mut conn = conn(70);
    conn.ctl = cubic.cong_avoid(&conn, 0, 1);
    conn.lsndtime = conn.jiffies;
    conn.jiffies += 60_000;
    cubic.cwnd_event(&conn, CwndEvent::TxStart, &mut NoDraw);
    assert!(cubic.epoch.is_younger_than_a_second(&conn));
}

#[test]
fn a_window_beyond_all_bounds_does_not_loop_forever() {
    let mut cubic = Cubic::default();
    // In 32 bits, 15 * cwnd wraps to 7. The step of the loop that estimates Reno's cwnd is an
    // eighth of this product, so the step is 0.
    let conn = conn(0x8888_8889);
    let _ = cubic.cong_avoid(&conn, 0, 5);
}

#[test]
fn parameters_out_of_range_are_refused() {
    let params = vec![("beta".to_owned(), ParamValue::Int(1024))];
    let error = CubicParams::from_params(&params).unwrap_err().to_string();
    expect!["parameter `beta`: found 1024, expected a whole number from 1 to 1023"]
        .assert_eq(&error);
}

#[test]
fn wmax_may_survive_a_timeout() {
    let params = vec![("wmax_on_rto".to_owned(), ParamValue::Bool(true))];
    let mut cubic = Cubic::new(CubicParams::from_params(&params).unwrap());
    cubic.ssthresh(&conn(100));
    cubic.set_state(&conn(100), CaState::Loss, &mut NoDraw);
    assert_eq!(cubic.epoch.wmax(), 100);
}

#[test]
fn hystart_of_ns3_lets_the_queue_grow_to_another_minimum_rtt() {
    // Returns the RTT in ms at which HyStart ends slow start. The first round has the minimum RTT
    // of 20 ms; the RTT of each later round is 1 ms longer than the RTT of the round before.
    let end_ms = |hystart: ParamValue| {
        let params = vec![
            ("hystart".to_owned(), hystart),
            ("hystart_detect".to_owned(), ParamValue::Int(2)),
        ];
        let mut cubic = Cubic::new(CubicParams::from_params(&params).unwrap());
        let mut conn = conn(100);
        conn.ctl.ssthresh = u32::MAX;
        cubic.init(&conn, &mut NoDraw);
        for rtt_ms in 20..60 {
            conn.snd_una = conn.snd_nxt + 1;
            conn.snd_nxt += 100;
            for _ in 0..10 {
                let sample = AckSample { rtt_us: rtt_ms * 1000, ..AckSample::default() };
                if cubic.pkts_acked(&conn, &sample) == conn.ctl.cwnd {
                    return rtt_ms;
                }
            }
        }
        60
    };
    assert_eq!(
        end_ms(ParamValue::Bool(true)),
        25,
        "the threshold is an eighth of the minimum RTT, but at least 4 ms"
    );
    assert_eq!(end_ms(ParamValue::Text("ns3".to_owned())), 41);
}
