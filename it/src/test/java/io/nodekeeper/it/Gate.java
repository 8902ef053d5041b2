package io.nodekeeper.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * A script that takes the place of a program. It hangs or fails for chosen commands of the program, and
 * otherwise is that program. A command that hangs continues once the gate is open again.
 */
public final class Gate {
    private final Path script;

    private Gate(Path script) {
        this.script = script;
    }

    /** In front of runc, whose command is an argument. */
    static Gate runc(Path script, Path runc) throws IOException {
        return gate(script, runc, """
                for word in "$@"; do
                  case $word in create|start|exec|kill|delete|state|ps|events|update) command=$word; break;; esac
                done
                """);
    }

    /** In front of a CNI plugin, whose command is in its environment. */
    static Gate cni(Path script, Path plugin) throws IOException {
        return gate(script, plugin, "command=$CNI_COMMAND\n");
    }

    private static Gate gate(Path script, Path program, String whichCommand) throws IOException {
        Files.writeString(script, "#!/bin/sh\n" + whichCommand + """
                        while [ -e "$0.hang.$command" ]; do sleep 0.3; done
                        if [ -e "$0.fail.$command" ]; then
                          echo '{"cniVersion": "0.4.0", "code": 11, "msg": "no address left in the pool"}'
                          exit 1
                        fi
                        if [ -e "$0.hook.$command" ]; then . "$0.hook.$command"; fi
                        exec %s "$@"
                        """.formatted(program));
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        return new Gate(script);
    }

    /** The script. */
    Path path() {
        return script;
    }

    /** From now on {@code command} hangs. */
    void hang(String command) throws IOException {
        Files.createFile(Path.of(script + ".hang." + command));
    }

    /** From now on {@code command} fails. */
    void fail(String command) throws IOException {
        Files.createFile(Path.of(script + ".fail." + command));
    }

    /** From now on {@code command} runs {@code shell} first, if {@code word} is part of its arguments or of CNI_ARGS. */
    public void hook(String command, String word, String shell) throws IOException {
        Path hook = Path.of(script + ".hook." + command);
        Path made = Path.of(hook + ".new");
        Files.writeString(made, "case \"$* $CNI_ARGS\" in *" + word + "*)\n" + shell + "\n;; esac\n");
        // A command that runs meanwhile sees all of it or nothing.
        Files.move(made, hook, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** {@code command} runs nothing more than itself from now on. */
    public void unhook(String command) throws IOException {
        Files.deleteIfExists(Path.of(script + ".hook." + command));
    }

    /** {@code command} works again. */
    void open(String command) throws IOException {
        Files.deleteIfExists(Path.of(script + ".hang." + command));
        Files.deleteIfExists(Path.of(script + ".fail." + command));
    }
}
