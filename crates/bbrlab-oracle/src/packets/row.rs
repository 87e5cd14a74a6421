//! Reads the rows of a packet log. A row describes a packet at one of the two hosts.

use std::path::Path;

use bbrlab_tcp::segment::flag;
use bbrlab_tcp::{SackBlock, Segment};
use bbrlab_units::{Ecn, Time};

use crate::error::LogError;
use crate::table::Table;

/// The columns of a packet log.
const COLUMNS: &str = "time_ns,point,dir,flow,flags,seq,len,ack,wnd,sack,tsval,tsecr,ecn,lost";

/// The largest size in bytes of a packet in a log. Offloaded bursts are logged as one packet.
const MAX_LEN: u32 = 1 << 16;

/// The letters of the column `flags`.
const FLAG_LETTERS: [(char, u8); 7] = [
    ('S', flag::SYN),
    ('A', flag::ACK),
    ('P', flag::PSH),
    ('F', flag::FIN),
    ('R', flag::RST),
    ('E', flag::ECE),
    ('C', flag::CWR),
];

/// The host at which the packet was logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeenAt {
    /// The sender of the data.
    Sender,
    /// The receiver of the data.
    Receiver,
}

/// A packet as a host sent or received it. Sequence and ACK numbers are relative, as in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRow {
    /// The time at which the host sent or received the packet.
    pub time: Time,
    /// The host that saw the packet.
    pub seen_at: SeenAt,
    /// Whether the host sent the packet. If false, the host received the packet.
    pub is_out: bool,
    /// The number of the connection.
    pub flow: u32,
    /// The content of the packet.
    pub segment: Segment,
    /// Whether the packet was lost in the network.
    pub is_lost: bool,
}

/// Loads the packets of an episode's log, in order of time.
pub(super) fn load(path: &Path) -> Result<Vec<PacketRow>, LogError> {
    let table = Table::load(path, COLUMNS)?;
    let mut rows = Vec::with_capacity(table.rows().len());
    let mut last = Time::ZERO;
    for (at, cells) in table.rows().iter().enumerate() {
        let bad = |reason| LogError::BadRow { path: path.to_owned(), row: at + 1, reason };
        let row = parse(cells).map_err(bad)?;
        if row.time < last {
            return Err(bad(format!("time {} after {}", row.time.0, last.0)));
        }
        last = row.time;
        rows.push(row);
    }
    Ok(rows)
}

fn parse(cells: &[String]) -> Result<PacketRow, String> {
    let [time, point, dir, flow, flags, seq, len, ack, wnd, sack, tsval, tsecr, ecn, lost] = cells
    else {
        return Err("expected 14 cells in a row".to_owned());
    };
    let mut segment = Segment {
        seq: number("seq", seq)?,
        len: number("len", len)?,
        wnd: number("wnd", wnd)?,
        flags: parse_flags(flags)?,
        ecn: parse_ecn(ecn)?,
        ..Segment::default()
    };
    if segment.len > MAX_LEN {
        return Err(format!("len: found {len}, expected at most {MAX_LEN}"));
    }
    if segment.has(flag::ACK) == ack.is_empty() {
        return Err(format!("ack: found `{ack}` with the flags `{flags}`"));
    }
    if !ack.is_empty() {
        segment.ack = number("ack", ack)?;
    }
    // The first SYN has a timestamp, but no timestamp to echo.
    segment.has_ts = !tsval.is_empty();
    if segment.has_ts {
        segment.tsval = number("tsval", tsval)?;
    }
    if !tsecr.is_empty() {
        segment.tsecr = number("tsecr", tsecr)?;
    }
    for (at, block) in sack.split(';').filter(|block| !block.is_empty()).enumerate() {
        let ends = block.split_once('-');
        let (start, end) =
            ends.ok_or_else(|| format!("sack: found `{sack}`, expected `a-b;c-d`"))?;
        let slot =
            segment.sack.get_mut(at).ok_or_else(|| format!("sack: `{sack}`: five blocks"))?;
        *slot = SackBlock { start: number("sack", start)?, end: number("sack", end)? };
        segment.sack_count += 1;
    }
    let seen_at = match point.as_str() {
        "s" => SeenAt::Sender,
        "d" => SeenAt::Receiver,
        other => return Err(format!("point: found `{other}`, expected `s` or `d`")),
    };
    let is_out = match dir.as_str() {
        "out" => true,
        "in" => false,
        other => return Err(format!("dir: found `{other}`, expected `out` or `in`")),
    };
    let is_lost = match lost.as_str() {
        "1" => true,
        "" | "0" => false,
        other => return Err(format!("lost: found `{other}`, expected 0, 1 or nothing")),
    };
    let time = time.parse().map_err(|_| format!("time_ns: found `{time}`, expected a number"))?;
    Ok(PacketRow {
        time: Time(time),
        seen_at,
        is_out,
        flow: number("flow", flow)?,
        segment,
        is_lost,
    })
}

fn number(column: &str, cell: &str) -> Result<u32, String> {
    cell.parse().map_err(|_| format!("{column}: found `{cell}`, expected a number"))
}

fn parse_flags(cell: &str) -> Result<u8, String> {
    cell.chars().try_fold(0, |flags, letter| {
        FLAG_LETTERS
            .iter()
            .find(|(known, _)| *known == letter)
            .map(|(_, bit)| flags | bit)
            .ok_or_else(|| format!("flags: found `{cell}`, expected letters of SAPFREC"))
    })
}

fn parse_ecn(cell: &str) -> Result<Ecn, String> {
    match cell {
        "0" => Ok(Ecn::NotEct),
        "1" => Ok(Ecn::Ect1),
        "2" => Ok(Ecn::Ect0),
        "3" => Ok(Ecn::Ce),
        _ => Err(format!("ecn: found `{cell}`, expected 0 to 3")),
    }
}

/// Returns the flags as the log spells them.
pub(super) fn flags_text(flags: u8) -> String {
    FLAG_LETTERS.iter().filter(|(_, bit)| flags & bit != 0).map(|(letter, _)| letter).collect()
}

/// Returns the SACK blocks as the log spells them.
pub(super) fn sack_text(segment: &Segment) -> String {
    let blocks = segment.sack_blocks().iter();
    blocks.map(|block| format!("{}-{}", block.start, block.end)).collect::<Vec<_>>().join(";")
}
