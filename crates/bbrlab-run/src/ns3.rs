//! Congestion controls that are part of ns-3. A flow names one by its type in ns-3, as in `cc =
//! "ns3:TcpBbr"`.
//!
//! Only ns-3 runs these congestion controls. For some of them, bbrlab has an algorithm that
//! imitates the control of ns-3, and the simulator uses this algorithm.

use bbrlab_cc::Algorithm;

use crate::run::{FlowClass, Outside};

/// The beginning of the names of ns-3's congestion controls.
pub const NS3: &str = "ns3:";

/// Types of congestion controls in ns-3, each with the algorithm of bbrlab that imitates it in a
/// run with a profile of ns-3. [`ns3_type_of`] returns the first type of an algorithm, so
/// `TcpLinuxReno` comes before ns-3's older `TcpNewReno`: messages then suggest `TcpLinuxReno` for
/// `reno`.
const IMITATED: [(&str, Algorithm); 5] = [
    ("TcpBbr", Algorithm::Bbr1),
    ("TcpCubic", Algorithm::Cubic),
    ("TcpLinuxReno", Algorithm::Reno),
    ("TcpNewReno", Algorithm::Reno),
    ("TcpVegas", Algorithm::Vegas),
];

impl Outside {
    /// Returns the congestion control with this name if the name has the form of an ns-3 type. This
    /// form is `ns3:`, followed by 1 to 60 letters, digits and `_`.
    #[must_use]
    pub fn of_ns3(name: &str) -> Option<Self> {
        let own = name.strip_prefix(NS3)?;
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        if own.is_empty() || own.len() > 60 || !own.bytes().all(is_plain) {
            return None;
        }
        Some(Self {
            name: name.to_owned(),
            source: "ns-3".to_owned(),
            sha256: None,
            answers_share_of_marks: false,
        })
    }

    /// Returns the type of an ns-3 congestion control, such as `TcpBbr`; `None` for other controls.
    #[must_use]
    pub fn ns3_type(&self) -> Option<&str> {
        self.name.strip_prefix(NS3)
    }

    /// Returns the algorithm that imitates this congestion control of ns-3; `None` if there is
    /// none.
    #[must_use]
    pub fn imitation(&self) -> Option<Algorithm> {
        let own = self.ns3_type()?;
        IMITATED.iter().find(|(name, _)| *name == own).map(|&(_, cc)| cc)
    }
}

impl FlowClass {
    /// Returns the ns-3 type that the flows of the class have as their congestion control, such as
    /// `TcpBbr`; `None` if their congestion control is not one of ns-3.
    #[must_use]
    pub fn ns3_type(&self) -> Option<&str> {
        self.outside.as_ref()?.ns3_type()
    }
}

/// Whether a parameter is an attribute of ns-3: names of attributes begin with a capital, names of
/// bbrlab's parameters do not.
#[must_use]
pub fn is_ns3_attribute(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
}

/// Returns the type of ns-3 that an algorithm imitates under a profile of ns-3; `None` if it
/// imitates none.
#[must_use]
pub fn ns3_type_of(cc: Algorithm) -> Option<&'static str> {
    IMITATED.iter().find(|(_, imitation)| *imitation == cc).map(|&(name, _)| name)
}

#[cfg(test)]
mod tests {
    use bbrlab_cc::Algorithm;

    use super::{Outside, ns3_type_of};

    #[test]
    fn a_type_of_ns3_has_a_name_and_perhaps_an_imitation() {
        let bbr = Outside::of_ns3("ns3:TcpBbr").unwrap();
        assert_eq!((bbr.ns3_type(), bbr.imitation()), (Some("TcpBbr"), Some(Algorithm::Bbr1)));
        assert_eq!(Outside::of_ns3("ns3:TcpLedbat").unwrap().imitation(), None);
        for wrong in ["ns3:", "ns3:Tcp Bbr", "TcpBbr", "plugin:ns3", "ns3:a\"b"] {
            assert_eq!(Outside::of_ns3(wrong), None, "{wrong}");
        }
        assert_eq!(ns3_type_of(Algorithm::Reno), Some("TcpLinuxReno"));
    }
}
