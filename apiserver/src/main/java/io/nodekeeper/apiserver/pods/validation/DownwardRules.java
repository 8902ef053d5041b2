package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.api.Names;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.apiserver.fields.FieldCheck;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Validates the downward API: environment variables and files with the values of the pod's own fields. */
final class DownwardRules {
    /** The fields that an environment variable can refer to. */
    private static final List<String> VARIABLES = List.of(
            "metadata.name",
            "metadata.namespace",
            "metadata.uid",
            "spec.nodeName",
            "spec.serviceAccountName",
            "status.hostIP",
            "status.hostIPs",
            "status.podIP",
            "status.podIPs");

    /** The fields that a file can refer to. */
    private static final List<String> FILES =
            List.of("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid");

    /** All fields of the downward API. */
    private static final List<String> KNOWN =
            Stream.concat(VARIABLES.stream(), FILES.stream()).distinct().toList();

    private static final List<String> RESOURCES = List.of(
            "limits.cpu",
            "limits.ephemeral-storage",
            "limits.memory",
            "requests.cpu",
            "requests.ephemeral-storage",
            "requests.memory");

    private static final List<String> CPU_DIVISORS = List.of("1m", "1");
    private static final List<String> BYTE_DIVISORS =
            List.of("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei");

    private static final Pattern SUBSCRIPT = Pattern.compile("([^\\[]+)\\['(.*)'\\]");

    private DownwardRules() {}

    /** Checks a file of a downward API volume. */
    static void file(FieldCheck file) {
        file.require("path");
        Paths.notReserved(file, "path", file.text("path"));
        if (file.has("fieldRef")) {
            field(file.object("fieldRef"), FILES);
            if (file.has("resourceFieldRef")) {
                file.invalid("", "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
            }
        } else if (file.has("resourceFieldRef")) {
            resource(file.object("resourceFieldRef"), true);
        } else {
            file.required("", "one of fieldRef and resourceFieldRef is required");
        }
        FileRules.mode(file, "mode");
    }

    /** Checks a field reference of an environment variable. */
    static void variable(FieldCheck reference) {
        field(reference, VARIABLES);
    }

    private static void field(FieldCheck reference, List<String> supported) {
        if (!reference.require("apiVersion") || !reference.require("fieldPath")) {
            return;
        }
        String path = reference.text("fieldPath");
        Matcher subscripted = SUBSCRIPT.matcher(path);
        if (subscripted.matches()) {
            subscript(reference, subscripted.group(1), subscripted.group(2));
        } else if (!reference.text("apiVersion").equals("v1")) {
            reference.invalid(
                    "fieldPath",
                    "error converting fieldPath: unsupported pod version: " + reference.text("apiVersion"));
        } else if (!KNOWN.contains(path)) {
            reference.invalid("fieldPath", "error converting fieldPath: field label not supported: " + path);
        } else {
            reference.oneOf("fieldPath", supported);
        }
    }

    private static void subscript(FieldCheck reference, String path, String key) {
        switch (path) {
            case "metadata.annotations" -> reference.form("", key, Names::annotationFault);
            case "metadata.labels" -> reference.form("", key, Names::qualifiedFault);
            default ->
                reference.invalid(
                        "fieldPath",
                        "error converting fieldPath: field label does not support subscript: "
                                + reference.text("fieldPath"));
        }
    }

    /** Checks a reference to a container's resource. A file must name the container, a variable need not. */
    static void resource(FieldCheck reference, boolean file) {
        String resource = reference.text("resource");
        if (file && reference.text("containerName").isEmpty()) {
            reference.required("containerName", "");
        } else if (reference.require("resource") && !isHugePages(resource)) {
            reference.oneOf("resource", RESOURCES);
        }
        Optional<Quantity> divisor =
                reference.value().get("divisor").flatMap(Quantity::from).filter(amount -> !amount.isZero());
        divisor.ifPresent(amount -> divisor(reference, resource, amount.toString()));
    }

    private static boolean isHugePages(String resource) {
        return resource.startsWith("limits.hugepages-") || resource.startsWith("requests.hugepages-");
    }

    private static void divisor(FieldCheck reference, String resource, String divisor) {
        boolean cpu = resource.endsWith(".cpu");
        if (!(cpu ? CPU_DIVISORS : BYTE_DIVISORS).contains(divisor)) {
            reference.invalid(
                    "divisor",
                    resource,
                    "only divisor's values "
                            + (cpu
                                    ? "1m and 1 are supported with the cpu resource"
                                    : String.join(", ", BYTE_DIVISORS) + " are supported with the memory resource"));
        }
    }
}
