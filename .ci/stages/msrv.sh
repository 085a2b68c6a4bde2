# Stage of .ci/run, which sources this file.

# The compiler of `rust-version`, as Debian packages it, unpacked and not installed.
stage_msrv() {
    local minimum version unpacked=$target/msrv package
    minimum=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
    command -v apt-get >/dev/null || skip "there is no apt-get"
    if ((EUID == 0)); then
        run apt_get -q update
    fi
    version=$(apt-cache madison rustc-web | awk '{ print $3 }' | grep -m1 "^$minimum\." || true)
    [[ $version ]] || skip "the package rustc-web is not offered in version $minimum"
    if [[ ! -x $unpacked/usr/bin/rustc || $(cat "$unpacked/version" || true) != "$version" ]]; then
        rm -rf "$unpacked"
        mkdir -p "$unpacked/packages"
        (
            cd "$unpacked/packages"
            run apt-get -q -o APT::Sandbox::User=root download \
                {rustc-web,libstd-rust-web-dev,"libstd-rust-web-$minimum"}="$version"
            for package in *.deb; do
                run dpkg -x "$package" ..
            done
        )
        echo "$version" >"$unpacked/version"
    fi
    local libraries=$unpacked/usr/lib/x86_64-linux-gnu
    if LD_LIBRARY_PATH=$libraries ldd "$libraries"/librustc_driver-*.so | grep 'LLVM.*not found'; then
        apt_install "the LLVM of rustc $minimum" "$(dpkg -f \
            "$unpacked/packages/libstd-rust-web-$minimum"_*.deb Depends | grep -o 'libllvm[0-9]*')"
    fi
    printf '#!/bin/sh\nLD_LIBRARY_PATH="%s" exec "%s" "$@"\n' \
        "$libraries" "$unpacked/usr/bin/rustc" >"$unpacked/rustc"
    chmod +x "$unpacked/rustc"
    run "$unpacked/rustc" --version
    RUSTC=$unpacked/rustc run cargo check --locked --target-dir "$unpacked/target" \
        -p jstream -p jstream-derive -p jstream-transport -p jstream-rmi
}
