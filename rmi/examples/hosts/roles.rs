//! The roles of the processes on their hosts.

use std::io::{self, Read, Write};
use std::sync::Arc;

use jstream_rmi::directory::{self, Directory, Names, Registrar};
use jstream_rmi::{Address, ClientOptions, Secret, Server, ServerOptions, Serving};

use crate::Outcome;
use crate::service::{Book, Eager, Library, Printed, Reader, Shelf};

const TEXT: [&str; 3] = [
    "A net has knots where others have holes.",
    "Whoever pulls at one knot moves its neighbours,",
    "and is connected with all of them unintentionally.",
];

fn secret() -> Outcome<Option<Secret>> {
    Ok(Some(Secret::new(b"what all hosts of the example know")?))
}

fn serve(server: &Server, host: &str) -> Outcome<Serving> {
    Ok(server.listen(&Address::tcp(host, 0)?)?)
}

fn names(registry: &str) -> Outcome<Names> {
    let mut options = ClientOptions::default();
    options.secret = secret()?;
    Ok(Names::connect_with(&registry.parse()?, &options).wait()?)
}

fn options() -> Outcome<ServerOptions> {
    let mut options = ServerOptions::default();
    options.secret = secret()?;
    // Peers know the secret, so the addresses that they supply are trusted.
    options.third_parties = true;
    Ok(options)
}

/// Prints a line for the parent process, and waits until the parent ends.
fn last(text: impl std::fmt::Display) -> Outcome {
    println!("{text}");
    io::stdout().flush()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

pub(crate) fn registry(host: &str) -> Outcome {
    let server = Server::new(options()?);
    server.bind::<dyn Directory>(directory::NAME, Arc::new(Registrar::default()))?;
    let serving = serve(&server, host)?;
    last(serving.address())
}

pub(crate) fn library(host: &str, registry: &str) -> Outcome {
    let server = Server::new(options()?);
    let book = server.export::<dyn Book>(Arc::new(Printed(TEXT.to_vec())));
    server.bind::<dyn Library>("library", Arc::new(Shelf(book.remote())))?;
    let serving = serve(&server, host)?;
    let names = names(registry)?;
    names.bind("library", &serving).wait()?;
    last(format_args!("the library is at {}", serving.address()))
}

pub(crate) fn reader(host: &str, registry: &str) -> Outcome {
    let server = Server::new(options()?);
    server.bind::<dyn Reader>("reader", Arc::new(Eager))?;
    let serving = serve(&server, host)?;
    let names = names(registry)?;
    names.bind("reader", &serving).wait()?;
    last(format_args!("the reader is at {}", serving.address()))
}

pub(crate) fn desk(registry: &str) -> Outcome {
    let names = names(registry)?;
    for bound in names.list().wait()? {
        println!("the registry: {} is a {}", bound.name, bound.interface);
    }
    let library = names.lookup::<dyn Library>("library").wait()?;
    let book = library.open("The Net").wait()?.ok_or("no such book")?;
    let pages = *book.pages().wait()?.get();
    // The reader itself requests the pages from the library. This process never receives them.
    let reader = names.lookup::<dyn Reader>("reader").wait()?;
    let found = reader.longest_word(book).wait()?;
    let word = (*found.get())?;
    println!("the longest word of {pages} pages is {word:?}");
    if word != "unintentionally." {
        return Err("the longest word is wrong".into());
    }
    Ok(())
}
