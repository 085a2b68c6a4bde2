#[remote(mock)]
trait Room {
    fn join(&self, who: &Remote<dyn Listener>) -> u64;
    fn invite(&self, who: &[Option<Remote<dyn Listener>>], text: &str) -> Remote<dyn Listener>;
    fn pile(&self, cubes: &[&[&[Remote<dyn Listener>]]]) -> u64;
    async fn seat(&self, rows: &[&[Remote<dyn Listener>]]) -> u64;
}
