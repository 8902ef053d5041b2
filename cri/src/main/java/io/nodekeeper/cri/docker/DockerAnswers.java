package io.nodekeeper.cri.docker;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.cri.ContainerUsage;
import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.ImageFilesystem;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.PodSandboxStatus;
import io.nodekeeper.cri.RuntimeCondition;
import io.nodekeeper.cri.RuntimeStatus;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Converts Docker's answers to values. What is a sandbox and to which pod it belongs is in the labels that Kubernetes' dockershim
 * gave to its containers. An answer that lacks what is needed causes an {@link IllegalArgumentException}. Pure.
 */
final class DockerAnswers {
    /** A dangling image has this name. */
    private static final String NO_NAME = "<none>";

    private DockerAnswers() {}

    /** The containers of a list; those that are sandboxes apart. */
    static Listing list(JsonValue answer) {
        if (!(answer instanceof JsonArray array)) {
            throw new IllegalArgumentException(
                    "a JSON array of containers was expected, got " + UnreadableException.quote(answer.toString()));
        }
        List<PodSandbox> sandboxes = new ArrayList<>();
        List<Container> containers = new ArrayList<>();
        array.objects().forEach(entry -> {
            JsonObject labels = entry.object("Labels");
            switch (labels.text(Labels.TYPE)) {
                case Labels.SANDBOX -> sandboxes.add(sandbox(entry, labels));
                case Labels.CONTAINER -> containers.add(container(entry, labels));
                default -> {
                    // Not of a pod.
                }
            }
        });
        return new Listing(List.copyOf(sandboxes), List.copyOf(containers));
    }

    /** The sandboxes and containers of one list. */
    record Listing(List<PodSandbox> sandboxes, List<Container> containers) {}

    private static PodSandbox sandbox(JsonObject entry, JsonObject labels) {
        String name = entry.array("Names").strings().findFirst().orElse("");
        return sandbox(
                id(entry),
                labels,
                name,
                state(entry.text("State")) == ContainerState.RUNNING,
                entry.number("Created").orElse(0L) * 1_000_000_000L);
    }

    private static PodSandbox sandbox(String id, JsonObject labels, String name, boolean ready, long createdAt) {
        return new PodSandbox(
                id,
                labels.text(Labels.POD_UID),
                labels.text(Labels.POD_NAME),
                labels.text(Labels.POD_NAMESPACE),
                Labels.attempt(name),
                ready,
                createdAt);
    }

    private static Container container(JsonObject entry, JsonObject labels) {
        Set<String> images = new LinkedHashSet<>();
        Stream.of(entry.text("Image"), entry.text("ImageID"))
                .filter(image -> !image.isEmpty())
                .forEach(images::add);
        return new Container(
                id(entry),
                labels.text(Labels.SANDBOX_ID),
                labels.text(Labels.CONTAINER_NAME),
                labels.text(Labels.POD_UID),
                state(entry.text("State")),
                entry.number("Created").orElse(0L) * 1_000_000_000L,
                images);
    }

    /** A paused container runs; one that is being restarted, removed or is dead is in no state of Kubernetes. */
    private static ContainerState state(String state) {
        return switch (state) {
            case "created" -> ContainerState.CREATED;
            case "running", "paused" -> ContainerState.RUNNING;
            case "exited" -> ContainerState.EXITED;
            default -> ContainerState.UNKNOWN;
        };
    }

    /** The status of a sandbox from its inspection. It has no addresses on the host's network. */
    static PodSandboxStatus sandbox(String id, JsonObject answer) {
        about(id, answer);
        JsonObject network = answer.object("NetworkSettings");
        Set<String> ips = new LinkedHashSet<>();
        addresses(network, ips);
        network.object("Networks").fields().values().forEach(value -> {
            if (value instanceof JsonObject attached) {
                addresses(attached, ips);
            }
        });
        JsonObject labels = answer.object("Config").object("Labels");
        boolean ready = answer.object("State").bool("Running");
        return new PodSandboxStatus(
                sandbox(id(answer), labels, answer.text("Name"), ready, time(answer.text("Created"))),
                ready ? List.copyOf(ips) : List.of());
    }

    private static void addresses(JsonObject network, Set<String> ips) {
        Stream.of(network.text("IPAddress"), network.text("GlobalIPv6Address"))
                .filter(ip -> !ip.isEmpty())
                .forEach(ips::add);
    }

