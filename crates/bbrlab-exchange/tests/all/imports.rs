//! Tests that import complete files and check the results.

use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_exchange::{CaptureSide, ImportOptions, Imported, export_pcap, import};
use bbrlab_lab::{LabError, read_run};
use bbrlab_run::{FlowSummary, RunSummary};

use crate::folder::{TWO_FLOWS, empty, run};

fn imported(file: &Path, out: &Path, cc: &[&str]) -> Result<Imported, LabError> {
    let cc = cc.iter().map(|&name| name.to_owned()).collect();
    let options = ImportOptions { out: out.to_owned(), cc, ..ImportOptions::default() };
    import(&[file.to_owned()], &options)
}

/// Simulates a run and exports it as pcap. Returns the path of the pcap file, and the run's
/// summary.
fn captured(folder: &Path) -> (PathBuf, RunSummary) {
    let summary = run(&folder.join("run"), TWO_FLOWS);
    (export_pcap(&folder.join("run"), None, false).unwrap(), summary)
}

/// The file is from iperf3 3.12 on a real Linux 6.18, over a token bucket of 20 Mbit/s.
#[test]
fn iperf3_measurements_become_records_and_the_rest_is_null() {
    let folder = empty("iperf3");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/iperf3-client.json");
    let Imported { summary, notes } = imported(&file, &folder.join("out"), &[]).unwrap();
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!((summary.backend.as_str(), summary.backend_version.as_str()), ("iperf3", "3.12"));
    let [flow] = summary.flows.as_slice() else { panic!("expected one flow") };
    assert_eq!((flow.cc.as_str(), flow.name.as_deref()), ("cubic", Some("testbed")));
    // From `end.streams[0]` of the file: 18 retransmissions by the sender, and 11896768 bytes at
    // the receiver.
    assert_eq!(flow.retransmitted_packets, Some(18));
    let goodput_mbps = flow.goodput_mbps.unwrap();
    assert!((goodput_mbps - 11_896_768.0 * 8.0 / 5.000_112 / 1e6).abs() < 1e-6, "{goodput_mbps}");
    assert_eq!((flow.rtt_ms.mean, flow.sent_packets, flow.rtt_base_ms), (None, None, None));
    assert_eq!((summary.jain, summary.digest.as_deref(), summary.links.len()), (None, None, 0));
    let series = read_run(&folder.join("out")).unwrap().series;
    assert_eq!(series.len(), 25);
    assert!(series.srtt_us.iter().all(Option::is_some));
    assert!(series.inflight_packets.iter().all(|packets| packets.0.is_none()));
}

#[test]
fn datagrams_of_iperf3_have_losses_and_jitter_in_the_flow_and_in_its_group() {
    let folder = empty("iperf3-udp");
    let file = folder.join("udp.json");
    let text = r#"{
        "start": {"test_start": {"protocol": "UDP", "blksize": 1448, "omit": 0},
            "connected": [{"socket": 5, "local_host": "10.0.0.1", "local_port": 1,
                "remote_host": "10.0.0.2", "remote_port": 2}]},
        "intervals": [{"streams": [{"socket": 5, "start": 0, "end": 10, "seconds": 10,
            "bytes": 1448000, "bits_per_second": 1158400, "packets": 1000}]}],
        "end": {"streams": [{"udp": {"socket": 5, "start": 0, "end": 10, "seconds": 10,
            "bytes": 1448000, "bits_per_second": 1158400, "jitter_ms": 0.75,
            "lost_packets": 40, "packets": 1000, "lost_percent": 4}}]}
    }"#;
    fs::write(&file, text).unwrap();
    let Imported { summary, .. } = imported(&file, &folder.join("out"), &[]).unwrap();
    let (flow, group) = (&summary.flows[0], &summary.flow_groups[0]);
    assert_eq!((flow.loss_ratio, flow.jitter_ms), (Some(0.04), Some(0.75)));
    assert_eq!((group.loss_ratio, group.jitter_ms), (Some(0.04), Some(0.75)));
}

