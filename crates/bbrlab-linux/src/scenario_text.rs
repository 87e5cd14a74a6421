//! Converts a recorded test point (a scenario that ran on a real kernel) to a scenario of ours.
//!
//! In the network of the recorded Linux runs, a flow passes sender, router, bottleneck, router and
//! receiver. Half of the RTT follows the bottleneck and the other half is on the reverse path, so
//! the delay of the left access link is 0. The queue limit of `netem` includes the packet in
//! service; the limit of our queues and the column `buffer_pkts` of the recordings count only
//! packets that wait. When the rate changes, packets that `netem` has already accepted keep their
//! departure times.
//!
//! If the reverse path has a rate, or flows have separate `netem` slots, the scenario gives both
//! directions as paths of links. In such a scenario, each flow has two private links with its
//! delays. The right link is between the second router and the right host. The random loss and the
//! reordering of the recorded runs apply to all packets that cross the right link. The left link
//! has only a delay.

use std::fmt::Write as _;

use bbrlab_run::{Algorithm, Run, RunSummary};
use bbrlab_scenario::Scenario;

use super::reference::{ReferencePoint, base_rtt_ms};
use super::settings::{Application, Ecn, QueueKind, Reorder, Reverse, Settings};
use super::{LinuxError, managed};

/// Time in microseconds from a tick of the kernel's 1 ms clock to time 0 of the run, for seeds 2 to
/// 5.
const PHASE_US: [f64; 4] = [137.3, 411.9, 733.1, 288.7];

/// Families of test points whose runs with seed 2 have time 0 at a tick. These runs were recorded
/// before the times of [`PHASE_US`] were introduced.
const SEED_2_WITHOUT_PHASE: [&str; 5] = ["2_loss", "3_two", "4_vs", "5_rtt", "7_many"];

/// The clock step, in nanoseconds, of the machine that recorded the Linux runs. In the recorded
/// runs, an application that writes at multiples of the sampling period writes just after a sample
/// is taken, because its timer is rounded up to a clock step. Our flows with such an application
/// start one step later, so that they also write after the sample.
const CLOCK_STEP_NS: u32 = 256;

/// Returns the time from the kernel's tick to time 0 of the run with this seed, in seconds.
fn phase_s(point: &ReferencePoint, seed: u64) -> f64 {
    let has_none = seed == 2 && SEED_2_WITHOUT_PHASE.contains(&point.family.as_str());
    let place = usize::try_from(seed).ok().and_then(|seed| seed.checked_sub(2));
    match place.and_then(|place| PHASE_US.get(place)) {
        Some(us) if !has_none => us * 1e-6,
        _ => 0.0,
    }
}

/// Converts a test point to a run with the seed `seed`. The flows start at the same times as in the
/// recorded Linux run `reference`.
pub(super) fn run(
    point: &ReferencePoint,
    reference: &RunSummary,
    seed: u64,
) -> Result<Run, LinuxError> {
    let text = scenario_text(point, reference, seed)?;
    let origin = format!("scenario of {}", point.scenario);
    let scenario = Scenario::parse(&point.scenario, &origin, &text, None, &[])
        .map_err(|errors| LinuxError(format!("{}: {errors}", point.scenario)))?;
    Ok(scenario.run(0))
}

/// Sets the scenario hash of each recorded Linux run of this test point to the hash of our scenario
/// with the same seed and start times.
pub(super) fn name_runs(point: &mut ReferencePoint) -> Result<(), LinuxError> {
    for place in 0..point.seeds.len() {
        let seed = point.seeds[place].seed;
        let run = run(point, &point.seeds[place], seed)?;
        point.seeds[place].scenario_hash = run.scenario_hash;
    }
    Ok(())
}

/// Returns the period, in milliseconds, of the samples from which the recorded means of queue and
/// smoothed RTT were computed.
fn sample_ms(point: &ReferencePoint) -> u32 {
    match point.family.as_str() {
        "7_many" if point.seeds[0].flows.len() == 16 => 40,
        "3_two" | "4_vs" | "5_rtt" | "6_step" | "7_many" => 20,
        family if family.starts_with("9_") => 20,
        _ => 10,
    }
}

/// How our scenario describes the network of a test point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// The network is one bottleneck for all flows, followed by a separate delay for each flow.
    Dumbbell,
    /// The network is two bottlenecks in a row.
    TwoHops,
    /// Each direction of the network is a path of links. Delays are links too.
    Paths,
}

