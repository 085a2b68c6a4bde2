# Debian's compilers, which .ci/run unpacks without installing them. They come with the sources of std, so that std can
# be built for sanitizers and for other targets. Sourced by .ci/run.

# debian_rust VERSION PACKAGE...: unpacks Debian's `rustc-web` of this version (such as 1.85, or `newest`), what it links
# with, and the packages named. Sets `debian` to the folder, and RUSTC to a program that runs this compiler.
debian_rust() {
    local wanted=$1 version release package libraries
    shift
    command -v apt-get >/dev/null || skip "there is no apt-get"
    if ((EUID == 0)); then
        run apt_get -q update
    fi
    # The newest version stands first.
    version=$(apt-cache madison rustc-web | awk '{ print $3 }' |
        if [[ $wanted == newest ]]; then head -n 1; else grep -m1 "^$wanted\."; fi || true)
    [[ $version ]] || skip "the package rustc-web is not offered in version $wanted"
    release=${version%%.*}.$(cut -d. -f2 <<<"$version")
    debian=$target/ci/debian-$wanted
    # Stages beside each other use one folder, to which each adds the packages that are missing.
    (
        flock 9
        if [[ $(cat "$debian/version" || true) != "$version" ]]; then
            rm -rf "$debian"
            mkdir -p "$debian/packages"
            echo "$version" >"$debian/version"
        fi
        cd "$debian/packages"
        for package in {rustc-web,libstd-rust-web-dev,"libstd-rust-web-$release"}="$version" \
            "${@/#rust-web-src/rust-web-src=$version}"; do
            if [[ ! -e ${package%=*}.unpacked ]]; then
                run apt-get -q -o APT::Sandbox::User=root download "$package"
                run dpkg -x "${package%=*}"_*.deb ..
                touch "${package%=*}.unpacked"
            fi
        done
    ) 9>"$target/ci/debian-$wanted.lock"
    libraries=$debian/usr/lib/x86_64-linux-gnu
    if LD_LIBRARY_PATH=$libraries ldd "$libraries"/librustc_driver-*.so | grep 'LLVM.*not found'; then
        apt_install "the LLVM of rustc $wanted" "$(dpkg -f \
            "$debian/packages/libstd-rust-web-$release"_*.deb Depends | grep -o 'libllvm[0-9]*')"
    fi
    printf '#!/bin/sh\nLD_LIBRARY_PATH="%s" exec "%s" "$@"\n' "$libraries" "$debian/usr/bin/rustc" >"$debian/rustc"
    chmod +x "$debian/rustc"
    export RUSTC=$debian/rustc
    run "$RUSTC" --version
}
