//! Conversion between segments and packets, and between the run's time and the hosts' clock. A
//! packet has the segment's fields, its number of bytes on the wire, and an identity for the run's
//! digest. Only the module `wire` converts times.
//!
//! Sources: see [`bbrlab_run::headers`], which has the sizes of headers.

use bbrlab_cc::linux_int::trunc_u32;
use bbrlab_cc::{Draw, Lent};
use bbrlab_net::{Arrival, FlowId, Outgoing, PacketData, Port, Rng, Side, TcpHeader};
use bbrlab_run::headers;
use bbrlab_stack::TcpOptions;
use bbrlab_tcp::receiver::{Glance, Incoming};
use bbrlab_tcp::segment::{Cut, NewSegment, flag};
use bbrlab_tcp::sender::IncomingAck;
use bbrlab_tcp::{DataSegment, Host, PureAck, SackBlock, Segment, Sender, TimerId, Transmission};
use bbrlab_units::{Ecn, Span, Time};

use crate::pacing_timer::PacingTimer;

/// How long the hosts have been up when a run begins.
///
/// In the kernel the clock is never 0, and in several places a stamp of 0 means "unset". `UPTIME`
/// is a multiple of every slot length of the timer wheel, so that timers fall into the same slots
/// as with a clock that starts at 0.
const UPTIME: Span = Span::from_millis(1 << 15);

/// Converts the time `now` of the run to the time on the hosts' clock.
#[inline]
pub(crate) fn host_time(now: Time) -> Time {
    Time(now.0 + UPTIME.0)
}

/// Converts the time `host` on the hosts' clock to the time of the run.
#[inline]
pub(crate) fn run_time(host: Time) -> Time {
    // `NEVER`, and times before the run begins, fail the comparison below.
    let ns = host.0.wrapping_sub(UPTIME.0);
    if ns < Time::NEVER.0 - UPTIME.0 { Time(ns) } else { run_time_at_an_end(host) }
}

/// Like [`run_time`], but faster, for a time after the run began. `host` must not be `NEVER`.
#[inline]
pub(crate) fn run_time_to_come(host: Time) -> Time {
    debug_assert!(host >= Time::ZERO + UPTIME && host != Time::NEVER);
    Time(host.0 - UPTIME.0)
}

#[cold]
fn run_time_at_an_end(host: Time) -> Time {
    if host == Time::NEVER { host } else { Time::ZERO }
}

/// The payload of a packet in the network: a segment without its SACK blocks. Only some ACKs have
/// SACK blocks, so the network stores blocks separately. The payload and the network's fields of a
/// packet must fit into one cache line. To save space, the meaning of two fields depends on whether
/// the packet has data.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Payload {
    seq: u32,
    /// In a packet with data: the bytes of data. In other packets: the number of data packets that
    /// had arrived when this packet was sent ([`Segment::arrived`]).
    len_or_arrived: u32,
    ack: u32,
    /// In a packet with data: the time of transmission on the hosts' clock, in microseconds modulo
    /// 2^32. Such a packet needs no advertised window, because a host that only sends always
    /// advertises the same window. In other packets: the window that the packet advertises.
    wnd_or_sent_us: u32,
    tsval: u32,
    tsecr: u32,
    retransmission: u16,
    kind: Kind,
}

/// One integer with the flags of a segment, its number of SACK blocks, and the bits `HAS_TS`,
/// `HAS_NO_DATA` and `HAS_BOTH`. One comparison of this integer decides whether a segment takes a
/// fast path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Kind(u16);

