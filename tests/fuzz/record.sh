#!/usr/bin/env bash
# What nobody sends, into lab::parse_record, for 10 seconds, with ./lab test --full for 60. record.sh FUZZER
set -euo pipefail
fuzzer=$1
if [[ ! -x $fuzzer ]]; then
  printf 'there is no %s: it is built when clang++ is installed (apt-get install clang)\n' "$fuzzer"
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" # an input that fails is written here; its bytes are printed as well
mkdir corpus
# Without these the fuzzer would have to find the form of a record by itself.
printf '0000:000011:8a1b2c:00000000000000000000ffffc0000201\0' >corpus/ethernet
printf '001b:ffffff:000001:00000000000000000000000000000000\0' >corpus/infiniband
printf '00AB:00CDEF:8A1B2C:FE80000000000000505400FFFE000201\0' >corpus/upper-case

seconds=10
[[ -z ${LAB_FULL-} ]] || seconds=60
# libFuzzer ends with 77 where it finds something, unless told otherwise, and that means a skip here.
"$fuzzer" -max_total_time="$seconds" -max_len=60 -error_exitcode=1 -print_final_stats=1 corpus 2>&1 | tail -n 40
