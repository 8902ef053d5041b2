package io.nodekeeper.client.leaderelection;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.Reply;
import java.util.Optional;

/** A server with one Lease, which it versions as an API server does. Not thread-safe. */
public final class LeaseStore {
    private JsonObject lease = JsonObject.EMPTY;
    private long version = 100;

    /** The Lease as it is stored. */
    public JsonObject lease() {
        return lease;
    }

    /** Its spec. */
    public JsonObject spec() {
        return lease.object("spec");
    }

    /** The holder; empty if there is none. */
    public String holder() {
        return spec().text("holderIdentity");
    }

    /** The number of transitions; -1 if absent. */
    public long transitions() {
        return spec().number("leaseTransitions").orElse(-1L);
    }

    /** A client changes the lease: its labels, or what {@code spec} does. */
    public void edit(JsonObject spec) {
        store(lease.with("spec", spec));
    }

    /** Answers as a server would. */
    public Reply answer(Call call) {
        return switch (call.method()) {
            case "GET" ->
                lease.isEmpty()
                        ? FakeTransport.refusal(ApiException.notFound(ResourceType.LEASES, "kcm"))
                        : FakeTransport.reply(200, lease);
            case "POST" ->
                lease.isEmpty()
                        ? FakeTransport.reply(201, store(Json.parseObject(call.body())))
                        : FakeTransport.refusal(ApiException.alreadyExists(ResourceType.LEASES, "kcm"));
            case "PUT" -> {
                JsonObject next = Json.parseObject(call.body());
                boolean current = version(next).equals(version(lease)) && !lease.isEmpty();
                yield current
                        ? FakeTransport.reply(200, store(next))
                        : FakeTransport.refusal(ApiException.modified(ResourceType.LEASES, "kcm"));
            }
            default -> throw new IllegalArgumentException("unexpected call " + call);
        };
    }

    /** As {@link #answer}, for {@link FakeTransport#answer}. */
    public Optional<Reply> tryAnswer(Call call) {
        return Optional.of(answer(call));
    }

    private JsonObject store(JsonObject next) {
        lease = next.update(
                "metadata",
                metadata -> metadata.with("resourceVersion", Long.toString(++version))
                        .with("uid", "uid-1"));
        return lease;
    }

    private static String version(JsonObject object) {
        return object.object("metadata").text("resourceVersion");
    }
}
