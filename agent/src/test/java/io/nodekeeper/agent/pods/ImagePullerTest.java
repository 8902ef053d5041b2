package io.nodekeeper.agent.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What becomes of an image of which the runtime tells too much: anybody who runs a pod chooses one. */
class ImagePullerTest extends SimulatedNode {
    private static final String LONG_USER =
            "ImageStatus: TOO_LARGE: the name of the image's user has more than 256 characters";

    private JsonObject waiting() {
        return containerState("web").object("waiting");
    }

    private void have(int userName) {
        runtime.images(List.of(
                new Image("sha256:app:1", List.of(), List.of("app:1"), 1, OptionalLong.empty(), "u".repeat(userName))));
    }

    @Test
    void shouldRemoveAnImageWhoseStatusIsTooLargeAfterItsPull() {
        runtime.fail("ImageStatus", new RuntimeCallException("ImageStatus", RuntimeCallException.Code.TOO_LARGE, "no"));
        add("web", "\"imagePullPolicy\": \"Always\"", "");
        start(110);

        advance(1);

        assertThat(calls()).containsExactly("RunPodSandbox", "PullImage", "ImageStatus", "RemoveImage");
        assertThat(runtime.calls()).contains(new RuntimeCall.RemoveImage("sha256:app:1"));
        assertThat(waiting().text("reason")).isEqualTo("ErrImagePull");
        assertThat(waiting().text("message"))
                .isEqualTo("ImageStatus: TOO_LARGE: no; the image is removed from the node");
    }

    @Test
    void shouldRemoveAnImageWhoseUserHasALongName() {
        have(257);
        add("web");
        start(110);

        advance(1);

        assertThat(runtime.calls()).contains(new RuntimeCall.RemoveImage("app:1"));
        assertThat(waiting().text("reason")).isEqualTo("ErrImagePull");
        assertThat(waiting().text("message")).isEqualTo(LONG_USER + "; the image is removed from the node");
    }

    @Test
    void shouldNotRemoveAnImageThatIsNotPulledAgain() {
        have(257);
        add("web", "\"imagePullPolicy\": \"Never\"", "");
        start(110);

        advance(1);

        assertThat(calls()).containsExactly("RunPodSandbox", "ImageStatus");
        assertThat(waiting().text("message")).isEqualTo(LONG_USER);
    }

    @Test
    void shouldRunAnImageWhoseUserHasANameOf256Characters() {
        have(256);
        add("web");
        start(110);

        advance(5);

        assertThat(phase("web")).isEqualTo("Running");
    }
}
