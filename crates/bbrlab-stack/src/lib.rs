//! The configuration of a host's TCP as plain data. A scenario's `[stack]` is parsed into these
//! types, which sender and receiver use unchanged.
//!
//! Apart from comparing settings, this crate has no behaviour. The doc comment of each type states
//! what the type's values mean; the crate `bbrlab-tcp` implements this behaviour. `keys.rs`
//! describes settings that are keys of `[stack]`. Such a setting has a row in a table
//! (`crate::settings!`), which defines the struct's field and the key; the reader of scenarios
//! derives the key from this row.

mod keys;
mod socket;
mod switches;

use bbrlab_units::{Bytes, Ecn, Span};

pub use keys::{Setting, SettingForm, SettingType, SettingValue};
pub use socket::{CcRtt, Handshake, RttClock, Sockbuf, SocketSwitches, TcpOptions};
pub use switches::{
    AckInterval, CwndValidation, InvalidSample, LossCount, LossSwitches, Pacing, PacingSwitches,
    PartialAck, RateSwitches, Rto, RtoEstimate, Rule3, RwndBounds, SampleBound,
};

/// Bytes of memory that an skb takes in addition to its payload: head (256), `sk_buff` (256) and
/// `skb_shared_info` (320).
pub const SKB_OVERHEAD: u32 = 832;

crate::settings! {
    /// The settings of all hosts: a scenario's `[stack]`. The defaults are Linux's for a host whose
    /// clock has a step of 1 ns and whose socket buffers grow up to 64 MiB. The runs on Linux with
    /// which the simulator is compared have this step and these buffers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Stack {
        /// Size of the sender's send buffer.
        pub sndbuf: SocketBuffer = SocketBuffer::Auto, "sndbuf";
        /// Size of the receiver's receive buffer.
        pub rcvbuf: SocketBuffer = SocketBuffer::Auto, "rcvbuf";
        /// Bounds of a receive buffer that grows. Linux: `tcp_rmem`.
        pub tcp_rmem: BufferBounds =
            BufferBounds { least: 4096, initial: 131_072, most: 64 << 20 }, "tcp_rmem";
        /// Bounds of a send buffer that grows. Linux: `tcp_wmem`.
        pub tcp_wmem: BufferBounds =
            BufferBounds { least: 4096, initial: 16_384, most: 64 << 20 }, "tcp_wmem";
        /// Number of unsent bytes in the send buffer at which the application can no longer write.
        /// `None`: only the size of the buffer limits the application. Linux: `tcp_notsent_lowat`.
        pub notsent_lowat: Option<u32> = None, "notsent_lowat";
        /// Whether cwnd shrinks in two cases: after an idle time longer than the RTO, and when the
        /// sender has not filled cwnd for as long as the RTO. Linux: `tcp_slow_start_after_idle`.
        pub slow_start_after_idle: bool = true, "slow_start_after_idle";
        /// `None`: only the receive buffer limits the window.
        pub rwnd: Option<Bytes> = None, "rwnd", "0.1.0",
            "upper bound of the advertised window, which grows up to this bound as usual";
        /// Linux: `SO_RCVLOWAT`, 1 by default.
        pub rcvlowat: Bytes = Bytes(1), "rcvlowat", "0.1.0",
            "the receiving application is woken when this much can be read";
        /// Timer ticks per second. Linux: `CONFIG_HZ`.
        pub hz: u32 = 1000, "hz";
        pub sender_qdisc: SenderQdisc = SenderQdisc::None, "sender_qdisc", "0.1.0",
            "queue discipline on the sender; `\"fq\"` paces instead of TCP's own timer";
        pub tso: Tso = Tso::Cut, "tso", "0.1.0",
            "bursts are cut into packets before the first link, cross the network whole, or are never made";
        pub sack: bool = true, "sack", "0.1.0",
            "selective acknowledgements";
        pub recovery: Recovery = Recovery::Linux, "recovery", "0.1.0",
            "detection and repair of losses. `\"linux\"`: RACK-TLP, undo and PRR; only with this value, `bbr2` and \
             `bbr3` check at ACKs whether they are application-limited. Other values: as in ns-3, a segment is lost if \
             three segments above it are SACKed. cwnd is ssthresh at once (`\"classic\"`), or follows ns-3's PRR since \
             3.43 (`\"prr\"`) or up to 3.42 (`\"prr_ssrb\"`)";
        /// When the receiver sends ACKs.
        pub delack: DelAck = DelAck::Linux, "delack";
        pub min_rto: Span = Span::from_millis(200), "min_rto", "0.1.0",
            "lower bound of the retransmission timeout's variance term, or of the whole timeout: see `rto_estimate`";
        pub initial_cwnd: u32 = 10, "initial_cwnd", "0.1.0",
            "initial cwnd in segments",
            form: SettingForm::Whole(1, 10_000);
        /// The step of the clocks of all hosts and links: an event that is due between two steps
        /// happens at the later step. The step is 1 ns, except in runs that imitate a test bed with
        /// a coarser clock.
        pub clock_step: Span = Span(1), "clock_step";
        /// Switches (keys that each change one mechanism) for buffers, headers, handshake and RTT
        /// samples.
        pub socket: SocketSwitches = SocketSwitches::default();
        /// Switches for loss detection and repair.
        pub loss: LossSwitches = LossSwitches::default();
        /// Switches for delivery-rate samples.
        pub rate: RateSwitches = RateSwitches::default();
        /// Switches for pacing.
        pub pacing: PacingSwitches = PacingSwitches::default();
    }
}

