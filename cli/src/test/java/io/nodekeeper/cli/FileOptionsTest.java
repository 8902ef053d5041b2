package io.nodekeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The options and operands that name files which are written. A new one must be given in {@code FilesIT}, too. */
class FileOptionsTest {
    /** Options that name files which are only read, whatever the command. */
    private static final String READ =
            "--((guard-)?client-ca-file|certificate-authority|(kubelet-)?client-(certificate|key)|config|encryption-provider-config|etcd-(ca|cert|key)file"
                    + "|event-rate-limit-config|(bootstrap-)?kubeconfig|kubelet-certificate-authority|problem-rules|recording|scenario|config-dir|cluster-signing-(cert|key)-file"
                    + "|service-account-(signing-)?key-file|tls-cert-file|tls-private-key-file|token-(auth-)?file)";

    private static boolean isFile(ArgSpec argument) {
        return argument.type() == Path.class
                || Arrays.asList(argument.auxiliaryTypes()).contains(Path.class)
                || argument.paramLabel().contains("FILE")
                || argument.paramLabel().contains("DIR");
    }

    @Test
    void everyOptionThatNamesAWrittenFileIsTriedInTheTestOfModes() {
        TreeSet<String> written = new TreeSet<>();
        new CommandModel()
                .specs()
                .forEach((command, spec) -> Stream.<ArgSpec>concat(
                                spec.options().stream(), spec.positionalParameters().stream())
                        .filter(FileOptionsTest::isFile)
                        .map(argument ->
                                argument instanceof OptionSpec option ? option.longestName() : argument.paramLabel())
                        .filter(name -> !name.matches(READ))
                        .forEach(name -> written.add(command + " " + name)));
        assertThat(written)
                .containsExactlyInAnyOrder(
                        "agent --cert-dir",
                        "agent --root-dir",
                        "apiserver --audit-log-path",
                        "apiserver --data-dir",
                        "apiserver check --data-dir", // read
                        "apiserver repair --data-dir",
                        "apiserver restore --data-dir",
                        "apiserver restore FILE", // read
                        "apiserver rewrite --data-dir",
                        "apiserver snapshot --data-dir", // read
                        "apiserver snapshot FILE",
                        "certs --data-dir",
                        "certs --out",
                        "controller --history-dir",
                        "doctor --bundle",
                        "observe-report --history-dir", // read
                        "observe-report --output-file",
                        "replay FILE", // read
                        "replay record FILE",
                        "simulate --trace",
                        "up --audit-log-path",
                        "up --cert-dir",
                        "up --data-dir",
                        "up --history-dir",
                        "up --root-dir",
                        "why --history-dir"); // read
    }
}
