package io.nodekeeper.cli.observe;

/** The formats of an observe report. */
enum ReportFormat {
    /** For tickets and chats. */
    markdown,
    /** One file for browsers. */
    html,
    /** For programs. */
    json
}
