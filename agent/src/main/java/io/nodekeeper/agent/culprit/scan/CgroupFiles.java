package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Reads the cgroup files of a process. Immutable. */
record CgroupFiles(ProcFiles files) {

    /** The ids of containers in its path, outermost first. */
    List<String> ids(int pid) {
        return files.read(files.process(pid).resolve("cgroup")).stream()
                .flatMap(text -> CommandLines.cgroupIds(text).stream())
                .toList();
    }

    /** The usage of its processor quota, under cgroup version 1 or 2; empty without a quota. */
    Optional<CpuPeriods> cpu(int pid) {
        return files.cgroups(pid).stream()
                .flatMap(cgroup -> cgroup.isUnified()
                        ? Stream.of("sys/fs/cgroup", "sys/fs/cgroup/unified").map(base -> base + cgroup.path())
                        : cgroup.controllers().contains("cpu")
                                ? Stream.of(String.join(",", cgroup.controllers()), "cpu")
                                        .map(mount -> "sys/fs/cgroup/" + mount + cgroup.path())
                                : Stream.empty())
                .flatMap(directory -> files.read(files.root().resolve(directory).resolve("cpu.stat")).stream())
                .flatMap(text -> periods(text).stream())
                .findFirst();
    }

    private static Optional<CpuPeriods> periods(String text) {
        Map<String, Long> values = new HashMap<>();
        text.lines()
                .map(line -> line.split(" "))
                .filter(words -> words.length == 2 && words[1].matches("\\d{1,18}"))
                .forEach(words -> values.put(words[0], Long.parseLong(words[1])));
        long periods = values.getOrDefault("nr_periods", 0L);
        return periods > 0
                ? Optional.of(new CpuPeriods(periods, values.getOrDefault("nr_throttled", 0L)))
                : Optional.empty();
    }
}
