//! Certificates of a run, which both sides of a connection present and trust.

use std::env;
use std::net::TcpStream;
use std::process::Command;
use std::sync::{Arc, OnceLock};

use jstream_transport::tls::Tls;
use jstream_transport::tls::rustls::crypto::ring;
use jstream_transport::tls::rustls::pki_types::pem::PemObject;
use jstream_transport::tls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use jstream_transport::tls::rustls::server::WebPkiClientVerifier;
use jstream_transport::tls::rustls::version::TLS13;
use jstream_transport::tls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::Failure;

/// Environment variables that pass the certificates to a server process.
const NAMES: [&str; 3] = [
    "JSTREAM_BENCHES_CERTIFICATE",
    "JSTREAM_BENCHES_KEY",
    "JSTREAM_BENCHES_ROOT",
];

/// Host of all servers of a run, for which their certificate is issued.
pub(super) const HOST: &str = "127.0.0.1";

/// PEM texts of a certificate, its key, and the certificate of its issuer.
#[derive(Debug)]
pub(super) struct Certificates([String; 3]);

impl Certificates {
    /// Returns the certificates that the parent process passed on, or creates new ones.
    pub(super) fn of_run() -> Result<&'static Self, Failure> {
        static MADE: OnceLock<Certificates> = OnceLock::new();
        if let Some(made) = MADE.get() {
            return Ok(made);
        }
        let left = NAMES.map(|name| env::var(name).ok());
        let made = match left {
            [Some(certificate), Some(key), Some(root)] => Self([certificate, key, root]),
            _ => Self::new()?,
        };
        Ok(MADE.get_or_init(|| made))
    }

    fn new() -> Result<Self, Failure> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let params = CertificateParams::new(vec![HOST.to_owned()])?;
        let certificate = params.signed_by(&key, &root)?;
        Ok(Self([certificate.pem(), key.serialize_pem(), root.pem()]))
    }

    /// Passes the certificates to a child process.
    pub(super) fn leave_to(&self, command: &mut Command) {
        command.envs(NAMES.into_iter().zip(&self.0));
    }

    /// Returns the certificates as options of a jstream connection.
    pub(super) fn tls(&self) -> Result<Tls, Failure> {
        let [certificate, key, root] = self.0.each_ref().map(String::as_bytes);
        Ok(Tls::from_pem(certificate, key, root)?)
    }

    /// Returns the PEM texts of the certificate, its key, and the certificate of its issuer.
    #[cfg(feature = "peers")]
    pub(super) fn pem(&self) -> &[String; 3] {
        &self.0
    }

    /// Accepts a TLS connection over a socket with rustls alone, with certificates of both sides as
    /// jstream has it.
    pub(super) fn accepted(
        &self,
        socket: TcpStream,
    ) -> Result<StreamOwned<ServerConnection, TcpStream>, Failure> {
        let (provider, (chain, key, roots)) = (Arc::new(ring::default_provider()), self.parts()?);
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider.clone());
        let config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(verifier.build()?)
            .with_single_cert(chain, key)?;
        let session = ServerConnection::new(Arc::new(config))?;
        Ok(StreamOwned::new(session, socket))
    }

    /// Connects over a socket with rustls alone.
    pub(super) fn connected(
        &self,
        socket: TcpStream,
    ) -> Result<StreamOwned<ClientConnection, TcpStream>, Failure> {
        let (chain, key, roots) = self.parts()?;
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])?
            .with_root_certificates(roots)
            .with_client_auth_cert(chain, key)?;
        let session = ClientConnection::new(Arc::new(config), HOST.try_into()?)?;
        Ok(StreamOwned::new(session, socket))
    }

    fn parts(&self) -> Result<Parts, Failure> {
        let [certificate, key, root] = self.0.each_ref().map(String::as_bytes);
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(root)?)?;
        let chain = vec![CertificateDer::from_pem_slice(certificate)?];
        let key = PrivateKeyDer::from_pem_slice(key)?;
        Ok((chain, key, Arc::new(roots)))
    }
}

/// Inputs from which rustls builds the configuration of a side.
type Parts = (
    Vec<CertificateDer<'static>>,
    PrivateKeyDer<'static>,
    Arc<RootCertStore>,
);
