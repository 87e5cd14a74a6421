//! Lays out a run's network as network namespaces and wires. A wire is a pair of virtual Ethernet
//! devices that carries packets in one direction.
//!
//! Each flow has a sending and a receiving namespace. Each link with a queue has a namespace before
//! it and one after it; the queue is on the device in the namespace before it. The hosts of each
//! flow have their own addresses, so the namespaces between them route by destination address.
//!
//! Delays and losses between two queues are made by a netem on the wire that follows the first
//! queue. A wire with a netem carries the packets of one flow. If a path begins with a delay, the
//! packets first go to the namespace `h`, which has the netem. If the netem were on the sending
//! host's device, waiting packets would count as the socket's memory.

use std::collections::BTreeMap;

use bbrlab_link::{Buffer, Link, Queue, Rate, RateChange};
use bbrlab_run::{Hop, Run};
use bbrlab_units::{Packets, Time};

use super::impair::Impairment;
use super::tc;

/// The index of a namespace in [`Network::spaces`].
pub(super) type Space = usize;

/// A wire from one namespace to another. The devices at both ends have the same name, `w` followed
/// by the wire's number.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wire {
    /// The namespace in which packets enter the wire.
    pub(super) from: Space,
    /// The namespace in which packets leave the wire.
    pub(super) to: Space,
    /// The queue discipline of the device in `from`.
    pub(super) content: Content,
}

/// The queue discipline of the device through which packets enter a wire.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there are only a few values per flow")]
pub(super) enum Content {
    /// No queue discipline: packets arrive in [`Wire::to`] without delay.
    Nothing,
    /// A netem that makes these impairments.
    Netem(Impairment),
    /// The queue of a link.
    Queue(Box<Served>),
}

/// A link at which packets queue.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Served {
    /// The link's settings.
    pub(super) link: Link,
    /// The link's number among the run's links with a queue, from 0.
    pub(super) number: usize,
    /// The flow to which the link belongs; `None` for a link that flows can share.
    pub(super) owner: Option<u32>,
    /// The index of the wire that has the link's queue.
    pub(super) wire: usize,
}

/// The two ends of a flow, and the wires between them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ends {
    /// The sender's namespace.
    pub(super) sender: Space,
    /// The receiver's namespace.
    pub(super) receiver: Space,
    /// The wires of the data path and of the ACK path, each in order.
    pub(super) wires: [Vec<usize>; 2],
}

/// The network of a run, as namespaces and the wires between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Network {
    /// The names of the namespaces.
    pub(super) spaces: Vec<String>,
    /// All wires.
    pub(super) wires: Vec<Wire>,
    /// The links with a queue: first the links of the scenario, then the private links of flows.
    pub(super) served: Vec<Served>,
    /// The ends of each flow.
    pub(super) ends: Vec<Ends>,
}

/// Whether packets queue at a link: its rate is limited, or its `cake` has a shaper.
pub(super) fn is_served(link: &Link) -> bool {
    let has_shaper = matches!(link.queue, Queue::Cake(cake) if cake.bandwidth.is_some());
    link.rate.is_limited() || has_shaper
}

/// A part of a packet's path: a netem, or a link with a queue. `Serve` has the link's number and
/// the flow to which the link belongs, `None` for a link that flows can share.
#[expect(clippy::large_enum_variant, reason = "the values exist only while a path is laid out")]
enum Stage {
    Netem(Impairment),
    Serve(u32, Option<u32>),
}

