//! Conversion between segments and packets (bytes on the wire, identity for the digest), and
//! between the time of the run and the clock of the hosts. Only this file converts times.
//!
//! Sources: design of the scenario format: wire size = payload + 52 B (IP 20, TCP 20, timestamps 12) +
//! framing; 12, 20 or 28 B more for one, two or three SACK blocks. A SYN carries 20 B of options.

use bbrlab_cc::{Draw, Lent};
use bbrlab_net::{Arrival, FlowId, Outgoing, PacketData, Port, Rng, Side, TcpHeader};
use bbrlab_stack::TcpOptions;
use bbrlab_tcp::receiver::{Glance, Incoming};
use bbrlab_tcp::segment::{Cut, flag};
use bbrlab_tcp::{DataSegment, Host, PureAck, SackBlock, Segment, Sender, TimerId};
use bbrlab_units::{Ecn, Span, Time};

/// Headers of a data packet: IP, TCP and timestamps.
pub(crate) const DATA_HEADERS: u32 = HEADERS + TIMESTAMP_OPTION;
/// IP and TCP header without options.
const HEADERS: u32 = 40;
/// MSS, SACK permitted with timestamps, window scale.
const SYN_OPTIONS: u32 = 20;
/// Window scale, SACK permitted and timestamps one after the other; ns-3 announces no MSS.
const SYN_OPTIONS_PACKED: u32 = 16;
/// Timestamps option with padding.
const TIMESTAMP_OPTION: u32 = 12;
/// Padding and header of the SACK option.
const SACK_OPTION: u32 = 4;
/// One SACK block.
const SACK_BLOCK: u32 = 8;

/// How long the hosts have been up when a run begins.
///
/// The kernel's clock is never 0, and in several places a stamp of 0 means "unset". The value is a
/// multiple of every slot length of the timer wheel, so that it moves no timer.
const UPTIME: Span = Span::from_millis(1 << 15);

/// The hosts' clock at the run's time `now`.
#[inline]
pub(crate) fn host_time(now: Time) -> Time {
    Time(now.0 + UPTIME.0)
}

/// The run's time when the hosts' clock shows `host`.
#[inline]
pub(crate) fn run_time(host: Time) -> Time {
    // Never, and what lies before the run begins, are not below this.
    let ns = host.0.wrapping_sub(UPTIME.0);
    if ns < Time::NEVER.0 - UPTIME.0 { Time(ns) } else { run_time_at_an_end(host) }
}

#[cold]
fn run_time_at_an_end(host: Time) -> Time {
    if host == Time::NEVER { host } else { Time::ZERO }
}

/// The payload of a packet in the network: a segment without its SACK blocks, which only some ACKs
/// have and which lie aside. With what the network itself keeps of a packet it fills a cache line,
/// so two fields have two uses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Payload {
    seq: u32,
    /// Of a packet with data, its bytes. Of another, how many data packets had arrived when it was
    /// sent ([`Segment::arrived`]).
    len_or_arrived: u32,
    ack: u32,
    /// Of a packet with data, when it was sent: the hosts' clock in microseconds, modulo 2^32. A
    /// host that only sends advertises the same window in all of these. Of another, the window.
    wnd_or_sent_us: u32,
    tsval: u32,
    tsecr: u32,
    retransmission: u16,
    flags: u8,
    /// Number of SACK blocks, [`HAS_TS`], [`HAS_NO_DATA`] and [`HAS_BOTH`].
    options: u8,
}

/// In [`Payload::options`]: whether there are timestamps.
const HAS_TS: u8 = 1 << 7;
/// In [`Payload::options`]: whether the segment has no data of the flow.
const HAS_NO_DATA: u8 = 1 << 6;
/// In [`Payload::options`]: whether the segment has data and also a window or a count of its own,
/// because both ends write. What the payload has no room for is then aside, at [`BOTH`].
const HAS_BOTH: u8 = 1 << 5;
/// The place of a SACK block that no segment with timestamps has.
const BOTH: usize = 3;

/// `now` as packets carry it.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "it wraps after 71 minutes, of which no packet needs one"
)]
pub(crate) fn stamp_us(now: Time) -> u32 {
    (now.0 / 1000) as u32
}

impl PacketData for Payload {
    type Extra = [SackBlock; 4];

