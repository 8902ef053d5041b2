package io.nodekeeper.agent.culprit.diagnosis;

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
    /** The most starts to remember: a runtime that was restarted this often is known to restart. */
    private static final int MOST_STARTS = 32;

    /** An observation of a process: since when, and in how many successive scans. */
    private record First(long at, int looks) {}

    private Map<String, First> seen = new HashMap<>();
    private Map<String, CpuPeriods> periods = new HashMap<>();
    private final ActivityHistory activities = new ActivityHistory();
    private Set<String> owned = new HashSet<>();
    private final ArrayDeque<Long> starts = new ArrayDeque<>();
    private String lastRuntime = "";
    private boolean stable;

    /** Adds the scan at {@code now}, monotonic ns, and returns the runtime's own processes with their history. */
    public List<ObservedProcess> look(List<ProcessInfo> processes, Set<String> ids, long now) {
        Map<String, First> next = new HashMap<>();
        Map<String, CpuPeriods> nextPeriods = new HashMap<>();
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
            Optional<CpuPeriods> before = Optional.ofNullable(periods.get(process));
            info.cpu().ifPresent(cpu -> nextPeriods.put(process, cpu));
            sightings.add(new ObservedProcess(
                    info,
                    lasting(info, 'T', now, next),
                    lasting(info, 'Z', now, next),
                    stuck,
                    before.flatMap(old -> info.cpu().flatMap(cpu -> share(old, cpu))),
                    waits,
                    activities.look(process, info.work(), now),
                    first(process, now, next).looks));
        }
        activities.finish();
        restarts(processes, now);
        seen = next;
        periods = nextPeriods;
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

    private static Optional<Double> share(CpuPeriods before, CpuPeriods now) {
        long passed = now.periods() - before.periods();
        return passed > 0 ? Optional.of((double) (now.throttled() - before.throttled()) / passed) : Optional.empty();
    }
}
