//! Lists the parts of a run that ns-3 does not support, or that the description for the driver
//! cannot express.
//!
//! This file names every field of stacks, flows and links, so a new field is a compile error until
//! this file names the new field, too. Values that the back end would ignore are refused.

use bbrlab_link::{Link, Loss, Probability, Queue, Rate, RateChange};
use bbrlab_run::{
    Algorithm, FlowClass, FlowSettings, Pause, Place, Profile, Requests, Run, Source,
    is_ns3_attribute, ns3_type_of,
};
use bbrlab_scenario::{Scenario, nearest};
use bbrlab_stack::{DelAck, EcnMode, Recovery, SenderQdisc, SocketBuffer, Stack};
use bbrlab_units::{Bytes, Span};

use super::controls;
use super::installations::Ns3Installation;
use super::network::is_served;
use crate::backend::Refusal;
use crate::refused::{KNOWN_SETTINGS, Parts, Refusals};

/// The largest number of flows. There is a limit because a router searches the routes of all flows
/// for each packet.
const FLOWS_MAX: usize = 1000;

/// The framing of ns-3's point-to-point links: the PPP header.
const PPP: Bytes = Bytes(2);

/// Switches (keys of `[stack]` that change one mechanism of TCP) that may differ from the installed
/// release's defaults, because the back end passes their values to ns-3. `nagle` and
/// `pace_initial_window` become attributes, and `app_write` the size of the application's writes.
const IGNORED: [&str; 3] = ["nagle", "pace_initial_window", "app_write"];

/// The switches that have the same value in all releases. All other switches are not compared for
/// 3.41 and 3.42, because these releases have no profile and may behave like either profile of
/// ns-3.
const OF_BOTH: [&str; 7] =
    ["sockbuf", "dsack", "paws", "tcp_options", "handshake", "rtt_clock", "cc_rtt"];

/// Returns the profile that describes a release: `None` for 3.41 and 3.42, which have none.
pub(super) fn profile_of(release: u32) -> Option<Profile> {
    match release {
        ..=40 => Some(Profile::Ns3V40),
        41 | 42 => None,
        _ => Some(Profile::Ns3),
    }
}

/// Returns the run of a scenario with the profile `profile` and one flow with the congestion
/// control `cc`. All settings of the TCP stack have the profile's defaults.
fn plain(profile: Profile, cc: &str) -> Run {
    let text = format!(
        "duration = \"1s\"\n[stack]\nprofile = \"{}\"\n[bottleneck]\nrate = \"1Mbit/s\"\n\
         [[flows]]\ncc = \"{cc}\"\nrtt = \"10ms\"\n",
        profile.name()
    );
    Scenario::parse("plain", "plain", &text, None, &[]).expect("the scenario is valid").run(0)
}

/// Returns the parts of a run that this installation does not support. If `ns3` is `None`, returns
/// the parts that no release supports.
pub(super) fn refusals(run: &Run, ns3: Option<&Ns3Installation>) -> Vec<Refusal> {
    let Parts { profile, sample, stack: settings, links, classes, flows } = Parts::of(run);
    let mut all = Refusals::default();
    let release = ns3.map(Ns3Installation::release);
    let own = release.and_then(profile_of);
    if profile.is_linux() {
        let name = own.unwrap_or(Profile::Ns3).name();
        let nearest = format!("`profile = \"{name}\"`, with ns-3's defaults");
        all.no(Place::Stack, "profile", "has its own TCP, not Linux's", Some(&nearest));
        return all.0;
    }
    all.samples_at_acks(sample);
    match release {
        None => stack(settings, &mut all),
        Some(release) => of_release(profile, settings, classes, release, &mut all),
    }
    all.more_flows_than(FLOWS_MAX, flows);
    for (number, class) in (0u32..).zip(classes) {
        of_class(number, class, ns3, &mut all);
        let others = classes.iter().take(number as usize);
        let mut same = others.filter(|other| controls::type_of(other) == controls::type_of(class));
        all.unless(
            same.all(|other| controls::attributes(other) == controls::attributes(class)),
            Place::Flows(number),
            "cc_params",
            "sets attributes once for all flows with the same congestion control",
            Some("the same `cc_params` for all of them"),
        );
    }
    all.changes_of_rates(run);
    for (number, link) in (0u32..).zip(links) {
        of_link(link, Place::Link(number), &mut all);
    }
    for class in classes {
        for link in &class.private_links {
            of_link(link, Place::Access, &mut all);
        }
    }
    all.0
}

