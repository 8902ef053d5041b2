package io.nodekeeper.apiserver.storage;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.store.Entry;
import java.io.ByteArrayOutputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Stores Events of events.k8s.io/v1 in the form of core/v1, as Kubernetes does: both APIs show the same objects. They
 * differ only in the names of fields. Immutable.
 */
public final class EventCodec extends Codec {
    /** Field names of core/v1 → those of events.k8s.io/v1. */
    private static final Map<String, String> NEW_NAMES = Map.of(
            "message", "note",
            "involvedObject", "regarding",
            "source", "deprecatedSource",
            "firstTimestamp", "deprecatedFirstTimestamp",
            "lastTimestamp", "deprecatedLastTimestamp",
            "count", "deprecatedCount",
            "reportingComponent", "reportingController");

    private static final Map<String, String> CORE_NAMES =
            NEW_NAMES.entrySet().stream().collect(Collectors.toUnmodifiableMap(Map.Entry::getValue, Map.Entry::getKey));

    private final ResourceType type;
    private final Codec core = new Codec(ResourceType.EVENTS);

    public EventCodec(ResourceType type) {
        super(type);
        this.type = type;
    }

    @Override
    public byte[] encode(JsonObject event) {
        return core.encode(toCore(event));
    }

    @Override
    public JsonObject decode(Entry entry, long revision) {
        return renamed(core.decode(entry, revision), NEW_NAMES)
                .with("kind", type.kind())
                .with("apiVersion", type.apiVersion());
    }

    @Override
    public byte[] show(Entry entry, long revision) {
        return Json.writeBytes(decode(entry, revision));
    }

    @Override
    public void showItem(Entry entry, ByteArrayOutputStream out) {
        out.writeBytes(Json.writeBytes(
                decode(entry, entry.modRevision()).without("kind").without("apiVersion")));
    }

    /** The event in the form of core/v1. */
    public static JsonObject toCore(JsonObject event) {
        return renamed(event, CORE_NAMES);
    }

    private static JsonObject renamed(JsonObject event, Map<String, String> names) {
        Map<String, JsonValue> fields = new LinkedHashMap<>();
        event.fields().forEach((name, value) -> fields.put(names.getOrDefault(name, name), value));
        return JsonObject.copyOf(fields);
    }
}
