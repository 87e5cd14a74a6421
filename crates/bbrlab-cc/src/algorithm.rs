//! The list of built-in algorithms. The parsing of names, the help texts, the contract tests and
//! the documentation are derived from this list.

use crate::bbr_bounded::Params as BoundedParams;
use crate::bbr1::{
    self, Bbr, Bbr1, BbrAcd, BbrHsr, BbrPlus, BbrPrime, DelayBbr, Ns3, Ns3Steps, Plain,
};
use crate::bbr2::{self, Alpha, Bbr2, Exp, Form2020};
use crate::bbr3::{self, Bbr3, Constants};
use crate::bbr3_ietf::Bbr3Ietf;
use crate::bic::Bic;
use crate::cubic::{CubicNs2, CubicParams};
use crate::dctcp::Dctcp;
use crate::highspeed::Highspeed;
use crate::htcp::Htcp;
use crate::hybla::Hybla;
use crate::illinois::Illinois;
use crate::prague::Prague;
use crate::runtime_params::RuntimeParams;
use crate::scalable::Scalable;
use crate::veno::Veno;
use crate::westwood::Westwood;
use crate::yeah::Yeah;
use crate::{
    AckSample, CaState, CongestionControl, Conn, Control, Cubic, CwndEvent, Draw, Hooks, Info,
    LostSkb, ParamError, ParamSpec, ParamValue, Params, Plugged, RateSample, Reno, Vegas, bic,
    cubic, dctcp, htcp, hybla, illinois, prague, vegas,
};

/// Builds an instance of an algorithm from the parameters that a scenario sets.
type Constructor = fn(&Params) -> Result<Cc, ParamError>;

/// The entry of one algorithm in the list: its name, texts, properties, parameters and constructor.
struct Entry {
    name: &'static str,
    title: &'static str,
    summary: &'static str,
    source: &'static str,
    family: Option<Family>,
    is_paced: bool,
    window: Window,
    marks: Marks,
    params: &'static [ParamSpec],
    new: Constructor,
}

/// A group of algorithms that share parameters. A profile (default values for the keys of a
/// scenario) can set a parameter for all algorithms of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// BBR v1 and its variants.
    Bbr,
    /// BBRv2 and its variant.
    Bbr2,
    /// BBRv3.
    Bbr3,
    /// CUBIC.
    Cubic,
    /// Vegas.
    Vegas,
}

impl Family {
    /// Returns the family's first algorithm in the list, which has every parameter of the family.
    ///
    /// # Panics
    /// The function never panics: a test checks that every family has members.
    #[must_use]
    pub fn base(self) -> Algorithm {
        let is_of = |algorithm: &Algorithm| algorithm.family() == Some(self);
        Algorithm::ALL.iter().copied().find(is_of).expect("a family has members")
    }
}

/// A rough model of how cwnd grows over time and how losses limit cwnd. The crate `bbrlab-cost`
/// uses this model to estimate the packets, memory and disk space of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Random loss limits cwnd to at most Reno's mean window. cwnd grows by one packet per round
    /// trip.
    Reno,
    /// Random loss limits cwnd to at most the larger of Reno's and CUBIC's mean window. cwnd grows
    /// along CUBIC's curve.
    Cubic,
    /// cwnd grows at least as fast as with CUBIC.
    Faster,
    /// After a loss, cwnd follows the rate at which ACKs arrive, which may be far below the link's
    /// rate.
    AckRate,
    /// cwnd is large enough to fill the link while the random-loss ratio is at most `loss_ppm`.
    Bears {
        /// The largest random loss ratio at which the link stays full, in millionths.
        loss_ppm: u32,
    },
}

/// How an algorithm responds to the ECN marks of a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Reduces cwnd once, as after a loss, however many packets are marked. Algorithms that ignore
    /// marks, such as BBR v1, also have this value.
    Once,
    /// Reduces cwnd in proportion to the share of marked packets.
    Share,
    /// Responds as with `Share` if ECN was negotiated and the route is configured for low latency;
    /// otherwise ignores the marks.
    ShareOnRoute,
    /// Responds as with `Share` if the parameter `ecn_enable` is set; otherwise ignores the marks.
    ShareIfEnabled,
}