/// Refuses values of `[stack]` that ns-3's attributes cannot have. Also refuses settings that ns-3
/// cannot change and whose values differ from the behaviour of the release. If the release has
/// another profile than `profile`, refuses `profile` instead of these values and settings.
fn of_release(
    profile: Profile,
    settings: &Stack,
    classes: &[FlowClass],
    release: u32,
    all: &mut Refusals,
) {
    let own = profile_of(release);
    let mut refused = Refusals::default();
    stack(settings, &mut refused);
    switches(settings, own.unwrap_or(profile), release, &mut refused);
    for class in classes {
        of_parameters(class, release, &mut refused);
    }
    match own.filter(|&own| own != profile && !refused.0.is_empty()) {
        Some(own) => {
            let reason = format!(
                "is installed as release 3.{release}, but the profile `{}` describes other releases",
                profile.name()
            );
            let nearest = format!("`profile = \"{}\"`", own.name());
            all.no(Place::Stack, "profile", &reason, Some(&nearest));
        }
        None => all.0.append(&mut refused.0),
    }
}

/// Refuses values of `[stack]` that ns-3's attributes cannot have.
fn stack(settings: &Stack, all: &mut Refusals) {
    let at = Place::Stack;
    let fixed =
        |buffer: SocketBuffer| matches!(buffer, SocketBuffer::Fixed(Bytes(1..=4_294_967_295)));
    for (key, size) in [("sndbuf", settings.sndbuf), ("rcvbuf", settings.rcvbuf)] {
        let nearest = format!("`{key} = \"131072B\"`, ns-3's default");
        all.unless(fixed(size), at, key, "has fixed buffers", Some(&nearest));
    }
    let every = Some("`delack = { every = 2, timer = \"200ms\" }`");
    all.unless(
        matches!(settings.delack, DelAck::Every { .. }),
        at,
        "delack",
        "counts segments for delayed ACKs",
        every,
    );
    all.unless(settings.rwnd.is_none(), at, "rwnd", "has no such bound", Some("a fixed `rcvbuf`"));
    all.unless(
        settings.initial_cwnd > 0,
        at,
        "initial_cwnd",
        "begins with one segment at least",
        Some("`initial_cwnd = 1`"),
    );
    let write = settings.pacing.app_write;
    all.unless(
        write.is_some_and(|bytes| (1..=1 << 20).contains(&bytes.0)),
        at,
        "app_write",
        "has an application that writes pieces of at most 1 MiB",
        Some("`app_write = \"512B\"`"),
    );
    let is_off = settings.sender_qdisc == SenderQdisc::None;
    all.unless(is_off, at, "sender_qdisc", "has no such queue", Some("`sender_qdisc = \"none\"`"));
}

/// Refuses settings that are not attributes of ns-3 and differ from the behaviour of the release.
fn switches(settings: &Stack, of_release: Profile, release: u32, all: &mut Refusals) {
    let at = Place::Stack;
    let classic = settings.recovery == Recovery::Classic;
    let expected = plain(of_release, "reno").stack;
    let nearest = format!("the key's value with `profile = \"{}\"`", of_release.name());
    let reason = format!("behaves differently in release 3.{release}, which has no such setting");
    let (recovery, name) = expected_recovery(release);
    all.unless(
        classic || settings.recovery == recovery,
        at,
        "recovery",
        &reason,
        Some(&format!("`recovery = \"{name}\"`")),
    );
    let mut same = |is_same: bool, key: &'static str| {
        all.unless(is_same, at, key, &reason, Some(&nearest));
    };
    let Stack {
        sndbuf: _,
        rcvbuf: _,
        tcp_rmem,
        tcp_wmem,
        notsent_lowat,
        slow_start_after_idle,
        rwnd: _,
        rcvlowat,
        hz,
        sender_qdisc: _,
        tso,
        sack: _,
        socket: _,
        recovery: _,
        loss: _,
        rate: _,
        pacing: _,
        delack: _,
        min_rto: _,
        initial_cwnd: _,
        clock_step,
    } = settings;
    same(*tcp_rmem == expected.tcp_rmem, "tcp_rmem");
    same(*tcp_wmem == expected.tcp_wmem, "tcp_wmem");
    same(*notsent_lowat == expected.notsent_lowat, "notsent_lowat");
    same(*slow_start_after_idle == expected.slow_start_after_idle, "slow_start_after_idle");
    same(*rcvlowat == expected.rcvlowat, "rcvlowat");
    same(*hz == expected.hz, "hz");
    same(*tso == expected.tso, "tso");
    same(*clock_step == Span(1), "clock_step");
    let is_between = profile_of(release).is_none();
    for key in settings.differing_switches(&expected) {
        same(IGNORED.contains(&key) || is_between && !OF_BOTH.contains(&key), key);
    }
}

