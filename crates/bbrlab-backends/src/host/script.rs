//! Writes the files that the program with the flows' sockets reads: the set-up script and the
//! scenario. The files have the same format as the files for the guest kernel of the back end
//! `linux`.

use std::fmt::Write as _;

use bbrlab_run::{Run, Sample, headers};
use bbrlab_stack::{DelAck, EcnMode, Tso};
use bbrlab_units::Time;

use crate::linux::network::Network;
use crate::linux::script::{OUT, PERIOD, SETUP, address, decimal, flow_lines, seconds};
use crate::linux::tcp_sysctls;

/// The names of two network namespaces: one for all senders, one for all receivers.
const SPACES: [&str; 2] = ["s", "d"];

/// The name of the device in each namespace.
const DEVICE: &str = "t";

/// The largest number of packets that wait in a device until the emulator reads them.
const DEVICE_PACKETS: u32 = 100_000;

/// Returns a network with only the run's hosts, because the emulator simulates the links.
pub(super) fn network(run: &Run) -> Network {
    Network::of_hosts(SPACES, run.flows.len())
}

/// Returns the set-up script, which creates namespaces, devices and routes.
pub(super) fn setup(run: &Run) -> String {
    let mut text = "set -e\n".to_owned();
    for (space, is_sender) in SPACES.into_iter().zip([true, false]) {
        let _ = writeln!(
            text,
            "ip netns add {space}\nip -n {space} tuntap add mode tun dev {DEVICE}\n\
             ip -n {space} -batch - <<E\nlink set lo up\n\
             link set dev {DEVICE} txqueuelen {DEVICE_PACKETS}\nlink set dev {DEVICE} mtu 1500 up"
        );
        if run.stack.tso == Tso::Off {
            let _ = writeln!(text, "link set dev {DEVICE} gso_max_segs 1");
        }
        for id in 0..run.flows.len() {
            let class = run.class(u32::try_from(id).unwrap_or(u32::MAX));
            let (own, other) = (address(is_sender, id), address(!is_sender, id));
            let mtu = class.mss + headers::DATA;
            let mut route = format!("route add {other}/32 dev {DEVICE} src {own} mtu {mtu}");
            if is_sender && run.stack.initial_cwnd != 10 {
                let _ = write!(route, " initcwnd {}", run.stack.initial_cwnd);
            }
            if !is_sender && run.stack.delack == DelAck::Quick {
                route += " quickack 1";
            }
            if class.settings.ecn == EcnMode::On {
                route += " features ecn";
            }
            let _ = writeln!(text, "addr add {own}/32 dev lo\n{route}");
        }
        // `noqueue`, because a queue of the device would hold packets before they reach the first
        // link.
        let _ = writeln!(text, "E\ntc -n {space} qdisc replace dev {DEVICE} root noqueue");
    }
    text
}

/// Returns the text of the file `scenario`, which the program with the flows' sockets reads.
pub(super) fn scenario(run: &Run, network: &Network) -> String {
    let period = match run.sample {
        Sample::Every(period) => period,
        Sample::Ack | Sample::Off => PERIOD,
    };
    let mut text = format!(
        "out {OUT}\nsetup {SETUP}\nduration {}\nsample_ms {}\nextra 2\n",
        seconds(Time(run.duration.0)),
        decimal(period.0, 1_000_000)
    );
    for space in SPACES {
        let _ = writeln!(text, "tun {space} {DEVICE}");
        // The route of each flow enables ECN, so the host's setting `tcp_ecn` keeps its default.
        for (name, value) in tcp_sysctls(&run.stack, false) {
            let _ = writeln!(text, "sysctl {space} net/ipv4/{name} {value}");
        }
    }
    for (id, flow) in run.flows.iter().enumerate() {
        text += &flow_lines(run, network, id, flow.start, flow.stop);
    }
    text
}

#[cfg(test)]
mod tests {
    use bbrlab_scenario::Scenario;
    use expect_test::expect;

    use super::{network, scenario, setup};

    #[test]
    fn all_senders_share_a_namespace_and_a_device() {
        let text = "duration = \"5s\"\n[stack]\ninitial_cwnd = 4\n[bottleneck]\n\
                    rate = \"10Mbit/s\"\nbuffer = \"40pkt\"\n\
                    [[flows]]\ncc = \"cubic\"\nrtt = \"20ms\"\nbytes = \"1MB\"\n\
                    [[flows]]\ncc = \"bbr1\"\nrtt = \"20ms\"\necn = true\nmss = \"536B\"\n\
                    start = \"1s\"\nstop = \"3s\"\n";
        let run = Scenario::parse("x", "x", text, None, &[]).unwrap().run(0);
        let network = network(&run);
        expect![[r#"
            set -e
            ip netns add s
            ip -n s tuntap add mode tun dev t
            ip -n s -batch - <<E
            link set lo up
            link set dev t txqueuelen 100000
            link set dev t mtu 1500 up
            addr add 10.1.0.1/32 dev lo
            route add 10.2.0.1/32 dev t src 10.1.0.1 mtu 1500 initcwnd 4
            addr add 10.1.0.2/32 dev lo
            route add 10.2.0.2/32 dev t src 10.1.0.2 mtu 588 initcwnd 4 features ecn
            E
            tc -n s qdisc replace dev t root noqueue
            ip netns add d
            ip -n d tuntap add mode tun dev t
            ip -n d -batch - <<E
            link set lo up
            link set dev t txqueuelen 100000
            link set dev t mtu 1500 up
            addr add 10.2.0.1/32 dev lo
            route add 10.1.0.1/32 dev t src 10.2.0.1 mtu 1500
            addr add 10.2.0.2/32 dev lo
            route add 10.1.0.2/32 dev t src 10.2.0.2 mtu 588 features ecn
            E
            tc -n d qdisc replace dev t root noqueue
        "#]]
        .assert_eq(&setup(&run));
        let text = scenario(&run, &network);
        let lines = text.lines().filter(|line| !line.starts_with("sysctl"));
        expect![[r#"
            out res
            setup setup.sh
            duration 5
            sample_ms 10
            extra 2
            tun s t
            tun d t
            flow src=s dst=d start=0 addr=10.2.0.1 unit=1448 cc=cubic mode=bytes size=1000000
            flow src=s dst=d start=1 addr=10.2.0.2 unit=536 cc=bbr stop=3 mode=bulk"#]]
        .assert_eq(&lines.collect::<Vec<_>>().join("\n"));
    }
}
