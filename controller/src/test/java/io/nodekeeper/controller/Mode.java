package io.nodekeeper.controller;

import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.config.ControllerFeature;
import io.nodekeeper.controller.config.FeatureGates;
import java.time.Duration;
import java.time.Instant;

/** The ways to find silent nodes, for scenarios with the same outcome in all of them. */
public enum Mode {
    /** All gates enabled: each node has its own deadline. */
    DEADLINES(FeatureGates.ALL, Duration.ZERO),
    /** Monitor passes, which read the lease live before a verdict. */
    GUARDED_PASS(FeatureGates.ALL.without(ControllerFeature.WATCH_DRIVEN_DEADLINES), Duration.ofSeconds(5)),
    /** All gates disabled. */
    REFERENCE(FeatureGates.REFERENCE, Duration.ofSeconds(5));

    private final FeatureGates gates;
    /** The time from a deadline to the pass that finds it. */
    private final Duration lag;

    Mode(FeatureGates gates, Duration lag) {
        this.gates = gates;
        this.lag = lag;
    }

    ControllerConfig config() {
        return TestCluster.CONFIG.with(gates);
    }

    public TestCluster cluster() {
        return new TestCluster(config());
    }

    /** When the verdict for a deadline at {@code second} is written. */
    Instant verdict(int second) {
        return TestCluster.B.plusSeconds(second).plus(lag);
    }

    /** Advances until just after the verdict for a deadline at {@code second}, including a conflict or two. */
    void advanceToVerdict(TestCluster cluster, int second) {
        advance(cluster, second, Duration.ofMillis(50));
    }

    /** The same without time for a conflict: the verdict must be written within 2 ms. */
    void advanceToPromptVerdict(TestCluster cluster, int second) {
        advance(cluster, second, Duration.ofMillis(2));
    }

    private void advance(TestCluster cluster, int second, Duration more) {
        Duration end = Duration.ofSeconds(second).plus(lag).plus(more);
        cluster.advance(end.minus(cluster.time.elapsed()));
    }
}
