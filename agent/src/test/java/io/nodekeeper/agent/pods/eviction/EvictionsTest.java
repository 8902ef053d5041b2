package io.nodekeeper.agent.pods.eviction;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.agent.eviction.EvictionSignal;
import io.nodekeeper.agent.eviction.Pressure;
import io.nodekeeper.agent.eviction.Shortage;
import io.nodekeeper.agent.eviction.Threshold;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.agent.stats.PodUse;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which pods end when the node is short of something, in virtual time. */
class EvictionsTest {
    private static final long MI = 1 << 20;
    private static final String CACHE = """
            {"name": "cache", "emptyDir": {"sizeLimit": "1Mi"}}""";

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final Map<String, Pod> active = new LinkedHashMap<>();
    private final List<String> ending = new ArrayList<>();
    private final List<String> evicted = new ArrayList<>();
    private final List<String> nodeEvents = new ArrayList<>();
    /** What the metrics got. */
    private final List<String> counted = new ArrayList<>();

    private final Map<String, PodUse> use = new HashMap<>();
    private final List<Boolean> reads = new ArrayList<>();
    private CompletableFuture<Map<String, PodUse>> answer = CompletableFuture.completedFuture(use);
    private Optional<CompletableFuture<Map<String, PodUse>>> diskAnswer = Optional.empty();
    private int measurements;
    private int reclaims;
    private Function<List<Shortage>, CompletableFuture<List<Shortage>>> reclaim = CompletableFuture::completedFuture;

    private final EvictablePods pods = new EvictablePods() {
        @Override
        public List<Pod> evictable() {
            return List.copyOf(active.values());
        }

        @Override
        public void evict(Pod pod, Duration grace, Wanted.Eviction why) {
            active.remove(pod.uid());
            ending.add(pod.uid());
            evicted.add(pod.name() + " " + grace.toSeconds() + "s " + why.reason() + ": " + why.message());
        }

        @Override
        public void underPressure(Set<Pressure> pressures) {}

        @Override
        public boolean isEnding(Pod pod) {
            return ending.contains(pod.uid());
        }
    };

    private final Evictions evictions = new Evictions(
            pods,
            shortages -> {
                reclaims++;
                return reclaim.apply(shortages);
            },
            disk -> {
                reads.add(disk);
                return disk ? diskAnswer.orElse(answer) : answer;
            },
            Duration.ofSeconds(20),
            nodeEvents::add,
            () -> measurements++,
            new EvictionMetrics() {
                @Override
                public void evicted(String signal) {
                    counted.add(signal);
                }

                @Override
                public void statsAge(EvictionSignal signal, Duration age) {
                    counted.add(signal + " measured " + age.toMillis() + " ms ago");
                }
            },
            loop);

    private void pod(String name, long priority, String resources, long memory) {
        pod(
                name,
                priority,
                resources,
                "",
                new PodUse(
                        OptionalLong.of(memory * MI),
                        OptionalLong.of(memory),
                        Map.of("app", new PodUse.ContainerUse(OptionalLong.of(memory * MI), memory * MI, 0)),
                        Map.of(),
                        0,
                        memory,
                        0,
                        false));
    }

    private void pod(String name, long priority, String resources, String volumes, PodUse used) {
        active.put(name, new Pod(Json.parseObject("""
                {"metadata": {"name": "%1$s", "namespace": "shop", "uid": "%1$s"},
                 "spec": {"priority": %2$d, "volumes": [%4$s],
                   "containers": [{"name": "app", "image": "i", "resources": {%3$s}}]}}
                """.formatted(name, priority, resources, volumes))));
        use.put(name, used);
    }

    private Shortage shortage(EvictionSignal signal, String limit, long available) {
        Threshold threshold = new AgentConfigBuilder("n1")
                .evictionHard(Map.of(signal.toString(), limit))
                .build()
                .thresholds()
                .getFirst();
        return new Shortage(
                threshold, new Level(available, 1L << 40), loop.clock().nanoTime());
    }

    private Shortage memory() {
        return shortage(EvictionSignal.MEMORY_AVAILABLE, "100Mi", 50 * MI);
    }

    private void round(Shortage... shortages) {
        loop.execute(() -> evictions.measured(List.of(shortages), Set.of()));
        time.advance(Duration.ofMillis(1));
    }

    private List<String> order(Shortage shortage) {
        List<String> names = new ArrayList<>();
        PodRanking ranking = PodRanking.of(shortage, use);
        List<Pod> left = new ArrayList<>(active.values());
        for (var first = ranking.first(left); first.isPresent(); first = ranking.first(left)) {
            names.add(first.get().name());
            left.remove(first.get());
        }
        return names;
    }