/// The size of a socket's buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SocketBuffer {
    /// Grows as in Linux, within the bounds of `tcp_wmem` or `tcp_rmem`.
    #[default]
    Auto,
    /// The fixed size that the application sets. Linux: `SO_SNDBUF`, `SO_RCVBUF`.
    Fixed(Bytes),
}

impl SocketBuffer {
    /// Returns the size of a fixed buffer in the unit of `sockbuf`; `None` for a buffer that grows.
    /// With `Sockbuf::Memory`, this is twice the size that the application sets, as in the kernel.
    /// Linux: `sock_setsockopt`.
    #[must_use]
    pub fn fixed_size(self, sockbuf: Sockbuf) -> Option<u32> {
        let Self::Fixed(Bytes(asked)) = self else { return None };
        let size = match sockbuf {
            Sockbuf::Memory => asked.saturating_mul(2),
            Sockbuf::Payload => asked,
        };
        Some(u32::try_from(size).unwrap_or(u32::MAX >> 1))
    }
}

/// The bounds of a socket buffer that grows, in bytes of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferBounds {
    /// Size that a host still grants when it is short of memory. No simulated host is short of
    /// memory.
    pub least: u32,
    /// Initial size.
    pub initial: u32,
    /// Size up to which the buffer grows.
    pub most: u32,
}

/// The queue discipline on the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SenderQdisc {
    /// No discipline: TCP paces with its own timer, and only if the congestion control requests
    /// pacing.
    #[default]
    None,
    /// `fq`, which paces instead of TCP's own timer.
    Fq,
}

crate::choices!(SenderQdisc: None = "none", Fq = "fq");

/// Whether the stack sends bursts of several segments, and whether a burst crosses the network as
/// one unit or as packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tso {
    /// The stack sends bursts, which are cut into packets before the first link. The packets of a
    /// burst leave one directly after the other.
    #[default]
    Cut,
    /// A burst crosses the network as one segment of several MSS.
    Whole,
    /// The stack sends no bursts: each skb is one segment, and pacing delays each packet.
    Off,
}

crate::choices!(Tso: Cut = "cut", Whole = "whole", Off = "off");

/// How losses are detected and repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// Linux's state machine, with RACK-TLP, undo and Linux's PRR.
    #[default]
    Linux,
    /// ns-3's state machine. Recovery marks a packet lost when three packets above it are SACKed,
    /// and retransmits the packet once. At the start of a recovery, cwnd is set to ssthresh in one
    /// step.
    Classic,
    /// ns-3's state machine, as with `Classic`, but cwnd follows PRR as in ns-3 since 3.43 (RFC
    /// 6937bis).
    Prr,
    /// ns-3's state machine, as with `Classic`, but cwnd follows PRR as in ns-3 up to 3.42 (RFC
    /// 6937 with the slow-start reduction bound).
    PrrSsrb,
}

crate::choices!(Recovery: Linux = "linux", Classic = "classic", Prr = "prr", PrrSsrb = "prr_ssrb");

/// When the receiver sends ACKs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DelAck {
    /// As in Linux: quick ACKs at the start; later an ACK when more bytes than one full segment
    /// (Linux: `rcv_mss`) are unacknowledged, or after the adaptive timeout. Linux's ping-pong mode
    /// and compressed SACKs are included.
    #[default]
    Linux,
    /// As with `Linux`, but the receiver sends an ACK for every segment. Linux: the route's
    /// `quickack 1`.
    Quick,
    /// An ACK after `every` segments, or when `timer` has passed since the first unacknowledged
    /// segment arrived (RFC 1122, as in ns-3). The ACK is immediate for the first segment of a
    /// connection, a duplicate, a segment above a gap, and a segment that fills a gap.
    Every {
        /// Segments per ACK.
        every: u32,
        /// The longest time by which an ACK is delayed.
        timer: Span,
    },
}

/// The kind of a sending host's network device, which determines how much data of a connection may
/// wait in the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// The device may hold about a millisecond of data at the pacing rate, as in Linux by default.
    Ethernet,
    /// The device may hold about eight milliseconds of data, as in Linux's mac80211, so that the
    /// device can aggregate frames.
    Wifi,
}

crate::choices!(Device: Ethernet = "ethernet", Wifi = "wifi");

impl Device {
    /// Returns n for the limit of the device: pacing rate (in bytes per second) / 2^n bytes may
    /// wait in the device. Linux: `sk_pacing_shift`.
    #[must_use]
    pub fn pacing_shift(self) -> u32 {
        match self {
            Self::Ethernet => 10,
            Self::Wifi => 7,
        }
    }
}

/// How explicit congestion notification (ECN) is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMode {
    /// ECN is not negotiated, unless the congestion control needs ECN.
    #[default]
    Off,
    /// ECN is negotiated, as in RFC 3168.
    On,
    /// ECN is negotiated, and the route has Linux's low-latency feature (`ECN_LOW`), which BBRv3
    /// needs.
    Low,
    /// ECN is negotiated and the route has the low-latency feature, as with `Low`, but packets
    /// carry ECT(1), the codepoint of senders that respond to the share of marked packets. RFC
    /// 9331, 4.1.
    L4s,
}

impl EcnMode {
    /// Whether, in this mode, the flow's route has Linux's low-latency feature (`ECN_LOW`).
    #[must_use]
    pub fn is_low_latency(self) -> bool {
        matches!(self, Self::Low | Self::L4s)
    }

    /// Returns the codepoint that ECN-capable packets carry in this mode.
    #[must_use]
    pub fn ect(self) -> Ecn {
        if self == Self::L4s { Ecn::Ect1 } else { Ecn::Ect0 }
    }
}
