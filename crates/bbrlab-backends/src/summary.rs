//! The parts of summaries that the back ends `linux`, `host` and `ns3` compute in the same way,
//! from the periodic samples and the counters that their programs write.

use bbrlab_run::{Fct, FlowGroup, FlowSummary, GroupFct, Run, RunSummary, jain, mean, percentile};

use crate::windows::{ReadBytes, Times};

pub(super) const MEGA: f64 = 1e6;
pub(super) const BITS: f64 = 8.0;

/// Returns a rate in Mbit/s; `None` if the time is not positive.
pub(super) fn rate_mbps(bytes: f64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| bytes * BITS / MEGA / seconds)
}

/// Returns the values in ascending order.
pub(super) fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Returns the name of a flow: the name of its class (`[[flows]]` table), followed by a number if
/// the class has several flows.
pub(super) fn flow_name(run: &Run, id: usize) -> Option<String> {
    let of = run.flows[id].class;
    let name = run.classes[of as usize].name.as_ref()?;
    let same = run.flows.iter().filter(|flow| flow.class == of).count();
    let before = run.flows[..id].iter().filter(|flow| flow.class == of).count();
    Some(if same == 1 { name.clone() } else { format!("{name}[{before}]") })
}

/// Returns the name of a link; for a private link, followed by the number of its flow in brackets.
pub(super) fn link_name(name: &str, owner: Option<u32>) -> String {
    owner.map_or(name.to_owned(), |flow| format!("{name}[{flow}]"))
}

/// Returns a flow's metrics of completion times. `ms` has the completion times of its transfers in
/// ascending order. `n` is `None` for a flow without transfers.
pub(super) fn fct(n: Option<u64>, ms: &[f64]) -> Fct {
    Fct {
        n,
        mean: mean(ms),
        p50: percentile(ms, 500),
        p95: percentile(ms, 950),
        p99: percentile(ms, 990),
    }
}

/// Returns a group's metrics of completion times. `ms` has the completion times of its transfers in
/// ascending order.
pub(super) fn group_fct(n: Option<u64>, ms: &[f64]) -> GroupFct {
    let Fct { n, mean, p50, p95, p99 } = fct(n, ms);
    GroupFct { n, mean, p50, p95, p99, ..GroupFct::default() }
}

/// Returns the last time at which any flow was active, or the end of the run if that is earlier; 0
/// without flows.
fn end_of_traffic(flows: &[FlowSummary], times: &Times) -> f64 {
    flows.iter().filter_map(|flow| flow.stop_s).fold(0.0, f64::max).min(times.end)
}

/// Returns the time from the first start of a flow to the last time at which a flow was active, in
/// seconds.
pub(super) fn active_s(flows: &[FlowSummary], times: &Times) -> f64 {
    end_of_traffic(flows, times) - times.first_start
}

/// Returns a summary with the names and hashes that identify the run, and the metrics of all flows
/// together. `bytes` is the number of bytes that all flows delivered in the whole run. `read` has,
/// for every flow, the bytes that its application had read at each sample; `None` if some flows are
/// not sampled.
pub(super) fn of_all_flows(
    run: &Run,
    (backend, version): (&str, &str),
    times: &Times,
    (flows, bytes): (&[FlowSummary], f64),
    read: Option<&[&ReadBytes]>,
) -> RunSummary {
    let stops = flows.iter().filter_map(|flow| flow.stop_s);
    let [all_active, steady] = times.competing(stops.fold(times.end, f64::min));
    let fairness = |window: Option<(f64, f64)>| {
        let (from_s, to_s) = window.filter(|_| flows.len() > 1)?;
        let shares: Vec<f64> = read?.iter().map(|flow| flow.between(from_s, to_s)).collect();
        jain(&shares)
    };
    let end = end_of_traffic(flows, times);
    let steady_goodput = times.steady().filter(|&from_s| from_s < end).and_then(|from_s| {
        let bytes: f64 = read?.iter().map(|flow| flow.between(from_s, end)).sum();
        rate_mbps(bytes, end - from_s)
    });
    RunSummary {
        scenario: run.scenario.clone(),
        scenario_hash: run.scenario_hash.clone(),
        profile: run.profile.name().to_owned(),
        backend: backend.to_owned(),
        backend_version: version.to_owned(),
        point: run.point.clone(),
        point_values: run.point_values.clone(),
        seed: run.seed,
        sim_s: times.end,
        goodput_mbps: rate_mbps(bytes, active_s(flows, times)),
        goodput_ss_mbps: steady_goodput,
        jain: fairness(all_active),
        jain_ss: fairness(steady),
        ..RunSummary::default()
    }
}

/// Returns the groups of a run in the order of its classes, each with its flows. `bytes` has the
/// delivered bytes of each flow. The only metrics that are set are each group's goodputs and its
/// share of the delivered bytes.
pub(super) fn groups<'f>(
    run: &Run,
    flows: &'f [FlowSummary],
    bytes: &[f64],
    active_s: f64,
) -> Vec<(FlowGroup, Vec<&'f FlowSummary>)> {
    let mut names: Vec<&str> = Vec::new();
    for class in &run.classes {
        if !names.contains(&class.group.as_str()) {
            names.push(&class.group);
        }
    }
    let total: f64 = bytes.iter().sum();
    let of_group = |name: &str| {
        let members: Vec<&FlowSummary> = flows.iter().filter(|flow| flow.group == name).collect();
        let own: f64 = members.iter().map(|flow| bytes[flow.id as usize]).sum();
        // A flow that has not started by the end of the run has no active time.
        let active = || members.iter().filter(|flow| flow.stop_s > flow.start_s);
        let starts = active().filter_map(|flow| flow.start_s);
        let stops = active().filter_map(|flow| flow.stop_s);
        let own_s = stops.fold(0.0, f64::max) - starts.fold(f64::INFINITY, f64::min);
        let group = FlowGroup {
            group: name.to_owned(),
            flows: members.len() as u64,
            goodput_mbps: rate_mbps(own, active_s),
            goodput_active_mbps: rate_mbps(own, own_s),
            share: (total > 0.0).then(|| own / total),
            ..FlowGroup::default()
        };
        (group, members)
    };
    names.into_iter().map(of_group).collect()
}
