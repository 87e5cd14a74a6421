//! The sender's part of the handshake: the SYN, its retransmissions and the SYN-ACK of an active
//! open, and the last ACK of a passive open.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_connect`; `net/ipv4/tcp_input.c`:
//! `tcp_rcv_synsent_state_process`, `tcp_init_transfer`, `tcp_finish_connect`,
//! `tcp_try_undo_spurious_syn`; `net/ipv4/tcp_metrics.c`: `tcp_init_metrics`.
//! Deviations:
//! 1. MSS, SACK, timestamps and window scale are configured, not negotiated.
//! 2. A passive end starts with the whole initial window even if its SYN-ACK was retransmitted.

use bbrlab_stack::Handshake;
use bbrlab_units::Time;

use super::ack_state::flags;
use super::timers::TimerPurpose;
use super::{Sender, State, timestamp_ms};
use crate::Host;
use crate::segment::{Segment, flag};

/// The timeout in seconds after a handshake that gave no RTT sample. Linux: `TCP_TIMEOUT_FALLBACK`.
const TIMEOUT_FALLBACK_S: u32 = 3;

/// The first timeout of SYN and SYN-ACK in ns-3, in seconds. ns-3: `TcpSocket`, `ConnTimeout`.
pub(crate) const NS3_SYN_TIMEOUT_S: u32 = 3;

impl Sender {
    /// Sends the SYN. Linux: `connect()`, `tcp_connect`.
    ///
    /// # Panics
    /// Panics if the socket was connected before.
    pub fn connect(&mut self, now: Time, host: &mut impl Host) {
        assert!(self.state == State::Closed, "a socket must be connected only once");
        self.refresh_clock(now);
        self.limits.start(now);
        self.state = State::SynSent;
        self.init_ecn();
        self.rtt = crate::rtt::RttEstimator::new(self.conn.jiffies, self.rtt.rto_min_us);
        self.episode.start_syn(timestamp_ms(self.conn.clock_ns));
        let syn = self.board.add_syn(self.app.write_seq);
        self.app.write_seq = self.app.write_seq.wrapping_add(1);
        self.transmit_skb(syn, host);
        self.conn.snd_nxt = self.app.write_seq;
        self.app.pushed_seq = self.app.write_seq;
        self.snd_sml = self.app.write_seq;
        if self.config.stack.socket.handshake == Handshake::Ns3 {
            self.timer.set_rto(NS3_SYN_TIMEOUT_S * self.conn.hz);
        }
        let rto = self.timer.rto();
        self.reset_timer(TimerPurpose::Retransmit, rto, host);
    }

    /// Processes the answer to the SYN. Linux: `tcp_rcv_synsent_state_process`.
    pub(super) fn on_synack(&mut self, segment: &Segment, host: &mut impl Host) {
        let is_answer =
            segment.has(flag::SYN) && segment.has(flag::ACK) && segment.ack == self.conn.snd_nxt;
        if !is_answer {
            return;
        }
        self.ecn_on_synack(segment);
        self.window.note_seq(segment.seq);
        self.episode.undo_spurious_syn(self.rcv_tsecr);
        self.ack(segment, flags::SLOWPATH, host);
        self.reverse.rcv_nxt = segment.seq.wrapping_add(1);
        self.window.open(segment.wnd);
        self.reverse.ts_recent = segment.tsval;
        self.sync_mss();
        self.finish_connect(host);
        self.send_ack(host);
    }

    /// Completes the passive open: the ACK that ends the handshake has arrived. `rtt_us` is the RTT
    /// of the SYN-ACK, if known; `has_ecn` is whether the SYN-ACK agreed to ECN. Linux:
    /// `tcp_rcv_state_process` in `TCP_SYN_RECV`, `tcp_synack_rtt_meas`.
    ///
    /// # Panics
    /// Panics if the socket was connected before.
    pub fn accept(
        &mut self,
        now: Time,
        segment: &Segment,
        rtt_us: Option<u32>,
        has_ecn: bool,
        host: &mut impl Host,
    ) {
        assert!(self.state == State::Closed, "a socket must be connected only once");
        self.refresh_clock(now);
        self.limits.start(now);
        self.accept_ecn(has_ecn);
        self.rtt = crate::rtt::RttEstimator::new(self.conn.jiffies, self.rtt.rto_min_us);
        self.app.write_seq = self.app.write_seq.wrapping_add(1);
        self.conn.snd_una = self.app.write_seq;
        self.conn.snd_nxt = self.app.write_seq;
        self.app.pushed_seq = self.app.write_seq;
        self.snd_sml = self.app.write_seq;
        self.acked_bytes = 1;
        self.conn.delivered = 1;
        self.window.accept(segment.seq, segment.wnd);
        self.reverse.rcv_nxt = segment.seq;
        self.reverse.ts_recent = segment.tsval;
        if let Some(rtt_us) = rtt_us {
            self.take_rtt(rtt_us, rtt_us, false);
        }
        self.sync_mss();
        self.finish_connect(host);
        self.update_pacing_rate();
        self.account_limit(now);
    }

    /// Initialises the sender when the handshake is complete. Linux: `tcp_finish_connect`,
    /// `tcp_init_transfer`, `tcp_init_buffer_space`.
    fn finish_connect(&mut self, host: &mut impl Host) {
        self.state = State::Established;
        self.counts.lost_syns = self.conn.lost;
        let is_twice_lost = self.counts.syn_retrans > 1 && self.episode.undo.is_possible();
        self.init_metrics();
        self.episode.undo.forget_ssthresh();
        if self.config.stack.socket.handshake == Handshake::Ns3 {
            // ns-3 does not count the SYN as delivered.
            self.conn.delivered = 0;
        }
        self.init_congestion(is_twice_lost, host);
        self.expand_sndbuf();
        self.conn.lsndtime = self.conn.jiffies;
    }

    /// Sets the timeout to [`TIMEOUT_FALLBACK_S`] if there is no RTT sample. Linux:
    /// `tcp_init_metrics`.
    fn init_metrics(&mut self) {
        if self.rtt.srtt_us == 0 {
            let fallback_us = TIMEOUT_FALLBACK_S * 1_000_000;
            self.rtt.rttvar_us = fallback_us;
            self.rtt.mdev_us = fallback_us;
            self.rtt.mdev_max_us = fallback_us;
            self.timer.set_rto(TIMEOUT_FALLBACK_S * self.conn.hz);
        }
    }

    /// Sets the MSS: the configured MSS, but at most half of the peer's largest window. Linux:
    /// `tcp_sync_mss`.
    pub(super) fn sync_mss(&mut self) {
        self.conn.mss = self.bound_to_half_window(self.config.mss);
    }
}
