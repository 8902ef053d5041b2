package io.nodekeeper.agent.pods.registry;

import io.nodekeeper.agent.kernel.KernelFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The node's own credentials, in the places where a kubelet looks for a Docker client's configuration: the agent's root directory,
 * the home directory, and the root of the file system. Thread-safe.
 */
public final class NodeCredentials {
    private static final Logger log = LoggerFactory.getLogger(NodeCredentials.class);
    /** The most bytes of a configuration: that of a Secret. */
    private static final int MOST = 1 << 20;

    private final List<Path> files;
    private final List<Path> oldFiles;

    /** The credentials of a node with this root directory of the agent and home directory. */
    public NodeCredentials(Path root, Path home) {
        files = List.of(
                root.resolve("config.json"), home.resolve(".docker/config.json"), Path.of("/.docker/config.json"));
        oldFiles = List.of(root.resolve(".dockercfg"), home.resolve(".dockercfg"), Path.of("/.dockercfg"));
    }

    /** The entries of the first configuration that can be read; none without one. Blocks on the disk. */
    public List<DockerConfig.Entry> read() {
        List<DockerConfig.Entry> found = first(files, DockerConfig::ofJson);
        return found.isEmpty() ? first(oldFiles, DockerConfig::ofOldJson) : found;
    }

    private static List<DockerConfig.Entry> first(
            List<Path> places, Function<String, List<DockerConfig.Entry>> parser) {
        for (Path file : places) {
            try {
                if (!Files.isRegularFile(file)) {
                    continue;
                }
                return parser.apply(KernelFile.text(file, MOST));
            } catch (IOException | IllegalArgumentException e) {
                log.warn("Credentials of registries in {} are not used: {}", file, e.getMessage());
            }
        }
        return List.of();
    }
}
