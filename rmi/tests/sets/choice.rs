//! The member that gets a call.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jstream_rmi::{
    Address, AddressList, CallError, Client, ClientOptions, ClientSet, MemberState, Outcome,
    Remote, ServerOptions, Stub,
};
use jstream_sync::parker::block_on;
use testing::until;

use crate::{
    LONG, Ledger, Running, Session, Shop, ShopStub, addresses, open, quick, set_of, start_all,
};

fn stub(set: &ClientSet, count: usize) -> ShopStub {
    let shop = set.get::<dyn Shop>("shop");
    assert!(set.ready().wait());
    until(|| open(set) == count);
    shop
}

#[test]
fn each_member_gets_calls() {
    for addresses in addresses("each", 3) {
        let ledger = Arc::default();
        let running = start_all(&addresses, &ledger);
        let set = set_of(&addresses);
        let shop = stub(&set, 3);
        thread::scope(|scope| {
            for thread in 0..4 {
                let (shop, ledger) = (shop.clone(), ledger.clone());
                scope.spawn(move || {
                    for call in 0..200 {
                        let number = thread * 1000 + call;
                        let outcome = shop.buy(number).wait().map(|reply| *reply.get());
                        assert!(outcome.is_ok(), "{outcome:?}");
                        ledger.check(number, &outcome);
                    }
                });
            }
        });
        let calls = || running.iter().map(|one| one.object.calls());
        assert_eq!(calls().sum::<u64>(), 800);
        // A member whose first answers were slow by chance is tried again later.
        until(|| {
            shop.look().wait().unwrap();
            calls().all(|calls| calls > 0)
        });
        until(|| set.members().iter().all(|member| member.in_flight == 0));
    }
}

#[test]
fn calls_wait_for_the_first_member() {
    for addresses in addresses("first", 2) {
        let set = set_of(&addresses);
        let shop = set.get::<dyn Shop>("shop");
        let awaited = {
            let shop = shop.clone();
            thread::spawn(move || *block_on(shop.buy(1)).unwrap().get())
        };
        let waiting = {
            let shop = shop.retrying(jstream_rmi::Retries::default());
            thread::spawn(move || *shop.look().wait().unwrap().get())
        };
        // These do not wait.
        let error = shop.note(2).unwrap_err();
        assert!(matches!(error, CallError::Disconnected { .. }), "{error}");
        let error = shop.counter().wait().map(drop).unwrap_err();
        assert_eq!(error.outcome(), Outcome::DidNotRun, "{error}");
        let ledger = Arc::new(Ledger::default());
        let _running = Running::start(&addresses[1], 1, &ledger);
        assert_eq!(awaited.join().unwrap(), 1);
        assert_eq!(waiting.join().unwrap(), 1);
        assert_eq!((ledger.times(1), ledger.times(2)), (1, 0));
    }
}

#[test]
fn other_kinds_of_calls_use_a_member() {
    let addresses = &addresses("kinds", 2)[2];
    let ledger = Arc::default();
    let _running = start_all(addresses, &ledger);
    let set = set_of(addresses);
    let shop = stub(&set, 2);
    shop.note(7).unwrap();
    until(|| ledger.times(7) == 1);
    assert_eq!(shop.up_to(5).filter_map(Result::ok).count(), 5);
    let counter = shop.counter().wait().unwrap();
    for next in 0..3 {
        assert_eq!(*counter.next().wait().unwrap().get(), next);
    }
    let pipelined = shop.counter().pipelined();
    assert!(pipelined.next().wait().is_err(), "the call was dropped");
    let call = shop.counter();
    assert_eq!(*call.pipelined().next().wait().unwrap().get(), 0);
    drop(call);
    until(|| set.members().iter().all(|member| member.in_flight == 0));
    // A stub of a set stands for several objects, so it can't be passed on.
    let _: Remote<dyn Shop> = Remote::from_stub(shop.clone());
}