impl Kind {
    /// This flag is set if the segment has timestamps.
    const HAS_TS: u16 = 1 << Self::TS_SHIFT;
    /// This flag is set if the segment has no data from the flow's sender. A client's request also
    /// has the flag "no data from the sender", because its data comes from the flow's receiver.
    const HAS_NO_DATA: u16 = 1 << 14;
    /// This flag is set on segments with data if both ends of the connection write. Such a segment
    /// has one value for which the struct [`Payload`] has no field. This value is stored with the
    /// SACK blocks, at index [`BOTH`]. The value is the advertised window if the data comes from
    /// the flow's sender, and the number of bytes of data if the segment is a client's request.
    const HAS_BOTH: u16 = 1 << 13;
    /// The kind of a pure ACK: no data, no SACK blocks, no timestamps and no flag except ACK.
    const PURE_ACK: u16 = Self::HAS_NO_DATA | flag::ACK as u16;
    const SACK_SHIFT: u32 = 8;
    const TS_SHIFT: u32 = 15;

    /// Returns the kind of a segment with data.
    #[inline]
    fn of_data(flags: u8, has_ts: bool) -> Self {
        Self(u16::from(flags) | u16::from(has_ts) << Self::TS_SHIFT)
    }

    /// Returns the kind of a segment without data.
    #[inline]
    fn without_data(flags: u8, has_ts: bool, sack_count: u8) -> Self {
        let blocks = u16::from(sack_count) << Self::SACK_SHIFT;
        Self(Self::of_data(flags, has_ts).0 | blocks | Self::HAS_NO_DATA)
    }

    #[inline]
    fn has(self, property: u16) -> bool {
        self.0 & property != 0
    }

    #[inline]
    fn flags(self) -> u8 {
        self.0.to_le_bytes()[0]
    }

    #[inline]
    fn sack_count(self) -> u8 {
        let [_, rest] = self.0.to_le_bytes();
        rest & 7
    }

    #[inline]
    fn is_pure_ack(self) -> bool {
        self.0 & !(Self::HAS_TS | u16::from(flag::PSH)) == Self::PURE_ACK
    }

    /// Whether the segment has data and no flags except ACK and perhaps PSH, and has timestamps
    /// exactly if `has_ts` is set.
    #[inline]
    fn is_plain_data(self, has_ts: bool) -> bool {
        let is_data = self.0 & !(Self::HAS_TS | u16::from(flag::PSH)) == u16::from(flag::ACK);
        is_data && self.has(Self::HAS_TS) == has_ts
    }
}

/// The index of the fourth SACK block. A packet with the flag [`Kind::HAS_BOTH`] has no fourth SACK
/// block, because it has timestamps, and a segment with timestamps has at most three SACK blocks.
/// At this index, the packet stores its advertised window if its data comes from the flow's sender.
/// A client's request stores its number of data bytes there.
const BOTH: usize = 3;

/// Converts the time `now` of the hosts' clock to the form that packets carry: microseconds modulo
/// 2^32.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "wraps after 71 minutes; every packet leaves the network sooner"
)]
pub(crate) fn stamp_us(now: Time) -> u32 {
    (now.0 / 1000) as u32
}

impl PacketData for Payload {
    type Extra = [SackBlock; 4];

    fn is_bare_ack(&self) -> bool {
        self.kind.is_pure_ack()
    }

    fn sequence(&self) -> u32 {
        if self.has_data() { self.seq } else { self.ack }
    }

    /// Returns the TCP header; `None` for a datagram, which is the only packet without flags.
    fn tcp_header(&self, extra: Option<&Self::Extra>) -> Option<TcpHeader> {
        let &Self { kind, ack, tsval, tsecr, .. } = self;
        let flags = kind.flags();
        let len = self.request_len(extra).unwrap_or_else(|| self.len());
        let sack = extra.map(|blocks| blocks.map(|block| (block.start, block.end)));
        (flags != 0).then(|| TcpHeader {
            flags,
            len,
            ack,
            timestamps: self.has_ts().then_some((tsval, tsecr)),
            sack: sack.unwrap_or_default(),
            sack_count: self.sack_count(),
        })
    }
}

impl Payload {
    /// Returns the payload for a segment without data.
    #[inline]
    fn of(segment: &Segment) -> Self {
        debug_assert_eq!(segment.len, 0);
        Self {
            seq: segment.seq,
            len_or_arrived: segment.arrived,
            ack: segment.ack,
            wnd_or_sent_us: segment.wnd,
            tsval: segment.tsval,
            tsecr: segment.tsecr,
            retransmission: segment.retransmission,
            kind: Kind::without_data(segment.flags, segment.has_ts, segment.sack_count),
        }
    }

