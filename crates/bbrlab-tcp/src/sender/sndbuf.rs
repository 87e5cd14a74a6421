//! The send buffer: its size, which follows cwnd, and when the application hears that there is room.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_sndbuf_expand`, `tcp_should_expand_sndbuf`,
//! `tcp_new_space`, `tcp_check_space`; `net/core/stream.c`: `sk_stream_write_space`.
//! Deviations:
//! 1. No global memory pressure.

use bbrlab_cc::CongestionControl;

use super::{SendBuffer, Sender};

/// Room for headers in front of each segment. Linux: `MAX_TCP_HEADER` in a kernel without wireless links, as
/// the reference's; with them it is 320, and each segment counts 4352 bytes instead of 2304.
const MAX_TCP_HEADER: u32 = 256;

/// Linux: `SKB_DATA_ALIGN(sizeof(struct skb_shared_info))` on x86-64.
const SHARED_INFO: u32 = 320;

/// Linux: `SKB_DATA_ALIGN(sizeof(struct sk_buff))`.
const SK_BUFF: u32 = 256;

impl Sender {
    /// Grows the buffer to a few windows. Linux: `tcp_sndbuf_expand`.
    pub(super) fn expand_sndbuf(&mut self) {
        let SendBuffer::Auto { max, .. } = self.config.sndbuf else { return };
        let timestamps = if self.config.timestamps { 12 } else { 0 };
        let mss_clamp = self.config.mss + timestamps;
        let per_mss = (mss_clamp + MAX_TCP_HEADER + SHARED_INFO).next_power_of_two() + SK_BUFF;
        let segs =
            self.config.initial_cwnd.max(10).max(self.conn.ctl.cwnd).max(self.reordering + 1);
        let bytes = u64::from(self.cc.sndbuf_expand()) * u64::from(segs) * u64::from(per_mss);
        let bytes = u32::try_from(bytes.min(u64::from(max))).expect("at most `max`");
        self.sndbuf = self.sndbuf.max(bytes);
    }

    /// Space may have come free: tells the application if it waits. Linux: `tcp_check_space`,
    /// `tcp_new_space`, `sk_stream_write_space`.
    #[inline]
    pub(super) fn check_space(&mut self) {
        if !self.is_nospace {
            return;
        }
        if self.in_flight() < self.conn.ctl.cwnd
            && matches!(self.config.sndbuf, SendBuffer::Auto { .. })
        {
            self.expand_sndbuf();
            self.usage.snd_cwnd_stamp = self.conn.jiffies;
        }
        let room = self.sndbuf.saturating_sub(self.wmem_queued);
        if room > 0 && room >= self.wmem_queued >> 1 {
            self.is_nospace = false;
        }
    }
}
