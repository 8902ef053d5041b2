package io.nodekeeper.apiserver.actions;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.schema.Schema;
import io.nodekeeper.api.selector.LabelSelectors;
import io.nodekeeper.apiserver.catalogue.ClusterResources;
import io.nodekeeper.apiserver.pods.PodConditions;
import io.nodekeeper.apiserver.registry.ObjectMetaRules;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.ResponseChunks;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.schema.KindSchemas;
import io.nodekeeper.apiserver.writes.DeleteOptions;
import io.nodekeeper.apiserver.writes.OptimisticRetry;
import io.nodekeeper.apiserver.writes.RequestBodies;
import io.nodekeeper.apiserver.writes.WriteHandler;
import io.nodekeeper.apiserver.writes.WriteRequest;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Futures;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Evicts pods: deletes them unless a PodDisruptionBudget forbids it. It first subtracts the eviction from the budget,
 * so that concurrent evictions do not exceed the budget. Thread-safe.
 */
public final class PodEviction implements Action {
    /** The number of budgets to read together. */
    private static final int PAGE = 32;

    private static final Resource BUDGETS = ClusterResources.POD_DISRUPTION_BUDGETS;

    /** How often the budget of a pod that changes is asked: a pod becomes ready within a few updates of its status. */
    private static final int ATTEMPTS = 10;

    private static final Schema SCHEMA = KindSchemas.of("policy/v1", "Eviction");
    private static final List<String> VERSIONS = List.of("", "policy/v1", "policy/v1beta1");
    private static final String REFUSED = "Cannot evict pod as it would violate the pod's disruption budget.";
    /** How long a client waits for a budget that is not computed yet, in seconds (Kubernetes). */
    private static final long RETRY_SECONDS = 10;

    private final Store store;
    private final OptimisticRetry retry;
    private final Clock clock;
    private final WriteHandler writes;

    public PodEviction(Store store, OptimisticRetry retry, Clock clock, WriteHandler writes) {
        this.store = store;
        this.retry = retry;
        this.clock = clock;
        this.writes = writes;
    }

    @Override
    public CompletableFuture<ApiResponse> on(User user, Resource resource, RequestTarget target, ApiRequest request) {
        JsonObject body = RequestBodies.object(request);
        check(body);
        ObjectMetaRules.checkPlace(body, target.namespace(), target.name());
        DeleteOptions options = DeleteOptions.of(body.object("deleteOptions"), request);
        WriteRequest write = writes.writeRequest(user, resource, target, options.dryRun());
        return evict(write, options, 1).thenApply(result -> Action.done());
    }

    private CompletableFuture<OptimisticRetry.Result> evict(WriteRequest write, DeleteOptions options, int attempt) {
        return store.read(write.key()).thenCompose(found -> {
            Resource resource = write.resource();
            Entry entry = found.orElseThrow(
                    () -> ApiException.notFound(resource.type(), write.target().name()));
            JsonObject pod = resource.codec().decode(entry);
            // Before the budget is charged, because a refused eviction must not use it.
            write.admission().accept(pod, pod);
            return allowed(pod, write)
                    .thenCompose(unconditional ->
                            unconditional || !options.resourceVersion().isEmpty()
                                    ? writes.delete(write, options, this::disrupted)
                                    : deleteUnchanged(write, options, entry, attempt));
        });
    }

    /** Deletes a pod that no budget counts. It may have become ready meanwhile: then its budget is asked. */
    private CompletableFuture<OptimisticRetry.Result> deleteUnchanged(
            WriteRequest write, DeleteOptions options, Entry entry, int attempt) {
        return writes.delete(write, options.withResourceVersion(Long.toString(entry.modRevision())), this::disrupted)
                .exceptionallyCompose(error -> attempt < ATTEMPTS && Failures.isCode(error, 409)
                        ? evict(write, options, attempt + 1)
                        : CompletableFuture.failedFuture(error));
    }

    /** The pod with the condition by which a Job does not count its end as a failure. */
    private JsonObject disrupted(JsonObject pod) {
        return PodConditions.withCondition(
                pod,
                JsonObject.builder()
                        .put("type", "DisruptionTarget")
                        .put("status", "True")
                        .put("lastTransitionTime", KubeTime.format(clock.wallTime()))
                        .put("reason", "EvictionByEvictionAPI")
                        .put("message", "Eviction API: evicting")
                        .build());
    }

    private static void check(JsonObject body) {
        String kind = body.text("kind");
        Optional<String> fault = SCHEMA.mismatch(body);
        if (!kind.isEmpty() && !kind.equals("Eviction")) {
            fault = Optional.of("the object provided is a " + kind);
        } else if (!VERSIONS.contains(body.text("apiVersion"))) {
            fault = Optional.of("the API version in the data (" + body.text("apiVersion")
                    + ") is neither policy/v1 nor policy/v1beta1");
        }
        fault.ifPresent(why -> {
            throw ApiException.badRequest("the body cannot be handled as an Eviction: " + why);
        });
    }

