//! Sockets that send bytes which violate the protocol.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Aim;
use super::peer::{HELLO, WORDS, table};
use crate::Failure;

/// Returns the greeting of the transport.
pub(super) fn greeting() -> [u8; 32] {
    let mut hello = [0; 32];
    let parts = [
        (0, &b"jstream\0\x02"[..]),
        (12, &0x0102u16.to_ne_bytes()),
        (14, &[64]),
        (16, &(64u64 << 20).to_le_bytes()),
    ];
    for (at, part) in parts {
        for (to, from) in hello.iter_mut().skip(at).zip(part) {
            *to = *from;
        }
    }
    hello
}

/// Returns a header that announces `length` bytes of payload.
pub(super) fn frame(kind: u32, words: [u64; 3], length: u64) -> [u8; 40] {
    let mut header = [0; 40];
    let kind = u64::from(kind);
    let all = [[kind], [words[0]], [words[1]], [words[2]], [length]];
    for (place, [word]) in header.chunks_mut(8).zip(all) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    header
}

/// A socket that counts the bytes sent for the attack.
pub(super) struct Raw {
    socket: TcpStream,
    aim: Aim,
}

impl Raw {
    pub(super) fn new(aim: &Aim) -> Result<Self, Failure> {
        let address = aim.address.to_string();
        let address = address
            .strip_prefix("tcp://")
            .ok_or("the address is not a TCP address")?;
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(Duration::from_secs(10)))?;
        aim.facts.connections.fetch_add(1, Ordering::Relaxed);
        Ok(Self {
            socket,
            aim: aim.clone(),
        })
    }

    /// Connects and completes the handshake, so that calls are possible.
    pub(super) fn joined(aim: &Aim) -> Result<Self, Failure> {
        let mut raw = Self::new(aim)?;
        raw.send(&greeting())?;
        let table = table()?;
        raw.send(&frame(HELLO, WORDS, table.len() as u64))?;
        raw.send(&table)?;
        let mut theirs = [0; 40];
        // The greeting of the server with its verdict on this side's greeting, and the header of
        // its hello.
        raw.socket.read_exact(&mut theirs)?;
        raw.socket.read_exact(&mut theirs)?;
        let length = theirs.last_chunk().copied().map_or(0, u64::from_le_bytes);
        raw.socket.read_exact(&mut vec![0; length as usize])?;
        Ok(raw)
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.socket.write_all(bytes)?;
        self.aim
            .facts
            .sent
            .fetch_add(bytes.len(), Ordering::Relaxed);
        Ok(())
    }

    /// Waits until the server has closed the connection. A reset counts as closing.
    pub(super) fn ended(mut self) -> Result<(), Failure> {
        match self.socket.read_to_end(&mut Vec::new()) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                Err("the server did not close the connection of an invalid peer".into())
            }
            _ => Ok(()),
        }
    }
}
