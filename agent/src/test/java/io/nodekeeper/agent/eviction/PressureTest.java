package io.nodekeeper.agent.eviction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.Fixtures;
import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.agent.config.ConfigException;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.status.StatusSetters;
import java.time.Duration;
import java.util.List;
import java.util.Map;
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
