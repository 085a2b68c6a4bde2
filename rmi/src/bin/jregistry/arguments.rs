//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use jstream_rmi::{Address, ClientOptions, ServerOptions};

use crate::failure::Failure;
use crate::options;

/// A registry of several servers.
#[derive(Debug, Parser)]
#[command(
    name = "jregistry",
    version,
    after_help = "\
Programs bind the names of what they serve, each as long as it is there; others look them up and call their servers \
directly. Programs of the registry's host may bind names, and only the program that bound a name may replace or unbind \
it; with --secret, every program that knows the secret may do all of this.

Examples:
  jregistry serve tcp://0.0.0.0:7000 uds:///run/names  serves, and prints where
  jregistry serve uds:///run/names --persist names.jst  has the names again that were bound when it was ended
  jregistry list tcp://127.0.0.1:7000                  what is bound, and with which interface
  jregistry lookup tcp://127.0.0.1:7000 book           its methods, and where it is served
  jregistry unbind tcp://127.0.0.1:7000 book

Exit codes: 0 when all went well, 1 when the registry could not be reached, refuses, or has no such name, 2 on wrong \
usage."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// What is printed is for programs: JSON on one line.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Does not print where it listens.
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    /// A file with the secret of the registry, all of its bytes.
    #[arg(long, value_name = "FILE", global = true)]
    secret: Option<PathBuf>,
    /// How long connecting, and asking, may take, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, global = true)]
    timeout: f64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serves a registry until it is ended.
    Serve {
        /// Where to listen, as in tcp://host:port, uds:///path or shm://name; port 0 is any that is free.
        #[arg(value_name = "URI", required = true)]
        addresses: Vec<Address>,
        /// Keeps the names in this file, so that they are there again when the registry is restarted.
        #[arg(long, value_name = "FILE")]
        persist: Option<PathBuf>,
        /// Lets every program of this host replace and unbind the names of others.
        #[arg(long)]
        anyone_may_replace: bool,
    },
    /// Lists the names that are bound.
    List {
        /// Where the registry listens.
        #[arg(value_name = "URI")]
        registry: Address,
    },
    /// Shows what is bound to a name, and where it is served.
    Lookup {
        /// Where the registry listens.
        #[arg(value_name = "URI")]
        registry: Address,
        /// The name.
        name: String,
    },
    /// Frees a name.
    Unbind {
        /// Where the registry listens.
        #[arg(value_name = "URI")]
        registry: Address,
        /// The name.
        name: String,
    },
}

impl Arguments {
    /// How to connect.
    pub(crate) fn client(&self) -> Result<ClientOptions, Failure> {
        options::client(self.timeout, self.secret.as_deref())
    }

    /// How to serve.
    pub(crate) fn server(&self) -> Result<ServerOptions, Failure> {
        let mut serving = ServerOptions::default();
        serving.secret = options::read_secret(self.secret.as_deref())?;
        Ok(serving)
    }
}
