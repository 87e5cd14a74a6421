//! Refuses the parts of links that the kernel's queue disciplines do not support.

use bbrlab_link::{
    Buffer, EcnThreshold, Jitter, Link, Loss, Probability, Queue, RandomDelay, Rate, RateChange,
};
use bbrlab_run::Place;
use bbrlab_units::{Span, Time};

use super::super::network::{Served, is_served};
use crate::refused::Refusals;

pub(super) fn of_link(link: &Link, at: Place, is_shared: bool, all: &mut Refusals) {
    let Link {
        name: _,
        rate: _,
        rate_change: _,
        burst: _,
        peak_rate: _,
        airtime,
        delay: _,
        delay_steps,
        buffer: _,
        queue: _,
        police: _,
        ack_thinning,
        ecn_threshold: _,
        loss: _,
        loss_at: _,
        jitter: _,
        random_delay: _,
        duplicate: _,
        corrupt: _,
        reorder: _,
        framing: _,
    } = link;
    of_rate(link, at, all);
    of_burst(link, at, all);
    all.unless(airtime.is_none(), at, "airtime", "has no shared medium", Some("no `airtime`"));
    all.unless(
        delay_steps.as_ref().is_none_or(|it| !it.keep_order || !decreases(&it.steps)),
        at,
        "delay",
        "reorders packets when a delay becomes shorter",
        Some("`keep_order = false`"),
    );
    of_queue(link, at, is_shared, all);
    all.unless(
        ack_thinning.is_none(),
        at,
        "ack_thinning",
        "thins no ACKs",
        Some("no `ack_thinning`"),
    );
    of_marks(link, at, all);
    of_loss(link, at, is_shared, all);
    of_changing_delay(link, at, is_shared, all);
}

fn of_rate(link: &Link, at: Place, all: &mut Refusals) {
    let Link { rate, rate_change, burst, police, .. } = link;
    match rate {
        Rate::Trace(_) => all.no(at, "rate", "follows no traces", Some("a schedule of rates")),
        Rate::Schedule(steps) => {
            all.unless(steps.len() <= 1000, at, "rate", "changes a rate at most 1,000 times", None);
            let is_zero = steps.iter().any(|&(_, rate)| rate.0 == 0);
            all.unless(!is_zero, at, "rate", "has no rate of 0", Some("a low rate"));
            all.unless(
                burst.is_none(),
                at,
                "burst",
                "does not change the rate of a token bucket",
                Some("no `burst`"),
            );
            let served = Served { link: link.clone(), number: 0, owner: None, wire: 0 };
            all.unless(
                *rate_change == RateChange::Follow || !served.needs_serial(),
                at,
                "rate_change",
                "keeps computed departure times only at a drop-tail link with a buffer in packets",
                Some("`rate_change = \"follow\"`"),
            );
        }
        Rate::Constant(rate) => {
            all.unless(rate.0 >= 8, at, "rate", "has no rate below 8 bit/s", None);
        }
        Rate::Unlimited => {
            all.unless(
                police.is_none(),
                at,
                "police",
                "polices only links with a rate",
                Some("a rate"),
            );
            all.unless(burst.is_none(), at, "burst", "has a token bucket only with a rate", None);
        }
    }
}

fn of_burst(link: &Link, at: Place, all: &mut Refusals) {
    let Link { burst, peak_rate, queue, ecn_threshold, .. } = link;
    if burst.is_some() {
        let is_plain = matches!(queue, Queue::DropTail) && ecn_threshold.is_none();
        let is_packets = !matches!(link.buffer, Buffer::Bytes(_));
        all.unless(
            is_plain && is_packets,
            at,
            "burst",
            "has a token bucket only in front of a drop-tail queue whose limit is in packets",
            Some("no `burst`"),
        );
    } else {
        all.unless(peak_rate.is_none(), at, "peak_rate", "has a peak rate only with `burst`", None);
    }
}

