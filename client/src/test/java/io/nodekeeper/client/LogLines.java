package io.nodekeeper.client;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.slf4j.LoggerFactory;

/** Collects the log lines of a class, at level info and above. */
public final class LogLines {
    private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

    private LogLines() {}

    /** Begins to listen to {@code type}. */
    public static LogLines of(Class<?> type) {
        LogLines lines = new LogLines();
        lines.appender.start();
        Logger logger = (Logger) LoggerFactory.getLogger(type);
        // A command that ran before in this process may have turned the logs of Nodekeeper off.
        logger.setLevel(Level.INFO);
        logger.addAppender(lines.appender);
        return lines;
    }

    /** The warnings so far. */
    public List<String> warnings() {
        return appender.list.stream()
                .filter(event -> event.getLevel() == Level.WARN)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    /** What was logged so far. */
    public List<String> lines() {
        return appender.list.stream()
                .filter(event -> event.getLevel().isGreaterOrEqual(Level.INFO))
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }
}
