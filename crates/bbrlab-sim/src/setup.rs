//! From a scenario's `[stack]` and `[[flows]]` to the settings of sender and receiver.

use bbrlab_cc::{Algorithm, CongestionControl as _, PacingStatus, ParamValue};
use bbrlab_run as spec;
use bbrlab_run::{FlowClass, Run, SenderQdisc, SocketBuffer, Stack};
use bbrlab_tcp::receiver::{DelAck, EcnEcho, Rcvbuf, ReceiverConfig};
use bbrlab_tcp::sender::{EcnMode, Recovery, SendBuffer, Tso};
use bbrlab_tcp::{SenderConfig, Tick};
use bbrlab_units::Span;

use crate::flow::ClassSetup;
use crate::wiring;

/// The settings of a class of flows.
///
/// # Errors
/// If the congestion control refuses its parameters; a checked scenario does not get here.
pub(crate) fn class(run: &Run, class: &FlowClass) -> Result<ClassSetup, String> {
    let cc = class.cc.build(&class.cc_params).map_err(|error| error.to_string())?;
    let hooks = cc.hooks();
    let stack = &run.stack;
    let tick = Tick::new(stack.hz, 0, Span::ZERO);
    let ecn = match class.ecn {
        spec::Ecn::Off => EcnMode::Off,
        spec::Ecn::On => EcnMode::On,
        spec::Ecn::Low => EcnMode::Low,
    };
    Ok(ClassSetup {
        cc: class.cc,
        cc_params: class.cc_params.clone(),
        sender: sender(stack, class, tick, ecn),
        receiver: receiver(stack, class, tick, echo(class, ecn, hooks.needs_ecn)),
        source: class.source,
        framing: [&class.forward, &class.reverse].map(|route| wiring::framing(run, class, route)),
    })
}

fn sender(stack: &Stack, class: &FlowClass, tick: Tick, ecn: EcnMode) -> SenderConfig {
    let default = SenderConfig::default();
    SenderConfig {
        mss: class.mss,
        initial_cwnd: stack.initial_cwnd,
        tick,
        clock_step_ns: stack.clock_step.0,
        sndbuf: match stack.sndbuf {
            SocketBuffer::Auto => default.sndbuf,
            SocketBuffer::Fixed(bytes) => SendBuffer::Fixed(doubled(bytes.0)),
        },
        tso: match stack.tso {
            spec::Tso::Cut => Tso::Cut,
            spec::Tso::Whole => Tso::Whole,
            spec::Tso::Off => Tso::Off,
        },
        sack: stack.sack,
        ecn,
        recovery: match stack.recovery {
            spec::Recovery::Linux => Recovery::Linux,
            spec::Recovery::Classic => Recovery::Classic,
            spec::Recovery::Prr => Recovery::Prr,
        },
        min_rto: stack.min_rto,
        pacing: match stack.sender_qdisc {
            SenderQdisc::None => PacingStatus::None,
            SenderQdisc::Fq => PacingStatus::Fq,
        },
        ..default
    }
}

/// How the receiving host echoes marks: one by one where its congestion control does so, which is the
/// sender's. Linux: DCTCP; BBRv2 with `ecn_enable`; BBRv3 on low-latency routes.
fn echo(class: &FlowClass, ecn: EcnMode, needs_ecn: bool) -> EcnEcho {
    let is_enabled = class.cc_params.iter().any(|(name, value)| {
        name == "ecn_enable" && matches!(value, ParamValue::Bool(true) | ParamValue::Int(1..))
    });
    match ecn {
        EcnMode::Off => EcnEcho::Off,
        EcnMode::Low if class.cc == Algorithm::Bbr3 => EcnEcho::Dctcp { ect_on_acks: needs_ecn },
        EcnMode::On | EcnMode::Low if needs_ecn || is_enabled => {
            EcnEcho::Dctcp { ect_on_acks: needs_ecn }
        }
        EcnMode::On | EcnMode::Low => EcnEcho::Classic,
    }
}

fn receiver(stack: &Stack, class: &FlowClass, tick: Tick, ecn: EcnEcho) -> ReceiverConfig {
    let default = ReceiverConfig::default();
    ReceiverConfig {
        mss: class.mss,
        rcvbuf: match stack.rcvbuf {
            SocketBuffer::Auto => default.rcvbuf,
            SocketBuffer::Fixed(bytes) => Rcvbuf::Fixed(doubled(bytes.0)),
        },
        rwnd: stack.rwnd.map(|bytes| u32::try_from(bytes.0).unwrap_or(u32::MAX)),
        rcvlowat: u32::try_from(stack.rcvlowat.0).unwrap_or(u32::MAX),
        sack: stack.sack,
        quickack: stack.delack == spec::DelAck::Every { every: 1, timer: None },
        delack: match stack.delack {
            spec::DelAck::Linux | spec::DelAck::Every { every: 1, .. } => DelAck::Linux,
            spec::DelAck::Every { every, timer } => DelAck::Every {
                every,
                timer: timer.expect("the scenario demands a timer above one segment"),
            },
        },
        ecn,
        tick,
        ..default
    }
}

/// The kernel doubles what an application asks for. Linux: `SO_SNDBUF`, `SO_RCVBUF`.
fn doubled(bytes: u64) -> u32 {
    u32::try_from(bytes.saturating_mul(2)).unwrap_or(u32::MAX >> 1)
}
