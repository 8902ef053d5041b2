package io.nodekeeper.client.config;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.files.SmallFiles;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Reads kubeconfig files: clusters, users and contexts, with embedded data or files (relative to the kubeconfig's
 * directory), client certificates, tokens, token files and credential plugins. Not thread-safe; used once for each file.
 */
public final class Kubeconfig {
    /** The fields of a user entry that are not supported. */
    private static final List<String> UNSUPPORTED_USER = List.of("auth-provider", "username", "password", "as");

    private final Path file;
    private final List<String> faults = new ArrayList<>();

    private Kubeconfig(Path file) {
        this.file = file;
    }

    /**
     * The access that the current context of {@code file} gives.
     *
     * @throws KubeconfigException naming every fault
     */
    public static ServerAccess load(Path file) {
        return load(file, "");
    }

    /** As {@link #load(Path)} for the context of that name; empty for the current one. */
    public static ServerAccess load(Path file, String context) {
        return new Kubeconfig(file).read(context);
    }

    private ServerAccess read(String wantedContext) {
        Map<?, ?> root = root();
        String contextName = wantedContext.isEmpty() ? Fields.text(root, "current-context") : wantedContext;
        if (contextName.isEmpty()) {
            faults.add("current-context is not set; expected the name of a context");
            throw failed();
        }
        Map<?, ?> context = named(root, "contexts", "context", contextName);
        String clusterName = Fields.text(context, "cluster");
        String userName = Fields.text(context, "user");
        if (clusterName.isEmpty() && faults.isEmpty()) {
            faults.add("context \"" + contextName + "\" names no cluster");
        }
        if (!faults.isEmpty()) {
            throw failed();
        }
        Map<?, ?> cluster = named(root, "clusters", "cluster", clusterName);
        Map<?, ?> user = userName.isEmpty() ? Map.of() : named(root, "users", "user", userName);
        if (!faults.isEmpty()) {
            throw failed();
        }
        ServerAccess access = access(cluster, "cluster \"" + clusterName + "\"", user, "user \"" + userName + "\"");
        if (!faults.isEmpty()) {
            throw failed();
        }
        return access;
    }

    private ServerAccess access(Map<?, ?> cluster, String clusterIs, Map<?, ?> user, String userIs) {
        URI server = server(Fields.text(cluster, "server"), clusterIs);
        if (!Fields.text(cluster, "proxy-url").isEmpty()) {
            faults.add(clusterIs + ": proxy-url is not supported");
        }
        boolean skip = Boolean.TRUE.equals(cluster.get("insecure-skip-tls-verify"));
        Optional<String> ca = material(cluster, "certificate-authority", clusterIs);
        if (skip && ca.isPresent()) {
            faults.add(clusterIs + ": certificate-authority and insecure-skip-tls-verify exclude each other");
        }
        List<X509Certificate> authorities = ca.flatMap(
                        pem -> parsed(pem, clusterIs + ": certificate-authority", Pem::certificates))
                .orElse(List.of());
        for (String key : UNSUPPORTED_USER) {
            if (user.containsKey(key)) {
                faults.add(userIs + ": " + key + " is not supported; expected a client certificate, a token or exec");
            }
        }
        Optional<Path> tokenFile = Optional.of(Fields.text(user, "tokenFile"))
                .filter(path -> !path.isEmpty())
                .map(this::beside);
        tokenFile
                .filter(path -> !Files.isReadable(path))
                .ifPresent(path -> faults.add(userIs + ": tokenFile " + path + " cannot be read"));
        return new ServerAccess(
                server,
                authorities,
                skip,
                Fields.text(cluster, "tls-server-name"),
                identity(user, userIs),
                identityFiles(user),
                Fields.text(user, "token"),
                tokenFile,
                plugin(cluster, ca, user, userIs));
    }

