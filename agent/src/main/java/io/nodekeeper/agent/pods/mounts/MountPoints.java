package io.nodekeeper.agent.pods.mounts;

import io.nodekeeper.agent.kernel.MountTable;
import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads mount points from {@code mountinfo}. Lines may have any length, and the table, too: a pod can mount parts of its
 * volumes a thousand times under long names, and a table that is not read to its end would show mounts as gone. Only one mount
 * point is in memory, and those that are asked for. Confined to its thread.
 */
final class MountPoints {
    /** The most bytes of a mount point below a directory; the kernel mounts at paths of 4,096, which it may escape. */
    private static final int LONGEST = 64 << 10;
    /** The place of the mount point in a line, from 0 on. */
    private static final int FIELD = 4;

    private final String prefix;
    private final List<String> found = new ArrayList<>();
    private final ByteArrayOutputStream point = new ByteArrayOutputStream();
    private int field;

    private MountPoints(Path directory) {
        prefix = directory + "/";
    }

    /**
     * The mount points below {@code directory}, a path without links, in the order of {@code table}: the newest last. Blocks.
     *
     * @throws IOException if the table cannot be read to its end
     */
    static List<String> below(Path table, Path directory) throws IOException {
        MountPoints points = new MountPoints(directory);
        byte[] buffer = new byte[8_192];
        try (FileInputStream in = new FileInputStream(table.toFile())) {
            for (int length = in.read(buffer); length > 0; length = in.read(buffer)) {
                for (int i = 0; i < length; i++) {
                    points.next(buffer[i]);
                }
            }
        }
        if (points.field != 0) {
            throw new IOException(table + " ends within a line");
        }
        return List.copyOf(points.found);
    }

    private void next(byte character) throws IOException {
        if (character == '\n') {
            field = 0;
        } else if (character != ' ') {
            add(character);
        } else if (field++ == FIELD) {
            String name = MountTable.unescaped(point.toString(StandardCharsets.UTF_8));
            if (name.startsWith(prefix)) {
                found.add(name);
            }
            point.reset();
        }
    }

    private void add(byte character) throws IOException {
        if (field == FIELD) {
            if (point.size() == LONGEST) {
                throw new IOException("a mount point has more than " + LONGEST + " bytes");
            }
            point.write(character);
        }
    }
}
