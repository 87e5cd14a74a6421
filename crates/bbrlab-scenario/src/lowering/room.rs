//! Checks that the largest packet that crosses a link fits into the link's buffer and token
//! buckets, if their sizes are in bytes. A link would always drop a packet that does not fit, and
//! the flow would stall without a message.
//!
//! A packet's size on a link depends on the flow's payload and on the link's framing, so this check
//! follows the routes of the flows. With `tso = "whole"`, bursts are larger than a packet. This
//! check ignores bursts, because their size varies during the run.

use bbrlab_link::{Buffer, Link, Policer};
use bbrlab_run::{Distribution, FlowClass, Hop, Source, framing, headers};
use bbrlab_stack::{Stack, Tso};
use bbrlab_units::Bytes;

use crate::keys::link::{HEADERS, LinkSpec};
use crate::keys::spec::Spec;
use crate::language::reader::{Placed, Reader};
use crate::lowering::buffer::BufferSpec;
use crate::lowering::route::links_on;

/// The largest packets of a class, in bytes without framing.
struct Largest {
    data: u64,
    /// Bytes of the largest ACK; `None` for UDP flows, which have no ACKs.
    ack: Option<u64>,
}

impl Largest {
    fn of(class: &FlowClass, stack: &Stack) -> Self {
        if class.is_udp {
            return Self { data: u64::from(class.mss + headers::UDP), ack: None };
        }
        let options = stack.socket.tcp_options;
        let syn = u64::from(headers::syn(options));
        let sack = u64::from(headers::with_blocks(true, 3, options));
        Self {
            data: (largest_payload(class) + HEADERS).max(syn),
            ack: Some(if stack.sack { sack } else { syn }),
        }
    }
}

fn largest_payload(class: &FlowClass) -> u64 {
    let of_source = match &class.source {
        Source::Bytes(bytes) | Source::Train { bytes, .. } => bytes.0,
        Source::Arrivals(arrivals) => match arrivals.size.distribution {
            Distribution::Constant => arrivals.size.mean,
            _ => arrivals.size.max,
        },
        _ => u64::MAX,
    };
    of_source.min(class.mss.into())
}

/// The largest packet that crosses each link, in bytes on the wire; 0 if no packet does.
pub(crate) struct Crossing {
    pub(crate) shared: Vec<u64>,
    /// The largest packet on each private link, by class and number of the link.
    pub(crate) private: Vec<Vec<u64>>,
}

impl Crossing {
    pub(crate) fn new(links: &[Link], classes: &[FlowClass], stack: &Stack) -> Self {
        let mut shared = vec![0; links.len()];
        let mut private = Vec::with_capacity(classes.len());
        for class in classes {
            let Largest { data, ack } = Largest::of(class, stack);
            let mut own = vec![0; class.private_links.len()];
            for (way, largest) in [(&class.forward, Some(data)), (&class.reverse, ack)] {
                let Some(largest) = largest else { continue };
                let mut around = framing(links_on(way, links, &class.private_links));
                for hop in way {
                    let link = hop.link(links, &class.private_links);
                    around = link.and_then(Link::frames).unwrap_or(around);
                    let known: &mut u64 = match *hop {
                        Hop::Delay(_) => continue,
                        Hop::Link(number) => &mut shared[number as usize],
                        Hop::Private(number) => &mut own[number as usize],
                    };
                    *known = (largest + around.0).max(*known);
                }
            }
            private.push(own);
        }
        Self { shared, private }
    }
}

/// With `tso = "whole"`, returns whether all links that a connection's data crosses have the same
/// framing; reports a mistake if the framings differ. With `tso = "whole"`, a burst crosses the
/// network as one packet: where the framing changes, the network would add the difference once, not
/// once per packet of the burst. Returns true for other values of `tso`.
pub(crate) fn frame_bursts(
    spec: &Spec,
    links: &[Link],
    classes: &[FlowClass],
    reader: &mut Reader<'_>,
) -> bool {
    if spec.stack.stack.tso != Tso::Whole {
        return true;
    }
    let mut is_right = true;
    for (index, (class, flow)) in classes.iter().zip(&spec.flows).enumerate() {
        let mut sizes: Vec<u64> = links_on(&class.forward, links, &class.private_links)
            .filter_map(|link| Some(link.frames()?.0))
            .collect();
        sizes.dedup();
        if sizes.len() > 1 && !class.is_udp {
            is_right = false;
            let title = format!(
                "`flows[{index}]`: expected links with one `framing` for `tso = \"whole\"`"
            );
            let sizes: Vec<String> = sizes.iter().map(|bytes| format!("{bytes} B")).collect();
            reader.problem(flow.at, title, format!("found {}", sizes.join(", ")), Vec::new());
        }
    }
    is_right
}

fn on_the_wire(largest: u64) -> String {
    format!("the largest packet that crosses the link has {largest} B on the wire")
}

/// Returns whether a packet of `largest` bytes fits into a buffer. Reports a mistake if the packet
/// does not fit.
pub(crate) fn has_room(
    largest: u64,
    buffer: Buffer,
    spec: &BufferSpec,
    reader: &mut Reader<'_>,
) -> bool {
    let Buffer::Bytes(bytes) = buffer else { return true };
    if bytes.0 < largest {
        let but = format!("{}; {}", spec.in_bytes(bytes), on_the_wire(largest));
        spec.refuse(reader, "a buffer in which the largest packet fits", &but);
    }
    bytes.0 >= largest
}

/// Returns whether a packet of `largest` bytes fits into the token buckets of a link. Reports a
/// mistake if the packet does not fit. `table` is the name of the link's table in the scenario;
/// `police` is the policer in front of `link`, with the name of the key that sets its bucket.
pub(crate) fn have_room(
    largest: u64,
    link: &Link,
    police: Option<(&'static str, Placed<Policer>)>,
    (table, spec): (&str, &LinkSpec),
    reader: &mut Reader<'_>,
) -> bool {
    let burst = spec.burst.filter(|_| link.burst.is_some());
    let peak = spec.peak_rate.zip(link.peak_rate);
    let buckets = [
        police.map(|(key, police)| (key, police.at, police.value.burst)),
        burst.map(|burst| ("burst", burst.at, burst.value)),
        peak.map(|(spec, built)| (spec.key(), spec.mtu_at(), built.mtu)),
    ];
    let mut fit = true;
    for (key, at, Bytes(bytes)) in buckets.into_iter().flatten() {
        if bytes < largest {
            fit = false;
            let title =
                format!("`{table}.{key}`: expected a bucket in which the largest packet fits");
            let default = if key == "peak_rate" { "the default of " } else { "" };
            let found = format!("found {default}\"{bytes}B\"; {}", on_the_wire(largest));
            reader.problem(at, title, found, Vec::new());
        }
    }
    fit
}
