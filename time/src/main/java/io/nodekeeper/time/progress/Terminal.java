package io.nodekeeper.time.progress;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Map;

/**
 * Whether standard error is a terminal, and how wide. Java only tells whether standard input and output are one, so this asks
 * the C library. Thread-safe.
 */
public final class Terminal {
    /** The file descriptor of standard error. */
    private static final int ERR = 2;
    /** Linux' request for a terminal's size ({@code ioctl_tty(2)}), the same on x86-64 and arm64. */
    private static final long TIOCGWINSZ = 0x5413;
    /** {@code struct winsize}: four unsigned shorts; the second is the number of columns. */
    private static final long WINSIZE = 8;
    /** A terminal that does not know its size, such as a serial line, has this one by convention. */
    private static final int USUAL = 80;

    private Terminal() {}

    /** How to show progress on standard error. A dumb terminal cannot clear a line. */
    public static ProgressStyle style(boolean quiet, Map<String, String> environment) {
        if (quiet) {
            return ProgressStyle.QUIET;
        }
        return !environment.getOrDefault("TERM", "dumb").equals("dumb") && columns() >= 0
                ? ProgressStyle.TERMINAL
                : ProgressStyle.LINES;
    }

    /** The columns of the terminal that standard error is. */
    public static int width() {
        int columns = columns();
        return columns > 0 ? columns : USUAL;
    }

    /** The columns now, 0 if the terminal does not know them, -1 if standard error is no terminal. */
    private static int columns() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment size = arena.allocate(WINSIZE, 2);
            int code = (int) Calls.IOCTL.invokeExact(ERR, TIOCGWINSZ, size);
            return code == 0 ? Short.toUnsignedInt(size.get(ValueLayout.JAVA_SHORT, 2)) : -1;
        } catch (Throwable e) {
            // Without the C library's function there is no line to rewrite.
            return -1;
        }
    }

    /** Loaded when it is first used. */
    private static final class Calls {
        private static final MethodHandle IOCTL = ioctl();

        @SuppressWarnings("restricted")
        private static MethodHandle ioctl() {
            Linker linker = Linker.nativeLinker();
            return linker.downcallHandle(
                    linker.defaultLookup().findOrThrow("ioctl"),
                    FunctionDescriptor.of(
                            ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS),
                    Linker.Option.firstVariadicArg(2));
        }
    }
}