macro_rules! algorithms {
    ($($variant:ident { $($field:ident : $value:expr),* $(,)? })*) => {
        /// A congestion control that a scenario can name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Algorithm {
            $(
                #[doc = "See `title` and `summary`."]
                $variant,
            )*
        }

        impl Algorithm {
            /// Every algorithm, in the order in which the documentation lists them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            fn entry(self) -> Entry {
                match self {
                    $(Self::$variant => Entry { $($field: $value),* },)*
                }
            }
        }
    };
}

algorithms! {
    Bbr1 {
        name: "bbr1",
        title: "BBR v1",
        summary: "model of bandwidth and minimum RTT; paces at 1.25/0.75/1 times the bandwidth",
        source: "Linux 6.1 and 6.12 tcp_bbr.c",
        family: Some(Family::Bbr), is_paced: true, window: Window::Bears { loss_ppm: 55_000 }, marks: Marks::Once,
        params: bbr1::BBR1_PARAMS,
        new: |p| {
            let is_linux = Ns3Steps::from_params(p)? == Ns3Steps::default();
            Ok(if is_linux {
                Cc::Bbr1(Bbr::new(Plain))
            } else {
                Cc::Bbr1Ns3(Box::new(Bbr::with_steps(Ns3, p)?))
            })
        },
    }
    BbrPrime {
        name: "bbr_prime",
        title: "BBR'",
        summary: "BBR v1 whose 0.75 phase ends only when inflight has fallen to the estimated BDP, without a time limit",
        source: "Lanigan 2020, section 2.2.5.1",
        family: Some(Family::Bbr), is_paced: true, window: Window::Bears { loss_ppm: 55_000 }, marks: Marks::Once,
        params: bbr1::STEPS,
        new: |p| Ok(Cc::BbrPrime(Box::new(Bbr::with_steps(BbrPrime, p)?))),
    }
    BbrHsr {
        name: "bbr_hsr",
        title: "BBR+",
        summary: "BBR v1 for high-speed rail: gains 1.5/0.5, RTprop = min RTT + lambda sqrt(Var(RTT))",
        source: "Lanigan 2020, section 3.3.2",
        family: Some(Family::Bbr), is_paced: true, window: Window::Bears { loss_ppm: 55_000 }, marks: Marks::Once,
        params: bbr1::BBR_HSR_PARAMS,
        new: |p| Ok(Cc::BbrHsr(Box::new(Bbr::with_steps(BbrHsr::from_params(p)?, p)?))),
    }
    BbrPlus {
        name: "bbrplus",
        title: "BBRPlus",
        summary: "BBR v1 with a random cycle length of 2 to 8 minimum RTTs and a drain on loss",
        source: "Lanigan 2020, section 2.2.5.2",
        family: Some(Family::Bbr), is_paced: true, window: Window::Bears { loss_ppm: 55_000 }, marks: Marks::Once,
        params: bbr1::BBRPLUS_PARAMS,
        new: |p| Ok(Cc::BbrPlus(Box::new(Bbr::with_steps(BbrPlus::from_params(p)?, p)?))),
    }
    DelayBbr {
        name: "delay_bbr",
        title: "Delay-BBR",
        summary: "BBR v1 with gains 1.11/0.9 and a congestion signal from the smoothed RTT",
        source: "Lanigan 2020, section 3.3.4",
        family: Some(Family::Bbr), is_paced: true, window: Window::Bears { loss_ppm: 55_000 }, marks: Marks::Once,
        params: bbr1::DELAY_BBR_PARAMS,
        new: |p| Ok(Cc::DelayBbr(Box::new(Bbr::with_steps(DelayBbr::from_params(p)?, p)?))),
    }
    BbrAcd {
        name: "bbr_acd",
        title: "BBR-ACD",
        summary: "BBR v1 that halves cwnd at a loss if the RTT indicates congestion",
        source: "Mahmud et al. 2020, section 4",
        family: Some(Family::Bbr), is_paced: true, window: Window::Bears { loss_ppm: 55_000 }, marks: Marks::Once,
        params: bbr1::BBR_ACD_PARAMS,
        new: |p| Ok(Cc::BbrAcd(Box::new(Bbr::with_steps(BbrAcd::from_params(p)?, p)?))),
    }
    Bbr2 {
        name: "bbr2",
        title: "BBRv2 alpha",
        summary: "BBR with bounds on inflight and bandwidth learnt from loss and ECN",
        source: "google/bbr v2alpha tcp_bbr2.c",
        family: Some(Family::Bbr2), is_paced: true, window: Window::Bears { loss_ppm: 5000 }, marks: Marks::ShareIfEnabled,
        params: bbr2::BBR2_PARAMS,
        new: |params| {
            Ok(if bbr2::is_form_2020(params)? {
                Cc::Bbr2Form2020(Box::new(Bbr2::new(params)?))
            } else {
                Cc::Bbr2(Box::new(Bbr2::new(params)?))
            })
        },
    }
    Bbr2Exp {
        name: "bbr2_exp",
        title: "BBRv2-EXP",
        summary: "BBRv2 that cuts its bandwidth bounds on ECN marks",
        source: "google/bbr tcp_bbr2.c @0487ade5",
        family: Some(Family::Bbr2), is_paced: true, window: Window::Bears { loss_ppm: 5000 }, marks: Marks::ShareIfEnabled,
        params: bbr2::BBR2_EXP_PARAMS,
        new: |params| Ok(Cc::Bbr2Exp(Box::new(Bbr2::new(params)?))),
    }
    Bbr3 {
        name: "bbr3",
        title: "BBRv3",
        summary: "BBRv2 with probes that last until they find the path's limit; as in Linux",
        source: "google/bbr v3 tcp_bbr.c @001a430b",
        family: Some(Family::Bbr3), is_paced: true, window: Window::Bears { loss_ppm: 5000 }, marks: Marks::ShareOnRoute,
        params: bbr3::PARAMS,
        new: |params| {
            let numbers = bbr3::from_scenario(params)?;
            Ok(if numbers == *Constants {
                Cc::Bbr3(Box::new(Bbr3::with(Constants)))
            } else {
                Cc::Bbr3Runtime(Box::new(Bbr3::with(RuntimeParams(numbers))))
            })
        },
    }
    Bbr3Ietf {
        name: "bbr3_ietf",
        title: "BBRv3 (draft)",
        summary: "BBRv3 as the IETF draft specifies it",
        source: "draft-ietf-ccwg-bbr-06",
        family: None, is_paced: true, window: Window::Bears { loss_ppm: 5000 }, marks: Marks::Once,
        params: &[],
        new: |_| Ok(Cc::Bbr3Ietf(Box::default())),
    }
    Cubic {
        name: "cubic",
        title: "CUBIC",
        summary: "window as a cubic function of the time since the last loss; HyStart",
        source: "Linux 6.12 tcp_cubic.c",
        family: Some(Family::Cubic), is_paced: false, window: Window::Cubic, marks: Marks::Once,
        params: cubic::PARAMS,
        new: |p| {
            let params = CubicParams::from_params(p)?;
            Ok(if params.is_of_ns2 {
                Cc::CubicNs2(Box::new(CubicNs2::new(params)))
            } else {
                Cc::Cubic(Cubic::new(params))
            })
        },
    }
    Reno {
        name: "reno",
        title: "NewReno",
        summary: "grows by one packet per round trip, halves on loss",
        source: "Linux 6.12 tcp_cong.c",
        family: None, is_paced: false, window: Window::Reno, marks: Marks::Once,
        params: &[],
        new: |_| Ok(Cc::Reno(Reno)),
    }
    Vegas {
        name: "vegas",
        title: "Vegas",
        summary: "keeps 2 to 4 packets in the queue, estimated from the RTT",
        source: "Linux 6.12 tcp_vegas.c",
        family: Some(Family::Vegas), is_paced: false, window: Window::Reno, marks: Marks::Once,
        params: vegas::PARAMS,
        new: |p| Ok(Cc::Vegas(Vegas::new(p)?)),
    }
    Dctcp {
        name: "dctcp",
        title: "DCTCP",
        summary: "reduces cwnd in proportion to the share of ECN marks",
        source: "Linux 6.12 tcp_dctcp.c",
        family: None, is_paced: false, window: Window::Reno, marks: Marks::Share,
        params: dctcp::PARAMS,
        new: |p| Ok(Cc::Dctcp(Dctcp::new(p)?)),
    }
    Prague {
        name: "prague",
        title: "TCP Prague",
        summary: "L4S, paced: reduces cwnd in proportion to the share of marks; independent of the RTT below 25 ms",
        source: "L4STeam/linux tcp_prague.c 0.7",
        family: None, is_paced: true, window: Window::Reno, marks: Marks::Share,
        params: prague::PARAMS,
        new: |p| Ok(Cc::Prague(Box::new(Prague::new(p)?))),
    }
    Bic {
        name: "bic",
        title: "BIC",
        summary: "binary search for the cwnd at which the last loss occurred",
        source: "Linux 6.12 tcp_bic.c",
        family: None, is_paced: false, window: Window::Faster, marks: Marks::Once,
        params: bic::PARAMS,
        new: |p| Ok(Cc::Bic(Bic::new(p)?)),
    }
    Htcp {
        name: "htcp",
        title: "H-TCP",
        summary: "cwnd grows faster, the longer ago the last loss was",
        source: "Linux 6.12 tcp_htcp.c",
        family: None, is_paced: false, window: Window::Faster, marks: Marks::Once,
        params: htcp::PARAMS,
        new: |p| Ok(Cc::Htcp(Htcp::new(p)?)),
    }
    Illinois {
        name: "illinois",
        title: "TCP-Illinois",
        summary: "increase and decrease of cwnd depend on the queueing delay",
        source: "Linux 6.12 tcp_illinois.c",
        family: None, is_paced: false, window: Window::Faster, marks: Marks::Once,
        params: illinois::PARAMS,
        new: |p| Ok(Cc::Illinois(Illinois::new(p)?)),
    }
    Highspeed {
        name: "highspeed",
        title: "HighSpeed TCP",
        summary: "the larger cwnd, the faster it grows and the smaller the share that a loss subtracts (RFC 3649)",
        source: "Linux 6.12 tcp_highspeed.c",
        family: None, is_paced: false, window: Window::Faster, marks: Marks::Once,
        params: &[],
        new: |_| Ok(Cc::Highspeed(Highspeed::default())),
    }
    Scalable {
        name: "scalable",
        title: "Scalable TCP",
        summary: "cwnd grows by 1/100 per round trip; a loss subtracts 1/8",
        source: "Linux 6.12 tcp_scalable.c",
        family: None, is_paced: false, window: Window::Faster, marks: Marks::Once,
        params: &[],
        new: |_| Ok(Cc::Scalable(Scalable)),
    }
    Veno {
        name: "veno",
        title: "TCP Veno",
        summary: "Reno that estimates from its packets in the queue whether a loss means congestion",
        source: "Linux 6.12 tcp_veno.c",
        family: None, is_paced: false, window: Window::Faster, marks: Marks::Once,
        params: &[],
        new: |_| Ok(Cc::Veno(Veno::default())),
    }
    Westwood {
        name: "westwood",
        title: "TCP Westwood+",
        summary: "after loss, sets the window from a bandwidth estimate",
        source: "Linux 6.12 tcp_westwood.c",
        family: None, is_paced: false, window: Window::AckRate, marks: Marks::Once,
        params: &[],
        new: |_| Ok(Cc::Westwood(Westwood::default())),
    }
    Yeah {
        name: "yeah",
        title: "YeAH-TCP",
        summary: "Scalable TCP while the queue is short, Reno otherwise",
        source: "Linux 6.12 tcp_yeah.c",
        family: None, is_paced: false, window: Window::Faster, marks: Marks::Once,
        params: &[],
        new: |_| Ok(Cc::Yeah(Yeah::default())),
    }
    Hybla {
        name: "hybla",
        title: "TCP Hybla",
        summary: "cwnd of flows with long RTTs grows as fast as with an RTT of 25 ms",
        source: "Linux 6.12 tcp_hybla.c",
        family: None, is_paced: false, window: Window::Faster, marks: Marks::Once,
        params: hybla::PARAMS,
        new: |p| Ok(Cc::Hybla(Hybla::new(p)?)),
    }
}

