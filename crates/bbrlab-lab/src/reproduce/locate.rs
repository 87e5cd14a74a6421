//! Finds the place of a run in a paper: its parameters under the papers' own names.

use bbrlab_link::Buffer;
use bbrlab_run::{Algorithm, FlowClass, ParamValue, Run};
use toml::{Table, Value};

/// A run's parameters under the keys that locate rows in the papers, in the order in which tables show them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place(Vec<(&'static str, Key)>);

/// Shown for a key that a run does not have, such as the lambda of anything but BBR+.
pub const NO_KEY: &str = "–";

#[derive(Clone, Debug, PartialEq)]
enum Key {
    Word(String),
    Number(f64),
}

/// The place of a run.
#[expect(clippy::cast_precision_loss, reason = "parameters as papers print them")]
pub(super) fn place_of(run: &Run, experiment: &str) -> Place {
    let mut keys = Vec::new();
    let first = run.class(0);
    keys.push(("algorithm", Key::Word(first.cc.name().to_owned())));
    if let Some(opponent) = run.classes.iter().map(|class| class.cc).find(|&cc| cc != first.cc) {
        keys.push(("opponent", Key::Word(opponent.name().to_owned())));
    }
    let number = |value: f64| Key::Number(value);
    if first.cc == Algorithm::BbrHsr {
        keys.push(("hsr_lambda", number(hsr_lambda(first))));
    }
    if let Some(link) = run.bottleneck.and_then(|link| run.links.get(link as usize)) {
        if let Some(rate) = link.rate.at_start() {
            keys.push(("bandwidth_mbps", number(rate.0 as f64 / 1e6)));
        }
        // Lanigan and Mahmud give the bottleneck's delay, the others the base RTT.
        if experiment.starts_with("lanigan2020") || experiment.starts_with("mahmud2020") {
            keys.push(("delay_ms", number(link.delay.0 as f64 / 1e6)));
        } else {
            keys.push(("rtt_ms", number(first.base_rtt.0 as f64 / 1e6)));
        }
        let swept = run.point.get("bottleneck.buffer").and_then(|value| value.as_str());
        let in_bdp =
            swept.and_then(|text| text.strip_suffix("bdp")).and_then(|n| n.trim().parse().ok());
        match (in_bdp, link.buffer) {
            (Some(bdp), _) => keys.push(("buffer_bdp", number(bdp))),
            (None, Buffer::Packets(packets)) if swept.is_some() => {
                keys.push(("buffer_packets", number(packets.0 as f64)));
            }
            _ => {}
        }
        if let Some(loss) = run.point.get("bottleneck.loss").and_then(serde_json::Value::as_f64) {
            keys.push(("loss_pct", number(loss * 100.0)));
        } else if link.loss.is_some() {
            keys.push(("loss_pct", number(0.0)));
        }
    }
    keys.push(("n_flows", number(run.flows.len() as f64)));
    Place(keys)
}

/// BBR+'s lambda.
#[expect(clippy::cast_precision_loss, reason = "a small number")]
fn hsr_lambda(class: &FlowClass) -> f64 {
    let default = Algorithm::BbrHsr.params().iter().find(|param| param.name == "lambda");
    let given = class.cc_params.iter().find(|(name, _)| name == "lambda");
    match given.map(|(_, value)| value) {
        Some(ParamValue::Float(lambda)) => *lambda,
        Some(ParamValue::Int(lambda)) => *lambda as f64,
        _ => default.and_then(|param| param.default.parse().ok()).expect("a number in the list"),
    }
}

impl Place {
    /// Whether a printed row has the same parameters, as far as both have them.
    pub(super) fn matches(&self, row: &Table) -> bool {
        self.0.iter().all(|(name, here)| match (row.get(*name), here) {
            (None, _) => true,
            (Some(Value::String(there)), Key::Word(here)) => there == here,
            (Some(Value::Float(there)), Key::Number(here)) => equal(*there, *here),
            #[expect(clippy::cast_precision_loss, reason = "parameters as papers print them")]
            (Some(Value::Integer(there)), Key::Number(here)) => equal(*there as f64, *here),
            _ => false,
        })
    }

    /// The keys that a table shows, with their values in words.
    pub(super) fn words(&self, shown: &[&'static str]) -> Vec<(String, String)> {
        shown
            .iter()
            .map(|name| {
                let value = self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value);
                let word = match value {
                    Some(Key::Word(word)) => word.clone(),
                    // Written without an exponent: percentages go down to 10^-6.
                    Some(Key::Number(value)) => {
                        let text = format!("{value:.9}");
                        text.trim_end_matches('0').trim_end_matches('.').to_owned()
                    }
                    None => NO_KEY.to_owned(),
                };
                ((*name).to_owned(), word)
            })
            .collect()
    }
}

/// The algorithm, and the keys whose values differ between places.
pub(super) fn shown_keys(places: &[Place]) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for (name, _) in places.iter().flat_map(|place| &place.0) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    names.retain(|name| {
        let value = |place: &Place| {
            place.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
        };
        *name == "algorithm" || places.iter().any(|place| value(place) != value(&places[0]))
    });
    names
}

fn equal(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
}