#[test]
fn a_slow_member_gets_few_calls() {
    let addresses = &addresses("slow", 3)[3];
    let ledger = Arc::default();
    let slow = Running::start_with(
        &addresses[0],
        0,
        &ledger,
        ServerOptions::default(),
        Duration::from_millis(20),
    );
    let _others: Vec<_> = (1..3)
        .map(|id| Running::start(&addresses[id as usize], id, &ledger))
        .collect();
    let set = set_of(addresses);
    let shop = stub(&set, 3);
    for _ in 0..400 {
        shop.look().wait().unwrap();
    }
    let calls = slow.object.calls();
    assert!(calls < 100, "the slow member got {calls} of 400 calls");
}

#[test]
fn a_member_that_accepts_and_stays_silent_gets_no_calls() {
    let ledger = Arc::default();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let kept = thread::spawn(move || {
        let mut kept = Vec::new();
        while let Ok((stream, _)) = silent.accept() {
            kept.push(stream);
            if kept.len() > 3 {
                break;
            }
        }
        kept
    });
    let good = &addresses("good", 1)[3];
    let all: Vec<Address> = vec![
        format!("tcp://127.0.0.1:{port}").parse().unwrap(),
        good[0].clone(),
    ];
    let _running = Running::start(&good[0], 1, &ledger);
    let set = set_of(&all);
    let shop = stub(&set, 1);
    for number in 0..50 {
        assert_eq!(*shop.buy(number).wait().unwrap().get(), 1);
    }
    drop((set, shop));
    drop(kept);
}

#[test]
fn a_member_that_does_not_answer_calls_is_left_out_until_it_does() {
    for addresses in [
        addresses("hangs", 3).swap_remove(2),
        addresses("hangs", 3).swap_remove(3),
    ] {
        let ledger = Arc::default();
        let running = start_all(&addresses, &ledger);
        let set = set_of(&addresses);
        let shop = stub(&set, 3);
        running[0].object.hold();
        let brief = shop.within(Duration::from_millis(30));
        let is_silent = || {
            let members = set.members();
            members.iter().any(|member| {
                member.addresses == [addresses[0].clone()] && member.state == MemberState::Silent
            })
        };
        let mut number = 0;
        // Two calls at once, so that the member gets some although it is expensive.
        until(|| {
            let calls = [
                shop.wait(number),
                brief.wait(number + 1),
                brief.wait(number + 2),
            ];
            number += 3;
            let [first, others @ ..] = calls;
            for other in others {
                if let Err(error) = other.wait() {
                    assert_eq!(error.outcome(), Outcome::MayHaveRun, "{error}");
                }
            }
            drop(first);
            is_silent()
        });
        // A test by a lookup may succeed meanwhile, which lets one more call fail.
        let failed = (0..100).filter(|_| {
            number += 1;
            brief.wait(number).wait().is_err()
        });
        assert!(failed.count() < 20);
        running[0].object.release();
        until(|| {
            number += 1;
            shop.wait(number).wait().unwrap();
            open(&set) == 3
        });
    }
}

#[test]
fn busy_members_pass_calls_on() {
    let addresses = &addresses("busy", 2)[3];
    let ledger = Arc::default();
    let mut narrow = ServerOptions::default();
    narrow.max_waiting = 1;
    let full = Running::start_with(&addresses[0], 0, &ledger, narrow, Duration::ZERO);
    let _free = Running::start(&addresses[1], 1, &ledger);
    let set = set_of(addresses);
    let shop = stub(&set, 2);
    full.object.hold();
    // One of these calls occupies the place for suspended methods.
    let mut held = Vec::new();
    until(|| {
        held.push(shop.wait(1000 + held.len() as u64));
        full.object.calls() == 1
    });
    let mut passed_on = 0;
    for number in 0..60 {
        let outcome = shop.wait(number).wait().map(|reply| *reply.get());
        assert_eq!(outcome.as_ref().ok(), Some(&1), "{outcome:?}");
        ledger.check(number, &outcome);
        passed_on += 1;
    }
    assert_eq!((passed_on, full.object.calls()), (60, 1));
    full.object.release();
    let at_full = held.into_iter().filter_map(|call| call.wait().ok());
    assert_eq!(at_full.filter(|reply| *reply.get() == 0).count(), 1);
}

