//! Converts the keys of a scenario to links, classes and flows.

use bbrlab_units::{SPLIT_MIX_STEP, Span, Time, split_mix_bits};

use crate::keys::link::{GrantSpec, LinkSpec, LossSpec, ReorderSpec, SlotSpec};
use crate::keys::model::Path;
use crate::keys::spec::Spec;
use crate::language::decimal::Decimal;
use crate::language::quantity::show_span;
use crate::language::reader::{Placed, Reader};
use crate::lowering::buffer::{BufferSpec, Measure};
use crate::lowering::room::{Crossing, frame_bursts, has_room, have_room};
use crate::lowering::route::{LinkHops, Router};
use bbrlab_link::{Buffer, DelaySteps, Link, Loss, Policer, Probability, Queue, Rate, Reorder};
use bbrlab_run::{Flow, FlowClass, Hop};

/// The largest number of links. The engine's event keys have 24 bits for the number of a flow or
/// link.
const LINK_NUMBERS: u64 = 1 << 24;

/// The links of a run, and its classes of flows, one for each `[[flows]]` table. Only links with a
/// path model (key `trace`) depend on the run's seed.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub(crate) links: Vec<Link>,
    /// The table of the scenario from which each link comes, such as `bottleneck` or `links[1]`.
    pub(crate) link_tables: Vec<String>,
    pub(crate) bottleneck: Option<u32>,
    pub(crate) classes: Vec<FlowClass>,
    /// Whether links have the highest rates and the shortest delays of their models, because no
    /// seed was given.
    pub(crate) is_bound: bool,
}

/// Builds the network of a run with this seed. Without a seed, links with a path model (key
/// `trace`) have the model's highest rate and shortest delay. If the scenario has mistakes, reports
/// them to the reader and returns `None`.
pub(crate) fn network(spec: &Spec, seed: Option<u64>, reader: &mut Reader<'_>) -> Option<Network> {
    let mut links: Vec<Link> = Vec::new();
    let mut link_tables: Vec<String> = Vec::new();
    let mut queues: Vec<Queued<'_>> = Vec::new();
    let mut link_hops: Vec<LinkHops<'_>> = Vec::new();
    let mut is_bound = false;
    for (name, table, link) in spec.named_links() {
        if link.model.is_some_and(|model| !model.suits(spec.duration, &table, reader)) {
            return None;
        }
        let path = link.model.map(|model| match seed {
            Some(seed) => model.path(spec.duration, seed, name),
            None => model.bound(),
        });
        is_bound |= path.is_some() && seed.is_none();
        link_hops.push(lower_link(spec, name, (&table, link), path, &mut links, &mut queues));
        link_tables.resize(links.len(), table);
    }
    let bottleneck = spec.bottleneck.as_ref().and_then(|_| match link_hops[0].forward[0] {
        Hop::Link(number) if links[number as usize].rate.is_limited() => Some(number),
        _ => None,
    });
    let mut nominal_rates: Vec<_> = links.iter().map(|link| link.rate.at_start()).collect();
    for Queued { number, buffer, .. } in &queues {
        nominal_rates[*number as usize] = buffer.nominal_rate;
    }
    let router = Router::new(spec, &link_hops, &links, &nominal_rates);
    let mut classes = Vec::with_capacity(spec.flows.len());
    for (index, flow) in spec.flows.iter().enumerate() {
        classes.push(router.class(index, flow, reader)?);
    }
    name_groups(&mut classes);
    let private: u64 = classes
        .iter()
        .zip(&spec.flows)
        .map(|(class, flow): (&FlowClass, _)| class.private_links.len() as u64 * flow.count)
        .sum();
    if links.len() as u64 + private > LINK_NUMBERS {
        let found = format!("found {}", links.len() as u64 + private);
        let title = format!(
            "expected at most {LINK_NUMBERS} links, counting the links of [access] once for each flow"
        );
        reader.problem(spec.access.at, title, found, Vec::new());
        return None;
    }
    let first = classes.first()?;
    let measure = Measure { base_rtt: first.base_rtt, mss: first.mss };
    let crossing = Crossing::new(&links, &classes, &spec.stack.stack);
    let mut is_right = frame_bursts(spec, &links, &classes, reader);
    let size = |buffer: &BufferSpec, link: &mut Link, largest, reader: &mut Reader<'_>| {
        let sized = measure.buffer(buffer, link, reader);
        let Some(sized) = sized.filter(|&sized| has_room(largest, sized, buffer, reader)) else {
            return false;
        };
        link.buffer = sized;
        true
    };
    for Queued { number, spec, buffer, police } in queues {
        let (link, largest) = (&mut links[number as usize], crossing.shared[number as usize]);
        is_right &= size(&buffer, link, largest, reader);
        is_right &= have_room(largest, link, police, (&buffer.table, spec), reader);
        if let Queue::Red(red) = &mut link.queue {
            red.bandwidth = red.bandwidth.or(buffer.nominal_rate);
        }
    }
    let access = BufferSpec::of_access(&spec.access);
    for (class, largest) in classes.iter_mut().zip(&crossing.private) {
        for (link, &largest) in class.private_links.iter_mut().zip(largest) {
            is_right &= size(&access, link, largest, reader);
        }
    }
    is_right.then_some(Network { links, link_tables, bottleneck, classes, is_bound })
}

