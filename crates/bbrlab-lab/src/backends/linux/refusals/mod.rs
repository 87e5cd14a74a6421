//! Lists the parts of a run that the kernel, or the translation into its commands, does not
//! support.
//!
//! Every field of a run is taken apart by name here, so a new one does not compile until it is
//! decided. A value that would be ignored is refused.

use bbrlab_kernel::Manifest;
use bbrlab_link::{
    EcnThreshold, Jitter, Link, Loss, LossAt, Probability, Queue, RandomDelay, Rate, RateChange,
};
use bbrlab_run::{
    Distribution, Flow, FlowClass, Frames, Hop, Pause, Place, Random, Reading, Requests, Run,
    Sample, Source,
};
use bbrlab_stack::{
    DelAck, EcnMode, LossSwitches, PacingSwitches, RateSwitches, Recovery, SocketSwitches, Stack,
};
use bbrlab_units::{Span, Time};

use super::network::{Network, Served, is_served};
use super::script::{PACES_MAX, kernel_name, paces};
use crate::backend::Refusal;

/// The largest number of flows: each has two namespaces and some devices.
const FLOWS_MAX: usize = 256;

/// The largest number of queues behind the exact serialiser.
const SERIAL_MAX: usize = 16;

/// The clock's step of the guest.
const CLOCK_STEP: Span = Span(256);

struct Refusals(Vec<Refusal>);

impl Refusals {
    fn no(&mut self, place: Place, key: &'static str, reason: &str, nearest: Option<&str>) {
        let refusal =
            Refusal { place, key, reason: reason.to_owned(), nearest: nearest.map(str::to_owned) };
        if !self.0.contains(&refusal) {
            self.0.push(refusal);
        }
    }

    /// Refuses unless `is_able`.
    fn unless(
        &mut self,
        is_able: bool,
        place: Place,
        key: &'static str,
        reason: &str,
        nearest: Option<&str>,
    ) {
        if !is_able {
            self.no(place, key, reason, nearest);
        }
    }
}

/// Returns what cannot be done of a run on this kernel; without a kernel, on any that
/// `bbrlab kernel build` makes.
pub(super) fn refusals(run: &Run, kernel: Option<&Manifest>) -> Vec<Refusal> {
    let Run {
        scenario: _,
        title: _,
        scenario_hash: _,
        profile,
        point: _,
        point_values: _,
        seed: _,
        duration: _,
        sample,
        flow_series: _,
        queue_series: _,
        stack: settings,
        links,
        link_tables: _,
        bottleneck: _,
        classes,
        flows,
    } = run;
    let mut all = Refusals(Vec::new());
    all.unless(
        profile.is_linux(),
        Place::Stack,
        "profile",
        "is a Linux and imitates no other stack",
        Some("`profile = \"linux\"`"),
    );
    match sample {
        Sample::Every(period) => all.unless(
            period.0 > 0 && period.0 % 1000 == 0,
            Place::Top,
            "sample",
            "samples at whole microseconds",
            Some("`sample = \"10ms\"`"),
        ),
        Sample::Ack => all.no(
            Place::Top,
            "sample",
            "samples at times, not at ACKs",
            Some("`sample = \"1ms\"`"),
        ),
        Sample::Off => {}
    }
    stack(settings, kernel, &mut all);
    if flows.len() > FLOWS_MAX {
        all.no(Place::Flows(0), "count", "runs at most 256 flows", None);
    }
    for (number, class) in (0u32..).zip(classes) {
        of_class(run, number, class, kernel, &mut all);
    }
    for &Flow { class, start, stop } in flows {
        let Some(FlowClass { source, .. }) = classes.get(class as usize) else { continue };
        let end = stop.unwrap_or(Time(run.duration.0));
        all.unless(
            paces(source, start, end).len() < PACES_MAX,
            Place::Flows(class),
            "on",
            "changes a source's rate at most 100,000 times",
            None,
        );
    }
    let crossing = |number: u32| {
        let hop = Hop::Link(number);
        let on = |flow: &Flow| {
            let class = &classes[flow.class as usize];
            class.forward.contains(&hop) || class.reverse.contains(&hop)
        };
        flows.iter().filter(|flow| on(flow)).take(2).count()
    };
    for (number, link) in (0u32..).zip(links) {
        of_link(link, Place::Link(number), crossing(number) > 1, &mut all);
    }
    for class in classes {
        for link in &class.private_links {
            of_link(link, Place::Access, false, &mut all);
        }
    }
    if all.0.is_empty() {
        let network = Network::of(run);
        let serial = network.served.iter().filter(|it| it.needs_serial()).count();
        if serial > SERIAL_MAX || network.served.len() > 200 {
            all.no(Place::Top, "links", "has at most 16 queues that netem does not serve", None);
        }
    }
    all.0
}

