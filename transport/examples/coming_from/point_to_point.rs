//! rsmpi's examples `send_receive`, `immediate`, `ready_send`, `wait_any`,
//! `immediate_multiple_requests` and `immediate_multiple_test`, with a struct and an object as
//! further messages.
//!
//! The originals are started by `mpirun`. This program starts its other processes itself. A
//! launcher can do so as well, see `World::from_env`.

#![allow(clippy::arithmetic_side_effects, reason = "few and small numbers")]

use std::f32::consts::PI;
use std::slice;
use std::thread;
use std::time::Duration;

use jstream::Transportable;
use jstream_transport::rank::world::{World, WorldOptions};
use jstream_transport::rank::{self, Error, Rank, Source};
use zerocopy::{FromBytes, Immutable, IntoBytes};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let world = World::processes(&["tcp://127.0.0.1:0".parse()?], 4, &WorldOptions::default())?;
    // Each example has a tag of its own, so that none takes the messages of another.
    send_receive(&world)?;
    immediate(&world)?;
    ready(&world)?;
    wait_any(&world)?;
    multiple_requests(&world)?;
    own_types(&world)?;
    println!("rank {} of {} is done", world.rank(), world.size());
    // At rank 0, this is an error if one of the other processes failed.
    Ok(world.finish()?)
}

fn neighbours(rank: &Rank) -> (u32, u32) {
    (
        (rank.rank() + 1) % rank.size(),
        (rank.rank() + rank.size() - 1) % rank.size(),
    )
}

fn send_receive(rank: &Rank) -> Result<(), Error> {
    let me = rank.rank();
    let (next, previous) = neighbours(rank);
    let mut message = [0];
    let status = rank.sendrecv(previous, 1, &[me], next, 1, &mut message)?;
    println!("rank {me} got {message:?}, {status:?}");
    assert_eq!((message[0], status.source), (next, next));

    if me > 0 {
        rank.send(0, 2, &[me, me + 1, me - 1])?;
    } else {
        for _ in 1..rank.size() {
            let (message, status) = rank.recv_vec::<u32>(Source::Any, 2)?;
            let from = status.source;
            assert_eq!(message, [from, from + 1, from - 1]);
        }
    }
    Ok(())
}

/// Sends messages to itself.
fn immediate(rank: &Rank) -> Result<(), Error> {
    let me = rank.rank();
    let (x, mut y) = ([PI], [0.0]);
    rank.scope(|scope| {
        let mut send = scope.isend(me, 3, &x);
        scope.irecv(Source::Any, 3, &mut y).wait()?;
        loop {
            if let Some(end) = send.test() {
                return end;
            }
        }
    })?;
    assert_eq!(x, y);

    assert!(rank.iprobe(Source::Any, 3)?.is_none());
    // A probe returns the message that it has found, as the matched probes of MPI do.
    y = [0.0];
    rank.scope(|scope| {
        let send = scope.issend(me, 3, &x);
        let found = loop {
            if let Some(found) = rank.iprobe(Source::Any, 3)? {
                break found;
            }
        };
        assert_eq!(found.status().len::<f32>(), 1);
        found.recv(&mut y)?;
        send.wait()
    })?;
    assert_eq!(x, y);

    // A receive into a buffer borrows nothing. It is also a future.
    let mut receive = rank.buffers().irecv(Source::Any, 3);
    assert!(receive.test().is_none());
    rank.send(me, 3, &x)?;
    let message = receive.wait()?;
    assert_eq!(message.payload.view::<f32>().ok(), Some(&x[..]));

    rank.scope(|scope| {
        let receive = scope.irecv(Source::Any, 3, &mut y);
        assert!(matches!(receive.cancel(), Err(Error::Cancelled)));
    });
    Ok(())
}

/// Posts all receives before the other ranks send.
fn ready(rank: &Rank) -> Result<(), Error> {
    if rank.rank() > 0 {
        rank.recv(0, 4, &mut [0u8; 0])?;
        return rank.send_value(0, 4, rank.rank());
    }
    let mut all = vec![0u32; rank.size() as usize - 1];
    rank.scope(|scope| {
        let mut receives: Vec<_> = (1..)
            .zip(&mut all)
            .map(|(from, element)| scope.irecv(from, 4, slice::from_mut(element)))
            .collect();
        for to in 1..rank.size() {
            rank.send(to, 4, &[0u8; 0])?;
        }
        rank::wait_all(&mut receives)
            .into_iter()
            .collect::<Result<Vec<_>, _>>()
    })?;
    assert_eq!(all, [1, 2, 3]);
    Ok(())
}

fn wait_any(rank: &Rank) -> Result<(), Error> {
    if rank.rank() > 0 {
        thread::sleep(Duration::from_millis(50) * rank.rank());
        let (number, _) = rank.recv_value::<f32>(Source::Any, 5)?;
        assert_eq!(number, PI);
        return Ok(());
    }
    rank.scope(|scope| {
        let mut sends: Vec<_> = (1..rank.size())
            .map(|to| scope.issend(to, 5, &[PI]))
            .collect();
        while let Some((index, end)) = rank::wait_any(&mut sends) {
            end?;
            println!("send {index} has been received");
        }
        Ok(())
    })
}

fn multiple_requests(rank: &Rank) -> Result<(), Error> {
    let (next, previous) = neighbours(rank);
    let numbers: Vec<u32> = (0..256).collect();
    let mut received = vec![0; numbers.len()];
    rank.scope(|scope| {
        let mut receives: Vec<_> = received
            .iter_mut()
            .map(|number| scope.irecv(previous, 6, slice::from_mut(number)))
            .collect();
        let mut sends: Vec<_> = numbers
            .iter()
            .map(|number| scope.isend(next, 6, slice::from_ref(number)))
            .collect();
        let mut ended = 0;
        while ended < 128 {
            ended += rank::wait_some(&mut receives).len();
        }
        while let Some((_, end)) = rank::wait_any(&mut receives) {
            end?;
        }
        rank::wait_all(&mut sends)
            .into_iter()
            .collect::<Result<Vec<()>, _>>()
    })?;
    // Messages of one rank are received in the order in which they were sent.
    assert_eq!(received, numbers);
    Ok(())
}

/// Plain values without padding.
#[derive(Debug, PartialEq, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Particle {
    mass: f64,
    place: [f64; 3],
}

/// Any type that can be transported.
#[derive(Transportable)]
struct Step {
    name: String,
    particles: Vec<f64>,
}

fn own_types(rank: &Rank) -> Result<(), Error> {
    let (next, previous) = neighbours(rank);
    let particle = Particle {
        mass: 1.5,
        place: [f64::from(rank.rank()); 3],
    };
    rank.send_value(next, 7, particle)?;
    let (received, _) = rank.recv_value::<Particle>(previous, 7)?;
    assert_eq!(received.place, [f64::from(previous); 3]);

    let step = Step {
        name: format!("step of {}", rank.rank()),
        particles: vec![1.0; 3],
    };
    rank.objects().send(next, 8, &step)?;
    let (received, _) = rank.objects().recv::<Step>(previous, 8)?;
    assert_eq!(received.get().name, format!("step of {previous}"));
    assert_eq!(received.get().particles, [1.0; 3]);
    Ok(())
}
