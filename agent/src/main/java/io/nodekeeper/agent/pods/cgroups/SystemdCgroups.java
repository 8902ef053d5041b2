package io.nodekeeper.agent.pods.cgroups;

import io.nodekeeper.agent.config.CgroupDriver;
import io.nodekeeper.agent.systemd.SystemdUnits;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Cgroups as slices of systemd, which owns the hierarchies: it is told each slice and its limits, so that it neither removes one
 * nor resets a limit. What it has no property for, and hierarchies that it does not manage, are written beside it, as
 * runc does it. Thread-safe.
 */
record SystemdCgroups(CgroupTree tree, SystemdUnits units) implements Cgroups {
    /** A slice starts in milliseconds. */
    private static final Duration START = Duration.ofSeconds(10);
    /** Its processes have been killed before, so a slice ends in milliseconds, or waits for one that cannot be killed. */
    private static final Duration STOP = Duration.ofSeconds(3);

    /** systemd takes quotas in whole percents of a processor, and would round down: µs in each second. */
    private static final long QUOTA_STEP = 10_000;

    private static final long PERIODS_IN_SECOND = 1_000_000 / CpuAmounts.PERIOD;

    @Override
    public Path directory() {
        return tree.directory();
    }

    @Override
    public int version() {
        return tree.version();
    }

    @Override
    public void check() throws IOException {
        tree.check();
    }

    @Override
    public String place(String cgroup) {
        return CgroupDriver.SYSTEMD.place(cgroup);
    }

    @Override
    public boolean exists(String cgroup) throws IOException {
        return tree.exists(place(cgroup));
    }

    @Override
    public void make(String cgroup) throws IOException {
        String place = place(cgroup);
        for (int end = place.indexOf('/', 1); end > 0; end = place.indexOf('/', end + 1)) {
            if (!tree.exists(place.substring(0, end))) {
                start(place.substring(0, end));
            }
        }
        start(place);
        tree.make(place);
    }

    private void start(String place) throws IOException {
        String unit = name(place);
        Optional<String> above = Optional.of(place.substring(0, place.length() - unit.length() - 1))
                .filter(path -> !path.isEmpty())
                .map(SystemdCgroups::name);
        Map<String, Object> properties = new LinkedHashMap<>();
        properties.put("Description", "Pods of Kubernetes: " + unit);
        above.ifPresent(slice -> properties.put("Wants", List.of(slice)));
        // A slice of pods must not wait for the targets of the machine's start.
        properties.put("DefaultDependencies", false);
        properties.put("MemoryAccounting", true);
        properties.put("CPUAccounting", true);
        properties.put("TasksAccounting", true);
        properties.put(version() == 2 ? "IOAccounting" : "BlockIOAccounting", true);
        units.start(unit, properties, START);
    }

    @Override
    public void limit(String cgroup, CgroupLimits limits) throws IOException {
        String place = place(cgroup);
        IOException refused = null;
        try {
            units.set(name(place), properties(limits, version()));
        } catch (IOException e) {
            refused = e;
        }
        tree.limit(place, limits);
        if (refused != null) {
            throw refused;
        }
    }

    /** The properties of a slice for {@code limits}: those of the version, with systemd's units. */
    static Map<String, Object> properties(CgroupLimits limits, int version) {
        boolean second = version == 2;
        Map<String, Object> properties = new LinkedHashMap<>();
        limits.shares()
                .ifPresent(shares -> properties.put(
                        second ? "CPUWeight" : "CPUShares", second ? CpuAmounts.weight(shares) : shares));
        limits.quota().ifPresent(quota -> {
            long inSecond = quota * PERIODS_IN_SECOND;
            properties.put("CPUQuotaPerSecUSec", (inSecond + QUOTA_STEP - 1) / QUOTA_STEP * QUOTA_STEP);
        });
        limits.memory().ifPresent(bytes -> properties.put(second ? "MemoryMax" : "MemoryLimit", bytes));
        if (limits.noSwap() && second) {
            properties.put("MemorySwapMax", 0L);
        }
        limits.processes().ifPresent(most -> properties.put("TasksMax", most));
        return properties;
    }

    @Override
    public Set<String> names(String cgroup, String prefix) throws IOException {
        String place = place(cgroup);
        String slice = name(place);
        String start = slice.substring(0, slice.length() - CgroupDriver.SLICE.length()) + "-";
        Set<String> names = new LinkedHashSet<>();
        for (String found : tree.names(place, start + prefix)) {
            if (found.endsWith(CgroupDriver.SLICE)) {
                names.add(found.substring(start.length(), found.length() - CgroupDriver.SLICE.length())
                        .replace('_', '-'));
            }
        }
        return names;
    }

    /** systemd ends the slice before its directories go, so that one which is left is found again by them. */
    @Override
    public void remove(String cgroup) throws IOException {
        String place = place(cgroup);
        tree.kill(place);
        units.stop(name(place), STOP);
        tree.remove(place);
    }

    private static String name(String place) {
        return place.substring(place.lastIndexOf('/') + 1);
    }
}
