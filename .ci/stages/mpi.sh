# Stage of .ci/run, which sources this file.

# The applications over an MPI library, by a program outside the workspace.
stage_mpi() {
    apt_install mpicc.openmpi libopenmpi-dev openmpi-bin libclang-dev
    MPICC=mpicc.openmpi run cargo clippy --locked --manifest-path benches/mpi-peer/Cargo.toml \
        --target-dir "$target/mpi-peer/clippy" -- -D warnings
    run cargo run --release -p jstream-benches -- apps --quick --check --mpi \
        sor nbody shallow-water-64 ring-matmul-64
}
