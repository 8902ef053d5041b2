package io.nodekeeper.agent.culprit.history;

import io.nodekeeper.agent.culprit.diagnosis.HangThresholds;
import io.nodekeeper.agent.culprit.diagnosis.ObservedProcess;
import io.nodekeeper.agent.culprit.load.ActivityHistory;
import io.nodekeeper.agent.culprit.scan.CpuPeriods;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.agent.culprit.scan.Stall;
import io.nodekeeper.agent.culprit.scan.Wait;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Compares successive scans to distinguish lasting states from short ones. A state that a scan does not show is forgotten.
 * Not thread-safe.
 */
public final class ProcessHistory {
    /** The time over which restarts are counted: longer than the pauses of systemd and of a CrashLoopBackOff. */
    private static final Duration RESTARTS = Duration.ofMinutes(10);
    /** The time after which a runtime counts as stable: six times systemd's pause for containerd (5 s). */
    private static final Duration STABLE = Duration.ofSeconds(30);
    /** The fewest periods that show a share: 1 s. A runtime that works for a moment can be throttled in one of two. */
    private static final int PERIODS = 10;
    /** A thread in state D that does not run for so long does not count as one whose disk responds. */
    private static final Duration STALLED = HangThresholds.AGENT.stalled();
    /** The scans in a row that must miss a wait for a disk before it counts as over. */
    private static final int MISSED = 4;
    /** The most starts to remember: a runtime that was restarted this often is known to restart. */
    private static final int MOST_STARTS = 32;

    /** An observation of a process: since when, and in how many successive scans. */
    private record First(long at, int looks) {}

    /**
     * A quota's use over some periods.
     *
     * @param from the counters that the next share is measured from
     * @param share the newest share of throttled periods
     */
    private record Quota(CpuPeriods from, Optional<Double> share) {}

    /** How long a process may have waited for disks that respond, and how many scans in a row have not shown it since. */
    private record OnDisk(Duration until, int missed) {}

    // What follows is of the last scan only, so it has at most a few entries for each process.
    private Map<String, First> seen = new HashMap<>();
    private Map<String, Quota> quotas = new HashMap<>();
    private Map<String, OnDisk> disks = new HashMap<>();
    /** When each shim began its newest child, monotonic ns. */
    private Map<String, Long> begun = new HashMap<>();

    private final ActivityHistory activities = new ActivityHistory();
    private Set<String> owned = new HashSet<>();
    private final ArrayDeque<Long> starts = new ArrayDeque<>();
    private String lastRuntime = "";
    private boolean stable;

    /** Adds the scan at {@code now}, monotonic ns, and returns the runtime's own processes with their history. */
    public List<ObservedProcess> look(List<ProcessInfo> processes, Set<String> ids, long now) {
        Map<String, First> next = new HashMap<>();
        Map<String, Quota> nextQuotas = new HashMap<>();
        Map<String, OnDisk> nextDisks = new HashMap<>();
        Map<String, Long> nextBegun = new HashMap<>();
        Map<Integer, Long> children = newestChildren(processes, now);
        Set<String> nextOwned = new HashSet<>();
        List<ObservedProcess> sightings = new ArrayList<>();
        for (ProcessInfo info : processes) {
            String process = info.ref().identity();
            // A process that was a child of the runtime still belongs to it after the runtime dies.
            if (!info.own() && !owned.contains(process) && info.ids().stream().noneMatch(ids::contains)) {
                continue;
            }
            nextOwned.add(process);
            List<ObservedProcess.Stuck> stuck = new ArrayList<>();
            for (Stall stall : info.stalls()) {
                First first = first(process + " D " + stall.thread() + " " + stall.switches(), now, next);
                if (first.looks > 1) {
                    stuck.add(new ObservedProcess.Stuck(stall, Duration.ofNanos(now - first.at), first.looks));
                }
            }
            List<ObservedProcess.Waiting> waits = new ArrayList<>();
            for (Wait wait : info.waits()) {
                First first = first(process + " waits for " + wait, now, next);
                if (first.looks > 1) {
                    waits.add(new ObservedProcess.Waiting(wait, Duration.ofNanos(now - first.at)));
                }
            }
            Optional<Quota> quota = info.cpu().map(cpu -> quota(Optional.ofNullable(quotas.get(process)), cpu));
            quota.ifPresent(known -> nextQuotas.put(process, known));
            Optional<OnDisk> disk = onDisk(Optional.ofNullable(disks.get(process)), info, stuck);
            disk.ifPresent(known -> nextDisks.put(process, known));
            Optional<Long> child = info.role() != ProcessRole.SHIM
                    ? Optional.empty()
                    : newer(
                            Optional.ofNullable(children.get(info.ref().pid())),
                            Optional.ofNullable(begun.get(process)));
            child.ifPresent(at -> nextBegun.put(process, at));
            sightings.add(new ObservedProcess(
                    info,
                    lasting(info, 'T', now, next),
                    lasting(info, 'Z', now, next),
                    stuck,
                    quota.flatMap(Quota::share),
                    waits,
                    activities.look(process, info.work(), now),
                    info.examined() ? first(process + " examined", now, next).looks : 0,
                    disk.map(OnDisk::until).orElse(Duration.ZERO),
                    child.map(at -> Duration.ofNanos(now - at))));
        }
        activities.finish();
        restarts(processes, now);
        seen = next;
        quotas = nextQuotas;
        disks = nextDisks;
        begun = nextBegun;
        owned = nextOwned;
        return sightings;
    }