    /// Returns the payload for a segment with data that is sent at `sent_us`.
    #[inline]
    fn of_data(segment: &DataSegment, sent_us: u32) -> Self {
        Self {
            seq: segment.seq,
            len_or_arrived: segment.len,
            ack: segment.ack,
            wnd_or_sent_us: sent_us,
            tsval: segment.tsval,
            tsecr: segment.tsecr,
            retransmission: segment.retransmission,
            kind: Kind::of_data(segment.flags, segment.has_ts),
        }
    }

    #[inline]
    fn has_ts(&self) -> bool {
        self.kind.has(Kind::HAS_TS)
    }

    /// Returns the payload for a UDP datagram with `bytes` bytes of data that is sent at `sent`.
    /// In a UDP datagram, two fields that TCP uses store the two halves of the time.
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of the time")]
    pub(crate) fn datagram(bytes: u32, sent: Time) -> Self {
        let (seq, ack) = (sent.0 as u32, (sent.0 >> 32) as u32);
        Self { seq, ack, len_or_arrived: bytes, ..Self::default() }
    }

    /// Returns when a UDP datagram was sent.
    pub(crate) fn datagram_sent(&self) -> Time {
        Time(u64::from(self.ack) << 32 | u64::from(self.seq))
    }

    /// Returns the number of bytes of data in a segment that a client sends to the flow's sender;
    /// `None` for other segments.
    #[inline]
    fn request_len(&self, extra: Option<&[SackBlock; 4]>) -> Option<u32> {
        let is_request = self.kind.has(Kind::HAS_BOTH) && !self.has_data();
        is_request.then(|| extra.map_or(0, |extra| extra[BOTH].start))
    }

    #[inline]
    fn has_data(&self) -> bool {
        !self.kind.has(Kind::HAS_NO_DATA)
    }

    /// Returns the number of bytes of data from the flow's sender in the packet: 0 for ACKs and for
    /// a client's requests.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        if self.has_data() { self.len_or_arrived } else { 0 }
    }

    /// Returns when a segment with data was sent, as [`stamp_us`] converts the time. For a segment
    /// without data, the result has no meaning.
    #[inline]
    pub(crate) fn sent_us(&self) -> u32 {
        self.wnd_or_sent_us
    }

    /// Returns the number of data packets that had arrived when a segment without data was sent.
    #[inline]
    pub(crate) fn arrived(&self) -> u32 {
        debug_assert!(!self.has_data());
        self.len_or_arrived
    }

    /// Returns the number of SACK blocks.
    #[inline]
    pub(crate) fn sack_count(&self) -> u8 {
        self.kind.sack_count()
    }

    /// Returns the fields of a pure ACK.
    #[inline]
    pub(crate) fn ack_only(&self) -> PureAck {
        let &Self { seq, ack, wnd_or_sent_us: wnd, tsval, tsecr, .. } = self;
        PureAck { seq, ack, wnd, tsval, tsecr, has_ts: self.has_ts(), arrived: self.arrived() }
    }
}

/// A packet that arrives at the receiver. A packet with data usually carries no advertised window,
/// so the window of its segment is read from `sender`, the TCP sender.
#[derive(Clone, Copy)]
pub(crate) struct AtReceiver<'p> {
    pub(crate) packet: Arrival<'p, Payload>,
    pub(crate) sender: &'p Sender,
}

impl Incoming for AtReceiver<'_> {
    #[inline]
    fn glance(self, has_ts: bool) -> Option<Glance> {
        let &Payload { seq, len_or_arrived: len, tsval, tsecr, kind, .. } = self.packet.payload();
        let is_pushed = kind.has(u16::from(flag::PSH));
        kind.is_plain_data(has_ts).then_some(Glance { seq, len, is_pushed, tsval, tsecr })
    }

    #[inline]
    fn segment(self) -> Segment {
        arrived(&self.packet, self.sender.reverse().wnd)
    }
}