/// Names the group of each class without a `group`. The name is the base RTT of the class if all
/// classes have the same congestion control but not the same base RTT. Otherwise the name is the
/// name of the class's congestion control.
fn name_groups(classes: &mut [FlowClass]) {
    let is_same =
        |key: fn(&FlowClass) -> Span| classes.windows(2).all(|two| key(&two[0]) == key(&two[1]));
    let by_rtt = classes.windows(2).all(|two| two[0].cc_name() == two[1].cc_name())
        && !is_same(|class| class.base_rtt);
    for class in classes.iter_mut().filter(|class| class.group.is_empty()) {
        class.group = if by_rtt { show_span(class.base_rtt) } else { class.cc_name().to_owned() };
    }
}

/// Returns the flows of a run with their start times.
pub(crate) fn flows(spec: &Spec, seed: u64) -> Vec<Flow> {
    let mut jitter = Jitter::new(seed);
    let mut flows =
        Vec::with_capacity(usize::try_from(spec.flow_count()).expect("bounded by FLOWS_MAX"));
    for (class, flow) in spec.flows.iter().enumerate() {
        let class = u32::try_from(class).expect("bounded by FLOWS_MAX");
        for k in 0..flow.count {
            let number = flows.len() as u64;
            let step = Span(flow.start_step.0.saturating_mul(k));
            // All connections of a browser get the jitter of the first one, because they start with
            // the browser.
            let number = if flow.source.is_page() { number - k } else { number };
            let start = Time::ZERO + flow.start + step + jitter.below(number, flow.start_jitter);
            let stop = flow.stop.map(|stop| Time::ZERO + stop);
            flows.push(Flow { class, start, stop });
        }
    }
    flows
}

/// The random generator of start jitter, seeded with the run's seed and the name `start_jitter`. A
/// flow's draw depends only on the seed and the flow's number, not on other draws. The generator is
/// `SplitMix64`.
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

    /// Returns the random delay of the start of the flow with number `flow`, uniform in [0,
    /// `bound`).
    fn below(&mut self, flow: u64, bound: Span) -> Span {
        let state = self.state.wrapping_add((flow + 1).wrapping_mul(SPLIT_MIX_STEP));
        let scaled = (u128::from(split_mix_bits(state)) * u128::from(bound.0)) >> 64;
        Span(u64::try_from(scaled).expect("below the bound"))
    }
}

/// The events for which the packets of one direction wait after a queue: `netem`'s slots (`slot`),
/// or grants, which permit sending (`grant`). At most one of the two fields is set.
struct Waits {
    slot: Option<SlotSpec>,
    grant: Option<GrantSpec>,
}

/// A link whose queue size is not yet known.
struct Queued<'s> {
    number: u32,
    spec: &'s LinkSpec,
    buffer: BufferSpec,
    /// The policer in front of the queue, with the name of the key that sets its bucket.
    police: Option<(&'static str, Placed<Policer>)>,
}

