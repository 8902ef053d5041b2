package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.registry.Strategy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** The rules of VolumeAttachments. */
public final class VolumeAttachmentStrategy implements Strategy {

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        return object.with("status", JsonObject.EMPTY.with("attached", JsonBool.FALSE));
    }

    @Override
    public List<FieldError> validate(JsonObject attachment) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject spec = attachment.object("spec");
        for (String field : List.of("attacher", "nodeName")) {
            if (spec.text(field).isEmpty()) {
                errors.add(FieldError.required("spec." + field, ""));
            }
        }
        if (spec.object("source").isEmpty()) {
            errors.add(FieldError.required(
                    "spec.source", "must specify one of inlineVolumeSpec and persistentVolumeName"));
        }
        return errors;
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject attachment, JsonObject old) {
        return attachment.object("spec").equals(old.object("spec"))
                ? List.of()
                : List.of(FieldError.invalid("spec", attachment.object("spec").toString(), "field is immutable"));
    }

    /** As in Kubernetes: several clients write it, and none may overwrite what another has just written. */
    @Override
    public boolean needsResourceVersion() {
        return true;
    }
}
