#!/usr/bin/env bash
# packages_test.sh BUILD SOURCE WORK VERSION CXX: makes the Debian packages of a finished build, looks at them, unpacks
# them into a scratch root and uses them from there: the program, the development files, and the BLAS alternative under
# NumPy and netlib's tester.
# Needs neither root nor a network. Exit code 77: this machine has no tools for Debian packages.
set -euo pipefail
build=$1 source=$2 work=$3 version=$4 CXX=$5
export CXX

fail() {
    echo "packages: $*" >&2
    exit 1
}
export PATH="$PATH:/usr/sbin:/sbin"
for tool in dpkg-deb dpkg-shlibdeps update-alternatives; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: this machine has no $tool"
        exit 77
    fi
done

rm -rf "$work"
mkdir -p "$work"
root=$work/root
cpack --config "$build/CPackConfig.cmake" -B "$work/packages" >"$work/cpack.log" 2>&1 ||
    fail "cpack failed: $(tail -n 20 "$work/cpack.log")"

# ---- what the packages say of themselves
field() { dpkg-deb --field "$work/packages/$1"_*.deb "$2"; }
names=(libheptad libheptad-dev heptad libheptad-blas)
for name in "${names[@]}"; do
    compgen -G "$work/packages/${name}_${version}-1_*.deb" >/dev/null || fail "there is no package $name of version $version"
    for wanted in Maintainer Section Priority Description Installed-Size; do
        [[ -n $(field "$name" $wanted) ]] || fail "$name has no $wanted"
    done
    [[ $(field "$name" Architecture) == "$(dpkg --print-architecture)" ]] || fail "$name is for another architecture"
    # MPI and CUDA belong to packages of their own; libblas3 is what the alternative stands in for.
    if field "$name" Depends | grep -iE 'mpi|cuda|cublas|nvidia|libblas'; then
        fail "$name depends on what it must do without"
    fi
    dpkg-deb --contents "$work/packages/${name}"_*.deb >"$work/contents"
    if grep -vE '^(drwxr-xr-x|-rwxr-xr-x|-rw-r--r--|lrwxrwxrwx) root/root ' "$work/contents"; then
        fail "$name has files of other owners or modes"
    fi
    grep -q "usr/share/doc/$name/copyright$" "$work/contents" || fail "$name says nothing of its licence"
    dpkg-deb --extract "$work/packages/${name}"_*.deb "$root"
    rm -rf "$work/control-$name"
    dpkg-deb --control "$work/packages/${name}"_*.deb "$work/control-$name"
    (cd "$root" && md5sum --quiet --check "$work/control-$name/md5sums") || fail "$name does not hold what its sums say"
done
[[ $(field libheptad-dev Depends) == "libheptad (= $version-1)" ]] || fail "libheptad-dev fits another libheptad"
[[ $(field libheptad-blas Provides) == libblas.so.3 ]] || fail "libheptad-blas does not provide libblas.so.3"
[[ $(field libheptad-blas Depends) == *libopenblas0* ]] || fail "libheptad-blas does not depend on OpenBLAS"
# The container file installs these packages by their names, and no other.
mapfile -t contained < <(grep -oE '/packages/[a-z-]+_\*\.deb' "$source/packaging/Containerfile" | sed -E 's#.*/([a-z-]+)_.*#\1#' | sort)
[[ ${contained[*]} == "$(printf '%s\n' "${names[@]}" | sort | xargs)" ]] || fail "the container file installs ${contained[*]}"
grep -qF 'COPY --from=build /source/run/packages/*.deb /packages/' "$source/packaging/Containerfile" ||
    fail "the container file does not take the packages from where make package puts them"
# A program for clusters is of no use without its launcher.
if compgen -G "$work/packages/heptad-mpi_*.deb" >/dev/null; then
    field heptad-mpi Depends | grep -qE '(^|, )(openmpi-bin|mpich)(,|$)' || fail "heptad-mpi does not depend on a launcher"
    field heptad-mpi Depends | grep -qE 'libopenmpi|libmpich' || fail "heptad-mpi does not depend on the library of MPI"
fi
# No path of the build is left, in text or where libraries are looked for.
if grep -rIl -F -e "$build" -e "$source" "$root"; then
    fail "the files above name the build folder"
fi
while IFS= read -r file; do
    if readelf -d "$file" | grep -E 'R(UN)?PATH' | grep -vF "[\$ORIGIN"; then
        fail "$file looks for libraries in a folder of the build"
    fi
done < <(find "$root" -type f \( -name '*.so*' -o -path '*/bin/*' \))

