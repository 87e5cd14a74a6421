//! Compares `growth = "ns2"`, ACK by ACK, with the port of ns-2's CUBIC to ns-3 that the thesis
//! [lanigan] ran.

use super::{Cubic, CubicNs2, CubicParams};
use crate::no_draw::NoDraw;
use crate::{AckSample, CaState, CongestionControl, Conn, ParamValue};

/// ACKs and losses of a flow's first 18 s in ns-3: slow start and eight losses, one of them a
/// timeout.
const ACKS: &str = include_str!("ns2_acks.txt");

fn cubic() -> CubicNs2 {
    let params = vec![
        ("beta".to_owned(), ParamValue::Int(819)),
        ("fast_convergence".to_owned(), ParamValue::Bool(false)),
    ];
    CubicNs2::new(CubicParams::from_params(&params).unwrap())
}

fn conn(cwnd: u32, ssthresh: u32) -> Conn {
    let mut conn = Conn { hz: 1000, clock_ns: 40_000_000_000, ..Conn::default() };
    conn.ctl.cwnd = cwnd;
    conn.ctl.cwnd_clamp = u32::MAX;
    conn.ctl.ssthresh = ssthresh;
    conn
}

/// Calls the algorithm with the inputs that were recorded from the port, and compares the results
/// with the port's. Returns the numbers of ACKs and losses.
fn replay(cubic: &mut impl CongestionControl) -> (u32, u32) {
    let mut conn = conn(10, u32::MAX);
    let mut count = (0, 0);
    for (line, text) in ACKS.lines().enumerate().filter(|(_, text)| !text.starts_with('#')) {
        let fields: Vec<&str> = text.split(' ').collect();
        let number = |n: usize| fields[n].parse::<u32>().unwrap();
        let wait = |conn: &mut Conn, ms: u32| conn.clock_ns += u64::from(ms) * 1_000_000;
        let sample = |pkts_acked, rtt_ms: u32| AckSample {
            pkts_acked,
            rtt_us: (rtt_ms * 1000).cast_signed(),
            ..AckSample::default()
        };
        match fields[0] {
            "S" => assert_eq!(conn.ctl.ssthresh, number(1), "line {}", line + 1),
            "=" => conn.ctl.cwnd = number(1),
            "L" => {
                wait(&mut conn, number(1));
                cubic.pkts_acked(&conn, &sample(0, number(2)));
                conn.ctl.ssthresh = cubic.ssthresh(&conn);
                count.1 += 1;
            }
            _ => {
                wait(&mut conn, number(0));
                cubic.pkts_acked(&conn, &sample(number(2), number(1)));
                if fields.len() == 3 {
                    continue;
                }
                conn.ctl = cubic.cong_avoid(&conn, 0, number(3));
                assert_eq!(conn.ctl.cwnd, number(4), "line {}: {text}", line + 1);
                count.0 += 1;
            }
        }
    }
    count
}

#[test]
fn every_window_is_the_ports() {
    assert_eq!(replay(&mut cubic()), (705, 8));
}

#[test]
#[should_panic = "line "]
fn linux_grows_otherwise() {
    replay(&mut Cubic::new(CubicParams { beta: 819, ..CubicParams::default() }));
}

#[test]
fn the_second_timeout_in_a_row_forgets_the_lowest_rtt() {
    let delay_min = |cubic: &CubicNs2| {
        let mut found = None;
        cubic.snapshot(&mut |name, value| {
            found = found.or((name == "delay_min").then_some(value));
        });
        found
    };
    let mut cubic = cubic();
    let mut conn = conn(100, 2);
    cubic.pkts_acked(&conn, &AckSample { pkts_acked: 2, rtt_us: 50_000, ..AckSample::default() });
    cubic.cong_avoid(&conn, 0, 2);
    cubic.ssthresh(&conn);
    cubic.set_state(&conn, CaState::Loss, &mut NoDraw);
    assert_eq!(delay_min(&cubic), Some(400), "eighths of a millisecond");
    conn.ca_state = CaState::Loss;
    cubic.ssthresh(&conn);
    assert_eq!(delay_min(&cubic), Some(0));
}

#[test]
fn no_window_and_no_clock_makes_it_stop() {
    for cwnd in [0, 1, 30_000, 0x8888_8889, u32::MAX] {
        let mut cubic = cubic();
        for rtt_us in [-1, 0, 1000, i32::MAX] {
            let mut conn = conn(cwnd, 2);
            conn.clock_ns = conn.clock_ns.wrapping_mul(0x9e37_79b9);
            cubic.pkts_acked(&conn, &AckSample { pkts_acked: 7, rtt_us, ..AckSample::default() });
            let _ = cubic.cong_avoid(&conn, 0, 5);
            let _ = cubic.ssthresh(&conn);
            let _ = cubic.cong_avoid(&conn, 0, 0);
        }
    }
}
