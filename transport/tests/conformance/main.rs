//! The guarantees of every device: one suite, which runs on threads over each device and in
//! simulations with many seeds.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod blocking;
mod callbacks;
mod ends;
mod host;
mod many;
mod messages;
mod tickets;

use host::{Kind, in_simulations, on_threads, simulate};

macro_rules! on_threads {
    ($scheme:ident { $($module:ident: $($case:ident)+;)+ }) => {
        mod $scheme {
            $($(#[test]
            fn $case() {
                crate::on_threads(stringify!($scheme), crate::$module::$case);
            })+)+
        }
    };
}

macro_rules! in_simulations {
    ($scheme:ident { $($module:ident: $($case:ident)+;)+ }) => {
        mod $scheme {
            $($(#[test]
            fn $case() {
                crate::in_simulations(crate::$module::$case);
            })+)+
        }
    };
}

/// Generates the tests of a scheme by the macro `run`.
macro_rules! cases {
    ($run:ident $($scheme:ident)+) => {
        $($run!($scheme {
            messages:
                every_size_arrives
                order_is_kept
                both_sides_send_at_once
                posted_operations_keep_their_order;
            ends:
                what_was_sent_arrives_before_the_end
                who_has_finished_still_receives
                sending_to_nobody_fails
                close_wakes_who_receives
                close_wakes_who_sends
                close_wakes_who_accepts
                who_is_refused_learns_why
                an_address_has_one_listener
                one_listener_has_several_addresses
                the_limit_of_the_peer_holds
                connecting_to_nobody_fails;
            tickets:
                a_cancelled_receive_takes_no_message
                a_dropped_receive_loses_no_message
                a_send_is_cancelled_or_arrives
                a_dropped_send_is_sent
                try_forms_never_wait
                a_full_pool_is_an_error_that_passes
                messages_are_received_into_memory;
            many:
                connections_leave_nothing_behind
                many_connections_at_once
                connections_share_a_queue;
            callbacks:
                a_subscriber_that_panics_loses_nothing
                a_subscriber_may_send
                a_waker_may_panic_or_use_the_endpoint
                a_reclaim_function_may_panic_or_send;
        });)+
    };
}

/// Generates the tests of blocking calls. They use threads over the simulated network too, instead
/// of tasks.
macro_rules! blocking {
    ($($scheme:ident)+) => {
        $(on_threads!($scheme {
            blocking:
                segments_are_gathered
                every_size_is_received_by_who_waits
                a_time_out_loses_nothing
                close_wakes_blocked_threads
                a_peer_that_does_not_read_is_noticed
                many_threads_share_an_endpoint
                descriptors_say_when_to_receive;
            callbacks:
                a_subscriber_that_panics_ends_no_blocking_call
                a_subscriber_may_send_in_blocking_calls;
        });)+
    };
}

cases!(on_threads inproc shm shm_path uds tcp uring);
cases!(in_simulations sim);

mod threads {
    blocking!(inproc shm shm_path uds tcp uring sim);
}

/// The devices that stand behind features.
mod features {
    #[cfg(all(feature = "tls", not(address_sanitizer)))]
    cases!(on_threads tls);

    #[cfg(all(feature = "tls", not(address_sanitizer)))]
    mod threads {
        blocking!(tls);
    }
}

#[test]
fn one_seed_is_one_run() {
    for seed in 0..8 {
        for kind in [Kind::Whole, Kind::Breaking, Kind::Corrupting] {
            let run = || {
                let (words, trace) = simulate(many::many_connections_at_once, seed, kind);
                // Addresses differ between runs.
                (words.replace(char::is_numeric, ""), trace)
            };
            assert_eq!(run(), run(), "{seed} {kind:?}");
        }
    }
}
