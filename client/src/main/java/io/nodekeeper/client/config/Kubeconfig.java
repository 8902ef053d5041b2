package io.nodekeeper.client.config;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.yaml.YamlProblem;
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
import java.util.stream.Collectors;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Reads kubeconfig files: clusters, users and contexts, with embedded data or files (relative to the kubeconfig's
 * directory), client certificates, tokens, token files and credential plugins. Several files count as one, as for kubectl: of
 * the entries with one name, and of the current contexts, the first is used. Not thread-safe; used once.
 */
public final class Kubeconfig {
    /** The fields of a user entry that are not supported. */
    private static final List<String> UNSUPPORTED_USER = List.of("auth-provider", "username", "password", "as");

    /** A mapping, and the file that it stands in. */
    private record Section(Path file, Map<?, ?> fields) {
        String text(String key) {
            return Fields.text(fields, key);
        }

        boolean isSet(String key) {
            return Boolean.TRUE.equals(fields.get(key));
        }

        Path beside(String path) {
            return file.toAbsolutePath().resolveSibling(path);
        }
    }

    private final List<Path> files;
    private final List<String> faults = new ArrayList<>();

    private Kubeconfig(List<Path> files) {
        this.files = files;
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
        return load(List.of(file), context);
    }

    /** As {@link #load(Path, String)} for all of {@code files} together, at least one. Each of them must exist and be readable. */
    public static ServerAccess load(List<Path> files, String context) {
        return new Kubeconfig(files).read(context);
    }

    private ServerAccess read(String wantedContext) {
        List<Section> roots =
                files.stream().flatMap(file -> root(file).stream()).toList();
        if (!faults.isEmpty()) {
            throw failed();
        }
        String contextName = wantedContext.isEmpty() ? current(roots) : wantedContext;
        if (contextName.isEmpty()) {
            faults.add("current-context is not set; expected the name of a context");
            throw failed();
        }
        Section context = named(roots, "contexts", "context", contextName);
        String clusterName = context.text("cluster");
        String userName = context.text("user");
        if (clusterName.isEmpty() && faults.isEmpty()) {
            faults.add("context \"" + contextName + "\" names no cluster");
        }
        if (!faults.isEmpty()) {
            throw failed();
        }
        Section cluster = named(roots, "clusters", "cluster", clusterName);
        Section user = userName.isEmpty() ? nothing() : named(roots, "users", "user", userName);
        if (!faults.isEmpty()) {
            throw failed();
        }
        ServerAccess access = access(cluster, "cluster \"" + clusterName + "\"", user, "user \"" + userName + "\"");
        if (!faults.isEmpty()) {
            throw failed();
        }
        return access;
    }

    private static String current(List<Section> roots) {
        return roots.stream()
                .map(root -> root.text("current-context"))
                .filter(name -> !name.isEmpty())
                .findFirst()
                .orElse("");
    }

    private ServerAccess access(Section cluster, String clusterIs, Section user, String userIs) {
        URI server = server(cluster.text("server"), clusterIs);
        if (!cluster.text("proxy-url").isEmpty()) {
            faults.add(clusterIs + ": proxy-url is not supported");
        }
        boolean skip = cluster.isSet("insecure-skip-tls-verify");
        Optional<String> ca = material(cluster, "certificate-authority", clusterIs);
        if (skip && ca.isPresent()) {
            faults.add(clusterIs + ": certificate-authority and insecure-skip-tls-verify exclude each other");
        }
        List<X509Certificate> authorities = ca.flatMap(
                        pem -> parsed(pem, clusterIs + ": certificate-authority", Pem::certificates))
                .orElse(List.of());
        for (String key : UNSUPPORTED_USER) {
            if (user.fields.containsKey(key)) {
                faults.add(userIs + ": " + key + " is not supported; expected a client certificate, a token or exec");
            }
        }
        Optional<Path> tokenFile = Optional.of(user.text("tokenFile"))
                .filter(path -> !path.isEmpty())
                .map(user::beside);
        tokenFile
                .filter(path -> !Files.isReadable(path))
                .ifPresent(path -> faults.add(userIs + ": tokenFile " + path + " cannot be read"));
        return new ServerAccess(
                server,
                authorities,
                skip,
                cluster.text("tls-server-name"),
                identity(user, userIs),
                identityFiles(user),
                user.text("token"),
                tokenFile,
                plugin(cluster, ca, user, userIs));
    }

