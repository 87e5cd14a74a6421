//! Converts the sender's counts, which are in packets, to bytes, as in the draft's RS (rate sample)
//! and C (connection).
//!
//! The sender counts in packets of equal size, and records for each packet the values that the
//! draft's sampler needs. Volumes are multiplied by the segment size here, once per ACK. Counts
//! that wrap, such as the `C.delivered` that ends a packet-timed round, stay in packets and in the
//! sender's 32 bits.

use crate::{Conn, LostSkb, RateSample};

/// The rate sample of an ACK, RS in the draft. Volumes are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample {
    /// Whether the ACK delivered a packet, so that it gives a rate sample. Draft: `RS.has_data`.
    pub(super) has_data: bool,
    /// Delivery rate in bytes per second; 0 if there is no reliable rate.
    pub(super) delivery_rate: u64,
    /// Volume delivered in the sample's interval.
    pub(super) delivered: u64,
    /// The sender's count of delivered packets when the sampled packet was sent. The count wraps.
    pub(super) prior_delivered_pkts: u32,
    /// RTT in microseconds; `None` if the ACK has no RTT sample.
    pub(super) rtt_us: Option<u64>,
    /// Volume newly acknowledged by this ACK, cumulatively or selectively.
    pub(super) newly_acked: u64,
    /// Volume in flight just after the sampled packet was sent.
    pub(super) tx_in_flight: u64,
    /// Volume declared lost since the sampled packet was sent.
    pub(super) lost: u64,
    /// Whether the sampled packet was sent while the application limited the rate.
    pub(super) is_app_limited: bool,
}

impl Sample {
    /// Makes the rate sample of an ACK.
    pub(super) fn of_ack(conn: &Conn, rs: &RateSample) -> Self {
        let mss = u64::from(conn.mss);
        let bytes = |packets: i32| u64::from(packets.max(0).cast_unsigned()) * mss;
        let delivered = bytes(rs.delivered);
        Self {
            // The sender sets `delivered` to -1 if the ACK delivered nothing. If the interval is
            // shorter than the minimum RTT, `delivered` is valid, but the rate is not.
            has_data: rs.delivered >= 0,
            delivery_rate: rate(delivered, rs.interval_us),
            delivered,
            prior_delivered_pkts: rs.prior_delivered,
            rtt_us: u64::try_from(rs.rtt_us).ok(),
            newly_acked: u64::from(rs.acked_sacked) * mss,
            tx_in_flight: u64::from(rs.tx_in_flight) * mss,
            lost: bytes(rs.lost),
            is_app_limited: rs.is_app_limited,
        }
    }

    /// Makes the rate sample that the draft constructs for a lost packet, with the volume that was
    /// in flight when the packet was sent. Draft: `HandleLostPacket`.
    pub(super) fn of_lost(conn: &Conn, packet: &LostSkb) -> Self {
        let mss = u64::from(conn.mss);
        Self {
            tx_in_flight: u64::from(packet.in_flight) * mss,
            lost: u64::from(conn.lost.wrapping_sub(packet.lost)) * mss,
            is_app_limited: packet.is_app_limited,
            ..Self::default()
        }
    }
}

/// Returns the rate of `bytes` per `interval_us`, in bytes per second.
fn rate(bytes: u64, interval_us: i64) -> u64 {
    match u64::try_from(interval_us) {
        Ok(us) if us > 0 => bytes.saturating_mul(1_000_000) / us,
        _ => 0,
    }
}

/// The connection during one callback, with volumes in bytes; C in the draft.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transport<'a> {
    /// The connection before the callback.
    pub(super) conn: &'a Conn,
    /// The connection's writable fields as the callback has changed them so far, except cwnd, which
    /// is in the field `cwnd`.
    pub(super) ctl: crate::Control,
    /// Congestion window in bytes.
    pub(super) cwnd: u64,
}

impl<'a> Transport<'a> {
    /// Returns the connection as it is at the start of a callback. `last_cwnd` is the cwnd in bytes
    /// after the previous callback; the sender stores cwnd in whole packets. If the sender has not
    /// changed cwnd since the previous callback, cwnd is `last_cwnd`, without rounding. Rounding
    /// would make a cwnd that is limited by `inflight_longterm` differ from that bound.
    pub(super) fn new(conn: &'a Conn, last_cwnd: u64) -> Self {
        let mss = u64::from(conn.mss.max(1));
        let packets = u64::from(conn.ctl.cwnd);
        let cwnd = if last_cwnd / mss == packets { last_cwnd } else { packets * mss };
        Self { conn, ctl: conn.ctl, cwnd }
    }

    /// Returns `C.SMSS` in bytes.
    pub(super) fn smss(&self) -> u64 {
        u64::from(self.conn.mss)
    }

    /// Returns `C.inflight` in bytes.
    pub(super) fn inflight(&self) -> u64 {
        u64::from(self.conn.inflight) * self.smss()
    }

    /// Returns `Now()`, in microseconds.
    pub(super) fn now_us(&self) -> u64 {
        self.conn.tcp_mstamp()
    }

    /// Returns the writable fields as the callback has changed them, with cwnd in whole packets.
    pub(super) fn control(&self) -> crate::Control {
        let packets = u32::try_from(self.cwnd / self.smss().max(1)).unwrap_or(u32::MAX);
        crate::Control { cwnd: packets.min(self.ctl.cwnd_clamp).max(1), ..self.ctl }
    }
}
