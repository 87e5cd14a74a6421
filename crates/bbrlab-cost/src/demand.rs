//! Estimates the packets that one flow can send, given its source, its cwnd and socket buffers, its
//! path and random loss.

#![expect(clippy::cast_precision_loss, reason = "no result of a run depends on an estimate")]

use bbrlab_cc::{Algorithm, Window};
use bbrlab_link::{Link, Loss, Probability, Queue, Rate};
use bbrlab_run::{
    Arrivals, Bursts, Distribution, FlowClass, Frames, Hop, Pace, Pause, Reading, Requests, Source,
    headers,
};
use bbrlab_scenario::Outline;
use bbrlab_units::{BitRate, NS_PER_S, Span, Time};

use crate::sockets::{SocketLimit, window_of_sockets};

/// Bytes of the headers of a data packet: Ethernet, IP, TCP and timestamps.
pub(crate) const AROUND_PAYLOAD: f64 = (Link::ETHERNET.0 + headers::DATA as u64) as f64;

/// The mean cwnd of Reno under random loss is at most this value divided by the square root of the
/// loss ratio. For a deterministic sawtooth, the value is 1.22 (Mathis et al. 1997). Random losses
/// come in clusters, so measured means of cwnd are up to 1.3 times larger; the factor 1.5 leaves a
/// margin.
const WINDOW_UNDER_LOSS: f64 = 1.22 * 1.5;

/// The demand of one flow of a class, as if the flow were alone on its path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demand {
    /// The largest rate in data packets per second; infinite if only links limit the rate.
    pub(crate) rate: f64,
    /// The largest number of data packets that the flow sends; infinite if the source never ends.
    pub(crate) packets: f64,
    /// Duration of the source's transfers on an idle path in seconds, including the pauses between
    /// the transfers of a `train`; infinite if the source never ends.
    pub(crate) alone_s: f64,
    /// Packets per connection, or per response if the flow sends responses to requests; infinite if
    /// the source never ends.
    pub(crate) each: f64,
    /// Packets that the flow sends in addition to the packets at `rate`: before the first random
    /// loss, and to fill the buffer of a video player.
    pub(crate) before_loss: f64,
    /// Estimate of the packets that are in the network and in the send buffer when the application
    /// stops. If the source is slower than its path, the estimate is 0: all data has then left the
    /// send buffer, and the packets in the network are neglected.
    pub(crate) after_stop: f64,
    /// Whether the flow is expected to send at the lower of two rates: `rate` and the rate of its
    /// links. If false, the lower rate is only an upper bound.
    pub(crate) is_sure: bool,
    /// Whether the flow, while active, uses all capacity that other flows leave on the flow's
    /// narrowest link.
    pub(crate) is_greedy: bool,
    /// Whether `rate` does not depend on the cwnd of one connection, because the flow represents
    /// many arriving flows, or sends datagrams.
    is_many: bool,
    /// The slow start of each connection of the flow.
    ramp: Ramp,
}

/// A slow start: cwnd doubles with each round trip, up to a bound.
#[derive(Clone, Copy, Debug)]
struct Ramp {
    rtt_s: f64,
    initial: f64,
    /// The largest cwnd that the sockets' buffers and windows allow, in packets.
    window: f64,
    /// The rate of the narrowest link, or the flow's pacing limit if that is lower, in packets per
    /// second.
    link: f64,
}

/// Returns the mean rate of a schedule in bits per second over the first `active_s` seconds;
/// infinite if a step in this time has no limit.
pub(crate) fn mean_rate(paces: &[(Time, Pace)], active_s: f64) -> f64 {
    let ends = paces.iter().skip(1).map(|(at, _)| at.as_secs_f64()).chain([f64::INFINITY]);
    let bits = paces.iter().zip(ends).map(|(&(at, pace), end)| {
        let length_s = (end.min(active_s) - at.as_secs_f64()).max(0.0);
        match pace {
            _ if length_s <= 0.0 => 0.0,
            Pace::At(rate) => rate.0 as f64 * length_s,
            Pace::Unlimited => f64::INFINITY,
        }
    });
    bits.sum::<f64>() / active_s.max(1e-9)
}

/// Returns the mean number of packets per second of a source that writes frames. `packets` converts
/// the bytes of a frame to packets.
fn frames_rate(frames: &Frames, packets: impl Fn(f64) -> f64) -> f64 {
    let keys = frames.keys.map_or(0.0, |keys| {
        (packets(keys.bytes.0 as f64) - packets(frames.bytes.0 as f64)) / f64::from(keys.each)
    });
    (packets(frames.bytes.0 as f64) + keys) / seconds(frames.every)
}

