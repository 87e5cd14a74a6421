//! Turns a reference point into a scenario of ours: its row, its settings and what its family implies.
//!
//! In the reference's network, a flow passes sender, router, bottleneck, router and receiver. Half of the RTT
//! lies behind the bottleneck and the other half on the way back, so the left access delay is 0. netem's queue
//! limit includes the packet in service, ours does not: `buffer_pkts` counts only packets that wait. When the
//! rate changes, netem keeps the departure times of packets that it has already accepted.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bbrlab_run::{Run, RunSummary};
use bbrlab_scenario::Scenario;

use super::reference::ReferencePoint;
use super::{LinuxError, managed};

/// Offset of t = 0 from the 1 ms tick for seeds 2 to 5, in microseconds.
const PHASE_US: [f64; 4] = [137.3, 411.9, 733.1, 288.7];

/// Families whose seed 2 was recorded before phases were set: only seeds 3 to 5 have one.
const SEED_2_WITHOUT_PHASE: [&str; 5] = ["2_loss", "3_two", "4_vs", "5_rtt", "7_many"];

/// One step of the rig's clock in nanoseconds. Timers are rounded up to it, so an application that writes at a
/// multiple of the sampling period writes just after the sample of that instant.
const CLOCK_STEP_NS: u32 = 256;

/// Settings that are known, by the keys of the column `settings`.
const KNOWN: [&str; 26] = [
    "ack_slot",
    "app_bytes",
    "app_interval_ms",
    "bottleneck",
    "ce_threshold_ms",
    "count",
    "data_slot",
    "ecn",
    "ecn_enable",
    "ecn_low",
    "ecn_max_rtt_us",
    "gap_ms",
    "hz",
    "police",
    "qdisc",
    "quickack",
    "rate2_mbps",
    "rcvlowat",
    "reorder_ms",
    "reorder_pct",
    "rev_buffer_pkts",
    "rev_rate_mbps",
    "rwnd",
    "sender_qdisc",
    "transfer_bytes",
    "tso",
];

/// The first setting that is not known.
pub(super) fn unknown_setting(point: &ReferencePoint) -> Option<&str> {
    point.settings.keys().map(String::as_str).find(|key| !KNOWN.contains(key))
}

/// How long after the tick the flows of that seed start, in seconds.
fn phase_s(point: &ReferencePoint, seed: u64) -> f64 {
    let has_none = seed == 2 && SEED_2_WITHOUT_PHASE.contains(&point.family.as_str());
    let place = usize::try_from(seed).ok().and_then(|seed| seed.checked_sub(2));
    match place.and_then(|place| PHASE_US.get(place)) {
        Some(us) if !has_none => us * 1e-6,
        _ => 0.0,
    }
}

/// A point as a run of ours with seed `seed` and the start times of the reference's run `reference`.
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

/// Gives the reference's runs the hash of our scenario for the point.
pub(super) fn name_runs(point: &mut ReferencePoint) -> Result<(), LinuxError> {
    for place in 0..point.seeds.len() {
        let seed = point.seeds[place].seed;
        let run = run(point, &point.seeds[place], seed)?;
        point.seeds[place].scenario_hash = run.scenario_hash;
    }
    Ok(())
}

/// The period of the reference's samples, over which its means are taken, in milliseconds.
fn sample_ms(point: &ReferencePoint) -> u32 {
    match point.family.as_str() {
        "7_many" if point.seeds[0].flows.len() == 16 => 40,
        "3_two" | "4_vs" | "5_rtt" | "6_step" | "7_many" => 20,
        family if family.starts_with("9_") => 20,
        _ => 10,
    }
}