impl Algorithm {
    /// Returns the algorithm called `name`; `newreno` is an alias of `reno`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if name == "newreno" { "reno" } else { name };
        Self::ALL.iter().copied().find(|algorithm| algorithm.name() == name)
    }

    /// Returns the algorithm's name in files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// Returns the algorithm's name in publications.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.entry().title
    }

    /// Returns a description of the algorithm, short enough for one line of a list.
    #[must_use]
    pub fn summary(self) -> &'static str {
        self.entry().summary
    }

    /// Returns the code or publication that the implementation follows.
    #[must_use]
    pub fn source(self) -> &'static str {
        self.entry().source
    }

    /// Returns the algorithm's parameters with their defaults.
    #[must_use]
    pub fn params(self) -> &'static [ParamSpec] {
        self.entry().params
    }

    /// Returns the family with which the algorithm shares parameters, if any.
    #[must_use]
    pub fn family(self) -> Option<Family> {
        self.entry().family
    }

    /// Whether a pacing timer determines when packets leave. If not, packets leave when ACKs
    /// arrive.
    #[must_use]
    pub fn is_paced(self) -> bool {
        self.entry().is_paced
    }

    /// Whether the algorithm is a version of BBR. The function tests for the window model
    /// [`Window::Bears`], because only versions of BBR keep a link full in spite of losses.
    #[must_use]
    pub fn is_bbr(self) -> bool {
        matches!(self.window(), Window::Bears { .. })
    }

    /// Returns the algorithm's rough window model.
    #[must_use]
    pub fn window(self) -> Window {
        self.entry().window
    }

    /// Returns the algorithm's response to ECN marks.
    #[must_use]
    pub fn marks(self) -> Marks {
        self.entry().marks
    }

    /// Whether the algorithm, with these parameters, can respond in proportion to the share of
    /// marked packets. RFC 9331, section 4.3, requires such a response from a sender that sets
    /// ECT(1). For such an algorithm, the receiver echoes each mark individually.
    #[must_use]
    pub fn answers_share_of_marks(self, params: &Params) -> bool {
        let is_enabled = |(name, value): &(String, ParamValue)| {
            name == "ecn_enable" && matches!(value, ParamValue::Bool(true) | ParamValue::Int(1..))
        };
        match self.marks() {
            Marks::Once => false,
            Marks::Share | Marks::ShareOnRoute => true,
            Marks::ShareIfEnabled => params.iter().any(is_enabled),
        }
    }

    /// Builds an instance whose private state is all zero. The caller must call `init` when the
    /// connection is established.
    ///
    /// # Errors
    /// Fails if a parameter is unknown or its value out of range.
    pub fn build(self, params: &Params) -> Result<Cc, ParamError> {
        let known = self.params();
        if let Some((name, _)) =
            params.iter().find(|(name, _)| known.iter().all(|p| p.name != name))
        {
            let names: Vec<&str> = known.iter().map(|p| p.name).collect();
            let reason = if names.is_empty() {
                format!("`{}` has no parameters", self.name())
            } else {
                format!("`{}` has no such parameter; it has {}", self.name(), names.join(", "))
            };
            return Err(ParamError { name: name.clone(), reason });
        }
        (self.entry().new)(params)
    }
}

