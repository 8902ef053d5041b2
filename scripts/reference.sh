# Says how fast the machine is while a benchmark runs; to be sourced. Needs $JDK.

# reference_loop WHEN: prints the time of a fixed loop.
reference_loop() {
  "$JDK/bin/java" bench/src/main/java/io/nodekeeper/bench/load/ReferenceLoop.java "$1"
}

# reference_before ARGUMENT...: the same before a benchmark with these arguments, unless they only ask for its help.
reference_before() {
  case " $* " in *" --help "*) ;; *) reference_loop before ;; esac
}

# with_reference COMMAND...: the reference loop, COMMAND, and the loop again.
with_reference() {
  reference_loop before
  "$@" || return
  reference_loop after
}