#[test]
fn keys_lead_to_the_same_member() {
    let addresses = &addresses("keys", 3)[2];
    let ledger = Arc::default();
    let mut running = start_all(addresses, &ledger);
    let set = set_of(addresses);
    let shop = stub(&set, 3);
    let of = |set: &ClientSet, key: u64| {
        let shop = set.pinned::<dyn Shop>("shop", &key.to_le_bytes());
        *shop.look().wait().unwrap().get()
    };
    let before: Vec<u64> = (0..60).map(|key| of(&set, key)).collect();
    assert_eq!(before.iter().collect::<BTreeSet<_>>().len(), 3);
    let other = set_of(addresses);
    drop(stub(&other, 3));
    let same: Vec<u64> = (0..60).map(|key| of(&other, key)).collect();
    assert_eq!(same, before);

    running[1].stop();
    until(|| open(&set) == 2);
    for (key, before) in (0..).zip(&before) {
        match of(&set, key) {
            1 => panic!("the member is gone"),
            now => assert!(*before == 1 || now == *before),
        }
    }
    running[1] = Running::start(&addresses[1], 1, &ledger);
    until(|| {
        open(&set) == 3
            && (0..)
                .zip(&before)
                .all(|(key, before)| of(&set, key) == *before)
    });
    drop(shop);
}

#[test]
fn stateful_objects_stay_at_their_member() {
    let addresses = &addresses("stateful", 2)[3];
    let ledger = Arc::default();
    let mut running = start_all(addresses, &ledger);
    let set = set_of(addresses);
    let sessions = [
        set.get::<dyn Session>("session"),
        set.pinned::<dyn Session>("session", b"a"),
    ];
    assert!(set.ready().wait());
    until(|| open(&set) == 2);
    for session in &sessions {
        let first = *session.count().wait().unwrap().get();
        for more in 1..20 {
            assert_eq!(*session.count().wait().unwrap().get(), first + more);
        }
    }
    let ids = [0, 1];
    for id in ids {
        running[id].stop();
        running[id] = Running::start(&addresses[id], 9, &ledger);
    }
    for session in &sessions {
        // Over TCP, the first call may be what detects the loss.
        until(|| {
            let error = session.count().wait().map(drop).unwrap_err();
            matches!(error, CallError::ObjectLost { .. })
        });
        let error = block_on(session.count()).map(drop).unwrap_err();
        assert!(matches!(error, CallError::ObjectLost { .. }), "{error}");
    }
    // A stub whose first call has met a lost connection has lost its object, too.
    until(|| {
        let session = set.get::<dyn Session>("session");
        session.count().wait().is_ok()
    });
}

#[test]
fn a_name_that_is_bound_again_is_looked_up_again() {
    let addresses = &addresses("rebound", 1)[3];
    let ledger = Arc::default();
    let running = start_all(addresses, &ledger);
    let set = set_of(addresses);
    let shop = stub(&set, 1);
    shop.buy(1).wait().unwrap();
    let object = running[0].object.clone();
    assert!(running[0].server.unbind("shop"));
    // The call comes back without its arguments, so only an idempotent one is repeated.
    let error = shop.buy(2).wait().unwrap_err();
    assert!(matches!(error, CallError::UnknownObject { .. }), "{error}");
    let call = thread::spawn(move || {
        let found = *shop.look().wait().unwrap().get();
        (found, *shop.buy(3).wait().unwrap().get())
    });
    running[0].server.bind::<dyn Shop>("shop", object).unwrap();
    assert_eq!(call.join().unwrap(), (0, 0));
}

