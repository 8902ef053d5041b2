package io.nodekeeper.agent.pods.volumes;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;

/** Checks the paths of files in volumes, which users write: none may lead out of its volume. The texts are a kubelet's. */
final class FilePaths {
    /** The longest path and the longest name that Linux accepts, in bytes. */
    private static final int MOST_PATH = 4_096;

    private static final int MOST_NAME = 255;

    private FilePaths() {}

    /**
     * {@code path} without empty and {@code .} parts.
     *
     * @throws VolumeException if it could lead out of the volume, or hide how the volume is written
     */
    static String checked(String volume, String path) {
        if (path.isEmpty() || path.indexOf('\0') >= 0) {
            throw new VolumeException(volume, "invalid path: must not be empty: \"\"");
        }
        if (path.startsWith("/")) {
            throw new VolumeException(volume, "invalid path: must be relative path: " + path);
        }
        if (bytes(path) > MOST_PATH) {
            throw new VolumeException(
                    volume, "invalid path: must be less than or equal to " + MOST_PATH + " characters");
        }
        List<String> parts = new ArrayList<>();
        for (String part : path.split("/", -1)) {
            if (part.equals("..")) {
                throw new VolumeException(volume, "invalid path: must not contain '..': " + path);
            }
            if (bytes(part) > MOST_NAME) {
                throw new VolumeException(
                        volume, "invalid path: filenames must be less than or equal to " + MOST_NAME + " characters");
            }
            if (!part.isEmpty() && !part.equals(".")) {
                parts.add(part);
            }
        }
        if (parts.isEmpty() || parts.getFirst().startsWith("..")) {
            // Such names are those of the directory and the link that hold the content.
            throw new VolumeException(volume, "invalid path: must not start with '..': " + path);
        }
        return String.join("/", parts);
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    /** @throws VolumeException if {@code path} is a directory of another file, or another file is one of its directories */
    static void checkNoFileIsADirectory(String volume, String path, SortedMap<String, FileContent> files) {
        SortedMap<String, FileContent> below = files.subMap(path + "/", path + "0");
        boolean clash = !below.isEmpty();
        for (int slash = path.indexOf('/'); slash >= 0 && !clash; slash = path.indexOf('/', slash + 1)) {
            clash = files.containsKey(path.substring(0, slash));
        }
        if (clash) {
            throw new VolumeException(volume, "invalid path: is both a file and a directory: " + path);
        }
    }
}
