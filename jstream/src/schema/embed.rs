//! Snapshots of schemas in the program.

/// Returns the snapshots in these files, as a `&'static [&'static [u8]]`, for
/// [`Reader::learn_bytes`](crate::Reader::learn_bytes). The paths are relative to the source file.
/// `testing::write_snapshot` makes such files, from the bytes that
/// [`Schema::to_snapshot`](crate::schema::Schema::to_snapshot) returns.
///
/// ```
/// use jstream::Reader;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut reader = Reader::default();
/// # #[cfg(any())]
/// for snapshot in jstream::embed_schemas!["../schemas/order-1.jschema"] {
///     reader.learn_bytes(snapshot)?;
/// }
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! embed_schemas {
    ($($path:expr),+ $(,)?) => {
        &[$($crate::__private::include_bytes!($path) as &[_]),+] as &[&[_]]
    };
}
