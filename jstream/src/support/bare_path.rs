//! Names that generated code imports beside a form with a pointer to a type that is spelled `Path`.
//! A `PathRef` of the program takes precedence.

/// The form of `std::path::Path`, with the name and the lifetime of the form of a program's type.
pub type PathRef<'b> = std::path::Path;
