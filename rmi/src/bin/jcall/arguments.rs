//! Command line.

use std::path::PathBuf;

use clap::Parser;
use jstream::command_line::Color;
use jstream_rmi::{Address, ClientOptions};

use crate::failure::Failure;
use crate::options;

/// Lists the objects of a server, and calls their methods.
#[derive(Debug, Parser)]
#[command(
    name = "jcall",
    version,
    after_help = "\
Each argument is a JSON value; an argument that is not valid JSON is a string. Structs are objects, tuples and slices \
are lists, enum variants are \"Name\" or {\"Name\": fields}, and options are null or the value. Results are printed in \
the same way. A reference to an object (Remote<dyn Trait>) is the name of an object that is bound at the server; a \
reference in a result is shown with its trait and number. Methods with streams, trait objects, hash maps or hash sets \
can't be called.

Examples:
  jcall tcp://127.0.0.1:7000                                list the bound names and their interfaces
  jcall tcp://127.0.0.1:7000 book                           list the methods of an object
  jcall tcp://127.0.0.1:7000 book gaxpy 3 '[0.5, 1, 2e-3]'  call a method
  jcall tcp://127.0.0.1:7000 book submit '{\"id\": 7, \"symbol\": \"ACME\", \"legs\": [], \"parent\": null}'
  jcall compat tcp://127.0.0.1:7000 tcp://127.0.0.1:7001    compare two servers, see jcall compat --help
  jcall replay calls.jcap tcp://127.0.0.1:7000              repeat captured calls, see jcall replay --help

Exit codes: 0 on success, 1 if the server could not be reached or the call failed, 2 on wrong usage, such as an \
unknown method or arguments of wrong types."
)]
pub(crate) struct Arguments {
    /// Address of the server: tcp://host:port, uds:///path or shm://name.
    #[arg(value_name = "URI")]
    pub(crate) server: Address,
    /// Name of the object; if omitted, all names are listed.
    pub(crate) name: Option<String>,
    /// Method to call; if omitted, all methods are listed.
    pub(crate) method: Option<String>,
    /// Arguments of the method, each as JSON.
    #[arg(value_name = "ARGUMENT", allow_negative_numbers = true)]
    pub(crate) arguments: Vec<String>,
    /// Print JSON on one line, for programs.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing but errors: the exit code says whether the call succeeded.
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,
    /// Metadata of the call; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) metadata: Vec<String>,
    #[command(flatten)]
    pub(crate) color: Color,
    #[command(flatten)]
    pub(crate) connecting: Connecting,
}

// Options for connecting. Not a doc comment, because clap would show it as the program's help.
#[derive(Debug, clap::Args)]
pub(crate) struct Connecting {
    /// Timeout of connecting and of each call, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    timeout: f64,
    /// File whose bytes are the secret that the server requires.
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,
    /// Client certificate for a server at tls://host:port, with its intermediate certificates, as a
    /// PEM file.
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "FILE", requires_all = ["key", "roots"])]
    certificate: Option<PathBuf>,
    /// Private key of the client certificate, as a PEM file.
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// Root certificates to verify the server's certificate with, as a PEM file.
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "FILE", requires = "certificate")]
    roots: Option<PathBuf>,
}

impl Connecting {
    /// Returns the options of the client.
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
            use jstream_base::tls::Tls;
            let tls = Tls::from_pem_files(certificate, key, roots);
            let tls = tls.map_err(|error| Failure::Usage(error.to_string()))?;
            options.transport.tls = Some(tls);
        }
        Ok(options)
    }
}
