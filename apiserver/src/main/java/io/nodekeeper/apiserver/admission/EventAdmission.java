package io.nodekeeper.apiserver.admission;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.eventratelimit.EventRateLimit;
import io.nodekeeper.apiserver.eventratelimit.EventWrite;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.time.Clock;

/** Limits the rate of writes of Events in both APIs. Thread-safe. */
public final class EventAdmission {
    private final EventRateLimit limit;
    private final Clock clock;

    public EventAdmission(EventRateLimit limit, Clock clock) {
        this.limit = limit;
        this.clock = clock;
    }

    /** Refuses a write of {@code next} above the rate. */
    public void check(User user, Resource resource, JsonObject next) {
        if (!resource.registry().equals(Resources.EVENTS.registry())) {
            return;
        }
        EventWrite write = new EventWrite(
                next.object("metadata").text("namespace"),
                user.name(),
                sourceAndObject(next),
                Json.writeBytes(next).length);
        limit.check(write, clock.nanoTime()).ifPresent(why -> {
            throw new ApiException(
                    429,
                    "TooManyRequests",
                    "Too many requests: " + why,
                    JsonObject.builder().put("retryAfterSeconds", 1).build());
        });
    }

    /** The key of source and object, as in Kubernetes. */
    private static String sourceAndObject(JsonObject event) {
        JsonObject source = event.object(event.has("deprecatedSource") ? "deprecatedSource" : "source");
        JsonObject object = event.object(event.has("regarding") ? "regarding" : "involvedObject");
        return String.join(
                "",
                source.text("component"),
                source.text("host"),
                object.text("kind"),
                object.text("namespace"),
                object.text("name"),
                object.text("uid"),
                object.text("apiVersion"));
    }
}
