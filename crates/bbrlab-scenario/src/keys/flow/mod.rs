//! `[[flows]]`: algorithm, start and stop, path, source and settings of flows.

mod cc;
mod frames;
mod keys;
mod pace;
mod path;
mod read;
mod source;

use std::sync::Arc;

use bbrlab_cc::{Algorithm, Params};
use bbrlab_units::Span;

use crate::language::canonical::Writer;
use crate::language::document::At;
use crate::language::key::write_keys;
use crate::language::reader::Placed;
use bbrlab_run::{FlowSettings, Outside};

use cc::UDP;
pub(crate) use cc::{PLUGIN, algorithms, is_cc_name};
pub(crate) use keys::FLOW_KEYS;
use source::SourceSpec;

/// The largest number of flows of one run. The engine's event keys have 24 bits for the number of a
/// flow, which would permit more flows, but each flow takes kilobytes of memory.
pub(crate) const FLOWS_MAX: u64 = 1 << 20;

/// A `[[flows]]` table with the defaults filled in.
#[derive(Clone, Debug)]
pub(crate) struct FlowSpec {
    pub(crate) at: At,
    pub(crate) cc: Algorithm,
    pub(crate) cc_params: Params,
    /// The custom congestion control; `None` if the flow uses the algorithm in `cc`.
    pub(crate) outside: Option<Arc<Outside>>,
    /// Whether the flow sends UDP datagrams, as `cc = "udp"` in a scenario requests. For a UDP
    /// flow, the field `cc` is unused.
    pub(crate) is_udp: bool,
    pub(crate) name: Option<String>,
    pub(crate) group: Option<String>,
    pub(crate) rtt: Option<Placed<Span>>,
    pub(crate) left_delay: Option<Placed<Span>>,
    pub(crate) right_delay: Option<Placed<Span>>,
    pub(crate) left_link: Option<Placed<Arc<str>>>,
    pub(crate) right_link: Option<Placed<Arc<str>>>,
    pub(crate) path: Option<Vec<Placed<Arc<str>>>>,
    pub(crate) return_path: Option<Vec<Placed<Arc<str>>>>,
    pub(crate) count: u64,
    pub(crate) start: Span,
    pub(crate) start_step: Span,
    pub(crate) start_jitter: Span,
    pub(crate) stop: Option<Span>,
    pub(crate) host: Option<String>,
    pub(crate) sender_host: Option<String>,
    pub(crate) mss: Option<u32>,
    pub(crate) source: SourceSpec,
    pub(crate) settings: FlowSettings,
}

impl Default for FlowSpec {
    fn default() -> Self {
        Self {
            at: At::NOWHERE,
            cc: Algorithm::Reno,
            cc_params: Params::new(),
            outside: None,
            is_udp: false,
            name: None,
            group: None,
            rtt: None,
            left_delay: None,
            right_delay: None,
            left_link: None,
            right_link: None,
            path: None,
            return_path: None,
            count: 1,
            start: Span::ZERO,
            start_step: Span::ZERO,
            start_jitter: Span::ZERO,
            stop: None,
            host: None,
            sender_host: None,
            mss: None,
            source: SourceSpec::default(),
            settings: FlowSettings::default(),
        }
    }
}

impl FlowSpec {
    /// Returns the name of the flow's congestion control, or `udp`.
    pub(crate) fn cc_name(&self) -> &str {
        match &self.outside {
            Some(outside) => &outside.name,
            None if self.is_udp => UDP,
            None => self.cc.name(),
        }
    }

    /// Returns whether the flow's congestion control responds to the share of marked packets.
    pub(crate) fn answers_share_of_marks(&self) -> bool {
        self.outside.as_ref().map_or_else(
            || self.cc.answers_share_of_marks(&self.cc_params),
            |outside| outside.answers_share_of_marks,
        )
    }

    /// Returns the largest number of flows of this table that can be open at the same time.
    pub(crate) fn places(&self) -> u64 {
        self.source.arrivals.as_ref().map_or(self.count, |arrivals| arrivals.at_most().into())
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.table_always("[[flows]]");
        write_keys(&FLOW_KEYS, self, out);
    }
}
