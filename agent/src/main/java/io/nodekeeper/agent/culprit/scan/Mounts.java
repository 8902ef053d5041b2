package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import io.nodekeeper.agent.kernel.KernelFile;
import io.nodekeeper.agent.problems.kernel.MountTable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Mount tables of processes. Paths are compared as text: following them might hang. Immutable. */
record Mounts(ProcFiles files) {

    /** A line of {@code mountinfo}: {@code device} is major:minor, {@code root} the mounted directory of it. */
    record Line(String device, String root, Stall.Mount mount) {}

    /** The mounts that a process sees. */
    List<Line> of(int pid) {
        return lines(files.process(pid).resolve("mountinfo"));
    }

    /** The mounts that this agent sees. */
    List<Line> ofHost() {
        return lines(files.root().resolve("proc/self/mountinfo"));
    }

    /** The mount on which {@code path} is. */
    static Optional<Line> of(String path, List<Line> mounts) {
        return mounts.stream()
                .filter(line -> below(path, line.mount().point()))
                // Of two mounts at one point, the later one hides the earlier one.
                .reduce((a, b) -> a.mount().point().length() > b.mount().point().length() ? a : b);
    }

    private static boolean below(String path, String point) {
        return path.startsWith(point)
                && (path.length() == point.length() || point.equals("/") || path.charAt(point.length()) == '/');
    }

    /** {@code ID PARENT DEVICE ROOT POINT OPTIONS [FIELDS] - TYPE SOURCE OPTIONS}. */
    private List<Line> lines(Path file) {
        List<Line> lines = new ArrayList<>();
        files.read(file, KernelFile.LIMIT).stream().flatMap(String::lines).forEach(line -> {
            String[] halves = line.split(" - ", 2);
            String[] left = halves[0].split(" ");
            String[] right = halves.length == 2 ? halves[1].split(" ") : new String[0];
            if (left.length > 4 && right.length > 1) {
                lines.add(new Line(
                        left[2],
                        MountTable.unescaped(left[3]),
                        new Stall.Mount(MountTable.unescaped(left[4]), MountTable.unescaped(right[1]), right[0])));
            }
        });
        return lines;
    }
}
