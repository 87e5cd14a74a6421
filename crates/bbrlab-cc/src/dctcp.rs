//! `dctcp`: DCTCP reduces cwnd in proportion to the share of marked packets.
//!
//! ```text
//! once per window: alpha = 15/16 alpha + 1/16 (share of packets with a mark)
//! on a mark: cwnd -= alpha / 2 cwnd, once per window; on a loss: cwnd / 2; growth is Reno's
//! ```
//!
//! The receiver sends an immediate ACK whenever the CE mark of arriving packets changes, so that
//! the sender can count the marks. Alpha is `<< 10`.
//!
//! Sources: [linux] `net/ipv4/tcp_dctcp.c`, `net/ipv4/tcp_dctcp.h`; [rfc8257].
//! Deviations:
//! 1. PLB (protective load balancing) is not implemented: it is off by default in Linux, and here a
//!    flow has only one path.
//! 2. If the mark changes while an ACK is delayed, the kernel's DCTCP sends an extra ACK for the
//!    data before the change. In bbrlab, TCP's receiver does this instead of DCTCP.

use crate::linux_int::before;
use crate::params::ParamTable;
use crate::reno;
use crate::{
    CaState, CongestionControl, Conn, Control, CwndEvent, Draw, Hooks, ParamError, ParamSpec,
    Params, ecn_flags,
};

/// DCTCP's parameters that a scenario can set.
pub const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "dctcp_shift_g",
        default: "4",
        summary: "the gain of alpha is 2^-n, where n is this number",
    },
    ParamSpec { name: "dctcp_alpha_on_init", default: "1024", summary: "initial alpha, in 1/1024" },
];

/// The value of alpha that means 1. Linux: `DCTCP_MAX_ALPHA`.
const ALPHA_MAX: u32 = 1024;
const ALPHA_SHIFT: u32 = 10;

/// The bit of `ack_pending` that requests an immediate ACK. Linux: `ICSK_ACK_NOW`.
const ACK_NOW: u8 = 16;

/// DCTCP as in Linux. Linux: `struct dctcp`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dctcp {
    shift_g: u32,
    alpha_on_init: u32,
    /// Whether the peer does not support ECN. Without ECN, a DCTCP flow behaves as Reno from the
    /// start. Linux: `dctcp_reno`.
    is_reno: bool,
    /// The connection's `delivered` at the start of the window of data in which marks are counted.
    old_delivered: u32,
    /// The connection's `delivered_ce` at the start of the window of data in which marks are
    /// counted.
    old_delivered_ce: u32,
    /// `rcv_nxt` when the latest packet was received.
    prior_rcv_nxt: u32,
    /// The average share of marked packets, `<< 10`.
    alpha: u32,
    /// The window of data in which marks are counted ends when this sequence number is
    /// acknowledged.
    next_seq: u32,
    /// Whether the latest packet received had a mark.
    ce_state: bool,
    /// cwnd at the latest reduction, in packets.
    loss_cwnd: u32,
}

impl Dctcp {
    /// Makes an instance with the parameters `params`. All other state is zero until `init` is
    /// called.
    ///
    /// # Errors
    /// Fails if a parameter has the wrong type or is out of range.
    pub fn new(params: &Params) -> Result<Self, ParamError> {
        let params = ParamTable::new(PARAMS, params);
        Ok(Self {
            shift_g: params.integer("dctcp_shift_g", 0..=ALPHA_SHIFT)?,
            alpha_on_init: params.integer("dctcp_alpha_on_init", 0..=ALPHA_MAX)?,
            ..Self::default()
        })
    }

    fn begin_window(&mut self, conn: &Conn) {
        self.next_seq = conn.snd_nxt;
        self.old_delivered = conn.delivered;
        self.old_delivered_ce = conn.delivered_ce;
    }

    /// Updates alpha with the share of marked packets in the last window of data. Linux:
    /// `dctcp_update_alpha`.
    fn update_alpha(&mut self, conn: &Conn) {
        let delivered = conn.delivered.wrapping_sub(self.old_delivered);
        let delivered_ce = conn.delivered_ce.wrapping_sub(self.old_delivered_ce);
        // If alpha is so small that the shift gives 0, all of alpha is subtracted. Without this
        // rule, alpha would never decrease to 0.
        let decay = match self.alpha >> self.shift_g {
            0 => self.alpha,
            decay => decay,
        };
        let mut alpha = self.alpha - decay;
        if delivered_ce != 0 {
            let share = (delivered_ce << (ALPHA_SHIFT - self.shift_g)) / delivered.max(1);
            alpha = alpha.wrapping_add(share).min(ALPHA_MAX);
        }
        self.alpha = alpha;
        self.begin_window(conn);
    }

    /// Sets ssthresh to half of cwnd after a loss. Linux: `dctcp_react_to_loss`.
    fn react_to_loss(&mut self, ctl: &mut Control) {
        self.loss_cwnd = ctl.cwnd;
        ctl.ssthresh = (ctl.cwnd >> 1).max(2);
    }