    private Optional<ExecPlugin> plugin(Map<?, ?> cluster, Optional<String> ca, Map<?, ?> user, String userIs) {
        if (!user.containsKey("exec")) {
            return Optional.empty();
        }
        if (!(user.get("exec") instanceof Map<?, ?> exec)) {
            faults.add(userIs + ": exec is no mapping; expected command, args, env and apiVersion");
            return Optional.empty();
        }
        JsonObject.Builder about = JsonObject.builder()
                .put("server", Fields.text(cluster, "server"))
                .putUnlessEmpty("tls-server-name", Fields.text(cluster, "tls-server-name"));
        if (Boolean.TRUE.equals(cluster.get("insecure-skip-tls-verify"))) {
            about.put("insecure-skip-tls-verify", true);
        }
        ca.ifPresent(pem -> about.put(
                "certificate-authority-data",
                Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.ISO_8859_1))));
        return Optional.of(ExecPlugin.parse(exec, file, about.build(), userIs, faults));
    }

    private URI server(String text, String clusterIs) {
        try {
            URI uri = URI.create(text);
            if (uri.getHost() != null && ("https".equals(uri.getScheme()) || "http".equals(uri.getScheme()))) {
                return uri;
            }
        } catch (IllegalArgumentException e) {
            // Reported below, like every other form that is not an address.
        }
        faults.add(clusterIs + ": server is \"" + text + "\"; expected a form like https://10.0.0.1:6443");
        return URI.create("https://invalid");
    }

    private Optional<Identity> identity(Map<?, ?> user, String userIs) {
        Optional<String> certificatePem = material(user, "client-certificate", userIs);
        Optional<String> keyPem = material(user, "client-key", userIs);
        if (certificatePem.isPresent() != keyPem.isPresent()) {
            boolean given = has(user, "client-certificate") && has(user, "client-key");
            if (!given) {
                faults.add(userIs + ": client-certificate and client-key must be given together");
            }
            return Optional.empty();
        }
        Optional<List<X509Certificate>> chain =
                certificatePem.flatMap(pem -> parsed(pem, userIs + ": client-certificate", Pem::certificates));
        Optional<PrivateKey> key = keyPem.flatMap(pem -> parsed(pem, userIs + ": client-key", Pem::privateKey));
        return chain.flatMap(certificates -> key.map(secret -> new Identity(secret, certificates)));
    }

    /** The files of the client certificate; empty if one of them is embedded. */
    private Optional<IdentityFiles> identityFiles(Map<?, ?> user) {
        return path(user, "client-certificate")
                .flatMap(certificate -> path(user, "client-key").map(key -> new IdentityFiles(certificate, key)));
    }

    private Optional<Path> path(Map<?, ?> map, String key) {
        String path = Fields.text(map, key + "-data").isEmpty() ? Fields.text(map, key) : "";
        return path.isEmpty() ? Optional.empty() : Optional.of(beside(path));
    }

    private <T> Optional<T> parsed(String pem, String what, Function<String, T> parser) {
        try {
            return Optional.of(parser.apply(pem));
        } catch (IllegalArgumentException e) {
            faults.add(what + ": " + e.getMessage());
            return Optional.empty();
        }
    }

    private static boolean has(Map<?, ?> map, String key) {
        return !Fields.text(map, key).isEmpty()
                || !Fields.text(map, key + "-data").isEmpty();
    }

    /** The PEM text of {@code key}: embedded, which takes precedence as in client-go, or from a file. */
    private Optional<String> material(Map<?, ?> map, String key, String where) {
        String data = Fields.text(map, key + "-data");
        if (!data.isEmpty()) {
            try {
                return Optional.of(new String(
                        Base64.getMimeDecoder().decode(data.getBytes(StandardCharsets.US_ASCII)),
                        StandardCharsets.US_ASCII));
            } catch (IllegalArgumentException e) {
                faults.add(where + ": " + key + "-data is not base64");
                return Optional.empty();
            }
        }
        String path = Fields.text(map, key);
        if (path.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(SmallFiles.text(beside(path), StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            faults.add(where + ": " + key + " " + beside(path) + " cannot be read");
            return Optional.empty();
        }
    }

    private Path beside(String path) {
        return file.toAbsolutePath().resolveSibling(path);
    }

    private Map<?, ?> root() {
        try {
            Object root = new Load(
                            LoadSettings.builder().setLabel(file.toString()).build())
                    .loadFromString(SmallFiles.text(file));
            if (root instanceof Map<?, ?> map) {
                return map;
            }
            faults.add("expected a kubeconfig (a YAML mapping with clusters, users and contexts)");
        } catch (NoSuchFileException e) {
            faults.add("there is no such file");
        } catch (IOException e) {
            faults.add("cannot be read: " + e.getMessage());
        } catch (YamlEngineException e) {
            faults.add("not YAML: " + Failures.text(e).replaceAll("\\s*\\n\\s*", " "));
        }
        throw failed();
    }

    private Map<?, ?> named(Map<?, ?> root, String list, String inner, String name) {
        List<String> known = new ArrayList<>();
        if (root.get(list) instanceof List<?> entries) {
            for (Object entry : entries) {
                if (entry instanceof Map<?, ?> map) {
                    if (Fields.text(map, "name").equals(name)) {
                        return map.get(inner) instanceof Map<?, ?> value ? value : Map.of();
                    }
                    known.add(Fields.text(map, "name"));
                }
            }
        }
        faults.add("no " + inner + " is named \"" + name + "\"; there "
                + (known.isEmpty() ? "are none" : "is " + String.join(", ", known)));
        return Map.of();
    }

    private KubeconfigException failed() {
        return new KubeconfigException("kubeconfig " + file, faults);
    }
}
