//! Structs of settings with a method that returns the keys, as in scenarios, of the settings that
//! differ.

use crate::Stack;

/// Defines a struct of settings from rows: field, type, default, and the field's key in scenarios.
#[macro_export]
macro_rules! settings {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident {
            $($(#[$doc:meta])* pub $field:ident: $type:ty = $default:expr, $key:literal;)*
        }
    ) => {
        $(#[$attribute])*
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            /// The keys of all settings, in the order of the fields.
            pub const KEYS: &[&str] = &[$($key),*];

            /// Returns the keys of the settings that differ from `other`, in the order of the
            /// fields.
            #[must_use]
            pub fn differing_keys(&self, other: &Self) -> Vec<&'static str> {
                let mut keys = Vec::new();
                $(
                    if self.$field != other.$field {
                        keys.push($key);
                    }
                )*
                keys
            }
        }
    };
}

impl Stack {
    /// Returns the keys of the switches that differ from `other`: first the keys for the socket,
    /// then those for losses, rate samples and pacing.
    #[must_use]
    pub fn differing_switches(&self, other: &Self) -> Vec<&'static str> {
        let mut keys = self.socket.differing_keys(&other.socket);
        keys.extend(self.loss.differing_keys(&other.loss));
        keys.extend(self.rate.differing_keys(&other.rate));
        keys.extend(self.pacing.differing_keys(&other.pacing));
        keys
    }
}

#[cfg(test)]
mod tests {
    use crate::{Rto, Stack};

    #[test]
    fn only_the_switches_that_differ_are_named() {
        let plain = Stack::default();
        let mut other = Stack { hz: 250, ..plain };
        assert!(plain.differing_switches(&other).is_empty(), "`hz` is a setting and no switch");
        other.loss.rto = Rto::MarkAllKeepSack;
        other.rate.is_blind = true;
        other.socket.paws = Some(true);
        assert_eq!(plain.differing_switches(&other), ["paws", "rto", "rate_samples"]);
        assert_eq!(other.differing_switches(&plain), ["paws", "rto", "rate_samples"]);
    }
}
