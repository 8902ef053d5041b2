package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.objects.ObjectCache;
import io.nodekeeper.agent.pods.registry.DockerConfig;
import io.nodekeeper.agent.pods.registry.Keyring;
import io.nodekeeper.agent.pods.sync.Reasons;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.cri.config.RegistryCredentials;
import io.nodekeeper.cri.config.SandboxConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Gets the images of one pod's containers: from the node, or from a registry with the credentials of the pod and then those of the
 * node. Confined to the loop of its ports.
 */
final class ImagePuller {
    /** The longest name of a user that an image may have: Linux' tools allow 32 characters, and an image may have a megabyte. */
    private static final int LONGEST_USER = 256;

    private final PodPorts ports;
    private final PodEvents events;
    private Optional<CompletableFuture<String>> pulling = Optional.empty();
    /** What the runtime is asked for at the moment. */
    private Optional<CompletableFuture<String>> asked = Optional.empty();

    private final PodStarts starts;

    ImagePuller(PodPorts ports, PodStarts starts) {
        this.ports = ports;
        this.starts = starts;
        this.events = new PodEvents(ports.events());
    }

    /** The image of {@code container} by its pull policy. Fails with a {@link CommandFailure}. */
    CompletableFuture<Image> get(Pod pod, ContainerSpec container, SandboxConfig sandbox) {
        String name = container.image();
        if (container.pullPolicy() == ContainerSpec.PullPolicy.ALWAYS) {
            return pull(pod, name, sandbox);
        }
        boolean pulls = container.pullPolicy() != ContainerSpec.PullPolicy.NEVER;
        // What the node cannot pull again is not removed.
        CompletableFuture<Optional<Image>> there = pulls ? storedOrRemoved(name) : stored(name);
        return CommandFailure.failing(Reasons.ERR_IMAGE_PULL, there).thenCompose(image -> {
            if (image.isPresent()) {
                events.normal(pod, "Pulled", "Container image \"" + name + "\" already present on machine");
                return CompletableFuture.completedFuture(image.get());
            }
            if (!pulls) {
                String message = "Container image \"" + name + "\" is not present with pull policy of Never";
                return CompletableFuture.failedFuture(new CommandFailure(Reasons.ERR_IMAGE_NEVER_PULL, message));
            }
            return pull(pod, name, sandbox);
        });
    }

    private CompletableFuture<Optional<Image>> stored(String name) {
        RuntimeCall.GetImage call = new RuntimeCall.GetImage(name);
        return ports.runtime().call(call, ports.callDeadline()).thenApply(found -> {
            if (found.filter(image -> image.userName().length() > LONGEST_USER).isPresent()) {
                throw new RuntimeCallException(
                        call.method(),
                        RuntimeCallException.Code.TOO_LARGE,
                        "the name of the image's user has more than " + LONGEST_USER + " characters");
            }
            return found;
        });
    }

    /**
     * As {@link #stored}. An image of which the runtime tells too much goes: no container can start from it, and with some of them the
     * list of all images is too large to be read, so that no image could be removed any more.
     */
    private CompletableFuture<Optional<Image>> storedOrRemoved(String name) {
        return stored(name).exceptionallyCompose(error -> {
            boolean tooLarge = RuntimeCallException.isCode(Failures.cause(error), RuntimeCallException.Code.TOO_LARGE);
            return tooLarge ? remove(name, error) : CompletableFuture.failedFuture(error);
        });
    }

    /** Always fails. */
    private CompletableFuture<Optional<Image>> remove(String name, Throwable why) {
        return ports.runtime()
                .call(new RuntimeCall.RemoveImage(name), ports.callDeadline())
                .handle((done, error) -> {
                    String result = error == null
                            ? "the image is removed from the node"
                            : "the image cannot be removed from the node: " + Failures.text(error);
                    throw new CommandFailure(Reasons.ERR_IMAGE_PULL, Failures.text(why) + "; " + result);
                });
    }

    /** Gives up the image that is being pulled, because the pod must end: the runtime ends its call, and goes on there the next time. */
    void abandon() {
        Optional<CompletableFuture<String>> pull = pulling;
        Optional<CompletableFuture<String>> call = asked;
        pulling = Optional.empty();
        pull.ifPresent(image -> image.completeExceptionally(
                new CommandFailure(Reasons.ERR_IMAGE_PULL, "given up, because the pod must end")));
        call.ifPresent(image -> image.cancel(true));
    }

