//! Several kinds of matrices. Both processes know all of them.

use jstream::{Transportable, transportable};

/// A matrix of any kind.
#[transportable]
pub(crate) trait Matrix {
    fn rows(&self) -> usize;

    fn columns(&self) -> usize;

    /// Returns the number at a position, which must be within the matrix.
    fn at(&self, row: usize, column: usize) -> f64;

    /// Returns the product of a row and a vector of the same length.
    fn row_times(&self, row: usize, vector: &[f64]) -> f64 {
        let numbers = (0..).zip(vector);
        numbers.map(|(column, n)| self.at(row, column) * n).sum()
    }
}

/// A matrix that stores all its numbers, row by row.
#[derive(Transportable)]
#[transportable(implements(Matrix))]
pub(crate) struct Dense<'b> {
    pub(crate) columns: u32,
    pub(crate) values: &'b [f64],
}

impl Dense<'_> {
    fn row(&self, row: usize) -> &[f64] {
        let mut rows = self.values.chunks_exact(self.columns().max(1));
        rows.nth(row).unwrap_or_default()
    }
}

impl Matrix for Dense<'_> {
    fn rows(&self) -> usize {
        let columns = self.columns();
        self.values.len().checked_div(columns).unwrap_or(0)
    }

    fn columns(&self) -> usize {
        usize::try_from(self.columns).unwrap_or(usize::MAX)
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.row(row).get(column).copied().unwrap_or(0.0)
    }

    fn row_times(&self, row: usize, vector: &[f64]) -> f64 {
        self.row(row).iter().zip(vector).map(|(a, b)| a * b).sum()
    }
}

/// A diagonal matrix: it stores only the numbers on the diagonal.
#[derive(Transportable)]
#[transportable(implements(Matrix))]
pub(crate) struct Diagonal<'b> {
    pub(crate) values: &'b [f64],
}

impl Matrix for Diagonal<'_> {
    fn rows(&self) -> usize {
        self.values.len()
    }

    fn columns(&self) -> usize {
        self.values.len()
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        let value = self.values.get(row).filter(|_| row == column);
        value.copied().unwrap_or(0.0)
    }
}

/// The outer product of two vectors.
#[derive(Transportable)]
#[transportable(implements(Matrix))]
pub(crate) struct Outer<'b> {
    pub(crate) left: &'b [f64],
    pub(crate) right: &'b [f64],
}

impl Matrix for Outer<'_> {
    fn rows(&self) -> usize {
        self.left.len()
    }

    fn columns(&self) -> usize {
        self.right.len()
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        let pair = self.left.get(row).zip(self.right.get(column));
        pair.map_or(0.0, |(left, right)| left * right)
    }
}

/// The sum of other matrices of any kind.
#[derive(Transportable)]
#[transportable(implements(Matrix))]
pub(crate) struct Sum<'b> {
    pub(crate) parts: &'b [&'b dyn Matrix],
}

impl Matrix for Sum<'_> {
    fn rows(&self) -> usize {
        self.parts.iter().map(|part| part.rows()).max().unwrap_or(0)
    }

    fn columns(&self) -> usize {
        let columns = self.parts.iter().map(|part| part.columns());
        columns.max().unwrap_or(0)
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.parts.iter().map(|part| part.at(row, column)).sum()
    }

    fn row_times(&self, row: usize, vector: &[f64]) -> f64 {
        let parts = self.parts.iter();
        parts.map(|part| part.row_times(row, vector)).sum()
    }
}