/// A packet that arrives at the sender. The packet's segment comes from a receiver and has no data.
#[derive(Clone, Copy)]
pub(crate) struct AtSender<'p>(pub(crate) Arrival<'p, Payload>);

impl IncomingAck for AtSender<'_> {
    #[inline]
    fn pure_ack(&self) -> Option<PureAck> {
        let payload = self.0.payload();
        payload.kind.is_pure_ack().then(|| payload.ack_only())
    }

    #[inline]
    fn ack_with_blocks(&self) -> Option<(PureAck, &[SackBlock; 4], u8)> {
        let payload = self.0.payload();
        let blocks = self.0.extra()?;
        let is_pure_but_for_blocks =
            payload.kind.flags() & !flag::PSH == flag::ACK && !payload.has_data();
        is_pure_but_for_blocks.then(|| (payload.ack_only(), blocks, payload.sack_count()))
    }

    #[inline]
    fn segment(&self) -> Segment {
        arrived(&self.0, 0)
    }
}

/// Returns the segment as it arrives, with the CE mark that a link may have set. For `wnd`, see
/// [`segment_of`].
#[inline]
pub(crate) fn arrived(packet: &Arrival<'_, Payload>, wnd: u32) -> Segment {
    segment_of((packet.payload(), packet.extra()), packet.ecn(), wnd)
}

/// Returns the segment in a packet. A segment with data from the flow's sender gets the advertised
/// window `wnd`, unless the packet carries a window of its own ([`Kind::HAS_BOTH`]).
#[inline]
pub(crate) fn segment_of(
    (payload, extra): (&Payload, Option<&[SackBlock; 4]>),
    ecn: Ecn,
    wnd: u32,
) -> Segment {
    let has_data = payload.has_data();
    let wnd = if payload.kind.has(Kind::HAS_BOTH) { both(extra) } else { wnd };
    Segment {
        seq: payload.seq,
        len: payload.request_len(extra).unwrap_or_else(|| payload.len()),
        arrived: if has_data { 0 } else { payload.len_or_arrived },
        ack: payload.ack,
        wnd: if has_data { wnd } else { payload.wnd_or_sent_us },
        tsval: payload.tsval,
        tsecr: payload.tsecr,
        sack: extra.copied().unwrap_or_default(),
        sack_count: payload.sack_count(),
        flags: payload.kind.flags(),
        ecn,
        has_ts: payload.has_ts(),
        retransmission: payload.retransmission,
    }
}

/// Returns the value that a packet with [`Kind::HAS_BOTH`] stores with its SACK blocks. The value
/// is the advertised window if the packet's data comes from the flow's sender, otherwise the number
/// of bytes of data.
#[cold]
fn both(extra: Option<&[SackBlock; 4]>) -> u32 {
    extra.map_or(0, |extra| extra[BOTH].start)
}

/// Returns the number of bytes of the IP packet that carries `segment`.
#[inline]
pub(crate) fn ip_bytes(segment: &Segment, tcp_options: TcpOptions) -> u32 {
    let (has_ts, blocks) = (segment.has_ts, u32::from(segment.sack_count));
    let headers = if segment.has(flag::SYN) {
        headers::syn(tcp_options)
    } else if blocks > 0 {
        headers::with_blocks(has_ts, blocks, tcp_options)
    } else {
        headers::plain(has_ts)
    };
    segment.len + headers
}

/// One end of a flow's connection as a [`Host`]: TCP calls it to send segments and to arm timers.
pub(crate) struct End<'a, E: FlowEnd> {
    pub(crate) port: Port<'a, Payload>,
    kept: &'a mut E,
}

/// The state of one end of a flow between events. The state is stored in a cache line that each
/// event at this end accesses anyway.
pub(crate) trait FlowEnd: Sized {
    /// Whether this end is the sender's or the receiver's.
    const SIDE: Side;

    /// Returns the values that this end needs to send packets, and to recognise the packets of its
    /// current connection.
    fn endpoint(&self) -> &Endpoint;

