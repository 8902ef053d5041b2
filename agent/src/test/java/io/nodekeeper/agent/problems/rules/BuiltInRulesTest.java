package io.nodekeeper.agent.problems.rules;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Messages of real kernels. */
class BuiltInRulesTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            OOMKilling | Out of memory: Killed process 1234 (java) total-vm:8123456kB, anon-rss:4012345kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:9000kB oom_score_adj:0
            OOMKilling | Memory cgroup out of memory: Killed process 77 (stress-ng (x)) total-vm:1000kB, anon-rss:900kB, file-rss:4kB, shmem-rss:0kB
            TaskHung | INFO: task kworker/u8:3:4711 blocked for more than 120 seconds.
            TaskHung | INFO: task jbd2/sda1-8:300 blocked in I/O wait for more than 122 seconds.
            SoftLockup | watchdog: BUG: soft lockup - CPU#3 stuck for 26s! [migration/3:24]
            RCUStall | rcu: INFO: rcu_sched self-detected stall on CPU
            RCUStall | rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
            KernelOops | BUG: unable to handle page fault for address: ffffc90000000000
            KernelOops | BUG: kernel NULL pointer dereference, address: 0000000000000008
            KernelOops | Oops: 0002 [#1] PREEMPT SMP NOPTI
            FilesystemError | EXT4-fs error (device loop3): trigger_test_error:130: comm bash: test
            FilesystemError | XFS (sdb1): User initiated shutdown received. Shutting down filesystem
            FilesystemError | BTRFS info (device sda1 state E): forced readonly
            IOError | Buffer I/O error on dev sdb1, logical block 1, lost async page write
            IOError | I/O error, dev nvme0n1, sector 42 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2
            NFSServerNotResponding | nfs: server 10.0.0.5 not responding, still trying
            NFSServerNotResponding | nfs: server filer not responding, timed out
            UnregisterNetDevice | unregister_netdevice: waiting for veth12 to become free. Usage count = 1
            HardwareError | mce: [Hardware Error]: Machine check events logged
            HardwareError | EDAC MC0: 1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0
            """)
    void reportsProblems(String reason, String message) {
        assertThat(new LogMatcher(BuiltInRules.FILE).next(message))
                .extracting(LogMatcher.Match::reason)
                .containsExactly(reason);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            veth617b0652: entered promiscuous mode
            EXT4-fs (loop3): mounted filesystem with ordered data mode
            EXT4-fs (loop3): re-mounted r/w.
            nfs: server 10.0.0.5 OK
            rcu: Hierarchical RCU implementation.
            Kernel command line: hung_task_panic=0 oops=panic
            oom_reaper: reaped process 1234 (java), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB
            """)
    void reportsNothingElse(String message) {
        assertThat(new LogMatcher(BuiltInRules.FILE).next(message)).isEmpty();
    }

    @Test
    void theBufferHasOneMessage() {
        LogMatcher matcher = new LogMatcher(BuiltInRules.FILE);
        matcher.next("nfs: server a not responding, still trying");

        assertThat(matcher.next("a harmless message")).isEmpty();
    }
}
