//! ECN at the sender: negotiation, ECT on data, CWR on the first new segment after a reduction.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_ecn_send_syn`, `tcp_ecn_send`;
//! `net/ipv4/tcp_input.c`: `tcp_ecn_rcv_synack`, `tcp_ecn_queue_cwr`, `tcp_ecn_withdraw_cwr`;
//! `net/ipv4/tcp_minisocks.c`: `tcp_ecn_openreq_child`; RFC 3168.
//! Deviations:
//! 1. Retransmitted SYNs never carry the ECN flags. In Linux, this is the default setting
//!    (`tcp_ecn_fallback`).

use bbrlab_cc::ecn_flags;
use bbrlab_stack::EcnMode;
use bbrlab_units::Ecn;

use super::Sender;
use crate::segment::{Segment, flag};

impl Sender {
    /// Sets the ECN flags of the end that sends the SYN. Linux: `tcp_ecn_send_syn`.
    pub(super) fn init_ecn(&mut self) {
        let mut ecn = 0;
        if self.config.ecn != EcnMode::Off || self.hooks.needs_ecn {
            ecn = ecn_flags::OK;
        }
        if self.config.ecn.is_low_latency() {
            ecn |= ecn_flags::LOW_V3;
        }
        self.conn.ctl.ecn_flags = ecn;
    }

    /// Sets the ECN flags of the passive end. `is_agreed` is true if this end's SYN-ACK agreed to
    /// ECN. Linux: `tcp_ecn_openreq_child`.
    pub(super) fn accept_ecn(&mut self, is_agreed: bool) {
        let mut ecn = if is_agreed { ecn_flags::OK } else { 0 };
        if self.config.ecn.is_low_latency() {
            ecn |= ecn_flags::LOW_V3;
        }
        self.conn.ctl.ecn_flags = ecn;
    }

    /// Whether ECN was negotiated.
    pub(super) fn is_ecn_ok(&self) -> bool {
        self.conn.ctl.ecn_flags & ecn_flags::OK != 0
    }

    /// Sets the ECN field, flags and advertised window of the SYN.
    pub(super) fn write_syn_header(&self, segment: &mut Segment) {
        segment.flags = flag::SYN;
        segment.ack = 0;
        segment.tsecr = 0;
        segment.wnd = self.config.rcv_wnd[0];
        if self.is_ecn_ok() && segment.retransmission == 0 {
            segment.flags |= flag::ECE | flag::CWR;
            if self.hooks.needs_ecn {
                segment.ecn = self.config.ecn.ect();
            }
        }
    }

    /// Switches ECN off if the SYN-ACK does not agree to ECN. Linux: `tcp_ecn_rcv_synack`.
    pub(super) fn ecn_on_synack(&mut self, segment: &Segment) {
        if !segment.has(flag::ECE) || segment.has(flag::CWR) {
            self.conn.ctl.ecn_flags &= !(ecn_flags::OK | ecn_flags::LOW_V3);
        }
    }

    /// Sets ECT in the IP header of a segment if ECT is allowed on it; returns the CWR flag if this
    /// segment must carry CWR. Linux: `tcp_ecn_send`.
    #[inline]
    pub(super) fn dress_with_ecn(&mut self, field: &mut Ecn, is_new: bool) -> u8 {
        let ecn = self.conn.ctl.ecn_flags;
        if ecn & ecn_flags::OK == 0 {
            return 0;
        }
        // The bit that means "ECT on every packet" in the kernel tree of BBRv2 means "low-latency
        // ECN" in the kernel tree of BBRv3.
        let permanent = if self.config.ecn.is_low_latency() {
            ecn_flags::ECT_PERMANENT_V3
        } else {
            ecn_flags::ECT_PERMANENT_V2 | ecn_flags::ECT_PERMANENT_V3
        };
        if is_new || self.hooks.needs_ecn || ecn & permanent != 0 {
            *field = self.config.ecn.ect();
        }
        if is_new && ecn & ecn_flags::QUEUE_CWR != 0 {
            self.conn.ctl.ecn_flags &= !ecn_flags::QUEUE_CWR;
            return flag::CWR;
        }
        0
    }

    /// Makes the next new segment carry CWR. Linux: `tcp_ecn_queue_cwr`.
    pub(super) fn queue_cwr(&mut self) {
        if self.is_ecn_ok() {
            self.conn.ctl.ecn_flags |= ecn_flags::QUEUE_CWR;
        }
    }

    /// Cancels a CWR flag that no segment has carried yet. Linux: `tcp_ecn_withdraw_cwr`.
    pub(super) fn withdraw_cwr(&mut self) {
        self.conn.ctl.ecn_flags &= !ecn_flags::QUEUE_CWR;
    }
}
