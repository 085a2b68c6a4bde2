//! `f16` and `bf16` of `half`.

use half::{bf16, f16};

use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, Pass, Trace};
use crate::schema::{Kind, Schema, TypeIndex};
use crate::write::Draft;

plain_leaf! {
    f16, "f16", |_| Kind::Leaf;
    bf16, "bf16", |_| Kind::Leaf;
}
