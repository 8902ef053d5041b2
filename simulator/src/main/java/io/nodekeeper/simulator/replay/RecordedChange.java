package io.nodekeeper.simulator.replay;

import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import java.math.BigDecimal;
import java.time.Duration;

/** A change that a recorder saw; one line of a recording. Times are since the recording began, not negative. */
public sealed interface RecordedChange {
    /** When the recorder saw it. */
    Duration at();

    /** It as a line of JSON. */
    JsonObject line();

    /**
     * A Node was created or changed.
     *
     * @param node the parts of it that a recording has, see {@link RecordedNode}
     */
    record NodeSeen(Duration at, JsonObject node) implements RecordedChange {
        @Override
        public JsonObject line() {
            return from(at).put("node", node).build();
        }
    }

    /** A Node was deleted. */
    record NodeGone(Duration at, String name) implements RecordedChange {
        @Override
        public JsonObject line() {
            return from(at).put("gone", name).build();
        }
    }

    /**
     * A node's lease was created or renewed.
     *
     * @param name of the lease, which is its node's
     * @param renewTime as the node wrote it
     */
    record Renewed(Duration at, String name, String renewTime) implements RecordedChange {
        @Override
        public JsonObject line() {
            return from(at).put("lease", name).put("renewTime", renewTime).build();
        }
    }

    /**
     * The recorder cannot prove that it sees all changes.
     *
     * @param since from when on it cannot; at most {@link #at}
     */
    record SightLost(Duration at, Duration since) implements RecordedChange {
        @Override
        public JsonObject line() {
            return from(at).put("sightLostSince", seconds(since)).build();
        }
    }

    /** The recorder sees all changes again. */
    record SightFound(Duration at) implements RecordedChange {
        @Override
        public JsonObject line() {
            return from(at).put("sightFound", true).build();
        }
    }

    /** The recording ends. */
    record End(Duration at) implements RecordedChange {
        @Override
        public JsonObject line() {
            return from(at).put("end", true).build();
        }
    }

    private static JsonObject.Builder from(Duration at) {
        return JsonObject.builder().put("at", seconds(at));
    }

    /** Seconds with microseconds. */
    private static JsonNumber seconds(Duration time) {
        return new JsonNumber(BigDecimal.valueOf(time.toNanos() / 1_000, 6).toPlainString());
    }
}