impl Layout {
    fn of(settings: &Settings, flows: usize) -> Self {
        // In the recorded Linux runs, each flow has its own `netem` with slots. A dumbbell with
        // several flows cannot express separate slots, because the flows of a dumbbell share the
        // slots. With slots and reordering, the delays of the two directions differ, but a dumbbell
        // has equal delays.
        let has_slots = settings.data_slot.is_some() || settings.ack_slot.is_some();
        if let QueueKind::Discipline { second_rate_mbps: Some(_), .. } = settings.queue {
            Self::TwoHops
        } else if settings.reverse != Reverse::Free
            || has_slots && (flows > 1 || settings.reorder.is_some())
        {
            Self::Paths
        } else {
            Self::Dumbbell
        }
    }
}

/// Returns the text of our scenario for a test point, with the seed `seed`. The flows start at the
/// same times as in the recorded Linux run `reference`.
fn scenario_text(
    point: &ReferencePoint,
    reference: &RunSummary,
    seed: u64,
) -> Result<String, LinuxError> {
    let wrong = |reason: String| LinuxError(format!("{}: {reason}", point.scenario));
    let settings = &Settings::of(point).map_err(wrong)?;
    let layout = Layout::of(settings, reference.flows.len());
    let mut text = String::new();
    let mut phase = phase_s(point, reference.seed);
    if let Application::Interval { .. } = settings.application {
        phase += f64::from(CLOCK_STEP_NS) * 1e-9;
    }
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "title = \"{} on {}\"\nduration = \"{}s\"\nseed = {seed}\nsample = \"{}ms\"",
        point.scenario,
        point.kernel,
        point.duration_s,
        sample_ms(point)
    );
    text += &stack(point, settings);
    let bottleneck = link(point, settings, Side::Forward).map_err(wrong)?;
    match layout {
        Layout::Dumbbell => {
            let one_way = base_rtt_ms(&reference.flows[0]) / 2.0;
            text += "[bottleneck]\n";
            text += &bottleneck;
            text += &impairments(point, settings);
            if settings.data_slot.is_some() || settings.ack_slot.is_some() {
                let _ = writeln!(text, "delay = \"{one_way:.6}ms\"");
            }
            for (key, slot) in [("slot", &settings.data_slot), ("reverse_slot", &settings.ack_slot)]
            {
                text += &managed::slot_key(key, slot.as_deref()).map_err(wrong)?;
            }
        }
        Layout::TwoHops => {
            let second = link(point, settings, Side::SecondHop).map_err(wrong)?;
            let _ = write!(
                text,
                "[[links]]\nname = \"first\"\n{bottleneck}[[links]]\nname = \"second\"\n{second}"
            );
        }
        Layout::Paths => {
            let _ = write!(text, "[bottleneck]\n{bottleneck}");
            if settings.reverse != Reverse::Free {
                let back = link(point, settings, Side::Back).map_err(wrong)?;
                let _ = write!(text, "[[links]]\nname = \"back\"\n{back}");
            }
            for (number, flow) in reference.flows.iter().enumerate() {
                text += &delays(point, settings, (number, base_rtt_ms(flow))).map_err(wrong)?;
            }
        }
    }
    for (number, flow) in reference.flows.iter().enumerate() {
        let _ = writeln!(
            text,
            "[[flows]]\ncc = \"{}\"\nstart = \"{:.9}s\"",
            flow.cc,
            flow.start_s.expect("every `summary.csv` has the column `start_s`") + phase
        );
        text += &route(settings, layout, (number, base_rtt_ms(flow)));
        text += &application(settings.application);
        text += match settings.ecn {
            Ecn::Off => "",
            Ecn::On => "ecn = true\n",
            Ecn::Low => "ecn = \"low\"\n",
        };
        text += &cc_params(point, settings, &flow.cc);
    }
    Ok(text)
}

