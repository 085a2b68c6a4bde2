//! Ends of connections, and connections that cannot be established.

use std::sync::Arc;
use std::time::Duration;

use jstream_transport::{
    AcceptError, ConnectError, Header, ListenError, RecvError, SendError, connect_cheapest,
    listen_all,
};

use crate::host::{Host, LONG, Outcome, both, ensure, filled};
use testing::patterns::bytes;

pub(crate) async fn what_was_sent_arrives_before_the_end(host: Host) -> Outcome {
    for how in ["drop", "finish", "close"] {
        let (client, server) = host.pair(&host.options(), &host.options()).await?;
        let pool = host.pool();
        let sending = host.spawn("sends", async move {
            for index in 0..10 {
                let payload = filled(&pool, &bytes(3000, index));
                let sent = client.post_send(Header::new(0, [index, 0, 0]), payload);
                sent.await.map_err(SendError::from)?;
            }
            match how {
                "drop" => return Ok(None),
                "finish" => client.finish()?,
                _ => client.close(),
            }
            Ok::<_, SendError>(Some(client))
        });
        for index in 0..10 {
            let message = server.post_recv(None).await.map_err(RecvError::from)?;
            host.intact(message.header.words[0] == index, || {
                format!("{how}: {index}")
            })?;
        }
        for _ in 0..2 {
            match server.post_recv(None).await.map_err(RecvError::from) {
                Ok(message) => host.intact(false, || format!("{how}: {:?}", message.header))?,
                Err(RecvError::Closed { .. }) => {}
                Err(error) => ensure!(false, "{how}: {error}"),
            }
        }
        sending.await?;
    }
    Ok(())
}

pub(crate) async fn who_has_finished_still_receives(host: Host) -> Outcome {
    let (client, server) = host.pair(&host.options(), &host.options()).await?;
    client.finish()?;
    let pool = host.pool();
    let refused = client.post_send(Header::default(), filled(&pool, &[1]));
    let unsent = refused.await.err().ok_or("sent after the end")?;
    ensure!(unsent.filled.len() == 1, "the jbuf comes back");
    ensure!(server.post_recv(None).await.is_err(), "nothing was sent");
    let sent = server.post_send(Header::new(3, [0; 3]), filled(&pool, &[2]));
    sent.await.map_err(SendError::from)?;
    let message = client.post_recv(None).await.map_err(RecvError::from)?;
    host.intact(message.header.kind == 3, || "another kind".into())
}

pub(crate) async fn sending_to_nobody_fails(host: Host) -> Outcome {
    let (client, server) = host.pair(&host.options(), &host.options()).await?;
    drop(server);
    let pool = host.pool();
    let error = loop {
        let payload = filled(&pool, &[1; 10_000]);
        match client.post_send(Header::default(), payload).await {
            Ok(empty) => drop(empty),
            Err(unsent) => break unsent.error,
        }
    };
    ensure!(
        matches!(error, SendError::Closed { .. } | SendError::Lost { .. }),
        "{error}"
    );
    Ok(())
}

pub(crate) async fn close_wakes_who_receives(host: Host) -> Outcome {
    let (client, server) = host.pair(&host.options(), &host.options()).await?;
    let closer = client.closer();
    let receives: Vec<_> = (0..3)
        .map(|_| host.spawn("receives", client.post_recv(None)))
        .collect();
    host.pause().await;
    closer.close();
    closer.close();
    for receive in receives {
        let unreceived = receive.await.err().ok_or("nothing was sent")?;
        let error = unreceived.error;
        ensure!(matches!(error, RecvError::ClosedLocally { .. }), "{error}");
    }
    let error = client
        .recv_message_within(Duration::ZERO)
        .err()
        .ok_or("closed")?;
    ensure!(matches!(error, RecvError::ClosedLocally { .. }), "{error}");
    let error = client.try_send_message(Header::default(), &[]);
    let error = error.err().ok_or("closed")?;
    ensure!(matches!(error, SendError::ClosedLocally { .. }), "{error}");
    drop(client);
    closer.close();
    // The peer learns of the end.
    let error = server.post_recv(None).await.err().ok_or("closed")?;
    ensure!(matches!(error.error, RecvError::Closed { .. }), "{error}");
    Ok(())
}

pub(crate) async fn close_wakes_who_sends(host: Host) -> Outcome {
    let (client, _server) = host.pair(&host.options(), &host.options()).await?;
    let closer = client.closer();
    let pool = host.pool();
    let sending = host.spawn("sends", async move {
        let payload = vec![0; 1 << 18];
        loop {
            let payload = filled(&pool, &payload);
            let sent = client.post_send(Header::default(), payload).await;
            if let Err(unsent) = sent {
                break (unsent.error, unsent.filled.len());
            }
        }
    });
    host.pause().await;
    host.pause().await;
    closer.close();
    let (error, length) = sending.await;
    ensure!(matches!(error, SendError::ClosedLocally { .. }), "{error}");
    assert_eq!(length, 1 << 18, "the jbuf comes back");
    Ok(())
}