impl Demand {
    /// Computes the demand of a flow that is active for `active_s` seconds on average. `flows` is
    /// the number of flows that share the flow's narrowest link, including this flow.
    pub(crate) fn of(class: &FlowClass, outline: &Outline, active_s: f64, flows: f64) -> Self {
        let mss = f64::from(class.mss);
        let wire = mss + AROUND_PAYLOAD;
        let rtt_s = seconds(least_rtt(class, outline));
        let links = || outline.links_of(class);
        let narrowest = links()
            .filter_map(|link| Some((link, highest(&link.rate)? / 8.0 / wire)))
            .min_by(|one, other| one.1.total_cmp(&other.1));
        let window = (window_of_sockets(&outline.stack, class.mss).mean() / mss).max(1.0);
        let paced =
            class.settings.max_pacing_rate.map_or(f64::INFINITY, |rate| rate.0 as f64 / 8.0 / mss);
        let ramp = Ramp {
            rtt_s,
            initial: f64::from(outline.stack.initial_cwnd),
            window,
            link: narrowest.map_or(f64::INFINITY, |(_, rate)| rate).min(paced),
        };
        let window_rate = if rtt_s > 0.0 { window / rtt_s } else { f64::INFINITY };
        let loss = links().map(mean_loss).fold(0.0, |sum, loss| sum + loss * (1.0 - sum));
        let mut demand = Self {
            rate: window_rate.min(paced),
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
        demand.read_source(&class.source, (mss, active_s));
        if class.is_udp {
            return demand.of_datagrams(&class.source, (mss, active_s));
        }
        demand.read_reading(class.settings.reading.as_ref(), (mss, active_s));
        if loss > 0.0 && rtt_s > 0.0 && follows_reno(class.cc) {
            // A burst of losses reduces cwnd only once, so the number of bursts counts, not the
            // number of lost packets.
            let bursts = links().map(loss_bursts).sum::<f64>().max(1e-12);
            // CUBIC's mean cwnd, in packets, follows from RFC 9438, section 5.1.
            let cubic = 1.054 * (rtt_s / bursts).powf(0.75);
            let mean = (WINDOW_UNDER_LOSS / bursts.sqrt()).max(cubic);
            demand.rate = demand.rate.min(mean / rtt_s);
            // `1 / bursts` packets are sent before the first loss, on average. Slow start sends
            // the same number again in the one round trip until the sender notices the loss,
            // because each of its round trips has as many packets as all earlier ones together. The
            // recovery takes another round trip, with at most the same number. Until the first
            // reduction of cwnd is complete, at most about `3 / bursts` packets are therefore sent.
            // After slow start, each loss reduces cwnd by three tenths, down to the mean cwnd.
            let highest = (2.0 * ramp.link * rtt_s).min(1.0 / bursts).max(mean);
            let falls = (highest / mean).ln() / (1.0_f64 / 0.7).ln();
            demand.before_loss = (3.0 + falls) / bursts;
        }
        let own_rate = if demand.alone_s.is_finite() { 0.0 } else { demand.rate };
        let share = ramp.link / flows.max(1.0);
        // The link limits the flow only if neither the flow's source nor its cwnd limits it.
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
            link.reorder.is_some()
                || link.random_delay.is_some()
                || link.duplicate > Probability::ZERO
                || link.jitter.is_some_and(|jitter| !jitter.keep_order)
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
            // Lost packets are retransmitted, so the flow sends more packets.
            demand.packets /= 1.0 - loss.min(0.5);
        }
        demand
    }

