//! One row as a call: which column is which value, and which event is which method.

use bbrlab_cc::linux_int::trunc_u32;
use bbrlab_cc::{
    AckSample, CaState, CongestionControl, Conn, Control, CwndEvent, LostSkb, PacingStatus,
    RateSample,
};

use super::draws::RecordedDraws;

/// Puts a column's value where the call will find it.
pub(super) type Input = fn(&mut Call, i64) -> Result<(), String>;

/// Takes a column's value from what the call wrote.
pub(super) type Output = fn(&Control) -> i64;

/// The arguments of a call. Values stay until a row changes them, as in the file.
#[derive(Default)]
pub(super) struct Call {
    event: i64,
    arg: i64,
    conn: Conn,
    rs: RateSample,
    skb: LostSkb,
    acked: AckSample,
    ca_ack: u32,
    ca_acked: u32,
}

impl Call {
    /// A call on a kernel with `hz` jiffies per second.
    pub(super) fn new(hz: u32) -> Self {
        Self { conn: Conn { hz, ..Conn::default() }, ..Self::default() }
    }

    /// Makes the call; returns its return value (0 for none) and what it wrote.
    pub(super) fn perform<C: CongestionControl + Clone>(
        &self,
        cc: &mut C,
        fresh: &C,
        draw: &mut RecordedDraws,
    ) -> Result<(i64, Control), String> {
        let conn = &self.conn;
        let unchanged = conn.ctl;
        let arg = || u32::try_from(self.arg).map_err(|_| format!("arg {} is not valid", self.arg));
        let wrote = |ctl| Ok((0, ctl));
        let returned = |ret| Ok((i64::from(ret), unchanged));
        match self.event {
            1 => {
                *cc = fresh.clone();
                wrote(cc.init(conn, draw))
            }
            2 => wrote(cc.cwnd_event(conn, cwnd_event(self.arg)?, draw)),
            3 => wrote(cc.set_state(conn, ca_state(self.arg)?, draw)),
            4 => wrote(cc.skb_marked_lost(conn, &self.skb, draw)),
            5 => returned(cc.ssthresh(conn)),
            6 => returned(cc.undo_cwnd(conn)),
            7 => wrote(cc.cong_control(conn, &self.rs, draw)),
            8 => wrote(cc.cong_avoid(conn, self.ca_ack, self.ca_acked)),
            9 => wrote(Control { ssthresh: cc.pkts_acked(conn, &self.acked), ..unchanged }),
            10 => wrote(cc.in_ack_event(conn, arg()?)),
            11 => returned(cc.tso_segs(conn, arg()?)),
            12 => returned(cc.min_tso_segs(conn)),
            13 => returned(cc.sndbuf_expand(conn)),
            14 => Ok((cc.bw(conn).cast_signed(), unchanged)),
            15 => {
                *cc = fresh.clone();
                wrote(unchanged)
            }
            other => Err(format!("event {other} is not known")),
        }
    }
}

fn cwnd_event(arg: i64) -> Result<CwndEvent, String> {
    Ok(match arg {
        0 => CwndEvent::TxStart,
        1 => CwndEvent::CwndRestart,
        2 => CwndEvent::CompleteCwr,
        3 => CwndEvent::Loss,
        4 => CwndEvent::EcnNoCe,
        5 => CwndEvent::EcnIsCe,
        6 => CwndEvent::TlpRecovery,
        _ => return Err(format!("cwnd event {arg} is not known")),
    })
}

/// The state of loss recovery that the traces write as `value`.
pub(in crate::golden) fn ca_state(value: i64) -> Result<CaState, String> {
    Ok(match value {
        0 => CaState::Open,
        1 => CaState::Disorder,
        2 => CaState::Cwr,
        3 => CaState::Recovery,
        4 => CaState::Loss,
        _ => return Err(format!("state {value} is not known")),
    })
}

fn pacing_status(value: i64) -> Result<PacingStatus, String> {
    Ok(match value {
        0 => PacingStatus::None,
        1 => PacingStatus::Needed,
        2 => PacingStatus::Fq,
        _ => return Err(format!("pacing status {value} is not known")),
    })
}

/// The low 32 bits, as the kernel's `u32` fields hold them.
fn u32_of(value: i64) -> u32 {
    trunc_u32(value.cast_unsigned())
}

fn i32_of(value: i64) -> i32 {
    u32_of(value).cast_signed()
}

fn u8_of(value: i64) -> u8 {
    value.to_le_bytes()[0]
}

macro_rules! inputs {
    ($name:expr; $($column:literal => $($place:ident).+ = $convert:expr,)*) => {
        match $name {
            $($column => {
                let input: Input = |call, value| {
                    call.$($place).+ = $convert(value);
                    Ok(())
                };
                Some(input)
            })*
            "ca_state" => Some(|call, value| {
                call.conn.ca_state = ca_state(value)?;
                Ok(())
            }),
            "pacing_status" => Some(|call, value| {
                call.conn.ctl.pacing_status = pacing_status(value)?;
                Ok(())
            }),
            _ => None,
        }
    };
}

