package io.nodekeeper.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The kubectls of this machine, one of each minor version. */
final class Kubectls {
    private static final Pattern NAME = Pattern.compile("kubectl(\\.1\\.\\d+)?");
    private static final Pattern VERSION = Pattern.compile("\"gitVersion\": *\"v(1\\.\\d+)\\.");

    private Kubectls() {}

    /**
     * Paths by version, as 1.32: what is called kubectl or kubectl.1.NN on the PATH, and beside what the first kubectl of
     * the PATH really is, as some packages put one of each version there.
     */
    static Map<String, Path> byVersion() throws IOException, InterruptedException {
        List<Path> directories = new ArrayList<>();
        for (String directory : System.getenv("PATH").split(":")) {
            Path kubectl = Path.of(directory, "kubectl");
            directories.add(Path.of(directory));
            if (Files.isExecutable(kubectl)) {
                directories.add(kubectl.toRealPath().getParent());
            }
        }
        Map<String, Path> found = new TreeMap<>();
        for (Path directory : directories) {
            for (Path kubectl : inside(directory)) {
                Matcher version = VERSION.matcher(Command.ok(kubectl.toString(), "version", "--client", "-o", "json"));
                if (version.find()) {
                    found.putIfAbsent(version.group(1), kubectl);
                }
            }
        }
        if (found.isEmpty()) {
            throw Command.missing("kubectl", "kubernetes-client");
        }
        return found;
    }

    private static List<Path> inside(Path directory) {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(
                            file -> NAME.matcher(file.getFileName().toString()).matches() && Files.isExecutable(file))
                    .map(Kubectls::real)
                    .distinct()
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException("looking for kubectls in " + directory, e);
        }
    }

    private static Path real(Path file) {
        try {
            return file.toRealPath();
        } catch (IOException e) {
            throw new UncheckedIOException("following " + file, e);
        }
    }
}