impl Network {
    /// Lays out the network of a run. The back end must support the run.
    pub(super) fn of(run: &Run) -> Self {
        let mut network = Self::default();
        let mut places: BTreeMap<(u32, Option<u32>), (Space, Space, usize)> = BTreeMap::new();
        for (number, link) in (0u32..).zip(&run.links) {
            if is_served(link) {
                let place = network.serve(link, number, None);
                places.insert((number, None), place);
            }
        }
        for (id, flow) in (0u32..).zip(&run.flows) {
            let class = &run.classes[flow.class as usize];
            for (number, link) in (0u32..).zip(&class.private_links) {
                if is_served(link) {
                    let place = network.serve(link, number, Some(id));
                    places.insert((number, Some(id)), place);
                }
            }
            let sender = network.space(format!("s{id}"));
            let receiver = network.space(format!("d{id}"));
            let data = stages(&run.links, &class.private_links, &class.forward, id);
            let acks = stages(&run.links, &class.private_links, &class.reverse, id);
            let data = network.path(id, "f", [sender, receiver], data, &places);
            let acks = network.path(id, "r", [receiver, sender], acks, &places);
            network.ends.push(Ends { sender, receiver, wires: [data, acks] });
        }
        network
    }

    /// Returns a network with only hosts: a namespace for all senders and one for all receivers.
    pub(crate) fn of_hosts([sender, receiver]: [&str; 2], flows: usize) -> Self {
        let ends = Ends { sender: 0, receiver: 1, wires: [Vec::new(), Vec::new()] };
        Self {
            spaces: vec![sender.to_owned(), receiver.to_owned()],
            ends: vec![ends; flows],
            ..Self::default()
        }
    }

    fn space(&mut self, name: String) -> Space {
        self.spaces.push(name);
        self.spaces.len() - 1
    }

    fn wire(&mut self, from: Space, to: Space, content: Content) -> usize {
        self.wires.push(Wire { from, to, content });
        self.wires.len() - 1
    }

    /// Adds a link with its namespaces. Returns the namespace before the link, the namespace
    /// after it, and the link's wire.
    fn serve(&mut self, link: &Link, number: u32, owner: Option<u32>) -> (Space, Space, usize) {
        let name = owner.map_or(format!("{number}"), |flow| format!("{number}-{flow}"));
        let (from, to) = (self.space(format!("a{name}")), self.space(format!("b{name}")));
        let wire = self.wires.len();
        let number = self.served.len();
        let served = Served { link: link.clone(), number, owner, wire };
        self.served.push(served.clone());
        (from, to, self.wire(from, to, Content::Queue(Box::new(served))))
    }

    /// Returns the namespace `h`, which delays packets whose path begins with a delay. Adds the
    /// namespace if it is missing.
    fn hall(&mut self) -> Space {
        let name = "h";
        let found = self.spaces.iter().position(|space| space == name);
        found.unwrap_or_else(|| self.space(name.to_owned()))
    }

    /// Adds the wires that connect a flow's hosts and links in one direction. Returns all wires of
    /// this direction, those with the links' queues included, in the order of the path.
    fn path(
        &mut self,
        id: u32,
        direction: &str,
        [from, to]: [Space; 2],
        stages: Vec<Stage>,
        places: &BTreeMap<(u32, Option<u32>), (Space, Space, usize)>,
    ) -> Vec<usize> {
        let mut wires = Vec::new();
        let mut at = from;
        let mut pending: Option<Impairment> = None;
        let mut extra = 0;
        let mut go = |network: &mut Self, at: &mut Space, to: Space, netem: Option<Impairment>| {
            if netem.is_some() && *at == from {
                let hall = network.hall();
                wires.push(network.wire(*at, hall, Content::Nothing));
                *at = hall;
            }
            let content = netem.map_or(Content::Nothing, Content::Netem);
            wires.push(network.wire(*at, to, content));
            *at = to;
        };
        let mut links = Vec::new();
        for stage in stages {
            match stage {
                Stage::Netem(next) => {
                    let rest = match &mut pending {
                        Some(now) => now.then(next),
                        None => Some(next),
                    };
                    let Some(next) = rest else { continue };
                    if let Some(now) = pending.replace(next) {
                        let space = self.space(format!("x{id}{direction}{extra}"));
                        extra += 1;
                        go(self, &mut at, space, Some(now));
                    }
                }
                Stage::Serve(number, owner) => {
                    let (front, behind, wire) = places[&(number, owner)];
                    go(self, &mut at, front, pending.take());
                    links.push((at, wire));
                    at = behind;
                }
            }
        }
        go(self, &mut at, to, pending);
        // Insert each link's wire after the wire that leads to the link.
        let mut all = Vec::new();
        for wire in wires {
            all.push(wire);
            let end = self.wires[wire].to;
            all.extend(links.iter().filter(|(front, _)| *front == end).map(|&(_, wire)| wire));
        }
        all
    }