/// Converts the link of one table to the links of both directions. `table` is the name of the
/// table, as scenarios write it.
fn lower_link<'s>(
    whole: &Spec,
    name: &'s str,
    (table, spec): (&str, &'s LinkSpec),
    path: Option<Path>,
    links: &mut Vec<Link>,
    queues: &mut Vec<Queued<'s>>,
) -> LinkHops<'s> {
    let (duration, is_on_return_path) = (whole.duration, whole.is_on_return_path(name));
    let number = |links: &[Link]| u32::try_from(links.len()).expect("bounded by LINKS_MAX");
    let first = number(links);
    let mut plain = spec.link.clone();
    if let Some(path) = path {
        plain.rate = path.rate;
        plain.delay_steps = Some(DelaySteps { steps: path.delay, keep_order: spec.keep_order });
    } else if let Some(changes) = &mut plain.delay_steps {
        changes.keep_order = spec.keep_order;
    }
    let (plain, delay) = (&plain, plain.delay);
    // If a direction has slots (key `slot`) or grants (key `grant`), a separate link models the
    // wait for them. If the link's delay (key `delay`) is constant, this separate link also models
    // that delay: before the wait for a slot, or after the wait for a grant.
    let mut direction = |link: Link, (buffer, police), waits: Waits, acks: u32| {
        let alters = link.police.is_some()
            || link.loss.is_some()
            || link.jitter.is_some()
            || link.random_delay.is_some()
            || link.duplicate > Probability::ZERO
            || link.corrupt > Probability::ZERO
            || link.reorder.is_some()
            || link.ack_thinning.is_some()
            || link.delay_steps.is_some();
        let is_inside =
            (waits.slot.is_some() || waits.grant.is_some()) && link.delay_steps.is_none();
        let (own, behind) = if is_inside { (Span::ZERO, delay) } else { (delay, Span::ZERO) };
        let slots = waits.slot.map(|slot| slot.link(format!("{}.slots", link.name), behind));
        let grants = waits.grant.map(|grant| grant.link(format!("{}.grants", link.name), behind));
        let waits = slots.or(grants);
        let mut hops = Vec::new();
        if acks > 1 {
            let thinning = format!("{}.thinning", link.name);
            let thinning = Link::new(thinning, Rate::Unlimited, Buffer::Unlimited);
            hops.push(Hop::Link(number(links)));
            links.push(Link { ack_thinning: Some(acks), ..thinning });
        }
        if link.rate.is_limited() || alters {
            hops.push(Hop::Link(number(links)));
            queues.push(Queued { number: number(links), spec, buffer, police });
            links.push(Link { delay: own, ..link });
        } else if waits.is_none() {
            hops.push(Hop::Delay(delay));
        }
        if let Some(waits) = waits {
            hops.push(Hop::Link(number(links)));
            links.push(waits);
        }
        hops
    };
    let reordering = |spec: ReorderSpec| Reorder { ratio: probability(spec.ratio), by: spec.by };
    // The medium gets the number of the forward link, which is unique.
    let airtime = spec.airtime.map(|airtime| airtime.of(first));
    let mut link = Link {
        name: name.to_owned(),
        duplicate: probability(spec.duplicate),
        corrupt: probability(spec.corrupt),
        airtime,
        queue: spec.queue.queue,
        loss: lower_loss(&spec.loss),
        burst: spec.burst.map(|burst| burst.value),
        police: spec.police.map(|police| police.value),
        peak_rate: spec.peak_rate.map(|peak| peak.of(plain)),
        reorder: spec.reorder.map(reordering),
        ack_thinning: (is_on_return_path && spec.ack_thinning > 1).then_some(spec.ack_thinning),
        ..plain.clone()
    };
    if let Some(jitter) = &spec.jitter {
        jitter.lower(&mut link);
    }
    let waits = Waits { slot: spec.slot, grant: spec.grant };
    let forward = {
        let buffer = BufferSpec::of_link(spec, table, spec.nominal_rate(&plain.rate, duration));
        let police = spec.police.map(|police| ("police.burst", police));
        direction(link, (buffer, police), waits, 1)
    };
    let reverse_rate = spec.reverse_rate.rate(&plain.rate);
    let mut link = Link {
        airtime,
        duplicate: probability(spec.reverse_duplicate),
        corrupt: probability(spec.reverse_corrupt),
        queue: spec.reverse_queue.unwrap_or(spec.queue).queue,
        rate_change: plain.rate_change,
        framing: plain.framing,
        delay_steps: plain.delay_steps.clone(),
        loss: lower_loss(&spec.reverse_loss),
        loss_at: plain.loss_at,
        reorder: spec.reverse_reorder.map(reordering),
        police: spec.reverse_police.map(|police| police.value),
        ..Link::new(format!("{name}.reverse"), reverse_rate.clone(), Buffer::Unlimited)
    };
    if let Some(jitter) = &spec.reverse_jitter {
        jitter.lower(&mut link);
    }
    let waits = Waits { slot: spec.reverse_slot, grant: spec.reverse_grant };
    let reverse = {
        let rate = spec.nominal_rate(reverse_rate, duration);
        let buffer = BufferSpec::of_reverse(spec, table, rate);
        let police = spec.reverse_police.map(|police| ("reverse_police.burst", police));
        direction(link, (buffer, police), waits, spec.ack_thinning)
    };
    LinkHops { name, forward, reverse, delay }
}

fn lower_loss(spec: &LossSpec) -> Option<Loss> {
    match spec {
        LossSpec::Bernoulli(ratio) if ratio.is_zero() => None,
        LossSpec::Bernoulli(ratio) => Some(Loss::Bernoulli(probability(*ratio))),
        LossSpec::Steps(steps) => {
            Some(Loss::Steps(steps.iter().map(|&(at, ratio)| (at, probability(ratio))).collect()))
        }
        &LossSpec::InTime { good, bad, loss_bad, loss_good } => Some(Loss::InTime {
            good,
            bad,
            loss_good: probability(loss_good),
            loss_bad: probability(loss_bad),
        }),
        &LossSpec::GilbertElliott { p, r, loss_bad, loss_good } => Some(Loss::GilbertElliott {
            to_bad: probability(p),
            to_good: probability(r),
            loss_good: probability(loss_good),
            loss_bad: probability(loss_bad),
        }),
    }
}

/// Rounds a ratio to the nearest multiple of 2^-32.
fn probability(ratio: Decimal) -> Probability {
    Probability(ratio.times_over_rounded(1 << 32, 1).expect("a ratio is at most one"))
}
