package io.nodekeeper.agent.pods.registry;

import io.nodekeeper.cri.config.RegistryCredentials;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Credentials in the order in which they are tried. The rules are the kubelet's. Immutable. */
public final class Keyring {
    /** The key under which Docker clients keep the credentials of the default registry. */
    private static final String DEFAULT_KEY = "index.docker.io";

    private static final String DEFAULT_HOST = "docker.io";

    /** The most characters of an image's name; the names of a pod and of its secrets have no limit. */
    private static final int LONGEST = 4_096;

    private final List<DockerConfig.Entry> entries;

    /** A keyring of these entries; of places that both match an image, the later one in the alphabet has precedence. */
    public Keyring(List<DockerConfig.Entry> entries) {
        this.entries = entries.stream()
                .sorted(Comparator.comparing(DockerConfig.Entry::place).reversed())
                .toList();
    }

    /** The credentials for {@code image}, the best ones first; empty if it is pulled without. */
    public List<RegistryCredentials> of(String image) {
        if (image.length() > LONGEST) {
            // No runtime pulls it.
            return List.of();
        }
        String repository = repository(image);
        List<RegistryCredentials> found = matching(repository);
        if (!found.isEmpty() || !repository.startsWith(DEFAULT_HOST + "/")) {
            return found;
        }
        return entries.stream()
                .filter(entry -> entry.place().equals(DEFAULT_KEY))
                .map(DockerConfig.Entry::credentials)
                .toList();
    }

    private List<RegistryCredentials> matching(String repository) {
        List<RegistryCredentials> found = new ArrayList<>();
        entries.stream()
                .filter(entry -> matches(entry.place(), repository))
                .map(DockerConfig.Entry::credentials)
                .forEach(found::add);
        return found;
    }

    /** The full name of an image's repository: with its registry, without tag and digest. */
    static String repository(String image) {
        int at = image.indexOf('@');
        String name = at < 0 ? image : image.substring(0, at);
        int colon = name.lastIndexOf(':');
        if (colon > name.lastIndexOf('/')) {
            name = name.substring(0, colon);
        }
        int slash = name.indexOf('/');
        String first = slash < 0 ? "" : name.substring(0, slash);
        boolean host = first.contains(".") || first.contains(":") || first.equals("localhost");
        if (first.equals(DEFAULT_KEY)) {
            return repository(name.substring(slash + 1));
        }
        if (!host) {
            return DEFAULT_HOST + "/" + (slash < 0 ? "library/" : "") + name;
        }
        return name;
    }

    private static boolean matches(String place, String repository) {
        String host = host(place);
        String wanted = host(repository);
        String path = place.substring(host.length());
        return port(host).equals(port(wanted))
                && repository.substring(wanted.length()).startsWith(path)
                && parts(withoutPort(host), withoutPort(wanted));
    }

    /** Each part of a host between dots matches on its own: {@code *.example.com} is for no registry of two parts more. */
    private static boolean parts(String glob, String host) {
        String[] globs = glob.split("\\.", -1);
        String[] parts = host.split("\\.", -1);
        if (globs.length != parts.length) {
            return false;
        }
        for (int i = 0; i < globs.length; i++) {
            if (!matchesPart(globs[i], parts[i])) {
                return false;
            }
        }
        return true;
    }

    /**
     * Whether {@code text} matches a pattern with {@code *} for any characters and {@code ?} for one. If a character does not match, only
     * the last star can take one more, so the work is the product of both lengths at most: who writes the pattern of a secret
     * must not keep the agent busy.
     */
    private static boolean matchesPart(String glob, String text) {
        int g = 0;
        int t = 0;
        int star = -1;
        int taken = 0;
        while (t < text.length()) {
            if (g < glob.length() && glob.charAt(g) == '*') {
                star = g++;
                taken = t;
            } else if (g < glob.length() && (glob.charAt(g) == '?' || glob.charAt(g) == text.charAt(t))) {
                g++;
                t++;
            } else if (star >= 0) {
                g = star + 1;
                t = ++taken;
            } else {
                return false;
            }
        }
        while (g < glob.length() && glob.charAt(g) == '*') {
            g++;
        }
        return g == glob.length();
    }

    private static String host(String place) {
        int slash = place.indexOf('/');
        return slash < 0 ? place : place.substring(0, slash);
    }

    private static String port(String host) {
        int colon = host.lastIndexOf(':');
        return colon < 0 ? "" : host.substring(colon);
    }

    private static String withoutPort(String host) {
        return host.substring(0, host.length() - port(host).length());
    }
}