    private Optional<ExecPlugin> plugin(Section cluster, Optional<String> ca, Section user, String userIs) {
        if (!user.fields.containsKey("exec")) {
            return Optional.empty();
        }
        if (!(user.fields.get("exec") instanceof Map<?, ?> exec)) {
            faults.add(userIs + ": exec is no mapping; expected command, args, env and apiVersion");
            return Optional.empty();
        }
        JsonObject.Builder about = JsonObject.builder()
                .put("server", cluster.text("server"))
                .putUnlessEmpty("tls-server-name", cluster.text("tls-server-name"));
        if (cluster.isSet("insecure-skip-tls-verify")) {
            about.put("insecure-skip-tls-verify", true);
        }
        ca.ifPresent(pem -> about.put(
                "certificate-authority-data",
                Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.ISO_8859_1))));
        return Optional.of(ExecPlugin.parse(exec, user.file, about.build(), userIs, faults));
    }

    private URI server(String text, String clusterIs) {
        try {
            URI uri = URI.create(text);
            if (uri.getHost() != null
                    && uri.getUserInfo() == null
                    && ("https".equals(uri.getScheme()) || "http".equals(uri.getScheme()))) {
                return uri;
            }
        } catch (IllegalArgumentException e) {
            // Reported below, like every other form that is not an address.
        }
        // What is in front of an @ may be a password, which no message shows.
        faults.add(
                text.contains("@")
                        ? clusterIs
                                + ": server has a user or a password; expected a form like https://10.0.0.1:6443, and"
                                + " the credentials in the section users"
                        : clusterIs + ": server is \"" + text + "\"; expected a form like https://10.0.0.1:6443");
        return URI.create("https://invalid");
    }

    private Optional<Identity> identity(Section user, String userIs) {
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
    private static Optional<IdentityFiles> identityFiles(Section user) {
        return path(user, "client-certificate")
                .flatMap(certificate -> path(user, "client-key").map(key -> new IdentityFiles(certificate, key)));
    }

    private static Optional<Path> path(Section section, String key) {
        String path = section.text(key + "-data").isEmpty() ? section.text(key) : "";
        return path.isEmpty() ? Optional.empty() : Optional.of(section.beside(path));
    }

    private <T> Optional<T> parsed(String pem, String what, Function<String, T> parser) {
        try {
            return Optional.of(parser.apply(pem));
        } catch (IllegalArgumentException e) {
            faults.add(what + ": " + e.getMessage());
            return Optional.empty();
        }
    }

    private static boolean has(Section section, String key) {
        return !section.text(key).isEmpty() || !section.text(key + "-data").isEmpty();
    }

    /** The PEM text of {@code key}: embedded, which takes precedence as in client-go, or from a file. */
    private Optional<String> material(Section section, String key, String where) {
        String data = section.text(key + "-data");
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
        String path = section.text(key);
        if (path.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(SmallFiles.text(section.beside(path), StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            faults.add(where + ": " + key + " " + section.beside(path) + " cannot be read");
            return Optional.empty();
        }
    }

    /** The content of {@code file}; empty, and a fault, if it is no kubeconfig. */
    private Optional<Section> root(Path file) {
        String which = files.size() == 1 ? "" : file + ": ";
        try {
            Object root = new Load(
                            LoadSettings.builder().setLabel(file.toString()).build())
                    .loadFromString(SmallFiles.text(file));
            if (root == null) {
                // An empty file is a kubeconfig without entries, as for kubectl.
                return Optional.of(new Section(file, Map.of()));
            }
            if (root instanceof Map<?, ?> map) {
                return Optional.of(new Section(file, map));
            }
            faults.add(which + "expected a kubeconfig (a YAML mapping with clusters, users and contexts)");
        } catch (NoSuchFileException e) {
            faults.add(which + "there is no such file");
        } catch (IOException e) {
            faults.add(which + "cannot be read: " + e.getMessage());
        } catch (YamlEngineException e) {
            faults.add(which + "not YAML: " + YamlProblem.text(e));
        }
        return Optional.empty();
    }

    private Section named(List<Section> roots, String list, String inner, String name) {
        List<String> known = new ArrayList<>();
        for (Section entry : entries(roots, list)) {
            String its = entry.text("name");
            if (its.equals(name)) {
                return new Section(entry.file, entry.fields.get(inner) instanceof Map<?, ?> value ? value : Map.of());
            }
            known.add(its);
        }
        faults.add("no " + inner + " is named \"" + name + "\"; there "
                + (known.isEmpty() ? "are none" : "is " + String.join(", ", known)));
        return nothing();
    }

    private static List<Section> entries(List<Section> roots, String list) {
        List<Section> entries = new ArrayList<>();
        for (Section root : roots) {
            for (Object entry : root.fields.get(list) instanceof List<?> all ? all : List.of()) {
                if (entry instanceof Map<?, ?> map) {
                    entries.add(new Section(root.file, map));
                }
            }
        }
        return entries;
    }

    private Section nothing() {
        return new Section(files.getFirst(), Map.of());
    }

    private KubeconfigException failed() {
        return new KubeconfigException(
                "kubeconfig " + files.stream().map(Path::toString).collect(Collectors.joining(":")), faults);
    }
}
