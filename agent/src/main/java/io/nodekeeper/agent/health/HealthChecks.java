package io.nodekeeper.agent.health;

import io.nodekeeper.client.pages.Page;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The named checks of one endpoint, in Kubernetes' format: {@code ok}, or one line for each check if one failed or
 * verbose output is requested. Unlike Kubernetes it shows the reasons. Immutable; the checks run where {@link #run}
 * is called.
 *
 * @param endpoint its name, such as {@code healthz}
 * @param checks name → error; empty if the check passes
 */
public record HealthChecks(String endpoint, Map<String, Supplier<Optional<String>>> checks) {

    public HealthChecks {
        checks = Collections.unmodifiableMap(new LinkedHashMap<>(checks));
    }

    /** Runs every check; an exception counts as a failure. */
    public Map<String, Optional<String>> run() {
        Map<String, Optional<String>> found = new LinkedHashMap<>();
        checks.forEach((name, check) -> found.put(name, run(check)));
        return found;
    }

    private static Optional<String> run(Supplier<Optional<String>> check) {
        try {
            return check.get();
        } catch (RuntimeException e) {
            return Optional.of("the check itself failed: " + e);
        }
    }

    /** The page of all checks. */
    public Page all(Map<String, Optional<String>> found, boolean verbose) {
        boolean good = found.values().stream().allMatch(Optional::isEmpty);
        if (good && !verbose) {
            return Page.text(200, "ok");
        }
        StringBuilder lines = new StringBuilder();
        found.forEach((name, wrong) -> lines.append(
                        wrong.map(why -> "[-]" + name + " failed: " + why).orElse("[+]" + name + " ok"))
                .append('\n'));
        return Page.text(good ? 200 : 500, lines + endpoint + " check " + (good ? "passed" : "failed"));
    }

    /** The page of one check. */
    public Page one(String name) {
        Supplier<Optional<String>> check = checks.get(name);
        if (check == null) {
            return Page.text(404, "404 page not found; " + endpoint + " has " + String.join(", ", checks.keySet()));
        }
        return run(check)
                .map(why -> Page.text(500, "internal server error: " + why))
                .orElseGet(() -> Page.text(200, "ok"));
    }
}