fn stack(settings: &Stack, kernel: Option<&Manifest>, all: &mut Refusals) {
    let Stack {
        sndbuf: _,
        rcvbuf: _,
        tcp_rmem: _,
        tcp_wmem: _,
        notsent_lowat: _,
        slow_start_after_idle: _,
        rwnd,
        rcvlowat: _,
        hz,
        sender_qdisc: _,
        tso: _,
        sack: _,
        socket,
        recovery,
        loss,
        rate,
        pacing,
        delack,
        min_rto,
        initial_cwnd,
        clock_step,
    } = settings;
    let at = Place::Stack;
    all.unless(
        rwnd.is_none(),
        at,
        "rwnd",
        "does not keep to a bound of the advertised window",
        Some("a fixed `rcvbuf`"),
    );
    let its_hz = kernel.map_or(1000, |kernel| kernel.hz);
    all.unless(
        *hz == its_hz,
        at,
        "hz",
        &format!("was built with {its_hz} ticks per second"),
        Some(&format!("`hz = {its_hz}`")),
    );
    all.unless(
        *recovery == Recovery::Linux,
        at,
        "recovery",
        "has its own recovery",
        Some("`recovery = \"linux\"`"),
    );
    all.unless(
        !matches!(delack, DelAck::Every { .. }),
        at,
        "delack",
        "counts no segments for delayed ACKs",
        Some("`delack = \"linux\"`"),
    );
    all.unless(
        min_rto.0 % 1000 == 0 && min_rto.0 > 0,
        at,
        "min_rto",
        "has whole microseconds there",
        Some("`min_rto = \"200ms\"`"),
    );
    all.unless(
        *initial_cwnd > 0,
        at,
        "initial_cwnd",
        "begins with one segment at least",
        Some("`initial_cwnd = 1`"),
    );
    all.unless(
        *clock_step == Span(1) || *clock_step == CLOCK_STEP,
        at,
        "clock_step",
        "has a clock with steps of 256 ns",
        Some("`clock_step = \"256ns\"`"),
    );
    switches(socket, loss, *rate, pacing, all);
}

