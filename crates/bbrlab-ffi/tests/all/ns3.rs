//! The module for ns-3, built for each installation found. The module's own tests run, and the
//! first packets of a flow are compared with the first packets of the flow in the simulator. Both
//! flows run the algorithms of `bbrlab-cc`, so with the profile `ns3` only differences of the
//! network and the socket can make these packets differ.
//!
//! Installations are `/usr` (Debian's `libns3-dev`) and the folders in `BBRLAB_NS3_FOLDERS`, with
//! colons between them. Without ns-3, the tests print that they are skipped. With `BBRLAB_NS3=1`,
//! the tests fail without ns-3.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use bbrlab_scenario::Scenario;
use bbrlab_sim::Sim;
use bbrlab_units::Time;
use expect_test::expect;

use crate::{output, root, skipped, static_library};

/// Number of packets that are compared, and payload of each in bytes.
const PACKETS: usize = 1000;
const MSS: u64 = 1448;

/// The largest difference in time that counts as equal, and the interval at which the test reads
/// the state of our run, both in nanoseconds. Two times can differ by rounding: rates are in whole
/// bytes per second in our simulator and in whole bits per second in ns-3, and both programs round
/// each gap between packets to nanoseconds.
const NEAR_NS: u64 = 2000;
const STEP_NS: u64 = 250;

/// A segment that leaves for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Departure {
    ns: u64,
    /// Number of the segment's first byte in the flow's data, counted from 0.
    seq: u64,
    /// cwnd in packets, rounded down. ns-3's cwnd is in bytes and need not be a whole number of
    /// packets during a reduction.
    cwnd: u64,
}

/// The module that was built for one installed release of ns-3.
struct Built {
    /// Folder of the module, its examples and its tests.
    folder: PathBuf,
    release: String,
}

/// Builds the module once for each installed release; prints a line if no release is installed.
fn built(test: &str) -> &'static [Built] {
    static BUILT: OnceLock<Vec<Built>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let others = std::env::var("BBRLAB_NS3_FOLDERS").unwrap_or_default();
        std::iter::once("/usr")
            .chain(others.split(':'))
            .filter(|folder| Path::new(folder).join("include/ns3/core-module.h").exists())
            .enumerate()
            .map(|(number, folder)| build(folder, number))
            .collect()
    });
    if built.is_empty() {
        assert!(std::env::var_os("BBRLAB_NS3").is_none(), "no ns-3 here");
        skipped(&format!("ns-3 for {test}"));
    }
    built
}

/// Builds the module, its examples and its tests for the installation of ns-3 in the folder
/// `installation`.
fn build(installation: &str, number: usize) -> Built {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("ns3-module-{number}"));
    let mut command = Command::new(root().join("adapters/ns3/build.sh"));
    command.args(["--ns3", installation, "--programs", "--out"]).arg(&folder);
    command.arg("--library").arg(static_library());
    let told = output(&mut command);
    let release = told.split(' ').nth(1).expect("ns-3 3.37 in ...").to_string();
    Built { folder, release }
}

/// Returns the first transmission of each segment in ns-3, with a queue of `queue` packets.
/// After the type of TCP, the arguments of `one-flow` are the bottleneck's rate, delay in ms, and
/// queue. Next are bytes per segment, bytes of the socket buffers, seconds, and segments per ACK.
/// The last four are bytes per write, printed packets, and the access links' rate and delay in ms.
fn of_ns3(folder: &Path, tcp: &str, queue: u32) -> Vec<Departure> {
    let arguments = format!("10Mbps 10 {queue} {MSS} 2000000 6 2 {MSS} 3000 40Mbps 1");
    departures_of(folder, tcp, &arguments)
}

/// Runs `one-flow`; returns the first transmission of each segment.
fn departures_of(folder: &Path, tcp: &str, arguments: &str) -> Vec<Departure> {
    let mut run = Command::new(folder.join("one-flow"));
    // Normally, the phase with which BBR's gain cycle begins is random. `CycleRand=1` allows only
    // one phase, so the phase is fixed.
    run.env("NS_ATTRIBUTE_DEFAULT", "bbrlab::Bbr1::CycleRand=1");
    let text = output(run.arg(tcp).args(arguments.split(' ')));
    let mut next = 0;
    let mut departures = Vec::new();
    for line in text.lines() {
        let fields: Vec<u64> = line.split(' ').map(|field| field.parse().unwrap()).collect();
        let [ns, seq, bytes, cwnd_bytes] = fields[..] else { panic!("{line}") };
        if seq - 1 == next {
            departures.push(Departure { ns, seq: next, cwnd: cwnd_bytes / MSS });
            next += bytes;
        }
    }
    departures
}

