package io.nodekeeper.cli.observe;

import io.nodekeeper.cli.output.Printable;

/** Makes one harmless line of a text from elsewhere: a name or a sentence in a history may contain anything. */
final class ReportText {
    private ReportText() {}

    /** The text without line ends; control and formatting characters become code points. */
    static String line(String text) {
        return Printable.line(text, Printable.VALUE);
    }
}