fn stack(point: &ReferencePoint, settings: &Settings) -> String {
    let stack = &settings.stack;
    let mut text = format!("[stack]\nclock_step = \"{CLOCK_STEP_NS}ns\"\n");
    // In the recorded Linux runs, the receivers of the sixteen flows at 1 Gbit/s read 64 KiB at a
    // time, because the machine was too slow for smaller reads.
    let is_sixteen = point.family == "7_many" && point.seeds[0].flows.len() == 16;
    if let Some(bytes) = stack.rcvlowat.or(is_sixteen.then_some(65536)) {
        let _ = writeln!(text, "rcvlowat = \"{bytes}B\"");
    }
    if stack.has_tso {
        text += "tso = \"whole\"\n";
    }
    if let Some(qdisc) = &stack.sender_qdisc {
        let _ = writeln!(text, "sender_qdisc = \"{qdisc}\"");
    }
    if let Some(hz) = stack.hz {
        let _ = writeln!(text, "hz = {hz}");
    }
    if let Some(bytes) = stack.rwnd {
        let _ = writeln!(text, "rwnd = \"{bytes}B\"");
    }
    if stack.quickack {
        text += "delack = { every = 1 }\n";
    }
    text
}

/// The place of a link with a rate. A test point has one or two such links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// The bottleneck, or the first of two bottlenecks.
    Forward,
    /// The second of two bottlenecks.
    SecondHop,
    /// The link of the reverse path.
    Back,
}

/// Returns the keys of a link that has a rate and the test point's kind of queue.
fn link(point: &ReferencePoint, settings: &Settings, side: Side) -> Result<String, String> {
    let (rate_mbps, buffer_pkts) = match (side, settings.reverse) {
        (
            Side::Back,
            Reverse::Acks { rate_mbps, buffer_pkts } | Reverse::TwoWay { rate_mbps, buffer_pkts },
        ) => (rate_mbps, buffer_pkts),
        _ => (point.rate_mbps, point.buffer_pkts),
    };
    if let QueueKind::Discipline { words, second_rate_mbps } = &settings.queue {
        let rate_mbps = match (side, second_rate_mbps) {
            (Side::SecondHop, Some(second)) => *second,
            _ => rate_mbps,
        };
        return managed::link(words, rate_mbps, settings.police.as_deref());
    }
    let mut text = String::new();
    if point.family == "6_step" && side == Side::Forward {
        text += "rate_change = \"keep\"\nrate = [[\"0s\", \"40Mbit/s\"], [\"40s\", \"80Mbit/s\"], [\"80s\", \"40Mbit/s\"], [\"120s\", \"80Mbit/s\"]]\n";
    } else {
        let _ = writeln!(text, "rate = \"{rate_mbps}Mbit/s\"");
    }
    // In `tbf`, the queue limit includes the packet that waits for tokens. The simulator's limit
    // does not include this packet.
    let is_token_bucket = settings.queue != QueueKind::Netem;
    let waiting = buffer_pkts - u64::from(is_token_bucket && buffer_pkts > 1);
    let _ = writeln!(text, "buffer = \"{waiting}pkt\"");
    if is_token_bucket {
        text += "burst = \"1600B\"\n";
    }
    if let QueueKind::TbfCodel { ce_threshold_ms } = settings.queue {
        let _ = writeln!(text, "ecn_threshold = \"{ce_threshold_ms}ms\"");
    }
    Ok(text)
}

/// Returns the keys that set random loss and reordering, both of which act after the bottleneck.
fn impairments(point: &ReferencePoint, settings: &Settings) -> String {
    let mut text = String::new();
    if point.loss > 0.0 {
        let _ = writeln!(text, "loss = {:?}", point.loss);
    }
    if let Some(Reorder { ratio, by_ms }) = settings.reorder {
        let _ = writeln!(text, "reorder = {{ ratio = {ratio:?}, by = \"{by_ms}ms\" }}");
    }
    text
}

/// Returns the scenario's text for the two links that have a flow's delays: the link right of the
/// routers and the link left of the routers.
fn delays(
    point: &ReferencePoint,
    settings: &Settings,
    (number, rtt_ms): (usize, f64),
) -> Result<String, String> {
    // With reordering, the delay on the right is the `by` of `reorder`, which some packets skip,
    // and not the right link's `delay`. The rest of the RTT is on the left.
    let [right_ms, left_ms] = match settings.reorder {
        Some(Reorder { by_ms, .. }) => [0.0, rtt_ms - by_ms],
        None => [rtt_ms / 2.0; 2],
    };
    let right = format!(
        "[[links]]\nname = \"right{number}\"\ndelay = \"{right_ms:.6}ms\"\n{}{}",
        impairments(point, settings),
        managed::slot_key("slot", settings.data_slot.as_deref())?
    );
    let left = format!(
        "[[links]]\nname = \"left{number}\"\ndelay = \"{left_ms:.6}ms\"\n{}",
        managed::slot_key("slot", settings.ack_slot.as_deref())?
    );
    Ok(right + &left)
}

