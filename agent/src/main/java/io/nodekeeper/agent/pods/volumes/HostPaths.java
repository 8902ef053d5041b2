package io.nodekeeper.agent.pods.volumes;

import io.nodekeeper.api.json.JsonObject;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** Checks a {@code hostPath} volume against its {@code type}, and makes what the type lets it make. Blocks on the disk. */
final class HostPaths {
    /** The beginning of the name of what does not have its mode yet. */
    private static final String UNFINISHED = ".new-";

    private HostPaths() {}

    /**
     * The path {@code text}, which a pod's author chose.
     *
     * @throws IOException if the machine cannot have such a path, for example one with a NUL
     */
    static Path path(String text) throws IOException {
        try {
            return Path.of(text);
        } catch (InvalidPathException e) {
            throw new IOException("\"" + printable(text) + "\" cannot be a path: " + e.getReason(), e);
        }
    }

    private static String printable(String text) {
        return text.replaceAll("\\p{Cntrl}", "?");
    }

    static void check(JsonObject source) throws IOException {
        Path path = path(source.text("path"));
        switch (source.text("type")) {
            case "" -> {}
            case "DirectoryOrCreate" -> {
                makeDirectory(path);
                require(Files.isDirectory(path), path, "a directory");
            }
            case "FileOrCreate" -> {
                makeFile(path);
                require(Files.isRegularFile(path), path, "a file");
            }
            case "Directory" -> require(Files.isDirectory(path), path, "a directory");
            case "File" -> require(Files.isRegularFile(path), path, "a file");
            case "Socket" -> require(is(path, 0140000), path, "a socket file");
            case "CharDevice" -> require(is(path, 0020000), path, "a character device");
            case "BlockDevice" -> require(is(path, 0060000), path, "a block device");
            default -> throw new IOException("hostPath type " + source.text("type") + " is not known");
        }
    }

    /** With its parents. */
    private static void makeDirectory(Path path) throws IOException {
        Path parent = path.toAbsolutePath().getParent();
        if (parent != null && !Files.exists(path)) {
            makeDirectory(parent);
            finish(Files.createTempDirectory(parent, UNFINISHED), 0755, path);
        }
    }

    private static void makeFile(Path path) throws IOException {
        Path parent = path.toAbsolutePath().getParent();
        if (parent != null && Files.isDirectory(parent) && !Files.exists(path)) {
            finish(Files.createTempFile(parent, UNFINISHED, ""), 0644, path);
        }
    }

    /**
     * Gives what is new at {@code unfinished} its mode, which the process's umask has no part in, and then its name: it is not seen with
     * another mode, also if the agent is killed in between. What has that name by now stays.
     */
    private static void finish(Path unfinished, int mode, Path path) throws IOException {
        try {
            PodDirectories.setMode(unfinished, mode);
            Files.move(unfinished, path);
        } catch (FileAlreadyExistsException e) {
            // Another pod or program was faster, or it is a link to nothing.
        } finally {
            Files.deleteIfExists(unfinished);
        }
    }

    /** Whether the file has that type, one of the {@code S_IF} constants of stat(2). */
    private static boolean is(Path path, int type) throws IOException {
        return Files.exists(path) && ((int) Files.getAttribute(path, "unix:mode") & 0170000) == type;
    }

    private static void require(boolean holds, Path path, String expected) throws IOException {
        if (!holds) {
            throw new IOException("hostPath type check failed: " + path + " is not " + expected);
        }
    }
}
