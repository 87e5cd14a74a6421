//! The built-in scenarios of `docs/networks.md`: for each network, its effect on the flows' goodput
//! and RTT.

use bbrlab_run::{LinkSummary, RunResult};
use bbrlab_scenario::Scenario;

fn results(id: &str, sets: &[&str]) -> Vec<RunResult> {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let scenario = Scenario::builtin(id, &sets).unwrap_or_else(|errors| panic!("{errors}"));
    let run = |number| bbrlab_sim::simulate(&scenario.run(number)).expect("a checked scenario");
    (0..scenario.runs()).map(run).collect()
}

/// Returns goodput in Mbit/s and mean RTT in ms of the first flow of each run, in the order of the
/// sweep.
fn first_flows(id: &str) -> Vec<(f64, f64)> {
    let results = results(id, &[]);
    let flows = results.iter().map(|result| &result.summary.flows[0]);
    flows.map(|flow| (flow.goodput_mbps.unwrap(), flow.rtt_ms.mean.unwrap())).collect()
}

#[test]
fn each_network_leaves_its_mark() {
    // With a varying rate, a loss-based flow builds a long queue, and BBR a shorter one.
    let cellular = first_flows("networks.cellular");
    assert!(cellular[2].1 > 3.0 * cellular[0].1, "{cellular:?}");
    // A thousandth of the packets is lost at random, so CUBIC stays far below the link's rate.
    let leo = first_flows("networks.leo");
    assert!(leo[0].0 > 60.0 && leo[2].0 < 0.5 * leo[0].0, "{leo:?}");
    // One of 2000 packets is lost at random, and the RTT is 540 ms. Hybla's cwnd grows as fast as
    // with an RTT of 25 ms, so Hybla gets more than twice CUBIC's goodput.
    let geo = first_flows("networks.geo");
    assert!(geo[3].0 > 2.0 * geo[2].0 && geo.iter().all(|flow| flow.1 >= 540.0), "{geo:?}");
    // Grants for ACKs are 2 to 8 ms apart. Nevertheless every flow fills the link.
    let cable = first_flows("networks.cable");
    assert!(cable.iter().all(|flow| flow.0 > 170.0), "{cable:?}");
    // The rate falls to a tenth for some 400 ms once per 3.4 s.
    let blockage = first_flows("networks.blockage");
    assert!(blockage.iter().all(|flow| (200.0..280.0).contains(&flow.0)), "{blockage:?}");
    // On DSL, uploads fill the uplink, which the ACKs of the measured downloads cross.
    let dsl = first_flows("networks.dsl");
    assert!(dsl.iter().all(|flow| (30.0..48.0).contains(&flow.0)), "{dsl:?}");
    // Each run lasts 30 s. The link's rate is 40 or 60 Mbit/s for 14 s in total, 15 to 50 Mbit/s
    // for 15.8 s, and 0 for 0.2 s. The first four runs use BBR. From 18 s to 24 s, 0.2 % of the
    // packets are lost at random. These losses slow CUBIC, so the last two runs, which use CUBIC,
    // are not checked.
    let measured = first_flows("networks.measured-path");
    assert!(measured[..4].iter().all(|flow| (25.0..40.0).contains(&flow.0)), "{measured:?}");
    let wifi = first_flows("networks.wifi");
    assert!(wifi.iter().all(|flow| flow.0 > 30.0 && flow.1 > 25.0), "{wifi:?}");
}

/// Without aggregation, each packet of 1,514 B and each ACK of 66 B takes one transmission
/// opportunity: 0.1855 ms plus the time of the packet's bytes at 65 Mbit/s.
#[test]
fn acks_cost_airtime_and_aggregation_gives_most_of_it_back() {
    let shared = first_flows("networks.shared-airtime");
    let takes = |bytes: f64| 0.1855 + bytes * 8.0 / 65e3;
    for flows in shared.chunks(4) {
        assert!(flows.is_sorted_by(|few, more| few.0 < more.0) && flows[3].0 > 56.0, "{flows:?}");
    }
    for (flows, of) in shared.chunks(4).zip([2.0, 8.0].into_iter().cycle()) {
        let most = of * 1448.0 * 8e-3 / (of * takes(1514.0) + takes(66.0));
        assert!((0.97 * most..1.01 * most).contains(&flows[0].0), "{most} {flows:?}");
    }
    // Dropping three of four ACKs raises goodput by 18 % without aggregation, but only by 2 % with
    // 64 packets per transmission opportunity.
    let gain = |turn: usize| shared[4 + turn].0 / shared[turn].0;
    assert!((1.15..1.22).contains(&gain(0)) && (1.0..1.04).contains(&gain(3)), "{shared:?}");
}

