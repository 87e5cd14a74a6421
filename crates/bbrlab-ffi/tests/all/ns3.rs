//! The module for ns-3, built for each installation found: its own tests, and the first packets of
//! a flow compared with those of the simulator under the profile `ns3`, which then differ only by
//! the network and the socket.
//!
//! Installations are `/usr` (Debian's `libns3-dev`) and the folders in `BBRLAB_NS3_FOLDERS`, with
//! colons between them. Without any, the tests print that they are skipped. With `BBRLAB_NS3=1`
//! they fail instead.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use bbrlab_scenario::Scenario;
use bbrlab_sim::Sim;
use bbrlab_units::Time;
use expect_test::expect;

use crate::{output, root, skipped, static_library};

/// Number of packets that are compared.
const PACKETS: usize = 1000;

/// The largest difference in time that counts as equal, and the interval at which the test reads
/// the state of our run, both in nanoseconds. Rates are in whole bytes per second on our side and
/// in whole bits on ns-3's, and both round each gap to nanoseconds.
const NEAR_NS: u64 = 2000;
const STEP_NS: u64 = 250;

/// A segment that leaves for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Departure {
    ns: u64,
    /// Number of the first byte, counted from 0.
    seq: u64,
    cwnd_bytes: u64,
}

/// Returns the folders of installed releases of ns-3; prints a line if there is none.
fn installations(test: &str) -> Vec<PathBuf> {
    let others = std::env::var("BBRLAB_NS3_FOLDERS").unwrap_or_default();
    let found: Vec<PathBuf> = std::iter::once("/usr")
        .chain(others.split(':'))
        .map(PathBuf::from)
        .filter(|folder| folder.join("include/ns3/core-module.h").exists())
        .collect();
    if found.is_empty() {
        assert!(std::env::var_os("BBRLAB_NS3").is_none(), "no ns-3 here");
        skipped(&format!("ns-3 for {test}"));
    }
    found
}

/// Builds the module and its programs, and returns their folder and the release of ns-3.
fn built(installation: &Path, number: usize) -> (PathBuf, String) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("ns3-module-{number}"));
    let mut command = Command::new(root().join("adapters/ns3/build.sh"));
    command.arg("--ns3").arg(installation).arg("--out").arg(&folder).arg("--programs");
    command.arg("--library").arg(static_library());
    let told = output(&mut command);
    let release = told.split(' ').nth(1).expect("ns-3 3.37 in ...").to_string();
    (folder, release)
}

/// Returns a command with the installation's libraries.
fn command(folder: &Path, program: &str) -> Command {
    Command::new(folder.join(program))
}

/// Returns the first transmission of each segment in ns-3.
fn of_ns3(folder: &Path, tcp: &str) -> Vec<Departure> {
    let arguments = "10Mbps 10 30 1448 2000000 6 2 1448 3000 40Mbps 1";
    let mut run = command(folder, "one-flow");
    // The phase with which BBR's gain cycle begins is random.
    run.env("NS_ATTRIBUTE_DEFAULT", "bbrlab::Bbr1::CycleRand=1");
    let text = output(run.arg(tcp).args(arguments.split(' ')));
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

/// Returns the segments that our sender sends: Linux's algorithms and rate samples, the network and
/// the socket of ns-3.
fn ours(cc: &str) -> Vec<Departure> {
    let text = format!(
        "duration = \"6s\"\n[stack]\nprofile = \"ns3\"\nmss = \"1448B\"\napp_write = \"1448B\"\n\
         sndbuf = \"2000000B\"\nrcvbuf = \"2000000B\"\nrtt_clock = \"exact\"\n\
         cc_rtt = \"sample\"\nrate_sample_sticky = false\nrate_loss_abs = false\n\
         rate_min_rtt = \"sample\"\nexit_sets_ssthresh = false\ncwnd_validation = \"linux\"\n\
         bbr = {{ cycle_rand = 1, edt = true, extra_acked = \"linux\", losses = \"linux\", \
         min_rtt_renew = false, policer = true, probertt_app_limited = true, quantum = \"tso\", \
         rto_resets_full_bw = true, seed_bw = false }}\n\
         cubic = {{ hystart = true, wmax_on_rto = false }}\n\
         [bottleneck]\nrate = \"10Mbit/s\"\ndelay = \"10ms\"\nbuffer = \"30pkt\"\n\
         device_queue = \"none\"\n[access]\nrate = \"40Mbit/s\"\ndelay = \"1ms\"\n\
         [[flows]]\ncc = \"{cc}\"\n"
    );
    let scenario = Scenario::parse("test", "test.toml", &text, None, &[])
        .unwrap_or_else(|errors| panic!("{errors}"));
    let mut sim = Sim::new(&scenario.run(0)).expect("a checked scenario");
    let mut departures = Vec::new();
    let (mut ns, mut seq) = (0, 0);
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

/// Describes how far two lists agree, and where they first differ.
fn compare(name: &str, theirs: &[Departure], ours: &[Departure]) -> String {
    let is_near = |(a, b): (&Departure, &Departure)| {
        a.ns.abs_diff(b.ns) <= NEAR_NS && a.seq == b.seq && a.cwnd_bytes == b.cwnd_bytes
    };
    let agree = theirs.iter().zip(ours).take(PACKETS).take_while(|&pair| is_near(pair)).count();
    if agree == PACKETS {
        return format!("{name}: all {PACKETS}\n");
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
fn the_module_sends_what_the_simulator_sends() {
    for (number, installation) in installations("the packets").iter().enumerate() {
        let (folder, release) = built(installation, number);
        let mut found = String::new();
        for (tcp, cc) in
            [("bbrlab::Bbr1", "bbr1"), ("bbrlab::Bbr3", "bbr3"), ("bbrlab::Cubic", "cubic")]
        {
            write!(found, "{}", compare(cc, &of_ns3(&folder, tcp), &ours(cc))).unwrap();
        }
        println!("{release}\n{found}");
        // CUBIC: the first recovery. ns-3's PRR multiplies 32-bit numbers, and the product of the
        // bytes delivered and ssthresh exceeds them (`tcp-prr-recovery.cc`, `DoRecovery`).
        expect![[r#"
        "#]]
        .assert_eq(&found);
    }
}

#[test]
fn the_module_passes_its_own_tests() {
    for (number, installation) in installations("the module's tests").iter().enumerate() {
        // Another folder, because tests run at the same time.
        let (folder, _) = built(installation, number + 100);
        let told = output(command(&folder, "run-tests").args(["--suite=bbrlab", "--verbose"]));
        assert!(told.starts_with("PASS bbrlab "), "{told}");
        assert!(told.lines().count() > 20, "{told}");
    }
}

#[test]
fn the_build_script_refuses_what_it_cannot_use() {
    let script = root().join("adapters/ns3/build.sh");
    let told = |arguments: &[&str]| {
        let done = Command::new(&script).args(arguments).output().unwrap();
        assert!(!done.status.success());
        String::from_utf8(done.stderr).unwrap()
    };
    expect!["build.sh: --ns3 /proc: expected include/ns3/core-module.h in it\n"]
        .assert_eq(&told(&["--ns3", "/proc"]));
    expect!["build.sh: --out: expected a value\n"].assert_eq(&told(&["--out"]));
    expect![
        "build.sh: --fast: expected --ns3 FOLDER, --out FOLDER, --library FILE or --programs\n"
    ]
    .assert_eq(&told(&["--fast"]));
}
