//! Scatters records to ranks, works on them where they have been received, and gathers the results.
//! Rank 0 has the log of a shop: each rank adds up the visits of the customers in its part.
//!
//! Run: `cargo run --release --example objects`

#![allow(
    clippy::arithmetic_side_effects,
    reason = "the sums are far from overflow"
)]

use std::collections::BTreeMap;
use std::error::Error;

use jstream::Transportable;
use jstream_transport::rank::world::{World, WorldOptions};
use jstream_transport::rank::{self, Rank};

const RANKS: u32 = 4;

const VISITS: usize = 10_000;

const CUSTOMERS: usize = 7;

/// A visit of a customer.
#[derive(Transportable)]
struct Visit {
    customer: String,
    purchases: Vec<Purchase>,
}

#[derive(Transportable, Clone, Copy)]
struct Purchase {
    article: u32,
    cents: u32,
}

/// The sum of some visits of a customer.
#[derive(Transportable)]
struct Summary {
    customer: String,
    articles: u64,
    cents: u64,
}

fn log() -> Vec<Visit> {
    let purchases = |visit: u32| {
        (0..visit % 4).map(move |article| Purchase {
            article,
            cents: 100 + visit % 900,
        })
    };
    let visits = (0..).map(|visit| Visit {
        customer: format!("customer {}", visit as usize % CUSTOMERS),
        purchases: purchases(visit).collect(),
    });
    visits.take(VISITS).collect()
}

/// Returns the sum of each customer, in cents, at rank 0.
fn sums(rank: &Rank) -> Result<Option<BTreeMap<String, u64>>, rank::Error> {
    let visits = match rank.rank() {
        0 => rank.objects().scatter(&log())?,
        _ => rank.objects().recv_scattered::<Visit>(0)?,
    };
    // The customers and their purchases lie in the buffer that the part was received in.
    let mut own = BTreeMap::<&str, Summary>::new();
    for visit in *visits.get() {
        let sum = own.entry(visit.customer).or_insert_with(|| Summary {
            customer: visit.customer.to_owned(),
            articles: 0,
            cents: 0,
        });
        sum.articles += visit.purchases.len() as u64;
        let cents = visit.purchases.iter().map(|one| u64::from(one.cents));
        sum.cents += cents.sum::<u64>();
    }
    let own: Vec<_> = own.into_values().collect();
    let Some(parts) = rank.objects().gather(0, &own)? else {
        return Ok(None);
    };
    let mut sums = BTreeMap::new();
    for summary in parts.iter().flatten() {
        *sums.entry(summary.customer.to_owned()).or_default() += summary.cents;
    }
    Ok(Some(sums))
}

fn main() -> Result<(), Box<dyn Error>> {
    let results = World::threads(RANKS, &WorldOptions::default(), |world| sums(world))?;
    let results: Result<Vec<_>, _> = results.into_iter().collect();
    let sums = results?.remove(0).ok_or("rank 0 has no result")?;
    for (customer, cents) in &sums {
        println!("{customer}: {}.{:02}", cents / 100, cents % 100);
    }
    let purchases = log().into_iter().flat_map(|visit| visit.purchases);
    let expected: u64 = purchases.map(|purchase| u64::from(purchase.cents)).sum();
    assert_eq!(sums.values().sum::<u64>(), expected);
    Ok(())
}
