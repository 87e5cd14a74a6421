//! Lists the parts of a run that the machine's kernel does not support, or that cannot be expressed
//! in the files that `script.rs` writes. The emulator uses the simulator's code for links, so it
//! supports nearly all keys of links.
//!
//! This file names every field of stacks and links, so a new field is a compile error until this
//! file names the new field, too. Values that the back end would ignore are refused.

use std::fs;
use std::path::Path;

use bbrlab_host::{FRAME_MAX, has_control};
use bbrlab_link::{CakeAckFilter, Link, Queue};
use bbrlab_run::{FlowClass, Place, Run, Sample, headers};
use bbrlab_stack::{DelAck, Recovery, SenderQdisc, SocketBuffer, Stack, Tso};
use bbrlab_units::Span;

use crate::backend::Refusal;
use crate::linux::refusals::{of_control, of_kernel};
use crate::linux::switches_linux_lacks;
use crate::refused::{Parts, Refusals};

/// The largest number of flows. There is a limit because the program that opens the flows' sockets
/// samples all sockets one after another in one loop, so a sample takes longer with more flows.
const FLOWS_MAX: usize = 256;

/// The smallest payload of a full segment that Linux accepts, in bytes.
const MSS_MIN: u32 = 88;

/// The machine's limits and abilities.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    /// The largest `SO_SNDBUF` and the largest `SO_RCVBUF` that the machine allows, in bytes.
    pub(super) socket_max: [u64; 2],
    /// Whether the machine's kernel has a setting for the smallest RTO, which Linux has from 6.11
    /// on.
    pub(super) has_min_rto: bool,
    /// A function that returns whether the machine's kernel has the congestion control with a given
    /// name.
    pub(super) has_control: fn(&str) -> bool,
}

impl Machine {
    /// Reads the limits and abilities of this machine's kernel.
    pub(super) fn this() -> Self {
        let size = |name: &str| {
            let text = fs::read_to_string(Path::new("/proc/sys/net/core").join(name));
            text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(u64::MAX)
        };
        Self {
            socket_max: [size("wmem_max"), size("rmem_max")],
            has_min_rto: Path::new("/proc/sys/net/ipv4/tcp_rto_min_us").exists(),
            has_control,
        }
    }
}

/// Returns the parts of a run that this machine does not support.
pub(super) fn refusals(run: &Run, machine: &Machine) -> Vec<Refusal> {
    let Parts { profile, sample, stack, links, classes, flows } = Parts::of(run);
    let mut all = Refusals::default();
    all.unless_linux(profile);
    if let Sample::Every(period) = sample {
        all.unless(
            period.0 >= 1_000_000 && period.0 % 1000 == 0,
            Place::Top,
            "sample",
            "samples at whole microseconds, at most once per millisecond",
            Some("`sample = \"10ms\"`"),
        );
    }
    all.samples_at_acks(sample);
    of_stack(stack, machine, &mut all);
    all.more_flows_than(FLOWS_MAX, flows);
    for (number, class) in (0u32..).zip(classes) {
        of_class(number, class, machine, &mut all);
        for link in &class.private_links {
            of_link(link, Place::Access, &mut all);
        }
    }
    all.changes_of_rates(run);
    for (number, link) in (0u32..).zip(links) {
        of_link(link, Place::Link(number), &mut all);
    }
    all.0
}

