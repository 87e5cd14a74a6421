//! The table of validations: parts of the simulator, the evidence for each part, and the numbers
//! that describe the agreement.
//!
//! Reports print these facts. Each number in these facts is also on a page of the documentation.
//! `quotes` repeats the page's words, and a test searches the page for them. A number that changes
//! on a page must therefore change in this table.

/// The kind of evidence that validates a part of the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The part gave the same integers, packets or times as the kernel's own code, without a
    /// difference.
    Exact,
    /// Runs were compared with another implementation, and numbers describe the agreement.
    Compared,
    /// The part is validated only by our own tests, which follow the text of a paper or standard,
    /// or a program's source.
    Tested,
    /// The part has no validation, or this run is outside of what was validated.
    None,
}

impl Evidence {
    /// Returns the evidence as text for readers.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Compared => "compared",
            Self::Tested => "own tests",
            Self::None => "not validated",
        }
    }

    /// Returns the CSS class of the evidence.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Compared => "compared",
            Self::Tested => "tested",
            Self::None => "none",
        }
    }
}

/// The subject of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// The decisions of a congestion control at each call. The fact's name is the name of the
    /// congestion control.
    Algorithm,
    /// The sender and the receiver of a profile.
    Profile,
    /// A queue discipline.
    Queue,
    /// A pattern of random loss.
    Loss,
    /// The kind of rate limit: constant, in steps, or by a token bucket.
    Rate,
    /// Another property of a path, such as reordering, a policer or a second link with a rate.
    Path,
    /// The data source of a flow, such as an application with pauses.
    Source,
    /// Settings of hosts.
    Host,
}

/// The validation of one part of the simulator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fact {
    pub about: About,
    pub name: &'static str,
    pub evidence: Evidence,
    /// A description of the comparison, with its numbers.
    pub says: &'static str,
    /// The documentation page with these numbers, as a path in the repository.
    pub page: &'static str,
    /// Texts that a test searches for on this page.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by tests"))]
    pub quotes: &'static [&'static str],
}

const fn fact(
    (about, name): (About, &'static str),
    evidence: Evidence,
    says: &'static str,
    page: &'static str,
    quotes: &'static [&'static str],
) -> Fact {
    Fact { about, name, evidence, says, page, quotes }
}

/// The fact about a congestion control that was compared, call by call, with recordings of the
/// kernel's code.
macro_rules! replayed {
    ($name:literal, $traces:literal, $rows:literal, $source:literal) => {
        fact(
            (About::Algorithm, $name),
            Evidence::Exact,
            concat!($rows, " calls recorded from ", $source, " in ", $traces, " traces, 0 differ"),
            concat!("docs/algorithms/", $name, ".md"),
            &[concat!($traces, " traces, ", $rows, " rows"), "0 mismatches"],
        )
    };
}

/// The fact about a congestion control that only our own tests validate, because no recorded calls
/// of a kernel's code exist for it.
macro_rules! by_text {
    ($name:literal, $says:literal, $($quote:literal),+) => {
        fact(
            (About::Algorithm, $name),
            Evidence::Tested,
            $says,
            concat!("docs/algorithms/", $name, ".md"),
            &[$($quote),+],
        )
    };
}

const FIDELITY: &str = "docs/fidelity.md";
const QUEUES: &str = "docs/fidelity-queues.md";
const TRUST: &str = "docs/trust.md";
const NS3: &str = "docs/fidelity-ns3.md";

/// The evidence for all profiles of ns-3.
const NS3_SAYS: &str = "one flow of CUBIC and one of Vegas send all of the first 1,000 packets within 1 us of ns-3 3.37; NewReno and BBR differ after 12 and 11 packets";
const NS3_QUOTES: &[&str] = &[
    "| `TcpCubic` | all 1,000 |",
    "| `TcpNewReno` | 12 |",
    "| `TcpVegas` | all 1,000 |",
    "| `TcpBbr` | 11 |",
];

