//! Frames: tables of fields and their places in a header.

use crate::Header;

mod documented;

pub use self::documented::assert_documented;

/// Declares the frames of a protocol as a table, and generates their encoding and decoding from it.
///
/// Each row has the number of a frame, its name and its fields. A field has a type and a place: a
/// [`Slot`](crate::frame::Slot) of the header, which may be narrowed to a range of its bits. The
/// type converts to `u64`, and from `u64` by `TryFrom`, which can refuse values. The place `Group`
/// stands for the places of a type that implements [`FieldGroup`](crate::frame::FieldGroup); the
/// macro also declares such structs.
///
/// The number of a frame is the `Kind` of the header, its `Op`, or bits of a slot, as in
/// `by First[62..64]`. Bits of the header that belong to no field are written as 0. A reader
/// refuses other values (`reserved Zero`) or ignores them (`reserved Ignored`). Two fields with the
/// same bits, two frames with the same number, or a number that its bits have no room for, do not
/// compile.
///
/// ```
/// use jstream_base::{Header, frames};
///
/// frames! {
///     /// A point on the screen.
///     #[derive(Debug, Clone, Copy, PartialEq)]
///     struct Point {
///         x: u16 = Third[0..16],
///         y: u16 = Third[16..32],
///     }
/// }
///
/// frames! {
///     /// A frame of a drawing protocol.
///     #[derive(Debug, Clone, Copy, PartialEq)]
///     enum Drawing by Kind, reserved Zero {
///         CLEAR = 1 => Clear,
///         /// A line from the last point.
///         LINE = 2 => Line { color: u32 = First, to: Point = Group },
///     }
/// }
///
/// let line = Drawing::Line { color: 7, to: Point { x: 3, y: 4 } };
/// assert_eq!(line.header(), Header::new(LINE, [7, 0, 0x4_0003]));
/// assert_eq!(Drawing::decode(&line.header()), Some(line));
/// assert_eq!(Drawing::decode(&Header::new(CLEAR, [1, 0, 0])), None);
/// ```
#[macro_export]
macro_rules! frames {
    ($(#[$attr:meta])* $vis:vis struct $name:ident {$(
        $(#[$field_attr:meta])*
        $field_vis:vis $field:ident: $type:ty = $slot:ident $([$($bits:tt)*])?
    ),* $(,)?}) => {
        $(#[$attr])*
        $vis struct $name {$( $(#[$field_attr])* $field_vis $field: $type, )*}

        impl $crate::frame::FieldGroup for $name {
            const PLACES: &'static [$crate::frame::Place] =
                &[$( $crate::frames!(@place $field $slot $([$($bits)*])?) ),*];

            #[inline(always)]
            fn get(slots: &$crate::frame::Slots) -> Option<Self> {
                Some(Self {$(
                    $field: $crate::frames!(@get slots $field $slot $([$($bits)*])?),
                )*})
            }

            #[inline(always)]
            fn put(self, slots: &mut $crate::frame::Slots) {
                let Self { $($field),* } = self;
                $( $crate::frames!(@put slots $field $slot $([$($bits)*])?); )*
            }
        }
    };
    ($(#[$attr:meta])* $vis:vis enum $name:ident
        by $by:ident $([$($number_bits:tt)*])?, reserved $reserved:ident {$(
        $(#[$frame_attr:meta])*
        $NUMBER:ident = $number:literal => $frame:ident $({$(
            $(#[$field_attr:meta])* $field:ident: $type:ty = $slot:ident $([$($bits:tt)*])?
        ),* $(,)?})?
    ),* $(,)?}) => {
        $( $vis const $NUMBER: u32 = $number; )*

        $(#[$attr])*
        $vis enum $name {$(
            $(#[$frame_attr])* $frame $({$( $(#[$field_attr])* $field: $type, )*})?,
        )*}

        // Two fields with the same bits, or two frames with the same number, are an error here.
        const _: () = $crate::frame::check($name::LAYOUT, $name::NUMBERING);

        impl $name {
            /// The part of a header that has the number.
            const NUMBERING: $crate::frame::Numbering =
                $crate::frames!(@numbering $by $([$($number_bits)*])?);

            /// The numbers of the frames, and the places of their fields. A number that is in a
            /// slot is the first field.
            $vis const LAYOUT: &'static [$crate::frame::FrameLayout] = &[$(
                $crate::frame::FrameLayout {
                    name: stringify!($frame),
                    number: $NUMBER,
                    fields: &[
                        Self::NUMBERING.places(),
                        $($( $crate::frames!(@places $type, $field $slot $([$($bits)*])?) ),*)?
                    ],
                },
            )*];

            /// Encodes the frame in a header without a length.
            #[inline]
            $vis fn header(self) -> $crate::Header {
                let mut slots = [0; 4];
                let number = match self {$(
                    Self::$frame $({ $($field),* })? => {
                        $($( $crate::frames!(@put (&mut slots) $field $slot $([$($bits)*])?); )*)?
                        $NUMBER
                    }
                )*};
                Self::NUMBERING.join(number, slots)
            }

            /// Decodes a header. Returns `None` if it is not the header of a frame of this table.
            #[inline(always)]
            $vis fn decode(header: &$crate::Header) -> Option<Self> {
                let (number, slots) = Self::NUMBERING.split(header);
                match number {
                    $( $NUMBER if $crate::frame::Reserved::$reserved.permits(
                        slots,
                        const { $crate::frame::unused(Self::LAYOUT, $NUMBER) },
                    ) => Some(Self::$frame $({$(
                        $field: $crate::frames!(@get (&slots) $field $slot $([$($bits)*])?),
                    )*})?), )*
                    _ => None,
                }
            }
        }
    };
    (@numbering $by:ident) => { $crate::frame::Numbering::$by };
    (@numbering $slot:ident [$($bits:tt)*]) => {
        $crate::frame::Numbering::Bits(
            const { &[$crate::frames!(@place number $slot [$($bits)*])] },
        )
    };
    (@place $field:ident $slot:ident) => { $crate::frames!(@place $field $slot [0..64]) };
    (@place $field:ident $slot:ident [$low:literal..$high:literal]) => {
        $crate::frame::Place::new(stringify!($field), $crate::frame::Slot::$slot, $low, $high)
    };
    (@places $type:ty, $field:ident Group) => { <$type as $crate::frame::FieldGroup>::PLACES };
    (@places $type:ty, $($place:tt)*) => { &[$crate::frames!(@place $($place)*)] };
    (@get $slots:tt $field:ident Group) => { $crate::frame::FieldGroup::get($slots)? };
    (@get $slots:tt $($place:tt)*) => { const { $crate::frames!(@place $($place)*) }.get($slots)? };
    (@put $slots:tt $field:ident Group) => { $crate::frame::FieldGroup::put($field, $slots) };
    (@put $slots:tt $field:ident $($place:tt)*) => {
        const { $crate::frames!(@place $field $($place)*) }.put($field, $slots)
    };
}

/// The parts of a header that hold fields: its three words, and its kind if that is not the number
/// of the frame.
pub type Slots = [u64; 4];

/// The name of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// The first word.
    First,
    /// The second word.
    Second,
    /// The third word.
    Third,
    /// The kind of the message, for frames that are numbered by their operation.
    Kind,
}

impl Slot {
    /// Returns the content of the slot.
    #[inline(always)]
    const fn select(self, slots: &mut Slots) -> &mut u64 {
        let [first, second, third, kind] = slots;
        match self {
            Self::First => first,
            Self::Second => second,
            Self::Third => third,
            Self::Kind => kind,
        }
    }
}

/// The place of a field in a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    name: &'static str,
    slot: Slot,
    low: u32,
    high: u32,
}

impl Place {
    /// Returns the place of the field `name`: the bits from `low` to `high`, exclusive. A kind has
    /// 32 bits.
    #[must_use]
    pub const fn new(name: &'static str, slot: Slot, low: u32, high: u32) -> Self {
        let last = if matches!(slot, Slot::Kind) { 32 } else { 64 };
        let high = if high > last { last } else { high };
        assert!(low < high, "a field has at least one bit");
        Self {
            name,
            slot,
            low,
            high,
        }
    }

    /// Returns the highest value that fits.
    #[inline]
    const fn most(self) -> u64 {
        u64::MAX.wrapping_shr(64_u32.wrapping_sub(self.high.wrapping_sub(self.low)))
    }

    /// Returns the bits of the field.
    const fn mask(self) -> Slots {
        let mut mask = [0; 4];
        *self.slot.select(&mut mask) = self.most().wrapping_shl(self.low);
        mask
    }

    /// Reads the field. Returns `None` if its type does not have the value.
    #[inline(always)]
    pub fn get<T: TryFrom<u64>>(self, slots: &Slots) -> Option<T> {
        let word = *self.slot.select(&mut { *slots });
        T::try_from(word.wrapping_shr(self.low) & self.most()).ok()
    }

    /// Writes the field, whose bits are 0.
    #[inline(always)]
    pub fn put(self, value: impl Into<u64>, slots: &mut Slots) {
        let value = value.into();
        debug_assert!(value <= self.most(), "{value} has no room in {self:?}");
        *self.slot.select(slots) |= value.wrapping_shl(self.low);
    }
}

/// Fields that several frames have in the same places, see [`frames`](macro@crate::frames).
pub trait FieldGroup: Sized {
    /// The places of the fields.
    const PLACES: &'static [Place];

    /// Reads the fields. Returns `None` if a value is not valid.
    fn get(slots: &Slots) -> Option<Self>;

    /// Writes the fields, whose bits are 0.
    fn put(self, slots: &mut Slots);
}

/// A frame of a table.
#[derive(Debug, Clone, Copy)]
pub struct FrameLayout {
    /// Name of the frame.
    pub name: &'static str,
    /// Number of the frame.
    pub number: u32,
    /// Places of the fields; those of a group are one element.
    pub fields: &'static [&'static [Place]],
}

impl FrameLayout {
    /// Returns the bits that belong to no field.
    const fn unused(&self) -> Slots {
        let mut unused = [u64::MAX, u64::MAX, u64::MAX, u32::MAX as u64];
        let mut fields = self.fields;
        while let [places, rest @ ..] = fields {
            let mut places = *places;
            while let [place, rest @ ..] = places {
                let [a, b, c, d] = unused;
                let [e, f, g, h] = place.mask();
                let is_unused = e & !a == 0 && f & !b == 0 && g & !c == 0 && h & !d == 0;
                assert!(is_unused, "two fields have the same bits");
                unused = [a & !e, b & !f, c & !g, d & !h];
                places = rest;
            }
            fields = rest;
        }
        unused
    }
}

/// Returns the bits that belong to no field of the frame `number`.
#[must_use]
pub const fn unused(mut layout: &[FrameLayout], number: u32) -> Slots {
    while let [frame, rest @ ..] = layout {
        if frame.number == number {
            return frame.unused();
        }
        layout = rest;
    }
    [0; 4]
}

/// Panics if two frames have the same number, two fields the same bits, or a number has no room.
pub const fn check(mut layout: &[FrameLayout], numbering: Numbering) {
    let most = match numbering {
        Numbering::Bits([place]) => place.most(),
        Numbering::Kind | Numbering::Op => u32::MAX as u64,
    };
    assert!(most <= u32::MAX as u64, "a number has at most 32 bits");
    while let [frame, rest @ ..] = layout {
        let _ = frame.unused();
        assert!(frame.number as u64 <= most, "a number has no room");
        let mut others = rest;
        while let [other, rest @ ..] = others {
            assert!(frame.number != other.number, "two frames have one number");
            others = rest;
        }
        layout = rest;
    }
}

/// The part of a header that has the number of a frame.
#[derive(Debug, Clone, Copy)]
pub enum Numbering {
    /// The kind.
    Kind,
    /// The operation of the endpoints.
    Op,
    /// The bits of this place.
    Bits(&'static [Place; 1]),
}

impl Numbering {
    /// Returns the place of the number if that is in a slot.
    #[must_use]
    pub const fn places(self) -> &'static [Place] {
        match self {
            Self::Kind | Self::Op => &[],
            Self::Bits(place) => place,
        }
    }

    /// Returns the number of a frame, and the slots.
    #[inline(always)]
    #[must_use]
    pub fn split(self, header: &Header) -> (u32, Slots) {
        let [first, second, third] = header.words;
        match self {
            Self::Kind => (header.kind, [first, second, third, 0]),
            Self::Op => (header.op(), [first, second, third, header.kind.into()]),
            Self::Bits([place]) => {
                let slots = [first, second, third, header.kind.into()];
                // The place of a number has at most 32 bits.
                (place.get(&slots).unwrap_or(u32::MAX), slots)
            }
        }
    }

    /// Returns the header of the frame `number`.
    #[inline(always)]
    #[must_use]
    pub fn join(self, number: u32, mut slots: Slots) -> Header {
        if let Self::Bits([place]) = self {
            place.put(number, &mut slots);
        }
        let [first, second, third, kind] = slots;
        let words = [first, second, third];
        // A place in the kind has at most 32 bits.
        let kind = (kind & 0xffff_ffff) as u32;
        match self {
            Self::Kind => Header::new(number, words),
            Self::Op => Header::new(kind, words).with_op(number),
            Self::Bits(_) => Header::new(kind, words),
        }
    }
}

/// The reaction to bits that belong to no field.
#[derive(Debug, Clone, Copy)]
pub enum Reserved {
    /// A reader refuses bits other than 0.
    Zero,
    /// A reader ignores the bits.
    Ignored,
}

impl Reserved {
    /// Returns true if a frame may have these `slots`, of which the bits of `unused` belong to no
    /// field.
    #[inline(always)]
    #[must_use]
    pub fn permits(self, slots: Slots, unused: Slots) -> bool {
        let [a, b, c, d] = slots;
        let [e, f, g, h] = unused;
        matches!(self, Self::Ignored) || (a & e) | (b & f) | (c & g) | (d & h) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    frames! {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        struct LowAndHigh {
            low: u32 = First[0..32],
            high: u8 = First[32..64],
        }
    }

    frames! {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum ByOp by Op, reserved Zero {
            ONE = 1 => One { kind: u32 = Kind[8..32], pair: LowAndHigh = Group, },
            TWO = 2 => Two,
        }
    }

    frames! {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum ByKind by Kind, reserved Ignored {
            ONLY = 1 => Only { word: u64 = Third },
        }
    }

    frames! {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum ByBits by First[62..64], reserved Zero {
            NONE = 0 => None,
            LAST = 3 => Last { low: u16 = First[0..16] },
        }
    }

    #[test]
    fn numbers_have_their_bits() {
        let last = ByBits::Last { low: 7 };
        assert_eq!(last.header(), Header::tagged(3 << 62 | 7));
        assert_eq!(ByBits::decode(&last.header()), Some(last));
        assert_eq!(ByBits::decode(&Header::tagged(0)), Some(ByBits::None));
        for refused in [1, 1 << 62, 2 << 62, 3 << 62 | 1 << 16] {
            assert_eq!(ByBits::decode(&Header::tagged(refused)), None);
        }
        let numbers = ByBits::LAYOUT.iter().map(|frame| frame.number);
        assert_eq!(numbers.collect::<Vec<_>>(), [NONE, LAST]);
    }

    #[test]
    fn fields_have_their_places() {
        let (low, high) = (u32::MAX, u8::MAX);
        let one = ByOp::One {
            kind: 3,
            pair: LowAndHigh { low, high },
        };
        let header = Header::new(0x300, [0xff_ffff_ffff, 0, 0]).with_op(ONE);
        assert_eq!(one.header(), header);
        assert_eq!(ByOp::decode(&header), Some(one));
        assert_eq!(
            ByOp::decode(&ByOp::Two.header().with_length(7)),
            Some(ByOp::Two)
        );
        let only = ByKind::Only { word: 9 };
        assert_eq!(only.header(), Header::new(ONLY, [0, 0, 9]));
    }

    #[test]
    fn reserved_bits_and_values_without_meaning_are_refused() {
        for (op, kind, words) in [
            (ONE, 1, [0; 3]),
            (ONE, 0, [1 << 40, 0, 0]),
            (ONE, 0, [0, 1, 0]),
            (TWO, 1, [0; 3]),
            (TWO, 0, [0, 0, 1 << 63]),
            (3, 0, [0; 3]),
        ] {
            let header = Header::new(kind, words).with_op(op);
            assert_eq!(ByOp::decode(&header), None, "{header:?}");
        }
        let header = Header::new(ONLY, [1, 2, 3]);
        assert_eq!(ByKind::decode(&header), Some(ByKind::Only { word: 3 }));
        assert_eq!(ByKind::decode(&Header::new(0, [0; 3])), None);
    }

    const WHOLE: Place = Place::new("whole", Slot::First, 0, 64);
    const PART: Place = Place::new("part", Slot::First, 63, 64);

    #[test]
    #[should_panic(expected = "two fields have the same bits")]
    fn fields_do_not_overlap() {
        let fields: &[&[Place]] = &[&[WHOLE], &[PART]];
        let (name, number) = ("Overlap", 1);
        let layout = [FrameLayout {
            name,
            number,
            fields,
        }];
        check(&layout, Numbering::Kind);
    }

    #[test]
    #[should_panic(expected = "a number has no room")]
    fn numbers_fit_in_their_bits() {
        check(ByOp::LAYOUT, Numbering::Bits(&[PART]));
    }

    #[test]
    #[should_panic(expected = "two frames have one number")]
    fn duplicate_numbers_are_refused() {
        check(&[ByKind::LAYOUT, ByOp::LAYOUT].concat(), Numbering::Kind);
    }
}
