package io.nodekeeper.apiserver.kinds.access;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.registry.Strategy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The rules of RoleBindings and ClusterRoleBindings. Immutable. */
public final class RoleBindingStrategy implements Strategy {
    private static final String GROUP = "rbac.authorization.k8s.io";

    private final boolean namespaced;

    public RoleBindingStrategy(boolean namespaced) {
        this.namespaced = namespaced;
    }

    @Override
    public Optional<String> nameFault(String name) {
        return RoleStrategy.pathFault(name);
    }

    /** Sets the API group of users, groups and roles. */
    @Override
    public JsonObject withDefaults(JsonObject binding) {
        return ObjectFields.each(binding.update("roleRef", RoleBindingStrategy::withGroup), "subjects", subject -> {
            String kind = subject.text("kind");
            return kind.equals("User") || kind.equals("Group") ? withGroup(subject) : subject;
        });
    }

    private static JsonObject withGroup(JsonObject reference) {
        return ObjectFields.text(reference, "apiGroup", GROUP);
    }

    @Override
    public List<FieldError> validateCreate(JsonObject binding) {
        List<FieldError> errors = new ArrayList<>();
        errors.addAll(RoleStrategy.lengthFaults(
                "metadata.name", binding.object("metadata").text("name")));
        errors.addAll(RoleStrategy.lengthFaults(
                "roleRef.name", binding.object("roleRef").text("name")));
        return errors;
    }

    @Override
    public List<FieldError> validate(JsonObject binding) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject role = binding.object("roleRef");
        if (!role.text("apiGroup").equals(GROUP)) {
            errors.add(FieldError.notSupported("roleRef.apiGroup", quoted(role.text("apiGroup")), quoted(GROUP)));
        }
        List<String> kinds = namespaced ? List.of("Role", "ClusterRole") : List.of("ClusterRole");
        if (!kinds.contains(role.text("kind"))) {
            errors.add(FieldError.notSupported(
                    "roleRef.kind",
                    quoted(role.text("kind")),
                    String.join(
                            ", ",
                            kinds.stream().map(RoleBindingStrategy::quoted).toList())));
        }
        if (role.text("name").isEmpty()) {
            errors.add(FieldError.required("roleRef.name", ""));
        } else {
            RoleStrategy.pathFault(role.text("name"))
                    .ifPresent(
                            fault -> errors.add(FieldError.invalid("roleRef.name", quoted(role.text("name")), fault)));
        }
        List<JsonObject> subjects = binding.array("subjects").objects().toList();
        for (int i = 0; i < subjects.size(); i++) {
            subject("subjects[" + i + "]", subjects.get(i), errors);
        }
        return errors;
    }

    private void subject(String path, JsonObject subject, List<FieldError> errors) {
        if (subject.text("name").isEmpty()) {
            errors.add(FieldError.required(path + ".name", ""));
        }
        String group = subject.text("apiGroup");
        switch (subject.text("kind")) {
            case "User", "Group" -> {
                if (!group.equals(GROUP)) {
                    errors.add(FieldError.notSupported(path + ".apiGroup", quoted(group), quoted(GROUP)));
                }
            }
            case "ServiceAccount" -> {
                if (!group.isEmpty()) {
                    errors.add(FieldError.notSupported(path + ".apiGroup", quoted(group), quoted("")));
                }
                // In a RoleBinding, the account is in the namespace of the binding.
                if (!namespaced && subject.text("namespace").isEmpty()) {
                    errors.add(FieldError.required(path + ".namespace", ""));
                }
            }
            default ->
                errors.add(FieldError.notSupported(
                        path + ".kind", quoted(subject.text("kind")), "\"ServiceAccount\", \"User\", \"Group\""));
        }
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject binding, JsonObject old) {
        JsonObject role = binding.object("roleRef");
        return role.equals(old.object("roleRef"))
                ? List.of()
                : List.of(FieldError.invalid("roleRef", role.toString(), "cannot change roleRef"));
    }

    private static String quoted(String text) {
        return "\"" + text + "\"";
    }
}
