package io.nodekeeper.agent.kernel;

import java.io.IOException;

/** The kernel refused a call. */
public final class SyscallException extends IOException {
    /** Something of the path does not exist. */
    public static final int ENOENT = 2;
    /** It exists already. */
    public static final int EEXIST = 17;
    /** The path leads out of the directory that it must stay in. */
    public static final int EXDEV = 18;
    /** An option that this kernel does not know. */
    public static final int EINVAL = 22;
    /** The kernel is older than the call: openat2 came with 5.6. */
    public static final int ENOSYS = 38;
    /** Too many links, or one of those of {@code /proc}. */
    public static final int ELOOP = 40;

    private final int errno;

    SyscallException(String call, String about, int errno) {
        super(call + " of " + about + " failed: " + text(call, errno));
        this.errno = errno;
    }

    /** The error number. */
    public int errno() {
        return errno;
    }

    private static String text(String call, int errno) {
        return switch (errno) {
            case 1 -> "operation not permitted";
            case ENOENT -> "no such file or directory";
            case 3 -> "no such process";
            // openat2 says so if a step of the path was moved meanwhile.
            case 11 -> call.equals("open") ? "a directory in it was changed meanwhile" : "not possible at once";
            case 13 -> "permission denied";
            case 20 -> "not a directory";
            case EINVAL -> "invalid argument";
            case 28 -> "no space left";
            case 30 -> "read-only file system";
            case 111 -> "connection refused";
            case ENOSYS -> "not known to this kernel";
            default -> "error " + errno;
        };
    }
}
