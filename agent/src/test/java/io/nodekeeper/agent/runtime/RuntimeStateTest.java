package io.nodekeeper.agent.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCondition;
import io.nodekeeper.cri.RuntimeStatus;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RuntimeStateTest {
    private static final long START = 5_000_000_000L;
    private static final RuntimeState GOOD = RuntimeState.UNKNOWN.answered(FakeRuntime.ready(), START);

    private static RuntimeStatus status(RuntimeCondition... conditions) {
        return new RuntimeStatus(List.of(conditions), List.of(), Optional.empty());
    }

    private static long after(String duration) {
        return START + Duration.parse(duration).toNanos();
    }

    @Test
    @Tag("A54")
    void beforeTheFirstAnswerTheCheckMayNotHaveCompleted() {
        assertThat(RuntimeState.UNKNOWN.runtimeErrors(START, Optional.of("pleg has yet to be successful")))
                .containsExactly(
                        "container runtime status check may not have completed yet",
                        "PLEG is not healthy: pleg has yet to be successful");
        assertThat(RuntimeState.UNKNOWN.networkError()).contains("network state unknown");
    }

    @Test
    @Tag("A74")
    void aGoodAnswerCountsForLessThanThirtySeconds() {
        assertThat(GOOD.runtimeErrors(after("PT29.999S"), Optional.empty())).isEmpty();
        assertThat(GOOD.runtimeErrors(after("PT30S"), Optional.empty())).containsExactly("container runtime is down");
    }

    @Test
    @Tag("A76")
    void anAnswerWithOneConditionIsAnError() {
        RuntimeStatus one = status(new RuntimeCondition(RuntimeCondition.RUNTIME_READY, true, "", ""));

        assertThatThrownBy(() -> GOOD.answered(one, after("PT5S")))
                .hasMessage("RuntimeReady or NetworkReady condition are not set");
    }

    @Test
    @Tag("A76")
    void aRuntimeThatIsNotReadySaysSoAtOnceAndIsDownAfterThirtySeconds() {
        RuntimeStatus sick = status(
                new RuntimeCondition(RuntimeCondition.RUNTIME_READY, false, "Broken", "no shim"),
                new RuntimeCondition(RuntimeCondition.NETWORK_READY, true, "", ""));

        RuntimeState state = GOOD.answered(sick, after("PT5S"));

        String text = "container runtime not ready: RuntimeReady=false reason:Broken message:no shim";
        assertThat(state.runtimeErrors(after("PT5S"), Optional.empty())).containsExactly(text);
        assertThat(state.runtimeErrors(after("PT30S"), Optional.empty()))
                .containsExactly("container runtime is down", text);
    }

    @Test
    @Tag("A55")
    void aNetworkThatIsNotReadyIsAnErrorOfItsOwn() {
        RuntimeStatus cut = status(
                new RuntimeCondition(RuntimeCondition.RUNTIME_READY, true, "", ""),
                new RuntimeCondition(
                        RuntimeCondition.NETWORK_READY, false, "NetworkPluginNotReady", "cni plugin not initialized"));

        RuntimeState state = GOOD.answered(cut, after("PT5S"));

        assertThat(state.runtimeErrors(after("PT34S"), Optional.empty())).isEmpty();
        assertThat(state.networkError())
                .contains("container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady"
                        + " message:cni plugin not initialized");
    }

    @Test
    void aNetworkThatIsNotSpokenOfIsNotReady() {
        RuntimeStatus odd = status(
                new RuntimeCondition(RuntimeCondition.RUNTIME_READY, true, "", ""),
                new RuntimeCondition("SomethingElse", true, "", ""));

        assertThat(GOOD.answered(odd, START).networkError()).contains("container runtime network not ready: <nil>");
    }
}
