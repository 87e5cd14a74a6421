//! A snapshot of the sender for time series, tests and comparison with a kernel's socket.
//!
//! Sources: [linux] `include/linux/tcp.h`: `struct tcp_sock`; `include/net/inet_connection_sock.h`.
//! Deviations: none; an unset value is `None` where the kernel has 0 or all ones.

use bbrlab_cc::CaState;

use super::{Sender, TimerPurpose};

/// The sender's state under the kernel's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderInfo {
    /// Congestion window in packets.
    pub cwnd: u32,
    /// Slow start threshold in packets.
    pub ssthresh: Option<u32>,
    /// Number of packets sent and not cumulatively acknowledged.
    pub packets_out: u32,
    /// Number of unacknowledged packets that are SACKed; without SACK, the number of duplicate
    /// ACKs.
    pub sacked_out: u32,
    /// Number of unacknowledged packets that are marked lost.
    pub lost_out: u32,
    /// Retransmissions in flight.
    pub retrans_out: u32,
    /// Recovery state. Linux: `icsk_ca_state`.
    pub ca_state: CaState,
    /// Smoothed RTT in units of 1/8 microsecond.
    pub srtt_us: u32,
    /// Mean deviation of the RTT in units of 1/4 microsecond.
    pub mdev_us: u32,
    /// Deviation of the RTT that the timeout uses, in units of 1/4 microsecond.
    pub rttvar_us: u32,
    /// Retransmission timeout in microseconds, backoff included.
    pub rto_us: u32,
    /// First unacknowledged byte.
    pub snd_una: u32,
    /// Next byte to send.
    pub snd_nxt: u32,
    /// Next byte that the application will write.
    pub write_seq: u32,
    /// `snd_nxt` at the start of the current or last CWR, Recovery or Loss state.
    pub high_seq: u32,
    /// The peer's window in bytes.
    pub snd_wnd: u32,
    /// cwnd in packets before the last reduction.
    pub prior_cwnd: u32,
    /// Number of packets delivered since the current or last reduction of cwnd started.
    pub prr_delivered: u32,
    /// Number of packets sent since the current or last reduction of cwnd started.
    pub prr_out: u32,
    /// `snd_una` at the start of the current CWR, Recovery or Loss state, if the reduction of cwnd
    /// may be undone.
    pub undo_marker: Option<u32>,
    /// Number of retransmissions not yet proven spurious; -1 if none was sent.
    pub undo_retrans: i32,
    /// Degree of reordering seen, in packets. Linux: `reordering`.
    pub reordering: u32,
    /// RTT of the latest delivery as RACK measured it, in microseconds.
    pub rack_rtt_us: u32,
    /// Width of RACK's reordering window in quarters of the minimum RTT.
    pub rack_steps: u8,
    /// `snd_nxt` when the loss probe in flight was sent.
    pub tlp_high_seq: Option<u32>,
    /// Number of packets marked lost so far.
    pub lost: u32,
    /// Number of retransmissions so far, including retransmissions of the SYN.
    pub total_retrans: u32,
    /// Purpose of the retransmission timer.
    pub timer: TimerPurpose,
    /// Time until the retransmission timer is due, in jiffies.
    pub timer_jiffies: u32,
    /// Number of doublings of the timeout.
    pub backoff: u32,
    /// Number of timeouts since new data was last acknowledged.
    pub retransmits: u32,
    /// Number of zero-window probes sent since the last ACK.
    pub probes_out: u32,
    /// Number of segments that DSACKs reported as duplicates.
    pub dsack_dups: u32,
    /// Memory of the write and retransmit queues in bytes. Linux: `sk_wmem_queued`.
    pub wmem_queued: u32,
    /// Size of the send buffer in bytes of memory, or in bytes of payload if the buffer counts
    /// payload (as in ns-3). Linux: `sk_sndbuf`.
    pub sndbuf: u32,
}

impl Sender {
    /// Returns the current state.
    #[must_use]
    pub fn info(&self) -> SenderInfo {
        let ssthresh = self.conn.ctl.ssthresh;
        SenderInfo {
            cwnd: self.conn.ctl.cwnd,
            ssthresh: (ssthresh < bbrlab_cc::Control::INFINITE_SSTHRESH).then_some(ssthresh),
            packets_out: self.board.packets_out(),
            sacked_out: self.board.sacked_out(),
            lost_out: self.board.lost_out(),
            retrans_out: self.board.retrans_out(),
            ca_state: self.conn.ca_state,
            srtt_us: self.rtt.srtt_us,
            mdev_us: self.rtt.mdev_us,
            rttvar_us: self.rtt.rttvar_us,
            rto_us: self.timer.rto() * self.clock.us_per_jiffy(),
            snd_una: self.conn.snd_una,
            snd_nxt: self.conn.snd_nxt,
            write_seq: self.app.write_seq,
            high_seq: self.episode.high_seq(),
            snd_wnd: self.window.size(),
            prior_cwnd: self.conn.prior_cwnd,
            prr_delivered: self.episode.prr().delivered,
            prr_out: self.episode.prr().out,
            undo_marker: self.episode.undo.marker(),
            undo_retrans: self.episode.undo.retrans(),
            reordering: self.reordering.packets(),
            rack_rtt_us: self.rack.rtt_us(),
            rack_steps: self.rack.reo_wnd_steps(),
            tlp_high_seq: self.tlp.high_seq(),
            lost: self.conn.lost,
            total_retrans: self.total_retrans(),
            timer: self.timer.pending(),
            timer_jiffies: self.timer.timeout().wrapping_sub(self.conn.jiffies),
            backoff: self.timer.backoff().into(),
            retransmits: self.timer.retransmits().into(),
            probes_out: self.timer.probes_out().into(),
            dsack_dups: self.counts.dsack_dups,
            wmem_queued: self.board.memory(),
            sndbuf: self.sndbuf.size(),
        }
    }

    /// Returns the number of retransmissions so far, including retransmissions of the SYN. Linux:
    /// `total_retrans`.
    pub(super) fn total_retrans(&self) -> u32 {
        bbrlab_cc::linux_int::trunc_u32(self.stats.retransmitted)
            .wrapping_add(self.counts.syn_retrans)
    }
}
