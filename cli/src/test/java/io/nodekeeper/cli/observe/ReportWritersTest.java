package io.nodekeeper.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import java.io.StringReader;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/** No name and no sentence of a history can become more than text, in any format. */
class ReportWritersTest {
    private static final List<String> HOSTILE = List.of(
            "<script>alert(1)</script>",
            "\"><img src=x onerror=alert(1)>",
            "n1' onmouseover='alert(1)",
            "]](javascript:alert(1))[x](javascript:alert(1)",
            "a|b`c``d\\",
            "n1\n# Title\n\n<b>",
            "&lt;b&gt; &#60;",
            "</style><script>x</script><!--",
            "]]>",
            "\u202egnp.exe \u0000\u0007\ud800",
            "$(rm -rf /); `id`",
            "--server=http://evil.example.org");

    /** A report whose node and sentences are all this text. */
    private static JsonObject report(String name) {
        return ObserveReportDocsTest.report(List.of(
                ObserveReportDocsTest.about(
                        10,
                        name,
                        "Difference",
                        JsonObject.builder()
                                .put("object", "node " + name)
                                .put("change", "Ready=Unknown")
                                .put("theirs", "2026-11-21T16:13:10Z")
                                .put("falseHeardMillisBefore", 10)
                                .build()),
                ObserveReportDocsTest.about(
                        11,
                        name,
                        "Difference",
                        JsonObject.EMPTY.with("object", "node " + name).with("change", "+" + name)),
                ObserveReportDocsTest.about(12, "", "ObserverBlind", JsonObject.EMPTY.with("hop", name))));
    }

    private static Document parsed(String html) throws Exception {
        assertThat(html).startsWith("<!DOCTYPE html>\n<html lang=\"en\">");
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(html.substring(html.indexOf('\n')))));
    }

    private static List<Element> elements(Document document) {
        List<Element> elements = new ArrayList<>();
        NodeList all = document.getElementsByTagName("*");
        for (int i = 0; i < all.getLength(); i++) {
            elements.add((Element) all.item(i));
        }
        return elements;
    }

    @Test
    void htmlHasOnlyTheElementsAndAttributesOfTheReportWhateverANodeIsCalled() throws Exception {
        for (String name : HOSTILE) {
            Document document = parsed(HtmlWriter.write(ReportDocument.of(report(name))));

            TreeSet<String> names = new TreeSet<>();
            TreeSet<String> attributes = new TreeSet<>();
            for (Element element : elements(document)) {
                names.add(element.getTagName());
                for (int i = 0; i < element.getAttributes().getLength(); i++) {
                    attributes.add(element.getAttributes().item(i).getNodeName());
                }
                if (element.hasAttribute("href")) {
                    assertThat(element.getAttribute("href")).startsWith("http://127.0.0.1:10257/ui/#/node/");
                }
            }
            assertThat(names)
                    .as(name)
                    .containsExactly(
                            "a", "body", "code", "h1", "h2", "head", "html", "meta", "p", "style", "table", "tbody",
                            "td", "th", "thead", "title", "tr");
            assertThat(attributes)
                    .as(name)
                    .containsExactly("charset", "class", "content", "href", "http-equiv", "lang", "name");
            assertThat(document.getDocumentElement().getTextContent()).contains(ReportText.line(name));
        }
    }

    @Test
    void htmlIsOneFileInLightAndDarkThatLoadsNothing() throws Exception {
        String html = HtmlWriter.write(ReportDocument.of(report("n1")));

        assertThat(html)
                .contains("content=\"default-src 'none'; style-src 'unsafe-inline'\"")
                .contains("@media (prefers-color-scheme: dark)")
                .doesNotContain("<script")
                .doesNotContain("<link")
                .doesNotContain("src=")
                .doesNotContain("url(");
        assertThat(parsed(html).getElementsByTagName("title").item(0).getTextContent())
                .isEqualTo("Nodekeeper observe report");
    }

    @Test
    void markdownEscapesNames() {
        assertThat(markdown("<script>alert(1)</script>"))
                .contains("| `<script>alert(1)</script>` |")
                .contains("| \\<script\\>alert(1)\\</script\\> |");
        assertThat(markdown("a|b`c``d\\")).contains("| ```aU+007Cb`c``d\\``` |").contains("| a\\|b\\`c\\`\\`d\\\\ |");
        assertThat(markdown("n1\n# Title\n\n<b>"))
                .contains("| `n1 # Title  <b>` |")
                .doesNotContain("\n# Title");
        assertThat(markdown("\u202egnp.exe \u0000\u0007\ud800")).contains("| `U+202Egnp.exe U+0000U+0007U+D800` |");
        assertThat(markdown("]](javascript:alert(1))[x](javascript:alert(1)"))
                .contains("| \\]\\](javascript:alert(1))\\[x\\](javascript:alert(1) |");
        // the number of columns stays
        for (String name : HOSTILE) {
            markdown(name)
                    .lines()
                    .filter(line -> line.startsWith("| ") && line.contains("[timeline]"))
                    .forEach(line -> assertThat(line.replace("\\|", "").chars().filter(c -> c == '|'))
                            .as(line)
                            .hasSize(6));
        }
    }

    private static String markdown(String name) {
        return MarkdownWriter.write(ReportDocument.of(report(name)));
    }

    @Test
    void commandsAndLinksTakeANameAsOneWord() {
        assertThat(why("n1")).isEqualTo("nodekeeper why n1 --at 2026-11-21T16:13:10Z --server http://127.0.0.1:10257");
        assertThat(why("$(rm -rf /); `id`"))
                .isEqualTo("nodekeeper why '$(rm -rf /); `id`' --at 2026-11-21T16:13:10Z --server"
                        + " http://127.0.0.1:10257");
        assertThat(why("n1' onmouseover='alert(1)"))
                .startsWith("nodekeeper why 'n1'\\'' onmouseover='\\''alert(1)' --at");
        assertThat(why("--server=http://evil.example.org"))
                .startsWith("nodekeeper why node/--server=http://evil.example.org --at");
        assertThat(report("a b/\"?").array("verdicts").objects().map(verdict -> verdict.text("timeline")))
                .containsExactly("http://127.0.0.1:10257/ui/#/node/a%20b%2F%22%3F?at=2026-11-21T16%3A13%3A10Z");
        assertThat(new Links(Optional.of(URI.create("https://nk.example.org/x/")), List.of("--history-dir", "my dir"))
                        .in(report("n1"))
                        .array("verdicts")
                        .objects()
                        .map(verdict -> verdict.text("timeline") + " " + verdict.text("why")))
                .containsExactly(
                        "https://nk.example.org/x/ui/#/node/n1?at=2026-11-21T16%3A13%3A10Z nodekeeper why n1 --at"
                                + " 2026-11-21T16:13:10Z --history-dir 'my dir'");
    }

    private static String why(String name) {
        return report(name)
                .array("verdicts")
                .objects()
                .map(verdict -> verdict.text("why"))
                .findFirst()
                .orElseThrow();
    }
}
