//! A complete TCP sender for a C program (the host): the sender of `bbrlab-tcp`, whose
//! transmissions and timers wait in a queue until the program takes them.
//!
//! Because of this queue, the sender never calls the C program. The program may therefore report
//! the next event even while it carries out an action.

use std::collections::VecDeque;

use bbrlab_abi::{self as abi, Error, actions, sender_flags};
use bbrlab_cc::{Cc, CongestionControl as _, Draw, Lent};
use bbrlab_stack::{EcnMode, SocketBuffer, Stack};
use bbrlab_tcp::sender::Reverse;
use bbrlab_tcp::{Host, SackBlock, Segment, Sender, SenderConfig, Tick, TimerId, Transmission};
use bbrlab_units::{Bytes, Ecn, Span, Time};

use crate::border::{Failed, refused, text};
use crate::connection::EPOCH_NS;
use crate::seeded::Seeded;

/// The largest payload of a segment in bytes: with 52 bytes of headers, it fills the largest IP
/// packet (65,535 bytes).
const MSS_MAX: u32 = 65_483;

/// The latest time, in nanoseconds, that a C program may pass to a function of the sender: 146
/// years.
const NOW_MAX_NS: u64 = 1 << 62;

/// The sender's timers. A C program names a timer by the timer's index in this list.
const TIMERS: [TimerId; TimerId::COUNT] = [
    TimerId::Retransmit,
    TimerId::DelayedAck,
    TimerId::Pacing,
    TimerId::CompressedAck,
    TimerId::Control,
];

/// The random numbers of a sender, and the actions that the C program has not taken yet.
#[derive(Debug)]
struct Outbox {
    draw: Seeded,
    waiting: VecDeque<abi::Action>,
}

impl Outbox {
    fn push(&mut self, kind: u32, timer: u32, at_ns: u64, segment: &Segment) {
        self.waiting.push_back(abi::Action {
            size: abi::Action::SIZE,
            kind,
            timer,
            reserved: 0,
            at_ns,
            segment: in_c(segment),
        });
    }
}

impl Draw for Outbox {
    fn below(&mut self, bound: u32) -> u32 {
        self.draw.below(bound)
    }

    fn lend(&mut self) -> Lent {
        self.draw.lend()
    }

    fn take_back(&mut self, lent: Lent) {
        self.draw.take_back(lent);
    }
}

impl Host for Outbox {
    fn transmit(&mut self, what: Transmission<'_>) {
        what.for_each(|segment| self.push(actions::TRANSMIT, 0, 0, &segment));
    }

    fn arm(&mut self, timer: TimerId, at: Time) {
        let at_ns = at.0.saturating_sub(EPOCH_NS);
        self.push(actions::ARM, timer as u32, at_ns, &Segment::default());
    }

    fn disarm(&mut self, timer: TimerId) {
        self.push(actions::DISARM, timer as u32, 0, &Segment::default());
    }
}

/// Returns the C struct of a segment that the C program must send.
fn in_c(segment: &Segment) -> abi::Segment {
    let &Segment { seq, len, ack, wnd, tsval, tsecr, .. } = segment;
    abi::Segment {
        size: abi::Segment::SIZE,
        seq,
        len,
        ack,
        wnd,
        tsval,
        tsecr,
        has_ts: segment.has_ts.into(),
        flags: segment.flags.into(),
        ecn: segment.ecn as u32,
        sack_count: segment.sack_count.into(),
        retransmission: segment.retransmission.into(),
        sack: segment.sack.map(|block| [block.start, block.end]),
    }
}

