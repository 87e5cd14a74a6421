//! `[stack]`: what all hosts have in common.

use bbrlab_units::{Bytes, Span};

use crate::canonical::Writer;
use crate::document::{Node, Value};
use crate::not_built;
use crate::quantity::show_span;
use crate::reader::{Keys, Reader};
use bbrlab_run::{Profile, Stack};
use bbrlab_stack::{DelAck, Recovery, SenderQdisc, SocketBuffer, Tso};

/// Payload of a full segment with timestamps on Ethernet: 1500 - 20 - 20 - 12.
const MSS: u32 = 1448;

/// The largest payload of an IP packet with our headers.
pub(crate) const MSS_MAX: u64 = 65_535 - 52;

/// The clock of the default host shows every nanosecond.
const CLOCK_STEP: Span = Span(1);

/// The coarsest clock: a microsecond and more would be seen in every RTT.
const CLOCK_STEP_MAX: Span = Span::from_millis(1);

/// `[stack]` with the defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StackSpec {
    pub(crate) profile: Profile,
    pub(crate) mss: u32,
    pub(crate) stack: Stack,
}

const PROFILES: [(&str, Profile); 2] = [("linux", Profile::Linux), ("ns3", Profile::Ns3)];
const QDISCS: [(&str, SenderQdisc); 2] = [("none", SenderQdisc::None), ("fq", SenderQdisc::Fq)];
const TSOS: [(&str, Tso); 3] = [("cut", Tso::Cut), ("whole", Tso::Whole), ("off", Tso::Off)];
const RECOVERIES: [(&str, Recovery); 3] =
    [("linux", Recovery::Linux), ("classic", Recovery::Classic), ("prr", Recovery::Prr)];

impl Default for StackSpec {
    fn default() -> Self {
        Self {
            profile: Profile::Linux,
            mss: MSS,
            stack: Stack {
                sndbuf: SocketBuffer::Auto,
                rcvbuf: SocketBuffer::Auto,
                rwnd: None,
                rcvlowat: Bytes(1),
                hz: 1000,
                sender_qdisc: SenderQdisc::None,
                tso: Tso::Cut,
                sack: true,
                recovery: Recovery::Linux,
                delack: DelAck::Linux,
                min_rto: Span::from_millis(200),
                initial_cwnd: 10,
                clock_step: CLOCK_STEP,
            },
        }
    }
}

