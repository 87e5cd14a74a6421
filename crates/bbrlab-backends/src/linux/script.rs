//! Writes the files that the first program of the guest kernel (its `init`) reads: the set-up
//! script and the scenario.

use std::fmt::Write as _;

use bbrlab_link::{Link, Rate};
use bbrlab_run::{Algorithm, Arrivals, Reading, Run, Sample, Source};
use bbrlab_stack::{DelAck, EcnMode, SenderQdisc, SocketBuffer, Tso};
use bbrlab_units::{Span, Time};

use super::network::{Content, Network, table_name};
use super::sysctls::tcp_sysctls;
use crate::paces::paces;

/// The name of the set-up script.
pub(crate) const SETUP: &str = "setup.sh";
/// The prefix of the names of the files with the guest kernel's records.
pub(crate) const OUT: &str = "res";

/// The time between two samples of flows and queues, if the scenario has no sampling period.
pub(crate) const PERIOD: Span = Span::from_millis(10);

/// The guest kernel's upper bounds of socket buffers (`rmem_max` and `wmem_max`) are set to this
/// number of bytes, as in the recorded Linux runs of `docs/fidelity.md`, or to the scenario's
/// buffers if these are larger. Linux's default is 212,992 bytes.
const SOCKET_MAX: u64 = 128 << 20;

/// Bytes of the IP and TCP headers of a data packet.
const HEADERS: u32 = bbrlab_run::headers::DATA;

/// Returns the IPv4 address of a flow's sending host (`is_sender`) or receiving host.
pub(crate) fn address(is_sender: bool, id: usize) -> String {
    format!("10.{}.{}.{}", if is_sender { 1 } else { 2 }, id / 250, id % 250 + 1)
}

/// Returns the set-up script, which creates namespaces, wires, routes and queues.
#[expect(
    clippy::too_many_lines,
    reason = "the function writes one script from its first to its last line"
)]
pub(super) fn setup(run: &Run, network: &Network) -> String {
    let mut text = "set -e\nexport TC_LIB_DIR=\"$PWD\"\nip -batch - <<E\n".to_owned();
    for space in &network.spaces {
        let _ = writeln!(text, "netns add {space}");
    }
    text += "E\n";
    let mtu = mtu(run);
    let mut own: Vec<Vec<String>> = vec![Vec::new(); network.spaces.len()];
    for (number, wire) in network.wires.iter().enumerate() {
        let (from, to) = (&network.spaces[wire.from], &network.spaces[wire.to]);
        let (dev, mac) = (format!("w{number}"), |end| mac(number, end));
        let _ = writeln!(
            text,
            "ip -n {from} link add {dev} address {} mtu {mtu} type veth peer name {dev} address {} mtu {mtu} netns {to}",
            mac(0),
            mac(1)
        );
        own[wire.from].push(format!("link set {dev} up"));
        own[wire.from].push(format!(
            "neigh add {} lladdr {} dev {dev} nud permanent",
            gateway(number),
            mac(1)
        ));
        own[wire.to].push(format!("link set {dev} up"));
    }
    for (id, ends) in network.ends.iter().enumerate() {
        let class = run.class(u32::try_from(id).unwrap_or(u32::MAX));
        for (is_data, wires) in [true, false].into_iter().zip(&ends.wires) {
            let (host, is_sender) =
                if is_data { (ends.sender, true) } else { (ends.receiver, false) };
            own[host].push("link set lo up".to_owned());
            own[host].push(format!("addr add {}/32 dev lo", address(is_sender, id)));
            for &wire in wires {
                let from = network.wires[wire].from;
                let mut route = format!(
                    "route add {}/32 via {} dev w{wire} onlink",
                    address(!is_sender, id),
                    gateway(wire)
                );
                if from == host {
                    let _ = write!(route, " src {}", address(is_sender, id));
                    if is_data && run.stack.initial_cwnd != 10 {
                        let _ = write!(route, " initcwnd {}", run.stack.initial_cwnd);
                    }
                    if !is_data && run.stack.delack == DelAck::Quick {
                        route += " quickack 1";
                    }
                    own[from].push(format!("link set w{wire} mtu {}", class.mss + HEADERS));
                    if run.stack.tso == Tso::Off {
                        own[from].push(format!("link set w{wire} gso_max_segs 1"));
                    }
                }
                if !own[from].contains(&route) {
                    own[from].push(route);
                }
            }
        }
    }
    for (space, lines) in network.spaces.iter().zip(&own) {
        if !lines.is_empty() {
            let _ = writeln!(text, "ip -n {space} -batch - <<E\n{}\nE", lines.join("\n"));
        }
    }
    for ends in &network.ends {
        for (space, wire) in [(ends.sender, ends.wires[0][0]), (ends.receiver, ends.wires[1][0])] {
            let space = &network.spaces[space];
            if run.stack.tso != Tso::Whole {
                let _ = writeln!(
                    text,
                    "ip netns exec {space} ethtool -K w{wire} tso off gro off >/dev/null"
                );
            }
        }
        if run.stack.sender_qdisc == SenderQdisc::Fq {
            let (space, wire) = (&network.spaces[ends.sender], ends.wires[0][0]);
            let _ = writeln!(text, "tc -n {space} qdisc add dev w{wire} root fq");
        }
    }
    for served in &network.served {
        for command in served.commands() {
            text += &command;
            text.push('\n');
        }
    }
    for (space, name) in network.spaces.iter().enumerate() {
        let mut lines = Vec::new();
        for (number, wire) in network.wires.iter().enumerate().filter(|(_, w)| w.from == space) {
            let dev = format!("w{number}");
            match &wire.content {
                Content::Nothing => {}
                Content::Netem(netem) => {
                    let table = netem.distribution().map(|_| table_name(number));
                    lines.extend(netem.lines(&dev, table.as_deref()));
                }
                Content::Queue(served) => lines.extend(served.lines(&dev)),
            }
        }
        if !lines.is_empty() {
            let _ = writeln!(text, "tc -n {name} -batch - <<E\n{}\nE", lines.join("\n"));
        }
    }
    text
}

