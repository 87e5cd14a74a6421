//! The keys that locate a run in the papers' tables, computed from the run's parameters.

use bbrlab_link::{Buffer, Link};
use bbrlab_run::{Algorithm, ParamValue, Run};

use crate::papers::Key;

/// Names and values of keys, in the order in which tables show them.
pub(crate) type Keys = Vec<(&'static str, Key)>;

/// Returns the algorithm keys of a run: the algorithm under test, which the first flow uses; the
/// opponent, if a flow uses another algorithm; and lambda, if the algorithm under test is BBR+.
pub(crate) fn algorithms(run: &Run) -> Keys {
    let first = run.class(0).cc;
    let mut keys = vec![("algorithm", Key::word(first.name()))];
    if let Some(opponent) = run.classes.iter().map(|class| class.cc).find(|&cc| cc != first) {
        keys.push(("opponent", Key::word(opponent.name())));
    }
    if first == Algorithm::BbrHsr {
        keys.push(("hsr_lambda", Key::Number(parameter(run, "lambda"))));
    }
    keys
}

/// Returns a parameter of the first flow's algorithm: the value that the run sets, otherwise the
/// default.
#[expect(clippy::cast_precision_loss, reason = "a small number")]
pub(crate) fn parameter(run: &Run, name: &str) -> f64 {
    let class = run.class(0);
    let default = class.cc.params().iter().find(|param| param.name == name);
    match class.cc_params.iter().find(|(given, _)| given == name).map(|(_, value)| value) {
        Some(ParamValue::Float(value)) => *value,
        Some(ParamValue::Int(value)) => *value as f64,
        _ => default.and_then(|param| param.default.parse().ok()).expect("a numeric default"),
    }
}

/// Returns the bottleneck link of a run, if there is one.
pub(crate) fn bottleneck(run: &Run) -> Option<&Link> {
    run.bottleneck_link()
}

/// Returns the bottleneck's rate at the start of the run, as a key.
#[expect(clippy::cast_precision_loss, reason = "rates are below 2^53 bit/s")]
pub(crate) fn bandwidth(run: &Run) -> Option<(&'static str, Key)> {
    let rate = bottleneck(run)?.rate.at_start()?;
    Some(("bandwidth_mbps", Key::Number(rate.0 as f64 / 1e6)))
}

/// Returns the bottleneck's one-way delay as a key.
#[expect(clippy::cast_precision_loss, reason = "delays are below 2^53 ns")]
pub(crate) fn delay(run: &Run) -> Option<(&'static str, Key)> {
    Some(("delay_ms", Key::Number(bottleneck(run)?.delay.0 as f64 / 1e6)))
}

/// Returns the first flow's base RTT as a key.
#[expect(clippy::cast_precision_loss, reason = "RTTs are below 2^53 ns")]
pub(crate) fn rtt(run: &Run) -> (&'static str, Key) {
    ("rtt_ms", Key::Number(run.class(0).base_rtt.0 as f64 / 1e6))
}

/// Returns the bottleneck's buffer as a key, in the unit of the sweep (BDP or packets), or `None`
/// if it is not swept in one of these units. The packets of `device_queue` are not included.
pub(crate) fn buffer(run: &Run) -> Option<(&'static str, Key)> {
    let swept = run.point.get("bottleneck.buffer").and_then(|value| value.as_str())?;
    let in_unit = |unit: &str| swept.strip_suffix(unit).and_then(|n| n.trim().parse().ok());
    let bdp = in_unit("bdp").map(|bdp| ("buffer_bdp", Key::Number(bdp)));
    bdp.or_else(|| Some(("buffer_packets", Key::Number(in_unit("pkt")?))))
}

/// Returns the bottleneck's buffer as a key, in packets; `None` if the buffer is not counted in
/// packets.
#[expect(clippy::cast_precision_loss, reason = "buffers have fewer than 2^53 packets")]
pub(crate) fn buffer_packets(run: &Run) -> Option<(&'static str, Key)> {
    match bottleneck(run)?.buffer {
        Buffer::Packets(packets) => Some(("buffer_packets", Key::Number(packets.0 as f64))),
        _ => None,
    }
}

/// Returns the second flow's base RTT as a key.
#[expect(clippy::cast_precision_loss, reason = "RTTs are below 2^53 ns")]
pub(crate) fn second_rtt(run: &Run) -> Option<(&'static str, Key)> {
    let second = run.flows.get(1).map(|flow| &run.classes[flow.class as usize])?;
    Some(("rtt2_ms", Key::Number(second.base_rtt.0 as f64 / 1e6)))
}

/// Returns the bottleneck's random loss in percent as a key, or `None` if the loss is not swept.
pub(crate) fn loss(run: &Run) -> Option<(&'static str, Key)> {
    let loss = run.point.get("bottleneck.loss").and_then(serde_json::Value::as_f64);
    Some(("loss_pct", Key::Number(loss? * 100.0)))
}

/// Returns the number of flows as a key.
#[expect(clippy::cast_precision_loss, reason = "a run has fewer than 2^53 flows")]
pub(crate) fn flows(run: &Run) -> (&'static str, Key) {
    ("n_flows", Key::Number(run.flows.len() as f64))
}
