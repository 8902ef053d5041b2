package io.nodekeeper.apiserver.pods;

import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.ObjectFields;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Kubernetes' admission plugin Priority: sets a new pod's priority and preemption policy from its PriorityClass. */
public final class PriorityAdmission {
    /** Kubernetes' default for the preemption policy of a class. */
    public static final String PREEMPT = "PreemptLowerPriority";

    /** The classes that exist in every Kubernetes cluster. */
    public static final List<JsonObject> BUILT_IN = List.of(
            builtIn(
                    "system-cluster-critical",
                    2_000_000_000L,
                    "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."),
            builtIn(
                    "system-node-critical",
                    2_000_001_000L,
                    "Used for system critical pods that must not be moved from their current node."));

    private PriorityAdmission() {}

    private static JsonObject builtIn(String name, long value, String description) {
        return JsonObject.builder()
                .put("metadata", JsonObject.builder().put("name", name).build())
                .put("value", JsonNumber.of(value))
                .put("description", description)
                .put("preemptionPolicy", PREEMPT)
                .build();
    }

    /** Whether a class in {@link #BUILT_IN} has this name. */
    public static boolean isBuiltIn(String name) {
        return builtIn(name).isPresent();
    }

    private static Optional<JsonObject> builtIn(String name) {
        return BUILT_IN.stream()
                .filter(known -> known.object("metadata").text("name").equals(name))
                .findFirst();
    }

    /** The class for pods without one: if two servers each admitted a default class, the one with the lower value. */
    public static Optional<JsonObject> globalDefault(Stream<JsonObject> classes) {
        return classes.filter(one -> one.bool("globalDefault"))
                .min(Comparator.comparing(one -> one.number("value").orElse(0L)));
    }

    /**
     * Returns the new pod with its priority.
     *
     * @param classes finds a PriorityClass by name
     * @param defaultClass the class for pods without one
     * @throws io.nodekeeper.api.ApiException 403 if the class does not exist, or the pod's own values differ from it
     */
    public static JsonObject admit(
            JsonObject pod,
            Function<String, Optional<JsonObject>> classes,
            Supplier<Optional<JsonObject>> defaultClass) {
        String name = pod.object("spec").text("priorityClassName");
        Optional<JsonObject> found = name.isEmpty()
                ? defaultClass.get()
                : Optional.of(classes.apply(name)
                        .or(() -> builtIn(name))
                        .orElseThrow(() -> PodRefusal.of(pod, "no PriorityClass with name " + name + " was found")));
        JsonObject priorityClass = found.orElse(JsonObject.EMPTY);
        long priority = priorityClass.number("value").orElse(0L);
        String policy =
                ObjectFields.text(priorityClass, "preemptionPolicy", PREEMPT).text("preemptionPolicy");
        check(pod, priority, policy);
        return pod.update("spec", given -> {
            JsonObject spec = found.isEmpty()
                    ? given
                    : given.with(
                            "priorityClassName",
                            priorityClass.object("metadata").text("name"));
            return spec.with("priority", JsonNumber.of(priority)).with("preemptionPolicy", policy);
        });
    }

    private static void check(JsonObject pod, long priority, String policy) {
        JsonObject spec = pod.object("spec");
        long given = spec.number("priority").orElse(priority);
        if (given != priority) {
            throw PodRefusal.of(
                    pod,
                    "the integer value of priority (" + given + ") must not be provided in pod spec; priority admission"
                            + " controller computed " + priority + " from the given PriorityClass name");
        }
        String wanted = spec.text("preemptionPolicy");
        if (!wanted.isEmpty() && !wanted.equals(policy)) {
            throw PodRefusal.of(
                    pod,
                    "the string value of PreemptionPolicy (" + wanted + ") must not be provided in pod spec; priority"
                            + " admission controller computed " + policy + " from the given PriorityClass name");
        }
    }

    /** The spec of an updated pod, with the priority and policy of {@code old} where the update has none. */
    public static JsonObject kept(JsonObject spec, JsonObject old) {
        JsonObject kept = spec.has("priority") ? spec : ObjectFields.copied(spec, old, "priority");
        return kept.has("preemptionPolicy") ? kept : ObjectFields.copied(kept, old, "preemptionPolicy");
    }
}
