package io.nodekeeper.client.config;

import io.nodekeeper.client.files.SmallFiles;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads the service account credentials that Kubernetes puts into every pod. */
public final class InCluster {
    /** The directory of the credentials. */
    public static final Path DIRECTORY = Path.of("/var/run/secrets/kubernetes.io/serviceaccount");

    private InCluster() {}

    /** Whether {@code environment} shows that this process runs in a pod. */
    public static boolean isPresent(Map<String, String> environment) {
        return !environment.getOrDefault("KUBERNETES_SERVICE_HOST", "").isEmpty();
    }

    /**
     * The access that a pod has.
     *
     * @param environment the process's environment variables
     * @param directory {@link #DIRECTORY}
     * @throws KubeconfigException naming everything that is missing
     */
    public static ServerAccess load(Map<String, String> environment, Path directory) {
        List<String> faults = new ArrayList<>();
        String host = environment.getOrDefault("KUBERNETES_SERVICE_HOST", "");
        String port = environment.getOrDefault("KUBERNETES_SERVICE_PORT", "");
        if (host.isEmpty() || port.isEmpty()) {
            faults.add("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; this process does not run"
                    + " in a pod");
        }
        Path token = directory.resolve("token");
        if (!Files.isReadable(token)) {
            faults.add(token + " cannot be read");
        }
        List<X509Certificate> authorities = List.of();
        Path ca = directory.resolve("ca.crt");
        try {
            authorities = Pem.certificates(SmallFiles.text(ca, StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            faults.add(ca + " cannot be read");
        } catch (IllegalArgumentException e) {
            faults.add(ca + ": " + e.getMessage());
        }
        if (!faults.isEmpty()) {
            throw new KubeconfigException("in-cluster credentials", faults);
        }
        String bracketed = host.contains(":") ? "[" + host + "]" : host;
        return new ServerAccess(
                URI.create("https://" + bracketed + ":" + port),
                authorities,
                false,
                "",
                Optional.empty(),
                "",
                Optional.of(token));
    }
}
