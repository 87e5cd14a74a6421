//! Converts a scenario's `[stack]` and `[[flows]]` to the settings of sender and receiver.

use std::sync::Arc;

use bbrlab_cc::{Algorithm, Cc, CongestionControl as _, Controls, Maker, Marks, Params, Place};
use bbrlab_link::{Link, Probability};
use bbrlab_net::FlowId;
use bbrlab_run::{FlowClass, Outside, Reading, Run, Source, is_ns3_attribute};
use bbrlab_stack::{EcnMode, RateSwitches, Stack, TcpOptions};
use bbrlab_tcp::receiver::{EcnEcho, ReceiverConfig};
use bbrlab_tcp::{Sender, SenderConfig, Tick};
use bbrlab_units::{Ecn, Span, Time};

use crate::wire;

/// The settings that the flows of a class (of one `[[flows]]` table) share.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the flags are independent properties of the class"
)]
pub(crate) struct ClassSetup {
    pub(crate) cc: Algorithm,
    pub(crate) cc_params: Params,
    /// The maker of the flows' custom congestion control; `None` if the flows use `cc`, which is
    /// built in or imitates a congestion control of ns-3.
    pub(crate) maker: Option<Arc<dyn Maker>>,
    pub(crate) sender: Arc<SenderConfig>,
    pub(crate) receiver: Arc<ReceiverConfig>,
    pub(crate) source: Source,
    pub(crate) reading: Option<Reading>,
    pub(crate) is_udp: bool,
    pub(crate) tcp_options: TcpOptions,
    /// Link-layer bytes that framing adds to each packet: first on the forward route, then on the
    /// reverse route.
    pub(crate) framing: [u32; 2],
    /// Whether packets can queue on the forward path.
    pub(crate) has_rated_link: bool,
    /// Whether the delay of each message is measured.
    pub(crate) measures_messages: bool,
    /// Whether the flow sends datagrams and a link of its path duplicates packets.
    pub(crate) may_get_copies: bool,
    /// Whether the queueing delay of each data packet is measured.
    pub(crate) measures_waits: bool,
    /// The delay above which a message is late; `None` if messages are never late.
    pub(crate) late_after: Option<Span>,
}

impl ClassSetup {
    /// Creates the sender of a new connection of `flow`.
    pub(crate) fn sender(&self, flow: FlowId) -> Sender {
        let cc = match &self.maker {
            Some(maker) => {
                let place = Place { flow: flow.0, epoch_ns: wire::host_time(Time::ZERO).0 };
                Cc::Plugged(maker.make(&self.cc_params, place))
            }
            None => self.cc.build(&self.cc_params).expect("the scenario's parameters were checked"),
        };
        Sender::new(Arc::clone(&self.sender), cc)
    }

    /// Whether both ends of a connection write. If both ends write, each end has a socket with a
    /// sending and a receiving half.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.source, Source::Requests(_))
    }
}

/// Returns the settings of a class of flows.
///
/// # Errors
/// Fails if a custom congestion control is not among `controls`, or if the simulator cannot imitate
/// a congestion control of ns-3 with its parameters. Also fails if a built-in congestion control
/// rejects its parameters; this cannot happen if the scenario was checked.
pub(crate) fn class(
    run: &Run,
    class: &FlowClass,
    controls: &Controls,
) -> Result<ClassSetup, String> {
    if let Some(outside) = class.outside.as_ref().filter(|it| it.ns3_type().is_some()) {
        refuse_without_imitation(outside, class)?;
    }
    let maker =
        class.outside.as_ref().filter(|outside| outside.imitation().is_none()).map(|outside| {
            controls.get(&outside.name).map(Arc::clone).ok_or_else(|| outside.absent())
        });
    let maker = maker.transpose()?;
    let hooks = match &maker {
        Some(maker) => maker.hooks(),
        None => class.cc.build(&class.cc_params).map_err(|error| error.to_string())?.hooks(),
    };
    let stack = &run.stack;
    let tick = Tick::new(stack.hz, 0, Span::ZERO);
    Ok(ClassSetup {
        cc: class.cc,
        cc_params: class.cc_params.clone(),
        maker,
        sender: sender(stack, class, tick).into(),
        receiver: receiver(stack, class, tick, echo(class, hooks.needs_ecn)).into(),
        source: class.source.clone(),
        reading: class.settings.reading.clone(),
        is_udp: class.is_udp,
        has_rated_link: run.links_on(class, &class.forward).any(|link| link.rate.is_limited()),
        measures_messages: class.measures_messages(),
        may_get_copies: may_get_copies(run, class),
        measures_waits: class.settings.latency,
        late_after: class.settings.late,
        tcp_options: stack.socket.tcp_options,
        framing: [&class.forward, &class.reverse].map(|route| run.framing(class, route)),
    })
}

/// Checks flows whose `cc` names a congestion control of ns-3. Returns an error if no algorithm of
/// the simulator imitates it, or if `cc_params` sets an attribute of ns-3. Imitations have no such
/// attributes.
fn refuse_without_imitation(outside: &Outside, class: &FlowClass) -> Result<(), String> {
    if outside.imitation().is_none() {
        return Err(outside.absent());
    }
    match class.cc_params.iter().find(|(name, _)| is_ns3_attribute(name)) {
        None => Ok(()),
        Some((name, _)) => Err(format!(
            "`cc_params.{name}`: an attribute of ns-3, which the simulator's imitation of `{}` lacks; --on ns3 has it",
            outside.name
        )),
    }
}

/// Whether flows of a class send datagrams over a link that duplicates packets.
fn may_get_copies(run: &Run, class: &FlowClass) -> bool {
    let is_copied = |link: &Link| link.duplicate != Probability::ZERO;
    class.is_udp && run.links_on(class, &class.forward).any(is_copied)
}

fn sender(stack: &Stack, class: &FlowClass, tick: Tick) -> SenderConfig {
    let rate = RateSwitches { is_blind: !class.settings.rate_samples, ..stack.rate };
    SenderConfig {
        stack: Stack { rate, ..*stack },
        mss: class.mss,
        tick,
        ecn: class.settings.ecn,
        nodelay: !stack.socket.nagle,
        device: class.settings.device,
        max_pacing_rate: class.settings.max_pacing_rate.map_or(u64::MAX, |rate| rate.0 / 8),
        ..SenderConfig::default()
    }
}

/// Returns how the receiving host echoes CE marks. The receiving host uses the sender's congestion
/// control, and echoes each mark individually if this congestion control needs individual echoes.
/// In Linux, DCTCP, BBRv2 with `ecn_enable` and BBRv3 on low-latency routes need them.
fn echo(class: &FlowClass, needs_ecn: bool) -> EcnEcho {
    let needs_route = class.outside.is_none() && class.cc.marks() == Marks::ShareOnRoute;
    let is_on_route = !needs_route || class.settings.ecn.is_low_latency();
    if class.settings.ecn == EcnMode::Off {
        EcnEcho::Off
    } else if is_on_route && class.answers_share_of_marks() {
        EcnEcho::Dctcp { on_acks: if needs_ecn { class.settings.ecn.ect() } else { Ecn::NotEct } }
    } else {
        EcnEcho::Classic
    }
}

fn receiver(stack: &Stack, class: &FlowClass, tick: Tick, ecn: EcnEcho) -> ReceiverConfig {
    ReceiverConfig { stack: *stack, mss: class.mss, ecn, tick, ..ReceiverConfig::default() }
}
