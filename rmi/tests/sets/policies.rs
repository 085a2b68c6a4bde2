//! Zones, circuit breakers and second attempts of calls.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use jstream_rmi::{
    Address, AddressList, CallError, CircuitBreaker, ClientSet, Hedging, MemberState, Outcome,
    SetOptions, Stub,
};
use jstream_sync::parker::block_on;
use testing::until;

use crate::{LONG, Running, Shop, ShopStub, addresses, open, quick, start_all};

fn stub(addresses: &[Address], options: &SetOptions) -> (ClientSet, ShopStub) {
    let list = AddressList::new(addresses.iter().cloned()).unwrap();
    stub_of(list, options, addresses.len())
}

fn stub_of(list: AddressList, options: &SetOptions, count: usize) -> (ClientSet, ShopStub) {
    let set = ClientSet::open_with(list, options).unwrap();
    let shop = set.get::<dyn Shop>("shop");
    until(|| open(&set) == count);
    (set, shop)
}

fn state(set: &ClientSet, address: &Address) -> MemberState {
    let members = set.members();
    let mut members = members.into_iter();
    let found = members.find(|member| member.addresses == [address.clone()]);
    found.unwrap().state
}

#[test]
fn members_of_the_own_zone_get_the_calls() {
    for addresses in addresses("zones", 4) {
        let ledger = Arc::default();
        let mut running = start_all(&addresses, &ledger);
        let zones = ["here", "here", "there", "there"];
        let listed = zones.into_iter().zip(addresses.iter().cloned());
        let mut options = quick();
        options.zone = Some("here".to_owned());
        options.zone_calls = 2;
        let (set, shop) = stub_of(AddressList::in_zones(listed).unwrap(), &options, 4);
        let zone = |member: &jstream_rmi::MemberInfo| member.zone.clone().unwrap();
        assert_eq!(
            set.members()
                .iter()
                .map(zone)
                .filter(|zone| zone == "here")
                .count(),
            2
        );
        let called = |times| -> Vec<u64> {
            let calls = (0..times).map(|number| *shop.buy(number).wait().unwrap().get());
            calls.collect()
        };
        assert!(called(100).iter().all(|id| *id < 2));

        // A zone whose members have as many calls as they take is left.
        running[..2].iter().for_each(|one| one.object.hold());
        let held: Vec<_> = (0..6).map(|number| shop.wait(number)).collect();
        until(|| running.iter().map(|one| one.object.calls()).sum::<u64>() == 106);
        let calls = |at: usize| running[at].object.calls();
        assert!(calls(2) + calls(3) >= 2, "{} {}", calls(2), calls(3));
        running[..2].iter().for_each(|one| one.object.release());
        for call in held {
            call.wait().unwrap();
        }
        until(|| set.members().iter().all(|member| member.in_flight == 0));

        // So is a zone whose members are gone, until one is back.
        running[..2].iter_mut().for_each(Running::stop);
        until(|| open(&set) == 2);
        assert!(called(50).iter().all(|id| *id >= 2));
        let ledger = Arc::default();
        running[1] = Running::start(&addresses[1], 1, &ledger);
        until(|| called(1) == [1]);
        assert!(called(50).iter().all(|id| *id == 1));
    }
}

#[test]
fn a_member_that_fails_gets_no_calls_until_a_test_succeeds() {
    for (addresses, recovers) in [
        (addresses("breaks", 3).swap_remove(1), false),
        (addresses("breaks", 3).swap_remove(3), true),
    ] {
        let ledger = Arc::default();
        let running = start_all(&addresses, &ledger);
        let mut breaker = CircuitBreaker::default();
        breaker.least_calls = 5;
        // A test by a call fails if the member is still broken.
        breaker.pause = match recovers {
            true => Duration::from_millis(5),
            false => LONG * 60,
        };
        breaker.longest_pause = breaker.pause;
        let mut options = quick();
        options.breaker = Some(breaker);
        let (set, shop) = stub(&addresses, &options);
        running[0].object.is_broken.store(true, Ordering::SeqCst);
        let is_failing = || state(&set, &addresses[0]) == MemberState::Failing;
        until(|| {
            if let Err(error) = shop.risk().wait() {
                assert!(matches!(error, CallError::Panicked { .. }), "{error}");
            }
            is_failing()
        });
        let before = running[0].object.calls();
        if !recovers {
            for _ in 0..300 {
                assert_ne!(*shop.risk().wait().unwrap().get(), 0);
            }
            assert_eq!(running[0].object.calls(), before);
            continue;
        }
        // Tests go on while the member is broken.
        until(|| {
            let _ = shop.risk().wait();
            running[0].object.calls() > before + 2
        });
        running[0].object.is_broken.store(false, Ordering::SeqCst);
        until(|| {
            let _ = shop.risk().wait();
            open(&set) == 3
        });
        (0..50).for_each(|_| drop(shop.risk().wait().unwrap()));
    }
}

