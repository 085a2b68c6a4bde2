//! Worlds that grow: processes that join ranks which already work together.
//!
//! Decision 101 has the reasons.

use std::env;
use std::io;
use std::process::Command;
use std::sync::Arc;

use super::World;
use super::error::WorldError;
use super::launcher::{Announcement, host_address};
use super::limits::check_size;
use super::options::WorldOptions;
use super::places::Whereabouts;
use super::processes::{self, Newcomers, StartedWorld, this_program};
use super::seat::Seat;
use super::session::Session;
use super::variables::NEWCOMER;
use crate::{Element, Rank};
use jstream_base::Address;

/// Maximum length in bytes of the text by which the first member tells the others where to meet.
const LONGEST: usize = 1 << 16;

impl World {
    /// Starts this program again for `added` further ranks, and returns a world of `members` and
    /// these. A program that has lost ranks [shrinks](crate::Recovery::shrink) its communicator, and
    /// replaces them by this function.
    ///
    /// `members` is this world or one of its communicators. All members have to call this with the
    /// same number. In the new world they have their numbers in `members`, and the new processes
    /// follow. The first member starts them on its host, with the arguments of its own process,
    /// under any launcher. A new process [joins](Self::from_env) the new world as usual; the
    /// function [`is_newcomer`](Self::is_newcomer) tells it that the others are already at work.
    ///
    /// The new world has connections of its own, over the devices of this one. Between its members
    /// nothing is in transit. This world still works, and can be dropped as soon as this returns.
    /// The processes that it has started belong to the new world, whose [`finish`](Self::finish)
    /// waits for those that are members. The others are killed when the new world ends, and how
    /// they end is not reported.
    ///
    /// ```no_run
    /// use jstream_transport::rank::world::{World, WorldError, WorldOptions};
    ///
    /// /// Works until all is done, or until a rank is lost.
    /// fn work(world: &World) -> Result<(), jstream_transport::rank::Error> {
    ///     world.barrier()
    /// }
    ///
    /// fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let (size, options) = (4, WorldOptions::default());
    ///     // In a new process, this joins the others at their work.
    ///     let mut world = World::processes(&["shm://four".parse()?], size, &options)?;
    ///     while work(&world).is_err() {
    ///         world.recovery().revoke();
    ///         let survivors = world.recovery().shrink()?;
    ///         world = world.grow(&survivors, size - survivors.size(), &options)?;
    ///     }
    ///     Ok(world.finish()?)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`WorldError`] at all members, within the timeouts of `options` and of collective
    /// operations, if a process can't be started or does not join, or if another member is lost
    /// meanwhile. All processes that were started are killed then. This world still works, so the
    /// program can shrink it again.
    pub fn grow(
        &mut self,
        members: &Rank,
        added: u32,
        options: &WorldOptions,
    ) -> Result<Self, WorldError> {
        self.grow_by(members, added, options, this_program)
    }

    /// Like [`grow`](Self::grow), with a command for each new rank, which only the first member
    /// calls; see [`spawn`](Self::spawn).
    ///
    /// # Errors
    ///
    /// As for [`grow`](Self::grow).
    pub fn grow_with(
        &mut self,
        members: &Rank,
        added: u32,
        options: &WorldOptions,
        command: impl FnMut(u32) -> Command,
    ) -> Result<Self, WorldError> {
        self.grow_by(members, added, options, || Ok(command))
    }

    /// Returns true if [`grow`](Self::grow) has started this process. Ranks that it joins have
    /// worked before, and have to tell it where they are.
    #[must_use]
    pub fn is_newcomer() -> bool {
        env::var_os(NEWCOMER).is_some()
    }