    /// Returns the random generator for the congestion control of this end.
    fn rng(&mut self) -> &mut Rng;

    /// Returns the pacing timer of this end.
    fn pacing_timer(&mut self) -> &mut PacingTimer;

    /// Returns this end of the current connection, with access to the network through `port`.
    #[inline]
    fn end<'a>(&'a mut self, port: &'a mut Port<'_, Payload>) -> End<'a, Self> {
        End { port: port.lend(), kept: self }
    }
}

/// The values that an end needs to send packets, and to recognise the packets of its current
/// connection.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) flow: FlowId,
    /// The number of the first packet of the current connection. A train opens several connections
    /// in sequence; packets with smaller numbers belong to earlier connections.
    pub(crate) first_packet: u32,
    /// Link-layer bytes that framing adds to each packet of this end.
    pub(crate) framing: u32,
    pub(crate) tcp_options: TcpOptions,
    /// Whether the flow may end before the run: its source consists of transfers, or the flow was
    /// stopped. At the receiver, this field is also true if the delays of messages are measured.
    pub(crate) may_end: bool,
    /// Whether both ends write. If both ends write, each end has a socket with a sending and a
    /// receiving half.
    pub(crate) is_whole: bool,
    /// At the receiver: whether both ends write, or the waits of data packets are measured. At the
    /// sender: whether a custom congestion control has events that Linux does not have.
    pub(crate) is_special: bool,
}

impl Endpoint {
    /// Whether a packet belongs to an earlier connection. The result is also true for each datagram
    /// of a UDP flow, because the numbers of datagrams are below `first_packet` (see
    /// `datagrams.rs`).
    #[inline]
    pub(crate) fn is_late(&self, packet: &Arrival<'_, Payload>) -> bool {
        packet.number().wrapping_sub(self.first_packet).cast_signed() < 0
    }
}

/// The state of the sender's end. In a [`Flow`](crate::flow::Flow), `pacing_timer` is at the
/// beginning of a cache line.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct SenderEnd {
    pub(crate) rng: Rng,
    pub(crate) pacing_timer: PacingTimer,
    pub(crate) endpoint: Endpoint,
}

impl FlowEnd for SenderEnd {
    const SIDE: Side = Side::Sender;

    #[inline]
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }

    #[inline]
    fn pacing_timer(&mut self) -> &mut PacingTimer {
        &mut self.pacing_timer
    }
}

/// The receiver's end.
impl FlowEnd for Endpoint {
    const SIDE: Side = Side::Receiver;

    #[inline]
    fn endpoint(&self) -> &Endpoint {
        self
    }

    fn rng(&mut self) -> &mut Rng {
        unreachable!("only a congestion control draws random numbers")
    }

    fn pacing_timer(&mut self) -> &mut PacingTimer {
        unreachable!("only a sender paces")
    }
}

impl<E: FlowEnd> End<'_, E> {
    /// Returns the current time on the clock of this end's host.
    #[inline]
    pub(crate) fn now(&self) -> Time {
        host_time(self.port.now())
    }

    /// Returns the current time in the form that packets carry ([`stamp_us`]).
    #[inline]
    fn sent_us(&self) -> u32 {
        stamp_us(self.now())
    }
}

