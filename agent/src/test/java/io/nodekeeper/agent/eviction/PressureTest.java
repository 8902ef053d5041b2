package io.nodekeeper.agent.eviction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.Fixtures;
import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.agent.config.ConfigException;
import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.HostFacts;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.status.StatusSetters;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class PressureTest {
    private static final long MIB_100 = 104_857_600;

    private static PressureMonitor rule(AgentConfig config) {
        return new PressureMonitor(config.thresholds(), config.evictionPressureTransitionPeriod());
    }

    private static Map<EvictionSignal, Level> memory(long available) {
        return Map.of(EvictionSignal.MEMORY_AVAILABLE, new Level(available, 17_179_869_184L));
    }

    private static long minutes(int minutes, int seconds) {
        return Duration.ofMinutes(minutes).plusSeconds(seconds).toNanos();
    }

    @Test
    @Tag("A92")
    void exactlyAtTheThresholdIsFine() {
        assertThat(rule(Fixtures.config()).observe(memory(MIB_100), 0)).isEmpty();
        assertThat(rule(Fixtures.config()).observe(memory(MIB_100 - 1), 0)).containsExactly(Pressure.MEMORY);
    }

    @Test
    @Tag("A94")
    void aPressureLastsForTheTransitionPeriod() {
        PressureMonitor rule = rule(Fixtures.config());
        rule.observe(memory(0), 0);

        assertThat(rule.observe(memory(MIB_100), minutes(4, 59))).containsExactly(Pressure.MEMORY);
        assertThat(rule.observe(memory(MIB_100), minutes(5, 0))).isEmpty();
    }

    @Test
    @Tag("A94")
    void aNewCrossingRestartsThePeriod() {
        PressureMonitor rule = rule(Fixtures.config());
        rule.observe(memory(0), 0);
        rule.observe(memory(MIB_100), minutes(1, 0));
        rule.observe(memory(0), minutes(4, 0));

        assertThat(rule.observe(memory(MIB_100), minutes(8, 59))).containsExactly(Pressure.MEMORY);
        assertThat(rule.observe(memory(MIB_100), minutes(9, 0))).isEmpty();
    }

    @Test
    @Tag("A94")
    void everyTransitionPeriodEndsInItsSecond() {
        for (Duration period :
                List.of(Duration.ZERO, Duration.ofSeconds(1), Duration.ofSeconds(90), Duration.ofMinutes(5))) {
            PressureMonitor rule = new PressureMonitor(Fixtures.config().thresholds(), period);
            rule.observe(memory(0), 0);

            for (int second = 1; second <= period.toSeconds() + 3; second++) {
                long now = Duration.ofSeconds(second).toNanos();
                boolean present = rule.observe(memory(MIB_100), now).contains(Pressure.MEMORY);

                assertThat(present).as("%s after %d s", period, second).isEqualTo(second < period.toSeconds());
                assertThat(rule.nextEnd())
                        .as("%s after %d s", period, second)
                        .isEqualTo(present ? OptionalLong.of(period.toNanos()) : OptionalLong.empty());
            }
        }
    }

    private static PressureMonitor rule(AgentConfigBuilder config) {
        return rule(config.build());
    }

    private static List<String> shortages(PressureMonitor rule, Map<EvictionSignal, Level> levels, long now) {
        rule.observe(levels, now);
        return rule.shortages().stream().map(Shortage::resource).toList();
    }

    @Test
    @Tag("A93")
    void aSoftThresholdEvictsAfterItsGraceAndRaisesItsConditionAtOnce() {
        PressureMonitor rule = rule(new AgentConfigBuilder("n1")
                .evictionSoft(Map.of("memory.available", "1Gi"))
                .evictionSoftGracePeriod(Map.of("memory.available", "90s")));
        Map<EvictionSignal, Level> low = memory(5 * MIB_100);

        assertThat(rule.observe(low, 0)).containsExactly(Pressure.MEMORY);
        assertThat(shortages(rule, low, minutes(1, 29))).isEmpty();
        assertThat(shortages(rule, low, minutes(1, 30))).containsExactly("memory");
        // Not met once: the grace period begins again.
        assertThat(shortages(rule, memory(20 * MIB_100), minutes(1, 40))).isEmpty();
        assertThat(shortages(rule, low, minutes(1, 50))).isEmpty();
        assertThat(shortages(rule, low, minutes(3, 20))).containsExactly("memory");
    }

    @Test
    @Tag("A95")
    void asMuchMoreMustBeLeftAsTheMinimumReclaimSays() {
        PressureMonitor rule =
                rule(new AgentConfigBuilder("n1").evictionMinimumReclaim(Map.of("memory.available", "500Mi")));

        assertThat(shortages(rule, memory(2 * MIB_100), 0)).isEmpty();
        assertThat(shortages(rule, memory(MIB_100 - 1), minutes(0, 10))).containsExactly("memory");
        assertThat(shortages(rule, memory(3 * MIB_100), minutes(0, 20))).containsExactly("memory");
        assertThat(shortages(rule, memory(6 * MIB_100), minutes(0, 30))).isEmpty();
        assertThat(rule.observe(memory(6 * MIB_100), minutes(5, 19))).containsExactly(Pressure.MEMORY);
        assertThat(rule.observe(memory(6 * MIB_100), minutes(5, 20))).isEmpty();
    }

    @Test
    @Tag("A98")
    void nothingIsEvictedForWhatIsNotMeasured() {
        PressureMonitor rule =
                rule(new AgentConfigBuilder("n1").evictionMinimumReclaim(Map.of("memory.available", "500Mi")));
        rule.observe(memory(0), 0);

        assertThat(shortages(rule, Map.of(), minutes(0, 10))).isEmpty();
        // It is still as before when it is measured again.
        assertThat(shortages(rule, memory(3 * MIB_100), minutes(0, 20))).containsExactly("memory");
    }

    @Test
    @Tag("A99")
    void memoryComesBeforeDisk() {
        PressureMonitor rule = rule(Fixtures.config());
        Map<EvictionSignal, Level> levels = Map.of(
                EvictionSignal.NODEFS_AVAILABLE,
                new Level(1, 100),
                EvictionSignal.NODEFS_INODES_FREE,
                new Level(1, 100),
                EvictionSignal.MEMORY_AVAILABLE,
                new Level(1, 17_179_869_184L));

        assertThat(shortages(rule, levels, 0)).containsExactly("memory", "ephemeral-storage", "inodes");
    }

    @Test
    void wrongMinimumReclaimsAreNamed() {
        assertThatThrownBy(() -> new AgentConfigBuilder("n1")
                        .evictionMinimumReclaim(Map.of(
                                "memory.available",
                                "-1Mi",
                                "nodefs.available",
                                "0%",
                                "none",
                                "1",
                                "pid.available",
                                "x"))
                        .build())
                .hasMessageContaining("negative eviction minimum reclaim specified for memory.available")
                .hasMessageContaining("eviction percentage minimum reclaim nodefs.available must be positive: 0%")
                .hasMessageContaining("unsupported eviction signal none")
                .hasMessageContaining("eviction minimum reclaim pid.available must be a quantity or a percentage: x");
    }

    @Test
    void aPressureThatLastsHasNoEnd() {
        PressureMonitor rule = rule(Fixtures.config());

        rule.observe(memory(0), 0);
        assertThat(rule.nextEnd()).isEmpty();

        rule.observe(memory(MIB_100), minutes(0, 10));
        assertThat(rule.nextEnd()).hasValue(minutes(5, 0));
    }

    @Test
    void theImagesFileSystemHasDiskPressureOfItsOwn() {
        HostFacts facts = Fixtures.facts().withImageFilesystem(Fact.of(disk(14, 50), 0));
        Map<EvictionSignal, Level> levels = EvictionSignal.levels(facts, true);

        assertThat(levels)
                .containsEntry(EvictionSignal.IMAGEFS_AVAILABLE, new Level(14, 100))
                .containsEntry(EvictionSignal.IMAGEFS_INODES_FREE, new Level(50, 100));
        assertThat(rule(Fixtures.config()).observe(levels, 0)).containsExactly(Pressure.DISK);
        assertThat(rule(Fixtures.config())
                        .observe(EvictionSignal.levels(facts.withImageFilesystem(Fact.of(disk(15, 5), 0)), true), 0))
                .isEmpty();
        assertThat(rule(Fixtures.config())
                        .observe(EvictionSignal.levels(facts.withImageFilesystem(Fact.of(disk(15, 4), 0)), true), 0))
                .containsExactly(Pressure.DISK);
    }

    @Test
    void theContainersFileSystemIsThatOfTheImagesAndElseThatOfTheNode() {
        HostFacts facts = Fixtures.facts()
                .withRootFilesystem(Fact.of(disk(80, 81), 0))
                .withImageFilesystem(Fact.of(disk(20, 21), 0));
        AgentConfig config = new AgentConfigBuilder("n1")
                .evictionHard(Map.of("containerfs.available", "25%", "containerfs.inodesFree", "22%"))
                .build();

        assertThat(EvictionSignal.levels(facts, true))
                .containsEntry(EvictionSignal.CONTAINERFS_AVAILABLE, new Level(20, 100))
                .containsEntry(EvictionSignal.CONTAINERFS_INODES_FREE, new Level(21, 100));
        assertThat(EvictionSignal.levels(facts, false))
                .containsEntry(EvictionSignal.CONTAINERFS_AVAILABLE, new Level(80, 100))
                .containsEntry(EvictionSignal.CONTAINERFS_INODES_FREE, new Level(81, 100));
        assertThat(rule(config).observe(EvictionSignal.levels(facts, true), 0)).containsExactly(Pressure.DISK);
        assertThat(rule(config).observe(EvictionSignal.levels(facts, false), 0)).isEmpty();
    }

    @Test
    void aConfiguredThresholdThatCannotBeMeasuredIsAFault() {
        AgentConfig config = new AgentConfigBuilder("n1")
                .evictionHard(Map.of("memory.available", "1Gi"))
                .evictionSoft(Map.of("imagefs.available", "20%", "allocatableMemory.available", "1Gi"))
                .evictionSoftGracePeriod(Map.of("imagefs.available", "1m", "allocatableMemory.available", "1m"))
                .build();

        assertThat(Thresholds.unmeasurable(config.thresholds(), false, () -> Optional.of("there is no pod cgroup")))
                .containsExactlyInAnyOrder(
                        "eviction threshold imagefs.available cannot be measured: the node has no container runtime"
                                + " that reports where the images are; remove the threshold or set"
                                + " containerRuntimeEndpoint",
                        "eviction threshold allocatableMemory.available cannot be measured: there is no pod cgroup;"
                                + " remove the threshold or create the cgroup");
        assertThat(Thresholds.unmeasurable(config.thresholds(), true, Optional::empty))
                .isEmpty();
    }

    @Test
    void defaultThresholdsOfImagesAreLeftOutWithoutARuntime() {
        List<Threshold> defaults = Fixtures.config().thresholds();

        assertThat(Thresholds.unmeasurable(defaults, false, Optional::empty)).isEmpty();
        assertThat(Thresholds.applicable(defaults, false))
                .extracting(Threshold::signal)
                .containsExactly(
                        EvictionSignal.MEMORY_AVAILABLE,
                        EvictionSignal.NODEFS_AVAILABLE,
                        EvictionSignal.NODEFS_INODES_FREE);
        assertThat(Thresholds.applicable(defaults, true)).isEqualTo(defaults);
    }

    @Test
    @Tag("A98")
    void aSignalWithoutMeasurementForThirtySecondsIsReported() {
        PressureMonitor rule = rule(new AgentConfigBuilder("n1")
                .evictionHard(Map.of("imagefs.available", "15%", "imagefs.inodesFree", "5%", "memory.available", "1Mi"))
                .build());
        HostFacts facts = Fixtures.facts().withImageFilesystem(Fact.of(disk(1, 50), 0));
        rule.observe(EvictionSignal.levels(facts, true), 0);
        HostFacts failed =
                facts.withImageFilesystem(facts.imageFilesystem().failed("statvfs of /images failed with errno 5"));

        for (int second = 10; second <= 60; second += 10) {
            assertThat(rule.observe(EvictionSignal.levels(failed, true), minutes(0, second)))
                    .containsExactly(Pressure.DISK);
            assertThat(rule.unmeasured(minutes(0, second)).isEmpty())
                    .as("after %d s", second - 10)
                    .isEqualTo(second < 40);
        }
        assertThat(PressureReport.of(rule.unmeasured(minutes(1, 0)), failed, true))
                .isEqualTo(new ConditionReport(
                        "PressureUnknown",
                        "True",
                        "EvictionSignalNotMeasured",
                        "imagefs.available, imagefs.inodesFree cannot be measured: statvfs of /images failed with"
                                + " errno 5; DiskPressure keeps its last status"));

        rule.observe(EvictionSignal.levels(facts, true), minutes(1, 10));
        assertThat(PressureReport.of(rule.unmeasured(minutes(1, 10)), facts, true)
                        .status())
                .isEqualTo("False");
    }

    private static Filesystem disk(long bytes, long inodes) {
        return new Filesystem(new Level(bytes, 100), new Level(inodes, 100));
    }

    @Test
    @Tag("A98")
    void aFailedReadingLeavesItsOwnPressureAndJudgesTheOthers() {
        PressureMonitor rule = rule(Fixtures.config());
        rule.observe(memory(0), 0);

        assertThat(rule.observe(Map.of(EvictionSignal.NODEFS_AVAILABLE, new Level(9, 100)), minutes(30, 0)))
                .containsExactly(Pressure.MEMORY, Pressure.DISK);
    }

    @Test
    @Tag("A96")
    void oneHardThresholdDropsTheDefaults() {
        AgentConfig config = new AgentConfigBuilder("n1")
                .evictionHard(Map.of("memory.available", "200Mi"))
                .build();

        assertThat(config.thresholds()).extracting(Threshold::signal).containsExactly(EvictionSignal.MEMORY_AVAILABLE);
        assertThat(rule(config).observe(Map.of(EvictionSignal.NODEFS_AVAILABLE, new Level(0, 100)), 0))
                .isEmpty();
        assertThat(StatusSetters.apply(Fixtures.bare(), Fixtures.inputs(config, Fixtures.facts()))
                        .node()
                        .status()
                        .object("allocatable")
                        .text("ephemeral-storage"))
                .isEqualTo("100Gi");
    }

    @Test
    @Tag("A96")
    void mergingKeepsTheDefaults() {
        AgentConfig config = new AgentConfigBuilder("n1")
                .evictionHard(Map.of("memory.available", "200Mi"))
                .mergeDefaultEvictionSettings(true)
                .build();

        assertThat(config.thresholds())
                .extracting(Threshold::signal)
                .containsExactlyInAnyOrder(
                        EvictionSignal.MEMORY_AVAILABLE,
                        EvictionSignal.NODEFS_AVAILABLE,
                        EvictionSignal.NODEFS_INODES_FREE,
                        EvictionSignal.IMAGEFS_AVAILABLE,
                        EvictionSignal.IMAGEFS_INODES_FREE);
    }

    @Test
    @Tag("A97")
    void zeroPercentDisablesAThreshold() {
        assertThat(new AgentConfigBuilder("n1")
                        .evictionHard(Map.of("nodefs.available", "0%"))
                        .build()
                        .thresholds())
                .isEmpty();
    }

    @Test
    @Tag("A97")
    void namesEveryBadThreshold() {
        AgentConfigBuilder bad = new AgentConfigBuilder("n1")
                .evictionHard(Map.of("nodefs.available", "101%"))
                .evictionSoft(Map.of("memory.available", "1Gi"));

        assertThatThrownBy(bad::build)
                .isInstanceOfSatisfying(
                        ConfigException.class,
                        e -> assertThat(e.faults())
                                .isEqualTo(
                                        List.of(
                                                "eviction percentage threshold nodefs.available must be <= 100%: 101%",
                                                "grace period must be specified for the soft eviction threshold memory.available")));
    }

    @Test
    @Tag("A100")
    void withoutAThresholdNoFreeProcessIdsAreNoPressure() {
        assertThat(rule(Fixtures.config()).observe(Map.of(EvictionSignal.PID_AVAILABLE, new Level(0, 32_768)), 0))
                .isEmpty();
    }

    @Test
    void percentagesAreSinglePrecision() {
        assertThat(new Threshold.Share(10f / 100f).of(107_374_182_400L)).isEqualTo(10_737_418_400L);
        assertThat(new Threshold.Share(15f / 100f).of(107_374_182_400L)).isEqualTo(16_106_128_000L);
        assertThat(new Threshold.Share(5f / 100f).of(52_428_800)).isEqualTo(2_621_440);
        assertThat(new Threshold.Share(5f / 100f).of(17_179_869_184L)).isEqualTo(858_993_472);
    }
}
