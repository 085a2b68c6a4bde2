# Stage of .ci/run, which sources this file.

stage_layout() {
    need_nightly
    layout_peers 1 20240607
}

# layout_peers SEED...: programs that lay their types out by different seeds read each other's messages: what was
# written, in place or converted, and at least one of these is converted.
layout_peers() {
    local seed writer reader status converted=0 folder=$target/ci/layout-peers
    rm -rf "$folder"
    mkdir -p "$folder"
    for seed in "$@"; do
        # With a target, what runs at compile time is built once.
        RUSTFLAGS="-Zrandomize-layout -Zlayout-seed=$seed" \
            run cargo +nightly build --target $host --target-dir "$target/layout" -p jstream --example layout_peer
        cp "$target/layout/$host/debug/examples/layout_peer" "$folder/$seed"
        run "$folder/$seed" write "$folder/message-$seed"
    done
    for writer in "$@"; do
        for reader in "$@"; do
            status=0
            "$folder/$reader" read "$folder/message-$writer" >"$folder/output" || status=$?
            head -n 1 "$folder/output"
            if ((status != 0)); then
                cat "$folder/output"
                fail "seed $reader ends with status $status on a message of seed $writer"
            elif grep -q '^converted from another layout:$' "$folder/output"; then
                [[ $writer != "$reader" ]] || fail "seed $reader converts its own message"
                converted=$((converted + 1))
            fi
        done
    done
    ((converted > 0)) || fail "all seeds give one layout"
}