impl<E: FlowEnd> End<'_, E> {
    /// Sends a segment with payload. This function is separate from [`Self::transmit_control`],
    /// because the link and the delay line handle packets with data differently from other packets.
    #[inline(never)]
    fn transmit_data(&mut self, segment: &Segment) {
        self.send(segment, true, segment.seq);
    }

    /// Sends a segment with payload on a connection where both ends write.
    #[cold]
    #[inline(never)]
    fn transmit_of_whole(&mut self, segment: &Segment) {
        debug_assert!(usize::from(segment.sack_count) <= BOTH && segment.has_ts);
        let is_data = E::SIDE == Side::Sender;
        let &Endpoint { flow, framing, tcp_options, .. } = self.kept.endpoint();
        let mut extra = segment.sack;
        let start = if is_data { segment.wnd } else { segment.len };
        extra[BOTH] = SackBlock { start, end: 0 };
        let packet = Outgoing {
            wire_bytes: ip_bytes(segment, tcp_options) + framing,
            ecn: segment.ecn,
            is_data,
            seq: u64::from(if is_data { segment.seq } else { segment.ack }),
            retransmission: segment.retransmission,
            extra: Some(&extra),
        };
        let sent_us = self.sent_us();
        self.port.send(flow, E::SIDE, packet, || {
            let payload = Payload::of(&Segment { len: 0, ..*segment });
            let kind = Kind(payload.kind.0 | Kind::HAS_BOTH);
            if is_data {
                let (len_or_arrived, wnd_or_sent_us) = (segment.len, sent_us);
                let kind = Kind(kind.0 & !Kind::HAS_NO_DATA);
                Payload { len_or_arrived, wnd_or_sent_us, kind, ..payload }
            } else {
                Payload { kind, ..payload }
            }
        });
    }

    /// Sends a segment with new data. The segment must have no SACK blocks and must not be a SYN.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "sends nearly every packet with data")]
    fn transmit_new_data(&mut self, segment: NewSegment<'_>) {
        debug_assert!(segment.flags & flag::SYN == 0);
        debug_assert_eq!(trunc_u32(*segment.clock_us), self.sent_us());
        let &Endpoint { flow, framing, .. } = self.kept.endpoint();
        let packet = Outgoing {
            wire_bytes: segment.len + headers::plain(segment.has_ts) + framing,
            ecn: segment.ecn,
            is_data: true,
            seq: u64::from(segment.seq),
            retransmission: 0,
            extra: None,
        };
        self.port.send(flow, E::SIDE, packet, || {
            Payload::of_data(&segment.data(), trunc_u32(*segment.clock_us))
        });
    }

    /// Sends one segment with data: a retransmission, or new data that does not take the sender's
    /// fast path ([`Transmission::New`]). For example, a segment that has waited in the host's
    /// queue does not take the fast path. The segment must have no SACK blocks and must not be a
    /// SYN.
    #[inline(never)]
    fn transmit_data_again(&mut self, segment: &DataSegment) {
        self.send_data(segment, 0, segment.retransmission, self.sent_us());
    }

    /// Cuts `burst` into segments of `mss` bytes and sends them. The burst must not be a SYN.
    #[inline(never)]
    fn transmit_data_burst(&mut self, burst: &DataSegment, mss: u32) {
        debug_assert!(burst.flags & flag::SYN == 0);
        let &Endpoint { flow, framing, .. } = self.kept.endpoint();
        let headers = headers::plain(burst.has_ts) + framing;
        let sent_us = self.sent_us();
        let packets = Cut::of(burst, mss).map(|segment| {
            let packet = Outgoing {
                wire_bytes: segment.len + headers,
                ecn: segment.ecn,
                is_data: true,
                seq: u64::from(segment.seq),
                retransmission: segment.retransmission,
                extra: None,
            };
            (packet, Payload::of_data(&segment, sent_us))
        });
        self.port.send_burst(flow, E::SIDE, packets);
    }

    /// Sends a burst of packets of `mss` bytes as one packet. On the wire, a burst has the headers
    /// of all its packets. Linux: `qdisc_pkt_len_init`.
    #[inline(never)]
    fn transmit_whole_burst(&mut self, burst: &DataSegment, mss: u32) {
        let headers = headers::plain(burst.has_ts) + self.kept.endpoint().framing;
        let more = (burst.len.div_ceil(mss) - 1) * headers;
        self.send_data(burst, more, burst.retransmission, self.sent_us());
    }

    /// Sends a segment with data. The segment must not be a SYN. On the wire, the packet has `more`
    /// bytes of headers in addition to those of one segment. The packet's fields are copied from
    /// `segment` directly into the network's memory.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "each caller passes constants, which simplify the inlined code"
    )]
    fn send_data(&mut self, segment: &DataSegment, more: u32, retransmission: u16, sent_us: u32) {
        debug_assert!(segment.flags & flag::SYN == 0);
        let &Endpoint { flow, framing, .. } = self.kept.endpoint();
        let packet = Outgoing {
            wire_bytes: segment.len + headers::plain(segment.has_ts) + framing + more,
            ecn: segment.ecn,
            is_data: true,
            seq: u64::from(segment.seq),
            retransmission,
            extra: None,
        };
        self.port.send(flow, E::SIDE, packet, || Payload {
            retransmission,
            ..Payload::of_data(segment, sent_us)
        });
    }

    /// Sends an ACK, a SYN or a FIN.
    #[inline(never)]
    fn transmit_control(&mut self, segment: &Segment) {
        self.send(segment, false, segment.ack);
    }

    /// Sends an ACK that consists of the fields of [`PureAck`].
    #[inline(never)]
    fn transmit_pure_ack(&mut self, ack: &PureAck) {
        let &Endpoint { flow, framing, .. } = self.kept.endpoint();
        let packet = Outgoing {
            wire_bytes: headers::plain(ack.has_ts) + framing,
            ecn: Ecn::NotEct,
            is_data: false,
            seq: u64::from(ack.ack),
            retransmission: 0,
            extra: None,
        };
        self.port.send(flow, E::SIDE, packet, || Payload::of(&ack.segment()));
    }

    /// Sends an ACK that consists of SACK blocks and the fields of [`PureAck`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "has only one caller")]
    fn transmit_ack_with_blocks(&mut self, ack: &PureAck, sack: &[SackBlock; 4], sack_count: u8) {
        let &Endpoint { flow, framing, tcp_options, .. } = self.kept.endpoint();
        debug_assert!(sack_count > 0);
        let segment = Segment { sack_count, ..ack.segment() };
        let packet = Outgoing {
            wire_bytes: ip_bytes(&segment, tcp_options) + framing,
            ecn: Ecn::NotEct,
            is_data: false,
            seq: u64::from(ack.ack),
            retransmission: 0,
            extra: Some(sack),
        };
        self.port.send(flow, E::SIDE, packet, || Payload::of(&segment));
    }

    /// Arms a timer of the kernel's timer wheel or of a custom congestion control. The function is
    /// not inlined, because calls are rare, and inlined copies would enlarge the callers, which are
    /// themselves inlined.
    #[inline(never)]
    fn arm_at_tick(&mut self, timer: TimerId, at: Time) {
        self.port.arm(self.kept.endpoint().flow, E::SIDE, timer as u8, run_time(at));
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "two callers: one for data, one for ACKs")]
    fn send(&mut self, segment: &Segment, is_data: bool, seq: u32) {
        let &Endpoint { flow, framing, tcp_options, .. } = self.kept.endpoint();
        let packet = Outgoing {
            wire_bytes: ip_bytes(segment, tcp_options) + framing,
            ecn: segment.ecn,
            is_data,
            seq: u64::from(seq),
            retransmission: segment.retransmission,
            extra: (segment.sack_count > 0).then_some(&segment.sack),
        };
        let sent_us = self.sent_us();
        self.port.send(flow, E::SIDE, packet, || {
            if is_data {
                debug_assert!(
                    segment.sack_count == 0,
                    "only the receiver of the data has SACK blocks"
                );
                Payload::of_data(&DataSegment::of(segment), sent_us)
            } else {
                Payload::of(segment)
            }
        });
    }
}

