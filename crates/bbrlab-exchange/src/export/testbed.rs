//! Converts a scenario to a testbed of Linux hosts. Lists the keys of the scenario that `ip`, `tc`,
//! `sysctl` and `iperf3` cannot express.
//!
//! The testbed is a dumbbell: for each `[[flows]]` table a sending and a receiving host, and two
//! routers with the bottleneck between them. The base RTT is a constant delay of the ACKs, made by
//! a netem at the receiving host. The data are not delayed, because a netem that delays them could
//! drop data at its queue limit.

use bbrlab_lab::{LabError, discipline, percent};
use bbrlab_link::{Link, Loss, LossAt, Queue, Rate, RateChange};
use bbrlab_run::{FlowClass, FlowSettings, Hop, Place, Run, Source};
use bbrlab_scenario::Scenario;
use bbrlab_stack::EcnMode;
use bbrlab_units::{BitRate, Time};

use super::parts::{HostPair, Refusals, Testbed};
use super::stack::stack;

/// The name of the bottleneck's device in commands of `tc`.
pub(super) const DEVICE: &str = "bneck";

/// The first port of iperf3's servers.
pub(super) const PORT: usize = 5201;

/// The largest number of flows. Each flow has its own port, from [`PORT`] on.
const FLOWS_MAX: usize = 65_536 - PORT;

/// The largest number of `[[flows]]` tables. Each 256 tables take two networks 10.X.0.0/16: first
/// 10.1 and 10.2, last 10.253 and 10.254. 10.255.0.0/16 is the bottleneck's.
const TABLES_MAX: usize = 127 * 256;

/// Returns the first three octets of the networks of a table's sending and receiving host. For the
/// first 256 tables, the two networks are 10.1.N and 10.2.N, where N is the table's index.
pub(super) fn networks(table: usize) -> (String, String) {
    let (block, third) = (table / 256 * 2, table % 256);
    (format!("10.{}.{third}", block + 1), format!("10.{}.{third}", block + 2))
}

/// Returns pairs of address blocks of the form 10.X.0.0/16, to which routes lead: each pair has a
/// block with the sending hosts and a block with the receiving hosts of 256 `[[flows]]` tables.
pub(super) fn blocks(tables: usize) -> Vec<(String, String)> {
    let firsts = (0..tables.max(1)).step_by(256);
    let whole = |network: String| network.rsplit_once('.').map(|it| format!("{}.0.0/16", it.0));
    firsts.map(networks).filter_map(|(one, other)| whole(one).zip(whole(other))).collect()
}

/// Returns the testbed of a scenario.
///
/// # Errors
/// Fails if the scenario has several sweep points, or keys that the testbed cannot express. The
/// message lists these keys with reasons.
pub(super) fn testbed(scenario: &Scenario) -> Result<Testbed, LabError> {
    let name = scenario.name();
    if scenario.points() > 1 {
        return Err(LabError::Usage(format!(
            "{name}: `sweep`: found {} points, expected one; choose one with --set KEY=VALUE",
            scenario.points()
        )));
    }
    let run = scenario.run(0);
    let mut refusals = Refusals::of(&run);
    let mut testbed = Testbed {
        title: if run.title.is_empty() { name.to_owned() } else { run.title.clone() },
        duration_s: run.duration.as_secs_f64(),
        ..Testbed::default()
    };
    stack(&run, &mut testbed, &mut refusals);
    refuse_many(&run, &mut refusals);
    if let Some(link) = the_bottleneck(&run, &mut refusals) {
        bottleneck(&run, link, &mut testbed, &mut refusals);
    }
    for number in 0..run.classes.len() {
        let number = u32::try_from(number).expect("the number of a class fits 32 bits");
        testbed.hosts.push(hosts(&run, number, &mut testbed.remarks, &mut refusals));
    }
    if scenario.repeat() > 1 {
        testbed.remarks.push(format!(
            "repeat = {}: run this program again for each repetition",
            scenario.repeat()
        ));
    }
    testbed.remarks.push(
        "sample: the only time series are those of iperf3, with an interval of 1 s".to_owned(),
    );
    if refusals.texts.is_empty() {
        Ok(testbed)
    } else {
        Err(LabError::Usage(format!("{name}: {}", refusals.texts.join("\n"))))
    }
}

