//! Tests of imports of complete files.

use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_exchange::{CaptureSide, ImportOptions, Imported, export_pcap, import};
use bbrlab_lab::{LabError, read_run};
use bbrlab_run::RunSummary;

use crate::folder::{TWO_FLOWS, empty, run};

fn imported(file: &Path, out: &Path, cc: &[&str]) -> Result<Imported, LabError> {
    let cc = cc.iter().map(|&name| name.to_owned()).collect();
    let options = ImportOptions { out: out.to_owned(), cc, ..ImportOptions::default() };
    import(&[file.to_owned()], &options)
}

/// Simulates a run and exports it as pcap. Returns the file, and the run's record.
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
    let [flow] = summary.flows.as_slice() else { panic!("one stream") };
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
        // Two differences are expected: the capture shows acknowledged bytes, but the simulator
        // counts bytes that the application read; and the capture's flow begins with its first
        // data, after the handshake.
        assert!((found_mbps / known_mbps - 1.0).abs() < 0.05, "{found_mbps} {known_mbps}");
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
    assert_eq!(flow.retransmitted_packets, Some(0), "ss omits counts that are zero");
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
