//! The delivery-rate sampler, which measures how fast the network delivered the data that an ACK
//! acknowledges.
//!
//! When a packet is sent, the sender stores with it the number of packets delivered so far and the
//! time of the latest delivery: the packet's stamps. Linux: `tcp_skb_cb.tx`.
//!
//! When the packet is ACKed or SACKed, it gives a rate sample: the number of packets delivered
//! since the packet was sent, and an interval. A sample is marked application-limited if the sender
//! was application-limited when it sent the packet.
//!
//! The interval is the longer of the ACK phase and the send phase. The ACK phase begins at the
//! latest delivery before the packet was sent, and ends when the ACK arrives. The send phase is the
//! time in which the delivered packets were sent. The send phase is considered because ACKs may be
//! compressed.
//!
//! ```text
//! a packet is sent      skb_sent        -> SkbStamps, stored with the packet
//! a packet is (S)ACKed  skb_delivered      the newest packet's stamps go into the ACK's sample
//! the ACK is processed  generate           the sample is completed
//! the data runs out     check_app_limited  the application-limited period is marked
//! ```
//!
//! If a key of `[stack]` (a switch) selects a behaviour other than Linux's, the sampler takes and
//! completes samples in [`switched`] instead.
//!
//! Sources: [linux] `net/ipv4/tcp_rate.c`; [linux-v3] the same file (32-bit stamps; `lost` and
//! packets in flight recorded per packet); [delivery-rate].
//! Deviations: none.

mod switched;

use bbrlab_cc::linux_int::{after, stamp_us_delta, trunc_u32};
use bbrlab_cc::{Conn, RateSample};
use bbrlab_stack::RateSwitches;

use switched::Switched;

/// Largest number of packets in flight that is stored with a packet. Linux: `TCPCB_IN_FLIGHT_MAX`,
/// 20 bits.
const IN_FLIGHT_MAX: u32 = (1 << 20) - 1;

/// The bits of `delivered_ce` that are stored with a packet. Linux: `TCPCB_DELIVERED_CE_MASK`, 20
/// bits.
const DELIVERED_CE_MASK: u32 = (1 << 20) - 1;

/// Memory charged for an skb with one byte of payload. Linux: `SKB_TRUESIZE(1)` on x86-64.
const SKB_TRUESIZE_1: u32 = 640;

/// The kernel tree that the sampler imitates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SamplerVersion {
    /// Mainline Linux: stamps of 64 bits.
    #[default]
    V1,
    /// The BBRv2 and BBRv3 trees: stamps of 32 bits; `lost` and the packets in flight are stored
    /// with each packet, too.
    V3,
}

impl SamplerVersion {
    /// Converts a time in microseconds to the stamp that is stored with a packet.
    #[inline]
    fn stamp(self, mstamp: u64) -> u64 {
        match self {
            Self::V1 => mstamp,
            Self::V3 => u64::from(trunc_u32(mstamp)),
        }
    }

    /// Returns the microseconds from `earlier` to `later`, or 0 if `later` is earlier.
    #[inline]
    fn delta(self, later: u64, earlier: u64) -> u32 {
        match self {
            Self::V1 => stamp_us_delta(later, earlier),
            Self::V3 => {
                let delta = trunc_u32(later).wrapping_sub(trunc_u32(earlier)).cast_signed();
                delta.max(0).cast_unsigned()
            }
        }
    }
}

/// The state of delivery at the time when a packet was sent. Linux: `tcp_skb_cb.tx`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkbStamps {
    /// Start of the send phase that ends with this packet, in microseconds.
    pub first_tx_mstamp: u64,
    /// Time of the latest delivery before the packet was sent, in microseconds; 0 after the packet
    /// was used for a sample.
    pub delivered_mstamp: u64,
    /// Number of packets that had been delivered when the packet was sent.
    pub delivered: u32,
    /// Whether the sender was application-limited when the packet was sent.
    pub is_app_limited: bool,
    /// Further counters of the connection at the time when the packet was sent.
    pub notes: Notes,
}

