#[remote(mock)]
trait Numbers {
    fn below(&self, most: u64) -> Stream<u64>;
    async fn total(&self, scale: f64, numbers: Stream<f64>) -> f64;
    fn both(&mut self, lines: Stream<String>) -> Stream<Result<u64, String>>;
}
