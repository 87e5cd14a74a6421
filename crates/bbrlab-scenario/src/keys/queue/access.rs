//! Reads and writes the parameters of queue disciplines. A parameter is defined by the type of its
//! value, and by a function that returns the field in which the discipline stores the parameter.
//! The reader, the writer and the description of the parameter follow from this definition.

use bbrlab_link::{CakeAckFilter, CakeFlows, CakeTins, Probability, Queue, StepThreshold};
use bbrlab_units::{BitRate, Bytes, Packets, Span};

use crate::language::canonical::{show_bytes, show_text};
use crate::language::decimal::Decimal;
use crate::language::document::{Node, Value};
use crate::language::key::{Form, name_of, names, set};
use crate::language::quantity::{QueueSize, show_rate, show_span};
use crate::language::reader::Reader;

/// A function that returns the field in which a discipline stores a parameter; `None` if the
/// discipline does not have the parameter.
pub(super) type Place<T> = fn(&mut Queue) -> Option<&mut T>;

/// The largest values of `alpha` and `beta`, the weights of control laws: for `pie` the limit of
/// `tc`, for `dualpi2` the limit of the kernel.
const PIE_WEIGHT_MAX: u32 = 32;
const WEIGHT_MAX: u32 = 255 << 8;

/// `cake`'s aggressive ACK filter, which keeps one ACK per flow.
const AGGRESSIVE: &str = "aggressive";

/// The type of a parameter's value, with the function that returns the parameter's field.
#[derive(Clone, Copy)]
pub(super) enum Access {
    /// A time as `tc` passes it to the kernel: whole microseconds in 32 bits, above zero.
    Time(Place<Span>),
    /// A time with the bounds of `Time`, or no value, for a parameter that may be unset.
    OptionalTime(Place<Option<Span>>),
    /// True or false.
    Bool(Place<bool>),
    /// A whole number within the two bounds.
    Whole(u32, u32, Place<u32>),
    /// A whole number within the two bounds. The discipline stores the number in eight bits.
    Small(u8, u8, Place<u8>),
    /// A weight of a control law (`alpha` or `beta`). The weight's unit and largest value depend on
    /// the discipline. For `pie` the largest value is 32.
    Weight(Place<u32>),
    /// A whole number within the two bounds. If the scenario sets no number, the discipline
    /// computes it from other parameters.
    OptionalWhole(u32, u32, Place<Option<u32>>),
    /// A number of bytes within the two bounds.
    Bytes(u64, u64, Place<Bytes>),
    /// A number of bytes within the two bounds. If the scenario sets no number, the discipline
    /// computes it from other parameters.
    OptionalBytes(u64, u64, Place<Option<Bytes>>),
    /// A ratio from 0 to 1.
    Ratio(Place<Probability>),
    /// A rate. If the scenario sets no rate, the discipline has none or computes it from other
    /// values.
    OptionalRate(Place<Option<BitRate>>),
    /// A threshold for marking: a waiting time or a number of packets.
    Step(Place<StepThreshold>),
    /// A power of two that is at most the given number.
    PowerOfTwo(u32, Place<u32>),
    /// The classes of traffic (tins) of `cake`.
    Tins(Place<CakeTins>),
    /// The flows or hosts among which `cake` shares the link.
    Isolation(Place<CakeFlows>),
    /// The ACK filter of `cake`.
    AckFilter(Place<CakeAckFilter>),
    /// The band of each of the 16 priorities.
    Bands(Place<[u8; 16]>),
}

impl Access {
    /// Returns whether the discipline has the parameter.
    pub(super) fn is_of(self, mut queue: Queue) -> bool {
        let queue = &mut queue;
        match self {
            Self::Time(place) => place(queue).is_some(),
            Self::OptionalTime(place) => place(queue).is_some(),
            Self::Bool(place) => place(queue).is_some(),
            Self::Whole(.., place) | Self::PowerOfTwo(_, place) | Self::Weight(place) => {
                place(queue).is_some()
            }
            Self::Small(.., place) => place(queue).is_some(),
            Self::OptionalWhole(.., place) => place(queue).is_some(),
            Self::Bytes(.., place) => place(queue).is_some(),
            Self::OptionalBytes(.., place) => place(queue).is_some(),
            Self::Ratio(place) => place(queue).is_some(),
            Self::OptionalRate(place) => place(queue).is_some(),
            Self::Step(place) => place(queue).is_some(),
            Self::Tins(place) => place(queue).is_some(),
            Self::Isolation(place) => place(queue).is_some(),
            Self::AckFilter(place) => place(queue).is_some(),
            Self::Bands(place) => place(queue).is_some(),
        }
    }

