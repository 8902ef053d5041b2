package io.nodekeeper.cli.command;

import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Checks every argument of a command line, whatever its option: it must be printable text of limited length. Arguments
 * therefore cannot garble terminals, logs or files, and error messages stay short.
 */
public final class Arguments {
    /**
     * The most characters of a value, or of each value in a list with commas. A path on Linux may not be longer
     * (PATH_MAX).
     */
    public static final int VALUE = 4_096;
    /** The most characters of an argument: enough for a list of some hundred labels. */
    static final int ARGUMENT = 65_536;
    /** The most bytes of a path without its terminating zero (PATH_MAX - 1). */
    private static final int PATH = 4_095;
    /** The most bytes of each name in a path (NAME_MAX). */
    private static final int NAME = 255;
    /** The most bytes of a socket's path without its terminating zero ({@code sun_path} of unix(7)). */
    private static final int SOCKET = 107;

    private Arguments() {}

    /** The faults of {@code arguments}, one line for each faulty argument. */
    static List<String> faults(String... arguments) {
        List<String> faults = new ArrayList<>();
        for (int i = 0; i < arguments.length; i++) {
            String name = name(arguments, i);
            fault(arguments[i]).ifPresent(fault -> faults.add(name + " " + fault));
        }
        return faults;
    }

    /** The option of the argument at {@code index}, or its position. */
    private static String name(String[] arguments, int index) {
        String argument = arguments[index];
        int equals = argument.indexOf('=');
        String option = argument.startsWith("-") && equals > 0
                ? argument.substring(0, equals)
                : index > 0 ? arguments[index - 1] : "";
        boolean good = option.startsWith("-")
                && option.length() <= 100
                && fault(option).isEmpty();
        return good ? option : "argument " + (index + 1);
    }

    private static Optional<String> fault(String argument) {
        for (int i = 0; i < argument.length(); i++) {
            char c = argument.charAt(i);
            if (Character.isISOControl(c)) {
                return Optional.of("has the control character " + code(c) + " at position " + (i + 1)
                        + "; expected printable characters only");
            }
            if (Character.isSurrogate(c)) {
                boolean pair = Character.isHighSurrogate(c)
                        && i + 1 < argument.length()
                        && Character.isLowSurrogate(argument.charAt(i + 1));
                if (!pair) {
                    return Optional.of("is not valid Unicode at position " + (i + 1) + " (" + code(c) + ")");
                }
                i++;
            }
        }
        if (argument.length() > ARGUMENT) {
            return Optional.of("has " + argument.length() + " characters; expected at most " + ARGUMENT);
        }
        int longest = Stream.of(argument.split(",", -1))
                .mapToInt(String::length)
                .max()
                .orElse(0);
        return longest > VALUE
                ? Optional.of("has a value of " + longest + " characters; expected at most " + VALUE)
                : Optional.empty();
    }

    private static String code(char c) {
        return String.format("U+%04X", (int) c);
    }

    /** Why there cannot be a file named {@code path} on Linux; empty if there can. */
    public static Optional<String> pathFault(String path) {
        int length = bytes(path);
        if (length > PATH) {
            return Optional.of("is a path of " + length + " bytes; expected at most " + PATH);
        }
        for (String name : path.split("/", -1)) {
            if (bytes(name) > NAME) {
                return Optional.of("has a file name of " + bytes(name) + " bytes; expected at most " + NAME);
            }
        }
        return parses(path)
                ? Optional.empty()
                : Optional.of("has characters that file names cannot have in this locale; set LANG=C.UTF-8");
    }

    private static boolean parses(String path) {
        try {
            return Path.of(path).getNameCount() >= 0;
        } catch (InvalidPathException e) {
            return false;
        }
    }

    /** Why no socket can be at {@code path}; empty if one can. */
    static Optional<String> socketFault(String path) {
        int length = bytes(path);
        return length > SOCKET
                ? Optional.of("has a socket path of " + length + " bytes; expected at most " + SOCKET)
                : pathFault(path);
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
