package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.schema.Schema;
import io.nodekeeper.apiserver.fields.FieldCheck;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.fields.SemanticEquality;
import io.nodekeeper.apiserver.schema.KindSchemas;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Validates updates of pods: most fields of a spec are immutable. */
public final class PodUpdates {
    private static final String ONLY = "pod updates may not change fields other than"
            + " `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations`"
            + " (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it"
            + " was previously negative)";

    /** The lists of container states in a pod's status. */
    private static final List<String> STATUSES = List.of("containerStatuses", "initContainerStatuses");

    private static final Optional<Schema> SPEC =
            KindSchemas.of(ResourceType.PODS).field("spec");

    private static final String EPHEMERAL = "ephemeralContainers";

    /** The fields whose zero differs from an absent value: pointers in Go, which clients send as they are. */
    private static final Set<String> POINTERS = Set.of(
            "activeDeadlineSeconds",
            "allowPrivilegeEscalation",
            "automountServiceAccountToken",
            "defaultMode",
            "emptyDir",
            "enableServiceLinks",
            "expirationSeconds",
            "fsGroup",
            "hostProcess",
            "hostUsers",
            "hostnameOverride",
            "labelSelector",
            "lun",
            "maxExpirationSeconds",
            "minDomains",
            "mode",
            "namespaceSelector",
            "optional",
            "preemptionPolicy",
            "priority",
            "privileged",
            "readOnlyRootFilesystem",
            "runAsGroup",
            "runAsNonRoot",
            "runAsUser",
            "runtimeClassName",
            "seLinuxOptions",
            "setHostnameAsFQDN",
            "shareProcessNamespace",
            "terminationGracePeriodSeconds",
            "tolerationSeconds");

    private PodUpdates() {}

    /** Whether two specs with defaults mean the same, though a client may have left out what is false, zero or empty. */
    public static boolean isSame(JsonObject spec, JsonObject before) {
        return essence(spec).equals(essence(before));
    }

    private static JsonObject essence(JsonObject spec) {
        return SemanticEquality.essence(spec, SPEC, POINTERS);
    }

    /** The errors in an update of the spec from {@code old} to {@code pod}; both have their defaults. */
    public static List<FieldError> spec(JsonObject pod, JsonObject old) {
        JsonObject before = essence(old.object("spec"));
        FieldCheck spec = FieldCheck.of(essence(pod.object("spec")), "spec");
        if (spec.value().equals(before)) {
            return List.of();
        }
        for (String list : List.of("containers", "initContainers")) {
            if (spec.value().array(list).items().size()
                    != before.array(list).items().size()) {
                spec.forbidden(list, "pod updates may not add or remove containers");
                return spec.errors();
            }
        }
        deadline(spec, before.number("activeDeadlineSeconds"));
        tolerations(spec, before);
        gates(spec, before);
        choice(spec, before);
        if (!fixed(spec.value(), before).equals(fixed(before, before))) {
            spec.forbidden("", ONLY);
        }
        return spec.errors();
    }

    /** The errors in an update of the ephemeral containers: those of {@code old} must stay as they are. */
    public static List<FieldError> ephemeralContainers(JsonObject pod, JsonObject old) {
        FieldCheck spec = FieldCheck.of(essence(pod.object("spec")), "spec");
        Map<String, JsonObject> after = new HashMap<>();
        spec.value().array(EPHEMERAL).objects().forEach(one -> after.put(one.text("name"), one));
        essence(old.object("spec")).array(EPHEMERAL).objects().forEach(was -> {
            String name = FieldCheck.quoted(was.text("name"));
            JsonObject is = after.get(was.text("name"));
            if (is == null) {
                spec.forbidden(EPHEMERAL, "existing ephemeral containers " + name + " may not be removed");
            } else if (!is.equals(was)) {
                spec.forbidden(EPHEMERAL, "existing ephemeral containers " + name + " may not be changed");
            }
        });
        return spec.errors();
    }

    /** Checks that an existing deadline does not become later and is not removed. */
    private static void deadline(FieldCheck spec, Optional<Long> before) {
        Optional<Long> after = spec.number("activeDeadlineSeconds");
        if (after.isEmpty() && before.isPresent()) {
            spec.invalid("activeDeadlineSeconds", "must not update from a positive integer to nil value");
        } else if (after.isPresent() && before.isPresent() && after.get() > before.get()) {
            spec.invalid("activeDeadlineSeconds", "must be less than or equal to previous value");
        }
    }

    private static void tolerations(FieldCheck spec, JsonObject before) {
        Set<String> kept = untimed(spec.value());
        if (!kept.containsAll(untimed(before))) {
            spec.forbidden("tolerations", "existing toleration can not be modified except its tolerationSeconds");
        }
    }

    /** The identities of the tolerations, whatever their times. */
    private static Set<String> untimed(JsonObject spec) {
        Set<String> identities = new HashSet<>();
        spec.array("tolerations")
                .objects()
                .forEach(one -> identities.add(Json.identity(one.without("tolerationSeconds"))));
        return identities;
    }

    private static void gates(FieldCheck spec, JsonObject before) {
        Set<String> known = identities(before.array("schedulingGates"));
        spec.value().array("schedulingGates").items().stream()
                .filter(gate -> !known.contains(Json.identity(gate)))
                .forEach(gate -> spec.forbidden(
                        "schedulingGates", "only deletion is allowed, but found new scheduling gate '" + gate + "'"));
    }