    /// Returns the files with the distributions of delays: for each, its name and its text.
    pub(super) fn tables(&self) -> Vec<(String, String)> {
        let netems = self.wires.iter().enumerate().filter_map(|(number, wire)| {
            let Content::Netem(netem) = &wire.content else { return None };
            Some((table_name(number), netem.distribution()?))
        });
        netems.collect()
    }
}

/// Returns the name under which `tc` finds the distribution of a wire's delays.
pub(super) fn table_name(wire: usize) -> String {
    format!("wire{wire}")
}

fn stages(shared: &[Link], private: &[Link], route: &[Hop], id: u32) -> Vec<Stage> {
    let mut stages = Vec::new();
    for &hop in route {
        let (link, serve) = match hop {
            Hop::Delay(delay) => {
                stages.push(Stage::Netem(Impairment::delay(delay)));
                continue;
            }
            Hop::Link(number) => (&shared[number as usize], Stage::Serve(number, None)),
            Hop::Private(number) => (&private[number as usize], Stage::Serve(number, Some(id))),
        };
        stages.extend(Impairment::before(link).map(Stage::Netem));
        if is_served(link) {
            stages.push(serve);
        }
        stages.push(Stage::Netem(Impairment::behind(link)));
    }
    stages.retain(|stage| !matches!(stage, Stage::Netem(netem) if netem.is_nothing()));
    stages
}

impl Served {
    /// Returns the number of the queue's discipline in commands of `tc`: the major part of its
    /// handle. The command that sets the rate of `serial` names the queue by this number, too.
    pub(super) fn major(&self) -> usize {
        self.number + 1
    }

    /// Whether the queue needs `serial`, the queue discipline of `adapters/linux` that sends
    /// packets one by one at an exact rate (the serialiser). If not, a netem or a token bucket
    /// sends the packets at the link's rate.
    pub(super) fn needs_serial(&self) -> bool {
        let Link { rate, rate_change, buffer, queue, police, ecn_threshold, burst, .. } =
            &self.link;
        let is_plain = matches!(queue, Queue::DropTail) && !matches!(buffer, Buffer::Bytes(_));
        let is_kept = matches!(rate, Rate::Constant(_))
            || matches!(rate, Rate::Schedule(_)) && *rate_change == RateChange::Keep;
        let steps = rates(rate);
        let is_whole = steps.iter().all(|&(_, bits)| bits % 8 == 0);
        burst.is_none()
            && !(is_plain && is_kept && is_whole && police.is_none() && ecn_threshold.is_none())
    }

    /// Returns the commands of the set-up script for this queue that are not commands of `tc`.
    pub(super) fn commands(&self) -> Vec<String> {
        if !self.needs_serial() {
            return Vec::new();
        }
        vec![self.serial_rate(rates(&self.link.rate).first().map_or(0, |&(_, bits)| bits))]
    }

    fn serial_rate(&self, bits: u64) -> String {
        format!("echo {:x}:{bits} > /sys/module/sch_serial/parameters/cfg", self.major())
    }

    fn netem(&self, bits: u64) -> String {
        let waiting = match self.link.buffer {
            Buffer::Packets(limit) => limit,
            _ => Packets(10_000_000),
        };
        let more = i128::from(self.link.framing.0) - i128::from(Link::ETHERNET.0);
        let overhead = if more == 0 { String::new() } else { format!(" {more}") };
        // The limit of a netem counts the packet in service, too, so it is one more than the
        // packets that may wait.
        format!("netem rate {bits}bit{overhead} limit {}", waiting.0 + 1)
    }

