//! Tips in the error message for an unknown flag. A tip names the scenario's key that the user can
//! set with `--set`, or the other subcommands that have the flag.

use std::ffi::OsString;

use bbrlab_scenario::{nearest, sections};
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory as _};

use crate::args::Cli;
use crate::list::kinds_with;

/// Flags that users try for the number of runs, which the key `repeat` sets.
const REPEAT: [&str; 4] = ["seeds", "runs", "repeats", "repetitions"];

/// Returns clap's error, with a tip if the user wrote an unknown flag, or `list NAME` instead of
/// `list KIND NAME`. The tip says what the user probably meant. For an unknown flag, clap's own tip
/// to pass the flag as a value is removed, because no value begins like a flag.
pub(crate) fn explained(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    if error.kind() == ErrorKind::InvalidValue && words.get(1).is_some_and(|verb| verb == "list") {
        return with_tip_of_list(error);
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg).cloned() else {
        return error;
    };
    let Some(name) = flag.strip_prefix("--") else { return error };
    error.remove(ContextKind::Suggested);
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let command = Cli::command();
    let Some(verb) = words.iter().skip(1).find_map(|word| command.find_subcommand(word)) else {
        return error;
    };
    let is_similar = error.get(ContextKind::SuggestedArg).is_some();
    let tip = if has_flag(verb, "set") {
        let value = value_of(&flag, &words);
        tip_of_key(&full_names(name, !is_similar), value.as_deref())
    } else {
        tip_of_seeds(verb, name)
    };
    let tip = tip.or_else(|| tip_of_verbs(&command, verb, name).filter(|_| !is_similar));
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
        let tips = vec![StyledStr::from(tip)];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// Adds the tip `bbrlab list KIND NAME` if the user wrote `bbrlab list NAME`.
fn with_tip_of_list(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidValue).cloned() else {
        return error;
    };
    let tip = |kind: String| {
        StyledStr::from(format!("to show `{name}`, use 'bbrlab list {kind} {name}'"))
    };
    let tips: Vec<StyledStr> = kinds_with(&name).into_iter().map(tip).collect();
    if !tips.is_empty() {
        error.remove(ContextKind::SuggestedValue);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// Whether the subcommand `verb` shows this flag in its help.
fn has_flag(verb: &Command, name: &str) -> bool {
    verb.get_arguments().any(|arg| arg.get_long() == Some(name) && !arg.is_hide_set())
}

/// Returns the value that the user gave to a flag: the text after `=`, or the next word unless it
/// is a flag. `None` without a value.
fn value_of(flag: &str, words: &[String]) -> Option<String> {
    let after = |word: &String| Some(word.strip_prefix(flag)?.strip_prefix('=')?.to_owned());
    words.iter().find_map(after).or_else(|| {
        let at = words.iter().position(|word| word == flag)?;
        words.get(at + 1).filter(|word| !word.starts_with("--")).cloned()
    })
}

/// Returns the full names, such as `bottleneck.rate`, of the scenario's keys that the user may mean
/// by a flag. With `is_near`, the flag may also be a misspelt key.
fn full_names(flag: &str, is_near: bool) -> Vec<String> {
    let plain = flag.replace('-', "_");
    if REPEAT.contains(&plain.as_str()) {
        return vec!["repeat".to_owned()];
    }
    let mut known: Vec<(String, &'static str)> = Vec::new();
    for section in sections() {
        let table = section.header.trim_matches(['[', ']']);
        for key in &section.keys {
            let full = if table.is_empty() {
                key.name.to_owned()
            } else {
                format!("{table}.{}", key.name)
            };
            known.push((full, key.name));
        }
    }
    if known.iter().any(|(full, _)| *full == without_indices(&plain)) {
        return vec![plain];
    }
    // Suggest no key of `links`: `bottleneck` has nearly the same keys, and most scenarios have a
    // bottleneck.
    known.retain(|(full, _)| !full.starts_with("links."));
    let with_name = |wanted: &str| -> Vec<String> {
        known.iter().filter(|(_, name)| *name == wanted).map(|(full, _)| full.clone()).collect()
    };
    let found = with_name(&plain);
    if !found.is_empty() || !is_near {
        return found;
    }
    let near = nearest(&plain, known.iter().map(|(_, name)| *name));
    near.map_or_else(Vec::new, with_name)
}

/// Returns a key without indices in brackets: `flows.cc` for `flows[1].cc`.
fn without_indices(key: &str) -> String {
    let mut depth = 0_usize;
    let outside = |c: &char| match c {
        '[' => {
            depth += 1;
            false
        }
        ']' => {
            depth = depth.saturating_sub(1);
            false
        }
        _ => depth == 0,
    };
    key.chars().filter(outside).collect()
}

/// Returns the tip to set one of the scenario's keys in `names` with `--set`; `None` if `names` is
/// empty.
fn tip_of_key(names: &[String], value: Option<&str>) -> Option<String> {
    let value = value.unwrap_or("VALUE");
    let quoted = |name: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._+-%/".contains(c);
        let assignment = format!("{name}={value}");
        // A shell would interpret brackets and spaces, so an assignment with them is quoted.
        if assignment.replacen('=', "", 1).chars().all(plain) {
            format!("--set {assignment}")
        } else {
            format!("--set '{assignment}'")
        }
    };
    let ways: Vec<String> = names.iter().map(quoted).collect();
    let key = if names.len() == 1 { "this key" } else { "such a key" };
    (!ways.is_empty()).then(|| format!("to set {key} of the scenario, use {}", ways.join(" or ")))
}

/// Returns the tip to use `--seeds`, if the subcommand `verb` has this flag and the user tried
/// another word for the number of runs.
fn tip_of_seeds(verb: &Command, name: &str) -> Option<String> {
    let is_meant = name == "repeat" || REPEAT.contains(&name);
    (is_meant && has_flag(verb, "seeds"))
        .then(|| "to repeat each run with several seeds, use --seeds N".to_owned())
}

/// Returns the tip that names the other subcommands that have the flag; `None` if there are none.
fn tip_of_verbs(command: &Command, verb: &Command, name: &str) -> Option<String> {
    let others = command.get_subcommands().filter(|other| !other.is_hide_set());
    let with_it =
        others.filter(|other| other.get_name() != verb.get_name() && has_flag(other, name));
    let names: Vec<String> =
        with_it.map(|other| format!("'bbrlab {}'", other.get_name())).collect();
    let (last, first) = names.split_last()?;
    let (listed, have) = if first.is_empty() {
        (last.clone(), "has")
    } else {
        (format!("{} and {last}", first.join(", ")), "have")
    };
    Some(format!("'bbrlab {}' has no '--{name}', but {listed} {have}", verb.get_name()))
}

#[cfg(test)]
mod tests {
    use super::{full_names, tip_of_key};

    #[test]
    fn a_flag_with_the_name_of_a_key_is_set() {
        for (flag, names) in [
            ("repeat", "repeat"),
            ("seeds", "repeat"),
            ("repaet", "repeat"),
            ("duration", "duration"),
            ("start-jitter", "flows.start_jitter"),
            ("bottleneck.rate", "bottleneck.rate"),
            ("flows[1].cc", "flows[1].cc"),
            ("links[0].rate", "links[0].rate"),
            ("mss", "stack.mss flows.mss"),
            ("something", ""),
        ] {
            assert_eq!(full_names(flag, true).join(" "), names, "{flag}");
        }
        assert_eq!(full_names("repaet", false), Vec::<String>::new());
    }

    #[test]
    fn the_tip_can_be_pasted_into_a_shell() {
        let tip = |name: &str, value| tip_of_key(&[name.to_owned()], value).unwrap();
        let start = "to set this key of the scenario, use --set ";
        assert_eq!(tip("repeat", Some("3")), format!("{start}repeat=3"));
        assert_eq!(tip("flows[1].cc", None), format!("{start}'flows[1].cc=VALUE'"));
        assert_eq!(tip("title", Some("a b")), format!("{start}'title=a b'"));
    }
}
