package io.nodekeeper.apiserver.catalogue;

import io.nodekeeper.apiserver.registry.Resource;
import java.util.Map;
import java.util.stream.Collectors;

/** Maps keys in the store to the names of resources. Immutable. */
public final class StoredResources {
    private static final Map<String, String> NAMES = Resources.ALL.stream()
            .filter(Resource::isStored)
            .collect(Collectors.toMap(
                    resource -> segment(resource.prefix("")),
                    resource -> resource.type().plural() + "." + resource.type().group(),
                    // Two API groups may serve the same stored objects; the stored form is that of the first one.
                    (first, second) -> first));

    private StoredResources() {}

    /**
     * The name of the resource of the object at {@code key}, {@code /registry/...}, such as {@code secrets.} or
     * {@code leases.coordination.k8s.io}; for an unknown resource, the second segment of the key, without a dot.
     */
    public static String name(String key) {
        String segment = segment(key);
        return NAMES.getOrDefault(segment, segment);
    }

    private static String segment(String key) {
        int end = key.indexOf('/', Resource.ROOT.length());
        return end < 0 || !key.startsWith(Resource.ROOT) ? "" : key.substring(Resource.ROOT.length(), end);
    }
}
