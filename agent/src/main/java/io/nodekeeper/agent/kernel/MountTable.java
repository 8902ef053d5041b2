package io.nodekeeper.agent.kernel;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The mounts of a process. Immutable.
 *
 * @param mounts in the kernel's order, the newest last
 */
public record MountTable(List<Mount> mounts) {

    /**
     * A mount.
     *
     * @param device the file system's device, {@code MAJOR:MINOR}
     * @param root the directory of the file system that is mounted; {@code /} for all of it
     * @param point the mount point
     * @param type the type of the file system, such as ext4
     * @param source the device or server
     * @param options the options of this mount, separated by commas
     * @param superOptions the options of the file system, for all of its mounts, separated by commas
     */
    public record Mount(
            String device, String root, String point, String type, String source, String options, String superOptions) {

        /** Whether the file system made itself read-only after an error; kernel 6.12 and newer. */
        public boolean stoppedByError() {
            return has(superOptions, "emergency_ro");
        }

        /** Whether the whole file system accepts no writes, whatever the mount. */
        public boolean readOnlyFilesystem() {
            return has(superOptions, "ro") || stoppedByError();
        }

        /** Whether nothing can be written through this mount. */
        public boolean readOnly() {
            return has(options, "ro") || readOnlyFilesystem();
        }

        private static boolean has(String options, String option) {
            // The first option is ro or rw; the others of an overlay are long paths.
            return options.startsWith(option)
                            && (options.length() == option.length() || options.charAt(option.length()) == ',')
                    || options.contains("," + option + ",")
                    || options.endsWith("," + option);
        }

        /** Whether it is a file system of an NFS server. */
        public boolean nfs() {
            return type.equals("nfs") || type.equals("nfs4");
        }
    }

    /** Keeps a copy. */
    public MountTable {
        mounts = List.copyOf(mounts);
    }

    /** Reads {@code mountinfo}; lines without its form are left out. */
    public static MountTable parse(List<String> lines) {
        List<Mount> mounts = new ArrayList<>();
        for (String line : lines) {
            int separator = line.indexOf(" - ");
            if (separator < 0) {
                continue;
            }
            String[] left = line.substring(0, separator).split(" ");
            String[] right = line.substring(separator + 3).split(" ");
            if (left.length > 5 && right.length > 2) {
                mounts.add(new Mount(
                        left[2],
                        unescaped(left[3]),
                        unescaped(left[4]),
                        right[0],
                        unescaped(right[1]),
                        left[5],
                        right[2]));
            }
        }
        return new MountTable(mounts);
    }

    /** The mount that contains {@code path}, an absolute path without links: of several the newest and deepest. */
    public Optional<Mount> of(String path) {
        return mounts.stream()
                .filter(mount -> below(path, mount.point()))
                // Of two mounts at one point, the later one hides the earlier one.
                .reduce((a, b) -> a.point().length() > b.point().length() ? a : b);
    }

    /** Where all of the file system of {@code device} is mounted, if it is. */
    public Optional<Mount> whole(String device) {
        return mounts.stream()
                .filter(mount -> mount.device().equals(device) && mount.root().equals("/"))
                .findFirst();
    }

    private static boolean below(String path, String point) {
        return path.startsWith(point)
                && (path.length() == point.length() || point.equals("/") || path.charAt(point.length()) == '/');
    }

    /** The kernel writes blanks, tabs, line feeds and backslashes as three octal digits. */
    public static String unescaped(String text) {
        if (text.indexOf('\\') < 0) {
            return text;
        }
        return text.replace("\\040", " ")
                .replace("\\011", "\t")
                .replace("\\012", "\n")
                .replace("\\134", "\\");
    }
}
