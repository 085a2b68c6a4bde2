//! Numbers, and their conversion to others.

use crate::buffer::BufferWriter;

/// A numeric leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) kind: NumberKind,
    /// Size in bytes: 1, 2, 4, 8 or 16.
    pub(super) size: usize,
    pub(super) non_zero: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberKind {
    Unsigned,
    Signed,
    Float,
}

/// The relation of a number's type to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// The bytes stay.
    Same,
    /// The other type has all values.
    Widens,
    /// The other type lacks some values.
    Narrows,
    /// The types are not comparable.
    Never,
}

/// A number of 128 bits, and its sign.
#[derive(Debug, Clone, Copy)]
enum Value {
    Unsigned(u128),
    Signed(i128),
    Float(f64),
}

/// Calls `$sink` with the bytes of values, a place for wider ones, and the conversion of one value;
/// evaluates `$other` for rare pairs of types.
macro_rules! widen {
    (($old:expr, $new:expr), $sink:ident($from:expr, $into:expr), $other:expr) => {
        widen! {
            ($old, $new), $sink($from, $into), $other;
            Unsigned u8 => u16; Unsigned u8 => u32; Unsigned u8 => u64;
            Unsigned u16 => u32; Unsigned u16 => u64;
            Unsigned u32 => u64;
            Signed i8 => i16; Signed i8 => i32; Signed i8 => i64;
            Signed i16 => i32; Signed i16 => i64;
            Signed i32 => i64;
            Float f32 => f64;
        }
    };
    (
        ($old:expr, $new:expr), $sink:ident($from:expr, $into:expr), $other:expr;
        $($kind:ident $narrow:ty => $wide:ty;)*
    ) => {
        match ($old.kind, $old.size, $new.size) {
            $((NumberKind::$kind, size, wide)
                if (size, wide) == (size_of::<$narrow>(), size_of::<$wide>()) =>
            {
                $sink($from, $into, |value| {
                    <$wide>::from(<$narrow>::from_le_bytes(value)).to_le_bytes()
                })
            })*
            _ => $other,
        }
    };
}

/// Writes the conversion of each value of `from` to the start of `to`.
fn fill<const F: usize, const T: usize>(
    from: &[u8],
    to: &mut [u8],
    convert: impl Fn([u8; F]) -> [u8; T],
) {
    for (from, to) in from.chunks_exact(F).zip(to.chunks_exact_mut(T)) {
        if let (Some(from), Some(to)) = (from.first_chunk(), to.first_chunk_mut()) {
            *to = convert(*from);
        }
    }
}

/// Appends the conversion of each value of `from`. Returns false if they do not fit.
fn append<const F: usize, const T: usize>(
    from: &[u8],
    to: &mut BufferWriter,
    convert: impl Fn([u8; F]) -> [u8; T],
) -> bool {
    let values = from.chunks_exact(F);
    to.extend_values(values.map(|value| convert(value.first_chunk().copied().unwrap_or([0; F]))))
}

impl Number {
    /// Returns the number type of this name and size, if it is one.
    pub(super) fn from_name(name: &str, size: usize) -> Option<Self> {
        use NumberKind::{Float, Signed, Unsigned};
        let (plain, non_zero) = match name.strip_prefix("NonZero") {
            Some(rest) => (rest.to_ascii_lowercase(), true),
            None => (name.to_owned(), false),
        };
        let (kind, expected) = match &*plain {
            "u8" => (Unsigned, 1),
            "u16" => (Unsigned, 2),
            "u32" => (Unsigned, 4),
            "u64" | "usize" => (Unsigned, 8),
            "u128" => (Unsigned, 16),
            "i8" => (Signed, 1),
            "i16" => (Signed, 2),
            "i32" => (Signed, 4),
            "i64" | "isize" => (Signed, 8),
            "i128" => (Signed, 16),
            "f32" if !non_zero => (Float, 4),
            "f64" if !non_zero => (Float, 8),
            _ => return None,
        };
        (size == expected).then_some(Self {
            kind,
            size,
            non_zero,
        })
    }

    /// Returns how values of this type fit into `to`.
    pub(super) fn fit(self, to: Self) -> Fit {
        use NumberKind::{Float, Signed, Unsigned};
        let has_all = match (self.kind, to.kind) {
            (Float, Float) | (Unsigned, Unsigned) | (Signed, Signed) => self.size <= to.size,
            (Unsigned, Signed) => self.size < to.size,
            (Signed, Unsigned) => false,
            (Float, _) | (_, Float) => return Fit::Never,
        };
        match (has_all, to.non_zero && !self.non_zero) {
            (true, false) if (self.kind, self.size) == (to.kind, to.size) => Fit::Same,
            (true, false) => Fit::Widens,
            _ => Fit::Narrows,
        }
    }

