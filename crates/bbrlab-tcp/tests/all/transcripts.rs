//! Transcripts in the style of packetdrill: the input of one end of a connection, and its output.
//!
//! Each file is one transcript. The first line says what is tested, the second names the end under
//! test and its settings. Each further line is a time in seconds and an event:
//!
//! ```text
//! # A lone segment without PUSH waits for the delayed-ACK timer.
//! receiver
//! 0.100 < S 0:0(0) win 64240 ts 0 ecr 0         a segment comes in
//! 0.100 > SA 0:0(0) ack 1 win 65160 ts 0 ecr 0  a segment goes out
//! 0.300 read off                                the application stops reading
//! 1.000 end                                     timers run until this time
//! ```
//!
//! Lines with `>` are output: the test fails if the file differs from the code's output, and
//! `UPDATE_EXPECT=1` (`cargo xtask bless`) rewrites them. `ack`, `win`, `ts` and `ecr` are followed
//! by a number, `sack` by ranges `a-b,c-d`; `ect0` and `ce` are the ECN field. Sequence and ACK
//! numbers count from the initial ones, as in packetdrill.
//!
//! Events: `< ...`, `end`, `close`; at a receiver `read on`, `read off`, `interrupt` (another timer
//! of the machine fires); at a sender `connect`, `write N`, `write unlimited`, `run` (the
//! application is scheduled).
//!
//! Settings of a receiver: `mss`, `rcvbuf` (bytes of memory: twice `SO_RCVBUF`), `rcvlowat`,
//! `rwnd`, `clamp`, `hz`, `every` and `timer_ms` (delayed ACKs as in RFC 1122), `recv`, and the
//! words `nots`, `nosack`, `quickack`, `ecn`, `dctcp`. Settings of a whole socket: `active` or
//! `passive`, then settings of a receiver. Settings of a sender: `cc`, `mss`, `hz`, `icwnd`, and
//! `nots`, `nosack`, `nodelay`, `ecn`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use bbrlab_cc::{Algorithm, Params};
use bbrlab_stack::{DelAck, EcnMode, Sockbuf, SocketBuffer};
use bbrlab_tcp::receiver::EcnEcho;
use bbrlab_tcp::segment::flag;
use bbrlab_tcp::socket::Socket;
use bbrlab_tcp::{
    Receiver, ReceiverConfig, SackBlock, Segment, Sender, SenderConfig, Tick, TimerId,
};
use bbrlab_units::{Bytes, Ecn, Span, Time};
use expect_test::expect_file;

use crate::rig::{Notes, Rig};

/// Letters of the flags, in the order in which they are written.
const FLAGS: [(char, u8); 7] = [
    ('S', flag::SYN),
    ('A', flag::ACK),
    ('P', flag::PSH),
    ('F', flag::FIN),
    ('R', flag::RST),
    ('E', flag::ECE),
    ('C', flag::CWR),
];

/// The time in milliseconds that the sender's clock shows at time 0 of the transcript. This time is
/// not 0, because a stamp of 0 means "none". This time is a multiple of all slot lengths of the
/// timer wheel up to 32,768 jiffies, so that timers fall into the same slots as with a clock that
/// starts at 0. Only timers more than 2 million jiffies ahead fall into longer slots.
const BOOT_MS: u32 = 1 << 15;

/// The transcript so far.
struct Scribe {
    /// The time of the host's clock at time 0 of the transcript.
    boot: Span,
    out: String,
}

impl Notes for Scribe {
    fn sent(&mut self, now: Time, segment: Segment) {
        let now = Time(now.0 - self.boot.0);
        writeln!(self.out, "{} > {}", seconds(now), show(&segment)).unwrap();
    }
}

/// The end under test.
enum End {
    Receiver(Box<Receiver>),
    Sender(Box<Sender>),
    Socket(Box<Socket>),
}

