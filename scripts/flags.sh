# The flags for Java of each command; to be sourced. The script nodekeeper, the image and the Debian package use them.

# set_flags COMMAND: sets flags. No flag has a path, which may have blanks. Those of all commands: small, quick to start.
# The serial collector needs no threads of its own.
set_flags() {
  flags="-XX:+UseSerialGC -XX:+UseCompactObjectHeaders -XX:+ExitOnOutOfMemoryError --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow"
  # Netty samples buffers for leaks, which its tests are for; each sample costs a stack trace.
  flags="$flags -Dio.netty.leakDetection.level=disabled"
  case ${1:-} in
    # The archive is mapped where it was made for, so that its pages stay shared with the file. Most of an agent's code runs
    # once in a second or in ten, and would be interpreted for an hour: it is compiled after a tenth of the usual number of calls.
    # The JVM's own threads look five times a second for locks to free and tables to clean: once in 10 s is enough for so few.
    agent) flags="$flags -XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=0.1 -Xss512k -XX:MaxHeapFreeRatio=20 -XX:MinHeapFreeRatio=10 -Xms8m -Xmn4m -XX:SurvivorRatio=4 -Xmx128m -XX:TrimNativeHeapInterval=60000 -XX:ReservedCodeCacheSize=24m -XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0 -XX:AsyncDeflationInterval=10000 -XX:ServiceThreadCleanupInterval=10000" ;;
    certs | why | status | observe-report | completion | doctor | -* | '') flags="$flags -XX:TieredStopAtLevel=1 -Xmx128m" ;;
    # A small heap that grows with the fleet. Without these the JVM begins with a 64th of the machine's memory, and a third of
    # that is filled before anything is collected. The trial run teaches it the classes of verdicts; what the compilers learned there
    # makes each event dearer by a third for good (decision 178).
    controller) flags="$flags -Xms32m -XX:NewSize=12m -XX:NewRatio=3 -XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=20 -XX:-ShrinkHeapInSteps -Xmx512m -XX:TrimNativeHeapInterval=60000 -XX:+UnlockDiagnosticVMOptions -XX:-AOTReplayTraining -XX:ArchiveRelocationMode=0" ;;
    # An API server, a controller and an agent in one process, for a small cluster: only the quick compiler, because the thorough
    # one would take a quarter of the processor time of the start, and pays under load only (decision 168).
    up) flags="$flags -XX:TieredStopAtLevel=1 -Xmx768m -XX:-ShrinkHeapInSteps" ;;
    # The run in which quick starts are learned, for all commands but the agent: with both compilers, as most of them have.
    trial) flags="$flags -Xmx768m" ;;
    # As much as an API server may take: they hold a cluster, too.
    hollow-nodes | simulate | tune | replay) flags="$flags -Xmx1g" ;;
    # What outlives one collection stays for minutes: it is not to be copied twice. A young generation of 160m collects
    # less often, which is worth it from some thousand requests a second on.
    # A full heap and the memory beside it stay below 1.2 GB together (HostileIT).
    # What a collection of the whole heap frees (HeapPace) is given back at once, not in four steps, and all of it is freed: the JVM
    # would leave 5 % of garbage where it is. What the database frees beside the heap is given back each 10 s.
    # What the compilers learned in the trial run, which was idle, would make them slower under load for good.
    # The thorough compiler begins at four times the JVM's thresholds: a start reads 100,000 rows before anyone is served.
    apiserver) flags="$flags -XX:Tier4InvocationThreshold=20000 -XX:Tier4MinInvocationThreshold=2400 -XX:Tier4CompileThreshold=60000 -XX:Tier4BackEdgeThreshold=160000 -XX:+UnlockDiagnosticVMOptions -XX:-AOTReplayTraining -Xms64m -Xmn32m -Xmx800m -XX:MetaspaceSize=64m -XX:MaxTenuringThreshold=1 -XX:MinHeapFreeRatio=15 -XX:MaxHeapFreeRatio=30 -XX:-ShrinkHeapInSteps -XX:MarkSweepDeadRatio=0 -XX:TrimNativeHeapInterval=10000 -XX:ArchiveRelocationMode=0 -XX:+UseTransparentHugePages" ;;
    # All other commands have a limit, too: without one the heap grows to a quarter of the machine.
    *) flags="$flags -Xmx256m" ;;
  esac
}