/// The part of [`SkbStamps`] that is 0 in connections without CE marks, except with
/// [`SamplerVersion::V3`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// With [`SamplerVersion::V3`], the number of packets that had been marked lost when this
    /// packet was sent; otherwise 0.
    pub lost: u32,
    /// With [`SamplerVersion::V3`], the packets in flight just after this packet was sent,
    /// including it, limited to 20 bits; otherwise 0.
    pub in_flight: u32,
    /// The low 20 bits of the number of packets that had been delivered with a CE mark when this
    /// packet was sent.
    pub delivered_ce: u32,
}

impl Notes {
    /// The notes of a connection without CE marks and without [`SamplerVersion::V3`].
    pub const NONE: Self = Self { lost: 0, in_flight: 0, delivered_ce: 0 };
}

/// [`SkbStamps`] without the notes, with times relative to the packet's departure. In the sender's
/// `Skb`, the packed stamps take 12 bytes and one bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PackedStamps {
    /// Microseconds from the start of the send phase to the departure.
    pub first_tx_ago_us: u32,
    /// Microseconds from the latest delivery to the departure; [`Self::USED_UP`] after the packet
    /// was used for a sample (the kernel then sets its stamp to 0).
    pub delivered_ago_us: u32,
    /// Number of packets that had been delivered when the packet was sent.
    pub delivered: u32,
    /// Whether the sender was application-limited when the packet was sent.
    pub is_app_limited: bool,
}

impl PackedStamps {
    /// Value of `delivered_ago_us` after the packet was used for a sample.
    pub const USED_UP: u32 = u32::MAX;

    /// Packs the result of [`RateSampler::skb_sent`], without the notes, for a packet that departed
    /// at `tx_mstamp`.
    #[inline]
    #[must_use]
    pub const fn pack(stamps: &SkbStamps, tx_mstamp: u64) -> Self {
        Self {
            first_tx_ago_us: trunc_u32(tx_mstamp.wrapping_sub(stamps.first_tx_mstamp)),
            delivered_ago_us: if stamps.delivered_mstamp == 0 {
                Self::USED_UP
            } else {
                trunc_u32(tx_mstamp.wrapping_sub(stamps.delivered_mstamp))
            },
            delivered: stamps.delivered,
            is_app_limited: stamps.is_app_limited,
        }
    }

    /// Returns the unpacked stamps. The packed times are 32-bit differences: a stamp more than 71
    /// minutes before the departure is unpacked as a wrong, later time.
    #[inline]
    #[must_use]
    pub const fn unpack(self, notes: Notes, tx_mstamp: u64) -> SkbStamps {
        SkbStamps {
            first_tx_mstamp: tx_mstamp.wrapping_sub(self.first_tx_ago_us as u64),
            delivered_mstamp: if self.is_used_up() {
                0
            } else {
                tx_mstamp.wrapping_sub(self.delivered_ago_us as u64)
            },
            delivered: self.delivered,
            is_app_limited: self.is_app_limited,
            notes,
        }
    }

    /// Whether the packet was already used for a sample.
    #[inline]
    #[must_use]
    pub const fn is_used_up(&self) -> bool {
        self.delivered_ago_us == Self::USED_UP
    }
}

/// A packet that was just ACKed or SACKed: the fields that the sampler needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveredSkb {
    /// Departure time of the packet in microseconds. With pacing, the departure time may be later
    /// than the time at which TCP sent the packet.
    pub tx_mstamp: u64,
    /// One past the packet's last byte.
    pub end_seq: u32,
    /// Whether the packet is marked `SACKed`. The stamps of a `SACKed` packet must not be used a
    /// second time.
    pub is_sacked: bool,
    /// Whether the packet was ever retransmitted. Linux: `sacked & TCPCB_RETRANS`.
    pub is_retrans: bool,
}

/// The sample of the ACK that is being processed. Linux: `struct rate_sample`, zeroed for every
/// ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckRate {
    /// The fields of the sample that the congestion control receives.
    pub rs: RateSample,
    /// Start of the ACK phase in microseconds; 0 while the ACK has sampled no packet.
    pub prior_mstamp: u64,
    /// The low 20 bits of the connection's `delivered_ce` when the sampled packet was sent.
    pub prior_delivered_ce: u32,
    /// The connection's `lost` when the sampled packet was sent; 0 unless the version is
    /// [`SamplerVersion::V3`].
    pub prior_lost: u32,
    /// One past the last byte of the sampled packet.
    pub last_end_seq: u32,
    /// Length of the send phase in microseconds.
    pub snd_interval_us: u32,
    /// Length of the ACK phase in microseconds.
    pub rcv_interval_us: u32,
    /// Whether the sampled packet was ever retransmitted.
    pub is_retrans: bool,
}

