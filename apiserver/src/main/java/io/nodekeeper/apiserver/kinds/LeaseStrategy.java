package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.registry.Strategy;
import java.util.ArrayList;
import java.util.List;

/** The rules of Leases. */
public final class LeaseStrategy implements Strategy {

    @Override
    public List<FieldError> validate(JsonObject lease) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject spec = lease.object("spec");
        spec.number("leaseDurationSeconds")
                .filter(seconds -> seconds <= 0)
                .ifPresent(seconds -> errors.add(FieldError.invalid(
                        "spec.leaseDurationSeconds", Long.toString(seconds), "must be greater than 0")));
        spec.number("leaseTransitions")
                .filter(count -> count < 0)
                .ifPresent(count -> errors.add(FieldError.invalid(
                        "spec.leaseTransitions", Long.toString(count), "must to greater or equal than 0")));
        return errors;
    }

    /** A lease is a lock, so no client may overwrite another's by accident. */
    @Override
    public boolean needsResourceVersion() {
        return true;
    }

    /** A lease is renewed every few seconds, by clients that can wait some milliseconds for the answer. */
    @Override
    public boolean isRenewed() {
        return true;
    }

    @Override
    public boolean createsOnUpdate() {
        return true;
    }
}
