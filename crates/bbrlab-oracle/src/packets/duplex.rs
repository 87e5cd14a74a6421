//! Replays episodes (packet logs) in which both applications write. If both applications write,
//! each end has a socket that both sends and receives data.

use bbrlab_cc::Params;
use bbrlab_stack::{SenderQdisc, Stack};
use bbrlab_tcp::socket::Socket;
use bbrlab_tcp::{Receiver, ReceiverConfig, Sender, SenderConfig};
use bbrlab_units::{Span, Time};

use super::bench::{Bench, Draws};
use super::compare::Sent;
use super::episode::{App, Episode};
use super::receiver::{receiver_config, ts_offset};
use super::row::{PacketRow, SeenAt};
use super::sender::{self, CONNECT_DELAY, FIRST_CONNECT, WRITE_DELAY};
use crate::error::LogError;

/// Time from a read to the application's reply.
const REPLY_DELAY: Span = Span(256);

/// Replays one connection. Returns the packets that the sender sends and the packets that the
/// receiver sends.
pub(super) fn replay(
    episode: &Episode,
    rows: &[PacketRow],
    draws: &Draws,
) -> Result<(Vec<Sent>, Vec<Sent>), LogError> {
    let arrivals = |seen_at| {
        let arrivals =
            rows.iter().filter(move |row: &&PacketRow| row.seen_at == seen_at && !row.is_out);
        arrivals.copied().collect::<Vec<_>>()
    };
    let opened = FIRST_CONNECT + CONNECT_DELAY;
    let config = ReceiverConfig { ts_offset: ts_offset(opened), ..receiver_config(episode) };
    let sending = sender::sender_config(episode);
    let mut client = End {
        socket: Socket::active(
            sending_half(episode, opened, sending)?,
            // The episode's receive buffer, low-water mark and window clamp apply to the receiver's
            // socket only, not to the receiving half of the sender's socket.
            Receiver::new(ReceiverConfig { stack: Stack::default(), window_clamp: None, ..config }),
        ),
        bench: Bench::new(draws.clone()),
        reply_bytes: 0,
        calls: vec![(opened, Call::Connect)],
    };
    if let App::Script(writes) = &episode.app {
        let writes = writes.iter().map(|&(at, bytes)| (at + WRITE_DELAY, Call::Write(bytes)));
        client.calls.extend(writes);
    }
    let to_client = arrivals(SeenAt::Sender);
    let to_server = arrivals(SeenAt::Receiver);
    let answered = to_server.first().map_or(Time::ZERO, |row| row.time);
    let config = ReceiverConfig { ts_offset: ts_offset(answered), ..config };
    // The episode's queueing discipline and `nodelay` apply to the sender's socket only, not to the
    // sending half of the receiver's socket.
    let stack = Stack { sender_qdisc: SenderQdisc::None, ..sending.stack };
    let sending = SenderConfig { stack, nodelay: false, ..sending };
    let sending = sending_half(episode, answered, sending)?;
    let mut server = End {
        socket: Socket::passive(sending, Receiver::new(config)),
        bench: Bench::new(Draws::default()),
        reply_bytes: episode.reply_bytes,
        calls: Vec::new(),
    };
    client.run(episode, &to_client);
    server.run(episode, &to_server);
    Ok((client.bench.sent, server.bench.sent))
}

fn sending_half(episode: &Episode, opened: Time, config: SenderConfig) -> Result<Sender, LogError> {
    let cc = sender::build(episode, &Params::default())?;
    Ok(Sender::new(SenderConfig { ts_offset: ts_offset(opened), ..config }, cc))
}

/// A call of the application.
#[derive(Clone, Copy)]
enum Call {
    Connect,
    Write(u64),
}

/// One end of the connection: its socket, its host and its application.
struct End {
    socket: Socket,
    bench: Bench,
    /// Bytes that the application writes back after each read.
    reply_bytes: u64,
    calls: Vec<(Time, Call)>,
}

impl End {
    fn run(&mut self, episode: &Episode, arrivals: &[PacketRow]) {
        let mut arrivals = arrivals.iter().peekable();
        loop {
            let arrival = arrivals.peek().map_or(Time::NEVER, |row| row.time);
            let (timer, id) =
                self.bench.next_timer().map_or((Time::NEVER, None), |(at, id)| (at, Some(id)));
            let call = self.calls.iter().map(|&(at, _)| at).min().unwrap_or(Time::NEVER);
            let now = arrival.min(timer).min(call);
            if now == Time::NEVER || now > episode.to {
                return;
            }
            self.bench.now = now;
            if arrival == now {
                let row = arrivals.next().expect("one is due");
                self.socket.halves().on_segment(now, &row.segment, &mut self.bench);
                self.read(now);
            } else if timer == now {
                let id = id.expect("one is due");
                self.bench.fire(id);
                self.socket.halves().on_timer(now, id, &mut self.bench);
            } else {
                let due = self.calls.iter().position(|&(at, _)| at == now).expect("one is due");
                match self.calls.remove(due).1 {
                    Call::Connect => self.socket.halves().connect(now, &mut self.bench),
                    Call::Write(bytes) => self.socket.halves().write(now, bytes, &mut self.bench),
                }
            }
        }
    }

    /// Lets the application read all data that has arrived, and write its reply.
    fn read(&mut self, now: Time) {
        if !self.socket.halves().wants_read() {
            return;
        }
        let mut at = now;
        loop {
            let before = self.bench.sent.len();
            let read = self.socket.halves().recv(at, &mut self.bench);
            for sent in &mut self.bench.sent[before..] {
                sent.0 = read.until;
            }
            at = read.until;
            if read.bytes == 0 {
                return;
            }
            if self.reply_bytes > 0 {
                self.calls.push((at + REPLY_DELAY, Call::Write(self.reply_bytes)));
            }
        }
    }
}
