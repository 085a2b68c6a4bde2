//! Limits of a registry.

/// Limits of a [`Registrar`](crate::directory::Registrar).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RegistrarOptions {
    /// Maximum length of a name in bytes (default 256).
    pub max_name: usize,
    /// Maximum length of an interface description in bytes (default 64 KiB). Longer ones are
    /// truncated, because they are only for display.
    pub max_description: usize,
    /// Maximum number of names that one connection may have bound at once (default 1,024). Protects
    /// against programs that bind an unlimited number of names.
    pub max_names_each: usize,
    /// Maximum number of servers of one [shared](crate::directory::Names::bind_shared) name (default
    /// 256).
    pub max_servers: usize,
    /// Maximum number of names in total (default 65,536). Protects against many such programs.
    pub max_names: usize,
    /// Maximum size of all entries in bytes (default 64 MiB).
    pub max_bytes: usize,
    /// Maximum number of watchers (default 1,024). Further ones receive
    /// [`Event::Refused`](crate::directory::Event::Refused) only.
    pub max_watchers: usize,
    /// Maximum number of watchers of one connection (default 8). Further ones receive
    /// [`Event::Refused`](crate::directory::Event::Refused) only. Protects against programs that
    /// occupy all places.
    pub max_watchers_each: usize,
    /// Maximum number of changes that wait for one watcher (default 1,024). A watcher beyond that
    /// receives [`Event::Missed`](crate::directory::Event::Missed) and no more. Protects against
    /// watchers that do not read.
    pub max_changes: usize,
    /// Maximum size in bytes of the changes that wait for all watchers (default 16 MiB). Beyond
    /// that, the watcher with the most waiting bytes receives
    /// [`Event::Missed`](crate::directory::Event::Missed) and no more. Protects against many
    /// watchers that do not read.
    pub max_change_bytes: usize,
    /// If true, every caller that may bind names may also replace and unbind the names of others
    /// (default false). If false, only the connection that bound a name, a caller that proved the
    /// server's [secret](crate::ServerOptions::secret), and the registry's own program may. A name
    /// whose binder has gone is open to all callers that may bind names in both cases. Protects
    /// against local programs that take over the names of others.
    pub anyone_may_replace: bool,
}

impl Default for RegistrarOptions {
    fn default() -> Self {
        Self {
            max_name: 256,
            max_description: 64 << 10,
            max_names_each: 1024,
            max_servers: 256,
            max_names: 65_536,
            max_bytes: 64 << 20,
            max_watchers: 1024,
            max_watchers_each: 8,
            max_changes: 1024,
            max_change_bytes: 16 << 20,
            anyone_may_replace: false,
        }
    }
}