    fn is_bare_ack(&self) -> bool {
        self.flags & !flag::PSH == flag::ACK && self.options & !HAS_TS == HAS_NO_DATA
    }

    /// Datagrams have no flags.
    fn tcp_header(&self, extra: Option<&Self::Extra>) -> Option<TcpHeader> {
        let &Self { flags, ack, tsval, tsecr, .. } = self;
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
    /// A segment without data.
    #[inline]
    fn of(segment: &Segment) -> Self {
        debug_assert_eq!(segment.len, 0);
        let has_ts = if segment.has_ts { HAS_TS } else { 0 };
        Self {
            seq: segment.seq,
            len_or_arrived: segment.arrived,
            ack: segment.ack,
            wnd_or_sent_us: segment.wnd,
            tsval: segment.tsval,
            tsecr: segment.tsecr,
            retransmission: segment.retransmission,
            flags: segment.flags,
            options: segment.sack_count | has_ts | HAS_NO_DATA,
        }
    }

    /// A segment with data that is sent at `sent_us`.
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
            flags: segment.flags,
            options: if segment.has_ts { HAS_TS } else { 0 },
        }
    }

    #[inline]
    fn has_ts(&self) -> bool {
        self.options & HAS_TS != 0
    }

    /// A datagram with so many bytes of payload.
    pub(crate) fn datagram(bytes: u32) -> Self {
        Self { len_or_arrived: bytes, ..Self::default() }
    }

    /// Bytes of a segment that a client sends to the flow's sender.
    #[inline]
    fn request_len(&self, extra: Option<&[SackBlock; 4]>) -> Option<u32> {
        let is_request = self.options & (HAS_BOTH | HAS_NO_DATA) == HAS_BOTH | HAS_NO_DATA;
        is_request.then(|| extra.map_or(0, |extra| extra[BOTH].start))
    }

    #[inline]
    fn has_data(&self) -> bool {
        self.options & HAS_NO_DATA == 0
    }

    /// Bytes of payload.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        if self.has_data() { self.len_or_arrived } else { 0 }
    }

    /// Of a segment with data, when it was sent, as [`stamp_us`] has it. Of another nobody needs
    /// it.
    #[inline]
    pub(crate) fn sent_us(&self) -> u32 {
        self.wnd_or_sent_us
    }

    /// Of a segment without data, how many data packets had arrived when it was sent.
    #[inline]
    pub(crate) fn arrived(&self) -> u32 {
        debug_assert!(!self.has_data());
        self.len_or_arrived
    }

    /// Number of SACK blocks.
    #[inline]
    pub(crate) fn sack_count(&self) -> u8 {
        self.options & !(HAS_TS | HAS_NO_DATA | HAS_BOTH)
    }

    /// Its fields that an ACK has.
    #[inline]
    pub(crate) fn ack_only(&self) -> PureAck {
        let &Self { seq, ack, wnd_or_sent_us: wnd, tsval, tsecr, .. } = self;
        PureAck { seq, ack, wnd, tsval, tsecr, has_ts: self.has_ts(), arrived: self.arrived() }
    }

    /// The segment at a glance.
    #[inline]
    pub(crate) fn glance(&self) -> Glance {
        let &Self { seq, tsval, tsecr, flags, .. } = self;
        Glance { seq, len: self.len(), flags, has_ts: self.has_ts(), tsval, tsecr }
    }
}

/// A segment that arrives as a pure ACK, if it is one.
#[inline]
pub(crate) fn pure_ack(packet: &Arrival<'_, Payload>) -> Option<PureAck> {
    let payload = packet.payload();
    let (flags, options) = (payload.flags & !flag::PSH, payload.options & !HAS_TS);
    let pure = u16::from_le_bytes([flag::ACK, HAS_NO_DATA]);
    (u16::from_le_bytes([flags, options]) == pure).then(|| payload.ack_only())
}

/// Whether a segment would be a pure ACK without its SACK blocks.
#[inline]
pub(crate) fn is_pure_but_for_blocks(packet: &Arrival<'_, Payload>) -> bool {
    let payload = packet.payload();
    payload.flags & !flag::PSH == flag::ACK && !payload.has_data()
}

