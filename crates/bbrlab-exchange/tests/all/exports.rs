//! Tests of exports: other programs can read the exported files.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use bbrlab_exchange::{export_pcap, export_qlog, mininet_text, script_text};
use bbrlab_scenario::Scenario;
use serde_json::Value;

use crate::folder::{TWO_FLOWS, empty, run};

/// Returns the number of packets in a capture that match a filter of tshark; `None` if tshark is
/// not installed.
fn count(file: &std::path::Path, filter: &str) -> Option<usize> {
    let output = Command::new("tshark")
        .args(["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-Y", filter, "-r"])
        .arg(file)
        .output();
    let output = output.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).lines().count())
}

#[test]
fn tshark_reads_the_packets_of_a_run() {
    let folder = empty("tshark");
    let summary = run(&folder, TWO_FLOWS);
    let file = export_pcap(&folder, None, false).unwrap();
    let Some(data) = count(&file, "tcp.len > 0 && ip.src < 10.128.0.0") else {
        // The test runner hides the output of `eprintln!`, but not this line.
        let _ = writeln!(std::io::stderr(), "skipped: no tshark (bbrlab-exchange)");
        return;
    };
    let sent: u64 = summary.flows.iter().filter_map(|flow| flow.sent_packets).sum();
    assert_eq!(data as u64, sent);
    let wrong = "ip.checksum.status == \"Bad\" || tcp.checksum.status == \"Bad\" || _ws.malformed";
    assert_eq!(count(&file, wrong), Some(0));
    // tshark calls a retransmission "out of order" if it is within 3 ms of other data.
    let again = "tcp.analysis.retransmission || tcp.analysis.out_of_order";
    let retransmitted: u64 =
        summary.flows.iter().filter_map(|flow| flow.retransmitted_packets).sum();
    assert_eq!(count(&file, again).unwrap() as u64, retransmitted);
    assert_eq!(count(&file, "tcp.flags.syn == 1 && tcp.options.mss_val == 1460"), Some(4));
}

#[test]
fn a_capture_is_not_overwritten_and_a_changed_record_is_noticed() {
    let folder = empty("again");
    run(&folder, TWO_FLOWS);
    let file = export_pcap(&folder, None, false).unwrap();
    let first = fs::read(&file).unwrap();
    let error = export_pcap(&folder, None, false).unwrap_err().to_string();
    assert!(error.ends_with("exists; overwrite it with --force, or name another file"), "{error}");
    export_pcap(&folder, None, true).unwrap();
    assert_eq!(fs::read(&file).unwrap(), first);
    let scenario = fs::read_to_string(folder.join("scenario.toml")).unwrap();
    fs::write(folder.join("scenario.toml"), scenario.replace("20", "21")).unwrap();
    let error = export_pcap(&folder, None, true).unwrap_err().to_string();
    assert!(error.contains("has the digest"), "{error}");
    assert_eq!(fs::read(&file).unwrap(), first, "a failed export keeps the old file");
}

#[test]
fn qlog_is_a_sequence_of_json_texts_with_rising_times() {
    let folder = empty("qlog");
    run(&folder, TWO_FLOWS);
    let files = export_qlog(&folder, None, false).unwrap();
    assert_eq!(files.len(), 2);
    let text = fs::read_to_string(&files[1]).unwrap();
    let records: Vec<Value> =
        text.split('\u{1e}').skip(1).map(|record| serde_json::from_str(record).unwrap()).collect();
    assert_eq!(records[0]["file_schema"], "urn:ietf:params:qlog:file:sequential");
    assert_eq!(records[0]["trace"]["event_schemas"][0], "urn:ietf:params:qlog:events:quic-12");
    let times: Vec<f64> =
        records[1..].iter().map(|event| event["time"].as_f64().unwrap()).collect();
    assert!(times.is_sorted() && times.len() > 100, "{}", times.len());
    let names = ["quic:recovery_metrics_updated", "quic:congestion_state_updated"];
    assert!(records[1..].iter().all(|event| names.iter().any(|name| event["name"] == *name)));
}

