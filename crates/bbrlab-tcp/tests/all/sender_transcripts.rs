//! Transcripts of a sender in the style of packetdrill: its inputs and its outputs.
//!
//! The first comment of each file in `sender_transcripts/` says what the file shows. A line with a
//! time in milliseconds is an input: `0 connect`, `30.5 < A ack 1449`, `50 write 1000`,
//! `60 app_limited`, `70 cc FIELD` (shows a field of the algorithm's state), `90 close`. The test
//! runs the inputs and the timers between them. Below each input, the test writes the segments sent
//! (`>`), the resulting state (`=`) and the other values of the inner state that changed (`~`). The
//! output must equal the file. `UPDATE_EXPECT=1` rewrites the file: review the difference like
//! code.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use bbrlab_cc::{Algorithm, CongestionControl};
use bbrlab_stack::{
    EcnMode, Handshake, Pacing, PartialAck, Recovery, Rto, RtoEstimate, RttClock, Rule3,
    RwndBounds, SenderQdisc, Sockbuf, SocketBuffer, Tso,
};
use bbrlab_tcp::segment::flag;
use bbrlab_tcp::sender::{SenderInfo, TimerPurpose};
use bbrlab_tcp::{SackBlock, Segment, Sender, SenderConfig, Tick, TimerId};
use bbrlab_units::{Bytes, Ecn, Span, Time};

use crate::rig::{Notes, Rig};

/// Segments that a sender under test has sent.
#[derive(Default)]
struct Bench {
    sent: Vec<Segment>,
}

impl Notes for Bench {
    fn sent(&mut self, _: Time, segment: Segment) {
        self.sent.push(segment);
    }
    fn below(&mut self, bound: u32) -> u32 {
        bound / 2
    }
}

/// The time in milliseconds that the host's clock shows at time 0 of a script. This time is not 0,
/// because a stamp of 0 means "none". This time is a multiple of every slot length of the timer
/// wheel, so that timers fall into the same slots as with a clock that starts at 0.
const BOOT_MS: u32 = 1 << 15;

/// Reads a time in milliseconds with up to six decimals.
fn parse_ms(text: &str) -> Time {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction: u64 = format!("{fraction:0<6}").parse().expect("a time in milliseconds");
    let whole: u64 = whole.parse().expect("a time in milliseconds");
    Time((whole + u64::from(BOOT_MS)) * 1_000_000 + fraction)
}

fn show_ms(at: Time) -> String {
    format!("{}.{:03}", at.0 / 1_000_000 - u64::from(BOOT_MS), at.0 / 1_000 % 1_000)
}

const FLAGS: [(char, u8); 7] = [
    ('S', flag::SYN),
    ('F', flag::FIN),
    ('R', flag::RST),
    ('E', flag::ECE),
    ('C', flag::CWR),
    ('A', flag::ACK),
    ('P', flag::PSH),
];

fn parse_flags(text: &str) -> u8 {
    text.chars().fold(0, |bits, letter| {
        bits | FLAGS.iter().find(|(known, _)| *known == letter).expect("a flag's letter").1
    })
}

fn show_flags(segment: &Segment) -> String {
    FLAGS.iter().filter(|(_, bit)| segment.has(*bit)).map(|(letter, _)| *letter).collect()
}

/// Parses a segment such as `A ack 1449 wnd 65535 sack 2897-4345 ts 5000 ecr 100`. Without `wnd`,
/// the segment advertises the same window as the previous segment. The default of `seq` is 1 (in a
/// SYN, 0); the default of all other fields is 0.
fn parse_segment(words: &[&str], wnd: &mut u32, has_ts: bool) -> Segment {
    let mut segment =
        Segment { flags: parse_flags(words[0]), seq: 1, has_ts, ..Segment::default() };
    if segment.has(flag::SYN) {
        segment.seq = 0;
    }
    for pair in words[1..].chunks(2) {
        let number = || pair[1].parse().expect("a number");
        match pair[0] {
            "ack" => segment.ack = number(),
            "wnd" => *wnd = number(),
            "ts" => segment.tsval = number(),
            "ecr" => segment.tsecr = number(),
            "seq" => segment.seq = number(),
            "sack" => {
                for (i, block) in pair[1].split(',').enumerate() {
                    let (start, end) = block.split_once('-').expect("a SACK block");
                    segment.sack[i] = SackBlock {
                        start: start.parse().expect("a number"),
                        end: end.parse().expect("a number"),
                    };
                    segment.sack_count += 1;
                }
            }
            word => panic!("`{word}` in a segment"),
        }
    }
    segment.wnd = *wnd;
    segment
}