impl<E: FlowEnd> Draw for End<'_, E> {
    #[expect(clippy::cast_possible_truncation, reason = "below a 32-bit bound")]
    fn below(&mut self, bound: u32) -> u32 {
        self.kept.rng().below(u64::from(bound)) as u32
    }

    fn lend(&mut self) -> Lent {
        Lent::new(self.kept.rng().state(), draw_lent)
    }

    fn take_back(&mut self, lent: Lent) {
        *self.kept.rng() = Rng::from_state(lent.state());
    }
}

/// Implements [`Draw::below`] for a sender's end. `state` is the state of the end's random
/// generator, and is updated.
#[expect(clippy::cast_possible_truncation, reason = "below a 32-bit bound")]
fn draw_lent(state: &mut [u64; 4], bound: u32) -> u32 {
    let mut rng = Rng::from_state(*state);
    let drawn = rng.below(u64::from(bound)) as u32;
    *state = rng.state();
    drawn
}

impl<E: FlowEnd> Host for End<'_, E> {
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "each caller passes a fixed variant, so the inlined match disappears"
    )]
    fn transmit(&mut self, what: Transmission<'_>) {
        match what {
            Transmission::New(segment) => self.transmit_new_data(segment),
            Transmission::Again(segment) => self.transmit_data_again(segment),
            Transmission::Burst(burst, mss) => self.transmit_data_burst(burst, mss),
            Transmission::Whole(burst, mss) => self.transmit_whole_burst(burst, mss),
            Transmission::Ack(ack) => self.transmit_pure_ack(ack),
            Transmission::AckWithBlocks(ack, blocks, count) => {
                self.transmit_ack_with_blocks(ack, blocks, count);
            }
            Transmission::Segment(segment) if segment.len == 0 => self.transmit_control(segment),
            Transmission::Segment(segment) if self.kept.endpoint().is_whole => {
                self.transmit_of_whole(segment);
            }
            Transmission::Segment(segment) => self.transmit_data(segment),
        }
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "each caller passes a constant timer, so one arm remains"
    )]
    fn arm(&mut self, timer: TimerId, at: Time) {
        match timer {
            TimerId::Pacing => self.kept.pacing_timer().arm(at),
            // `wiring.rs` declares this timer to be the engine's even timer, which flows arm about
            // equally far ahead. `arm_even` is faster than `arm` for this timer.
            TimerId::CompressedAck => {
                let flow = self.kept.endpoint().flow;
                self.port.arm_even(flow, E::SIDE, timer as u8, run_time(at));
            }
            TimerId::Retransmit | TimerId::DelayedAck | TimerId::Control => {
                self.arm_at_tick(timer, at);
            }
        }
    }

    #[inline]
    fn disarm(&mut self, timer: TimerId) {
        self.port.disarm(self.kept.endpoint().flow, E::SIDE, timer as u8);
    }
}

