package io.nodekeeper.apiserver.actions;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.ClusterResources;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.pods.PodConditions;
import io.nodekeeper.apiserver.registry.ObjectMetaRules;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.storage.Codec;
import io.nodekeeper.apiserver.writes.OptimisticRetry;
import io.nodekeeper.apiserver.writes.RequestBodies;
import io.nodekeeper.apiserver.writes.WriteHandler;
import io.nodekeeper.apiserver.writes.WriteRequest;
import io.nodekeeper.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Binds pods to nodes for schedulers. Thread-safe. */
public final class PodBinding implements Action {
    private static final ResourceType BINDING = new ResourceType("", "v1", "pods/binding", "Binding", true);

    private final OptimisticRetry retry;
    private final Clock clock;
    private final WriteHandler writes;

    public PodBinding(OptimisticRetry retry, Clock clock, WriteHandler writes) {
        this.retry = retry;
        this.clock = clock;
        this.writes = writes;
    }

    @Override
    public CompletableFuture<ApiResponse> on(User user, Resource resource, RequestTarget target, ApiRequest request) {
        JsonObject body = RequestBodies.object(request);
        RequestBodies.check(ClusterResources.BINDINGS, body, 400);
        JsonObject binding = Codec.normalize(body, ClusterResources.BINDINGS.schema());
        ObjectMetaRules.checkPlace(binding, target.namespace(), target.name());
        String name = target.name().isEmpty() ? binding.object("metadata").text("name") : target.name();
        check(name, binding);
        RequestTarget pod = RequestTarget.of(Resources.PODS.type(), target.namespace(), name, "binding");
        WriteRequest write = writes.writeRequest(user, Resources.PODS, pod, WriteHandler.dryRun(request));
        return retry.run(write, (entry, old) -> {
                    JsonObject bound = bound(old, binding, Long.toString(entry.modRevision()));
                    write.admission().accept(old, bound);
                    return write.dryRun()
                            ? CompletableFuture.completedFuture(new OptimisticRetry.Result(201, bound, false))
                            : retry.replace(write, entry, bound);
                })
                .thenApply(result -> Action.done());
    }

    private static void check(String name, JsonObject binding) {
        JsonObject target = binding.object("target");
        if (name.isEmpty() || target.text("name").isEmpty()) {
            throw ApiException.invalid(
                    BINDING, name, List.of(FieldError.required(name.isEmpty() ? "metadata.name" : "target.name", "")));
        }
        Names.subdomainFault(target.text("name")).ifPresent(fault -> {
            throw ApiException.invalid(
                    BINDING,
                    name,
                    List.of(FieldError.invalid("target.name", "\"" + target.text("name") + "\"", fault)));
        });
        if (!target.text("kind").isEmpty() && !target.text("kind").equals("Node")) {
            throw ApiException.invalid(
                    BINDING,
                    name,
                    List.of(FieldError.notSupported(
                            "target.kind", "\"" + target.text("kind") + "\"", "\"Node\", \"<empty>\"")));
        }
    }

    private JsonObject bound(JsonObject pod, JsonObject binding, String version) {
        JsonObject metadata = pod.object("metadata");
        String name = metadata.text("name");
        String uid = binding.object("metadata").text("uid");
        String asked = binding.object("metadata").text("resourceVersion");
        String node = pod.object("spec").text("nodeName");
        Optional<String> fault = Optional.empty();
        if (!uid.isEmpty() && !uid.equals(metadata.text("uid"))) {
            fault = Optional.of("Precondition failed: UID in precondition: " + uid + ", UID in object meta: "
                    + metadata.text("uid"));
        } else if (!asked.isEmpty() && !asked.equals(version)) {
            fault = Optional.of("Precondition failed: ResourceVersion in precondition: " + asked
                    + ", ResourceVersion in object meta: " + version);
        } else if (metadata.has("deletionTimestamp")) {
            fault = Optional.of("pod " + name + " is being deleted, cannot be assigned to a host");
        } else if (!node.isEmpty()) {
            fault = Optional.of("pod " + name + " is already assigned to node \"" + node + "\"");
        } else if (!pod.object("spec").array("schedulingGates").isEmpty()) {
            fault = Optional.of("pod " + name + " has non-empty .spec.schedulingGates");
        }
        fault.ifPresent(why -> {
            throw ApiException.conflict(BINDING, name, why);
        });
        JsonObject scheduled = JsonObject.builder()
                .put("type", "PodScheduled")
                .put("status", "True")
                .put("lastTransitionTime", KubeTime.format(clock.wallTime()))
                .build();
        JsonObject annotations = binding.object("metadata").object("annotations");
        JsonObject annotated = annotations.isEmpty()
                ? pod
                : pod.update(
                        "metadata",
                        old -> old.update("annotations", known -> {
                            JsonObject.Builder all = known.toBuilder();
                            annotations.fields().forEach(all::put);
                            return all.build();
                        }));
        return PodConditions.withCondition(
                annotated.update(
                        "spec",
                        spec -> spec.with("nodeName", binding.object("target").text("name"))),
                scheduled);
    }
}
