//! From short forms to links and routes: the dumbbell, access links, `rtt`, `path`, `bdp`.

use std::collections::BTreeMap;
use std::sync::Arc;

use bbrlab_units::{BitRate, Bytes, Packets, Span, Time};

use crate::decimal::Decimal;
use crate::document::At;
use crate::flow::FlowSpec;
use crate::link::{AccessSpec, BufferUnit, LinkSpec, LossSpec};
use crate::nearest::nearest;
use crate::quantity::{Room, show_span};
use crate::reader::{Placed, Reader};
use crate::run::{
    Buffer, Flow, FlowClass, Hop, Link, Loss, LossAt, Probability, Queue, Rate, RateChange, Reorder,
};
use crate::spec::Spec;

/// IP, TCP and timestamps.
pub(crate) const HEADERS: u64 = 52;

/// Numbers of flows and links have 24 bits in an event's key.
const LINK_NUMBERS: u64 = 1 << 24;

/// So many names of links are told where one was misspelt.
const NAMES_SHOWN: usize = 20;

/// The largest buffer, in packets or bytes, that a `bdp` or a time may come to.
const BUFFER_MAX: u64 = 1 << 50;

/// What of a run does not depend on the seed.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub(crate) links: Vec<Link>,
    pub(crate) bottleneck: Option<u32>,
    pub(crate) classes: Vec<FlowClass>,
}

/// A link of the file as two ways.
struct Ways<'s> {
    name: &'s str,
    there: Hop,
    back: Hop,
    /// Propagation delay, there and back the same.
    delay: Span,
}

/// Builds the network; mistakes go to the reader.
pub(crate) fn network(spec: &Spec, reader: &mut Reader<'_>) -> Option<Network> {
    let mut links: Vec<Link> = Vec::new();
    let mut rooms: Vec<(u32, Rooms)> = Vec::new();
    let mut ways: Vec<Ways<'_>> = Vec::new();
    let dumbbell = spec.bottleneck.iter().map(|link| ("bottleneck", link));
    for (name, link) in dumbbell.chain(spec.links.iter().map(|(name, link)| (name.as_str(), link)))
    {
        ways.push(lower_link(name, link, &mut links, &mut rooms));
    }
    let bottleneck = spec.bottleneck.as_ref().and_then(|_| match ways[0].there {
        Hop::Link(number) if links[number as usize].rate.is_limited() => Some(number),
        _ => None,
    });
    let numbers = ways.iter().enumerate().map(|(number, way)| (way.name, number)).collect();
    let mut classes = Vec::with_capacity(spec.flows.len());
    for (index, flow) in spec.flows.iter().enumerate() {
        classes.push(lower_flow(spec, index, flow, &ways, &numbers, &links, reader)?);
    }
    let private: u64 = classes
        .iter()
        .zip(&spec.flows)
        .map(|(class, flow): (&FlowClass, _)| class.private_links.len() as u64 * flow.count)
        .sum();
    if links.len() as u64 + private > LINK_NUMBERS {
        let found = format!("found {}", links.len() as u64 + private);
        let title = format!(
            "expected at most {LINK_NUMBERS} links, those of [access] for each flow included"
        );
        reader.problem(spec.access.at, title, found, Vec::new());
        return None;
    }
    let first = classes.first()?;
    let measure = Measure { base_rtt: first.base_rtt, mss: first.mss };
    for (number, rooms) in rooms {
        let link = &mut links[number as usize];
        link.buffer = measure.buffer(&rooms, link, reader)?;
    }
    let access = Rooms::of_access(&spec.access);
    for class in &mut classes {
        for link in &mut class.private_links {
            link.buffer = measure.buffer(&access, link, reader)?;
        }
    }
    Some(Network { links, bottleneck, classes })
}

