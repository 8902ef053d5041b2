package io.nodekeeper.agent.pods.garbage;

import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * The images of the node, apart by use. Immutable.
 *
 * @param all as the runtime lists them
 * @param unused those that no container has, running or not, that are not the sandboxes', and that are not pinned
 */
record UnusedImages(List<Image> all, List<Image> unused) {
    /** Lists come from the runtime's memory, unless its disk is busy. */
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    /** The images with these containers; {@code sandbox} is the image of sandboxes. */
    static UnusedImages of(List<Image> images, List<Container> containers, Optional<Image> sandbox) {
        Set<String> used = containers.stream()
                .flatMap(container -> container.images().stream())
                .collect(Collectors.toSet());
        return new UnusedImages(
                images,
                images.stream()
                        .filter(image -> !image.pinned()
                                && sandbox.filter(kept -> kept.id().equals(image.id()))
                                        .isEmpty()
                                && !ImageNames.isOneOf(image, used))
                        .toList());
    }

    /**
     * Reads them. Fails if one of the lists cannot be read, if a container shows no image, or if nothing says which image the
     * sandboxes need: then no image is known to be unused.
     */
    static CompletableFuture<UnusedImages> read(ContainerRuntime runtime) {
        return runtime.call(new RuntimeCall.GetSandboxImage(), DEADLINE)
                .thenCompose(name -> name.map(known -> runtime.call(new RuntimeCall.GetImage(known), DEADLINE))
                        .orElseGet(() -> CompletableFuture.completedFuture(Optional.empty()))
                        .thenCompose(sandbox -> runtime.call(new RuntimeCall.ListImages(), DEADLINE)
                                .thenCompose(images -> runtime.call(
                                                new RuntimeCall.ListContainers(Optional.empty()), DEADLINE)
                                        .thenApply(containers -> checked(name, images, containers, sandbox)))));
    }

    private static UnusedImages checked(
            Optional<String> sandboxName, List<Image> images, List<Container> containers, Optional<Image> sandbox) {
        if (sandboxName.isEmpty() && images.stream().noneMatch(Image::pinned)) {
            throw new IllegalStateException("no image is removed: the runtime neither names the image of sandboxes in"
                    + " its status nor pins one");
        }
        containers.stream()
                .filter(container -> container.images().isEmpty())
                .findFirst()
                .ifPresent(container -> {
                    throw new IllegalStateException(
                            "no image is removed: the runtime does not say which image container " + container.id()
                                    + " has");
                });
        return of(images, containers, sandbox);
    }

    /** The ids of the images in use. */
    Set<String> used() {
        Set<String> ids = all.stream().map(Image::id).collect(Collectors.toSet());
        unused.forEach(image -> ids.remove(image.id()));
        return ids;
    }
}
