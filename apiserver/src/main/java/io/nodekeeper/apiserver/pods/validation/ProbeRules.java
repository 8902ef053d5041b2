package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.apiserver.fields.FieldCheck;
import java.util.List;
import java.util.regex.Pattern;

/** Validates probes and lifecycle hooks. */
public final class ProbeRules {
    public static final List<String> PROBES = List.of("livenessProbe", "readinessProbe", "startupProbe");
    private static final List<String> SCHEMES = List.of("HTTP", "HTTPS");
    private static final List<String> HANDLERS = List.of("exec", "httpGet", "tcpSocket", "grpc");
    private static final List<String> HOOK_HANDLERS = List.of("exec", "httpGet", "tcpSocket", "sleep");
    private static final List<String> NUMBERS =
            List.of("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold");

    private static final Pattern HEADER = Pattern.compile("[-A-Za-z0-9]+");
    private static final Pattern PORT_NAME = Pattern.compile("[-a-z0-9]+");
    private static final Pattern LETTER = Pattern.compile("[a-z]");

    private ProbeRules() {}

    /** Checks the hooks and probes of a container that is allowed to have them. */
    static void check(FieldCheck container, long graceSeconds) {
        FieldCheck lifecycle = container.object("lifecycle");
        for (String hook : List.of("postStart", "preStop")) {
            if (lifecycle.has(hook)) {
                hook(lifecycle.object(hook), graceSeconds);
            }
        }
        for (String probe : PROBES) {
            if (container.has(probe)) {
                probe(container.object(probe), probe);
            }
        }
    }

    private static void hook(FieldCheck hook, long graceSeconds) {
        handler(hook, HOOK_HANDLERS);
        if (hook.has("sleep")) {
            long seconds = hook.object("sleep").number("seconds").orElse(0L);
            if (seconds <= 0 || seconds > graceSeconds) {
                hook.invalidNumber(
                        "sleep",
                        seconds,
                        "must be greater than 0 and less than terminationGracePeriodSeconds (" + graceSeconds + ")");
            }
        }
    }

    private static void probe(FieldCheck probe, String name) {
        handler(probe, HANDLERS);
        NUMBERS.forEach(probe::notNegative);
        boolean readiness = name.equals("readinessProbe");
        if (readiness && probe.has("terminationGracePeriodSeconds")) {
            probe.invalid("terminationGracePeriodSeconds", "must not be set for readinessProbes");
        } else {
            probe.number("terminationGracePeriodSeconds")
                    .filter(seconds -> seconds <= 0)
                    .ifPresent(seconds ->
                            probe.invalidNumber("terminationGracePeriodSeconds", seconds, "must be greater than 0"));
        }
        long successes = probe.number("successThreshold").orElse(1L);
        if (!readiness && successes != 1) {
            probe.invalidNumber("successThreshold", successes, "must be 1");
        }
    }

    private static void handler(FieldCheck at, List<String> handlers) {
        List<String> given = handlers.stream().filter(at::has).toList();
        if (given.isEmpty()) {
            at.required("", "must specify a handler type");
            return;
        }
        given.stream().skip(1).forEach(other -> at.forbidden(other, "may not specify more than 1 handler type"));
        FieldCheck handler = at.object(given.getFirst());
        switch (given.getFirst()) {
            case "exec" -> {
                if (handler.value().array("command").isEmpty()) {
                    handler.required("command", "");
                }
            }
            case "httpGet" -> {
                handler.require("path");
                port(handler, "port");
                handler.oneOf("scheme", SCHEMES);
                for (FieldCheck header : handler.items("httpHeaders")) {
                    if (!HEADER.matcher(header.text("name")).matches()) {
                        handler.invalid(
                                "httpHeaders",
                                header.text("name"),
                                "a valid HTTP header must consist of alphanumeric characters or '-' (e.g."
                                        + " 'X-Header-Name', regex used for validation is '" + HEADER.pattern()
                                        + "')");
                    }
                }
            }
            case "tcpSocket" -> port(handler, "port");
            case "grpc" -> portNumber(handler, "port", handler.number("port").orElse(0L));
            default -> {
                // The caller checks a sleep, because it must be shorter than the pod's grace period.
            }
        }
    }

    /** Checks a port, which is a number or a name. */
    private static void port(FieldCheck at, String field) {
        JsonValue port = at.value().get(field).orElse(JsonNumber.of(0));
        if (port instanceof JsonString name) {
            portName(at, field, name.value());
        } else {
            portNumber(at, field, at.number(field).orElse(0L));
        }
    }

    static void portNumber(FieldCheck at, String field, long number) {
        if (number < 1 || number > 65_535) {
            at.invalidNumber(field, number, "must be between 1 and 65535, inclusive");
        }
    }

    /** Checks the name of a port, and returns whether it is well-formed. */
    static boolean portName(FieldCheck at, String field, String name) {
        int before = at.errors().size();
        if (name.length() > 15) {
            at.invalid(field, name, "must be no more than 15 characters");
        }
        if (!PORT_NAME.matcher(name).matches()) {
            at.invalid(field, name, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
        }
        if (!LETTER.matcher(name).find()) {
            at.invalid(field, name, "must contain at least one letter (a-z)");
        }
        if (name.contains("--")) {
            at.invalid(field, name, "must not contain consecutive hyphens");
        }
        if (name.startsWith("-") || name.endsWith("-")) {
            at.invalid(field, name, "must not begin or end with a hyphen");
        }
        return at.errors().size() == before;
    }
}
