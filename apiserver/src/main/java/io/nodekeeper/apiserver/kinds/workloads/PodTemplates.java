package io.nodekeeper.apiserver.kinds.workloads;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.schema.Schema;
import io.nodekeeper.api.selector.LabelSelectors;
import io.nodekeeper.apiserver.fields.FieldCheck;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.fields.SemanticEquality;
import io.nodekeeper.apiserver.pods.PodDefaults;
import io.nodekeeper.apiserver.pods.validation.PodRules;
import io.nodekeeper.apiserver.schema.KindSchemas;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The rules that all workloads share: about their template of pods, and about the selector that finds these pods. */
final class PodTemplates {
    /** How many old templates are kept for a rollback, unless the object says it. */
    private static final long HISTORY = 10;

    /** Selectors of all workloads have the same type. */
    private static final Optional<Schema> SELECTOR =
            KindSchemas.of("apps/v1", "Deployment").field("spec").flatMap(spec -> spec.field("selector"));

    private PodTemplates() {}

    /** A workload's spec with the defaults of its template. */
    static JsonObject withDefaults(JsonObject given) {
        JsonObject spec = given.update("template", template -> template.update("spec", PodDefaults::templateSpec));
        return ObjectFields.value(spec, "revisionHistoryLimit", JsonNumber.of(HISTORY));
    }

    /** The faults of a workload on its own: its selector, and numbers that must not be negative. */
    static List<FieldError> validate(JsonObject workload) {
        FieldCheck check = FieldCheck.of(workload.object("spec"), "spec");
        JsonObject selector = check.value().object("selector");
        FieldCheck metadata = check.object("template").object("metadata");
        if (selector.isEmpty()) {
            check.required("selector", "");
        } else if (!LabelSelectors.matches(
                selector, metadata.value().object("labels").texts())) {
            check.errors()
                    .add(FieldError.invalid(
                            "spec.template.metadata.labels",
                            metadata.value().object("labels").toString(),
                            "`selector` does not match template `labels`"));
        }
        check.notNegative("minReadySeconds");
        check.notNegative("revisionHistoryLimit");
        return check.errors();
    }

    /** The faults of a new workload's template; {@code owner} is the kind that makes the pods, as messages name it. */
    static List<FieldError> validateTemplate(JsonObject workload, String owner) {
        JsonObject template = workload.object("spec").object("template");
        List<FieldError> errors = new ArrayList<>(PodRules.template(template, "spec.template"));
        JsonObject spec = template.object("spec");
        String restart = spec.text("restartPolicy");
        if (!restart.equals("Always")) {
            errors.add(
                    FieldError.notSupported("spec.template.spec.restartPolicy", "\"" + restart + "\"", "\"Always\""));
        }
        if (spec.has("activeDeadlineSeconds")) {
            errors.add(FieldError.forbidden(
                    "spec.template.spec.activeDeadlineSeconds",
                    "activeDeadlineSeconds in " + owner + " is not Supported"));
        }
        return errors;
    }

    /**
     * The faults of an update of {@code old}. An unchanged template is not validated, so that a template accepted by an
     * earlier version does not block all updates.
     */
    static List<FieldError> validateUpdate(JsonObject workload, JsonObject old, String owner) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject spec = workload.object("spec");
        JsonObject before = old.object("spec");
        if (!SemanticEquality.of(spec.object("selector"), before.object("selector"), SELECTOR)) {
            errors.add(
                    FieldError.invalid("spec.selector", spec.object("selector").toString(), "field is immutable"));
        }
        if (!spec.object("template").equals(before.object("template"))) {
            errors.addAll(validateTemplate(workload, owner));
        }
        return errors;
    }
}
