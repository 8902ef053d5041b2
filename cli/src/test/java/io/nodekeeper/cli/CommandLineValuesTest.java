package io.nodekeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cli.command.Arguments;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * Values that no option can take, given to every option of every command: each is refused with one short message that names
 * the option, and exit code 2. New commands and options are tested without a change here.
 */
class CommandLineValuesTest {
    private static final int MEBIBYTE = 1 << 20;

    /** Control characters of each kind, text that is not Unicode, and more than any option takes. */
    private static final List<String> GARBLED = List.of(
            "\0",
            "a\0b",
            "a\nb",
            "a\rb",
            "a\tb",
            "\u001b[2J",
            "a\u007f",
            "a\u0085b",
            "\ud800",
            "\udc00\ud800",
            "a".repeat(MEBIBYTE),
            "9".repeat(MEBIBYTE),
            ",".repeat(MEBIBYTE),
            "1h".repeat(MEBIBYTE / 2),
            "/a".repeat(MEBIBYTE / 2),
            "a".repeat(Arguments.VALUE + 1),
            "a,b=" + "a".repeat(Arguments.VALUE));

    private static final String LONG = "a".repeat(4_000);
    private static final String DIGITS = "9".repeat(4_000);

    private static final List<String> BAD_PATHS =
            List.of("", " ", "a".repeat(256), "ä".repeat(128), "/tmp/" + "a".repeat(256) + "/b", "a/".repeat(2_048));
    private static final List<String> BAD_DURATIONS = List.of("", DIGITS + "s", "NaN", "1e9s", "1 s", "9e99999h", LONG);
    private static final List<String> BAD_NUMBERS = List.of("", DIGITS, "1e", "0x", "NaN", "Infinity", LONG);
    private static final List<String> BAD_NAMES = List.of("a".repeat(254), "A", "a..b", "-a", LONG, "ä");
    private static final List<String> BAD_ADDRESSES = List.of("", "here", "999.1.1.1", "1.2.3", "a:b", LONG);
    private static final List<String> BAD_SOCKETS =
            List.of("", "unix://", "unix:///" + "a".repeat(107), "/run/a.sock", LONG);

    /** Bad values of options that are plain text; an option that is missing here fails the test. */
    private static final Map<String, List<String>> BAD_TEXTS = Map.ofEntries(
            Map.entry("--address", BAD_ADDRESSES),
            Map.entry(
                    "--allowed-unsafe-sysctls",
                    List.of("", "vm.swappiness", "kernel.*", "*", "A.b", "net..a", "net.a,vm.b", LONG)),
            Map.entry("--api-audiences", List.of()), // any text is an audience
            Map.entry("--at", List.of("", DIGITS, DIGITS + "h", "2026-13-01T00:00:00Z", "-5m", LONG)),
            Map.entry("--audit-log-path", BAD_PATHS.subList(2, BAD_PATHS.size())), // empty is no audit log
            Map.entry("--authorization-always-allow-paths", List.of("", "healthz", "/a b", "/a*b", "/ä", LONG)),
            Map.entry("--bind-address", BAD_ADDRESSES),
            Map.entry("--cgroup-root", List.of("", "pods", "/a/../b", "/a//b", "/a/", LONG)),
            Map.entry("--container-runtime-endpoint", BAD_SOCKETS),
            Map.entry("--context", List.of()), // any text: without such a context the command fails
            Map.entry("--controller-namespace", List.of("a".repeat(64), "A", "", LONG)),
            Map.entry("--controller-service", List.of("", "name", "ftp:name:1", "a/b:1", "name:port:2", LONG)),
            Map.entry("--controller-bind-address", List.of("", "here", "127.0.0.1:99999", "1:2:3", DIGITS, LONG)),
            Map.entry("--etcd-prefix", List.of("", "registry", "/a b", "/ä")),
            Map.entry("--cloud-provider", List.of("aws", "External", LONG)),
            Map.entry("--feature-gates", List.of("None=true", "=", LONG)),
            Map.entry("--group", List.of("", "a b", "a,b", LONG)),
            Map.entry("--guard-bind-address", List.of("", "off", "here", "127.0.0.1:99999", "1:2:3", DIGITS, LONG)),
            Map.entry("--guard-client-names", List.of("", " ", "a,,b", LONG)),
            Map.entry("--guard-users", List.of("a b", "a,b c", "it's", "ä", LONG)),
            Map.entry("--healthz-bind-address", BAD_ADDRESSES),
            Map.entry("--leader-elect-resource-lock", List.of("", "endpoints", LONG)),
            Map.entry("--leader-elect-resource-name", BAD_NAMES),
            Map.entry("--leader-elect-resource-namespace", List.of("a".repeat(64), "A", LONG)),
            Map.entry("--node", BAD_NAMES),
            Map.entry("--node-ip", List.of("", "here", "1.2.3.4,here", "1.1.1.1,1.1.1.2,1.1.1.3", LONG)),
            Map.entry(
                    "--node-labels",
                    List.of("a", "=b", "a b=c", "a=b c", "a=" + "b".repeat(64), "/a=b", "a".repeat(64) + "=b", LONG)),
            Map.entry("--hostname-override", BAD_NAMES),
            Map.entry("--prefix", List.of("a".repeat(254), "A", "-", "a..", LONG)),
            Map.entry(
                    "--register-with-taints",
                    List.of("a", "a:No", "=b:NoExecute", "a b:NoExecute", "a=b c:NoExecute", LONG + ":NoExecute")),
            Map.entry("--provider-id", List.of()), // any text: the cloud's
            Map.entry("--service", List.of("", "a", "a/b/c", "A/b", "a/b:0", "a/b:99999", "a/" + LONG)),
            Map.entry("--service-account-issuer", List.of("", "issuer", "http://[", LONG)),
            Map.entry("--tls-san", List.of("", "a b", "999:1", "*.*.a", LONG)),
            Map.entry("--token", List.of("a b", "a\nb", "ä")),
            Map.entry(
                    "--vary",
                    List.of("", "x", "=1", "nodes=1,2", "detector=", "detector=slow", "flap-reuse=1,,2", LONG)),
            Map.entry("--user", List.of("", "a b", "a/b", "ä", LONG)),
            Map.entry("NODE", List.of())); // any text: names and UIDs of any age

