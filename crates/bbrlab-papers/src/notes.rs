//! What a reader should know before comparing published figures with measured ones.

/// How the paper's runs differ from ours, and what its figures are.
pub(crate) fn note(id: &str) -> &'static str {
    match id {
        id if id.starts_with("lanigan2020") && id.ends_with(".as-run") => {
            "Units and formulas are the thesis's, over the flows that it reports: throughput in Mibit/s of IP packets \
             over each flow's own time, goodput in Mbit/s of all flows over the duration plus 1 s. What it reads off its \
             figures is read off the same running mean, in Mibit/s: rate_1s_mbps, and fill_time_s after the step (0 where \
             the mean has its later value by then). delivered_1s_mbps is the payload of the second before."
        }
        id if id.starts_with("lanigan2020") => {
            "Units are the thesis's: throughput in Mibit/s of IP packets, goodput in Mbit/s over the duration plus 1 s. \
             paper_… are averages over each flow's own time, as in the thesis; the others are of the time in which all \
             flows are settled. The thesis ran something else than it describes, which is the form `as-run`; so cells \
             differ."
        }
        "song2021.bandwidth-step" => {
            "Rise and fall are those at 80 and 120 s. A rate is filled when the mean of a second, of what leaves the \
             bottleneck, is 95 % of it; the fall is settled when the mean inflight of each second stays within 25 % of \
             the BDP. A probe cycle is a phase that paces above the estimate, until that is 95 % of the new rate."
        }
        "song2021.two-flows" | "song2021.five-flows" => {
            "Throughput is what iperf reports, payload. Convergence is the time from the last start until the flows' \
             rates over any 10 s are within 20 % of their mean; where they never are, it is the time that all are \
             active. `excess_bytes` counts wire bytes in flight beyond one BDP; `inflight_hi_mss` is the ceiling's \
             first value, 0 if none was set. Retransmissions after start-up count from the moment on at which the last \
             flow leaves STARTUP."
        }
        id if id.starts_with("song2021.") => {
            "The paper shows these in figures only. Throughput is what iperf reports, payload; utilisation \
             allows for the headers."
        }
        id if id.starts_with("mahmud2020.testbed") => {
            "Throughput and goodput are the paper's: frames sent, and frames sent less retransmissions, times their size \
             over 300 s. The paper gives no RTT; ours is 120 ms."
        }
        id if id.starts_with("mahmud2020") => {
            "Throughput and goodput are the paper's: packets sent, and packets received as new, times 477 bytes \
             (a segment's, where a setting has others) over 300 s. Lost and retransmitted are packets sent less those received as new, so duplicates count as well. The \
             authors' program counts otherwise: there, what arrives above a hole, while an earlier packet is missing, is \
             lost; docs/contradictions.md (x05) tells how that makes its 42 %."
        }
        id if id.starts_with("kato2025") => {
            "The slides give neither RTT nor duration nor start times; ours are 20 ms, 30 s, and random within 0.1 s."
        }
        "piotrowska2024.single-flow" | "piotrowska2024.bandwidth-step" => {
            "Throughput is payload. A dip is the mean rate less the lowest 100 ms of a visit to PROBE_RTT, the median over \
             visits; a step is filled when inflight is 90 % of the new BDP. The paper prints the period of dips once, for \
             all versions; ours is a dash where a run has fewer than two visits."
        }
        "piotrowska2024.access-link" => {
            "Throughput is payload over a flow's own time, which is what the printed columns add up to. The paper ran each \
             cell once, with starts at random, so single cells are draws; the index, the sums and the shares of the \
             shortest and longest three RTTs are steadier. Its 1 BDP is 900 packets, 0.72 of the mean RTT's. Table 5 and \
             the per-flow cells of CUBIC are not in print here."
        }
        "piotrowska2024.rtt-ratio" | "piotrowska2024.vs-cubic" => {
            "Throughput is payload over a flow's own time; drops are those of router A, of all data packets sent. Tables \
             2, 3 and 9 are images of which only what the text says is known: `up to 5 %` is a bound over the shallow \
             buffers, shares of CUBIC's opponents are of either RTT."
        }
        "piotrowska2024.summary-figures" => {
            "Improvements that the conclusions state, seed by seed from the runs they sum up: fairness from the nine \
             flows, rates and drops from the two flows at 0.1 and 0.2 BDP."
        }
        _ => "",
    }
}
