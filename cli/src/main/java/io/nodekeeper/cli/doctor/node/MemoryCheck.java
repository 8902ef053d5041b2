package io.nodekeeper.cli.doctor.node;

import io.nodekeeper.agent.host.LinuxHost;
import java.util.concurrent.CompletableFuture;

/** Memory that is not part of the working set, as the kubelet counts it for MemoryPressure. */
final class MemoryCheck implements NodeCheck {
    /** Kubernetes' default of {@code memory.available}: 100 MiB. */
    static final long LIMIT = 100L << 20;

    private final LinuxHost host;

    MemoryCheck(LinuxHost host) {
        this.host = host;
    }

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public CompletableFuture<CheckResult> run() {
        return host.machine().thenCombine(host.workingSet(), (machine, used) -> judge(machine.memoryBytes(), used));
    }

    /** The result if {@code used} of {@code all} bytes are in the working set. */
    static CheckResult judge(long all, long used) {
        long left = Math.max(0, all - used);
        String text = (left >> 20) + " MiB of " + (all >> 20) + " MiB are not in use";
        return left >= LIMIT
                ? CheckResult.ok("memory", text)
                : CheckResult.warning(
                        "memory",
                        text + "; expected at least " + (LIMIT >> 20) + " MiB, else pods are evicted (MemoryPressure)",
                        "ps -eo pid,rss,comm --sort=-rss | head");
    }
}