    private final CommandModel model = new CommandModel();

    private static String name(ArgSpec argument) {
        return argument instanceof OptionSpec option ? option.longestName() : argument.paramLabel();
    }

    private static Stream<ArgSpec> taking(CommandSpec spec) {
        return Stream.concat(
                spec.options().stream().filter(option -> option.arity().max() > 0),
                spec.positionalParameters().stream());
    }

    /** Every way to write {@code value} for {@code argument}. */
    private static List<List<String>> lines(String command, ArgSpec argument, String value) {
        List<List<String>> lines = new ArrayList<>();
        List<String> start = List.of(command.split(" "));
        if (argument instanceof PositionalParamSpec) {
            lines.add(with(start, value));
            return lines;
        }
        for (String name : ((OptionSpec) argument).names()) {
            lines.add(with(start, name + "=" + value));
            // A value that is given apart may be optional.
            if (argument.arity().min() > 0) {
                lines.add(with(start, name, value));
            }
        }
        return lines;
    }

    private static List<String> with(List<String> start, String... more) {
        List<String> line = new ArrayList<>(start);
        line.addAll(List.of(more));
        return line;
    }

    private static String shown(List<String> line) {
        String text = String.join(" ", line);
        return text.length() > 120 ? text.substring(0, 120) + "..." : text;
    }

    @Test
    void garbledAndHugeValuesOfEveryOptionAreRefusedInOneLine() {
        model.specs()
                .forEach((command, spec) -> taking(spec).forEach(argument -> {
                    for (String value : GARBLED) {
                        for (List<String> line : lines(command, argument, value)) {
                            int code = model.run(line);
                            assertThat(code).as(shown(line)).isEqualTo(2);
                            assertThat(model.err().lines()).as(shown(line)).hasSize(2);
                            assertThat(model.err())
                                    .as(shown(line))
                                    .startsWith("error: ")
                                    .endsWith("See: nodekeeper --help\n")
                                    .matches("[\\x20-\\x7e\\n]{1,300}");
                            if (argument instanceof OptionSpec option) {
                                assertThat(model.err()).containsAnyOf(option.names());
                            } else {
                                assertThat(model.err()).contains("argument " + line.size() + " ");
                            }
                            assertThat(model.launched()).isEmpty();
                        }
                    }
                }));
    }

    @Test
    void valuesThatDoNotFitTheirKindAreRefusedWithTheNameOfTheOption() {
        TreeSet<String> kinds = new TreeSet<>();
        List<String> taken = new ArrayList<>();
        model.specs()
                .forEach((command, spec) -> taking(spec).forEach(argument -> {
                    for (String value : bad(argument, kinds)) {
                        for (List<String> line : lines(command, argument, value)) {
                            int code = model.run(line);
                            if (code != 2 || about(argument) == 0 || model.err().length() > 10_000) {
                                taken.add(shown(line) + ": exit code " + code + ", "
                                        + model.err()
                                                .substring(
                                                        0,
                                                        Math.min(
                                                                600, model.err().length())));
                            }
                        }
                    }
                }));
        assertThat(taken).isEmpty();
        assertThat(kinds).contains("path", "duration", "number", "choice", "url", "text");
    }

    /** How many lines of the message are about {@code argument}. */
    private long about(ArgSpec argument) {
        List<String> names = argument instanceof OptionSpec option ? List.of(option.names()) : List.of(name(argument));
        return model.err()
                .lines()
                .filter(text -> !text.startsWith("See: "))
                .filter(text -> names.stream().anyMatch(text::contains))
                .count();
    }

    /** Bad values of the kind of {@code argument}, which is added to {@code kinds}. */
    private static List<String> bad(ArgSpec argument, TreeSet<String> kinds) {
        Class<?> type = Stream.concat(Stream.of(argument.type()), Arrays.stream(argument.auxiliaryTypes()))
                .filter(each -> each != Optional.class && !Collection.class.isAssignableFrom(each) && each != Map.class)
                .findFirst()
                .orElseThrow();
        if (type == Path.class) {
            kinds.add("path");
            return BAD_PATHS;
        }
        if (type == Duration.class) {
            kinds.add("duration");
            return BAD_DURATIONS;
        }
        if (type == URI.class) {
            kinds.add("url");
            return List.of("http://[", "a b", LONG);
        }
        if (type.isEnum()) {
            kinds.add("choice");
            return List.of("", "none-of-these", LONG);
        }
        if (type != String.class) {
            kinds.add("number");
            return type == boolean.class || type == Boolean.class ? List.of("maybe", DIGITS) : BAD_NUMBERS;
        }
        kinds.add("text");
        if (name(argument).equals("--etcd-servers")) {
            return List.of();
        }
        assertThat(BAD_TEXTS).as("bad values").containsKey(name(argument));
        return BAD_TEXTS.getOrDefault(name(argument), List.of());
    }

    @Test
    void anArgumentIsNeverTheNameOfAFileOfArguments() {
        int code = model.run(List.of("@/etc/hostname"));
        assertThat(code).isEqualTo(2);
        assertThat(model.err()).contains("@/etc/hostname");
    }
}
