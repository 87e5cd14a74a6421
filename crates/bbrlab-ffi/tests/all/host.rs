//! `adapters/c/host.c` drives an algorithm through the C header `bbrlab.h`. The same events, given
//! to the algorithm and the rate sampler in Rust, give the same cwnd and pacing rate.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use bbrlab_cc::{Algorithm, CaState, CongestionControl as _, Conn, Control, CwndEvent};
use bbrlab_ffi::Seeded;
use bbrlab_rate::{AckRate, DeliveredSkb, RateSampler, SamplerVersion, SkbStamps};
use bbrlab_stack::RateSwitches;

use crate::{compiler, output, root, skipped, static_library};

const MSS: u32 = 1448;
const PACKETS: u32 = 400;
const RTT_MS: u64 = 20;
const LOST: u32 = 250;

/// Passes the events of `host.c` to the Rust code, and returns the lines that `host.c` must print.
fn in_rust(algorithm: Algorithm) -> String {
    let mut cc = algorithm.build(&Vec::new()).unwrap();
    let mut draw = Seeded::new(7);
    let ctl = Control {
        cwnd: 10,
        cwnd_clamp: u32::MAX,
        ssthresh: Control::INFINITE_SSTHRESH,
        pacing_rate: u64::MAX,
        app_limited: u32::MAX,
        ..Control::default()
    };
    let mut conn = Conn {
        ctl,
        max_pacing_rate: u64::MAX,
        hz: 1000,
        mss: MSS,
        min_rtt_us: u32::MAX,
        delivered: 1,
        pacing_shift: 10,
        gso_max_size: 65_536,
        ..Conn::default()
    };
    let set_clock = |conn: &mut Conn, ms: u64| {
        conn.clock_ns = (32_768 + ms) * 1_000_000;
        conn.wstamp_ns = conn.clock_ns;
        conn.jiffies = u32::try_from(32_768 + ms).unwrap();
    };
    set_clock(&mut conn, 0);
    conn.ctl = cc.init(&conn, &mut draw);
    let version = if cc.hooks().notes_in_flight { SamplerVersion::V3 } else { SamplerVersion::V1 };
    let mut sampler = RateSampler::new(version, RateSwitches::default());
    let mut stamps: Vec<(SkbStamps, u64)> = Vec::new();
    let (mut acked, mut lines) = (0, String::new());
    for ms in 0.. {
        set_clock(&mut conn, ms);
        for _ in 0..2 {
            let sent = u32::try_from(stamps.len()).unwrap();
            if sent == PACKETS {
                break;
            }
            if conn.inflight == 0 {
                conn.ctl = cc.cwnd_event(&conn, CwndEvent::TxStart, &mut draw);
            }
            conn.lsndtime = conn.jiffies;
            let (packets_out, now) = (conn.inflight, conn.clock_ns / 1000);
            stamps.push((sampler.skb_sent(&mut conn, packets_out, 1, now), now));
            conn.snd_nxt = (sent + 1) * MSS;
            conn.inflight += 1;
        }
        if ms < RTT_MS {
            continue;
        }
        conn.srtt_us = 20_000 * 8;
        conn.min_rtt_us = 20_000;
        let mut rate = AckRate::default();
        rate.rs.rtt_us = 20_000;
        rate.rs.prior_in_flight = conn.inflight;
        let (mut delivered, mut lost) = (0, 0);
        for packet in [acked, acked + 1] {
            if packet == LOST {
                continue;
            }
            delivered += 1;
            conn.delivered += 1;
            let (mut stamp, tx_mstamp) = stamps[packet as usize];
            let end_seq = (packet + 1) * MSS;
            let skb = DeliveredSkb { tx_mstamp, end_seq, is_sacked: false, is_retrans: false };
            sampler.skb_delivered(&mut rate, &mut stamp, skb);
        }
        conn.inflight -= 2;
        conn.snd_una = (acked + 2) * MSS;
        if acked == LOST {
            lost = 1;
            conn.lost += 1;
            conn.ctl.cwnd_cnt = 0;
            conn.prior_cwnd = conn.ctl.cwnd;
            conn.ctl.ssthresh = cc.ssthresh(&conn);
            conn.ctl = cc.set_state(&conn, CaState::Recovery, &mut draw);
            conn.ca_state = CaState::Recovery;
        }
        sampler.generate(&mut conn, &mut rate, delivered, lost, false);
        cc.apply_cong_control(&mut conn, &rate.rs, &mut draw);
        if acked == LOST + 40 {
            conn.ctl = cc.set_state(&conn, CaState::Open, &mut draw);
            conn.ca_state = CaState::Open;
        }
        acked += 2;
        let (ctl, state) = (conn.ctl, cc.info(&conn).state);
        writeln!(lines, "{acked} cwnd {} pacing_rate {} {state}", ctl.cwnd, ctl.pacing_rate)
            .unwrap();
        if acked == PACKETS {
            break;
        }
    }
    lines
}

/// Builds `host.c` with the static library.
fn host(compiler: &str, name: &str, flag: &str) -> PathBuf {
    let program = std::env::temp_dir().join(format!("bbrlab-{name}-{}", std::process::id()));
    let mut command = Command::new(compiler);
    command.args([flag, "-std=c99", "-Wall", "-Wextra", "-Werror", "-I"]);
    command.arg(root().join("crates/bbrlab-ffi/include")).arg(root().join("adapters/c/host.c"));
    command.arg(static_library()).args(["-lm", "-lpthread", "-ldl", "-o"]).arg(&program);
    output(&mut command);
    program
}

#[test]
fn a_host_in_c_gets_what_rust_gets() {
    let Some(compiler) = compiler() else { return };
    let program = host(compiler, "host", "-g");
    for algorithm in [Algorithm::Bbr1, Algorithm::BbrPlus] {
        let from_c = output(Command::new(&program).arg(algorithm.name()));
        assert_eq!(from_c, in_rust(algorithm), "{}", algorithm.name());
        assert_eq!(from_c.lines().count(), 200);
    }
    let wrong = Command::new(&program).arg("bbr9").output().unwrap();
    let told = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(told.starts_with("error -1: expected an algorithm (bbr1, "), "{told}");
    std::fs::remove_file(&program).unwrap();
}

#[test]
fn valgrind_and_the_address_sanitizer_find_nothing() {
    let Some(compiler) = compiler() else { return };
    let expected = in_rust(Algorithm::Bbr1);
    let library = output(Command::new(compiler).arg("-print-file-name=libasan.so"));
    // If the compiler has no `libasan.so`, it prints only this name, without a folder.
    if Path::new(library.trim()).is_absolute() {
        let program = host(compiler, "host-asan", "-fsanitize=address");
        assert_eq!(output(&mut Command::new(&program)), expected);
        std::fs::remove_file(&program).unwrap();
    } else {
        skipped("address sanitizer");
    }
    if Command::new("valgrind").arg("--version").output().is_ok() {
        let program = host(compiler, "host-valgrind", "-g");
        let mut command = Command::new("valgrind");
        command.args(["-q", "--error-exitcode=9", "--leak-check=full"]).arg(&program);
        assert_eq!(output(&mut command), expected);
        std::fs::remove_file(&program).unwrap();
    } else {
        skipped("valgrind");
    }
}
