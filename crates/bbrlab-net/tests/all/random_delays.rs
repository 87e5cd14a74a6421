//! Jitter and reordering after a queue, and random loss before and after it.

use crate::fixed_window::{Hosts, Seen, Toy, ToyFlow};
use bbrlab_link::{
    Buffer, Distribution, Jitter, Link, Loss, LossAt, Probability, RandomDelay, Rate, Reorder,
};
use bbrlab_net::{LinkMode, Network, RouteStep};
use bbrlab_units::{BitRate, Span, Time};

/// Sends all packets at one time over a link that takes 1 ms to serialise each. Returns, in the
/// order of arrival, each packet's sequence number and its delay beyond serialisation and
/// propagation.
fn run(change: impl Fn(&mut Link)) -> (Vec<(u64, u64)>, Network<Toy>) {
    let mut config = Link::new("l", Rate::Constant(BitRate(12_000_000)), Buffer::Unlimited);
    change(&mut config);
    let mut net: Network<Toy> = Network::new(7, 1);
    let link = net.add_link(&config, LinkMode::VirtualClock);
    let forward =
        net.add_forward_route(&[RouteStep::Link(link), RouteStep::Delay(Span(5_000_000))]);
    let reverse = net.add_reverse_route(&[RouteStep::Delay(Span(5_000_000))]);
    let flow = net.add_flow(forward, reverse);
    net.schedule(flow, Time(0), 0);
    let mut hosts = Hosts::new(vec![ToyFlow::new(10_000, 1500, 10_000)]);
    hosts.flows[0].idle_timeout = Span::from_secs(100);
    net.advance(Time(4_321_000_000), &mut hosts);
    net.check_conservation();
    net.advance(Time(20_000_000_000), &mut hosts);
    net.check_conservation();
    let seen = |seen: &Seen| match *seen {
        Seen::Data { at, seq, .. } => {
            Some((seq, at.0.wrapping_sub((seq + 1) * 1_000_000 + 5_000_000)))
        }
        _ => None,
    };
    (hosts.log.iter().filter_map(seen).collect(), net)
}

#[test]
fn jitter_is_uniform_up_to_its_bound_and_reorders_unless_it_keeps_the_order() {
    let up_to = Span(3_000_000);
    let (free, _) = run(|config| config.jitter = Some(Jitter { up_to, keep_order: false }));
    let delays: Vec<u64> = free.iter().map(|&(_, delay)| delay).collect();
    assert_eq!(delays.len(), 10_000);
    assert!(delays.iter().all(|&delay| delay < up_to.0));
    let mean = delays.iter().sum::<u64>() / 10_000;
    assert!((1_470_000..1_530_000).contains(&mean), "{mean}");
    assert!(!free.is_sorted_by_key(|&(seq, _)| seq), "packets overtake each other");
    let (ordered, _) = run(|config| config.jitter = Some(Jitter { up_to, keep_order: true }));
    assert!(ordered.is_sorted_by_key(|&(seq, _)| seq));
    assert!(ordered.iter().all(|&(_, delay)| delay < up_to.0));
}

#[test]
fn the_bound_of_jitter_is_never_drawn() {
    for (up_to, most) in [(1, 0), (2, 1)] {
        let jitter = Jitter { up_to: Span(up_to), keep_order: false };
        let (seen, _) = run(|config| config.jitter = Some(jitter));
        assert_eq!(seen.iter().map(|&(_, delay)| delay).max(), Some(most));
    }
}

#[test]
fn the_reordered_share_skips_the_wait_and_overtakes_the_packets_of_that_time() {
    let ratio = Probability(Probability::ONE.0 / 100);
    let by = Span(3_000_000);
    let (seen, _) = run(|config| config.reorder = Some(Reorder { ratio, by }));
    let skipped: Vec<usize> = (0..seen.len()).filter(|&n| seen[n].1 == 0).collect();
    assert!((70..130).contains(&skipped.len()), "{}", skipped.len());
    assert!(seen.iter().all(|&(_, delay)| delay == 0 || delay == by.0));
    // A packet without the delay of 3 ms overtakes the two packets that left before it within 3 ms.
    // The packet that left exactly 3 ms earlier arrives at the same time, and comes first because
    // of its smaller sequence number.
    let lone = skipped.windows(3).find(|w| w[1] - w[0] > 8 && w[2] - w[1] > 8).unwrap()[1];
    assert_eq!(seen[lone].0, seen[lone + 1].0 + 2);
}

#[test]
fn random_loss_takes_its_share_behind_or_before_the_queue() {
    let loss = Some(Loss::Bernoulli(Probability(Probability::ONE.0 / 20)));
    for at in [LossAt::After, LossAt::Before] {
        let (seen, mut net) = run(|config| {
            config.loss = loss.clone();
            config.loss_at = at;
        });
        let lost = 10_000 - seen.len();
        assert!((440..560).contains(&lost), "{lost}");
        let stats = net.link_stats(bbrlab_net::LinkId(0));
        assert_eq!(stats.drops_random, lost as u64);
        let used_link = if at == LossAt::After { 10_000 } else { seen.len() as u64 };
        assert_eq!(stats.sent_packets, used_link);
        assert_eq!(stats.sent_data_packets, seen.len() as u64);
    }
}

#[test]
fn a_duplicated_packet_arrives_twice_and_a_corrupt_one_reaches_no_application() {
    let tenth = Probability(Probability::ONE.0 / 10);
    for random_delay in [None, Some(RandomDelay::Wifi { share: tenth })] {
        let (seen, _) = run(|config| {
            config.duplicate = tenth;
            config.random_delay.clone_from(&random_delay);
        });
        let copies = seen.len() - 10_000;
        assert!((880..1_120).contains(&copies), "{copies}");
    }
    let (seen, mut net) = run(|config| config.corrupt = tenth);
    let discarded = 10_000 - seen.len();
    assert!((880..1_120).contains(&discarded), "{discarded}");
    assert_eq!(net.flow_losses()[0].random, discarded as u64);
}

/// netem's delay is the link's delay plus a random part, or 0 if this sum is negative. In this
/// test, the link's delay is 20 ms. The random part is normally distributed, with a mean of 0 and a
/// standard deviation of 15 ms.
#[test]
fn a_netem_delay_is_around_the_delay_of_the_link_and_never_negative() {
    let own = 20_000_000;
    for keep_order in [false, true] {
        let (seen, _) = run(|config| {
            config.delay = Span(own);
            config.random_delay = Some(RandomDelay::Netem {
                spread: Span(15_000_000),
                correlation: 0,
                distribution: Distribution::Normal,
                keep_order,
            });
        });
        assert_eq!(seen.is_sorted_by_key(|&(seq, _)| seq), keep_order);
        let delays: Vec<u64> = seen.iter().map(|&(_, delay)| delay).collect();
        let least = delays.iter().filter(|&&delay| delay == 0).count();
        if !keep_order {
            // A normal number is below -4/3 with a probability of 9.1 %.
            assert!((820..1_000).contains(&least), "{least}");
            let mean = delays.iter().sum::<u64>() / 10_000;
            assert!((20_300_000..21_300_000).contains(&mean), "{mean}");
        }
    }
}