/// Returns the MTU for a run: the size of its largest IP packet, but at least 1500 bytes.
fn mtu(run: &Run) -> u32 {
    run.classes.iter().map(|class| class.mss + HEADERS).max().unwrap_or(0).max(1500)
}

fn gateway(wire: usize) -> String {
    let at = wire + 1;
    format!("100.{}.{}.{}", 64 + at / 62_500, at / 250 % 250, at % 250 + 1)
}

fn mac(wire: usize, end: usize) -> String {
    format!("02:00:{:02x}:{:02x}:{:02x}:0{end}", wire >> 16 & 255, wire >> 8 & 255, wire & 255)
}

/// The kernel's name of an algorithm; `None` if no kernel without patches has it.
#[must_use]
pub fn kernel_name(cc: Algorithm) -> Option<&'static str> {
    Some(match cc.name() {
        "bbr1" => "bbr",
        name @ ("cubic" | "reno" | "vegas" | "dctcp" | "bic" | "htcp" | "illinois"
        | "highspeed" | "scalable" | "veno" | "westwood" | "yeah" | "hybla") => name,
        _ => return None,
    })
}

/// Returns the text of the guest kernel's file `scenario`: settings of the hosts, flows, and
/// commands with their times.
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
    let most = |size: SocketBuffer| match size {
        SocketBuffer::Fixed(bytes) => bytes.0.max(SOCKET_MAX),
        SocketBuffer::Auto => SOCKET_MAX,
    };
    for line in [
        "net/ipv4/tcp_mem 1000000 1000000 1000000",
        "net/core/netdev_max_backlog 1000000",
        // The upper bound of receive buffers also determines the window scale.
        &format!("net/core/rmem_max {}", most(run.stack.rcvbuf)),
        &format!("net/core/wmem_max {}", most(run.stack.sndbuf)),
    ] {
        let _ = writeln!(text, "sysctl - {line}");
    }
    let hosts: Vec<usize> = network.ends.iter().flat_map(|it| [it.sender, it.receiver]).collect();
    for (space, name) in network.spaces.iter().enumerate() {
        if !hosts.contains(&space) {
            let _ = writeln!(text, "sysctl {name} net/ipv4/ip_forward 1");
        }
    }
    for (id, ends) in network.ends.iter().enumerate() {
        let class = run.class(u32::try_from(id).unwrap_or(u32::MAX));
        for space in [ends.sender, ends.receiver] {
            for (name, value) in tcp_sysctls(&run.stack, class.settings.ecn == EcnMode::On) {
                let _ = writeln!(text, "sysctl {} net/ipv4/{name} {value}", network.spaces[space]);
            }
        }
    }
    for served in &network.served {
        let wire = &network.wires[served.wire];
        let _ = writeln!(text, "qdisc {} w{}", network.spaces[wire.from], served.wire);
    }
    for ends in &network.ends {
        let wire = losing(network, &ends.wires[0]).unwrap_or(ends.wires[0][0]);
        let from = &network.spaces[network.wires[wire].from];
        let _ = writeln!(text, "pathqdisc {from} w{wire}");
    }
    for (id, flow) in run.flows.iter().enumerate() {
        text += &flow_lines(run, network, id, flow.start, flow.stop);
    }
    for (at, command) in changes(network) {
        let _ = writeln!(text, "at {} {command}", seconds(at));
    }
    for served in &network.served {
        if served.link.police.is_some() {
            let from = &network.spaces[network.wires[served.wire].from];
            let _ = writeln!(
                text,
                "end tc -n {from} -s filter show dev w{} egress > {OUT}.police{}.txt",
                served.wire, served.number
            );
        }
    }
    text
}