    pub(super) fn form(self) -> Form {
        match self {
            Self::Time(_) | Self::OptionalTime(_) => Form::Time,
            Self::Bool(_) => Form::Bool,
            Self::Whole(least, most, _) | Self::OptionalWhole(least, most, _) => {
                Form::Whole(least.into(), most.into())
            }
            Self::Small(least, most, _) => Form::Whole(least.into(), most.into()),
            Self::Weight(_) => Form::Whole(0, WEIGHT_MAX.into()),
            Self::Bytes(..) | Self::OptionalBytes(..) => Form::Bytes,
            Self::Ratio(_) => Form::Ratio,
            Self::OptionalRate(_) => Form::Rate,
            Self::Step(_) => Form::QueueSize,
            Self::PowerOfTwo(most, _) => Form::Whole(1, most.into()),
            Self::Tins(_) => Form::Choice(|| names(CakeTins::NAMED)),
            Self::Isolation(_) => Form::Choice(|| names(CakeFlows::NAMED)),
            Self::AckFilter(_) => Form::Any(&[Form::Bool, Form::Choice(|| vec![AGGRESSIVE])]),
            Self::Bands(_) => Form::List(&Form::Whole(0, 15)),
        }
    }

    /// Reads the parameter's value and stores it in `queue`, which must have the parameter.
    pub(super) fn read(
        self,
        queue: &mut Queue,
        reader: &mut Reader<'_>,
        node: &Node,
        name: &str,
    ) -> Option<()> {
        match self {
            Self::Time(place) => set(place(queue)?, whole_us(reader, node, name)),
            Self::OptionalTime(place) => *place(queue)? = whole_us(reader, node, name),
            Self::Bool(place) => set(place(queue)?, reader.boolean(node, name)),
            Self::Whole(least, most, place) => {
                set(place(queue)?, whole(reader, node, name, least, most));
            }
            Self::Small(least, most, place) => {
                let read = whole(reader, node, name, least.into(), most.into());
                set(place(queue)?, read.map(|it| u8::try_from(it).expect("at most `most`")));
            }
            Self::Weight(place) => {
                let is_pie = matches!(queue, Queue::Pie(_) | Queue::FqPie(_));
                let most = if is_pie { PIE_WEIGHT_MAX } else { WEIGHT_MAX };
                set(place(queue)?, whole(reader, node, name, 0, most));
            }
            Self::OptionalWhole(least, most, place) => {
                *place(queue)? = whole(reader, node, name, least, most);
            }
            Self::Bytes(least, most, place) => {
                set(place(queue)?, bytes(reader, node, name, least, most));
            }
            Self::OptionalBytes(least, most, place) => {
                *place(queue)? = bytes(reader, node, name, least, most);
            }
            Self::Ratio(place) => {
                set(place(queue)?, reader.ratio(node, name).and_then(probability));
            }
            // If the rate cannot be read, store a placeholder, so that the link's rate is not
            // reported as missing.
            Self::OptionalRate(place) => {
                *place(queue)? = reader.rate(node, name).or(Some(BitRate(1)));
            }
            Self::Step(place) => set(place(queue)?, step(reader, node, name)),
            Self::PowerOfTwo(most, place) => {
                set(place(queue)?, power_of_two(reader, node, name, most));
            }
            Self::Tins(place) => {
                set(place(queue)?, reader.choice(node, name, CakeTins::NAMED, ""));
            }
            Self::Isolation(place) => {
                set(place(queue)?, reader.choice(node, name, CakeFlows::NAMED, ""));
            }
            Self::AckFilter(place) => set(place(queue)?, ack_filter(reader, node, name)),
            Self::Bands(place) => set(place(queue)?, bands(reader, node, name)),
        }
        Some(())
    }