# ---- the program
heptad=$root/usr/bin/heptad
[[ $("$heptad" --version) == "heptad $version" ]] || fail "heptad has another version"
cd "$work"
"$heptad" gen uniform --shape 300x200 --seed 1 -o A.npy >/dev/null
"$heptad" gen uniform --shape 200x100 --seed 2 -o B.npy >/dev/null
"$heptad" mul A.npy B.npy -o C.npy --verify >/dev/null
"$heptad" verify A.npy B.npy C.npy >/dev/null

# ---- the development files, by CMake and by pkg-config
library=$(dirname "$(find "$root/usr/lib" -name 'libheptad.so.0')")
mkdir -p by-cmake
cp "$source/examples/01_multiply.cpp" by-cmake/main.cpp
cat >by-cmake/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES CXX)
find_package(heptad REQUIRED)
add_executable(user main.cpp)
target_link_libraries(user PRIVATE heptad::heptad)
END
{
    cmake -S by-cmake -B by-cmake/build -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_PREFIX_PATH="$root/usr" &&
        cmake --build by-cmake/build
} >by-cmake.log 2>&1 || fail "a user's CMake project failed: $(cat by-cmake.log)"
LD_LIBRARY_PATH=$library by-cmake/build/user | grep -q expected || fail "a program built by CMake does not run"
if command -v pkg-config >/dev/null; then
    read -ra flags < <(PKG_CONFIG_PATH=$library/pkgconfig pkg-config --cflags --libs heptad)
    "$CXX" -std=c++20 by-cmake/main.cpp -o by-pkg-config "${flags[@]}"
    LD_LIBRARY_PATH=$library ./by-pkg-config | grep -q expected || fail "a program built by pkg-config does not run"
fi

# ---- the alternative: maintainer scripts in a scratch root, then programs that use libblas.so.3
blas=$(find "$root/usr/lib" -path '*/heptad/libblas.so.3')
readelf -d "$blas" | grep -q 'SONAME.*\[libblas.so.3\]' || fail "$blas has another SONAME"
readelf -d "$blas" | grep -q 'NEEDED.*\[libopenblas.so.0\]' || fail "$blas does not need OpenBLAS"
if readelf -d "$blas" | grep 'NEEDED.*\[libblas.so.3\]'; then fail "$blas needs itself"; fi
link=$(sed -nE 's/.*--install ([^ ]+) .*/\1/p' control-libheptad-blas/postinst)
mkdir -p "$root"/var/lib/dpkg/alternatives "$root"/etc/alternatives "$root"/var/log "$root/$(dirname "$link")"
DPKG_ROOT=$root control-libheptad-blas/postinst configure >alternatives.log 2>&1 ||
    fail "postinst: $(cat alternatives.log)"
[[ $root$(readlink "$root$(readlink "$root$link")") == "$blas" ]] || fail "postinst does not lead $link to $blas"
DPKG_ROOT=$root control-libheptad-blas/prerm upgrade >>alternatives.log 2>&1
[[ -L $root$link ]] || fail "an upgrade takes the alternative away"
DPKG_ROOT=$root control-libheptad-blas/prerm remove >>alternatives.log 2>&1
[[ ! -L $root$link ]] || fail "prerm leaves $link behind"

python=/usr/bin/python3 # Debian's, whose NumPy uses libblas.so.3
if [[ -x $python ]]; then
    "$python" "$source/tests/install/every_blas_entry.py" "$blas" || fail "entries of a BLAS are missing"
fi
if [[ -x $python ]] && "$python" -c 'import numpy' 2>/dev/null; then
    # LD_BIND_NOW: a symbol that nobody has ends the program when it starts.
    LD_BIND_NOW=1 LD_LIBRARY_PATH=$(dirname "$blas") HEPTAD_MIN_SIZE=64 HEPTAD_LEVELS=1 HEPTAD_LOG=$work/calls.log \
        "$python" "$source/tests/install/numpy_by_alternative.py" "$blas" || fail "NumPy does not work with $blas"
    grep -q 'cblas_dgemm 256x256x256' calls.log || fail "a large product was not taken over: $(cat calls.log)"
fi
tester=$(compgen -G '/usr/lib/*/blas/xblat3d' || true) # netlib's own (libblas-test)
if [[ -n $tester ]]; then
    mkdir -p netlib
    (cd netlib && LD_LIBRARY_PATH=$(dirname "$blas") "$tester" <"$(dirname "$tester")/dblat3.in" >log 2>&1) ||
        fail "xblat3d: $(cat netlib/log)"
    cat netlib/* >xblat3d
    (($(grep -c 'PASSED THE COMPUTATIONAL TESTS' xblat3d) == 6)) || fail "xblat3d: $(cat xblat3d)"
    if grep -E 'SUSPECT|FAILED' xblat3d; then fail "netlib's tester of level 3 complains"; fi
fi
echo "packages: ${names[*]}: looked at, unpacked and used"
