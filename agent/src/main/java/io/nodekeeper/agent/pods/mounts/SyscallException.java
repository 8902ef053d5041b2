package io.nodekeeper.agent.pods.mounts;

import java.io.IOException;

/** The kernel refused a call. */
final class SyscallException extends IOException {
    /** Something of the path does not exist. */
    static final int ENOENT = 2;
    /** It exists already. */
    static final int EEXIST = 17;
    /** The path leads out of the directory that it must stay in. */
    static final int EXDEV = 18;
    /** An option that this kernel does not know. */
    static final int EINVAL = 22;
    /** The kernel is older than the call: openat2 came with 5.6. */
    static final int ENOSYS = 38;
    /** Too many links, or one of those of {@code /proc}. */
    static final int ELOOP = 40;

    private final int errno;

    SyscallException(String call, String about, int errno) {
        super(call + " of " + about + " failed: " + text(errno));
        this.errno = errno;
    }

    int errno() {
        return errno;
    }

    private static String text(int errno) {
        return switch (errno) {
            case 1 -> "operation not permitted";
            case ENOENT -> "no such file or directory";
            case 11 -> "a directory in it was changed meanwhile";
            case 13 -> "permission denied";
            case 20 -> "not a directory";
            case EINVAL -> "invalid argument";
            case 28 -> "no space left";
            case 30 -> "read-only file system";
            case ENOSYS -> "not known to this kernel";
            default -> "error " + errno;
        };
    }
}
