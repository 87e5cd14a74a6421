//! The trust section of a report: which parts of a result were validated against what, with
//! numbers, and which were not.
//!
//! | file | content |
//! | --- | --- |
//! | `facts.rs` | what was validated, with the pages that have the numbers |
//! | `coverage.rs` | rates, RTTs and buffers at which runs were compared with Linux |
//! | `subject.rs` | the parts of a result |

mod coverage;
mod facts;
mod subject;
#[cfg(test)]
mod tests;

use coverage::COVERAGE;
pub use facts::Evidence;
use facts::{About, FACTS};
pub use subject::Subject;

/// A line of the trust section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustLine {
    /// The part of the result.
    pub part: String,
    /// The kind of evidence that validates the part.
    pub evidence: Evidence,
    /// A description of the comparison, with its numbers.
    pub says: String,
    /// The documentation page with these numbers, as a path in the repository; empty if nothing was
    /// validated.
    pub page: &'static str,
}

impl TrustLine {
    /// Returns the CSS class of the evidence.
    pub(crate) fn class(&self) -> &'static str {
        self.evidence.class()
    }
}

/// The largest number of flows in the comparisons with Linux.
const FLOWS_COMPARED: usize = 16;

/// The least number of seeds with which means of competing flows can be compared with Linux's.
const SEEDS_ENOUGH: usize = 5;

/// Returns the lines about a result of the simulator, computed with this many seeds per sweep
/// point.
#[must_use]
pub fn trust(subject: &Subject, seeds: usize) -> Vec<TrustLine> {
    let mut lines = Vec::new();
    let of = |about: About, name: &str| -> TrustLine {
        let part = format!("{}{name}", prefix(about));
        let fact = FACTS.iter().find(|fact| fact.about == about && fact.name == name);
        fact.map_or_else(
            || TrustLine {
                part: part.clone(),
                evidence: Evidence::None,
                says: "no comparison".to_owned(),
                page: "",
            },
            |fact| TrustLine {
                part: part.clone(),
                evidence: fact.evidence,
                says: fact.says.to_owned(),
                page: fact.page,
            },
        )
    };
    let order = [
        About::Algorithm,
        About::Profile,
        About::Queue,
        About::Rate,
        About::Loss,
        About::Path,
        About::Source,
        About::Host,
    ];
    let is_linux = subject
        .parts
        .iter()
        .any(|&(about, name)| about == About::Profile && name.starts_with("linux"));
    for about in order {
        for &(_, name) in subject.parts.iter().filter(|&&(own, _)| own == about) {
            lines.push(of(about, name));
            if about == About::Algorithm && is_linux {
                lines.push(ranges(subject, name));
            }
        }
        if about == About::Algorithm {
            lines.extend(of_controls(subject));
        }
    }
    lines.extend(of_flows(subject, seeds, is_linux));
    lines
}

/// Returns the line for results that the simulator did not compute.
#[must_use]
pub fn trust_elsewhere(backend: &str) -> Vec<TrustLine> {
    vec![TrustLine {
        part: "all values".to_owned(),
        evidence: Evidence::None,
        says: format!(
            "computed or measured by {backend}: the validation of bbrlab’s simulator does not apply"
        ),
        page: "",
    }]
}

fn prefix(about: About) -> &'static str {
    match about {
        About::Algorithm => "congestion control ",
        About::Profile => "stack, profile ",
        About::Queue => "queue discipline ",
        About::Loss => "random loss, ",
        About::Rate => "rate of a link, ",
        About::Path => "path, ",
        About::Source => "source, ",
        About::Host => "hosts, ",
    }
}

/// Returns the line that states whether whole runs of a congestion control were compared with Linux
/// at this result's rates, RTTs and buffers.
fn ranges(subject: &Subject, cc: &'static str) -> TrustLine {
    let places = subject.places.get(cc).copied().unwrap_or_default();
    let words = |range: Option<subject::Range>, unit: &str| {
        range.map_or_else(|| "no limit".to_owned(), |range| format!("{} {unit}", range.words()))
    };
    let part = format!(
        "whole runs of {cc}: {}, {}, buffer {}",
        words(places.rate_mbps, "Mbit/s"),
        words(places.rtt_ms, "ms"),
        words(places.buffer_bdp, "BDP")
    );
    let Some(known) = COVERAGE.iter().find(|row| row.cc == cc) else {
        let says = "no run on a real Linux stack was compared".to_owned();
        return TrustLine { part, evidence: Evidence::None, says, page: coverage::PAGE };
    };
    let compared = format!(
        "{} of the runs on Linux have this congestion control, with {} Mbit/s, {} ms, {} BDP; goodput differs by at most {:.1} % in \
         95 % of the comparisons, and by at most {:.1} % in all",
        known.points,
        known.rate_mbps.words(),
        known.rtt_ms.words(),
        known.buffer_bdp.words(),
        known.goodput.0,
        known.goodput.1
    );
    let outside = known.outside(&places);
    let (evidence, says) = if outside.is_empty() {
        (Evidence::Compared, compared)
    } else {
        (
            Evidence::None,
            format!("outside of the compared ranges: {}; {compared}", outside.join(", ")),
        )
    };
    TrustLine { part, evidence, says, page: coverage::PAGE }
}

/// Returns the lines about changed parameters, about congestion controls that are not part of
/// bbrlab, and about UDP.
fn of_controls(subject: &Subject) -> Vec<TrustLine> {
    let changed = subject.changed.iter().map(|cc| TrustLine {
        part: format!("parameters of {cc}"),
        evidence: Evidence::Tested,
        says: "other values than the defaults; the comparisons with Linux used the defaults"
            .to_owned(),
        page: "docs/kernel-traces.md",
    });
    let outside = subject.outside.iter().map(|name| TrustLine {
        part: format!("congestion control {name}"),
        evidence: Evidence::None,
        says: "not a part of bbrlab, so not validated here".to_owned(),
        page: "docs/custom-congestion-control.md",
    });
    let udp = subject.has_udp.then(|| TrustLine {
        part: "UDP".to_owned(),
        evidence: Evidence::Tested,
        says: "datagrams were not compared with Linux".to_owned(),
        page: "docs/traffic.md",
    });
    changed.chain(outside).chain(udp).collect()
}

/// Returns the lines about the number of flows and of seeds.
fn of_flows(subject: &Subject, seeds: usize, is_linux: bool) -> Vec<TrustLine> {
    let mut lines = Vec::new();
    if subject.flows_max > FLOWS_COMPARED {
        lines.push(TrustLine {
            part: format!("{} flows", subject.flows_max),
            evidence: Evidence::None,
            says: format!("the comparisons with Linux have at most {FLOWS_COMPARED} flows"),
            page: coverage::PAGE,
        });
    }
    if subject.flows_max > 1 && is_linux {
        let (evidence, says) = if seeds >= SEEDS_ENOUGH {
            let says = "means over seeds: in all 82 comparisons with Linux, Jain’s index differs by at most 0.03";
            (Evidence::Compared, says.to_owned())
        } else {
            let seeds = if seeds == 1 { "one seed".to_owned() } else { format!("{seeds} seeds") };
            let says = format!(
                "{seeds} per point: means over five seeds or more agree with Linux, but single runs with competing flows can \
                 differ"
            );
            (Evidence::None, says)
        };
        lines.push(TrustLine {
            part: "shares of competing flows".to_owned(),
            evidence,
            says,
            page: if evidence == Evidence::Compared { coverage::PAGE } else { "docs/trust.md" },
        });
    }
    lines
}
