package io.nodekeeper.controller.heartbeats;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Reflector;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.observer.ObserverGuard;
import io.nodekeeper.time.DeadlineWheel;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A list of all leases takes seconds, and shows the moment at which it began, while other reads show newer renewals. */
class NodeInformerTest {
    private static final Instant START = Instant.parse("2020-01-01T00:00:00Z");

    private final VirtualTime.VirtualLoop loop = new VirtualTime(START).loop("controller");
    private final Heartbeats heartbeats = new Heartbeats(
            new ControllerConfig(Duration.ofSeconds(5), Duration.ofSeconds(50), Duration.ofSeconds(60)),
            ObserverGuard.off(),
            new DeadlineWheel<>());
    /** The nodes of the heartbeats. */
    private final List<String> signs = new ArrayList<>();

    private final NodeInformer informer =
            new NodeInformer(loop, loop::nanoTime, heartbeats, lease -> false, new NodeInformer.Handler() {
                @Override
                public void changed(NodeChange change) {}

                @Override
                public void heard(NodeHealth health, Sign sign, long now) {
                    signs.add(health.name());
                }

                @Override
                public void settled() {}
            });
    private final Reflector.RawHandler leases = informer.leases();

    @BeforeEach
    void listOneNode() {
        leases.onListing();
        leases.onReplace(List.of(lease(1)));
        JsonObject metadata =
                JsonObject.EMPTY.with("name", "a").with("uid", "a-uid").with("resourceVersion", "1");
        informer.nodes().onReplace(List.of(JsonObject.EMPTY.with("metadata", metadata)));
    }

    /** The lease after so many renewals, each ten seconds after the one before. */
    private static JsonObject lease(int renewals) {
        return JsonObject.EMPTY
                .with(
                        "metadata",
                        JsonObject.EMPTY
                                .with("name", "a")
                                .with("namespace", "kube-node-lease")
                                .with("resourceVersion", Integer.toString(100 + renewals)))
                .with(
                        "spec",
                        JsonObject.EMPTY
                                .with("holderIdentity", "a")
                                .with("renewTime", KubeTime.formatMicro(START.plusSeconds(10L * renewals))));
    }

    private void read(int renewals) {
        informer.saw(new Lease(lease(renewals)), Heartbeats.Source.LATE);
    }

    @Test
    void renewalsThatWereReadWhileAListWasUnderWayCountOnce() {
        leases.onChange(lease(2));
        // given a list that begins, and two other reads before it arrives
        leases.onListing();
        read(3);
        read(4);
        assertThat(signs).containsExactly("a", "a", "a");

        // when it arrives, and the watch sends what happened since it began
        leases.onReplace(List.of(lease(2)));
        leases.onChange(lease(3));
        leases.onChange(lease(4));

        assertThat(signs).containsExactly("a", "a", "a");
        leases.onChange(lease(5));
        assertThat(signs).containsExactly("a", "a", "a", "a");
    }

    @Test
    void listOfRestoredDataIsTakenAlthoughItsVersionsAreLower() {
        leases.onChange(lease(4));

        leases.onListing();
        leases.onReplace(List.of(lease(2)));

        assertThat(heartbeats.leaseVersion("a")).isEqualTo(102);
        leases.onChange(lease(3));
        assertThat(signs).containsExactly("a", "a");
    }
}
