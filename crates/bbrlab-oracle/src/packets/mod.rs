//! Replays packet logs of Linux hosts. Our sender and our receiver get the packets that the Linux
//! hosts received. The packets that our sender and receiver send are compared with the packets that
//! the Linux hosts sent.
//!
//! A folder contains episodes: packet logs, each with the settings of the run in which it was
//! recorded. The log of an episode has two rows for each packet, one at the sender and one at the
//! receiver. Each row has the time at which the packet was at the row's host.
//!
//! In a row, `s` is the sending host and `d` the receiving host; `in` is a packet that the host
//! received, and `out` a packet that it sent. Our sender gets the packets of `s,in` rows at the
//! rows' times, and our receiver the packets of `d,in` rows. Our applications make their socket
//! calls, such as `send()`, at the times that the episode states. Our packets must equal the
//! packets of the `s,out` and `d,out` rows.
//!
//! Our stack computes all congestion windows, receive windows and rates. Apart from the received
//! packets and the socket calls, the replay takes only three kinds of values from the log. None of
//! these follows from the packets that a host received:
//!
//! - BBR's random phase
//! - the time at which a paced burst leaves. The clock of the Linux hosts has steps of 256 ns. The
//!   burst leaves at one of the first steps after the sender's pacing timer is due, at most 520 ns
//!   after the timer is due. With the qdisc `fq`, the burst may also leave up to 10 us before the
//!   qdisc's timer is due, because the kernel may fire this timer early (timer slack)
//! - for the receiver, the times at which the sender's pacing timer fires. Both hosts share one
//!   kernel. At the interrupt of the pacing timer, the kernel also runs the receiver's timer of
//!   compressed ACKs, if the latter timer is due within its own slack

mod bench;
mod closed;
mod compare;
mod duplex;
mod episode;
mod receiver;
mod report;
mod row;
mod sender;
mod sender_state;
mod state;

use std::path::Path;

pub use episode::{App, Episode, Episodes};

pub use receiver::receiver_config;
pub use report::{EpisodeReport, FirstMismatch, PacketsReport, SideReport};
pub use row::{PacketRow, SeenAt};
pub use sender::{next_connect, sender_config};
pub use sender_state::sender_states;
pub use state::receiver_states;

use crate::error::LogError;
use crate::table::Table;
use bbrlab_units::Time;
use bench::Draws;
use compare::{Comparison, Sent, compare};

/// Returns the episodes (packet logs) that a folder lists.
///
/// # Errors
/// Fails if `episodes.csv` is missing or damaged.
pub fn episodes(dir: &Path) -> Result<Episodes, LogError> {
    episode::load(dir)
}

/// Loads the packets of an episode and checks them against the counts of `episodes.csv`. Also
/// checks the logs of the sender's and the receiver's states for damage.
///
/// # Errors
/// Fails if a file is missing or damaged, or if the log does not have the counts of packets that
/// `episodes.csv` states.
pub fn packets(episode: &Episode) -> Result<Vec<PacketRow>, LogError> {
    let path = episode.packets_path();
    let rows = row::load(&path)?;
    let is_data =
        |row: &&PacketRow| row.segment.len > 0 && row.is_out && row.seen_at == SeenAt::Sender;
    let data_out = rows.iter().filter(is_data).count();
    let lost_data = rows.iter().filter(is_data).filter(|row| row.is_lost).count();
    let lost_acks = rows
        .iter()
        .filter(|row| {
            row.seen_at == SeenAt::Receiver && row.is_out && row.is_lost && row.segment.len == 0
        })
        .count();
    for (column, found) in
        [("data_out", data_out), ("lost_data", lost_data), ("lost_acks", lost_acks)]
    {
        let found = found as u64;
        let listed = episode.counts.iter().find(|(name, _)| *name == column);
        let expected = listed.map_or(0, |&(_, count)| count);
        if found != expected {
            return Err(LogError::WrongCount { path, column, expected, found });
        }
    }
    Table::load(&episode.state_path(), "time_ns,ev,flow")?;
    Table::load(&episode.rcv_path(), "time_ns,ev,flow")?;
    Ok(rows)
}

