//! Tests that boot a built kernel. The tests are skipped if no kernel is built.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bbrlab_kernel::{Boot, Booted, FreeCpu, Kernel, KernelError, kernel_for_test};

const SETUP: &str = include_str!("../../../../adapters/linux/check.sh");
const SCENARIO: &str = include_str!("../../../../adapters/linux/check.scenario");

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, scenario: &str) -> Self {
        let process = std::process::id();
        let path = std::env::temp_dir().join(format!("bbrlab-boot-{process}-{name}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("setup.sh"), SETUP).unwrap();
        fs::write(path.join("scenario"), scenario).unwrap();
        Self(path)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn boot(
    kernel: &Kernel,
    folder: &Path,
    seed: u64,
    stop: &dyn Fn() -> bool,
) -> Result<Booted, KernelError> {
    let cpu = FreeCpu::take();
    let boot = Boot {
        folder,
        seed,
        cpu: cpu.as_ref().map(|cpu| cpu.number),
        memory_mib: 256,
        limit: Duration::from_secs(300),
    };
    kernel.boot(&boot, stop, &mut |_| {})
}

/// Returns a cell of a CSV text: its column is `column`, and its row is the first row that begins
/// with the cell `first`.
fn cell(csv: &str, first: &str, column: &str) -> String {
    let names: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let at = names.iter().position(|&name| name == column).unwrap();
    let row = csv.lines().find(|line| line.split(',').next() == Some(first)).unwrap();
    row.split(',').nth(at).unwrap().to_owned()
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let Some(kernel) = kernel_for_test("same_seed") else { return };
    let runs: Vec<Scratch> = [(1, "a"), (1, "b"), (2, "c")]
        .map(|(seed, name)| {
            let scratch = Scratch::new(name, SCENARIO);
            boot(&kernel, &scratch.0, seed, &|| false).unwrap();
            scratch
        })
        .into();
    for name in ["check.flows.csv", "check.queue.csv", "check.qdiscs.csv", "check.final.csv"] {
        assert_eq!(runs[0].read(name), runs[1].read(name), "{name}");
    }
    assert_ne!(runs[0].read("check.flows.csv"), runs[2].read("check.flows.csv"));
    // The boot has removed its symbolic links, but not the log.
    assert!(!runs[0].0.join("lab").exists() && runs[0].0.join("log").exists());
}

#[test]
fn sources_write_what_they_are_told() {
    let Some(kernel) = kernel_for_test("sources") else { return };
    let base = "cc=reno src=s0 dst=d0 addr=10.2.0.1";
    let lines = [
        "out r\nsetup setup.sh\nduration 5\nsample_ms 100\nextra 2".to_owned(),
        "sysctl r1 net/ipv4/ip_forward 1\nqdisc r1 bn".to_owned(),
        format!("flow {base} start=0.1 mode=bytes size=100000 close=1"),
        format!("flow {base} start=1 stop=3 mode=pace unit=1000 latency=1"),
        "flow cc=reno src=s0 dst=d0 addr=10.1.0.1 start=1 mode=requests".to_owned(),
        "flow proto=udp src=d0 dst=s0 addr=10.1.0.1 start=1 stop=2 mode=pace unit=500 latency=1"
            .to_owned(),
        "pace 1 1 80000\npace 2 1 160000\npace 1 3 40000".to_owned(),
        "request 2 5000 100000000\nrequest 2 7000 0\nrequest 2 9000 0".to_owned(),
    ];
    let scratch = Scratch::new("sources", &lines.join("\n"));
    boot(&kernel, &scratch.0, 1, &|| false).unwrap();
    let end = scratch.read("r.final.csv");
    assert_eq!(cell(&end, "0", "rx_bytes"), "100000");
    // Flow 1 writes units of 1000 bytes at 1.0, 1.1, ... 1.9 s, and at 2.0, 2.05, ... 2.95 s.
    assert_eq!(cell(&end, "1", "app_bytes"), "30000");
    assert_eq!(cell(&end, "1", "rx_bytes"), "30000");
    assert_eq!(cell(&end, "2", "rx_bytes"), "21000");
    assert_eq!(cell(&end, "2", "transfers"), "3");
    assert_eq!(cell(&end, "3", "datagrams_sent"), "10");
    let transfers = scratch.read("r.transfers.csv");
    assert_eq!(transfers.lines().count(), 1 + 4, "{transfers}");
    let messages = scratch.read("r.messages.csv");
    assert_eq!(messages.lines().filter(|line| line.starts_with("1,")).count(), 30, "{messages}");
}

/// The flows cover four cases: a transfer ends in a gap of another flow's train, a train stops in a
/// gap, the run ends during a transfer, and sockets are closed only after a pause.
#[test]
fn every_transfer_has_a_whole_row() {
    let Some(kernel) = kernel_for_test("transfers") else { return };
    let train = "flow cc=reno src=s0 dst=d0 addr=10.2.0.1 mode=train size=20000 gap_ms=400";
    let requests = "flow cc=reno src=s0 dst=d0 addr=10.1.0.1 start=0.7 mode=requests";
    let lines = [
        "out r\nsetup setup.sh\nduration 5\nsample_ms 100\nextra 2".to_owned(),
        "sysctl r1 net/ipv4/ip_forward 1\nqdisc r1 bn".to_owned(),
        format!("{train} count=3 start=0.5"),
        format!("{train} count=3 start=0.7"),
        format!("{train} count=3 start=0.5 stop=0.9"),
        format!("{requests} count=6\nrequest 3 5000 100000000\nrequest 3 7000 0"),
        // With `close=1`, the flow's sockets are closed 1 s after its last transfer. The pause
        // after the first response also lasts 1 s, and must not close the sockets.
        format!("{requests} close=1\nrequest 4 5000 1000000000\nrequest 4 6000 0"),
        "flow cc=reno src=s0 dst=d0 addr=10.2.0.1 start=4 mode=train size=90000000 count=2"
            .to_owned(),
    ];
    let scratch = Scratch::new("transfers", &lines.join("\n"));
    boot(&kernel, &scratch.0, 1, &|| false).unwrap();
    let transfers = scratch.read("r.transfers.csv");
    let rows: Vec<Vec<&str>> =
        transfers.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 11), "{transfers}");
    let of = |flow: &str| rows.iter().filter(|row| row[0] == flow).collect::<Vec<_>>();
    for (flow, bytes) in [
        ("0", &["20000"; 3][..]),
        ("1", &["20000"; 3]),
        ("2", &["20000"]),
        ("3", &["5000", "7000", "7000", "7000", "7000", "7000"]),
        ("4", &["5000", "6000"]),
        ("5", &["90000000"]),
    ] {
        let found: Vec<&str> = of(flow).iter().map(|row| row[2]).collect();
        assert_eq!(found, bytes, "flow {flow}: {transfers}");
        let numbers: Vec<usize> = of(flow).iter().map(|row| row[1].parse().unwrap()).collect();
        assert!(numbers.iter().copied().eq(0..bytes.len()), "{transfers}");
        let is_read = |row: &&Vec<&str>| row[4].parse().is_ok_and(|fct_s: f64| fct_s > 0.0);
        assert_eq!(of(flow).iter().copied().filter(is_read).count() == bytes.len(), flow != "5");
    }
    // Each transfer of flow 0 has 20000 bytes, which need 14 segments.
    assert!(of("0").iter().all(|row| row[6] == "14"), "{transfers}");
    let end = scratch.read("r.final.csv");
    assert_eq!(cell(&end, "2", "transfers"), "1");
    assert_eq!(cell(&end, "3", "rx_bytes"), "40000");
    assert_eq!(cell(&end, "4", "rx_bytes"), "11000");
    assert_eq!(cell(&end, "5", "transfers"), "0");
}

#[test]
fn a_stopped_boot_ends_at_once() {
    let Some(kernel) = kernel_for_test("stopped") else { return };
    let long = SCENARIO.replace("duration 2", "duration 100000");
    let scratch = Scratch::new("stopped", &long);
    // Stop the boot when the scenario has begun in the guest kernel.
    let begun = || scratch.0.join("check.flows.csv").exists();
    let error = boot(&kernel, &scratch.0, 1, &begun).unwrap_err();
    assert!(matches!(error, KernelError::Interrupted(_)), "{error}");
    let folder = fs::canonicalize(&scratch.0).unwrap();
    let left = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder));
    assert_eq!(left.count(), 0);
}

