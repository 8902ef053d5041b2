package io.nodekeeper.agent.problems;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.kernel.MountTable;
import io.nodekeeper.agent.kernel.MountTable.Mount;
import io.nodekeeper.agent.problems.kernel.MountText;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds file systems that became read-only: that of the agent's root directory in any case; each other one after an error
 * or after a remount. A root file system that is read-only from the start is the design of some distributions and no
 * problem. Used by one worker at a time.
 */
public final class ReadonlyCheck implements ProblemCheck {
    /** node-problem-detector's name. */
    static final String TYPE = "ReadonlyFilesystem";

    private static final String NONE = "FilesystemIsNotReadOnly";
    private static final String NO_PROBLEM = "no file system became read-only";
    /** The most file systems in a message. */
    private static final int SHOWN = 5;

    private final MountText mounts;
    private final Path rootDir;
    private final Set<String> writable = new HashSet<>();
    /** The text of the last run and what it says: it rarely changes. */
    private String lastText = "";

    private Finding last = Finding.of(Finding.fine(TYPE, NONE, NO_PROBLEM));

    /** A check of {@code mounts}; {@code rootDir} must accept writes. */
    public ReadonlyCheck(MountText mounts, Path rootDir) {
        this.mounts = mounts;
        this.rootDir = rootDir.toAbsolutePath().normalize();
    }

    @Override
    public String name() {
        return "mounts";
    }

    @Override
    public List<String> conditions() {
        return List.of(TYPE);
    }

    @Override
    public Duration period() {
        return Duration.ofSeconds(5);
    }

    @Override
    public Duration deadline() {
        return Duration.ofSeconds(2);
    }

    @Override
    public Finding run() throws IOException {
        String text = mounts.read();
        if (!text.equals(lastText)) {
            last = Finding.of(look(MountTable.parse(text.lines().toList())));
            lastText = text;
        }
        return last;
    }

    private ConditionReport look(MountTable table) {
        Map<String, String> found = new LinkedHashMap<>();
        table.of(rootDir.toString())
                .filter(Mount::readOnly)
                .ifPresent(mount -> found.put(
                        mount.device(), describe(mount) + ", which contains the agent's directory " + rootDir));
        Set<String> present = new HashSet<>();
        for (Mount mount : table.mounts()) {
            String filesystem = identity(mount);
            present.add(filesystem);
            if (!mount.readOnlyFilesystem()) {
                writable.add(filesystem);
            } else if (mount.stoppedByError() || writable.contains(filesystem)) {
                found.putIfAbsent(mount.device(), describe(mount));
            }
        }
        // The set is bounded by the mounts that exist.
        writable.retainAll(present);
        if (found.isEmpty()) {
            return Finding.fine(TYPE, NONE, NO_PROBLEM);
        }
        String more = found.size() > SHOWN ? ", and " + (found.size() - SHOWN) + " more" : "";
        return Finding.problem(
                TYPE,
                "FilesystemIsReadOnly",
                String.join("; ", found.values().stream().limit(SHOWN).toList()) + more);
    }

    /** The kernel gives the device number of a volume that is gone to the next one. */
    private static String identity(Mount mount) {
        return mount.device() + " " + mount.type() + " " + mount.source();
    }

    private static String describe(Mount mount) {
        return mount.point() + " (" + mount.type() + " on " + mount.source() + ") is read-only"
                + (mount.stoppedByError() ? " after an error" : "");
    }
}
