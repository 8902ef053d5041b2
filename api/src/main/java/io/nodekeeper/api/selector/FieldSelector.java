package io.nodekeeper.api.selector;

import io.nodekeeper.api.ApiException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A field selector: {@code k=v}, {@code k==v}, {@code k!=v}, joined by commas that mean and, in any order; values may
 * escape {@code \,} {@code \=} {@code \\}. Immutable.
 */
public final class FieldSelector {
    /** Matches everything. */
    public static final FieldSelector ALL = new FieldSelector(List.of());

    /**
     * One term.
     *
     * @param field the field's path, as {@code metadata.name}
     * @param value what it is compared with; may be empty
     * @param equal whether the value must be equal or must be different
     */
    public record Term(String field, String value, boolean equal) {}

    /**
     * The most terms, because each term is evaluated for each object of a list. Selectors of real clients have less
     * than 10.
     */
    private static final int TERMS = 200;

    private final List<Term> terms;

    private FieldSelector(List<Term> terms) {
        this.terms = terms;
    }

    /**
     * Reads a selector; an empty text selects everything.
     *
     * @throws ApiException a bad request that names the invalid part
     */
    public static FieldSelector parse(String text) {
        if (text.isEmpty()) {
            return ALL;
        }
        List<Term> terms = new ArrayList<>();
        for (String part : split(text)) {
            if (!part.isEmpty()) {
                terms.add(term(text, part));
            }
        }
        return new FieldSelector(List.copyOf(terms));
    }

    /** The terms. */
    public List<Term> terms() {
        return terms;
    }

    /** Whether everything matches. */
    public boolean isAll() {
        return terms.isEmpty();
    }

    /** Whether an object matches; {@code valueOf} returns the value of a field path. */
    public boolean matches(Function<String, String> valueOf) {
        for (Term term : terms) {
            if (valueOf.apply(term.field).equals(term.value) != term.equal) {
                return false;
            }
        }
        return true;
    }

    /** The value that {@code field} must equal, if there is such a term. */
    public Optional<String> required(String field) {
        return terms.stream()
                .filter(term -> term.equal && term.field.equals(field))
                .map(Term::value)
                .findFirst();
    }

    private static Term term(String text, String part) {
        int at = 0;
        while (at < part.length() && part.charAt(at) != '=' && part.charAt(at) != '!') {
            at++;
        }
        String field = part.substring(0, at).strip();
        for (String operator : List.of("!=", "==", "=")) {
            if (part.startsWith(operator, at)) {
                return new Term(
                        field, unescape(text, part.substring(at + operator.length())), operator.charAt(0) != '!');
            }
        }
        throw ApiException.badRequest("invalid selector: '" + text + "'; can't understand '" + part + "'");
    }

    private static List<String> split(String text) {
        List<String> parts = new ArrayList<>();
        int start = 0;
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) == '\\') {
                i++;
            } else if (text.charAt(i) == ',') {
                if (parts.size() == TERMS - 1) {
                    throw ApiException.badRequest("a field selector may have " + TERMS + " terms, got more");
                }
                parts.add(text.substring(start, i));
                start = i + 1;
            }
        }
        parts.add(text.substring(start));
        return parts;
    }

    private static String unescape(String text, String value) {
        if (value.indexOf('\\') < 0) {
            return value;
        }
        StringBuilder plain = new StringBuilder();
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '\\') {
                i++;
                if (i == value.length() || "\\,=".indexOf(value.charAt(i)) < 0) {
                    throw ApiException.badRequest(
                            "invalid field selector \"" + text + "\": only \\\\, \\, and \\= are escapes");
                }
                c = value.charAt(i);
            }
            plain.append(c);
        }
        return plain.toString();
    }
}