    /// Returns the value as TOML; `None` if the parameter is unset or the discipline lacks it.
    pub(super) fn show(self, mut queue: Queue) -> Option<String> {
        let queue = &mut queue;
        let time = |span: Span| show_text(&show_span(span));
        match self {
            Self::Time(place) => time(*place(queue)?),
            Self::OptionalTime(place) => time((*place(queue)?)?),
            Self::Bool(place) => Some(place(queue)?.to_string()),
            Self::Whole(.., place) | Self::PowerOfTwo(_, place) | Self::Weight(place) => {
                Some(place(queue)?.to_string())
            }
            Self::Small(.., place) => Some(place(queue)?.to_string()),
            Self::OptionalWhole(.., place) => Some((*place(queue)?)?.to_string()),
            Self::Bytes(.., place) => show_bytes(place(queue)?.0),
            Self::OptionalBytes(.., place) => show_bytes((*place(queue)?)?.0),
            Self::Ratio(place) => Some(show_probability(*place(queue)?)),
            Self::OptionalRate(place) => show_text(&show_rate((*place(queue)?)?)),
            Self::Step(place) => match *place(queue)? {
                StepThreshold::Wait(span) => time(span),
                StepThreshold::Packets(packets) => show_text(&format!("{}pkt", packets.0)),
            },
            Self::Tins(place) => show_text(name_of(CakeTins::NAMED, *place(queue)?)),
            Self::Isolation(place) => show_text(name_of(CakeFlows::NAMED, *place(queue)?)),
            Self::AckFilter(place) => match *place(queue)? {
                CakeAckFilter::Off => Some("false".to_owned()),
                CakeAckFilter::Conservative => Some("true".to_owned()),
                CakeAckFilter::Aggressive => show_text(AGGRESSIVE),
            },
            Self::Bands(place) => Some(format!("{:?}", place(queue)?)),
        }
    }
}

fn power_of_two(reader: &mut Reader<'_>, node: &Node, name: &str, most: u32) -> Option<u32> {
    let number = whole(reader, node, name, 1, most)?;
    if !number.is_power_of_two() {
        reader.wrong(node, name, "a power of two");
        return None;
    }
    Some(number)
}

fn ack_filter(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<CakeAckFilter> {
    match &node.value {
        Value::Bool(true) => Some(CakeAckFilter::Conservative),
        Value::Bool(false) => Some(CakeAckFilter::Off),
        Value::Text(text) if text == AGGRESSIVE => Some(CakeAckFilter::Aggressive),
        _ => {
            reader.wrong(node, name, "true, false or \"aggressive\"");
            None
        }
    }
}

fn bands(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<[u8; 16]> {
    let Value::Array(values) = &node.value else {
        reader.wrong(node, name, "a list of 16 bands");
        return None;
    };
    let mut bands = Vec::with_capacity(values.len());
    for value in values.iter().take(17) {
        let band = reader.integer(value, name, 0, 15)?;
        bands.push(u8::try_from(band).expect("at most 15"));
    }
    let bands = <[u8; 16]>::try_from(bands);
    if bands.is_err() {
        reader.wrong(node, name, "a list of 16 bands");
    }
    bands.ok()
}

fn step(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<StepThreshold> {
    let words = ("a wait or a number of packets", "\"1ms\" or \"5pkt\"");
    reader.queue_threshold(node, name, words, |size| match size {
        QueueSize::Time(span) => Some(StepThreshold::Wait(span)),
        QueueSize::Packets(packets) => Some(StepThreshold::Packets(Packets(packets))),
        QueueSize::Bytes(_) | QueueSize::Bdp(_) | QueueSize::Unlimited => None,
    })
}

/// Returns a ratio in units of 2^-32, rounded down as `tc` does.
fn probability(ratio: Decimal) -> Option<Probability> {
    ratio.times_floored(u128::from(Probability::ONE.0)).map(Probability)
}

/// Returns the number with the fewest digits that is read as this probability.
fn show_probability(shown: Probability) -> String {
    let value = u128::from(shown.0);
    let of_digits = |digits: u32| {
        let scale = 10_u128.pow(digits);
        // Round up, because `probability` rounds down: reading the number gives `shown` again.
        let number = (value * scale).div_ceil(u128::from(Probability::ONE.0));
        let (whole, fraction) = (number / scale, number % scale);
        format!("{whole}.{fraction:0width$}", width = digits as usize)
    };
    let leads_back = |text: &String| {
        Decimal::parse(text).and_then(probability).is_some_and(|read| read == shown)
    };
    (1..=11).map(of_digits).find(leads_back).expect("eleven digits distinguish multiples of 2^-32")
}

fn whole_us(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Span> {
    let span = reader.positive_span(node, name)?;
    if span.0 % 1000 != 0 || span.0 / 1000 > u64::from(u32::MAX) {
        reader.wrong(node, name, "whole microseconds, at most 4294967295");
        return None;
    }
    Some(span)
}

fn whole(reader: &mut Reader<'_>, node: &Node, name: &str, least: u32, most: u32) -> Option<u32> {
    let number = reader.integer(node, name, least.into(), most.into())?;
    Some(u32::try_from(number).expect("at most `most`"))
}

fn bytes(reader: &mut Reader<'_>, node: &Node, name: &str, least: u64, most: u64) -> Option<Bytes> {
    let bytes = reader.bytes(node, name)?;
    if bytes.0 < least || bytes.0 > most {
        reader.wrong(node, name, &format!("from \"{least}B\" to \"{most}B\""));
        return None;
    }
    Some(bytes)
}
