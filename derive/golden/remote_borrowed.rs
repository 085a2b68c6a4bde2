#[remote(mock)]
trait Room {
    fn join(&self, who: &Remote<dyn Listener>) -> u64;
    fn invite(&self, who: &[Option<Remote<dyn Listener>>], text: &str) -> Remote<dyn Listener>;
    async fn seat(&self, rows: &[&[Remote<dyn Listener>]]) -> u64;
}