/// The flows with their start times.
pub(crate) fn flows(spec: &Spec, seed: u64) -> Vec<Flow> {
    let mut jitter = Jitter::new(seed);
    let mut flows =
        Vec::with_capacity(usize::try_from(spec.flow_count()).expect("bounded by FLOWS_MAX"));
    for (class, flow) in spec.flows.iter().enumerate() {
        let class = u32::try_from(class).expect("bounded by FLOWS_MAX");
        for k in 0..flow.count {
            let number = flows.len() as u64;
            let step = Span(flow.start_step.0.saturating_mul(k));
            let start = Time::ZERO + flow.start + step + jitter.below(number, flow.start_jitter);
            let stop = flow.stop.map(|stop| Time::ZERO + stop);
            flows.push(Flow { class, start, stop });
        }
    }
    flows
}

/// Start jitter: its own generator, from the run's seed and this consumer's name. Each flow draws by its
/// number, so that another flow's jitter does not shift it. The mixer is `SplitMix64`.
struct Jitter {
    state: u64,
}

impl Jitter {
    fn new(seed: u64) -> Self {
        use sha2::{Digest, Sha256};
        let digest = Sha256::digest(format!("bbrlab start_jitter {seed}").as_bytes());
        let head: [u8; 8] = digest[..8].try_into().expect("eight bytes");
        Self { state: u64::from_le_bytes(head) }
    }

    /// Uniform in [0, `bound`).
    fn below(&mut self, flow: u64, bound: Span) -> Span {
        let mut z = self.state.wrapping_add((flow + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        let scaled = (u128::from(z) * u128::from(bound.0)) >> 64;
        Span(u64::try_from(scaled).expect("below the bound"))
    }
}

fn lower_link<'s>(
    name: &'s str,
    spec: &LinkSpec,
    links: &mut Vec<Link>,
    rooms: &mut Vec<(u32, Rooms)>,
) -> Ways<'s> {
    let mut add = |link: Link, room: Rooms| {
        let number = u32::try_from(links.len()).expect("bounded by LINKS_MAX");
        links.push(link);
        rooms.push((number, room));
        Hop::Link(number)
    };
    let loss = lower_loss(spec.loss);
    let alters = loss != Loss::None || spec.jitter.is_some() || spec.reorder.is_some();
    let there = if spec.rate.is_limited() || alters {
        let link = Link {
            name: name.to_owned(),
            rate: spec.rate.clone(),
            delay: spec.delay,
            buffer: Buffer::Unlimited,
            queue: spec.queue,
            loss,
            loss_at: spec.loss_at,
            rate_change: spec.rate_change,
            jitter: spec.jitter,
            reorder: spec
                .reorder
                .map(|reorder| Reorder { ratio: probability(reorder.ratio), by: reorder.by }),
            framing: spec.framing,
            burst: spec.burst,
            ecn_threshold: spec.ecn_threshold,
        };
        add(link, Rooms::of_link(spec))
    } else {
        Hop::Delay(spec.delay)
    };
    let back = if spec.reverse_rate.is_limited() {
        let link = Link {
            queue: spec.queue,
            rate_change: spec.rate_change,
            framing: spec.framing,
            ..plain_link(format!("{name}.reverse"), spec.reverse_rate.clone(), spec.delay)
        };
        add(link, Rooms::of_reverse(spec))
    } else {
        Hop::Delay(spec.delay)
    };
    Ways { name, there, back, delay: spec.delay }
}

fn plain_link(name: String, rate: Rate, delay: Span) -> Link {
    Link {
        name,
        rate,
        delay,
        buffer: Buffer::Unlimited,
        queue: Queue::DropTail,
        loss: Loss::None,
        loss_at: LossAt::After,
        rate_change: RateChange::Follow,
        jitter: None,
        reorder: None,
        framing: Bytes(14),
        burst: None,
        ecn_threshold: None,
    }
}

fn lower_loss(spec: LossSpec) -> Loss {
    match spec {
        LossSpec::Bernoulli(ratio) if ratio.is_zero() => Loss::None,
        LossSpec::Bernoulli(ratio) => Loss::Bernoulli(probability(ratio)),
        LossSpec::GilbertElliott { p, r, loss_bad, loss_good } => Loss::GilbertElliott {
            to_bad: probability(p),
            to_good: probability(r),
            loss_good: probability(loss_good),
            loss_bad: probability(loss_bad),
        },
    }
}

