//! The first packets of a flow compared with the packets that ns-3 itself sends (version 3.37,
//! which behaves as 3.40), on the dumbbell of [lanigan]. The test compares each segment's first
//! departure and the cwnd at that time.
//!
//! Without Debian's ns-3 (in the system, or unpacked in the folder that `BBRLAB_NS3` names) or
//! without a C++ compiler, the test prints that it is skipped. With `BBRLAB_NS3_PACKETS=1`, the
//! test fails without ns-3 or a compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

use bbrlab_sim::Sim;
use bbrlab_units::Time;
use expect_test::expect;

/// Number of packets that are compared.
const PACKETS: usize = 1000;

/// Two times count as equal if they differ by at most this number of nanoseconds.
const NEAR_NS: u64 = 1000;
/// The interval, in nanoseconds, at which the test reads the state of our run.
const STEP_NS: u64 = 250;

/// A segment that leaves for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Departure {
    ns: u64,
    /// Number of the first byte, counted from 0.
    seq: u64,
    cwnd_bytes: u64,
}

/// Builds our program for ns-3 and returns its path; `None` without an installed ns-3 or a
/// compiler.
fn one_flow() -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../adapters/ns3/one-flow.cc");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ns3-one-flow");
    let root = std::env::var_os("BBRLAB_NS3").map_or_else(|| PathBuf::from("/"), PathBuf::from);
    let folder = root.join("usr/lib/x86_64-linux-gnu");
    let names =
        ["core", "network", "internet", "point-to-point", "applications", "traffic-control"];
    let more = ["bridge", "mpi", "stats"];
    let library = |name: &&str| folder.join(format!("libns3-{name}.so"));
    let libraries: Vec<PathBuf> =
        names.iter().chain(&more).map(library).filter(|path| path.exists()).collect();
    if libraries.len() < names.len() {
        return None;
    }
    let built = Command::new("g++")
        .args(["-std=c++17", "-O1", "-Wl,--allow-shlib-undefined,--disable-new-dtags"])
        .arg(format!("-Wl,-rpath,{}", folder.display()))
        .arg(format!("-I{}", root.join("usr/include").display()))
        .arg(source)
        .arg("-o")
        .arg(&program)
        .args(libraries)
        .status();
    built.is_ok_and(|status| status.success()).then_some(program)
}

/// Runs ns-3, and returns the time and cwnd at the first departure of each segment.
fn of_ns3(program: &Path, tcp: &str) -> Vec<Departure> {
    // After the type of TCP, the program `one-flow.cc` takes eleven arguments. The first five are
    // rate and delay (ms) of the bottleneck, its queue (packets), bytes per segment, and bytes per
    // socket buffer. The others are seconds, packets per delayed ACK, bytes per write, printed
    // packets, and rate and delay (ms) of access links.
    let arguments = "10Mbps 10 176 476 131072 6 2 476 3000 40Mbps 1";
    let output = Command::new(program).arg(tcp).args(arguments.split(' ')).output().expect("runs");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("ASCII");
    let mut next = 0;
    let mut departures = Vec::new();
    for line in text.lines() {
        let fields: Vec<u64> = line.split(' ').map(|field| field.parse().unwrap()).collect();
        let [ns, seq, bytes, cwnd_bytes] = fields[..] else { panic!("{line}") };
        if seq - 1 == next {
            departures.push(Departure { ns, seq: next, cwnd_bytes });
            next += bytes;
        }
    }
    departures
}

/// Returns the time and cwnd at which our sender, under the profile `ns3-3.40`, first sends each
/// segment.
fn ours(cc: &str) -> Vec<Departure> {
    let text = format!(
        "duration = \"6s\"\n[stack]\nprofile = \"ns3-3.40\"\nmss = \"476B\"\napp_write = \"476B\"\n\
         cwnd_validation = \"off\"\n\
         [bottleneck]\nrate = \"10Mbit/s\"\ndelay = \"10ms\"\nbuffer = \"176pkt\"\ndevice_queue = \"none\"\n\
         [access]\nrate = \"40Mbit/s\"\ndelay = \"1ms\"\n[[flows]]\ncc = \"{cc}\"\n"
    );
    let run = crate::scenario_text::runs(&text).remove(0);
    let mut sim = Sim::new(&run).expect("a checked scenario");
    let mut departures = Vec::new();
    let mut ns = 0;
    let mut seq = 0;
    while departures.len() < PACKETS && ns < 6_000_000_000 {
        ns += STEP_NS;
        let _ = sim.advance(Time(ns));
        let conn = sim.conn(0);
        // `snd_nxt` includes the SYN, which counts as one byte before the data.
        while seq + 1 < u64::from(conn.snd_nxt) {
            let cwnd_bytes = u64::from(conn.ctl.cwnd) * u64::from(conn.mss);
            departures.push(Departure { ns, seq, cwnd_bytes });
            seq += u64::from(conn.mss);
        }
    }
    departures
}

/// Describes how many departures agree from the start of both lists, and the first pair that
/// differs.
fn compare(name: &str, theirs: &[Departure], ours: &[Departure]) -> String {
    let is_near = |(a, b): (&Departure, &Departure)| {
        a.ns.abs_diff(b.ns) <= NEAR_NS && a.seq == b.seq && a.cwnd_bytes == b.cwnd_bytes
    };
    let agree = theirs.iter().zip(ours).take(PACKETS).take_while(|&pair| is_near(pair)).count();
    if agree == PACKETS {
        return format!("{name}: all {PACKETS}\n");
    }
    if std::env::var_os("SHOW").is_some() {
        for n in agree.saturating_sub(4)..(agree + 12).min(ours.len()).min(theirs.len()) {
            println!("{name} {n} {:?} {:?}", theirs[n], ours[n]);
        }
    }
    let (a, b) = (theirs[agree], ours[agree]);
    format!(
        "{name}: {agree}; then ns-3 at {} us with cwnd {}, we at {} us with {}\n",
        a.ns / 1000,
        a.cwnd_bytes,
        b.ns / 1000,
        b.cwnd_bytes
    )
}

#[test]
fn the_first_packets_leave_as_in_ns3() {
    let Some(program) = one_flow() else {
        assert!(std::env::var_os("BBRLAB_NS3_PACKETS").is_none(), "no ns-3 here");
        println!("skipped: no ns-3 (libns3-dev) or no g++ here");
        return;
    };
    let mut found = String::new();
    for (tcp, cc) in
        [("TcpNewReno", "reno"), ("TcpCubic", "cubic"), ("TcpVegas", "vegas"), ("TcpBbr", "bbr1")]
    {
        found += &compare(tcp, &of_ns3(&program, tcp), &ours(cc));
    }
    // NewReno: in slow start, ns-3 adds one segment per ACK, however many segments the ACK
    // acknowledges (`tcp-congestion-ops.cc`, `TcpNewReno::SlowStart`); Linux adds one segment per
    // acknowledged segment. BBR: ns-3's high gain is 2.89 (`tcp-bbr.cc`, `HighGain`), ours is
    // 739/256, so our packets leave 1.05 us further apart.
    expect![[r#"
        TcpNewReno: 12; then ns-3 at 49698 us with cwnd 5712, we at 49699 us with 6188
        TcpCubic: all 1000
        TcpVegas: all 1000
        TcpBbr: 11; then ns-3 at 49681 us with cwnd 5236, we at 49682 us with 5236
    "#]]
    .assert_eq(&found);
}
