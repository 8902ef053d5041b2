package io.nodekeeper.apiserver.encryption;

import io.nodekeeper.api.yaml.YamlProblem;
import io.nodekeeper.store.encryption.AesGcmKey;
import io.nodekeeper.store.encryption.EncryptionProvider;
import io.nodekeeper.store.encryption.ResourceTransformer;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Reads an {@code EncryptionConfiguration} of {@code apiserver.config.k8s.io/v1} in YAML or JSON, with the providers
 * {@code aesgcm} and {@code identity}. Not thread-safe; used once.
 */
public final class EncryptionConfiguration {
    private static final String VERSION = "apiserver.config.k8s.io/v1";
    private static final String KIND = "EncryptionConfiguration";
    /** The lengths of AES keys, in bytes. */
    private static final Set<Integer> LENGTHS = Set.of(16, 24, 32);

    private final Function<String, String> names;
    private final RandomGenerator random;
    private final List<String> faults = new ArrayList<>();

    /**
     * The result of reading a configuration.
     *
     * @param transformer encrypts and decrypts stored values
     * @param faults all errors in the configuration; if there are any, the transformer must not be used
     */
    public record Result(ValueTransformer transformer, List<String> faults) {}

    private EncryptionConfiguration(Function<String, String> names, RandomGenerator random) {
        this.names = names;
        this.random = random;
    }

    /**
     * Reads {@code text}.
     *
     * @param names maps a key of the store to its resource, such as {@code secrets.} or {@code deployments.apps}
     * @param random creates nonces; must be cryptographically strong and thread-safe
     */
    public static Result parse(String text, Function<String, String> names, RandomGenerator random) {
        EncryptionConfiguration configuration = new EncryptionConfiguration(names, random);
        Object tree;
        try {
            tree = new Load(LoadSettings.builder()
                            .setMaxAliasesForCollections(0)
                            .build())
                    .loadFromString(text);
        } catch (YamlEngineException e) {
            return new Result(ValueTransformer.IDENTITY, List.of("it is not valid YAML: " + YamlProblem.text(e)));
        }
        ValueTransformer transformer = configuration.read(tree);
        return new Result(transformer, List.copyOf(configuration.faults));
    }

    private ValueTransformer read(@Nullable Object tree) {
        Map<?, ?> root = map("the file", tree, "apiVersion", "kind", "resources");
        require(
                VERSION.equals(root.get("apiVersion")),
                "apiVersion is " + root.get("apiVersion") + "; expected " + VERSION);
        require(KIND.equals(root.get("kind")), "kind is " + root.get("kind") + "; expected " + KIND);
        List<ResourceTransformer.Rule> rules = new ArrayList<>();
        List<?> entries = list("resources", root.get("resources"));
        for (int i = 0; i < entries.size(); i++) {
            String at = "resources[" + i + "]";
            Map<?, ?> entry = map(at, entries.get(i), "resources", "providers");
            List<String> patterns = new ArrayList<>();
            for (Object pattern : list(at + ".resources", entry.get("resources"))) {
                patterns.add(pattern(at + ".resources", String.valueOf(pattern)));
            }
            List<EncryptionProvider> providers =
                    providers(at + ".providers", list(at + ".providers", entry.get("providers")));
            rules.add(new ResourceTransformer.Rule(key -> covers(patterns, names.apply(key)), providers));
        }
        return new ResourceTransformer(rules);
    }

    /** Converts a configured resource to the form that {@link #names} returns; {@code *} stands for all. */
    private String pattern(String at, String pattern) {
        boolean good = pattern.matches("(\\*\\.(\\*|[a-z0-9.-]*)|[a-z0-9-]+(\\.[a-z0-9.-]+)?)");
        require(
                good,
                at + " has \"" + pattern + "\"; expected a form like secrets, leases.coordination.k8s.io, *.apps, *. or"
                        + " *.*");
        return pattern.contains(".") ? pattern : pattern + ".";
    }

    private static boolean covers(List<String> patterns, String name) {
        int dot = name.indexOf('.');
        for (String pattern : patterns) {
            if (pattern.equals("*.*")
                    || pattern.equals(name)
                    || (dot >= 0
                            && pattern.startsWith("*.")
                            && pattern.substring(2).equals(name.substring(dot + 1)))) {
                return true;
            }
        }
        return false;
    }

    private List<EncryptionProvider> providers(String at, List<?> entries) {
        List<EncryptionProvider> providers = new ArrayList<>();
        Set<String> known = new HashSet<>();
        for (int i = 0; i < entries.size(); i++) {
            String here = at + "[" + i + "]";
            if (!(entries.get(i) instanceof Map<?, ?> provider) || provider.size() != 1) {
                faults.add(here + " is " + (entries.get(i) instanceof Map<?, ?> other ? other.keySet() : "no provider")
                        + "; expected one of aesgcm or identity");
                continue;
            }
            String name = String.valueOf(provider.keySet().iterator().next());
            Object content = provider.values().iterator().next();
            switch (name) {
                case "aesgcm" -> keys(here + ".aesgcm", content, known, providers);
                case "identity" -> {
                    map(here + ".identity", content);
                    providers.add(EncryptionProvider.IDENTITY);
                }
                default -> faults.add(here + " is " + name + ", which is not supported; expected aesgcm or identity");
            }
        }
        return providers;
    }

    private void keys(String at, @Nullable Object content, Set<String> known, List<EncryptionProvider> providers) {
        List<?> keys = list(at + ".keys", map(at, content, "keys").get("keys"));
        for (int i = 0; i < keys.size(); i++) {
            String here = at + ".keys[" + i + "]";
            Map<?, ?> key = map(here, keys.get(i), "name", "secret");
            String name = key.get("name") instanceof String text ? text : "";
            boolean named = name.matches("[^:\\s]{1,100}");
            require(named, here + ".name is \"" + name + "\"; expected 1 to 100 characters without colons and spaces");
            require(!named || known.add(name), here + ".name is " + name + ", which another key has, too");
            byte[] secret = decode(String.valueOf(key.get("secret")));
            // The message does not repeat the secret, because it may be logged.
            require(
                    LENGTHS.contains(secret.length),
                    here + ".secret is " + (secret.length == 0 ? "missing or not base64" : secret.length + " bytes")
                            + "; expected the base64 of 16, 24 or 32 random bytes");
            if (LENGTHS.contains(secret.length)) {
                providers.add(new AesGcmKey(name, secret, random));
            }
        }
    }

    private static byte[] decode(String base64) {
        try {
            return Base64.getDecoder().decode(base64.strip());
        } catch (IllegalArgumentException e) {
            return new byte[0];
        }
    }

    private Map<?, ?> map(String at, @Nullable Object value, String... fields) {
        if (!(value instanceof Map<?, ?> map)) {
            faults.add(at + " is missing or not an object");
            return Map.of();
        }
        Set<String> known = Set.of(fields);
        for (Object field : map.keySet()) {
            require(known.contains(String.valueOf(field)), at + " has an unknown field \"" + field + "\"");
        }
        return map;
    }

    private List<?> list(String at, @Nullable Object value) {
        if (!(value instanceof List<?> list) || list.isEmpty()) {
            faults.add(at + " is missing, empty or not a list");
            return List.of();
        }
        return list;
    }

    private void require(boolean good, String fault) {
        if (!good) {
            faults.add(fault);
        }
    }
}
