//! Certificates for the tests of TLS.

use std::sync::OnceLock;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, date_time_ymd,
};

/// A certificate authority.
#[derive(Debug)]
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate chain and its private key, as PEM.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The certificate chain.
    pub chain: String,
    /// The private key of the first certificate.
    pub key: String,
}

impl Authority {
    /// Creates an authority with a certificate of its own.
    pub fn generate() -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "tests");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    /// Returns the certificate of the authority, as PEM.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// Issues a certificate for `host`.
    pub fn certify(&self, host: &str) -> Identity {
        self.certify_until(host, 2099)
    }

    /// Issues a certificate that expires at the beginning of `year`.
    pub fn certify_until(&self, host: &str, year: i32) -> Identity {
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

/// Returns an identity that works for both sides of a connection on this host, and the certificate
/// of its authority, as PEM.
pub fn local() -> &'static (Identity, String) {
    static LOCAL: OnceLock<(Identity, String)> = OnceLock::new();
    LOCAL.get_or_init(|| {
        let authority = Authority::generate();
        (authority.certify("127.0.0.1"), authority.pem())
    })
}
