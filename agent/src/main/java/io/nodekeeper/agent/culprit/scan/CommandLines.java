package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Parses the command lines of shims, OCI runtimes and CNI plugins: program, action, and the ids that they name. Pure. */
public final class CommandLines {
    private static final Set<String> SHELLS = Set.of("sh", "bash", "dash", "ash", "env", "python", "python3", "perl");
    /** The commands with which containerd-shim and CRI-O call an OCI runtime. */
    private static final Set<String> VERBS = Set.of(
            "create",
            "start",
            "exec",
            "kill",
            "delete",
            "state",
            "ps",
            "events",
            "update",
            "pause",
            "resume",
            "run",
            "checkpoint",
            "restore");

    private static final Pattern ID = Pattern.compile("[0-9a-f]{64}");
    /** Control and formatting characters, and ends of lines: they can rewrite a terminal, and forge lines of logs. */
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");
    /**
     * The longest command line to keep, in characters: it contains the program, the action and the id, and fits into
     * an event.
     */
    private static final int LONGEST = 300;

    /** The arguments, and the characters in all, that are kept of an ordinary program: a node has thousands of processes. */
    private static final int KEPT = 32;

    private static final int KEPT_LENGTH = 1_000;

    /**
     * What is known of a program that a process runs, read and derived once: a scan looks at some hundred processes, and few
     * of them are new. Immutable.
     *
     * @param startTicks the start of the process, as in {@link ProcessRef}
     * @param name as the kernel shows it
     * @param arguments all if it has a role, else the first ones; empty if it had none
     * @param cni the environment variables whose names start with {@code CNI_}
     * @param line the arguments as one line, shortened; the name in brackets if there are none, or only blanks
     * @param shimId the sandbox that a shim was started for; empty if it is no shim
     * @param shimSocket the runtime's socket in a shim's arguments; empty if it is no shim
     * @param shimCommand whether a shim is a short command and not the long-running shim itself
     * @param ociRuntime whether it is a command that a shim or containerd gives to an OCI runtime
     * @param kernelThread whether it is a thread of the kernel, which belongs to no runtime and has no arguments
     */
    record Program(
            long startTicks,
            String name,
            List<String> arguments,
            Map<String, String> cni,
            String line,
            Optional<String> shimId,
            Optional<String> shimSocket,
            boolean shimCommand,
            boolean ociRuntime,
            boolean kernelThread) {
        /** The parent of all threads of the kernel. */
        private static final int KTHREADD = 2;

        /** A program by its arguments and environment. */
        static Program of(ProcFiles.Stat stat, List<String> arguments, Map<String, String> cni) {
            String line = CommandLines.line(arguments);
            Program program = new Program(
                    stat.startTicks(),
                    stat.name(),
                    arguments,
                    cni,
                    line.isBlank() ? nameOf(stat) : line,
                    CommandLines.shimId(arguments),
                    CommandLines.shimSocket(arguments),
                    CommandLines.isShimCommand(arguments),
                    CommandLines.isOciRuntime(arguments),
                    isKernelThread(stat));
            return program.claimsRole() ? program : program.withoutRole();
        }

        /** Whether it is a thread of the kernel. */
        static boolean isKernelThread(ProcFiles.Stat stat) {
            return stat.parent() == KTHREADD || stat.pid() == KTHREADD;
        }

        /** Whether it is still the program of that process. */
        boolean isOf(ProcFiles.Stat stat) {
            return startTicks == stat.startTicks() && name.equals(stat.name());
        }

        /** Whether arguments or environment are those of a part of a runtime. */
        boolean claimsRole() {
            return shimId.isPresent() || shimSocket.isPresent() || ociRuntime || isCni();
        }

        /** The same as an ordinary program. */
        Program withoutRole() {
            return new Program(
                    startTicks,
                    name,
                    CommandLines.first(arguments),
                    Map.of(),
                    line,
                    Optional.empty(),
                    Optional.empty(),
                    shimCommand,
                    false,
                    kernelThread);
        }

        /** Whether a container network plugin's environment was given to it. */
        boolean isCni() {
            return cni.containsKey("CNI_COMMAND");
        }
    }

    private CommandLines() {}

    /** The arguments as one line, shortened, with blanks for what cannot be printed: a container chooses its arguments. */
    static String line(List<String> arguments) {
        String line = String.join(" ", arguments);
        return printable(line.length() > LONGEST ? line.substring(0, LONGEST) + "…" : line);
    }

