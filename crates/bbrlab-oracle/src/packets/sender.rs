//! Replays the sender: our sender gets the packets that a Linux sender received, and should send
//! the same packets.

use bbrlab_cc::{Algorithm, Cc, Params};
use bbrlab_stack::{EcnMode, SenderQdisc, Stack, Tso};
use bbrlab_tcp::sender::SenderConfig;
use bbrlab_tcp::{Sender, Tick, TimerId};
use bbrlab_units::{Span, Time};

use super::bench::{Bench, Draws};
use super::compare::Sent;
use super::episode::{App, Episode};
use super::receiver::{read_by, ts_offset};
use super::row::{PacketRow, SeenAt};
use crate::error::{LogError, Unsupported};
use crate::table::Table;

/// The time that passes from an event to the application's call that the event triggers:
/// `connect()`, `send()` and `close()`.
pub(super) const CONNECT_DELAY: Span = Span(512);
pub(super) const WRITE_DELAY: Span = Span(256);
const CLOSE_DELAY: Span = Span(768);
/// Time from the event that makes a socket writable to the application's write.
pub(super) const WAKE_DELAY: Span = Span(256);
/// Time from the planned close of a connection to the next `connect()`. The close is planned for
/// 100 ms after the last read.
const NEXT_DELAY: Span = Span(1_792);
/// The time of the first `connect()`.
pub(super) const FIRST_CONNECT: Time = Time(100_000_000);
/// Maximum delay of the pacing timer. If the log has a burst within this time after the timer is
/// due, the replay lets the timer fire at the time of the burst.
const PACING_LATENESS: Span = Span(520);

/// Maximum time by which the timer of the qdisc `fq` can fire early. The kernel fires the timer
/// early if another timer of the machine fires within this time. Linux: `timer_slack`.
const FQ_SLACK: Span = Span::from_micros(10);

/// The first columns of a file of sender states.
const STATE_COLUMNS: &str = "time_ns,ev,flow,ack,cwnd,ssthresh";

/// Returns the recorded episode's congestion control, or `None` if it is not implemented. The
/// kernel's name of BBR v1 is `bbr`.
pub(super) fn algorithm(episode: &Episode) -> Option<Algorithm> {
    let name = if episode.cc == "bbr" { "bbr1" } else { &episode.cc };
    Algorithm::from_name(name)
}

/// Creates an instance of the recorded episode's congestion control.
pub(super) fn build(episode: &Episode, params: &Params) -> Result<Cc, LogError> {
    let cc = algorithm(episode).and_then(|algorithm| algorithm.build(params).ok());
    cc.ok_or_else(|| LogError::Unsupported(unsupported(episode)))
}

/// Returns the error for a recorded episode whose congestion control is not implemented.
pub(super) fn unsupported(episode: &Episode) -> Unsupported {
    Unsupported {
        episode: episode.name.clone(),
        column: "cc",
        found: episode.cc.clone(),
        expected: "an algorithm that bbrlab has (`bbrlab list algorithms`)",
    }
}

/// Returns the sender's configuration in a recorded episode.
#[must_use]
pub fn sender_config(episode: &Episode) -> SenderConfig {
    SenderConfig {
        mss: if episode.timestamps { 1448 } else { 1460 },
        tick: Tick::new(1000, episode.jiffies0, Span::ZERO),
        stack: Stack {
            tso: if episode.tso_whole { Tso::Whole } else { Tso::Cut },
            sender_qdisc: if episode.fq { SenderQdisc::Fq } else { SenderQdisc::None },
            ..Stack::default()
        },
        timestamps: episode.timestamps,
        nodelay: episode.nodelay,
        ecn: if episode.ecn { EcnMode::On } else { EcnMode::Off },
        ..SenderConfig::default()
    }
}