    /** The status of a container from its inspection, with dockershim's reasons. */
    static ContainerStatus container(String id, JsonObject answer) {
        about(id, answer);
        JsonObject state = answer.object("State");
        JsonObject labels = answer.object("Config").object("Labels");
        long started = time(state.text("StartedAt"));
        long finished = time(state.text("FinishedAt"));
        int code = state.number("ExitCode").orElse(0L).intValue();
        boolean running = state.bool("Running");
        ContainerState now = running
                ? ContainerState.RUNNING
                : started == 0 && finished == 0 && code == 0 ? ContainerState.CREATED : ContainerState.EXITED;
        return new ContainerStatus(
                id(answer),
                labels.text(Labels.CONTAINER_NAME),
                now,
                started,
                // A container that was started again still has the time of its last end.
                running ? 0 : finished,
                code,
                now == ContainerState.EXITED ? reason(state, started, code) : "",
                state.text("Error"),
                new ContainerStatus.Origin(
                        Labels.attempt(answer.text("Name")),
                        time(answer.text("Created")),
                        answer.object("Config").text("Image"),
                        answer.text("Image"),
                        Labels.annotations(labels)));
    }

    private static String reason(JsonObject state, long started, int code) {
        if (state.bool("OOMKilled")) {
            return "OOMKilled";
        }
        if (started == 0) {
            return "ContainerCannotRun";
        }
        return code == 0 ? "Completed" : "Error";
    }

    /** The usage of a container that can be inspected. Its inspection says nothing about what it uses, so all numbers are 0. */
    static ContainerUsage usage(String id, JsonObject answer) {
        about(id, answer);
        return new ContainerUsage(id, 0, 0, 0, 0);
    }

    /** The daemon answered, so it is ready unless it has lost containerd. It reports nothing about networks. */
    static RuntimeStatus status(JsonObject info) {
        String commit = info.object("ContainerdCommit").text("ID");
        boolean lost = commit.equals("N/A");
        return new RuntimeStatus(
                List.of(
                        new RuntimeCondition(
                                RuntimeCondition.RUNTIME_READY,
                                !lost,
                                lost ? "ContainerdNotReady" : "",
                                lost ? "docker: containerd does not answer dockerd" : ""),
                        new RuntimeCondition(RuntimeCondition.NETWORK_READY, true, "", "")),
                List.of(),
                Optional.empty());
    }

    /** The images of a list, without names for those that have none. */
    static List<Image> images(JsonValue answer) {
        if (!(answer instanceof JsonArray array)) {
            throw new IllegalArgumentException(
                    "a JSON array of images was expected, got " + UnreadableException.quote(answer.toString()));
        }
        return array.objects().map(entry -> image(entry, "")).toList();
    }

    /** An image from its inspection. */
    static Image image(JsonObject answer) {
        return image(answer, answer.object("Config").text("User"));
    }

    private static Image image(JsonObject answer, String userAndGroup) {
        String user = userAndGroup.replaceFirst(":.*", "");
        boolean number = user.matches("[0-9]{1,10}");
        return new Image(
                id(answer),
                names(answer.array("RepoDigests")),
                names(answer.array("RepoTags")),
                answer.number("Size").orElse(0L),
                number ? OptionalLong.of(Long.parseLong(user)) : OptionalLong.empty(),
                number ? "" : user);
    }

    private static List<String> names(JsonArray names) {
        return names.strings().filter(name -> !name.startsWith(NO_NAME)).toList();
    }

    /** Docker's directory with the sum of the images' sizes, in which layers of several images count for each of them. */
    static List<ImageFilesystem> filesystems(JsonObject info, List<Image> images) {
        String root = info.text("DockerRootDir");
        if (root.isEmpty()) {
            throw new IllegalArgumentException("an answer with a DockerRootDir was expected, got one without");
        }
        return List.of(
                new ImageFilesystem(root, images.stream().mapToLong(Image::size).sum(), 0));
    }

    private static String id(JsonObject answer) {
        String id = answer.text("Id");
        if (id.isEmpty()) {
            throw new IllegalArgumentException("an entry with an Id was expected, got one without");
        }
        return id;
    }

    /** Docker accepts a name or a prefix of an id as the id, so the answer may have a longer one. */
    private static void about(String id, JsonObject answer) {
        if (!id(answer).startsWith(id)) {
            throw new IllegalArgumentException(
                    "an answer about \"" + id + "\" was expected, got one about \"" + id(answer) + "\"");
        }
    }

    /** Nanoseconds since 1970; 0 for the year 1, which is Go's word for no time, and for no text. */
    private static long time(String text) {
        if (text.isEmpty() || text.startsWith("0001-")) {
            return 0;
        }
        try {
            Instant at = OffsetDateTime.parse(text).toInstant();
            return Math.addExact(Math.multiplyExact(at.getEpochSecond(), 1_000_000_000L), at.getNano());
        } catch (DateTimeException | ArithmeticException e) {
            throw new IllegalArgumentException(
                    "a time such as 2006-01-02T15:04:05.999999999Z was expected, got "
                            + UnreadableException.quote(text),
                    e);
        }
    }
}