#[test]
fn the_import_of_a_capture_finds_what_the_simulator_recorded() {
    let folder = empty("capture");
    let (file, simulated) = captured(&folder);
    let Imported { summary, .. } =
        imported(&file, &folder.join("out"), &["cubic", "bbr1"]).unwrap();
    for (found, known) in summary.flows.iter().zip(&simulated.flows) {
        assert_eq!(found.sent_packets, known.sent_packets);
        assert_eq!(found.retransmitted_packets, known.retransmitted_packets);
        let (found_ms, known_ms) = (found.rtt_ms.mean.unwrap(), known.rtt_ms.mean.unwrap());
        // The RTTs of retransmitted packets come from timestamps, which have a resolution of 1 ms.
        assert!((found_ms / known_ms - 1.0).abs() < 0.01, "{found_ms} {known_ms}");
        let (found_mbps, known_mbps) = (found.goodput_mbps.unwrap(), known.goodput_mbps.unwrap());
        // A difference is expected: the import counts bytes when they are acknowledged at the
        // sender, and the simulator half an RTT earlier, when the application reads them.
        assert!((found_mbps / known_mbps - 1.0).abs() < 0.015, "{found_mbps} {known_mbps}");
        let since_first_s = |flow: &FlowSummary, all: &RunSummary| {
            flow.start_s.unwrap() - all.flows[0].start_s.unwrap()
        };
        let (found_s, known_s) = (since_first_s(found, &summary), since_first_s(known, &simulated));
        assert!((found_s - known_s).abs() < 2e-6, "{found_s} {known_s}");
    }
    assert_eq!(summary.flows.len(), 2);
    assert!(summary.flow_groups[0].share_active.is_some() && summary.jain.is_some());
}

#[test]
fn a_cut_capture_gives_its_whole_packets_and_a_note() {
    let folder = empty("cut");
    let (file, _) = captured(&folder);
    let bytes = fs::read(&file).unwrap();
    let cut = folder.join("cut.pcap");
    fs::write(&cut, &bytes[..bytes.len() / 2 + 7]).unwrap();
    let Imported { summary, notes } = imported(&cut, &folder.join("out"), &[]).unwrap();
    assert!(notes[0].contains("ends in the middle of a packet, at byte"), "{notes:?}");
    assert!(summary.sim_s > 0.5 && summary.sim_s < 1.9, "{}", summary.sim_s);
    assert_eq!(summary.flows[0].cc, "unknown");
}

#[test]
fn a_capture_of_the_receiver_has_arrivals_and_no_inflight() {
    let folder = empty("receiver");
    let (file, _) = captured(&folder);
    let options = ImportOptions {
        out: folder.join("out"),
        side: Some(CaptureSide::Receiver),
        ..ImportOptions::default()
    };
    let Imported { summary, .. } = import(&[file], &options).unwrap();
    let flow = &summary.flows[0];
    assert_eq!((flow.sent_packets, flow.retransmitted_packets), (None, None));
    assert!(flow.duplicate_packets.is_some() && flow.delivered_packets.is_some());
}

