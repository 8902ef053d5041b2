package io.nodekeeper.apiserver.writes;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.admission.NodeRestriction;
import io.nodekeeper.apiserver.negotiation.Media;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.wire.LeaseMessage;
import io.nodekeeper.apiserver.wire.Protobuf;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The short path of lease renewals, which are nearly all writes of a cluster: from the bytes of the request to the bytes to store
 * ({@link LeaseRenewal}), in JSON or in protobuf ({@link LeaseMessage}), which kubelets send. It refuses nothing by itself except
 * what admission refuses, and stores the same bytes and gives the same answer as the general path. Thread-safe.
 */
final class LeaseRenewals {
    /** The parameters of an update that the general path handles. */
    private static final List<String> OPTIONS = List.of("dryRun", "fieldManager", "fieldValidation");

    private static final Map<String, String> PROTOBUF = Map.of("content-type", Protobuf.MEDIA_TYPE);

    private final Store store;
    private final NodeRestriction nodeRestriction;

    LeaseRenewals(Store store, NodeRestriction nodeRestriction) {
        this.store = store;
        this.nodeRestriction = nodeRestriction;
    }

    /**
     * Starts to store the renewal, if the request is one. The result fails as {@link Store#putBatched} does.
     *
     * @throws io.nodekeeper.api.ApiException if admission refuses it
     */
    Optional<CompletableFuture<ApiResponse>> start(
            User user, Resource resource, RequestTarget target, ApiRequest request) {
        if (!resource.type().equals(ResourceType.LEASES)
                || !target.subresource().isEmpty()
                || OPTIONS.stream()
                        .anyMatch(option -> !request.parameter(option).isEmpty())) {
            return Optional.empty();
        }
        String key = resource.key(target.namespace(), target.name());
        Optional<Entry> found = store.get(key);
        if (found.isEmpty() || found.get().resident() == 0) {
            return Optional.empty();
        }
        Entry entry = found.get();
        Optional<LeaseMessage> message = request.contentType().equals(Protobuf.MEDIA_TYPE)
                ? LeaseMessage.read(request.body())
                : Optional.empty();
        Optional<byte[]> renewed = message.map(LeaseMessage::json)
                .or(() -> json(request))
                .flatMap(body -> LeaseRenewal.renewed(entry.value(), entry.modRevision(), body));
        if (renewed.isEmpty()) {
            return Optional.empty();
        }
        // The only admission that concerns leases; it depends on the name in the URL, not on the object.
        nodeRestriction.check(user, resource, target, JsonObject.EMPTY, JsonObject.EMPTY);
        boolean protobuf = message.isPresent()
                && Media.onlyProtobuf(request)
                && Media.of(request, "update").whole();
        return Optional.of(store.putBatched(entry.key(), renewed.get(), entry.modRevision())
                .thenApply(stored -> protobuf
                        ? new ApiResponse.Full(200, PROTOBUF, message.get().protobuf(stored.modRevision()))
                        : ApiResponse.json(200, resource.codec().show(stored, stored.modRevision()))));
    }

    private static Optional<byte[]> json(ApiRequest request) {
        return request.contentType().isEmpty() || request.contentType().equals(ApiResponse.JSON)
                ? Optional.of(request.body())
                : Optional.empty();
    }
}
