//! Structs of settings whose fields are keys of scenarios. The macro `settings!` takes a table with
//! a row per setting. Each row defines the field, the key and the key's meaning.

use bbrlab_units::{BitRate, Bytes, Span};

use crate::Stack;

/// A key of scenarios whose value is a field of the struct `S`.
#[derive(Debug)]
pub struct Setting<S> {
    /// The version of bbrlab that introduced the key.
    pub since: &'static str,
    /// The key's meaning, in Markdown.
    pub meaning: &'static str,
    /// The text that describes the default in Markdown, if the field is `None` by default.
    pub without: &'static str,
    /// Whether the key acts on TCP connections only. A flow of datagrams cannot have such a key.
    pub needs_connection: bool,
    /// The form of the key's values.
    pub form: SettingForm,
    /// Returns the field as a key's value; `None` if the field is `None`.
    pub value: fn(&S) -> Option<SettingValue>,
    /// Sets the field from a key's value, which must have the form `form`.
    pub set: fn(&mut S, SettingValue),
}

/// The form of a key's values.
#[derive(Clone, Copy, Debug)]
pub enum SettingForm {
    /// `true` or `false`.
    Bool,
    /// A name; the function returns the possible names.
    Choice(fn() -> Vec<&'static str>),
    /// A whole number from the first to the second number, both included.
    Whole(u64, u64),
    /// A time above zero.
    Time,
    /// A rate above zero.
    Rate,
    /// A number of bytes above zero.
    Bytes,
}

/// The value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// A value of the form `Bool`.
    Bool(bool),
    /// A value of the form `Choice`.
    Choice(&'static str),
    /// A value of the form `Whole`.
    Whole(u64),
    /// A value of the form `Time`.
    Time(Span),
    /// A value of the form `Rate`.
    Rate(BitRate),
    /// A value of the form `Bytes`.
    Bytes(Bytes),
}

/// The type of a field that is a key of scenarios.
pub trait SettingType: Sized {
    /// The form of the key's values.
    const FORM: SettingForm;

    /// Converts the field to the key's value; `None` for a field of type `Option` that is `None`.
    fn to_value(&self) -> Option<SettingValue>;

    /// Converts a key's value to the content of the field. Returns `None` if the value has another
    /// form than [`Self::FORM`], or if the number is too large for the field.
    fn of_value(value: SettingValue) -> Option<Self>;
}

macro_rules! setting_types {
    ($($type:ty: $variant:ident = $form:expr;)*) => {
        $(impl SettingType for $type {
            const FORM: SettingForm = $form;

            fn to_value(&self) -> Option<SettingValue> {
                Some(SettingValue::$variant((*self).into()))
            }

            fn of_value(value: SettingValue) -> Option<Self> {
                let SettingValue::$variant(value) = value else { return None };
                value.try_into().ok()
            }
        })*
    };
}

setting_types! {
    bool: Bool = SettingForm::Bool;
    u8: Whole = SettingForm::Whole(0, 255);
    u32: Whole = SettingForm::Whole(0, 4_294_967_295);
    Span: Time = SettingForm::Time;
    BitRate: Rate = SettingForm::Rate;
    Bytes: Bytes = SettingForm::Bytes;
}

impl<T: SettingType> SettingType for Option<T> {
    const FORM: SettingForm = T::FORM;

    fn to_value(&self) -> Option<SettingValue> {
        self.as_ref().and_then(T::to_value)
    }

    fn of_value(value: SettingValue) -> Option<Self> {
        T::of_value(value).map(Some)
    }
}

/// Lists the values of an enum with their names in scenarios.
#[macro_export]
macro_rules! choices {
    ($name:ident: $($variant:ident = $word:literal),*) => {
        impl $name {
            /// The values with their names in scenarios.
            pub const NAMED: &[(&str, Self)] = &[$(($word, Self::$variant)),*];
        }

        impl $crate::SettingType for $name {
            const FORM: $crate::SettingForm = $crate::SettingForm::Choice(|| vec![$($word),*]);

            fn to_value(&self) -> Option<$crate::SettingValue> {
                match self {
                    $(Self::$variant => Some($crate::SettingValue::Choice($word)),)*
                }
            }

            fn of_value(value: $crate::SettingValue) -> Option<Self> {
                match value {
                    $($crate::SettingValue::Choice($word) => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

/// Defines a struct of settings from rows: field, type, default, key in scenarios, the version that
/// introduced the key, and the key's meaning, which is also the field's documentation. The row may
/// continue with fields of [`Setting`], such as `without: "no limit"`.
///
/// If a row ends with the key, there is no [`Setting`]: the reader of scenarios has its own code
/// for this key. If a row ends with the default, the field has no key, because its type is another
/// struct of settings.
#[macro_export]
macro_rules! settings {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident {
            $(
                $(#[$doc:meta])*
                pub $field:ident: $type:ty = $default:expr $(, $key:literal
                $(, $since:literal, $meaning:literal $(, $part:ident: $value:expr)*)?)?;
            )*
        }
    ) => {
        $(#[$attribute])*
        pub struct $name {
            $($($(#[doc = $meaning] #[doc = ""])?)? $(#[$doc])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            /// The keys of all settings in the order of the fields. `None`: the reader of scenarios
            /// has its own code for the key.
            pub const SETTINGS: &[(&str, Option<$crate::Setting<Self>>)] = &[$($((
                $key,
                $crate::settings!(
                    @row $field: $type $(, $since, $meaning $(, $part: $value)*)?
                ),
            ),)?)*];

            /// Returns the keys of the settings that differ from `other`, in the order of the
            /// fields.
            #[must_use]
            pub fn differing_keys(&self, other: &Self) -> Vec<&'static str> {
                let mut keys = Vec::new();
                $($(
                    if self.$field != other.$field {
                        keys.push($key);
                    }
                )?)*
                keys
            }
        }
    };
    (@row $field:ident: $type:ty) => { None };
    (
        @row $field:ident: $type:ty, $since:literal, $meaning:literal
        $(, $part:ident: $value:expr)*
    ) => {
        Some($crate::Setting {
            $($part: $value,)*
            ..$crate::Setting {
                since: $since,
                meaning: $meaning,
                without: "none",
                needs_connection: true,
                form: <$type as $crate::SettingType>::FORM,
                value: |settings: &Self| $crate::SettingType::to_value(&settings.$field),
                set: |settings, value| {
                    settings.$field =
                        $crate::SettingType::of_value(value).expect("the value fits the field");
                },
            }
        })
    };
}

impl Stack {
    /// Returns the keys of the switches (settings of one mechanism each) that differ from `other`:
    /// first the keys for the socket, then those for losses, rate samples and pacing.
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
        assert!(plain.differing_switches(&other).is_empty(), "`hz` switches no mechanism");
        other.loss.rto = Rto::MarkAllKeepSack;
        other.rate.is_blind = true;
        other.socket.paws = Some(true);
        assert_eq!(plain.differing_switches(&other), ["paws", "rto", "rate_samples"]);
        assert_eq!(other.differing_switches(&plain), ["paws", "rto", "rate_samples"]);
    }
}