/// Derives BBR's random draws in the recorded episode from the logged states of the sender.
pub(super) fn draws(episode: &Episode) -> Result<Draws, LogError> {
    if episode.cc != "bbr" {
        return Ok(Draws::default());
    }
    let path = episode.state_path();
    let table = Table::load(&path, STATE_COLUMNS)?;
    let column = |name: &str| {
        table.position(name).ok_or_else(|| LogError::BadHeader {
            path: path.clone(),
            found: format!("no column {name}"),
            expected: format!("{STATE_COLUMNS},...,{name}"),
        })
    };
    let (time, mode, phase) = (column("time_ns")?, column("mode")?, column("cycle_idx")?);
    let mut phases = Vec::new();
    for (at, row) in table.rows().iter().enumerate() {
        if row[mode] != "2" {
            continue;
        }
        let bad = |name: &str, cell: &str| LogError::BadRow {
            path: path.clone(),
            row: at + 1,
            reason: format!("{name}: found `{cell}`, expected a number"),
        };
        let time = row[time].parse().map_err(|_| bad("time_ns", &row[time]))?;
        let phase = row[phase].parse().map_err(|_| bad("cycle_idx", &row[phase]))?;
        phases.push((Time(time), phase));
    }
    Ok(Draws { phases })
}

/// The result of a sender's replay.
#[derive(Debug, Default)]
pub(super) struct Replayed {
    pub(super) sent: Vec<Sent>,
    /// The number of paced bursts whose time was taken from the log.
    pub(super) handed: u64,
    /// The times at which TCP's pacing timer fired. This timer also runs the soft interrupt in
    /// which timers with a tolerance fire. The timer of `fq` does not, so its times are not
    /// included.
    pub(super) pacing: Vec<Time>,
}

/// Passes the `s,in` rows of one connection (packets that the sending host received) to a sender.
/// `rows` contains all rows of the connection.
pub(super) fn replay(
    episode: &Episode,
    rows: &[PacketRow],
    draws: Draws,
    watch: &mut dyn FnMut(Time, &Sender),
) -> Result<Replayed, LogError> {
    let cc = build(episode, &Params::default())?;
    let flow = rows.first().map_or(0, |row| row.flow);
    let connect_at = match rows.first() {
        Some(row) if flow > 0 => row.time,
        _ => FIRST_CONNECT + CONNECT_DELAY,
    };
    let config = SenderConfig { ts_offset: ts_offset(connect_at), ..sender_config(episode) };
    let mut sender = Sender::new(config, cc);
    let mut bench = Bench::new(draws);
    let mut result = Replayed::default();
    let mut calls = vec![(connect_at, Call::Connect)];
    match &episode.app {
        App::Unlimited => calls.push((connect_at, Call::WriteUnlimited)),
        App::Script(writes) => {
            calls.extend(writes.iter().map(|&(at, bytes)| (at + WRITE_DELAY, Call::Write(bytes))));
        }
        App::Transfers { bytes, .. } => {
            calls.push((connect_at, Call::Write(*bytes)));
            let arrivals: Vec<PacketRow> = rows
                .iter()
                .filter(|row| row.seen_at == SeenAt::Receiver && !row.is_out)
                .copied()
                .collect();
            let read = read_by(&arrivals, *bytes);
            calls.extend(
                read.map(|read| (read + Span::from_millis(100) + CLOSE_DELAY, Call::Close)),
            );
        }
    }
    let logged: Vec<(Time, usize)> = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.seen_at == SeenAt::Sender && row.is_out && row.segment.len > 0)
        .map(|(place, row)| (row.time, place))
        .collect();
    let mut calls = calls.into_iter().peekable();
    let mut arrivals = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.seen_at == SeenAt::Sender && !row.is_out)
        .peekable();
    let slack = if episode.fq { FQ_SLACK } else { Span::ZERO };
    let mut wake = Time::NEVER;
    loop {
        let (arrival, place) =
            arrivals.peek().map_or((Time::NEVER, 0), |(place, row)| (row.time, *place));
        let timer = next_timer(&bench, &logged, slack);
        let timer_at = timer.map_or(Time::NEVER, |timer| timer.at);
        // If a segment arrives at the time at which a timer fires, handle the segment first, unless
        // the log shows the timer's burst before the segment. With `fq`, always handle the segment
        // first. In the log, the packets that `fq` releases come before the segment, but TCP
        // handles their release in a tasklet, which runs after the soft interrupt that delivers the
        // segment.
        let is_burst_first =
            !episode.fq && timer.is_some_and(|timer| timer.burst.is_some_and(|at| at < place));
        let call = calls.peek().map_or(Time::NEVER, |&(at, _)| at);
        let now = arrival.min(timer_at).min(call).min(wake);
        if now == Time::NEVER || now > episode.to {
            break;
        }
        bench.now = now;
        if arrival == now && !(timer_at == now && is_burst_first) {
            let (_, row) = arrivals.next().expect("one is due");
            watch(now, &sender);
            sender.on_arrival(now, &row.segment, &mut bench);
        } else if timer_at == now {
            let Due { id, burst, .. } = timer.expect("one is due");
            bench.fire(id);
            if id == TimerId::Pacing {
                if !episode.fq {
                    result.pacing.push(now);
                }
                result.handed += u64::from(burst.is_some() && now >= episode.from);
            }
            sender.on_timer(now, id, &mut bench);
        } else if call == now {
            match calls.next().expect("one is due").1 {
                Call::Connect => sender.connect(now, &mut bench),
                Call::WriteUnlimited => sender.write_unlimited(now, &mut bench),
                Call::Write(bytes) => sender.write(now, bytes, &mut bench),
                Call::Close => sender.close(now, &mut bench),
            }
        } else {
            wake = Time::NEVER;
            sender.run_app(now, &mut bench);
        }
        if wake == Time::NEVER && sender.app_is_ready() {
            wake = now + WAKE_DELAY;
        }
    }
    result.sent = bench.sent;
    Ok(result)
}

