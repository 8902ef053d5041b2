# Says how fast the machine is while a benchmark runs; to be sourced. Needs $JDK.

# reference_loop WHEN: prints the time of a fixed loop.
reference_loop() {
  "$JDK/bin/java" scripts/ReferenceLoop.java "$1"
}

# with_reference COMMAND...: the reference loop, COMMAND, and the loop again.
with_reference() {
  reference_loop before
  "$@" || return
  reference_loop after
}
