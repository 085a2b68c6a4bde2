//! Types of which any bytes are a value, as the traits of zerocopy promise.

/// Implements a type whose wire form is its memory. `$kind` describes it.
macro_rules! plain_leaf {
    ($($type:ty, $name:literal, $kind:expr;)*) => {$(
        const _: fn() = || {
            /// Accepts types of which any bytes are a value, and of which a value has no other
            /// bytes, and no cells.
            fn is_plain<T: zerocopy::FromBytes + zerocopy::IntoBytes + zerocopy::Immutable>() {}
            is_plain::<$type>();
        };

        // SAFETY: the form is the type itself. By `IntoBytes` and `Immutable`, which are unsafe to
        // implement, its values have neither padding nor cells.
        unsafe impl Transportable for $type {
            type InPlace<'b> = Self;
            const WIRE_IS_MEMORY: bool = true;

            #[inline(always)]
            unsafe fn write<'b>(&'b self, slot: *mut Self, _: &mut Draft<'b>) {
                // SAFETY: the caller's slot is aligned and writable.
                unsafe { slot.write(*self) };
            }
        }

        // SAFETY: by `FromBytes`, which is unsafe to implement, any bytes are a value.
        unsafe impl InPlace for $type {
            const SHAPE: Shape = Shape::leaf(size_of::<Self>(), true);

            #[inline(always)]
            unsafe fn read(_: *mut Self, _: &mut Pass<'_>) -> Result<(), Fault> {
                Ok(())
            }

            unsafe fn trace(slot: *const Self, trace: &mut Trace) {
                let _ = trace.hit(slot);
            }

            fn describe(schema: &mut Schema) -> TypeIndex {
                schema.define(Schema::key_of::<Self>(), $name, &mut $kind)
            }
        }

        // SAFETY: a form without a lifetime is trivially covariant.
        unsafe impl Covariant for $type {}

        crate::restore::restore_values!($type);
    )*};
}
