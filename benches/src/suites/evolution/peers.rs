//! Peers that read other versions by their own schemas.

use crate::Failure;
use crate::suites::serialization::subjects::Subject;

/// A list of subjects, which is empty if this program has no peers.
type Subjects = Result<Vec<Box<dyn Subject>>, Failure>;

/// A type that the peers can send.
pub(super) trait Peers: Sized + 'static {
    /// Returns the peers that decode the value.
    fn decoding(value: &'static Self) -> Subjects;
    /// Returns the peers that decode the value as the version without a field.
    fn decoding_without(value: &'static Self) -> Subjects;
    /// Returns the peers with accessors.
    fn looking(value: &'static Self) -> Subjects;
    /// Returns the peers with accessors, which are walked as the version without a field.
    fn looking_without(value: &'static Self) -> Subjects;
}

#[cfg(not(feature = "peers"))]
impl<T: 'static> Peers for T {
    fn decoding(_: &'static Self) -> Subjects {
        Ok(Vec::new())
    }

    fn decoding_without(_: &'static Self) -> Subjects {
        Ok(Vec::new())
    }

    fn looking(_: &'static Self) -> Subjects {
        Ok(Vec::new())
    }

    fn looking_without(_: &'static Self) -> Subjects {
        Ok(Vec::new())
    }
}

#[cfg(feature = "peers")]
pub(super) use self::some::fory;

#[cfg(feature = "peers")]
mod some {
    use super::{Peers, Subjects};
    use crate::Failure;
    use crate::suites::serialization::cases::forever;
    use crate::suites::serialization::subjects::{
        Capnp, Codec, Flat, Flatbuffers, Fory, Peer, Prost, Protobuf, Registered, Segmented,
        Shortened, Subject,
    };
    use crate::suites::serialization::walk::Walk;

    /// Returns the peer that matches fields of both versions by their names or numbers.
    pub(in super::super) fn fory<Old: Registered, New: Registered + Walk>(
        old: &'static Old,
    ) -> Result<Box<dyn Subject>, Failure> {
        let codec = Fory::<New>::new::<Old>()?;
        Ok(Box::new(Peer::new(old, codec)?))
    }

    impl<T> Peers for T
    where
        T: Flat + Segmented + Protobuf,
        Shortened<Flatbuffers>: Codec<T>,
        Shortened<Capnp>: Codec<T>,
    {
        fn decoding(value: &'static Self) -> Subjects {
            let message = forever(value.message());
            let codec = Prost::<T::Message>::default();
            Ok(vec![Box::new(Peer::new(message, codec)?)])
        }

        fn decoding_without(value: &'static Self) -> Subjects {
            let message = forever(value.message());
            let codec = Prost::<T::Short>::default();
            Ok(vec![Box::new(Peer::new(message, codec)?)])
        }

        fn looking(value: &'static Self) -> Subjects {
            Ok(vec![
                Box::new(Peer::new(value, Flatbuffers::default())?),
                Box::new(Peer::new(value, Capnp::new(value))?),
            ])
        }

        fn looking_without(value: &'static Self) -> Subjects {
            let (flatbuffers, capnp) = (Flatbuffers::default(), Capnp::new(value));
            Ok(vec![
                Box::new(Peer::new(value, Shortened(flatbuffers))?),
                Box::new(Peer::new(value, Shortened(capnp))?),
            ])
        }
    }
}