    /** What stands for a line without arguments: the name in brackets. A process chooses that, too. */
    static String nameOf(ProcFiles.Stat stat) {
        return "[" + printable(stat.name()) + "]";
    }

    private static String printable(String text) {
        return UNPRINTABLE.matcher(text).replaceAll(" ");
    }

    /** The first arguments, of which there is one if there were any. */
    private static List<String> first(List<String> arguments) {
        List<String> first = new ArrayList<>();
        int room = KEPT_LENGTH;
        for (String argument : arguments) {
            room -= argument.length();
            if (first.size() == KEPT || room < 0) {
                break;
            }
            first.add(argument);
        }
        return first.isEmpty() && !arguments.isEmpty()
                ? List.of(arguments.getFirst().substring(0, KEPT_LENGTH))
                : List.copyOf(first);
    }

    /** The name of the program in a line; if the line runs a script, the name of the script. */
    public static String program(String line) {
        // Also a blank line has a first word: a container chooses its arguments.
        String[] words = line.split(" ", -1);
        String first = file(words[0]);
        return words.length > 1 && SHELLS.contains(first) && words[1].startsWith("/") ? file(words[1]) : first;
    }

    /** The value after an option, also one written {@code -name=value}. */
    static Optional<String> option(List<String> arguments, String name) {
        for (int i = 1; i < arguments.size(); i++) {
            String argument =
                    arguments.get(i).startsWith("--") ? arguments.get(i).substring(1) : arguments.get(i);
            if (argument.equals(name) && i + 1 < arguments.size()) {
                return Optional.of(arguments.get(i + 1));
            }
            if (argument.startsWith(name + "=")) {
                return Optional.of(argument.substring(name.length() + 1));
            }
        }
        return Optional.empty();
    }

    /** The socket in a shim's arguments; empty for other commands. */
    static Optional<String> shimSocket(List<String> arguments) {
        return isShim(arguments) ? option(arguments, "-address") : Optional.empty();
    }

    /** The sandbox that a shim was started for; empty if the command is no shim. */
    static Optional<String> shimId(List<String> arguments) {
        return isShim(arguments) ? option(arguments, "-id") : Optional.empty();
    }

    /** Whether this is a short command of a shim and not the long-running shim itself. */
    static boolean isShimCommand(List<String> arguments) {
        return !arguments.isEmpty()
                && (arguments.getLast().equals("start") || arguments.getLast().equals("delete"));
    }

    /**
     * Whether the arguments are those with which containerd calls runc, under any name: about a container, with its
     * full id.
     */
    static boolean isOciRuntime(List<String> arguments) {
        return option(arguments, "-log").isPresent()
                && option(arguments, "-root").isPresent()
                && !verb(arguments).isEmpty()
                && arguments.stream()
                        .skip(1)
                        .anyMatch(argument -> ID.matcher(argument).matches());
    }

    /** The command of an OCI runtime, such as {@code create}. */
    static String verb(List<String> arguments) {
        return arguments.stream().skip(1).filter(VERBS::contains).findFirst().orElse("");
    }

    /** The directory of the container that an OCI runtime works on; its last name is the container's id. */
    static Optional<String> bundle(List<String> arguments) {
        return option(arguments, "-log")
                .filter(log -> log.lastIndexOf('/') > 0)
                .map(log -> log.substring(0, log.lastIndexOf('/')));
    }

    /** The ids that an OCI runtime's arguments name, the likeliest first. */
    static List<String> ids(List<String> arguments) {
        Optional<String> bundle = bundle(arguments).map(CommandLines::file);
        return Stream.concat(
                        arguments.stream()
                                .filter(argument -> ID.matcher(argument).matches()),
                        bundle.stream())
                .distinct()
                .toList();
    }

    /** The ids in a cgroup's path, outermost first. */
    static List<String> cgroupIds(String path) {
        Matcher matcher = ID.matcher(path);
        Stream.Builder<String> ids = Stream.builder();
        while (matcher.find()) {
            ids.add(matcher.group());
        }
        return ids.build().distinct().toList();
    }

    /** {@code NAME=VALUE} each. */
    static Map<String, String> variables(List<String> pairs) {
        Map<String, String> variables = new HashMap<>();
        for (String pair : pairs) {
            int equals = pair.indexOf('=');
            if (equals > 0) {
                variables.put(pair.substring(0, equals), pair.substring(equals + 1));
            }
        }
        return Map.copyOf(variables);
    }

    private static boolean isShim(List<String> arguments) {
        return !arguments.isEmpty() && file(arguments.getFirst()).contains("shim");
    }

    private static String file(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
