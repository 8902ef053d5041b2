package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.condition;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.controller.config.ControllerConfig;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Two passes, an hour apart: the second one judges by what the first one saved. */
@ParameterizedClass
@EnumSource(
        value = Mode.class,
        names = {"GUARDED_PASS", "REFERENCE"})
class HourApartTest {
    private static final Instant HOUR = B.plusSeconds(3600);
    private static final String STATUS = "/nodes/n1/status";

    private final TestCluster cluster;

    HourApartTest(Mode mode) {
        cluster = new TestCluster(
                new ControllerConfig(Duration.ofHours(1), Duration.ofSeconds(50), Duration.ofSeconds(60))
                        .with(mode.config().gates()));
    }

    @Test
    @Tag("L4")
    void unchangedNodeIsUnknown() {
        cluster.addNode("n1", K, ready("True", B));

        firstPass();
        secondPass();

        assertThat(cluster.conditions("n1"))
                .containsExactly(
                        "Ready=Unknown NodeStatusUnknown 2015-01-01T12:00:00Z 2015-01-01T13:00:00Z",
                        "MemoryPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z 2015-01-01T13:00:00Z",
                        "DiskPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z 2015-01-01T13:00:00Z",
                        "PIDPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z 2015-01-01T13:00:00Z");
        assertThat(cluster.calls("PUT", STATUS)).isEqualTo(1);
    }

    @Test
    @Tag("L5")
    void conditionThatWasThereKeepsItsHeartbeat() {
        cluster.addNode("n1", K, ready("True", B), condition("DiskPressure", "False", B));

        firstPass();
        secondPass();

        assertThat(cluster.conditions("n1"))
                .contains("DiskPressure=Unknown NodeStatusUnknown 2015-01-01T12:00:00Z 2015-01-01T13:00:00Z")
                .hasSize(4);
    }

    @Test
    @Tag("L7")
    void heartbeatOfThisHourIsEnough() {
        cluster.addNode("n1", K, ready("True", B));

        firstPass();
        cluster.post("n1", ready("True", HOUR));
        secondPass();

        assertThat(cluster.calls("PUT", STATUS)).isZero();
    }

    @Test
    @Tag("L8")
    void renewalOfThisHourIsEnough() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);

        firstPass();
        cluster.renew("n1", HOUR);
        secondPass();

        assertThat(cluster.calls("PUT", STATUS)).isZero();
    }

    @Test
    @Tag("L9")
    void renewalsAreEnoughForAnOldNodeWithoutStatus() {
        cluster.addNode("n1", K);
        cluster.renew("n1", B);

        firstPass();
        cluster.renew("n1", HOUR);
        secondPass();

        assertThat(cluster.calls("PUT", STATUS)).isZero();
    }

    @Test
    @Tag("L10")
    void oldNodeWithoutStatusWhoseRenewalsEndIsUnknown() {
        cluster.addNode("n1", K);
        cluster.renew("n1", B);

        firstPass();
        assertThat(cluster.calls("PUT", STATUS)).isZero();
        secondPass();

        assertThat(cluster.conditions("n1"))
                .containsExactly(
                        "Ready=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z 2015-01-01T13:00:00Z",
                        "MemoryPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z 2015-01-01T13:00:00Z",
                        "DiskPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z 2015-01-01T13:00:00Z",
                        "PIDPressure=Unknown NodeStatusNeverUpdated 2012-01-01T00:00:00Z 2015-01-01T13:00:00Z");
    }

    @Test
    @Tag("L11")
    void statusKeepsANodeAliveIfItsLeaseIsNotRenewed() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);

        firstPass();
        cluster.post("n1", ready("True", HOUR));
        secondPass();

        assertThat(cluster.calls("PUT", STATUS)).isZero();
    }

    @Test
    @Tag("L12")
    void nodeIsUnknownIfBothAreStuck() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);

        firstPass();
        secondPass();

        assertThat(cluster.conditions("n1"))
                .contains("Ready=Unknown NodeStatusUnknown 2015-01-01T12:00:00Z 2015-01-01T13:00:00Z")
                .hasSize(4);
    }

    @Test
    @Tag("L16")
    void nodeThatIsUnknownAlreadyIsNotWritten() {
        cluster.addNode("n1", K, ready("Unknown", B), condition("MemoryPressure", "False", B));

        firstPass();
        secondPass();

        assertThat(cluster.calls("PUT", STATUS)).isZero();
    }

    private void firstPass() {
        cluster.start().advanceTo("59M");
    }

    private void secondPass() {
        cluster.advanceTo("3600.010S");
    }
}