/// Converts a timer's number, as the network stores it, to the timer.
pub(crate) fn timer(number: u8) -> TimerId {
    match number {
        0 => TimerId::Retransmit,
        1 => TimerId::DelayedAck,
        2 => TimerId::Pacing,
        3 => TimerId::CompressedAck,
        4 => TimerId::Control,
        _ => unreachable!("an end has {} timers", TimerId::COUNT),
    }
}

#[cfg(test)]
mod tests {
    use super::ip_bytes;
    use bbrlab_stack::TcpOptions;
    use bbrlab_tcp::Segment;
    use bbrlab_tcp::segment::flag;

    #[test]
    fn sizes_are_those_of_ethernet_frames() {
        let sized_with = |options, len, sack_count, flags| {
            let segment = Segment { len, sack_count, flags, has_ts: true, ..Segment::default() };
            ip_bytes(&segment, options) + 14
        };
        let sized =
            |len, sack_count, flags| sized_with(TcpOptions::Aligned, len, sack_count, flags);
        assert_eq!(sized(1448, 0, flag::ACK), 1514);
        assert_eq!(sized(0, 0, flag::ACK), 66);
        assert_eq!([1, 2, 3].map(|blocks| sized(0, blocks, flag::ACK) - 66), [12, 20, 28]);
        assert_eq!(sized(0, 0, flag::SYN), 74);
        // In ns-3 the TCP options of a header follow each other without padding.
        let packed = |blocks, flags| sized_with(TcpOptions::Packed, 0, blocks, flags);
        assert_eq!([0, 1, 2, 3].map(|blocks| packed(blocks, flag::ACK)), [66, 74, 82, 90]);
        assert_eq!(packed(0, flag::SYN), 70);
    }
}
