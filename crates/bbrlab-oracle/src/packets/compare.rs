//! Compares the packets that our stack sent with the packets that Linux sent.
//!
//! The two lists of packets are in order of time. After a difference, the comparison resumes at the
//! nearest pair of equal packets. One missing packet therefore counts as one difference, and does
//! not make the packets after it differ.

use bbrlab_tcp::Segment;
use bbrlab_units::Time;

use super::report::FirstMismatch;
use super::row::{flags_text, sack_text};

/// Two packets with equal fields count as equal if their times differ by at most this number of
/// nanoseconds.
const TIME_TOLERANCE_NS: u64 = 1_000;
/// After a difference, the comparison looks for equal packets among this many packets of each list.
const LOOK_AHEAD: usize = 64;

/// A packet with the time at which it was sent.
pub(super) type Sent = (Time, Segment);

/// The result of a comparison: the number of packets that differ, and the first difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) mismatches: u64,
    pub(super) first: Option<FirstMismatch>,
}

/// Returns the first field in which two packets differ: its name, the expected value and our value.
fn difference(expected: &Sent, got: &Sent) -> Option<(&'static str, String, String)> {
    let (time_e, e) = expected;
    let (time_g, g) = got;
    let number = |field, e: u32, g: u32| (e != g).then(|| (field, e.to_string(), g.to_string()));
    if e.flags != g.flags {
        return Some(("flags", flags_text(e.flags), flags_text(g.flags)));
    }
    number("seq", e.seq, g.seq)
        .or_else(|| number("len", e.len, g.len))
        .or_else(|| number("ack", e.ack, g.ack))
        .or_else(|| number("wnd", e.wnd, g.wnd))
        .or_else(|| {
            (e.sack_blocks() != g.sack_blocks()).then(|| ("sack", sack_text(e), sack_text(g)))
        })
        .or_else(|| {
            let text = |s: &Segment| if s.has_ts { "present" } else { "absent" }.to_owned();
            (e.has_ts != g.has_ts).then(|| ("timestamps", text(e), text(g)))
        })
        .or_else(|| number("tsval", e.tsval, g.tsval))
        .or_else(|| number("tsecr", e.tsecr, g.tsecr))
        .or_else(|| number("ecn", e.ecn as u32, g.ecn as u32))
        .or_else(|| {
            (time_e.0.abs_diff(time_g.0) > TIME_TOLERANCE_NS)
                .then(|| ("time_ns", time_e.0.to_string(), time_g.0.to_string()))
        })
}

/// Describes a packet in one line of text for users.
pub(super) fn describe(segment: &Segment) -> String {
    let sack = sack_text(segment);
    format!(
        "{} seq {} len {} ack {} wnd {}{}{}",
        flags_text(segment.flags),
        segment.seq,
        segment.len,
        segment.ack,
        segment.wnd,
        if sack.is_empty() { "" } else { " sack " },
        sack
    )
}

/// Compares the packets that Linux sent with the packets that our stack sent.
pub(super) fn compare(expected: &[Sent], got: &[Sent]) -> Comparison {
    let mut result = Comparison::default();
    let (mut i, mut j) = (0, 0);
    let same = |i: usize, j: usize| match (expected.get(i), got.get(j)) {
        (Some(e), Some(g)) => difference(e, g).is_none(),
        _ => false,
    };
    let nothing = || "nothing".to_owned();
    while i < expected.len() || j < got.len() {
        let note = |first: &mut Option<FirstMismatch>, at: Time, field, expected, got| {
            first.get_or_insert(FirstMismatch { time_ns: at.0, field, expected, got });
        };
        match (expected.get(i), got.get(j)) {
            (Some(e), None) => {
                note(&mut result.first, e.0, "missing", describe(&e.1), nothing());
                result.mismatches += 1;
                i += 1;
            }
            (None, Some(g)) => {
                note(&mut result.first, g.0, "additional", nothing(), describe(&g.1));
                result.mismatches += 1;
                j += 1;
            }
            (Some(e), Some(g)) => {
                let Some((field, left, right)) = difference(e, g) else {
                    i += 1;
                    j += 1;
                    continue;
                };
                let step = (1..=LOOK_AHEAD).find_map(|ahead| {
                    [(ahead, ahead), (ahead, 0), (0, ahead)]
                        .into_iter()
                        .find(|&(di, dj)| same(i + di, j + dj))
                });
                let (di, dj) = step.unwrap_or((1, 1));
                match (di, dj) {
                    (_, 0) => note(&mut result.first, e.0, "missing", describe(&e.1), nothing()),
                    (0, _) => note(&mut result.first, g.0, "additional", nothing(), describe(&g.1)),
                    _ => note(&mut result.first, e.0, field, left, right),
                }
                result.mismatches += di.max(dj) as u64;
                i += di;
                j += dj;
            }
            (None, None) => unreachable!("the loop has ended if both lists have ended"),
        }
    }
    result
}
