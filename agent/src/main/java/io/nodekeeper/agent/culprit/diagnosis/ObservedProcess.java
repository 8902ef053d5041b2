package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.load.Activity;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.agent.culprit.scan.Stall;
import io.nodekeeper.agent.culprit.scan.Wait;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A process with its history over earlier scans. Immutable.
 *
 * @param stopped how long it has been seen in state T; empty if it is not in that state, or was seen in it only once
 * @param zombie the same for state Z
 * @param stuck its threads in state D that have not run since an earlier look
 * @param throttled the share of its cgroup's processor periods since the last look that were cut short, 0 to 1
 * @param waits what it already waited for at an earlier look
 * @param activity when it was last busy; empty if it never was, as far as the scans show
 * @param looks how many scans in a row have examined it to the end, with this one; 0 if this one did not
 * @param onDisk the part of its life that it may have spent waiting for disks that respond, as far as the scans show
 * @param begun the time since it began its newest child, as far as the scans show; empty if it has had none, and except for shims
 */
public record ObservedProcess(
        ProcessInfo info,
        Optional<Duration> stopped,
        Optional<Duration> zombie,
        List<Stuck> stuck,
        Optional<Double> throttled,
        List<Waiting> waits,
        Optional<Activity> activity,
        int looks,
        Duration onDisk,
        Optional<Duration> begun) {

    /** A thread that makes no progress: for how long, and over how many scans. */
    public record Stuck(Stall stall, Duration lasted, int looks) {}

    /** A wait, and for how long it has been seen. */
    public record Waiting(Wait on, Duration lasted) {}

    /** How long a tracer or freezer has held it, which stops all its threads. */
    Optional<Waiting> held() {
        return waits.stream()
                .filter(waiting -> waiting.on() instanceof Wait.Traced || waiting.on() instanceof Wait.Frozen)
                .findFirst();
    }

    /** Whether nothing about it can be the cause or the sign of a fault. What has lasted over scans is in the newest one, too. */
    boolean isCalm() {
        return switch (info.role()) {
            case RUNTIME, SHIM, CONTAINER ->
                (info.state() == 'S' || info.state() == 'R')
                        && info.stalls().isEmpty()
                        && info.waits().isEmpty()
                        && info.limits().isEmpty();
            case OCI_RUNTIME, CNI_PLUGIN, HELPER, OUTSIDER -> false;
        };
    }

    /** Whether it is a shim of a pod; the shims of other clients of containerd are in other namespaces. */
    public boolean isPodShim() {
        return info.role() == ProcessRole.SHIM
                && info.state() != 'Z'
                && info.ref().command().contains("-namespace k8s.io ");
    }

    /** Whether the newest scan saw it frozen, however briefly: state D then says nothing about a disk. */
    boolean frozen() {
        return info.waits().stream().anyMatch(wait -> wait instanceof Wait.Frozen);
    }
}
