package io.nodekeeper.cli.output;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.LayoutBase;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Formats log lines as klog does, with the module instead of the source file: {@code I1121 09:07:17.123456 agent]
 * message}. Each message takes one line. Line ends in quoted text are replaced, so that it cannot imitate other log
 * lines. Thread-safe.
 */
public final class KlogLayout extends LayoutBase<ILoggingEvent> {
    private static final String CONTROLLER = "io.nodekeeper.controller.";
    private static final String OBSERVATION = "io.nodekeeper.controller.observe.";
    /** The guard answers reviews, and refuses writes if it enforces. */
    private static final String GUARD = "io.nodekeeper.controller.guard.";
    /** The start of a line in a stack trace that is neither a frame nor a cause, but part of a message. */
    private static final Pattern OTHER_LINE = Pattern.compile("\n(?!\t|Caused by: |Wrapped by: |$)");

    private final DateTimeFormatter time;
    private volatile boolean observing;

    /** Times are shown in {@code zone}. */
    public KlogLayout(ZoneId zone) {
        time = DateTimeFormatter.ofPattern("MMdd HH:mm:ss.SSSSSS", Locale.ROOT).withZone(zone);
    }

    /**
     * Marks lines of the controller from now on, because it writes nothing. The observation and the guard have no marks: their
     * lines say what they do.
     */
    public void observing() {
        observing = true;
    }

    @Override
    public String doLayout(ILoggingEvent event) {
        StringBuilder line = new StringBuilder(160);
        line.append(letter(event.getLevel()));
        time.formatTo(event.getInstant(), line);
        line.append(' ')
                .append(module(event.getLoggerName()))
                .append("] ")
                .append(isKeptBack(event.getLoggerName()) ? "(observing, nothing is written) " : "")
                .append(Printable.line(event.getFormattedMessage()))
                .append('\n');
        if (event.getThrowableProxy() != null) {
            line.append(trace(event.getThrowableProxy()));
        }
        return line.toString();
    }

    /** The stack trace, in which the messages of exceptions are one line each: answers of others are part of them. */
    private static String trace(IThrowableProxy thrown) {
        return Printable.text(
                OTHER_LINE.matcher(ThrowableProxyUtil.asString(thrown)).replaceAll(" "));
    }

    private boolean isKeptBack(String logger) {
        return observing
                && logger.startsWith(CONTROLLER)
                && !logger.startsWith(OBSERVATION)
                && !logger.startsWith(GUARD);
    }

    private static char letter(Level level) {
        if (level.isGreaterOrEqual(Level.ERROR)) {
            return 'E';
        }
        return level.isGreaterOrEqual(Level.WARN) ? 'W' : 'I';
    }

    /** The name of our module, or of a library's class. */
    private static String module(String logger) {
        String ours = "io.nodekeeper.";
        if (!logger.startsWith(ours)) {
            return logger.substring(logger.lastIndexOf('.') + 1);
        }
        int end = logger.indexOf('.', ours.length());
        return end < 0 ? logger.substring(ours.length()) : logger.substring(ours.length(), end);
    }
}
