package io.nodekeeper.simulator.cluster;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import java.util.concurrent.CompletableFuture;

/** Simulates an API server that refuses only the controller's canary. Confined to virtual time. */
final class CanaryRefusal {
    private static final String CANARY = "nodekeeper-canary";

    private int status;

    /** Refuses canaries with this status from now on; 0 accepts them. */
    void status(int code) {
        status = code;
    }

    /** Wraps the transport {@code way} so that canaries can be refused on it. */
    Transport before(Transport way) {
        return new Transport() {
            @Override
            public CompletableFuture<Reply> send(Call call) {
                // The call is sent anyway, as a server that is down cannot refuse.
                return status != 0 && isCanary(call)
                        ? way.send(Call.get("/version")).thenApply(answer -> refused(call))
                        : way.send(call);
            }

            @Override
            public Stream open(Call call, StreamHandler handler) {
                return way.open(call, handler);
            }

            @Override
            public void close() {
                way.close();
            }
        };
    }

    private static boolean isCanary(Call call) {
        boolean writes = !call.method().equals("GET");
        return writes && call.target().contains("/leases/" + CANARY);
    }

    private Reply refused(Call call) {
        JsonObject body = JsonObject.builder()
                .put("kind", "Status")
                .put("apiVersion", "v1")
                .put("status", "Failure")
                .put("message", call + " is refused by the scenario")
                .put("reason", "Refused")
                .put("code", status)
                .build();
        return new Reply(status, Json.writeBytes(body));
    }
}