/// The nearest multiple of 2^-32.
fn probability(ratio: Decimal) -> Probability {
    Probability(ratio.times_over_rounded(1 << 32, 1).expect("a ratio is at most one"))
}

/// A route in the making: neighbouring delays become one.
#[derive(Default)]
struct Route {
    hops: Vec<Hop>,
}

impl Route {
    fn push(&mut self, hop: Hop) {
        match (hop, self.hops.last_mut()) {
            (Hop::Delay(Span::ZERO), _) => {}
            (Hop::Delay(more), Some(Hop::Delay(delay))) => *delay = *delay + more,
            _ => self.hops.push(hop),
        }
    }
}

/// A side of the path, from the host to the first link that it shares.
struct Side<'w> {
    link: Option<&'w Ways<'w>>,
    delay: Span,
    rate: Option<Rate>,
}

fn lower_flow(
    spec: &Spec,
    index: usize,
    flow: &FlowSpec,
    ways: &[Ways<'_>],
    numbers: &BTreeMap<&str, usize>,
    links: &[Link],
    reader: &mut Reader<'_>,
) -> Option<FlowClass> {
    let way = |reader: &mut Reader<'_>, key: &str, name: &Placed<Arc<str>>| {
        let found = numbers.get(&*name.value).copied();
        if found.is_none() {
            let names: Vec<&str> = ways.iter().map(|way| way.name).collect();
            let mut help: Vec<String> = Vec::new();
            help.extend(
                nearest(&name.value, names.iter().copied())
                    .map(|name| format!("did you mean {name:?}?")),
            );
            let title = format!("`flows[{index}].{key}`: expected the name of a link");
            reader.problem(name.at, title, format!("found {:?}", name.value), help);
            let more = if names.len() > NAMES_SHOWN { " ..." } else { "" };
            let shown = names[..names.len().min(NAMES_SHOWN)].join(", ");
            let names = if names.is_empty() { "none".to_owned() } else { shown + more };
            reader.note(format!("links: {names}"));
        }
        found
    };
    // The shared links there, and their like back.
    let (core_there, core_back): (Vec<usize>, Vec<usize>) = if let Some(path) = &flow.path {
        let there: Option<Vec<usize>> = path.iter().map(|name| way(reader, "path", name)).collect();
        let back: Option<Vec<usize>> = flow
            .return_path
            .as_ref()
            .map(|path| path.iter().map(|name| way(reader, "return_path", name)).collect())
            .unwrap_or_else(|| there.as_ref().map(|there| there.iter().rev().copied().collect()));
        (there?, back?)
    } else if spec.bottleneck.is_some() {
        (vec![0], vec![0])
    } else {
        let title = format!("`flows[{index}]`: expected a [bottleneck], or a `path` of [[links]]");
        reader.problem(
            flow.at,
            title,
            "found neither: this flow has no way to its receiver",
            Vec::new(),
        );
        return None;
    };
    let mut side = |key: &str, name: Option<&Placed<Arc<str>>>, delay: Option<Placed<Span>>| {
        let link = match name {
            Some(name) => Some(way(reader, key, name)?),
            None => None,
        };
        let default = flow.path.is_none() && link.is_none();
        let access = if default { spec.access.delay } else { Span::ZERO };
        let rate = (default && spec.access.rate.is_limited()).then(|| spec.access.rate.clone());
        let delay = delay.map_or(access, |delay| delay.value);
        Some(Side { link: link.map(|link| &ways[link]), delay, rate })
    };
    let mut left = side("left_link", flow.left_link.as_ref(), flow.left_delay)?;
    let mut right = side("right_link", flow.right_link.as_ref(), flow.right_delay)?;
    // Up to three nanoseconds that do not divide by four end up in the last delay on the way back.
    let mut last = Span::ZERO;
    if let Some(rtt) = flow.rtt {
        let shared =
            [left.link, right.link].into_iter().flatten().map(|way| 2 * u128::from(way.delay.0));
        let core = core_there.iter().chain(&core_back).map(|&way| u128::from(ways[way].delay.0));
        let of_links: u128 = shared.chain(core).sum();
        let Some(rest) = u128::from(rtt.value.0).checked_sub(of_links) else {
            let of_links = show_span(Span(u64::try_from(of_links).unwrap_or(u64::MAX)));
            let title = format!(
                "`flows[{index}].rtt`: expected at least {of_links}, the delays of the links there and back"
            );
            let found =
                format!("found {}, which would need negative access delays", show_span(rtt.value));
            reader.problem(rtt.at, title, found, Vec::new());
            return None;
        };
        let rest = u64::try_from(rest).expect("at most the RTT");
        left.delay = Span(rest / 4);
        right.delay = Span(rest / 4);
        last = Span(rest % 4);
    }
    let mut private_links = Vec::new();
    let mut access = |route: &mut Route, name: &str, delay: Span, rate: &Option<Rate>| match rate {
        Some(rate) => {
            let number = u32::try_from(private_links.len()).expect("at most two");
            private_links.push(plain_link(name.to_owned(), rate.clone(), delay));
            route.push(Hop::Private(number));
        }
        None => route.push(Hop::Delay(delay)),
    };
    let mut there = Route::default();
    access(&mut there, "left", left.delay, &left.rate);
    left.link.into_iter().for_each(|way| there.push(way.there));
    core_there.iter().for_each(|&way| there.push(ways[way].there));
    right.link.into_iter().for_each(|way| there.push(way.there));
    access(&mut there, "right", right.delay, &right.rate);
    let mut back = Route::default();
    back.push(Hop::Delay(right.delay));
    right.link.into_iter().for_each(|way| back.push(way.back));
    // Given a way back of its own, the ACKs cross those links as data would.
    let own_way_back = flow.return_path.is_some();
    core_back
        .iter()
        .for_each(|&way| back.push(if own_way_back { ways[way].there } else { ways[way].back }));
    left.link.into_iter().for_each(|way| back.push(way.back));
    back.push(Hop::Delay(left.delay + last));

    let delay_of = |hop: &Hop| match *hop {
        Hop::Delay(delay) => delay,
        Hop::Link(number) => links[number as usize].delay,
        Hop::Private(number) => private_links[number as usize].delay,
    };
    let base_rtt = there
        .hops
        .iter()
        .chain(&back.hops)
        .map(delay_of)
        .fold(Span::ZERO, |sum, delay| sum + delay);
    let limited = there.hops.iter().chain(&back.hops).any(|hop| match *hop {
        Hop::Delay(_) => false,
        Hop::Link(number) => links[number as usize].rate.is_limited(),
        Hop::Private(_) => true,
    });
    if base_rtt == Span::ZERO && !limited {
        let title = format!("`flows[{index}]`: expected a rate or a delay on its way");
        reader.problem(
            flow.at,
            title,
            "found neither: it would send without end in no time",
            Vec::new(),
        );
        return None;
    }
    Some(FlowClass {
        cc: flow.cc,
        cc_params: flow.cc_params.clone(),
        mss: flow.mss.unwrap_or(spec.stack.mss),
        ecn: flow.ecn,
        source: flow.source,
        private_links,
        forward: there.hops,
        reverse: back.hops,
        base_rtt,
    })
}

