//! Exports a scenario as a shell script that builds the testbed from network namespaces of one
//! machine.

use bbrlab_lab::LabError;
use bbrlab_scenario::Scenario;

use super::parts::{HostPair, Testbed};
use super::testbed::{DEVICE, PORT, blocks, networks, testbed};

/// Returns the text of the script. The script needs root, and writes one JSON file of iperf3 per
/// flow.
///
/// # Errors
/// Fails if the scenario has keys that a script cannot express; the message lists them.
pub fn script_text(scenario: &Scenario) -> Result<String, LabError> {
    let testbed = testbed(scenario)?;
    let mut lines: Vec<String> = vec![
        "#!/bin/sh".to_owned(),
        format!("# {}", one_line(&testbed.title)),
        "# Written by bbrlab. Needs root, iproute2, ethtool, iperf3, and the kernel modules of the"
            .to_owned(),
        "# queue disciplines and congestion controls. Usage: sh SCRIPT [FOLDER for iperf3's JSON]"
            .to_owned(),
    ];
    lines.extend(testbed.remarks.iter().map(|remark| format!("# Differs: {}", one_line(remark))));
    lines.extend(
        [
            "set -eu",
            "OUT=${1:-.}",
            "mkdir -p \"$OUT\"",
            "P=bbrlab$$",
            "cleanup() {",
            "  kill $(jobs -p) 2>/dev/null || true",
            "  for n in $(ip netns list | cut -d' ' -f1 | grep \"^$P-\" || true); do",
            "    for p in $(ip netns pids \"$n\"); do kill \"$p\" 2>/dev/null || true; done",
            "    ip netns del \"$n\"",
            "  done",
            "}",
            "trap cleanup EXIT",
            "trap 'exit 130' INT TERM",
            "in_() { n=$1; shift; ip netns exec \"$P-$n\" \"$@\"; }",
            "host() { ip netns add \"$P-$1\"; ip -n \"$P-$1\" link set lo up; }",
            "# join HOST DEVICE ADDRESS HOST DEVICE ADDRESS: a cable between two hosts.",
            "join() {",
            "  ip link add \"$2\" netns \"$P-$1\" type veth peer name \"$5\" netns \"$P-$4\"",
            "  ip -n \"$P-$1\" addr add \"$3\" dev \"$2\"; ip -n \"$P-$1\" link set \"$2\" up",
            "  ip -n \"$P-$4\" addr add \"$6\" dev \"$5\"; ip -n \"$P-$4\" link set \"$5\" up",
            "}",
            "",
            "# Two routers with the bottleneck between them.",
            "host r1; host r2",
        ]
        .map(str::to_owned),
    );
    lines.push(format!("join r1 {DEVICE} 10.255.0.1/24 r2 back 10.255.0.2/24"));
    lines.push(
        "in_ r1 sysctl -qw net.ipv4.ip_forward=1; in_ r2 sysctl -qw net.ipv4.ip_forward=1"
            .to_owned(),
    );
    for (senders, receivers) in blocks(testbed.hosts.len()) {
        lines.push(format!("ip -n \"$P-r1\" route add {receivers} via 10.255.0.2"));
        lines.push(format!("ip -n \"$P-r2\" route add {senders} via 10.255.0.1"));
    }
    lines.push(format!("in_ r1 ethtool -K {DEVICE} tso off gso off gro off"));
    for (at, pair) in testbed.hosts.iter().enumerate() {
        hosts(&testbed, at, pair, &mut lines);
    }
    lines.extend([String::new(), "# The bottleneck.".to_owned()]);
    lines.extend(testbed.bottleneck.iter().map(|arguments| format!("in_ r1 tc {arguments}")));
    if let Some(loss) = &testbed.behind {
        for at in 0..testbed.hosts.len() {
            lines.push(format!("in_ r2 tc qdisc add dev d{at} root {loss}"));
        }
    }
    flows(&testbed, &mut lines);
    lines.push(String::new());
    Ok(lines.join("\n"))
}

/// Appends the lines that set up the two hosts of a `[[flows]]` table.
fn hosts(testbed: &Testbed, at: usize, pair: &HostPair, lines: &mut Vec<String>) {
    lines.extend([
        String::new(),
        format!("# The hosts of {}.", pair.table),
        format!("host s{at}; host d{at}"),
    ]);
    let (senders, receivers) = networks(at);
    lines.push(format!("join s{at} eth {senders}.2/24 r1 s{at} {senders}.1/24"));
    lines.push(format!("join d{at} eth {receivers}.2/24 r2 d{at} {receivers}.1/24"));
    let window = testbed.initial_cwnd.map_or_else(String::new, |cwnd| format!(" initcwnd {cwnd}"));
    lines.push(format!("ip -n \"$P-s{at}\" route add default via {senders}.1{window}"));
    lines.push(format!("ip -n \"$P-d{at}\" route add default via {receivers}.1"));
    lines.push(format!(
        "in_ d{at} tc qdisc add dev eth root netem delay {} limit 1000000",
        pair.rtt
    ));
    if testbed.remarks.iter().any(|remark| remark.starts_with("stack.sender_qdisc")) {
        lines.push(format!("in_ s{at} tc qdisc add dev eth root fq"));
    }
    for value in &testbed.sysctls {
        lines.push(format!("in_ s{at} sysctl -qw \"{value}\"; in_ d{at} sysctl -qw \"{value}\""));
    }
    if let Some(cc) = &pair.cc {
        lines.push(format!("in_ s{at} sysctl -n net.ipv4.tcp_available_congestion_control | grep -qw {cc} || modprobe tcp_{cc}"));
    }
}

/// Appends the lines that start the iperf3 servers, start the clients at their times, and change
/// the bottleneck.
fn flows(testbed: &Testbed, lines: &mut Vec<String>) {
    lines.extend([String::new(), "# The flows, each with a server of its own.".to_owned()]);
    let mut number = 0;
    let (mut servers, mut clients) = (Vec::new(), Vec::new());
    for (at, pair) in testbed.hosts.iter().enumerate() {
        let (_, receivers) = networks(at);
        for (start_s, options) in &pair.clients {
            let port = PORT + number;
            servers.push(format!("in_ d{at} iperf3 -s -1 -p {port} >/dev/null &"));
            clients.push(format!(
                "(sleep {start_s:.3}; in_ s{at} iperf3 -c {receivers}.2 -p {port}{options} -J > \"$OUT/flow{number}.json\") & CLIENTS=\"$CLIENTS $!\""
            ));
            number += 1;
        }
    }
    lines.extend(servers);
    lines.extend(["sleep 1".to_owned(), "CLIENTS=".to_owned()]);
    lines.extend(clients);
    for (at_s, arguments) in &testbed.steps {
        lines.push(format!("(sleep {at_s:.3}; in_ r1 tc {arguments}) &"));
    }
    lines.push(
        "for c in $CLIENTS; do wait \"$c\" || echo \"a flow failed: see its JSON file\" >&2; done"
            .to_owned(),
    );
    lines.push(format!("in_ r1 tc -s qdisc show dev {DEVICE} > \"$OUT/bottleneck.txt\""));
    lines.push(format!(
        "echo \"{number} flows, {:.0} s: bbrlab import $OUT/flow*.json --out measured\"",
        testbed.duration_s
    ));
}

/// Returns `text` as one line, for a comment in the script.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
