package io.nodekeeper.controller.history;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Texts;
import io.nodekeeper.api.json.JsonMemory;
import io.nodekeeper.api.json.JsonObject;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * One finding or action of the controller about one node, with its causes.
 *
 * @param at when, by the controller's wall clock, to the microsecond
 * @param node the node's name; empty if it is about the controller itself or a pod without a node
 * @param uid the node's UID, which may be empty; the pod's if it is about a pod without a node
 * @param kind a word in CamelCase: {@code Unknown}, {@code Returned}, {@code Spared}, {@code Tainted}, {@code
 *     Evicted}, …
 * @param text one sentence for people
 * @param details the facts behind it, by name: signals, lags of each hop, deadlines, writes and their answers; {@link
 *     Evidence} has the names that are shown in a fixed order
 */
public record Decision(Instant at, String node, String uid, String kind, String text, JsonObject details) {
    /** The kind of a change of Ready that a node reported, or of several in a row. */
    public static final String READY_CHANGED = "ReadyChanged";

    /** The longest text: some screens. What objects contain may be much longer, and would fill the history. */
    static final int LONGEST_TEXT = 4_096;
    /** The most memory for details, some times what they ever need. */
    static final long MOST_DETAILS = 32 << 10;

    /** The record, its time, its text's object, and its place in a queue, in bytes. */
    private static final int OBJECTS = 150;

    /**
     * Drops what the stored form does not have, so that a stored decision equals the one in memory, and cuts what is too
     * long.
     */
    public Decision {
        at = at.truncatedTo(ChronoUnit.MICROS);
        text = Texts.cut(text, LONGEST_TEXT);
        if (JsonMemory.of(details) > MOST_DETAILS) {
            details = JsonObject.EMPTY.with("omitted", "details that are too long");
        }
    }

    /** Whether it is about the controller itself. */
    public boolean isOfController() {
        return isOfController(node, uid);
    }

    /** Whether a decision with these fields is about the controller itself. */
    static boolean isOfController(String node, String uid) {
        return node.isEmpty() && uid.isEmpty();
    }

    /** About how many bytes of memory it takes; names and kind do not count, because other objects share them. */
    long bytes() {
        return OBJECTS + 2L * text.length() + JsonMemory.of(details);
    }

    /** As JSON, times in microseconds. */
    public JsonObject json() {
        JsonObject.Builder json = JsonObject.builder()
                .put("at", KubeTime.formatMicro(at))
                .putUnlessEmpty("node", node)
                .putUnlessEmpty("uid", uid)
                .put("kind", kind)
                .put("text", text);
        return details.isEmpty() ? json.build() : json.put("details", details).build();
    }

    /** Parses the result of {@link #json}; empty if {@code json} has no time or kind. */
    public static Optional<Decision> of(JsonObject json) {
        return KubeTime.parse(json.text("at"))
                .filter(at -> !json.text("kind").isEmpty())
                .map(at -> new Decision(
                        at,
                        json.text("node"),
                        json.text("uid"),
                        json.text("kind"),
                        json.text("text"),
                        json.object("details")));
    }
}
