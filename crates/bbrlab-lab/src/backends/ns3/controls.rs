//! The names of congestion controls in ns-3.

use std::env;
use std::path::PathBuf;

use bbrlab_run::{Algorithm, FlowClass, ParamValue, is_ns3_attribute};

/// The environment variable that names a library with this project's algorithms as types of ns-3.
pub(super) const MODULE: &str = "BBRLAB_NS3_MODULE";

/// Returns the library that `BBRLAB_NS3_MODULE` names.
pub(super) fn module() -> Option<PathBuf> {
    env::var_os(MODULE).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Returns the type of one of our algorithms in the module: `bbrlab::BbrPrime` for `bbr_prime`.
pub(super) fn type_in_module(cc: Algorithm) -> String {
    let mut name = "bbrlab::".to_owned();
    for word in cc.name().split('_') {
        let mut letters = word.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

/// Returns the name of a flow's congestion control as a type of ns-3, or `udp`.
pub(super) fn type_of(class: &FlowClass) -> String {
    match class.ns3_type() {
        _ if class.is_udp => "udp".to_owned(),
        Some(own) => format!("ns3::{own}"),
        None => type_in_module(class.cc),
    }
}

/// Returns the attributes that a flow's `cc_params` set, with their values as ns-3 reads them.
pub(super) fn attributes(class: &FlowClass) -> Vec<(String, String)> {
    let own = class.ns3_type().into_iter().flat_map(|_| &class.cc_params);
    let set = own.filter(|(name, _)| is_ns3_attribute(name));
    set.map(|(name, value)| (format!("{}::{name}", type_of(class)), text_of(value))).collect()
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

    use super::type_in_module;

    #[test]
    fn our_algorithms_have_types_in_capitals() {
        assert_eq!(type_in_module(Algorithm::Bbr1), "bbrlab::Bbr1");
        assert_eq!(type_in_module(Algorithm::BbrPrime), "bbrlab::BbrPrime");
        assert_eq!(type_in_module(Algorithm::DelayBbr), "bbrlab::DelayBbr");
    }
}
