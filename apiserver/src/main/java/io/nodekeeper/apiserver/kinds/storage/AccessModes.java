package io.nodekeeper.apiserver.kinds.storage;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;

/** The rules that volumes and claims share. */
final class AccessModes {
    private static final List<String> MODES =
            List.of("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod");
    private static final List<String> VOLUME_MODES = List.of("Filesystem", "Block");

    private AccessModes() {}

    /** Adds what is wrong with the modes of {@code spec}. */
    static void check(JsonObject spec, List<FieldError> errors) {
        List<String> modes = spec.array("accessModes").strings().toList();
        if (modes.isEmpty()) {
            errors.add(FieldError.required("spec.accessModes", "at least 1 access mode is required"));
        }
        modes.stream()
                .filter(mode -> !MODES.contains(mode))
                .map(mode -> FieldError.notSupported("spec.accessModes", quoted(mode), listed(MODES)))
                .forEach(errors::add);
        if (modes.size() > 1 && modes.contains("ReadWriteOncePod")) {
            errors.add(
                    FieldError.forbidden("spec.accessModes", "may not use ReadWriteOncePod with other access modes"));
        }
        String mode = spec.text("volumeMode");
        if (!VOLUME_MODES.contains(mode)) {
            errors.add(FieldError.notSupported("spec.volumeMode", quoted(mode), listed(VOLUME_MODES)));
        }
    }

    static String listed(List<String> values) {
        return String.join(", ", values.stream().map(AccessModes::quoted).toList());
    }

    static String quoted(String text) {
        return "\"" + text + "\"";
    }
}
