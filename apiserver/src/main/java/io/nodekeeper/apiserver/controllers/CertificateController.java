package io.nodekeeper.apiserver.controllers;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.authorization.Authorizer;
import io.nodekeeper.apiserver.authorization.rbac.Attributes;
import io.nodekeeper.apiserver.catalogue.CertificateResources;
import io.nodekeeper.apiserver.kinds.CertificateRequestStrategy;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.storage.PrefixFollower;
import io.nodekeeper.client.certificates.CertificateRequest;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Approves nodes' requests for client certificates, signs approved requests of the two signers for kubelets, and removes
 * old requests, as kube-controller-manager's controllers csrapproving, csrsigning and csrcleaner do. Confined to the
 * store's loop; signatures are checked and made on the workers.
 */
public final class CertificateController {
    private static final Logger log = LoggerFactory.getLogger(CertificateController.class);
    private static final Resource REQUESTS = CertificateResources.REQUESTS;
    private static final Duration RETRY = Duration.ofSeconds(1);
    /** Kubernetes' times: how long requests are kept once they are decided, and while they are not. */
    private static final Duration DECIDED = Duration.ofHours(1);

    private static final Duration PENDING = Duration.ofHours(24);
    /** Between two searches for old requests, as in Kubernetes. */
    private static final Duration CLEANING = Duration.ofHours(1);

    private final Store store;
    private final Loop loop;
    private final Executor workers;
    private final Authorizer authorizer;
    private final CertificateAuthority authority;

    public CertificateController(
            Store store, Loop loop, Executor workers, Authorizer authorizer, CertificateAuthority authority) {
        this.store = store;
        this.loop = loop;
        this.workers = workers;
        this.authorizer = authorizer;
        this.authority = authority;
    }

    /** Handles present requests and all later ones. */
    public void start() {
        PrefixFollower.follow(
                store,
                loop,
                REQUESTS.prefix(""),
                now -> inTurns(now.iterator(), this::consider),
                event -> event.after().ifPresent(this::consider));
        cleanLater();
    }

    /** One at a time: there may be many, and the loop has other work, too. */
    private void inTurns(Iterator<Entry> requests, Consumer<Entry> work) {
        if (!requests.hasNext()) {
            return;
        }
        try {
            work.accept(requests.next());
        } finally {
            loop.execute(() -> inTurns(requests, work));
        }
    }

    private void consider(Entry entry) {
        JsonObject object = REQUESTS.codec().decode(entry);
        String signer = object.object("spec").text("signerName");
        boolean over = !object.object("status").text("certificate").isEmpty()
                || CertificateRequestStrategy.is(object, "Denied")
                || CertificateRequestStrategy.is(object, "Failed");
        boolean approved = CertificateRequestStrategy.is(object, "Approved");
        // Only requests for client certificates are approved here.
        boolean waits = !approved && !signer.equals(KubeletSigners.CLIENT);
        if (over || waits || !KubeletSigners.knows(signer)) {
            return;
        }
        CertificateRequest request;
        try {
            request = CertificateRequestStrategy.request(object);
        } catch (IllegalArgumentException e) {
            log.warn("The request {} is unreadable: {}", entry.key(), e.getMessage());
            return;
        }
        List<String> usages = object.object("spec").array("usages").strings().toList();
        Optional<String> fault = KubeletSigners.fault(signer, request, usages);
        if (approved) {
            if (fault.isPresent()) {
                write(entry, with(object, "Failed", "SignerValidationFailure", fault.get()));
            } else {
                sign(entry, object, request, usages);
            }
        } else if (fault.isEmpty()) {
            approval(object, request).ifPresent(message -> {
                log.info("Approved the request {} of {}", entry.key(), request.commonName());
                write(entry, with(object, "Approved", "AutoApproved", message));
            });
        }
    }

    /** The message of an automatic approval, if the requester has the right to one. */
    private Optional<String> approval(JsonObject object, CertificateRequest request) {
        JsonObject spec = object.object("spec");
        if (request.commonName().equals(spec.text("username")) && may(spec, "selfnodeclient")) {
            return Optional.of("Auto approving self kubelet client certificate after SubjectAccessReview.");
        }
        return may(spec, "nodeclient")
                ? Optional.of("Auto approving kubelet client certificate after SubjectAccessReview.")
                : Optional.empty();
    }