    /** The immutable part of a spec. */
    private static JsonObject fixed(JsonObject spec, JsonObject before) {
        JsonObject fixed =
                spec.without("activeDeadlineSeconds").without("tolerations").without("schedulingGates");
        long grace = before.number("terminationGracePeriodSeconds").orElse(0L);
        if (grace < 0 && spec.number("terminationGracePeriodSeconds").orElse(0L) == 1) {
            fixed = fixed.with("terminationGracePeriodSeconds", JsonNumber.of(grace));
        }
        for (String list : List.of("containers", "initContainers")) {
            fixed = ObjectFields.each(fixed, list, container -> container.without("image"));
        }
        // Until the scheduling gates are removed, an update may narrow the choice of nodes.
        if (before.array("schedulingGates").isEmpty()) {
            return fixed;
        }
        JsonObject affinity = fixed.object("affinity").without("nodeAffinity");
        JsonObject rest = fixed.without("nodeSelector").without("affinity");
        return affinity.isEmpty() ? rest : rest.with("affinity", affinity);
    }

    /** Checks that an update of a pod with scheduling gates only narrows the choice of nodes. */
    private static void choice(FieldCheck spec, JsonObject before) {
        if (before.array("schedulingGates").isEmpty()) {
            return;
        }
        JsonObject selector = spec.value().object("nodeSelector");
        if (!before.object("nodeSelector").fields().entrySet().stream()
                .allMatch(entry -> selector.get(entry.getKey()).equals(Optional.of(entry.getValue())))) {
            spec.forbidden("nodeSelector", "only additions are allowed while the pod has scheduling gates");
        }
        List<JsonObject> old = terms(before);
        List<JsonObject> now = terms(spec.value());
        boolean narrows = old.isEmpty() || old.size() == now.size();
        for (int i = 0; narrows && i < old.size(); i++) {
            narrows = narrows(now.get(i), old.get(i));
        }
        if (!narrows) {
            spec.forbidden(
                    "affinity.nodeAffinity",
                    "existing required terms may only get more requirements while the pod has scheduling gates");
        }
    }

    /** The alternatives of which a node must meet one. */
    private static List<JsonObject> terms(JsonObject spec) {
        return spec.object("affinity")
                .object("nodeAffinity")
                .object("requiredDuringSchedulingIgnoredDuringExecution")
                .array("nodeSelectorTerms")
                .objects()
                .toList();
    }

    /** Whether a term has all requirements of the old one. An empty one matches no node, so any requirement would widen it. */
    private static boolean narrows(JsonObject now, JsonObject old) {
        List<String> lists = List.of("matchExpressions", "matchFields");
        boolean empty = lists.stream().allMatch(list -> old.array(list).isEmpty());
        return empty
                ? lists.stream().allMatch(list -> now.array(list).isEmpty())
                : lists.stream().allMatch(list -> identities(now.array(list)).containsAll(identities(old.array(list))));
    }

    /** As texts, because a set of objects whose hashes a client has chosen takes quadratic time. */
    private static Set<String> identities(JsonArray items) {
        Set<String> identities = new HashSet<>();
        items.items().forEach(item -> identities.add(Json.identity(item)));
        return identities;
    }

    /** The errors in an update of the status from {@code old} to {@code pod}. */
    public static List<FieldError> status(JsonObject pod, JsonObject old) {
        FieldCheck status = FieldCheck.of(pod.object("status"), "status");
        JsonObject before = old.object("status");
        if (!status.text("nominatedNodeName").equals(before.text("nominatedNodeName"))) {
            status.formIfSet("nominatedNodeName", Names::subdomainFault);
        }
        String restart = old.object("spec").text("restartPolicy");
        if (restart.equals("OnFailure") || restart.equals("Never")) {
            STATUSES.forEach(list -> transitions(status, before, list, restart, old.object("spec")));
        }
        addresses(status, before, "podIPs");
        addresses(status, before, "hostIPs");
        return status.errors();
    }

    /** Checks that a terminated container which the restart policy does not restart stays terminated. */
    private static void transitions(
            FieldCheck status, JsonObject before, String list, String restart, JsonObject spec) {
        Map<String, FieldCheck> after = new HashMap<>();
        status.items(list).forEach(one -> after.putIfAbsent(one.text("name"), one));
        Set<String> sidecars = new HashSet<>();
        spec.array("initContainers")
                .objects()
                .filter(one -> one.text("restartPolicy").equals("Always"))
                .forEach(one -> sidecars.add(one.text("name")));
        before.array(list).objects().forEach(was -> {
            JsonObject terminated = was.object("state").object("terminated");
            boolean ended = was.object("state").has("terminated")
                    && !(restart.equals("OnFailure")
                            && terminated.number("exitCode").orElse(0L) != 0)
                    && !sidecars.contains(was.text("name"));
            FieldCheck is = after.get(was.text("name"));
            if (ended && is != null && !is.value().object("state").has("terminated")) {
                is.forbidden("state", "may not be transitioned to non-terminated state");
            }
        });
    }

    private static void addresses(FieldCheck status, JsonObject before, String list) {
        if (status.value().array(list).equals(before.array(list))) {
            return;
        }
        Set<String> seen = new HashSet<>();
        for (FieldCheck address : status.items(list)) {
            address.form("ip", NetworkRules::ipFault);
            if (!seen.add(address.text("ip"))) {
                address.duplicate("", address.text("ip"));
            }
        }
    }
}
