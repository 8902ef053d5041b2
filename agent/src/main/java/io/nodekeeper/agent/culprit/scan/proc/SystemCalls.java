package io.nodekeeper.agent.culprit.scan.proc;

import java.util.Optional;
import java.util.Set;

/**
 * What system calls mean, given as in {@code /proc/PID/task/THREAD/syscall}: the number, then the arguments in hexadecimal.
 * Immutable.
 *
 * @param arm whether they have the numbers of aarch64, and not those of x86-64
 */
public record SystemCalls(boolean arm) {
    /** x86-64's clone, fork, vfork, clone3. */
    private static final Set<Integer> FORKS = Set.of(56, 57, 58, 435);
    /** aarch64's clone, clone3. */
    private static final Set<Integer> FORKS_ARM = Set.of(220, 435);

    /**
     * x86-64's read, write, close, fstat, lseek, ioctl, pread64, pwrite64, readv, writev, sendfile, fcntl, flock, fsync,
     * fdatasync, ftruncate, getdents, fchdir, fchmod, fchown, fstatfs, readahead, fsetxattr, fgetxattr, flistxattr,
     * fremovexattr, getdents64, fadvise64, openat, mkdirat, mknodat, fchownat, futimesat, newfstatat, unlinkat, renameat,
     * linkat, readlinkat, fchmodat, faccessat, splice, tee, sync_file_range, vmsplice, utimensat, fallocate, preadv, pwritev,
     * name_to_handle_at, open_by_handle_at, syncfs, renameat2, execveat, copy_file_range, preadv2, pwritev2, statx, openat2,
     * faccessat2, fchmodat2: the first argument is a descriptor.
     */
    private static final Set<Integer> DESCRIPTOR = Set.of(
            0, 1, 3, 5, 8, 16, 17, 18, 19, 20, 40, 72, 73, 74, 75, 77, 78, 81, 91, 93, 138, 187, 190, 193, 196, 199,
            217, 221, 257, 258, 259, 260, 261, 262, 263, 264, 265, 267, 268, 269, 275, 276, 277, 278, 280, 285, 295,
            296, 303, 304, 306, 316, 322, 326, 327, 328, 332, 437, 439, 452);
    /**
     * aarch64's fsetxattr, fgetxattr, flistxattr, fremovexattr, fcntl, ioctl, flock, mknodat, mkdirat, unlinkat, linkat,
     * renameat, fstatfs, ftruncate, fallocate, faccessat, fchdir, fchmod, fchmodat, fchownat, fchown, openat, close,
     * getdents64, lseek, read, write, readv, writev, pread64, pwrite64, preadv, pwritev, sendfile, vmsplice, splice, tee,
     * readlinkat, newfstatat, fstat, fsync, fdatasync, sync_file_range, utimensat, readahead, fadvise64, name_to_handle_at,
     * open_by_handle_at, syncfs, renameat2, execveat, copy_file_range, preadv2, pwritev2, statx, openat2, faccessat2,
     * fchmodat2.
     */
    private static final Set<Integer> DESCRIPTOR_ARM = Set.of(
            7, 10, 13, 16, 25, 29, 32, 33, 34, 35, 37, 38, 44, 46, 47, 48, 50, 52, 53, 54, 55, 56, 57, 61, 62, 63, 64,
            65, 66, 67, 68, 69, 70, 71, 75, 76, 77, 78, 79, 80, 82, 83, 84, 88, 213, 223, 264, 265, 267, 276, 281, 285,
            286, 287, 291, 437, 439, 452);

    /** With the numbers of this machine. */
    public static SystemCalls ofMachine() {
        return new SystemCalls(System.getProperty("os.arch").equals("aarch64"));
    }

    /** Whether it starts a process. After vfork the caller waits, in state D, until the child runs another program or ends. */
    public boolean startsProcess(String call) {
        return number(call).filter((arm ? FORKS_ARM : FORKS)::contains).isPresent();
    }

    /** The descriptor that is its first argument; empty if the call takes none there. */
    public Optional<Integer> descriptor(String call) {
        String[] words = call.strip().split(" ");
        return number(call)
                .filter((arm ? DESCRIPTOR_ARM : DESCRIPTOR)::contains)
                .filter(number -> words.length > 2 && words[1].matches("0x[0-9a-f]{1,5}"))
                .map(number -> Integer.parseInt(words[1].substring(2), 16));
    }

    private static Optional<Integer> number(String call) {
        String first = call.strip().split(" ", 2)[0];
        return first.matches("\\d{1,4}") ? Optional.of(Integer.parseInt(first)) : Optional.empty();
    }
}
