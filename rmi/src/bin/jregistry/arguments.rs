//! Command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use jstream::command_line::Color;
use jstream_rmi::{Address, ClientOptions, ServerOptions};

use crate::failure::Failure;
use crate::options;

/// Serves or queries a registry of the names of several servers.
#[derive(Debug, Parser)]
#[command(
    name = "jregistry",
    version,
    after_help = "\
Servers bind names to their objects for as long as they run; clients look the names up and call the servers directly. \
Only programs on the host of the registry may bind names, and only the program that bound a name may replace or unbind \
it. With --secret, every program that knows the secret may do all of this.

Examples:
  jregistry serve tcp://0.0.0.0:7000 uds:///run/names   serve, and print the addresses
  jregistry serve uds:///run/names --persist names.jst  serve, and restore the names that were bound before
  jregistry list tcp://127.0.0.1:7000                   list the bound names and their interfaces
  jregistry lookup tcp://127.0.0.1:7000 book            show the interface and the addresses of a name
  jregistry unbind tcp://127.0.0.1:7000 book            unbind a name

Exit codes: 0 on success, 1 if the registry could not be reached, refused the request, or does not have the name, 2 on \
wrong usage."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print JSON on one line, for programs.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print nothing but errors: not the addresses on which the registry listens, and no names.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) color: Color,
    /// File whose bytes are the secret of the registry.
    #[arg(long, value_name = "FILE", global = true)]
    secret: Option<PathBuf>,
    /// Timeout of connecting and of each request, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, global = true)]
    timeout: f64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serves a registry until the program is terminated.
    Serve {
        /// Addresses to listen on: tcp://host:port, uds:///path or shm://name; port 0 selects a
        /// free port.
        #[arg(value_name = "URI", required = true)]
        addresses: Vec<Address>,
        /// Store the names in this file, and restore them when the registry is restarted.
        #[arg(long, value_name = "FILE")]
        persist: Option<PathBuf>,
        /// Let every program of this host replace and unbind the names of others.
        #[arg(long)]
        anyone_may_replace: bool,
    },
    /// Lists the bound names.
    List {
        /// Address of the registry.
        #[arg(value_name = "URI")]
        registry: Address,
    },
    /// Shows the interface of the object that is bound to a name, and the addresses of its server.
    Lookup {
        /// Address of the registry.
        #[arg(value_name = "URI")]
        registry: Address,
        /// The name.
        name: String,
    },
    /// Unbinds a name.
    Unbind {
        /// Address of the registry.
        #[arg(value_name = "URI")]
        registry: Address,
        /// The name.
        name: String,
    },
}

impl Arguments {
    /// Returns the options for connecting.
    pub(crate) fn client(&self) -> Result<ClientOptions, Failure> {
        options::client(self.timeout, self.secret.as_deref())
    }

    /// Returns the options for serving.
    pub(crate) fn server(&self) -> Result<ServerOptions, Failure> {
        let mut serving = ServerOptions::default();
        serving.secret = options::read_secret(self.secret.as_deref())?;
        Ok(serving)
    }
}
