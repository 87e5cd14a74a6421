//! How much one flow can send: what its source, its windows, its path and random loss let through.

#![expect(clippy::cast_precision_loss, reason = "an estimate; no figure of a run depends on it")]

use bbrlab_cc::{Algorithm, Window};
use bbrlab_link::{Link, Loss, Probability, Queue, Rate};
use bbrlab_run::{Arrivals, Bursts, FlowClass, Hop, Law, Pause, Requests, Source};
use bbrlab_scenario::Outline;
use bbrlab_stack::{Sockbuf, SocketBuffer, Stack};
use bbrlab_units::{BitRate, NS_PER_S, Span};

/// Bytes of a data packet around its payload: Ethernet, IP, TCP and timestamps.
pub(crate) const AROUND_PAYLOAD: f64 = 14.0 + 20.0 + 20.0 + 12.0;

/// Payload bytes that a socket buffer holds for each byte of its memory. Linux:
/// `tcp_rcv_established` measures the ratio of payload to truesize, 1448 / 2304 for full segments.
const PAYLOAD_OF_MEMORY: f64 = 0.628;

/// The memory of a buffer that grows as in Linux. Linux: the third value of `tcp_rmem` and
/// `tcp_wmem` on a host of some gigabytes.
const AUTO_BYTES: f64 = 64.0 * 1024.0 * 1024.0;

/// The mean window of Reno under random loss is at most this over the root of the loss ratio. The
/// mean of a deterministic sawtooth is 1.22 (Mathis et al. 1997); measured means are up to 1.3
/// times larger, because losses come in clusters.
const WINDOW_UNDER_LOSS: f64 = 1.22 * 1.5;

/// What one flow of a class can send while it is alone on its path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demand {
    /// Data packets per second, at most; infinite if only links limit it.
    pub(crate) rate: f64,
    /// Data packets in all, at most; infinite if the source never ends.
    pub(crate) packets: f64,
    /// Seconds that a source with an end takes, pauses of a train included.
    pub(crate) alone_s: f64,
    /// Packets of a connection, of an answer where clients ask; infinite if the source never ends.
    pub(crate) each: f64,
    /// Packets that leave before the first random loss, in addition to those at `rate`.
    pub(crate) before_loss: f64,
    /// Packets that are still to be sent when the application stops: what is in the network and in
    /// the send buffer. None if the source is slower than its path, because what it has written has
    /// left.
    pub(crate) after_stop: f64,
    /// Whether the flow sends as much as it can: otherwise `rate` and its links are no more than
    /// bounds.
    pub(crate) is_sure: bool,
    /// Whether the flow takes whatever its links leave, as long as it is active.
    pub(crate) is_greedy: bool,
    /// Whether no window of a connection bounds it: it stands for flows that come and go, or sends
    /// datagrams.
    is_many: bool,
    /// How fast it becomes.
    ramp: Ramp,
}

/// A slow start: the window doubles with each round trip, up to a bound.
#[derive(Clone, Copy, Debug)]
struct Ramp {
    rtt_s: f64,
    initial: f64,
    /// Packets.
    window: f64,
    /// Packets per second of the narrowest link.
    link: f64,
}

