package io.nodekeeper.agent.pods.containers;

import io.nodekeeper.api.json.JsonObject;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The environment variables by which containers find Services: {@code NAME_SERVICE_HOST}, {@code NAME_SERVICE_PORT}, one for
 * each named port, and those of Docker's links. Names and values are those of a kubelet 1.32.
 */
public final class ServiceEnvironment {
    /** The namespace and name of the Service of the API itself, which all containers get. */
    public static final String MASTER_NAMESPACE = "default";
    /** See {@link #MASTER_NAMESPACE}. */
    public static final String MASTER = "kubernetes";
    /** The most characters of the variables of a namespace, as {@link #length} counts them: no more go into a process. */
    public static final int MOST = Expansion.MOST;

    private static final String HOST = "_SERVICE_HOST";

    private ServiceEnvironment() {}

    /** The variables of {@code services}, by name. A Service without an address of the cluster has none. */
    public static Map<String, String> of(List<JsonObject> services) {
        Map<String, String> variables = new TreeMap<>();
        services.stream().filter(ServiceEnvironment::hasAddress).forEach(service -> add(service, variables));
        return variables;
    }

    /**
     * {@code own} variables, those of the Services of a pod's namespace, and those of {@code master} unless that namespace has a Service
     * of its name.
     */
    public static Map<String, String> withMaster(Map<String, String> own, JsonObject master) {
        if (own.containsKey(name(MASTER) + HOST)) {
            return own;
        }
        Map<String, String> all = new HashMap<>(own);
        all.putAll(of(List.of(master)));
        return Map.copyOf(all);
    }

    /** The length of {@code variables}, as Linux counts it. */
    public static long length(Map<String, String> variables) {
        return variables.entrySet().stream()
                .mapToLong(variable -> Expansion.VARIABLE
                        + variable.getKey().length()
                        + variable.getValue().length())
                .sum();
    }

    /** Whether {@code service} has an address of the cluster, without which it has no variables. */
    public static boolean hasAddress(JsonObject service) {
        String address = service.object("spec").text("clusterIP");
        return !address.isEmpty() && !address.equals("None");
    }

    private static void add(JsonObject service, Map<String, String> variables) {
        String prefix = name(service.object("metadata").text("name"));
        String address = service.object("spec").text("clusterIP");
        List<JsonObject> ports = service.object("spec").array("ports").objects().toList();
        variables.put(prefix + HOST, address);
        for (int i = 0; i < ports.size(); i++) {
            JsonObject port = ports.get(i);
            String number = Long.toString(port.number("port").orElse(0L));
            String protocol = port.text("protocol").isEmpty() ? "TCP" : port.text("protocol");
            String scheme = protocol.toLowerCase(Locale.ROOT);
            String url = scheme + "://" + (address.contains(":") ? "[" + address + "]" : address) + ":" + number;
            if (i == 0) {
                variables.put(prefix + "_SERVICE_PORT", number);
                variables.put(prefix + "_PORT", url);
            }
            if (!port.text("name").isEmpty()) {
                variables.put(prefix + "_SERVICE_PORT_" + name(port.text("name")), number);
            }
            String link = prefix + "_PORT_" + number + "_" + protocol.toUpperCase(Locale.ROOT);
            variables.put(link, url);
            variables.put(link + "_PROTO", scheme);
            variables.put(link + "_PORT", number);
            variables.put(link + "_ADDR", address);
        }
    }

    private static String name(String text) {
        return text.replace('-', '_').toUpperCase(Locale.ROOT);
    }
}
