//! Replays the service `prr`: proportional rate reduction. Event 1 begins a reduction of cwnd to
//! Reno's ssthresh, event 2 is an ACK, event 3 ends the reduction.

use bbrlab_cc::{Conn, reno};
use bbrlab_tcp::prr::Prr;

use super::{Service, i32_of, named, u32_of};
use crate::golden::module::ca_state;

pub(super) struct PrrTrace;

impl Service for PrrTrace {
    const INPUTS: &'static [&'static str] = &[
        "event",
        "ca_state",
        "snd_una_advanced",
        "newly_acked_sacked",
        "newly_lost",
        "inflight",
        "cwnd",
        "cwnd_cnt",
        "ssthresh",
        "prior_cwnd",
        "prr_delivered",
        "prr_out",
        "undo_marker",
    ];
    const COMPARED: &'static [&'static str] =
        &["o_cwnd", "o_cwnd_cnt", "o_ssthresh", "o_prior_cwnd", "o_prr_delivered", "o_prr_out"];

    fn step(
        &mut self,
        input: &[i64],
        output: &mut impl FnMut(&'static str, i64),
    ) -> Result<(), String> {
        named!(input; event, state, advanced, acked, lost, inflight, cwnd, cwnd_cnt, ssthresh, prior_cwnd,
            prr_delivered, prr_out, undo_marker);
        let mut conn = Conn {
            ca_state: ca_state(state)?,
            inflight: u32_of(inflight),
            prior_cwnd: u32_of(prior_cwnd),
            ..Conn::default()
        };
        conn.ctl.cwnd = u32_of(cwnd);
        conn.ctl.cwnd_cnt = u32_of(cwnd_cnt);
        conn.ctl.ssthresh = u32_of(ssthresh);
        let mut prr = Prr { delivered: u32_of(prr_delivered), out: u32_of(prr_out) };
        match event {
            1 => {
                conn.ctl.ssthresh = reno::ssthresh(&conn);
                conn.ctl.cwnd_cnt = 0;
                conn.prior_cwnd = conn.ctl.cwnd;
                prr = Prr::default();
            }
            2 => {
                let cwnd = prr.on_ack(&conn, i32_of(acked), i32_of(lost), advanced != 0);
                conn.ctl.cwnd = cwnd.unwrap_or(conn.ctl.cwnd);
            }
            3 => conn.ctl.cwnd = Prr::leave(&conn, undo_marker != 0).unwrap_or(conn.ctl.cwnd),
            _ => return Err(format!("event {event} is not known")),
        }
        output("o_cwnd", i64::from(conn.ctl.cwnd));
        output("o_cwnd_cnt", i64::from(conn.ctl.cwnd_cnt));
        output("o_ssthresh", i64::from(conn.ctl.ssthresh));
        output("o_prior_cwnd", i64::from(conn.prior_cwnd));
        output("o_prr_delivered", i64::from(prr.delivered));
        output("o_prr_out", i64::from(prr.out));
        Ok(())
    }
}