impl Demand {
    /// The demand of a flow that is active for `active_s` in the mean, beside as many others.
    pub(crate) fn of(class: &FlowClass, outline: &Outline, active_s: f64, flows: f64) -> Self {
        let mss = f64::from(class.mss);
        let wire = mss + AROUND_PAYLOAD;
        let rtt_s = seconds(least_rtt(class, outline));
        let links = || outline.links_of(class);
        let narrowest = links()
            .filter_map(|link| Some((link, highest(&link.rate)? / 8.0 / wire)))
            .min_by(|one, other| one.1.total_cmp(&other.1));
        let window = (window_bytes(&outline.stack) / mss).max(1.0);
        let ramp = Ramp {
            rtt_s,
            initial: f64::from(outline.stack.initial_cwnd),
            window,
            link: narrowest.map_or(f64::INFINITY, |(_, rate)| rate),
        };
        let window_rate = if rtt_s > 0.0 { window / rtt_s } else { f64::INFINITY };
        let loss = links().map(mean_loss).fold(0.0, |sum, loss| sum + loss * (1.0 - sum));
        let mut demand = Self {
            rate: window_rate,
            packets: f64::INFINITY,
            alone_s: f64::INFINITY,
            each: f64::INFINITY,
            before_loss: 0.0,
            after_stop: 0.0,
            is_sure: true,
            is_greedy: false,
            is_many: class.source.arrivals().is_some(),
            ramp,
        };
        demand.read_source(&class.source, mss);
        if class.is_udp {
            return demand.of_datagrams(&class.source, mss);
        }
        if loss > 0.0 && rtt_s > 0.0 && follows_reno(class.cc) {
            // A burst of losses halves the window once.
            let bursts = links().map(loss_bursts).sum::<f64>().max(1e-12);
            // CUBIC's mean window: RFC 9438, section 5.1.
            let cubic = 1.054 * (rtt_s / bursts).powf(0.75);
            let mean = (WINDOW_UNDER_LOSS / bursts.sqrt()).max(cubic);
            demand.rate = demand.rate.min(mean / rtt_s);
            // Slow start: its last round is as long as all before it, and another one follows until
            // the loss is noticed. From there each loss takes three tenths of the window, until it
            // is the mean one.
            let highest = (2.0 * ramp.link * rtt_s).min(1.0 / bursts).max(mean);
            let falls = (highest / mean).ln() / (1.0_f64 / 0.7).ln();
            demand.before_loss = (3.0 + falls) / bursts;
        }
        let own_rate = if demand.alone_s.is_finite() { 0.0 } else { demand.rate };
        let share = ramp.link / flows.max(1.0);
        // Its link is the limit only if neither its source nor its window is.
        demand.is_greedy = own_rate > share
            && !matches!(
                class.source,
                Source::OnOff { .. }
                    | Source::Bursts(_)
                    | Source::Requests(_)
                    | Source::Arrivals(_)
            );
        let has_no_rate =
            matches!(class.source, Source::Unlimited | Source::OnOff { rate: None, .. });
        if has_no_rate || demand.is_greedy {
            demand.after_stop = (4.0 * ramp.full_rate() * rtt_s).min(window);
        }
        demand.is_sure &= has_acks(class, outline, ramp.full_rate());
        demand.is_sure &= !waits_for_slots(class, outline) && !changes(class, outline);
        let reorders = links().any(|link| {
            link.reorder.is_some() || link.jitter.is_some_and(|jitter| !jitter.keep_order)
        });
        demand.is_sure &= !reorders && loss <= loss_that_is_borne(class.cc);
        if demand.is_greedy
            && let Some((link, rate)) = narrowest
        {
            let repairs = outline.stack.sack || loss_that_is_borne(class.cc) > 0.0;
            demand.is_sure &= repairs
                && fills(class.cc, link, rate, wire, rtt_s, active_s, flows)
                && ramp.seconds_to(rate * rtt_s) < active_s / 2.0;
        }
        if demand.packets.is_finite() && loss > 0.0 {
            // What is lost is sent again.
            demand.packets /= 1.0 - loss.min(0.5);
        }
        demand
    }

    /// Datagrams leave at their rate, whatever becomes of them.
    fn of_datagrams(mut self, source: &Source, mss: f64) -> Self {
        let own = |rate: BitRate| rate.0 as f64 / 8.0 / mss;
        self.rate = match *source {
            Source::Cbr(rate) => own(rate),
            Source::OnOff { on, off, rate: Some(rate) } => {
                own(rate) * seconds(on) / seconds(on + off)
            }
            Source::Bursts(Bursts { ref on, ref off, rate: Some(rate) }) => {
                2.0 * own(rate) * on.mean as f64 / (on.mean + off.mean) as f64
            }
            _ => self.rate,
        };
        self.is_many = true;
        self
    }