/// Returns the keys that set a flow's paths and delays.
fn route(settings: &Settings, layout: Layout, (number, rtt_ms): (usize, f64)) -> String {
    if layout == Layout::Paths {
        let back = if settings.reverse == Reverse::Free { "" } else { "\"back\", " };
        let rightwards = format!("[\"bottleneck\", \"right{number}\"]");
        let leftwards = format!("[{back}\"left{number}\"]");
        let is_backwards = matches!(settings.reverse, Reverse::TwoWay { .. }) && number % 2 == 1;
        let [path, return_path] =
            if is_backwards { [leftwards, rightwards] } else { [rightwards, leftwards] };
        return format!("path = {path}\nreturn_path = {return_path}\n");
    }
    let held_back_ms = settings.reorder.map_or(0.0, |reorder| reorder.by_ms);
    let has_slots = settings.data_slot.is_some() || settings.ack_slot.is_some();
    let one_way_ms = if has_slots { 0.0 } else { (rtt_ms - held_back_ms) / 2.0 };
    let path = match (layout, number) {
        (Layout::TwoHops, 0) => "path = [\"first\", \"second\"]\n",
        (Layout::TwoHops, 1) => "path = [\"first\"]\n",
        (Layout::TwoHops, _) => "path = [\"second\"]\n",
        _ => "",
    };
    format!("left_delay = \"0ms\"\nright_delay = \"{one_way_ms:.6}ms\"\n{path}")
}

fn application(application: Application) -> String {
    match application {
        Application::Endless => String::new(),
        Application::Interval { bytes, every_ms } => {
            format!("write = {{ bytes = \"{bytes}B\", every = \"{every_ms}ms\" }}\n")
        }
        Application::Train { bytes, count, gap_ms } => {
            format!("train = {{ bytes = \"{bytes}B\", count = {count}, gap = \"{gap_ms}ms\" }}\n")
        }
    }
}