/// A grant of 1,000 B every 6 ms carries 15 ACKs of 66 B. Each ACK releases two packets while no
/// ACK is dropped.
#[test]
fn small_grants_for_acks_bound_the_data() {
    let cable = first_flows("networks.cable-grants");
    let most = 2.0 * 15.0 / 6e-3 * 1448.0 * 8e-6;
    for bbr in [&cable[0], &cable[4]] {
        assert!((0.9 * most..1.01 * most).contains(&bbr.0), "{most} {cable:?}");
    }
    // CUBIC's ACKs fill their queue, and some are dropped. Each remaining ACK covers more than two
    // packets.
    assert!(cable[8].0 > 2.0 * most, "{cable:?}");
    // The third and the fourth run of each algorithm have larger grants: 60 ACKs every 6 ms are
    // enough for 200 Mbit/s.
    for flows in cable.chunks(4) {
        assert!(flows[2].0 > 180.0 && flows[3].0 > 180.0, "{flows:?}");
    }
}

/// A policer of 5 Mbit/s, whose bucket holds 1.5 s of traffic at this rate, lets at most 5.25
/// Mbit/s on the wire pass, on average over the 30 s of the run. 1,448 of the 1,514 bytes of a
/// packet are payload.
#[test]
fn behind_a_policer_no_flow_gets_more_than_rate_and_bucket() {
    let policed = first_flows("networks.carrier-policer");
    let most = 5.25 * 1448.0 / 1514.0;
    assert!(policed.iter().all(|flow| (0.6 * most..=most).contains(&flow.0)), "{policed:?}");
}

/// At the uplink, an ACK arrives every 0.225 ms, and one leaves every 0.528 ms. The conservative
/// filter leaves the two newest ACKs in the queue, so an ACK that leaves has waited for 1.5 times
/// the interval between arrivals on average. The aggressive filter leaves only the newest ACK,
/// which has waited for half that interval on average.
#[test]
fn a_filter_of_acks_sends_the_newest_ones_through_a_slow_uplink() {
    let back = |result: &RunResult| {
        let is_back = |link: &&LinkSummary| link.name == "bottleneck.reverse";
        result.summary.links.iter().find(is_back).unwrap().clone()
    };
    let results = results("networks.ack-filter", &[]);
    for (result, waits) in results.iter().skip(1).zip([1.5, 0.5]) {
        let link = back(result);
        let every_ms = 20e3 / f64::from(u32::try_from(link.arrivals.unwrap()).unwrap());
        let waited = link.sojourn_ms.mean.unwrap() / every_ms;
        assert!((waited / waits - 1.0).abs() < 0.05, "{waited} {link:?}");
        assert!(link.drops > Some(50_000) && link.drops_dequeue == Some(0), "{link:?}");
        assert!(result.summary.flows[0].goodput_mbps > Some(94.0));
    }
    // Without an ACK filter, the AQM drops ACKs that have waited for too long, whatever they
    // acknowledge.
    let plain = back(&results[0]);
    assert!(plain.drops_dequeue > Some(40_000), "{plain:?}");
}

#[test]
fn bbr_takes_a_longer_route_for_a_queue_until_its_minimum_rtt_expires() {
    let route = first_flows("networks.route-change");
    assert!(route[0].0 < route[2].0 - 0.5 && route[0].0 > 40.0, "{route:?}");
}

#[test]
fn a_model_gives_each_seed_a_path_of_its_own() {
    let digest =
        |seed: &str| results("networks.leo", &[seed, "duration=20s"])[0].summary.digest.clone();
    assert_eq!(digest("seed=1"), digest("seed=1"));
    assert_ne!(digest("seed=1"), digest("seed=2"));
}