/// Returns the value of `recovery` in `[stack]` with which the simulator recovers from losses like
/// a release of ns-3, and the value's name in scenarios. In 3.43, ns-3 changed its PRR.
fn expected_recovery(release: u32) -> (Recovery, &'static str) {
    if release >= 43 { (Recovery::Prr, "prr") } else { (Recovery::PrrSsrb, "prr_ssrb") }
}

/// Refuses the parameters that `[stack]` sets for the flow's congestion control, if they differ
/// from the parameters of the release's own congestion control.
fn of_parameters(class: &FlowClass, release: u32, all: &mut Refusals) {
    let is_imitated = class.outside.as_ref().is_some_and(|it| it.imitation().is_some());
    let Some(profile) = profile_of(release).filter(|_| is_imitated) else { return };
    let expected = plain(profile, class.cc_name()).classes.remove(0).cc_params;
    let ours = class.cc_params.iter().filter(|(name, _)| !is_ns3_attribute(name));
    // The filter has removed the parameters that the flow itself sets, because these are attributes
    // of ns-3. The parameters in `ours` therefore come from `[stack]`.
    all.unless(
        ours.eq(&expected),
        Place::Stack,
        family_key(class.cc),
        "has its own values of these parameters",
        Some(&format!("the parameters' values with `profile = \"{}\"`", profile.name())),
    );
}

/// Refuses a congestion control that this release of ns-3 lacks, or that it has only under another
/// name. Without the module that `BBRLAB_NS3_MODULE` names, bbrlab's own congestion controls are
/// refused, too.
fn of_control(at: Place, class: &FlowClass, ns3: Option<&Ns3Installation>, all: &mut Refusals) {
    let suggested = ns3_type_of(class.cc).unwrap_or("TcpBbr");
    let of_ns3 = format!("`cc = \"ns3:{suggested}\"`");
    match (&class.outside, class.ns3_type()) {
        (Some(_), Some(own)) => {
            let Some(ns3) = ns3 else { return };
            let known = ns3.controls();
            if !known.iter().any(|it| it == own) {
                let suggested = nearest(own, known.iter().map(String::as_str));
                all.no(
                    at,
                    "cc",
                    &format!(
                        "has no {own} in release {}, and `bbrlab ns3 list` lists its congestion controls",
                        ns3.version
                    ),
                    suggested.map(|name| format!("`cc = \"ns3:{name}\"`")).as_deref(),
                );
            }
        }
        (Some(outside), None) => {
            let reason = format!("cannot run the program of `{}`", outside.name);
            all.no(at, "cc", &reason, Some(&of_ns3));
        }
        (None, _) if controls::module().is_none() => {
            let reason = format!(
                "has bbrlab's {} only with the module that {} names",
                class.cc.name(),
                controls::MODULE
            );
            all.no(at, "cc", &reason, Some(&of_ns3));
        }
        (None, _) => {}
    }
}