/// Calls the callbacks that an ACK causes, and stores their results in the connection. The methods
/// are not inlined, so that each branch of the dispatch over all algorithms is only a jump to a
/// method. In each method, the compiler omits writes to the fields of `conn.ctl` that the algorithm
/// leaves unchanged.
trait Apply: CongestionControl {
    #[inline(never)]
    fn apply_cong_control(&mut self, conn: &mut Conn, rs: &RateSample, draw: &mut impl Draw) {
        conn.ctl = self.cong_control(conn, rs, draw);
    }

    #[inline(never)]
    fn apply_cong_avoid(&mut self, conn: &mut Conn, ack: u32, acked: u32) {
        conn.ctl = self.cong_avoid(conn, ack, acked);
    }

    #[inline(never)]
    fn apply_pkts_acked(&mut self, conn: &mut Conn, sample: &AckSample) {
        conn.ctl.ssthresh = self.pkts_acked(conn, sample);
    }
}

impl<C: CongestionControl> Apply for C {}

macro_rules! dispatch {
    ($($variant:ident($state:ty)),* $(,)?) => {
        /// An instance of a built-in or custom algorithm. The enum's tag is a separate byte
        /// (`repr`), which the dispatch reads without decoding. The state of an algorithm is boxed
        /// if it is larger than BBRv1's state, which therefore determines the size of the enum.
        #[derive(Clone, Debug)]
        #[repr(u8)]
        #[expect(missing_docs, reason = "each variant is named after its algorithm")]
        pub enum Cc {
            $($variant($state),)*
        }

        /// The callbacks that an ACK causes, with their results stored in the connection.
        impl Cc {
            /// Calls [`CongestionControl::cong_control`].
            #[inline(always)]
            pub fn apply_cong_control(&mut self, conn: &mut Conn, rs: &RateSample, draw: &mut impl Draw) {
                match self { $(Self::$variant(cc) => cc.apply_cong_control(conn, rs, draw),)* }
            }

            /// Calls [`CongestionControl::cong_avoid`].
            pub fn apply_cong_avoid(&mut self, conn: &mut Conn, ack: u32, acked: u32) {
                match self { $(Self::$variant(cc) => cc.apply_cong_avoid(conn, ack, acked),)* }
            }

            /// Calls [`CongestionControl::pkts_acked`].
            pub fn apply_pkts_acked(&mut self, conn: &mut Conn, sample: &AckSample) {
                match self { $(Self::$variant(cc) => cc.apply_pkts_acked(conn, sample),)* }
            }
        }

        impl CongestionControl for Cc {
            fn hooks(&self) -> Hooks {
                match self { $(Self::$variant(cc) => cc.hooks(),)* }
            }
            fn init(&mut self, conn: &Conn, draw: &mut impl Draw) -> Control {
                match self { $(Self::$variant(cc) => cc.init(conn, draw),)* }
            }
            fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, draw: &mut impl Draw) -> Control {
                match self { $(Self::$variant(cc) => cc.cwnd_event(conn, event, draw),)* }
            }
            fn set_state(&mut self, conn: &Conn, new: CaState, draw: &mut impl Draw) -> Control {
                match self { $(Self::$variant(cc) => cc.set_state(conn, new, draw),)* }
            }
            fn skb_marked_lost(&mut self, conn: &Conn, skb: &LostSkb, draw: &mut impl Draw) -> Control {
                match self { $(Self::$variant(cc) => cc.skb_marked_lost(conn, skb, draw),)* }
            }
            fn ssthresh(&mut self, conn: &Conn) -> u32 {
                match self { $(Self::$variant(cc) => cc.ssthresh(conn),)* }
            }
            fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
                match self { $(Self::$variant(cc) => cc.undo_cwnd(conn),)* }
            }
            fn cong_control(&mut self, conn: &Conn, rs: &RateSample, draw: &mut impl Draw) -> Control {
                let mut conn = *conn;
                self.apply_cong_control(&mut conn, rs, draw);
                conn.ctl
            }
            fn cong_avoid(&mut self, conn: &Conn, ack: u32, acked: u32) -> Control {
                let mut conn = *conn;
                self.apply_cong_avoid(&mut conn, ack, acked);
                conn.ctl
            }
            fn pkts_acked(&mut self, conn: &Conn, sample: &AckSample) -> u32 {
                let mut conn = *conn;
                self.apply_pkts_acked(&mut conn, sample);
                conn.ctl.ssthresh
            }
            fn in_ack_event(&mut self, conn: &Conn, flags: u32) -> Control {
                match self { $(Self::$variant(cc) => cc.in_ack_event(conn, flags),)* }
            }
            fn tso_segs(&self, conn: &Conn, mss_now: u32) -> u32 {
                match self { $(Self::$variant(cc) => cc.tso_segs(conn, mss_now),)* }
            }
            fn min_tso_segs(&self, conn: &Conn) -> u32 {
                match self { $(Self::$variant(cc) => cc.min_tso_segs(conn),)* }
            }
            fn sndbuf_expand(&self, conn: &Conn) -> u32 {
                match self { $(Self::$variant(cc) => cc.sndbuf_expand(conn),)* }
            }
            fn bw(&self, conn: &Conn) -> u64 {
                match self { $(Self::$variant(cc) => cc.bw(conn),)* }
            }
            fn info(&self, conn: &Conn) -> Info {
                match self { $(Self::$variant(cc) => cc.info(conn),)* }
            }
            fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
                match self { $(Self::$variant(cc) => cc.snapshot(field),)* }
            }
        }
    };
}