/// Returns the first transmission of each segment in the simulator. The run has Linux's algorithms
/// and rate samples, and the network and the socket of a release of ns-3.
fn ours(release: &str, cc: &str, queue: u32) -> Vec<Departure> {
    let is_old = ["3.37", "3.38", "3.39", "3.40"].contains(&release);
    let profile = if is_old { "ns3-3.40" } else { "ns3" };
    let text = format!(
        "duration = \"6s\"\n[stack]\nprofile = \"{profile}\"\nmss = \"{MSS}B\"\napp_write = \"{MSS}B\"\n\
         sndbuf = \"2000000B\"\nrcvbuf = \"2000000B\"\nrtt_clock = \"exact\"\n\
         cc_rtt = \"sample\"\nrate_sample_sticky = false\nrate_loss_abs = false\n\
         rate_min_rtt = \"sample\"\nrate_ack_interval = \"this\"\nrate_invalid = \"drop\"\n\
         exit_sets_ssthresh = false\ncwnd_validation = \"linux\"\n\
         bbr = {{ cycle_rand = 1, edt = true, margin = 0.01, min_rtt = \"sample\", extra_acked = \"linux\", losses = \"linux\", \
         min_rtt_renew = false, policer = true, probertt_app_limited = true, quantum = \"tso\", \
         rto_resets_full_bw = true, seed_bw = false }}\n\
         cubic = {{ friendly = true, hystart = true, wmax_on_rto = false }}\n\
         [bottleneck]\nrate = \"10Mbit/s\"\ndelay = \"10ms\"\nbuffer = \"{queue}pkt\"\n\
         device_queue = \"none\"\n[access]\nrate = \"40Mbit/s\"\ndelay = \"1ms\"\n\
         [[flows]]\ncc = \"{cc}\"\n"
    );
    departures_in(&text)
}

/// Runs a scenario of 6 s until its flow has sent [`PACKETS`]; returns the first transmission of
/// each segment.
fn departures_in(text: &str) -> Vec<Departure> {
    let scenario = Scenario::parse("test", "test.toml", text, None, &[])
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
            departures.push(Departure { ns, seq, cwnd: conn.ctl.cwnd.into() });
            seq += MSS;
        }
    }
    departures
}

/// Describes how far two lists agree, and where they first differ.
fn compare(name: &str, theirs: &[Departure], ours: &[Departure]) -> String {
    let is_near = |(a, b): (&Departure, &Departure)| {
        a.ns.abs_diff(b.ns) <= NEAR_NS && a.seq == b.seq && a.cwnd == b.cwnd
    };
    let agree = theirs.iter().zip(ours).take(PACKETS).take_while(|&pair| is_near(pair)).count();
    if agree == PACKETS {
        return format!("{name}: all {PACKETS}\n");
    }
    let (a, b) = (theirs[agree], ours[agree]);
    format!(
        "{name}: {agree}; then ns-3 at {} us with cwnd {}, we at {} us with {}\n",
        a.ns / 1000,
        a.cwnd,
        b.ns / 1000,
        b.cwnd
    )
}

