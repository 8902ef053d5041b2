package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.apiserver.registry.Strategy;
import java.util.ArrayList;
import java.util.List;

/** The rules of Events of events.k8s.io/v1, which are stricter than those of core/v1. */
public final class NewEventStrategy implements Strategy {
    private static final List<String> DEPRECATED =
            List.of("deprecatedSource", "deprecatedFirstTimestamp", "deprecatedLastTimestamp", "deprecatedCount");
    private static final List<String> IMMUTABLE = List.of(
            "regarding",
            "reason",
            "action",
            "type",
            "note",
            "eventTime",
            "related",
            "reportingController",
            "reportingInstance");
    /** The longest reason and action (Kubernetes' limit). */
    private static final int NAME = 128;
    /** The longest note, in bytes (Kubernetes' limit). */
    private static final int NOTE = 1_024;

    @Override
    public List<FieldError> validate(JsonObject event) {
        List<FieldError> errors = new ArrayList<>();
        String namespace = event.object("metadata").text("namespace");
        String about = event.object("regarding").text("namespace");
        boolean atHome = namespace.equals("kube-system") || namespace.equals("default");
        if (about.isEmpty() ? !atHome : !about.equals(namespace)) {
            errors.add(FieldError.invalid("regarding.namespace", quoted(about), "does not match event.namespace"));
        }
        return errors;
    }

    /** Validates a new event. Events of the older API may have fewer fields, and may be updated without them. */
    @Override
    public List<FieldError> validateCreate(JsonObject event) {
        List<FieldError> errors = new ArrayList<>();
        if (!event.has("eventTime")) {
            errors.add(FieldError.required("eventTime", ""));
        }
        String type = event.text("type");
        if (!type.equals("Normal") && !type.equals("Warning")) {
            errors.add(FieldError.invalid("type", quoted(type), "has invalid value: " + type));
        }
        checkReporter(errors, event, "reportingController", "note");
        for (String field : DEPRECATED) {
            event.get(field)
                    .ifPresent(value -> errors.add(FieldError.invalid(field, value.toString(), "needs to be unset")));
        }
        return errors;
    }

    /** Validates an update: only the series may change after the creation. */
    @Override
    public List<FieldError> validateUpdate(JsonObject event, JsonObject old) {
        return Strategy.immutable("", event, old, IMMUTABLE);
    }

    @Override
    public boolean createsOnUpdate() {
        return true;
    }

    /** As in Kubernetes: there are too many, and they own nothing. */
    @Override
    public boolean isCollected() {
        return false;
    }

    /** Checks who reports {@code event} and why; the APIs of Events have other names for the controller and the note. */
    static void checkReporter(List<FieldError> errors, JsonObject event, String controllerField, String noteField) {
        String controller = event.text(controllerField);
        if (controller.isEmpty()) {
            errors.add(FieldError.required("reportingController", ""));
        } else {
            Names.qualifiedFault(controller)
                    .ifPresent(
                            fault -> errors.add(FieldError.invalid("reportingController", quoted(controller), fault)));
        }
        for (String field : List.of("reportingInstance", "action", "reason")) {
            String text = event.text(field);
            if (text.isEmpty()) {
                errors.add(FieldError.required(field, ""));
            } else if (text.length() > NAME) {
                errors.add(FieldError.invalid(field, quoted(text), "can have at most " + NAME + " characters"));
            }
        }
        String note = event.text(noteField);
        if (note.length() > NOTE) {
            errors.add(FieldError.invalid(noteField, quoted(note), "can have at most " + NOTE + " characters"));
        }
    }

    private static String quoted(String text) {
        return new JsonString(text).toString();
    }
}
