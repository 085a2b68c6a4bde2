//! The package of the quickstart.
//!
//! The example has a package of its own because cargo builds the development dependencies of all
//! of a package for any of its examples. A package needs a library or a program beside examples,
//! so this library is empty.