/// A connection's sampler. The counters that the congestion control may read are in [`Conn`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct RateSampler {
    /// Start of the current send phase in microseconds.
    pub first_tx_mstamp: u64,
    /// Packets delivered in the interval of the reported delivery rate.
    pub rate_delivered: u32,
    /// Interval of the reported delivery rate in microseconds.
    pub rate_interval_us: u32,
    /// Whether the reported delivery rate was application-limited.
    pub rate_app_limited: bool,
    /// The kernel tree that the sampler follows.
    pub version: SamplerVersion,
    /// Whether a switch (a key of `[stack]`) selects a behaviour other than Linux's; if so,
    /// `switched` is set.
    is_switched: bool,
    /// The extra state that these switches need; `None` if all of them select Linux's behaviour.
    switched: Option<Box<Switched>>,
}

impl RateSampler {
    /// Creates a sampler that has stamped and sampled no packet yet.
    #[must_use]
    pub fn new(version: SamplerVersion, switches: RateSwitches) -> Self {
        Self {
            version,
            is_switched: switches != RateSwitches::default(),
            switched: (switches != RateSwitches::default())
                .then(|| Box::new(Switched::new(switches))),
            ..Self::default()
        }
    }

    /// Whether a switch (a key of `[stack]`) selects a behaviour other than Linux's. If so, the
    /// sampler must be passed every delivered packet.
    #[inline]
    pub const fn is_switched(&self) -> bool {
        self.is_switched
    }

    /// Stamps a packet of `pcount` segments that departs at `tx_mstamp` microseconds; `packets_out`
    /// does not include the packet yet. Linux: `tcp_rate_skb_sent`.
    #[inline]
    pub fn skb_sent(
        &mut self,
        conn: &mut Conn,
        packets_out: u32,
        pcount: u32,
        tx_mstamp: u64,
    ) -> SkbStamps {
        // No packet is in flight, so samples from now on cannot include earlier deliveries: the
        // send phase and the ACK phase start now.
        if packets_out == 0 {
            self.first_tx_mstamp = tx_mstamp;
            conn.delivered_mstamp = tx_mstamp;
        }
        SkbStamps {
            first_tx_mstamp: self.version.stamp(self.first_tx_mstamp),
            delivered_mstamp: self.version.stamp(conn.delivered_mstamp),
            delivered: conn.delivered,
            is_app_limited: conn.ctl.app_limited != 0,
            notes: self.notes(conn, pcount),
        }
    }

    /// Returns the notes of a packet of `pcount` segments that is sent now.
    #[inline]
    pub fn notes(&self, conn: &Conn, pcount: u32) -> Notes {
        let (lost, in_flight) = match self.version {
            SamplerVersion::V1 => (0, 0),
            SamplerVersion::V3 => {
                (conn.lost, conn.inflight.wrapping_add(pcount).min(IN_FLIGHT_MAX))
            }
        };
        Notes { lost, in_flight, delivered_ce: conn.delivered_ce & DELIVERED_CE_MASK }
    }

    /// Returns the packed result of [`Self::skb_sent`] for a packet that departs while others are
    /// in flight. In this case, an earlier packet has already started the sampler's send phase and
    /// ACK phase, so this function does not start them. [`Self::notes_behind_others`] returns the
    /// notes.
    #[inline]
    pub fn skb_sent_behind_others(&self, conn: &Conn, tx_mstamp: u64) -> PackedStamps {
        debug_assert!(conn.delivered_mstamp != 0, "the first packet in flight has set this time");
        PackedStamps {
            first_tx_ago_us: trunc_u32(tx_mstamp.wrapping_sub(self.first_tx_mstamp)),
            delivered_ago_us: trunc_u32(tx_mstamp.wrapping_sub(conn.delivered_mstamp)),
            delivered: conn.delivered,
            is_app_limited: conn.ctl.app_limited != 0,
        }
    }

