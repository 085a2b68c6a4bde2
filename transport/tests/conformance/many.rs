//! Many connections, in sequence and at the same time.

use std::sync::Arc;

use jstream_transport::{
    CompletionQueue, Endpoint, Header, Outcome as Completed, RecvError, SendError,
};

use crate::host::{Host, Outcome, both, filled};
use testing::patterns::bytes;

pub(crate) async fn connections_leave_nothing_behind(host: Host) -> Outcome {
    let (listening, connecting) = (host.options(), host.options());
    let listener = Arc::new(host.listen(&listening)?);
    let pool = host.pool();
    for round in 0..host.scaled(200, 6) {
        let (client, server) = host.join(&listener, &connecting).await?;
        let mut sends = Vec::new();
        for _ in 0..3 {
            sends.push(client.post_send(Header::default(), filled(&pool, &[2; 5000])));
        }
        let first = sends.swap_remove(0);
        let posted = (
            server.post_recv(None),
            client.post_recv(pool.take(3).unwrap()),
        );
        // Some messages are received, others are still under way when everything is dropped.
        if round % 2 == 0 {
            let (sent, received) = both(first, posted.0).await;
            sent.map_err(SendError::from)?;
            let message = received.map_err(RecvError::from)?;
            let right = message.payload.as_bytes() == [2; 5000];
            host.intact(right, || format!("{:?}", message.header))?;
        } else {
            drop((client, server));
        }
    }
    for pool in [&listening.pool, &connecting.pool, &pool] {
        // A send that has begun continues after the last handle of its connection was dropped.
        for _ in 0..1000 {
            if pool.stats().in_use == 0 {
                break;
            }
            host.pause().await;
        }
        assert_eq!(pool.stats().in_use, 0);
    }
    Ok(())
}

pub(crate) async fn many_connections_at_once(host: Host) -> Outcome {
    let options = host.options();
    let listener = Arc::new(host.listen(&options)?);
    let (connections, messages) = host.scaled((16, 100), (5, 8));
    let mut tasks = Vec::new();
    for number in 0..connections {
        let (client, server) = host.join(&listener, &options).await?;
        tasks.push(host.spawn("answers", answer(server, host.pool())));
        tasks.push(host.spawn("asks", ask(host.clone(), client, number, messages)));
    }
    for task in tasks {
        task.await?;
    }
    Ok(())
}

/// Echoes messages until the connection ends.
async fn answer(endpoint: Endpoint, pool: jstream::Pool) -> Outcome {
    loop {
        match endpoint.post_recv(None).await.map_err(RecvError::from) {
            Ok(message) => {
                let back = filled(&pool, message.payload.as_bytes());
                let sent = endpoint.post_send(message.header, back).await;
                sent.map_err(SendError::from)?;
            }
            Err(RecvError::Closed { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

async fn ask(host: Host, endpoint: Endpoint, number: u64, messages: u64) -> Outcome {
    let pool = host.pool();
    for index in 0..messages {
        let size = [0, 40, 300, 6000][(number + index) as usize % 4];
        let payload = bytes(size, number + index);
        let header = Header::new(1, [number, index, 0]);
        let ask = endpoint.post_send(header, filled(&pool, &payload));
        let (asked, answer) = both(ask, endpoint.post_recv(None)).await;
        asked.map_err(SendError::from)?;
        let message = answer.map_err(RecvError::from)?;
        let right = message.header.words == header.words && message.payload.as_bytes() == payload;
        host.intact(right, || format!("{number}, {index}: {:?}", message.header))?;
    }
    Ok(())
}

/// Both ends of several connections share one queue for all posted operations.
pub(crate) async fn connections_share_a_queue(host: Host) -> Outcome {
    let options = host.options();
    let listener = Arc::new(host.listen(&options)?);
    let (queue, pool) = (CompletionQueue::new()?, host.pool());
    let (connections, messages) = host.scaled((8, 100), (3, 5));
    let (mut endpoints, mut posted) = (Vec::new(), 0);
    for number in 0..connections {
        let (client, server) = host.join(&listener, &options).await?;
        for index in 0..messages {
            let header = Header::new(1, [number, index, 0]);
            let payload = filled(&pool, &bytes(index as usize * 50, number + index));
            queue.post_send(&client, u64::MAX, header, payload);
            queue.post_recv(&server, number * messages + index, None);
            posted += 2;
        }
        endpoints.push((client, server));
    }
    for _ in 0..posted {
        let completion = queue.next().await?;
        match completion.outcome {
            Completed::Sent(sent) => drop(sent.map_err(SendError::from)?),
            Completed::Received(received) => {
                let message = received.map_err(RecvError::from)?;
                let [number, index, _] = message.header.words;
                let right = number * messages + index == completion.user
                    && message.payload.as_bytes() == bytes(index as usize * 50, number + index);
                host.intact(right, || format!("{number}, {index}: {}", completion.user))?;
            }
            other => return Err(format!("{other:?}").into()),
        }
    }
    Ok(())
}
