package io.nodekeeper.api;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/** Checks names, label keys and label values. Each method returns the fault, or empty. */
public final class Names {
    private static final Pattern SUBDOMAIN =
            Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");
    private static final Pattern LABEL = Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?");
    private static final Pattern QUALIFIED = Pattern.compile("([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]");

    private Names() {}

    /** A DNS-1123 subdomain: the name of a node, lease, pod. */
    public static Optional<String> subdomainFault(String name) {
        if (name.length() > 253) {
            return Optional.of("must be no more than 253 characters");
        }
        return isSubdomain(name)
                ? Optional.empty()
                : Optional.of(
                        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or"
                                + " '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for"
                                + " validation is '" + SUBDOMAIN.pattern() + "')");
    }

    /** Whether {@link #SUBDOMAIN} matches, many times faster: every write checks a name. */
    private static boolean isSubdomain(String name) {
        boolean inside = false;
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            boolean alphanumeric = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
            // A hyphen must be followed by another character; only a dot or the end is not allowed after it.
            if (!alphanumeric && !(inside && (c == '-' || (c == '.' && name.charAt(i - 1) != '-')))) {
                return false;
            }
            inside = c != '.';
        }
        return inside && name.charAt(name.length() - 1) != '-';
    }

    /** A DNS-1123 label: the name of a namespace. */
    public static Optional<String> labelFault(String name) {
        if (name.length() > 63) {
            return Optional.of("must be no more than 63 characters");
        }
        return LABEL.matcher(name).matches()
                ? Optional.empty()
                : Optional.of(
                        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and"
                                + " must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used"
                                + " for validation is '" + LABEL.pattern() + "')");
    }

    /**
     * A label or taint key: a name of at most 63 characters, with an optional prefix of a DNS subdomain and
     * a slash.
     */
    public static Optional<String> qualifiedFault(String key) {
        int slash = key.indexOf('/');
        String name = key.substring(slash + 1);
        if (slash == 0) {
            return Optional.of("prefix part must be non-empty");
        }
        if (slash > 0) {
            Optional<String> fault = subdomainFault(key.substring(0, slash));
            if (fault.isPresent()) {
                return Optional.of("prefix part " + fault.get());
            }
        }
        if (name.isEmpty()) {
            return Optional.of("name part must be non-empty");
        }
        if (name.length() > 63) {
            return Optional.of("name part must be no more than 63 characters");
        }
        return QUALIFIED.matcher(name).matches()
                ? Optional.empty()
                : Optional.of(
                        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end"
                                + " with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for"
                                + " validation is '" + QUALIFIED.pattern() + "')");
    }

    /** An annotation key: as {@link #qualifiedFault}, but its prefix may have upper-case letters. */
    public static Optional<String> annotationFault(String key) {
        return qualifiedFault(key.toLowerCase(Locale.ROOT));
    }

    /** A label or taint value: empty, or in the form of a key's name part. */
    public static Optional<String> labelValueFault(String value) {
        if (value.length() > 63) {
            return Optional.of("must be no more than 63 characters");
        }
        return value.isEmpty() || QUALIFIED.matcher(value).matches()
                ? Optional.empty()
                : Optional.of("a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or"
                        + " '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value', "
                        + " or '12345', regex used for validation is '(" + QUALIFIED.pattern() + ")?')");
    }
}