dispatch! {
    Bbr1(Bbr1),
    Bbr1Ns3(Box<Bbr<Ns3>>),
    BbrPrime(Box<Bbr<BbrPrime>>),
    BbrHsr(Box<Bbr<BbrHsr>>),
    BbrPlus(Box<Bbr<BbrPlus>>),
    DelayBbr(Box<Bbr<DelayBbr>>),
    BbrAcd(Box<Bbr<BbrAcd>>),
    Bbr2(Box<Bbr2<Alpha>>),
    Bbr2Form2020(Box<Bbr2<Form2020>>),
    Bbr2Exp(Box<Bbr2<Exp>>),
    Bbr3(Box<Bbr3<Constants>>),
    Bbr3Runtime(Box<Bbr3<RuntimeParams<BoundedParams>>>),
    Bbr3Ietf(Box<Bbr3Ietf>),
    Reno(Reno),
    Cubic(Cubic),
    CubicNs2(Box<CubicNs2>),
    Vegas(Vegas),
    Yeah(Yeah),
    Westwood(Westwood),
    Veno(Veno),
    Scalable(Scalable),
    Highspeed(Highspeed),
    Hybla(Hybla),
    Illinois(Illinois),
    Htcp(Htcp),
    Bic(Bic),
    Dctcp(Dctcp),
    Prague(Box<Prague>),
    Plugged(Plugged),
}