    private CompletableFuture<Image> pull(Pod pod, String name, SandboxConfig sandbox) {
        if (starts.isOver()) {
            return CompletableFuture.failedFuture(CommandFailure.abandoned());
        }
        events.normal(pod, "Pulling", "Pulling image \"" + name + "\"");
        long start = ports.loop().clock().nanoTime();
        CompletableFuture<String> call =
                credentials(pod, name).thenCompose(all -> pull(name, sandbox, all, 0, new ArrayList<>()));
        pulling = Optional.of(call);
        return CommandFailure.failing(Reasons.ERR_IMAGE_PULL, call.thenCompose(this::storedOrRemoved))
                .thenApply(image -> {
                    Duration took = Duration.ofNanos(ports.loop().clock().nanoTime() - start);
                    events.normal(
                            pod, "Pulled", "Successfully pulled image \"" + name + "\" in " + took.toMillis() + "ms");
                    return image.orElseThrow(() -> new CommandFailure(
                            Reasons.ERR_IMAGE_PULL, "the runtime pulled image \"" + name + "\" and does not have it"));
                })
                .whenComplete((image, error) -> {
                    boolean givenUp = pulling.isEmpty();
                    pulling = Optional.empty();
                    if (error != null && !givenUp) {
                        events.warning(pod, "Failed", "Failed to pull image \"" + name + "\": " + Failures.text(error));
                    }
                });
    }

    /** Tries the credentials from {@code index} on, one after another; without any, one pull without. */
    private CompletableFuture<String> pull(
            String name, SandboxConfig sandbox, List<RegistryCredentials> all, int index, List<String> errors) {
        if (starts.isOver()) {
            return CompletableFuture.failedFuture(CommandFailure.abandoned());
        }
        Optional<RegistryCredentials> next = all.isEmpty() ? Optional.empty() : Optional.of(all.get(index));
        CompletableFuture<String> call =
                ports.runtime().call(new RuntimeCall.PullImage(name, sandbox, next), RuntimeCall.PullImage.LONGEST);
        asked = Optional.of(call);
        return call.whenComplete((image, error) -> asked = Optional.empty()).exceptionallyCompose(error -> {
            errors.add(Failures.text(error));
            if (index + 1 < all.size() && !starts.isOver()) {
                return pull(name, sandbox, all, index + 1, errors);
            }
            String message = errors.size() == 1 ? errors.getFirst() : errors.toString();
            return CompletableFuture.failedFuture(new CommandFailure(Reasons.ERR_IMAGE_PULL, message));
        });
    }

    /** The credentials for an image: those of the pod's Secrets, then those of the node. */
    private CompletableFuture<List<RegistryCredentials>> credentials(Pod pod, String image) {
        Map<String, CompletableFuture<Optional<JsonObject>>> reads = new LinkedHashMap<>();
        pod.imagePullSecrets()
                .forEach(name -> reads.put(
                        name,
                        ports.objects()
                                .get(ResourceType.SECRETS, pod.namespace(), name, ObjectCache.NEW)
                                .exceptionally(error -> Optional.empty())));
        CompletableFuture<List<DockerConfig.Entry>> node = ports.onDisk(
                "credentials of registries", () -> ports.credentials().read());
        return CompletableFuture.allOf(reads.values().toArray(CompletableFuture[]::new))
                .thenCombine(node, (done, own) -> {
                    List<DockerConfig.Entry> entries = new ArrayList<>();
                    List<String> missing = new ArrayList<>();
                    reads.forEach((name, read) -> read.join()
                            .ifPresentOrElse(secret -> entries.addAll(entries(name, secret)), () -> missing.add(name)));
                    if (!missing.isEmpty()) {
                        events.warning(
                                pod,
                                "FailedToRetrieveImagePullSecret",
                                "Unable to retrieve some image pull secrets (" + String.join(", ", missing)
                                        + "); attempting to pull the image may not succeed.");
                    }
                    List<RegistryCredentials> all = new ArrayList<>(new Keyring(entries).of(image));
                    all.addAll(new Keyring(own).of(image));
                    return all;
                });
    }

    private static List<DockerConfig.Entry> entries(String name, JsonObject secret) {
        try {
            return DockerConfig.ofSecret(secret);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(
                    Reasons.ERR_IMAGE_PULL, "image pull secret \"" + name + "\" is wrong: " + e.getMessage());
        }
    }
}
