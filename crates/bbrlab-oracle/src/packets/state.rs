//! Compares the receiver's internal state with the kernel's, segment by segment.
//!
//! The packets that a receiver sends show little of its state. The logs therefore also contain the
//! socket's fields just before each segment is processed. A difference in these fields that does
//! not change the packets of this recorded run could change the packets of another run.

use bbrlab_units::Time;

use super::episode::Episode;
use super::receiver;
use super::row::{PacketRow, SeenAt};
use super::{FirstMismatch, SideReport, sent};
use crate::error::LogError;
use crate::table::Table;

/// The first columns of a file of receiver states.
const COLUMNS: &str = "time_ns,ev,flow,seq,len";

/// Compares our receiver's state before each segment of `episode` with the logged state, and counts
/// the rows in which any field differs. An episode is the packet log of a recorded run, or of a
/// part of the run; `all` are the episodes of the folder that contains `episode`. If the log of
/// `episode` begins after the run's `connect()` call, and no episode in `all` contains the
/// beginning of the same run, no rows are compared.
///
/// # Errors
/// Fails if a file is missing or damaged.
pub fn receiver_states(
    episode: &Episode,
    all: &[Episode],
) -> Result<(SideReport, Option<FirstMismatch>), LogError> {
    let mut rows = super::packets(episode)?;
    if !episode.is_from_connect() {
        let Some((_, joined)) = super::lead_up(episode, &rows, all)? else {
            return Ok((SideReport::default(), None));
        };
        rows = joined;
    }
    let path = episode.rcv_path();
    let table = Table::load(&path, COLUMNS)?;
    let mut report = SideReport::default();
    let mut first = None;
    let mut flows: Vec<u32> = rows.iter().map(|row| row.flow).collect();
    flows.sort_unstable();
    flows.dedup();
    for flow in flows {
        let name = flow.to_string();
        let mut logged =
            table.rows().iter().filter(|row| row[1] == "data" && row[2] == name).peekable();
        let rows: Vec<PacketRow> = rows.iter().filter(|row| row.flow == flow).copied().collect();
        let is_arrival = |row: &&PacketRow| row.seen_at == SeenAt::Receiver && !row.is_out;
        let arrivals: Vec<PacketRow> = rows.iter().filter(is_arrival).copied().collect();
        let opened = sent(&rows, SeenAt::Receiver).first().map_or(Time::ZERO, |&(time, _)| time);
        receiver::replay(episode, &arrivals, opened, &[], &mut |now, receiver| {
            let time = now.0.to_string();
            let Some(row) = logged.next_if(|row| row[0] == time) else { return };
            report.packets += 1;
            let mut differs = false;
            receiver.snapshot(&mut |field, value| {
                let expected = table.position(field).map(|at| row[at].as_str());
                let got = value.to_string();
                if let Some(expected) = expected
                    && expected != got
                {
                    differs = true;
                    let expected = expected.to_owned();
                    first.get_or_insert(FirstMismatch { time_ns: now.0, field, expected, got });
                }
            });
            report.mismatches += u64::from(differs);
        });
    }
    Ok((report, first))
}