#[test]
fn failures_in_the_guest_have_their_reason() {
    let Some(kernel) = kernel_for_test("failures") else { return };
    for (name, scenario, expected) in [
        ("directive", "out r\nsetup setup.sh\nfluw cc=bbr\n".to_owned(), "expected a directive"),
        ("mode", format!("{SCENARIO}flow mode=fast addr=1.2.3.4\n"), "expected a mode"),
        ("control", SCENARIO.replace("cc=bbr", "cc=bbr9"), "congestion control bbr9"),
        ("setup", SCENARIO.replace("setup.sh", "none.sh"), "exit status"),
        ("requests", format!("{SCENARIO}flow mode=requests addr=10.1.0.1\n"), "a line `request`"),
        ("reply", SCENARIO.replace("mode=bulk", "reply=1048577"), "reply= from 0 to 1048576"),
        ("sndbuf", SCENARIO.replace("mode=bulk", "sndbuf=4294967296"), "sndbuf= from 0 to"),
        ("device", SCENARIO.replace("qdisc r1 bn", "qdisc r1 bm"), "device bm in r1"),
    ] {
        let scratch = Scratch::new(name, &scenario);
        let error = boot(&kernel, &scratch.0, 1, &|| false).unwrap_err().to_string();
        assert!(error.starts_with("in the guest: ") && error.contains(expected), "{error}");
    }
}