/// The facts, grouped by subject: algorithms, profiles of stacks, queue disciplines and so on.
pub(super) const FACTS: &[Fact] = &[
    replayed!("bbr1", "42", "456,294", "Linux’s tcp_bbr.c"),
    fact(
        (About::Algorithm, "bbr2"),
        Evidence::Exact,
        "505,030 calls recorded from google/bbr’s v2alpha in 47 traces, 0 differ",
        "docs/algorithms/bbr2.md",
        &["47 traces with 505,030 rows", "0 mismatches"],
    ),
    fact(
        (About::Algorithm, "bbr2_exp"),
        Evidence::Exact,
        "104,000 calls recorded from google/bbr’s v2alpha with experimental ECN in 10 traces, all with ECN; 0 differ",
        "docs/algorithms/bbr2_exp.md",
        &["10 traces, all with ECN, 104,000 rows", "0 mismatches"],
    ),
    replayed!("bbr3", "42", "452,856", "google/bbr’s v3"),
    replayed!("cubic", "42", "570,360", "Linux’s tcp_cubic.c"),
    replayed!("reno", "36", "484,860", "Linux’s tcp_cong.c"),
    replayed!("vegas", "38", "527,995", "Linux’s tcp_vegas.c"),
    replayed!("dctcp", "13", "61,507", "Linux’s tcp_dctcp.c"),
    replayed!("bic", "12", "57,006", "Linux’s tcp_bic.c"),
    replayed!("htcp", "12", "57,002", "Linux’s tcp_htcp.c"),
    replayed!("illinois", "12", "57,004", "Linux’s tcp_illinois.c"),
    replayed!("highspeed", "12", "57,000", "Linux’s tcp_highspeed.c"),
    replayed!("scalable", "12", "57,000", "Linux’s tcp_scalable.c"),
    replayed!("veno", "12", "57,004", "Linux’s tcp_veno.c"),
    replayed!("westwood", "12", "57,018", "Linux’s tcp_westwood.c"),
    replayed!("yeah", "12", "57,005", "Linux’s tcp_yeah.c"),
    replayed!("hybla", "12", "57,000", "Linux’s tcp_hybla.c"),
    by_text!(
        "bbr3_ietf",
        "follows the draft’s text; the draft’s 22 test cases hold, with exceptions in five",
        "All 22 hold for `bbr3_ietf`",
        "exceptions that the table above gives for A.2, A.4, A.6, A.7 and A.9"
    ),
    by_text!(
        "prague",
        "follows the source of TCP Prague and RFC 9331; measurements with TCP Prague of 2020 agree in part",
        "Our code was written from these texts, and there are no kernel traces to compare it with.",
        "the flow with the higher rate is the same in the measurement and in the simulation"
    ),
    by_text!(
        "bbr_prime",
        "follows the text of Lanigan’s thesis; the code shared with bbr1 is validated by bbr1’s traces",
        "`bbr_prime_drains_for_as_long_as_the_queue_is_there` in `bbr1/tests.rs`"
    ),
    by_text!(
        "bbr_hsr",
        "follows the text of Lanigan’s thesis; the code shared with bbr1 is validated by bbr1’s traces",
        "`bbr_hsr_*` in `bbr1/tests.rs`"
    ),
    by_text!(
        "bbrplus",
        "follows the text of Lanigan’s thesis; the code shared with bbr1 is validated by bbr1’s traces",
        "`bbrplus_*` in `bbr1/tests.rs`"
    ),
    by_text!(
        "delay_bbr",
        "follows the text of Lanigan’s thesis; the code shared with bbr1 is validated by bbr1’s traces",
        "`delay_bbr_*` in `bbr1/tests.rs`"
    ),
    by_text!(
        "bbr_acd",
        "follows the text of Mahmud’s paper; the code shared with bbr1 is validated by bbr1’s traces",
        "The tests `bbr_acd_*` in `bbr1/tests.rs`"
    ),
    fact(
        (About::Profile, "linux"),
        Evidence::Exact,
        "sender and receiver send the packets that Linux sends: 68,445 packets of 47 logs, 0 differ",
        TRUST,
        &["68,445 packets of 47 logs without a difference"],
    ),
    fact(
        (About::Profile, "linux-stock"),
        Evidence::Exact,
        "the stack of the profile `linux`, with other sizes of socket buffers: 68,445 packets of 47 logs, 0 differ",
        TRUST,
        &["68,445 packets of 47 logs without a difference"],
    ),
    fact((About::Profile, "ns3"), Evidence::Compared, NS3_SAYS, NS3, NS3_QUOTES),
    fact((About::Profile, "ns3-3.40"), Evidence::Compared, NS3_SAYS, NS3, NS3_QUOTES),
    fact((About::Profile, "ns3-3.27"), Evidence::Compared, NS3_SAYS, NS3, NS3_QUOTES),
    fact((About::Profile, "lanigan"), Evidence::Compared, NS3_SAYS, NS3, NS3_QUOTES),
    fact((About::Profile, "piotrowska"), Evidence::Compared, NS3_SAYS, NS3, NS3_QUOTES),
    fact(
        (About::Queue, "droptail"),
        Evidence::Exact,
        "2,558 packets of the log of Linux’s pfifo, 0 differ; the 307 test points recorded on Linux have such a queue at the bottleneck",
        QUEUES,
        &["q_serial_pfifo 2,558 0"],
    ),
    fact(
        (About::Queue, "codel"),
        Evidence::Exact,
        "11,732 packets of two logs of Linux’s codel, 0 differ; 12 whole runs: goodput within 0.3 %",
        QUEUES,
        &["q_codel_cubic 3,176 0", "q_codel_overload 8,556 0", "| 9_codel | 12 | 0.3, 0.3 |"],
    ),
    fact(
        (About::Queue, "fq_codel"),
        Evidence::Exact,
        "3,375 packets of a log of Linux’s fq_codel, 0 differ; 12 whole runs: goodput within 0.3 %",
        QUEUES,
        &["q_fqcodel_3 3,375 0", "| 9_fqcodel | 12 | 0.3, 0.3 |"],
    ),
    fact(
        (About::Queue, "pie"),
        Evidence::Exact,
        "4,037 packets of a log of Linux’s pie, 0 differ; 12 whole runs: goodput within 2.1 %",
        QUEUES,
        &["q_pie_cubic 4,037 0", "| 9_pie | 12 | 2.1, 2.1 |"],
    ),
    fact(
        (About::Queue, "fq_pie"),
        Evidence::Compared,
        "3 whole runs on Linux: goodput within 0.1 %",
        QUEUES,
        &["| 9_fqpie | 3 | 0.0, 0.0 |"],
    ),
    fact(
        (About::Queue, "red"),
        Evidence::Exact,
        "4,043 packets of a log of Linux’s red, 0 differ; 10 whole runs: goodput within 0.1 %",
        QUEUES,
        &["q_red_cubic 4,043 0", "| 9_red | 10 | 0.0, 0.0 |"],
    ),
    fact(
        (About::Queue, "fq"),
        Evidence::Exact,
        "2,405 packets of a log of Linux’s fq, 0 differ; 9 whole runs: goodput within 0.1 %",
        QUEUES,
        &["q_fq_2 2,405 0", "| 9_fq | 9 | 0.0, 0.0 |"],
    ),
    fact(
        (About::Queue, "sfq"),
        Evidence::Exact,
        "2,432 packets of a log of Linux’s sfq, 0 differ; 3 whole runs: goodput within 0.1 %",
        QUEUES,
        &["q_sfq_2 2,432 0", "| 9_sfq | 3 | 0.0, 0.0 |"],
    ),
    fact(
        (About::Queue, "cake"),
        Evidence::Exact,
        "6,614 packets of two logs of Linux’s cake, 0 differ; 11 whole runs: goodput within 0.1 %; no log has several tins",
        QUEUES,
        &[
            "q_cake_shaped 3,282 0",
            "q_cake_unlimited 3,332 0",
            "| 9_cake | 11 | 0.0, 0.0 |",
            "several tins, DualPI2",
        ],
    ),
    fact(
        (About::Queue, "dualpi2"),
        Evidence::Tested,
        "no packet log, because Linux 6.12 has no dualpi2; tests follow the RFC and the source of Linux 6.18",
        "docs/queues/dualpi2.md",
        &["There is no packet log, because Linux 6.12 has no `dualpi2`."],
    ),
    fact(
        (About::Queue, "prio"),
        Evidence::Tested,
        "no packet log has this discipline",
        "docs/queues/prio.md",
        &["# prio: strict priority"],
    ),
    fact(
        (About::Queue, "slot"),
        Evidence::Exact,
        "3,132 packets of a log of netem’s slots, 0 differ; in whole runs with slots for data packets, the RTT differs by up to 8.8 %",
        QUEUES,
        &["q_slot_data 3,132 0", "| 9_slot | 9 | 0.2, 0.2 | 8.8, 8.8 |"],
    ),
    fact(
        (About::Queue, "grant"),
        Evidence::Tested,
        "a real kernel has no such queue to compare with",
        "docs/linux.md",
        &[
            "| traces, `airtime`, `grant`, `ack_thinning`, `dualpi2` | the kernel has none of these |",
        ],
    ),
    fact(
        (About::Loss, "ratio"),
        Evidence::Compared,
        "16 runs with random loss on Linux: goodput within 1.0 %, retransmissions within 0.2 %",
        FIDELITY,
        &["| 2_loss | 16 | 1.0, 1.0 | 0.3, 0.3 | 1.2, 1.2 | 0.2, 0.2 |"],
    ),
    fact(
        (About::Loss, "schedule of ratios"),
        Evidence::Tested,
        "a constant ratio was compared with Linux; ratios that change were not",
        FIDELITY,
        &["| 2_loss | 16 |"],
    ),
    fact(
        (About::Loss, "bursts (Gilbert-Elliott)"),
        Evidence::Tested,
        "follows netem’s gemodel; no run was compared with Linux",
        "docs/networks.md",
        &["`loss gemodel 1% 30%`"],
    ),
    fact(
        (About::Loss, "bursts in time"),
        Evidence::Tested,
        "no kernel has this model",
        "docs/networks.md",
        &["loss in bursts; the state changes with time"],
    ),
    fact(
        (About::Rate, "constant"),
        Evidence::Compared,
        "307 runs on Linux, 384 goodputs: 99.5 % within 5 %",
        FIDELITY,
        &[
            "| goodput | 384 | 0.00 | 0.84 | 13.6 | 5 | 99.5 % |",
            "The table covers all 307 test points",
        ],
    ),
    fact(
        (About::Rate, "steps"),
        Evidence::Compared,
        "5 runs with a step of the rate on Linux: goodput within 0.9 %, mean queue within 12.0 %",
        FIDELITY,
        &["| 6_step | 5 | 0.9, 0.9 | 0.7, 0.7 | 12.0, 12.0 |"],
    ),
    fact(
        (About::Rate, "trace"),
        Evidence::Tested,
        "follows Mahimahi’s source; a real kernel has no such link to compare with",
        "docs/linux.md",
        &[
            "| traces, `airtime`, `grant`, `ack_thinning`, `dualpi2` | the kernel has none of these |",
        ],
    ),
    fact(
        (About::Rate, "token bucket"),
        Evidence::Compared,
        "3 runs behind tbf on Linux: goodput within 0.1 %",
        FIDELITY,
        &["| v_tbf | 3 | 0.0, 0.0 |"],
    ),
    fact(
        (About::Rate, "shared airtime"),
        Evidence::Tested,
        "a model; a real kernel has no such link to compare with",
        "docs/linux.md",
        &[
            "| traces, `airtime`, `grant`, `ack_thinning`, `dualpi2` | the kernel has none of these |",
        ],
    ),
    fact(
        (About::Path, "policer"),
        Evidence::Exact,
        "5,080 packets of a log of Linux’s policer, 0 differ; 9 whole runs: goodput within 0.1 %",
        QUEUES,
        &["q_police_10M 5,080 0", "| 9_police | 9 | 0.0, 0.0 |"],
    ),
    fact(
        (About::Path, "reordering"),
        Evidence::Compared,
        "8 runs with reordering on Linux: goodput within 0.1 %",
        FIDELITY,
        &["| 8_reorder | 8 | 0.0, 0.0 |"],
    ),
    fact(
        (About::Path, "ACK thinning"),
        Evidence::Tested,
        "a model; a real kernel has no such link to compare with",
        "docs/linux.md",
        &[
            "| traces, `airtime`, `grant`, `ack_thinning`, `dualpi2` | the kernel has none of these |",
        ],
    ),
    fact(
        (About::Path, "jitter, duplicates or corruption"),
        Evidence::Tested,
        "follow netem; no run was compared with Linux",
        "docs/networks.md",
        &["## Loss, jitter, duplicates and corruption", "as in `netem`"],
    ),
    fact(
        (About::Path, "a delay that changes"),
        Evidence::None,
        "the recorded runs on Linux have fixed delays only",
        FIDELITY,
        &["the links' delays do not change, except for reordered packets"],
    ),
    fact(
        (About::Path, "two links with a rate"),
        Evidence::Compared,
        "7 runs over two bottlenecks on Linux: goodput within 0.1 %",
        QUEUES,
        &["| 9_hops | 7 | 0.0, 0.0 |"],
    ),
    fact(
        (About::Path, "a reverse path with a rate"),
        Evidence::Compared,
        "8 runs with two-way traffic on Linux: goodput within 0.1 %",
        FIDELITY,
        &["| 8_reverse | 8 | 0.0, 0.0 |", "two-way traffic"],
    ),
    fact(
        (About::Path, "more than two links with a rate"),
        Evidence::None,
        "the recorded runs on Linux have one or two bottlenecks",
        QUEUES,
        &["two bottlenecks"],
    ),
    fact(
        (About::Source, "unlimited"),
        Evidence::Compared,
        "the 89 single-flow runs on Linux have this source: goodput within 1.4 % at the 95th percentile",
        FIDELITY,
        &["| 1_single | 89 | 1.4, 13.6 |"],
    ),
    fact(
        (About::Source, "a number of bytes"),
        Evidence::Compared,
        "11 short transfers on Linux: completion times within 0.1 %",
        FIDELITY,
        &["| fct | 11 | 0.02 | 0.10 | 0.1 | 5 | 100.0 % |"],
    ),
    fact(
        (About::Source, "an application with pauses"),
        Evidence::Compared,
        "16 application-limited runs on Linux: goodput within 0.1 %",
        FIDELITY,
        &["| 8_applim | 16 | 0.0, 0.0 |"],
    ),
    fact(
        (About::Source, "a model of traffic"),
        Evidence::Tested,
        "random bursts, requests, frames, trains and arrivals were not compared with Linux",
        "docs/linux.md",
        &[
            "| `arrivals`, random `on` and `off`, sizes and pauses, `page`, `video` | the program in the guest draws no random numbers |",
        ],
    ),
    fact(
        (About::Host, "ECN"),
        Evidence::Compared,
        "28 runs with ECN on Linux: goodput within 7.2 %, marks within 20 % in 96.4 % of the runs",
        FIDELITY,
        &["| 8_ecn | 28 | 2.0, 7.2 |", "| marks | 28 | 0.00 | 8.56 | 391.0 | 20 | 96.4 % |"],
    ),
    fact(
        (About::Host, "socket buffers or a receive window unlike Linux's defaults"),
        Evidence::Compared,
        "13 runs with a fixed receive window on Linux: goodput within 1.5 %",
        FIDELITY,
        &["| 8_rwnd | 13 | 1.5, 1.5 |"],
    ),
    fact(
        (About::Host, "fq at the sender"),
        Evidence::Compared,
        "2 runs on Linux: goodput within 0.1 %",
        FIDELITY,
        &["| v_fq | 2 | 0.0, 0.0 |"],
    ),
    fact(
        (About::Host, "bursts that cross the network whole"),
        Evidence::Compared,
        "4 runs on Linux: goodput within 0.1 %",
        FIDELITY,
        &["| v_tso | 4 | 0.0, 0.0 |"],
    ),
];
