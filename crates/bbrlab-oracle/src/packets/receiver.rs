//! Replays the receiver: our receiver gets the packets that a Linux receiver got, and should send
//! the same packets.

use bbrlab_stack::{SocketBuffer, Stack};
use bbrlab_tcp::receiver::EcnEcho;
use bbrlab_tcp::{Receiver, ReceiverConfig, Tick};
use bbrlab_units::{Bytes, Ecn, Span, Time};

use super::bench::{Bench, CLOCK_STEP, Draws};
use super::compare::Sent;
use super::episode::{App, Episode};
use super::row::PacketRow;

/// Time that passes from an event to the application's `close()` that the event triggers.
const CLOSE_DELAY: Span = Span(1_024);

/// Returns the receiver's configuration in a recorded episode.
#[must_use]
pub fn receiver_config(episode: &Episode) -> ReceiverConfig {
    let ecn = match (episode.ecn, episode.cc_on_both) {
        (false, _) => EcnEcho::Off,
        (true, false) => EcnEcho::Classic,
        (true, true) if episode.cc == "dctcp" => EcnEcho::Dctcp { on_acks: Ecn::Ect0 },
        (true, true) => EcnEcho::Dctcp { on_acks: Ecn::NotEct },
    };
    ReceiverConfig {
        mss: if episode.timestamps { 1448 } else { 1460 },
        stack: Stack {
            rcvbuf: episode
                .so_rcvbuf
                .map_or(SocketBuffer::Auto, |bytes| SocketBuffer::Fixed(Bytes(bytes.into()))),
            rcvlowat: Bytes(episode.rcvlowat.unwrap_or(1).into()),
            ..Stack::default()
        },
        window_clamp: episode.window_clamp,
        timestamps: episode.timestamps,
        ecn,
        skb_read_cost: CLOCK_STEP,
        tick: Tick::new(1000, episode.jiffies0, Span::ZERO),
        ..ReceiverConfig::default()
    }
}

/// Returns the offset that makes TCP timestamps relative to the timestamp at the time `first`.
pub(super) fn ts_offset(first: Time) -> u32 {
    let ms = u32::try_from(first.0 / 1_000_000 % (1 << 32)).expect("reduced to 32 bits");
    ms.wrapping_neg()
}

/// Returns the time at which, according to the log, the receiving application had read `bytes`
/// bytes.
pub(super) fn read_by(rows: &[PacketRow], bytes: u64) -> Option<Time> {
    let mut waiting: Vec<(u32, u32)> = Vec::new();
    let mut next = 1_u32;
    for row in rows {
        waiting.push((row.segment.seq, row.segment.seq.wrapping_add(row.segment.len)));
        while let Some(at) = waiting.iter().position(|&(seq, end)| seq <= next && end > next) {
            next = waiting.swap_remove(at).1;
        }
        if u64::from(next) > bytes {
            return Some(row.time + CLOCK_STEP);
        }
    }
    None
}

/// Passes the rows of one connection to a receiver. The rows must be `d,in` rows: packets that the
/// receiving host received.
///
/// `interrupts` are the times at which the sender's pacing timer fired. Both hosts share one
/// kernel, so such an interrupt can also run the receiver's timer of compressed ACKs (see
/// [`Receiver::on_host_interrupt`]). `watch` is called before each segment with the state of the
/// socket.
pub(super) fn replay(
    episode: &Episode,
    rows: &[PacketRow],
    first_out: Time,
    interrupts: &[Time],
    watch: &mut dyn FnMut(Time, &Receiver),
) -> (Vec<Sent>, u64) {
    let config = ReceiverConfig { ts_offset: ts_offset(first_out), ..receiver_config(episode) };
    let mut receiver = Receiver::new(config);
    let mut bench = Bench::new(Draws::default());
    let mut used = 0;
    let close_at = match episode.app {
        App::Transfers { bytes, .. } => {
            read_by(rows, bytes).map(|read| read + Span::from_millis(100) + CLOSE_DELAY)
        }
        App::Unlimited | App::Script(_) => None,
    };
    let mut reader = Reader { episode, receiver: &mut receiver, bench: &mut bench };
    let mut calls: Vec<(Time, Call)> = interrupts.iter().map(|&at| (at, Call::Interrupt)).collect();
    if let Some((_, to)) = episode.no_read {
        calls.push((to, Call::Read));
    }
    calls.extend(close_at.map(|at| (at, Call::Close)));
    calls.sort_by_key(|&(at, _)| at);
    let mut calls = calls.into_iter().peekable();
    let mut rows = rows.iter().peekable();
    loop {
        let arrival = rows.peek().map_or(Time::NEVER, |row| row.time);
        let timer = reader.bench.next_timer().map_or(Time::NEVER, |(at, _)| at);
        let call = calls.peek().map_or(Time::NEVER, |&(at, _)| at);
        let now = arrival.min(timer).min(call);
        if now == Time::NEVER || now > episode.to {
            break;
        }
        reader.bench.now = now;
        if arrival == now {
            while let Some(row) = rows.next_if(|row| row.time == now) {
                watch(now, reader.receiver);
                reader.receiver.on_segment(now, &row.segment, reader.bench);
            }
            reader.read(now);
        } else if timer == now {
            let (_, id) = reader.bench.next_timer().expect("one is due");
            reader.bench.fire(id);
            reader.receiver.on_timer(now, id, reader.bench);
        } else {
            let (_, call) = calls.next().expect("one is due");
            match call {
                Call::Interrupt => {
                    let before = reader.bench.sent.len();
                    reader.receiver.on_host_interrupt(now, reader.bench);
                    used += u64::from(reader.bench.sent.len() > before && now >= episode.from);
                }
                Call::Read => reader.read(now),
                Call::Close => reader.receiver.close(now, reader.bench),
            }
        }
    }
    (bench.sent, used)
}

/// An event that is neither the arrival of a segment nor caused by a timer of the receiver: an
/// interrupt by the sender's pacing timer, or a call of the application.
#[derive(Clone, Copy)]
enum Call {
    Interrupt,
    Read,
    Close,
}

/// The receiving application.
struct Reader<'a> {
    episode: &'a Episode,
    receiver: &'a mut Receiver,
    bench: &'a mut Bench,
}

impl Reader<'_> {
    /// Reads all data, if the application is not in a period without reads and the receiver has
    /// woken it.
    fn read(&mut self, now: Time) {
        if self.episode.no_read.is_some_and(|(from, to)| now >= from && now < to)
            || !self.receiver.wants_read()
        {
            return;
        }
        let mut at = now;
        loop {
            let before = self.bench.sent.len();
            let read = self.receiver.recv(at, self.bench);
            // Packets that a read triggers leave when the read ends.
            for sent in &mut self.bench.sent[before..] {
                sent.0 = read.until;
            }
            at = read.until;
            if read.bytes == 0 {
                break;
            }
        }
    }
}
