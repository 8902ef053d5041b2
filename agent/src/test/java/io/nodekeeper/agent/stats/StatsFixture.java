package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.stats.cgroups.CgroupUsage;
import io.nodekeeper.agent.stats.cgroups.MemoryUsage;
import io.nodekeeper.agent.stats.cgroups.StallTimes;
import io.nodekeeper.agent.stats.signals.Timed;
import io.nodekeeper.cri.ImageFilesystem;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** A node with one pod of one container, measured at 12:00:00. */
final class StatsFixture {
    static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");
    static final long GIBI = 1L << 30;
    static final RunningPod POD = new RunningPod(
            "u1",
            "web",
            "default",
            "s1",
            Optional.of(Instant.parse("2026-03-01T11:00:00Z")),
            List.of(new RunningPod.RunningContainer(
                    "c1", "main", Optional.of(Instant.parse("2026-03-01T11:00:01.250Z")))));

    private StatsFixture() {}

    /** A value that was measured {@code before} noon. */
    static <T> Timed<T> at(Duration before, T value) {
        return new Timed<>(value, NOON.minus(before), -before.toNanos());
    }

    static CgroupUsage usage(long cpuNanos, long workingSet, OptionalLong limit) {
        return new CgroupUsage(
                OptionalLong.of(cpuNanos),
                Optional.of(new MemoryUsage(workingSet + 10, workingSet, 5, 3, 1, limit)),
                OptionalLong.of(0),
                OptionalLong.of(2),
                Map.of());
    }

    static KernelReading kernel(long cpuNanos) {
        return new KernelReading(
                new NodeUsage(
                        usage(10 * cpuNanos, 8 * GIBI, OptionalLong.empty()),
                        OptionalLong.of(16 * GIBI),
                        OptionalLong.of(GIBI),
                        OptionalLong.of(GIBI - 4_096),
                        Optional.of(new NodeUsage.Network("eth0", 100, 1, 200, 2)),
                        Map.of(
                                "memory",
                                new StallTimes(
                                        new StallTimes.Share(1.5, 0.75, 0.1, 4_000_000),
                                        Optional.of(new StallTimes.Share(0, 0, 0, 7)))),
                        Optional.of(Instant.parse("2026-03-01T00:00:00Z"))),
                Map.of("kubelet", usage(cpuNanos, 70, OptionalLong.empty())),
                Map.of(
                        "s1",
                        usage(cpuNanos / 2, 20, OptionalLong.empty()),
                        "c1",
                        usage(cpuNanos, 100, OptionalLong.of(150))),
                Map.of(
                        "u1",
                        List.of(
                                new NodeUsage.Network("net1", 1, 2, 3, 4),
                                new NodeUsage.Network("eth0", 50, 1, 60, 2))));
    }

    /** The kernel was read now and 10 s ago, the file systems 5 s ago. */
    static Snapshot snapshot() {
        return new Snapshot(
                "n1",
                Instant.parse("2026-03-01T10:00:00Z"),
                Optional.of(at(Duration.ZERO, kernel(3_000_000_000L))),
                Optional.of(at(Duration.ofSeconds(10), kernel(1_000_000_000L))),
                Optional.of(at(Duration.ofSeconds(5), new Filesystem(new Level(400, 1_000), new Level(60, 100), 450))),
                Optional.of(at(Duration.ofSeconds(5), new Filesystem(new Level(700, 2_000), new Level(80, 90)))),
                Optional.of(at(Duration.ofSeconds(40), new ImageFilesystem("/images", 1_100, 8))),
                // A91: the smaller limit, less the tasks of the fourth field of loadavg.
                Optional.of(at(Duration.ofSeconds(5), new Level(29_250, 32_768))),
                List.of(POD),
                Map.of("c1", at(Duration.ofSeconds(2), new DiskUse(30, 3))),
                Optional.of(at(Duration.ofSeconds(1), Map.of("c1", new DiskUse(12, 1)))),
                Optional.of(at(Duration.ofSeconds(1), Map.of("u1", new DiskUse(7, 4)))),
                Map.of(
                        "u1",
                        List.of(
                                at(
                                        Duration.ofSeconds(3),
                                        new VolumeUse(
                                                "cache",
                                                Optional.empty(),
                                                new Filesystem(new Level(400, 1_000), new Level(60, 100), 450),
                                                new DiskUse(5, 2),
                                                true)),
                                at(
                                        Duration.ofSeconds(90),
                                        new VolumeUse(
                                                "data",
                                                Optional.of("data-0"),
                                                new Filesystem(new Level(70, 100), new Level(8, 9), 75),
                                                new DiskUse(25, 1),
                                                false)))));
    }
}