impl End {
    fn new(line: &str) -> Self {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("receiver") => Self::Receiver(Box::new(Receiver::new(receiver_config(words)))),
            Some("sender") => Self::Sender(Box::new(sender(words))),
            Some("socket") => Self::Socket(Box::new(socket(words))),
            other => panic!("expected `receiver`, `sender` or `socket`, found {other:?}"),
        }
    }

    fn timer(&mut self, now: Time, timer: TimerId, host: &mut Rig<Scribe>) {
        match self {
            Self::Receiver(receiver) => receiver.on_timer(now, timer, host),
            Self::Sender(sender) => sender.on_timer(now, timer, host),
            Self::Socket(socket) => socket.halves().on_timer(now, timer, host),
        }
    }

    /// Returns the time of the host's clock at time 0 of the transcript.
    fn boot(&self) -> Span {
        match self {
            Self::Receiver(_) => Span::ZERO,
            Self::Sender(_) | Self::Socket(_) => Span::from_millis(u64::from(BOOT_MS)),
        }
    }

    fn event(&mut self, now: Time, event: &str, host: &mut Rig<Scribe>) {
        if let Some(segment) = event.strip_prefix("< ") {
            let segment = parse(segment);
            match self {
                Self::Receiver(receiver) => {
                    receiver.deliver(now, &segment, host);
                }
                Self::Sender(sender) => {
                    sender.on_arrival(now, &segment, host);
                }
                Self::Socket(socket) => {
                    socket.halves().on_segment(now, &segment, host);
                    while socket.halves().wants_read() && socket.halves().recv(now, host).bytes > 0
                    {
                    }
                }
            }
            return;
        }
        match (self, event) {
            (_, "end") => {}
            (Self::Receiver(receiver), "close") => receiver.close(now, host),
            (Self::Receiver(receiver), "interrupt") => receiver.on_host_interrupt(now, host),
            (Self::Receiver(receiver), "read off") => receiver.set_reading(false),
            (Self::Receiver(receiver), "read on") => {
                receiver.set_reading(true);
                if receiver.wants_read() {
                    receiver.read(now, host);
                }
            }
            (Self::Sender(sender), "close") => sender.close(now, host),
            (Self::Sender(sender), "connect") => sender.connect(now, host),
            (Self::Sender(sender), "run") => sender.run_app(now, host),
            (Self::Sender(sender), "write unlimited") => sender.write_unlimited(now, host),
            (Self::Sender(sender), _) if event.starts_with("write ") => {
                sender.write(now, event["write ".len()..].parse().expect("bytes"), host);
            }
            (Self::Socket(socket), "connect") => socket.halves().connect(now, host),
            (Self::Socket(socket), _) if event.starts_with("write ") => {
                socket.halves().write(now, event["write ".len()..].parse().expect("bytes"), host);
            }
            _ => panic!("no event `{event}` here"),
        }
    }
}

fn receiver_config<'a>(words: impl Iterator<Item = &'a str>) -> ReceiverConfig {
    let mut config = ReceiverConfig { rmem_max: 212_992, ..ReceiverConfig::default() };
    let (mut every, mut timer_ms) = (None, 200);
    for word in words {
        let (name, value) = word.split_once('=').unwrap_or((word, "0"));
        let value: u32 = value.parse().expect("a number");
        match name {
            "mss" => config.mss = value,
            "rcvbuf" => config.stack.rcvbuf = SocketBuffer::Fixed(Bytes((value / 2).into())),
            "rcvlowat" => config.stack.rcvlowat = Bytes(value.into()),
            "rwnd" => config.stack.rwnd = Some(Bytes(value.into())),
            "clamp" => config.window_clamp = Some(value),
            "hz" => config.tick = Tick::new(value, 0, Span::ZERO),
            "every" => every = Some(value),
            "timer_ms" => timer_ms = u64::from(value),
            "recv" => config.recv_bytes = value,
            "nots" => config.timestamps = false,
            "payload" => config.stack.socket.sockbuf = Sockbuf::Payload,
            "nodsack" => config.stack.socket.dsack = false,
            "nosack" => config.stack.sack = false,
            "quickack" => config.stack.delack = DelAck::Quick,
            "ecn" => config.ecn = EcnEcho::Classic,
            "dctcp" => config.ecn = EcnEcho::Dctcp { on_acks: Ecn::Ect0 },
            _ => panic!("no setting `{name}`"),
        }
    }
    if let Some(every) = every {
        config.stack.delack = DelAck::Every { every, timer: Span::from_millis(timer_ms) };
    }
    config
}

fn sender<'a>(words: impl Iterator<Item = &'a str>) -> Sender {
    // Timestamps count from the start of the transcript.
    let mut config = SenderConfig { ts_offset: BOOT_MS.wrapping_neg(), ..SenderConfig::default() };
    let mut cc = Algorithm::Reno;
    for word in words {
        let (name, value) = word.split_once('=').unwrap_or((word, "0"));
        let number = || value.parse().expect("a number");
        match name {
            "cc" => cc = Algorithm::from_name(value).expect("an algorithm"),
            "mss" => config.mss = number(),
            "icwnd" => config.stack.initial_cwnd = number(),
            "hz" => config.tick = Tick::new(number(), 0, Span::ZERO),
            "nots" => config.timestamps = false,
            "nosack" => config.stack.sack = false,
            "nodelay" => config.nodelay = true,
            "ecn" => config.ecn = EcnMode::On,
            _ => panic!("no setting `{name}`"),
        }
    }
    Sender::new(config, cc.build(&Params::default()).expect("built"))
}

fn socket<'a>(mut words: impl Iterator<Item = &'a str>) -> Socket {
    let is_active = match words.next() {
        Some("active") => true,
        Some("passive") => false,
        other => panic!("expected `active` or `passive`, found {other:?}"),
    };
    let ts_offset = BOOT_MS.wrapping_neg();
    let config = ReceiverConfig { ts_offset, ..receiver_config(words) };
    let sending =
        SenderConfig { timestamps: config.timestamps, ts_offset, ..SenderConfig::default() };
    let cc = Algorithm::Reno.build(&Params::default()).expect("built");
    let (sender, receiver) = (Sender::new(sending, cc), Receiver::new(config));
    if is_active { Socket::active(sender, receiver) } else { Socket::passive(sender, receiver) }
}

