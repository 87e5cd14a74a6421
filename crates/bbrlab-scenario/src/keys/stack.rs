//! `[stack]`: the settings that all hosts share.

use bbrlab_cc::Family;
use bbrlab_run::Profile;
use bbrlab_stack::{
    AckInterval, BufferBounds, CcRtt, CwndValidation, DelAck, Handshake, InvalidSample, LossCount,
    Pacing, PartialAck, Recovery, Rto, RtoEstimate, RttClock, Rule3, RwndBounds, SampleBound,
    SenderQdisc, Sockbuf, SocketBuffer, Stack, TcpOptions, Tso,
};
use bbrlab_units::{Bytes, Span};

use crate::keys::family::FamilyParams;
use crate::keys::not_built;
use crate::language::acts::Acts;
use crate::language::canonical::{Writer, show_bytes, show_text, toml_string};
use crate::language::document::{Node, Table, Value};
use crate::language::key::{
    Form, Key, KeyInput, key, name_of, names, needed, optional, read_keys, set, write_keys_unlike,
};
use crate::language::quantity::show_span;
use crate::language::reader::{Keys, Reader};

/// Bytes of payload in a full segment on Ethernet: 1500, minus 20 for IP, 20 for TCP and 12 for
/// timestamps.
const MSS: u32 = 1448;

/// The largest payload that fits into an IP packet with 52 bytes of headers.
pub(crate) const MSS_MAX: u64 = 65_535 - 52;

/// The coarsest resolution of the hosts' clocks that a scenario can set.
const CLOCK_STEP_MAX: Span = Span::from_millis(1);

/// `[stack]` with the defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StackSpec {
    pub(crate) profile: Profile,
    pub(crate) mss: u32,
    pub(crate) stack: Stack,
    pub(crate) families: FamilyParams,
}

const QDISCS: [(&str, SenderQdisc); 2] = [("none", SenderQdisc::None), ("fq", SenderQdisc::Fq)];
const TSOS: [(&str, Tso); 3] = [("cut", Tso::Cut), ("whole", Tso::Whole), ("off", Tso::Off)];
const SOCKBUFS: [(&str, Sockbuf); 2] = [("memory", Sockbuf::Memory), ("payload", Sockbuf::Payload)];
const TCP_OPTIONS: [(&str, TcpOptions); 2] =
    [("aligned", TcpOptions::Aligned), ("packed", TcpOptions::Packed)];
const HANDSHAKES: [(&str, Handshake); 2] = [("linux", Handshake::Linux), ("ns3", Handshake::Ns3)];
const RTT_CLOCKS: [(&str, RttClock); 3] = [
    ("exact", RttClock::Exact),
    ("1ms", RttClock::Milliseconds),
    ("1ms-positive", RttClock::PositiveMilliseconds),
];
const CC_RTTS: [(&str, CcRtt); 2] = [("sample", CcRtt::Sample), ("srtt", CcRtt::Srtt)];
const RECOVERIES: [(&str, Recovery); 4] = [
    ("linux", Recovery::Linux),
    ("classic", Recovery::Classic),
    ("prr", Recovery::Prr),
    ("prr_ssrb", Recovery::PrrSsrb),
];
const RULES_3: [(&str, Rule3); 3] =
    [("off", Rule3::Off), ("below_high_sack", Rule3::BelowHighSack), ("any", Rule3::Any)];
const RWND_BOUNDS: [(&str, RwndBounds); 3] =
    [("edge", RwndBounds::Edge), ("pipe", RwndBounds::Pipe), ("both", RwndBounds::Both)];
const RTOS: [(&str, Rto); 2] =
    [("linux", Rto::Linux), ("mark_all_keep_sack", Rto::MarkAllKeepSack)];
const RTO_ESTIMATES: [(&str, RtoEstimate); 2] =
    [("linux", RtoEstimate::Linux), ("rfc6298", RtoEstimate::Rfc6298)];
const CWND_VALIDATIONS: [(&str, CwndValidation); 3] = [
    ("linux", CwndValidation::Linux),
    ("last_sent", CwndValidation::LastSent),
    ("off", CwndValidation::Off),
];
const ACK_INTERVALS: [(&str, AckInterval); 2] =
    [("this", AckInterval::This), ("previous", AckInterval::Previous)];
const INVALID_SAMPLES: [(&str, InvalidSample); 2] =
    [("drop", InvalidSample::Drop), ("reuse", InvalidSample::Reuse)];
const SAMPLE_BOUNDS: [(&str, SampleBound); 2] =
    [("sample", SampleBound::Sample), ("srtt", SampleBound::Srtt)];