/// A call of the sending application.
#[derive(Clone, Copy)]
enum Call {
    Connect,
    WriteUnlimited,
    Write(u64),
    Close,
}

/// The timer that fires next.
#[derive(Clone, Copy)]
struct Due {
    at: Time,
    id: TimerId,
    /// The index in the log of the paced burst from which `at` was taken; `None` if the log has no
    /// burst for the timer.
    burst: Option<usize>,
}

/// Returns the timer that fires next.
///
/// A paced burst leaves at one of the first steps of the hosts' clock after its timer is due. Only
/// the log shows at which step. The timer of `fq` may fire earlier than it is due, by at most
/// `slack`. All other timers fire when they are due.
fn next_timer(bench: &Bench, logged: &[(Time, usize)], slack: Span) -> Option<Due> {
    let mut next: Option<Due> = None;
    let pacing = bench.armed(TimerId::Pacing);
    if pacing != Time::NEVER {
        let earliest = Time(pacing.0 - slack.0).max(bench.now);
        let at = logged.partition_point(|&(time, _)| time < earliest);
        let burst = logged.get(at).filter(|&&(time, _)| time <= pacing + PACING_LATENESS);
        let at = burst.map_or(pacing, |&(time, _)| time);
        next = Some(Due { at, id: TimerId::Pacing, burst: burst.map(|&(_, place)| place) });
    }
    for id in [TimerId::Retransmit, TimerId::DelayedAck, TimerId::CompressedAck] {
        let at = bench.armed(id);
        if at != Time::NEVER && next.is_none_or(|earliest| at < earliest.at) {
            next = Some(Due { at, id, burst: None });
        }
    }
    next
}

/// Returns the time at which the next connection is opened if the last byte of the previous
/// connection was read at `read`.
#[must_use]
pub fn next_connect(read: Time) -> Time {
    read + Span::from_millis(100) + NEXT_DELAY
}
