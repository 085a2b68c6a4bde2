# Stage of .ci/run, which sources this file.

# Tests that say nothing new where each instruction takes many times as long, and some of which then take minutes:
# sweeps over every byte, statistics, objects by the million, and modules that neither read, write nor forward objects in
# new ways.
slow_units=(--skip schema::tests:: --skip buckets_fill_evenly --skip text_moves_behind_the_other_segments)
slow_messages=(--skip=hostile::damaged_results --skip=one_corrupted_byte --skip=every_byte_corrupted
    --skip=damaged_forms_are_compared --skip=callbacks::restoring_and_copying --skip=million --skip=kinds_in_turn
    --skip=a_fault_at_the_end_of_a_long_list --skip=big_maps_and_keys_that_hash_alike
    --skip=forwarding_allocates_nothing_in_steady_state)
for module in bare_paths constant_names contiguous debug_of_forms descriptors erased faults identity integrations \
    limits longest_ways maps_hostile opaque phantom_types restored soundness steady_state::writes streams_hostile \
    testing typed_ids verified_cells; do
    slow_messages+=("--skip=$module::")
done

# Memcheck, over two programs that the stage `test` has compiled: the unit tests of `jstream`, and its tests of
# messages.
stage_valgrind() {
    apt_install valgrind valgrind
    # Only what is lost for certain: std keeps its threads' data by pointers into the middle of it.
    local memcheck=(valgrind -q --error-exitcode=99 --leak-check=full
        --errors-for-leak-kinds=definite --show-leak-kinds=definite)
    export PROPTEST_CASES=2
    run timeout 1200 "${memcheck[@]}" "$(test_program src/lib.rs)" "${slow_units[@]}"
    run timeout 1200 "${memcheck[@]}" "$(test_program tests/messages/main.rs)" "${slow_messages[@]}"
}

# test_program SOURCE: the program that is compiled of this file of `jstream`, as a part of the whole workspace.
test_program() {
    local program
    program=$(cargo test --workspace --no-run --message-format=json |
        sed -nE 's#.*"src_path":"[^"]*/jstream/'"$1"'".*"executable":"([^"]+)".*#\1#p')
    [[ -x $program ]] || fail "cargo names no program of jstream/$1"
    echo "$program"
}
