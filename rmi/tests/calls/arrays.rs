//! Arrays of `ndarray` as arguments and results.

use std::sync::Arc;

use jstream::NdArray;
use jstream_rmi::{Client, Received, Server, remote};
use ndarray::{Array1, Array2, Array3, ArrayD, Axis, IxDyn, arr2};

type Matrix<'b> = NdArray<'b, f64, [usize; 2]>;

#[remote]
trait Algebra {
    fn row_sums(&self, of: NdArray<'_, f64, [usize; 2]>) -> Vec<f64>;
    fn dot(&self, a: &NdArray<'_, f64, [usize; 1]>, b: NdArray<'_, f64, [usize; 1]>) -> f64;
    fn corner(&self, of: NdArray<'_, u16, [usize; 3]>) -> Result<u16, String>;
    fn axes(&self, of: NdArray<'_, f32, &[usize]>) -> Vec<usize>;
    fn kept(&self, of: Received<Matrix<'static>>) -> f64;
    fn product(&self, a: Matrix<'_>, b: Matrix<'_>) -> Array2<f64>;
    async fn later(&self, of: Matrix<'_>) -> f64;
}

struct Plain;

#[remote]
impl Algebra for Plain {
    fn row_sums(&self, of: NdArray<'_, f64, [usize; 2]>) -> Vec<f64> {
        of.view().unwrap().sum_axis(Axis(1)).to_vec()
    }

    fn dot(&self, a: &NdArray<'_, f64, [usize; 1]>, b: NdArray<'_, f64, [usize; 1]>) -> f64 {
        a.view().unwrap().dot(&b.view().unwrap())
    }

    fn corner(&self, of: NdArray<'_, u16, [usize; 3]>) -> Result<u16, String> {
        // The caller may lie about the shape.
        let of = of.view().map_err(|error| error.to_string())?;
        of.last().copied().ok_or_else(|| "empty".to_owned())
    }

    fn axes(&self, of: NdArray<'_, f32, &[usize]>) -> Vec<usize> {
        of.view().unwrap().shape().to_vec()
    }

    fn kept(&self, of: Received<Matrix<'static>>) -> f64 {
        of.get().view().unwrap().sum()
    }

    fn product(&self, a: Matrix<'_>, b: Matrix<'_>) -> Array2<f64> {
        a.view().unwrap().dot(&b.view().unwrap())
    }

    async fn later(&self, of: Matrix<'_>) -> f64 {
        of.view().unwrap().sum()
    }
}

#[test]
fn arrays_are_borrowed_by_both_sides() {
    let server = Server::default();
    server
        .bind::<dyn Algebra>("algebra", Arc::new(Plain))
        .unwrap();
    let serving = server.listen(&"inproc://arrays".parse().unwrap()).unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let algebra = client.lookup::<dyn Algebra>("algebra").wait().unwrap();

    let matrix = arr2(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let form = NdArray::try_from(&matrix).unwrap();
    assert!(std::ptr::eq(form.data, matrix.as_slice().unwrap()));
    let sums = algebra.row_sums(form).wait().unwrap();
    assert_eq!(*sums.get(), [6.0, 15.0]);
    // Columns are not contiguous, and rows are.
    assert!(NdArray::try_from(&matrix.column(1)).is_err());
    let column = matrix.column(1).to_owned();
    let (a, b) = (Array1::from_vec(vec![1.0, 10.0]), column.view());
    let (a, b) = (
        NdArray::try_from(&a).unwrap(),
        NdArray::try_from(&b).unwrap(),
    );
    assert_eq!(*algebra.dot(&a, b).wait().unwrap().get(), 52.0);

    let cube = Array3::from_shape_fn((2, 3, 4), |(x, y, z)| (x * y * z) as u16);
    let cube = NdArray::try_from(&cube).unwrap();
    assert_eq!(*algebra.corner(cube).wait().unwrap().get(), Ok(6));
    let lie = NdArray {
        shape: [2, 3, 5],
        ..cube
    };
    assert!(algebra.corner(lie).wait().unwrap().get().is_err());
    let lie = NdArray {
        shape: [usize::MAX, 2, 2],
        ..cube
    };
    assert!(algebra.corner(lie).wait().unwrap().get().is_err());

    let any = ArrayD::<f32>::zeros(IxDyn(&[1, 0, 2, 3]));
    let axes = algebra
        .axes(NdArray::try_from(&any).unwrap())
        .wait()
        .unwrap();
    assert_eq!(*axes.get(), [1, 0, 2, 3]);

    assert_eq!(*algebra.kept(&form).wait().unwrap().get(), 21.0);
    assert_eq!(*algebra.later(form).wait().unwrap().get(), 21.0);
    let turned = matrix.t().as_standard_layout().into_owned();
    let product = algebra.product(form, NdArray::try_from(&turned).unwrap());
    let product = product.wait().unwrap();
    assert_eq!(
        product.get().view().unwrap(),
        arr2(&[[14.0, 32.0], [32.0, 77.0]])
    );
}