#[test]
fn tables_flent_and_ss_become_flows() {
    let folder = empty("texts");
    let table = folder.join("t.csv");
    let rows = "time_s,flow,cc,srtt_us,goodput_bps,place\n0,a,reno,,,x\n1,a,reno,5000,8e6,\n2,a,reno,7000,8e6,\n";
    fs::write(&table, rows).unwrap();
    let Imported { summary, notes } = imported(&table, &folder.join("t"), &[]).unwrap();
    let flow = &summary.flows[0];
    assert_eq!(
        (flow.cc.as_str(), flow.goodput_mbps, flow.srtt_ms.mean),
        ("reno", Some(8.0), Some(6.0))
    );
    assert!(notes[0].ends_with("left out, because a time series has no such columns: place"));
    let flent = folder.join("t.flent");
    let text = r#"{"metadata":{"SERIES_META":{"TCP upload::1":{"UNITS":"Mbits/s","CONG_CONTROL":"bbr"}}},
        "x_values":[0,1,2],"results":{"TCP upload::1":[null,4,6],"TCP upload::1::tcp_rtt":[null,20,30],"Ping (ms) ICMP":[1,2,3]}}"#;
    fs::write(&flent, text).unwrap();
    let Imported { summary, notes } = imported(&flent, &folder.join("f"), &[]).unwrap();
    let flow = &summary.flows[0];
    assert_eq!(
        (flow.cc.as_str(), flow.goodput_mbps, flow.srtt_ms.mean),
        ("bbr", Some(5.0), Some(25.0))
    );
    assert!(notes[0].ends_with("Ping (ms) ICMP"), "{notes:?}");
    let ss = folder.join("ss.log");
    let socket = |time: u32, bytes: u32| {
        format!(
            "{time}.5\nESTAB 0 0 10.0.0.1:40000 10.0.0.2:5201\n\t cubic rto:220 rtt:20.5/1 mss:1448 cwnd:30 bytes_acked:{bytes} data_segs_out:9 unacked:4\n"
        )
    };
    fs::write(&ss, socket(1_795_853_974, 0) + &socket(1_795_853_975, 1_000_000)).unwrap();
    let Imported { summary, .. } = imported(&ss, &folder.join("s"), &[]).unwrap();
    let flow = &summary.flows[0];
    assert_eq!(
        (flow.cc.as_str(), flow.goodput_mbps, flow.srtt_ms.mean),
        ("cubic", Some(8.0), Some(20.5))
    );
    assert_eq!(
        flow.retransmitted_packets,
        Some(0),
        "the count is 0 because ss omits counts that are zero"
    );
}

/// A document of `FlowMonitor`: 1,000 packets of 1500 bytes in one second, and their ACKs.
const FLOW_MONITOR: &str = r#"<?xml version="1.0" ?>
<FlowMonitor>
  <FlowStats>
    <Flow flowId="1" timeFirstTxPacket="+1e+09ns" timeFirstRxPacket="+1.01e+09ns" timeLastTxPacket="+1.9e+09ns" timeLastRxPacket="+2e+09ns" delaySum="+2e+10ns" jitterSum="+1e+09ns" lastDelay="+1e+07ns" txBytes="1530000" rxBytes="1500000" txPackets="1020" rxPackets="1000" lostPackets="20" timesForwarded="2000">
      <packetsDropped reasonCode="0" number="1" />
      <packetsDropped reasonCode="3" number="12" />
      <delayHistogram nBins="2" >
        <bin index="0" start="0" width="0.02" count="900" />
        <bin index="1" start="0.02" width="0.02" count="100" />
      </delayHistogram>
    </Flow>
    <Flow flowId="2" timeFirstTxPacket="+1.01e+09ns" timeFirstRxPacket="+1.02e+09ns" timeLastTxPacket="+2e+09ns" timeLastRxPacket="+2.01e+09ns" delaySum="+1e+10ns" jitterSum="+0ns" lastDelay="+1e+07ns" txBytes="26000" rxBytes="26000" txPackets="500" rxPackets="500" lostPackets="0" timesForwarded="1000">
    </Flow>
  </FlowStats>
  <Ipv4FlowClassifier>
    <Flow flowId="1" sourceAddress="10.1.1.1" destinationAddress="10.1.3.1" protocol="6" sourcePort="49153" destinationPort="5000">
      <Dscp value="0x0" packets="1020" />
    </Flow>
    <Flow flowId="2" sourceAddress="10.1.3.1" destinationAddress="10.1.1.1" protocol="6" sourcePort="5000" destinationPort="49153">
    </Flow>
  </Ipv4FlowClassifier>
</FlowMonitor>
"#;

