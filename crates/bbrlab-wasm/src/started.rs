//! Describes the flows, links and paths of a run, for the lab's page, which draws them.

use bbrlab_link::{Buffer, Link, Rate};
use bbrlab_run::{FlowClass, Hop, Run, Sample, SweepPoint};
use bbrlab_scenario::queue_to_toml;
use bbrlab_sim::Sim;
use bbrlab_units::Time;
use serde::Serialize;

/// The largest number of flows that are described individually.
const FLOWS_MAX: usize = 10_000;

const MS_PER_S: f64 = 1e3;

/// The description of a run that has begun.
#[derive(Debug, Serialize)]
pub(crate) struct Started {
    seed: u64,
    point: SweepPoint,
    duration_s: f64,
    period_s: Option<f64>,
    flows: Vec<FlowInfo>,
    flows_total: usize,
    links: Vec<LinkInfo>,
}

#[derive(Debug, Serialize)]
struct FlowInfo {
    id: usize,
    group: String,
    cc: String,
    start_s: f64,
    rtt_base_ms: f64,
    data: Vec<HopInfo>,
    data_last_ms: f64,
    acks: Vec<HopInfo>,
    acks_last_ms: f64,
}

#[derive(Debug, Serialize)]
struct HopInfo {
    link: usize,
    after_ms: f64,
}

#[derive(Debug, Serialize)]
struct LinkInfo {
    name: String,
    has_rate: bool,
    rate_mbps: Option<f64>,
    buffer_bytes: Option<u64>,
    buffer_packets: Option<u64>,
    discipline: String,
}

impl Started {
    pub(crate) fn of(run: &Run, sim: &Sim) -> Self {
        let links: Vec<(u32, &str)> = sim.links().collect();
        let place = |number: u32| links.iter().position(|&(link, _)| link == number);
        let flows = run.flows.iter().zip(run.private_link_numbers()).take(FLOWS_MAX).enumerate();
        let flows = flows.map(|(id, (flow, first_private))| {
            let class = &run.classes[flow.class as usize];
            let (data, data_last_ms) = way(run, class, &class.forward, first_private, place);
            let (acks, acks_last_ms) = way(run, class, &class.reverse, first_private, place);
            let delays = [&class.forward, &class.reverse].map(|route| delay_ms(run, class, route));
            FlowInfo {
                id,
                group: class.group.clone(),
                cc: class.cc_name().to_owned(),
                start_s: flow.start.as_secs_f64(),
                rtt_base_ms: delays[0] + delays[1],
                data,
                data_last_ms,
                acks,
                acks_last_ms,
            }
        });
        Self {
            seed: run.seed,
            point: run.point.clone(),
            duration_s: run.duration.as_secs_f64(),
            period_s: match run.sample {
                Sample::Every(period) => Some(period.as_secs_f64()),
                Sample::Ack | Sample::Off => None,
            },
            flows: flows.collect(),
            flows_total: run.flows.len(),
            links: links.iter().map(|&(number, name)| link_info(run, number, name)).collect(),
        }
    }
}

/// Returns the links of a route that are in the results, each with the delay in ms from the
/// previous of these links to this link. The delay of the first link is from the start of the
/// route. Also returns the delay in ms after the last of these links. A link that is not in the
/// results only adds its delay.
fn way(
    run: &Run,
    class: &FlowClass,
    route: &[Hop],
    first_private: u32,
    place: impl Fn(u32) -> Option<usize>,
) -> (Vec<HopInfo>, f64) {
    let (mut hops, mut after_ms) = (Vec::new(), 0.0);
    for &hop in route {
        let number = match hop {
            Hop::Delay(_) => None,
            Hop::Link(number) => Some(number),
            Hop::Private(number) => Some(first_private + number),
        };
        if let Some(link) = number.and_then(&place) {
            hops.push(HopInfo { link, after_ms });
            after_ms = 0.0;
        }
        after_ms += hop_ms(run, class, hop);
    }
    (hops, after_ms)
}

fn delay_ms(run: &Run, class: &FlowClass, route: &[Hop]) -> f64 {
    route.iter().map(|&hop| hop_ms(run, class, hop)).sum()
}

/// Returns the propagation delay of a hop at the start of the run, in ms.
fn hop_ms(run: &Run, class: &FlowClass, hop: Hop) -> f64 {
    let delay = match hop {
        Hop::Delay(delay) => Some(delay),
        Hop::Link(_) | Hop::Private(_) => {
            run.link_at(class, hop).map(|link| link.propagation(Time::ZERO))
        }
    };
    delay.map_or(0.0, |delay| delay.as_secs_f64() * MS_PER_S)
}

fn link_info(run: &Run, number: u32, name: &str) -> LinkInfo {
    let link = link_of(run, number);
    let rate = link.and_then(|link| match &link.rate {
        Rate::Trace(_) => None,
        rate => rate.at_start(),
    });
    #[expect(clippy::cast_precision_loss, reason = "the rate is only shown to users")]
    let rate_mbps = rate.map(|rate| rate.0 as f64 / 1e6);
    let buffer = link.map(|link| link.buffer);
    LinkInfo {
        name: name.to_owned(),
        has_rate: link.is_some_and(|link| link.rate.is_limited()),
        rate_mbps,
        buffer_bytes: match buffer {
            Some(Buffer::Bytes(bytes)) => Some(bytes.0),
            _ => None,
        },
        buffer_packets: match buffer {
            Some(Buffer::Packets(packets)) => Some(packets.0),
            _ => None,
        },
        discipline: link.map_or_else(String::new, discipline),
    }
}

/// Returns the link with this number; `None` if the run has no such link. The shared links come
/// first, then the private links of each flow.
fn link_of(run: &Run, number: u32) -> Option<&Link> {
    if let Some(shared) = run.links.get(number as usize) {
        return Some(shared);
    }
    let classes = run.flows.iter().map(|flow| &run.classes[flow.class as usize]);
    classes.zip(run.private_link_numbers()).find_map(|(class, first)| {
        let own = number.checked_sub(first)?;
        class.private_links.get(own as usize)
    })
}

/// Returns the name of a link's queue discipline, which is the first string in the TOML value of
/// the link's key `queue`.
fn discipline(link: &Link) -> String {
    let toml = queue_to_toml(&link.queue, Buffer::Unlimited);
    toml.split('"').nth(1).unwrap_or_default().to_owned()
}