    fn read_source(&mut self, source: &Source, mss: f64) {
        let packets_of = |bytes: f64| (bytes / mss).ceil();
        match *source {
            Source::Unlimited => {}
            Source::Bytes(bytes) => {
                self.packets = packets_of(bytes.0 as f64);
                self.each = self.packets;
                self.alone_s = self.ramp.seconds_for(self.packets);
                self.rate = self.rate.min(self.packets / self.alone_s.max(1e-9));
            }
            Source::Cbr(rate) => self.rate = self.rate.min(rate.0 as f64 / 8.0 / mss),
            Source::OnOff { on, off, rate: Some(rate) } => {
                let own = rate.0 as f64 / 8.0 / mss;
                self.rate = self.rate.min(own * seconds(on) / seconds(on + off));
            }
            Source::OnOff { on, off, rate: None } => {
                // What the send buffer holds at the end of a period leaves after it.
                let full = self.ramp.full_rate();
                let buffered = 4.0 * (full * self.ramp.rtt_s).max(self.ramp.initial);
                let each = full * seconds(on) + buffered;
                self.rate = self.rate.min(each / seconds(on + off));
                self.is_sure = false;
            }
            Source::Write { bytes, every } => {
                // Nagle: at most one segment that is not full is on the way.
                let per_write = bytes.0 as f64 / mss;
                let full = per_write.floor() / seconds(every);
                let cut = (per_write / seconds(every) - full + 1.0 / self.ramp.rtt_s.max(1e-9))
                    .min(1.0 / seconds(every));
                self.rate = self.rate.min(full + if per_write.fract() > 0.0 { cut } else { 0.0 });
            }
            Source::Bursts(Bursts { ref on, ref off, rate }) => {
                let (on_s, off_s) = (seconds(Span(on.mean)), seconds(Span(off.mean)));
                let most = match rate {
                    Some(rate) => rate.0 as f64 / 8.0 / mss * on_s,
                    None => self.ramp.full_rate() * (on_s + 4.0 * self.ramp.rtt_s),
                };
                // The law may send more than in the mean.
                self.rate = self.rate.min(2.0 * most / (on_s + off_s));
                self.is_sure = false;
            }
            Source::Requests(ref requests) => self.read_requests(requests, packets_of),
            Source::Arrivals(Arrivals { ref gap, ref size, at_most }) => {
                // However fast one of them is, all of them together send what comes, unless it is
                // turned away.
                self.each = packets_of(size.mean as f64);
                let alone_s = self.ramp.seconds_for(self.each);
                let come = 1.0 / seconds(Span(gap.mean));
                self.rate = self.each * come.min(f64::from(at_most) / alone_s.max(1e-9));
                let is_tame = |law: &Law| matches!(law, Law::Constant | Law::Exponential);
                self.is_sure = is_tame(&size.law) && is_tame(&gap.law);
            }
            Source::Train { bytes, count, gap } => {
                let each = packets_of(bytes.0 as f64);
                let each_s = self.ramp.seconds_for(each) + seconds(gap);
                self.each = each;
                self.packets = each * f64::from(count);
                self.alone_s = each_s * f64::from(count);
                self.rate = self.rate.min(each / each_s.max(1e-9));
            }
        }
    }

    /// On a connection that is warm an answer takes a round trip and its time on the link.
    fn read_requests(&mut self, requests: &Requests, packets_of: impl Fn(f64) -> f64) {
        let each = packets_of(requests.size.mean as f64);
        self.each = each;
        let full = self.ramp.full_rate();
        // The last packet of an answer may be short.
        let fastest_s = self.ramp.rtt_s + (each - 1.0) / full;
        match requests.pause {
            Pause::Player { piece, buffer } => {
                // Beyond what plays, what fills the player.
                self.rate = self.rate.min(each / seconds(piece));
                self.before_loss += each * seconds(buffer) / seconds(piece);
                self.is_sure = false;
            }
            Pause::None => self.rate = self.rate.min(each / fastest_s),
            Pause::Think(ref think) => {
                // Laws may draw shorter pauses and larger answers than in the mean.
                let is_constant = [&requests.size.law, &think.law].map(|law| *law == Law::Constant);
                let most = if is_constant == [true, true] { 1.0 } else { 2.0 };
                self.rate = self.rate.min(most * each / (fastest_s + seconds(Span(think.mean))));
                self.is_sure = false;
            }
        }
        self.is_sure &=
            matches!(requests.size.law, Law::Constant) && each > 10.0 * full * self.ramp.rtt_s;
        if let Some(count) = requests.count {
            self.packets = each * f64::from(count);
            self.alone_s = self.packets / self.rate.max(1e-9);
        }
    }

    /// Seconds that a connection takes on an idle path.
    pub(crate) fn seconds_alone(&self) -> f64 {
        self.ramp.seconds_for(self.each)
    }