/// A packet that carries a segment from `sender`.
#[derive(Clone, Copy)]
pub(crate) struct Arriving<'p> {
    pub(crate) packet: Arrival<'p, Payload>,
    pub(crate) sender: &'p Sender,
}

impl Incoming for Arriving<'_> {
    #[inline]
    fn glance(self) -> Glance {
        self.packet.payload().glance()
    }

    #[inline]
    fn segment(self) -> Segment {
        arrived(&self.packet, self.sender.reverse().wnd)
    }
}

/// The segment as it arrives, with the CE mark that a link may have set. A segment with data
/// advertises the window `wnd`.
#[inline]
pub(crate) fn arrived(packet: &Arrival<'_, Payload>, wnd: u32) -> Segment {
    let payload = packet.payload();
    let has_data = payload.has_data();
    let wnd = if payload.options & HAS_BOTH == 0 { wnd } else { both(packet) };
    Segment {
        seq: payload.seq,
        len: payload.request_len(packet.extra()).unwrap_or_else(|| payload.len()),
        arrived: if has_data { 0 } else { payload.len_or_arrived },
        ack: payload.ack,
        wnd: if has_data { wnd } else { payload.wnd_or_sent_us },
        tsval: payload.tsval,
        tsecr: payload.tsecr,
        sack: packet.extra().copied().unwrap_or_default(),
        sack_count: payload.sack_count(),
        flags: payload.flags,
        ecn: packet.ecn(),
        has_ts: payload.has_ts(),
        retransmission: payload.retransmission,
    }
}

/// Of a packet with [`HAS_BOTH`], what is aside.
#[cold]
fn both(packet: &Arrival<'_, Payload>) -> u32 {
    packet.extra().map_or(0, |extra| extra[BOTH].start)
}

/// Bytes of the IP packet that carries `segment`.
#[inline]
pub(crate) fn ip_bytes(segment: &Segment, tcp_options: TcpOptions) -> u32 {
    let (is_syn, has_ts) = (segment.has(flag::SYN), segment.has_ts);
    let blocks = u32::from(segment.sack_count);
    let headers = if is_syn || (blocks > 0 && tcp_options == TcpOptions::Packed) {
        unusual_headers(is_syn, has_ts, blocks, tcp_options)
    } else if blocks > 0 {
        usual_headers(has_ts) + SACK_OPTION + SACK_BLOCK * blocks
    } else {
        usual_headers(has_ts)
    };
    segment.len + headers
}

/// Headers of a segment that has no options but, perhaps, timestamps.
#[inline]
fn usual_headers(has_ts: bool) -> u32 {
    if has_ts { DATA_HEADERS } else { HEADERS }
}

/// The same for a SYN, or with options that follow each other.
#[cold]
#[inline(never)]
fn unusual_headers(is_syn: bool, has_ts: bool, blocks: u32, tcp_options: TcpOptions) -> u32 {
    let is_packed = tcp_options == TcpOptions::Packed;
    let options = if is_syn {
        if is_packed { SYN_OPTIONS_PACKED } else { SYN_OPTIONS }
    } else {
        let timestamps = if has_ts { TIMESTAMP_OPTION } else { 0 };
        // Of the bytes beside the blocks, the padding of the timestamps has room for those that are
        // not padding.
        let head = if is_packed && has_ts { 0 } else { SACK_OPTION };
        timestamps + if blocks > 0 { head + SACK_BLOCK * blocks } else { 0 }
    };
    HEADERS + options
}

/// One end of a flow's connection, as the host of its TCP.
pub(crate) struct End<'a, E: FlowEnd> {
    pub(crate) port: Port<'a, Payload>,
    kept: &'a mut E,
}

/// What one end of a flow keeps between events. Each end has its own, where it touches a cache line
/// anyway.
pub(crate) trait FlowEnd: Sized {
    /// Which end it is.
    const SIDE: Side;

    /// What each of its packets needs.
    fn endpoint(&self) -> &Endpoint;

    /// What its congestion control draws from.
    fn rng(&mut self) -> &mut Rng;

    /// Keeps the time of a pacing timer that is not in the event queue.
    fn keep_idle_pacing(&mut self, at: Time);

    /// This end of the current connection.
    #[inline]
    fn end<'a>(&'a mut self, port: &'a mut Port<'_, Payload>) -> End<'a, Self> {
        End { port: port.lend(), kept: self }
    }
}

