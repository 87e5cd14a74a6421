//! The fields that a congestion control reads and writes, each as one row of a table.
//!
//! The rows of the table generate the structs (called records here), the columns of kernel traces
//! that `bbrlab-oracle` reads, the attributes of the Python classes and their stubs, and
//! `docs/fields.md`. To add a field, add a row here, and set the field in the sender.

use std::fmt;

use crate::linux_int::trunc_u32;

/// Calls the macro `$make` with `{ $with } Record, "meaning" { rows } computed { rows }`. `$with`
/// stands for tokens that the caller passes through to `$make`, `Record` for the struct's name, and
/// `"meaning"` for the struct's description.
///
/// A field's row is `name: type, column, unit, kernel's name, meaning`; the row of a writable field
/// ends with the smallest and the largest value allowed. `column` is the name of the field's column
/// in kernel traces; it is empty if the traces do not have the field. The rows after `computed`
/// describe methods of the struct that compute a value from its fields.
#[doc(hidden)]
#[macro_export]
macro_rules! fields {
    (Control, $make:ident $with:tt) => { $make! { $with
        Control, "The fields of the connection that a congestion control may write" {
            cwnd: u32, "cwnd", "packets", "snd_cwnd", "Congestion window", writable 1 to 0x4000_0000;
            cwnd_cnt: u32, "cwnd_cnt", "packets", "snd_cwnd_cnt", "Linear increase counter", writable 0 to 0xffff_ffff;
            cwnd_clamp: u32, "cwnd_clamp", "packets", "snd_cwnd_clamp", "Upper bound of cwnd, which a control is expected to respect", writable 1 to 0xffff_ffff;
            ssthresh: u32, "ssthresh", "packets", "snd_ssthresh", "Slow start threshold; 2147483647 at first", writable 1 to 0x7fff_ffff;
            pacing_rate: u64, "pacing_rate", "bytes per second", "sk_pacing_rate", "Rate at which payload is sent; 18446744073709551615 means unset. The sender sets it for window-based controls", writable 1 to 0xffff_ffff_ffff_ffff;
            pacing_status: PacingStatus, "pacing_status", "state", "sk_pacing_status", "The pacer: 0 none, 1 TCP's timer, 2 the `fq` discipline. A control that needs pacing sets this field to 1 if it is 0, usually in `init`; pacing needs no other change", writable 0 to 2;
            app_limited: u32, "app_limited", "packets", "app_limited", "The `delivered` count at which the application-limited bubble ends; 0 for none", writable 0 to 0xffff_ffff;
            ecn_flags: u8, "ecn_flags", "bits", "ecn_flags", "1 ECN negotiated, 2 send CWR, 4 echo ECE, 8 ECT seen. In the kernel tree of BBRv2: 16 ECT on every packet. In the kernel tree of BBRv3: 16 low-latency ECN, 32 ECT on every packet", writable 0 to 63;
            ack_pending: u8, "ack_pending", "bits", "icsk_ack.pending", "The receiver's pending ACK: 2 delayed-ACK timer armed, 16 ACK now", writable 0 to 31;
        } computed {}
    } };
    (Conn, $make:ident $with:tt) => { $make! { $with
        Conn, "A view of the sender. A congestion control may change only the fields of `ctl`" {
            clock_ns: u64, "clock_ns", "nanoseconds", "tcp_clock_cache", "TCP clock. In a simulation it starts at 32.768 s";
            wstamp_ns: u64, "wstamp_ns", "nanoseconds", "tcp_wstamp_ns", "Earliest departure time of the next packet";
            jiffies: u32, "jiffies", "jiffies", "tcp_jiffies32", "The kernel's tick counter, 32 bits; `hz` ticks are a second";
            snd_nxt: u32, "snd_nxt", "sequence number", "snd_nxt", "Next byte to send";
            max_packets_out: u32, "max_packets_out", "packets", "max_packets_out", "The most packets outstanding in the last window";
            ca_state: CaState, "ca_state", "state", "icsk_ca_state", "State of loss recovery";
            is_cwnd_limited: bool, "is_cwnd_limited", "flag", "is_cwnd_limited", "Whether the sender was recently limited by cwnd";
            tlp_orig_app_limited: bool, "tlp_orig_app_limited", "flag", "tlp_orig_data_app_limited", "Whether the packet that a tail-loss probe retransmitted was sent application-limited. In Linux, only the kernel tree of BBRv3 has this field";
            snd_una: u32, "snd_una", "sequence number", "snd_una", "First unacknowledged byte";
            inflight: u32, "inflight", "packets", "tcp_packets_in_flight", "Packets in flight";
            mss: u32, "mss", "bytes", "mss_cache", "Payload of a full segment";
            srtt_us: u32, "srtt_us", "microseconds times 8", "srtt_us", "Smoothed RTT; 0 for none";
            delivered: u32, "delivered", "packets", "delivered", "Packets delivered so far; wraps";
            delivered_ce: u32, "delivered_ce", "packets", "delivered_ce", "Packets delivered with a CE mark; wraps";
            lost: u32, "lost", "packets", "lost", "Packets marked lost so far; wraps";
            lsndtime: u32, "lsndtime", "jiffies", "lsndtime", "When data was last sent";
            delivered_mstamp: u64, "delivered_mstamp", "microseconds", "delivered_mstamp", "Time of the latest delivery";
            min_rtt_us: u32, "min_rtt_us", "microseconds", "tcp_min_rtt", "Windowed minimum RTT of the stack; 4294967295 for none";
            prior_cwnd: u32, "prior_cwnd", "packets", "prior_cwnd", "cwnd before the last reduction";
            rcv_nxt: u32, "rcv_nxt", "sequence number", "rcv_nxt", "Next byte expected from the peer";
            hz: u32, "", "jiffies per second", "HZ", "The kernel's tick rate, a constant of its build";
            pacing_shift: u32, "pacing_shift", "bits", "sk_pacing_shift", "A burst has the bytes that the pacing rate sends in a second, shifted right by this number; 10 by default";
            gso_max_size: u32, "gso_max_size", "bytes", "sk_gso_max_size", "Upper bound of a burst";
            max_pacing_rate: u64, "max_pacing_rate", "bytes per second", "sk_max_pacing_rate", "Upper bound of the pacing rate";
        } computed {
            tcp_mstamp: u64, "microseconds", "tcp_mstamp", "The TCP clock";
            in_slow_start: bool, "flag", "tcp_in_slow_start", "Whether cwnd is below ssthresh";
        }
    } };
    (RateSample, $make:ident $with:tt) => { $make! { $with
        RateSample, "A delivery-rate sample. Linux: `struct rate_sample`" {
            delivered: i32, "rs_delivered", "packets", "delivered", "Packets delivered in the sample's interval; -1 for an invalid sample";
            delivered_ce: i32, "rs_delivered_ce", "packets", "delivered_ce", "Packets with a CE mark among those in `delivered`";
            interval_us: i64, "rs_interval_us", "microseconds", "interval_us", "Length of the sample's interval; -1 for an invalid sample";
            rtt_us: i64, "rs_rtt_us", "microseconds", "rtt_us", "RTT of this ACK; -1 for none";
            losses: i32, "rs_losses", "packets", "losses", "Packets newly marked lost by this ACK";
            lost: i32, "rs_lost", "packets", "lost", "Packets lost in the sample's interval, for a control with the switch `notes_in_flight`. In Linux, only the kernel trees of BBRv2 and BBRv3 have this field";
            acked_sacked: u32, "rs_acked_sacked", "packets", "acked_sacked", "Packets newly acknowledged or SACKed by this ACK";
            prior_in_flight: u32, "rs_prior_in_flight", "packets", "prior_in_flight", "Packets in flight before this ACK";
            prior_delivered: u32, "rs_prior_delivered", "packets", "prior_delivered", "The connection's `delivered` when the sampled packet was sent";
            tx_in_flight: u32, "rs_tx_in_flight", "packets", "tx_in_flight", "Packets in flight just after the sampled packet was sent, for a control with the switch `notes_in_flight`. In Linux, only the kernel trees of BBRv2 and BBRv3 have this field";
            is_app_limited: bool, "rs_app_limited", "flag", "is_app_limited", "Whether the sampled packet was sent application-limited";
            is_ack_delayed: bool, "rs_ack_delayed", "flag", "is_ack_delayed", "Whether the ACK may have been delayed";
            is_ece: bool, "rs_ece", "flag", "is_ece", "Whether the ACK carried ECE. In Linux, only the kernel trees of BBRv2 and BBRv3 have this field";
            is_tlp_ack: bool, "rs_is_tlp_ack", "flag", "is_acking_tlp_retrans_seq", "Whether the ACK matches a tail-loss probe's retransmission. In Linux, only the kernel tree of BBRv3 has this field";
        } computed {}
    } };
    (AckSample, $make:ident $with:tt) => { $make! { $with
        AckSample, "The packets that an ACK acknowledged. Linux: `struct ack_sample`" {
            pkts_acked: u32, "pa_pkts", "packets", "pkts_acked", "Packets that this ACK acknowledged";
            rtt_us: i32, "pa_rtt_us", "microseconds", "rtt_us", "RTT of this ACK; -1 for none";
            in_flight: u32, "pa_in_flight", "bytes", "in_flight", "Bytes in flight when the newest acknowledged packet was sent";
        } computed {}
    } };
    (LostSkb, $make:ident $with:tt) => { $make! { $with
        LostSkb, "A packet that was marked lost, with values recorded when it was sent. Linux: `struct tcp_skb_cb`" {
            seq: u32, "", "sequence number", "seq", "First byte of the packet";
            end_seq: u32, "", "sequence number", "end_seq", "The number after the packet's last byte";
            pcount: u32, "k_pcount", "packets", "tcp_skb_pcount", "Segments in the packet";
            in_flight: u32, "k_in_flight", "packets", "tx.in_flight", "Packets in flight just after the packet was sent, itself included";
            lost: u32, "k_lost", "packets", "tx.lost", "The connection's `lost` when the packet was sent";
            is_app_limited: bool, "k_app_limited", "flag", "tx.is_app_limited", "Whether the packet was sent application-limited";
            delivered_mstamp: u64, "k_dmstamp", "microseconds", "tx.delivered_mstamp", "The connection's `delivered_mstamp` when the packet was sent; 0 if the receiver SACKed the packet, then discarded it, and the packet was marked lost after that";
        } computed {}
    } };
}

