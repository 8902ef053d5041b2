package io.nodekeeper.apiserver.eventratelimit;

import io.nodekeeper.api.json.JsonObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The rate limits for writes of Events.
 *
 * @param limits the limits, which all apply; a refusal lists them in this order
 * @param userBytes the bytes of Events that one user may write per second on average
 * @param userBurst the most bytes of Events that one user may write at once
 */
public record EventLimits(List<Limit> limits, long userBytes, long userBurst) {
    /** The {@code apiVersion} of a configuration. */
    public static final String API_VERSION = "eventratelimit.admission.k8s.io/v1alpha1";

    /**
     * 128 KiB/s: with the default TTL of an hour one user has at most 460 MB of Events, below a quarter of the default quota
     * of the store. An Event has about 1 KB.
     */
    private static final long USER_BYTES = 128 << 10;

    private static final long USER_BURST = 8 << 20;

    /**
     * A cluster that loses 1,000 nodes of 30 pods at once reports 31,000 Events, which its controllers send batched at some
     * 100 a second. These limits leave that alone and stop a loop that writes as fast as it can.
     */
    public static final EventLimits DEFAULT = of(List.of(
            new Limit(Limit.Type.SERVER, 1_000, 5_000, 1), new Limit(Limit.Type.USER, 200, 2_000, Limit.CACHE_SIZE)));

    /** Copies the list. */
    public EventLimits {
        limits = List.copyOf(limits);
    }

    /** These limits with the default limit for bytes. */
    public static EventLimits of(List<Limit> limits) {
        return new EventLimits(limits, USER_BYTES, USER_BURST);
    }

    /**
     * Parses a Configuration.
     *
     * @throws IllegalArgumentException with all errors, one per line
     */
    public static EventLimits parse(JsonObject configuration) {
        List<String> faults = new ArrayList<>();
        expect("apiVersion", configuration.text("apiVersion"), API_VERSION, faults);
        expect("kind", configuration.text("kind"), "Configuration", faults);
        List<JsonObject> given = configuration.array("limits").objects().toList();
        if (given.isEmpty()) {
            faults.add("limits: expected at least one");
        }
        List<Limit> limits = new ArrayList<>();
        for (int i = 0; i < given.size(); i++) {
            limit("limits[" + i + "]", given.get(i), faults).ifPresent(limits::add);
        }
        if (!faults.isEmpty()) {
            throw new IllegalArgumentException(String.join("\n", faults));
        }
        return of(limits);
    }

    private static void expect(String field, String actual, String expected, List<String> faults) {
        if (!actual.equals(expected)) {
            faults.add(field + " is \"" + actual + "\", expected \"" + expected + "\"");
        }
    }

    private static Optional<Limit> limit(String at, JsonObject limit, List<String> faults) {
        String text = limit.text("type");
        Optional<Limit.Type> type = Arrays.stream(Limit.Type.values())
                .filter(known -> known.text().equals(text))
                .findFirst();
        if (type.isEmpty()) {
            faults.add(at + ".type is \"" + text + "\", expected one of "
                    + Arrays.stream(Limit.Type.values()).map(Limit.Type::text).collect(Collectors.joining(", ")));
        }
        int qps = number(at + ".qps", limit, "qps", 0, faults);
        int burst = number(at + ".burst", limit, "burst", 0, faults);
        int cache = number(at + ".cacheSize", limit, "cacheSize", Limit.CACHE_SIZE, faults);
        return type.map(known -> new Limit(known, qps, burst, cache));
    }

    private static int number(String at, JsonObject limit, String field, int otherwise, List<String> faults) {
        long number = limit.has(field) ? limit.number(field).orElse(-1L) : otherwise;
        if (number < 1 || number > Integer.MAX_VALUE) {
            faults.add(
                    at + " is " + (limit.has(field) ? number : "not given") + ", expected a whole number of 1 or more");
            return 1;
        }
        return (int) number;
    }
}
