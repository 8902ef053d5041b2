package io.nodekeeper.agent.config.file;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Compares the fields of a file with {@link KubeletFields}. Used by one thread. */
public final class FieldCheck {
    private final List<String> faults = new ArrayList<>();
    private final List<String> unsupported = new ArrayList<>();
    private final List<String> idle = new ArrayList<>();

    /**
     * What was found.
     *
     * @param fields those that the agent supports, without those that are set to nothing or to a zero that means the default
     * @param faults unknown fields, and wrong values of fields that the agent does not support
     * @param unsupported one message for each field that asks for what an agent that runs pods cannot do
     * @param idle names of the fields that have no effect
     */
    public record Result(
            Map<String, Object> fields, List<String> faults, List<String> unsupported, List<String> idle) {}

    private FieldCheck() {}

    /** Checks {@code tree}. Pure. */
    public static Result of(ConfigTree tree) {
        FieldCheck check = new FieldCheck();
        Map<String, Object> fields = check.walk("", tree.fields());
        check.together(tree.fields());
        return new Result(fields, check.faults, check.unsupported, check.idle);
    }

    private Map<String, Object> walk(String prefix, Map<String, Object> fields) {
        Map<String, Object> kept = new LinkedHashMap<>();
        fields.forEach((name, value) -> {
            if (value != null) {
                visit(prefix + name, value).ifPresent(keep -> kept.put(name, keep));
            }
        });
        return kept;
    }

    private Optional<Object> visit(String path, Object value) {
        Optional<KubeletField> field = KubeletFields.at(path);
        if (field.isPresent()) {
            return field(field.get(), value) ? Optional.of(value) : Optional.empty();
        }
        if (!KubeletFields.isObject(path)) {
            faults.add("unknown field \"" + path + "\"");
        } else if (value instanceof Map<?, ?> inner) {
            return Optional.<Object>of(walk(path + ".", ConfigTree.named(inner)))
                    .filter(kept -> !kept.equals(Map.of()));
        } else {
            faults.add(path + " must be an object, got " + value);
        }
        return Optional.empty();
    }

    /** Whether the agent reads it. */
    private boolean field(KubeletField field, Object value) {
        FieldType type = field.type();
        if (type.unset().test(value)) {
            return false;
        }
        boolean supported = field.support() == KubeletField.Support.SUPPORTED;
        if (supported && !field.isNested()) {
            // Its reader checks it, with a message of its own.
            return true;
        }
        if (!type.fits().test(value)) {
            faults.add(field.path() + " must be " + type.expected() + ", got " + value);
        } else if (supported) {
            return true;
        } else if (field.support() == KubeletField.Support.NO_EFFECT) {
            idle.add(field.path());
        } else if (field.accepted().stream().noneMatch(text -> type.means(value, text))) {
            unsupported.add(field.path() + ": " + value + " is not supported by this agent; remove it"
                    + (field.usual().isEmpty() ? "" : " or set it to " + field.usual()));
        }
        return false;
    }

    private void together(Map<String, Object> fields) {
        boolean serial = Objects.equals(fields.get("serializeImagePulls"), true);
        if (serial && fields.get("maxParallelImagePulls") instanceof Integer most && most > 1) {
            faults.add("maxParallelImagePulls cannot be larger than 1 unless serializeImagePulls is set to false, got "
                    + most);
        }
    }
}
