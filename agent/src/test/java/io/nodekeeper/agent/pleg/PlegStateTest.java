package io.nodekeeper.agent.pleg;

import static io.nodekeeper.agent.pleg.PlegState.EXITED;
import static io.nodekeeper.agent.pleg.PlegState.RUNNING;
import static io.nodekeeper.agent.pleg.PlegState.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.ContainerState;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlegStateTest {

    @ParameterizedTest
    @Tag("A79")
    @CsvSource({
        "NON_EXISTENT, NON_EXISTENT, []",
        "NON_EXISTENT, RUNNING, [STARTED]",
        "NON_EXISTENT, EXITED, [DIED]",
        "NON_EXISTENT, UNKNOWN, []",
        "RUNNING, NON_EXISTENT, '[DIED, REMOVED]'",
        "RUNNING, RUNNING, []",
        "RUNNING, EXITED, [DIED]",
        "RUNNING, UNKNOWN, []",
        "EXITED, NON_EXISTENT, [REMOVED]",
        "EXITED, RUNNING, [STARTED]",
        "EXITED, EXITED, []",
        "EXITED, UNKNOWN, []",
        "UNKNOWN, NON_EXISTENT, '[DIED, REMOVED]'",
        "UNKNOWN, RUNNING, [STARTED]",
        "UNKNOWN, EXITED, [DIED]",
        "UNKNOWN, UNKNOWN, []",
    })
    void eachPairOfStatesHasItsEvents(PlegState old, PlegState next, String events) {
        assertThat(old.eventsTo(next)).hasToString(events);
    }

    @Test
    void statesOfTheRuntimeAreMapped() {
        assertThat(PlegState.of(ContainerState.CREATED)).isEqualTo(UNKNOWN);
        assertThat(PlegState.of(ContainerState.RUNNING)).isEqualTo(RUNNING);
        assertThat(PlegState.of(ContainerState.EXITED)).isEqualTo(EXITED);
        assertThat(PlegState.of(ContainerState.UNKNOWN)).isEqualTo(UNKNOWN);
        assertThat(PlegState.ofSandbox(true)).isEqualTo(RUNNING);
        assertThat(PlegState.ofSandbox(false)).isEqualTo(EXITED);
    }
}
