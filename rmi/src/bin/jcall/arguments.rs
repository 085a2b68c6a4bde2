//! The command line.

use std::path::PathBuf;

use clap::Parser;
use jstream_rmi::{Address, ClientOptions};

use crate::failure::Failure;
use crate::options;

/// Lists what a server serves, and calls its methods.
#[derive(Debug, Parser)]
#[command(
    name = "jcall",
    version,
    after_help = "\
Each argument is a JSON value; what is no JSON is a string. Structs are objects, tuples and slices lists, \
variants \"Name\" or {\"Name\": fields}, options null or the value; results are printed in the same way. Methods \
with streams, trait objects, or maps and sets that are hashed can't be called so.

Examples:
  jcall tcp://127.0.0.1:7000                                what is bound, and with which interface
  jcall tcp://127.0.0.1:7000 book                           its methods and their signatures
  jcall tcp://127.0.0.1:7000 book gaxpy 3 '[0.5, 1, 2e-3]'  a call
  jcall tcp://127.0.0.1:7000 book submit '{\"id\": 7, \"symbol\": \"ACME\", \"legs\": [], \"parent\": null}'
  jcall replay calls.jcap tcp://127.0.0.1:7000              captured calls, made again: jcall replay --help

Exit codes: 0 when all went well, 1 when the server could not be reached or the call failed, 2 on wrong usage: \
there is no such method, or the arguments are not of its types."
)]
pub(crate) struct Arguments {
    /// Where the server listens, as in tcp://host:port, uds:///path or shm://name.
    #[arg(value_name = "URI")]
    pub(crate) server: Address,
    /// The name that an object is bound to; without it, all are listed.
    pub(crate) name: Option<String>,
    /// The method to call; without it, all are listed.
    pub(crate) method: Option<String>,
    /// The method's arguments, each as JSON.
    #[arg(value_name = "ARGUMENT", allow_negative_numbers = true)]
    pub(crate) arguments: Vec<String>,
    /// What is printed is for programs: JSON on one line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) connecting: Connecting,
}

// How to connect. The programs' help would have this, were it documentation.
#[derive(Debug, clap::Args)]
pub(crate) struct Connecting {
    /// How long connecting, and each call, may take, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    timeout: f64,
    /// A file with the secret that the server asks for, all of its bytes.
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,
    /// The certificate to show to a server at tls://host:port, and those between it and the root, as a PEM file.
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "FILE", requires_all = ["key", "roots"])]
    certificate: Option<PathBuf>,
    /// Its private key.
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// The certificates that the server's has to stem from.
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "FILE", requires = "certificate")]
    roots: Option<PathBuf>,
}

impl Connecting {
    /// As the client has it.
    pub(crate) fn options(&self) -> Result<ClientOptions, Failure> {
        let client = options::client(self.timeout, self.secret.as_deref())?;
        #[cfg(feature = "tls")]
        let client = self.with_tls(client)?;
        Ok(client)
    }

    #[cfg(feature = "tls")]
    fn with_tls(&self, mut options: ClientOptions) -> Result<ClientOptions, Failure> {
        if let (Some(certificate), Some(key), Some(roots)) =
            (&self.certificate, &self.key, &self.roots)
        {
            use jstream_transport::tls::Tls;
            let tls = Tls::from_pem_files(certificate, key, roots);
            let tls = tls.map_err(|error| Failure::Usage(error.to_string()))?;
            options.transport.tls = Some(tls);
        }
        Ok(options)
    }
}
