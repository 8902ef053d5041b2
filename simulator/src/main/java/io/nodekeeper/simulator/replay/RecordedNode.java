package io.nodekeeper.simulator.replay;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Texts;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.util.List;

/**
 * The parts of a Node that a recording has: name, UID, labels, which say its zone, and conditions without their
 * messages. A recording has no annotations, addresses or taints: taints are what the replayed controller sets itself.
 *
 * <p>Bound: a node may write anything, but its parts are some 400 KB at most, even if each character is an escape in
 * JSON. {@link RecordingReader} accepts more in a line.
 */
public final class RecordedNode {
    /** The most conditions: a kubelet reports five, node-problem-detector and others some twenty. */
    static final int MOST_CONDITIONS = 50;
    /** The most characters of a condition's type, status or reason: words in CamelCase have about 30. */
    static final int LONGEST_WORD = 128;
    /** The most characters of all labels together: node-feature-discovery sets some hundreds. */
    static final int MOST_LABELS = 32 << 10;

    private static final List<String> WORDS = List.of("type", "status", "reason");
    private static final List<String> TIMES = List.of("lastHeartbeatTime", "lastTransitionTime");

    private RecordedNode() {}

    /** Those parts of {@code node}. */
    public static JsonObject of(Node node) {
        return JsonObject.EMPTY
                .with(
                        "metadata",
                        JsonObject.EMPTY
                                .with("name", node.name())
                                .with("uid", cut(node.uid()))
                                .with("labels", labels(node.metadata().object("labels"))))
                .with("status", JsonObject.EMPTY.with("conditions", conditions(node)));
    }

    private static JsonObject labels(JsonObject labels) {
        JsonObject.Builder kept = JsonObject.builder();
        int left = MOST_LABELS;
        for (String name : labels.fields().keySet()) {
            String value = labels.text(name);
            left -= name.length() + value.length();
            if (left < 0) {
                break;
            }
            kept.put(name, value);
        }
        return kept.build();
    }

    private static JsonArray conditions(Node node) {
        return new JsonArray(node.status()
                .array("conditions")
                .objects()
                // A type that is cut could be that of another condition.
                .filter(condition -> !condition.text("type").isEmpty()
                        && condition.text("type").length() <= LONGEST_WORD)
                .limit(MOST_CONDITIONS)
                .<JsonValue>map(RecordedNode::condition)
                .toList());
    }

    private static JsonObject condition(JsonObject condition) {
        JsonObject.Builder kept = JsonObject.builder();
        WORDS.forEach(field -> kept.putUnlessEmpty(field, cut(condition.text(field))));
        for (String field : TIMES) {
            String time = condition.text(field);
            // The replayed API server refuses what is none.
            if (KubeTime.parse(time).isPresent()) {
                kept.put(field, time);
            }
        }
        return kept.build();
    }

    private static String cut(String text) {
        return Texts.cut(text, LONGEST_WORD, "");
    }
}
