//! The receiving half of a socket during the handshake, as client or as server, and when the socket
//! closes.
//!
//! Sources: [linux] `tcp_input.c` (`tcp_conn_request`, `tcp_rcv_state_process`,
//! `tcp_synack_rtt_meas`, `tcp_initialize_rcv_mss`, `tcp_fin`), `tcp_minisocks.c`
//! (`tcp_check_req`), `tcp_output.c` (`tcp_make_synack`, `tcp_send_fin`); RFC 9293, RFC 6298
//! (initial timeout).
//! Deviations:
//! 1. The RTT sample of the handshake sets only the values that a receiver uses: `srtt` and the
//!    timeout.

use bbrlab_cc::linux_int::{stamp_us_delta, trunc_u32};
use bbrlab_stack::{DelAck, Handshake};
use bbrlab_units::{Ecn, Time};

use super::config::EcnEcho;
use super::delayed_ack::{self, MIN_MSS, MSS_DEFAULT};
use super::fast_path::{self, Expected};
use super::window::Window;
use super::{Peer, Receiver, SendSide, State};
use crate::oow::OowLimit;
use crate::segment::flag;
use crate::sender::NS3_SYN_TIMEOUT_S;
use crate::wheel::slot_of;
use crate::{Host, Segment, TimerId, Transmission};

/// The timeout after the handshake is longer than the RTT by at least this many microseconds.
/// Linux: `TCP_RTO_MIN`.
const RTO_MIN_US: u64 = 200_000;
/// Largest number of retransmissions of a SYN-ACK. Linux: `tcp_synack_retries`.
const SYNACK_RETRIES: u8 = 5;

impl Receiver {
    /// Processes a segment that arrives before the connection is established. Returns true if the
    /// segment completes the handshake; the caller must then process the segment further.
    #[cold]
    pub(super) fn on_handshake(
        &mut self,
        now: Time,
        segment: &Segment,
        host: &mut impl Host,
    ) -> bool {
        if segment.has(flag::RST) {
            return false;
        }
        if segment.has(flag::SYN) && self.state != State::SynSent {
            self.clock.now = now;
            if self.state == State::Listen {
                self.on_syn(now, segment);
                self.send_synack(now, host);
            } else if !self.is_rate_limited() {
                // The SYN has arrived before: it was duplicated or retransmitted. Linux: in
                // `tcp_check_req`.
                self.synack_retrans = self.synack_retrans.saturating_add(1);
                self.send_synack(now, host);
            }
            return false;
        }
        if self.state != State::SynReceived
            || !segment.has(flag::ACK)
            || segment.ack != self.config.isn.wrapping_add(1)
        {
            return false;
        }
        self.establish(now, segment);
        host.disarm(TimerId::Retransmit);
        true
    }

    fn on_syn(&mut self, now: Time, syn: &Segment) {
        self.state = State::SynReceived;
        self.begin_at(syn.seq.wrapping_add(1));
        self.has_ts &= syn.has_ts;
        self.ts_recent = syn.tsval;
        self.ecn.is_ok =
            !matches!(self.config.ecn, EcnEcho::Off) && syn.has(flag::ECE) && syn.has(flag::CWR);
        self.synack_at = now;
        self.send_side.snd_nxt = self.config.isn.wrapping_add(1);
        self.send_side.rto = self.clock.hz();
    }

    fn begin_at(&mut self, first: u32) {
        self.stream_start = first;
        self.window.rcv_nxt = first;
        self.window.rcv_wup = first;
        self.window.copied_seq = first;
    }

    fn send_synack(&mut self, now: Time, host: &mut impl Host) {
        let mut flags = flag::SYN | flag::ACK;
        if self.ecn.is_ok {
            flags |= flag::ECE;
        }
        host.transmit(Transmission::Segment(&Segment {
            seq: self.config.isn,
            ack: self.window.rcv_nxt,
            wnd: self.window.syn_window(),
            tsval: self.clock.timestamp(now),
            tsecr: self.ts_recent,
            flags,
            has_ts: self.has_ts,
            ecn: if self.ecn.is_ok { self.ecn.on_acks } else { Ecn::NotEct },
            retransmission: u16::from(self.synack_retrans),
            ..Segment::default()
        }));
        let tick = self.config.tick;
        let jiffies = tick.jiffies(now);
        let first_s = match self.config.stack.socket.handshake {
            Handshake::Linux => 1,
            Handshake::Ns3 => NS3_SYN_TIMEOUT_S,
        };
        let timeout = jiffies.wrapping_add((first_s * tick.hz()) << self.synack_timeouts.min(7));
        host.arm(TimerId::Retransmit, tick.time_of(slot_of(timeout, jiffies), now));
    }

    /// Retransmits the SYN-ACK when its timer fires.
    pub(super) fn on_synack_timer(&mut self, now: Time, host: &mut impl Host) {
        if self.state == State::SynReceived && self.synack_timeouts < SYNACK_RETRIES {
            self.synack_timeouts += 1;
            self.synack_retrans = self.synack_retrans.saturating_add(1);
            self.clock.now = now;
            self.send_synack(now, host);
        }
    }

    fn establish(&mut self, now: Time, segment: &Segment) {
        self.state = State::Established;
        // As in the kernel, the rate limit of answers to unacceptable segments starts again: during
        // the handshake, it was a field of the connection request, not of the socket.
        self.oow = OowLimit::default();
        self.peer.snd_una = segment.ack;
        self.peer.window.accept(segment.seq, segment.wnd);
        if let Some(rtt_us) = self.synack_rtt_us(now, segment) {
            let rttvar = (2 * u64::from(rtt_us)).max(RTO_MIN_US);
            self.send_side.srtt_us = trunc_u32(u64::from(rtt_us.max(1)) << 3);
            self.send_side.rto =
                delayed_ack::us_to_jiffies(u64::from(rtt_us) + rttvar, self.clock.hz());
        }
        self.init_transfer(now, segment);
    }

