//! How a host's TCP is set up, as plain data. A scenario's `[stack]` is read into these types, and
//! sender and receiver use them unchanged.
//!
//! This crate has no behaviour. The doc comment of each type says what its values mean; `tcp`
//! implements them.

mod socket;
mod switches;

use bbrlab_units::{Bytes, Ecn, Span};

pub use socket::{CcRtt, Handshake, RttClock, Sockbuf, SocketSwitches, TcpOptions};
pub use switches::{
    AckInterval, CwndValidation, InvalidSample, LossCount, LossSwitches, Pacing, PacingSwitches,
    PartialAck, RateSwitches, Rto, RtoEstimate, Rule3, RwndBounds, SampleBound,
};

/// The settings that all hosts share: `[stack]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// Send buffer.
    pub sndbuf: SocketBuffer,
    /// Receive buffer.
    pub rcvbuf: SocketBuffer,
    /// Upper bound of the advertised window. The window grows up to it as usual.
    pub rwnd: Option<Bytes>,
    /// The application is woken when this much can be read. Linux: `SO_RCVLOWAT`, 1 by default.
    pub rcvlowat: Bytes,
    /// Timer ticks per second. Linux: `CONFIG_HZ`.
    pub hz: u32,
    /// The queue discipline on the sender.
    pub sender_qdisc: SenderQdisc,
    /// How bursts reach the network.
    pub tso: Tso,
    /// Selective acknowledgements.
    pub sack: bool,
    /// Buffers, headers, handshake and RTT samples, in detail.
    pub socket: SocketSwitches,
    /// How losses are found and repaired.
    pub recovery: Recovery,
    /// How losses are found and repaired, in detail.
    pub loss: LossSwitches,
    /// How delivery-rate samples are taken.
    pub rate: RateSwitches,
    /// How packets are paced.
    pub pacing: PacingSwitches,
    /// When the receiver acknowledges.
    pub delack: DelAck,
    /// Lower bound of the RTO's variance term, or of the RTO: see [`RtoEstimate`].
    pub min_rto: Span,
    /// Initial cwnd in segments.
    pub initial_cwnd: u32,
    /// The step of the clocks of all hosts and links: an event due between two steps happens at the
    /// later one. One nanosecond, unless a test bed with a coarser clock is imitated.
    pub clock_step: Span,
}

impl Default for Stack {
    /// Linux's defaults, on a host whose clock has a step of one nanosecond.
    fn default() -> Self {
        Self {
            sndbuf: SocketBuffer::Auto,
            rcvbuf: SocketBuffer::Auto,
            rwnd: None,
            rcvlowat: Bytes(1),
            hz: 1000,
            sender_qdisc: SenderQdisc::None,
            tso: Tso::Cut,
            sack: true,
            socket: SocketSwitches::default(),
            recovery: Recovery::Linux,
            loss: LossSwitches::default(),
            rate: RateSwitches::default(),
            pacing: PacingSwitches::default(),
            delack: DelAck::Linux,
            min_rto: Span::from_millis(200),
            initial_cwnd: 10,
            clock_step: Span(1),
        }
    }
}

/// The size of a socket's buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SocketBuffer {
    /// Grows as in Linux, within the bounds of `tcp_wmem` or `tcp_rmem`.
    #[default]
    Auto,
    /// Fixed: what an application asks for. Linux: `SO_SNDBUF`, `SO_RCVBUF`.
    Fixed(Bytes),
}

impl SocketBuffer {
    /// The size of a fixed buffer, in what `sockbuf` counts: the kernel doubles what an application
    /// asks for. Linux: `sock_setsockopt`.
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

/// The queue discipline on the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SenderQdisc {
    /// None: TCP paces with its own timer, and only if the congestion control requests pacing.
    #[default]
    None,
    /// `fq`, which paces in place of TCP's own timer.
    Fq,
}

/// How bursts reach the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tso {
    /// The stack sends bursts, which are cut into packets before the first link. The packets leave
    /// back to back.
    #[default]
    Cut,
    /// A burst crosses the network as one segment of several MSS.
    Whole,
    /// No bursts: one segment per skb, and pacing per packet.
    Off,
}

/// How losses are found and repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// Linux's state machine, with RACK-TLP, undo and Linux's PRR.
    #[default]
    Linux,
    /// ns-3's state machine, which marks a packet lost when three above it are SACKed and
    /// retransmits it once; cwnd is set to ssthresh at once.
    Classic,
    /// The same with ns-3's PRR since 3.43 (RFC 6937bis).
    Prr,
    /// The same with ns-3's PRR up to 3.42 (RFC 6937 with the slow-start reduction bound).
    PrrSsrb,
}

/// When the receiver acknowledges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DelAck {
    /// Linux: quick ACKs at the start, then every second segment (by the segment size rule) or
    /// after the adaptive timeout; ping-pong mode, compressed SACKs.
    #[default]
    Linux,
    /// As `Linux`, but with an ACK for every segment. Linux: the route's `quickack 1`.
    Quick,
    /// After `every` segments, or `timer` after the first unacknowledged one (RFC 1122, as in
    /// ns-3): at once for the first segment of a connection, a duplicate, a segment above a gap,
    /// and one that fills a gap.
    Every {
        /// Segments per ACK.
        every: u32,
        /// The longest time that an ACK waits.
        timer: Span,
    },
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMode {
    /// Not negotiated (unless the algorithm needs it).
    #[default]
    Off,
    /// Negotiated, RFC 3168.
    On,
    /// Negotiated, with Linux's low-latency route feature (`ECN_LOW`), which BBRv3 needs.
    Low,
    /// As `Low`, and packets carry ECT(1), by which a queue knows senders that answer marks by
    /// their share. RFC 9331, 4.1.
    L4s,
}

impl EcnMode {
    /// Whether the route is one of low latency.
    #[must_use]
    pub fn is_low_latency(self) -> bool {
        matches!(self, Self::Low | Self::L4s)
    }

    /// What an ECN-capable packet carries.
    #[must_use]
    pub fn ect(self) -> Ecn {
        if self == Self::L4s { Ecn::Ect1 } else { Ecn::Ect0 }
    }
}
