//! Posted operations that are cancelled, polled too early, or blocked.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use jstream::buffer::PoolOptions;
use jstream_transport::{Header, RecvError, SendError};

use crate::host::{Host, Outcome, both, ensure, filled};
use testing::patterns::bytes;

pub(crate) async fn a_cancelled_receive_takes_no_message(host: Host) -> Outcome {
    let (client, server) = host.pair(&host.options(), &host.options()).await?;
    let pool = host.pool();
    for round in 0..host.scaled(50, 5) {
        let first = server.post_recv(pool.take(100).unwrap());
        let second = server.post_recv(None);
        let unreceived = first.cancel().err().ok_or("nothing was sent")?;
        ensure!(
            matches!(unreceived.error, RecvError::Cancelled),
            "{unreceived}"
        );
        ensure!(unreceived.buffer.is_some(), "the jbuf comes back");
        let send = client.post_send(Header::new(round, [0; 3]), filled(&pool, &[7; 50]));
        let (sent, received) = both(send, second).await;
        sent.map_err(SendError::from)?;
        let message = received.map_err(RecvError::from)?;
        host.intact(message.header.kind == round, || {
            format!("{:?}", message.header)
        })?;
    }
    Ok(())
}

pub(crate) async fn a_dropped_receive_loses_no_message(host: Host) -> Outcome {
    let (client, server) = host.pair(&host.options(), &host.options()).await?;
    let (pool, messages) = (host.pool(), host.scaled(300, 30));
    let sending = host.spawn("sends", async move {
        for index in 0..messages {
            let size = [3, 5000, 60_000][index as usize % 3];
            let payload = filled(&pool, &bytes(size, index));
            let sent = client.post_send(Header::new(0, [index, 0, 0]), payload);
            sent.await.map_err(SendError::from)?;
        }
        Ok::<_, SendError>(client)
    });
    for index in 0..messages {
        // Drops receives before they get a message, in the middle of a message, or with a complete
        // message.
        let mut dropped = vec![server.post_recv(None), server.post_recv(None)];
        host.pause_for(index).await;
        let mut polled = dropped.swap_remove(0);
        let waker = Waker::noop();
        let poll = Pin::new(&mut polled).poll(&mut Context::from_waker(waker));
        drop((polled, dropped));
        let received = match poll {
            Poll::Ready(received) => received,
            Poll::Pending => server.post_recv(None).await,
        };
        let message = received.map_err(RecvError::from)?;
        let size = [3, 5000, 60_000][index as usize % 3];
        let right =
            message.header.words[0] == index && message.payload.as_bytes() == bytes(size, index);
        host.intact(right, || format!("{index}: {:?}", message.header))?;
    }
    sending.await?;
    Ok(())
}

pub(crate) async fn a_send_is_cancelled_or_arrives(host: Host) -> Outcome {
    let (client, server) = host.pair(&host.options(), &host.options()).await?;
    let pool = host.pool();
    // The first sends fill the buffers of the device.
    let (count, size) = host.scaled((40, 1 << 20), (12, 50_000));
    let mut sends = Vec::new();
    for index in 0..count {
        let payload = filled(&pool, &bytes(size, index));
        sends.push((
            index,
            client.post_send(Header::new(0, [index, 0, 0]), payload),
        ));
    }
    let (mut cancelled, mut kept) = (Vec::new(), Vec::new());
    while let Some((index, send)) = sends.pop() {
        if index % 2 == 0 {
            kept.push(send);
            continue;
        }
        match send.cancel() {
            Ok(Ok(_)) => {}
            Ok(Err(unsent)) => {
                ensure!(matches!(unsent.error, SendError::Cancelled), "{unsent}");
                assert!(
                    unsent.filled.as_bytes() == bytes(size, index),
                    "it comes back"
                );
                cancelled.push(index);
            }
            Err(send) => kept.push(send),
        }
    }
    let expected: Vec<_> = (0..count)
        .filter(|index| !cancelled.contains(index))
        .collect();
    let receiving = {
        let host = host.clone();
        host.clone().spawn("receives", async move {
            for index in expected {
                let message = server.post_recv(None).await.map_err(RecvError::from)?;
                let right = message.header.words[0] == index
                    && message.payload.as_bytes() == bytes(size, index);
                host.intact(right, || format!("{index}: {:?}", message.header))?;
            }
            Outcome::Ok(())
        })
    };
    for send in kept {
        send.await.map_err(SendError::from)?;
    }
    receiving.await
}

/// A send whose ticket is dropped is completed with the next send.
pub(crate) async fn a_dropped_send_is_sent(host: Host) -> Outcome {
    let (client, server) = host.pair(&host.options(), &host.options()).await?;
    let pool = host.pool();
    let sending = host.spawn("sends", async move {
        for index in 0..20 {
            let sent = client.post_send(Header::new(index, [0; 3]), filled(&pool, &[1; 9000]));
            if index == 19 {
                sent.await.map_err(SendError::from)?;
            }
        }
        Ok::<_, SendError>(client)
    });
    for index in 0..20 {
        let message = server.post_recv(None).await.map_err(RecvError::from)?;
        host.intact(message.header.kind == index, || {
            format!("{:?}", message.header)
        })?;
    }
    sending.await?;
    Ok(())
}

