package io.nodekeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.Model.OptionSpec;

/** The completions of the shells name every command and every option. */
class CompletionTest {
    private final CommandModel model = new CommandModel();

    @TempDir
    Path directory;

    private String script(String shell) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        assertThat(model.run(out, List.of("completion", shell))).isZero();
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void fishKnowsEveryCommandAndEveryOption() {
        List<String> lines = script("fish").lines().toList();

        assertThat(lines).first().isEqualTo("# Completions of nodekeeper for fish.");
        model.specs().forEach((command, spec) -> {
            String[] words = command.split(" ");
            assertThat(lines).as(command).anyMatch(line -> line.contains(" -a '" + words[words.length - 1] + "' -d "));
            for (OptionSpec option : spec.options()) {
                assertThat(lines)
                        .as(command + " " + option.longestName())
                        .anyMatch(line -> line.contains("__fish_seen_subcommand_from " + words[0])
                                && line.contains(" -l '" + option.longestName().substring(2) + "'"));
            }
        });
    }

    @Test
    void fishOffersTheValuesOfAChoiceAndQuotesDescriptions() {
        assertThat(script("fish"))
                .contains("complete -c nodekeeper -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'\n")
                .contains("-l 'output' -x -a 'text wide json yaml' -d ")
                .contains("The node\\'s name");
        // each quote that opens is closed in its line
        assertThat(script("fish").lines())
                .allMatch(line -> line.startsWith("#")
                        || line.replace("\\'", "")
                                                .chars()
                                                .filter(c -> c == '\'')
                                                .count()
                                        % 2
                                == 0);
    }

    @Test
    void bashCompletesCommandsAndOptions() throws Exception {
        // given a shell that has read the script
        Path script = Files.writeString(directory.resolve("completion.bash"), script("bash"));
        String commands =
                "source " + script + "; COMP_WORDS=(nodekeeper sta); COMP_CWORD=1; COMP_LINE='nodekeeper sta';"
                        + " COMP_POINT=14; _complete_nodekeeper; echo \"${COMPREPLY[@]}\";"
                        + " COMP_WORDS=(nodekeeper why --cont); COMP_CWORD=2; COMP_LINE='nodekeeper why --cont'; COMP_POINT=21;"
                        + " _complete_nodekeeper; echo \"${COMPREPLY[@]}\";"
                        + " COMP_WORDS=(nodekeeper controller --feature-gates Keep); COMP_CWORD=3;"
                        + " COMP_LINE='nodekeeper controller --feature-gates Keep'; COMP_POINT=42;"
                        + " _complete_nodekeeper; echo \"${COMPREPLY[@]}\"";

        Process bash = new ProcessBuilder("bash", "--norc", "-c", commands)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String answer = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(bash.waitFor()).isZero();
        assertThat(answer.lines())
                .containsExactly("status", "--context --controller-namespace --controller-service", "KeepTaints");
    }

    @Test
    @Tag("long")
    void fishCompletesCommandsOptionsAndValues() throws Exception {
        // given a shell that reads the script, as it does at its start
        Files.writeString(directory.resolve("completion.fish"), script("fish"));

        String answer = answer(
                "fish",
                "--no-config",
                "-c",
                "source completion.fish; complete -C 'nodekeeper sta'; complete -C 'nodekeeper why --cont';"
                        + " complete -C 'nodekeeper controller --feature-gates Keep'");

        // then it offers words, each with a description after a tab, and complains of nothing
        assertThat(answer.lines().map(line -> line.split("\t", 2)[0]))
                .containsExactly("status", "--context", "--controller-namespace", "--controller-service", "KeepTaints");
    }

    /** zsh completes only at a terminal, so the shell that completes runs in a pseudo terminal of another one. */
    @Test
    @Tag("long")
    void zshCompletesCommandsOptionsAndValues() throws Exception {
        // given a shell that completes three lines at its first prompt
        Files.writeString(directory.resolve("completion.zsh"), script("zsh"));
        Files.writeString(directory.resolve(".zshrc"), """
                autoload -Uz compinit
                compinit -u -D
                source $ZDOTDIR/completion.zsh
                zle-line-init() {
                  for line in 'nodekeeper sta' 'nodekeeper why --contex' 'nodekeeper controller --feature-gates Keep'; do
                    BUFFER=$line
                    CURSOR=$#BUFFER
                    zle complete-word
                    print -r -- "$BUFFER" >>$ZDOTDIR/completed
                  done
                  BUFFER=exit
                  zle accept-line
                }
                zle -N zle-line-init
                """);

        String answer = answer(
                "zsh",
                "-f",
                "-c",
                "zmodload zsh/zpty; zpty shell env ZDOTDIR=$PWD TERM=dumb zsh -d -i;"
                        + " while zpty -r shell line; do :; done; cat completed");

        assertThat(answer.lines().map(String::strip))
                .containsExactly(
                        "nodekeeper status",
                        "nodekeeper why --context",
                        "nodekeeper controller --feature-gates KeepTaints");
    }

    /** What a shell in the directory prints, its errors included. */
    private String answer(String... command) throws Exception {
        Process shell = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        shell.getOutputStream().close();
        shell.onExit().orTimeout(60, TimeUnit.SECONDS).exceptionally(late -> {
            shell.descendants().forEach(ProcessHandle::destroyForcibly);
            return shell.destroyForcibly();
        });
        return new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Test
    void zshLoadsTheSameThroughItsOwnLayer() {
        assertThat(script("zsh")).startsWith("#compdef nodekeeper\n").contains("bashcompinit");
    }

    @Test
    void wrongCommandsAndOptionsGetAHint() {
        assertThat(model.run(List.of("statsu"))).isEqualTo(2);
        assertThat(model.err()).contains("did you mean status?");

        assertThat(model.run(List.of("why", "n1", "--histroy-dir=/tmp"))).isEqualTo(2);
        assertThat(model.err()).contains("did you mean --history-dir?");

        assertThat(model.run(List.of("why", "n1", "--zzzzzzzzzz", "--history-dir=/tmp")))
                .isEqualTo(2);
        assertThat(model.err()).doesNotContain("did you mean");
    }
}