fn of_class(number: u32, class: &FlowClass, ns3: Option<&Ns3Installation>, all: &mut Refusals) {
    let FlowClass {
        name: _,
        group: _,
        cc: _,
        cc_params: _,
        outside: _,
        is_udp,
        mss,
        host,
        sender_host,
        settings,
        source,
        private_links: _,
        forward,
        reverse,
        base_rtt: _,
    } = class;
    let at = Place::Flows(number);
    if !is_udp {
        of_control(at, class, ns3, all);
    }
    let fits = (1..=60_000).contains(mss);
    all.unless(fits, at, "mss", "has segments of 1 to 60000 bytes", Some("`mss = \"536B\"`"));
    all.unknown_settings(settings, at, &KNOWN_SETTINGS);
    let FlowSettings { ecn, dscp, device, rate_samples, reading, .. } = settings;
    all.unless(
        matches!(ecn, EcnMode::Off | EcnMode::On),
        at,
        "ecn",
        "has only the ECN of RFC 3168",
        Some("`ecn = true`"),
    );
    let own = "gives each flow separate hosts in the networks that bbrlab builds";
    all.unless(*host == 0, at, "host", own, Some("no `host`"));
    all.unless(*sender_host == 0, at, "sender_host", own, Some("no `sender_host`"));
    all.unless(
        *dscp == 0,
        at,
        "dscp",
        "sends no DSCP in the networks that bbrlab builds",
        Some("no `dscp`"),
    );
    all.unless(device.is_none(), at, "device", "has no TCP Small Queues", Some("no `device`"));
    all.unless(*rate_samples, at, "rate_samples", "always samples the rate", None);
    all.delays_of_messages(settings, at);
    all.unless(reading.is_none(), at, "read", "reads at once", Some("no `read`"));
    of_source(source, *is_udp, at, all);
    for route in [forward, reverse] {
        all.links_twice(route, at);
    }
}

fn of_source(source: &Source, is_udp: bool, at: Place, all: &mut Refusals) {
    all.chance_in_sources(source, is_udp, at, "a flow with `bytes` for each transfer");
    match source {
        Source::Requests(Requests { pause, .. }) => {
            let key = match pause {
                Pause::Page(_) => "page",
                Pause::Player { .. } => "video",
                Pause::None | Pause::Think(_) => "requests",
            };
            all.no(
                at,
                key,
                "lacks this application in the networks that bbrlab builds",
                Some("`bytes`"),
            );
        }
        Source::Train { .. } => {
            all.no(
                at,
                "train",
                "opens one connection per flow",
                Some("a flow with `bytes` for each transfer"),
            );
        }
        _ => {}
    }
}

fn of_link(link: &Link, at: Place, all: &mut Refusals) {
    let Link {
        name: _,
        rate: _,
        rate_change: _,
        burst,
        peak_rate,
        airtime,
        delay: _,
        delay_steps,
        buffer: _,
        queue: _,
        police,
        ack_thinning,
        ecn_threshold,
        loss: _,
        loss_at: _,
        jitter: _,
        random_delay: _,
        duplicate: _,
        corrupt: _,
        reorder: _,
        framing,
    } = link;
    of_rate(link, at, all);
    if is_served(link) {
        all.unless(
            *framing == PPP,
            at,
            "framing",
            "has 2 bytes of PPP around each packet",
            Some("`framing = \"2B\"`"),
        );
    }
    all.unless(
        burst.is_none(),
        at,
        "burst",
        "has only links without a token bucket in the networks that bbrlab builds",
        Some("no `burst`"),
    );
    all.unless(
        peak_rate.is_none(),
        at,
        "peak_rate",
        "has only links without a token bucket in the networks that bbrlab builds",
        None,
    );
    all.unless(
        airtime.is_none(),
        at,
        "airtime",
        "has no shared medium in the networks that bbrlab builds",
        Some("a rate"),
    );
    let steady = delay_steps.is_none();
    all.unless(steady, at, "delay", "has only constant delays of links", Some("one `delay`"));
    of_queue(&link.queue, at, all);
    all.unless(police.is_none(), at, "police", "has no policer", Some("no `police`"));
    all.unless(
        ack_thinning.is_none(),
        at,
        "ack_thinning",
        "thins no ACKs",
        Some("no `ack_thinning`"),
    );
    all.unless(
        ecn_threshold.is_none(),
        at,
        "ecn_threshold",
        "marks no packets at an `ecn_threshold` in the networks that bbrlab builds",
        Some("`codel` with `ecn`"),
    );
    of_loss(link, at, all);
    of_fates(link, at, all);
}

