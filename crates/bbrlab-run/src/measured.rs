//! Creates the [`Run`] of an imported measurement, because code that draws plots requires a `Run`.
//! A measurement has no scenario, so this `Run` has only values from the measured results: names,
//! congestion controls and times.

use std::sync::Arc;

use bbrlab_cc::{Algorithm, Params};
use bbrlab_stack::Stack;
use bbrlab_units::{Span, Time};

use crate::flow_settings::FlowSettings;
use crate::profile::Profile;
use crate::record::{FlowSummary, RunSummary, Series};
use crate::run::{Flow, FlowClass, Outside, Run, Sample, Source};

/// Payload of a segment on Ethernet with timestamps.
const MSS: u32 = 1448;

/// The smallest sample period that [`Run::measured`] sets, even if the rows of each flow in the
/// time series are closer together.
const PERIOD_MIN: Span = Span::from_millis(1);

impl Run {
    /// Returns the run of a measurement. The run has one class per flow and no link; the sample
    /// period is the longest time between two consecutive rows of a flow, but at least 1 ms. This
    /// run cannot be simulated.
    ///
    /// # Panics
    /// Panics if `summary` has 2^32 flows or more.
    #[must_use]
    pub fn measured(summary: &RunSummary, series: &Series) -> Self {
        let flows = summary.flows.iter().enumerate().map(|(class, flow)| Flow {
            class: u32::try_from(class).expect("flows are numbered in 32 bits"),
            start: Time(nanoseconds(flow.start_s.unwrap_or(0.0))),
            stop: flow.stop_s.map(|stop_s| Time(nanoseconds(stop_s))),
        });
        Self {
            scenario: summary.scenario.clone(),
            title: String::new(),
            scenario_hash: summary.scenario_hash.clone(),
            profile: Profile::Linux,
            point: summary.point.clone(),
            point_values: summary.point_values.clone(),
            seed: summary.seed,
            duration: Span(nanoseconds(summary.sim_s)),
            sample: Sample::Every(period(summary.flows.len(), series)),
            flow_series: true,
            queue_series: true,
            stack: Stack::default(),
            links: Vec::new(),
            link_tables: Vec::new(),
            bottleneck: None,
            classes: summary.flows.iter().map(class).collect(),
            flows: flows.collect(),
        }
    }
}

fn class(flow: &FlowSummary) -> FlowClass {
    let outside = Outside {
        name: flow.cc.clone(),
        source: String::new(),
        sha256: None,
        answers_share_of_marks: false,
    };
    FlowClass {
        name: flow.name.clone(),
        group: flow.group.clone(),
        cc: Algorithm::Reno,
        cc_params: Params::default(),
        outside: Some(Arc::new(outside)),
        is_udp: flow.cc == "udp",
        mss: MSS,
        host: 0,
        sender_host: 0,
        settings: FlowSettings::default(),
        source: Source::Unlimited,
        private_links: Vec::new(),
        forward: Vec::new(),
        reverse: Vec::new(),
        base_rtt: Span(0),
    }
}

/// Returns the longest time between two consecutive rows of the same flow, but at least
/// [`PERIOD_MIN`].
fn period(flows: usize, series: &Series) -> Span {
    let mut last: Vec<Option<f64>> = vec![None; flows];
    let mut longest = 0.0_f64;
    for (&time_s, &flow) in series.time_s.iter().zip(&series.flow) {
        if let Some(last) = last.get_mut(flow as usize) {
            longest = longest.max(last.map_or(0.0, |before| time_s - before));
            *last = Some(time_s);
        }
    }
    Span(nanoseconds(longest)).max(PERIOD_MIN)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times of a run, which are positive and far below 2^63 ns"
)]
fn nanoseconds(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e9).round() as u64
}