    /// Returns the notes of a packet that departs while others are in flight, and whether the
    /// packet counts as already sampled. A `delivered_mstamp` of 0 means "already sampled". With
    /// [`SamplerVersion::V3`], this stamp has 32 bits, so it is also 0 for a delivery in one
    /// microsecond of every 71 minutes.
    #[inline]
    pub fn notes_behind_others(&self, conn: &Conn, pcount: u32) -> (Notes, bool) {
        let is_stamp_0 =
            self.version == SamplerVersion::V3 && trunc_u32(conn.delivered_mstamp) == 0;
        (self.notes(conn, pcount), is_stamp_0)
    }

    /// Samples a packet that is `SACKed` or cumulatively ACKed for the first time. Linux:
    /// `tcp_rate_skb_delivered`.
    ///
    /// The sample of an ACK is based on the delivered packet with the latest departure. If several
    /// packets departed at the same time, the sample is based on the packet with the highest
    /// sequence number.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "after inlining, most fields stay in registers")]
    pub fn skb_delivered(&mut self, ack: &mut AckRate, stamps: &mut SkbStamps, skb: DeliveredSkb) {
        if stamps.delivered_mstamp == 0 {
            return;
        }
        // In the second test, a `prior_delivered` of 0 means "no packet yet". As in the kernel,
        // this is so even if the count of delivered packets has wrapped to 0.
        if self.is_switched {
            // `take_switched` is a cold call, so it gets a copy of `stamps`. A reference would
            // force all callers of `skb_delivered` to keep `stamps` in memory instead of registers.
            self.take_switched(ack, *stamps, skb);
        } else if ack.rs.prior_delivered == 0 || self.is_newest(ack, skb) {
            self.take(ack, stamps, skb);
        }
        // The stamps are now used up: the cumulative ACK that later covers a SACKed packet must not
        // use them again.
        if skb.is_sacked {
            stamps.delivered_mstamp = 0;
        }
    }

    /// Like [`Self::skb_delivered`], for a packet with packed stamps that is not marked `SACKed`.
    /// [`Self::is_switched`] must be false.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "after inlining, most fields stay in registers")]
    pub fn packed_delivered(
        &mut self,
        ack: &mut AckRate,
        tx: PackedStamps,
        notes: Notes,
        skb: DeliveredSkb,
    ) {
        debug_assert!(!self.is_switched && !skb.is_sacked);
        if tx.is_used_up() {
            return;
        }
        let stamps = tx.unpack(notes, skb.tx_mstamp);
        debug_assert_ne!(
            stamps.delivered_mstamp, 0,
            "a stamp of 0 would mean that the packet was already sampled"
        );
        if ack.rs.prior_delivered == 0 || self.is_newest(ack, skb) {
            self.take(ack, &stamps, skb);
        }
    }

    /// Whether a packet was sent after the packet on which the ACK's sample is based so far.
    #[inline]
    fn is_newest(&self, ack: &AckRate, skb: DeliveredSkb) -> bool {
        skb.tx_mstamp > self.first_tx_mstamp
            || (skb.tx_mstamp == self.first_tx_mstamp && after(skb.end_seq, ack.last_end_seq))
    }

    /// Makes `skb` the packet on which the sample is based.
    #[inline]
    fn take(&mut self, ack: &mut AckRate, stamps: &SkbStamps, skb: DeliveredSkb) {
        ack.prior_delivered_ce = stamps.notes.delivered_ce;
        ack.rs.prior_delivered = stamps.delivered;
        ack.prior_mstamp = stamps.delivered_mstamp;
        ack.prior_lost = stamps.notes.lost;
        ack.rs.is_app_limited = stamps.is_app_limited;
        ack.is_retrans = skb.is_retrans;
        ack.rs.tx_in_flight = stamps.notes.in_flight;
        ack.last_end_seq = skb.end_seq;
        self.first_tx_mstamp = skb.tx_mstamp;
        ack.rs.interval_us = i64::from(self.version.delta(skb.tx_mstamp, stamps.first_tx_mstamp));
    }

