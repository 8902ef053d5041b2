package io.nodekeeper.apiserver.kinds.access;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.registry.Strategy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The rules of Roles and ClusterRoles. Immutable. */
public final class RoleStrategy implements Strategy {
    /** The most characters of a name, as of other objects. Kubernetes has no limit here, but authorization keeps names in memory. */
    private static final int LONGEST = 253;

    private final boolean namespaced;

    public RoleStrategy(boolean namespaced) {
        this.namespaced = namespaced;
    }

    /** A role's name may be any valid path segment, such as {@code system:node}. */
    @Override
    public Optional<String> nameFault(String name) {
        return pathFault(name);
    }

    static Optional<String> pathFault(String name) {
        if (name.equals(".") || name.equals("..")) {
            return Optional.of("may not be '" + name + "'");
        }
        if (name.contains("/") || name.contains("%")) {
            return Optional.of("may not contain '" + (name.contains("/") ? "/" : "%") + "'");
        }
        return Optional.empty();
    }

    /**
     * The fault of a name that is too long. For new objects only: names never change, and what an earlier server stored must stay
     * writable, because a finalizer can only be removed by an update.
     */
    static List<FieldError> lengthFaults(String path, String name) {
        return name.length() > LONGEST ? List.of(FieldError.tooLong(path, LONGEST + " characters")) : List.of();
    }

    @Override
    public List<FieldError> validateCreate(JsonObject role) {
        return lengthFaults("metadata.name", role.object("metadata").text("name"));
    }

    @Override
    public List<FieldError> validate(JsonObject role) {
        List<FieldError> errors = new ArrayList<>();
        List<JsonObject> rules = role.array("rules").objects().toList();
        for (int i = 0; i < rules.size(); i++) {
            rule("rules[" + i + "]", rules.get(i), errors);
        }
        if (!namespaced
                && role.has("aggregationRule")
                && role.object("aggregationRule").array("clusterRoleSelectors").isEmpty()) {
            errors.add(FieldError.required(
                    "aggregationRule.clusterRoleSelectors",
                    "at least one clusterRoleSelector required if aggregationRule is non-nil"));
        }
        return errors;
    }

    private void rule(String path, JsonObject rule, List<FieldError> errors) {
        if (rule.array("verbs").isEmpty()) {
            errors.add(FieldError.required(path + ".verbs", "verbs must contain at least one value"));
        }
        JsonArray paths = rule.array("nonResourceURLs");
        if (!paths.isEmpty()) {
            if (namespaced) {
                errors.add(FieldError.invalid(
                        path + ".nonResourceURLs",
                        paths.toString(),
                        "namespaced rules cannot apply to non-resource URLs"));
            }
            if (!rule.array("apiGroups").isEmpty()
                    || !rule.array("resources").isEmpty()
                    || !rule.array("resourceNames").isEmpty()) {
                errors.add(FieldError.invalid(
                        path + ".nonResourceURLs",
                        paths.toString(),
                        "rules cannot apply to both regular resources and non-resource URLs"));
            }
            return;
        }
        if (rule.array("apiGroups").isEmpty()) {
            errors.add(FieldError.required(path + ".apiGroups", "resource rules must supply at least one api group"));
        }
        if (rule.array("resources").isEmpty()) {
            errors.add(FieldError.required(path + ".resources", "resource rules must supply at least one resource"));
        }
    }
}