    /**
     * Completes when the pod's budget, if any, has allowed the eviction: with false if that holds only for the pod as it is,
     * because it does not run or is not ready.
     */
    private CompletableFuture<Boolean> allowed(JsonObject pod, WriteRequest write) {
        String phase = pod.object("status").text("phase");
        if (phase.equals("Succeeded")
                || phase.equals("Failed")
                || pod.object("metadata").has("deletionTimestamp")) {
            return CompletableFuture.completedFuture(true);
        }
        if (phase.equals("Pending")) {
            return CompletableFuture.completedFuture(false);
        }
        Map<String, String> labels = pod.object("metadata").object("labels").texts();
        return budgets(write, labels, "", List.of()).thenCompose(budgets -> allowed(pod, write, budgets));
    }

    private CompletableFuture<Boolean> allowed(JsonObject pod, WriteRequest write, List<JsonObject> budgets) {
        if (budgets.isEmpty()) {
            return CompletableFuture.completedFuture(true);
        }
        if (budgets.size() > 1) {
            throw new ApiException(
                    500,
                    "InternalError",
                    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
        }
        String name = budgets.getFirst().object("metadata").text("name");
        RequestTarget target = RequestTarget.of(BUDGETS.type(), write.target().namespace(), name, "status");
        WriteRequest taking = new WriteRequest(BUDGETS, target, write.dryRun(), (old, next) -> {}, write.turn());
        AtomicBoolean charged = new AtomicBoolean();
        return retry.run(taking, (entry, budget) -> {
                    JsonObject taken = taken(budget, pod);
                    charged.set(!taken.equals(budget));
                    return write.dryRun() || !charged.get()
                            ? CompletableFuture.completedFuture(new OptimisticRetry.Result(200, taken, false))
                            : retry.replace(taking, entry, taken);
                })
                .thenApply(done -> charged.get());
    }

    /** The budget after this eviction; refuses the eviction if the budget is used up. */
    private JsonObject taken(JsonObject budget, JsonObject pod) {
        String name = budget.object("metadata").text("name");
        JsonObject status = budget.object("status");
        long healthy = status.number("currentHealthy").orElse(0L);
        long desired = status.number("desiredHealthy").orElse(0L);
        if (!PodConditions.isReady(pod.object("status")) && mayEvictUnready(budget, healthy, desired)) {
            // The pod is not among those that the budget counts.
            return budget;
        }
        if (status.number("observedGeneration").orElse(0L)
                < budget.object("metadata").number("generation").orElse(0L)) {
            throw refused("The disruption budget " + name + " is still being processed by the server.", RETRY_SECONDS);
        }
        long left = status.number("disruptionsAllowed").orElse(0L);
        if (left <= 0) {
            throw refused(
                    "The disruption budget " + name + " needs " + desired + " healthy pods and has " + healthy
                            + " currently",
                    0);
        }
        return budget.with(
                "status",
                status.with("disruptionsAllowed", JsonNumber.of(left - 1))
                        .update(
                                "disruptedPods",
                                pods -> pods.with(
                                        pod.object("metadata").text("name"), KubeTime.format(clock.wallTime()))));
    }

    /**
     * The budgets after the key {@code after} that select a pod with {@code labels}, and those {@code known} before; at most two, because
     * more than one is an error. A namespace may have many large ones, so only a first few are read on this thread, and the rest in the
     * user's turns.
     */
    private CompletableFuture<List<JsonObject>> budgets(
            WriteRequest write, Map<String, String> labels, String after, List<JsonObject> known) {
        List<Entry> page = store.list(BUDGETS.prefix(write.target().namespace()), after, PAGE, 0)
                .entries();
        return after.isEmpty()
                ? write.parsing(page, () -> read(page, write, labels, known))
                : Futures.startOn(write.turn(), () -> read(page, write, labels, known));
    }

    private CompletableFuture<List<JsonObject>> read(
            List<Entry> page, WriteRequest write, Map<String, String> labels, List<JsonObject> known) {
        List<JsonObject> found = new ArrayList<>(known);
        int read = 0;
        for (long bytes = 0; read < page.size() && bytes < ResponseChunks.EXAMINED && found.size() < 2; read++) {
            Entry entry = page.get(read);
            bytes += entry.length();
            JsonObject budget = BUDGETS.codec().decode(entry);
            if (budget.object("spec").has("selector")
                    && LabelSelectors.matches(budget.object("spec").object("selector"), labels)) {
                found.add(budget);
            }
        }
        boolean last = read == page.size() && page.size() < PAGE;
        return last || found.size() > 1
                ? CompletableFuture.completedFuture(found)
                : budgets(write, labels, page.get(read - 1).key(), found);
    }

    private static boolean mayEvictUnready(JsonObject budget, long healthy, long desired) {
        return budget.object("spec").text("unhealthyPodEvictionPolicy").equals("AlwaysAllow")
                || (healthy >= desired && desired > 0);
    }

    private static ApiException refused(String why, long retrySeconds) {
        JsonObject cause = JsonObject.builder()
                .put("reason", "DisruptionBudget")
                .put("message", why)
                .build();
        JsonObject.Builder details = JsonObject.builder().put("causes", JsonArray.of(cause));
        if (retrySeconds > 0) {
            details.put("retryAfterSeconds", retrySeconds);
        }
        return new ApiException(429, "TooManyRequests", REFUSED, details.build());
    }
}
