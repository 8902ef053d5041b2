package io.nodekeeper.apiserver.printers;

import io.nodekeeper.api.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Computes the derived table columns of a Service, as Kubernetes does. */
final class ServiceColumns {
    private ServiceColumns() {}

    /** The first address inside the cluster. */
    static String clusterIp(JsonObject service) {
        JsonObject spec = service.object("spec");
        String ip = spec.text("clusterIP");
        return CellText.orNone(
                ip.isEmpty() ? spec.array("clusterIPs").strings().findFirst().orElse("") : ip);
    }

    /** What reaches the Service from outside: addresses, or the name that it stands for. */
    static String externalIp(JsonObject service) {
        JsonObject spec = service.object("spec");
        List<String> own = spec.array("externalIPs").strings().toList();
        return switch (spec.text("type")) {
            case "ClusterIP", "NodePort" -> CellText.orNone(String.join(",", own));
            case "LoadBalancer" -> {
                List<String> all = new ArrayList<>(balancers(service));
                all.addAll(own);
                yield all.isEmpty() ? "<pending>" : String.join(",", all);
            }
            case "ExternalName" -> spec.text("externalName");
            default -> "<unknown>";
        };
    }

    /** The addresses of the load balancer, or its host names where it has no address; sorted. */
    private static TreeSet<String> balancers(JsonObject service) {
        return service.object("status")
                .object("loadBalancer")
                .array("ingress")
                .objects()
                .map(ingress -> ingress.text("ip").isEmpty() ? ingress.text("hostname") : ingress.text("ip"))
                .filter(address -> !address.isEmpty())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** The ports, each with the port of the nodes if it has one: {@code 80:30080/TCP}. */
    static String ports(JsonObject service) {
        return CellText.orNone(service.object("spec")
                .array("ports")
                .objects()
                .map(ServiceColumns::port)
                .collect(Collectors.joining(",")));
    }

    private static String port(JsonObject port) {
        long node = port.number("nodePort").orElse(0L);
        return port.number("port").orElse(0L) + (node > 0 ? ":" + node : "") + "/" + port.text("protocol");
    }
}
