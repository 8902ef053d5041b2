package io.nodekeeper.cli.command;

import io.nodekeeper.api.IpLiteral;
import io.nodekeeper.api.Names;
import io.nodekeeper.time.GoDuration;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Collects all faults of a command's flags for one message. Not thread-safe. */
public final class Faults {
    private final Set<String> faults = new LinkedHashSet<>();

    /** The faults so far. */
    List<String> list() {
        return List.copyOf(faults);
    }

    /** Adds {@code fault} unless {@code good}, or if it is there already: two parts of a command may share a flag. */
    public void require(boolean good, String fault) {
        if (!good) {
            faults.add(fault);
        }
    }

    /** Adds what {@code part} found, with {@code flag} in front of each: the values came from that flag. */
    public void from(String flag, Faults part) {
        part.faults.forEach(fault -> faults.add(flag + ": " + fault));
    }

    /** The flag must be more than 0 s. */
    public void positive(String flag, Duration value) {
        require(value.isPositive(), flag + " is " + GoDuration.format(value) + "; expected more than 0s");
    }

    /** The flag must lie within these bounds, both included. */
    public void within(String flag, double value, double low, double high) {
        require(
                value >= low && value <= high,
                flag + " is " + number(value) + "; expected " + number(low) + " to " + number(high));
    }

    /** The flag, if given, must name a file that can be read. */
    public void readable(String flag, Optional<Path> file) {
        file.ifPresent(path -> require(
                Files.isRegularFile(path) && Files.isReadable(path),
                flag + " is " + path + ", which is not a readable file: " + reason(path)));
    }

    private static String reason(Path path) {
        if (!Files.exists(path)) {
            Path parent = path.toAbsolutePath().getParent();
            return parent == null || Files.exists(parent)
                    ? "no such file"
                    : "its directory " + parent + " does not exist, or is not accessible";
        }
        if (Files.isDirectory(path)) {
            return "it is a directory";
        }
        return Files.isRegularFile(path) ? "permission denied" : "it is a device, pipe or socket";
    }

    /** Whether {@code url} has one of {@code schemes} and a host, and no user or password, which would get into messages. */
    public static boolean isUrl(URI url, String... schemes) {
        return List.of(schemes).contains(String.valueOf(url.getScheme()))
                && url.getHost() != null
                && url.getUserInfo() == null;
    }

    /** How a message shows a URL: what is in front of an @ may be a password. */
    public static String shown(URI url) {
        return url.toString().contains("@") ? "a URL with a user or a password" : url.toString();
    }

    /** The flag must be an IP address. No name is looked up. */
    public void address(String flag, String value) {
        require(IpLiteral.is(value), flag + " is \"" + value + "\"; expected an IP address");
    }

    /** The flag must be a name that the API accepts (a DNS-1123 subdomain), of at most {@code longest} characters. */
    public void name(String flag, String value, int longest) {
        require(
                value.length() <= longest && Names.subdomainFault(value).isEmpty(),
                flag + " is \"" + value + "\"; expected lower case letters, digits, - and . (RFC 1123), at most "
                        + longest);
    }

    /** The flag must be a container runtime's endpoint, {@code unix://} and the path of a socket. */
    public void socket(String flag, String endpoint) {
        if (endpoint.startsWith("unix://")) {
            Arguments.socketFault(endpoint.substring("unix://".length()))
                    .ifPresent(fault -> require(false, flag + " " + fault));
        }
    }

    /** The flag must name a directory that exists or can be created. */
    public void directory(String flag, Path path) {
        for (Path above = path.toAbsolutePath().normalize(); above != null; above = above.getParent()) {
            if (Files.exists(above)) {
                boolean good = Files.isDirectory(above);
                require(
                        good,
                        flag + " is " + path + ", which is not a directory"
                                + (above.equals(path.toAbsolutePath().normalize()) ? "" : ": " + above + " is a file"));
                return;
            }
        }
    }

    /** The flag must name a writable file in a directory that exists. */
    public void writable(String flag, Path path) {
        Path parent = path.toAbsolutePath().getParent();
        require(!Files.isDirectory(path), flag + " is " + path + ", which is a directory; expected a file");
        require(
                parent == null || Files.isDirectory(parent),
                flag + " is " + path + ", but there is no directory " + parent);
    }

    /** How messages show a number: whole ones without a fraction. */
    public static String number(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e15
                ? Long.toString((long) value)
                : Double.toString(value);
    }
}
