package io.nodekeeper.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The number of things that pods of a node have on the machine.
 *
 * @param processes of containers, shims and plugins; the runtime itself is one
 * @param cgroups below the cgroup of the node's pods, in all hierarchies
 * @param mounts below the directories of the node
 * @param namespaces of networks
 * @param interfaces of pods on the bridge
 * @param logs directories of logs
 * @param directories of pods
 */
record Leftover(int processes, int cgroups, int mounts, int namespaces, int interfaces, int logs, int directories) {

    /** What there is now; logs are in {@code directory/logs}. */
    static Leftover of(RealNode node, Path directory) throws IOException {
        Containerd containerd = node.containerd();
        Leftovers all = containerd.leftovers();
        return new Leftover(
                all.processes().size(),
                cgroups(containerd.cgroup()),
                all.mounts().size()
                        + mountsBelow(node.directory().resolve("agent").toString()),
                Leftovers.children(containerd.directory().resolve("data/state/netns"))
                        .size(),
                Leftovers.children(Path.of("/sys/class/net", containerd.name(), "brif"))
                        .size(),
                Leftovers.children(directory.resolve("logs")).size(),
                Leftovers.children(node.directory().resolve("agent/pods")).size());
    }

    Leftover minus(Leftover other) {
        return new Leftover(
                processes - other.processes,
                cgroups - other.cgroups,
                mounts - other.mounts,
                namespaces - other.namespaces,
                interfaces - other.interfaces,
                logs - other.logs,
                directories - other.directories);
    }

    private static int cgroups(String root) throws IOException {
        int count = 0;
        for (Path hierarchy : Leftovers.hierarchies()) {
            Path pods = hierarchy.resolve(root.substring(1));
            if (Files.isDirectory(pods)) {
                try (Stream<Path> tree = Files.walk(pods)) {
                    List<Path> found = tree.filter(Files::isDirectory).toList();
                    count += found.size();
                }
            }
        }
        return count;
    }

    private static int mountsBelow(String directory) throws IOException {
        return (int) Files.readAllLines(Path.of("/proc/self/mountinfo")).stream()
                .filter(line -> line.split(" ")[4].startsWith(directory + "/"))
                .count();
    }
}
