#!/bin/sh
# gpu_check.sh: what only a machine with a GPU can show, in one call:
#
#   tests/gpu_check.sh [OUT_DIR] [steps: build test scripts sanitize search bench]
#
# Builds the CUDA preset's configuration in build/gpu, runs the backends test on the device, required,
# the same under compute-sanitizer, the example searches on the GPU, and the benchmark, whose figures
# go to OUT_DIR/bench_<card>.csv. Exit status: 0 when every step passed.
set -u
cd "$(dirname "$0")/.."
out=${1:-build/gpu/results}
[ $# -gt 0 ] && shift
steps=${*:-build test scripts sanitize search bench}
mkdir -p "$out"
failed=0
b=build/gpu

step() {
    name=$1
    shift
    echo "== $name: $*"
    start=$(date +%s)
    if "$@" >"$out/$name.log" 2>&1; then
        tail -n 6 "$out/$name.log"
        echo "== $name: passed in $(($(date +%s) - start)) s"
    else
        echo "== $name: FAILED (status $?) after $(($(date +%s) - start)) s"
        tail -n 40 "$out/$name.log"
        failed=1
    fi
}

build() {
    generator=
    command -v ninja >/dev/null && generator="-G Ninja"
    # shellcheck disable=SC2086
    cmake -S . -B $b $generator -DCMAKE_BUILD_TYPE=Release -DECITON_CUDA=ON \
        -DCMAKE_CUDA_ARCHITECTURES="${EC_GPU_ARCH:-90}" -DECITON_BENCHMARKS=ON &&
        cmake --build $b --target backends_test eciton_bench eciton_program -j "$(nproc)"
}

search() {
    for seed in 1 2 3; do
        for script in aperiodic_17 aperiodic_37 circular_array sector_null; do
            echo "$script seed $seed"
            $b/bin/eciton run examples/$script.lua --backend cuda --seed $seed --json --quiet |
                tail -n 1 | cut -c1-400 || return 1
        done
    done
    $b/bin/eciton run examples/aperiodic_17.lua --backend cuda --seed 5 --json --quiet |
        tail -n 1 | sed 's/"seconds":[^,]*,//' >"$out/a.json" &&
        $b/bin/eciton run examples/aperiodic_17.lua --backend cuda --seed 5 --json --quiet |
        tail -n 1 | sed 's/"seconds":[^,]*,//' >"$out/b.json" &&
        cmp "$out/a.json" "$out/b.json" && echo "two runs, the same bits"
}

export ECITON_REQUIRE_CUDA=1
for s in $steps; do
    case $s in
    build) step build build ;;
    test) step test $b/bin/backends_test --backend cuda ;;
    scripts) # on the device, which `auto` chooses
        step scripts sh tests/scripts/run_scripts.sh $b/bin/eciton . resume good/aco good/over good/front \
            good/start good/sweep good/nlopt good/cmaes good/array_ good/elements \
            good/patterns good/optimal good/coupled good/synthesis
        step workers env ECITON_WORKERS=cuda:0 sh tests/scripts/run_scripts.sh $b/bin/eciton . section/workers
        ;;
    sanitize)
        # the hash over 1e7 arguments and large grids take too long under the sanitizer; the kernels of
        # one are in math/philox, those of the other in array/spread
        for tool in memcheck racecheck; do
            step sanitize_$tool compute-sanitizer --tool $tool --error-exitcode 9 \
                --report-api-errors no $b/bin/backends_test --backend cuda \
                ops/ math/philox math/turns graph/ de/ aco/ acor/ solve/ array/pattern array/turn array/line \
                array/grid array/spread array/final array/adjoint array/pieces array/neighbours nufft/sorted nufft/large nufft/spans nufft/zeros weights/ element/
        done
        ;;
    search) step search search ;;
    bench) step bench $b/bin/eciton_bench --backend cuda --csv "$out/bench.csv" ;;
    *) echo "unknown step $s" && exit 2 ;;
    esac
done
exit $failed
