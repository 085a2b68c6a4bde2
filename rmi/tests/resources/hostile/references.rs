//! Numbers of objects that were never given, and floods of messages about references.

use std::sync::Arc;
use testing::process::alone;

use jstream_rmi::{Client, Server};
use jstream_transport::{Header, RecvError};

use super::{ADD, OBJECT, Peer, Plain, REPLY, SEND, Scene, Target, lookup, message, until};

/// The handler for messages about references, and the kinds of these messages.
const REFERENCES: u64 = 2;
const RENEW: u64 = 1;
const CLEAN: u64 = 2;
const OFFER: u64 = 3;

impl Peer {
    fn tell(&self, word: u64, payload: &[u8]) {
        self.send(Header::new(SEND, [REFERENCES << 32, word, 0]), payload);
    }

    /// Calls `add` of an object. Returns the code of the answer: 0, or 1 if there is no such
    /// object.
    fn add(&self, object: u64) -> u64 {
        self.request(9, object | ADD << 32, &message(&(1u64, 2u64)));
        // Frames that return credit may come first.
        loop {
            let answer = self.endpoint.recv_message().unwrap();
            if answer.header.kind == REPLY {
                return answer.header.words[1];
            }
        }
    }

    fn look_up(&self) {
        self.request(8, 0, &lookup());
        while self.endpoint.recv_message().unwrap().header.kind != REPLY {}
    }
}

/// Returns a message that releases each number as often as stated.
fn cleans(each: impl Iterator<Item = (u32, u64)>) -> Vec<u8> {
    let bytes = each.flat_map(|(number, times)| {
        let number = number.to_le_bytes().into_iter();
        number.chain(times.to_le_bytes())
    });
    bytes.collect()
}

#[test]
fn case_16_numbers_of_others() {
    alone(|| {
        let scene = Scene::new("tcp", |_| {});
        let (one, other) = (scene.peer(), scene.peer());
        // Each peer was given one object, with number 1. All other numbers are forged.
        assert_eq!(one.add(OBJECT), 0);
        let largest = u64::from(u32::MAX);
        for forged in (2..2000).chain([(1 << 29) - 1, largest - 3, largest]) {
            assert_eq!(other.add(forged), 1, "{forged}");
        }
        // A deferred large result can be fetched only by the peer that was told its number.
        assert_eq!(other.add(largest - 2), 4);
        // Bit 31 says that other calls may name this call, and bit 29 that results of other calls
        // are arguments, but the arguments do not end with numbers for that.
        assert_eq!((other.add(1 << 31), other.add(1 << 29)), (3, 3));
        // A peer cannot release the references of another peer.
        for times in [1, 2, 1000, u64::MAX] {
            other.tell(CLEAN, &cleans((0..1000).map(|number| (number, times))));
        }
        assert_eq!((one.add(OBJECT), other.add(OBJECT)), (0, 1));
        drop((one, other));
        scene.assert_recovers();
    });
}

#[test]
fn case_17_ten_million_of_what_is_said_of_references() {
    alone(|| {
        const AT_ONCE: u32 = 100_000;
        let scene = Scene::new("tcp", |_| {});
        let (peer, victim) = (scene.peer(), scene.peer());
        // All numbers except that of the existing object, released although they were never given.
        let numbers = (0..AT_ONCE).map(|number| (number.max(2), u64::from(number % 3)));
        let numbers = cleans(numbers);
        for _ in 0..100 {
            peer.tell(CLEAN, &numbers);
            assert_eq!(peer.add(OBJECT), 0);
            scene.assert_holds_at_most(16 << 20);
            // A peer that exceeds its window is disconnected, so wait until the messages are
            // processed.
            until(|| scene.growth() < 6 << 20);
        }
        // Renewals, and offers of existing and of unknown objects, with used and with new keys.
        for round in 0..2000u32 {
            peer.tell(RENEW, &[]);
            let mut offer = [7; 20];
            offer[..4].copy_from_slice(&(round / 2).to_le_bytes());
            offer[16..].copy_from_slice(&(round % 3).to_le_bytes());
            peer.tell(OFFER, &offer);
            if round % 100 == 0 {
                assert_eq!(peer.add(OBJECT), 0);
            }
        }
        scene.assert_holds_at_most(16 << 20);
        // The object was given once and is released many times. It is gone, and a new lookup gives
        // it another number.
        for _ in 0..1000 {
            peer.tell(CLEAN, &cleans([(1, 1)].into_iter()));
        }
        until(|| peer.add(OBJECT) == 1);
        peer.look_up();
        assert_eq!((peer.add(OBJECT), peer.add(2)), (1, 0));
        assert_eq!(victim.add(OBJECT), 0);
        drop((peer, victim));
        scene.assert_recovers();
    });
}

#[test]
fn case_17_references_given_without_end() {
    alone(|| {
        let scene = Scene::new("tcp", |options| options.max_references = 1000);
        let client = Client::connect(scene.serving.address()).wait().unwrap();
        let target = client.lookup::<dyn Target>("target").wait().unwrap();
        let own = Server::default();
        // Releases arrive after the last call too, so the client keeps receiving.
        let receiving = client.start().unwrap();
        // The same reference again and again, and many references that are dropped at once.
        let export = own.export::<dyn Target>(Arc::new(Plain));
        for _ in 0..20 {
            let same = vec![export.remote(); 10_000];
            assert_eq!(*target.take(same).wait().unwrap().get(), 10_000);
            let others: Vec<_> = (0..500)
                .map(|_| own.export::<dyn Target>(Arc::new(Plain)))
                .collect();
            let others = others.iter().map(jstream_rmi::Export::remote).collect();
            assert_eq!(*target.take(others).wait().unwrap().get(), 500);
            scene.assert_holds_at_most(32 << 20);
        }
        // References beyond the limit are refused, and nothing of them is kept.
        let others: Vec<_> = (0..1001)
            .map(|_| own.export::<dyn Target>(Arc::new(Plain)))
            .collect();
        let many = others.iter().map(jstream_rmi::Export::remote).collect();
        target.take(many).wait().unwrap_err();
        drop((others, export));
        until(|| own.references() == jstream_rmi::ReferenceCounts::default());
        drop((receiving, target, client));
        scene.assert_recovers();
    });
}

/// Looks up the same object again and again without releasing the references.
#[test]
fn case_17_lookups_without_end() {
    alone(|| {
        let scene = Scene::new("tcp", |_| {});
        let peer = scene.peer();
        for _ in 0..20_000 {
            peer.look_up();
        }
        scene.assert_holds_at_most(16 << 20);
        let leases = scene.server.references();
        assert!((leases.exports, leases.leases) == (1, 0), "{leases:?}");
        // Releases all of them at once, and one more.
        peer.tell(CLEAN, &cleans([(1, 20_001), (1, 1)].into_iter()));
        assert_eq!(peer.add(OBJECT), 1);
        // An invalid message about references ends the connection.
        peer.tell(CLEAN, &[1; 11]);
        let ended = loop {
            match peer.endpoint.recv_message() {
                Ok(_) => {}
                Err(ended) => break ended,
            }
        };
        assert!(matches!(
            ended,
            RecvError::Closed { .. } | RecvError::Lost { .. }
        ));
        drop(peer);
        scene.assert_recovers();
    });
}
