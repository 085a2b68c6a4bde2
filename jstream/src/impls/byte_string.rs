//! Strings of any bytes, which are sent as slices of `u8` and arrive as references to their type.

/// Implements an unsized type for which any bytes are a value. `$from` returns the reference to a
/// value that consists of the bytes `$bytes`, and `$to` returns the bytes of the reference
/// `$value`.
macro_rules! byte_string {
    ($type:ty, |$bytes:ident| $from:expr, |$value:ident| $to:expr) => {
        const _: () = assert!(
            size_of::<&$type>() == size_of::<&[u8]>()
                && align_of::<&$type>() == align_of::<&[u8]>(),
            "a reference to a string of bytes has an address and a length"
        );

        // SAFETY: the bytes are written and claimed as a slice of bytes is, and their number is the
        // second word.
        unsafe impl Target for $type {
            type InPlace<'b> = Self;
            const IS_LEAF: bool = true;

            #[inline]
            fn write_target<'b>(&'b self, draft: &mut Draft<'b>) -> [u64; 2] {
                let $value = self;
                let bytes: &'b [u8] = $to;
                bytes.write_target(draft)
            }

            #[inline]
            fn claim_back<'b>(&'b self, draft: &mut Draft<'b>) -> [u64; 2] {
                let $value = self;
                let bytes: &'b [u8] = $to;
                bytes.claim_back(draft)
            }

            #[inline]
            fn meta(&self) -> u64 {
                let $value = self;
                let bytes: &[u8] = $to;
                bytes.meta()
            }
        }

        // SAFETY: the pass claims the bytes, all of which are values. Safe code of the type's crate
        // makes the reference, so nothing is assumed about its layout.
        unsafe impl Pointee for $type {
            #[inline]
            fn claim(edge: Edge, pass: &mut Pass<'_>) -> Result<*const Self, Fault> {
                let claimed = <[u8]>::claim(edge, pass)?;
                // SAFETY: the bytes were just claimed, so they lie in the buffer and are
                // initialised. Nothing writes to them while the pass lasts, because a plain target
                // is final once it is claimed.
                let $bytes: &[u8] = unsafe { &*claimed };
                let value: &Self = $from;
                Ok(std::ptr::from_ref(value))
            }

            #[inline(always)]
            unsafe fn read_now(_: *const Self, _: &mut Pass<'_>) -> Result<(), Fault> {
                Ok(())
            }

            unsafe fn trace_target(_: *const &Self, _: *const Self, _: &mut Trace) {}

            fn describe(schema: &mut Schema) -> TypeIndex {
                <u8 as InPlace>::describe(schema)
            }
        }

        // SAFETY: a form without a lifetime is trivially covariant.
        unsafe impl CovariantTarget for $type {}
    };
}
