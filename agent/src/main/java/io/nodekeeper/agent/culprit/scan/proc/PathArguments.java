package io.nodekeeper.agent.culprit.scan.proc;

import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * The paths in system calls. The kernel shows the number of a thread's system call and its arguments, of which a path is an address
 * in the process's memory. Links are not followed, so a path may lead to another file system than its text says. Immutable.
 *
 * @param files of the machine
 * @param arm whether system calls have the numbers of aarch64, and not those of x86-64
 */
public record PathArguments(ProcFiles files, boolean arm) {
    private static final int PAGE = 4_096;
    /** The kernel's longest path has 4,096 bytes with its end, which lie on two pages. */
    private static final int PAGES = 2;
    /** What stands for the working directory in place of a descriptor: -100. */
    private static final int WORKING_DIRECTORY = -100;

    /**
     * x86-64's open, stat, lstat, access, execve, truncate, chdir, rename, mkdir, rmdir, creat, link, unlink, readlink, chmod,
     * chown, lchown, statfs, setxattr, getxattr, listxattr, removexattr: the path is the first argument.
     */
    private static final Set<Integer> FIRST =
            Set.of(2, 4, 6, 21, 59, 76, 80, 82, 83, 84, 85, 86, 87, 89, 90, 92, 94, 137, 188, 191, 194, 197);
    /** aarch64's setxattr, getxattr, listxattr, removexattr, statfs, truncate, chdir, execve. */
    private static final Set<Integer> FIRST_ARM = Set.of(5, 8, 11, 14, 43, 45, 49, 221);
    /**
     * x86-64's openat, mkdirat, fchownat, newfstatat, unlinkat, renameat, linkat, readlinkat, fchmodat, faccessat, utimensat,
     * renameat2, execveat, statx, openat2, faccessat2: a descriptor of a directory, and a path from there.
     */
    private static final Set<Integer> SECOND =
            Set.of(257, 258, 260, 262, 263, 264, 265, 267, 268, 269, 280, 316, 322, 332, 437, 439);
    /** The same of aarch64. */
    private static final Set<Integer> SECOND_ARM =
            Set.of(56, 34, 54, 79, 35, 38, 37, 78, 53, 48, 88, 276, 281, 291, 437, 439);

    /** With the numbers of this machine. */
    public static PathArguments of(ProcFiles files) {
        return new PathArguments(files, System.getProperty("os.arch").equals("aarch64"));
    }

    /**
     * The absolute path in a system call, given as in {@code /proc/PID/task/THREAD/syscall}: its number, then its arguments in
     * hexadecimal. Empty if it has none, or if it cannot be read. Reads the process's memory, which may block.
     */
    public Optional<String> of(int pid, String call) {
        String[] words = call.strip().split(" ");
        if (words.length < 3 || !words[0].matches("\\d{1,4}")) {
            return Optional.empty();
        }
        int number = Integer.parseInt(words[0]);
        Path process = files.process(pid);
        if ((arm ? FIRST_ARM : FIRST).contains(number)) {
            return path(pid, words[1]).flatMap(path -> below(process.resolve("cwd"), path));
        }
        if (!(arm ? SECOND_ARM : SECOND).contains(number)) {
            return Optional.empty();
        }
        return number(words[1]).flatMap(directory -> {
            Path link = directory.intValue() == WORKING_DIRECTORY
                    ? process.resolve("cwd")
                    : process.resolve("fd").resolve(Integer.toString(directory.intValue()));
            return path(pid, words[2]).flatMap(path -> below(link, path));
        });
    }

    private Optional<String> below(Path directory, String path) {
        Optional<String> above = path.startsWith("/") ? Optional.of("/") : files.link(directory);
        try {
            return above.filter(text -> text.startsWith("/"))
                    .map(text -> Path.of(text).resolve(path).normalize().toString());
        } catch (InvalidPathException e) {
            // Bytes that are no text.
            return Optional.empty();
        }
    }

    /** The text at an address, up to its end. */
    private Optional<String> path(int pid, String word) {
        StringBuilder path = new StringBuilder();
        long address = number(word).orElse(0L);
        for (int page = 0; page < PAGES && address > 0; page++) {
            int length = (int) (PAGE - Math.floorMod(address, PAGE));
            Optional<String> text =
                    files.memory(pid, address, length).map(bytes -> new String(bytes, StandardCharsets.ISO_8859_1));
            if (text.isEmpty()) {
                return Optional.empty();
            }
            int end = text.get().indexOf('\0');
            if (end >= 0) {
                byte[] all = path.append(text.get(), 0, end).toString().getBytes(StandardCharsets.ISO_8859_1);
                return all.length == 0 ? Optional.empty() : Optional.of(new String(all, StandardCharsets.UTF_8));
            }
            path.append(text.get());
            address += length;
        }
        return Optional.empty();
    }

    private static Optional<Long> number(String word) {
        return word.matches("0x[0-9a-f]{1,16}")
                ? Optional.of(Long.parseUnsignedLong(word.substring(2), 16))
                : Optional.empty();
    }
}
