package io.nodekeeper.agent.status;

import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import java.util.Optional;
import java.util.OptionalLong;

/** Rules for resource names and for maps from resource to quantity, such as {@code status.capacity}. Stateless. */
public final class ResourceList {
    private static final String HUGE_PAGES = "hugepages-";

    private ResourceList() {}

    /** The quantity of {@code resource}; empty if there is none or it cannot be parsed. */
    public static Optional<Quantity> get(JsonObject resources, String resource) {
        return resources.get(resource).flatMap(Quantity::from);
    }

    /** {@code resources} with that quantity; an equal one in another format stays as it is. */
    public static JsonObject with(JsonObject resources, String resource, Quantity quantity) {
        return get(resources, resource).filter(quantity::equals).isPresent()
                ? resources
                : resources.with(resource, new JsonString(quantity.toString()));
    }

    /** Whether two maps have the same quantity of {@code resource}. */
    public static boolean same(JsonObject a, JsonObject b, String resource) {
        return get(a, resource).equals(get(b, resource));
    }

    /** Whether it is named as huge pages are. */
    public static boolean hugePages(String resource) {
        return resource.startsWith(HUGE_PAGES);
    }

    /** The size of the huge pages of {@code resource} in bytes; empty if it is no such resource. */
    public static OptionalLong hugePageBytes(String resource) {
        return !hugePages(resource)
                ? OptionalLong.empty()
                : Quantity.from(new JsonString(resource.substring(HUGE_PAGES.length()))).stream()
                        .mapToLong(Quantity::toLong)
                        .filter(bytes -> bytes > 0)
                        .findFirst();
    }

    /** The resource name of a huge page size in bytes, such as {@code hugepages-2Mi}. */
    static String hugePages(long pageBytes) {
        return HUGE_PAGES + Quantity.ofBytes(pageBytes);
    }

    /** Whether it is an extended resource: one that device plugins or administrators define. */
    public static boolean extended(String resource) {
        int slash = resource.indexOf('/');
        if (slash <= 0 || resource.startsWith("requests.")) {
            return false;
        }
        String domain = resource.substring(0, slash);
        return !domain.equals("kubernetes.io")
                && !domain.endsWith(".kubernetes.io")
                && ("requests." + resource)
                        .matches("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?");
    }
}
