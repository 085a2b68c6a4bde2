//! Certificates: who this side is over `tls://host:port`, and whom it trusts.
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

use std::fmt;
use std::path::Path;
use std::sync::Arc;

pub use rustls;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use thiserror::Error;

/// What both sides name when they connect: a server of another protocol, with the same certificate, is no
/// server of this one.
const PROTOCOL: &[u8] = b"jstream";

/// The certificates of this side, and whom it trusts, as a client, as a server, or as both.
#[derive(Clone)]
pub struct Tls {
    client: Option<Arc<ClientConfig>>,
    server: Option<Arc<ServerConfig>>,
    name: Option<ServerName<'static>>,
}

impl Tls {
    /// Of PEM files, for both sides: `chain` are the certificate of this side and those between it and the root,
    /// `key` is its private key, and `roots` are the certificates that the other side's has to stem from. Both
    /// sides have to show one, and speak TLS 1.3.
    ///
    /// # Errors
    ///
    /// [`TlsError`], with the file, when one can't be read or the three don't belong together.
    pub fn from_pem_files(
        chain: impl AsRef<Path>,
        key: impl AsRef<Path>,
        roots: impl AsRef<Path>,
    ) -> Result<Self, TlsError> {
        let read = |path: &Path| {
            std::fs::read(path).map_err(|source| TlsError::File {
                path: path.display().to_string(),
                source,
            })
        };
        Self::from_pem(
            &read(chain.as_ref())?,
            &read(key.as_ref())?,
            &read(roots.as_ref())?,
        )
    }

    /// As [`from_pem_files`](Self::from_pem_files), of what stands in them.
    ///
    /// # Errors
    ///
    /// [`TlsError`] when one can't be understood or the three don't belong together.
    pub fn from_pem(chain: &[u8], key: &[u8], roots: &[u8]) -> Result<Self, TlsError> {
        let chain = certificates("the chain", chain)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|source| TlsError::Pem {
            what: "the private key",
            source,
        })?;
        let mut trusted = RootCertStore::empty();
        for root in certificates("the roots", roots)? {
            trusted.add(root)?;
        }
        Self::mutual(chain, key, trusted)
    }

    fn mutual(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
        trusted: RootCertStore,
    ) -> Result<Self, TlsError> {
        // Not that of the process: another part of the program may have chosen one for itself.
        let provider: Arc<CryptoProvider> = Arc::new(ring::default_provider());
        let trusted = Arc::new(trusted);
        let verifier =
            WebPkiClientVerifier::builder_with_provider(trusted.clone(), provider.clone());
        let mut server = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(verifier.build()?)
            .with_single_cert(chain.clone(), key.clone_key())?;
        server.alpn_protocols = vec![PROTOCOL.to_vec()];
        let mut client = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])?
            .with_root_certificates(trusted)
            .with_client_auth_cert(chain, key)?;
        client.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(Self {
            client: Some(Arc::new(client)),
            server: Some(Arc::new(server)),
            name: None,
        })
    }

    /// Of configurations that the program has made; a side without one neither connects nor listens. Whether
    /// clients show certificates is up to them then.
    #[must_use]
    pub fn from_configs(
        client: Option<Arc<ClientConfig>>,
        server: Option<Arc<ServerConfig>>,
    ) -> Self {
        Self {
            client,
            server,
            name: None,
        }
    }

    /// The name that the certificates of servers have to be for, in place of the host in the address.
    ///
    /// # Errors
    ///
    /// [`TlsError::Name`] when no certificate can be for it.
    pub fn of_server(self, name: &str) -> Result<Self, TlsError> {
        let name = server_name(name)?;
        Ok(Self {
            name: Some(name),
            ..self
        })
    }

    pub(crate) fn client(&self) -> Option<&Arc<ClientConfig>> {
        self.client.as_ref()
    }

    pub(crate) fn server(&self) -> Option<&Arc<ServerConfig>> {
        self.server.as_ref()
    }

    /// Whom a client expects at `host`.
    pub(crate) fn expected(&self, host: &str) -> Result<ServerName<'static>, TlsError> {
        self.name.clone().map_or_else(|| server_name(host), Ok)
    }
}

/// Says nothing of keys.
impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("client", &self.client.is_some())
            .field("server", &self.server.is_some())
            .field("name", &self.name)
            .finish()
    }
}

fn server_name(name: &str) -> Result<ServerName<'static>, TlsError> {
    ServerName::try_from(name.to_owned()).map_err(|_| TlsError::Name {
        name: name.escape_debug().collect(),
    })
}

fn certificates(what: &'static str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let all = all.map_err(|source| TlsError::Pem { what, source })?;
    if all.is_empty() {
        return Err(TlsError::Empty { what });
    }
    Ok(all)
}

/// Why certificates are of no use.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file can't be read.
    #[error("can't read {path}: {source}")]
    File {
        /// Its path.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A text is no PEM.
    #[error("{what} can't be understood as PEM: {source}")]
    Pem {
        /// Which of the texts.
        what: &'static str,
        /// What is wrong.
        source: pem::Error,
    },
    /// A text has no certificate.
    #[error("{what} hold no certificate; a PEM file has lines `-----BEGIN CERTIFICATE-----`")]
    Empty {
        /// Which of the texts.
        what: &'static str,
    },
    /// No certificate is for such a name.
    #[error("`{name}` is neither a DNS name nor an IP address, so no certificate can be for it")]
    Name {
        /// The name, escaped.
        name: String,
    },
    /// The roots can't be used.
    #[error("the roots can't be used: {0}")]
    Roots(#[from] VerifierBuilderError),
    /// Certificate and key don't belong together, or can't be used.
    #[error("the certificates can't be used: {0}")]
    Unusable(#[from] rustls::Error),
}