    /**
     * How often another process than before was found to be the runtime, within {@link #RESTARTS}. The first one does
     * not count, so a runtime that was started once has no restart. A runtime that has stayed for {@link #STABLE} does
     * not restart any more.
     */
    public int restarts() {
        return stable ? 0 : Math.max(0, starts.size() - 1);
    }

    private void restarts(List<ProcessInfo> processes, long now) {
        Set<String> runtimes = new HashSet<>();
        processes.stream()
                .filter(info -> info.role() == ProcessRole.RUNTIME)
                .map(info -> info.ref().identity())
                .forEach(runtimes::add);
        for (String runtime : runtimes) {
            if (!runtime.equals(lastRuntime) && runtimes.size() == 1) {
                lastRuntime = runtime;
                starts.addLast(now);
            }
        }
        stable = !starts.isEmpty() && now - starts.getLast() >= STABLE.toNanos();
        while (starts.size() > MOST_STARTS || starts.size() > 1 && now - starts.getFirst() > RESTARTS.toNanos()) {
            starts.removeFirst();
        }
    }

    /** When the newest child of each process began. */
    private static Map<Integer, Long> newestChildren(List<ProcessInfo> processes, long now) {
        Map<Integer, Long> newest = new HashMap<>();
        processes.forEach(
                child -> newest.merge(child.parent(), now - child.age().toNanos(), (a, b) -> a - b > 0 ? a : b));
        return newest;
    }

    private static Optional<Long> newer(Optional<Long> a, Optional<Long> b) {
        return a.filter(first -> b.filter(second -> second - first > 0).isEmpty())
                .or(() -> b);
    }

    private Optional<Duration> lasting(ProcessInfo info, char state, long now, Map<String, First> next) {
        if (info.state() != state) {
            return Optional.empty();
        }
        First first = first(info.ref().identity() + " " + state, now, next);
        return first.looks > 1 ? Optional.of(Duration.ofNanos(now - first.at)) : Optional.empty();
    }

    private First first(String what, long now, Map<String, First> next) {
        First before = seen.get(what);
        First first = before == null ? new First(now, 1) : new First(before.at, before.looks + 1);
        next.put(what, first);
        return first;
    }

    private static Quota quota(Optional<Quota> known, CpuPeriods now) {
        if (known.isEmpty()) {
            return new Quota(now, Optional.empty());
        }
        CpuPeriods from = known.get().from;
        long passed = now.periods() - from.periods();
        return passed < PERIODS
                ? known.get()
                : new Quota(now, Optional.of((double) (now.throttled() - from.throttled()) / passed));
    }

    /**
     * Whether a process waits for a disk that responds: a thread is in state D, and none has been there for long. A scan sees
     * one moment, and a working process shows moments of work; so it has waited all its life until some scans in a row
     * miss it. The freezer of cgroup version 1 shows state D, too, and is no disk.
     */
    private static Optional<OnDisk> onDisk(
            Optional<OnDisk> before, ProcessInfo info, List<ObservedProcess.Stuck> stuck) {
        boolean frozen = info.waits().stream().anyMatch(wait -> wait instanceof Wait.Frozen);
        boolean waits = !info.stalls().isEmpty()
                && !frozen
                && stuck.stream().allMatch(thread -> thread.lasted().compareTo(STALLED) < 0);
        if (waits) {
            return Optional.of(new OnDisk(info.age(), 0));
        }
        return before.map(known ->
                new OnDisk(known.missed + 1 < MISSED ? info.age() : known.until, Math.min(known.missed + 1, MISSED)));
    }
}