/// Replays the recorded episodes of a folder: those that `only` names, or all if `only` is empty.
/// Episodes with unsupported settings are omitted, and the report lists them.
///
/// # Errors
/// Fails if the folder is damaged, or if `only` has a name that no episode of the folder has.
pub fn validate(dir: &Path, only: &[String]) -> Result<PacketsReport, LogError> {
    let Episodes { known: all, mut unsupported } = episodes(dir)?;
    let listed = all.iter().map(|episode| &episode.name);
    let known: Vec<String> =
        listed.chain(unsupported.iter().map(|left_out| &left_out.episode)).cloned().collect();
    if let Some(name) = only.iter().find(|name| !known.contains(name)) {
        return Err(LogError::NoSuchEpisode { name: name.clone(), known });
    }
    let is_asked_for = |name: &String| only.is_empty() || only.contains(name);
    unsupported.retain(|left_out| is_asked_for(&left_out.episode));
    let mut report = PacketsReport { unsupported, ..PacketsReport::default() };
    for episode in &all {
        if is_asked_for(&episode.name) {
            report.add(validate_episode(episode, &all)?);
        }
    }
    Ok(report)
}

/// Replays one recorded episode. `all` are the episodes of the folder that contains the episode. If
/// the episode's log begins after the `connect()` call and another episode in `all` contains the
/// beginning of the run, the replay begins with the rows of that episode.
///
/// # Errors
/// Fails if a file is damaged or the episode has unsupported settings.
pub fn validate_episode(episode: &Episode, all: &[Episode]) -> Result<EpisodeReport, LogError> {
    let rows = packets(episode)?;
    if episode.is_from_connect() {
        return replay(episode, &rows, &sender::draws(episode)?);
    }
    if let Some((earlier, joined)) = lead_up(episode, &rows, all)? {
        let draws = sender::draws(earlier)?.until(episode.from, sender::draws(episode)?);
        return replay(episode, &joined, &draws);
    }
    run_closed(episode, all, &rows)
}

/// Simulates a recorded episode up to `closed::SEQUENCES` times, and stops at a run that equals the
/// log. The simulations differ in the random clock phases at which timers fire (see the module
/// [`closed`]). Returns the simulated run that is nearest to the log.
fn run_closed(
    episode: &Episode,
    all: &[Episode],
    rows: &[PacketRow],
) -> Result<EpisodeReport, LogError> {
    let draws = match all.iter().find(|other| is_same_run(episode, other)) {
        Some(earlier) => sender::draws(earlier)?.until(earlier.to, sender::draws(episode)?),
        None => sender::draws(episode)?,
    };
    let mut nearest: Option<EpisodeReport> = None;
    for sequence in 0..closed::SEQUENCES {
        let (by_sender, by_receiver) = closed::run(episode, draws.clone(), sequence)?;
        let sender = side(episode, rows, SeenAt::Sender, by_sender);
        let receiver = side(episode, rows, SeenAt::Receiver, by_receiver);
        let report = conclude(episode, sender, receiver, true, 0);
        if nearest.as_ref().is_none_or(|best| report.mismatches() < best.mismatches()) {
            nearest = Some(report);
        }
        if nearest.as_ref().is_some_and(|best| best.mismatches() == 0) {
            break;
        }
    }
    Ok(nearest.expect("at least one sequence"))
}

/// Whether `other` is logged from the `connect()` call on and has the same settings as `episode`.
/// The runs of two such episodes are equal up to the first forced event, such as a forced loss.
fn is_same_run(episode: &Episode, other: &Episode) -> bool {
    other.is_from_connect()
        && other.cc == episode.cc
        && other.app == episode.app
        && (other.rate_bps, other.rtt, other.buffer_pkts)
            == (episode.rate_bps, episode.rtt, episode.buffer_pkts)
        && other.wscale == episode.wscale
        && other.jiffies0 == episode.jiffies0
}

