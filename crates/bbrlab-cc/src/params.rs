//! The parameters of an algorithm: a table of names, each with a default and a meaning, and the
//! values that a scenario sets.

use std::fmt;
use std::ops::RangeInclusive;

/// The value of a parameter in a scenario file.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamValue {
    /// A whole number.
    Int(i64),
    /// A ratio or factor.
    Float(f64),
    /// A switch.
    Bool(bool),
    /// A text, for example the name of a choice.
    Text(String),
}

/// The parameters that a scenario sets: names and values.
pub type Params = Vec<(String, ParamValue)>;

/// A parameter that an algorithm has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParamSpec {
    /// The parameter's name in `cc_params`.
    pub name: &'static str,
    /// The default value, written as in a scenario.
    pub default: &'static str,
    /// The parameter's meaning, with its unit.
    pub summary: &'static str,
}

impl ParamSpec {
    /// Parses the default.
    #[must_use]
    pub fn default_value(&self) -> ParamValue {
        let text = self.default;
        if let Ok(int) = text.parse() {
            return ParamValue::Int(int);
        }
        if let Ok(float) = text.parse() {
            return ParamValue::Float(float);
        }
        if let Ok(switch) = text.parse() {
            return ParamValue::Bool(switch);
        }
        ParamValue::Text(text.trim_matches('"').to_owned())
    }
}

/// The error for a parameter that is refused.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamError {
    /// The name of the parameter that was refused.
    pub name: String,
    /// The value found and the values accepted.
    pub reason: String,
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parameter `{}`: {}", self.name, self.reason)
    }
}

impl std::error::Error for ParamError {}

impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Text(value) => write!(f, "{value:?}"),
        }
    }
}

/// The values of an algorithm's parameters: set by the scenario, or defaults.
pub(crate) struct ParamTable<'a> {
    specs: &'static [ParamSpec],
    given: &'a Params,
}

impl<'a> ParamTable<'a> {
    /// Makes a table of the parameters in `specs`; `given` holds the values that the scenario sets.
    pub(crate) fn new(specs: &'static [ParamSpec], given: &'a Params) -> Self {
        Self { specs, given }
    }

    /// Returns a ratio as an integer in 1/65536, because algorithms compute with integers.
    pub(crate) fn ratio_q16(
        &self,
        name: &str,
        range: RangeInclusive<u16>,
    ) -> Result<u32, ParamError> {
        let value = match self.value(name) {
            #[expect(
                clippy::cast_precision_loss,
                reason = "values that lose precision are out of range"
            )]
            ParamValue::Int(value) => value as f64,
            ParamValue::Float(value) => value,
            other => return Err(refused(name, &other, &number_in("", &range))),
        };
        if !(f64::from(*range.start())..=f64::from(*range.end())).contains(&value) {
            return Err(refused(name, &ParamValue::Float(value), &number_in("", &range)));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was checked: at most 65535 << 16"
        )]
        Ok((value * 65536.0).round() as u32)
    }

    /// Returns a ratio in millionths. Values above `most` millionths are refused.
    pub(crate) fn ratio_ppm(&self, name: &str, most: u32) -> Result<u32, ParamError> {
        let value = match self.value(name) {
            ParamValue::Int(value @ 0..=1) => f64::from(i32::try_from(value).expect("0 or 1")),
            ParamValue::Float(value) => value,
            other => return Err(refused(name, &other, &ppm_range(most))),
        };
        let ppm = (value * 1e6).round();
        if !(0.0..=f64::from(most)).contains(&ppm) {
            return Err(refused(name, &ParamValue::Float(value), &ppm_range(most)));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was checked"
        )]
        Ok(ppm as u32)
    }

    /// Returns a whole number, which must be in `range`.
    pub(crate) fn integer(
        &self,
        name: &str,
        range: RangeInclusive<u32>,
    ) -> Result<u32, ParamError> {
        let value = self.value(name);
        let ParamValue::Int(int) = value else {
            return Err(refused(name, &value, &number_in("whole ", &range)));
        };
        u32::try_from(int)
            .ok()
            .filter(|int| range.contains(int))
            .ok_or_else(|| refused(name, &value, &number_in("whole ", &range)))
    }

    /// Returns a Boolean parameter; accepts `true` and `false`, and the kernel's 1 and 0.
    pub(crate) fn switch(&self, name: &str) -> Result<bool, ParamError> {
        match self.value(name) {
            ParamValue::Bool(switch) => Ok(switch),
            ParamValue::Int(int @ (0 | 1)) => Ok(int == 1),
            other => Err(refused(name, &other, "true or false")),
        }
    }

    /// Whether the parameter's value is `text`.
    pub(crate) fn is_text(&self, name: &str, text: &str) -> bool {
        matches!(self.value(name), ParamValue::Text(value) if value == text)
    }

    /// Returns the value that `choices` gives for the parameter's text.
    pub(crate) fn choice<T: Copy>(
        &self,
        name: &str,
        choices: &[(&str, T)],
    ) -> Result<T, ParamError> {
        let value = self.value(name);
        let found = match &value {
            ParamValue::Text(text) => choices.iter().find(|(name, _)| name == text),
            _ => None,
        };
        found.map(|&(_, choice)| choice).ok_or_else(|| {
            let names: Vec<String> = choices.iter().map(|(name, _)| format!("{name:?}")).collect();
            refused(name, &value, &names.join(" or "))
        })
    }

    /// Returns the scenario's value or, if the scenario sets none, the default.
    fn value(&self, name: &str) -> ParamValue {
        let given = self.given.iter().rev().find(|(given, _)| given == name);
        given.map_or_else(|| self.default_of(name), |(_, value)| value.clone())
    }

    fn default_of(&self, name: &str) -> ParamValue {
        let spec = self.specs.iter().find(|spec| spec.name == name);
        spec.expect("an algorithm reads only parameters in its own list").default_value()
    }
}

fn ppm_range(most: u32) -> String {
    format!("a number from 0 to {}", f64::from(most) / 1e6)
}

fn number_in<T: fmt::Display>(kind: &str, range: &RangeInclusive<T>) -> String {
    format!("a {kind}number from {} to {}", range.start(), range.end())
}

fn refused(name: &str, found: &ParamValue, expected: &str) -> ParamError {
    ParamError { name: name.to_owned(), reason: format!("found {found}, expected {expected}") }
}