/// The switches for which the kernel has no setting must have Linux's values.
fn switches(
    socket: &SocketSwitches,
    loss: &LossSwitches,
    rate: RateSwitches,
    pacing: &PacingSwitches,
    all: &mut Refusals,
) {
    let at = Place::Stack;
    let other = "has no such switch";
    let linux = Some("the value of `profile = \"linux\"`");
    let SocketSwitches {
        sockbuf,
        nagle: _,
        dsack: _,
        paws,
        tcp_options,
        handshake,
        rtt_clock,
        rtt_retrans,
        cc_rtt,
    } = socket;
    let plain = SocketSwitches::default();
    let mut same = |is_same: bool, key: &'static str| all.unless(is_same, at, key, other, linux);
    same(*sockbuf == plain.sockbuf, "sockbuf");
    same(*paws != Some(false), "paws");
    same(*tcp_options == plain.tcp_options, "tcp_options");
    same(*handshake == plain.handshake, "handshake");
    same(*rtt_clock == plain.rtt_clock, "rtt_clock");
    same(*rtt_retrans == plain.rtt_retrans, "rtt_retrans");
    same(*cc_rtt == plain.cc_rtt, "cc_rtt");
    let LossSwitches {
        rack: _,
        tlp: _,
        undo,
        rule3,
        rwnd_bounds,
        pipe_keeps_sacked_retrans,
        partial_ack,
        rto,
        rto_impatient,
        rto_estimate,
        exit_sets_ssthresh,
        cwnd_validation,
    } = loss;
    let plain = LossSwitches::default();
    same(*undo != Some(false), "undo");
    same(*rule3 == plain.rule3, "nextseg_rule3");
    same(*rwnd_bounds == plain.rwnd_bounds, "rwnd_bounds");
    same(
        *pipe_keeps_sacked_retrans == plain.pipe_keeps_sacked_retrans,
        "pipe_keeps_sacked_retrans",
    );
    same(*partial_ack == plain.partial_ack, "partial_ack_sends");
    same(*rto == plain.rto, "rto");
    same(*rto_impatient == plain.rto_impatient, "rto_impatient");
    same(*rto_estimate == plain.rto_estimate, "rto_estimate");
    same(*exit_sets_ssthresh == plain.exit_sets_ssthresh, "exit_sets_ssthresh");
    same(*cwnd_validation == plain.cwnd_validation, "cwnd_validation");
    let RateSwitches { ack_interval, is_sticky, loss, invalid, min_rtt, is_blind } = rate;
    let plain = RateSwitches::default();
    same(ack_interval == plain.ack_interval, "rate_ack_interval");
    same(is_sticky == plain.is_sticky, "rate_sample_sticky");
    same(loss == plain.loss, "rate_loss_abs");
    same(invalid == plain.invalid, "rate_invalid");
    same(min_rtt == plain.min_rtt, "rate_min_rtt");
    same(is_blind == plain.is_blind, "rate_samples");
    let PacingSwitches { pacing, counts_headers, pace_initial_window, app_write } = pacing;
    let plain = PacingSwitches::default();
    same(*pacing == plain.pacing, "pacing");
    same(*counts_headers == plain.counts_headers, "pacing_counts_headers");
    same(*pace_initial_window == plain.pace_initial_window, "pace_initial_window");
    same(*app_write == plain.app_write, "app_write");
}