/// A row of the table: the description of one field. [`Field`] also reads and writes the field.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The field's name.
    pub name: &'static str,
    /// The field's type.
    pub kind: Kind,
    /// The name of the field's column in kernel traces; `None` if the traces do not have the field.
    pub column: Option<&'static str>,
    /// The field's unit; `flag` for a field that is true or false.
    pub unit: &'static str,
    /// The field's name in Linux.
    pub linux: &'static str,
    /// The smallest and largest values that may be written; `None` if the field is read-only.
    pub writable: Option<(u64, u64)>,
    /// The field's meaning.
    pub meaning: &'static str,
}

/// A field of a struct that the macro `fields!` describes.
#[derive(Clone, Copy, Debug)]
pub struct Field<R: 'static> {
    /// The description of the field.
    pub about: About,
    /// Reads the field as 64 bits, sign-extended if the type is signed.
    pub get: fn(&R) -> i64,
    /// Stores a value in the field. An integer gets the low bits of the value, and a `bool` gets
    /// true unless the value is 0. An enum gets the variant with this number; if there is none, the
    /// field stays unchanged and the function returns `false`.
    pub put: fn(&mut R, i64) -> bool,
}

/// The rows of the table that describe one struct: its fields and its computed values.
#[derive(Clone, Debug)]
pub struct Rows {
    /// The struct's name.
    pub record: &'static str,
    /// The struct's meaning.
    pub meaning: &'static str,
    /// The struct's fields, in order.
    pub fields: Vec<About>,
    /// The values that the struct's methods compute.
    pub computed: &'static [About],
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the types' own names")]
pub enum Kind {
    Bool,
    U8,
    U32,
    I32,
    U64,
    I64,
    CaState,
    PacingStatus,
}

/// Writes the type's name in Rust.
impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::CaState => "CaState",
            Self::PacingStatus => "PacingStatus",
        })
    }
}

