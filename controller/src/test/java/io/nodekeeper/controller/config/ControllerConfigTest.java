package io.nodekeeper.controller.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.controller.TestCluster;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ControllerConfigTest {

    @Test
    void defaultsAreThoseOfKubernetes() {
        assertThat(ControllerConfig.DEFAULT)
                .isEqualTo(new ControllerConfig(Duration.ofSeconds(5), Duration.ofSeconds(50), Duration.ofMinutes(1)));
        assertThat(ControllerConfig.DEFAULT.faults()).isEmpty();
        assertThat(ControllerConfig.DEFAULT.warnings()).isEmpty();
    }

    @Test
    void allFaultsAreListedTogether() {
        ControllerConfig config = new ControllerConfig(Duration.ZERO, Duration.ofSeconds(-1), Duration.ZERO);

        assertThat(config.faults())
                .containsExactly(
                        "--node-monitor-period: must be greater than 0, got 0s",
                        "--node-monitor-grace-period: must be greater than 0, got -1s",
                        "--node-startup-grace-period: must be greater than 0, got 0s");
        assertThatThrownBy(() -> new TestCluster(config))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--node-startup-grace-period: must be greater than 0, got 0s");
    }

    @Test
    void aShortGraceShortensThePeriod() {
        ControllerConfig config =
                new ControllerConfig(Duration.ofSeconds(5), Duration.ofSeconds(4), Duration.ofSeconds(60));

        assertThat(config.faults()).isEmpty();
        assertThat(config.canaryPeriod()).isEqualTo(Duration.ofMillis(250));
        assertThat(ControllerConfig.DEFAULT.canaryPeriod()).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void shortGraceIsWarnedOf() {
        ControllerConfig config =
                new ControllerConfig(Duration.ofSeconds(5), Duration.ofSeconds(40), Duration.ofSeconds(60));

        assertThat(config.faults()).isEmpty();
        assertThat(config.warnings())
                .singleElement()
                .asString()
                .startsWith("--node-monitor-grace-period=40s is less than the 45s");
    }
}
