//! `bbr`, `bbr2`, `bbr3`, `cubic` and `vegas` in `[stack]`: parameters of families of algorithms.
//! Parameters in `[stack]` apply to all flows that do not set them in `cc_params`.
//!
//! A profile such as `ns3` sets parameters in `[stack]` to the values of the TCP that it imitates.
//! The parameters in `bbr` apply to BBR v1 and to its variants; an algorithm that lacks a parameter
//! ignores it. A parameter that `[stack]` does not have can only be set in a flow's `cc_params`.

use std::sync::{Arc, LazyLock};

use bbrlab_cc::{Algorithm, Family, ParamValue, Params};

use crate::keys::params::{read_param, show_params};
use crate::language::document::Node;
use crate::language::nearest::nearest;
use crate::language::reader::Reader;

const FAMILIES: [Family; 5] =
    [Family::Bbr, Family::Bbr2, Family::Bbr3, Family::Cubic, Family::Vegas];

/// Returns the names of a family's parameters in `[stack]`, each with the parameter's name in
/// `cc_params`.
fn names(family: Family) -> Vec<(&'static str, &'static str)> {
    match family {
        Family::Bbr | Family::Bbr2 | Family::Bbr3 => {
            family.base().params().iter().map(|p| (p.name, p.name)).collect()
        }
        Family::Cubic => vec![
            ("beta", "beta"),
            ("fast_convergence", "fast_convergence"),
            ("friendly", "tcp_friendliness"),
            ("growth", "growth"),
            ("hystart", "hystart"),
            ("wmax_on_rto", "wmax_on_rto"),
        ],
        Family::Vegas => vec![("diff", "diff"), ("growth", "growth")],
    }
}

/// Returns the default of a family's parameter, given by its name in `cc_params`.
fn default_of(family: Family, param: &str) -> ParamValue {
    let spec = family.base().params().iter().find(|spec| spec.name == param);
    spec.expect("the family's algorithm has the parameter").default_value()
}

/// The parameters of all families of congestion controls, with their values. A parameter is stored
/// under its name in `[stack]`; its name in `cc_params` can be different. Runs that use all
/// defaults of a family share one copy of the family's values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FamilyParams([Arc<Params>; FAMILIES.len()]);

/// The defaults of all parameters. The defaults are computed only once, because each run of a sweep
/// needs them.
static DEFAULTS: LazyLock<FamilyParams> = LazyLock::new(|| {
    FamilyParams(FAMILIES.map(|family| {
        let value = |(name, param): (&str, &str)| (name.to_owned(), default_of(family, param));
        let mut values: Params = names(family).into_iter().map(value).collect();
        values.sort_by(|(a, _), (b, _)| a.cmp(b));
        Arc::new(values)
    }))
});

impl Default for FamilyParams {
    fn default() -> Self {
        DEFAULTS.clone()
    }
}

impl FamilyParams {
    /// Reads the table in `[stack]` with the parameters of a family of algorithms, such as the
    /// table `cubic`. Parameters that are not in the table keep their values.
    pub(crate) fn read(
        &mut self,
        family: Family,
        reader: &mut Reader<'_>,
        node: &Node,
        name: &str,
    ) {
        let expected = "a table of parameters such as { margin = 0.01 }";
        let Some(table) = reader.table(node, name, expected) else { return };
        let names = names(family);
        for entry in &table.entries {
            let shown = format!("{name}.{}", entry.key);
            let Some(&(known, param)) = names.iter().find(|(known, _)| *known == &*entry.key)
            else {
                let right = nearest(&entry.key, names.iter().map(|&(known, _)| known));
                let help = right.map(|right| format!("did you mean `{right}`?"));
                let title = format!("`{shown}`: expected a key of `{name}`");
                reader.problem(
                    entry.key_at,
                    title,
                    "found an unknown key",
                    help.into_iter().collect(),
                );
                let known: Vec<&str> = names.iter().map(|&(known, _)| known).collect();
                reader.note(format!("keys of `{name}`: {}", known.join(", ")));
                continue;
            };
            let Some(value) = read_param(reader, &entry.value, &shown) else { continue };
            let alone = vec![(param.to_owned(), value.clone())];
            if let Err(error) = family.base().build(&alone) {
                let title = format!("`{shown}`: {}", error.reason);
                let found = format!("found {}", crate::language::reader::found(&entry.value.value));
                reader.problem(entry.value.at, title, found, Vec::new());
                continue;
            }
            let mut values = Arc::make_mut(&mut self.0[family as usize]).iter_mut();
            let place = values.find(|(name, _)| name == known).expect("all names are there");
            place.1 = value;
        }
    }

    /// Returns all values of a family, as TOML.
    pub(crate) fn show(&self, family: Family) -> String {
        show_params(&self.0[family as usize])
    }

    /// Returns the parameters of a flow with the algorithm `cc`: the flow's `cc_params` (`own`),
    /// and parameters of the algorithm's family. A parameter of the family is returned only if the
    /// algorithm has the parameter, `own` does not set it, and its value is not the default.
    pub(crate) fn of_flow(&self, cc: Algorithm, own: &Params) -> Params {
        let mut params = own.clone();
        let is_set = |family: &Family| {
            let place = *family as usize;
            cc.family() == Some(*family) && !Arc::ptr_eq(&self.0[place], &DEFAULTS.0[place])
        };
        for family in FAMILIES.into_iter().filter(is_set) {
            for (name, value) in &*self.0[family as usize] {
                let names = names(family);
                let (_, param) = names.iter().find(|(known, _)| known == name).expect("a name");
                let has_it = cc.params().iter().any(|spec| spec.name == *param);
                let is_own = own.iter().any(|(own, _)| own == param);
                if has_it && !is_own && *value != default_of(family, param) {
                    params.push(((*param).to_owned(), value.clone()));
                }
            }
        }
        params.sort_by(|(a, _), (b, _)| a.cmp(b));
        params
    }
}