    /// Returns the lines of `tc` that set up the queue on its device.
    pub(super) fn lines(&self, dev: &str) -> Vec<String> {
        let major = self.major();
        let bits = rates(&self.link.rate).first().map_or(0, |&(_, bits)| bits);
        let mut lines = Vec::new();
        if let Some(burst) = self.link.burst {
            // The limit includes the packet that waits for tokens, because this packet is still in
            // the queue of the discipline below tbf.
            let waiting = match self.link.buffer {
                Buffer::Packets(limit) => limit.0 + 1,
                _ => 10_000_000,
            };
            let peak = self
                .link
                .peak_rate
                .map(|peak| format!(" peakrate {}bit mtu {}", peak.rate.0, peak.mtu.0));
            lines.push(format!(
                "qdisc add dev {dev} root handle {major:x}: tbf rate {bits}bit burst {}{} limit 1000000000",
                burst.0,
                peak.unwrap_or_default()
            ));
            lines.push(format!("qdisc add dev {dev} parent {major:x}:1 pfifo limit {waiting}"));
        } else if self.needs_serial() {
            lines.push(format!("qdisc add dev {dev} root handle {major:x}: serial"));
            let child = self.child().unwrap_or_else(|(reason, _)| reason);
            lines
                .push(format!("qdisc add dev {dev} parent {major:x}:1 handle {major:x}0: {child}"));
        } else {
            lines.push(format!("qdisc add dev {dev} root handle {major:x}: {}", self.netem(bits)));
        }
        if let Some(police) = self.link.police {
            lines.push(format!("qdisc add dev {dev} clsact"));
            lines.push(format!(
                "filter add dev {dev} egress matchall action police rate {}bit burst {} conform-exceed drop",
                police.rate.0, police.burst.0
            ));
        }
        lines
    }

    /// Returns the arguments of `tc` for the discipline below the serialiser.
    pub(super) fn child(&self) -> Result<String, tc::Unable> {
        match (&self.link.queue, self.link.ecn_threshold) {
            (Queue::DropTail, Some(bbrlab_link::EcnThreshold::Wait(wait))) => {
                let law = bbrlab_link::CodelParams {
                    target: bbrlab_units::Span::from_secs(10),
                    interval: bbrlab_units::Span::from_secs(100),
                    ecn: true,
                    ce_threshold: Some(wait),
                };
                tc::discipline(&Queue::Codel(law), self.link.buffer)
            }
            (queue, _) => tc::discipline(queue, self.link.buffer),
        }
    }

    /// Returns the changes of the rate after the start of the run: for each, the time and the
    /// command. The queue is on the device `dev` in the namespace `space`.
    pub(super) fn changes(&self, space: &str, dev: &str) -> Vec<(Time, String)> {
        let later = rates(&self.link.rate).into_iter().skip(1);
        later
            .map(|(at, bits)| {
                let command = if self.needs_serial() {
                    self.serial_rate(bits)
                } else {
                    format!(
                        "tc -n {space} qdisc change dev {dev} root handle {:x}: {}",
                        self.major(),
                        self.netem(bits)
                    )
                };
                (at, command)
            })
            .collect()
    }
}

