//! Messages arrive complete, in order, in both directions, in jbufs of the receiver's pool.

use std::collections::VecDeque;

use jstream_transport::{Endpoint, Header, RecvError, SendError};

use crate::host::{Host, Outcome, ensure, filled};
use testing::patterns::bytes;

/// Sends one message, and returns its jbuf to the pool unless the jbuf moved to the peer.
async fn send(
    endpoint: &Endpoint,
    header: Header,
    payload: jstream::MessageBuffer,
) -> Result<(), SendError> {
    endpoint.post_send(header, payload).await?;
    Ok(())
}

async fn receive(endpoint: &Endpoint) -> Result<jstream_transport::Message, RecvError> {
    Ok(endpoint.post_recv(None).await?)
}

pub(crate) async fn every_size_arrives(host: Host) -> Outcome {
    let options = host.options();
    let (client, server) = host.pair(&options, &host.options()).await?;
    let mut sizes = vec![
        0, 1, 39, 40, 41, 47, 48, 49, 255, 4055, 4056, 4057, 4095, 4096, 4097, 8192, 65_536,
    ];
    sizes.extend(host.scaled([70_000, 5_000_000], [70_001, 100_000]));
    let pool = host.pool();
    let count = sizes.len();
    let sending = {
        let sizes = sizes.clone();
        host.spawn("sends", async move {
            for (index, size) in (0..).zip(sizes) {
                let header = Header::new(index, [size as u64, u64::MAX, 3]);
                let payload = filled(&pool, &bytes(size, u64::from(index)));
                send(&server, header, payload).await?;
            }
            Ok::<_, SendError>(server)
        })
    };
    for (index, size) in (0..).zip(sizes) {
        let message = receive(&client).await?;
        let (header, payload) = (message.header, message.payload.as_bytes());
        host.intact(
            (header.kind, header.words) == (index, [size as u64, u64::MAX, 3])
                && header.length == payload.len() as u64
                && payload == bytes(size, u64::from(index)),
            || format!("{size} bytes are others: {header:?}"),
        )?;
        let is_ours = client.info().limits.moves || options.pool.contains(payload);
        assert!(is_ours, "{size}");
    }
    let server = sending.await?;
    let (sent, received) = (server.info().counters, client.info().counters);
    ensure!(
        (sent.messages_sent, sent.messages_received) == (count as u64, 0),
        "{sent:?}"
    );
    ensure!(
        (received.messages_received, received.bytes_received) == (count as u64, sent.bytes_sent),
        "{received:?}"
    );
    Ok(())
}

pub(crate) async fn order_is_kept(host: Host) -> Outcome {
    let (client, server) = host.pair(&host.options(), &host.options()).await?;
    let (messages, pool) = (host.scaled(5000, 150), host.pool());
    let size = |index: u64| match index % 100 {
        0 => 70_000,
        1..10 => 4000 + index as usize % 200,
        _ => index as usize % 300,
    };
    let sending = host.spawn("sends", async move {
        for index in 0..messages {
            let payload = filled(&pool, &bytes(size(index), index));
            send(&client, Header::new(7, [index, 0, 0]), payload).await?;
        }
        Ok::<_, SendError>(client)
    });
    for index in 0..messages {
        let message = receive(&server).await?;
        let payload = message.payload.as_bytes();
        host.intact(
            message.header.words[0] == index && payload == bytes(size(index), index),
            || format!("message {index} is another: {:?}", message.header),
        )?;
    }
    sending.await?;
    Ok(())
}

pub(crate) async fn both_sides_send_at_once(host: Host) -> Outcome {
    let mut options = host.options();
    options.queue_bytes = 1 << 20;
    let (client, server) = host.pair(&options, &options).await?;
    let (messages, size) = host.scaled((200, 400_000), (8, 30_000));
    let mut tasks = Vec::new();
    for endpoint in [client, server] {
        let (sends, receives, pool) = (endpoint.clone(), endpoint, host.pool());
        tasks.push(host.spawn("sends", async move {
            for index in 0..messages {
                let payload = filled(&pool, &bytes(size, index));
                send(&sends, Header::new(0, [index, 0, 0]), payload).await?;
            }
            Outcome::Ok(())
        }));
        let there = host.clone();
        tasks.push(host.spawn("receives", async move {
            for index in 0..messages {
                let message = receive(&receives).await?;
                let right = message.header.words[0] == index
                    && message.payload.as_bytes() == bytes(size, index);
                there.intact(right, || format!("message {index} is another"))?;
            }
            Ok(())
        }));
    }
    for task in tasks {
        task.await?;
    }
    Ok(())
}

/// Posted receives get the messages in the order of posting, in whatever order the tickets are
/// polled.
pub(crate) async fn posted_operations_keep_their_order(host: Host) -> Outcome {
    for window in [1, 3, 16] {
        let (client, server) = host.pair(&host.options(), &host.options()).await?;
        let (pool, messages) = (host.pool(), host.scaled(1000, 40));
        let sending = {
            let pool = pool.clone();
            host.spawn("sends", async move {
                let mut sends = VecDeque::new();
                for index in 0..messages {
                    let payload = filled(&pool, &bytes(index as usize % 4001, index));
                    sends.push_back(client.post_send(Header::new(1, [index, 0, 0]), payload));
                    if sends.len() as u64 >= window {
                        if let Some(send) = sends.pop_front() {
                            send.await?;
                        }
                    }
                }
                for send in sends {
                    send.await?;
                }
                Ok::<_, SendError>(client)
            })
        };
        let mut receives = Vec::new();
        for posted in 0..messages {
            receives.push((posted, server.post_recv(pool.take(4000).unwrap())));
            if (receives.len() as u64) < window && posted + 1 < messages {
                continue;
            }
            // The order in which the tickets are polled does not matter.
            while !receives.is_empty() {
                let chosen = posted as usize * 7 % receives.len();
                let (posted, receive) = receives.swap_remove(chosen);
                let message = receive.await.map_err(RecvError::from)?;
                let got = message.header.words[0];
                let right = message.payload.as_bytes() == bytes(got as usize % 4001, got);
                host.intact(got == posted && right, || format!("{posted} got {got}"))?;
            }
        }
        sending.await?;
    }
    Ok(())
}
