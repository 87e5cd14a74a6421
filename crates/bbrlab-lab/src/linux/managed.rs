//! The links of a point with a queue discipline, a policer, slots or two bottlenecks, whose settings are in the words of `tc`.
//!
//! The bottleneck is an exact serialiser with the discipline inside: the packet in service is not in the discipline, as at
//! our links. A policer stands in front of it. With two bottlenecks the discipline is in both; flow 0 passes both, flow 1
//! the first and flow 2 the second. With slots the delay of the data's way or of the ACKs' is that of a `netem` which opens in
//! slots; then the delays are the link's, not the flow's.

use std::fmt::Write as _;

use bbrlab_link::Queue;
use bbrlab_oracle::queues::{Child, police, qdisc, slot};
use bbrlab_scenario::queue_to_toml;
use bbrlab_units::Span;

use super::LinuxError;
use super::reference::{ReferencePoint, SECOND_RATE};

/// Settings of slots, and our keys for them.
const SLOTS: [(&str, &str); 2] = [("data_slot", "slot"), ("ack_slot", "reverse_slot")];

/// The links of the point; `None` if it has none of these settings.
pub(super) fn links(point: &ReferencePoint) -> Result<Option<String>, LinuxError> {
    let Some(words) = point.settings.get("qdisc") else { return Ok(None) };
    let wrong = |reason: String| LinuxError(format!("{}: {reason}", point.scenario));
    let Child::Queue { mut queue, limit } = qdisc(words).map_err(wrong)? else {
        return Err(wrong(format!("found {words:?}, expected a queue discipline")));
    };
    if let Queue::Red(red) = &mut queue {
        // `tc` from 5.7 on passes it in an attribute that the kernel does not look at before it starts the timer.
        red.adaptive = false;
    }
    let has_shaper = matches!(queue, Queue::Cake(cake) if cake.bandwidth.is_some());
    let queue = queue_to_toml(&queue, limit);
    let link = |rate: &str| {
        let rate = if has_shaper { String::new() } else { format!("rate = \"{rate}Mbit/s\"\n") };
        format!("{rate}queue = {queue}\n")
    };
    let first = link(&point.rate_mbps.to_string());
    if let Some(rate) = point.settings.get(SECOND_RATE) {
        return Ok(Some(format!(
            "[[links]]\nname = \"first\"\n{first}[[links]]\nname = \"second\"\n{}",
            link(rate)
        )));
    }
    let mut text = format!("[bottleneck]\n{first}");
    if let Some(words) = point.settings.get("police") {
        let Child::Police(policer) = police(words).map_err(wrong)? else {
            return Err(wrong(format!("found {words:?}, expected a policer")));
        };
        let (rate, burst) = (policer.rate.0, policer.burst.0);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "police = {{ rate = \"{rate}bit/s\", burst = \"{burst}B\" }}");
    }
    Ok(Some(text))
}

/// Whether the bottleneck drops packets before its buffer is full: a law of the discipline, or a policer.
pub(super) fn drops_early(point: &ReferencePoint) -> bool {
    let tail_drop = ["pfifo", "fq", "sfq"];
    let kind = |words: &String| words.split(' ').next().unwrap_or_default().to_owned();
    point.settings.contains_key("police")
        || point.settings.get("qdisc").is_some_and(|words| !tail_drop.contains(&&*kind(words)))
}

/// Whether data or ACKs wait for slots.
pub(super) fn has_slots(point: &ReferencePoint) -> bool {
    SLOTS.iter().any(|(setting, _)| point.settings.contains_key(*setting))
}

/// The slots of the bottleneck's ways, and the delay that they have inside.
pub(super) fn slots(point: &ReferencePoint, one_way_ms: f64) -> Result<String, LinuxError> {
    let mut text = String::new();
    if has_slots(point) {
        let _ = writeln!(text, "delay = \"{one_way_ms:.6}ms\"");
    }
    for (setting, key) in SLOTS {
        let Some(words) = point.settings.get(setting) else { continue };
        let wrong = |reason: String| LinuxError(format!("{}: {reason}", point.scenario));
        let Child::Queue { queue: Queue::Slots(params), .. } =
            slot(words, Span::ZERO).map_err(wrong)?
        else {
            unreachable!("slots are a queue");
        };
        let (min, max) = (params.min.0, params.max.0);
        let _ = writeln!(text, "{key} = {{ min_delay = \"{min}ns\", max_delay = \"{max}ns\" }}");
    }
    Ok(text)
}

/// The path of a flow, where there are two bottlenecks.
pub(super) fn path(point: &ReferencePoint, flow: usize) -> &'static str {
    if !point.settings.contains_key(SECOND_RATE) {
        return "";
    }
    match flow {
        0 => "path = [\"first\", \"second\"]\n",
        1 => "path = [\"first\"]\n",
        _ => "path = [\"second\"]\n",
    }
}
