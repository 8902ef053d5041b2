package io.nodekeeper.agent.pods.persistent;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The CSI volumes of this node: which pods use each, whether it is staged, and whether the API has it among the volumes in use.
 * Pure. Confined to one thread.
 */
final class VolumeTable {
    /** By unique name. As many as the pods of this node have volumes, and those that are not unstaged yet. */
    private final Map<String, Entry> entries = new TreeMap<>();

    private boolean synced;

    /** A volume that a pod wants, or that is mounted. */
    private static final class Entry {
        private final String driver;
        private final String handle;
        /** Empty if it is not known. */
        private Optional<Boolean> attachable = Optional.empty();

        private final Set<String> users = new HashSet<>();
        /** The directory that it is staged in; empty if it is not staged. */
        private String staged = "";
        /** Whether it was staged by this process. */
        private boolean certain;

        private boolean reported;

        private Entry(String driver, String handle) {
            this.driver = driver;
            this.handle = handle;
        }
    }

    /**
     * A staged volume that no pod uses.
     *
     * @param directory in which it is staged
     */
    record Unused(String name, String driver, String handle, String directory) {}

    private Entry entry(String driver, String handle) {
        return entries.computeIfAbsent(CsiVolume.uniqueName(driver, handle), name -> new Entry(driver, handle));
    }

    /** The pod {@code uid} begins to use a volume. */
    void use(String uid, CsiVolume volume, boolean attachable) {
        Entry entry = entry(volume.driver(), volume.handle());
        entry.users.add(uid);
        entry.attachable = Optional.of(attachable);
    }

    /** Other pods that use it. */
    boolean hasOtherUser(String uid, String name) {
        Entry entry = entries.get(name);
        return entry != null && entry.users.stream().anyMatch(user -> !user.equals(uid));
    }

    /** An earlier agent mounted the volume for the pod {@code uid}. */
    void found(String uid, String driver, String handle) {
        entry(driver, handle).users.add(uid);
    }

    /** An earlier agent staged the volume in {@code directory}. */
    void foundStaged(String driver, String handle, String directory) {
        entry(driver, handle).staged = directory;
    }

    /** Staging begins or was done in {@code directory}. */
    void staged(String name, String directory, boolean certain) {
        Entry entry = entries.get(name);
        if (entry != null) {
            entry.staged = directory;
            entry.certain = certain;
        }
    }

    /** Whether this process has staged it. */
    boolean isStaged(String name) {
        Entry entry = entries.get(name);
        return entry != null && entry.certain;
    }

    /** Nothing of the pod {@code uid} is mounted any more; whether it had a volume. */
    boolean release(String uid) {
        boolean used = false;
        for (Entry entry : entries.values()) {
            used |= entry.users.remove(uid);
        }
        entries.values().removeIf(entry -> entry.users.isEmpty() && entry.staged.isEmpty());
        return used;
    }

    /** Staged volumes without users. */
    List<Unused> unused() {
        List<Unused> unused = new ArrayList<>();
        entries.forEach((name, entry) -> {
            if (entry.users.isEmpty() && !entry.staged.isEmpty()) {
                unused.add(new Unused(name, entry.driver, entry.handle, entry.staged));
            }
        });
        return unused;
    }

    /** Whether it has no user now. */
    boolean isUnused(String name) {
        Entry entry = entries.get(name);
        return entry != null && entry.users.isEmpty();
    }

    /** It is not staged any more. */
    void unstaged(String name) {
        Entry entry = entries.get(name);
        if (entry != null) {
            entry.staged = "";
            entry.certain = false;
            if (entry.users.isEmpty()) {
                entries.remove(name);
            }
        }
    }

    /** The drivers of volumes of which it is not known whether they are attached. */
    Set<String> undecided() {
        Set<String> drivers = new HashSet<>();
        entries.values().stream()
                .filter(entry -> entry.attachable.isEmpty())
                .forEach(entry -> drivers.add(entry.driver));
        return drivers;
    }

    /** Whether volumes of {@code driver} are attached to nodes. */
    void decide(String driver, boolean attachable) {
        entries.values().stream()
                .filter(entry -> entry.driver.equals(driver) && entry.attachable.isEmpty())
                .forEach(entry -> entry.attachable = Optional.of(attachable));
    }

    /** What is on the disk is known. */
    void sync() {
        synced = true;
    }

    boolean isSynced() {
        return synced;
    }

    /** For {@code status.volumesInUse}, sorted; empty until what is on the disk is known. */
    Optional<List<String>> inUse() {
        if (!synced) {
            return Optional.empty();
        }
        return Optional.of(entries.entrySet().stream()
                .filter(entry -> entry.getValue().attachable.orElse(true))
                .map(Map.Entry::getKey)
                .toList());
    }

    /** The API has these names in {@code status.volumesInUse}. */
    void reported(Collection<String> names) {
        Set<String> reported = Set.copyOf(names);
        entries.forEach((name, entry) -> entry.reported = reported.contains(name));
    }

    /** Whether the API has it in {@code status.volumesInUse}. */
    boolean isReported(String name) {
        Entry entry = entries.get(name);
        return entry != null && entry.reported;
    }
}