    /// Completes the sample of an ACK that newly acknowledged `delivered` packets (cumulatively or
    /// by SACK) and marked `lost` packets lost. An unusable sample has an interval of -1. Linux:
    /// `tcp_rate_gen`.
    pub fn generate(
        &mut self,
        conn: &mut Conn,
        ack: &mut AckRate,
        delivered: u32,
        lost: u32,
        is_sack_reneg: bool,
    ) {
        let now = conn.tcp_mstamp();
        self.generate_at(now, conn, ack, delivered, lost, is_sack_reneg);
    }

    /// Like [`Self::generate`], for a caller that passes the clock's time, `now`, in microseconds.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "each kind of ACK is processed by code of its own, which calls this in one place"
    )]
    pub fn generate_at(
        &mut self,
        now: u64,
        conn: &mut Conn,
        ack: &mut AckRate,
        delivered: u32,
        lost: u32,
        is_sack_reneg: bool,
    ) {
        if self.is_switched {
            note_counts(now, conn, ack, delivered, lost);
            self.generate_switched(conn, ack, is_sack_reneg);
        } else if let Some((snd_us, ack_us)) =
            self.generate_plainly(now, conn, ack, delivered, lost, is_sack_reneg)
        {
            (ack.snd_interval_us, ack.rcv_interval_us) = (snd_us, ack_us);
        }
    }

    /// Like [`Self::generate_at`], but [`Self::is_switched`] must be false. Returns the lengths of
    /// the send phase and the ACK phase and does not store them; `None` if there is no sample.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "each kind of ACK is processed by code of its own, which calls this in one place"
    )]
    pub fn generate_plainly(
        &mut self,
        now: u64,
        conn: &mut Conn,
        ack: &mut AckRate,
        delivered: u32,
        lost: u32,
        is_sack_reneg: bool,
    ) -> Option<(u32, u32)> {
        debug_assert!(!self.is_switched);
        note_counts(now, conn, ack, delivered, lost);
        if ack.prior_mstamp == 0 || is_sack_reneg {
            ack.rs.delivered = -1;
            ack.rs.interval_us = -1;
            return None;
        }
        self.count(conn, ack);
        let snd_us = trunc_u32(ack.rs.interval_us.cast_unsigned());
        let ack_us = self.version.delta(now, ack.prior_mstamp);
        self.complete(&mut ack.rs, snd_us, ack_us, conn.min_rtt_us);
        Some((snd_us, ack_us))
    }

    /// Returns the sample of an ACK whose newest delivered packet was never retransmitted, departed
    /// at `tx_mstamp`, and has the stamps `tx` and `notes`. The caller has already added the
    /// delivered packets to `conn`.
    ///
    /// Has the same effect as [`Self::skb_delivered`] for all packets of the ACK, followed by
    /// [`Self::generate`] without the part in [`Self::complete_newest`]. [`Self::is_switched`] must
    /// be false.
    #[inline]
    pub fn sample_newest(
        &mut self,
        conn: &Conn,
        tx: &PackedStamps,
        notes: Notes,
        tx_mstamp: u64,
        now: u64,
    ) -> RateSample {
        debug_assert!(!self.is_switched && !tx.is_used_up());
        self.first_tx_mstamp = tx_mstamp;
        let delivered_ce = conn.delivered_ce.wrapping_sub(notes.delivered_ce) & DELIVERED_CE_MASK;
        let mut rs = RateSample {
            delivered: conn.delivered.wrapping_sub(tx.delivered).cast_signed(),
            delivered_ce: delivered_ce.cast_signed(),
            prior_delivered: tx.delivered,
            tx_in_flight: notes.in_flight,
            is_app_limited: tx.is_app_limited,
            ..RateSample::default()
        };
        let delivered_mstamp = tx_mstamp.wrapping_sub(u64::from(tx.delivered_ago_us));
        let (snd_us, ack_us) = if self.version == SamplerVersion::V1 {
            (tx.first_tx_ago_us, stamp_us_delta(now, delivered_mstamp))
        } else {
            rs.lost = conn.lost.wrapping_sub(notes.lost).cast_signed();
            let first_tx_mstamp = tx_mstamp.wrapping_sub(u64::from(tx.first_tx_ago_us));
            (
                self.version.delta(tx_mstamp, first_tx_mstamp),
                self.version.delta(now, delivered_mstamp),
            )
        };
        rs.interval_us = i64::from(snd_us.max(ack_us));
        rs
    }

    /// Completes `rs`, the result of [`Self::sample_newest`], and updates the delivery state in
    /// `conn`. An unusable sample has an interval of -1.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called at one place, for nearly every ACK")]
    pub fn complete_newest(
        &mut self,
        conn: &mut Conn,
        rs: &mut RateSample,
        now: u64,
        is_sack_reneg: bool,
    ) {
        end_app_limited(conn);
        conn.delivered_mstamp = now;
        if is_sack_reneg {
            *rs = RateSample { delivered: -1, delivered_ce: 0, lost: 0, interval_us: -1, ..*rs };
            return;
        }
        self.judge(rs, conn.min_rtt_us);
    }

    /// Counts the packets that were delivered, lost and CE-marked since the sampled packet was
    /// sent.
    #[inline]
    fn count(&self, conn: &Conn, ack: &mut AckRate) {
        ack.rs.delivered = conn.delivered.wrapping_sub(ack.rs.prior_delivered).cast_signed();
        if self.version == SamplerVersion::V3 {
            ack.rs.lost = conn.lost.wrapping_sub(ack.prior_lost).cast_signed();
        }
        let delivered_ce =
            conn.delivered_ce.wrapping_sub(ack.prior_delivered_ce) & DELIVERED_CE_MASK;
        ack.rs.delivered_ce = delivered_ce.cast_signed();
    }

    /// Sets the interval to the longer of the send and ACK phases. A sample whose interval is
    /// shorter than `bound_us` is unusable.
    #[inline]
    fn complete(&mut self, rs: &mut RateSample, snd_us: u32, ack_us: u32, bound_us: u32) {
        rs.interval_us = i64::from(snd_us.max(ack_us));
        self.judge(rs, bound_us);
    }

    /// Decides whether a sample is usable, and whether it becomes the reported delivery rate. An
    /// application-limited sample becomes the reported rate only if it is at least as fast as the
    /// rate reported so far.
    #[inline]
    fn judge(&mut self, rs: &mut RateSample, bound_us: u32) {
        let interval_us = trunc_u32(rs.interval_us.cast_unsigned());
        // The interval is shorter than the minimum RTT, so the ACK was probably for the original
        // packet, but was attributed to the retransmission.
        if interval_us < bound_us {
            rs.interval_us = -1;
            return;
        }
        if !rs.is_app_limited || self.is_at_least_as_fast(rs.delivered, interval_us) {
            self.rate_delivered = rs.delivered.cast_unsigned();
            self.rate_interval_us = interval_us;
            self.rate_app_limited = rs.is_app_limited;
        }
    }

    /// Whether `delivered` packets in `interval_us` are at least as fast as the reported rate.
    /// Compares cross products to avoid divisions.
    fn is_at_least_as_fast(&self, delivered: i32, interval_us: u32) -> bool {
        let new =
            i64::from(delivered).cast_unsigned().wrapping_mul(u64::from(self.rate_interval_us));
        new >= u64::from(self.rate_delivered).wrapping_mul(u64::from(interval_us))
    }
}

