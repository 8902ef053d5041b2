package io.nodekeeper.apiserver.routing;

import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.store.Store;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** Serves {@code /healthz}, {@code /livez} and {@code /readyz}, in total and for each check. Thread-safe. */
public final class Health {
    private static final List<String> ROOTS = List.of("/healthz", "/livez", "/readyz");

    /** The check of the store, whatever it is, with kube-apiserver's name: probes and alerts use it. */
    private static final String STORE = "etcd";

    private final Map<String, BooleanSupplier> checks = new LinkedHashMap<>();
    private volatile boolean stopping;

    public Health(Store store) {
        checks.put("ping", () -> true);
        checks.put(STORE, store::healthy);
    }

    /** Makes the server not ready, because it is about to stop. */
    public void stop() {
        stopping = true;
    }

    static boolean covers(String path) {
        return ROOTS.stream().anyMatch(root -> path.equals(root) || path.startsWith(root + "/"));
    }

    /** The check of this name; the store's had another one here before. */
    private static String named(String check) {
        return check.equals("store") ? STORE : check;
    }

    ApiResponse answer(ApiRequest request) {
        String[] parts = request.path().substring(1).split("/");
        String kind = parts[0];
        Map<String, BooleanSupplier> wanted = new LinkedHashMap<>(checks);
        if (kind.equals("livez")) {
            // Liveness does not check the store: a restart does not repair a disk or an etcd cluster that hangs.
            wanted.remove(STORE);
        }
        if (kind.equals("readyz")) {
            wanted.put("shutdown", () -> !stopping);
        }
        if (parts.length > 1) {
            BooleanSupplier check = wanted.get(named(parts[1]));
            if (check == null || parts.length > 2) {
                return ApiResponse.text(404, "404 page not found\n");
            }
            return check.getAsBoolean()
                    ? ApiResponse.text(200, "ok")
                    : ApiResponse.text(500, "internal server error: " + parts[1] + " failed\n");
        }
        request.query().getOrDefault("exclude", List.of()).forEach(name -> wanted.remove(named(name)));
        StringBuilder lines = new StringBuilder();
        boolean healthy = true;
        for (Map.Entry<String, BooleanSupplier> check : wanted.entrySet()) {
            boolean ok = check.getValue().getAsBoolean();
            healthy &= ok;
            lines.append(ok ? "[+]" : "[-]").append(check.getKey()).append(ok ? " ok\n" : " failed: reason withheld\n");
        }
        lines.append(kind).append(healthy ? " check passed\n" : " check failed\n");
        if (!healthy) {
            return ApiResponse.text(500, lines.toString());
        }
        return ApiResponse.text(200, request.query().containsKey("verbose") ? lines.toString() : "ok");
    }
}