fn of_rate(link: &Link, at: Place, all: &mut Refusals) {
    match &link.rate {
        Rate::Trace(_) => all.no(at, "rate", "follows no traces", Some("a schedule of rates")),
        Rate::Schedule(steps) => {
            all.unless(
                steps.len() <= 100_000,
                at,
                "rate",
                "changes a rate at most 100,000 times",
                None,
            );
            let is_zero = steps.iter().any(|&(_, rate)| rate.0 == 0);
            all.unless(!is_zero, at, "rate", "has no rate of 0", Some("a low rate"));
            all.unless(
                link.rate_change == RateChange::Follow,
                at,
                "rate_change",
                "fixes the rate of a packet when its transmission starts, not when the packet arrives",
                Some("`rate_change = \"follow\"`"),
            );
        }
        Rate::Constant(rate) => all.unless(rate.0 > 0, at, "rate", "has no rate of 0", None),
        Rate::Unlimited => {}
    }
}

fn of_queue(queue: &Queue, at: Place, all: &mut Refusals) {
    all.unless(
        matches!(queue, Queue::DropTail | Queue::Codel(_)),
        at,
        "queue",
        "lacks this queue discipline in the networks that bbrlab builds",
        Some("`drop-tail` or `codel`"),
    );
    if let Queue::Codel(codel) = queue {
        all.unless(
            codel.ce_threshold.is_none(),
            at,
            "queue",
            "has `codel` without `ce_threshold` in the networks that bbrlab builds",
            Some("no `ce_threshold`"),
        );
    }
}

fn of_loss(link: &Link, at: Place, all: &mut Refusals) {
    let Link { loss, loss_at, .. } = link;
    match loss {
        None | Some(Loss::Bernoulli(_)) => {}
        Some(_) => all.no(
            at,
            "loss",
            "loses packets independently and with one probability",
            Some("one number"),
        ),
    }
    all.unless(
        loss.is_none() || !is_served(link) || *loss_at == bbrlab_link::LossAt::After,
        at,
        "loss_at",
        "loses packets after the queue",
        Some("`loss_at = \"after\"`"),
    );
}

/// Refuses random delays, duplicates, bit errors and reordering.
fn of_fates(link: &Link, at: Place, all: &mut Refusals) {
    let Link { jitter, random_delay, duplicate, corrupt, reorder, .. } = link;
    let steady = jitter.is_none() && random_delay.is_none();
    all.unless(steady, at, "jitter", "has only constant delays of links", Some("no `jitter`"));
    let none = *duplicate == Probability::ZERO;
    all.unless(none, at, "duplicate", "duplicates no packets", Some("no `duplicate`"));
    let none = *corrupt == Probability::ZERO;
    all.unless(
        none,
        at,
        "corrupt",
        "has no bit errors in the networks that bbrlab builds",
        Some("`loss`"),
    );
    all.unless(
        reorder.is_none(),
        at,
        "reorder",
        "keeps the order of packets",
        Some("no `reorder`"),
    );
}