/// For a key that accepts `false`, `true` and one name: the setting for each of these three values.
type Switch<T> = (T, T, (&'static str, T));
const PARTIAL_ACKS: Switch<PartialAck> =
    (PartialAck::Nothing, PartialAck::Segment, ("head", PartialAck::Head));
const LOSS_COUNTS: Switch<LossCount> =
    (LossCount::New, LossCount::Change, ("marked", LossCount::Marked));
const PACINGS: [(&str, Pacing); 2] = [("linux", Pacing::Linux), ("timer", Pacing::Timer)];

/// The text that describes the default of `rack`, `tlp` and `undo` on pages.
const AS_RECOVERY: &str = "`true` with `recovery = \"linux\"`, else `false`";

impl Default for StackSpec {
    fn default() -> Self {
        Self {
            profile: Profile::Linux,
            mss: MSS,
            stack: Stack::default(),
            families: FamilyParams::default(),
        }
    }
}

const SOCKET_BUFFER: Form = Form::Any(&[Form::Choice(|| vec!["auto"]), Form::Bytes]);

/// Creates the key of a family of algorithms. The key's value is a table of their parameters.
/// `family` is a macro, because the reader of a key is a plain function and so cannot store the
/// family.
macro_rules! family {
    ($key:literal, $family:ident, $help:literal) => {
        key(
            $key,
            "0.1.0",
            Form::Params,
            $help,
            |spec: &mut StackSpec, given| {
                spec.families.read(Family::$family, given.reader, given.node, given.name);
            },
            |spec| Some(spec.families.show(Family::$family)),
        )
        .acts_on(Acts::Connections)
    };
}

/// The keys of `[stack]`.
pub(crate) const STACK_KEYS: &[Key<StackSpec>] = &[
    key(
        "profile",
        "0.1.0",
        Form::Choice(|| names(Profile::NAMED)),
        "the TCP that is imitated: its values apply to keys of `[stack]` and of links that are not set (see [the `ns3` \
         profile](ns3-profile.md))",
        |spec: &mut StackSpec, given| set(&mut spec.profile, given.choice(Profile::NAMED)),
        |spec| show_text(spec.profile.name()),
    ),
    key(
        "mss",
        "0.1.0",
        Form::Bytes,
        "payload of a full segment",
        |spec: &mut StackSpec, given| set(&mut spec.mss, given.value(read_mss)),
        |spec| show_bytes(spec.mss.into()),
    ),
    key(
        "sndbuf",
        "0.1.0",
        SOCKET_BUFFER,
        "send buffer: grows as in Linux, within `tcp_wmem`, or fixed as with `SO_SNDBUF`",
        |spec: &mut StackSpec, given| set(&mut spec.stack.sndbuf, given.value(read_socket_buffer)),
        |spec| show_socket_buffer(spec.stack.sndbuf),
    )
    .acts_on(Acts::Connections),
    key(
        "rcvbuf",
        "0.1.0",
        SOCKET_BUFFER,
        "receive buffer: grows as in Linux, within `tcp_rmem`, or fixed as with `SO_RCVBUF`",
        |spec: &mut StackSpec, given| set(&mut spec.stack.rcvbuf, given.value(read_socket_buffer)),
        |spec| show_socket_buffer(spec.stack.rcvbuf),
    )
    .acts_on(Acts::Connections),
    key(
        "tcp_rmem",
        "0.2.0",
        Form::Text,
        "smallest, initial and largest size of `rcvbuf = \"auto\"` in bytes of memory, as sysctl has them; the default \
         grows to 64 MiB, a stock kernel (`\"4096 131072 6291456\"`) to 6 MiB: see [Sockets](sockets.md)",
        |spec: &mut StackSpec, given| set(&mut spec.stack.tcp_rmem, given.value(read_bounds)),
        |spec| show_text(&show_bounds(spec.stack.tcp_rmem)),
    )
    .acts_on(Acts::GrowingRcvbuf),
    key(
        "tcp_wmem",
        "0.2.0",
        Form::Text,
        "smallest, initial and largest size with `sndbuf = \"auto\"`; by default 64 MiB at most, in a stock kernel \
         (`\"4096 16384 4194304\"`) 4 MiB",
        |spec: &mut StackSpec, given| set(&mut spec.stack.tcp_wmem, given.value(read_bounds)),
        |spec| show_text(&show_bounds(spec.stack.tcp_wmem)),
    )
    .acts_on(Acts::GrowingSndbuf),
    key(
        "notsent_lowat",
        "0.2.0",
        Form::Bytes,
        "the application may write while fewer bytes than this are unsent, and is woken when fewer than half of this \
         number are unsent (`tcp_notsent_lowat`)",
        |spec: &mut StackSpec, given| spec.stack.notsent_lowat = given.value(read_lowat),
        |spec| spec.stack.notsent_lowat.and_then(|bytes| show_bytes(bytes.into())),
    )
    .acts_on(Acts::Memory)
    .without("no limit"),
    key(
        "slow_start_after_idle",
        "0.2.0",
        Form::Bool,
        "cwnd halves once for each whole RTO of an idle time, and decays while it is not filled, down to the initial \
         cwnd (`tcp_slow_start_after_idle`); not for algorithms that set their window themselves, such as BBR",
        |spec: &mut StackSpec, given| {
            set(&mut spec.stack.slow_start_after_idle, given.value(Reader::boolean));
        },
        |spec| Some(spec.stack.slow_start_after_idle.to_string()),
    )
    .acts_on(Acts::LinuxValidation),
    key(
        "rwnd",
        "0.1.0",
        Form::Bytes,
        "upper bound of the advertised window, which grows up to this bound as usual",
        |spec: &mut StackSpec, given| spec.stack.rwnd = given.value(Reader::positive_bytes),
        |spec| spec.stack.rwnd.and_then(|bytes| show_bytes(bytes.0)),
    )
    .acts_on(Acts::Connections),
    key(
        "rcvlowat",
        "0.1.0",
        Form::Bytes,
        "the receiving application is woken when this much can be read",
        |spec: &mut StackSpec, given| set(&mut spec.stack.rcvlowat, given.value(Reader::positive_bytes)),
        |spec| show_bytes(spec.stack.rcvlowat.0),
    )
    .acts_on(Acts::Connections),
    key(
        "hz",
        "0.1.0",
        Form::Whole(100, 1000),
        "timer ticks per second, a divisor of 1000",
        |spec: &mut StackSpec, given| set(&mut spec.stack.hz, given.value(read_hz)),
        |spec| Some(spec.stack.hz.to_string()),
    ),
    key(
        "sender_qdisc",
        "0.1.0",
        Form::Choice(|| names(&QDISCS)),
        "queue discipline on the sender; `\"fq\"` paces instead of TCP's own timer",
        |spec: &mut StackSpec, given| set(&mut spec.stack.sender_qdisc, given.choice(&QDISCS)),
        |spec| show_text(name_of(&QDISCS, spec.stack.sender_qdisc)),
    )
    .acts_on(Acts::Connections),
    key(
        "tso",
        "0.1.0",
        Form::Choice(|| names(&TSOS)),
        "bursts are cut into packets before the first link, cross the network whole, or are never made",
        |spec: &mut StackSpec, given| set(&mut spec.stack.tso, given.choice(&TSOS)),
        |spec| show_text(name_of(&TSOS, spec.stack.tso)),
    )
    .acts_on(Acts::Connections),
    key(
        "sack",
        "0.1.0",
        Form::Bool,
        "selective acknowledgements",
        |spec: &mut StackSpec, given| set(&mut spec.stack.sack, given.value(Reader::boolean)),
        |spec| Some(spec.stack.sack.to_string()),
    )
    .acts_on(Acts::Connections),
    key(
        "recovery",
        "0.1.0",
        Form::Choice(|| names(&RECOVERIES)),
        "detection and repair of losses. `\"linux\"`: RACK-TLP, undo and PRR; with this value alone, ACKs check \
         whether the application limits `bbr2` and `bbr3`. Other values: as in ns-3, where a segment is lost if three \
         segments above it are SACKed. cwnd is ssthresh at once (`\"classic\"`), or follows ns-3's PRR since 3.43 \
         (`\"prr\"`) or up to 3.42 (`\"prr_ssrb\"`)",
        |spec: &mut StackSpec, given| set(&mut spec.stack.recovery, given.choice(&RECOVERIES)),
        |spec| show_text(name_of(&RECOVERIES, spec.stack.recovery)),
    )
    .acts_on(Acts::Connections),
    key(
        "delack",
        "0.1.0",
        Form::Any(&[
            Form::Choice(|| vec!["linux"]),
            Form::Table(&[needed("every", Form::Whole(1, 1000)), optional("timer", Form::Time)]),
        ]),
        "when the receiver acknowledges: as in Linux, or with `{ every = 2, timer = \"200ms\" }` after this many \
         segments or this time. The first segment, a duplicate, and a segment above or in a gap are acknowledged at once. \
         `{ every = 1 }` under the profile `linux` is the route's `quickack 1`",
        |spec: &mut StackSpec, given| {
            let profile = spec.profile;
            let delack = given.value(|reader, node, name| read_delack(reader, node, name, profile));
            set(&mut spec.stack.delack, delack);
        },
        |spec| Some(show_delack(spec.stack.delack)),
    )
    .acts_on(Acts::Connections),
    key(
        "sockbuf",
        "0.1.0",
        Form::Choice(|| names(&SOCKBUFS)),
        "what `sndbuf` and `rcvbuf` count. `\"memory\"`: bytes of memory; a buffer has twice the given size, and the \
         window grows. `\"payload\"`: bytes of payload, sent and unsent, with a window that is the whole buffer from \
         the start (with `auto`, 64 MiB)",
        |spec: &mut StackSpec, given| set(&mut spec.stack.socket.sockbuf, given.choice(&SOCKBUFS)),
        |spec| show_text(name_of(&SOCKBUFS, spec.stack.socket.sockbuf)),
    )
    .acts_on(Acts::Connections),
    key(
        "nagle",
        "0.1.0",
        Form::Bool,
        "Nagle's algorithm may hold a short segment back",
        |spec: &mut StackSpec, given| set(&mut spec.stack.socket.nagle, given.value(Reader::boolean)),
        |spec| Some(spec.stack.socket.nagle.to_string()),
    )
    .acts_on(Acts::Connections),
    key(
        "dsack",
        "0.1.0",
        Form::Bool,
        "the receiver reports duplicates",
        |spec: &mut StackSpec, given| set(&mut spec.stack.socket.dsack, given.value(Reader::boolean)),
        |spec| Some(spec.stack.socket.dsack.to_string()),
    )
    .acts_on(Acts::Connections),
    key(
        "paws",
        "0.1.0",
        Form::Bool,
        "both ends ignore segments whose timestamp is more than 1 ms older than the newest (PAWS)",
        |spec: &mut StackSpec, given| spec.stack.socket.paws = given.value(Reader::boolean),
        |spec| spec.stack.socket.paws.map(|paws| paws.to_string()),
    )
    .without("`true`; `false` with `handshake = \"ns3\"`")
    .acts_on(Acts::Connections),
    key(
        "tcp_options",
        "0.1.0",
        Form::Choice(|| names(&TCP_OPTIONS)),
        "padding of TCP options. `\"aligned\"`: each option is padded, and a SYN has an MSS option: 20 bytes on a SYN, \
         4 + 8 n for n SACK blocks. `\"packed\"`: only the sum is padded, and there is no MSS option: 16 bytes on a \
         SYN, 8 n for n SACK blocks",
        |spec: &mut StackSpec, given| set(&mut spec.stack.socket.tcp_options, given.choice(&TCP_OPTIONS)),
        |spec| show_text(name_of(&TCP_OPTIONS, spec.stack.socket.tcp_options)),
    )
    .acts_on(Acts::Connections),
    key(
        "handshake",
        "0.1.0",
        Form::Any(&[Form::Choice(|| names(&HANDSHAKES)), Form::Bool]),
        "timeouts of SYN and SYN-ACK. `\"linux\"`: 1 s at first, doubled each time, but the SYN's first five are 1 s. \
         `\"ns3\"`, also `true`: 3 s at first, doubled each time",
        |spec: &mut StackSpec, given| set(&mut spec.stack.socket.handshake, given.value(read_handshake)),
        |spec| show_text(name_of(&HANDSHAKES, spec.stack.socket.handshake)),
    )
    .acts_on(Acts::Connections),
    key(
        "rtt_clock",
        "0.1.0",
        Form::Choice(|| names(&RTT_CLOCKS)),
        "source of RTT samples. `\"exact\"`: the transmission times that the sender records. Others: the timestamps \
         on ACKs of new data, in whole milliseconds; a difference of zero counts as 1 us with `\"1ms\"`, and not at \
         all with `\"1ms-positive\"` (ns-3 up to 3.28)",
        |spec: &mut StackSpec, given| set(&mut spec.stack.socket.rtt_clock, given.choice(&RTT_CLOCKS)),
        |spec| show_text(name_of(&RTT_CLOCKS, spec.stack.socket.rtt_clock)),
    )
    .acts_on(Acts::Connections),
    key(
        "rtt_retrans",
        "0.1.0",
        Form::Bool,
        "whether an ACK gives an RTT sample, computed from its timestamp, even if the first segment that it \
         acknowledges was retransmitted",
        |spec: &mut StackSpec, given| set(&mut spec.stack.socket.rtt_retrans, given.value(Reader::boolean)),
        |spec| Some(spec.stack.socket.rtt_retrans.to_string()),
    )
    .acts_on(Acts::Connections),
    key(
        "cc_rtt",
        "0.1.0",
        Form::Choice(|| names(&CC_RTTS)),
        "the RTT that algorithms without a rate model, such as Vegas and CUBIC, use: each sample, or the smoothed RTT",
        |spec: &mut StackSpec, given| set(&mut spec.stack.socket.cc_rtt, given.choice(&CC_RTTS)),
        |spec| show_text(name_of(&CC_RTTS, spec.stack.socket.cc_rtt)),
    )
    .acts_on(Acts::Connections),
    key(
        "min_rto",
        "0.1.0",
        Form::Time,
        "lower bound of the retransmission timeout's variance term, or of the whole timeout: see `rto_estimate`",
        |spec: &mut StackSpec, given| set(&mut spec.stack.min_rto, given.value(Reader::positive_span)),
        |spec| show_text(&show_span(spec.stack.min_rto)),
    )
    .acts_on(Acts::Connections),
    key(
        "initial_cwnd",
        "0.1.0",
        Form::Whole(1, 10_000),
        "initial cwnd in segments",
        |spec: &mut StackSpec, given| set(&mut spec.stack.initial_cwnd, given.value(read_initial_cwnd)),
        |spec| Some(spec.stack.initial_cwnd.to_string()),
    )
    .acts_on(Acts::Connections),
    key(
        "clock_step",
        "0.1.0",
        Form::Time,
        "step of the clocks of all hosts and links. An event due between two steps happens at the later step; with \
         steps below 500 ns, often one step after that. For imitating a test bed; at most `\"1ms\"`",
        |spec: &mut StackSpec, given| set(&mut spec.stack.clock_step, given.value(read_clock_step)),
        |spec| show_text(&show_span(spec.stack.clock_step)),
    ),
    key(
        "rack",
        "0.1.0",
        Form::Bool,
        "loss detection by RACK",
        |spec: &mut StackSpec, given| spec.stack.loss.rack = given.value(Reader::boolean),
        |spec: &StackSpec| spec.stack.loss.rack.map(|value| value.to_string()),
    )
    .acts_on(Acts::Connections)
    .without(AS_RECOVERY),
    key(
        "tlp",
        "0.1.0",
        Form::Bool,
        "tail loss probes",
        |spec: &mut StackSpec, given| spec.stack.loss.tlp = given.value(Reader::boolean),
        |spec: &StackSpec| spec.stack.loss.tlp.map(|value| value.to_string()),
    )
    .acts_on(Acts::Connections)
    .without(AS_RECOVERY),
    key(
        "undo",
        "0.1.0",
        Form::Bool,
        "undo of spurious reductions, F-RTO, adaptation to reordering",
        |spec: &mut StackSpec, given| spec.stack.loss.undo = given.value(Reader::boolean),
        |spec: &StackSpec| spec.stack.loss.undo.map(|value| value.to_string()),
    )
    .acts_on(Acts::Connections)
    .without(AS_RECOVERY),
    key(
        "nextseg_rule3",
        "0.1.0",
        Form::Choice(|| names(&RULES_3)),
        "what recovery sends when no lost segment and no new data waits. `\"off\"`: nothing. `\"below_high_sack\"`: \
         each segment below the highest SACK that is not SACKed, once (ns-3 since 3.43). `\"any\"`: each segment that \
         is not SACKed, once (ns-3 up to 3.42)",
        |spec: &mut StackSpec, given| set(&mut spec.stack.loss.rule3, given.choice(&RULES_3)),
        |spec| show_text(name_of(&RULES_3, spec.stack.loss.rule3)),
    )
    .acts_on(Acts::Connections),
    key(
        "rwnd_bounds",
        "0.1.0",
        Form::Choice(|| names(&RWND_BOUNDS)),
        "what the peer's window bounds: the right edge of what is sent, the segments in flight (ns-3 up to 3.30), or both \
         (ns-3 since 3.31)",
        |spec: &mut StackSpec, given| set(&mut spec.stack.loss.rwnd_bounds, given.choice(&RWND_BOUNDS)),
        |spec| show_text(name_of(&RWND_BOUNDS, spec.stack.loss.rwnd_bounds)),
    )
    .acts_on(Acts::Connections),
    key(
        "pipe_keeps_sacked_retrans",
        "0.1.0",
        Form::Bool,
        "a retransmitted segment that is SACKed counts as in flight until it is acknowledged",
        |spec: &mut StackSpec, given| {
            set(&mut spec.stack.loss.pipe_keeps_sacked_retrans, given.value(Reader::boolean));
        },
        |spec| Some(spec.stack.loss.pipe_keeps_sacked_retrans.to_string()),
    )
    .acts_on(Acts::Connections),
    key(
        "partial_ack_sends",
        "0.1.0",
        Form::Any(&[Form::Bool, Form::Choice(|| vec!["head"])]),
        "whether a partial ACK in recovery sends a segment at once, regardless of cwnd and pacing. `true`: a lost \
         segment, otherwise new data, otherwise the first unacknowledged segment. `\"head\"`: only the first \
         unacknowledged segment (ns-3 3.27). Nothing is sent if the first unacknowledged segment was retransmitted \
         already",
        |spec: &mut StackSpec, given| {
            let value =
                given.value(|reader, node, name| read_switch(reader, node, name, PARTIAL_ACKS));
            set(&mut spec.stack.loss.partial_ack, value);
        },
        |spec| show_switch(PARTIAL_ACKS, spec.stack.loss.partial_ack),
    )
    .acts_on(Acts::Connections),
    key(
        "rto",
        "0.1.0",
        Form::Choice(|| names(&RTOS)),
        "the segments that a timeout marks lost: as in Linux, or all that are not SACKed",
        |spec: &mut StackSpec, given| set(&mut spec.stack.loss.rto, given.choice(&RTOS)),
        |spec| show_text(name_of(&RTOS, spec.stack.loss.rto)),
    )
    .acts_on(Acts::Connections),
    key(
        "rto_impatient",
        "0.1.0",
        Form::Bool,
        "in recovery, only the first partial ACK restarts the timeout",
        |spec: &mut StackSpec, given| set(&mut spec.stack.loss.rto_impatient, given.value(Reader::boolean)),
        |spec| Some(spec.stack.loss.rto_impatient.to_string()),
    )
    .acts_on(Acts::Connections),
    key(
        "rto_estimate",
        "0.1.0",
        Form::Choice(|| names(&RTO_ESTIMATES)),
        "the timeout. `\"linux\"`: as in Linux, where `min_rto` is the lower bound of the variance term. \
         `\"rfc6298\"`: srtt + max(1 ms, 4 rttvar), where `min_rto` is the lower bound of the whole timeout",
        |spec: &mut StackSpec, given| set(&mut spec.stack.loss.rto_estimate, given.choice(&RTO_ESTIMATES)),
        |spec| show_text(name_of(&RTO_ESTIMATES, spec.stack.loss.rto_estimate)),
    )
    .acts_on(Acts::Connections),
    key(
        "exit_sets_ssthresh",
        "0.1.0",
        Form::Bool,
        "recovery ends with cwnd = ssthresh for every algorithm, and no algorithm restores cwnd after a timeout",
        |spec: &mut StackSpec, given| set(&mut spec.stack.loss.exit_sets_ssthresh, given.value(Reader::boolean)),
        |spec| Some(spec.stack.loss.exit_sets_ssthresh.to_string()),
    )
    .acts_on(Acts::Connections),
    key(
        "cwnd_validation",
        "0.1.0",
        Form::Choice(|| names(&CWND_VALIDATIONS)),
        "growth of a cwnd that is not filled: as in Linux; only if the last segment sent filled it (ns-3 since 3.42); \
         or always",
        |spec: &mut StackSpec, given| set(&mut spec.stack.loss.cwnd_validation, given.choice(&CWND_VALIDATIONS)),
        |spec| show_text(name_of(&CWND_VALIDATIONS, spec.stack.loss.cwnd_validation)),
    )
    .acts_on(Acts::Connections),
    key(
        "rate_ack_interval",
        "0.1.0",
        Form::Choice(|| names(&ACK_INTERVALS)),
        "the ACK phase of a rate sample begins at the latest delivery before the sampled segment was sent, or before \
         the segment of the previous sample was sent (ns-3 up to 3.40)",
        |spec: &mut StackSpec, given| set(&mut spec.stack.rate.ack_interval, given.choice(&ACK_INTERVALS)),
        |spec| show_text(name_of(&ACK_INTERVALS, spec.stack.rate.ack_interval)),
    )
    .acts_on(Acts::Connections),
    key(
        "rate_sample_sticky",
        "0.1.0",
        Form::Bool,
        "an ACK that delivers no segment newer than the previous sample's keeps the interval of that sample",
        |spec: &mut StackSpec, given| set(&mut spec.stack.rate.is_sticky, given.value(Reader::boolean)),
        |spec| Some(spec.stack.rate.is_sticky.to_string()),
    )
    .acts_on(Acts::Connections),
    key(
        "rate_loss_abs",
        "0.1.0",
        Form::Any(&[Form::Bool, Form::Choice(|| vec!["marked"])]),
        "the segments that a rate sample counts as lost. `false`: those that the ACK marked lost. `true`: the \
         absolute change of the number of segments marked lost. `\"marked\"`: all segments that are marked lost \
         (2018's port of BBR to ns-3)",
        |spec: &mut StackSpec, given| {
            let value =
                given.value(|reader, node, name| read_switch(reader, node, name, LOSS_COUNTS));
            set(&mut spec.stack.rate.loss, value);
        },
        |spec| show_switch(LOSS_COUNTS, spec.stack.rate.loss),
    )
    .acts_on(Acts::Connections),
    key(
        "rate_invalid",
        "0.1.0",
        Form::Choice(|| names(&INVALID_SAMPLES)),
        "an invalid rate sample is dropped, or the last valid rate is used again (ns-3 up to 3.41)",
        |spec: &mut StackSpec, given| set(&mut spec.stack.rate.invalid, given.choice(&INVALID_SAMPLES)),
        |spec| show_text(name_of(&INVALID_SAMPLES, spec.stack.rate.invalid)),
    )
    .acts_on(Acts::Connections),
    key(
        "rate_min_rtt",
        "0.1.0",
        Form::Choice(|| names(&SAMPLE_BOUNDS)),
        "a rate sample is invalid if its interval is below the minimum of the RTT samples, or of the smoothed RTT",
        |spec: &mut StackSpec, given| set(&mut spec.stack.rate.min_rtt, given.choice(&SAMPLE_BOUNDS)),
        |spec| show_text(name_of(&SAMPLE_BOUNDS, spec.stack.rate.min_rtt)),
    )
    .acts_on(Acts::Connections),
    key(
        "pacing",
        "0.1.0",
        Form::Choice(|| names(&PACINGS)),
        "the timer that paces. `\"linux\"`: each segment has a departure time, with credit after a segment that left \
         late. `\"timer\"`: ns-3's timer, without credit",
        |spec: &mut StackSpec, given| set(&mut spec.stack.pacing.pacing, given.choice(&PACINGS)),
        |spec| show_text(name_of(&PACINGS, spec.stack.pacing.pacing)),
    )
    .acts_on(Acts::Connections),
    key(
        "pacing_counts_headers",
        "0.1.0",
        Form::Bool,
        "the time that a paced segment takes includes its headers, unlike in Linux and ns-3",
        |spec: &mut StackSpec, given| set(&mut spec.stack.pacing.counts_headers, given.value(Reader::boolean)),
        |spec| Some(spec.stack.pacing.counts_headers.to_string()),
    )
    .acts_on(Acts::Connections),
    key(
        "pace_initial_window",
        "0.1.0",
        Form::Bool,
        "the initial window is paced too",
        |spec: &mut StackSpec, given| set(&mut spec.stack.pacing.pace_initial_window, given.value(Reader::boolean)),
        |spec| Some(spec.stack.pacing.pace_initial_window.to_string()),
    )
    .acts_on(Acts::Connections),
    key(
        "app_write",
        "0.1.0",
        Form::Any(&[Form::Choice(|| vec!["linux"]), Form::Bytes]),
        "how much an unlimited flow writes at a time. `\"linux\"`: 1 MiB, and the check for an application-limited \
         flow precedes each write. A number of bytes: this number, with the check after each write",
        |spec: &mut StackSpec, given| read_app_write(&mut spec.stack.pacing.app_write, given),
        |spec| match spec.stack.pacing.app_write {
            None => show_text("linux"),
            Some(bytes) => show_bytes(bytes.0),
        },
    )
    .acts_on(Acts::Connections),
    family!(
        "bbr",
        Bbr,
        "parameters of `bbr1` and its variants for flows that do not set them in `cc_params`: see [the `ns3` profile](ns3-profile.md)"
    ),
    family!("bbr2", Bbr2, "parameters of `bbr2` and `bbr2_exp`, as for `bbr`"),
    family!("bbr3", Bbr3, "parameters of `bbr3`, as for `bbr`"),
    family!(
        "cubic",
        Cubic,
        "parameters of `cubic`, as for `bbr`: `beta`, `fast_convergence`, `friendly` (its `tcp_friendliness`), \
         `growth`, `hystart`, `wmax_on_rto`"
    ),
    family!("vegas", Vegas, "parameters of `vegas`, as for `bbr`: `diff`, `growth`"),
];

impl StackSpec {
    /// Returns the profile that a `[stack]` names; Linux if it names none.
    pub(crate) fn profile_of(stack: &Table) -> Profile {
        let named = stack.get("profile").and_then(|entry| match &entry.value.value {
            Value::Text(text) => Profile::NAMED.iter().find(|(name, _)| name == text),
            _ => None,
        });
        named.map_or(Profile::Linux, |&(_, profile)| profile)
    }

    /// Reads `[stack]`; `of_profile` has the values of keys that the scenario does not set.
    pub(crate) fn read(reader: &mut Reader<'_>, mut keys: Keys<'_>, of_profile: &Self) -> Self {
        let mut spec = of_profile.clone();
        read_keys(STACK_KEYS, &mut spec, reader, &mut keys);
        not_built::refuse_keys(reader, &mut keys, not_built::STACK_KEYS);
        keys.finish(reader);
        spec
    }

    pub(crate) fn write(&self, of_profile: Option<&Self>, out: &mut Writer) {
        out.table("[stack]");
        write_keys_unlike(STACK_KEYS, self, of_profile, out);
    }
}

/// Reads the minimum, initial and maximum sizes in bytes of a growing socket buffer, as in the
/// sysctls `tcp_rmem` and `tcp_wmem`.
fn read_bounds(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<BufferBounds> {
    let text = reader.text(node, name)?;
    let sizes: Option<Vec<u32>> = text.split_whitespace().map(|size| size.parse().ok()).collect();
    if let Some(&[least, initial, most]) = sizes.as_deref()
        && 0 < least
        && least <= initial
        && initial <= most
        && most <= i32::MAX.unsigned_abs()
    {
        return Some(BufferBounds { least, initial, most });
    }
    let expected = "three numbers of bytes in ascending order, as sysctl has them, such as \
                    \"4096 131072 6291456\"";
    reader.wrong(node, name, expected);
    None
}

fn show_bounds(bounds: BufferBounds) -> String {
    format!("{} {} {}", bounds.least, bounds.initial, bounds.most)
}

fn read_lowat(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<u32> {
    let bytes = reader.positive_bytes(node, name)?;
    let lowat = u32::try_from(bytes.0).ok();
    if lowat.is_none() {
        reader.wrong(node, name, "at most \"4294967295B\", the largest value of the sysctl");
    }
    lowat
}

fn read_hz(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<u32> {
    let hz = reader.integer(node, name, 100, 1000)?;
    if 1000 % hz != 0 {
        reader.wrong(node, name, "a divisor of 1000, such as 100, 250 or 1000");
        return None;
    }
    u32::try_from(hz).ok()
}

/// Reads the value of a key that accepts `false`, `true` and one name.
fn read_switch<T: Copy + PartialEq>(
    reader: &mut Reader<'_>,
    node: &Node,
    name: &str,
    (off, on, third): Switch<T>,
) -> Option<T> {
    match &node.value {
        Value::Bool(is_on) => Some(if *is_on { on } else { off }),
        _ => reader.choice(node, name, &[third], " or true or false"),
    }
}

fn show_switch<T: Copy + PartialEq>((off, on, (name, _)): Switch<T>, value: T) -> Option<String> {
    if value == off || value == on {
        return Some((value == on).to_string());
    }
    show_text(name)
}

/// Reads `handshake`; `true` means the handshake of ns-3.
fn read_handshake(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Handshake> {
    match &node.value {
        Value::Bool(true) => Some(Handshake::Ns3),
        Value::Bool(false) => {
            let title = format!("`{name}`: connections without a handshake are not supported yet");
            reader.problem(node.at, title, "found false", Vec::new());
            None
        }
        _ => reader.choice(node, name, &HANDSHAKES, ""),
    }
}

fn read_initial_cwnd(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<u32> {
    reader.integer(node, name, 1, 10_000).and_then(|cwnd| u32::try_from(cwnd).ok())
}

fn read_clock_step(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Span> {
    let step = reader.positive_span(node, name)?;
    if step > CLOCK_STEP_MAX {
        reader.wrong(node, name, "at most \"1ms\"");
        return None;
    }
    Some(step)
}

/// Reads the payload of a full segment, which must fit into an IP packet.
pub(crate) fn read_mss(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<u32> {
    let bytes = reader.positive_bytes(node, name)?;
    if bytes.0 > MSS_MAX {
        reader.wrong(node, name, "at most \"65483B\", so that the segment fits into an IP packet");
        return None;
    }
    u32::try_from(bytes.0).ok()
}

fn read_socket_buffer(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<SocketBuffer> {
    if matches!(&node.value, Value::Text(text) if text == "auto") {
        return Some(SocketBuffer::Auto);
    }
    if matches!(&node.value, Value::Text(text) if !text.trim_start().starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)))
    {
        reader.wrong(node, name, "\"auto\" or a number of bytes such as \"131072B\"");
        return None;
    }
    reader.positive_bytes(node, name).map(SocketBuffer::Fixed)
}

fn read_app_write(place: &mut Option<Bytes>, given: &mut KeyInput<'_, '_>) {
    if matches!(&given.node.value, Value::Text(text) if text == "linux") {
        *place = None;
    } else if let Some(bytes) = given.value(Reader::positive_bytes) {
        *place = Some(bytes);
    }
}

fn show_socket_buffer(buffer: SocketBuffer) -> Option<String> {
    match buffer {
        SocketBuffer::Auto => show_text("auto"),
        SocketBuffer::Fixed(bytes) => show_bytes(bytes.0),
    }
}

/// The timer of `delack = { every = 1 }` without `timer` in the profiles of ns-3. The timer has no
/// effect, because no ACK is delayed.
const NS3_DELACK: Span = Span::from_millis(200);

fn read_delack(
    reader: &mut Reader<'_>,
    node: &Node,
    name: &str,
    profile: Profile,
) -> Option<DelAck> {
    let Value::Table(table) = &node.value else {
        return reader.choice(
            node,
            name,
            &[("linux", DelAck::Linux)],
            " or a table such as { every = 2, timer = \"200ms\" }",
        );
    };
    let mut keys = Keys::new(table, name, node.at);
    let every = reader.needed(
        &mut keys,
        "every",
        "the number of segments per ACK",
        |reader, every, name| reader.integer(every, name, 1, 1000),
    );
    let timer = keys.take("timer");
    let timer = timer.and_then(|timer| reader.positive_span(timer, &format!("{name}.timer")));
    if every.is_some_and(|every| every > 1) && !keys.has("timer") {
        reader.missing(&keys, "timer", "the longest time that an ACK waits, such as \"200ms\"");
    }
    keys.finish(reader);
    let every = u32::try_from(every?).expect("at most 1000");
    match timer {
        Some(timer) => Some(DelAck::Every { every, timer }),
        None if every > 1 => None,
        // With one segment per ACK no ACK is delayed, so the timer has no effect.
        None if profile.is_linux() => Some(DelAck::Quick),
        None => Some(DelAck::Every { every, timer: NS3_DELACK }),
    }
}

fn show_delack(delack: DelAck) -> String {
    match delack {
        DelAck::Linux => toml_string("linux"),
        DelAck::Quick => "{ every = 1 }".to_owned(),
        DelAck::Every { every, timer } => {
            format!("{{ every = {every}, timer = \"{}\" }}", show_span(timer))
        }
    }
}