/// Writes a time in seconds with at least three decimals, and more only if they are not zero.
fn seconds(at: Time) -> String {
    let digits = format!("{:09}", at.0 % 1_000_000_000);
    let (must, may) = digits.split_at(3);
    format!("{}.{must}{}", at.0 / 1_000_000_000, may.trim_end_matches('0'))
}

fn parse_seconds(text: &str) -> Time {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    Time(format!("{whole}{fraction:0<9}").parse().expect("seconds"))
}

fn show(segment: &Segment) -> String {
    let mut text: String =
        FLAGS.iter().filter(|(_, bit)| segment.has(*bit)).map(|(letter, _)| letter).collect();
    let (seq, len) = (segment.seq, segment.len);
    write!(text, " {seq}:{}({len})", seq.wrapping_add(len)).unwrap();
    if segment.has(flag::ACK) {
        write!(text, " ack {}", segment.ack).unwrap();
    }
    write!(text, " win {}", segment.wnd).unwrap();
    for (at, block) in segment.sack_blocks().iter().enumerate() {
        let lead = if at == 0 { " sack " } else { "," };
        write!(text, "{lead}{}-{}", block.start, block.end).unwrap();
    }
    if segment.has_ts {
        write!(text, " ts {} ecr {}", segment.tsval, segment.tsecr).unwrap();
    }
    match segment.ecn {
        Ecn::NotEct => {}
        Ecn::Ect0 => text.push_str(" ect0"),
        Ecn::Ect1 => text.push_str(" ect1"),
        Ecn::Ce => text.push_str(" ce"),
    }
    text
}

fn parse(text: &str) -> Segment {
    let mut words = text.split_whitespace();
    let mut segment = Segment::default();
    for letter in words.next().expect("flags").chars() {
        let (_, bit) = FLAGS.iter().find(|(known, _)| *known == letter).expect("a flag");
        segment.flags |= bit;
    }
    let range = words.next().expect("a range");
    let (seq, rest) = range.split_once(':').expect("seq:end(len)");
    let (_, len) = rest.trim_end_matches(')').split_once('(').expect("seq:end(len)");
    segment.seq = seq.parse().expect("a number");
    segment.len = len.parse().expect("a number");
    while let Some(word) = words.next() {
        match word {
            "ect0" => segment.ecn = Ecn::Ect0,
            "ce" => segment.ecn = Ecn::Ce,
            "sack" => {
                for (at, block) in words.next().expect("blocks").split(',').enumerate() {
                    let (start, end) = block.split_once('-').expect("a-b");
                    let start = start.parse().expect("a number");
                    segment.sack[at] = SackBlock { start, end: end.parse().expect("a number") };
                    segment.sack_count += 1;
                }
            }
            _ => {
                let value = words.next().expect("a value").parse().expect("a number");
                match word {
                    "ack" => segment.ack = value,
                    "win" => segment.wnd = value,
                    "ts" => (segment.has_ts, segment.tsval) = (true, value),
                    "ecr" => segment.tsecr = value,
                    _ => panic!("no field `{word}`"),
                }
            }
        }
    }
    segment
}

/// Runs a transcript's events; returns the transcript with the actual output.
fn run(transcript: &str) -> String {
    let mut lines = transcript.lines();
    let title = lines.next().expect("a first line that says what is tested");
    assert!(title.starts_with("# "), "the first line begins with `# `");
    let settings = lines.next().expect("a second line with the settings");
    let mut end = End::new(settings);
    let out = format!("{title}\n{settings}\n");
    let boot = end.boot();
    let mut host = Rig::new(Time::ZERO + boot, Scribe { boot, out });
    for line in lines {
        let Some((time, event)) = line.split_once(' ') else {
            panic!("`{line}` must be a time and an event");
        };
        if time == "#" {
            writeln!(host.notes.out, "{line}").unwrap();
            continue;
        }
        let event = event.trim();
        if event.starts_with('>') {
            continue;
        }
        let at = parse_seconds(time) + boot;
        assert!(at >= host.now, "`{line}`: time goes back");
        // Timers that are due at the time of the event fire after the event.
        let before = Time(at.0.saturating_sub(1));
        while let Some((at, timer)) = host.fire(before) {
            end.timer(at, timer, &mut host);
        }
        host.now = at;
        writeln!(host.notes.out, "{line}").unwrap();
        end.event(at, event, &mut host);
    }
    host.notes.out
}

#[test]
fn every_transcript_is_what_the_code_says() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut paths: Vec<_> = fs::read_dir(dir)
        .expect("the folder is in the repository")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "there are transcripts");
    for path in paths {
        let transcript = fs::read_to_string(&path).expect("readable");
        expect_file![&path].assert_eq(&run(&transcript));
    }
}