/// Returns the key of `[stack]` with the parameters of an algorithm.
fn family_key(cc: Algorithm) -> &'static str {
    if cc.is_bbr() {
        "bbr"
    } else if matches!(cc, Algorithm::Cubic) {
        "cubic"
    } else {
        "vegas"
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use bbrlab_scenario::Scenario;
    use expect_test::{Expect, expect};

    use super::{Ns3Installation, controls, refusals};
    use crate::refused::lines;
    use crate::scratch::Scratch;

    fn refused(release: &str, text: &str, expected: &Expect) {
        refused_by(&installed(release, PathBuf::new()), text, expected);
    }

    fn refused_by(installation: &Ns3Installation, text: &str, expected: &Expect) {
        let run = Scenario::parse("x", "x", text, None, &[]).unwrap().run(0);
        expected.assert_eq(&lines(&run, refusals(&run, Some(installation))));
    }

    fn installed(release: &str, include: PathBuf) -> Ns3Installation {
        Ns3Installation {
            version: release.to_owned(),
            include,
            libraries: PathBuf::new(),
            prefix: String::new(),
            found: "test",
        }
    }

    const LINK: &str = "[bottleneck]\nrate = \"10Mbit/s\"\nbuffer = \"40pkt\"\n";

    #[test]
    fn a_linux_and_another_release_are_refused() {
        let flow = "[[flows]]\ncc = \"udp\"\nrate = \"1Mbit/s\"\nrtt = \"20ms\"\n";
        refused(
            "3.44",
            &format!("duration = \"5s\"\n{LINK}{flow}"),
            &expect![[r#"
            stack.profile: has its own TCP, not Linux's; `profile = "ns3"`, with ns-3's defaults
        "#]],
        );
        let newest = format!("duration = \"5s\"\n[stack]\nprofile = \"ns3\"\n{LINK}{flow}");
        refused(
            "3.37",
            &newest,
            &expect![[r#"
                stack.profile: is installed as release 3.37, but the profile `ns3` describes other releases; `profile = "ns3-3.40"`
            "#]],
        );
        refused("3.44", &newest, &expect![[r#""#]]);
        refused(
            "3.42",
            &newest,
            &expect![[r#"
            stack.recovery: behaves differently in release 3.42, which has no such setting; `recovery = "prr_ssrb"`
        "#]],
        );
    }

    #[test]
    fn without_an_installation_only_what_no_release_can_do_is_refused() {
        let refused = |stack: &str, cc: &str, expected: &Expect| {
            let flow = format!("[[flows]]\ncc = {cc}\nrtt = \"20ms\"\n");
            let text = format!("duration = \"5s\"\n[stack]\n{stack}\n{LINK}{flow}");
            let run = Scenario::parse("x", "x", &text, None, &[]).unwrap().run(0);
            expected.assert_eq(&lines(&run, refusals(&run, None)));
        };
        let (ours, udp) = ("\"ns3:TcpFoo\"", "\"udp\"\nrate = \"1Mbit/s\"");
        refused("profile = \"ns3\"", ours, &expect![[r#""#]]);
        refused("profile = \"ns3-3.40\"", ours, &expect![[r#""#]]);
        refused(
            "profile = \"ns3\"\nsndbuf = \"auto\"",
            ours,
            &expect![[r#"
            stack.sndbuf: has fixed buffers; `sndbuf = "131072B"`, ns-3's default
        "#]],
        );
        refused(
            "profile = \"linux\"",
            udp,
            &expect![[r#"
            stack.profile: has its own TCP, not Linux's; `profile = "ns3"`, with ns-3's defaults
        "#]],
        );
    }

    #[test]
    fn a_control_of_another_release_has_the_nearest_name() {
        let scratch = Scratch::new("ns3-nearest");
        fs::create_dir(scratch.path().join("ns3")).unwrap();
        let header = "class TcpCubic : public TcpCongestionOps\n";
        fs::write(scratch.path().join("ns3/tcp-cubic.h"), header).unwrap();
        let flow = |cc: &str| format!("[[flows]]\ncc = \"ns3:{cc}\"\nrtt = \"20ms\"\n");
        let both = flow("TcpCubik") + &flow("TcpWestwoodPlus");
        let text = format!("duration = \"5s\"\n[stack]\nprofile = \"ns3\"\n{LINK}{both}");
        refused_by(
            &installed("3.44", scratch.path().to_owned()),
            &text,
            &expect![[r#"
            flows[0].cc: has no TcpCubik in release 3.44, and `bbrlab ns3 list` lists its congestion controls; `cc = "ns3:TcpCubic"`
            flows[1].cc: has no TcpWestwoodPlus in release 3.44, and `bbrlab ns3 list` lists its congestion controls
        "#]],
        );
    }

    #[test]
    fn what_ns3_cannot_do_is_named_by_its_key() {
        if controls::module().is_some() {
            // If `BBRLAB_NS3_MODULE` names a module, `cubic` is not refused.
            return;
        }
        let text = format!(
            "duration = \"5s\"\nsample = \"ack\"\n[stack]\nprofile = \"ns3\"\nmin_rto = \"300ms\"\n\
             {LINK}jitter = \"2ms\"\nframing = \"14B\"\n[[flows]]\ncc = \"cubic\"\nrtt = \"20ms\"\n\
             [[flows]]\ncc = \"ns3:TcpReno\"\nrtt = \"20ms\"\n"
        );
        refused(
            "3.44",
            &text,
            &expect![[r#"
                sample: samples at regular times, not at ACKs; `sample = "1ms"`
                flows[0].cc: has bbrlab's cubic only with the module that BBRLAB_NS3_MODULE names; `cc = "ns3:TcpCubic"`
                flows[1].cc: has no TcpReno in release 3.44, and `bbrlab ns3 list` lists its congestion controls
                bottleneck.framing: has 2 bytes of PPP around each packet; `framing = "2B"`
                bottleneck.jitter: has only constant delays of links; no `jitter`
            "#]],
        );
    }
}
