//! References are arguments and results, of traits that are remote.

use jstream_rmi::{Remote, remote};

#[remote]
trait Listener {
    fn heard(&self);
}

#[remote]
trait Room {
    fn borrowed(&self, who: Option<&Remote<dyn Listener>>);
    fn kept(&self, who: &'static [&'static [Remote<dyn Listener>]]);
    fn deep(&self, who: &[&[&Remote<dyn Listener>]]);
    fn changed(&self, who: &mut [Remote<dyn Listener>]);
    #[remote(one_way)]
    fn lent(&self, who: &[Remote<dyn Listener>]);
    fn lends(&self) -> &[Remote<dyn Listener>];
    fn paired(&self, who: (u32, Remote<dyn Listener>));
    #[remote(one_way)]
    fn told(&self, who: Remote<dyn Listener>);
    fn found(&self) -> (u32, Remote<dyn Listener>);
}

fn main() {}
