package io.nodekeeper.cli.observe;

import java.util.List;

/** A part of a report. */
sealed interface Block {
    /** The title of the report. */
    record Title(String text) implements Block {}

    /** The title of a section. */
    record Heading(String text) implements Block {}

    /** Sentences; {@code important} ones must not be missed. */
    record Paragraph(List<Span> spans, boolean important) implements Block {}

    /**
     * A table.
     *
     * @param columns the names of the columns
     * @param rows the cells of each row, as many as columns
     */
    record Table(List<String> columns, List<List<List<Span>>> rows) implements Block {}

    static Paragraph paragraph(String text) {
        return new Paragraph(List.of(Span.words(text)), false);
    }

    static Paragraph important(String text) {
        return new Paragraph(List.of(Span.words(text)), true);
    }
}
