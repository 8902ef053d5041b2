package io.nodekeeper.cli.completion;

import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.NodekeeperCommand;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.regex.Pattern;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code completion}: prints a script that completes commands, options and their values. */
@Command(
        name = "completion",
        description = "Prints a script for a shell that completes commands, options and their values.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  source <(nodekeeper completion bash)",
            "      In ~/.bashrc; the same with zsh in ~/.zshrc, after compinit.",
            "  nodekeeper completion fish > ~/.config/fish/completions/nodekeeper.fish",
            "      For every fish from now on."
        })
public final class CompletionCommand extends NodekeeperCommand {
    @Parameters(index = "0", arity = "0..1", paramLabel = "SHELL", description = "The shell: ${COMPLETION-CANDIDATES}.")
    Optional<Shell> shell = Optional.empty();

    @Spec
    CommandSpec spec = CommandSpec.create();

    /** A value with its explanation for the help, such as that of a feature gate; the shells take the value alone. */
    private static final Pattern EXPLAINED = Pattern.compile("\"([^\" ]+) \\([^\"]*\\)\"");

    private final PrintWriter out;

    public CompletionCommand(PrintWriter out) {
        this.out = out;
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        faults.require(shell.isPresent(), "SHELL is missing; expected bash, zsh or fish");
    }

    @Override
    public int run() {
        CommandSpec root = spec.root();
        out.print(
                switch (shell.orElseThrow()) {
                    case bash -> bash(root);
                    // The script for bash loads bashcompinit if zsh reads it.
                    case zsh -> "#compdef " + root.name() + "\n" + bash(root);
                    case fish -> Fish.script(root);
                });
        out.flush();
        return CommandRunner.OK;
    }

    private static String bash(CommandSpec root) {
        return EXPLAINED
                .matcher(AutoComplete.bash(root.name(), root.commandLine()))
                .replaceAll("\"$1\"");
    }
}
