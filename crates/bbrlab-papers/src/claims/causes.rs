//! Why a claim fails: one thing switched with which it is true, as an override of its experiment's scenario.
//!
//! A cause is found by looking at runs; whether it is one is judged anew in every study: the claim must be true with it.

use super::settings::Setting;
use crate::papers::Claim;

const PACED_BY_FQ: &str =
    "fq at the senders, which paces CUBIC too; CUBIC's bursts no longer decide who loses";

const WHOLE_BURSTS: &str = "bursts that cross the network whole, as between Mininet's virtual interfaces, where a queue counts each of them as one packet";

const SOCKET_BUFFERS: &[&str] = &["stack.sndbuf=131072B", "stack.rcvbuf=131072B"];

const IN_SOCKET_BUFFERS: &str = "ns-3's socket buffers of 131072 bytes, which hold each flow at the same rate and leave the deep buffers empty";

/// The causes, by claim.
const CAUSES: &[Setting] = &[
    Setting::keys(
        "lanigan2020.c20",
        &["flows.start=20s"],
        "the flow starts at 20 s, as the thesis's did: a mean from then on has less of the lower rate in it",
    ),
    Setting::keys(
        "lanigan2020.c32",
        SOCKET_BUFFERS,
        "ns-3's socket buffers of 131072 bytes, which bound what Delay-BBR keeps in flight; without them it loses more than BBR+ in most buffers of 1.5 and 3 BDP",
    ),
    Setting::keys(
        "lanigan2020.c65",
        &["bottleneck.buffer=4bdp"],
        "a buffer of 4 BDP; in 1.5 BDP CUBIC's queue is below the ratio of 1.2 for most of its cycle",
    ),
    Setting::keys(
        "lanigan2020.c69",
        &["stack.recovery=classic"],
        "ns-3.27's recovery, with which BBR+ has dozens of timeouts and loses 1.6 and 2.8 times as much (lambda 0.5 and 0.125); with Linux's its own flow loses more than BBR's as well, but CUBIC beside it half as much, and the sum counts both",
    ),
    Setting::keys(
        "song2021.c11",
        &["bottleneck.loss=0.6%"],
        "a path that loses 0.6 % of its packets, where losses end probes before the estimate has caught up; without them Linux goes on until 1.25 BDP are in flight, and one probe finds the new rate",
    ),
    Setting::keys("song2021.c14", &["stack.tso=whole"], WHOLE_BURSTS),
    Setting::keys(
        "song2021.c20",
        &["bottleneck.rate=100Mbit/s"],
        "a link of 100 Mbit/s, since the paper names none for this figure; at this loss CUBIC keeps about 120 packets in flight, which 50 Mbit/s and 30 ms hardly exceed",
    ),
    Setting::keys(
        "song2021.c31",
        &["bottleneck.buffer=4bdp"],
        "a buffer of 4 BDP; of those that the claim spans, 0.1 to 0.3 BDP hold less than 200 kB",
    ),
    Setting::keys("song2021.c32", &["stack.tso=whole"], WHOLE_BURSTS),
    Setting::keys("song2021.c43", &["stack.tso=whole"], WHOLE_BURSTS),
    Setting::keys(
        "song2021.c22",
        &["flows.cc=bbr2", "flows.cc_params.loss_thresh=8"],
        "a loss threshold of 3.1 %; at 1 % random loss single probes exceed 2 % by chance",
    ),
    Setting::keys(
        "song2021.c66",
        &["flows[1].start=2s"],
        "starts 2 s apart, since the paper gives none; whichever flow is first, each then has about half, and if both start at once the one with the longer RTT has 0.39",
    ),
    Setting::keys("song2021.c71", &["stack.tso=whole"], WHOLE_BURSTS),
    Setting::keys(
        "song2021.c73",
        &["stack.bbr2.bw_probe_pif_gain=288"],
        "probes of BBRv2 that end with 1.125 BDP in flight and not with 1.25, and so add less to a small buffer that CUBIC shares",
    ),
    Setting::keys("song2021.c75", &["duration=300s"], "300 s, since the paper gives no duration"),
    Setting::keys("song2021.c76", &["stack.sender_qdisc=fq"], PACED_BY_FQ),
    Setting::keys(
        "mahmud2020.c16",
        &["sweep.flows.cc_params=[\
                { halving = \"recovery\", detection = \"rtt\", alpha_us = 500 }, \
                { halving = \"recovery\", detection = \"rtt\", alpha_us = 1000 }, \
                { halving = \"recovery\", detection = \"rtt\", alpha_us = 1500 }]"],
        "the authors' program with the detection of the text: a recovery halves cwnd only if the RTT says that the path is congested, and not always",
    ),
    Setting::keys(
        "mahmud2020.c18",
        &["flows.rtt=80ms"],
        "an RTT of 80 ms, since the paper gives none; the small buffer is then 1.5 BDP, not 1",
    ),
    Setting::keys("kato2025.c03", SOCKET_BUFFERS, IN_SOCKET_BUFFERS),
    Setting::keys(
        "kato2025.c06",
        &[
            "stack.profile=ns3",
            "stack.nextseg_rule3=any",
            "stack.rate_ack_interval=previous",
            "stack.mss=1448B",
            "stack.sndbuf=262144B",
            "stack.rcvbuf=262144B",
        ],
        "3.44's TCP with the two rules of 3.40 that stand in files which were not ported, the transmit buffer and the rate sampler",
    ),
    Setting::keys("kato2025.c08", SOCKET_BUFFERS, IN_SOCKET_BUFFERS),
    Setting::keys(
        "piotrowska2024.c02",
        &["stack.bbr2.pacing_margin_percent=0"],
        "BBRv2 paced at its estimate, as in the thesis's code, from which the paper took it; paced 1 % below, as in Linux, a lone flow meets its minimum RTT again before it is old, and visits PROBE_RTT once in 200 s, the first visit, which cuts deepest",
    ),
    Setting::keys(
        "piotrowska2024.c39",
        &["stack.bbr3.cwnd_gain=256"],
        "a cwnd gain of 1 in place of 2, as in the thesis's code, from which the paper took BBRv2; what stands in the queue is then bounded by one BDP a flow and not by two",
    ),
    Setting::keys(
        "piotrowska2024.c36",
        &["stack.bbr2.cwnd_gain=192", "stack.bbr3.cwnd_gain=192"],
        "a cwnd gain of 0.75 in place of 2 in BBRv2 and BBRv3, by which a flow keeps less than a BDP in the network, loses less and fills and empties the queue less; with the 1 of the thesis's code, from which the paper took BBRv2, five of the six points are true",
    ),
    Setting::keys(
        "piotrowska2024.c13",
        &["access.rate=1Gbit/s"],
        "access links of 1 Gbit/s; behind one as fast as the bottleneck a flow alone cannot overfill the queue",
    ),
    Setting::keys(
        "piotrowska2024.c14",
        &["access.rate=1Gbit/s"],
        "access links of 1 Gbit/s; behind one as fast as the bottleneck a flow's packets arrive in step with the departures and find the place that each leaves, and the other flow's do not",
    ),
    Setting::keys(
        "piotrowska2024.c40",
        &[
            "links.N1.rate=1Gbit/s",
            "links.N2.rate=1Gbit/s",
            "links.N4.rate=1Gbit/s",
            "links.N5.rate=1Gbit/s",
        ],
        "access links of 1 Gbit/s; behind one as fast as the bottleneck two flows of a kind queue for each other and reach the bottleneck in step with its departures, and chance decides who finds it full",
    ),
];

/// What may make a claim true that fails.
pub(crate) fn causes_of(claim: &Claim) -> Vec<&'static Setting> {
    CAUSES.iter().filter(|cause| cause.of == claim.id).collect()
}

/// The keys of what may make a claim true that fails, for each cause that is known, as `--set` has them.
#[must_use]
pub fn cause_keys(claim: &Claim) -> Vec<&'static [&'static str]> {
    causes_of(claim).into_iter().map(|cause| cause.sets).collect()
}

#[cfg(test)]
mod tests {
    use super::CAUSES;
    use crate::papers::{Expected, papers};

    #[test]
    fn causes_belong_to_claims_that_are_not_artifacts() {
        let claims = || papers().iter().flat_map(|paper| &paper.claims);
        for cause in CAUSES {
            let claim = claims().find(|claim| claim.id == cause.of);
            assert!(claim.is_some_and(|it| it.expected != Expected::Artifact), "{}", cause.of);
            assert!(cause.form.is_none(), "{}", cause.of);
        }
    }
}
