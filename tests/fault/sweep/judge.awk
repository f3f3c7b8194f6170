# Was every failure noticed? Reads the list of what was expected, then what the clean runs said, then the runs; see
# sweep.sh. Prints what is wrong, and ends with 1 if anything is.
function wrong(what) {
  printf "%s: %s; it said\n%s", name, what, text
  failed = 1
}

# How many of the objects that a finding names stay alive because of what was failed; negative: there are others too.
function staying(objects, stays,    count, others) {
  while (match(objects, /(device list|[A-Za-z]+) #[0-9]+/)) {
    if (index("," stays ",", "," substr(objects, RSTART, RLENGTH) ",") > 0) ++count
    else others = 1
    objects = substr(objects, RSTART + RLENGTH)
  }
  return others ? -count : count
}

# Whether it comes from a destroy verb that was made to fail: nothing else stays alive, or in use; but a QP that stays still
# has the memory of its requests.
function is_expected(id, objects, stays,    count) {
  count = staying(objects, stays)
  return id ~ /^(leak|busy|closed-with-children)$/ && count > 0 || id == "dereg-in-flight" && stays ~ /^(.*,)?QP #/ && count != 0
}

function judge_findings(    lines, count, i, id, where, objects) {
  count = split(text, lines, "\n")
  for (i = 1; i <= count; ++i) {
    if (lines[i] !~ /^verbs-check: \[[^]]*\]/ || lines[i] ~ / came [0-9]+ times at /) continue
    id = lines[i]
    sub(/^verbs-check: \[/, "", id)
    sub(/\].*/, "", id)
    where = lines[i + 1] ~ /where:/ ? lines[i + 1] : ""
    objects = lines[i] lines[i + 1] lines[i + 2]
    gsub(/\(made in [^)]*\)/, "", objects)
    if (clean) allowed[program, side, id, where] = 1
    else if (!((program, side, id, where) in allowed) &&
             !is_expected(id, objects, stays[name]))
      wrong("the finding " id " was not expected")
  }
}

function judge(    item) {
  if (name == "") return
  runs += 1
  item = name
  if (verb[name] == "") sub(/:[0-9]+$/, "", item) # one of the polls
  program = programs[item]; side = sides[item]; stays[name] = stays[item]
  if (clean) {
    if (status != 0 || peer !~ /^[-0]$/) wrong("a run without failures ends with " status ", its peer with " peer)
    judge_findings()
    return
  }
  if (status != 1) wrong("exit status " status ", expected 1")
  said = verb[item] == "ibv_poll_cq" ? "ibv_poll_cq: it returned -" number[item] ":" : verb[item] ": " code[item] " ("
  if (index(text, "error: " said) == 0) wrong("no error begins with '" said "'")
  if (traced[item] == "trace" &&
      text !~ "trace:[^\n]*\"verb\":\"" verb[item] "\"[^\n]*\"result\":" number[item] ",")
    wrong("the trace has no " verb[item] " with the result " number[item])
  if (side != "alone") {
    if (needs[item] == "needs" && peer != 1 || needs[item] == "done" && peer != 0 || needs[item] == "may" && peer !~ /^[01]$/)
      wrong("the peer, which " needs[item] ", ends with " peer)
  }
  judge_findings()
}

BEGIN { FS = "\t" }
FNR == 1 { judge(); name = ""; ++file }
file == 1 { # name, program, side, verb, code, number, trace, stays, needs
  programs[$1] = $2; sides[$1] = $3; verb[$1] = $4; code[$1] = $5; number[$1] = $6; traced[$1] = $7; stays[$1] = $8; needs[$1] = $9
  next
}
/^=== / {
  judge()
  clean = file == 2
  split($0, words, " ")
  name = words[2]; status = words[3]; peer = words[4]; text = ""
  next
}
{ text = text $0 "\n" }
END {
  judge()
  printf "%d runs\n", runs
  exit failed
}
