package io.nodekeeper.cli.observe;

import java.io.StringWriter;
import java.util.List;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/**
 * Writes a report as one HTML file that loads nothing and runs nothing, in light and dark colours as the reader's system
 * has it. Java's XML writer escapes all texts. Pure.
 */
final class HtmlWriter {
    /** Without characters that XML escapes. */
    private static final String STYLE = """
            :root { color-scheme: light dark; --ground: #ffffff; --ink: #1b2230; --dim: #5a6475; --line: #d5dae3;
              --accent: #1f5fbf; --mark: #fff4cf; }
            @media (prefers-color-scheme: dark) {
              :root { --ground: #10141b; --ink: #e4e8ef; --dim: #9aa5b8; --line: #2c3543; --accent: #7fb2ff; --mark: #3a3214; }
            }
            body { margin: 2rem auto; max-width: 80rem; padding: 0 1rem; background: var(--ground); color: var(--ink);
              font: 16px/1.5 system-ui, sans-serif; }
            a { color: var(--accent); }
            table { border-collapse: collapse; width: 100%; }
            th, td { border-bottom: 1px solid var(--line); padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; }
            th { color: var(--dim); font-weight: 600; }
            td { overflow-wrap: anywhere; }
            code { font: 0.9em ui-monospace, monospace; }
            .important { background: var(--mark); border-radius: 6px; padding: 0.6rem 0.9rem; font-weight: 600; }
            """;
    /** Nothing is loaded or run, even if a text were not escaped. */
    private static final String POLICY = "default-src 'none'; style-src 'unsafe-inline'";

    private final XMLStreamWriter out;

    private HtmlWriter(XMLStreamWriter out) {
        this.out = out;
    }

    static String write(List<Block> blocks) {
        StringWriter text = new StringWriter();
        try {
            XMLStreamWriter out = XMLOutputFactory.newDefaultFactory().createXMLStreamWriter(text);
            new HtmlWriter(out).document(blocks);
            out.close();
        } catch (XMLStreamException e) {
            throw new IllegalStateException("writing to memory failed: " + e.getMessage(), e);
        }
        return text + "\n";
    }

    private void document(List<Block> blocks) throws XMLStreamException {
        out.writeDTD("<!DOCTYPE html>");
        out.writeCharacters("\n");
        open("html");
        out.writeAttribute("lang", "en");
        open("head");
        out.writeEmptyElement("meta");
        out.writeAttribute("charset", "utf-8");
        out.writeEmptyElement("meta");
        out.writeAttribute("http-equiv", "Content-Security-Policy");
        out.writeAttribute("content", POLICY);
        out.writeEmptyElement("meta");
        out.writeAttribute("name", "viewport");
        out.writeAttribute("content", "width=device-width");
        for (Block block : blocks) {
            if (block instanceof Block.Title(String title)) {
                element("title", title);
            }
        }
        open("style");
        out.writeCharacters(STYLE);
        close();
        close();
        open("body");
        for (Block block : blocks) {
            out.writeCharacters("\n");
            add(block);
        }
        close();
        close();
    }

    private void add(Block block) throws XMLStreamException {
        switch (block) {
            case Block.Title(String title) -> element("h1", title);
            case Block.Heading(String title) -> element("h2", title);
            case Block.Paragraph(List<Span> spans, boolean important) -> {
                open("p");
                if (important) {
                    out.writeAttribute("class", "important");
                }
                spans(spans);
                close();
            }
            case Block.Table(List<String> columns, List<List<List<Span>>> rows) -> table(columns, rows);
        }
    }

    private void table(List<String> columns, List<List<List<Span>>> rows) throws XMLStreamException {
        open("table");
        open("thead");
        open("tr");
        for (String column : columns) {
            element("th", column);
        }
        close();
        close();
        open("tbody");
        for (List<List<Span>> row : rows) {
            out.writeCharacters("\n");
            open("tr");
            for (List<Span> cell : row) {
                open("td");
                spans(cell);
                close();
            }
            close();
        }
        close();
        close();
    }

    private void spans(List<Span> spans) throws XMLStreamException {
        for (Span span : spans) {
            switch (span) {
                case Span.Words(String words) -> out.writeCharacters(ReportText.line(words));
                case Span.Code(String code) -> element("code", code);
                case Span.Link(String label, String url) -> {
                    open("a");
                    out.writeAttribute("href", ReportText.line(url));
                    out.writeCharacters(ReportText.line(label));
                    close();
                }
            }
        }
    }

    private void element(String name, String text) throws XMLStreamException {
        open(name);
        out.writeCharacters(ReportText.line(text));
        close();
    }

    private void open(String name) throws XMLStreamException {
        out.writeStartElement(name);
    }

    private void close() throws XMLStreamException {
        out.writeEndElement();
    }
}
