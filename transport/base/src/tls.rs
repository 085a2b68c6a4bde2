//! TLS certificates of this side, and the root certificates that it trusts, for `tls://host:port`.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use jstream_derive::ErrorDebug;
pub use rustls;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use thiserror::Error;

/// Protocol name that both sides negotiate (ALPN). A server of another protocol with the same
/// certificate is rejected.
const PROTOCOL: &[u8] = b"jstream";

/// Certificates and trusted roots of this side, as a client, as a server, or as both.
#[derive(Clone)]
pub struct Tls {
    client: Option<Arc<ClientConfig>>,
    server: Option<Arc<ServerConfig>>,
    name: Option<ServerName<'static>>,
}

impl Tls {
    /// Loads the configuration for both sides from PEM files: `chain` has this side's certificate
    /// and the intermediate certificates, `key` its private key, and `roots` the root certificates
    /// from which the peer's certificate has to be issued. Both sides have to present a certificate
    /// and use TLS 1.3.
    ///
    /// # Errors
    ///
    /// [`TlsError`], with the file, if a file can't be read or the three do not belong together.
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

    /// Like [`from_pem_files`](Self::from_pem_files), with the contents of the files.
    ///
    /// # Errors
    ///
    /// [`TlsError`] if a text can't be parsed or the three do not belong together.
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
        // Does not use the default provider of the process, which another part of the program may
        // have chosen.
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

    /// Uses configurations that the program has made. Without a client configuration this side
    /// cannot connect; without a server configuration it cannot listen. The configurations decide
    /// whether clients present certificates.
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

    /// Sets the name for which the certificates of servers have to be valid, instead of the host in
    /// the address.
    ///
    /// # Errors
    ///
    /// [`TlsError::Name`] if `name` is neither a DNS name nor an IP address.
    pub fn of_server(self, name: &str) -> Result<Self, TlsError> {
        let name = server_name(name)?;
        Ok(Self {
            name: Some(name),
            ..self
        })
    }

    /// Returns the configuration of connecting.
    #[doc(hidden)]
    pub fn client(&self) -> Option<&Arc<ClientConfig>> {
        self.client.as_ref()
    }

    /// Returns the configuration of listening.
    #[doc(hidden)]
    pub fn server(&self) -> Option<&Arc<ServerConfig>> {
        self.server.as_ref()
    }

    /// Returns the name that a client expects in the certificate of the server at `host`.
    #[doc(hidden)]
    pub fn expected(&self, host: &str) -> Result<ServerName<'static>, TlsError> {
        self.name.clone().map_or_else(|| server_name(host), Ok)
    }
}

/// Omits the keys.
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

/// Error of loading or using certificates.
#[derive(ErrorDebug, Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file can't be read.
    #[error("can't read {path}: {source}")]
    File {
        /// The path of the file.
        path: String,
        /// The error of the system.
        r#source: std::io::Error,
    },
    /// A text is not valid PEM.
    #[error("{what} can't be parsed as PEM: {source}")]
    Pem {
        /// The text: the chain, the private key or the roots.
        what: &'static str,
        /// The error of the PEM parser.
        r#source: pem::Error,
    },
    /// A text contains no certificate.
    #[error("no certificate in {what}: expected PEM with lines `-----BEGIN CERTIFICATE-----`")]
    Empty {
        /// The text: the chain or the roots.
        what: &'static str,
    },
    /// A name for which no certificate can be valid.
    #[error(
        "`{name}` is neither a DNS name nor an IP address, so no certificate can be valid for it"
    )]
    Name {
        /// The name, escaped.
        name: String,
    },
    /// The root certificates can't be used.
    #[error("the root certificates can't be used: {0}")]
    Roots(VerifierBuilderError),
    /// The certificate and the key do not belong together, or can't be used.
    #[error("the certificates can't be used: {0}")]
    Unusable(rustls::Error),
}

impl From<VerifierBuilderError> for TlsError {
    fn from(error: VerifierBuilderError) -> Self {
        Self::Roots(error)
    }
}

impl From<rustls::Error> for TlsError {
    fn from(error: rustls::Error) -> Self {
        Self::Unusable(error)
    }
}