#[test]
fn settings_of_the_stack_are_written_as_sysctls() {
    let text = TWO_FLOWS.to_owned()
        + "[stack]\nmin_rto = \"100ms\"\nrack = false\ndsack = false\nsack = true\nnagle = false\n";
    let scenario = Scenario::parse("two", "two", &text, None, &[]).unwrap();
    for text in [script_text(&scenario).unwrap(), mininet_text(&scenario).unwrap()] {
        for wanted in [
            "\"net.ipv4.tcp_rto_min_us=100000\"",
            "\"net.ipv4.tcp_recovery=0\"",
            "\"net.ipv4.tcp_dsack=0\"",
            "# Differs: stack.min_rto: needs Linux 6.11 or newer",
            " -N -t 2 ",
        ] {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
        assert!(!text.contains("tcp_sack"), "{text}");
    }
}

#[test]
fn every_table_has_valid_addresses_of_its_own() {
    let flow = "[[flows]]\ncc = \"cubic\"\nrtt = \"20ms\"\n";
    let text = "duration = \"2s\"\n[bottleneck]\nrate = \"10Mbit/s\"\nbuffer = \"20pkt\"\n"
        .to_owned()
        + &flow.repeat(513);
    let scenario = Scenario::parse("many", "many", &text, None, &[]).unwrap();
    for text in [script_text(&scenario).unwrap(), mininet_text(&scenario).unwrap()] {
        let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == '/';
        let words = text
            .split(|c| !is_part(c))
            .filter(|word| word.starts_with("10.") && word.matches('.').count() == 3);
        let addresses: Vec<&str> = words.collect();
        for address in &addresses {
            let octets = address.split('/').next().unwrap().split('.');
            assert!(octets.map(str::parse::<u8>).all(|octet| octet.is_ok()), "{address}");
        }
        let mut hosts: Vec<&&str> =
            addresses.iter().filter(|address| address.ends_with(".2/24")).collect();
        let all = hosts.len();
        hosts.sort();
        hosts.dedup();
        assert_eq!((all, hosts.len()), (2 * 513 + 1, 2 * 513 + 1));
        for route in ["10.2.0.0/16 via", "10.3.0.0/16 via", "10.6.0.0/16 via"] {
            assert!(text.contains(&format!("route add {route} 10.255.0.")), "{route}");
        }
    }
}

#[test]
fn a_script_has_the_scenarios_values() {
    let text = TWO_FLOWS.replace("\"20pkt\"", "\"20pkt\"\nqueue = \"fq_codel\"\nloss = 0.01");
    let scenario = Scenario::parse("two", "two", &text, None, &[]).unwrap();
    let (script, program) = (script_text(&scenario).unwrap(), mininet_text(&scenario).unwrap());
    for wanted in [
        "htb rate 10000000bit ceil 10000000bit",
        "fq_codel limit 20 flows 1024 quantum 1514",
        "root netem delay 20000us limit 1000000",
        "root netem loss 1.0000000",
        "-C cubic -t 2",
        "-C bbr -t 2",
    ] {
        assert!(
            script.contains(wanted) && program.contains(wanted),
            "{wanted}\n{script}\n{program}"
        );
    }
    let folder = empty("script");
    fs::write(folder.join("script"), &script).unwrap();
    let file = fs::File::open(folder.join("script")).unwrap();
    let status = Command::new("sh").args(["-n", "-s"]).stdin(file).status().unwrap();
    assert!(status.success(), "{script}");
}

#[test]
fn keys_that_a_testbed_lacks_are_refused() {
    let text = TWO_FLOWS
        .replace(
            "cc = \"bbr1\"",
            "cc = \"bbr_hsr\"\non = \"1s\"\noff = \"1s\"\nrate_samples = false",
        )
        .replace("\"20pkt\"", "\"20pkt\"\nack_thinning = 2\nqueue = \"cake\"")
        + "[stack]\nmin_rto = \"1500ns\"\nsndbuf = \"1MB\"\nundo = false\n";
    let scenario = Scenario::parse("two", "two", &text, None, &[]).unwrap();
    let error = script_text(&scenario).unwrap_err().to_string();
    for wanted in [
        "`stack.min_rto`: sysctl sets whole microseconds, at least 1",
        "`stack.sndbuf`: iperf3 has one option for the buffers of both hosts",
        "`stack.undo`: Linux has no such setting",
        "`bottleneck.ack_thinning`: Linux's tc has no ACK thinning",
        "`bottleneck.queue`: Linux's tc limits cake only by `memlimit`, not by `buffer`",
        "`flows[1].cc`: no Linux kernel that this export supports has `bbr_hsr`",
        "`flows[1].on`: iperf3 has no such source",
        "`flows[1].rate_samples`: Linux always takes them",
    ] {
        assert!(error.contains(wanted), "{wanted}\n{error}");
    }
    // Keys that act only on the ACKs, and a delay that changes, are refused too.
    for (keys, wanted) in [
        (
            "reverse_loss = 0.1",
            "`bottleneck.reverse_loss`: this export writes random losses only for data at the bottleneck",
        ),
        ("reverse_slot = \"30ms\"", "slot`: is not written by this export"),
        ("reverse_grant = \"30ms\"", "grant`: Linux's tc has no grants"),
        (
            "delay = [[\"0s\", \"1ms\"], [\"1s\", \"2ms\"]]",
            "two: `bottleneck.delay`: a script has only constant delays",
        ),
    ] {
        let text = TWO_FLOWS.replace("\"20pkt\"", &format!("\"20pkt\"\n{keys}"));
        let scenario = Scenario::parse("two", "two", &text, None, &[]).unwrap();
        let error = script_text(&scenario).unwrap_err().to_string();
        assert!(error.contains(wanted), "{wanted}\n{error}");
    }
    let swept = format!("{TWO_FLOWS}[sweep]\n\"flows[0].cc\" = [\"cubic\", \"reno\"]\n");
    let scenario = Scenario::parse("two", "two", &swept, None, &[]).unwrap();
    assert!(script_text(&scenario).unwrap_err().to_string().contains("found 2 points"));
}

/// A flow that arrives during the run has the MSS of its own class, not the MSS of the first flow.
#[test]
fn packets_of_arriving_flows_have_their_classs_size() {
    let folder = empty("arrivals");
    let mss = 1000;
    run(
        &folder,
        r#"
        duration = "3s"
        [bottleneck]
        rate = "10Mbit/s"
        delay = "10ms"
        buffer = "1bdp"
        [[flows]]
        cc = "cubic"
        rtt = "40ms"
        bytes = "100KB"
        [[flows]]
        cc = "reno"
        rtt = "40ms"
        mss = "1000B"
        bytes = "20KB"
        arrivals = { rate = "10/s" }
        "#,
    );
    let capture = fs::read(export_pcap(&folder, None, false).unwrap()).unwrap();
    let mut rest = &capture[24..];
    let (mut longest, mut hosts) = (0, std::collections::BTreeSet::new());
    while let Some((header, after)) = rest.split_first_chunk::<16>() {
        let size = u32::from_le_bytes(*header[8..].first_chunk().unwrap()) as usize;
        let (packet, after) = after.split_at(size);
        rest = after;
        let source = &packet[26..30];
        if source[1] < 128 && source[3] >= 3 {
            hosts.insert(source.to_vec());
            // The payload length: the IPv4 header's total length minus 20 bytes of IPv4 header and
            // 32 bytes of TCP header.
            longest = longest.max(u16::from_be_bytes([packet[16], packet[17]]) - 52);
        }
    }
    assert!(
        !hosts.is_empty(),
        "no sender has an address above 10.0.0.2: no two flows of the class overlap"
    );
    assert_eq!(longest, mss);
}
