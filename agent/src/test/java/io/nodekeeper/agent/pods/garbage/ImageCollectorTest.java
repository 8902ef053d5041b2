package io.nodekeeper.agent.pods.garbage;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.config.ImageGcConfig;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.RuntimeCallException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Which images are removed, and when, in virtual time. The disk has 1,000 bytes. */
class ImageCollectorTest {
    private final ImageNode node = new ImageNode(ImageGcConfig.DEFAULT);

    @Test
    void shouldRemoveNothingBelowTheHighThreshold() {
        node.image("old", 100);
        // 840 of 1,000 bytes; a kubelet rounds 84.1 % up to 85.
        node.others = 739;
        node.round();

        assertThat(node.images()).containsExactly("pause", "old");
        assertThat(node.events).isEmpty();
    }

    @Test
    void shouldRemoveTheLongestUnusedImagesUntilTheLowThreshold() {
        node.image("first", 40);
        node.image("second", 40);
        node.image("third", 40);
        node.image("never", 40);
        node.round();
        for (String name : List.of("second", "first", "third")) {
            node.time.advance(Duration.ofMinutes(1));
            node.collector.tick(Set.of("sha256:" + name));
        }
        node.others = 720;

        // 881 bytes; two images of 40 lead to 801, and the third to less than 800.
        node.round();

        assertThat(node.asked()).containsExactly("never", "second", "first");
        assertThat(node.images()).containsExactly("pause", "third");
        assertThat(node.removed).containsExactly("space", "space", "space");
        assertThat(node.events).isEmpty();
    }

    @Test
    void shouldKeepWhatContainersPodsAndSandboxesNeed() {
        node.image("running", 100);
        node.image("ended", 100);
        node.image("wanted", 100);
        node.pinned("pinned", 100);
        node.image("unused", 100);
        node.runtime.container("c1", "p1", ContainerState.RUNNING, "sha256:running");
        node.runtime.container("c2", "p2", ContainerState.EXITED, "ended:1");
        node.needed.add("wanted:1");
        node.others = 400;

        node.round();

        assertThat(node.images()).containsExactly("pause", "running", "ended", "wanted", "pinned");
        assertThat(node.events)
                .containsExactly(
                        "FreeDiskSpaceFailed: Failed to garbage collect required amount of images. Attempted to"
                                + " free 1 bytes, but only found 0 bytes eligible to free.");
    }

    @Test
    void shouldRemoveAllUnusedImagesBeforePodsEnd() {
        node.image("used", 100);
        node.image("a", 100);
        node.image("b", 100);
        node.runtime.container("c1", "p1", ContainerState.RUNNING, "sha256:used");

        node.removeUnused();

        assertThat(node.images()).containsExactly("pause", "used");
    }

    @Test
    void shouldKeepAnImageForItsMinimumAge() {
        node.round();
        node.image("young", 100);
        node.round();
        node.removeUnused();
        assertThat(node.images()).containsExactly("pause", "young");

        node.time.advance(Duration.ofMinutes(2));
        node.removeUnused();

        assertThat(node.images()).containsExactly("pause");
    }

    @Test
    void shouldRemoveNothingWhileTheContainersAreNotKnown() {
        node.image("old", 100);
        node.others = 850;
        node.runtime.fail(
                "ListContainers",
                new RuntimeCallException("ListContainers", RuntimeCallException.Code.OTHER, "out of order"));

        node.round();
        assertThat(node.events).isEmpty();
        node.round();
        node.removeUnused();

        assertThat(node.asked()).isEmpty();
        // The first time may be a start; then it is an event.
        assertThat(node.events)
                .hasSize(1)
                .first()
                .asString()
                .startsWith("ImageGCFailed: ")
                .contains("out of order");
    }

    @Test
    void shouldRemoveNothingWhileTheListOfContainersHangs() {
        node.image("old", 100);
        node.others = 850;
        node.runtime.hang("ListContainers");

        CompletableFuture<Void> round = node.round();
        node.time.advance(Duration.ofSeconds(30));

        assertThat(round).isCompleted();
        assertThat(node.asked()).isEmpty();
    }

    @Test
    void shouldRemoveNothingIfAContainerShowsNoImage() {
        node.image("old", 100);
        node.runtime.container("c1", "p1", "app", ContainerState.RUNNING);

        node.removeUnused();

        assertThat(node.asked()).isEmpty();
    }

    @Test
    void shouldRemoveNothingIfNobodyNamesTheImageOfSandboxes() {
        node.image("old", 100);
        node.runtime.sandboxImage(Optional.empty());
        node.removeUnused();
        assertThat(node.asked()).isEmpty();

        // Newer runtimes pin it.
        node.pinned("pause2", 1);
        node.removeUnused();
        assertThat(node.asked()).contains("old").doesNotContain("pause2");
    }

    @Test
    void shouldGoOnWithOtherImagesIfOneIsNotRemoved() {
        node.image("hangs", 100);
        node.image("other", 100);
        node.runtime.hang("RemoveImage:sha256:hangs");

        CompletableFuture<Void> work = node.removeUnused();
        node.time.advance(Duration.ofSeconds(10));

        assertThat(node.images()).containsExactly("pause", "hangs");
        assertThat(work).isCompleted();
        // It is not asked for a second time while the first call hangs.
        node.removeUnused();
        assertThat(node.asked()).containsExactly("hangs", "other");
    }

    @Test
    void shouldSayThatImagesAreNotRemoved() {
        node.image("busy", 100);
        node.others = 850;
        node.runtime.fail(
                "RemoveImage", new RuntimeCallException("RemoveImage", RuntimeCallException.Code.OTHER, "in use"));

        node.round();
        node.round();

        assertThat(node.events)
                .hasSize(1)
                .first()
                .asString()
                .startsWith("ImageGCFailed: wanted to free 151 bytes, but freed 0 bytes space with errors in image"
                        + " deletion: image busy:1: ")
                .contains("in use");
    }

    @Test
    void shouldSayThatADiskHasNoCapacity() {
        node.capacity = 0;

        node.round();

        assertThat(node.events).containsExactly("InvalidDiskCapacity: invalid capacity 0 on image filesystem");
    }

    @Test
    void shouldNeverRemoveForSpaceWithAThresholdOf100() {
        ImageNode off = new ImageNode(new ImageGcConfig(100, 80, Duration.ZERO, Duration.ZERO));
        off.image("old", 999);

        off.round();

        assertThat(off.asked()).isEmpty();
    }

    @Test
    void shouldRemoveWhatWasNotUsedForTheMaximumAge() {
        ImageNode aging = new ImageNode(new ImageGcConfig(85, 80, Duration.ofMinutes(2), Duration.ofHours(1)));
        aging.image("old", 10);
        aging.image("used", 10);
        aging.round();
        aging.time.advance(Duration.ofMinutes(50));
        aging.collector.tick(Set.of("sha256:used"));
        aging.round();
        assertThat(aging.asked()).isEmpty();

        aging.time.advance(Duration.ofMinutes(15));
        aging.round();

        assertThat(aging.asked()).containsExactly("old");
        assertThat(aging.removed).containsExactly("age");
    }
}