    private boolean may(JsonObject spec, String subresource) {
        return authorizer
                .decide(Attributes.ofResource(
                        spec.text("username"),
                        spec.array("groups").strings().toList(),
                        "create",
                        CertificateResources.GROUP,
                        "certificatesigningrequests/" + subresource,
                        "",
                        ""))
                .allowed();
    }

    private void sign(Entry entry, JsonObject object, CertificateRequest request, List<String> usages) {
        Optional<Duration> life =
                object.object("spec").number("expirationSeconds").map(Duration::ofSeconds);
        CompletableFuture.supplyAsync(
                        () -> authority.sign(CertificateRequestStrategy.checkedRequest(object), usages, life), workers)
                .whenCompleteAsync(
                        (pem, error) -> {
                            if (error != null) {
                                log.error(
                                        "Signing {} failed: {}",
                                        entry.key(),
                                        Failures.cause(error).getMessage());
                                return;
                            }
                            log.info("Signed the request {} of {}", entry.key(), request.commonName());
                            write(
                                    entry,
                                    object.update(
                                            "status",
                                            status -> status.with(
                                                    "certificate", CertificateRequestStrategy.encoded(pem))));
                        },
                        loop);
    }

    private JsonObject with(JsonObject object, String type, String reason, String message) {
        String now = KubeTime.format(loop.clock().wallTime());
        JsonObject condition = JsonObject.builder()
                .put("type", type)
                .put("status", "True")
                .put("reason", reason)
                .put("message", message)
                .put("lastUpdateTime", now)
                .put("lastTransitionTime", now)
                .build();
        return object.update(
                "status",
                status -> status.with(
                        "conditions",
                        JsonArray.of(Stream.concat(status.array("conditions").objects(), Stream.of(condition))
                                .toArray(JsonObject[]::new))));
    }

    /** Replaces {@code entry}, unless it has changed; then the watch brings the newer one. */
    private void write(Entry entry, JsonObject next) {
        store.put(entry.key(), REQUESTS.codec().encode(next), entry.modRevision())
                .whenComplete((done, error) -> {
                    if (error != null && !(Failures.cause(error) instanceof StoreException.Conflict)) {
                        log.warn(
                                "Writing {} failed, retrying in {} s: {}",
                                entry.key(),
                                RETRY.toSeconds(),
                                error.getMessage());
                        loop.schedule(RETRY, () -> store.get(entry.key()).ifPresent(this::consider));
                    }
                });
    }

    private void cleanLater() {
        loop.schedule(CLEANING, () -> {
            cleanLater();
            Instant now = loop.clock().wallTime();
            inTurns(store.list(REQUESTS.prefix(""), "", 0, 0).entries().iterator(), entry -> removeIfOld(entry, now));
        });
    }

    private void removeIfOld(Entry entry, Instant now) {
        if (!isOld(REQUESTS.codec().decode(entry), now)) {
            return;
        }
        // A request that has just changed is looked at again in an hour.
        store.delete(entry.key(), entry.modRevision()).exceptionally(error -> {
            log.debug("Removing {} failed for now: {}", entry.key(), error.getMessage());
            return entry.modRevision();
        });
    }

    /** Whether a request is old enough to be removed: decided for an hour, or not decided for a day. */
    static boolean isOld(JsonObject request, Instant now) {
        Instant created = KubeTime.parse(request.object("metadata").text("creationTimestamp"))
                .orElse(now);
        // An approver need not say when it decided.
        Instant since = request.object("status")
                .array("conditions")
                .objects()
                .map(condition ->
                        KubeTime.parse(condition.text("lastUpdateTime")).orElse(created))
                .max(Instant::compareTo)
                .orElse(Instant.MAX);
        boolean decided = !since.equals(Instant.MAX) && since.plus(DECIDED).isBefore(now);
        return decided || created.plus(PENDING).isBefore(now);
    }
}
