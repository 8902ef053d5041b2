package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.api.Names;
import io.nodekeeper.apiserver.fields.FieldCheck;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Validates environment variables. */
final class EnvRules {
    private static final List<String> SOURCES =
            List.of("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef");
    /** Printable ASCII except '=' (the relaxed rule, which is the default since 1.32). */
    private static final Pattern NAME = Pattern.compile("[ -<>-~]+");

    private static final Pattern KEY = Pattern.compile("[-._a-zA-Z0-9]+");
    private static final int KEY_LENGTH = 253;

    private EnvRules() {}

    static void check(FieldCheck container) {
        for (FieldCheck variable : container.items("env")) {
            if (variable.require("name")) {
                variable.form("name", EnvRules::nameFault);
            }
            if (variable.has("valueFrom")) {
                source(variable.object("valueFrom"), variable.text("value"));
            }
        }
        for (FieldCheck source : container.items("envFrom")) {
            source.formIfSet("prefix", EnvRules::nameFault);
            int sources = 0;
            for (String kind : List.of("configMapRef", "secretRef")) {
                if (source.has(kind)) {
                    sources++;
                    FieldCheck reference = source.object(kind);
                    if (reference.require("name")) {
                        reference.form("name", Names::subdomainFault);
                    }
                }
            }
            if (sources != 1) {
                container.invalid(
                        "envFrom",
                        "",
                        sources == 0
                                ? "must specify one of: `configMapRef` or `secretRef`"
                                : "may not have more than one field specified at a time");
            }
        }
    }

    private static void source(FieldCheck from, String value) {
        long sources = SOURCES.stream().filter(from::has).count();
        if (from.has("fieldRef")) {
            DownwardRules.variable(from.object("fieldRef"));
        }
        if (from.has("resourceFieldRef")) {
            DownwardRules.resource(from.object("resourceFieldRef"), false);
        }
        for (String kind : List.of("configMapKeyRef", "secretKeyRef")) {
            if (from.has(kind)) {
                FieldCheck reference = from.object(kind);
                reference.form("name", Names::subdomainFault);
                if (reference.require("key")) {
                    reference.form("key", EnvRules::keyFault);
                }
            }
        }
        if (sources == 0) {
            from.invalid(
                    "", "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`");
        } else if (!value.isEmpty()) {
            from.invalid("", "", "may not be specified when `value` is not empty");
        } else if (sources > 1) {
            from.invalid("", "", "may not have more than one field specified at a time");
        }
    }

    private static Optional<String> nameFault(String name) {
        if (NAME.matcher(name).matches()) {
            return name.equals(".")
                    ? Optional.of("must not be '.'")
                    : name.equals("..") || name.startsWith("..")
                            ? Optional.of("must not start with '..'")
                            : Optional.empty();
        }
        return Optional.of(
                "a valid environment variable name must consist only of printable ASCII characters other than"
                        + " '='");
    }

    private static Optional<String> keyFault(String key) {
        if (key.length() > KEY_LENGTH) {
            return Optional.of("must be no more than " + KEY_LENGTH + " characters");
        }
        if (!KEY.matcher(key).matches()) {
            return Optional.of("a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g."
                    + " 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '" + KEY.pattern()
                    + "')");
        }
        return key.equals(".") || key.startsWith("..")
                ? Optional.of("must not be '.' or start with '..'")
                : Optional.empty();
    }
}
