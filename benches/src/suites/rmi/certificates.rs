//! The certificates of a run, which both sides of a connection show and trust.

use std::env;
use std::process::Command;
use std::sync::OnceLock;

use jstream_transport::tls::Tls;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::Failure;

/// By which names a process gets them that serves.
const NAMES: [&str; 3] = [
    "JSTREAM_BENCHES_CERTIFICATE",
    "JSTREAM_BENCHES_KEY",
    "JSTREAM_BENCHES_ROOT",
];

/// A certificate, its key, and that of who has signed it, as PEM.
#[derive(Debug)]
pub(super) struct Certificates([String; 3]);

impl Certificates {
    /// Those that this process was left, or new ones.
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
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()])?;
        let certificate = params.signed_by(&key, &root)?;
        Ok(Self([certificate.pem(), key.serialize_pem(), root.pem()]))
    }

    /// Leaves them to a process.
    pub(super) fn leave_to(&self, command: &mut Command) {
        command.envs(NAMES.into_iter().zip(&self.0));
    }

    /// The same, as connections want them.
    pub(super) fn tls(&self) -> Result<Tls, Failure> {
        let [certificate, key, root] = self.0.each_ref().map(String::as_bytes);
        Ok(Tls::from_pem(certificate, key, root)?)
    }
}
