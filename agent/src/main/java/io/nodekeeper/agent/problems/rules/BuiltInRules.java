package io.nodekeeper.agent.problems.rules;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The rules that apply without a rule file: temporary problems in the messages of Linux 4.19 to 6.18. */
public final class BuiltInRules {
    /** The reason for a task in uninterruptible sleep for longer than {@code kernel.hung_task_timeout_secs}. */
    public static final String TASK_HUNG = "TaskHung";
    /** The reason for a processor that runs kernel code without a pause. */
    public static final String SOFT_LOCKUP = "SoftLockup";
    /** The reason for a processor on which RCU makes no progress. */
    public static final String RCU_STALL = "RCUStall";

    /** The rules. */
    public static final RuleFile FILE = new RuleFile(
            "kernel-monitor",
            Path.of("/dev/kmsg"),
            Duration.ofMinutes(5),
            1,
            List.of(),
            List.of(
                    rule("OOMKilling", "Killed process \\d+ \\(.+\\).* total-vm:\\d+kB.*"),
                    rule(TASK_HUNG, "task .+:\\d+ blocked (?:in I/O wait )?for more than \\d+ seconds.*"),
                    rule(SOFT_LOCKUP, "soft lockup - CPU#\\d+ stuck for \\d+s!.*"),
                    rule(RCU_STALL, "rcu.*(?:self-detected stall|detected stalls?) on CPU.*"),
                    rule(
                            "KernelOops",
                            "(?:BUG: unable to handle|BUG: kernel NULL pointer|Oops: |general protection).*"),
                    rule(
                            "FilesystemError",
                            "(?:EXT4-fs error|XFS .*[Ss]hutting down filesystem|BTRFS.* forced readonly).*"),
                    rule("IOError", "(?:Buffer I/O error|I/O error, dev) .*"),
                    rule("NFSServerNotResponding", "nfs: server .+ not responding, .*"),
                    rule("UnregisterNetDevice", "unregister_netdevice: waiting for .+ to become free.*"),
                    rule("HardwareError", "(?:\\[Hardware Error\\]: |EDAC .* [CU]E ).*")));

    private BuiltInRules() {}

    private static Rule rule(String reason, String pattern) {
        return new Rule(Optional.empty(), reason, RuleFileReader.compile(pattern));
    }
}
