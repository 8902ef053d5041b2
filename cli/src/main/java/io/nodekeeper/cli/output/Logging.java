package io.nodekeeper.cli.output;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.LayoutWrappingEncoder;
import java.time.ZoneId;
import java.util.Optional;
import org.slf4j.LoggerFactory;

/** Configures logging to standard error, as klog does. Code instead of a configuration file makes the start faster. */
public final class Logging {
    private static volatile Optional<KlogLayout> configured = Optional.empty();

    private Logging() {}

    /** Sets the verbosity (the flag {@code -v}). */
    public static void configure(int verbosity) {
        if (!(LoggerFactory.getILoggerFactory() instanceof LoggerContext context)) {
            return;
        }
        context.reset();
        KlogLayout layout = new KlogLayout(ZoneId.systemDefault());
        layout.setContext(context);
        layout.start();
        configured = Optional.of(layout);
        LayoutWrappingEncoder<ILoggingEvent> encoder = new LayoutWrappingEncoder<>();
        encoder.setContext(context);
        encoder.setLayout(layout);
        encoder.start();
        ConsoleAppender<ILoggingEvent> console = new ConsoleAppender<>();
        console.setContext(context);
        console.setTarget("System.err");
        console.setEncoder(encoder);
        console.start();
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.addAppender(console);
        root.setLevel(libraries(verbosity));
        context.getLogger("io.nodekeeper").setLevel(ours(verbosity));
    }

    /** Marks log lines of the controller from now on: it writes nothing. */
    public static void observing() {
        configured.ifPresent(KlogLayout::observing);
    }

    /** Turns off all logs of Nodekeeper. */
    public static void mute() {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            context.getLogger("io.nodekeeper").setLevel(Level.OFF);
        }
    }

    public static Level ours(int verbosity) {
        if (verbosity >= 6) {
            return Level.TRACE;
        }
        return verbosity >= 4 ? Level.DEBUG : Level.INFO;
    }

    public static Level libraries(int verbosity) {
        if (verbosity >= 8) {
            return Level.DEBUG;
        }
        return verbosity >= 6 ? Level.INFO : Level.WARN;
    }
}