#[expect(clippy::too_many_lines, reason = "a list: one statement per key")]
fn of_class(
    run: &Run,
    number: u32,
    class: &FlowClass,
    kernel: Option<&Manifest>,
    all: &mut Refusals,
) {
    let FlowClass {
        name: _,
        group: _,
        cc,
        cc_params,
        outside,
        is_udp,
        mss,
        ecn,
        dscp: _,
        host,
        sender_host,
        max_pacing_rate,
        device,
        rate_samples,
        latency,
        late,
        source,
        reading,
        private_links: _,
        forward,
        reverse,
        base_rtt: _,
    } = class;
    let at = Place::Flows(number);
    if let Some(outside) = outside {
        let reason = format!("cannot run the program of `{}`", outside.name);
        all.no(at, "cc", &reason, Some("an algorithm of the kernel"));
    } else if !is_udp {
        match kernel_name(*cc) {
            None => {
                let reason = format!("has no {} in a kernel without patches", cc.name());
                let nearest = if cc.is_bbr() { "`bbr1`" } else { "`cubic`" };
                all.no(at, "cc", &reason, Some(nearest));
            }
            Some(name) => {
                let has = kernel.is_none_or(|kernel| kernel.controls.iter().any(|it| it == name));
                all.unless(has, at, "cc", &format!("was built without {name}"), Some("`cubic`"));
            }
        }
    }
    all.unless(
        cc_params.is_empty(),
        at,
        "cc_params",
        "has one value of such a parameter for all flows, and the translation sets none",
        Some("no `cc_params`"),
    );
    all.unless(
        (88..=65_000).contains(mss),
        at,
        "mss",
        "has segments of 88 to 65000 bytes",
        Some("`mss = \"1448B\"`"),
    );
    all.unless(
        matches!(ecn, EcnMode::Off | EcnMode::On),
        at,
        "ecn",
        "has that route feature only with BBRv3's patch",
        Some("`ecn = true`"),
    );
    all.unless(
        *host == 0,
        at,
        "host",
        "gives each flow hosts of its own in this translation",
        Some("no `host`"),
    );
    all.unless(
        *sender_host == 0,
        at,
        "sender_host",
        "gives each flow hosts of its own in this translation",
        Some("no `sender_host`"),
    );
    all.unless(
        max_pacing_rate.is_none_or(|rate| rate.0 % 8 == 0 && rate.0 > 0),
        at,
        "max_pacing_rate",
        "has whole bytes per second there",
        None,
    );
    all.unless(
        device.is_none(),
        at,
        "device",
        "passes packets from the host to the first link at once in this translation",
        Some("no `device`"),
    );
    all.unless(*rate_samples, at, "rate_samples", "always samples the rate", None);
    all.unless(
        !latency && late.is_none(),
        at,
        if *latency { "latency" } else { "late" },
        "measures no delays of messages yet",
        Some("without it"),
    );
    of_source(source, *is_udp, at, all);
    match reading {
        Some(Reading::Paced(_)) => all.no(
            at,
            "read",
            "reads at intervals, not at a rate",
            Some("`read = { bytes, every }`"),
        ),
        Some(Reading::Periodic { .. }) | None => {}
    }
    for route in [forward, reverse] {
        let is_twice = route
            .iter()
            .enumerate()
            .any(|(place, hop)| !matches!(hop, Hop::Delay(_)) && route[..place].contains(hop));
        all.unless(!is_twice, at, "path", "routes a flow once over a link", None);
        // Every link has one size of headers, Ethernet's, in the kernel.
        for link in run.links_on(class, route) {
            let is_other = link.framing != Link::ETHERNET && is_served(link);
            let serial = Served { link: link.clone(), number: 0, owner: None, wire: 0 };
            all.unless(
                !(is_other && (serial.needs_serial() || link.burst.is_some())),
                at,
                "path",
                "adds other link-layer bytes only at a drop-tail link in packets",
                Some("`framing = \"14B\"`"),
            );
        }
    }
}

fn of_source(source: &Source, is_udp: bool, at: Place, all: &mut Refusals) {
    let is_constant = |random: &Random| matches!(random.distribution, Distribution::Constant);
    match source {
        Source::Bursts(_) => {
            all.no(at, "on", "draws no random periods", Some("`on` and `off` of constant lengths"));
        }
        Source::Arrivals(_) => {
            all.no(at, "arrivals", "has a fixed number of flows", Some("`train`"));
        }
        Source::Frames(Frames { every: _, bytes: _, keys }) => all.unless(
            keys.is_none(),
            at,
            "frames",
            "writes frames of one size",
            Some("no key frames"),
        ),
        Source::Requests(Requests { size, pause, count: _ }) => {
            all.unless(is_constant(size), at, "requests", "draws no sizes", Some("one size"));
            match pause {
                Pause::None => {}
                Pause::Think(think) => all.unless(
                    is_constant(think),
                    at,
                    "requests",
                    "draws no pauses",
                    Some("one length"),
                ),
                Pause::Page(_) | Pause::Player { .. } => {
                    all.no(at, "source", "has no browser and no player", Some("`requests`"));
                }
            }
        }
        Source::Unlimited | Source::Bytes(_) | Source::Train { .. } => {
            // A scenario's UDP flow has a rate.
            all.unless(!is_udp, at, "udp", "sends datagrams at a rate", Some("`rate`"));
        }
        Source::Cbr(_) | Source::Rates(_) | Source::OnOff { .. } | Source::Write { .. } => {}
    }
}