/// Where the input column `name` goes.
pub(super) fn input(name: &str) -> Option<Input> {
    inputs! { name;
        "event" => event = i64::from,
        "arg" => arg = i64::from,
        "clock_ns" => conn.clock_ns = i64::cast_unsigned,
        "wstamp_ns" => conn.wstamp_ns = i64::cast_unsigned,
        "jiffies" => conn.jiffies = u32_of,
        "delivered_mstamp" => conn.delivered_mstamp = i64::cast_unsigned,
        "cwnd" => conn.ctl.cwnd = u32_of,
        "cwnd_clamp" => conn.ctl.cwnd_clamp = u32_of,
        "cwnd_cnt" => conn.ctl.cwnd_cnt = u32_of,
        "ssthresh" => conn.ctl.ssthresh = u32_of,
        "prior_cwnd" => conn.prior_cwnd = u32_of,
        "mss" => conn.mss = u32_of,
        "srtt_us" => conn.srtt_us = u32_of,
        "min_rtt_us" => conn.min_rtt_us = u32_of,
        "delivered" => conn.delivered = u32_of,
        "delivered_ce" => conn.delivered_ce = u32_of,
        "lost" => conn.lost = u32_of,
        "app_limited" => conn.ctl.app_limited = u32_of,
        "inflight" => conn.inflight = u32_of,
        "is_cwnd_limited" => conn.is_cwnd_limited = is_set,
        "max_packets_out" => conn.max_packets_out = u32_of,
        "snd_una" => conn.snd_una = u32_of,
        "snd_nxt" => conn.snd_nxt = u32_of,
        "rcv_nxt" => conn.rcv_nxt = u32_of,
        "lsndtime" => conn.lsndtime = u32_of,
        "ecn_flags" => conn.ctl.ecn_flags = u8_of,
        "ack_pending" => conn.ctl.ack_pending = u8_of,
        "pacing_rate" => conn.ctl.pacing_rate = i64::cast_unsigned,
        "max_pacing_rate" => conn.max_pacing_rate = i64::cast_unsigned,
        "pacing_shift" => conn.pacing_shift = u32_of,
        "gso_max_size" => conn.gso_max_size = u32_of,
        "tlp_orig_app_limited" => conn.tlp_orig_app_limited = is_set,
        "rs_delivered" => rs.delivered = i32_of,
        "rs_delivered_ce" => rs.delivered_ce = i32_of,
        "rs_interval_us" => rs.interval_us = i64::from,
        "rs_rtt_us" => rs.rtt_us = i64::from,
        "rs_losses" => rs.losses = i32_of,
        "rs_lost" => rs.lost = i32_of,
        "rs_acked_sacked" => rs.acked_sacked = u32_of,
        "rs_prior_in_flight" => rs.prior_in_flight = u32_of,
        "rs_prior_delivered" => rs.prior_delivered = u32_of,
        "rs_tx_in_flight" => rs.tx_in_flight = u32_of,
        "rs_app_limited" => rs.is_app_limited = is_set,
        "rs_ack_delayed" => rs.is_ack_delayed = is_set,
        "rs_ece" => rs.is_ece = is_set,
        "rs_is_tlp_ack" => rs.is_tlp_ack = is_set,
        "k_pcount" => skb.pcount = u32_of,
        "k_in_flight" => skb.in_flight = u32_of,
        "k_lost" => skb.lost = u32_of,
        "k_app_limited" => skb.is_app_limited = is_set,
        "k_dmstamp" => skb.delivered_mstamp = i64::cast_unsigned,
        "ca_ack" => ca_ack = u32_of,
        "ca_acked" => ca_acked = u32_of,
        "pa_pkts" => acked.pkts_acked = u32_of,
        "pa_rtt_us" => acked.rtt_us = i32_of,
        "pa_in_flight" => acked.in_flight = u32_of,
    }
}

fn is_set(value: i64) -> bool {
    value != 0
}

/// Where the output column `name`, without its `o_`, comes from.
pub(super) fn output(name: &str) -> Option<Output> {
    Some(match name {
        "cwnd" => |ctl| i64::from(ctl.cwnd),
        "cwnd_cnt" => |ctl| i64::from(ctl.cwnd_cnt),
        "cwnd_clamp" => |ctl| i64::from(ctl.cwnd_clamp),
        "ssthresh" => |ctl| i64::from(ctl.ssthresh),
        "pacing_rate" => |ctl| ctl.pacing_rate.cast_signed(),
        "pacing_status" => |ctl| ctl.pacing_status as i64,
        "app_limited" => |ctl| i64::from(ctl.app_limited),
        "ecn_flags" => |ctl| i64::from(ctl.ecn_flags),
        "ack_pending" => |ctl| i64::from(ctl.ack_pending),
        _ => return None,
    })
}
