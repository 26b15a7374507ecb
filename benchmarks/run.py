"""Compare textodds with its peers: ``python benchmarks/run.py --help``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import page
from bench import Bench
from cases import CASES
from result import LOADED, kernel_digest, machine

IN_LITTLE = "ratios"  # the case that a quick run is, and others need not be
RESULTS = Path(__file__).resolve().parent / "results"
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main(argv: list[str] | None = None) -> int:
    """Return 0 if all cases ran, missed targets or not; 1 if one failed."""
    parser = argparse.ArgumentParser(
        description="Compare textodds with scikit-learn, LIBLINEAR, fastText, Vowpal Wabbit and wc."
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="all paths in little (ratios); with --only fewer rounds; not for quoting",
    )
    parser.add_argument("--only", action="append", choices=list(CASES), metavar="NAME", help=", ".join(CASES))
    parser.add_argument("--repeat", type=int, metavar="N", help="rounds (5; with --quick 2)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of the results (benchmarks/results)")
    args = parser.parse_args(argv)
    if args.repeat is not None and args.repeat < 1:
        parser.error("--repeat must be at least 1")
    # A quick run does not replace the results that are quoted.
    usual = Path(tempfile.gettempdir()) / "textodds-bench-quick" if args.quick else RESULTS
    out: Path = args.out or usual
    out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    failed = False
    with tempfile.TemporaryDirectory(prefix="textodds-bench-") as workspace:
        bench = Bench(Path(workspace), args.repeat or (2 if args.quick else 5), args.quick)
        usually = [IN_LITTLE] if args.quick else [name for name in CASES if name != IN_LITTLE]
        for name in args.only or usually:
            failed |= not _run(name, bench, out)
    print(f"\n{page.write(out)}")
    return int(failed)


def _run(name: str, bench: Bench, out: Path) -> bool:
    print(name, flush=True)
    begin, where, kernels = time.perf_counter(), machine(), {kernel_digest()}
    try:
        result = CASES[name](bench)
    except Exception:  # the other cases are still worth having
        traceback.print_exc()
        return False
    others = sorted((kernels | {kernel_digest()}) - {LOADED})
    result.machine = {**where, "kernels_of_children": others, "rounds": bench.rounds, "quick": bench.quick}
    if others:
        print("  the kernels were rebuilt while this ran: the numbers are of more than one build", flush=True)
    result.write(out)
    for target in result.targets:
        reached = "not measured" if target.reached is None else f"{target.reached:.3g} {target.unit}"
        verdict = {True: "met", False: "MISSED", None: "-"}[target.met]
        side = "at least" if target.at_least else "at most"
        print(f"  {verdict:6} {target.claim}: {reached} ({side} {target.asked:g})", flush=True)
    print(f"  {time.perf_counter() - begin:.0f} s", flush=True)
    return True


def one_thread_for_peers() -> None:
    """Start over with BLAS and OpenMP held to one thread, which they must know before they are loaded."""
    environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
    environment.pop("TEXTODDS_THREADS", None)
    if environment != dict(os.environ):
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)


if __name__ == "__main__":
    one_thread_for_peers()
    sys.exit(main())