/// Returns the rates of a link in bit/s, each with the time from which it applies; empty if the
/// rate follows a trace or has no limit.
fn rates(rate: &Rate) -> Vec<(Time, u64)> {
    match rate {
        Rate::Constant(rate) => vec![(Time::ZERO, rate.0)],
        Rate::Schedule(steps) => steps.iter().map(|&(at, rate)| (at, rate.0)).collect(),
        Rate::Unlimited | Rate::Trace(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use bbrlab_run::Run;
    use bbrlab_scenario::Scenario;
    use expect_test::{Expect, expect};

    use super::super::{refusals, script};
    use super::Network;
    use crate::refused::lines;

    fn run(text: &str) -> Run {
        Scenario::parse("x", "x", text, None, &[]).unwrap().run(0)
    }

    /// Returns three parts of the translation to Linux, line by line. First, for each path of a
    /// flow, the names of the namespaces on it, in order. Second, the lines of the set-up script
    /// that set up queues. Third, the lines of the guest kernel's file `scenario`, without its
    /// settings such as `sysctl`.
    fn translation(text: &str) -> String {
        let run = run(text);
        assert_eq!(refusals::refusals(&run, None), []);
        let network = Network::of(&run);
        let mut lines: Vec<String> = Vec::new();
        for ends in &network.ends {
            for wires in &ends.wires {
                let mut path = vec![network.spaces[network.wires[wires[0]].from].as_str()];
                path.extend(wires.iter().map(|&it| network.spaces[network.wires[it].to].as_str()));
                lines.push(path.join(" "));
            }
        }
        let setup = script::setup(&run, &network);
        let is_queue = |line: &&str| {
            ["qdisc", "filter", "echo", "ip netns exec", "tc -n"]
                .iter()
                .any(|word| line.starts_with(word))
        };
        lines.extend(setup.lines().filter(is_queue).map(str::to_owned));
        let scenario = script::scenario(&run, &network);
        let is_event = |line: &&str| {
            !["sysctl", "out", "setup", "extra", "sample"].iter().any(|it| line.starts_with(it))
        };
        lines.extend(scenario.lines().filter(is_event).map(str::to_owned));
        lines.join("\n") + "\n"
    }

    fn refused(text: &str, expected: &Expect) {
        let run = run(text);
        expected.assert_eq(&lines(&run, refusals::refusals(&run, None)));
    }

    const LINK: &str = "duration = \"5s\"\n[bottleneck]\nrate = \"10Mbit/s\"\nbuffer = \"40pkt\"\n";
    const FLOW: &str = "[[flows]]\ncc = \"cubic\"\nrtt = \"20ms\"\n";

    #[test]
    fn a_dumbbell_is_a_netem_between_two_delays() {
        expect![[r#"
            s0 h a0 b0 d0
            d0 h s0
            ip netns exec s0 ethtool -K w1 tso off gro off >/dev/null
            ip netns exec d0 ethtool -K w4 tso off gro off >/dev/null
            tc -n a0 -batch - <<E
            qdisc add dev w0 root handle 1: netem rate 10000000bit limit 41
            tc -n b0 -batch - <<E
            qdisc add dev w3 root handle 1: netem delay 5ms limit 1000000
            tc -n h -batch - <<E
            qdisc add dev w2 root handle 1: netem delay 5ms limit 1000000
            qdisc add dev w5 root handle 1: netem delay 10ms limit 1000000
            duration 5
            qdisc a0 w0
            pathqdisc s0 w1
            flow src=s0 dst=d0 start=0 addr=10.2.0.1 unit=1448 cc=cubic mode=bulk
        "#]]
        .assert_eq(&translation(&format!("{LINK}{FLOW}")));
    }

    #[test]
    fn disciplines_stand_behind_the_exact_serialiser() {
        let link = "duration = \"5s\"\n[bottleneck]\nrate = [[\"0s\", \"10Mbit/s\"], [\"2s\", \"5Mbit/s\"]]\nqueue = \"codel\"\nloss = 0.01\nreverse_loss = 0.5\npolice = { rate = \"8Mbit/s\", burst = \"20000B\" }\n";
        expect![[r#"
            s0 h a0 b0 d0
            d0 h s0
            ip netns exec s0 ethtool -K w1 tso off gro off >/dev/null
            ip netns exec d0 ethtool -K w4 tso off gro off >/dev/null
            echo 1:10000000 > /sys/module/sch_serial/parameters/cfg
            tc -n a0 -batch - <<E
            qdisc add dev w0 root handle 1: serial
            qdisc add dev w0 parent 1:1 handle 10: codel limit 1000 target 5ms interval 100ms noecn
            qdisc add dev w0 clsact
            filter add dev w0 egress matchall action police rate 8000000bit burst 20000 conform-exceed drop
            tc -n b0 -batch - <<E
            qdisc add dev w3 root handle 1: netem delay 5ms loss 1.0000000009% limit 1000000
            tc -n h -batch - <<E
            qdisc add dev w2 root handle 1: netem delay 5ms limit 1000000
            qdisc add dev w5 root handle 1: netem delay 10ms loss 50.0000000000% limit 1000000
            duration 5
            qdisc a0 w0
            pathqdisc b0 w3
            flow src=s0 dst=d0 start=0 addr=10.2.0.1 unit=1448 cc=cubic stop=3 mode=pace
            pace 0 0 1000000
            at 2 echo 1:5000000 > /sys/module/sch_serial/parameters/cfg
            end tc -n a0 -s filter show dev w0 egress > res.police0.txt
        "#]]
        .assert_eq(&translation(&format!("{link}{FLOW}stop = \"3s\"\nrate = \"1Mbit/s\"\n")));
    }

    #[test]
    fn reordering_is_a_netem_in_front_of_the_other_delay() {
        let keys = "delay = \"2ms\"\nreorder = { ratio = 0.25, by = \"3ms\" }\n";
        let [plain, all] = ["", keys].map(|keys| translation(&format!("{LINK}{keys}{FLOW}")));
        let lines = |text: &str, has_delay: bool| {
            let chosen = text.lines().filter(|line| line.contains("delay") == has_delay);
            chosen.collect::<Vec<_>>().join("\n")
        };
        assert_eq!(lines(&all, false), lines(&plain, false));
        expect![[r#"
            qdisc add dev w3 root handle 1: netem delay 6ms limit 1000000
            qdisc add dev w3 parent 1:1 handle 2: netem delay 3ms reorder 25.0000000000% limit 1000000
            qdisc add dev w2 root handle 1: netem delay 4ms limit 1000000
            qdisc add dev w5 root handle 1: netem delay 10ms limit 1000000"#]]
        .assert_eq(&lines(&all, true));
    }

    #[test]
    fn what_cannot_be_done_is_named_by_its_key() {
        let text = "duration = \"5s\"\nsample = \"ack\"\n[stack]\nrwnd = \"60000B\"\nhz = 250\n[bottleneck]\nrate = \"10Mbit/s\"\nbuffer = \"40pkt\"\njitter = \"2ms\"\necn_threshold = \"10pkt\"\n[[flows]]\ncc = \"bbr3\"\nrtt = \"20ms\"\necn = \"low\"\n[[flows]]\ncc = \"cubic\"\ncc_params = { beta = 700 }\nrtt = \"20ms\"\n";
        refused(
            text,
            &expect![[r#"
            sample: samples at regular times, not at ACKs; `sample = "1ms"`
            stack.rwnd: does not keep the advertised window below a bound; a fixed `rcvbuf`
            stack.hz: was built with 1000 ticks per second; `hz = 1000`
            flows[0].cc: has no bbr3 in a kernel without patches; `bbr1`
            flows[0].ecn: has the route feature `ecn_low` only with BBRv3's patch; `ecn = true`
            flows[1].cc_params: sets no parameters of congestion controls: all flows share one value of each; no `cc_params`
            bottleneck.ecn_threshold: has no queue that marks by its length alone; the same threshold in `ms`
            bottleneck.jitter: reorders packets with different delays; `{ up_to, keep_order = false }`
        "#]],
        );
    }

    #[test]
    fn grants_are_refused_in_both_directions() {
        let with = |key: &str| {
            format!(
                "duration = \"5s\"\n[bottleneck]\nrate = \"10Mbit/s\"\nbuffer = \"40pkt\"\n{key} = \"30ms\"\n\
                 [[flows]]\ncc = \"cubic\"\nrtt = \"20ms\"\n"
            )
        };
        refused(
            &with("grant"),
            &expect![[r#"
            bottleneck.grant: has no grants; `slot`
        "#]],
        );
        refused(
            &with("reverse_grant"),
            &expect![[r#"
            bottleneck.reverse_grant: has no grants; `slot`
        "#]],
        );
    }
}
