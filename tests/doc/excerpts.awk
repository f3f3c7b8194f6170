# Finds each ```cpp block of the page, which is the last file, in the files before it. A block matches when its lines stand
# in one file one after the other; indentation that all of them share and blanks at their ends do not count. A line that is
# only "// ..." leaves something out: what comes before and after it must be in the same file, in this order.
# Set: page (the name of the last file).

function stripped(line) {
  sub(/[ \t]+$/, "", line)
  return line
}

FILENAME != page {
  if (FNR == 1) files[++file_count] = FILENAME
  source[file_count, FNR] = stripped($0)
  length_of[file_count] = FNR
  next
}

/^[ ]*```/ {
  if (inside) {
    if (cpp) check_block()
    inside = 0
  } else {
    inside = 1
    cpp = $1 == "```cpp"
    begin = FNR
    lines = 0
  }
  next
}

inside && cpp { block[++lines] = stripped($0) }

END {
  if (inside) {
    printf "%s:%d: this block has no end\n", page, begin
    bad = 1
  }
  exit bad
}

function elision(line) { return line ~ /^[ ]*\/\/ \.\.\.$/ }

# The indentation which every line from `from` to `to` of the block has.
function shared_indent(from, to,    i, n, least) {
  least = -1
  for (i = from; i <= to; i++) {
    if (block[i] == "") continue
    match(block[i], /^ */)
    n = RLENGTH
    if (least < 0 || n < least) least = n
  }
  return least < 0 ? 0 : least
}

# How many lines of the block, from..to, stand in the file from line `at` on.
function run_length(file, at, from, to, indent,    i, wanted, have, prefix) {
  prefix = -1
  for (i = from; i <= to; i++) {
    if (at + i - from > length_of[file]) break
    have = source[file, at + i - from]
    wanted = substr(block[i], indent + 1)
    if (wanted == "" || have == "") {
      if (wanted != have) break
      continue
    }
    if (prefix < 0) {
      match(have, /^ */)
      prefix = RLENGTH - match_indent(wanted)
      if (prefix < 0) break
    }
    if (have != sprintf("%" (prefix > 0 ? prefix : "") "s", "") wanted) break
  }
  return i - from
}

function match_indent(line) {
  match(line, /^ */)
  return RLENGTH
}

# Tries one file; returns 1 when the whole block is there. Remembers the furthest line that was reached in any file.
function try_file(file,    from, to, at, n, indent, pos) {
  pos = 1
  for (from = 1; from <= lines; from = to + 2) {
    for (to = from; to <= lines && !elision(block[to]); to++) {}
    to--
    if (to < from) continue
    indent = shared_indent(from, to)
    for (at = pos; at <= length_of[file]; at++) {
      n = run_length(file, at, from, to, indent)
      if (from + n > furthest) {
        furthest = from + n
        furthest_file = files[file]
      }
      if (n == to - from + 1) break
    }
    if (at > length_of[file]) return 0
    pos = at + n
  }
  return 1
}

function check_block(    file, i) {
  furthest = 0
  if (lines == 0) {
    printf "%s:%d: this block is empty\n", page, begin
    bad = 1
    return
  }
  for (file = 1; file <= file_count; file++) {
    if (try_file(file)) return
  }
  bad = 1
  printf "%s:%d: this block is in none of the sources; the closest is %s. The first line that differs is marked:\n", \
    page, begin, furthest_file
  for (i = 1; i <= lines; i++) printf "%s %s\n", i == furthest ? ">" : " ", block[i]
}
