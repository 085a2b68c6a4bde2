#[remote(mock)]
pub trait Ledger {
    async fn add(&mut self, n: u64) -> Result<u64, Full>;
    fn sum(&self) -> u64;
    #[remote(one_way)]
    fn note(&mut self, text: &str);
}
