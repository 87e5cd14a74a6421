//! Replays the service `cwndval`. Event 1 validates cwnd after sending. Event 2 returns whether the
//! sender is cwnd-limited. Event 3 returns the current ssthresh. Event 4 is the restart after an
//! idle time. Event 5 computes the size of a burst.

use bbrlab_cc::{Conn, reno};
use bbrlab_tcp::cwnd_validation::{CwndUsage, UnderuseInput};
use bbrlab_tcp::pacing::Burst;

use super::{Service, i32_of, named, u32_of};
use crate::golden::module::ca_state;

/// The kernel's initial cwnd, in packets.
const INIT_CWND: u32 = 10;

pub(super) struct CwndVal;

impl Service for CwndVal {
    const INPUTS: &'static [&'static str] = &[
        "event",
        "is_cwnd_limited_arg",
        "ca_state",
        "cwnd",
        "ssthresh",
        "packets_out",
        "max_packets_out",
        "is_cwnd_limited",
        "cwnd_usage_seq",
        "snd_una",
        "snd_nxt",
        "delta_jiffies",
        "rto_jiffies",
        "pacing_rate",
        "pacing_shift",
        "gso_max_size",
        "min_rtt_us",
        "mss",
        "min_segs",
    ];
    const COMPARED: &'static [&'static str] = &[
        "ret",
        "o_cwnd",
        "o_ssthresh",
        "o_max_packets_out",
        "o_is_cwnd_limited",
        "o_cwnd_usage_seq",
    ];

    fn step(
        &mut self,
        input: &[i64],
        output: &mut impl FnMut(&'static str, i64),
    ) -> Result<(), String> {
        named!(input; event, limited_arg, state, cwnd, ssthresh, packets_out, max_packets_out, is_limited,
            usage_seq, snd_una, snd_nxt, delta, rto, pacing_rate, pacing_shift, gso_max_size, min_rtt_us, mss,
            min_segs);
        let mut conn = Conn {
            ca_state: ca_state(state)?,
            max_packets_out: u32_of(max_packets_out),
            is_cwnd_limited: is_limited != 0,
            snd_una: u32_of(snd_una),
            snd_nxt: u32_of(snd_nxt),
            ..Conn::default()
        };
        conn.ctl.cwnd = u32_of(cwnd);
        conn.ctl.cwnd_clamp = u32::MAX;
        conn.ctl.ssthresh = u32_of(ssthresh);
        let mut usage = CwndUsage { cwnd_usage_seq: u32_of(usage_seq), ..CwndUsage::default() };
        let mut ret = 0;
        match event {
            1 => {
                // In the traces, the sender has just used the whole cwnd, so cwnd does not decay.
                let starving = UnderuseInput {
                    rto_jiffies: u32::MAX,
                    init_cwnd: INIT_CWND,
                    is_sndbuf_full: false,
                    has_cong_control: false,
                };
                let decay =
                    usage.validate(&mut conn, u32_of(packets_out), limited_arg != 0, starving);
                assert_eq!(decay, None);
            }
            2 => ret = u32::from(reno::is_cwnd_limited(&conn)),
            3 => ret = reno::current_ssthresh(&conn),
            4 => {
                let decay = usage.restart(&conn, i32_of(delta), u32_of(rto), INIT_CWND);
                (conn.ctl.cwnd, conn.ctl.ssthresh) = (decay.cwnd, decay.ssthresh);
            }
            5 => {
                let burst = Burst {
                    pacing_rate: pacing_rate.cast_unsigned(),
                    pacing_shift: u32_of(pacing_shift),
                    gso_max_size: u32_of(gso_max_size),
                    min_rtt_us: u32_of(min_rtt_us),
                };
                ret = burst.segs(u32_of(mss), u32_of(min_segs));
            }
            _ => return Err(format!("event {event} is not known")),
        }
        output("ret", i64::from(ret));
        output("o_cwnd", i64::from(conn.ctl.cwnd));
        output("o_ssthresh", i64::from(conn.ctl.ssthresh));
        output("o_max_packets_out", i64::from(conn.max_packets_out));
        output("o_is_cwnd_limited", i64::from(conn.is_cwnd_limited));
        output("o_cwnd_usage_seq", i64::from(usage.cwnd_usage_seq));
        Ok(())
    }
}
