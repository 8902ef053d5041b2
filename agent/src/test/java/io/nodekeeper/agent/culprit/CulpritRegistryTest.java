package io.nodekeeper.agent.culprit;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.Layer;
import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Culprits over scans: which ones one message names, and how long one that a scan misses is held. */
class CulpritRegistryTest {
    private static final Culprit FROZEN = culprit(Layer.RUNTIME, "RuntimeFrozen");
    private static final Culprit GONE = culprit(Layer.RUNTIME, "RuntimeUnreachable");
    private static final Culprit SHIM = culprit(Layer.SHIM, "ShimStopped");
    private static final Culprit LOAD = culprit(Layer.RUNTIME, "NodeOverloaded");
    private static final Culprit CALL = culprit(Layer.CONTAINER, "ContainerCallHung");

    private final CulpritRegistry registry = new CulpritRegistry();

    @Test
    void heldCulpritOfTheRuntimeIsLeftOutOnceAnotherOneIsShown() {
        look(0, FROZEN, SHIM);
        look(5, GONE, SHIM);

        assertThat(registry.culprits()).containsExactlyInAnyOrder(FROZEN, GONE, SHIM);
        assertThat(registry.accusations()).containsExactly(GONE, SHIM);
    }

    @Test
    void heldCulpritOfTheRuntimeStaysWhileNoOtherIsShown() {
        look(0, FROZEN);
        look(5);

        assertThat(registry.accusations()).containsExactly(FROZEN);
    }

    @Test
    void heldCulpritOfAPodStaysBesideOneOfTheRuntime() {
        look(0, SHIM);
        look(5, FROZEN);

        assertThat(registry.accusations()).containsExactly(FROZEN, SHIM);
    }

    @Test
    void loadAccusesNothingAndReplacesNoHeldCulprit() {
        look(0, FROZEN);
        look(5, LOAD);

        assertThat(registry.accusations()).containsExactly(FROZEN);
        assertThat(registry.loads()).isEmpty();

        look(15, LOAD);
        look(20, LOAD);
        assertThat(registry.accusations()).isEmpty();
        assertThat(registry.loads()).containsExactly(LOAD);
    }

    @Test
    void severalOfTheRuntimeThatAreShownTogetherAllStay() {
        look(0, FROZEN, GONE);

        assertThat(registry.accusations()).containsExactly(FROZEN, GONE);
    }

    @Test
    void missedCulpritIsClearedAfterTenSecondsAndTwoScans() {
        look(0, SHIM);
        assertThat(look(5).missed()).containsExactly(SHIM);
        assertThat(look(14).cleared()).isEmpty();
        assertThat(look(15).cleared()).containsExactly(SHIM);
        assertThat(registry.culprits()).isEmpty();
    }

    @Test
    void callThatAloneHangsIsNoNewCulpritWhileAnotherIsHeld() {
        look(0, SHIM);
        assertThat(look(5, CALL).found()).isEmpty();
        assertThat(look(16, CALL).found()).containsExactly(CALL);
    }

    private CulpritRegistry.Changes look(int second, Culprit... shown) {
        return registry.look(List.of(shown), Duration.ofSeconds(second).toNanos());
    }

    private static Culprit culprit(Layer layer, String reason) {
        return Culprit.of(layer, reason, reason, Instant.EPOCH, new Remedy.Advice("look"));
    }
}