/// What each packet of an end needs.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) flow: FlowId,
    /// The number of the flow's first packet of the current connection: a train opens one after the
    /// other.
    pub(crate) first_packet: u32,
    /// Link-layer bytes around a packet of this end.
    pub(crate) framing: u32,
    pub(crate) tcp_options: TcpOptions,
    /// Whether the flow may end by itself: its source has an end, or it was stopped.
    pub(crate) may_end: bool,
    /// Whether both ends write, each with a whole socket.
    pub(crate) is_whole: bool,
}

impl Endpoint {
    /// Whether a packet belongs to an earlier connection.
    #[inline]
    pub(crate) fn is_late(&self, packet: &Arrival<'_, Payload>) -> bool {
        packet.number().wrapping_sub(self.first_packet).cast_signed() < 0
    }
}

/// The sender's end. In a flow, what follows the random numbers begins a cache line.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct SenderEnd {
    pub(crate) rng: Rng,
    /// When the pacing timer fires, if it is not in the event queue because it will have nothing to
    /// do; else `NEVER`.
    pub(crate) idle_pacing: Time,
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
    fn keep_idle_pacing(&mut self, at: Time) {
        self.idle_pacing = at;
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
        unreachable!("only a congestion control draws")
    }

    fn keep_idle_pacing(&mut self, _at: Time) {
        unreachable!("only a sender paces")
    }
}

impl<E: FlowEnd> End<'_, E> {
    /// The time on the host's clock.
    #[inline]
    pub(crate) fn now(&self) -> Time {
        host_time(self.port.now())
    }

    /// The time of a transmission now, as a packet carries it.
    #[inline]
    fn sent_us(&self) -> u32 {
        stamp_us(self.port.now())
    }
}