/// Returns the number of the link that all data paths have in common. Refuses further links on the
/// data paths, and private links. On the ACK paths, refuses links with a rate. If a link on an ACK
/// path has no rate, refuses those of its keys that a testbed does not support.
fn the_bottleneck(run: &Run, refusals: &mut Refusals<'_>) -> Option<u32> {
    let mut shared: Option<u32> = None;
    for (number, class) in (0..).zip(&run.classes) {
        let links: Vec<u32> = class.forward.iter().filter_map(link_of).collect();
        match (links.as_slice(), shared) {
            ([link], None) => shared = Some(*link),
            ([link], Some(known)) if *link == known => {}
            _ => refusals.refuse(
                Place::Flows(number),
                "path",
                "expected one link, which all flows share; a script has no other links",
            ),
        }
        if !class.private_links.is_empty() {
            refusals.refuse(Place::Access, "rate", "a script has no access links with a rate");
        }
        for link in class.reverse.iter().filter_map(link_of) {
            if run.links[link as usize].rate.is_limited() {
                refusals.refuse(Place::Link(link), "rate", "a script has no rate for the ACKs");
            } else {
                impairments(run, link, false, refusals);
            }
        }
    }
    shared
}

/// Refuses more tables or flows than a script has addresses or ports for.
fn refuse_many(run: &Run, refusals: &mut Refusals<'_>) {
    if run.classes.len() > TABLES_MAX {
        let number = u32::try_from(TABLES_MAX).expect("the constant is below 2^32");
        let reason = format!("a script has networks for {TABLES_MAX} tables of flows");
        refusals.refuse(Place::Flows(number), "cc", &reason);
    }
    if let Some(flow) = run.flows.get(FLOWS_MAX) {
        let reason = format!("a script has at most {FLOWS_MAX} flows, each with a port of its own");
        refusals.refuse(Place::Flows(flow.class), "count", &reason);
    }
}

fn link_of(hop: &Hop) -> Option<u32> {
    match hop {
        Hop::Link(link) => Some(*link),
        Hop::Delay(_) | Hop::Private(_) => None,
    }
}

/// Refuses the keys of link `number` that a testbed does not support. The link is the bottleneck
/// or, if `is_bottleneck` is false, a link on the ACK path. The function names each field, so that
/// a new field does not compile until it is supported or refused.
fn impairments(run: &Run, number: u32, is_bottleneck: bool, refusals: &mut Refusals<'_>) {
    let link = &run.links[number as usize];
    let usual = Link::new(link.name.clone(), link.rate.clone(), link.buffer);
    let place = Place::Link(number);
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
        corrupt,
        reorder,
        framing,
    } = link;
    let unwritten = "is not written by this export";
    let keeps_times = matches!(rate, Rate::Schedule(_)) && *rate_change != RateChange::Follow;
    let checks = [
        (*airtime != usual.airtime, "airtime", "Linux's tc has no shared medium"),
        (delay_steps.is_some(), "delay", "a script has only constant delays"),
        (keeps_times, "rate_change", "htb sends waiting packets at the new rate"),
        (police.is_some(), "police", unwritten),
        (ack_thinning.is_some(), "ack_thinning", "Linux's tc has no ACK thinning"),
        (ecn_threshold.is_some(), "ecn_threshold", unwritten),
        (
            !is_bottleneck && loss.is_some(),
            "loss",
            "this export writes random losses only for data at the bottleneck",
        ),
        (jitter.is_some() || random_delay.is_some(), "jitter", unwritten),
        (*duplicate != usual.duplicate, "duplicate", unwritten),
        (*corrupt != usual.corrupt, "corrupt", unwritten),
        (
            reorder.is_some(),
            "reorder",
            "netem reorders by sending some packets early, the simulator by delaying some",
        ),
        (peak_rate.is_some(), "peak_rate", unwritten),
        (burst.is_some(), "burst", unwritten),
        (*framing != usual.framing, "framing", "the hosts of a script are on Ethernet"),
        (matches!(queue, Queue::Slots(_)), "slot", unwritten),
        (matches!(queue, Queue::Grants(_)), "grant", "Linux's tc has no grants"),
    ];
    for (is_wrong, key, reason) in checks {
        if is_wrong {
            refusals.refuse(place, key, reason);
        }
    }
}