fn of_queue(link: &Link, at: Place, is_shared: bool, all: &mut Refusals) {
    let queue = &link.queue;
    let is_slots = matches!(queue, Queue::Slots(_));
    all.unless(
        !is_slots || !is_shared && !is_served(link),
        at,
        "slot",
        "gives each flow separate slots",
        Some("a link with one flow and no rate"),
    );
    let has_grants = matches!(queue, Queue::Grants(_));
    all.unless(!has_grants, at, "grant", "has no grants", Some("`slot`"));
    if is_served(link) && !is_slots && !has_grants {
        let served = Served { link: link.clone(), number: 0, owner: None, wire: 0 };
        if let Err((reason, nearest)) = served.child() {
            let key = if matches!(queue, Queue::DropTail) { "buffer" } else { "queue" };
            all.no(at, key, &reason, nearest);
        }
    }
}

fn of_marks(link: &Link, at: Place, all: &mut Refusals) {
    let Link { queue, ecn_threshold, .. } = link;
    match ecn_threshold {
        None => {}
        Some(EcnThreshold::Wait(_)) => all.unless(
            matches!(queue, Queue::DropTail),
            at,
            "ecn_threshold",
            "marks by waiting time only if the scenario's queue is drop-tail; it then uses `codel`",
            Some("the discipline's own `ce_threshold`"),
        ),
        Some(EcnThreshold::Packets(_) | EcnThreshold::Bytes(_)) => all.no(
            at,
            "ecn_threshold",
            "has no queue that marks by its length alone",
            Some("the same threshold in `ms`"),
        ),
    }
}

fn of_loss(link: &Link, at: Place, is_shared: bool, all: &mut Refusals) {
    let loss = &link.loss;
    match loss {
        Some(Loss::InTime { .. }) => all.no(
            at,
            "loss",
            "changes the state of a loss model at each packet, not with time",
            Some("`gilbert-elliott`"),
        ),
        Some(Loss::GilbertElliott { .. }) => all.unless(
            !is_shared,
            at,
            "loss",
            "has a separate netem, and so a separate state of the loss model, for each flow",
            Some("a link with one flow"),
        ),
        Some(Loss::Bernoulli(_) | Loss::Steps(_)) | None => {}
    }
}

/// Refuses delays that a netem cannot make. A link can have at most one of these: a random delay, a
/// delay that changes at set times, reordering, and duplicates. Reordering and duplicates are also
/// refused with [`Queue::Slots`].
fn of_changing_delay(link: &Link, at: Place, is_shared: bool, all: &mut Refusals) {
    let Link { queue, delay_steps, jitter, random_delay, duplicate, reorder, .. } = link;
    let is_slots = matches!(queue, Queue::Slots(_));
    all.unless(
        jitter.is_none_or(|Jitter { up_to: _, keep_order }| !keep_order),
        at,
        "jitter",
        "reorders packets with different delays",
        Some("`{ up_to, keep_order = false }`"),
    );
    match random_delay {
        None => {}
        Some(RandomDelay::Wifi { .. }) => {
            all.no(at, "jitter", "has no such model", Some("`{ spread, distribution }`"));
        }
        Some(RandomDelay::Netem { spread: _, correlation, distribution: _, keep_order }) => {
            all.unless(
                !keep_order,
                at,
                "jitter",
                "reorders packets with different delays",
                Some("`keep_order = false`"),
            );
            all.unless(
                *correlation == 0 || !is_shared,
                at,
                "jitter",
                "has a separate netem, and so a separate sequence of random delays, for each flow",
                Some("no `correlation`"),
            );
        }
    }
    let has_random_delay = jitter.is_some() || random_delay.is_some();
    all.unless(
        reorder.is_none() || !has_random_delay && delay_steps.is_none() && !is_slots,
        at,
        "reorder",
        "has no reordering together with `jitter`, a changing delay or slots",
        Some("`jitter` with `keep_order = false`"),
    );
    all.unless(
        !has_random_delay || delay_steps.is_none(),
        at,
        "jitter",
        "has one kind of changing delay per link",
        Some("a constant `delay`"),
    );
    // The kernel allows no second netem on a device whose netem duplicates packets.
    let is_alone = reorder.is_none() && !has_random_delay && delay_steps.is_none() && !is_slots;
    all.unless(
        *duplicate == Probability::ZERO || is_alone,
        at,
        "duplicate",
        "duplicates packets only with a constant delay",
        Some("no `jitter`, `reorder` or `slot`"),
    );
}

fn decreases(steps: &[(Time, Span)]) -> bool {
    steps.windows(2).any(|pair| pair[1].1 < pair[0].1)
}