fn of_stack(stack: &Stack, machine: &Machine, all: &mut Refusals) {
    let Stack {
        sndbuf,
        rcvbuf,
        tcp_rmem,
        tcp_wmem,
        notsent_lowat: _,
        slow_start_after_idle: _,
        rwnd,
        rcvlowat,
        hz,
        sender_qdisc,
        tso,
        sack: _,
        socket: _,
        recovery,
        loss: _,
        rate: _,
        pacing: _,
        delack,
        min_rto,
        initial_cwnd,
        clock_step,
    } = stack;
    let at = Place::Stack;
    let mut no = |is_able: bool, key: &'static str, reason: &str, nearest: &str| {
        all.unless(is_able, at, key, reason, Some(nearest));
    };
    let [sndbuf_max, rcvbuf_max] = machine.socket_max;
    for (key, name, size, most) in
        [("sndbuf", "wmem_max", sndbuf, sndbuf_max), ("rcvbuf", "rmem_max", rcvbuf, rcvbuf_max)]
    {
        let most = most.min((1 << 30) - 1);
        no(
            !matches!(size, SocketBuffer::Fixed(bytes) if bytes.0 > most),
            key,
            &format!("allows at most {most} bytes on this machine (net.core.{name})"),
            &format!("`{key} = \"{most}B\"`"),
        );
    }
    let fits = |bytes: u64| bytes < 1 << 31;
    no(fits(rcvlowat.0), "rcvlowat", "allows at most 2147483647 bytes", "a smaller size");
    for (key, bounds) in [("tcp_rmem", tcp_rmem), ("tcp_wmem", tcp_wmem)] {
        let most = bounds.least.max(bounds.initial).max(bounds.most);
        no(fits(most.into()), key, "allows at most 2147483647 bytes", "a smaller size");
    }
    no(
        rwnd.is_none(),
        "rwnd",
        "does not keep the advertised window below a bound",
        "a fixed `rcvbuf`",
    );
    let plain = Stack::default();
    no(*hz == plain.hz, "hz", "ticks at the rate of this machine's kernel", "no `hz`");
    no(
        *sender_qdisc == SenderQdisc::None,
        "sender_qdisc",
        "has no queue between TCP and the first link in bbrlab's set-up",
        "`sender_qdisc = \"none\"`",
    );
    no(*tso != Tso::Whole, "tso", "cuts bursts into packets", "no `tso`");
    no(*recovery == Recovery::Linux, "recovery", "has its own recovery", "`recovery = \"linux\"`");
    no(
        !matches!(delack, DelAck::Every { .. }),
        "delack",
        "does not count segments to decide when to send an ACK",
        "`delack = \"linux\"`",
    );
    let is_plain = *min_rto == plain.min_rto;
    no(
        is_plain || machine.has_min_rto && min_rto.0 > 0 && min_rto.0 % 1000 == 0,
        "min_rto",
        if machine.has_min_rto {
            "accepts only whole microseconds"
        } else {
            "has this setting only from Linux 6.11 on"
        },
        "`min_rto = \"200ms\"`",
    );
    no(*initial_cwnd > 0, "initial_cwnd", "begins with one segment at least", "`initial_cwnd = 1`");
    no(*clock_step == Span(1), "clock_step", "has a clock of its own", "no `clock_step`");
    for key in switches_linux_lacks(stack) {
        no(false, key, "has no such setting", "the key's value with `profile = \"linux\"`");
    }
}

fn of_class(number: u32, class: &FlowClass, machine: &Machine, all: &mut Refusals) {
    let at = Place::Flows(number);
    let lacks = |name: &str| {
        let reason =
            format!("cannot use {name}: this kernel has it neither built in nor as a module");
        (!(machine.has_control)(name)).then_some((reason, "`reno`"))
    };
    of_control(class, at, lacks, all);
    all.unless(
        class.cc_params.is_empty(),
        at,
        "cc_params",
        "sets no parameters of congestion controls: the machine has one value of each",
        Some("no `cc_params`"),
    );
    let largest = u32::try_from(FRAME_MAX).unwrap_or(u32::MAX) - headers::DATA;
    all.unless(
        (MSS_MIN..=largest).contains(&class.mss),
        at,
        "mss",
        &format!("has segments of {MSS_MIN} to {largest} bytes"),
        Some(&format!("`mss = \"{}B\"`", class.mss.clamp(MSS_MIN, largest))),
    );
    of_kernel(class, at, all);
}

