//! A congestion control that calls the functions of a shared object for one connection. If the
//! shared object has no function for an event, the congestion control handles this event as Linux
//! does with a null callback or, if Linux requires the event's callback, as Reno does.
#![expect(unsafe_code, reason = "the functions of a shared object have the C calling convention")]

use std::sync::Arc;

use bbrlab_abi as abi;
use bbrlab_cc::{
    AckSample, CaState, CongestionControl, Conn, Control, CwndEvent, Draw, Hooks, Info, LostSkb,
    Maker, Params, Place, Plugged, RateSample, reno,
};

use crate::failure::Failure;
use crate::functions::Functions;
use crate::instance::Instance;

/// The smallest and largest number of segments in a burst that the functions `tso_segs` and
/// `min_tso_segs` may return, and the unit in the error message. The maximum is Linux's
/// `GSO_MAX_SEGS`.
const SEGS: (u64, u64, &str) = (1, 65_535, "segments");

/// The smallest and largest multiple of cwnd that the function `sndbuf_expand` may return for the
/// send buffer, and the unit in the error message.
const EXPAND: (u64, u64, &str) = (1, 1024, "a factor");

/// Makes the congestion controls of one shared object, one per connection, for all runs of one call
/// of bbrlab.
#[derive(Debug)]
pub(crate) struct OfLibrary {
    pub(crate) name: Arc<str>,
    pub(crate) functions: Functions,
    pub(crate) failure: Arc<Failure>,
}

impl Maker for OfLibrary {
    fn hooks(&self) -> Hooks {
        self.functions.hooks()
    }

    fn make(&self, params: &Params, place: Place) -> Plugged {
        let instance = Instance::new(&self.name, self.functions, &self.failure, params, place);
        Plugged::new(OfConnection {
            hooks: self.functions.hooks(),
            instance: instance.map(Arc::new),
        })
    }

    fn is_native(&self) -> bool {
        true
    }

    fn has_failed(&self) -> bool {
        self.failure.is_there()
    }

    fn failure(&self) -> Option<String> {
        self.failure.text()
    }
}

/// The congestion control of a connection. A clone shares its state with the original; the
/// simulator makes no clones.
#[derive(Clone, Debug)]
struct OfConnection {
    hooks: Hooks,
    /// `None` if the congestion control could not be made; the run then ends.
    instance: Option<Arc<Instance>>,
}

/// Returns the bounds and the unit of the field `name` of `Control`. The result of a function of
/// the shared object must be within the bounds of the field that it sets: the result of `undo_cwnd`
/// within the bounds of `cwnd`, for example.
fn bounds(name: &str) -> (u64, u64, &'static str) {
    let row = Control::FIELDS.iter().find(|row| row.about.name == name);
    let about = row.expect("`name` is the name of a field of `Control`").about;
    let (least, most) = about.writable.expect("every field of `Control` is writable");
    (least, most, about.unit)
}

/// Evaluates to the instance of a congestion control and one of its functions. If one of the two is
/// missing, the calling function returns `$answer`.
macro_rules! function {
    ($self:ident.$event:ident or $answer:expr) => {
        match $self.instance.as_deref().and_then(|of| Some((of, of.functions().$event?))) {
            Some(found) => found,
            None => return $answer,
        }
    };
}

/// Calls a function of the shared object that may change the `Control` struct and draw random
/// numbers.
macro_rules! tell {
    ($self:ident.$event:ident($conn:ident, $draw:ident $(, $argument:expr)?) or $answer:expr) => {{
        let (of, function) = function!($self.$event or $answer);
        let mut lent = Some($draw.lend());
        let control = of.tell(stringify!($event), $conn, &mut lent, |state, conn, ctl, host| {
            // SAFETY: the pointers are valid during the call, and the state is this congestion
            // control's.
            unsafe { function(state, conn, ctl, $($argument,)? host) }
        });
        if let Some(lent) = lent {
            $draw.take_back(lent);
        }
        control
    }};
}

/// Calls a function of the shared object that computes a number.
macro_rules! ask {
    ($self:ident.$event:ident($conn:ident, $bounds:expr, $number:expr $(, $argument:expr)?) or $answer:expr) => {{
        let (of, function) = function!($self.$event or $answer);
        let event = stringify!($event);
        of.ask(event, $conn, $bounds, $number, |state, conn, ctl, number, host| {
            // SAFETY: the pointers are valid during the call, and the state is this congestion
            // control's.
            unsafe { function(state, conn, ctl, $($argument,)? number, host) }
        })
    }};
}

