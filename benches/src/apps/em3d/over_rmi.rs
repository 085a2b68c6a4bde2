//! The nodes bring one another the values of all ghosts at once, with one call for each partner.

use super::graph::{FIELDS, Part, Partner, Problem};
use crate::Failure;
use crate::apps::exchange::Exchange;
use crate::apps::node::Node;

/// Updates the part of this node.
pub(super) fn run(
    node: &Node<'_>,
    problem: Problem,
    mut part: Part,
    copying: bool,
) -> Result<Part, Failure> {
    let (me, nodes) = (node.index(), node.count());
    let partners = Partner::all(problem, &part, me, nodes);
    let exchange = Exchange::<f64>::start(node, nodes, copying)?;
    let mut values = Vec::new();
    node.clock.measure(|| {
        for phase in 0..FIELDS * problem.iterations {
            let field = phase % FIELDS;
            let phase = phase as u64;
            part.update(field);
            for partner in &partners {
                values.clear();
                let own = part.own(field);
                values.extend(partner.needs[field].iter().map(|place| own[*place]));
                exchange.send(partner.node, me, phase, (&values, &[]))?;
            }
            for partner in &partners {
                let arrived = exchange.take(partner.node, phase)?;
                let ghosts = &mut part.ghost_values(field)[partner.ghosts[field].clone()];
                ghosts.copy_from_slice(arrived.first(ghosts.len())?);
            }
        }
        exchange.finish()
    })?;
    Ok(part)
}