fn show_segment(segment: &Segment, has_ts: bool) -> String {
    let mut line = format!("> {:3} {}", show_flags(segment), segment.seq);
    if segment.len > 0 {
        write!(line, "-{}", segment.seq.wrapping_add(segment.len)).expect("a string");
    }
    if segment.retransmission > 0 {
        write!(line, " again {}", segment.retransmission).expect("a string");
    }
    if segment.ecn != Ecn::NotEct {
        line.push_str(" ect");
    }
    if has_ts {
        write!(line, " ts {}", segment.tsval).expect("a string");
        if segment.tsecr != 0 {
            write!(line, " ecr {}", segment.tsecr).expect("a string");
        }
    }
    line
}

/// A script in progress: the sender, the test host that drives it, and the output so far.
struct Play {
    sender: Sender,
    rig: Rig<Bench>,
    config: SenderConfig,
    wnd: u32,
    /// The inner state at the last output: only values that differ from it are written.
    shown: Vec<(&'static str, i64)>,
    text: String,
}

/// Returns the values for the `~` lines of a transcript: the connection's inner state except the
/// values that the `=` lines already show.
fn inner(info: &SenderInfo, sender: &Sender) -> Vec<(&'static str, i64)> {
    let or_none = |value: Option<u32>| value.map_or(-1, i64::from);
    vec![
        ("srtt", (info.srtt_us >> 3).into()),
        ("mdev", (info.mdev_us >> 2).into()),
        ("rttvar", (info.rttvar_us >> 2).into()),
        ("min_rtt", sender.conn().min_rtt_us.into()),
        ("rto", info.rto_us.into()),
        ("una", info.snd_una.into()),
        ("nxt", info.snd_nxt.into()),
        ("write", info.write_seq.into()),
        ("wnd", info.snd_wnd.into()),
        ("high", info.high_seq.into()),
        ("prior_cwnd", info.prior_cwnd.into()),
        ("prr_delivered", info.prr_delivered.into()),
        ("prr_out", info.prr_out.into()),
        ("undo_marker", or_none(info.undo_marker)),
        ("undo_retrans", info.undo_retrans.into()),
        ("reordering", info.reordering.into()),
        ("rack_rtt", info.rack_rtt_us.into()),
        ("rack_steps", info.rack_steps.into()),
        ("tlp_high", or_none(info.tlp_high_seq)),
        ("delivered", sender.conn().delivered.into()),
        ("marked_lost", info.lost.into()),
        ("retransmitted", info.total_retrans.into()),
        ("backoff", info.backoff.into()),
        ("timeouts", info.retransmits.into()),
        ("probes", info.probes_out.into()),
        ("dsacked", info.dsack_dups.into()),
        ("queued", info.wmem_queued.into()),
        ("sndbuf", info.sndbuf.into()),
    ]
}

impl Play {
    fn new(settings: &[&str]) -> Self {
        let mut config = SenderConfig {
            mss: 1000,
            timestamps: false,
            tick: Tick::new(1000, 0, Span::ZERO),
            // Timestamps count from the start of the script.
            ts_offset: BOOT_MS.wrapping_neg(),
            ..SenderConfig::default()
        };
        let mut cc = "reno";
        for setting in settings {
            match setting.split_once('=').expect("key=value") {
                ("cc", value) => cc = value,
                ("cwnd", value) => config.stack.initial_cwnd = value.parse().expect("a number"),
                ("mss", value) => config.mss = value.parse().expect("a number"),
                ("sack", value) => config.stack.sack = value == "on",
                ("timestamps", value) => config.timestamps = value == "on",
                ("paws", value) => config.stack.socket.paws = Some(value == "on"),
                ("nodelay", value) => config.nodelay = value == "on",
                ("ecn", value) => {
                    config.ecn = if value == "on" { EcnMode::On } else { EcnMode::Off }
                }
                ("sndbuf", value) => {
                    let memory: u64 = value.parse().expect("a number");
                    config.stack.sndbuf = SocketBuffer::Fixed(Bytes(memory / 2));
                }
                ("sockbuf", "payload") => config.stack.socket.sockbuf = Sockbuf::Payload,
                ("handshake", "ns3") => config.stack.socket.handshake = Handshake::Ns3,
                ("rtt_clock", "ms") => config.stack.socket.rtt_clock = RttClock::Milliseconds,
                ("rtt_clock", "positive_ms") => {
                    config.stack.socket.rtt_clock = RttClock::PositiveMilliseconds;
                }
                ("rtt_retrans", value) => config.stack.socket.rtt_retrans = value == "on",
                ("fq", "on") => config.stack.sender_qdisc = SenderQdisc::Fq,
                ("recovery", "classic") => config.stack.recovery = Recovery::Classic,
                ("recovery", "prr") => config.stack.recovery = Recovery::Prr,
                ("recovery", "prr_ssrb") => config.stack.recovery = Recovery::PrrSsrb,
                ("rule3", "any") => config.stack.loss.rule3 = Rule3::Any,
                ("rule3", "below_high_sack") => config.stack.loss.rule3 = Rule3::BelowHighSack,
                ("rwnd_bounds", "pipe") => config.stack.loss.rwnd_bounds = RwndBounds::Pipe,
                ("rwnd_bounds", "both") => config.stack.loss.rwnd_bounds = RwndBounds::Both,
                ("pipe_keeps_sacked_retrans", "on") => {
                    config.stack.loss.pipe_keeps_sacked_retrans = true;
                }
                ("partial_ack_sends", "on") => {
                    config.stack.loss.partial_ack = PartialAck::Segment;
                }
                ("rto", "mark_all") => config.stack.loss.rto = Rto::MarkAllKeepSack,
                ("rto_impatient", "on") => config.stack.loss.rto_impatient = true,
                ("rto_estimate", "rfc6298") => {
                    config.stack.loss.rto_estimate = RtoEstimate::Rfc6298;
                }
                ("exit_sets_ssthresh", "on") => config.stack.loss.exit_sets_ssthresh = true,
                ("rack", value) => config.stack.loss.rack = Some(value == "on"),
                ("tlp", value) => config.stack.loss.tlp = Some(value == "on"),
                ("undo", value) => config.stack.loss.undo = Some(value == "on"),
                ("pacing", "timer") => config.stack.pacing.pacing = Pacing::Timer,
                ("tso", "off") => config.stack.tso = Tso::Off,
                ("tso", "whole") => config.stack.tso = Tso::Whole,
                (key, value) => panic!("setting {key}={value}"),
            }
        }
        let cc = Algorithm::from_name(cc).expect("a known algorithm");
        let cc = cc.build(&Vec::new()).expect("the defaults are in range");
        let sender = Sender::new(config, cc);
        let shown = inner(&sender.info(), &sender);
        let rig = Rig::new(Time::ZERO, Bench::default());
        Self { sender, rig, config, wnd: 65_535, shown, text: String::new() }
    }

