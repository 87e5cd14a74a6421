//! `[stack]`: the settings that all hosts share.

use std::sync::LazyLock;

use bbrlab_cc::Family;
use bbrlab_run::Profile;
use bbrlab_stack::{
    BufferBounds, DelAck, Handshake, LossCount, LossSwitches, PacingSwitches, PartialAck,
    RateSwitches, SocketBuffer, SocketSwitches, Stack,
};
use bbrlab_units::{Bytes, Span};

use crate::keys::family::FamilyParams;
use crate::keys::not_built;
use crate::language::acts::Acts;
use crate::language::canonical::{Writer, show_bytes, show_text, toml_string};
use crate::language::document::{Node, Table, Value};
use crate::language::key::{
    Form, Key, KeyInput, key, keys_of, name_of, names, needed, optional, read_keys, set,
    write_keys_unlike,
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

/// For a key that accepts `false`, `true` and one name: the setting for each of these three values.
type Switch<T> = (T, T, (&'static str, T));
const PARTIAL_ACKS: Switch<PartialAck> =
    (PartialAck::Nothing, PartialAck::Segment, ("head", PartialAck::Head));
const LOSS_COUNTS: Switch<LossCount> =
    (LossCount::New, LossCount::Change, ("marked", LossCount::Marked));

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

/// Creates the key of a family of algorithms. The key's value is a table of the algorithms'
/// parameters. `family` is a macro, because the reader of a key is a plain function and so cannot
/// store the family.
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

/// Returns the keys of a struct of settings that [`StackSpec`] contains.
macro_rules! keys_in {
    ($settings:ident, $($part:ident).+) => {
        keys_of(
            $settings::SETTINGS,
            |spec: &StackSpec| &spec.$($part).+,
            |spec| &mut spec.$($part).+,
            SPECIAL,
        )
    };
}

/// The keys of `[stack]` in the order of the canonical text. The order of existing keys must not
/// change, because the canonical text of a scenario is hashed.
pub(crate) static STACK_KEYS: LazyLock<Vec<Key<StackSpec>>> = LazyLock::new(|| {
    let mut of_hosts = keys_in!(Stack, stack);
    let first_time = of_hosts.iter().position(|key| key.name == "min_rto");
    let times = of_hosts.split_off(first_time.expect("a setting"));
    [
        FIRST_KEYS.to_vec(),
        of_hosts,
        keys_in!(SocketSwitches, stack.socket),
        times,
        keys_in!(LossSwitches, stack.loss),
        keys_in!(RateSwitches, stack.rate),
        keys_in!(PacingSwitches, stack.pacing),
        FAMILIES.to_vec(),
    ]
    .concat()
});

const FIRST_KEYS: &[Key<StackSpec>] = &[
    key(
        "profile",
        "0.1.0",
        Form::Choice(|| names(Profile::NAMED)),
        "the TCP that is imitated: the profile gives the values of all keys of `[stack]` and of links that the \
         scenario does not set (see [the `ns3` profile](ns3-profile.md))",
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
];

/// The keys of `[stack]` that need their own functions to read and write their values.
const SPECIAL: &[Key<StackSpec>] = &[
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
        "smallest, initial and largest size of `sndbuf = \"auto\"`; the default grows to 64 MiB, a stock kernel \
         (`\"4096 16384 4194304\"`) to 4 MiB",
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
        "hz",
        "0.1.0",
        Form::Whole(100, 1000),
        "timer ticks per second, a divisor of 1000",
        |spec: &mut StackSpec, given| set(&mut spec.stack.hz, given.value(read_hz)),
        |spec| Some(spec.stack.hz.to_string()),
    ),
    key(
        "delack",
        "0.1.0",
        Form::Any(&[
            Form::Choice(|| vec!["linux"]),
            Form::Table(&[needed("every", Form::Whole(1, 1000)), optional("timer", Form::Time)]),
        ]),
        "when the receiver sends an ACK: as in Linux, or with `{ every = 2, timer = \"200ms\" }` after two segments or \
         200 ms. The first segment, a duplicate, and a segment above or in a gap are acknowledged at once. \
         `{ every = 1 }` without `timer`, under the profile `linux`, is the route's `quickack 1`",
        |spec: &mut StackSpec, given| {
            let profile = spec.profile;
            let delack = given.value(|reader, node, name| read_delack(reader, node, name, profile));
            set(&mut spec.stack.delack, delack);
        },
        |spec| Some(show_delack(spec.stack.delack)),
    )
    .acts_on(Acts::Connections),
    key(
        "clock_step",
        "0.1.0",
        Form::Time,
        "step of the clocks of all hosts and links; at most `\"1ms\"`. An event that is due between two steps happens \
         at the later step or, if steps are shorter than 500 ns, often up to 500 ns after the later step. Steps \
         above 1 ns imitate a test bed with a coarse clock",
        |spec: &mut StackSpec, given| set(&mut spec.stack.clock_step, given.value(read_clock_step)),
        |spec| show_text(&show_span(spec.stack.clock_step)),
    ),
    key(
        "handshake",
        "0.1.0",
        Form::Any(&[Form::Choice(|| names(Handshake::NAMED)), Form::Bool]),
        "timeouts of SYN and SYN-ACK. `\"linux\"`: the first timeout is 1 s, and each later one is twice as long, \
         except that the first five timeouts of a SYN are all 1 s. `\"ns3\"` or `true`: the first timeout is 3 s, and \
         each later one is twice as long",
        |spec: &mut StackSpec, given| set(&mut spec.stack.socket.handshake, given.value(read_handshake)),
        |spec| show_text(name_of(Handshake::NAMED, spec.stack.socket.handshake)),
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
        "rate_loss_abs",
        "0.1.0",
        Form::Any(&[Form::Bool, Form::Choice(|| vec!["marked"])]),
        "the segments that a rate sample counts as lost. `false`: the segments that the ACK marked lost. `true`: the \
         absolute change of the number of segments marked lost, so a lost segment counts again when its retransmission \
         arrives (ns-3). `\"marked\"`: all segments that are marked lost when the ACK arrives (the port of BBR to ns-3 \
         from 2018)",
        |spec: &mut StackSpec, given| {
            let value =
                given.value(|reader, node, name| read_switch(reader, node, name, LOSS_COUNTS));
            set(&mut spec.stack.rate.loss, value);
        },
        |spec| show_switch(LOSS_COUNTS, spec.stack.rate.loss),
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
];

const FAMILIES: &[Key<StackSpec>] = &[
    family!(
        "bbr",
        Bbr,
        "parameters of `bbr1` and its variants for flows that do not set them in `cc_params`: see [the `ns3` profile](ns3-profile.md)"
    ),
    family!(
        "bbr2",
        Bbr2,
        "parameters of `bbr2` and `bbr2_exp` for flows that do not set them in `cc_params`"
    ),
    family!("bbr3", Bbr3, "parameters of `bbr3` for flows that do not set them in `cc_params`"),
    family!(
        "cubic",
        Cubic,
        "parameters of `cubic` for flows that do not set them in `cc_params`: `beta`, `fast_convergence`, `friendly` \
         (in `cc_params`: `tcp_friendliness`), `growth`, `hystart`, `wmax_on_rto`"
    ),
    family!(
        "vegas",
        Vegas,
        "parameters of `vegas` for flows that do not set them in `cc_params`: `diff`, `growth`"
    ),
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
        read_keys(&*STACK_KEYS, &mut spec, reader, &mut keys);
        not_built::refuse_keys(reader, &mut keys, not_built::STACK_KEYS);
        keys.finish(reader);
        spec
    }

    pub(crate) fn write(&self, of_profile: Option<&Self>, out: &mut Writer) {
        out.table("[stack]");
        write_keys_unlike(&STACK_KEYS, self, of_profile, out);
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
        _ => reader.choice(node, name, Handshake::NAMED, ""),
    }
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

/// The timer value that the profiles of ns-3 use if `delack = { every = 1 }` gives no `timer`. The
/// timer has no effect, because no ACK is delayed.
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
