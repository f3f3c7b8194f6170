# Puts steps into a frame: awk -f compose.awk STEPS FRAME. In both a step is what stands between the lines "// step N" and
# "// end of step N". A step that STEPS does not have stays as it is in FRAME. What stands outside of the steps in STEPS is
# about them, and left out.
function number(line) {
  return match(line, /step [0-9]+$/) ? substr(line, RSTART + 5) : 0
}
function wrong(text) {
  printf "%s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"
  failed = 1
  exit 1
}
/^ *\/\/ step [0-9]+$/ {
  if (step) wrong("step " step " has no end")
  step = number($0)
  if (FILENAME != ARGV[1]) { print; if (step in steps) printf "%s", steps[step]; used[step] = 1 }
  else steps[step] = ""
  next
}
/^ *\/\/ end of step [0-9]+$/ {
  if (step != number($0)) wrong("the end of step " number($0) ", which has not begun")
  step = 0
  if (FILENAME != ARGV[1]) print
  next
}
FILENAME == ARGV[1] { if (step) steps[step] = steps[step] $0 "\n"; next }
!step || !(step in steps) { print }
END {
  if (!failed) for (step in steps) if (!(step in used)) { printf "%s: the frame has no step %s\n", ARGV[1], step >"/dev/stderr"; exit 1 }
}