    /// Sets the demand of a flow that sends datagrams. The flow sends at its rate, whether or not
    /// the datagrams arrive.
    fn of_datagrams(mut self, source: &Source, (mss, active_s): (f64, f64)) -> Self {
        let own = |rate: BitRate| rate.0 as f64 / 8.0 / mss;
        self.rate = match *source {
            Source::Cbr(rate) => own(rate),
            Source::Rates(ref paces) => mean_rate(paces, active_s) / 8.0 / mss,
            Source::Frames(ref frames) => frames_rate(frames, |bytes| (bytes / mss).ceil()),
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

    /// Limits the flow's rate to the mean rate of a schedule.
    fn follow(&mut self, paces: &[(Time, Pace)], (mss, active_s): (f64, f64)) {
        let mean = mean_rate(paces, active_s) / 8.0 / mss;
        // With several steps, the mean rate is only an upper bound. In a step whose rate is above
        // the rate of the flow's links, data waits in the socket, and a part of it may still be
        // unsent at the end of the active time.
        self.is_sure &= paces.len() == 1 && mean.is_finite();
        self.rate = self.rate.min(mean);
    }

    /// Limits the flow's rate to the rate at which the receiving application reads.
    fn read_reading(&mut self, reading: Option<&Reading>, (mss, active_s): (f64, f64)) {
        match reading {
            None => {}
            Some(Reading::Paced(paces)) => self.follow(paces, (mss, active_s)),
            Some(Reading::Periodic { bytes, every }) => {
                self.rate = self.rate.min(bytes.0 as f64 / mss / seconds(*every));
                self.is_sure = false;
            }
        }
    }

    fn read_source(&mut self, source: &Source, (mss, active_s): (f64, f64)) {
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
            Source::Rates(ref paces) => self.follow(paces, (mss, active_s)),
            Source::Frames(ref frames) => {
                let rate = frames_rate(frames, |bytes| bytes / mss);
                self.rate = self.rate.min(rate + 1.0 / seconds(frames.every));
            }
            Source::OnOff { on, off, rate: Some(rate) } => {
                let own = rate.0 as f64 / 8.0 / mss;
                self.rate = self.rate.min(own * seconds(on) / seconds(on + off));
            }
            Source::OnOff { on, off, rate: None } => {
                // Data that is in the send buffer when an `on` period ends is sent after the
                // period, in addition to the data sent during the period.
                let full = self.ramp.full_rate();
                let buffered = 4.0 * (full * self.ramp.rtt_s).max(self.ramp.initial);
                let each = full * seconds(on) + buffered;
                self.rate = self.rate.min(each / seconds(on + off));
                self.is_sure = false;
            }
            Source::Write { bytes, every } => {
                // By Nagle's algorithm, at most one segment below the full size is in flight, so at
                // most one segment below the full size is sent per RTT.
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
                // Random periods may give more traffic than the average, so the bound on the rate
                // is twice the average rate.
                self.rate = self.rate.min(2.0 * most / (on_s + off_s));
                self.is_sure = false;
            }
            Source::Requests(ref requests) => self.read_requests(requests, packets_of),
            Source::Arrivals(Arrivals { ref gap, ref size, at_most }) => {
                // Together the flows send all arriving data except the data of rejected flows,
                // whatever the rate of a single flow.
                self.each = packets_of(size.mean as f64);
                let alone_s = self.ramp.seconds_for(self.each);
                let come = 1.0 / seconds(Span(gap.mean));
                self.rate = self.each * come.min(f64::from(at_most) / alone_s.max(1e-9));
                let is_tame = |distribution: &Distribution| {
                    matches!(distribution, Distribution::Constant | Distribution::Exponential)
                };
                self.is_sure = is_tame(&size.distribution) && is_tame(&gap.distribution);
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

    /// Sets the demand of a client that sends requests. On an open connection, a response takes one
    /// round trip plus its transmission time.
    fn read_requests(&mut self, requests: &Requests, packets_of: impl Fn(f64) -> f64) {
        let each = packets_of(requests.size.mean as f64);
        self.each = each;
        let full = self.ramp.full_rate();
        // The last packet of a response may be shorter than a full packet, so its transmission time
        // is omitted.
        let fastest_s = self.ramp.rtt_s + (each - 1.0) / full;
        match requests.pause {
            Pause::Player { piece, buffer } => {
                // The player also downloads chunks in advance, until its buffer is full.
                self.rate = self.rate.min(each / seconds(piece));
                self.before_loss += each * seconds(buffer) / seconds(piece);
                self.is_sure = false;
            }
            Pause::None => self.rate = self.rate.min(each / fastest_s),
            Pause::Page(ref load) => {
                // A connection fetches at least its share of the objects of each round of a web
                // page, one object per round trip.
                let connections = f64::from(load.connections);
                let of_rounds = load.rounds.iter().map(|&it| f64::from(it) / connections);
                let (objects, turns) = of_rounds
                    .fold((0.0, 0.0), |(objects, turns), it| (objects + it, turns + f64::ceil(it)));
                let think_s = load.think.as_ref().map_or(0.0, |think| seconds(Span(think.mean)));
                self.rate = self.rate.min(2.0 * objects * each / (turns * fastest_s + think_s));
                self.is_sure = false;
            }
            Pause::Think(ref think) => {
                // Random draws may give pauses shorter than the average and responses larger than
                // the average, so the bound on the rate is twice the average rate.
                let is_constant = [&requests.size.distribution, &think.distribution]
                    .map(|distribution| *distribution == Distribution::Constant);
                let most = if is_constant == [true, true] { 1.0 } else { 2.0 };
                self.rate = self.rate.min(most * each / (fastest_s + seconds(Span(think.mean))));
                self.is_sure = false;
            }
        }
        self.is_sure &= matches!(requests.size.distribution, Distribution::Constant)
            && each > 10.0 * full * self.ramp.rtt_s;
        if let Some(count) = requests.count {
            self.packets = each * f64::from(count);
            self.alone_s = self.packets / self.rate.max(1e-9);
        }
    }

    /// Returns the duration of a connection on an idle path, in seconds.
    pub(crate) fn seconds_alone(&self) -> f64 {
        self.ramp.seconds_for(self.each)
    }

    /// Returns the number of packets that the flow can send within `active_s` seconds after it
    /// connects.
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
    /// Returns the round trips of slow start: the start of each one in seconds, and its cwnd in
    /// packets.
    fn rounds(self) -> impl Iterator<Item = (f64, f64)> {
        let most = self.window.min(self.link * self.rtt_s).max(1.0);
        // The handshake takes one round trip, so the first round trip of data begins after one RTT.
        (1..40).map(move |round: i32| {
            let window = self.initial * f64::from(round - 1).exp2();
            (f64::from(round) * self.rtt_s, window.min(most))
        })
    }

    /// Returns the rate after slow start, in packets per second.
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

    /// Returns the time in seconds at which the cwnd of slow start reaches `packets` packets.
    fn seconds_to(self, packets: f64) -> f64 {
        let packets = packets.min(self.window);
        self.rounds().find(|&(_, window)| window >= packets).map_or(0.0, |(at, _)| at)
    }
}

/// Returns the highest rate of a schedule, a constant rate itself, or the mean rate of a trace, in
/// bits per second. Returns `None` if the rate is unlimited.
pub(crate) fn highest(rate: &Rate) -> Option<f64> {
    match rate {
        Rate::Schedule(steps) => steps.iter().map(|(_, rate)| rate.0 as f64).reduce(f64::max),
        _ => rate.at_start().map(|rate| rate.0 as f64),
    }
}

/// Returns the upper limit of a flow's goodput that follows from the flow's socket buffers and
/// receive window. Returns `None` if the path or the pacing limit is slower than this limit, if no
/// link of the path has a rate, or if the RTT is 0. Also returns `None` for datagrams, and for
/// sources other than unlimited data or a number of bytes.
pub(crate) fn socket_limit(class: &FlowClass, outline: &Outline) -> Option<SocketLimit> {
    let is_bulk = matches!(class.source, Source::Unlimited | Source::Bytes(_));
    let rtt_s = seconds(least_rtt(class, outline));
    if class.is_udp || !is_bulk || rtt_s == 0.0 {
        return None;
    }
    let window = window_of_sockets(&outline.stack, class.mss);
    let [least, most] = window.bytes.map(|bytes| bytes * 8.0 / rtt_s);
    let mss = f64::from(class.mss);
    let links = outline.links_of(class).filter_map(|link| highest(&link.rate));
    let by_path = links.fold(f64::INFINITY, f64::min) * mss / (mss + AROUND_PAYLOAD);
    let paced = class.settings.max_pacing_rate.map_or(f64::INFINITY, |rate| rate.0 as f64);
    let most_of_path = by_path.min(paced);
    (least < most_of_path && by_path.is_finite()).then_some(SocketLimit {
        least_bits_per_s: least,
        most_bits_per_s: (most < most_of_path).then_some(most),
        key: window.key,
    })
}

/// Returns the mean share of the packets that a link loses at random or corrupts. For a schedule of
/// loss ratios, the lowest ratio counts as the mean.
fn mean_loss(link: &Link) -> f64 {
    let ratio = |probability: Probability| probability.0 as f64 / Probability::ONE.0 as f64;
    let corrupt = ratio(link.corrupt);
    corrupt
        + (1.0 - corrupt)
            * match &link.loss {
                None => 0.0,
                Some(Loss::Bernoulli(loss)) => ratio(*loss),
                // The estimated rate is an upper bound, and the lowest ratio allows the highest
                // rate.
                Some(Loss::Steps(steps)) => {
                    steps.iter().map(|step| ratio(step.1)).fold(1.0, f64::min)
                }
                &Some(Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad }) => {
                    let turns = ratio(to_bad) + ratio(to_good);
                    let bad = if turns > 0.0 { ratio(to_bad) / turns } else { 0.0 };
                    bad * ratio(loss_bad) + (1.0 - bad) * ratio(loss_good)
                }
                &Some(Loss::InTime { good, bad, loss_good, loss_bad }) => {
                    let bad = seconds(bad) / seconds(good + bad);
                    bad * ratio(loss_bad) + (1.0 - bad) * ratio(loss_good)
                }
            }
}

/// Returns the mean number of loss bursts per packet on a link.
fn loss_bursts(link: &Link) -> f64 {
    let ratio = |probability: Probability| probability.0 as f64 / Probability::ONE.0 as f64;
    match link.loss {
        Some(Loss::GilbertElliott { to_bad, loss_good, loss_bad, .. }) => {
            mean_loss(link).min(ratio(to_bad) * ratio(loss_bad) + ratio(loss_good))
        }
        Some(Loss::InTime { good, bad, loss_good, .. }) => {
            let bursts_per_s = 1.0 / seconds(good + bad);
            let packets_per_s = highest(&link.rate).map_or(f64::INFINITY, |rate| rate / 12_112.0);
            mean_loss(link).min(bursts_per_s / packets_per_s + ratio(loss_good))
        }
        _ => mean_loss(link),
    }
}

/// Returns whether the reverse path can carry the ACKs of one flow that sends `packets_per_s`
/// packets per second. Lost ACKs hardly slow a flow down, so capacity for a third of the ACKs is
/// enough.
fn has_acks(class: &FlowClass, outline: &Outline, packets_per_s: f64) -> bool {
    /// The size of an ACK on the wire.
    const ACK_BYTES: f64 = 66.0;
    let rates = class.reverse.iter().filter_map(|hop| match *hop {
        Hop::Delay(_) => None,
        Hop::Link(number) => highest(&outline.links[number as usize].rate),
        Hop::Private(number) => highest(&class.private_links[number as usize].rate),
    });
    let bytes = rates.fold(f64::INFINITY, f64::min) / 8.0;
    bytes >= ACK_BYTES / 2.0 / 3.0 * packets_per_s || packets_per_s.is_infinite()
}

/// Returns the RTT without queueing, with the shortest delay of each link.
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

/// Returns true if the delay or the loss ratio of a link on the path changes over time, or if rates
/// and delays of the network follow random models. The outline has only the highest rates and the
/// shortest delays of such models, so the demand is then an upper bound.
fn changes(class: &FlowClass, outline: &Outline) -> bool {
    outline.is_bound
        || outline
            .links_of(class)
            .any(|link| link.delay_steps.is_some() || matches!(link.loss, Some(Loss::Steps(_))))
}

/// Returns whether `netem` slots, grants to send or Wi-Fi transmission opportunities may limit the
/// rate of data or ACKs, or `ack_thinning` may drop most ACKs.
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

/// Returns whether, under random loss, the algorithm's mean cwnd is at most the larger of Reno's
/// and CUBIC's mean cwnd.
fn follows_reno(cc: Algorithm) -> bool {
    matches!(cc.window(), Window::Reno | Window::Cubic)
}

/// Returns the largest random-loss ratio at which an algorithm still fills its link.
fn loss_that_is_borne(cc: Algorithm) -> f64 {
    match cc.window() {
        Window::Bears { loss_ppm } => f64::from(loss_ppm) / 1e6,
        _ => 0.0,
    }
}

/// Returns whether flows of this algorithm use more than half of a link. The function considers
/// only the link's queue and the growth of the flows' cwnd.
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
    // With a short queue, the sawtooth of cwnd leaves the link idle after each reduction. With many
    // flows that are not synchronised, the link is idle for a shorter time.
    if queue < 0.3 * bdp / flows.max(1.0).sqrt() {
        return false;
    }
    // If slow start ends too early, cwnd grows to the flow's share of the BDP by one packet per
    // round trip (Reno) or along CUBIC's curve. `growing_s` is the time that this growth takes.
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