#[cfg(test)]
mod tests {
    use super::{Algorithm, Bbr1, Cc, Family, Marks};
    use crate::no_draw::NoDraw;
    use crate::{CongestionControl as _, Conn, Control, PacingStatus};

    #[test]
    fn a_family_begins_with_the_algorithm_that_it_is_named_after() {
        let of = |family: Family| family.base().name();
        let names = [of(Family::Bbr), of(Family::Bbr2), of(Family::Bbr3)];
        assert_eq!(names, ["bbr1", "bbr2", "bbr3"]);
        assert_eq!([of(Family::Cubic), of(Family::Vegas)], ["cubic", "vegas"]);
    }

    #[test]
    fn who_answers_marks_if_enabled_has_the_parameter_that_enables_it() {
        for algorithm in Algorithm::ALL {
            let has_it = algorithm.params().iter().any(|param| param.name == "ecn_enable");
            let name = algorithm.name();
            assert_eq!(has_it, algorithm.marks() == Marks::ShareIfEnabled, "{name}");
        }
    }

    #[test]
    fn who_is_a_bbr_has_it_in_the_published_name() {
        for algorithm in Algorithm::ALL {
            assert_eq!(
                algorithm.is_bbr(),
                algorithm.title().contains("BBR"),
                "{}",
                algorithm.name()
            );
        }
    }

    #[test]
    fn who_is_paced_asks_for_it_and_nobody_else() {
        // The connection has ECN, because without ECN, Prague behaves as Reno and is not paced.
        let ecn_flags = crate::ecn_flags::OK;
        let ctl = Control { cwnd: 10, cwnd_clamp: u32::MAX, ecn_flags, ..Control::default() };
        let conn = Conn { ctl, mss: 1448, hz: 1000, max_pacing_rate: u64::MAX, ..Conn::default() };
        for algorithm in Algorithm::ALL {
            let mut cc = algorithm.build(&Vec::new()).unwrap();
            let asks = cc.init(&conn, &mut NoDraw).pacing_status == PacingStatus::Needed;
            assert_eq!(asks, algorithm.is_paced(), "{}", algorithm.name());
        }
    }

    #[test]
    fn no_algorithm_takes_more_room_in_a_flow_than_bbr1() {
        assert!(size_of::<Cc>() <= size_of::<Bbr1>() + size_of::<u64>());
    }
}