/// Finds an episode whose log contains the beginning of this episode's run. Returns the found
/// episode, and its rows followed by the rows of this episode.
fn lead_up<'a>(
    episode: &Episode,
    rows: &[PacketRow],
    all: &'a [Episode],
) -> Result<Option<(&'a Episode, Vec<PacketRow>)>, LogError> {
    let leads = |other: &&Episode| is_same_run(episode, other) && other.to > episode.from;
    for other in all.iter().filter(leads) {
        let earlier = packets(other)?;
        let split = earlier.partition_point(|row| row.time < episode.from);
        let common = &earlier[split..];
        if !common.is_empty() && rows.starts_with(common) {
            let mut joined = earlier;
            joined.truncate(split);
            joined.extend_from_slice(rows);
            return Ok(Some((other, joined)));
        }
    }
    Ok(None)
}

/// Returns the packets that the host `seen_at` sent, according to the log.
fn sent(rows: &[PacketRow], seen_at: SeenAt) -> Vec<Sent> {
    let out = rows.iter().filter(|row| row.is_out && row.seen_at == seen_at);
    out.map(|row| (row.time, row.segment)).collect()
}

/// Compares the packets of one side (sender or receiver) in the period that the episode's log
/// covers.
fn side(
    episode: &Episode,
    rows: &[PacketRow],
    seen_at: SeenAt,
    ours: Vec<Sent>,
) -> (u64, Comparison) {
    let within = |sent: &Sent| sent.0 >= episode.from && sent.0 < episode.to;
    let expected: Vec<Sent> = sent(rows, seen_at).into_iter().filter(within).collect();
    let got: Vec<Sent> = ours.into_iter().filter(within).collect();
    (expected.len() as u64, compare(&expected, &got))
}

fn conclude(
    episode: &Episode,
    sender: (u64, Comparison),
    receiver: (u64, Comparison),
    closed: bool,
    handed: u64,
) -> EpisodeReport {
    EpisodeReport {
        name: episode.name.clone(),
        sender: SideReport { packets: sender.0, mismatches: sender.1.mismatches },
        receiver: SideReport { packets: receiver.0, mismatches: receiver.1.mismatches },
        closed,
        handed,
        unsupported: None,
        first: sender.1.first.or(receiver.1.first),
    }
}

/// Replays a recorded episode from the `connect()` call on.
fn replay(episode: &Episode, rows: &[PacketRow], draws: &Draws) -> Result<EpisodeReport, LogError> {
    let mut flows: Vec<u32> = rows.iter().map(|row| row.flow).collect();
    flows.sort_unstable();
    flows.dedup();
    let mut by_sender = Vec::new();
    let mut by_receiver = Vec::new();
    let mut handed = 0;
    let is_ours = sender::algorithm(episode).is_some();
    for flow in flows {
        let rows: Vec<PacketRow> = rows.iter().filter(|row| row.flow == flow).copied().collect();
        if episode.reply_bytes > 0 && is_ours {
            let (from_client, from_server) = duplex::replay(episode, &rows, draws)?;
            by_sender.extend(from_client);
            by_receiver.extend(from_server);
            continue;
        }
        let replayed = if is_ours {
            sender::replay(episode, &rows, draws.clone(), &mut |_, _| {})?
        } else {
            sender::Replayed::default()
        };
        handed += replayed.handed;
        by_sender.extend(replayed.sent);
        let arrivals: Vec<PacketRow> = rows
            .iter()
            .filter(|row| !row.is_out && row.seen_at == SeenAt::Receiver)
            .copied()
            .collect();
        let first = sent(&rows, SeenAt::Receiver).first().map_or(Time::ZERO, |&(time, _)| time);
        let (out, used) =
            receiver::replay(episode, &arrivals, first, &replayed.pacing, &mut |_, _| {});
        handed += used;
        by_receiver.extend(out);
    }
    by_sender.sort_by_key(|&(time, _)| time);
    by_receiver.sort_by_key(|&(time, _)| time);
    let receiver = side(episode, rows, SeenAt::Receiver, by_receiver);
    if !is_ours {
        let nothing = (0, Comparison::default());
        let report = conclude(episode, nothing, receiver, false, handed);
        return Ok(EpisodeReport { unsupported: Some(sender::unsupported(episode)), ..report });
    }
    let sender = side(episode, rows, SeenAt::Sender, by_sender);
    Ok(conclude(episode, sender, receiver, false, handed))
}