#[test]
fn flow_monitor_gives_one_flow_per_connection() {
    let folder = empty("flow-monitor");
    let file = folder.join("flows.flowmon.xml");
    fs::write(&file, FLOW_MONITOR).unwrap();
    let Imported { summary, notes } = imported(&file, &folder.join("run"), &["bbr1"]).unwrap();
    assert_eq!((summary.scenario.as_str(), summary.backend.as_str()), ("flows", "flowmonitor"));
    let [flow] = &summary.flows[..] else { panic!("{:?}", summary.flows) };
    // Time 0 is the start of the first flow. 1,000 packets have 52,000 bytes of headers.
    assert_eq!((flow.cc.as_str(), flow.start_s, flow.stop_s), ("bbr1", Some(0.0), Some(1.0)));
    assert_eq!((flow.throughput_mbps, flow.goodput_mbps), (Some(12.0), Some(11.584)));
    assert_eq!((flow.sent_packets, flow.drops), (Some(1020), Some(12)));
    let delay = &flow.delay_ms;
    assert_eq!(
        (delay.n, delay.mean, delay.p50, delay.p95),
        (Some(1000), Some(20.0), Some(10.0), Some(30.0))
    );
    assert!(notes.iter().any(|note| note.contains("20 lost packets")), "{notes:?}");
    assert!(notes.iter().any(|note| note.ends_with("left out 1 flows of ACKs")), "{notes:?}");
}

/// The program `examples/tcp/tcp-variants-comparison.cc` of ns-3 3.44 wrote both files, with one
/// `TcpCubic` flow over 2 Mbit/s. The option `--flow_monitor=true` wrote the `.flowmonitor` file.
/// The `.pcap` file is a part of the capture that the option `--pcap_tracing=true` wrote: the first
/// 80 bytes of each of the first 60 packets.
#[test]
fn files_that_ns3_wrote_are_read() {
    let folder = empty("ns3");
    let file = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name);
    let read = |name: &str| imported(&file(name), &folder.join(name), &["cubic"]).unwrap();
    let Imported { summary, notes } = read("ns3-3.44.flowmonitor");
    let [flow] = &summary.flows[..] else { panic!("{:?}", summary.flows) };
    assert_eq!(flow.name.as_deref(), Some("10.0.1.1:49153 > 10.0.2.2:50000"));
    assert_eq!((flow.sent_packets, flow.drops, flow.delay_ms.n), (Some(748), Some(0), Some(682)));
    assert_eq!(summary.flow_groups[0].drops, Some(0));
    // The receiver got 1014668 bytes in 682 packets, each with 52 bytes of headers, in 4.09748 s.
    // The sum of their delays (`delaySum`) is 187.156 s.
    assert!((flow.goodput_mbps.unwrap() - 1.911_817).abs() < 1e-6, "{flow:?}");
    assert!((flow.delay_ms.mean.unwrap() - 187_156.0 / 682.0).abs() < 1e-6, "{flow:?}");
    assert!(notes.iter().any(|note| note.ends_with("left out 1 flows of ACKs")), "{notes:?}");
    let Imported { summary, notes } = read("ns3-3.44.pcap");
    let [flow] = &summary.flows[..] else { panic!("{:?}", summary.flows) };
    assert_eq!((flow.sent_packets, flow.retransmitted_packets), (Some(47), Some(0)));
    assert!(notes.is_empty(), "{notes:?}");
    // The RTT is twice the one-way delay of 11 ms, plus the serialisation of the packets.
    assert_eq!(flow.rtt_ms.min, Some(28.501));
}

#[test]
fn captures_of_point_to_point_devices_are_read() {
    /// A capture of a connection's packets, each preceded by PPP's protocol field.
    fn capture() -> Vec<u8> {
        let mut bytes =
            b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00\0\0\0\0\0\0\0\0\xff\xff\0\0\x09\0\0\0".to_vec();
        for number in 0..100_u32 {
            let mut packet = vec![0x00, 0x21];
            let payload = 1000_u32;
            let total = u16::try_from(40 + payload).unwrap();
            packet.extend([0x45, 0]);
            packet.extend(total.to_be_bytes());
            packet.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 1, 1, 1, 10, 1, 3, 1]);
            packet.extend(49153_u16.to_be_bytes());
            packet.extend(5000_u16.to_be_bytes());
            packet.extend((1 + number * payload).to_be_bytes());
            packet.extend([0, 0, 0, 1, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
            packet.resize(packet.len() + 1000, 0);
            let size = u32::try_from(packet.len()).unwrap();
            for value in [number / 100, number * 10_000, size, size] {
                bytes.extend(value.to_le_bytes());
            }
            bytes.extend(packet);
        }
        bytes
    }
    let folder = empty("ppp");
    let file = folder.join("dumbbell-0-1.pcap");
    fs::write(&file, capture()).unwrap();
    let Imported { summary, .. } = imported(&file, &folder.join("run"), &["bbr1"]).unwrap();
    assert_eq!(summary.flows[0].sent_packets, Some(100));
}