/// Updates the delivery state in `conn`, and stores in `ack` how many packets the ACK delivered and
/// how many were marked lost while it was processed.
#[inline]
fn note_counts(now: u64, conn: &mut Conn, ack: &mut AckRate, delivered: u32, lost: u32) {
    debug_assert_eq!(now, conn.tcp_mstamp());
    end_app_limited(conn);
    if delivered != 0 {
        conn.delivered_mstamp = now;
    }
    ack.rs.acked_sacked = delivered;
    ack.rs.losses = lost.cast_signed();
}

/// Ends the application-limited period once more than `app_limited` packets have been delivered.
/// [`check_app_limited`] has set `app_limited` to the number of packets that were delivered or in
/// flight when the data ran out.
#[inline]
fn end_app_limited(conn: &mut Conn) {
    if conn.ctl.app_limited != 0 && after(conn.delivered, conn.ctl.app_limited) {
        conn.ctl.app_limited = 0;
    }
}

/// The inputs, in addition to [`Conn`], of [`check_app_limited`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Bytes written, but not sent yet.
    pub unsent_bytes: u32,
    /// Memory charged for skbs that wait in the host's queues, in bytes. Linux:
    /// `sk_wmem_alloc_get`.
    pub wmem_alloc: u32,
    /// Packets marked lost.
    pub lost_out: u32,
    /// Packets retransmitted and not acknowledged.
    pub retrans_out: u32,
}

