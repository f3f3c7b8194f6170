# shellcheck shell=bash
# Sourced. copy_of_labs sets copy: a copy of the checkout with labs of its own, as they are handed out, which uses the build and the
# hosts of this one. What it makes lies in $copy and $LAB_VERDICTS.
copy_of_labs() {
  local folder name
  mkdir -p "$LAB_ROOT/build/tests"
  copy=$(mktemp -d "$LAB_ROOT/build/tests/labs.XXXXXX") # below the checkout: the hosts see it
  cp -r "$LAB_ROOT"/{lab,tools,labs,solutions,chapters} "$copy/"
  ln -s "$LAB_ROOT/build" "$copy/build"
  rm -f "$copy"/labs/*/lab.cpp.backup-*
  for folder in "$copy"/labs/*/; do
    name=$(basename "$folder")
    awk -f "$LAB_ROOT/tools/judge/compose.awk" "$folder/starter.inc" "$copy/solutions/$name/lab.cpp" >"$folder/lab.cpp"
  done
  export LAB_STATE=${LAB_STATE:-$LAB_ROOT/.lab} LAB_VERDICTS=$copy/build/tests/verdicts-$$
}