pub(crate) async fn close_wakes_who_accepts(host: Host) -> Outcome {
    let listener = Arc::new(host.listen(&host.options())?);
    let accepting = {
        let listener = Arc::clone(&listener);
        host.spawn(
            "accepts",
            async move { listener.accept_async().await.map(drop) },
        )
    };
    host.pause().await;
    listener.closer().close();
    for result in [accepting.await, listener.accept_async().await.map(drop)] {
        let error = result.err().ok_or("accepted after close")?;
        assert!(
            matches!(error, AcceptError::ClosedLocally { .. }),
            "{error}"
        );
    }
    let address = listener.local_address().clone();
    drop(listener);
    assert!(host.connect(&address, &host.options()).await.is_err());
    Ok(())
}

pub(crate) async fn who_is_refused_learns_why(host: Host) -> Outcome {
    let listener = Arc::new(host.listen(&host.options())?);
    let address = listener.local_address().clone();
    let long = "long ".repeat(1000);
    for reason in ["no room\n", &long] {
        let refusing = {
            let (listener, host) = (Arc::clone(&listener), host.clone());
            let reason = reason.to_owned();
            host.clone().spawn("refuses", async move {
                host.accept(&listener).await?.refuse(&reason);
                Outcome::Ok(())
            })
        };
        match host.connect(&address, &host.options()).await {
            Err(ConnectError::Refused { reason: heard, .. }) => {
                let said: String = reason.chars().take(256).collect();
                host.intact(heard == said.escape_debug().to_string(), || heard.clone())?;
                refusing.await?;
            }
            Err(error) => return Err(error.into()),
            Ok(_) => return Err("it was refused".into()),
        }
    }
    Ok(())
}

pub(crate) async fn an_address_has_one_listener(host: Host) -> Outcome {
    let listener = host.listen(&host.options())?;
    let address = listener.local_address().clone();
    let error = jstream_transport::listen(&address, &host.options());
    let error = error.err().ok_or("it is in use")?;
    assert!(matches!(error, ListenError::InUse { .. }), "{error}");
    drop(listener);
    drop(jstream_transport::listen(&address, &host.options())?);
    Ok(())
}

pub(crate) async fn one_listener_has_several_addresses(host: Host) -> Outcome {
    let addresses = [host.address(), host.address(), host.address()];
    let listener = Arc::new(listen_all(&addresses, &host.options())?);
    let local = listener.local_addresses().to_vec();
    assert_eq!(local.len(), 3);
    for address in &local {
        let accepting = {
            let (listener, host) = (Arc::clone(&listener), host.clone());
            host.clone().spawn("accepts", async move {
                let incoming = host.accept(&listener).await?;
                let at = incoming.address().clone();
                incoming.establish()?;
                Ok::<_, Box<dyn std::error::Error + Send + Sync>>(at)
            })
        };
        // No listener exists at the first of these addresses.
        let one_of = [host.address(), address.clone()];
        let connected = connect_cheapest(&one_of, &host.options());
        if connected.is_err() {
            listener.closer().close();
        }
        let accepted = accepting.await;
        let endpoint = connected?;
        assert_eq!(
            (endpoint.info().address, endpoint.info().scheme),
            (address, host.scheme)
        );
        assert_eq!(&accepted?, address);
    }
    Ok(())
}

pub(crate) async fn the_limit_of_the_peer_holds(host: Host) -> Outcome {
    let mut options = host.options();
    options.max_message = 1000;
    let (client, server) = host.pair(&host.options(), &options).await?;
    let limits = (client.info().limits.max_send, server.info().limits.max_send);
    host.intact(limits == (1000, 64 << 20), || format!("{limits:?}"))?;
    assert_eq!(server.info().limits.max_receive, 1000);
    let pool = host.pool();
    let unsent = client.post_send(Header::default(), filled(&pool, &[0; 1001]));
    let unsent = unsent.await.err().ok_or("too long")?;
    let error = &unsent.error;
    let right = matches!(
        error,
        SendError::TooLarge {
            length: 1001,
            max: 1000,
            ..
        }
    );
    ensure!(
        right && error.to_string().contains("max_message"),
        "{error}"
    );
    assert_eq!(unsent.filled.len(), 1001, "the jbuf comes back");
    let send = client.post_send(Header::default(), filled(&pool, &[0; 1000]));
    let (sent, received) = both(send, server.post_recv(None)).await;
    sent.map_err(SendError::from)?;
    let message = received.map_err(RecvError::from)?;
    ensure!(message.payload.len() == 1000, "{:?}", message.header);
    Ok(())
}

/// Connects to the address of a dropped listener, and to a listener that does not accept.
pub(crate) async fn connecting_to_nobody_fails(host: Host) -> Outcome {
    let listener = host.listen(&host.options())?;
    let address = listener.local_address().clone();
    drop(listener);
    assert!(host.connect(&address, &host.options()).await.is_err());
    if host.scheme != "inproc" {
        let listener = host.listen(&host.options())?;
        let mut hasty = host.options();
        hasty.handshake_timeout = Duration::from_millis(50);
        hasty.connect_timeout = Duration::from_millis(50);
        let error = host.connect(listener.local_address(), &hasty).await;
        assert!(error.is_err(), "connected although no listener accepted");
        assert!(hasty.handshake_timeout < LONG);
    }
    Ok(())
}