pub(crate) async fn try_forms_never_wait(host: Host) -> Outcome {
    let (client, server) = host.pair(&host.options(), &host.options()).await?;
    let error = server
        .recv_message_within(Duration::ZERO)
        .err()
        .ok_or("nothing was sent")?;
    ensure!(matches!(error, RecvError::Empty), "{error}");
    let mut receive = server.post_recv(None);
    let nothing = receive.try_take();
    ensure!(nothing.is_none(), "{nothing:?}");
    drop(receive);
    if host.is_simulated() {
        // In a simulation, no send is certain to be accepted at once.
        return Ok(());
    }
    let payload = vec![9; 1000];
    let sending = {
        let (pool, payload) = (host.pool(), payload.clone());
        host.spawn("sends", async move {
            // A device may stop accepting messages from a sender that is faster than its receiver.
            for index in 0..20_000 {
                let slices = [std::io::IoSlice::new(&payload)];
                match client.try_send_message(Header::new(index, [0; 3]), &slices) {
                    Ok(()) => {}
                    Err(SendError::WouldBlock) => break,
                    Err(error) => return Err(error),
                }
            }
            let last = client.post_send(Header::new(u32::MAX, [0; 3]), filled(&pool, &payload));
            last.await?;
            Ok(client)
        })
    };
    for index in 0.. {
        if index % 2000 == 0 {
            host.pause().await;
        }
        let message = loop {
            match server.recv_message_within(Duration::ZERO) {
                Err(RecvError::Empty) => host.pause_for(1).await,
                message => break message?,
            }
        };
        assert!(message.payload.as_bytes() == payload);
        if message.header.kind == u32::MAX {
            break;
        }
        assert_eq!(message.header.kind, index);
    }
    sending.await?;
    Ok(())
}

pub(crate) async fn a_full_pool_is_an_error_that_passes(host: Host) -> Outcome {
    let mut limit = PoolOptions::default();
    limit.max_mapped = 900_000;
    let options = host.options_with(limit);
    let (client, server) = host.pair(&host.options(), &options).await?;
    let pool = host.pool();
    let (header, payload) = (Header::default(), vec![3; 300_000]);
    let sending = {
        let (client, payload) = (client.clone(), payload.clone());
        host.spawn("sends", async move {
            for _ in 0..2 {
                loop {
                    // Over `inproc`, the sender gets the error that there is no space; over other
                    // devices, the receiver gets it.
                    let sent = client.post_send(header, filled(&pool, &payload)).await;
                    match sent.map_err(SendError::from) {
                        Err(SendError::NoBuffer { .. }) => {}
                        sent => {
                            sent?;
                            break;
                        }
                    }
                }
            }
            Ok::<_, SendError>(())
        })
    };
    let held = server.post_recv(None).await.map_err(RecvError::from)?;
    let second = server.post_recv(None).await.map_err(RecvError::from);
    let second = match second {
        Err(RecvError::NoBuffer { length, .. }) => {
            host.intact(length == 300_000, || format!("{length}"))?;
            drop(held);
            server.post_recv(None).await.map_err(RecvError::from)?
        }
        second => second?,
    };
    let right = second.payload.as_bytes() == payload;
    host.intact(right, || format!("{:?}", second.header))?;
    sending.await?;
    Ok(())
}

pub(crate) async fn messages_are_received_into_memory(host: Host) -> Outcome {
    let (client, server) = host.pair(&host.options(), &host.options()).await?;
    let (pool, mut memory) = (host.pool(), [0; 1000]);
    let sizes = [0, 1, 40, 999, 1000, 1001];
    let sending = host.spawn("sends", async move {
        for size in sizes {
            let sent = client.post_send(Header::default(), filled(&pool, &bytes(size, 1)));
            sent.await.map_err(SendError::from)?;
        }
        Ok::<_, SendError>(client)
    });
    for size in sizes.into_iter().take(5) {
        let header = loop {
            match server.recv_into_within(&mut memory, Duration::ZERO) {
                Err(RecvError::Empty) => host.pause_for(1).await,
                header => break header?,
            }
        };
        let right = header.length == size as u64 && memory[..size] == bytes(size, 1);
        host.intact(right, || format!("{size}: {header:?}"))?;
    }
    // A message that does not fit is kept.
    for _ in 0..2 {
        let error = loop {
            match server.recv_into_within(&mut memory, Duration::ZERO) {
                Err(RecvError::Empty) => host.pause_for(1).await,
                Err(error) => break error,
                Ok(header) => host.intact(false, || format!("{header:?}"))?,
            }
        };
        ensure!(
            matches!(
                error,
                RecvError::TooSmall {
                    length: 1001,
                    capacity: 1000
                }
            ),
            "{error}"
        );
    }
    let message = server.post_recv(None).await.map_err(RecvError::from)?;
    let right = message.payload.as_bytes() == bytes(1001, 1);
    host.intact(right, || format!("{:?}", message.header))?;
    sending.await?;
    Ok(())
}
