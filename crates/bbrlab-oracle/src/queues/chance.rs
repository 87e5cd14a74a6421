//! Supplies a replay with the random numbers and hashes that the kernel used, in the kernel's
//! order.

use std::collections::VecDeque;
use std::path::Path;

use bbrlab_queue::{Entropy, HostHashes, Queued};

use super::row::{Row, number};
use crate::error::LogError;
use crate::table::Table;

const COLUMNS: &str = "time_ns,point,ev,n,during,v1";

/// A random number or hash that the kernel gave to a queue discipline, or a time at which the
/// discipline's timer fired.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) time_ns: u64,
    pub(super) point: String,
    pub(super) kind: Kind,
    pub(super) value: u64,
}

/// The kind of an event: the kernel function that returned the value, or a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A result of `get_random_u16`, `get_random_u32` or `get_random_bytes`.
    Random,
    /// A result of `flow_hash_from_keys` in `cake_hash`.
    CakeHash,
    /// A result of `skb_get_hash_perturb`.
    PerturbedHash,
    /// `pie`'s timer has fired.
    PieTimer,
}

/// Loads from a log the events that a replay needs.
pub(super) fn load(path: &Path) -> Result<Vec<Event>, LogError> {
    let table = Table::load(path, COLUMNS)?;
    let mut events = Vec::new();
    for (at, cells) in table.rows().iter().enumerate() {
        let bad = |reason| LogError::BadRow { path: path.to_owned(), row: at + 1, reason };
        let kind = match cells[2].as_str() {
            "rnd16" | "rnd32" | "rnd64" => Kind::Random,
            "hash1" => Kind::CakeHash,
            "hash2" => Kind::PerturbedHash,
            "pie_timer" => Kind::PieTimer,
            _ => continue,
        };
        // A negative time is before the start of the log. Timer events at such times have no
        // effect, because the queue is empty.
        if cells[0].starts_with('-') {
            continue;
        }
        events.push(Event {
            time_ns: number("time_ns", &cells[0]).map_err(bad)?,
            point: cells[1].clone(),
            kind,
            value: number("v1", &cells[5]).map_err(bad)?,
        });
    }
    Ok(events)
}

/// The random numbers and hashes that the kernel used at one point of the network. The replay takes
/// the numbers and hashes in the kernel's order.
#[derive(Debug)]
pub(super) struct Chance<'a> {
    rows: &'a [Row],
    random: VecDeque<u64>,
    perturbed: VecDeque<u64>,
    cake: VecDeque<u64>,
}

impl<'a> Chance<'a> {
    pub(super) fn new(rows: &'a [Row], point: &str, events: &[Event]) -> Self {
        let values = |kind| {
            let of_kind = events.iter().filter(move |e| e.kind == kind && e.point == point);
            of_kind.map(|event| event.value).collect()
        };
        Self {
            rows,
            random: values(Kind::Random),
            perturbed: values(Kind::PerturbedHash),
            cake: values(Kind::CakeHash),
        }
    }
}

impl Entropy for Chance<'_> {
    fn flow_hash(&mut self, packet: &Queued) -> u32 {
        self.rows[packet.handle as usize].hash
    }

    fn perturbed_hash(&mut self, _: &Queued, _: u32) -> u32 {
        truncated(self.perturbed.pop_front().unwrap_or(0))
    }

    fn next_u32(&mut self) -> u32 {
        // If our discipline draws more numbers than the kernel's discipline did, return 0. The
        // results then differ from the log.
        truncated(self.random.pop_front().unwrap_or(0))
    }

    fn next_u16(&mut self) -> u16 {
        let logged = self.random.pop_front().unwrap_or(0);
        u16::try_from(logged & u64::from(u16::MAX)).expect("16 bits")
    }

    fn host_hashes(&mut self, _: &Queued) -> HostHashes {
        let mut next = || truncated(self.cake.pop_front().unwrap_or(0));
        HostHashes { destination: next(), source: next(), flow: next() }
    }

    fn next_u64(&mut self) -> u64 {
        self.random.pop_front().unwrap_or(0)
    }
}

/// Returns the low 32 bits of a logged number.
fn truncated(logged: u64) -> u32 {
    u32::try_from(logged & u64::from(u32::MAX)).expect("32 bits")
}
