package io.nodekeeper.it;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A disk in a file, which can be frozen. Needs root, loop devices, {@code mkfs.ext4} and {@code fsfreeze}. */
public final class LoopDisk implements AutoCloseable {
    private static final long SIZE = 256L << 20;

    private final Path mountPoint;
    /** If the run is ended from outside, a frozen disk would outlive it, and everybody who writes to it. */
    private final Thread lastResort = new Thread(this::release, "thaw");

    private boolean frozen;

    private LoopDisk(Path mountPoint) {
        this.mountPoint = mountPoint;
    }

    /** Makes a disk in {@code image} and mounts it at {@code mountPoint}, which is made too. */
    public static LoopDisk mount(Path image, Path mountPoint) throws Exception {
        try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
            file.setLength(SIZE);
        }
        Files.createDirectories(mountPoint);
        run("mkfs.ext4", "-q", "-F", image.toString());
        LoopDisk disk = new LoopDisk(mountPoint);
        Runtime.getRuntime().addShutdownHook(disk.lastResort);
        run("mount", "-o", "loop", image.toString(), mountPoint.toString());
        return disk;
    }

    /** From now on each process that writes waits in the kernel, where no signal reaches it. */
    public void freeze() throws Exception {
        frozen = true;
        run("fsfreeze", "-f", mountPoint.toString());
    }

    /** Thaws the disk. */
    void thaw() throws Exception {
        frozen = false;
        run("fsfreeze", "-u", mountPoint.toString());
    }

    /** Whether writes wait. */
    public boolean isFrozen() {
        return frozen;
    }

    /** Where it is mounted. */
    public Path mountPoint() {
        return mountPoint;
    }

    /** Thaws the disk if it is frozen. */
    public void thawIfFrozen() throws Exception {
        if (frozen) {
            thaw();
        }
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(lastResort);
        } catch (IllegalStateException e) {
            // This process is ending; releasing it twice does no harm.
        }
        release();
    }

    private void release() {
        for (List<String> command : List.of(
                List.of("fsfreeze", "-u", mountPoint.toString()), List.of("umount", "-l", mountPoint.toString()))) {
            try {
                exitCode(command);
            } catch (IOException | InterruptedException e) {
                System.err.println(String.join(" ", command) + ": " + e.getMessage());
            }
        }
    }

    private static void run(String... command) throws IOException, InterruptedException {
        int code = exitCode(List.of(command));
        if (code != 0) {
            throw new AssertionError("\"" + String.join(" ", command) + "\" ended with " + code
                    + "; this test needs root, loop devices, mkfs.ext4 and fsfreeze");
        }
    }

    private static int exitCode(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            throw new IOException("\"" + String.join(" ", command) + "\" did not end within 60 s");
        }
        return process.exitValue();
    }
}
