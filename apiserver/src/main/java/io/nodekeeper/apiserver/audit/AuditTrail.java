package io.nodekeeper.apiserver.audit;

import io.nodekeeper.apiserver.authorization.rbac.AuthorizationDecision;
import io.nodekeeper.apiserver.catalogue.RequestInfo;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.User;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/** Collects the facts of a request for the audit log. Confined to the request. */
public final class AuditTrail {
    private final Instant received;
    private Optional<User> user = Optional.empty();
    private Optional<User> impersonated = Optional.empty();
    private Optional<AuthorizationDecision> decision = Optional.empty();

    public AuditTrail(Instant received) {
        this.received = received;
    }

    public void authenticated(User who) {
        user = Optional.of(who);
    }

    public void impersonates(User whom) {
        impersonated = Optional.of(whom);
    }

    public void decided(AuthorizationDecision what) {
        decision = Optional.of(what);
    }

    /** The event of one stage of the request, for the log. */
    public AuditEvent event(
            String stage, ApiRequest request, RequestInfo info, String auditId, ApiResponse response, Instant now) {
        // A chunked list keeps its objects in memory, so the event keeps only its status.
        ApiResponse kept = response instanceof ApiResponse.Full
                ? response
                : new ApiResponse.Full(response.status(), Map.of(), new byte[0]);
        return new AuditEvent(
                stage, auditId, request.withoutBody(), info, received, now, user, impersonated, decision, kept);
    }
}