/// Returns the segment that the C program has received and passes as the struct `of`. Fails if the
/// ECN field or the number of SACK blocks is out of range.
fn from_c(of: &abi::Segment) -> Result<Segment, Failed> {
    let Some(sack_count) = u8::try_from(of.sack_count).ok().filter(|&count| count <= 4) else {
        let found = of.sack_count;
        return refused(Error::Argument, format!("sack_count: expected at most 4, found {found}"));
    };
    let &abi::Segment { seq, len, ack, wnd, tsval, tsecr, .. } = of;
    let ecn = match of.ecn {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        3 => Ecn::Ce,
        found => {
            return refused(Error::Argument, format!("ecn: expected 0 to 3, found {found}"));
        }
    };
    Ok(Segment {
        seq,
        len,
        ack,
        wnd,
        tsval,
        tsecr,
        sack: of.sack.map(|[start, end]| SackBlock { start, end }),
        sack_count,
        flags: of.flags.to_le_bytes()[0],
        ecn,
        has_ts: of.has_ts != 0,
        ..Segment::default()
    })
}

/// A complete TCP sender for a C program.
#[derive(Debug)]
pub struct HostedSender {
    sender: Sender,
    outbox: Outbox,
    now: Time,
    is_connected: bool,
    is_closed: bool,
}

impl HostedSender {
    /// Makes a sender with the algorithm `cc`.
    pub(crate) fn new(cc: Cc, setup: &abi::SenderSetup) -> Result<Self, Failed> {
        let hz = if setup.hz == 0 { 1000 } else { setup.hz };
        if !1000_u32.is_multiple_of(hz) {
            return refused(Error::Argument, format!("hz: expected a divisor of 1000, found {hz}"));
        }
        let mss = setup.mss;
        if !(1..=MSS_MAX).contains(&mss) {
            return refused(Error::Argument, format!("mss: expected 1 to {MSS_MAX}, found {mss}"));
        }
        if setup.initial_cwnd == 0 {
            return refused(Error::Argument, "initial_cwnd: expected at least 1, found 0");
        }
        let (found, known) = (setup.flags, sender_flags::ALL);
        if found & !known != 0 {
            return refused(
                Error::Argument,
                format!("flags: expected bits of {known:#x}, found {found:#x}"),
            );
        }
        let has = |flag: u32| setup.flags & flag != 0;
        let stack = Stack {
            hz,
            sack: has(sender_flags::SACK),
            initial_cwnd: setup.initial_cwnd,
            sndbuf: match setup.sndbuf {
                0 => SocketBuffer::Auto,
                bytes => SocketBuffer::Fixed(Bytes(bytes.into())),
            },
            ..Stack::default()
        };
        let config = SenderConfig {
            stack,
            mss,
            tick: Tick::new(hz, 0, Span::ZERO),
            timestamps: has(sender_flags::TIMESTAMPS),
            ecn: if has(sender_flags::ECN) { EcnMode::On } else { EcnMode::Off },
            nodelay: has(sender_flags::NODELAY),
            max_pacing_rate: match setup.max_pacing_rate {
                0 => u64::MAX,
                rate => rate,
            },
            isn: setup.isn,
            ..SenderConfig::default()
        };
        Ok(Self {
            sender: Sender::new(config, cc),
            outbox: Outbox { draw: Seeded::new(setup.seed), waiting: VecDeque::new() },
            now: Time(EPOCH_NS),
            is_connected: false,
            is_closed: false,
        })
    }

    /// Calls `act` with the sender at the time `now_ns` of the C program's clock. After `act`,
    /// passes the application's waiting data, or its FIN, to the socket if the socket is writable.
    fn event(
        &mut self,
        now_ns: u64,
        act: impl FnOnce(&mut Sender, Time, &mut Outbox),
    ) -> Result<(), Failed> {
        if !self.is_connected {
            return refused(Error::Order, "expected bbrlab_sender_connect first");
        }
        if now_ns > NOW_MAX_NS || EPOCH_NS + now_ns < self.now.0 {
            let least = self.now.0 - EPOCH_NS;
            return refused(
                Error::Order,
                format!("now_ns: expected {least} to {NOW_MAX_NS}, found {now_ns}"),
            );
        }
        self.now = Time(EPOCH_NS + now_ns);
        act(&mut self.sender, self.now, &mut self.outbox);
        if self.sender.app_is_ready() {
            self.sender.run_app(self.now, &mut self.outbox);
        }
        Ok(())
    }

