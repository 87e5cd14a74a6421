//! The description of a run that the driver reads (`adapters/ns3/backend/plan.h`).

use std::fmt::Write as _;

use bbrlab_link::{Buffer, Link, Queue, Rate};
use bbrlab_run::{FlowClass, Run, Sample, Source};
use bbrlab_stack::{DelAck, EcnMode, Recovery, SocketBuffer, Stack};
use bbrlab_units::Time;

use super::controls;
use super::network::{Network, Wire};
use crate::paces::paces;

/// Returns the text of the file `plan`, which describes a run for the driver.
pub(super) fn plan(run: &Run, network: &Network) -> String {
    let mut text = String::new();
    let mut line = |args: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = text.write_fmt(args);
        text.push('\n');
    };
    // ns-3's random number generator (MRG32k3a) ends the program if the seed is 0, or is not below
    // both of its moduli, of which 4,294,944,443 is the smaller one.
    line(format_args!("seed {}", run.seed % (4_294_944_443 - 1) + 1));
    line(format_args!("duration {}", run.duration.0));
    let sample = match run.sample {
        Sample::Every(period) => period.0,
        _ => 0,
    };
    line(format_args!("sample {sample}"));
    line(format_args!("nodes {}", network.nodes));
    if run.stack.recovery == Recovery::Classic {
        line(format_args!("attribute ns3::TcpL4Protocol::RecoveryType ns3::TcpClassicRecovery"));
    }
    for class in &run.classes {
        for (name, value) in controls::attributes(class) {
            line(format_args!("attribute {name} {value}"));
        }
    }
    for (number, wire) in network.wires.iter().enumerate() {
        of_wire(number, wire, &mut line);
    }
    for (id, flow) in run.flows.iter().enumerate() {
        let class = &run.classes[flow.class as usize];
        let (kind, a, b) = match &class.source {
            Source::Bytes(bytes) => ("bytes", bytes.0, 0),
            Source::Write { bytes, every } => ("write", bytes.0, every.0),
            Source::Frames(frames) => ("write", frames.bytes.0, frames.every.0),
            Source::Cbr(_) | Source::Rates(_) | Source::OnOff { .. } => ("pace", 0, 0),
            _ => ("bulk", 0, 0),
        };
        let ends = &network.ends[id];
        let stop = flow.stop.map_or(-1, |stop| i128::from(stop.0));
        let write = match kind {
            "bulk" | "bytes" => run.stack.pacing.app_write.map_or(class.mss.into(), |it| it.0),
            _ => class.mss.into(),
        };
        line(format_args!(
            "flow {} {} {} {stop} {} {kind} {a} {b} {} {write}{}",
            ends.sender,
            ends.receiver,
            flow.start.0,
            controls::type_of(class),
            class.mss,
            settings(&run.stack, class)
        ));
        let end = flow.stop.unwrap_or(Time(run.duration.0));
        for (at, rate) in paces(&class.source, flow.start, end) {
            let rate = rate.map_or("max".to_owned(), |rate| rate.0.to_string());
            line(format_args!("pace {id} {} {rate}", at.0));
        }
        for (direction, wires) in ends.wires.iter().enumerate() {
            let wires: Vec<String> = wires.iter().map(usize::to_string).collect();
            line(format_args!("path {id} {direction} {}", wires.join(" ")));
        }
    }
    text
}

fn of_wire(number: usize, wire: &Wire, line: &mut impl FnMut(std::fmt::Arguments<'_>)) {
    let Wire { from, to, delay, loss, link } = wire;
    let bps = link.as_ref().map_or(0, |link| first_rate(&link.rate));
    let (limit, unit) = match link.as_ref().map_or(Buffer::Unlimited, |link| link.buffer) {
        Buffer::Packets(packets) => (packets.0, 'p'),
        Buffer::Bytes(bytes) => (bytes.0, 'b'),
        Buffer::Unlimited => (0, 'p'),
    };
    line(format_args!("wire {from} {to} {bps} {} {limit} {unit} {loss}", delay.0));
    let Some(link) = link else { return };
    if let Some(disc) = discipline(link) {
        line(format_args!("disc {number} {disc}"));
    }
    if let Rate::Schedule(steps) = &link.rate {
        for (at, rate) in steps.iter().skip(1) {
            line(format_args!("rate {number} {} {}", at.0, rate.0));
        }
    }
}

/// Returns the rate of a link at the start of the run in bit/s; 0 if the rate has no limit or
/// follows a trace.
fn first_rate(rate: &Rate) -> u64 {
    match rate {
        Rate::Constant(rate) => rate.0,
        Rate::Schedule(steps) => steps.first().map_or(0, |(_, rate)| rate.0),
        Rate::Unlimited | Rate::Trace(_) => 0,
    }
}

/// Returns a link's queue discipline with its attributes, as ns-3 names them; `None` if the link
/// has only the queue of the device.
pub(super) fn discipline(link: &Link) -> Option<String> {
    let limit = match link.buffer {
        Buffer::Packets(packets) => format!("MaxSize={}p", packets.0),
        Buffer::Bytes(bytes) => format!("MaxSize={}B", bytes.0),
        Buffer::Unlimited => "MaxSize=4294967295p".to_owned(),
    };
    match &link.queue {
        Queue::Codel(codel) => Some(format!(
            "ns3::CoDelQueueDisc {limit} Target={}ns Interval={}ns UseEcn={}",
            codel.target.0, codel.interval.0, codel.ecn
        )),
        _ => None,
    }
}

/// Returns the attributes of ns-3 that the driver sets for the sockets of a class, with their
/// values.
fn settings(stack: &Stack, class: &FlowClass) -> String {
    if class.is_udp {
        return String::new();
    }
    let mut text = String::new();
    let mut set = |name: &str, value: &dyn std::fmt::Display| {
        // Writing to a string cannot fail.
        let _ = write!(text, " ns3::{name}={value}");
    };
    let size = |buffer: SocketBuffer| match buffer {
        SocketBuffer::Fixed(bytes) => bytes.0,
        SocketBuffer::Auto => 131_072,
    };
    set("TcpSocket::SegmentSize", &class.mss);
    set("TcpSocket::SndBufSize", &size(stack.sndbuf));
    set("TcpSocket::RcvBufSize", &size(stack.rcvbuf));
    set("TcpSocket::InitialCwnd", &stack.initial_cwnd);
    set("TcpSocket::TcpNoDelay", &!stack.socket.nagle);
    if let DelAck::Every { every, timer } = stack.delack {
        set("TcpSocket::DelAckCount", &every);
        set("TcpSocket::DelAckTimeout", &format_args!("{}ns", timer.0));
    }
    set("TcpSocketBase::MinRto", &format_args!("{}ns", stack.min_rto.0));
    set("TcpSocketBase::Sack", &stack.sack);
    set("TcpSocketBase::UseEcn", &if class.settings.ecn == EcnMode::Off { "Off" } else { "On" });
    set("TcpSocketState::EnablePacing", &class.settings.max_pacing_rate.is_some());
    let rate = class.settings.max_pacing_rate.map_or(4_000_000_000, |rate| rate.0);
    set("TcpSocketState::MaxPacingRate", &format_args!("{rate}bps"));
    set("TcpSocketState::PaceInitialWindow", &stack.pacing.pace_initial_window);
    text
}