/// Returns the parameters of the congestion control `cc`: the module parameters of the recorded
/// Linux run, and parameters that depend on the kernel's version.
fn cc_params(point: &ReferencePoint, settings: &Settings, cc: &str) -> String {
    let mut params = Vec::new();
    let family = Algorithm::from_name(cc).and_then(Algorithm::family);
    if family == Algorithm::Bbr2.family() {
        // The port of BBRv2 alpha to later kernels uses a kernel constant that became eight times
        // as large in Linux 5.19.
        if !point.kernel.starts_with("5.") {
            params.push("gso_max_size = 524280".to_owned());
        }
        if settings.bbr2.ecn_enable {
            params.push("ecn_enable = true".to_owned());
        }
        if let Some(us) = settings.bbr2.ecn_max_rtt_us {
            params.push(format!("ecn_max_rtt_us = {us}"));
        }
    }
    if params.is_empty() {
        return String::new();
    }
    format!("cc_params = {{ {} }}\n", params.join(", "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::scenario_text;
    use crate::reference::{ReferencePoint, parse};
    use crate::settings::Settings;
    use expect_test::{Expect, expect};

    const HEADER: &str = "kernel,scenario,family,seed,flow,cc,start_s,flow_rtt_ms,rate_mbps,buffer_pkts,loss,duration_s,settings";

    /// Returns a test point with these settings and two flows, with RTTs of 20 and 60 ms.
    fn point(family: &str, loss: &str, settings: &str) -> ReferencePoint {
        let row = |flow: &str| format!("6.12,x,{family},1,{flow},10,50,{loss},15,{settings}\n");
        let text = format!("{HEADER}\n{}{}", row("0,bbr,0.1,20"), row("1,cubic,1.1,60"));
        parse(Path::new("summary.csv"), &text).unwrap().remove(0)
    }

    /// Checks the part of our scenario's text that describes the network and the paths of a test
    /// point.
    fn check(family: &str, loss: &str, settings: &str, expected: &Expect) {
        let point = point(family, loss, settings);
        let text = scenario_text(&point, &point.seeds[0], 1).unwrap();
        super::run(&point, &point.seeds[0], 1).unwrap();
        let lines = text.lines().filter(|line| {
            !["title", "duration", "seed", "sample", "clock_step", "start", "cc"]
                .iter()
                .any(|key| line.starts_with(key))
        });
        let lines: Vec<&str> = lines.chain([""]).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    fn check_error(family: &str, loss: &str, settings: &str, expected: &Expect) {
        expected.assert_eq(&Settings::of(&point(family, loss, settings)).unwrap_err());
    }

    #[test]
    fn a_way_back_for_acks_combines_with_loss_and_rtts_of_their_own() {
        check(
            "r_random",
            "0.01",
            "sender_qdisc=fq;rcvlowat=65536;ack_rate_mbps=0.634;ack_buffer_pkts=20;tso=on",
            &expect![[r#"
                [stack]
                rcvlowat = "65536B"
                tso = "whole"
                sender_qdisc = "fq"
                [bottleneck]
                rate = "10Mbit/s"
                buffer = "50pkt"
                [[links]]
                name = "back"
                rate = "0.634Mbit/s"
                buffer = "20pkt"
                [[links]]
                name = "right0"
                delay = "10.000000ms"
                loss = 0.01
                [[links]]
                name = "left0"
                delay = "10.000000ms"
                [[links]]
                name = "right1"
                delay = "30.000000ms"
                loss = 0.01
                [[links]]
                name = "left1"
                delay = "30.000000ms"
                [[flows]]
                path = ["bottleneck", "right0"]
                return_path = ["back", "left0"]
                [[flows]]
                path = ["bottleneck", "right1"]
                return_path = ["back", "left1"]
            "#]],
        );
    }

    #[test]
    fn two_way_traffic_combines_with_loss_and_reordering_and_rtts_of_their_own() {
        check(
            "r_random",
            "0.01",
            "rev_rate_mbps=5;rev_buffer_pkts=12;reorder_pct=2;reorder_ms=3",
            &expect![[r#"
                [stack]
                [bottleneck]
                rate = "10Mbit/s"
                buffer = "50pkt"
                [[links]]
                name = "back"
                rate = "5Mbit/s"
                buffer = "12pkt"
                [[links]]
                name = "right0"
                delay = "0.000000ms"
                loss = 0.01
                reorder = { ratio = 0.02, by = "3ms" }
                [[links]]
                name = "left0"
                delay = "17.000000ms"
                [[links]]
                name = "right1"
                delay = "0.000000ms"
                loss = 0.01
                reorder = { ratio = 0.02, by = "3ms" }
                [[links]]
                name = "left1"
                delay = "57.000000ms"
                [[flows]]
                path = ["bottleneck", "right0"]
                return_path = ["back", "left0"]
                [[flows]]
                path = ["back", "left1"]
                return_path = ["bottleneck", "right1"]
            "#]],
        );
    }

    #[test]
    fn both_ways_have_the_bottlenecks_kind_of_queue() {
        check(
            "8_ecn",
            "0",
            "ecn=1;ce_threshold_ms=5;rev_rate_mbps=5;rev_buffer_pkts=12",
            &expect![[r#"
                [stack]
                [bottleneck]
                rate = "10Mbit/s"
                buffer = "49pkt"
                burst = "1600B"
                ecn_threshold = "5ms"
                [[links]]
                name = "back"
                rate = "5Mbit/s"
                buffer = "11pkt"
                burst = "1600B"
                ecn_threshold = "5ms"
                [[links]]
                name = "right0"
                delay = "10.000000ms"
                [[links]]
                name = "left0"
                delay = "10.000000ms"
                [[links]]
                name = "right1"
                delay = "30.000000ms"
                [[links]]
                name = "left1"
                delay = "30.000000ms"
                [[flows]]
                path = ["bottleneck", "right0"]
                return_path = ["back", "left0"]
                ecn = true
                [[flows]]
                path = ["back", "left1"]
                return_path = ["bottleneck", "right1"]
                ecn = true
            "#]],
        );
    }

    #[test]
    fn a_discipline_combines_with_loss_and_slots() {
        check(
            "9_codel",
            "0.01",
            "qdisc=codel limit 1000;ack_slot=4ms 4ms;data_slot=5ms 5ms packets 4 bytes 5000",
            &expect![[r#"
                [stack]
                [bottleneck]
                rate = "10Mbit/s"
                queue = { discipline = "codel", limit = "1000pkt" }
                [[links]]
                name = "right0"
                delay = "10.000000ms"
                loss = 0.01
                slot = { min_delay = "5000000ns", max_delay = "5000000ns", packets = 4, bytes = "5000B" }
                [[links]]
                name = "left0"
                delay = "10.000000ms"
                slot = { min_delay = "4000000ns", max_delay = "4000000ns" }
                [[links]]
                name = "right1"
                delay = "30.000000ms"
                loss = 0.01
                slot = { min_delay = "5000000ns", max_delay = "5000000ns", packets = 4, bytes = "5000B" }
                [[links]]
                name = "left1"
                delay = "30.000000ms"
                slot = { min_delay = "4000000ns", max_delay = "4000000ns" }
                [[flows]]
                path = ["bottleneck", "right0"]
                return_path = ["left0"]
                [[flows]]
                path = ["bottleneck", "right1"]
                return_path = ["left1"]
            "#]],
        );
    }

    #[test]
    fn what_cannot_be_combined_is_refused() {
        check_error(
            "r",
            "0",
            "rev_rate_mbps=5;rev_buffer_pkts=1;ack_rate_mbps=5",
            &expect!["`rev_rate_mbps` cannot be combined with `ack_rate_mbps`"],
        );
        check_error(
            "r",
            "0",
            "qdisc=codel;ack_rate_mbps=5;ack_buffer_pkts=9",
            &expect!["`qdisc` cannot be combined with `ack_rate_mbps`"],
        );
        check_error(
            "r",
            "0.1",
            "qdisc=codel;rate2_mbps=5",
            &expect!["`rate2_mbps` cannot be combined with `loss`"],
        );
        check_error(
            "r",
            "0",
            "data_slot=1ms 1ms;reorder_pct=1;reorder_ms=1",
            &expect!["`data_slot` cannot be combined with `reorder_ms`"],
        );
        check_error(
            "r",
            "0",
            "bottleneck=tbf+pfifo;ce_threshold_ms=1",
            &expect!["`bottleneck` cannot be combined with `ce_threshold_ms`"],
        );
        check_error(
            "r",
            "0",
            "police=rate 1mbit burst 32k",
            &expect!["`police`: expected `qdisc` as well"],
        );
        check_error(
            "6_step",
            "0",
            "qdisc=codel",
            &expect!["`qdisc` cannot be combined with the rates of `6_step`"],
        );
        check_error(
            "r",
            "0",
            "app_bytes=1;app_interval_ms=1;transfer_bytes=1",
            &expect!["`app_bytes` cannot be combined with `transfer_bytes`"],
        );
    }

    #[test]
    fn a_setting_alone_or_with_a_wrong_value_is_refused() {
        check_error(
            "r",
            "0",
            "ack_rate_mbps=5",
            &expect!["`ack_rate_mbps`: expected `ack_buffer_pkts` as well"],
        );
        check_error(
            "r",
            "0",
            "ack_buffer_pkts=5",
            &expect!["`ack_buffer_pkts`: expected `ack_rate_mbps` as well"],
        );
        check_error(
            "r",
            "0",
            "reorder_pct=5",
            &expect!["`reorder_pct`: expected `reorder_ms` as well"],
        );
        check_error("r", "0", "count=5", &expect!["`count`: expected `transfer_bytes` as well"]);
        check_error("r", "0", "rate2_mbps=5", &expect!["`rate2_mbps`: expected `qdisc` as well"]);
        check_error(
            "r",
            "0",
            "reorder_ms=30;reorder_pct=1",
            &expect!["reorder_ms: found 30, expected at most the RTT of flow 0, 20 ms"],
        );
        check_error(
            "r",
            "0",
            "ack_rate_mbps=fast;ack_buffer_pkts=5",
            &expect![[r#"ack_rate_mbps: found "fast", expected a number"#]],
        );
        check_error("r", "0", "tso=yes", &expect![[r#"tso: found "yes", expected 1 or 0"#]]);
        check_error(
            "r",
            "0",
            "bottleneck=hfsc",
            &expect![[r#"bottleneck: found "hfsc", expected tbf+pfifo"#]],
        );
        check_error(
            "r",
            "0",
            "ack_loss=0.1",
            &expect!["unknown key `ack_loss` in column `settings`"],
        );
    }
}