#[test]
fn wrong_files_are_named_with_their_place() {
    let folder = empty("wrong");
    for (name, bytes, expected) in [
        ("a", &b""[..], "found an empty file"),
        ("b", b"PK\x03\x04", "byte 0: found 50 4b 03 04, expected pcap or pcapng, JSON"),
        ("c", b"{\"a\": 1}", ":1: found JSON without `start` and `results`"),
        ("d", b"{\"start\": {},\n \"intervals\": [", ":2: found the end of the file in the middle"),
        ("e", b"{\"error\": \"unable to connect\"}", "iperf3 failed: unable to connect"),
        ("f", b"time_s,rtt_us\n0,1\n1,x\n", ":3: `rtt_us`: found \"x\", expected a number from 0 on"),
        ("g", b"time_s\n1\n1\n", ":3: `time_s`: found \"1\", expected a time after"),
        ("h", b"ESTAB 0 0 10.0.0.1:1 10.0.0.2:2\n cubic rto:2\n", ":1: found a socket before any time"),
        ("i", b"\xd4\xc3\xb2\xa1\x02\x00", "found the end of the file in the file's header"),
        ("k", b"<html>\n<p></p></html>", ":1: found `<html>`, expected `<FlowMonitor>` of ns-3"),
        (
            "l",
            b"<FlowMonitor>\n<FlowStats>\n<Flow flowId=\"1\" rxBytes=\"1\" timeFirstTxPacket=\"soon\" />",
            ":3: `timeFirstTxPacket`: found \"soon\", expected a time such as",
        ),
        ("m", b"<FlowMonitor>\n<FlowStats>\n", ":3: found the end of the file before"),
        (
            "j",
            b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00\0\0\0\0\0\0\0\0\xff\xff\0\0\x69\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0A",
            "byte 24: found link type 105, expected Ethernet",
        ),
    ] {
        let file = folder.join(name);
        fs::write(&file, bytes).unwrap();
        let error = imported(&file, &folder.join("out"), &[]).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        assert!(error.to_string().contains(expected), "{error}");
        assert!(!folder.join("out").exists(), "{name} left something");
    }
}

#[test]
fn results_of_others_are_not_overwritten() {
    let folder = empty("others");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/iperf3-client.json");
    run(&folder.join("run"), TWO_FLOWS);
    let error = imported(&file, &folder.join("run"), &[]).unwrap_err().to_string();
    assert!(error.contains("contains another run"), "{error}");
    fs::create_dir(folder.join("mine")).unwrap();
    fs::write(folder.join("mine/notes.txt"), "mine").unwrap();
    let error = imported(&file, &folder.join("mine"), &[]).unwrap_err().to_string();
    assert!(error.contains("contains files that no run wrote"), "{error}");
    imported(&file, &folder.join("new"), &[]).unwrap();
    imported(&file, &folder.join("new"), &[]).unwrap();
    let error = imported(&file, &folder.join("new"), &["bbr3"]).unwrap_err().to_string();
    assert!(error.contains("contains another run"), "{error}");
    let twice = ImportOptions { out: folder.join("twice"), ..ImportOptions::default() };
    let error = import(&[file.clone(), file], &twice).unwrap_err().to_string();
    assert!(error.contains("both have the connection"), "{error}");
}