    /// Fires the timers that are due at or before `until`.
    fn run_timers(&mut self, until: Time) {
        while let Some((at, id)) = self.rig.fire(until) {
            let before = self.sender.info();
            self.sender.on_timer(at, id, &mut self.rig);
            self.run_app(at);
            let timer_jiffies = before.timer_jiffies;
            let after = SenderInfo { timer_jiffies, ..self.sender.info() };
            if self.rig.notes.sent.is_empty() && before == after {
                continue;
            }
            let name = if id == TimerId::Pacing { "pacing timer" } else { "timer" };
            let what = if id == TimerId::Pacing { TimerPurpose::None } else { before.timer };
            let what =
                if what == TimerPurpose::None { String::new() } else { format!(" {what:?}") };
            writeln!(self.text, "# {} {name}{what}", show_ms(at)).expect("a string");
            self.show();
        }
    }

    fn run_app(&mut self, now: Time) {
        while self.sender.app_is_ready() {
            self.sender.run_app(now, &mut self.rig);
        }
    }

    fn input(&mut self, now: Time, words: &[&str]) {
        self.run_timers(now);
        match words[0] {
            "connect" => self.sender.connect(now, &mut self.rig),
            "write" => {
                let bytes = words[1].parse().expect("a number of bytes");
                self.sender.write(now, bytes, &mut self.rig);
            }
            "unlimited" => self.sender.write_unlimited(now, &mut self.rig),
            "close" => self.sender.close(now, &mut self.rig),
            "wait" => {}
            "app_limited" => {
                let until = self.sender.conn().ctl.app_limited;
                match until {
                    0 => self.text.push_str("    not app-limited\n"),
                    _ => writeln!(self.text, "    app-limited until {until} are delivered")
                        .expect("a string"),
                }
                return;
            }
            "cc" => {
                let text = &mut self.text;
                self.sender.cc().snapshot(&mut |name, value| {
                    if name == words[1] {
                        writeln!(text, "    {name} {value}").expect("a string");
                    }
                });
                return;
            }
            "<" => {
                let segment = parse_segment(&words[1..], &mut self.wnd, self.config.timestamps);
                self.sender.on_arrival(now, &segment, &mut self.rig);
            }
            word => panic!("`{word}` is no input"),
        }
        self.run_app(now);
        self.show();
    }

