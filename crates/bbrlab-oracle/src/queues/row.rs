//! Reads the rows of a packet log. A row describes a packet at one point of the network.

use std::path::Path;

use bbrlab_units::Ecn;

use crate::error::LogError;
use crate::table::Table;

const COLUMNS: &str = "point,n,arr_ns,flow,dir,len,payload,seq,ecn_in,hash,fate,ret,qlen,backlog,deq_ns,qlen_deq,dep_ns,\
                       drop_ns,ecn_out,arr_i,deq_i,dep_i";

/// The largest size in bytes of a packet in these logs.
const MAX_LEN: u32 = 1 << 16;

/// An event in the log, such as the arrival of a packet: the time in nanoseconds from the start of
/// the log, and a number that orders events at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Call {
    pub(super) ns: u64,
    pub(super) number: u64,
}

/// The fate of a packet. Times are in nanoseconds from the start of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fate {
    /// The time at which the packet was dropped; `None` if it was not dropped.
    pub(super) dropped_ns: Option<u64>,
    /// The time at which the packet's last bit left the link; `None` if the packet did not depart.
    pub(super) departed_ns: Option<u64>,
    /// Whether the packet was ECN-marked at this point of the network.
    pub(super) marked: bool,
}

/// A packet at one point of the network.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) point: String,
    /// The number of the packet at this point of the network, from 1.
    pub(super) n: u64,
    pub(super) arrives: Call,
    pub(super) flow: u32,
    pub(super) wire_bytes: u32,
    pub(super) ecn: Ecn,
    /// The value of `skb_get_hash` for the packet.
    pub(super) hash: u32,
    /// When the link took the packet from the discipline; `None` if the link did not take it.
    pub(super) taken: Option<Call>,
    /// When the packet's last bit left the link; `None` if the packet did not depart.
    pub(super) departs: Option<Call>,
    /// The packet's fate in Linux.
    pub(super) fate: Fate,
}

/// Loads the rows of an episode's log, which must be in order of arrival.
pub(super) fn load(path: &Path) -> Result<Vec<Row>, LogError> {
    let table = Table::load(path, COLUMNS)?;
    let mut rows = Vec::with_capacity(table.rows().len());
    let mut last = 0;
    for (at, cells) in table.rows().iter().enumerate() {
        let bad = |reason| LogError::BadRow { path: path.to_owned(), row: at + 1, reason };
        let row = parse(cells).map_err(bad)?;
        if row.arrives.ns < last {
            return Err(bad("the packet arrives before the packet of the row above".to_owned()));
        }
        last = row.arrives.ns;
        rows.push(row);
    }
    Ok(rows)
}

fn parse(cells: &[String]) -> Result<Row, String> {
    let [
        point,
        n,
        arr_ns,
        flow,
        _dir,
        len,
        _payload,
        _seq,
        ecn_in,
        hash,
        fate,
        _ret,
        _qlen,
        _backlog,
        deq_ns,
        _qlen_deq,
        dep_ns,
        drop_ns,
        ecn_out,
        arr_i,
        deq_i,
        dep_i,
    ] = cells
    else {
        return Err("expected 22 cells in a row".to_owned());
    };
    let ecn = parse_ecn("ecn_in", ecn_in)?;
    let is_ce_now = !ecn_out.is_empty() && parse_ecn("ecn_out", ecn_out)? == Ecn::Ce;
    let wire_bytes = number("len", len)?;
    if wire_bytes == 0 || wire_bytes > MAX_LEN {
        return Err(format!("len: found {wire_bytes}, expected 1 to {MAX_LEN}"));
    }
    let arr_ns = number("arr_ns", arr_ns)?;
    let mut dropped_ns = optional("drop_ns", drop_ns)?;
    let departs = call("dep", dep_ns, dep_i)?;
    // The log has no time for a packet that the policer drops. A policer drops packets at arrival,
    // so use the time of arrival.
    if point == "police" && fate == "drop_enq" {
        dropped_ns = Some(arr_ns);
    }
    let (is_dropped, is_sent) = match fate.as_str() {
        "sent" => (false, true),
        "drop_enq" | "drop_other" | "drop_deq" => (true, false),
        "queued" | "in_service" | "pass" => (false, false),
        _ => return Err(format!("fate: found `{fate}`, expected sent, drop_enq, …")),
    };
    if is_sent && departs.is_none() || is_dropped != dropped_ns.is_some() {
        return Err(format!("fate: `{fate}` contradicts dep_ns or drop_ns"));
    }
    Ok(Row {
        point: point.clone(),
        n: number("n", n)?,
        arrives: Call { ns: arr_ns, number: optional("arr_i", arr_i)?.unwrap_or(0) },
        flow: number("flow", flow)?,
        wire_bytes,
        ecn,
        hash: if hash.is_empty() { 0 } else { number("hash", hash)? },
        taken: call("deq", deq_ns, deq_i)?,
        departs,
        fate: Fate {
            dropped_ns,
            departed_ns: departs.map(|call| call.ns),
            marked: is_ce_now && ecn != Ecn::Ce,
        },
    })
}

fn call(name: &str, ns: &str, place: &str) -> Result<Option<Call>, String> {
    let ns = optional(&format!("{name}_ns"), ns)?;
    let place = optional(&format!("{name}_i"), place)?;
    match (ns, place) {
        (None, None) => Ok(None),
        (Some(ns), Some(number)) => Ok(Some(Call { ns, number })),
        _ => Err(format!("{name}_ns and {name}_i: one is empty, the other is not")),
    }
}

fn optional(name: &str, cell: &str) -> Result<Option<u64>, String> {
    if cell.is_empty() { Ok(None) } else { number(name, cell).map(Some) }
}

pub(super) fn number<N: std::str::FromStr>(name: &str, cell: &str) -> Result<N, String> {
    cell.parse().map_err(|_| format!("{name}: found `{cell}`, expected a number"))
}

fn parse_ecn(name: &str, cell: &str) -> Result<Ecn, String> {
    match cell {
        "0" => Ok(Ecn::NotEct),
        "1" => Ok(Ecn::Ect1),
        "2" => Ok(Ecn::Ect0),
        "3" => Ok(Ecn::Ce),
        _ => Err(format!("{name}: found `{cell}`, expected 0 to 3")),
    }
}
