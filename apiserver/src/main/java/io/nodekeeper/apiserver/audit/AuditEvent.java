package io.nodekeeper.apiserver.audit;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.authorization.rbac.AuthorizationDecision;
import io.nodekeeper.apiserver.catalogue.RequestInfo;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.wire.Protobuf;
import io.nodekeeper.apiserver.wire.ProtobufException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A line of the audit log: the user, the action, the object and the outcome, without request and response bodies.
 * Immutable. The log's thread converts it to JSON, not the thread of the request.
 */
public record AuditEvent(
        String stage,
        String auditId,
        ApiRequest request,
        RequestInfo info,
        Instant received,
        Instant now,
        Optional<User> user,
        Optional<User> impersonated,
        Optional<AuthorizationDecision> decision,
        ApiResponse response) {
    public static final String STARTED = "ResponseStarted";
    public static final String COMPLETE = "ResponseComplete";

    /** About how many bytes it keeps in memory; a chunked list is not read. */
    long bytes() {
        long text = request.uri().length()
                + request.headers().values().stream().mapToLong(String::length).sum();
        return 1_024
                + text
                + request.body().length
                + (response instanceof ApiResponse.Full full ? full.body().length : 0);
    }

    /** The event in Kubernetes' form, audit.k8s.io/v1. */
    JsonObject json() {
        JsonObject.Builder event = JsonObject.builder()
                .put("kind", "Event")
                .put("apiVersion", "audit.k8s.io/v1")
                .put("level", "Metadata")
                .put("auditID", auditId)
                .put("stage", stage)
                .put("requestURI", request.uri())
                .put("verb", info.verb())
                .put("user", user.map(User::toUserInfo).orElse(JsonObject.EMPTY));
        impersonated.ifPresent(whom -> event.put("impersonatedUser", whom.toUserInfo()));
        if (!request.source().isEmpty()) {
            event.put("sourceIPs", JsonArray.ofStrings(List.of(request.source())));
        }
        event.putUnlessEmpty("userAgent", request.header("user-agent"));
        info.resource().ifPresent(target -> event.put("objectRef", objectRef(target)));
        event.put("responseStatus", responseStatus())
                .put("requestReceivedTimestamp", KubeTime.formatMicro(received))
                .put("stageTimestamp", KubeTime.formatMicro(now));
        decision.ifPresent(made -> event.put(
                "annotations",
                JsonObject.builder()
                        .put("authorization.k8s.io/decision", made.allowed() ? "allow" : "forbid")
                        .put("authorization.k8s.io/reason", made.reason())
                        .build()));
        return event.build();
    }

    private JsonObject objectRef(RequestTarget target) {
        return JsonObject.builder()
                .put("resource", target.plural())
                .putUnlessEmpty("namespace", target.namespace())
                .putUnlessEmpty("name", target.name().isEmpty() ? createdName() : target.name())
                .putUnlessEmpty("apiGroup", target.group())
                .put("apiVersion", target.version())
                .putUnlessEmpty("subresource", target.subresource())
                .build();
    }

    /** The name of the created object, which the server may have generated. */
    private String createdName() {
        return response.status() == 201 ? body().object("metadata").text("name") : "";
    }

    private JsonObject responseStatus() {
        JsonObject.Builder status = JsonObject.builder().put("metadata", JsonObject.EMPTY);
        if (response.isRefusal()) {
            JsonObject body = body();
            status.put("status", "Failure").putUnlessEmpty("reason", body.text("reason"));
            // These quote the request, which may contain a secret.
            if (response.status() != 400 && response.status() != 422) {
                status.putUnlessEmpty("message", body.text("message"));
            }
        }
        return status.put("code", response.status()).build();
    }

    private JsonObject body() {
        if (!(response instanceof ApiResponse.Full full)) {
            return JsonObject.EMPTY;
        }
        try {
            return Protobuf.begins(full.body()) ? Protobuf.decode(full.body()) : Json.parseObject(full.body());
        } catch (JsonException | ProtobufException e) {
            // Some refusals are plain text.
            return JsonObject.EMPTY;
        }
    }
}
