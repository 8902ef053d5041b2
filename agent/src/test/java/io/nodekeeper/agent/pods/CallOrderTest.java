package io.nodekeeper.agent.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** All calls to the runtime about one pod, from its start to its end, beside those of a kubelet (docs/spec/cri-calls.md). */
class CallOrderTest extends SimulatedNode {
    /** Virtual time stands still between a command and the next list, so that list does not count as newer, and another one follows. */
    private static final String AGAIN = "ListPodSandbox uid-web";

    @Test
    void shouldMakeTheCallsOfAKubeletInItsOrder() {
        runtime.delay("*", Duration.ofMillis(1));
        start(110);
        advance(5);

        add("web", "", """
                , "initContainers": [{"name": "prepare", "image": "prepare:1"}]""");
        time.advance(Duration.ofMillis(50));
        assertThat(callsAboutPods())
                .containsExactly(
                        "RunPodSandbox uid-web",
                        "ListPodSandbox uid-web",
                        "ListContainers uid-web",
                        "PodSandboxStatus made-1",
                        "ImageStatus prepare:1",
                        "PullImage uid-web",
                        "ImageStatus sha256:prepare:1",
                        "CreateContainer prepare",
                        "StartContainer made-2",
                        "ListPodSandbox uid-web",
                        "ListContainers uid-web",
                        "PodSandboxStatus made-1",
                        "ContainerStatus made-2",
                        AGAIN,
                        "ListContainers uid-web");

        runtime.container("made-2", "uid-web", "prepare", ContainerState.EXITED);
        advance(2);
        assertThat(callsAboutPods())
                .containsExactly(
                        "PodSandboxStatus made-1",
                        "ContainerStatus made-2",
                        "ImageStatus app:1",
                        "PullImage uid-web",
                        "ImageStatus sha256:app:1",
                        "CreateContainer app",
                        "StartContainer made-3",
                        "ListPodSandbox uid-web",
                        "ListContainers uid-web",
                        "PodSandboxStatus made-1",
                        "ContainerStatus made-2",
                        "ContainerStatus made-3",
                        AGAIN,
                        "ListContainers uid-web");

        delete("web");
        time.advance(Duration.ofMillis(100));
        assertThat(callsAboutPods())
                .containsExactly(
                        "StopContainer made-3",
                        "StopPodSandbox made-1",
                        "ListPodSandbox uid-web",
                        "ListContainers uid-web",
                        "PodSandboxStatus made-1",
                        "ContainerStatus made-2",
                        "ContainerStatus made-3",
                        "RemoveContainer made-3",
                        "RemoveContainer made-2",
                        "RemovePodSandbox made-1",
                        "ListPodSandbox uid-web",
                        "ListContainers uid-web",
                        AGAIN,
                        "ListContainers uid-web");
        assertThat(pods).isEmpty();
    }

    /** The calls since the last question, without the lists of all pods, which come each second. */
    private List<String> callsAboutPods() {
        List<String> texts = runtime.calls().stream()
                .filter(call -> !isOfAll(call))
                .map(CallOrderTest::text)
                .toList();
        runtime.calls().clear();
        return texts;
    }

    private static boolean isOfAll(RuntimeCall<?> call) {
        return switch (call) {
            case RuntimeCall.ListSandboxes(Optional<String> uid) -> uid.isEmpty();
            case RuntimeCall.ListContainers(Optional<String> uid) -> uid.isEmpty();
            default -> false;
        };
    }

    private static String text(RuntimeCall<?> call) {
        String about = switch (call) {
            case RuntimeCall.GetImage(String image) -> image;
            case RuntimeCall.CreateContainer create -> create.config().name();
            default -> call.containerId().or(call::sandboxId).or(call::podUid).orElse("");
        };
        return call.method() + " " + about;
    }
}
