package io.nodekeeper.api.selector;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A label selector in the grammar of the query parameter: {@code k=v}, {@code k==v}, {@code k!=v}, {@code k in (a,b)},
 * {@code k notin (a,b)}, {@code k}, {@code !k}, {@code k>5}, {@code k<5}, joined by commas that mean and. Immutable.
 */
public final class LabelSelector {
    /** Matches everything. */
    public static final LabelSelector ALL = new LabelSelector(List.of());

    private static final String KEY = "[A-Za-z0-9_./-]++";
    // All quantifiers are possessive: no part can begin with a character that the part before it may match, and
    // backtracking through long white space between parts would be quadratic.
    private static final Pattern SET = Pattern.compile("\\s*+(" + KEY + ")\\s++(in|notin)\\s*+\\(([^()]*+)\\)\\s*+");
    private static final Pattern COMPARE =
            Pattern.compile("\\s*+(" + KEY + ")\\s*+(==|=|!=|>|<)\\s*+([A-Za-z0-9_.-]*+)\\s*+");
    private static final Pattern EXISTS = Pattern.compile("\\s*+(!?)\\s*+(" + KEY + ")\\s*+");

    /**
     * The most requirements, because each is evaluated for each object of a list. Selectors of real clients have less
     * than 20.
     */
    private static final int REQUIREMENTS = 200;

    /** The most values of all sets together: a watch keeps its selector for hours. */
    private static final int VALUES = 1_000;

    /** The most characters of a selector in a message. */
    private static final int SHOWN = 500;

    /** One requirement; an absent label fulfils the negative ones and no other. */
    private sealed interface Requirement {
        boolean matches(JsonObject labels);

        /** The number of values that it keeps. */
        default int size() {
            return 1;
        }

        record In(String key, TreeSet<String> values) implements Requirement {
            @Override
            public boolean matches(JsonObject labels) {
                return value(labels, key).filter(values::contains).isPresent();
            }

            @Override
            public int size() {
                return values.size();
            }
        }

        record NotIn(String key, TreeSet<String> values) implements Requirement {
            @Override
            public boolean matches(JsonObject labels) {
                return value(labels, key).filter(values::contains).isEmpty();
            }

            @Override
            public int size() {
                return values.size();
            }
        }

        record Present(String key, boolean wanted) implements Requirement {
            @Override
            public boolean matches(JsonObject labels) {
                return value(labels, key).isPresent() == wanted;
            }
        }

        record Compared(String key, boolean greater, long bound) implements Requirement {
            @Override
            public boolean matches(JsonObject labels) {
                try {
                    long value = Long.parseLong(value(labels, key).orElse(""));
                    return greater ? value > bound : value < bound;
                } catch (NumberFormatException e) {
                    return false;
                }
            }
        }
    }

    /** The label {@code key}, if it is a text. */
    private static Optional<String> value(JsonObject labels, String key) {
        return labels.get(key).filter(JsonString.class::isInstance).map(value -> ((JsonString) value).value());
    }

    private final List<Requirement> requirements;

    private LabelSelector(List<Requirement> requirements) {
        this.requirements = requirements;
    }

    /**
     * Reads a selector; an empty text selects everything.
     *
     * @throws ApiException a bad request that names the invalid part
     */
    public static LabelSelector parse(String text) {
        if (text.isBlank()) {
            return ALL;
        }
        List<Requirement> requirements = new ArrayList<>();
        List<String> terms = terms(text);
        int values = 0;
        for (String term : terms) {
            Requirement requirement = requirement(cut(text), term);
            values += requirement.size();
            if (values > VALUES) {
                throw tooManyValues();
            }
            requirements.add(requirement);
        }
        return new LabelSelector(List.copyOf(requirements));
    }

    /** Whether {@code labels} fulfil all requirements. Looks at those that are required only, as an object may have very many. */
    public boolean matches(JsonObject labels) {
        for (Requirement requirement : requirements) {
            if (!requirement.matches(labels)) {
                return false;
            }
        }
        return true;
    }

    /** Whether everything matches. */
    public boolean isAll() {
        return requirements.isEmpty();
    }

    private static Requirement requirement(String text, String term) {
        Matcher set = SET.matcher(term);
        if (set.matches()) {
            String key = checked(text, set.group(1), Names.qualifiedFault(set.group(1)));
            TreeSet<String> values = new TreeSet<>();
            String[] listed = set.group(3).split(",", VALUES + 1);
            if (listed.length > VALUES) {
                throw tooManyValues();
            }
            for (String value : listed) {
                values.add(checked(text, value.strip(), Names.labelValueFault(value.strip())));
            }
            return set.group(2).equals("in") ? new Requirement.In(key, values) : new Requirement.NotIn(key, values);
        }
        Matcher compare = COMPARE.matcher(term);
        if (compare.matches()) {
            String key = checked(text, compare.group(1), Names.qualifiedFault(compare.group(1)));
            String value = checked(text, compare.group(3), Names.labelValueFault(compare.group(3)));
            return switch (compare.group(2)) {
                case "!=" -> new Requirement.NotIn(key, new TreeSet<>(List.of(value)));
                case ">" -> new Requirement.Compared(key, true, bound(text, value));
                case "<" -> new Requirement.Compared(key, false, bound(text, value));
                default -> new Requirement.In(key, new TreeSet<>(List.of(value)));
            };
        }
        Matcher exists = EXISTS.matcher(term);
        if (exists.matches()) {
            String key = checked(text, exists.group(2), Names.qualifiedFault(exists.group(2)));
            return new Requirement.Present(key, exists.group(1).isEmpty());
        }
        throw ApiException.badRequest("unable to parse requirement: \"" + cut(term.strip()) + "\" in \"" + text
                + "\"; expected: key, !key, or key with '=', '!=', '==', 'in', 'notin', '>', '<'");
    }

    private static ApiException tooManyValues() {
        return ApiException.badRequest("the sets of a label selector may have " + VALUES + " values together");
    }

    private static String checked(String text, String part, Optional<String> fault) {
        if (fault.isPresent()) {
            throw ApiException.badRequest(
                    "unable to parse requirement: \"" + cut(part) + "\" in \"" + text + "\": " + fault.get());
        }
        return part;
    }

    private static long bound(String text, String value) {
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw ApiException.badRequest("unable to parse requirement: \"" + cut(value) + "\" in \"" + text
                    + "\" is not an integer, as '>' and '<' need");
        }
    }

    private static String cut(String text) {
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
    }

    /** Splits at the commas outside of parentheses. */
    private static List<String> terms(String text) {
        List<String> terms = new ArrayList<>();
        int depth = 0;
        int start = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '(') {
                depth++;
            } else if (c == ')') {
                depth--;
            } else if (c == ',' && depth == 0) {
                if (terms.size() == REQUIREMENTS - 1) {
                    throw ApiException.badRequest(
                            "a label selector may have " + REQUIREMENTS + " requirements, got more");
                }
                terms.add(text.substring(start, i));
                start = i + 1;
            }
        }
        terms.add(text.substring(start));
        return terms;
    }
}