    /// Returns the RTT of the SYN-ACK that `segment` acknowledges at `now`; `None` if the SYN-ACK
    /// was retransmitted and there are no timestamps. Linux: `tcp_synack_rtt_meas`.
    pub(crate) fn synack_rtt_us(&self, now: Time, segment: &Segment) -> Option<u32> {
        if self.synack_retrans == 0 {
            Some(stamp_us_delta(now.0 / 1000, self.synack_at.0 / 1000))
        } else if self.has_ts {
            Some(self.clock.timestamp(now).wrapping_sub(segment.tsecr).max(1).wrapping_mul(1000))
        } else {
            None
        }
    }

    /// Initialises an established connection, at either end. Linux: `tcp_init_transfer`.
    fn init_transfer(&mut self, now: Time, segment: &Segment) {
        if segment.has_ts {
            self.ts_recent = segment.tsval;
        }
        self.window.init_buffer_space();
        self.autotune.init(now.0 / 1000, &self.window);
        let hint = self.window.advmss.min(self.window.rcv_wnd / 2).min(MSS_DEFAULT);
        self.ack.rcv_mss = hint.max(MIN_MSS);
        self.ack.lrcvtime = self.config.tick.jiffies(now);
        if let DelAck::Every { every, .. } = self.config.stack.delack {
            // With this count, the first segment is acknowledged immediately. ns-3:
            // `ProcessSynRcvd`, `ProcessSynSent`.
            self.unacked_segments = every;
        }
        self.ecn.prior_rcv_nxt = self.window.rcv_nxt;
        self.rcvlowat = self.window.set_rcvlowat(self.config.rcvlowat());
        self.is_plain = self.rcvlowat == 1 && fast_path::allows(&self.config) && !self.ecn.is_ok;
    }

    /// Records that the sending half of this socket sends a SYN at `now`.
    pub(crate) fn connect(&mut self, now: Time) {
        self.state = State::SynSent;
        self.clock.now = now;
        self.window = Window::active(&self.config);
    }

    /// Completes the handshake when the SYN-ACK arrives. Linux: in `tcp_rcv_synsent_state_process`.
    pub(crate) fn on_synack(&mut self, now: Time, synack: &Segment) {
        if self.state != State::SynSent {
            return;
        }
        self.clock.now = now;
        self.state = State::Established;
        self.has_ts &= synack.has_ts;
        self.ecn.is_ok = !matches!(self.config.ecn, EcnEcho::Off)
            && synack.has(flag::ECE)
            && !synack.has(flag::CWR);
        self.begin_at(synack.seq.wrapping_add(1));
        self.init_transfer(now, synack);
    }

    /// Whether ECN was negotiated.
    pub(crate) fn has_ecn(&self) -> bool {
        self.ecn.is_ok
    }

    /// Returns the window field of a SYN.
    pub(crate) fn syn_window(&self) -> u32 {
        self.window.syn_window()
    }

    /// Stores the values of the sending half that the receiving half needs.
    pub(crate) fn set_send_side(&mut self, send_side: SendSide, peer: Peer) {
        self.send_side = send_side;
        self.peer = peer;
    }

    /// Fills the header fields of the receiving half into a `segment` that the sending half sends
    /// at `now`, but keeps the timestamp that the sending half has set. If the segment has data or
    /// a FIN, also records that the data or FIN is sent.
    pub(crate) fn piggyback(&mut self, now: Time, segment: &mut Segment) {
        let tsval = segment.tsval;
        self.clock.now = now;
        self.expected = Expected::Nothing;
        self.stamp(segment);
        segment.tsval = tsval;
        if segment.len > 0 {
            let now = self.clock.jiffies();
            self.ack.on_data_sent(now);
        }
        if segment.has(flag::FIN) {
            self.state = match self.state {
                State::Established => State::FinWait,
                State::CloseWait => State::Closed,
                other => other,
            };
        }
    }

    /// Closes the receiving half: sends a FIN and stops reading. Does nothing before the connection
    /// is established.
    pub fn close(&mut self, now: Time, host: &mut impl Host) {
        self.clock.now = now;
        self.expected = Expected::Nothing;
        self.state = match self.state {
            State::Established => State::FinWait,
            State::CloseWait => State::Closed,
            State::Listen
            | State::SynSent
            | State::SynReceived
            | State::FinWait
            | State::Closed => return,
        };
        self.is_reading = false;
        let mut segment = Segment {
            seq: self.send_side.snd_nxt,
            flags: flag::FIN | flag::ACK,
            ..Segment::default()
        };
        self.send_side.snd_nxt = self.send_side.snd_nxt.wrapping_add(1);
        self.stamp(&mut segment);
        host.transmit(Transmission::Segment(&segment));
    }

    /// Processes the peer's FIN, and drops all out-of-order data. Linux: `tcp_fin`.
    #[cold]
    pub(super) fn on_fin(&mut self, host: &mut impl Host) {
        self.ack.schedule();
        self.has_peer_fin = true;
        match self.state {
            State::Established | State::SynReceived => {
                self.state = State::CloseWait;
                self.ack.enter_pingpong_mode();
            }
            State::FinWait => {
                self.send_ack(host);
                self.state = State::Closed;
            }
            State::Listen | State::SynSent | State::CloseWait | State::Closed => {}
        }
        self.window.rmem_alloc -= self.out_of_order.purge();
        self.sacks.clear();
    }
}