    private static final String REQUEST = "\"requests\": {\"memory\": \"100Mi\", \"ephemeral-storage\": \"100Mi\"}";

    @Test
    void shouldRankByRequestThenPriorityThenUse() {
        pod("within", 0, REQUEST, 90);
        pod("a-little", 0, REQUEST, 110);
        pod("much", 0, REQUEST, 500);
        pod("important", 10, "", 5_000);
        pod("unknown", 5, REQUEST, 1);
        use.remove("unknown");

        List<String> expected = List.of("much", "a-little", "unknown", "important", "within");
        assertThat(order(memory())).isEqualTo(expected);
        assertThat(order(shortage(EvictionSignal.NODEFS_AVAILABLE, "10%", 1))).isEqualTo(expected);
        // Nobody requests inodes or process ids.
        assertThat(order(shortage(EvictionSignal.NODEFS_INODES_FREE, "10%", 1)))
                .containsExactly("much", "a-little", "within", "unknown", "important");
        assertThat(order(shortage(EvictionSignal.PID_AVAILABLE, "10%", 1)))
                .containsExactly("much", "a-little", "within", "unknown", "important");
    }

    @Test
    @Tag("A99")
    void shouldEvictOnePodForTheFirstShortageAndTheNextOnceNothingOfItIsLeft() {
        pod("a", 0, "", 10);
        pod("b", 0, REQUEST, 200);

        round(memory(), shortage(EvictionSignal.NODEFS_AVAILABLE, "10%", 1));
        round(memory());

        assertThat(evicted)
                .containsExactly("b 1s Evicted: The node was low on resource: memory. Threshold quantity: 100Mi,"
                        + " available: 50Mi. Container app was using 200Mi, request is 100Mi, has larger consumption"
                        + " of memory. ");
        assertThat(nodeEvents).containsExactly("Attempting to reclaim memory");
        assertThat(measurements).isZero();

        time.advance(Duration.ofSeconds(5));
        ending.clear();
        time.advance(Duration.ofSeconds(1));
        assertThat(measurements).isEqualTo(1);
        round(memory());
        assertThat(evicted).hasSize(2);
    }

    @Test
    @Tag("A99")
    void shouldGoOnAfterFortySecondsIfAPodDoesNotEnd() {
        pod("stuck", 0, "", 20);
        pod("next", 0, "", 10);
        round(memory());

        // 10 s for its containers, and 30 s for the rest.
        time.advance(Duration.ofSeconds(39));
        round(memory());
        assertThat(evicted).hasSize(1);
        time.advance(Duration.ofSeconds(2));
        round(memory());

        assertThat(evicted).hasSize(2).last().asString().startsWith("next ");
    }

    @Test
    @Tag("A93")
    void shouldGiveAPodTimeIfTheThresholdIsSoft() {
        pod("slow", 0, "", 10);
        Threshold soft = new AgentConfigBuilder("n1")
                .evictionHard(Map.of("memory.available", "0%"))
                .evictionSoft(Map.of("memory.available", "1Gi"))
                .evictionSoftGracePeriod(Map.of("memory.available", "1m"))
                .build()
                .thresholds()
                .getFirst();

        round(new Shortage(soft, new Level(MI, 1L << 40), 0));

        // The smaller one of evictionMaxPodGracePeriod and the pod's own, 30 s.
        assertThat(evicted).hasSize(1).first().asString().startsWith("slow 20s ");
    }

    @Test
    void shouldReadNothingWhileNothingIsShortAndNoPodHasALimit() {
        pod("web", 0, REQUEST, 10);

        round();

        assertThat(reads).isEmpty();
    }

    @Test
    @Tag("A98")
    void shouldEvictNobodyWhileTheUseOfPodsIsNotKnown() {
        pod("web", 0, "", 10);
        answer = CompletableFuture.failedFuture(new IllegalStateException("no answer"));

        round(memory());
        assertThat(evicted).isEmpty();

        answer = CompletableFuture.completedFuture(use);
        round(memory());
        assertThat(evicted).hasSize(1);
    }

    @Test
    @Tag("A98")
    void shouldEvictForMemoryWhileTheDiskDoesNotAnswer() {
        // given a pod with a limit of disk, beyond which it was when the disk still answered
        pod("web", 0, "", 10);
        pod("limited", 0, "", """
                {"name": "cache", "emptyDir": {"sizeLimit": "1Mi"}}""", disk(0, Map.of("cache", 2 * MI)));
        diskAnswer = Optional.of(CompletableFuture.failedFuture(new IllegalStateException("no answer")));

        // when memory is short
        round(memory());

        // then the pod that uses most of it ends, and no limit of disk is judged by what is not known
        assertThat(reads).containsExactly(true, false);
        assertThat(evicted).hasSize(1).first().asString().contains("web 1s", "low on resource: memory");
    }

