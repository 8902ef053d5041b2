package io.nodekeeper.agent.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pods.turns.PodTurns;
import io.nodekeeper.agent.pods.turns.StopTurns;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Many containers that end at the same time, with hooks. */
class StopTurnsTest extends SimulatedNode {

    @Test
    void shouldKeepABoundedNumberOfCommandsAndStopsUnderWayAndMakeThemAll() {
        // given three pods with forty containers each, and ten places beside the first of each pod
        stops = new StopTurns(new PodTurns(110, 10), new PodTurns(110, 10));
        for (String name : List.of("a", "b", "c")) {
            addWithHooks(name, 40);
        }
        start(110);
        advance(60);
        assertThat(runtime.calls("StartContainer")).isEqualTo(120);
        runtime.delay("ExecSync", Duration.ofMillis(700));
        runtime.delay("StopContainer", Duration.ofMillis(700));

        // when all of them end
        List.of("a", "b", "c").forEach(this::delete);
        for (int second = 0; second < 60; second++) {
            advance(1);
            assertThat(runtime.open("ExecSync")).isLessThanOrEqualTo(13);
            assertThat(runtime.open("StopContainer")).isLessThanOrEqualTo(13);
        }

        // then each hook ran once, and all are gone
        assertThat(runtime.calls("ExecSync")).isEqualTo(120);
        assertThat(runtime.calls("StopContainer")).isEqualTo(120);
        assertThat(pods).isEmpty();
    }

    @Test
    void shouldEndAPodWhileAllHooksOfOthersHang() {
        // given pods whose hooks hang until their ten minutes are over
        stops = new StopTurns(new PodTurns(110, 10), new PodTurns(110, 10));
        for (String name : List.of("a", "b", "c", "d", "e")) {
            addWithHooks(name, 10);
        }
        add("web");
        start(110);
        advance(60);
        runtime.hang("ExecSync");
        List.of("a", "b", "c", "d", "e").forEach(name -> delete(name, 600));
        advance(5);
        assertThat(runtime.open("ExecSync")).isBetween(12L, 15L);

        // when another pod ends
        delete("web");
        advance(3);

        // then it is gone, and they are not
        assertThat(pods).containsOnlyKeys("a", "b", "c", "d", "e");
    }

    @Test
    void shouldCountTheTimeForWhichAHookWaitsForItsTurn() {
        // given one place for hooks, and a pod with three containers whose hooks take 20 s
        stops = new StopTurns(new PodTurns(1, 0), new PodTurns(1, 0));
        addWithHooks("web", 3);
        start(110);
        advance(10);
        runtime.delay("ExecSync", Duration.ofSeconds(20));

        // when it has 30 s to end
        delete("web");
        advance(25);
        assertThat(hookTimes()).containsExactly(30L, 10L);
        advance(30);

        // then the third hook did not run, and the containers had what was left, but not less than two seconds
        assertThat(hookTimes()).containsExactly(30L, 10L);
        assertThat(events)
                .contains("web Warning FailedPreStopHook PreStopHook failed: no time was left after those of other"
                        + " containers");
        assertThat(runtime.calls().stream()
                        .filter(RuntimeCall.StopContainer.class::isInstance)
                        .map(call -> ((RuntimeCall.StopContainer) call).grace().toSeconds()))
                .containsExactly(10L, 2L, 2L);
        assertThat(pods).isEmpty();
    }

    @Test
    void shouldGiveUpHooksThatWaitWhenThePodHasLessTime() {
        // given one place, which a hook that hangs has, and another hook that waits
        stops = new StopTurns(new PodTurns(1, 0), new PodTurns(1, 0));
        addWithHooks("web", 2);
        start(110);
        advance(10);
        runtime.hang("ExecSync");
        delete("web", 600);
        advance(5);
        assertThat(hookTimes()).containsExactly(600L);
        runtime.heal("ExecSync");

        // when the pod has five seconds
        delete("web", 5);
        advance(10);

        // then its hooks run again within that, and it is gone
        assertThat(hookTimes()).containsExactly(600L, 5L, 5L);
        assertThat(pods).isEmpty();
    }

    private List<Long> hookTimes() {
        return runtime.calls().stream()
                .filter(RuntimeCall.ExecSync.class::isInstance)
                .map(call -> ((RuntimeCall.ExecSync) call).timeout().toSeconds())
                .toList();
    }

    private void addWithHooks(String name, int containers) {
        String all =
                IntStream.range(0, containers).mapToObj(i -> """
                        {"name": "c%d", "image": "app:1", "lifecycle": {"preStop": {"exec": {"command": ["drain"]}}}}""".formatted(i)).collect(Collectors.joining(","));
        change(name, Json.parseObject("""
                {"metadata": {"name": "%1$s", "namespace": "shop", "uid": "uid-%1$s", "resourceVersion": "1"},
                 "spec": {"nodeName": "n1", "containers": [%2$s]}, "status": {"phase": "Pending"}}
                """.formatted(name, all)));
    }
}
