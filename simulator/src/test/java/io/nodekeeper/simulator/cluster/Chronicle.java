package io.nodekeeper.simulator.cluster;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.simulator.oracle.Sights;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Records when the states of nodes and pods in the API changed. Confined to virtual time. */
final class Chronicle implements Sights {
    /** The changes of a node or pod. */
    static final class Story {
        private JsonObject last = JsonObject.EMPTY;
        private String ready = "";
        /** Each value of Ready, and since when. */
        final List<Turn> turns = new ArrayList<>();

        Optional<Duration> noSchedule = Optional.empty();
        Optional<Duration> noExecute = Optional.empty();
        Instant noExecuteAdded = Instant.MAX;
        Optional<Duration> deleting = Optional.empty();
        int changes;
        int deletions;

        /** The first time at which Ready became {@code value}. */
        Optional<Duration> first(String value) {
            return turns.stream()
                    .filter(turn -> turn.value.equals(value))
                    .map(Turn::at)
                    .findFirst();
        }

        long count(String value) {
            return turns.stream().filter(turn -> turn.value.equals(value)).count();
        }
    }

    record Turn(String value, Duration at) {}

    final Map<String, Story> nodes = new TreeMap<>();
    final Map<String, Story> pods = new TreeMap<>();
    /** The number of times each event was written. */
    final Map<String, Integer> events = new TreeMap<>();

    private final VirtualTime time;

    Chronicle(VirtualTime time) {
        this.time = time;
    }

    /** The current state of nodes and pods in the API, without times and versions. */
    String state() {
        StringBuilder state = new StringBuilder();
        nodes.forEach((name, story) -> state.append(name)
                .append(' ')
                .append(conditions(story.last))
                .append(" taints ")
                .append(new Node(story.last)
                        .taints().stream()
                                .map(taint -> taint.key() + ":" + taint.effect())
                                .sorted()
                                .toList())
                .append('\n'));
        pods.forEach((name, story) -> state.append(name)
                .append(' ')
                .append(
                        story.last.isEmpty()
                                ? "gone"
                                : conditions(story.last)
                                        + (story.last.object("metadata").has("deletionTimestamp") ? " ending" : ""))
                .append('\n'));
        return state.toString();
    }

    /** The changes of a node; empty if there are none. */
    Story node(String name) {
        return nodes.getOrDefault(name, new Story());
    }

    /** The changes of a pod, by its name and the start of its UID; empty if there are none. */
    Story pod(String name) {
        return pods.getOrDefault(name, new Story());
    }

    @Override
    public void node(JsonObject json) {
        Node node = new Node(json);
        Story story = nodes.computeIfAbsent(node.name(), name -> new Story());
        change(story, json, node.ready().map(Condition::status).orElse(""));
        if (story.noSchedule.isEmpty() && node.hasTaint(Taint.UNREACHABLE, Taint.NO_SCHEDULE)) {
            story.noSchedule = Optional.of(time.elapsed());
        }
        if (story.noExecute.isEmpty() && node.hasTaint(Taint.UNREACHABLE, Taint.NO_EXECUTE)) {
            story.noExecute = Optional.of(time.elapsed());
            story.noExecuteAdded = node.taints().stream()
                    .filter(taint -> taint.effect().equals(Taint.NO_EXECUTE))
                    .flatMap(taint -> KubeTime.parse(taint.json().text("timeAdded")).stream())
                    .findFirst()
                    .orElse(Instant.MAX);
        }
    }

    @Override
    public void nodeGone(JsonObject node) {
        nodes.remove(new Node(node).name());
    }

    @Override
    public void lease(JsonObject lease) {}

    @Override
    public void event(JsonObject event) {
        JsonObject about = event.object("involvedObject");
        events.merge(about.text("name") + " " + event.text("reason"), 1, Integer::sum);
    }

    @Override
    public void pod(JsonObject pod) {
        Story story = pods.computeIfAbsent(name(pod), name -> new Story());
        String ready = pod.object("status")
                .array("conditions")
                .objects()
                .filter(condition -> condition.text("type").equals(Condition.READY))
                .map(condition -> condition.text("status"))
                .findFirst()
                .orElse("");
        boolean wasEnding = story.last.object("metadata").has("deletionTimestamp");
        change(story, pod, ready);
        if (!wasEnding && pod.object("metadata").has("deletionTimestamp")) {
            story.deletions++;
            story.deleting = Optional.of(time.elapsed());
        }
    }

    @Override
    public void podGone(JsonObject pod) {
        Story story = pods.computeIfAbsent(name(pod), name -> new Story());
        if (story.deleting.isEmpty()) {
            story.deletions++;
            story.deleting = Optional.of(time.elapsed());
        }
        story.last = JsonObject.EMPTY;
        story.ready = "";
    }

    private void change(Story story, JsonObject object, String ready) {
        story.last = object;
        story.changes++;
        if (!ready.equals(story.ready)) {
            story.ready = ready;
            story.turns.add(new Turn(ready, time.elapsed()));
        }
    }

    private static String name(JsonObject pod) {
        return pod.object("metadata").text("name") + "/"
                + pod.object("metadata").text("uid").substring(0, 8);
    }

    private static String conditions(JsonObject object) {
        return object.object("status")
                .array("conditions")
                .objects()
                .map(condition -> condition.text("type") + "=" + condition.text("status"))
                .sorted()
                .collect(Collectors.joining(" "));
    }
}