    @Test
    void shouldReadTheDiskOnlyIfItMatters() {
        pod("web", 0, "", 10);
        round(memory());
        pod("more", 0, "", 10);
        ending.clear();
        time.advance(Duration.ofSeconds(1));
        round(shortage(EvictionSignal.NODEFS_INODES_FREE, "5%", 1));

        assertThat(reads).containsExactly(false, true);
    }

    @Test
    void shouldEvictNobodyIfWhatNoPodNeedsWasEnough() {
        pod("web", 0, "", 10);
        reclaim = shortages -> CompletableFuture.completedFuture(List.of());

        round(shortage(EvictionSignal.NODEFS_AVAILABLE, "10%", 1));

        assertThat(reclaims).isEqualTo(1);
        assertThat(evicted).isEmpty();
        assertThat(reads).isEmpty();
        assertThat(nodeEvents).containsExactly("Attempting to reclaim ephemeral-storage");
    }

    @Test
    @Tag("A95")
    void shouldEvictForWhatIsMeasuredAfterThat() {
        pod("web", 0, "", 10);
        reclaim = shortages ->
                CompletableFuture.completedFuture(List.of(shortage(EvictionSignal.NODEFS_AVAILABLE, "10%", 5 * MI)));

        round(shortage(EvictionSignal.NODEFS_AVAILABLE, "10%", MI));

        assertThat(evicted).hasSize(1).first().asString().contains(", available: 5Mi. ");
        assertThat(nodeEvents).hasSize(1);
    }

    @Test
    @Tag("A98")
    void shouldEvictNobodyWhileTheNodeIsNotMeasuredAfterThat() {
        pod("web", 0, "", 10);
        reclaim = shortages -> new CompletableFuture<>();

        Shortage disk = shortage(EvictionSignal.NODEFS_AVAILABLE, "10%", 1);
        round(disk);
        time.advance(Duration.ofSeconds(39));
        round(disk);
        assertThat(evicted).isEmpty();
        assertThat(reclaims).isEqualTo(1);

        // It does not hang longer than 40 s, and then the next round has its turn.
        time.advance(Duration.ofSeconds(2));
        assertThat(evicted).isEmpty();
        reclaim = CompletableFuture::completedFuture;
        round(disk);
        assertThat(evicted).hasSize(1);
    }

    @Test
    void shouldEvictForMemoryWhileDiskIsBeingFreed() {
        pod("web", 0, "", 10);
        pod("next", 0, "", 5);
        CompletableFuture<List<Shortage>> freed = new CompletableFuture<>();
        reclaim = shortages -> freed;
        Shortage disk = shortage(EvictionSignal.NODEFS_AVAILABLE, "10%", 1);

        round(disk);
        round(memory(), disk);
        freed.complete(List.of(disk));
        time.advance(Duration.ofMillis(1));

        // One at a time: for disk the next round decides.
        assertThat(evicted).hasSize(1).first().asString().contains("low on resource: memory");
    }

    @Test
    void shouldEndPodsBeyondTheirLimitsOfDiskBeforeUnusedImagesAreRemoved() {
        // given a pod beyond its own limit, and a disk that is short
        pod("web", 0, "", 10);
        pod("limited", 0, "", CACHE, disk(0, Map.of("cache", 2 * MI)));
        Shortage disk = shortage(EvictionSignal.NODEFS_AVAILABLE, "10%", 1);

        // when the node is measured
        round(disk);

        // then that pod ends, and nothing else happens in this round
        assertThat(evicted)
                .containsExactly("limited 1s Evicted: Usage of EmptyDir volume \"cache\" exceeds the limit \"1Mi\". ");
        assertThat(reclaims).isZero();
        assertThat(nodeEvents).isEmpty();

        // and what no pod needs is removed in the next one, if the disk is still short
        ending.clear();
        time.advance(Duration.ofSeconds(1));
        round(disk);
        assertThat(reclaims).isEqualTo(1);
        assertThat(evicted).hasSize(2).last().asString().startsWith("web ");
    }

    @Test
    void shouldRemoveUnusedImagesIfNoPodIsBeyondItsLimitOfDisk() {
        pod("limited", 0, "", CACHE, disk(0, Map.of("cache", MI)));
        reclaim = shortages -> CompletableFuture.completedFuture(List.of());

        round(shortage(EvictionSignal.NODEFS_AVAILABLE, "10%", 1));

        assertThat(reclaims).isEqualTo(1);
        assertThat(evicted).isEmpty();
    }

