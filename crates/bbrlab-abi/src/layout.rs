//! Structs with the same layout in Rust and in C.
//!
//! The macro [`c_struct`] defines a struct from one row per field. The row also has the field's
//! declaration in C, from which the header is written. A test compares the sizes and offsets in
//! Rust with the numbers that a C compiler computes.

/// A struct of the header.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The struct's name in C.
    pub name: &'static str,
    /// The struct's meaning.
    pub about: &'static str,
    /// The struct's size in bytes.
    pub size: usize,
    /// The struct's fields, in order.
    pub members: Vec<Member>,
}

/// A field of a struct.
#[derive(Clone, Debug)]
pub struct Member {
    /// The field's name.
    pub name: &'static str,
    /// The declaration in C, without the semicolon.
    pub declaration: String,
    /// The field's meaning, with its unit.
    pub meaning: String,
    /// The field's offset in the struct, in bytes.
    pub offset: usize,
}

/// Defines a struct with its declaration in C.
macro_rules! c_struct {
    ($name:ident = $c:literal, $about:literal {
        $($field:ident: $kind:ty, $declaration:literal, $meaning:literal;)*
    }) => {
        #[doc = concat!($about, ".")]
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $(#[doc = concat!($meaning, ".")] pub $field: $kind,)*
        }

        impl $name {
            /// The size of the struct in bytes, which its first field must contain.
            #[expect(clippy::cast_possible_truncation, reason = "a few hundred bytes")]
            pub const SIZE: u32 = size_of::<Self>() as u32;

            /// Returns the struct's declaration in C.
            #[must_use]
            pub fn layout() -> $crate::Layout {
                $crate::Layout {
                    name: $c,
                    about: $about,
                    size: size_of::<Self>(),
                    members: vec![$($crate::Member {
                        name: stringify!($field),
                        declaration: $declaration.to_owned(),
                        meaning: $meaning.to_owned(),
                        offset: std::mem::offset_of!(Self, $field),
                    },)*],
                }
            }
        }
    };
}

pub(crate) use c_struct;
