# Stage of .ci/run, which sources this file.

# Compares the public items of the crates with the listings in docs/api, so that a change of the
# interface is seen in the diff that makes it. `API=overwrite .ci/run api` writes the listings anew.
stage_api() {
    need_nightly
    cargo_install cargo-public-api 0.52.0
    local packages=(jstream jstream-{sync,base,device,endpoint,matching,collective,rank,active,channel,transport,rmi})
    RUSTDOCFLAGS="-Zunstable-options --output-format json" \
        run cargo +nightly doc --lib --no-deps --all-features --target-dir "$target/api" "${packages[@]/#/-p}"
    local package listing differs=
    mkdir -p docs/api
    for package in "${packages[@]}"; do
        listing=$target/ci/$package.txt
        # Without the implementations that the compiler derives.
        cargo +nightly public-api --rustdoc-json "$target/api/doc/${package//-/_}.json" -sss >"$listing"
        if [[ ${API-} == overwrite ]]; then
            cp "$listing" "docs/api/$package.txt"
        elif ! diff -u "docs/api/$package.txt" "$listing"; then
            differs+=" $package"
        fi
    done
    [[ ! $differs ]] ||
        fail "the public items of$differs are others than docs/api says; if so intended: API=overwrite .ci/run api"
}