    @Test
    void shouldRemoveUnusedImagesAlthoughTheUseOfPodsIsNotKnown() {
        pod("limited", 0, "", CACHE, disk(0, Map.of("cache", 2 * MI)));
        answer = CompletableFuture.failedFuture(new IllegalStateException("no answer"));

        round(shortage(EvictionSignal.NODEFS_AVAILABLE, "10%", 1));

        assertThat(reclaims).isEqualTo(1);
        assertThat(evicted).isEmpty();
    }

    @Test
    @Tag("A98")
    void shouldEndPodsBeyondTheirLimitsOfDiskAfterARemovalThatHangs() {
        // given a pod within its limit, a disk that is short, and a removal that hangs
        pod("web", 0, "", 10);
        pod("limited", 0, "", CACHE, disk(0, Map.of("cache", MI)));
        reclaim = shortages -> new CompletableFuture<>();
        round(shortage(EvictionSignal.NODEFS_AVAILABLE, "10%", 1));
        assertThat(reclaims).isEqualTo(1);

        // when the pod goes beyond its limit meanwhile
        use.put("limited", disk(0, Map.of("cache", 2 * MI)));
        time.advance(Duration.ofSeconds(41));

        // then it ends after the removal's deadline, and no other pod does
        assertThat(evicted)
                .containsExactly("limited 1s Evicted: Usage of EmptyDir volume \"cache\" exceeds the limit \"1Mi\". ");
    }

    @Test
    void shouldRemoveNothingForMemory() {
        pod("web", 0, "", 10);

        round(memory());

        assertThat(reclaims).isZero();
    }

    @Test
    void shouldLeaveCriticalPodsAlone() {
        pod("system", 2_000_001_000L, "", """
                {"name": "cache", "emptyDir": {"sizeLimit": "1Mi"}}""", disk(0, Map.of("cache", 2 * MI)));

        round(memory());
        round(memory());

        assertThat(evicted).isEmpty();
        assertThat(nodeEvents).hasSize(2);
    }

    @Test
    void shouldEndPodsBeyondTheirLimitsOfDiskAllAtOnce() {
        pod("volume", 0, "", """
                {"name": "cache", "emptyDir": {"sizeLimit": "1Mi"}}""", disk(0, Map.of("cache", 2 * MI)));
        pod("memory", 0, "", """
                {"name": "cache", "emptyDir": {"sizeLimit": "1Mi", "medium": "Memory"}}""", disk(0, Map.of()));
        pod("container", 0, "\"limits\": {\"ephemeral-storage\": \"3Mi\"}", "", disk(4 * MI, Map.of()));
        pod("sum", 0, "\"limits\": {\"ephemeral-storage\": \"3Mi\"}", """
                {"name": "out", "emptyDir": {}}""", disk(2 * MI, Map.of("out", 2 * MI)));
        pod("within", 0, "\"limits\": {\"ephemeral-storage\": \"3Mi\"}", """
                {"name": "out", "emptyDir": {"sizeLimit": "2Mi"}}""", disk(MI, Map.of("out", 2 * MI)));
        pod("init", 0, "\"limits\": {\"ephemeral-storage\": \"1Mi\"}", """
                {"name": "out", "emptyDir": {}}""", disk(0, Map.of("out", 5 * MI)));
        pod("helper", 0, "\"limits\": {\"ephemeral-storage\": \"1Mi\"}", """
                {"name": "out", "emptyDir": {}}""", disk(0, Map.of("out", 2 * MI)));
        active.computeIfPresent(
                "helper",
                (uid, pod) -> new Pod(pod.json()
                        .update(
                                "spec",
                                spec -> spec.with(
                                        "containers",
                                        Json.parse(
                                                "[{\"name\": \"app\", \"resources\": {\"limits\": {\"ephemeral-storage\":"
                                                        + " \"1Mi\"}}}, {\"name\": \"free\"}]")))));
        active.computeIfPresent(
                "init",
                (uid, pod) -> new Pod(
                        pod.json()
                                .update(
                                        "spec",
                                        spec -> spec.with(
                                                "initContainers",
                                                Json.parse(
                                                        "[{\"name\": \"load\", \"resources\": {\"limits\": {\"ephemeral-storage\": \"9Mi\"}}}]")))));

        round(memory());

        assertThat(evicted)
                .containsExactly(
                        "volume 1s Evicted: Usage of EmptyDir volume \"cache\" exceeds the limit \"1Mi\". ",
                        "container 1s Evicted: Pod ephemeral local storage usage exceeds the total limit of containers"
                                + " 3Mi. ",
                        "sum 1s Evicted: Pod ephemeral local storage usage exceeds the total limit of containers 3Mi. ",
                        "helper 1s Evicted: Pod ephemeral local storage usage exceeds the total limit of containers"
                                + " 1Mi. ");
        assertThat(nodeEvents).isEmpty();
        assertThat(counted)
                .containsExactly(
                        "emptydirfs.limit", "ephemeralpodfs.limit", "ephemeralpodfs.limit", "ephemeralpodfs.limit");
    }

