//! Structs that are stored as 64-bit words, and their conversions to and from bytes.

/// Declares a struct of `count` words of 64 bits, with its conversions to and from bytes.
macro_rules! plain_words {
    (
        $(#[$of_type:meta])*
        $vis:vis struct $name:ident: $count:literal words {
            $($(#[$of_field:meta])* $field_vis:vis $field:ident,)*
        }
    ) => {
        $(#[$of_type])*
        $vis struct $name {
            $($(#[$of_field])* $field_vis $field: u64,)*
        }

        impl $name {
            /// Length in bytes.
            $vis const SIZE: usize = 8 * $count;

            /// Encodes the struct.
            $vis fn to_bytes(self) -> [u8; 8 * $count] {
                let words: [u64; $count] = [$(self.$field),*];
                zerocopy::transmute!(words)
            }

            /// Decodes the struct.
            $vis fn of_bytes(bytes: [u8; 8 * $count]) -> Self {
                let [$($field),*]: [u64; $count] = zerocopy::transmute!(bytes);
                Self { $($field),* }
            }
        }
    };
}

pub(crate) use plain_words;
