//! The remote interface and its implementation.

use jstream::Transportable;
use jstream_rmi::remote;

use crate::matrices::Matrix;

/// Error for a vector whose length differs from the number of columns.
#[derive(Transportable, Debug, Clone, Copy)]
pub(crate) struct Misfit {
    pub(crate) matrix: u64,
    pub(crate) vector: u64,
}

/// Operations on matrices.
#[remote]
pub(crate) trait Algebra {
    fn apply(&self, matrix: &dyn Matrix, vector: &[f64]) -> Result<Vec<f64>, Misfit>;

    fn traces(&self, matrices: &[&dyn Matrix]) -> Vec<f64>;
}

pub(crate) struct Plain;

impl Algebra for Plain {
    fn apply(&self, matrix: &dyn Matrix, vector: &[f64]) -> Result<Vec<f64>, Misfit> {
        if matrix.columns() != vector.len() {
            return Err(Misfit {
                matrix: matrix.columns() as u64,
                vector: vector.len() as u64,
            });
        }
        let rows = 0..matrix.rows();
        Ok(rows.map(|row| matrix.row_times(row, vector)).collect())
    }

    fn traces(&self, matrices: &[&dyn Matrix]) -> Vec<f64> {
        let trace = |matrix: &&dyn Matrix| {
            let places = 0..matrix.rows().min(matrix.columns());
            places.map(|place| matrix.at(place, place)).sum()
        };
        matrices.iter().map(trace).collect()
    }
}