#[test]
fn a_call_without_an_answer_is_also_made_at_another_member() {
    for (name, place) in [("hedge", 0), ("hedged", 2), ("hedges", 3)] {
        let addresses = addresses(name, 3).swap_remove(place);
        let ledger = Arc::default();
        let running = start_all(&addresses, &ledger);
        let mut options = quick();
        options.hedging = Some(Hedging::default());
        let (set, shop) = stub(&addresses, &options);
        for number in 0..400 {
            shop.seek(number).wait().unwrap();
        }
        running[0].object.hold();
        let mut number = 1000;
        for round in 0..4 {
            let before = running[0].object.calls();
            // The member becomes expensive, and is tried again after a while.
            until(|| {
                number += 1;
                let reply = match round % 2 {
                    0 => shop.seek(number).wait(),
                    _ => block_on(shop.seek(number)),
                };
                assert_ne!(*reply.unwrap().get(), 0);
                running[0].object.calls() > before
            });
        }
        // The attempts at that member were cancelled.
        until(|| set.members().iter().all(|member| member.in_flight == 0));
        // A method that is not idempotent has one attempt.
        let before: u64 = running.iter().map(|one| one.object.calls()).sum();
        running.iter().for_each(|one| one.object.hold());
        let call = shop.within(Duration::from_millis(200)).wait(7);
        let error = call.wait().unwrap_err();
        assert_eq!(error.outcome(), Outcome::MayHaveRun, "{error}");
        assert_eq!(
            running.iter().map(|one| one.object.calls()).sum::<u64>(),
            before + 1
        );
        // The deadline is that of all attempts.
        let error = shop
            .within(Duration::from_millis(200))
            .seek(10_008)
            .wait()
            .unwrap_err();
        assert!(matches!(error, CallError::Deadline { .. }), "{error}");
        let error = block_on(shop.within(Duration::from_millis(200)).seek(10_009)).unwrap_err();
        assert!(matches!(error, CallError::Deadline { .. }), "{error}");
        // One that is dropped is cancelled everywhere.
        let mut call = shop.seek(10_010);
        let polled = std::pin::Pin::new(&mut call)
            .poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
        assert!(polled.is_pending());
        drop(call);
        until(|| set.members().iter().all(|member| member.in_flight == 0));
        // The servers learn that later.
        until(|| running.iter().all(|one| one.server.health().waiting == 0));
        running.iter().for_each(|one| one.object.release());
        assert_eq!(
            ledger.times(10_008) + ledger.times(10_009) + ledger.times(10_010),
            0
        );
    }
}

#[test]
fn the_second_attempt_goes_on_if_the_first_one_is_lost() {
    let addresses = addresses("adopts", 2).swap_remove(3);
    let ledger = Arc::default();
    let mut running = start_all(&addresses, &ledger);
    let mut options = quick();
    options.hedging = Some(Hedging::default());
    let (_set, shop) = stub(&addresses, &options);
    for number in 0..400 {
        shop.seek(number).wait().unwrap();
    }
    running.iter().for_each(|one| one.object.hold());
    let before = running.iter().map(|one| one.object.calls()).sum::<u64>();
    let waiting = std::thread::spawn(move || *shop.seek(1000).wait().unwrap().get());
    until(|| running.iter().map(|one| one.object.calls()).sum::<u64>() == before + 2);
    running[0].stop();
    running[1].object.release();
    assert_eq!(waiting.join().unwrap(), 1);
}