impl StackSpec {
    pub(crate) fn read(reader: &mut Reader<'_>, mut keys: Keys<'_>) -> Self {
        let mut spec = Self::default();
        let stack = &mut spec.stack;
        let name = |key: &str| format!("stack.{key}");
        if let Some(node) = keys.take("profile")
            && let Some(profile) = reader.choice(node, &name("profile"), &PROFILES, "")
        {
            spec.profile = profile;
            let shown = name_of(&PROFILES, profile);
            not_built::refuse_value(reader, node, &name("profile"), shown, not_built::PROFILES);
        }
        if let Some(node) = keys.take("mss") {
            spec.mss = read_mss(reader, node, &name("mss")).unwrap_or(spec.mss);
        }
        if let Some(node) = keys.take("sndbuf") {
            stack.sndbuf =
                read_socket_buffer(reader, node, &name("sndbuf")).unwrap_or(stack.sndbuf);
        }
        if let Some(node) = keys.take("rcvbuf") {
            stack.rcvbuf =
                read_socket_buffer(reader, node, &name("rcvbuf")).unwrap_or(stack.rcvbuf);
        }
        if let Some(node) = keys.take("rwnd") {
            stack.rwnd = reader.positive_bytes(node, &name("rwnd"));
        }
        if let Some(node) = keys.take("rcvlowat") {
            stack.rcvlowat =
                reader.positive_bytes(node, &name("rcvlowat")).unwrap_or(stack.rcvlowat);
        }
        if let Some(node) = keys.take("hz")
            && let Some(hz) = reader.integer(node, &name("hz"), 100, 1000)
        {
            if 1000 % hz == 0 {
                stack.hz = u32::try_from(hz).expect("at most 1000");
            } else {
                reader.wrong(node, &name("hz"), "a divisor of 1000, such as 100, 250 or 1000");
            }
        }
        if let Some(node) = keys.take("sender_qdisc") {
            stack.sender_qdisc = reader
                .choice(node, &name("sender_qdisc"), &QDISCS, "")
                .unwrap_or(stack.sender_qdisc);
        }
        if let Some(node) = keys.take("tso") {
            stack.tso = reader.choice(node, &name("tso"), &TSOS, "").unwrap_or(stack.tso);
        }
        if let Some(node) = keys.take("sack") {
            stack.sack = reader.boolean(node, &name("sack")).unwrap_or(stack.sack);
        }
        if let Some(node) = keys.take("recovery") {
            stack.recovery =
                reader.choice(node, &name("recovery"), &RECOVERIES, "").unwrap_or(stack.recovery);
        }
        if let Some(node) = keys.take("delack") {
            stack.delack = read_delack(reader, node, &name("delack")).unwrap_or(stack.delack);
        }
        if let Some(node) = keys.take("min_rto") {
            stack.min_rto = reader.positive_span(node, &name("min_rto")).unwrap_or(stack.min_rto);
        }
        if let Some(node) = keys.take("initial_cwnd")
            && let Some(cwnd) = reader.integer(node, &name("initial_cwnd"), 1, 10_000)
        {
            stack.initial_cwnd = u32::try_from(cwnd).expect("at most 10000");
        }
        if let Some(node) = keys.take("clock_step")
            && let Some(step) = reader.positive_span(node, &name("clock_step"))
        {
            if step <= CLOCK_STEP_MAX {
                stack.clock_step = step;
            } else {
                reader.wrong(node, &name("clock_step"), "at most \"1ms\"");
            }
        }
        not_built::refuse_keys(reader, &mut keys, not_built::STACK_KEYS);
        keys.finish(reader);
        spec
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        let Self { profile, mss, stack } = self;
        let normal = Self::default();
        let plain = &normal.stack;
        out.table("[stack]");
        out.text_unless(*profile == normal.profile, "profile", name_of(&PROFILES, *profile));
        out.text_unless(*mss == normal.mss, "mss", &format!("{mss}B"));
        out.text_unless(stack.sndbuf == plain.sndbuf, "sndbuf", &show_socket_buffer(stack.sndbuf));
        out.text_unless(stack.rcvbuf == plain.rcvbuf, "rcvbuf", &show_socket_buffer(stack.rcvbuf));
        if let Some(rwnd) = stack.rwnd {
            out.text("rwnd", &format!("{}B", rwnd.0));
        }
        out.text_unless(
            stack.rcvlowat == plain.rcvlowat,
            "rcvlowat",
            &format!("{}B", stack.rcvlowat.0),
        );
        out.raw_unless(stack.hz == plain.hz, "hz", &stack.hz.to_string());
        let qdisc = name_of(&QDISCS, stack.sender_qdisc);
        out.text_unless(stack.sender_qdisc == plain.sender_qdisc, "sender_qdisc", qdisc);
        out.text_unless(stack.tso == plain.tso, "tso", name_of(&TSOS, stack.tso));
        out.raw_unless(stack.sack == plain.sack, "sack", &stack.sack.to_string());
        let recovery = name_of(&RECOVERIES, stack.recovery);
        out.text_unless(stack.recovery == plain.recovery, "recovery", recovery);
        match stack.delack {
            DelAck::Linux => {}
            DelAck::Quick => out.raw("delack", "{ every = 1 }"),
            DelAck::Every { every, timer } => {
                out.raw(
                    "delack",
                    &format!("{{ every = {every}, timer = \"{}\" }}", show_span(timer)),
                );
            }
        }
        out.text_unless(stack.min_rto == plain.min_rto, "min_rto", &show_span(stack.min_rto));
        let cwnd = stack.initial_cwnd.to_string();
        out.raw_unless(stack.initial_cwnd == plain.initial_cwnd, "initial_cwnd", &cwnd);
        let step = show_span(stack.clock_step);
        out.text_unless(stack.clock_step == plain.clock_step, "clock_step", &step);
    }
}

/// The name of a value in a list of choices.
pub(crate) fn name_of<T: Copy + PartialEq>(
    choices: &[(&'static str, T)],
    value: T,
) -> &'static str {
    choices
        .iter()
        .find(|(_, choice)| *choice == value)
        .map(|&(name, _)| name)
        .expect("each value has a name")
}

/// A segment's payload: a number of bytes that fits into an IP packet.
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

fn show_socket_buffer(buffer: SocketBuffer) -> String {
    match buffer {
        SocketBuffer::Auto => "auto".to_owned(),
        SocketBuffer::Fixed(bytes) => format!("{}B", bytes.0),
    }
}

fn read_delack(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<DelAck> {
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
        reader.missing(&keys, "timer", "the longest that an ACK waits, such as \"200ms\"");
    }
    keys.finish(reader);
    let every = u32::try_from(every?).expect("at most 1000");
    // With an ACK for every segment nothing waits, and the timer makes no difference.
    if every == 1 { Some(DelAck::Quick) } else { Some(DelAck::Every { every, timer: timer? }) }
}
