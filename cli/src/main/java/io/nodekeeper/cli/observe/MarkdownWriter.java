package io.nodekeeper.cli.observe;

import java.util.List;
import java.util.stream.Collectors;

/** Writes a report as Markdown with tables, as GitHub and GitLab show it. Pure. */
final class MarkdownWriter {
    private final StringBuilder text = new StringBuilder();

    private MarkdownWriter() {}

    static String write(List<Block> blocks) {
        MarkdownWriter writer = new MarkdownWriter();
        for (Block block : blocks) {
            if (!writer.text.isEmpty()) {
                writer.text.append('\n');
            }
            writer.add(block);
        }
        return writer.text.toString();
    }

    private void add(Block block) {
        switch (block) {
            case Block.Title(String title) -> line("# " + words(title));
            case Block.Heading(String title) -> line("## " + words(title));
            case Block.Paragraph(List<Span> spans, boolean important) -> {
                String mark = important ? "**" : "";
                line(mark + spans(spans) + mark);
            }
            case Block.Table(List<String> columns, List<List<List<Span>>> rows) -> {
                row(columns.stream().map(MarkdownWriter::words).toList());
                row(columns.stream().map(column -> "---").toList());
                rows.forEach(
                        cells -> row(cells.stream().map(MarkdownWriter::spans).toList()));
            }
        }
    }

    private void row(List<String> cells) {
        line("| " + String.join(" | ", cells) + " |");
    }

    private static String spans(List<Span> spans) {
        return spans.stream().map(MarkdownWriter::span).collect(Collectors.joining());
    }

    private static String span(Span span) {
        return switch (span) {
            case Span.Words(String words) -> words(words);
            case Span.Code(String code) -> code(code);
            case Span.Link(String label, String url) -> "[" + words(label) + "](" + address(url) + ")";
        };
    }

    /** Each character that Markdown could take for more than itself is escaped, also the start of a link or of HTML. */
    private static String words(String text) {
        return ReportText.line(text)
                .replaceAll("[\\\\`*_\\[\\]<>|~#&$@]", "\\\\$0")
                .replace("://", ":\\/\\/");
    }

    /**
     * Between more backquotes than the code has in a row. A pipe would end the cell even there, and none is in a name of
     * Kubernetes.
     */
    private static String code(String text) {
        String line = ReportText.line(text).replace("|", "U+007C");
        String fence = "`";
        while (line.contains(fence)) {
            fence += "`";
        }
        String space = line.startsWith("`") || line.endsWith("`") ? " " : "";
        return fence + space + line + space + fence;
    }

    /** Without what would end the address, its cell or its link. */
    private static String address(String url) {
        return ReportText.line(url)
                .replace(" ", "%20")
                .replace("(", "%28")
                .replace(")", "%29")
                .replace("<", "%3C")
                .replace(">", "%3E")
                .replace("|", "%7C")
                .replace("\\", "%5C");
    }

    private void line(String line) {
        text.append(line).append('\n');
    }
}