#[test]
fn the_module_sends_what_the_simulator_sends() {
    for Built { folder, release } in built("the packets") {
        let mut found = String::new();
        for (tcp, cc, queue) in [
            ("bbrlab::Bbr1", "bbr1", 176),
            ("bbrlab::Bbr1", "bbr1", 30),
            ("bbrlab::Bbr3", "bbr3", 176),
            ("bbrlab::Bbr3", "bbr3", 30),
            ("bbrlab::Cubic", "cubic", 176),
            ("bbrlab::Cubic", "cubic", 30),
        ] {
            let name = format!("{cc} {queue}");
            let theirs = of_ns3(folder, tcp, queue);
            write!(found, "{}", compare(&name, &theirs, &ours(release, cc, queue))).unwrap();
        }
        println!("{release}\n{found}");
        // With a short queue, `bbr1` differs at the first recovery. The module passes an ACK to the
        // algorithm before the retransmission is sent, as Linux does; the simulator sends the
        // retransmission first, as the profile `ns3` demands.
        expect![[r#"
            bbr1 176: all 1000
            bbr1 30: 162; then ns-3 at 194303 us with cwnd 57, we at 185111 us with 65
            bbr3 176: all 1000
            bbr3 30: all 1000
            cubic 176: all 1000
            cubic 30: all 1000
        "#]]
        .assert_eq(&found);
    }
}

/// Compares Linux's sender in ns-3 with the same sender in the simulator. The receiver acknowledges
/// every second packet.
///
/// A packet that an ACK releases arrives at the bottleneck in the nanosecond in which another
/// packet leaves the bottleneck. ns-3 first executes the event that was scheduled first. With
/// access links of 0.5 ms, the departure comes first, as in the simulator; with 1 ms, the arrival
/// comes first.
#[test]
fn the_whole_sender_sends_in_ns3_what_it_sends_here() {
    for Built { folder, release } in built("the whole sender") {
        let mut found = String::new();
        for (tcp, cc, queue, access) in [
            ("linux:bbrlab::Bbr1", "bbr1", 176, "0.5"),
            ("linux:bbrlab::Bbr1", "bbr1", 30, "0.5"),
            ("linux:bbrlab::Bbr1", "bbr1", 5, "0.5"),
            ("linux:bbrlab::Bbr1", "bbr1", 5, "1"),
            ("linux:bbrlab::Bbr3", "bbr3", 30, "0.5"),
            ("linux:bbrlab::Bbr3", "bbr3", 5, "0.5"),
            ("linux:bbrlab::Cubic", "cubic", 176, "0.5"),
            ("linux:bbrlab::Cubic", "cubic", 30, "0.5"),
            ("linux:bbrlab::Cubic", "cubic", 5, "0.5"),
        ] {
            let arguments =
                format!("10Mbps 10 {queue} {MSS} 8000000 6 2 1048576 9000 40Mbps {access}");
            let theirs = departures_of(folder, tcp, &arguments);
            let params = if cc == "bbr1" { "cc_params = { cycle_rand = 1 }\n" } else { "" };
            let ours = departures_in(&format!(
                "duration = \"6s\"\n[stack]\ntcp_options = \"packed\"\n\
                 delack = {{ every = 2, timer = \"200ms\" }}\nrcvbuf = \"8000000B\"\n\
                 [bottleneck]\nrate = \"10Mbit/s\"\ndelay = \"10ms\"\nbuffer = \"{queue}pkt\"\n\
                 framing = \"2B\"\nreverse_rate = \"forward\"\n\
                 [access]\nrate = \"40Mbit/s\"\ndelay = \"{access}ms\"\nframing = \"2B\"\n\
                 reverse_rate = \"forward\"\n[[flows]]\ncc = \"{cc}\"\n{params}"
            ));
            let name = format!("{cc} {queue}, {access} ms");
            write!(found, "{}", compare(&name, &theirs, &ours)).unwrap();
        }
        println!("{release}\n{found}");
        expect![[r#"
            bbr1 176, 0.5 ms: all 1000
            bbr1 30, 0.5 ms: all 1000
            bbr1 5, 0.5 ms: all 1000
            bbr1 5, 1 ms: 26; then ns-3 at 75894 us with cwnd 18, we at 77105 us with 17
            bbr3 30, 0.5 ms: all 1000
            bbr3 5, 0.5 ms: all 1000
            cubic 176, 0.5 ms: all 1000
            cubic 30, 0.5 ms: all 1000
            cubic 5, 0.5 ms: all 1000
        "#]]
        .assert_eq(&found);
    }
}

#[test]
fn the_module_passes_its_own_tests() {
    for Built { folder, .. } in built("the module's tests") {
        let mut run = Command::new(folder.join("run-tests"));
        let told = output(run.args(["--suite=bbrlab", "--verbose"]));
        assert!(told.starts_with("PASS bbrlab "), "{told}");
        assert!(told.lines().count() > 20, "{told}");
    }
}

#[test]
fn valgrind_finds_no_error_of_the_module() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        skipped("valgrind (ns3)");
        return;
    }
    for Built { folder, .. } in built("valgrind") {
        for tcp in ["bbrlab::Bbr3", "bbrlab::Cubic"] {
            let mut run = Command::new("valgrind");
            run.args(["--leak-check=full", "--num-callers=30"]).arg(folder.join("one-flow"));
            run.arg(tcp).args("10Mbps 10 10 1448 2000000 1 2 1448 1 40Mbps 1".split(' '));
            let done = run.output().unwrap();
            let told = String::from_utf8(done.stderr).unwrap();
            assert!(done.status.success(), "{told}");
            // valgrind prints a call stack for each error. The stacks of errors in the module
            // contain the name of the module's library.
            let inside =
                told.lines().find(|line| line.contains("in ") && line.contains("bbrlab-ns3"));
            assert_eq!(inside, None, "{told}");
        }
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
    expect!["build.sh: --out: expected a value\n"].assert_eq(&told(&["--out"]));
    expect![
        "build.sh: --fast: expected --ns3 FOLDER, --out FOLDER, --library FILE or --programs\n"
    ]
    .assert_eq(&told(&["--fast"]));
    if Command::new("g++").arg("--version").output().is_err() {
        return skipped("g++ for the_build_script_refuses_what_it_cannot_use");
    }
    expect!["build.sh: --ns3 /proc: expected include/ns3/core-module.h in it\n"]
        .assert_eq(&told(&["--ns3", "/proc"]));
    expect!["build.sh: --library absent.a: expected bbrlab's C library libbbrlab_ffi.a, found no such file\n"]
        .assert_eq(&told(&["--library", "absent.a"]));
    expect!["build.sh: --library Cargo.toml: expected bbrlab's C library libbbrlab_ffi.a, found a file that does not define its function bbrlab_abi_version\n"]
        .assert_eq(&told(&["--library", "Cargo.toml"]));
}
