package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.api.Names;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.apiserver.fields.FieldCheck;
import java.math.BigDecimal;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Validates resource requests and limits. */
final class ResourceRules {
    private static final List<String> STANDARD = List.of("cpu", "memory", "ephemeral-storage");
    private static final String HUGE_PAGES = "hugepages-";
    private static final List<String> RESIZE = List.of("NotRequired", "RestartContainer");

    private ResourceRules() {}

    /** Checks the {@code resources} of a container; {@code claims} are the names of the pod's resource claims. */
    static void check(FieldCheck resources, Set<String> claims) {
        JsonObject limits = resources.value().object("limits");
        JsonObject requests = resources.value().object("requests");
        amounts(resources, "limits", limits);
        amounts(resources, "requests", requests);
        requests.fields()
                .forEach((name, value) ->
                        Quantity.from(value).ifPresent(amount -> againstLimit(resources, name, amount, limits)));
        requireComputing(resources, limits, requests);
        Set<String> seen = new HashSet<>();
        for (FieldCheck claim : resources.items("claims")) {
            String name = claim.text("name");
            if (name.isEmpty()) {
                claim.required("", "");
            } else if (!seen.add(name)) {
                claim.duplicate("", name);
            }
            if (!name.isEmpty() && !claims.contains(name)) {
                claim.notFound("", name);
            }
        }
    }

    /** Checks the overhead of a pod. */
    static void overhead(FieldCheck spec) {
        JsonObject overhead = spec.value().object("overhead");
        amounts(spec, "overhead", overhead);
        requireComputing(spec.object("overhead"), overhead, JsonObject.EMPTY);
    }

    /** Checks the resize policies of a container. */
    static void resizePolicy(FieldCheck container) {
        Set<String> seen = new HashSet<>();
        for (FieldCheck policy : container.items("resizePolicy")) {
            policy.oneOf("resourceName", List.of("cpu", "memory"));
            policy.oneOf("restartPolicy", RESIZE);
            if (!seen.add(policy.text("resourceName"))) {
                policy.duplicate("", policy.text("resourceName"));
            }
        }
    }

    static void amounts(FieldCheck resources, String field, JsonObject amounts) {
        for (Map.Entry<String, ?> entry : amounts.fields().entrySet()) {
            String name = entry.getKey();
            String path = field + "[" + name + "]";
            resources.form(path, name, ResourceRules::nameFault);
            amounts.get(name).flatMap(Quantity::from).ifPresent(amount -> {
                if (amount.isNegative()) {
                    resources.invalid(path, amount.toString(), "must be greater than or equal to 0");
                }
                if (!STANDARD.contains(name) && !isWhole(amount.value())) {
                    resources.invalid(path, amount.toString(), "must be an integer");
                }
                if (name.startsWith(HUGE_PAGES)) {
                    pages(resources, path, name, amount);
                }
            });
        }
    }

    private static void pages(FieldCheck resources, String path, String name, Quantity amount) {
        Optional<Quantity> size = Optional.of(name.substring(HUGE_PAGES.length()))
                .filter(text -> !text.isEmpty())
                .flatMap(text -> Quantity.from(new JsonString(text)));
        boolean fits = size.isPresent()
                && size.get().value().signum() > 0
                && amount.value().remainder(size.get().value()).signum() == 0;
        if (!fits) {
            resources.invalid(path, amount.toString(), amount + " is not positive integer multiple of " + name);
        }
    }

    private static boolean isWhole(BigDecimal value) {
        return value.stripTrailingZeros().scale() <= 0;
    }

    private static Optional<String> nameFault(String name) {
        Optional<String> fault = Names.qualifiedFault(name);
        if (fault.isPresent()) {
            return fault;
        }
        if (!name.contains("/")) {
            return STANDARD.contains(name) || name.startsWith(HUGE_PAGES)
                    ? Optional.empty()
                    : Optional.of("must be a standard resource for containers");
        }
        String prefix = name.substring(0, name.indexOf('/'));
        boolean own = prefix.equals("kubernetes.io") || prefix.endsWith(".kubernetes.io");
        return !own && name.startsWith("requests.")
                ? Optional.of("doesn't follow extended resource name standard")
                : Optional.empty();
    }

    private static void againstLimit(FieldCheck resources, String name, Quantity request, JsonObject limits) {
        Optional<Quantity> limit = limits.get(name).flatMap(Quantity::from);
        boolean shared = STANDARD.contains(name);
        if (limit.isEmpty()) {
            if (!shared) {
                resources.required("limits", "Limit must be set for non overcommitable resources");
            }
        } else if (!shared && !request.equals(limit.get())) {
            resources.invalid("requests", request.toString(), "must be equal to " + name + " limit of " + limit.get());
        } else if (request.compareTo(limit.get()) > 0) {
            resources.invalid(
                    "requests",
                    request.toString(),
                    "must be less than or equal to " + name + " limit of " + limit.get());
        }
    }

    private static void requireComputing(FieldCheck resources, JsonObject limits, JsonObject requests) {
        boolean pages = limits.fields().keySet().stream().anyMatch(name -> name.startsWith(HUGE_PAGES))
                || requests.fields().keySet().stream().anyMatch(name -> name.startsWith(HUGE_PAGES));
        boolean computing = limits.has("cpu") || limits.has("memory") || requests.has("cpu") || requests.has("memory");
        if (pages && !computing) {
            resources.forbidden("", "HugePages require cpu or memory");
        }
    }
}