    fn value(self, bytes: &[u8]) -> Value {
        let mut wide = [0; 16];
        for (to, from) in wide.iter_mut().zip(bytes) {
            *to = *from;
        }
        let bits = u128::from_le_bytes(wide);
        let unused = u32::try_from(self.size.saturating_mul(8)).unwrap_or(128);
        let unused = 128u32.saturating_sub(unused);
        match self.kind {
            NumberKind::Unsigned => Value::Unsigned(bits),
            NumberKind::Signed => Value::Signed((bits as i128) << unused >> unused),
            NumberKind::Float => {
                let [a, b, c, d, rest @ ..] = wide;
                let [e, f, g, h, ..] = rest;
                Value::Float(match self.size {
                    4 => f64::from(f32::from_le_bytes([a, b, c, d])),
                    _ => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
                })
            }
        }
    }

    /// Returns the bytes of the value as a `to`, or `None` if it has no such value. The bytes
    /// beyond the size of `to` are to be ignored.
    pub(super) fn convert(self, bytes: &[u8], to: Self) -> Option<[u8; 16]> {
        let value = self.value(bytes);
        let bits = match (to.kind, value) {
            (NumberKind::Float, Value::Float(value)) => match to.size {
                4 => u128::from(narrow_float(value)?.to_bits()),
                _ => u128::from(value.to_bits()),
            },
            (NumberKind::Unsigned, value) => {
                let wide = match value {
                    Value::Unsigned(value) => value,
                    Value::Signed(value) => u128::try_from(value).ok()?,
                    Value::Float(_) => return None,
                };
                let max = u128::MAX >> bits_beyond(to.size);
                (wide <= max).then_some(wide)?
            }
            (NumberKind::Signed, value) => {
                let wide = match value {
                    Value::Unsigned(value) => i128::try_from(value).ok()?,
                    Value::Signed(value) => value,
                    Value::Float(_) => return None,
                };
                let (min, max) = (
                    i128::MIN >> bits_beyond(to.size),
                    i128::MAX >> bits_beyond(to.size),
                );
                (min..=max).contains(&wide).then_some(wide as u128)?
            }
            (NumberKind::Float, _) => return None,
        };
        (bits != 0 || !to.non_zero).then_some(bits.to_le_bytes())
    }

    /// Formats a value for an error.
    pub(super) fn show(self, bytes: &[u8]) -> String {
        match self.value(bytes) {
            Value::Unsigned(value) => value.to_string(),
            Value::Signed(value) => value.to_string(),
            Value::Float(value) => value.to_string(),
        }
    }

    /// Converts adjacent values to a type that has all values of this one. `to` has room for as
    /// many values as `from` has.
    #[inline]
    pub(super) fn widen(self, from: &[u8], wider: Self, to: &mut [u8]) {
        widen!(
            (self, wider),
            fill(from, to),
            self.widen_each(from, wider, to)
        );
    }

    /// Appends adjacent values, converted to a type that has all values of this one. Returns false
    /// if they do not fit.
    pub(super) fn append_wider(self, from: &[u8], wider: Self, to: &mut BufferWriter) -> bool {
        let each = |to: &mut BufferWriter| {
            from.chunks_exact(self.size).all(|value| {
                let wide = self.convert(value, wider).unwrap_or_default();
                to.extend(wide.get(..wider.size).unwrap_or_default())
            })
        };
        widen!((self, wider), append(from, to), each(to))
    }

    /// Converts adjacent values one by one.
    fn widen_each(self, from: &[u8], wider: Self, to: &mut [u8]) {
        let values = from
            .chunks_exact(self.size)
            .zip(to.chunks_exact_mut(wider.size));
        for (from, to) in values {
            for (to, byte) in to
                .iter_mut()
                .zip(self.convert(from, wider).unwrap_or_default())
            {
                *to = byte;
            }
        }
    }
}

/// Returns the number of bits that a number of `size` bytes has less than 128.
fn bits_beyond(size: usize) -> u32 {
    let bits = u32::try_from(size.saturating_mul(8)).unwrap_or(128);
    128u32.saturating_sub(bits).min(127)
}

/// Returns the nearest number, unless that is infinite for a finite one.
#[expect(
    clippy::cast_possible_truncation,
    reason = "this is the conversion to the nearest number"
)]
fn narrow_float(value: f64) -> Option<f32> {
    let near = value as f32;
    (near.is_finite() || !value.is_finite()).then_some(near)
}
