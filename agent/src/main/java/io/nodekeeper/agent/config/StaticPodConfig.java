package io.nodekeeper.agent.config;

import io.nodekeeper.agent.config.file.ConfigFields;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Where the node finds static pods. Immutable.
 *
 * @param path a manifest, or a directory of manifests ({@code staticPodPath})
 * @param fileCheckFrequency how often it is read even if the kernel tells of no change (20 s)
 * @param url a manifest ({@code staticPodURL})
 * @param urlHeaders of requests for it ({@code staticPodURLHeader})
 * @param httpCheckFrequency how often it is read (20 s)
 */
public record StaticPodConfig(
        Optional<Path> path,
        Duration fileCheckFrequency,
        Optional<URI> url,
        Map<String, List<String>> urlHeaders,
        Duration httpCheckFrequency) {
    /** The kubelet's defaults: no static pods. */
    public static final StaticPodConfig DEFAULT = new StaticPodConfig(
            Optional.empty(), Duration.ofSeconds(20), Optional.empty(), Map.of(), Duration.ofSeconds(20));

    private static final Duration SHORTEST = Duration.ofSeconds(1);

    /** Reads {@code staticPodPath}, {@code staticPodURL}, {@code staticPodURLHeader} and how often these are looked at. */
    static StaticPodConfig read(ConfigFields fields) {
        return new StaticPodConfig(
                fields.path("staticPodPath"),
                period(fields, "fileCheckFrequency", DEFAULT.fileCheckFrequency),
                fields.take("staticPodURL", "a URL with http or https", StaticPodConfig::url),
                fields.take("staticPodURLHeader", "a map of lists of strings", StaticPodConfig::headers)
                        .orElse(DEFAULT.urlHeaders),
                period(fields, "httpCheckFrequency", DEFAULT.httpCheckFrequency));
    }

    /** A duration; 0 means the default, as in Kubernetes. */
    private static Duration period(ConfigFields fields, String field, Duration usual) {
        return fields.duration(
                        field,
                        "a duration of 1s or more, like 20s",
                        set -> set.isZero() || set.compareTo(SHORTEST) >= 0)
                .filter(set -> !set.isZero())
                .orElse(usual);
    }

    private static Optional<URI> url(Object value) {
        try {
            return ConfigFields.text(value)
                    .map(URI::create)
                    .filter(url ->
                            url.getHost() != null && Set.of("http", "https").contains(url.getScheme()));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static Optional<Map<String, List<String>>> headers(Object value) {
        return ConfigFields.map(value, values -> ConfigFields.all(values, ConfigFields::text));
    }

    /** Keeps a copy. */
    public StaticPodConfig {
        urlHeaders = Map.copyOf(urlHeaders);
    }

    /** With the pods in {@code other}. */
    public StaticPodConfig withPath(Path other) {
        return new StaticPodConfig(Optional.of(other), fileCheckFrequency, url, urlHeaders, httpCheckFrequency);
    }
}