#[test]
fn another_interface_everywhere_ends_the_wait() {
    mod other {
        #[jstream_rmi::remote]
        pub(super) trait Shop {
            fn buy(&self, number: &str);
        }
    }
    let addresses = &addresses("interface", 2)[0];
    let ledger = Arc::default();
    let _running = start_all(addresses, &ledger);
    let set = set_of(addresses);
    let shop = set.get::<dyn other::Shop>("shop");
    for error in [
        shop.buy("1").wait().unwrap_err(),
        block_on(shop.buy("1")).unwrap_err(),
    ] {
        assert!(error.to_string().contains("another interface"), "{error}");
        assert_eq!(error.outcome(), Outcome::DidNotRun);
    }
}

#[test]
fn a_wait_ends_with_patience_and_with_the_deadline() {
    let addresses = &addresses("patience", 2)[2];
    let mut options = quick();
    if let Some(reconnect) = &mut options.client.reconnect {
        reconnect.patience = Duration::from_millis(50);
    }
    let list = AddressList::new(addresses.iter().cloned()).unwrap();
    let set = ClientSet::open_with(list, &options).unwrap();
    let shop = set.get::<dyn Shop>("shop");
    for error in [
        shop.buy(1).wait().unwrap_err(),
        block_on(shop.buy(1)).unwrap_err(),
        shop.within(Duration::from_millis(5))
            .buy(1)
            .wait()
            .unwrap_err(),
    ] {
        assert_eq!(error.outcome(), Outcome::DidNotRun, "{error}");
        assert!(error.is_disconnected(), "{error}");
    }
    assert!(!set.ready().wait());
    assert!(!block_on(set.ready()));
    set.close();
    let error = shop.within(LONG).buy(1).wait().unwrap_err();
    assert!(error.to_string().contains("closed"), "{error}");
}

/// The member answers the lookup, queues the call and shuts down, again and again.
#[test]
fn repetitions_of_a_call_share_its_patience() {
    /// Time without a server, of which the patience allows two.
    const DOWN: Duration = Duration::from_millis(200);
    const ROUNDS: u64 = 20;
    let address: Address = "inproc://sets-queued".parse().unwrap();
    let ledger: Arc<Ledger> = Arc::default();
    // One call may run at once, and another client makes it.
    let start_full = |round: u64| {
        let mut options = ServerOptions::default();
        (options.admission.min_running, options.admission.max_running) = (1, 1);
        let other: Address = format!("inproc://sets-full-{round}").parse().unwrap();
        let full = Running::start_with(&other, 0, &ledger, options, Duration::ZERO);
        full.object.hold();
        let mut options = ClientOptions::default();
        options.reconnect = None;
        let client = Client::connect_with(&other, &options).wait().unwrap();
        let held = client.lookup::<dyn Shop>("shop").wait().unwrap().wait(0);
        until(|| full.server.admission().running == 1);
        let serving = full.server.listen(&address).unwrap();
        (full, serving, (held, client))
    };
    let mut next = start_full(0);
    let mut options = quick();
    if let Some(reconnect) = &mut options.client.reconnect {
        reconnect.patience = Duration::from_millis(500);
    }
    let list = AddressList::new([address.clone()]).unwrap();
    let set = ClientSet::open_with(list, &options).unwrap();
    let shop = set.get::<dyn Shop>("shop");
    assert!(set.ready().wait());
    let call = thread::spawn(move || shop.buy(1).wait().map(drop));
    for round in 1.. {
        let (full, serving, others) = next;
        until(|| call.is_finished() || full.server.admission().queued == 1);
        if call.is_finished() {
            break;
        }
        assert!(round < ROUNDS, "the call is repeated without an end");
        serving.shutdown(LONG).wait();
        drop((full, others));
        thread::sleep(DOWN);
        next = start_full(round);
    }
    let error = call.join().unwrap().unwrap_err();
    assert!(matches!(error, CallError::Disconnected { .. }), "{error}");
    assert_eq!(error.outcome(), Outcome::DidNotRun);
    assert_eq!(ledger.times(1), 0);
}