fn bottleneck(run: &Run, number: u32, testbed: &mut Testbed, refusals: &mut Refusals<'_>) {
    let link = &run.links[number as usize];
    let place = Place::Link(number);
    impairments(run, number, true, refusals);
    let Some(first) = first_rate(&link.rate) else {
        refusals.refuse(place, "rate", "a script needs a constant rate or a list of rates");
        return;
    };
    let shape = |verb: &str, rate: BitRate| {
        format!(
            "class {verb} dev {DEVICE} parent 1: classid 1:1 htb rate {0}bit ceil {0}bit burst 1600 cburst 1600",
            rate.0
        )
    };
    match discipline(&link.queue, link.buffer) {
        Ok(child) => {
            testbed.bottleneck = vec![
                format!("qdisc add dev {DEVICE} root handle 1: htb default 1"),
                shape("add", first),
                format!("qdisc add dev {DEVICE} parent 1:1 handle 10: {child}"),
            ];
        }
        Err((reason, _)) => refusals.refuse(place, "queue", &format!("Linux's tc {reason}")),
    }
    if let Rate::Schedule(steps) = &link.rate {
        let later = steps.iter().filter(|step| step.0.0 > 0);
        testbed.steps =
            later.map(|(at, rate)| (at.as_secs_f64(), shape("change", *rate))).collect();
    }
    match &link.loss {
        None => {}
        Some(Loss::Bernoulli(probability)) => {
            testbed.behind = Some(format!("netem loss {} limit 1000000", percent(*probability)));
            if link.loss_at != LossAt::After {
                refusals.refuse(place, "loss_at", "a script loses packets after the queue");
            }
        }
        Some(_) => refusals.refuse(
            place,
            "loss",
            "is not a constant probability; this export writes no other losses",
        ),
    }
    testbed.remarks.push(
        "rate: htb sends bursts of up to 1600 bytes; the simulator serialises exactly".to_owned(),
    );
}

fn first_rate(rate: &Rate) -> Option<BitRate> {
    match rate {
        Rate::Constant(rate) => Some(*rate),
        Rate::Schedule(steps) => steps.first().map(|step| step.1),
        Rate::Unlimited | Rate::Trace(_) => None,
    }
}