    fn show(&mut self) {
        for segment in std::mem::take(&mut self.rig.notes.sent) {
            let line = show_segment(&segment, self.config.timestamps);
            writeln!(self.text, "    {line}").expect("a string");
        }
        let info = self.sender.info();
        let ssthresh = info.ssthresh.map_or(String::from("inf"), |s| s.to_string());
        let timer = if info.timer == TimerPurpose::None {
            String::from("no timer")
        } else {
            format!("{:?} in {}", info.timer, info.timer_jiffies)
        };
        writeln!(
            self.text,
            "    = {:?} cwnd {} ssthresh {ssthresh} out {} sacked {} lost {} retrans {} {timer}, {:?}",
            info.ca_state,
            info.cwnd,
            info.packets_out,
            info.sacked_out,
            info.lost_out,
            info.retrans_out,
            self.sender.limits().current(),
        )
        .expect("a string");
        let now = inner(&info, &self.sender);
        let mut changes = String::new();
        for ((name, value), (_, before)) in now.iter().zip(&self.shown) {
            if value != before {
                write!(changes, " {name} {value}").expect("a string");
            }
        }
        if !changes.is_empty() {
            writeln!(self.text, "    ~{changes}").expect("a string");
        }
        self.shown = now;
    }
}

/// Returns the output of a script: the script's inputs with the sender's outputs. The file that
/// contains the script must equal this output.
fn perform(script: &str) -> String {
    let mut lines = script.lines();
    let title = lines.next().expect("a title");
    let mut settings = Vec::new();
    let mut text = format!("{title}\n");
    let mut play: Option<Play> = None;
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.starts_with("set ") {
            settings.extend_from_slice(&words[1..]);
            writeln!(text, "{line}").expect("a string");
        } else if line.starts_with("// ") {
            writeln!(play.as_mut().map_or(&mut text, |play| &mut play.text), "{line}")
                .expect("a string");
        } else if line.starts_with(|first: char| first.is_ascii_digit()) {
            let play = play.get_or_insert_with(|| Play::new(&settings));
            let now = parse_ms(words[0]);
            play.run_timers(now);
            writeln!(play.text, "{line}").expect("a string");
            play.input(now, &words[1..]);
        }
    }
    if let Some(play) = play {
        text.push_str(&play.text);
    }
    text
}

fn transcripts() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sender_transcripts");
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir)
        .expect("the folder is in the repository")
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    files.sort();
    files
}

#[test]
fn every_transcript_comes_out_as_written() {
    for path in transcripts() {
        let script = std::fs::read_to_string(&path).expect("a text file");
        expect_test::expect_file![&path].assert_eq(&perform(&script));
    }
}