/// Returns the only wire in `wires` that loses packets at random; `None` if no wire or several
/// wires do.
pub(super) fn losing(network: &Network, wires: &[usize]) -> Option<usize> {
    let mut all = wires.iter().copied().filter(
        |&wire| matches!(&network.wires[wire].content, Content::Netem(it) if it.has_loss()),
    );
    let first = all.next();
    if all.next().is_some() { None } else { first }
}

pub(crate) fn flow_lines(
    run: &Run,
    network: &Network,
    id: usize,
    start: Time,
    stop: Option<Time>,
) -> String {
    let class = run.class(u32::try_from(id).unwrap_or(u32::MAX));
    let (stack, ends) = (&run.stack, &network.ends[id]);
    let mut text = format!(
        "flow src={} dst={} start={}",
        network.spaces[ends.sender],
        network.spaces[ends.receiver],
        seconds(start)
    );
    // With requests, the receiver of the data opens the connection to the sender.
    let is_server = matches!(class.source, Source::Requests(_));
    let _ = write!(text, " addr={} unit={}", address(is_server, id), class.mss);
    if class.is_udp {
        text += " proto=udp";
    } else {
        let name = kernel_name(class.cc).unwrap_or_default();
        let _ = write!(text, " cc={name}");
        if name == "dctcp" {
            text += " dstcc=dctcp";
        }
    }
    if let Some(stop) = stop {
        let _ = write!(text, " stop={}", seconds(stop));
    }
    for (key, size) in [("sndbuf", stack.sndbuf), ("rcvbuf", stack.rcvbuf)] {
        if let SocketBuffer::Fixed(bytes) = size {
            let _ = write!(text, " {key}={}", bytes.0);
        }
    }
    let mut put = |is_set: bool, key: &str, value: u64| {
        if is_set {
            let _ = write!(text, " {key}={value}");
        }
    };
    put(stack.rcvlowat.0 > 1, "lowat", stack.rcvlowat.0);
    put(!stack.socket.nagle, "nodelay", 1);
    put(stack.notsent_lowat.is_some(), "notsent_lowat", stack.notsent_lowat.unwrap_or(0).into());
    put(class.settings.dscp > 0, "tos", u64::from(class.settings.dscp) << 2);
    put(
        class.settings.max_pacing_rate.is_some(),
        "pacing",
        class.settings.max_pacing_rate.map_or(0, |it| it.0 / 8),
    );
    if let Some(Reading::Periodic { bytes, every }) = &class.settings.reading {
        put(true, "read_bytes", bytes.0);
        put(true, "read_ns", every.0);
    }
    let mut lines = Vec::new();
    match &class.source {
        Source::Unlimited => text += " mode=bulk",
        Source::Bytes(bytes) => {
            let _ = write!(text, " mode=bytes size={}", bytes.0);
        }
        Source::Write { bytes, every } => {
            let _ = write!(text, " mode=periodic size={} interval_ns={}", bytes.0, every.0);
        }
        Source::Frames(frames) => {
            let (bytes, every) = (frames.bytes.0, frames.every.0);
            let _ = write!(text, " mode=periodic size={bytes} interval_ns={every}");
        }
        Source::Train { bytes, count, gap } => {
            let (bytes, gap) = (bytes.0, gap.0);
            let _ = write!(text, " mode=train size={bytes} count={count} gap_ns={gap}");
        }
        Source::Cbr(_) | Source::Rates(_) | Source::OnOff { .. } => {
            text += " mode=pace";
            let end = stop.unwrap_or(Time(run.duration.0));
            lines = paces(&class.source, start, end)
                .into_iter()
                .map(|(at, rate)| {
                    let rate = rate.map_or("max".to_owned(), |rate| rate.0.to_string());
                    format!("pace {} {id} {rate}", seconds(at))
                })
                .collect();
        }
        Source::Requests(requests) => {
            let count = requests.count.map_or(i64::MAX.cast_unsigned(), u64::from);
            let _ = write!(text, " mode=requests count={count}");
            let think = match &requests.pause {
                bbrlab_run::Pause::Think(think) => think.mean,
                _ => 0,
            };
            // The guest kernel's program takes one `request` line per request, and repeats the last
            // line for further requests. All requests of a flow are equal, so one line is enough.
            lines.push(format!("request {id} {} {think}", requests.size.mean));
        }
        Source::Bursts(_) | Source::Arrivals(Arrivals { .. }) => {}
    }
    text.push('\n');
    for line in lines {
        text += &line;
        text.push('\n');
    }
    text
}

