//! Refuses the options and sources of flows that the guest kernel, or bbrlab's program in it, does
//! not support.

use bbrlab_kernel::Manifest;
use bbrlab_link::Link;
use bbrlab_run::{
    Distribution, FlowClass, FlowSettings, Hop, Pause, Place, Random, Reading, Requests, Run,
    Source,
};
use bbrlab_stack::EcnMode;

use super::super::network::{Served, is_served};
use super::super::script::kernel_name;
use crate::refused::{KNOWN_SETTINGS, Refusals};

pub(super) fn of_class(
    run: &Run,
    number: u32,
    class: &FlowClass,
    kernel: Option<&Manifest>,
    all: &mut Refusals,
) {
    let FlowClass { cc_params, mss, host, sender_host, forward, reverse, .. } = class;
    let at = Place::Flows(number);
    let lacks = |name: &str| {
        let has = kernel.is_none_or(|kernel| kernel.controls.iter().any(|it| it == name));
        (!has).then(|| (format!("was built without {name}"), "`cubic`"))
    };
    of_control(class, at, lacks, all);
    all.unless(
        cc_params.is_empty(),
        at,
        "cc_params",
        "sets no parameters of congestion controls: all flows share one value of each",
        Some("no `cc_params`"),
    );
    all.unless(
        (88..=65_000).contains(mss),
        at,
        "mss",
        "has segments of 88 to 65000 bytes",
        Some(&format!("`mss = \"{}B\"`", (*mss).clamp(88, 65_000))),
    );
    let own = "gives each flow separate hosts in the networks that bbrlab builds";
    all.unless(*host == 0, at, "host", own, Some("no `host`"));
    all.unless(*sender_host == 0, at, "sender_host", own, Some("no `sender_host`"));
    of_kernel(class, at, all);
    for route in [forward, reverse] {
        of_route(run, class, route, at, all);
    }
}

/// Refuses the parts of a flow that neither the guest kernel nor the machine's own kernel supports.
/// Each back end itself checks the fields that this function ignores.
pub(crate) fn of_kernel(class: &FlowClass, at: Place, all: &mut Refusals) {
    let FlowClass {
        name: _,
        group: _,
        cc: _,
        cc_params: _,
        outside: _,
        is_udp,
        mss: _,
        host: _,
        sender_host: _,
        settings,
        source,
        private_links: _,
        forward: _,
        reverse: _,
        base_rtt: _,
    } = class;
    all.unknown_settings(settings, at, &KNOWN_SETTINGS);
    let FlowSettings { ecn, max_pacing_rate, device, rate_samples, reading, .. } = settings;
    all.unless(
        matches!(ecn, EcnMode::Off | EcnMode::On),
        at,
        "ecn",
        "has the route feature `ecn_low` only with BBRv3's patch",
        Some("`ecn = true`"),
    );
    all.unless(
        max_pacing_rate.is_none_or(|rate| rate.0 % 8 == 0 && rate.0 > 0),
        at,
        "max_pacing_rate",
        "accepts only whole bytes per second",
        None,
    );
    all.unless(
        device.is_none(),
        at,
        "device",
        "passes packets from the host to the first link at once in the networks that bbrlab builds",
        Some("no `device`"),
    );
    all.unless(*rate_samples, at, "rate_samples", "always samples the rate", None);
    all.delays_of_messages(settings, at);
    if let Some(Reading::Paced(_)) = reading {
        all.no(at, "read", "reads at intervals, not at a rate", Some("`read = { bytes, every }`"));
    }
    of_source(source, *is_udp, at, all);
}

/// Refuses a congestion control that the kernel cannot run. `lacks` gets the name of a congestion
/// control. If the kernel lacks this control, `lacks` returns the reason and the nearest control,
/// otherwise `None`.
pub(crate) fn of_control(
    class: &FlowClass,
    at: Place,
    lacks: impl Fn(&str) -> Option<(String, &'static str)>,
    all: &mut Refusals,
) {
    let FlowClass { cc, outside, is_udp, .. } = class;
    if let Some(outside) = outside {
        let reason = format!("cannot run the program of `{}`", outside.name);
        all.no(at, "cc", &reason, Some("an algorithm of the kernel"));
    } else if !is_udp {
        let patched = || {
            let nearest = if cc.is_bbr() { "`bbr1`" } else { "`cubic`" };
            Some((format!("has no {} in a kernel without patches", cc.name()), nearest))
        };
        if let Some((reason, nearest)) = kernel_name(*cc).map_or_else(patched, lacks) {
            all.no(at, "cc", &reason, Some(nearest));
        }
    }
}

fn of_route(run: &Run, class: &FlowClass, route: &[Hop], at: Place, all: &mut Refusals) {
    all.links_twice(route, at);
    // Only a netem can add other link-layer bytes than Ethernet's to a packet. A link whose rate is
    // made by `serial` (a queue discipline of `adapters/linux`) or by a token bucket has no netem
    // for its rate, so a `framing` other than Ethernet's is refused there.
    for link in run.links_on(class, route) {
        let is_other = link.framing != Link::ETHERNET && is_served(link);
        let serial = Served { link: link.clone(), number: 0, owner: None, wire: 0 };
        all.unless(
            !(is_other && (serial.needs_serial() || link.burst.is_some())),
            at,
            "path",
            "adds a framing other than Ethernet's 14 B only at a drop-tail link whose buffer is in \
             packets",
            Some("`framing = \"14B\"`"),
        );
    }
}

fn of_source(source: &Source, is_udp: bool, at: Place, all: &mut Refusals) {
    all.chance_in_sources(source, is_udp, at, "`train`");
    let is_constant = |random: &Random| matches!(random.distribution, Distribution::Constant);
    match source {
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
                Pause::Page(_) => all.no(at, "page", "has no browser", Some("`requests`")),
                Pause::Player { .. } => all.no(at, "video", "has no player", Some("`requests`")),
            }
        }
        Source::Train { .. } => {
            all.unless(
                !is_udp,
                at,
                "udp",
                "sends UDP only with `rate` or `frames`",
                Some("`rate`"),
            );
        }
        _ => {}
    }
}
