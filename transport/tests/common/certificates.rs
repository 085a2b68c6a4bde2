//! Certificates for the tests of TLS.

use std::sync::OnceLock;

use jstream_transport::Options;
use jstream_transport::tls::Tls;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, date_time_ymd,
};

/// A certificate authority.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate chain and its private key, as PEM.
pub(crate) struct Identity {
    pub(crate) chain: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "tests");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// Issues a certificate for `host`.
    pub(crate) fn certify(&self, host: &str) -> Identity {
        self.certify_until(host, 2099)
    }

    /// Issues a certificate that expires at the beginning of `year`.
    pub(crate) fn certify_until(&self, host: &str, year: i32) -> Identity {
        let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(year, 1, 1);
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let key = KeyPair::generate().unwrap();
        Identity {
            chain: params.signed_by(&key, &self.0).unwrap().pem(),
            key: key.serialize_pem(),
        }
    }
}

impl Identity {
    /// Returns a configuration that presents this identity and trusts peers certified by `roots`.
    pub(crate) fn trusting(&self, roots: &Authority) -> Tls {
        let (chain, key) = (self.chain.as_bytes(), self.key.as_bytes());
        Tls::from_pem(chain, key, roots.pem().as_bytes()).unwrap()
    }
}

/// Returns a configuration that works for both sides of a connection on this host.
pub(crate) fn local() -> Tls {
    static LOCAL: OnceLock<Tls> = OnceLock::new();
    let made = LOCAL.get_or_init(|| {
        let authority = Authority::new();
        authority.certify("127.0.0.1").trusting(&authority)
    });
    made.clone()
}

/// Returns `options` with the TLS configuration of [`local`].
pub(crate) fn certified(mut options: Options) -> Options {
    options.tls = Some(local());
    options
}