    /// Packets that the flow can send within this time from its connect on.
    pub(crate) fn packets_within(&self, active_s: f64) -> f64 {
        let at_its_rate = self.rate * active_s + self.before_loss;
        let at_most = self.packets.min(at_its_rate);
        if self.alone_s.is_finite() || self.is_many {
            at_most
        } else {
            at_most.min(self.ramp.packets_in(active_s))
        }
    }
}

impl Ramp {
    /// Rounds of slow start: when each begins, in seconds, and its window.
    fn rounds(self) -> impl Iterator<Item = (f64, f64)> {
        let most = self.window.min(self.link * self.rtt_s).max(1.0);
        // The connect takes a round trip.
        (1..40).map(move |round: i32| {
            let window = self.initial * f64::from(round - 1).exp2();
            (f64::from(round) * self.rtt_s, window.min(most))
        })
    }

    /// Packets per second when the ramp is over.
    fn full_rate(self) -> f64 {
        let by_window = if self.rtt_s > 0.0 { self.window / self.rtt_s } else { f64::INFINITY };
        by_window.min(self.link)
    }

    fn packets_in(self, active_s: f64) -> f64 {
        let mut sent = 0.0;
        for (begins_s, window) in self.rounds() {
            if begins_s >= active_s {
                return sent;
            }
            if window >= self.full_rate() * self.rtt_s {
                return sent + (active_s - begins_s) * self.full_rate();
            }
            sent += window;
        }
        f64::INFINITY
    }

    fn seconds_for(self, packets: f64) -> f64 {
        let mut left = packets;
        for (begins_s, window) in self.rounds() {
            if window >= self.full_rate() * self.rtt_s {
                return begins_s + self.rtt_s + left / self.full_rate();
            }
            left -= window;
            if left <= 0.0 {
                return begins_s + self.rtt_s + (left + window) / self.link;
            }
        }
        0.0
    }

    /// Seconds until the window reaches this many packets.
    fn seconds_to(self, packets: f64) -> f64 {
        let packets = packets.min(self.window);
        self.rounds().find(|&(_, window)| window >= packets).map_or(0.0, |(at, _)| at)
    }
}

/// Bits per second of a rate, at its highest.
pub(crate) fn highest(rate: &Rate) -> Option<f64> {
    match rate {
        Rate::Schedule(steps) => steps.iter().map(|(_, rate)| rate.0 as f64).reduce(f64::max),
        _ => rate.at_start().map(|rate| rate.0 as f64),
    }
}

/// Bytes that may be unacknowledged, as far as windows and buffers go.
fn window_bytes(stack: &Stack) -> f64 {
    let sockbuf = stack.socket.sockbuf;
    let memory = |buffer: SocketBuffer| buffer.fixed_size(sockbuf).map_or(AUTO_BYTES, f64::from);
    let payload_share = if sockbuf == Sockbuf::Payload { 1.0 } else { PAYLOAD_OF_MEMORY };
    let receiver = memory(stack.rcvbuf) * payload_share;
    // The sender's buffer holds large segments, whose overhead is small.
    let sender = memory(stack.sndbuf);
    stack.rwnd.map_or(f64::INFINITY, |rwnd| rwnd.0 as f64).min(receiver).min(sender)
}

/// The share of the packets that a link loses at random.
fn mean_loss(link: &Link) -> f64 {
    let ratio = |probability: Probability| probability.0 as f64 / Probability::ONE.0 as f64;
    match &link.loss {
        None => 0.0,
        Some(Loss::Bernoulli(loss)) => ratio(*loss),
        // Between losses a flow sends as without any.
        Some(Loss::Steps(steps)) => steps.iter().map(|step| ratio(step.1)).fold(1.0, f64::min),
        &Some(Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad }) => {
            let turns = ratio(to_bad) + ratio(to_good);
            let bad = if turns > 0.0 { ratio(to_bad) / turns } else { 0.0 };
            bad * ratio(loss_bad) + (1.0 - bad) * ratio(loss_good)
        }
    }
}

