package io.nodekeeper.simulator.replay;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Makes recordings of clusters that never existed. Times are seconds since the beginning. */
public final class Tape {
    public static final Instant BEGIN = Instant.parse("2026-11-30T06:00:00Z");

    private final List<RecordedChange> changes = new ArrayList<>();

    /** A Node was seen with this status of Ready, reported at {@code heard}. */
    public Tape node(double at, String name, String uid, String ready, double heard) {
        Condition condition = Condition.of(
                Condition.READY,
                ready,
                ready.equals(Condition.UNKNOWN) ? "NodeStatusUnknown" : "KubeletReady",
                "",
                time(heard),
                time(heard));
        JsonObject node = JsonObject.EMPTY
                .with("metadata", JsonObject.EMPTY.with("name", name).with("uid", uid))
                .with("status", JsonObject.EMPTY.with("conditions", JsonArray.of(condition.json())));
        changes.add(new RecordedChange.NodeSeen(seconds(at), RecordedNode.of(new Node(node))));
        return this;
    }

    /** A ready Node that renews each 10 s. */
    public Tape renews(String name, double from, double to) {
        for (double at = from; at <= to; at += 10) {
            changes.add(new RecordedChange.Renewed(seconds(at), name, KubeTime.formatMicro(time(at))));
        }
        return this;
    }

    public Tape add(RecordedChange change) {
        changes.add(change);
        return this;
    }

    public Tape gone(double at, String name) {
        return add(new RecordedChange.NodeGone(seconds(at), name));
    }

    /** The recorder could not see from {@code since} to {@code found}, and noticed 5 s later. */
    public Tape blind(double since, double found) {
        return add(new RecordedChange.SightLost(seconds(since + 5), seconds(since)))
                .add(new RecordedChange.SightFound(seconds(found)));
    }

    /** Writes all changes by their time. */
    public Recording write(Path file, double end) throws IOException {
        changes.sort(Comparator.comparing(RecordedChange::at));
        try (RecordingWriter writer = new RecordingWriter(Files.newOutputStream(file), BEGIN)) {
            for (RecordedChange change : changes) {
                writer.write(change);
            }
            writer.write(new RecordedChange.End(seconds(end)));
        }
        return Recording.read(file);
    }

    public static Duration seconds(double seconds) {
        return Duration.ofNanos(Math.round(seconds * 1e6) * 1_000);
    }

    private static Instant time(double at) {
        return BEGIN.plus(seconds(at));
    }
}