/// A buffer as written, with what is needed to turn it into packets or bytes.
struct Rooms {
    at: At,
    room: Room,
    unit: Option<BufferUnit>,
    bdp_rtt: Option<Span>,
    device_queue: Option<Placed<u64>>,
}

/// Without a `buffer`, a link of the middle has one BDP, the textbook's rule.
const DEFAULT_BDP: u64 = 1;

impl Rooms {
    fn of_link(spec: &LinkSpec) -> Self {
        let default = Room::Bdp(Decimal::from_int(i128::from(DEFAULT_BDP)));
        let room = if spec.rate.is_limited() { default } else { Room::Unlimited };
        Self {
            at: spec.buffer.map_or(spec.at, |buffer| buffer.at),
            room: spec.buffer.map_or(room, |buffer| buffer.value),
            unit: spec.buffer_unit,
            bdp_rtt: spec.bdp_rtt,
            device_queue: spec.device_queue,
        }
    }

    fn of_reverse(spec: &LinkSpec) -> Self {
        let Some(reverse) = spec.reverse_buffer else {
            // `buffer`, or its default, at the reverse rate.
            let limited = LinkSpec { rate: spec.reverse_rate.clone(), ..spec.clone() };
            return Self::of_link(&limited);
        };
        Self { at: reverse.at, room: reverse.value, ..Self::of_link(spec) }
    }

