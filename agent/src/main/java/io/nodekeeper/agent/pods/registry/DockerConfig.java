package io.nodekeeper.agent.pods.registry;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.config.RegistryCredentials;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * The credentials in a Docker client's configuration: {@code config.json}, whose registries are below {@code auths}, or the older
 * {@code .dockercfg}, which has nothing else. Secrets for pulls have the same content. Immutable.
 */
public final class DockerConfig {
    /** The types of Secrets, and the keys in them. */
    private static final String JSON_TYPE = "kubernetes.io/dockerconfigjson";

    private static final String JSON_KEY = ".dockerconfigjson";
    private static final String OLD_TYPE = "kubernetes.io/dockercfg";
    private static final String OLD_KEY = ".dockercfg";

    private DockerConfig() {}

    /**
     * Credentials for images whose names begin with {@code place}: a host, which may have a port, stars and a path.
     */
    public record Entry(String place, RegistryCredentials credentials) {}

    /**
     * The credentials of a Secret; none if it is of another type.
     *
     * @throws IllegalArgumentException if its content is not what its type says
     */
    public static List<Entry> ofSecret(JsonObject secret) {
        String type = secret.text("type");
        JsonObject data = secret.object("data");
        if (type.equals(JSON_TYPE) && data.has(JSON_KEY)) {
            return ofJson(decoded(data.text(JSON_KEY)));
        }
        return type.equals(OLD_TYPE) && data.has(OLD_KEY) ? ofOldJson(decoded(data.text(OLD_KEY))) : List.of();
    }

    /**
     * The credentials of a {@code config.json}.
     *
     * @throws IllegalArgumentException if the text is not one
     */
    public static List<Entry> ofJson(String text) {
        return entries(parsed(text).object("auths"));
    }

    /**
     * The credentials of a {@code .dockercfg}.
     *
     * @throws IllegalArgumentException if the text is not one
     */
    public static List<Entry> ofOldJson(String text) {
        return entries(parsed(text));
    }

    private static JsonObject parsed(String text) {
        try {
            return Json.parseObject(text);
        } catch (RuntimeException e) {
            // The parser's message may quote a password.
            throw new IllegalArgumentException("expected a Docker client's configuration as a JSON object");
        }
    }

    private static List<Entry> entries(JsonObject registries) {
        List<Entry> entries = new ArrayList<>();
        registries.fields().keySet().forEach(registry -> {
            JsonObject auth = registries.object(registry);
            String user = auth.text("username");
            String password = auth.text("password");
            if (!auth.text("auth").isEmpty()) {
                String both = decoded(auth.text("auth"));
                int colon = both.indexOf(':');
                if (colon < 0) {
                    throw new IllegalArgumentException(
                            "auth of registry \"" + registry + "\" must be USER:PASSWORD in base64");
                }
                user = both.substring(0, colon);
                password = both.substring(colon + 1);
            }
            String name = user;
            String secret = password;
            place(registry)
                    .ifPresent(
                            place -> entries.add(new Entry(place, new RegistryCredentials(name, secret, "", "", ""))));
        });
        return entries;
    }

    /** The registry without its scheme and the version of its API. */
    private static Optional<String> place(String registry) {
        String rest = registry.replaceFirst("^https?://", "");
        int slash = rest.indexOf('/');
        String host = slash < 0 ? rest : rest.substring(0, slash);
        String path = slash < 0 ? "" : rest.substring(slash);
        if (path.startsWith("/v1/") || path.startsWith("/v2/")) {
            path = path.substring(3);
        }
        return host.isEmpty() ? Optional.empty() : Optional.of(host + (path.equals("/") ? "" : path));
    }

    private static String decoded(String base64) {
        try {
            return new String(Base64.getMimeDecoder().decode(base64), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("expected base64 in a Docker client's configuration", e);
        }
    }
}