    /// Called at a receiver for each arriving packet. Requests an immediate ACK if the CE mark
    /// differs from the previous packet's. ACKs then carry ECE if the packet is marked, and no ECE
    /// if it is not. Linux: `dctcp_ece_ack_update`.
    fn echo(&mut self, conn: &Conn, is_ce: bool) -> Control {
        let mut ctl = conn.ctl;
        if self.ce_state != is_ce {
            ctl.ack_pending |= ACK_NOW;
        }
        self.prior_rcv_nxt = conn.rcv_nxt;
        self.ce_state = is_ce;
        if is_ce {
            ctl.ecn_flags |= ecn_flags::DEMAND_CWR;
        } else {
            ctl.ecn_flags &= !ecn_flags::DEMAND_CWR;
        }
        ctl
    }
}

impl CongestionControl for Dctcp {
    fn hooks(&self) -> Hooks {
        Hooks { in_ack_event: true, needs_ecn: true, ..Hooks::default() }
    }

    fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        self.is_reno = conn.ctl.ecn_flags & ecn_flags::OK == 0;
        if !self.is_reno {
            self.prior_rcv_nxt = conn.rcv_nxt;
            self.alpha = self.alpha_on_init;
            self.loss_cwnd = 0;
            self.ce_state = false;
            self.begin_window(conn);
        }
        conn.ctl
    }

    fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, _draw: &mut impl Draw) -> Control {
        let mut ctl = conn.ctl;
        if !self.is_reno {
            match event {
                CwndEvent::EcnIsCe => return self.echo(conn, true),
                CwndEvent::EcnNoCe => return self.echo(conn, false),
                CwndEvent::Loss => self.react_to_loss(&mut ctl),
                _ => {}
            }
        }
        ctl
    }

    fn set_state(&mut self, conn: &Conn, new: CaState, _draw: &mut impl Draw) -> Control {
        let mut ctl = conn.ctl;
        // The only change of state to which DCTCP responds is the beginning of fast recovery. The
        // reduction after a timeout is made at the event `CwndEvent::Loss`.
        if !self.is_reno && new == CaState::Recovery && conn.ca_state != CaState::Recovery {
            self.react_to_loss(&mut ctl);
        }
        ctl
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        if self.is_reno {
            return reno::ssthresh(conn);
        }
        let cwnd = conn.ctl.cwnd;
        self.loss_cwnd = cwnd;
        cwnd.wrapping_sub(cwnd.wrapping_mul(self.alpha) >> (ALPHA_SHIFT + 1)).max(2)
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        if self.is_reno {
            return reno::undo_cwnd(conn);
        }
        conn.ctl.cwnd.max(self.loss_cwnd)
    }

    fn cong_avoid(&mut self, conn: &Conn, _ack: u32, acked: u32) -> Control {
        reno::cong_avoid(conn, acked)
    }

    fn in_ack_event(&mut self, conn: &Conn, _flags: u32) -> Control {
        if !self.is_reno && !before(conn.snd_una, self.next_seq) {
            self.update_alpha(conn);
        }
        conn.ctl
    }

    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        field("old_delivered", i64::from(self.old_delivered));
        field("old_delivered_ce", i64::from(self.old_delivered_ce));
        field("prior_rcv_nxt", i64::from(self.prior_rcv_nxt));
        field("dctcp_alpha", i64::from(self.alpha));
        field("next_seq", i64::from(self.next_seq));
        field("ce_state", i64::from(self.ce_state));
        field("loss_cwnd", i64::from(self.loss_cwnd));
    }
}

#[cfg(test)]
mod tests {
    use super::Dctcp;
    use crate::no_draw::NoDraw;
    use crate::{CongestionControl as _, Conn, CwndEvent, Params, ecn_flags};

    fn conn(cwnd: u32, flags: u8) -> Conn {
        let mut conn = Conn { is_cwnd_limited: true, ..Conn::default() };
        conn.ctl.cwnd = cwnd;
        conn.ctl.ecn_flags = flags;
        conn
    }

    #[test]
    fn few_marks_cost_little() {
        let mut dctcp = Dctcp::new(&Params::new()).unwrap();
        let mut conn = conn(100, ecn_flags::OK);
        dctcp.init(&conn, &mut NoDraw);
        for _ in 0..100 {
            conn.delivered += 100;
            conn.delivered_ce += 10;
            dctcp.in_ack_event(&conn, 0);
        }
        // If a tenth of the packets are marked, cwnd is reduced by a twentieth.
        assert_eq!(dctcp.ssthresh(&conn), 95);
    }

    #[test]
    fn a_loss_costs_half() {
        let mut dctcp = Dctcp::new(&Params::new()).unwrap();
        let conn = conn(100, ecn_flags::OK);
        dctcp.init(&conn, &mut NoDraw);
        assert_eq!(dctcp.cwnd_event(&conn, CwndEvent::Loss, &mut NoDraw).ssthresh, 50);
    }

    #[test]
    fn every_change_of_the_mark_is_acknowledged_at_once() {
        let mut dctcp = Dctcp::new(&Params::new()).unwrap();
        let conn = conn(100, ecn_flags::OK);
        dctcp.init(&conn, &mut NoDraw);
        let acks_now =
            [true, true, false, false, true].map(|is_ce| dctcp.echo(&conn, is_ce).ack_pending);
        assert_eq!(acks_now, [16, 0, 16, 0, 16]);
    }

    #[test]
    fn without_ecn_it_is_reno() {
        let mut dctcp = Dctcp::new(&Params::new()).unwrap();
        let conn = conn(100, 0);
        dctcp.init(&conn, &mut NoDraw);
        assert_eq!(dctcp.ssthresh(&conn), 50);
    }
}
