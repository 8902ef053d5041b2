package io.nodekeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
                        + " _complete_nodekeeper; echo \"${COMPREPLY[@]}\"";

        Process bash = new ProcessBuilder("bash", "--norc", "-c", commands)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String answer = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(bash.waitFor()).isZero();
        assertThat(answer.lines()).containsExactly("status", "--context --controller-namespace --controller-service");
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