fn of_link(link: &Link, at: Place, all: &mut Refusals) {
    let Link {
        name: _,
        rate: _,
        rate_change: _,
        burst: _,
        peak_rate: _,
        airtime: _,
        delay: _,
        delay_steps: _,
        buffer: _,
        queue,
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
    all.unless(
        ack_thinning.is_none(),
        at,
        "ack_thinning",
        "does not drop ACKs by their content",
        Some("no `ack_thinning`"),
    );
    let has_filter = matches!(queue, Queue::Cake(cake) if cake.ack_filter != CakeAckFilter::Off);
    let nearest = Some("no `ack_filter`");
    all.unless(!has_filter, at, "queue", "does not drop ACKs by their content", nearest);
}

#[cfg(test)]
mod tests {
    use bbrlab_scenario::Scenario;
    use expect_test::{Expect, expect};

    use super::{Machine, refusals};
    use crate::refused::lines;

    fn refused(text: &str, expected: &Expect) {
        let run = Scenario::parse("x", "x", text, None, &[]).unwrap().run(0);
        let machine = Machine {
            socket_max: [212_992, 4_194_304],
            has_min_rto: false,
            has_control: |name| ["reno", "cubic", "bbr"].contains(&name),
        };
        expected.assert_eq(&lines(&run, refusals(&run, &machine)));
    }

    #[test]
    fn keys_of_links_and_sources_are_supported() {
        refused(
            "duration = \"5s\"\nsample = \"1ms\"\n[bottleneck]\n\
             rate = [[\"0s\", \"10Mbit/s\"], [\"2s\", \"5Mbit/s\"]]\nbuffer = \"40pkt\"\n\
             queue = \"codel\"\nloss = 0.01\nreverse_loss = 0.1\njitter = \"2ms\"\n\
             police = { rate = \"8Mbit/s\", burst = \"20000B\" }\n\
             [[flows]]\ncc = \"bbr1\"\nrtt = \"20ms\"\necn = true\nrate = \"1Mbit/s\"\n\
             [[flows]]\ncc = \"reno\"\nrtt = \"20ms\"\nbytes = \"10kB\"\nrequests = {}\n\
             [[flows]]\ncc = \"cubic\"\nrtt = \"20ms\"\nstart = \"1s\"\nstop = \"2s\"\n",
            &expect![[""]],
        );
    }

    #[test]
    fn what_the_machine_cannot_do_is_named_by_its_key() {
        refused(
            "duration = \"5s\"\nsample = \"ack\"\n[stack]\nrwnd = \"60000B\"\nhz = 250\n\
             sndbuf = \"300000B\"\nrcvbuf = \"300000B\"\nmin_rto = \"50ms\"\nsender_qdisc = \"fq\"\n\
             clock_step = \"256ns\"\ndelack = { every = 2, timer = \"40ms\" }\n\
             [bottleneck]\nrate = \"10Mbit/s\"\nbuffer = \"40pkt\"\n\
             [[flows]]\ncc = \"bbr3\"\nrtt = \"20ms\"\necn = \"low\"\n\
             [[flows]]\ncc = \"vegas\"\nrtt = \"20ms\"\nmss = \"8948B\"\nlatency = true\n\
             [[flows]]\ncc = \"cubic\"\ncc_params = { beta = 700 }\nrtt = \"20ms\"\n",
            &expect![[r#"
                sample: samples at regular times, not at ACKs; `sample = "1ms"`
                stack.sndbuf: allows at most 212992 bytes on this machine (net.core.wmem_max); `sndbuf = "212992B"`
                stack.rwnd: does not keep the advertised window below a bound; a fixed `rcvbuf`
                stack.hz: ticks at the rate of this machine's kernel; no `hz`
                stack.sender_qdisc: has no queue between TCP and the first link in bbrlab's set-up; `sender_qdisc = "none"`
                stack.delack: does not count segments to decide when to send an ACK; `delack = "linux"`
                stack.min_rto: has this setting only from Linux 6.11 on; `min_rto = "200ms"`
                stack.clock_step: has a clock of its own; no `clock_step`
                flows[0].cc: has no bbr3 in a kernel without patches; `bbr1`
                flows[0].ecn: has the route feature `ecn_low` only with BBRv3's patch; `ecn = true`
                flows[1].cc: cannot use vegas: this kernel has it neither built in nor as a module; `reno`
                flows[1].mss: has segments of 88 to 1448 bytes; `mss = "1448B"`
                flows[1].latency: measures no delays of messages yet; no `latency`
                flows[2].cc_params: sets no parameters of congestion controls: the machine has one value of each; no `cc_params`
            "#]],
        );
    }
}