/// Returns the changes of rates, delays and losses as commands, each with its time.
pub(super) fn changes(network: &Network) -> Vec<(Time, String)> {
    let mut all = Vec::new();
    for (number, wire) in network.wires.iter().enumerate() {
        let (space, dev) = (&network.spaces[wire.from], format!("w{number}"));
        match &wire.content {
            Content::Nothing => {}
            Content::Netem(netem) => {
                let table = netem.distribution().map(|_| table_name(number));
                let prefix = if table.is_some() { "TC_LIB_DIR=\"$PWD\" " } else { "" };
                let lines = netem.changes(&dev, table.as_deref()).into_iter();
                all.extend(lines.map(|(at, line)| (at, format!("{prefix}tc -n {space} {line}"))));
            }
            Content::Queue(served) => all.extend(served.changes(space, &dev)),
        }
    }
    all.sort_by_key(|&(at, _)| at);
    all
}

pub(crate) fn seconds(at: Time) -> String {
    decimal(at.0, 1_000_000_000)
}

/// Returns `value / unit` without rounding; `unit` is a power of ten.
pub(crate) fn decimal(value: u64, unit: u64) -> String {
    let digits = unit.ilog10() as usize;
    let text = format!("{}.{:0digits$}", value / unit, value % unit);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns the guest kernel's memory in MiB, enough for the data that may be in its network.
pub(super) fn memory_mib(run: &Run) -> u32 {
    let fastest = |link: &Link| match &link.rate {
        Rate::Constant(rate) => rate.0,
        Rate::Schedule(steps) => steps.iter().map(|&(_, rate)| rate.0).max().unwrap_or(0),
        Rate::Unlimited | Rate::Trace(_) => 0,
    };
    let rate = run.links.iter().map(fastest).max().unwrap_or(0);
    let flows = run.flows.len() as u64;
    // 256 MiB of memory for the guest kernel are enough for links of 200 Mbit/s with buffers of 16
    // BDP. (This function does not read the RTT, on which the BDP also depends.) Limit of this
    // estimate: if the socket buffers of 16 flows were full, 256 MiB would not be enough. By
    // default, a send or receive buffer can grow to 64 MiB (`tcp_wmem`, `tcp_rmem`).
    if rate <= 200_000_000 && flows <= 16 { 256 } else { 1024 }
}

#[cfg(test)]
mod tests {
    use bbrlab_scenario::Scenario;

    use super::{decimal, scenario};
    use crate::linux::network::Network;

    /// Returns the lines with the word `request` in the guest kernel's file `scenario`, for a flow
    /// with this source.
    fn requests(source: &str) -> Vec<String> {
        let text = format!(
            "duration = \"2s\"\n[bottleneck]\nrate = \"1Gbit/s\"\nbuffer = \"100pkt\"\n\
             [[flows]]\ncc = \"cubic\"\nrtt = \"0.1ms\"\n{source}\n"
        );
        let of = Scenario::parse("requests", "requests", &text, None, &[]).unwrap();
        let run = of.run(0);
        let text = scenario(&run, &Network::of(&run));
        text.lines().filter(|line| line.contains("request")).map(str::to_owned).collect()
    }

    #[test]
    fn requests_end_only_after_their_number() {
        let lines = requests("bytes = \"1000B\"\nrequests = {}");
        assert!(lines[0].ends_with(" mode=requests count=9223372036854775807"), "{lines:?}");
        assert_eq!(lines[1..], ["request 0 1000 0"]);
        let lines = requests("bytes = \"1000B\"\nrequests = { think = \"5ms\", count = 3000 }");
        assert!(lines[0].ends_with(" mode=requests count=3000"), "{lines:?}");
        assert_eq!(lines[1..], ["request 0 1000 5000000"]);
    }

    #[test]
    fn times_are_written_without_rounding() {
        assert_eq!(decimal(1_500_000_001, 1_000_000_000), "1.500000001");
        assert_eq!(decimal(10_000_000, 1_000_000), "10");
        assert_eq!(decimal(0, 1_000_000_000), "0");
    }
}
