package io.nodekeeper.agent.stats.cgroups;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Where a cgroup is: below {@code /sys/fs/cgroup} in version 2, and below each controller in version 1, where the
 * controllers may put one process at different places. Immutable.
 *
 * @param unified the path in version 2; empty if it is not known
 * @param byController version 1: name of the controller → path
 */
public record CgroupPaths(Optional<String> unified, Map<String, String> byController) {
    /** The controllers of version 1 that count something. */
    private static final String[] COUNTING = {"cpuacct", "memory", "pids"};

    /** Copies the map. */
    public CgroupPaths {
        byController = Map.copyOf(byController);
    }

    /** The same path everywhere. */
    public static CgroupPaths everywhere(String path) {
        Map<String, String> all = new HashMap<>();
        Arrays.stream(COUNTING).forEach(controller -> all.put(controller, path));
        return new CgroupPaths(Optional.of(path), all);
    }

    /** Parses {@code /proc/PID/cgroup}; lines without its form are ignored. */
    public static CgroupPaths parse(String text) {
        Map<String, String> paths = new HashMap<>();
        text.lines().forEach(line -> {
            String[] parts = line.split(":", 3);
            if (parts.length == 3 && parts[2].startsWith("/") && !parts[2].contains("/..")) {
                Arrays.stream(parts[1].split(",")).forEach(controller -> paths.put(controller, parts[2]));
            }
        });
        Optional<String> unified = Optional.ofNullable(paths.remove(""));
        return new CgroupPaths(unified, paths);
    }

    /**
     * Without the places where it is the root of the hierarchy, because the numbers of the root are those of the whole
     * machine.
     */
    public CgroupPaths belowRoot() {
        Map<String, String> paths = new HashMap<>(byController);
        paths.values().removeIf("/"::equals);
        return new CgroupPaths(unified.filter(path -> !path.equals("/")), paths);
    }
}
