package io.nodekeeper.apiserver.printers;

import io.nodekeeper.api.json.JsonObject;
import java.util.Locale;

/** Computes the derived table columns of an Event in the form of core/v1, as Kubernetes does. */
final class EventColumns {
    private EventColumns() {}

    /** The time of the last occurrence; that of a series is in the series alone. */
    static String lastSeen(JsonObject event) {
        if (event.has("series")) {
            return event.object("series").text("lastObservedTime");
        }
        String last = event.text("lastTimestamp");
        return last.isEmpty() ? firstSeen(event) : last;
    }

    static String firstSeen(JsonObject event) {
        String first = event.text("firstTimestamp");
        return first.isEmpty() ? event.text("eventTime") : first;
    }

    /** How often it occurred. An event of the newer API that occurred once has no count. */
    static long count(JsonObject event) {
        if (event.has("series")) {
            return event.object("series").number("count").orElse(0L);
        }
        return Math.max(1, event.number("count").orElse(1L));
    }

    static String object(JsonObject event) {
        JsonObject about = event.object("involvedObject");
        String kind = about.text("kind").toLowerCase(Locale.ROOT);
        return about.text("name").isEmpty() ? kind : kind + "/" + about.text("name");
    }

    /** The component and the host or instance of it that reported the event. */
    static String source(JsonObject event) {
        JsonObject source = event.object("source");
        String component = either(source.text("component"), event.text("reportingComponent"));
        String instance = either(source.text("host"), event.text("reportingInstance"));
        return instance.isEmpty() ? component : component + ", " + instance;
    }

    private static String either(String first, String second) {
        return first.isEmpty() ? second : first;
    }
}
