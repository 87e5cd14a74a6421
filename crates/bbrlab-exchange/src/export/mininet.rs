//! Exports a scenario as a Python program that builds the testbed in Mininet.

use bbrlab_lab::LabError;
use bbrlab_scenario::Scenario;

use super::script::one_line;
use super::testbed::{DEVICE, PORT, blocks, networks, testbed};

/// Returns the text of the program. The program needs root and Mininet 2.3, and writes one JSON
/// file of iperf3 per flow.
///
/// # Errors
/// Fails if the scenario has keys that the program cannot express; the message lists them.
#[expect(clippy::too_many_lines, reason = "the lines of one program in their order")]
pub fn mininet_text(scenario: &Scenario) -> Result<String, LabError> {
    let testbed = testbed(scenario)?;
    let mut lines = vec![
        "#!/usr/bin/env python3".to_owned(),
        format!("# {}", one_line(&testbed.title)),
        "# Written by bbrlab for Mininet 2.3. Needs root, iperf3, and the kernel modules of the queue".to_owned(),
        "# disciplines and congestion controls. Usage: sudo python3 PROGRAM [FOLDER for iperf3's JSON]".to_owned(),
    ];
    lines.extend(testbed.remarks.iter().map(|remark| format!("# Differs: {}", one_line(remark))));
    lines.extend(
        [
            "import os, sys, time",
            "from mininet.link import Link",
            "from mininet.net import Mininet",
            "",
            "OUT = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else \".\")",
            "os.makedirs(OUT, exist_ok=True)",
            "",
            "net = Mininet(controller=None, waitConnected=False)",
            "r1, r2 = net.addHost(\"r1\", ip=None), net.addHost(\"r2\", ip=None)",
            "",
            "",
            "def join(one, name, address, other, other_name, other_address):",
            "    Link(one, other, intfName1=name, intfName2=other_name)",
            "    for node, device, ip in ((one, name, address), (other, other_name, other_address)):",
            "        node.cmd(f\"ip addr flush dev {device}; ip addr add {ip} dev {device}; ip link set {device} up\")",
            "",
            "",
            "def must(node, command):",
            "    output, error, status = node.pexec(command)",
            "    if status != 0:",
            "        sys.exit(f\"{node.name}: {command}: {output}{error}\")",
            "",
            "",
            "try:",
        ]
        .map(str::to_owned),
    );
    let mut body = vec![
        format!("join(r1, \"{DEVICE}\", \"10.255.0.1/24\", r2, \"back\", \"10.255.0.2/24\")"),
        "for router in (r1, r2):".to_owned(),
        "    must(router, \"sysctl -qw net.ipv4.ip_forward=1\")".to_owned(),
    ];
    for (senders, receivers) in blocks(testbed.hosts.len()) {
        body.push(format!("must(r1, \"ip route add {receivers} via 10.255.0.2\")"));
        body.push(format!("must(r2, \"ip route add {senders} via 10.255.0.1\")"));
    }
    body.extend([
        format!("must(r1, \"ethtool -K {DEVICE} tso off gso off gro off\")"),
        "senders, receivers = [], []".to_owned(),
    ]);
    let window = testbed.initial_cwnd.map_or_else(String::new, |cwnd| format!(" initcwnd {cwnd}"));
    for (at, pair) in testbed.hosts.iter().enumerate() {
        let (senders, receivers) = networks(at);
        body.push(format!("# The hosts of {}.", pair.table));
        body.push(format!(
            "s, d = net.addHost(\"s{at}\", ip=None), net.addHost(\"d{at}\", ip=None)"
        ));
        body.push("senders.append(s)".to_owned());
        body.push("receivers.append(d)".to_owned());
        body.push(format!(
            "join(s, \"s{at}-eth\", \"{senders}.2/24\", r1, \"r1-s{at}\", \"{senders}.1/24\")"
        ));
        body.push(format!(
            "join(d, \"d{at}-eth\", \"{receivers}.2/24\", r2, \"r2-d{at}\", \"{receivers}.1/24\")"
        ));
        body.push(format!("must(s, \"ip route add default via {senders}.1{window}\")"));
        body.push(format!("must(d, \"ip route add default via {receivers}.1\")"));
        body.push(format!(
            "must(d, \"tc qdisc add dev d{at}-eth root netem delay {} limit 1000000\")",
            pair.rtt
        ));
        if testbed.remarks.iter().any(|remark| remark.starts_with("stack.sender_qdisc")) {
            body.push(format!("must(s, \"tc qdisc add dev s{at}-eth root fq\")"));
        }
        for value in &testbed.sysctls {
            let (key, values) = value.split_once('=').unwrap_or((value, ""));
            for node in ["s", "d"] {
                body.push(format!("must({node}, [\"sysctl\", \"-qw\", \"{key}={values}\"])"));
            }
        }
        if let Some(loss) = &testbed.behind {
            body.push(format!("must(r2, \"tc qdisc add dev r2-d{at} root {loss}\")"));
        }
    }
    body.extend(testbed.bottleneck.iter().map(|arguments| format!("must(r1, \"tc {arguments}\")")));
    body.push("# Events: time in seconds, node, command.".to_owned());
    body.push("events, servers = [], []".to_owned());
    let mut number = 0;
    for (at, pair) in testbed.hosts.iter().enumerate() {
        let (_, network) = networks(at);
        for (start_s, options) in &pair.clients {
            let port = PORT + number;
            body.push(format!("servers.append(receivers[{at}].popen(\"iperf3 -s -1 -p {port}\"))"));
            body.push(format!(
                "events.append(({start_s:.3}, senders[{at}], \"iperf3 -c {network}.2 -p {port}{options} -J --logfile \" + OUT + \"/flow{number}.json\"))"
            ));
            number += 1;
        }
    }
    for (at_s, arguments) in &testbed.steps {
        body.push(format!("events.append(({at_s:.3}, r1, \"tc {arguments}\"))"));
    }
    body.extend(
        [
            "time.sleep(1)",
            "started, running = time.monotonic(), []",
            "for at, node, command in sorted(events, key=lambda event: event[0]):",
            "    time.sleep(max(0.0, at - (time.monotonic() - started)))",
            "    running.append(node.popen(command))",
            "for process in running:",
            "    if process.wait() != 0:",
            "        print(\"a flow failed: see its JSON file\", file=sys.stderr)",
        ]
        .map(str::to_owned),
    );
    lines.extend(body.into_iter().map(|line| format!("    {line}")));
    lines.extend(["finally:".to_owned(), "    net.stop()".to_owned(), String::new()]);
    Ok(lines.join("\n"))
}
