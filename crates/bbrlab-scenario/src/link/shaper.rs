//! Token buckets: the peak rate of a link that has one, and policers.

use bbrlab_link::{Link, PeakRate, Policer};
use bbrlab_units::{BitRate, Bytes};

use crate::canonical::toml_string;
use crate::document::{Node, Value};
use crate::key::{Form, Part, needed, optional};
use crate::quantity::show_rate;
use crate::reader::{Keys, Reader};

/// A packet of full size on Ethernet, without framing.
const FULL_PACKET: Bytes = Bytes(1500);

/// The peak rate of a link with a bucket, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PeakSpec {
    pub(super) rate: BitRate,
    mtu: Option<Bytes>,
}

/// The keys of the table form.
pub(super) const PEAK: &[Part] = &[needed("rate", Form::Rate), optional("mtu", Form::Bytes)];

impl PeakSpec {
    pub(super) fn read(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Self> {
        let Value::Table(table) = &node.value else {
            return reader.rate(node, name).map(|rate| Self { rate, mtu: None });
        };
        let mut keys = Keys::new(table, name, node.at);
        let expected = "how fast the bucket is emptied, such as \"100Mbit/s\"";
        let rate = reader.needed(&mut keys, "rate", expected, Reader::rate);
        let mtu = keys.take("mtu");
        let mtu = mtu.and_then(|node| reader.positive_bytes(node, &keys.name("mtu")));
        keys.finish(reader);
        rate.map(|rate| Self { rate, mtu })
    }

    pub(super) fn show(self) -> String {
        let rate = toml_string(&show_rate(self.rate));
        self.mtu.map_or(rate.clone(), |mtu| format!("{{ rate = {rate}, mtu = \"{}B\" }}", mtu.0))
    }

    /// The bucket beside that of a link, which has a packet of full size unless it says otherwise.
    pub(crate) fn of(self, link: &Link) -> PeakRate {
        let full = Bytes(FULL_PACKET.0 + link.framing.0);
        PeakRate { rate: self.rate, mtu: self.mtu.unwrap_or(full) }
    }
}

pub(super) fn read_police(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Policer> {
    let example = "a table such as { rate = \"10Mbit/s\", burst = \"32KiB\" }";
    let table = reader.table(node, name, example)?;
    let mut keys = Keys::new(table, name, node.at);
    let rate =
        reader.needed(&mut keys, "rate", "what may pass, such as \"10Mbit/s\"", Reader::rate);
    let burst = reader.needed(
        &mut keys,
        "burst",
        "what may pass at once, such as \"32KiB\"",
        Reader::positive_bytes,
    );
    keys.finish(reader);
    Some(Policer { rate: rate?, burst: burst? })
}
