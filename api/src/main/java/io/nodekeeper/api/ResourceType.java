package io.nodekeeper.api;

/**
 * A resource of the API with its paths and names.
 *
 * @param group the API group; empty for the core group
 * @param version the version in the group
 * @param plural the resource name, as in paths
 * @param kind the name in {@code kind}
 * @param namespaced whether its objects live in namespaces
 */
public record ResourceType(String group, String version, String plural, String kind, boolean namespaced) {
    /** The resources that Nodekeeper itself works with. */
    public static final ResourceType NODES = new ResourceType("", "v1", "nodes", "Node", false);
    /** See {@link #NODES}. */
    public static final ResourceType PODS = new ResourceType("", "v1", "pods", "Pod", true);
    /** See {@link #NODES}. */
    public static final ResourceType CONFIG_MAPS = new ResourceType("", "v1", "configmaps", "ConfigMap", true);
    /** See {@link #NODES}. */
    public static final ResourceType SECRETS = new ResourceType("", "v1", "secrets", "Secret", true);
    /** See {@link #NODES}. */
    public static final ResourceType EVENTS = new ResourceType("", "v1", "events", "Event", true);
    /** See {@link #NODES}. */
    public static final ResourceType NAMESPACES = new ResourceType("", "v1", "namespaces", "Namespace", false);
    /** See {@link #NODES}. */
    public static final ResourceType LEASES = new ResourceType("coordination.k8s.io", "v1", "leases", "Lease", true);

    /** How much of a wrong name is shown. */
    private static final int MOST_SHOWN = 60;

    /** {@code v1} or {@code group/version}: the value of {@code apiVersion}. */
    public String apiVersion() {
        return group.isEmpty() ? version : group + "/" + version;
    }

    /** {@code nodes} or {@code leases.coordination.k8s.io}: the name in messages. */
    public String qualifiedName() {
        return group.isEmpty() ? plural : plural + "." + group;
    }

    /** The path of all of its objects in all namespaces. */
    public String path() {
        return root() + "/" + plural;
    }

    /**
     * The path of its objects in {@code namespace}, which is ignored for a resource without namespaces.
     *
     * @throws IllegalArgumentException if no path can have that namespace
     */
    public String path(String namespace) {
        return namespaced ? root() + "/namespaces/" + segment("namespace", namespace) + "/" + plural : path();
    }

    /**
     * The path of one object.
     *
     * @throws IllegalArgumentException if no path can have these names
     */
    public String path(String namespace, String name) {
        return path(namespace) + "/" + segment("name", name);
    }

    /** A name as a whole segment of a path. Any other one would lead to another object, or to a whole list. */
    private String segment(String what, String name) {
        boolean leaves = name.isEmpty() || name.equals(".") || name.equals("..");
        if (leaves || name.chars().anyMatch(c -> "/?#%".indexOf(c) >= 0)) {
            String shown = name.length() > MOST_SHOWN ? name.substring(0, MOST_SHOWN) + "..." : name;
            throw new IllegalArgumentException(
                    qualifiedName() + ": no path can have the " + what + " \"" + shown + "\"");
        }
        return name;
    }

    private String root() {
        return group.isEmpty() ? "/api/" + version : "/apis/" + group + "/" + version;
    }
}