/// How often a link begins to lose packets, per packet.
fn loss_bursts(link: &Link) -> f64 {
    let ratio = |probability: Probability| probability.0 as f64 / Probability::ONE.0 as f64;
    match link.loss {
        Some(Loss::GilbertElliott { to_bad, loss_good, loss_bad, .. }) => {
            mean_loss(link).min(ratio(to_bad) * ratio(loss_bad) + ratio(loss_good))
        }
        _ => mean_loss(link),
    }
}

/// Whether the reverse path carries the ACKs of a sender that has this many packets a second for
/// itself. ACKs that are lost in a full queue cost little, so a third of them is enough.
fn has_acks(class: &FlowClass, outline: &Outline, packets_per_s: f64) -> bool {
    /// On the wire.
    const ACK_BYTES: f64 = 66.0;
    let rates = class.reverse.iter().filter_map(|hop| match *hop {
        Hop::Delay(_) => None,
        Hop::Link(number) => highest(&outline.links[number as usize].rate),
        Hop::Private(number) => highest(&class.private_links[number as usize].rate),
    });
    let bytes = rates.fold(f64::INFINITY, f64::min) / 8.0;
    bytes >= ACK_BYTES / 2.0 / 3.0 * packets_per_s || packets_per_s.is_infinite()
}

/// The base RTT with the shortest delay of each link.
fn least_rtt(class: &FlowClass, outline: &Outline) -> Span {
    let saved = |hop: &Hop| match *hop {
        Hop::Link(number) => {
            let link = &outline.links[number as usize];
            link.delay_steps
                .as_ref()
                .map_or(0, |changes| link.delay.0 - changes.least().0.min(link.delay.0))
        }
        Hop::Delay(_) | Hop::Private(_) => 0,
    };
    let saved: u64 = class.forward.iter().chain(&class.reverse).map(saved).sum();
    Span(class.base_rtt.0 - saved)
}

/// Whether delay or loss of a path change, or its rate as a model says.
fn changes(class: &FlowClass, outline: &Outline) -> bool {
    outline.is_bound
        || outline
            .links_of(class)
            .any(|link| link.delay_steps.is_some() || matches!(link.loss, Some(Loss::Steps(_))))
}

/// Whether data or ACKs wait for slots, grants or turns, which may let too few of them pass, or
/// most ACKs are dropped.
fn waits_for_slots(class: &FlowClass, outline: &Outline) -> bool {
    class.forward.iter().chain(&class.reverse).any(|hop| match *hop {
        Hop::Link(number) => {
            let link = &outline.links[number as usize];
            matches!(link.queue, Queue::Slots(_) | Queue::Grants(_))
                || link.ack_thinning.is_some()
                || link.airtime.is_some()
        }
        Hop::Delay(_) | Hop::Private(_) => false,
    })
}

/// Whether the mean window under random loss is that of Reno or CUBIC, or below.
fn follows_reno(cc: Algorithm) -> bool {
    matches!(cc.window(), Window::Reno | Window::Cubic)
}

/// The loss ratio up to which an algorithm fills its link all the same.
fn loss_that_is_borne(cc: Algorithm) -> f64 {
    match cc.window() {
        Window::Bears { loss_ppm } => f64::from(loss_ppm) / 1e6,
        _ => 0.0,
    }
}

/// Whether flows of this algorithm use more than half of a link that nothing but its queue limits.
fn fills(
    cc: Algorithm,
    link: &Link,
    rate: f64,
    wire: f64,
    rtt_s: f64,
    active_s: f64,
    flows: f64,
) -> bool {
    let bdp = rate * rtt_s;
    let queue = link.room_packets(wire).unwrap_or(f64::INFINITY);
    if loss_that_is_borne(cc) >= 0.05 {
        return true;
    }
    if cc.window() == Window::AckRate {
        return false;
    }
    // A sawtooth above a short queue empties the link; many of them out of step do so less.
    if queue < 0.3 * bdp / flows.max(1.0).sqrt() {
        return false;
    }
    // What slow start left too early has to grow until the end: a packet a round trip, or along
    // CUBIC's curve.
    let own = bdp / flows.max(1.0);
    let growing_s = match cc.window() {
        Window::Reno => own / 2.0 * rtt_s,
        _ => (own * 0.3 / 0.4).cbrt(),
    };
    growing_s <= 2.0 * active_s
}

pub(crate) fn seconds(span: Span) -> f64 {
    span.0 as f64 / NS_PER_S as f64
}
