//! The names of congestion controls in ns-3.

use std::env;
use std::fs::File;
use std::io;
use std::path::{self, Path, PathBuf};

use bbrlab_run::{Algorithm, FlowClass, ParamValue, is_ns3_attribute};
use sha2::{Digest as _, Sha256};

/// The environment variable that names the module: a library with this project's algorithms as
/// types of ns-3.
pub(super) const MODULE: &str = "BBRLAB_NS3_MODULE";

/// Returns the path of the module that `BBRLAB_NS3_MODULE` names; `None` if the variable is not set
/// or empty. The path is absolute, because the driver runs in another folder.
pub(super) fn module() -> Option<PathBuf> {
    let path = env::var_os(MODULE).filter(|value| !value.is_empty()).map(PathBuf::from)?;
    Some(path::absolute(&path).unwrap_or(path))
}

/// Returns the first eight hexadecimal digits of the SHA-256 of the module's file.
///
/// # Errors
/// Fails if the file cannot be read.
pub(super) fn fingerprint(module: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut File::open(module)?, &mut hash)?;
    Ok(format!("{:x}", hash.finalize())[..8].to_owned())
}

/// Converts the name of one of our algorithms to a name in the module: `bbr_prime` becomes
/// `BbrPrime`.
fn camel_case(name: &str) -> String {
    let mut camel = String::new();
    for word in name.split('_') {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

/// The types in the module whose names [`camel_case`] would not give: each algorithm's name with
/// the name of its type. `adapters/ns3/model/bbrlab-types.cc` has the same list.
const NAMES: [(&str, &str); 1] = [("bbrplus", "BbrPlus")];

/// Returns the type of one of our algorithms in the module: `bbrlab::BbrPrime` for `bbr_prime`.
pub(super) fn type_in_module(cc: Algorithm) -> String {
    let listed = NAMES.iter().find(|(name, _)| *name == cc.name());
    let name = listed.map_or_else(|| camel_case(cc.name()), |(_, name)| (*name).to_owned());
    format!("bbrlab::{name}")
}

/// Returns the name of a flow's congestion control as a type of ns-3; `udp` for a UDP flow.
pub(super) fn type_of(class: &FlowClass) -> String {
    match class.ns3_type() {
        _ if class.is_udp => "udp".to_owned(),
        Some(own) => format!("ns3::{own}"),
        None => type_in_module(class.cc),
    }
}

/// Returns the attributes that a flow's parameters set, with their values as ns-3 reads them. In
/// the module's types, all parameters of our algorithms are attributes. For ns-3's own types, only
/// parameters that are named like attributes of ns-3 are returned.
pub(super) fn attributes(class: &FlowClass) -> Vec<(String, String)> {
    let is_own = class.ns3_type().is_some();
    if class.is_udp || (!is_own && class.outside.is_some()) {
        return Vec::new();
    }
    let set = class.cc_params.iter().filter(|(name, _)| !is_own || is_ns3_attribute(name));
    let of_type = type_of(class);
    let name_of = |name: &str| if is_own { name.to_owned() } else { camel_case(name) };
    set.map(|(name, value)| (format!("{of_type}::{}", name_of(name)), text_of(value))).collect()
}

fn text_of(value: &ParamValue) -> String {
    match value {
        ParamValue::Int(value) => value.to_string(),
        ParamValue::Float(value) => value.to_string(),
        ParamValue::Bool(value) => value.to_string(),
        ParamValue::Text(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use bbrlab_run::Algorithm;
    use bbrlab_scenario::Scenario;

    use super::{NAMES, attributes, type_in_module};

    #[test]
    fn parameters_are_attributes_of_the_types() {
        let of = |cc: &str| {
            let text = format!(
                "duration = \"1s\"\n[stack]\nprofile = \"ns3\"\n[bottleneck]\nrate = \"1Mbit/s\"\n\
                 [[flows]]\nrtt = \"10ms\"\n{cc}\n"
            );
            let run = Scenario::parse("t", "t", &text, None, &[]).unwrap().run(0);
            attributes(&run.classes[0])
        };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let own = of("cc = \"ns3:TcpBbr\"\ncc_params = { HighGain = 2.5 }");
        assert_eq!(own, [pair("ns3::TcpBbr::HighGain", "2.5")]);
        let ours = of("cc = \"bbr3\"\ncc_params = { loss_thresh = 3 }");
        assert!(ours.contains(&pair("bbrlab::Bbr3::LossThresh", "3")), "{ours:?}");
        let ours = of("cc = \"bbr1\"");
        assert!(ours.contains(&pair("bbrlab::Bbr1::SeedBw", "true")), "{ours:?}");
    }

    #[test]
    fn our_algorithms_have_types_in_capitals() {
        assert_eq!(type_in_module(Algorithm::Bbr1), "bbrlab::Bbr1");
        assert_eq!(type_in_module(Algorithm::BbrPrime), "bbrlab::BbrPrime");
        assert_eq!(type_in_module(Algorithm::DelayBbr), "bbrlab::DelayBbr");
        assert_eq!(type_in_module(Algorithm::BbrPlus), "bbrlab::BbrPlus");
    }

    #[test]
    fn the_module_has_the_same_list_of_names() {
        let module = include_str!("../../../../adapters/ns3/model/bbrlab-types.cc");
        let list: Vec<String> =
            NAMES.iter().map(|(name, of_type)| format!("{{\"{name}\", \"{of_type}\"}}")).collect();
        assert!(module.contains(&format!("NAMES[] = {{{}}};", list.join(", "))), "{list:?}");
    }
}