    fn grow_by<C: FnMut(u32) -> Command>(
        &mut self,
        members: &Rank,
        added: u32,
        options: &WorldOptions,
        command: impl FnOnce() -> io::Result<C>,
    ) -> Result<Self, WorldError> {
        if !Arc::ptr_eq(self.node(), members.node()) {
            let reason = "the members are ranks of another world; use a communicator of this one";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason).into());
        }
        let size = members.size().saturating_add(added);
        check_size(size)?;
        let mut world = if members.rank() == 0 {
            self.gather(members, size, options, command)?
        } else {
            let (session, addresses) = receive_announcement(members)?;
            let mut options = options.clone();
            options.session = Some(session);
            options.spin_among(self.sharers(members, added), true);
            let seat = Seat::alone(members.rank(), size, &options.rank);
            seat.join_first(&addresses, &options, true)?
        };
        // The processes that this rank has started stay its children in the new world.
        for children in self.children.drain(..) {
            children.renumber(|rank| members.members().number_of(rank));
            world.children.push(children);
        }
        Ok(world)
    }

    /// Starts the new processes, tells the other members where to meet, and waits for all.
    fn gather<C: FnMut(u32) -> Command>(
        &self,
        members: &Rank,
        size: u32,
        options: &WorldOptions,
        command: impl FnOnce() -> io::Result<C>,
    ) -> Result<Self, WorldError> {
        let session = Session::new()?;
        let started = self.start(members, size, (session, options), command);
        let announcement = match &started {
            Ok((_, public)) => Ok((session, public.clone())),
            Err(error) => Err(error.to_string()),
        };
        // The others learn of a failure, too.
        send_announcement(members, &Announcement(announcement))?;
        let (started, _) = started?;
        let StartedWorld {
            meeting,
            children,
            options,
        } = started;
        let seat = Seat::alone(0, size, &options.rank);
        let mut world = meeting.join_unless(seat, &mut || children.check())?;
        world.children.push(children);
        Ok(world)
    }

    /// Opens the meeting of the new world, and starts the new processes. Also returns the addresses
    /// at which the other members reach the meeting.
    fn start<C: FnMut(u32) -> Command>(
        &self,
        members: &Rank,
        size: u32,
        (session, options): (Session, &WorldOptions),
        command: impl FnOnce() -> io::Result<C>,
    ) -> Result<(StartedWorld, Vec<Address>), WorldError> {
        let mut whereabouts = Whereabouts {
            // The number in the new world, because the other members listen beside it.
            rank: 0,
            session,
            seen: &self.site.seen,
        };
        let places = whereabouts.beside(&self.site.given, "")?;
        let mut options = options.clone();
        options.session = Some(session);
        let mut command = command()?;
        let newcomers = Newcomers {
            ranks: members.size()..size,
            threads: 1,
            sharers: self.sharers(members, size.saturating_sub(members.size())),
        };
        let started = processes::start(&places, newcomers, &options, |rank| {
            let mut command = command(rank);
            command.env(NEWCOMER, "1");
            command
        })?;
        let address = host_address();
        if whereabouts.seen.is_empty() {
            whereabouts.seen = &address;
        }
        let public = started.meeting.addresses().iter();
        let public: Result<_, _> = public.map(|place| whereabouts.public(place)).collect();
        Ok((started, public?))
    }

    /// Returns the number of ranks on this host in a new world of `members` and of `added` ranks on
    /// the host of the first member. A member whose host is not known counts as one on this host.
    fn sharers(&self, members: &Rank, added: u32) -> u32 {
        let host = |member| self.site.host_of(members.members().in_node(member));
        sharers(members.rank(), members.size(), added, host)
    }
}

fn sharers<'h>(own: u32, size: u32, added: u32, host: impl Fn(u32) -> &'h str) -> u32 {
    let own_host = host(own);
    let is_local = |member| {
        let other_host = host(member);
        own_host.is_empty() || other_host.is_empty() || own_host == other_host
    };
    let joining = if is_local(0) { added } else { 0 };
    (0..size).fold(joining, |count, member| {
        count.saturating_add(u32::from(is_local(member)))
    })
}

/// Sends an announcement to the other members.
fn send_announcement(members: &Rank, announcement: &Announcement) -> Result<(), WorldError> {
    let mut text = announcement.to_text().into_bytes();
    share(members, &mut [text.len() as u64])?;
    share(members, &mut text)
}

/// Receives the announcement of the first member.
fn receive_announcement(members: &Rank) -> Result<(Session, Vec<Address>), WorldError> {
    let mut length = [0u64];
    share(members, &mut length)?;
    let nonsense = |reason| WorldError::Nonsense { rank: 0, reason };
    let [length] = length;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > LONGEST {
        let reason = format!("its announcement has {length} bytes, at most {LONGEST} are allowed");
        return Err(nonsense(reason));
    }
    let mut text = vec![0u8; length];
    share(members, &mut text)?;
    let text = String::from_utf8_lossy(&text);
    let Announcement(announced) = Announcement::from_text(&text).map_err(nonsense)?;
    announced.map_err(|reason| WorldError::Failed { rank: 0, reason })
}

fn share<E: Element>(members: &Rank, elements: &mut [E]) -> Result<(), WorldError> {
    let shared = members.broadcast(0, elements);
    shared.map_err(|source| WorldError::Members { source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_other_hosts_share_no_cores() {
        let hosts = ["one", "two", "two", "", "one"];
        let host = |member: u32| hosts[member as usize];
        // Of the members 0, 3 and 4, and two new ones.
        assert_eq!(sharers(0, 5, 2, host), 5);
        assert_eq!(sharers(4, 5, 2, host), 5);
        // Of the members 1, 2 and 3. The new ones are with member 0.
        assert_eq!(sharers(2, 5, 2, host), 3);
        // Nothing is known to be elsewhere.
        assert_eq!(sharers(3, 5, 2, host), 7);
    }
}