    fn of_access(spec: &AccessSpec) -> Self {
        Self {
            at: spec.buffer.map_or(spec.at, |buffer| buffer.at),
            room: spec.buffer.map_or(Room::Unlimited, |buffer| buffer.value),
            unit: None,
            bdp_rtt: None,
            device_queue: None,
        }
    }
}

/// What a `bdp` and a packet are: the first flow decides.
struct Measure {
    base_rtt: Span,
    mss: u32,
}

impl Measure {
    fn buffer(&self, rooms: &Rooms, link: &Link, reader: &mut Reader<'_>) -> Option<Buffer> {
        let wire = u128::from(u64::from(self.mss) + HEADERS + link.framing.0);
        let rate = u128::from(link.rate.at_start().unwrap_or(BitRate(0)).0);
        // Bits times nanoseconds per second, over eight: bytes.
        let bytes_divisor = 8_000_000_000_u128;
        let in_bytes = rooms.unit == Some(BufferUnit::Bytes);
        let divisor = if in_bytes { bytes_divisor } else { bytes_divisor * wire };
        let too_large = |reader: &mut Reader<'_>| {
            let found = "found more than 2^50 packets or bytes";
            reader.problem(
                rooms.at,
                "expected a buffer that fits into a network",
                found,
                Vec::new(),
            );
        };
        let of_time = |span: Span, multiple: Decimal| {
            multiple.times_over_rounded(rate * u128::from(span.0), divisor).map(|size| size.max(1))
        };
        let size = match rooms.room {
            Room::Unlimited => return Some(Buffer::Unlimited),
            Room::Packets(packets) if in_bytes => u64::try_from(u128::from(packets) * wire).ok(),
            Room::Packets(packets) => Some(packets),
            Room::Bytes(bytes) if rooms.unit == Some(BufferUnit::Packets) => {
                u64::try_from((u128::from(bytes) + wire / 2) / wire)
                    .ok()
                    .map(|packets| packets.max(1))
            }
            Room::Bytes(bytes) => {
                return self.with_device_queue(rooms, Buffer::Bytes(Bytes(bytes)), reader);
            }
            Room::Time(span) => of_time(span, Decimal::from_int(1)),
            Room::Bdp(multiple) => {
                let rtt = rooms.bdp_rtt.unwrap_or(self.base_rtt);
                if rtt == Span::ZERO {
                    let title = "expected a `bdp_rtt`, or another unit than `bdp`";
                    let found = "found a buffer in BDP, but the first flow's base RTT is zero";
                    reader.problem(rooms.at, title, found, Vec::new());
                    return None;
                }
                of_time(rtt, multiple)
            }
        };
        let Some(size) = size.filter(|&size| size <= BUFFER_MAX) else {
            too_large(reader);
            return None;
        };
        let buffer =
            if in_bytes { Buffer::Bytes(Bytes(size)) } else { Buffer::Packets(Packets(size)) };
        self.with_device_queue(rooms, buffer, reader)
    }

    /// ns-3's device queue below the queue discipline: with flow control between them, drop-tail has the room
    /// of both.
    #[expect(clippy::unused_self, reason = "a step of `buffer`")]
    fn with_device_queue(
        &self,
        rooms: &Rooms,
        buffer: Buffer,
        reader: &mut Reader<'_>,
    ) -> Option<Buffer> {
        let Some(device) = rooms.device_queue else { return Some(buffer) };
        match buffer {
            Buffer::Packets(packets) => Some(Buffer::Packets(Packets(packets.0 + device.value))),
            _ => {
                let title = "`device_queue`: expected a buffer counted in packets beside it";
                let found = "found one counted in bytes: set `buffer_unit = \"pkt\"`";
                reader.problem(device.at, title, found, Vec::new());
                None
            }
        }
    }
}