/// The scenario with our seed `seed` and the start times of the reference's run `reference`.
fn scenario_text(
    point: &ReferencePoint,
    reference: &RunSummary,
    seed: u64,
) -> Result<String, LinuxError> {
    let settings = &point.settings;
    let mut text = String::new();
    let mut phase = phase_s(point, reference.seed);
    if settings.contains_key("app_interval_ms") {
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
    text += &stack(point);
    text += &match managed::links(point)? {
        Some(links) => links,
        None if settings.contains_key("rev_rate_mbps") => two_way_links(point, reference),
        None => {
            let one_way = reference.flows[0].rtt_base_ms / 2.0;
            bottleneck(point) + &managed::slots(point, one_way)?
        }
    };
    for (number, flow) in reference.flows.iter().enumerate() {
        let _ = writeln!(
            text,
            "[[flows]]\ncc = \"{}\"\nstart = \"{:.9}s\"",
            flow.cc,
            flow.start_s + phase
        );
        if settings.contains_key("rev_rate_mbps") {
            let [there, back] = if number % 2 == 0 { ["east", "west"] } else { ["west", "east"] };
            let _ = writeln!(text, "path = [\"{there}\"]\nreturn_path = [\"{back}\"]");
        } else {
            let held_back =
                settings.get("reorder_ms").and_then(|ms| ms.parse().ok()).unwrap_or(0.0);
            let one_way = (flow.rtt_base_ms - held_back) / 2.0;
            let one_way = if managed::has_slots(point) { 0.0 } else { one_way };
            let _ = writeln!(text, "left_delay = \"0ms\"\nright_delay = \"{one_way:.6}ms\"");
            text += managed::path(point, number);
        }
        text += &application(settings);
        text += ecn(settings);
        text += &cc_params(point, &flow.cc);
    }
    Ok(text)
}

fn stack(point: &ReferencePoint) -> String {
    let settings = &point.settings;
    let mut text = format!("[stack]\nclock_step = \"{CLOCK_STEP_NS}ns\"\n");
    // The sixteen flows at 1 Gbit/s read in pieces of 64 KiB, for the sake of the rig's speed.
    let is_sixteen = point.family == "7_many" && point.seeds[0].flows.len() == 16;
    let rcvlowat = settings.get("rcvlowat").map(String::as_str);
    if let Some(bytes) = rcvlowat.or(is_sixteen.then_some("65536")) {
        let _ = writeln!(text, "rcvlowat = \"{bytes}B\"");
    }
    if settings.get("tso").is_some_and(|tso| tso == "on") {
        text += "tso = \"whole\"\n";
    }
    if let Some(qdisc) = settings.get("sender_qdisc") {
        let _ = writeln!(text, "sender_qdisc = \"{qdisc}\"");
    }
    if let Some(hz) = settings.get("hz") {
        let _ = writeln!(text, "hz = {hz}");
    }
    if let Some(bytes) = settings.get("rwnd") {
        let _ = writeln!(text, "rwnd = \"{bytes}B\"");
    }
    if settings.contains_key("quickack") {
        text += "delack = { every = 1 }\n";
    }
    text
}

fn bottleneck(point: &ReferencePoint) -> String {
    let settings = &point.settings;
    let mut text = "[bottleneck]\nrate_change = \"keep\"\n".to_owned();
    if point.family == "6_step" {
        text += "rate = [[\"0s\", \"40Mbit/s\"], [\"40s\", \"80Mbit/s\"], [\"80s\", \"40Mbit/s\"], [\"120s\", \"80Mbit/s\"]]\n";
    } else {
        let _ = writeln!(text, "rate = \"{}Mbit/s\"", point.rate_mbps);
    }
    // In tbf, the queue limit includes the packet that waits for tokens.
    let is_token_bucket =
        settings.contains_key("bottleneck") || settings.contains_key("ce_threshold_ms");
    let waiting = point.buffer_pkts - u64::from(is_token_bucket && point.buffer_pkts > 1);
    let _ = writeln!(text, "buffer = \"{waiting}pkt\"");
    if is_token_bucket {
        text += "burst = \"1600B\"\n";
    }
    if let Some(ms) = settings.get("ce_threshold_ms") {
        let _ = writeln!(text, "ecn_threshold = \"{ms}ms\"");
    }
    if point.loss > 0.0 {
        let _ = writeln!(text, "loss = {:?}", point.loss);
    }
    if let (Some(pct), Some(ms)) = (settings.get("reorder_pct"), settings.get("reorder_ms")) {
        let ratio = pct.parse::<f64>().unwrap_or(0.0) / 100.0;
        let _ = writeln!(text, "reorder = {{ ratio = {ratio:?}, by = \"{ms}ms\" }}");
    }
    text
}

/// Both directions have a queue, which data and ACKs share.
fn two_way_links(point: &ReferencePoint, reference: &RunSummary) -> String {
    let one_way = reference.flows[0].rtt_base_ms / 2.0;
    let reverse = |key: &str| point.settings.get(key).cloned().unwrap_or_default();
    format!(
        "[[links]]\nname = \"east\"\nrate = \"{}Mbit/s\"\ndelay = \"{one_way}ms\"\nbuffer = \"{}pkt\"\n\
         [[links]]\nname = \"west\"\nrate = \"{}Mbit/s\"\ndelay = \"{one_way}ms\"\nbuffer = \"{}pkt\"\n",
        point.rate_mbps,
        point.buffer_pkts,
        reverse("rev_rate_mbps"),
        reverse("rev_buffer_pkts"),
    )
}

fn application(settings: &BTreeMap<String, String>) -> String {
    if let (Some(bytes), Some(ms)) = (settings.get("app_bytes"), settings.get("app_interval_ms")) {
        return format!("write = {{ bytes = \"{bytes}B\", every = \"{ms}ms\" }}\n");
    }
    if let (Some(bytes), Some(count), Some(gap)) =
        (settings.get("transfer_bytes"), settings.get("count"), settings.get("gap_ms"))
    {
        return format!("train = {{ bytes = \"{bytes}B\", count = {count}, gap = \"{gap}ms\" }}\n");
    }
    String::new()
}

fn ecn(settings: &BTreeMap<String, String>) -> &'static str {
    if settings.contains_key("ecn_low") {
        "ecn = \"low\"\n"
    } else if settings.contains_key("ecn") {
        "ecn = true\n"
    } else {
        ""
    }
}

/// The parameters of `cc`: those with which its module was loaded, and those that follow from the kernel's
/// version.
fn cc_params(point: &ReferencePoint, cc: &str) -> String {
    let mut params = Vec::new();
    if cc.starts_with("bbr2") {
        // The port of the BBRv2 alpha uses a kernel constant that became eight times as large in 5.19.
        if !point.kernel.starts_with("5.") {
            params.push("gso_max_size = 524280".to_owned());
        }
        if point.settings.contains_key("ecn_enable") {
            params.push("ecn_enable = true".to_owned());
        }
        if let Some(us) = point.settings.get("ecn_max_rtt_us") {
            params.push(format!("ecn_max_rtt_us = {us}"));
        }
    }
    if params.is_empty() {
        return String::new();
    }
    format!("cc_params = {{ {} }}\n", params.join(", "))
}
