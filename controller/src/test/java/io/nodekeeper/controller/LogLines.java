package io.nodekeeper.controller;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.slf4j.LoggerFactory;

/** What a class logs at info and above from now on. */
final class LogLines {
    private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

    private LogLines() {}

    static LogLines of(Class<?> type) {
        LogLines lines = new LogLines();
        lines.appender.start();
        ((Logger) LoggerFactory.getLogger(type)).addAppender(lines.appender);
        return lines;
    }

    List<String> lines() {
        return appender.list.stream()
                .filter(event -> event.getLevel().isGreaterOrEqual(Level.INFO))
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }
}
