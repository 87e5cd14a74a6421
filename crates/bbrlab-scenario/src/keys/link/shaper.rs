//! `peak_rate` and `police`: the peak rate of a link with a token bucket, and policers.

use bbrlab_link::{Link, PeakRate, Policer};
use bbrlab_units::{BitRate, Bytes, NS_PER_S};

use crate::language::canonical::toml_string;
use crate::language::document::{At, Node, Value};
use crate::language::key::{Form, Part, needed, optional};
use crate::language::quantity::show_rate;
use crate::language::reader::{Keys, Placed, Reader};

/// Bytes of the largest IP packet on Ethernet, without framing.
const FULL_PACKET: Bytes = Bytes(1500);

const NS: u128 = NS_PER_S as u128;

/// The longest time, in nanoseconds, in which the rate of a policer may fill its bucket. `tc`
/// passes this time to the kernel in 32 bits, in units of 64 ns.
const FILLS_IN_AT_MOST: u128 = 64 * u32::MAX as u128;

/// The value of `peak_rate` as the scenario writes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeakSpec {
    at: At,
    pub(super) rate: BitRate,
    mtu: Option<Placed<Bytes>>,
}

/// The keys of the table form of `peak_rate`.
pub(super) const PEAK: &[Part] = &[needed("rate", Form::Rate), optional("mtu", Form::Bytes)];

impl PeakSpec {
    pub(super) fn read(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Self> {
        let Value::Table(table) = &node.value else {
            let such_as =
                "\"100Mbit/s\", or a table such as { rate = \"100Mbit/s\", mtu = \"9KB\" }";
            let rate = reader.rate_such_as(node, name, such_as)?;
            return Some(Self { at: node.at, rate, mtu: None });
        };
        let mut keys = Keys::new(table, name, node.at);
        let expected = "the peak rate, such as \"100Mbit/s\"";
        let rate = reader.needed(&mut keys, "rate", expected, Reader::rate);
        let mtu = keys.take("mtu");
        let mtu = mtu.and_then(|node| {
            let value = reader.positive_bytes(node, &keys.name("mtu"))?;
            Some(Placed { value, at: node.at })
        });
        keys.finish(reader);
        rate.map(|rate| Self { at: node.at, rate, mtu })
    }

    pub(super) fn show(self) -> String {
        let rate = toml_string(&show_rate(self.rate));
        let mtu = self.mtu.map(|mtu| mtu.value.0);
        mtu.map_or(rate.clone(), |mtu| format!("{{ rate = {rate}, mtu = \"{mtu}B\" }}"))
    }

    /// Returns the token bucket of the peak rate. The bucket's default depth is one packet of full
    /// size.
    pub(crate) fn of(self, link: &Link) -> PeakRate {
        let full = Bytes(FULL_PACKET.0 + link.framing.0);
        PeakRate { rate: self.rate, mtu: self.mtu.map_or(full, |mtu| mtu.value) }
    }

    /// Returns the name of the key that sets the depth of the peak rate's token bucket:
    /// `peak_rate.mtu`. If the scenario does not set `mtu`, returns `peak_rate`.
    pub(crate) fn key(self) -> &'static str {
        if self.mtu.is_some() { "peak_rate.mtu" } else { "peak_rate" }
    }

    /// Returns the position in the scenario file at which the value of `peak_rate.mtu` is. If the
    /// scenario does not set `mtu`, returns the position of the value of `peak_rate`.
    pub(crate) fn mtu_at(self) -> At {
        self.mtu.map_or(self.at, |mtu| mtu.at)
    }
}

pub(super) fn show_police(police: Policer) -> String {
    let Policer { rate, burst } = police;
    format!("{{ rate = \"{}\", burst = \"{}B\" }}", show_rate(rate), burst.0)
}

/// Reads a policer, with the position of its `burst`.
pub(super) fn read_police(
    reader: &mut Reader<'_>,
    node: &Node,
    name: &str,
) -> Option<Placed<Policer>> {
    let example = "a table such as { rate = \"10Mbit/s\", burst = \"32KiB\" }";
    let table = reader.table(node, name, example)?;
    let mut keys = Keys::new(table, name, node.at);
    let rate = reader.needed(
        &mut keys,
        "rate",
        "the rate of the policer, such as \"10Mbit/s\"",
        Reader::rate,
    );
    let burst = reader.needed(
        &mut keys,
        "burst",
        "the size of the bucket, such as \"32KiB\"",
        Reader::positive_bytes,
    );
    let at = keys.get("burst").map_or(node.at, |burst| burst.at);
    keys.finish(reader);
    let policer = Policer { rate: rate?, burst: burst? };
    let fills_in_ns = u128::from(policer.burst.0) * 8 * NS / u128::from(policer.rate.0);
    if fills_in_ns > FILLS_IN_AT_MOST {
        let title = format!("`{name}.burst`: expected a bucket that fills in at most 274 s");
        let found = "found more than `tc` can express with 32 bits in units of 64 ns";
        reader.problem(at, title, found, Vec::new());
        return None;
    }
    Some(Placed { value: policer, at })
}
