//! The structs that a congestion control receives, in C: one field per row of the table in
//! `crates/bbrlab-cc/src/fields.rs`.
//!
//! In Rust, `Conn` contains the `Control`. In C, a plugin's functions get a pointer to each of the
//! two structs, so that later versions can append fields to both.

use std::mem::offset_of;

use bbrlab_cc::fields::Kind;
use bbrlab_cc::{CaState, PacingStatus, fields};

use crate::{Layout, Member};

/// A Rust type that fields of `bbrlab-cc`'s structs have, and its conversion to and from a C type.
pub trait InC: Copy {
    /// The type that such a field has in C.
    type C: Copy;

    /// Converts the value to C.
    fn into_c(self) -> Self::C;

    /// Converts a value from C; `None` if the Rust type has no such value.
    fn from_c(value: Self::C) -> Option<Self>;
}

macro_rules! same_in_c {
    ($($integer:ty)*) => {$(
        impl InC for $integer {
            type C = $integer;

            fn into_c(self) -> $integer {
                self
            }

            fn from_c(value: $integer) -> Option<Self> {
                Some(value)
            }
        }
    )*};
}

same_in_c!(u8 u32 i32 u64 i64);

macro_rules! byte_in_c {
    ($($kind:ty, $into:expr, $from:expr;)*) => {$(
        impl InC for $kind {
            type C = u8;

            fn into_c(self) -> u8 {
                let into: fn(Self) -> u8 = $into;
                into(self)
            }

            fn from_c(value: u8) -> Option<Self> {
                let from: fn(u8) -> Option<Self> = $from;
                from(value)
            }
        }
    )*};
}

byte_in_c! {
    bool, u8::from, |value| Some(value != 0);
    CaState, |state| state as u8, |value| Self::from_number(value.into());
    PacingStatus, |status| status as u8, |value| Self::from_number(value.into());
}

/// Returns the C type of a field with the Rust type `kind`.
fn c_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool | Kind::U8 | Kind::CaState | Kind::PacingStatus => "uint8_t",
        Kind::U32 => "uint32_t",
        Kind::I32 => "int32_t",
        Kind::U64 => "uint64_t",
        Kind::I64 => "int64_t",
    }
}

/// Defines the C struct that corresponds to a struct of `bbrlab-cc`.
macro_rules! c_record {
    ({ $c:literal }
    $record:ident, $about:literal {
        $($name:ident: $kind:ty, $column:literal, $unit:literal, $linux:literal, $meaning:literal
            $(, writable $least:literal to $most:literal)?;)*
    } computed { $($computed:tt)* }) => {
        #[doc = concat!($about, ". See the struct of this name in `bbrlab-cc`.")]
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $record {
            /// The size of the struct in bytes.
            pub size: u32,
            $(#[doc = concat!($meaning, ". Unit: ", $unit, ".")] pub $name: <$kind as InC>::C,)*
        }

        impl $record {
            /// The size of the struct in bytes, which its first field must contain.
            #[expect(clippy::cast_possible_truncation, reason = "a few hundred bytes")]
            pub const SIZE: u32 = size_of::<Self>() as u32;

            /// Returns the struct's declaration in C.
            #[must_use]
            pub fn layout() -> Layout {
                let mut members = vec![Member {
                    name: "size",
                    declaration: "uint32_t size".to_owned(),
                    meaning: "Size of the struct in bytes".to_owned(),
                    offset: offset_of!(Self, size),
                }];
                let offsets = [$(offset_of!(Self, $name)),*];
                for (row, offset) in bbrlab_cc::$record::FIELDS.iter().zip(offsets) {
                    let about = row.about;
                    members.push(Member {
                        name: about.name,
                        declaration: format!("{} {}", c_type(about.kind), about.name),
                        meaning: format!("{}; {}", about.unit, about.meaning),
                        offset,
                    });
                }
                Layout { name: $c, about: $about, size: size_of::<Self>(), members }
            }
        }

        impl From<&bbrlab_cc::$record> for $record {
            fn from(record: &bbrlab_cc::$record) -> Self {
                Self { size: Self::SIZE, $($name: record.$name.into_c(),)* }
            }
        }

        impl $record {
            /// Stores the fields in the Rust struct `record`.
            ///
            /// # Errors
            /// Fails if a value in C does not exist in the field's Rust type. Returns the name of
            /// the first such field.
            pub fn store(&self, record: &mut bbrlab_cc::$record) -> Result<(), &'static str> {
                $(record.$name = <$kind as InC>::from_c(self.$name).ok_or(stringify!($name))?;)*
                Ok(())
            }
        }
    };
}

fields!(Control, c_record { "bbrlab_control" });
fields!(Conn, c_record { "bbrlab_conn" });
fields!(RateSample, c_record { "bbrlab_rate_sample" });
fields!(AckSample, c_record { "bbrlab_ack_sample" });
fields!(LostSkb, c_record { "bbrlab_lost_skb" });