/// Returns the sending and the receiving host of a `[[flows]]` table.
fn hosts(
    run: &Run,
    number: u32,
    remarks: &mut Vec<String>,
    refusals: &mut Refusals<'_>,
) -> HostPair {
    let class = &run.classes[number as usize];
    let place = Place::Flows(number);
    let cc = if class.is_udp { None } else { kernel_name(class, number, remarks, refusals) };
    if !class.cc_params.is_empty() {
        refusals.refuse(
            place,
            "cc_params",
            "parameters of a kernel module are not written by this export",
        );
    }
    let mut options = source(class, place, refusals).unwrap_or_default();
    if class.is_udp {
        options.push_str(&format!(" -u -l {}", class.mss));
    } else if class.mss != 1448 {
        options.push_str(&format!(" -M {}", class.mss + 12));
    }
    if let Some(cc) = &cc {
        options.push_str(&format!(" -C {cc}"));
    }
    if !class.is_udp && !run.stack.socket.nagle {
        options.push_str(" -N");
    }
    if let Some(rate) = class.settings.max_pacing_rate {
        options.push_str(&format!(" --fq-rate {}", rate.0));
    }
    if class.settings.dscp > 0 {
        options.push_str(&format!(" --dscp {}", class.settings.dscp));
    }
    let patched = !matches!(class.settings.ecn, EcnMode::Off | EcnMode::On);
    for key in class.settings.differing_keys(&FlowSettings::default()) {
        match key {
            "dscp" | "max_pacing_rate" | "latency" | "late" => {}
            "ecn" if !patched => {}
            "ecn" => refusals.refuse(place, key, "ECN_LOW is a feature of a patched kernel"),
            "rate_samples" => refusals.refuse(place, key, "Linux always takes them"),
            "read" => refusals.refuse(place, key, "iperf3 reads as soon as data arrives"),
            "device" => remarks.push(format!(
                "flows[{number}].device: TCP Small Queues follow the sending host's own device"
            )),
            _ => refusals.refuse(place, key, "is not written by this export"),
        }
    }
    if class.settings.latency || class.settings.late.is_some() {
        remarks.push(format!(
            "flows[{number}].latency: iperf3 does not measure the delays of messages"
        ));
    }
    let of_class = run.flows.iter().filter(|flow| flow.class == number);
    let clients = of_class.map(|flow| {
        let start_s = flow.start.as_secs_f64();
        let stop_s = flow.stop.map_or(run.duration.as_secs_f64(), Time::as_secs_f64);
        let time = if options.contains(" -n ") {
            String::new()
        } else {
            // iperf3 accepts only whole seconds, so round the duration up.
            format!(" -t {:.0}", (stop_s - start_s).ceil().max(1.0))
        };
        (start_s, format!("{options}{time}"))
    });
    let rtt = format!("{}us", class.base_rtt.0 / 1000);
    HostPair { table: format!("flows[{number}]"), cc, rtt, clients: clients.collect() }
}

/// Returns the options with which an iperf3 client sends like this class's source. If iperf3 cannot
/// send like the source, refuses the source and returns `None`.
fn source(class: &FlowClass, place: Place, refusals: &mut Refusals<'_>) -> Option<String> {
    match &class.source {
        Source::Unlimited if class.is_udp => {
            refusals.refuse(place, "cc", "iperf3 needs a rate for datagrams");
            None
        }
        Source::Unlimited => Some(String::new()),
        Source::Bytes(bytes) => Some(format!(" -n {}", bytes.0)),
        Source::Cbr(rate) => Some(format!(" -b {}", rate.0)),
        other => {
            let text = format!("{other:?}");
            let kind = text.split(['(', ' ', '{']).next().unwrap_or_default().to_owned();
            let key = match other {
                Source::Rates(_) => "rate",
                Source::OnOff { .. } => "on",
                Source::Write { .. } => "write",
                Source::Frames(_) => "frames",
                Source::Train { .. } => "train",
                Source::Bursts(_) => "bursts",
                Source::Requests(_) => "requests",
                _ => "arrivals",
            };
            refusals.refuse(place, key, &format!("iperf3 has no such source ({kind})"));
            None
        }
    }
}

/// Returns Linux's name of a class's congestion control. Adds a remark for `bbr2` and `bbr3`, which
/// need a patched kernel, and a refusal for other congestion controls that an unpatched kernel
/// lacks.
fn kernel_name(
    class: &FlowClass,
    number: u32,
    remarks: &mut Vec<String>,
    refusals: &mut Refusals<'_>,
) -> Option<String> {
    if let Some(name) = bbrlab_lab::kernel_name(class.cc).filter(|_| class.outside.is_none()) {
        return Some(name.to_owned());
    }
    match class.cc_name() {
        "bbr2" => {
            remarks.push(format!(
                "flows[{number}].cc = \"bbr2\": needs a kernel of the v2alpha branch"
            ));
            Some("bbr2".to_owned())
        }
        "bbr3" => {
            remarks.push(format!("flows[{number}].cc = \"bbr3\": needs a kernel of the v3 branch, where its name is bbr"));
            Some("bbr".to_owned())
        }
        name => {
            refusals.refuse(
                Place::Flows(number),
                "cc",
                &format!("no Linux kernel that this export supports has `{name}`"),
            );
            None
        }
    }
}
