//! Converts the packet events of a time window to columns.

use bbrlab_sim::{Sim, TapEvent, TapKind};
use bbrlab_units::Time;

use crate::columns::Values;

/// The largest number of events that are recorded. An event takes 48 bytes, plus 30 bytes in
/// the columns.
pub(crate) const EVENTS_MAX: usize = 2_000_000;

/// The codes of the kinds of events. `PacketEvent` in `web/src/sim/protocol.ts` has the same codes.
const SEND: u8 = 0;
const ENQUEUE: u8 = 1;
const DROP: u8 = 2;
const MARK: u8 = 3;
const DEPARTURE: u8 = 4;
const ARRIVAL: u8 = 5;
const ACK: u8 = 6;

/// Ends the recording. Returns the events as columns, in the order of `PACKET_COLUMNS` in
/// `web/src/sim/module.ts`, and the time at which the recording was full (`None` if it never was).
/// Omits events at links that the results omit, because such links only delay packets.
pub(crate) fn columns(sim: &mut Sim) -> (Vec<Values>, Option<Time>) {
    let (mut events, full_at) = sim.close_tap();
    let links: Vec<u32> = sim.links().map(|(number, _)| number).collect();
    let most = links.iter().max().map_or(0, |&most| most as usize + 1);
    let mut places = vec![None; most];
    for (place, number) in (0u32..).zip(links) {
        places[number as usize] = Some(place);
    }
    let place = |event: &TapEvent| match event.link {
        None => Some(0),
        Some(link) => places.get(link.0 as usize).copied().flatten(),
    };
    events.retain(|event| place(event).is_some());
    // Sort the events by time. The events were recorded in the order of execution, which is not the
    // order of time if the scenario gives the clocks steps (`clock_step`).
    events.sort_by_key(|event| event.at);
    let u32s = |of: fn(&TapEvent) -> u32| Values::U32(events.iter().map(of).collect());
    let columns = vec![
        Values::F64(events.iter().map(|event| event.at.as_secs_f64()).collect()),
        Values::U8(events.iter().map(kind).collect()),
        Values::U32(events.iter().map(|event| place(event).unwrap_or_default()).collect()),
        u32s(|event| event.flow),
        Values::U8(events.iter().map(|event| u8::from(event.is_reverse)).collect()),
        u32s(|event| event.sequence),
        u32s(|event| event.wire_bytes),
        u32s(|event| event.number),
    ];
    (columns, full_at)
}

fn kind(event: &TapEvent) -> u8 {
    match event.kind {
        TapKind::Send => SEND,
        TapKind::Enqueue => ENQUEUE,
        TapKind::Drop => DROP,
        TapKind::Mark => MARK,
        TapKind::Departure => DEPARTURE,
        TapKind::Arrival if event.is_reverse => ACK,
        TapKind::Arrival => ARRIVAL,
    }
}
