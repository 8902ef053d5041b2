package io.nodekeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The documentation's links lead somewhere, and its indexes are complete. */
class DocumentationTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    /** The target of a Markdown link that is neither an address nor an anchor of the same page. */
    private static final Pattern LINK = Pattern.compile("\\]\\((?![a-z]+://|#)([^)#\\s]+)");

    @Test
    void everyLinkOfAPageLeadsToAFile() {
        List<String> broken = pages().stream()
                .flatMap(page -> links(page)
                        .filter(target -> !Files.exists(target))
                        .map(target -> ROOT.relativize(page) + " -> " + ROOT.relativize(target)))
                .toList();

        assertThat(broken).isEmpty();
    }

    @Test
    void everyPageIsInTheIndexOfItsFolder() {
        for (String folder : List.of("docs", "docs/decisions", "docs/runbooks", "docs/spec")) {
            Path index = ROOT.resolve(folder).resolve("README.md");
            TreeSet<Path> linked = links(index).collect(Collectors.toCollection(TreeSet::new));

            List<Path> missing = pages().stream()
                    .filter(page -> page.equals(index.resolveSibling(page.getFileName())) && !page.equals(index))
                    .filter(page -> !linked.contains(page))
                    .toList();

            assertThat(missing).as("pages that %s does not link", index).isEmpty();
        }
    }

    private static Stream<Path> links(Path page) {
        try {
            return LINK.matcher(Files.readString(page))
                    .results()
                    .map(link -> page.resolveSibling(link.group(1)).normalize());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The pages in the root folder and below docs. */
    private static List<Path> pages() {
        try (Stream<Path> root = Files.list(ROOT);
                Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(root, docs)
                    .filter(file -> file.toString().endsWith(".md"))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
