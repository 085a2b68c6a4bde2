# Stage of .ci/run, which sources this file.

# Documents the crates without a warning, and compares their public items with the listings in docs/api, so that a
# change of the interface is seen in the diff that makes it. `API=overwrite .ci/run api` writes the listings anew.
stage_api() {
    need_nightly
    cargo_install cargo-public-api 0.52.0
    local packages=(jstream jstream-{sync,base,device,endpoint,matching,collective,rank,active,channel,transport,rmi})
    # The derive has no items but its macros. Comments of crates that are not published are not checked.
    RUSTDOCFLAGS="-Dwarnings -Zunstable-options --output-format json" \
        run cargo +nightly doc --lib --no-deps --all-features --target-dir "$target/api" \
        "${packages[@]/#/-p}" -p jstream-derive
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