impl<E: FlowEnd> End<'_, E> {
    /// A segment with payload. Its way is compiled apart from that of other segments: what it does
    /// at a link, and in which lane it lies, differs.
    #[inline(never)]
    fn transmit_data(&mut self, segment: &Segment) {
        self.send(segment, true, segment.seq);
    }

    /// A segment with payload where both ends write.
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
            let options = payload.options | HAS_BOTH;
            if is_data {
                let (len_or_arrived, wnd_or_sent_us) = (segment.len, sent_us);
                let options = options & !HAS_NO_DATA;
                Payload { len_or_arrived, wnd_or_sent_us, options, ..payload }
            } else {
                Payload { options, ..payload }
            }
        });
    }

    /// A segment with payload of which it is known what it does not have.
    #[inline(never)]
    fn transmit_new_data(&mut self, segment: &DataSegment) {
        debug_assert_eq!(segment.retransmission, 0);
        self.send_data(segment, 0);
    }

    /// The same again.
    #[inline(never)]
    fn transmit_data_again(&mut self, segment: &DataSegment) {
        self.send_data(segment, segment.retransmission);
    }

    /// A burst of such segments.
    #[inline(never)]
    fn transmit_data_burst(&mut self, burst: &DataSegment, mss: u32) {
        debug_assert!(burst.flags & flag::SYN == 0);
        let &Endpoint { flow, framing, .. } = self.kept.endpoint();
        let headers = usual_headers(burst.has_ts) + framing;
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

    /// Such a segment. Its fields are read where they are written.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once for new data, once for retransmissions")]
    fn send_data(&mut self, segment: &DataSegment, retransmission: u16) {
        debug_assert!(segment.flags & flag::SYN == 0);
        let &Endpoint { flow, framing, .. } = self.kept.endpoint();
        let packet = Outgoing {
            wire_bytes: segment.len + usual_headers(segment.has_ts) + framing,
            ecn: segment.ecn,
            is_data: true,
            seq: u64::from(segment.seq),
            retransmission,
            extra: None,
        };
        let sent_us = self.sent_us();
        self.port.send(flow, E::SIDE, packet, || Payload {
            retransmission,
            ..Payload::of_data(segment, sent_us)
        });
    }

    /// An ACK, a SYN or a FIN.
    #[inline(never)]
    fn transmit_control(&mut self, segment: &Segment) {
        self.send(segment, false, segment.ack);
    }

    /// As [`Self::transmit_control`], for what is a segment of fewer fields.
    #[inline(never)]
    fn transmit_pure_ack(&mut self, ack: &PureAck) {
        let &Endpoint { flow, framing, .. } = self.kept.endpoint();
        let packet = Outgoing {
            wire_bytes: usual_headers(ack.has_ts) + framing,
            ecn: Ecn::NotEct,
            is_data: false,
            seq: u64::from(ack.ack),
            retransmission: 0,
            extra: None,
        };
        self.port.send(flow, E::SIDE, packet, || Payload::of(&ack.segment()));
    }

    /// As [`Self::transmit_control`], for such an ACK with SACK blocks.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "these ACKs leave from one place")]
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

    /// A high-resolution timer is due at any time; timers of the wheel are due at a tick.
    #[inline(never)]
    fn arm_pacing(&mut self, at: Time) {
        self.port.arm(self.kept.endpoint().flow, E::SIDE, TimerId::Pacing as u8, at);
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once for each of the two kinds")]
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
                debug_assert!(segment.sack_count == 0, "only the other host has blocks to report");
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

/// [`Draw::below`] of a sender's end, from its generator's state.
#[expect(clippy::cast_possible_truncation, reason = "below a 32-bit bound")]
fn draw_lent(state: &mut [u64; 4], bound: u32) -> u32 {
    let mut rng = Rng::from_state(*state);
    let drawn = rng.below(u64::from(bound)) as u32;
    *state = rng.state();
    drawn
}

impl<E: FlowEnd> Host for End<'_, E> {
    #[inline]
    fn transmit(&mut self, segment: Segment) {
        if segment.len > 0 {
            if self.kept.endpoint().is_whole {
                self.transmit_of_whole(&segment);
            } else {
                self.transmit_data(&segment);
            }
        } else {
            self.transmit_control(&segment);
        }
    }

    #[inline]
    fn transmit_new(&mut self, segment: &DataSegment) {
        self.transmit_new_data(segment);
    }

    #[inline]
    fn transmit_again(&mut self, segment: &DataSegment) {
        self.transmit_data_again(segment);
    }

    #[inline]
    fn transmit_burst(&mut self, burst: &DataSegment, mss: u32) {
        self.transmit_data_burst(burst, mss);
    }

    #[inline]
    fn transmit_ack(&mut self, ack: &PureAck) {
        self.transmit_pure_ack(ack);
    }

    #[inline]
    fn transmit_sack(&mut self, ack: &PureAck, sack: &[SackBlock; 4], sack_count: u8) {
        self.transmit_ack_with_blocks(ack, sack, sack_count);
    }

    #[inline]
    fn arm(&mut self, timer: TimerId, at: Time) {
        match timer {
            TimerId::Pacing => self.arm_pacing(run_time(at)),
            TimerId::Retransmit | TimerId::DelayedAck | TimerId::CompressedAck => {
                self.port.arm(self.kept.endpoint().flow, E::SIDE, timer as u8, run_time(at));
            }
        }
    }

    /// The flow calls [`bbrlab_tcp::Sender::pacing_lapses`] before the sender's next event.
    #[inline]
    fn arm_idle_pacing(&mut self, at: Time) {
        self.kept.keep_idle_pacing(run_time(at));
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one place arms it, and most of this is known there")]
    fn arm_compressed_ack(&mut self, at: Time) {
        let flow = self.kept.endpoint().flow;
        self.port.arm_even(flow, E::SIDE, TimerId::CompressedAck as u8, run_time(at));
    }

    #[inline]
    fn disarm(&mut self, timer: TimerId) {
        self.port.disarm(self.kept.endpoint().flow, E::SIDE, timer as u8);
    }
}

/// The timer with this number.
pub(crate) fn timer(number: u8) -> TimerId {
    match number {
        0 => TimerId::Retransmit,
        1 => TimerId::DelayedAck,
        2 => TimerId::Pacing,
        3 => TimerId::CompressedAck,
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
        // In ns-3 the options of a header follow each other.
        let packed = |blocks, flags| sized_with(TcpOptions::Packed, 0, blocks, flags);
        assert_eq!([0, 1, 2, 3].map(|blocks| packed(blocks, flag::ACK)), [66, 74, 82, 90]);
        assert_eq!(packed(0, flag::SYN), 70);
    }
}