#[expect(clippy::too_many_lines, reason = "a list: one statement per key")]
fn of_link(link: &Link, at: Place, is_shared: bool, all: &mut Refusals) {
    let Link {
        name: _,
        rate,
        rate_change,
        burst,
        peak_rate,
        airtime,
        delay: _,
        delay_steps,
        buffer: _,
        queue,
        police,
        ack_thinning,
        ecn_threshold,
        loss,
        loss_at: _,
        jitter,
        random_delay,
        duplicate,
        corrupt: _,
        reorder,
        framing: _,
    } = link;
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
                "keeps departure times only at a drop-tail link in packets",
                Some("`rate_change = \"follow\"`"),
            );
        }
        Rate::Constant(rate) => {
            all.unless(rate.0 >= 8, at, "rate", "has at least 8 bit/s", None);
        }
        Rate::Unlimited => {
            all.unless(police.is_none(), at, "police", "polices at a queue", Some("a rate"));
            all.unless(burst.is_none(), at, "burst", "has no bucket without a rate", None);
        }
    }
    if burst.is_some() {
        let is_plain = matches!(queue, Queue::DropTail) && ecn_threshold.is_none();
        let is_packets = !matches!(link.buffer, bbrlab_link::Buffer::Bytes(_));
        all.unless(
            is_plain && is_packets,
            at,
            "burst",
            "has a token bucket only in front of a drop-tail queue in packets",
            Some("no `burst`"),
        );
    } else {
        all.unless(peak_rate.is_none(), at, "peak_rate", "has it with `burst`", None);
    }
    all.unless(airtime.is_none(), at, "airtime", "has no shared medium", Some("no `airtime`"));
    all.unless(
        delay_steps.as_ref().is_none_or(|it| !it.keep_order || !decreases(&it.steps)),
        at,
        "delay",
        "reorders packets when a delay becomes shorter",
        Some("`keep_order = false`"),
    );
    let is_slots = matches!(queue, Queue::Slots(_));
    all.unless(
        !is_slots || !is_shared && !is_served(link),
        at,
        "slot",
        "gives each flow slots of its own",
        Some("a link with one flow and no rate"),
    );
    if is_served(link) && !is_slots {
        let served = Served { link: link.clone(), number: 0, owner: None, wire: 0 };
        if let Err((reason, nearest)) = served.child() {
            let key = if matches!(queue, Queue::DropTail) { "buffer" } else { "queue" };
            all.no(at, key, &reason, nearest);
        }
    }
    all.unless(ack_thinning.is_none(), at, "ack_thinning", "thins no ACKs", Some("without it"));
    match ecn_threshold {
        None => {}
        Some(EcnThreshold::Wait(_)) => all.unless(
            matches!(queue, Queue::DropTail),
            at,
            "ecn_threshold",
            "marks by waiting time with `codel`",
            Some("the discipline's own `ce_threshold`"),
        ),
        Some(EcnThreshold::Packets(_) | EcnThreshold::Bytes(_)) => all.no(
            at,
            "ecn_threshold",
            "has no queue that marks by its length alone",
            Some("the same time in `ms`"),
        ),
    }
    match loss {
        Some(Loss::InTime { .. }) => all.no(
            at,
            "loss",
            "has no states of loss that change with time",
            Some("`gilbert-elliott`"),
        ),
        Some(Loss::GilbertElliott { .. }) => all.unless(
            !is_shared,
            at,
            "loss",
            "gives each flow states of loss of its own",
            Some("a link with one flow"),
        ),
        Some(Loss::Bernoulli(_) | Loss::Steps(_)) | None => {}
    }
    let _: LossAt = link.loss_at;
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
                "gives each flow draws of its own",
                Some("no `correlation`"),
            );
        }
    }
    let has_random_delay = jitter.is_some() || random_delay.is_some();
    all.unless(
        reorder.is_none() || !has_random_delay && delay_steps.is_none() && !is_slots,
        at,
        "reorder",
        "has one kind of random delay per link",
        Some("`jitter` with `keep_order = false`"),
    );
    all.unless(
        !has_random_delay || delay_steps.is_none(),
        at,
        "jitter",
        "has one kind of changing delay per link",
        Some("a constant `delay`"),
    );
    // The kernel allows no second netem on a device with one that duplicates.
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
