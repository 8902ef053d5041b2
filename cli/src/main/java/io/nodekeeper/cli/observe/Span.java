package io.nodekeeper.cli.observe;

/** A piece of a line of a report. Texts may contain anything: writers escape them. */
sealed interface Span {
    String text();

    /** Words. */
    record Words(String text) implements Span {}

    /** A command, or the name of something. */
    record Code(String text) implements Span {}

    /** A link to a page. */
    record Link(String text, String url) implements Span {}

    static Span words(String text) {
        return new Words(text);
    }
}
