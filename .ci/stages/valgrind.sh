# Stage of .ci/run, which sources this file.

# Memcheck, over the programs that the stage `test` has compiled: the unit tests of `jstream`, and those of its
# tests of messages that read, write and forward objects in many ways.
stage_valgrind() {
    apt_install valgrind valgrind
    # Only what is lost for certain: std keeps its threads' data by pointers into the middle of it.
    local memcheck=(valgrind -q --error-exitcode=99 --leak-check=full
        --errors-for-leak-kinds=definite --show-leak-kinds=definite)
    local modules=(aligned compare depth dynamic fields forward_adapted forward_dropped hostile maps os_strings owned
        restored_cows round_trip shared steady_state streams)
    # What is skipped are sweeps over every byte, statistics, and objects by the million: they say nothing new
    # here, and take minutes.
    export PROPTEST_CASES=2
    run timeout 1200 "${memcheck[@]}" "$(test_program src/lib.rs)" \
        --skip schema::tests:: --skip buckets_fill_evenly --skip text_moves_behind_the_other_segments
    run timeout 1200 "${memcheck[@]}" "$(test_program tests/messages/main.rs)" "${modules[@]/%/::}" \
        --skip maps_hostile:: --skip streams_hostile:: --skip steady_state::writes:: --skip hostile::damaged_results \
        --skip one_corrupted_byte --skip every_byte_corrupted --skip damaged_forms_are_compared \
        --skip million --skip kinds_in_turn --skip a_fault_at_the_end_of_a_long_list \
        --skip big_maps_and_keys_that_hash_alike --skip forwarding_allocates_nothing_in_steady_state
}

# test_program SOURCE: the program that is compiled of this file of `jstream`, as a part of the whole workspace.
test_program() {
    local program
    program=$(cargo test --workspace --no-run --message-format=json |
        sed -nE 's#.*"src_path":"[^"]*/jstream/'"$1"'".*"executable":"([^"]+)".*#\1#p')
    [[ -x $program ]] || fail "cargo names no program of jstream/$1"
    echo "$program"
}