/// Conversion of a field's type from and to 64 bits.
pub(crate) trait Value: Copy {
    const KIND: Kind;

    fn bits(self) -> i64;

    /// Returns the value of this type for `bits`. An integer narrower than 64 bits takes the low
    /// bits of `bits`. A `bool` is true unless `bits` is 0. An enum is the variant with this
    /// number. Returns `None` if an enum has no such variant.
    fn of(bits: i64) -> Option<Self>;
}

macro_rules! integers {
    ($($kind:ident $integer:ty, $bits:expr, $of:expr;)*) => {$(
        impl Value for $integer {
            const KIND: Kind = Kind::$kind;

            fn bits(self) -> i64 {
                let bits: fn(Self) -> i64 = $bits;
                bits(self)
            }

            fn of(bits: i64) -> Option<Self> {
                let of: fn(i64) -> Self = $of;
                Some(of(bits))
            }
        }
    )*};
}

integers! {
    U8 u8, i64::from, |bits| bits.to_le_bytes()[0];
    U32 u32, i64::from, |bits| trunc_u32(bits.cast_unsigned());
    I32 i32, i64::from, |bits| trunc_u32(bits.cast_unsigned()).cast_signed();
    U64 u64, u64::cast_signed, i64::cast_unsigned;
    I64 i64, |value| value, |bits| bits;
}

impl Value for bool {
    const KIND: Kind = Kind::Bool;

    fn bits(self) -> i64 {
        self.into()
    }

    fn of(bits: i64) -> Option<Self> {
        Some(bits != 0)
    }
}

/// Returns `Some(name)`, or `None` if the name is empty.
pub(crate) const fn column(name: &'static str) -> Option<&'static str> {
    if name.is_empty() { None } else { Some(name) }
}

/// Returns the smallest and largest values of a writable field; `None` for a read-only field.
pub(crate) const fn bounds(of: &[(u64, u64)]) -> Option<(u64, u64)> {
    match of {
        [one] => Some(*one),
        _ => None,
    }
}
