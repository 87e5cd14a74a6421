//! Converts settings in the syntax of `tc` (a queue discipline, a policer, `netem`'s slots) to
//! scenario keys.
//!
//! In the recorded Linux runs, the bottleneck is an exact serialiser after the queue discipline.
//! The packet in service is no longer in the discipline, as at our links. A policer precedes the
//! discipline. If there are two bottlenecks, both have the discipline. Flow 0 passes both
//! bottlenecks, flow 1 only the first and flow 2 only the second. Slots are settings of the `netem`
//! that delays data or ACKs. With slots, our scenario writes the delay as a link's delay, not as a
//! flow's.

use std::fmt::Write as _;

use bbrlab_link::Queue;
use bbrlab_oracle::queues::{Child, police, qdisc, slot};
use bbrlab_scenario::queue_to_toml;
use bbrlab_units::Span;

/// Returns the keys of a link with a queue discipline and, if there is one, of a policer in front
/// of the discipline.
pub(super) fn link(words: &str, rate_mbps: f64, policer: Option<&str>) -> Result<String, String> {
    let Child::Queue { mut queue, limit } = qdisc(words)? else {
        return Err(format!("found {words:?}, expected a queue discipline"));
    };
    if let Queue::Red(red) = &mut queue {
        // From version 5.7 on, `tc` passes `adaptive` in an attribute that the kernel does not
        // check when it decides whether to start the timer. RED therefore did not adapt in the
        // recorded Linux runs.
        red.adaptive = false;
    }
    let has_shaper = matches!(queue, Queue::Cake(cake) if cake.bandwidth.is_some());
    let mut text =
        if has_shaper { String::new() } else { format!("rate = \"{rate_mbps}Mbit/s\"\n") };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "queue = {}", queue_to_toml(&queue, limit));
    if let Some(words) = policer {
        let Child::Police(policer) = police(words)? else {
            return Err(format!("found {words:?}, expected a policer"));
        };
        let (rate, burst) = (policer.rate.0, policer.burst.0);
        let _ = writeln!(text, "police = {{ rate = \"{rate}bit/s\", burst = \"{burst}B\" }}");
    }
    Ok(text)
}

/// Returns the line that sets `key` to the `netem` slots that `words` describes; empty if `words`
/// is `None`.
pub(super) fn slot_key(key: &str, words: Option<&str>) -> Result<String, String> {
    let Some(words) = words else { return Ok(String::new()) };
    let Child::Queue { queue: Queue::Slots(params), .. } = slot(words, Span::ZERO)? else {
        unreachable!("`slot` returns a queue with slots");
    };
    let (min, max) = (params.min.0, params.max.0);
    let mut text = format!("{key} = {{ min_delay = \"{min}ns\", max_delay = \"{max}ns\"");
    // Writing to a string cannot fail.
    if let Some(packets) = params.packets {
        let _ = write!(text, ", packets = {}", packets.0);
    }
    if let Some(bytes) = params.bytes {
        let _ = write!(text, ", bytes = \"{}B\"", bytes.0);
    }
    Ok(text + " }\n")
}