impl CongestionControl for OfConnection {
    fn hooks(&self) -> Hooks {
        self.hooks
    }

    fn init(&mut self, conn: &Conn, draw: &mut impl Draw) -> Control {
        tell!(self.init(conn, draw) or conn.ctl)
    }

    fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, draw: &mut impl Draw) -> Control {
        tell!(self.cwnd_event(conn, draw, abi::cwnd_event_number(event)) or conn.ctl)
    }

    fn set_state(&mut self, conn: &Conn, new: CaState, draw: &mut impl Draw) -> Control {
        tell!(self.set_state(conn, draw, u32::from(new as u8)) or conn.ctl)
    }

    fn skb_marked_lost(&mut self, conn: &Conn, skb: &LostSkb, draw: &mut impl Draw) -> Control {
        let skb = abi::LostSkb::from(skb);
        tell!(self.skb_marked_lost(conn, draw, &raw const skb) or conn.ctl)
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        ask!(self.ssthresh(conn, bounds("ssthresh"), 0) or reno::ssthresh(conn))
            .unwrap_or_else(|| reno::ssthresh(conn))
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        ask!(self.undo_cwnd(conn, bounds("cwnd"), 0) or reno::undo_cwnd(conn))
            .unwrap_or_else(|| reno::undo_cwnd(conn))
    }

    fn cong_control(&mut self, conn: &Conn, rs: &RateSample, draw: &mut impl Draw) -> Control {
        let rs = abi::RateSample::from(rs);
        tell!(self.cong_control(conn, draw, &raw const rs) or conn.ctl)
    }

    fn cong_avoid(&mut self, conn: &Conn, ack: u32, acked: u32) -> Control {
        let (of, function) = function!(self.cong_avoid or reno::cong_avoid(conn, acked));
        of.tell("cong_avoid", conn, &mut None, |state, conn, ctl, host| {
            // SAFETY: the pointers are valid during the call, and the state is this congestion
            // control's.
            unsafe { function(state, conn, ctl, ack, acked, host) }
        })
    }

    fn pkts_acked(&mut self, conn: &Conn, sample: &AckSample) -> u32 {
        let before = conn.ctl.ssthresh;
        let sample = abi::AckSample::from(sample);
        ask!(self.pkts_acked(conn, bounds("ssthresh"), before, &raw const sample) or before)
            .unwrap_or(before)
    }

    fn in_ack_event(&mut self, conn: &Conn, flags: u32) -> Control {
        let (of, function) = function!(self.in_ack_event or conn.ctl);
        of.tell("in_ack_event", conn, &mut None, |state, conn, ctl, host| {
            // SAFETY: the pointers are valid during the call, and the state is this congestion
            // control's.
            unsafe { function(state, conn, ctl, flags, host) }
        })
    }

    fn tso_segs(&self, conn: &Conn, mss_now: u32) -> u32 {
        ask!(self.tso_segs(conn, SEGS, 0, mss_now) or 1).unwrap_or(1)
    }

    fn min_tso_segs(&self, conn: &Conn) -> u32 {
        ask!(self.min_tso_segs(conn, SEGS, 0) or 2).unwrap_or(2)
    }

    fn sndbuf_expand(&self, conn: &Conn) -> u32 {
        ask!(self.sndbuf_expand(conn, EXPAND, 0) or 2).unwrap_or(2)
    }

    fn info(&self, conn: &Conn) -> Info {
        let Some(found) = self.instance.as_deref().and_then(|of| of.info(conn)) else {
            return Info::default();
        };
        let rate = |value: u64| (value != u64::MAX).then_some(value);
        let number = |value: u64| u32::try_from(value).ok();
        Info {
            state: "",
            bw: rate(found.bw),
            min_rtt_us: number(found.min_rtt_us),
            inflight_hi: number(found.inflight_hi),
            inflight_lo: number(found.inflight_lo),
            bw_hi: rate(found.bw_hi),
            bw_lo: rate(found.bw_lo),
        }
    }
}