    @Test
    void shouldCountAContainerBeyondItsOwnLimitOfDisk() {
        // given a pod within its whole limit, of which one container is beyond its own
        pod("web", 0, "\"limits\": {\"ephemeral-storage\": \"3Mi\"}", "", disk(4 * MI, Map.of()));
        active.computeIfPresent(
                "web",
                (uid, pod) -> new Pod(pod.json()
                        .update(
                                "spec",
                                spec -> spec.with(
                                        "containers",
                                        Json.parse(
                                                "[{\"name\": \"app\", \"resources\": {\"limits\": {\"ephemeral-storage\":"
                                                        + " \"3Mi\"}}}, {\"name\": \"log\", \"resources\": {\"limits\":"
                                                        + " {\"ephemeral-storage\": \"3Mi\"}}}]")))));

        round();

        assertThat(evicted)
                .containsExactly("web 1s Evicted: Container app exceeded its local ephemeral storage limit \"3Mi\". ");
        assertThat(counted).containsExactly("ephemeralcontainerfs.limit");
    }

    @Test
    void shouldCountAnEvictionAndTheAgeOfTheMeasurementsThatLedToIt() {
        // given two shortages, and a use of pods that takes 1.5 s to read
        pod("web", 0, "", 10);
        CompletableFuture<Map<String, PodUse>> slow = new CompletableFuture<>();
        answer = slow;
        round(memory(), shortage(EvictionSignal.PID_AVAILABLE, "10%", 1));
        assertThat(counted).isEmpty();

        // when it is read
        time.advance(Duration.ofMillis(1_499));
        slow.complete(use);
        time.advance(Duration.ofMillis(1));

        // then the first one counts, with the ages of both
        assertThat(counted)
                .containsExactly(
                        "memory.available",
                        "memory.available measured 1500 ms ago",
                        "pid.available measured 1500 ms ago");
    }

    @Test
    void shouldCountWhatAPodWroteBesidesItsVolumes() {
        pod("hosts", 0, "\"limits\": {\"ephemeral-storage\": \"3Mi\"}", "", disk(0, 0, Map.of(), 4 * MI, false));

        round();

        assertThat(evicted)
                .containsExactly("hosts 1s Evicted: Pod ephemeral local storage usage exceeds the total limit of"
                        + " containers 3Mi. ");
    }

    @Test
    void shouldRankByTheDiskThatIsShortIfImagesHaveTheirOwn() {
        pod("layer", 0, "", "", disk(90 * MI, 0, Map.of(), 0, true));
        pod("logs", 0, "", "", disk(0, 50 * MI, Map.of(), 0, true));
        pod("volume", 0, "", "", disk(0, 10 * MI, Map.of("cache", 60 * MI), 0, true));

        assertThat(order(shortage(EvictionSignal.NODEFS_AVAILABLE, "10%", 1)))
                .containsExactly("volume", "logs", "layer");
        assertThat(order(shortage(EvictionSignal.IMAGEFS_AVAILABLE, "15%", 1)).getFirst())
                .isEqualTo("layer");
    }

    @Test
    void shouldLeaveLayersOutOfLimitsIfImagesHaveTheirOwnDisk() {
        String limit = "\"limits\": {\"ephemeral-storage\": \"3Mi\"}";
        pod("layer", 0, limit, "", disk(90 * MI, MI, Map.of(), 0, true));
        pod("logs", 0, limit, "", disk(0, 4 * MI, Map.of(), 0, true));

        round();

        assertThat(evicted).hasSize(1).first().asString().startsWith("logs ");
    }

    private static PodUse disk(long container, Map<String, Long> volumes) {
        return disk(container, 0, volumes, 0, false);
    }

    private static PodUse disk(long layer, long logs, Map<String, Long> volumes, long other, boolean imagesApart) {
        return new PodUse(
                OptionalLong.of(0),
                OptionalLong.of(1),
                Map.of("app", new PodUse.ContainerUse(OptionalLong.of(0), layer, logs)),
                volumes,
                other,
                1,
                0,
                imagesApart);
    }
}
