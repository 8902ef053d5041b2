package io.nodekeeper.agent.stats.signals;

import io.nodekeeper.agent.kernel.MountTable;
import io.nodekeeper.api.KubeTime;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** Names signals when they become late, and again when they are measured. Confined to its loop. */
public final class LateSignals {
    private final Consumer<SignalEvent> events;
    /** By name; bounded by the number of signals. */
    private final Map<String, LateSignal> named = new HashMap<>();

    public LateSignals(Consumer<SignalEvent> events) {
        this.events = events;
    }

    /** Whether {@code late} has a signal that was not named yet. */
    public boolean hasNew(List<LateSignal> late) {
        return late.stream().anyMatch(signal -> !named.containsKey(signal.signal()));
    }

    /** Names those of {@code late} that were not named, with the mount in {@code mounts} that they wait for. */
    public void name(List<LateSignal> late, MountTable mounts) {
        for (LateSignal signal : late) {
            if (named.putIfAbsent(signal.signal(), signal) == null) {
                events.accept(new SignalEvent(true, SignalEvent.LATE, text(signal, mounts)));
            }
        }
    }

    /** Says which of the named signals are no longer in {@code late}. */
    public void ended(List<LateSignal> late) {
        Set<String> still = Set.copyOf(late.stream().map(LateSignal::signal).toList());
        named.values().removeIf(signal -> {
            boolean ended = !still.contains(signal.signal());
            if (ended) {
                events.accept(new SignalEvent(
                        false,
                        SignalEvent.MEASURED,
                        "the signal " + signal.signal() + " is measured again; it was not since "
                                + KubeTime.format(signal.since())));
            }
            return ended;
        });
    }

    /** Name of the signal → seconds since it was last measured. */
    public static Map<String, Double> ages(List<LateSignal> late, long nowNanos) {
        Map<String, Double> ages = new LinkedHashMap<>();
        late.forEach(signal -> ages.put(signal.signal(), (nowNanos - signal.sinceNanos()) / 1e9));
        return ages;
    }

    private static String text(LateSignal signal, MountTable mounts) {
        String mount = signal.path()
                .flatMap(path -> mounts.of(path.toString()))
                .map(found -> "; the file system is mounted at " + found.point() + " from " + found.source() + ", type "
                        + found.type())
                .orElse("");
        return "the signal " + signal.signal() + " has not been measured since " + KubeTime.format(signal.since())
                + ": " + signal.error() + mount + "; its last value is shown with its old time";
    }
}
