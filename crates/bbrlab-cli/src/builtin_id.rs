//! A command-line argument whose value is the id of a built-in scenario. Shells complete the id
//! from the argument's list of ids. The argument accepts any text, because the command explains an
//! unknown id better than clap does.

use std::ffi::OsStr;

use bbrlab_scenario::BUILTINS;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};

#[derive(Clone, Copy, Debug)]
pub(crate) struct BuiltinId;

impl TypedValueParser for BuiltinId {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue>>> {
        Some(Box::new(BUILTINS.iter().map(|builtin| PossibleValue::new(builtin.id))))
    }
}
