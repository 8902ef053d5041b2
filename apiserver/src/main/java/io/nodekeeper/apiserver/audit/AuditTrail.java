package io.nodekeeper.apiserver.audit;

import io.nodekeeper.apiserver.authorization.rbac.AuthorizationDecision;
import io.nodekeeper.apiserver.catalogue.RequestInfo;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.time.Clock;
import java.time.Instant;
import java.util.Optional;

/** Collects the facts of a request, and writes its events to the audit log. Confined to the request. */
public final class AuditTrail {
    private final AuditLog log;
    private final Clock clock;
    private final ApiRequest request;
    private final RequestInfo info;
    private final String auditId;
    private final Instant received;
    private Optional<User> user = Optional.empty();
    private Optional<User> impersonated = Optional.empty();
    private Optional<AuthorizationDecision> decision = Optional.empty();
    /** What the client gets of a node's answer. */
    private Optional<ApiResponse> answer = Optional.empty();

    /** Of a request that has just arrived. */
    public AuditTrail(AuditLog log, Clock clock, ApiRequest request, RequestInfo info, String auditId) {
        this.log = log;
        this.clock = clock;
        this.request = request;
        this.info = info;
        this.auditId = auditId;
        received = clock.wallTime();
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

    /**
     * Logs the request when it has been answered. A watch is logged when it starts and when it ends, and so is the answer
     * of a node, with the status that the client gets.
     */
    public ApiResponse logged(ApiResponse response) {
        return switch (response) {
            case ApiResponse.Streamed streamed ->
                new ApiResponse.Streamed(streamed.status(), streamed.headers(), sink -> {
                    take(AuditEvent.STARTED, streamed);
                    sink.onClose(() -> take(AuditEvent.COMPLETE, streamed));
                    streamed.start().accept(sink);
                });
            case ApiResponse.Relayed relayed ->
                relayed.and(
                        given -> {
                            answer = Optional.of(given);
                            take(AuditEvent.STARTED, given);
                        },
                        () -> take(AuditEvent.COMPLETE, answer.orElse(relayed)));
            case ApiResponse.Full full -> complete(full);
            case ApiResponse.Chunked large -> complete(large);
        };
    }

    private ApiResponse complete(ApiResponse response) {
        take(AuditEvent.COMPLETE, response);
        return response;
    }

    private void take(String stage, ApiResponse response) {
        // A chunked list keeps its objects in memory, so the event keeps only its status.
        ApiResponse kept = response instanceof ApiResponse.Full ? response : ApiResponse.empty(response.status());
        log.take(new AuditEvent(
                stage,
                auditId,
                request.withoutBody(),
                info,
                received,
                clock.wallTime(),
                user,
                impersonated,
                decision,
                kept));
    }
}