    /// Sends the SYN.
    pub(crate) fn connect(&mut self, now_ns: u64) -> Result<(), Failed> {
        if self.is_connected {
            return refused(Error::Order, "bbrlab_sender_connect: expected one call");
        }
        self.is_connected = true;
        self.event(now_ns, Sender::connect)
    }

    /// Processes a segment of the peer.
    pub(crate) fn segment(&mut self, now_ns: u64, segment: &abi::Segment) -> Result<(), Failed> {
        let segment = from_c(segment)?;
        self.event(now_ns, |sender, now, outbox| {
            sender.on_arrival(now, &segment, outbox);
        })
    }

    /// Processes an expired timer.
    pub(crate) fn timer(&mut self, now_ns: u64, timer: u32) -> Result<(), Failed> {
        let Some(&timer) = TIMERS.get(timer as usize) else {
            let count = TIMERS.len();
            return refused(
                Error::Argument,
                format!("timer: expected a number below {count}, found {timer}"),
            );
        };
        self.event(now_ns, |sender, now, outbox| sender.on_timer(now, timer, outbox))
    }

    /// Adds `bytes` bytes to the data that the application writes.
    pub(crate) fn write(&mut self, now_ns: u64, bytes: u64) -> Result<(), Failed> {
        if self.is_closed {
            return refused(Error::Order, "bbrlab_sender_write: the sender is closed");
        }
        self.event(now_ns, |sender, now, outbox| sender.write(now, bytes, outbox))
    }

    /// Closes the sending side.
    pub(crate) fn close(&mut self, now_ns: u64) -> Result<(), Failed> {
        self.event(now_ns, Sender::close)?;
        self.is_closed = true;
        Ok(())
    }

    /// Records the next byte that the C program expects from the peer, and the window that the C
    /// program advertises to the peer.
    pub(crate) fn received(&mut self, rcv_nxt: u32, wnd: u32) {
        let before = self.sender.reverse();
        self.sender.set_reverse(Reverse { rcv_nxt, wnd, ..before });
    }

    /// Removes and returns the oldest action that the C program has not taken.
    pub(crate) fn action(&mut self) -> abi::Action {
        self.outbox.waiting.pop_front().unwrap_or(abi::Action {
            size: abi::Action::SIZE,
            kind: actions::NONE,
            timer: 0,
            reserved: 0,
            at_ns: 0,
            segment: in_c(&Segment::default()),
        })
    }

    /// Returns the state of the sender.
    pub(crate) fn status(&self) -> abi::SenderStatus {
        let (sender, conn, stats) = (&self.sender, self.sender.conn(), self.sender.stats());
        let info = sender.cc().info(conn);
        abi::SenderStatus {
            size: abi::SenderStatus::SIZE,
            cwnd: conn.ctl.cwnd,
            ssthresh: conn.ctl.ssthresh,
            in_flight: sender.packets_in_flight(),
            pacing_rate: conn.ctl.pacing_rate,
            acked_bytes: sender.acked_bytes(),
            sent: stats.sent,
            retransmitted: stats.retransmitted,
            bw: info.bw.unwrap_or(0),
            min_rtt_us: info.min_rtt_us.unwrap_or(0),
            srtt_us: conn.srtt_us,
            snd_una: conn.snd_una,
            snd_nxt: conn.snd_nxt,
            ca_state: conn.ca_state as u32,
            delivered: conn.delivered,
            lost: sender.lost(),
            rto_count: stats.rto_count,
            tlp_count: stats.tlp_count,
            undo_count: stats.undo_count,
            is_established: sender.is_established().into(),
            is_all_acked: sender.is_all_acked().into(),
            state: text(info.state),
        }
    }
}

