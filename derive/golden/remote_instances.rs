#[remote(instances(Store<u64, 2>, Store<String, 3>))]
pub(crate) trait Store<T: Keyed, const N: usize> {
    #[remote(idempotent)]
    fn get(&self, keys: &[<T as Keyed>::Key; N]) -> Vec<T>;
}
