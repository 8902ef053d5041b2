package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.registry.Strategy;
import java.util.ArrayList;
import java.util.List;

/** The rules of Events of core/v1. */
public final class EventStrategy implements Strategy {

    @Override
    public List<FieldError> validate(JsonObject event) {
        List<FieldError> errors = new ArrayList<>();
        String namespace = event.object("metadata").text("namespace");
        String about = event.object("involvedObject").text("namespace");
        boolean modern = event.has("eventTime");
        // An event about an object without a namespace is in the namespace that its API requires.
        String home = modern ? "kube-system" : "default";
        boolean atHome = namespace.equals(home) || namespace.equals("default");
        if (about.isEmpty() ? !atHome : !about.equals(namespace)) {
            errors.add(FieldError.invalid(
                    "involvedObject.namespace", "\"" + about + "\"", "does not match event.namespace"));
        }
        if (modern) {
            NewEventStrategy.checkReporter(errors, event, "reportingComponent", "message");
        }
        return errors;
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
}