/// Marks the connection application-limited if cwnd allows more packets but no data is left to
/// send. Linux: `tcp_rate_check_app_limited`.
#[inline]
pub fn check_app_limited(conn: &mut Conn, backlog: Backlog) {
    if backlog.unsent_bytes < conn.mss
        && backlog.wmem_alloc < SKB_TRUESIZE_1
        && conn.inflight < conn.ctl.cwnd
        && backlog.lost_out <= backlog.retrans_out
    {
        conn.ctl.app_limited = conn.delivered.wrapping_add(conn.inflight).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conn(clock_us: u64, delivered: u32) -> Conn {
        Conn { clock_ns: clock_us * 1000, delivered, min_rtt_us: 10, ..Conn::default() }
    }

    fn skb(tx_mstamp: u64, end_seq: u32) -> DeliveredSkb {
        DeliveredSkb { tx_mstamp, end_seq, ..DeliveredSkb::default() }
    }

    #[test]
    fn sample_counts_deliveries_since_the_sampled_packet_left() {
        let mut sampler = RateSampler::default();
        let mut conn = conn(1_000, 1);
        let mut first = sampler.skb_sent(&mut conn, 0, 1, 1_000);
        let mut second = sampler.skb_sent(&mut conn, 1, 1, 1_200);
        conn.clock_ns = 2_000_000;
        conn.delivered = 3;
        let mut ack = AckRate::default();
        sampler.skb_delivered(&mut ack, &mut first, skb(1_000, 1448));
        sampler.skb_delivered(&mut ack, &mut second, skb(1_200, 2896));
        sampler.generate(&mut conn, &mut ack, 2, 0, false);
        assert_eq!((ack.rs.delivered, ack.rs.interval_us), (2, 1_000));
        assert_eq!((ack.snd_interval_us, ack.rcv_interval_us), (200, 1_000));
        assert_eq!(conn.delivered_mstamp, 2_000);
    }

    #[test]
    fn the_later_trees_keep_stamps_of_32_bits_and_the_packets_in_flight() {
        let late = (1 << 32) + 500;
        assert_eq!((SamplerVersion::V1.stamp(late), SamplerVersion::V3.stamp(late)), (late, 500));
        for version in [SamplerVersion::V1, SamplerVersion::V3] {
            assert_eq!(version.delta(late, version.stamp(late - 1_000)), 1_000, "across the wrap");
            assert_eq!(version.delta(100, 200), 0, "never negative");
        }
        for (version, in_flight, lost) in
            [(SamplerVersion::V1, 0, 0), (SamplerVersion::V3, 0xf_ffff, 7)]
        {
            let mut sampler = RateSampler { version, ..RateSampler::default() };
            let mut conn = Conn { inflight: 0xf_fffe, lost: 7, ..conn(1_000, 1) };
            conn.delivered_ce = 0x1f_ffff;
            let stamps = sampler.skb_sent(&mut conn, 1, 2, 1_000);
            let notes = Notes { lost, in_flight, delivered_ce: 0xf_ffff };
            assert_eq!((stamps.notes, stamps.is_app_limited), (notes, false), "20 bits are stored");
            conn.ctl.app_limited = 5;
            assert!(sampler.skb_sent(&mut conn, 1, 2, 1_000).is_app_limited);
        }
    }

    #[test]
    fn packed_stamps_keep_the_application_limited_mark() {
        let notes = Notes { delivered_ce: 5, ..Notes::NONE };
        for is_app_limited in [false, true] {
            let stamps =
                SkbStamps { delivered_mstamp: 900, is_app_limited, notes, ..SkbStamps::default() };
            assert_eq!(PackedStamps::pack(&stamps, 1_000).unpack(notes, 1_000), stamps);
        }
    }

    #[test]
    fn a_packet_behind_others_is_stamped_like_any() {
        for version in [SamplerVersion::V1, SamplerVersion::V3] {
            for (step, app_limited) in (1..400_u64).flat_map(|step| [(step, 0), (step, 7)]) {
                let mut sampler = RateSampler { version, ..RateSampler::default() };
                // Some packets' time stamps are 0 when cut to 32 bits.
                let delivered_mstamp = (step % 5) << 30 | (step % 3);
                sampler.first_tx_mstamp = delivered_mstamp.saturating_sub(step * 7);
                let mut conn = Conn {
                    delivered_mstamp: delivered_mstamp.max(1),
                    delivered_ce: trunc_u32(step << 14),
                    lost: trunc_u32(step),
                    inflight: trunc_u32(step * 4_000),
                    ..conn(1, trunc_u32(step * 3))
                };
                conn.ctl.app_limited = app_limited;
                let tx_mstamp = conn.delivered_mstamp + step * 1_000;
                let mut quick = sampler.skb_sent_behind_others(&conn, tx_mstamp);
                let (notes, is_used_up) = sampler.notes_behind_others(&conn, 3);
                if is_used_up {
                    quick.delivered_ago_us = PackedStamps::USED_UP;
                }
                let stamps = sampler.skb_sent(&mut conn, 1, 3, tx_mstamp);
                assert_eq!(quick, PackedStamps::pack(&stamps, tx_mstamp));
                assert_eq!(notes, stamps.notes);
            }
        }
    }

    #[test]
    fn sacked_packet_is_sampled_once() {
        let mut sampler = RateSampler::default();
        let mut conn = conn(1_000, 1);
        let mut stamps = sampler.skb_sent(&mut conn, 0, 1, 1_000);
        let sacked = DeliveredSkb { is_sacked: true, ..skb(1_000, 1448) };
        sampler.skb_delivered(&mut AckRate::default(), &mut stamps, sacked);
        let mut ack = AckRate::default();
        sampler.skb_delivered(&mut ack, &mut stamps, skb(1_000, 1448));
        sampler.generate(&mut conn, &mut ack, 1, 0, false);
        assert_eq!((ack.rs.delivered, ack.rs.interval_us), (-1, -1));
    }

    #[test]
    fn interval_below_the_minimum_rtt_is_invalid_but_the_count_stays() {
        let mut sampler = RateSampler::default();
        let mut conn = Conn { min_rtt_us: 5_000, ..conn(1_000, 1) };
        let mut stamps = sampler.skb_sent(&mut conn, 0, 1, 1_000);
        conn.clock_ns = 2_000_000;
        conn.delivered = 2;
        let mut ack = AckRate::default();
        sampler.skb_delivered(&mut ack, &mut stamps, skb(1_000, 1448));
        sampler.generate(&mut conn, &mut ack, 1, 0, false);
        assert_eq!((ack.rs.delivered, ack.rs.interval_us), (1, -1));
    }

    #[test]
    fn an_empty_queue_with_room_in_the_window_is_application_limited() {
        let mut conn = Conn { mss: 1448, inflight: 3, delivered: 7, ..Conn::default() };
        conn.ctl.cwnd = 10;
        check_app_limited(&mut conn, Backlog { unsent_bytes: 1448, ..Backlog::default() });
        assert_eq!(conn.ctl.app_limited, 0);
        check_app_limited(&mut conn, Backlog { unsent_bytes: 1447, ..Backlog::default() });
        assert_eq!(conn.ctl.app_limited, 10);
    }

    #[test]
    fn a_sender_that_waits_for_something_else_is_not_application_limited() {
        let is_limited = |inflight, backlog| {
            let mut conn = Conn { mss: 1448, inflight, delivered: 7, ..Conn::default() };
            conn.ctl.cwnd = 10;
            check_app_limited(&mut conn, backlog);
            conn.ctl.app_limited != 0
        };
        let all_repaired = Backlog { lost_out: 2, retrans_out: 2, ..Backlog::default() };
        assert!(is_limited(9, all_repaired));
        assert!(!is_limited(10, all_repaired), "cwnd is the limit");
        assert!(!is_limited(9, Backlog { retrans_out: 1, ..all_repaired }), "a repair is due");
        let in_host = |wmem_alloc| Backlog { wmem_alloc, ..Backlog::default() };
        assert!(is_limited(9, in_host(SKB_TRUESIZE_1 - 1)));
        assert!(
            !is_limited(9, in_host(SKB_TRUESIZE_1)),
            "data that waits in the host's queue is still to be sent"
        );
    }
}
