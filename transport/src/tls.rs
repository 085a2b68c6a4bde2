//! TLS certificates of this side, and the root certificates that it trusts, for `tls://host:port`.
//!
//! ```no_run
//! use jstream_transport::tls::Tls;
//! use jstream_transport::{Options, connect};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut options = Options::default();
//! options.tls = Some(Tls::from_pem_files("client.pem", "client.key", "roots.pem")?);
//! let endpoint = connect(&"tls://db.example:7000".parse()?, &options)?;
//! # Ok(())
//! # }
//! ```

pub use jstream_base::tls::{Tls, TlsError, rustls};
