package io.nodekeeper.cli.options;

import io.nodekeeper.api.IpLiteral;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An address to listen on: {@code ADDRESS:PORT}, {@code PORT} on the loopback address, {@code 0} for any free port
 * there, or {@code off}.
 */
public record BindAddress(String text) {
    private static final Pattern FORM = Pattern.compile("(?:\\[?([^\\[\\]]+)\\]?:)?(\\d{1,5})");
    private static final String LOOPBACK = "127.0.0.1";

    /** Whether the text has one of the forms. */
    public boolean isGood() {
        Matcher form = FORM.matcher(text);
        return isOff()
                || (form.matches()
                        && Integer.parseInt(form.group(2)) <= 65_535
                        && (form.group(1) == null || IpLiteral.is(form.group(1))));
    }

    /** Whether nothing is served. */
    boolean isOff() {
        return text.equals("off");
    }

    /** The address; empty if {@link #isOff}. */
    public Optional<InetSocketAddress> socket() {
        Matcher form = FORM.matcher(text);
        if (isOff() || !form.matches()) {
            return Optional.empty();
        }
        String host = form.group(1) == null ? LOOPBACK : form.group(1);
        return Optional.of(new InetSocketAddress(host, Integer.parseInt(form.group(2))));
    }
}
