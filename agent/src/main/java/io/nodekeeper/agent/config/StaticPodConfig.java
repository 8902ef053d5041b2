package io.nodekeeper.agent.config;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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

    /** Keeps a copy. */
    public StaticPodConfig {
        urlHeaders = Map.copyOf(urlHeaders);
    }

    /** With the pods in {@code other}. */
    public StaticPodConfig withPath(Path other) {
        return new StaticPodConfig(Optional.of(other), fileCheckFrequency, url, urlHeaders, httpCheckFrequency);
    }
}
