package io.nodekeeper.agent.pleg;

import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A PLEG over a fake runtime in virtual time; records its events and metrics. */
final class PlegFixture implements PlegMetrics {
    static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    static final RuntimeCallException BROKEN =
            new RuntimeCallException("ContainerStatus", RuntimeCallException.Code.OTHER, "broken");

    final VirtualTime time = new VirtualTime(START);
    final VirtualTime.VirtualLoop loop = time.loop("agent");
    final FakeRuntime runtime = new FakeRuntime(loop);
    final List<PodEvent> events = new ArrayList<>();
    final List<Duration> relists = new ArrayList<>();
    final List<Duration> intervals = new ArrayList<>();
    final List<Duration> podRelists = new ArrayList<>();
    final List<Instant> lastSeen = new ArrayList<>();
    int discarded;
    int runningPods;
    int stuck;
    Map<ContainerState, Integer> containers = new HashMap<>();
    final Pleg pleg;

    PlegFixture(PlegConfig config) {
        pleg = new Pleg(runtime, loop, config, this);
        pleg.listen(events::add);
    }

    static PlegFixture parallel() {
        return new PlegFixture(PlegConfig.PARALLEL);
    }

    void advanceMillis(long millis) {
        time.advance(Duration.ofMillis(millis));
    }

    void advanceSeconds(long seconds) {
        time.advance(Duration.ofSeconds(seconds));
    }

    /** Events since the last call, such as {@code DIED c1}, without those of sandboxes. */
    List<String> containerEvents() {
        List<String> told = events.stream()
                .filter(event -> !event.id().startsWith("s-"))
                .map(event -> event.type() + " " + event.id())
                .toList();
        events.clear();
        return told;
    }

    /** How often the health changed within {@code duration}, checked every second. */
    int flips(Duration duration) {
        int flips = 0;
        boolean before = pleg.unhealthy().isEmpty();
        for (long second = 0; second < duration.toSeconds(); second++) {
            advanceSeconds(1);
            boolean healthy = pleg.unhealthy().isEmpty();
            flips += healthy != before ? 1 : 0;
            before = healthy;
        }
        return flips;
    }

    @Override
    public void relistEnded(Duration duration) {
        relists.add(duration);
    }

    @Override
    public void relistInterval(Duration interval) {
        intervals.add(interval);
    }

    @Override
    public void lastSeen(Instant instant) {
        lastSeen.add(instant);
    }

    @Override
    public void discarded() {
        discarded++;
    }

    @Override
    public void podRelistEnded(Duration duration) {
        podRelists.add(duration);
    }

    @Override
    public void running(int pods, Map<ContainerState, Integer> byState) {
        runningPods = pods;
        containers = byState;
    }

    @Override
    public void stuck(int pods) {
        stuck = pods;
    }
}