#[cfg(test)]
mod tests {
    use bbrlab_abi::{self as abi, actions, sender_flags};
    use bbrlab_cc::Algorithm;

    use super::HostedSender;

    const SYN: u32 = 2;
    const ACK: u32 = 16;

    fn setup() -> abi::SenderSetup {
        abi::SenderSetup {
            size: abi::SenderSetup::SIZE,
            mss: 1000,
            seed: 1,
            max_pacing_rate: 0,
            params: std::ptr::null(),
            params_count: 0,
            initial_cwnd: 10,
            hz: 0,
            isn: u32::MAX,
            sndbuf: 0,
            flags: sender_flags::SACK | sender_flags::NODELAY,
        }
    }

    fn made(setup: &abi::SenderSetup) -> Option<HostedSender> {
        let cubic = Algorithm::from_name("cubic").unwrap().build(&Vec::new()).unwrap();
        HostedSender::new(cubic, setup).ok()
    }

    /// Returns a segment of the peer that acknowledges `ack`.
    fn ack(ack: u32, flags: u32) -> abi::Segment {
        let seq = if flags & SYN == 0 { 8 } else { 7 };
        let mut idle = made(&setup()).unwrap();
        abi::Segment { seq, ack, wnd: 60_000, flags, ..idle.action().segment }
    }

    /// Returns the sequence numbers and sizes of the segments that the C program must send.
    fn sent(sender: &mut HostedSender) -> Vec<(u32, u32)> {
        std::iter::repeat_with(|| sender.action())
            .take_while(|action| action.kind != actions::NONE)
            .filter(|action| action.kind == actions::TRANSMIT)
            .map(|action| (action.segment.seq, action.segment.len))
            .collect()
    }

    #[test]
    fn a_sender_connects_writes_and_closes() {
        let mut sender = made(&setup()).unwrap();
        sender.connect(0).unwrap();
        assert_eq!(sent(&mut sender), [(u32::MAX, 0)]);
        sender.segment(20_000_000, &ack(0, SYN | ACK)).unwrap();
        assert_eq!(sent(&mut sender), [(0, 0)]);
        sender.write(20_000_000, 2500).unwrap();
        assert_eq!(sent(&mut sender), [(0, 1000), (1000, 1000), (2000, 500)]);
        sender.close(30_000_000).unwrap();
        assert_eq!(sent(&mut sender), [(2500, 0)]);
        assert_eq!(sender.status().is_all_acked, 0);
        sender.segment(40_000_000, &ack(2501, ACK)).unwrap();
        let status = sender.status();
        assert_eq!((status.is_all_acked, status.snd_una, status.sent), (1, 2501, 3));
        assert_eq!(status.acked_bytes, 2501, "the FIN counts as a byte, as in Linux");
        assert!(sender.write(40_000_000, 1).is_err(), "after the close");
    }

    #[test]
    fn wrong_calls_are_refused() {
        for wrong in [
            abi::SenderSetup { mss: 0, ..setup() },
            abi::SenderSetup { mss: 65_484, ..setup() },
            abi::SenderSetup { hz: 3, ..setup() },
            abi::SenderSetup { initial_cwnd: 0, ..setup() },
            abi::SenderSetup { flags: 16, ..setup() },
        ] {
            assert!(made(&wrong).is_none(), "{wrong:?}");
        }
        let mut sender = made(&setup()).unwrap();
        assert!(sender.write(0, 1).is_err(), "before the SYN");
        sender.connect(1000).unwrap();
        assert!(sender.connect(1000).is_err(), "twice");
        assert!(sender.timer(999, 0).is_err(), "an earlier time");
        assert!(sender.timer(u64::MAX, 0).is_err(), "later than `NOW_MAX_NS`");
        assert!(sender.timer(1000, 5).is_err(), "no such timer");
        let five = abi::Segment { sack_count: 5, ..ack(0, SYN | ACK) };
        assert!(sender.segment(1000, &five).is_err(), "too many blocks");
    }
}
