package io.nodekeeper.cli.metrics;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The metrics and labels of a PromQL expression. Not a parser: promtool checks the syntax.
 *
 * @param selectors metric → the labels in its selectors
 * @param grouping the labels after by, without, on, ignoring, group_left and group_right
 * @param added the labels that label_replace adds
 */
record Expression(Map<String, Set<String>> selectors, Set<String> grouping, Set<String> added) {
    private static final Pattern TOKEN =
            Pattern.compile("\"(?:[^\"\\\\]|\\\\.)*\"|\\$?[A-Za-z_:][\\w:]*|\\[[^\\]]*\\]|[0-9][0-9.a-z]*|\\S");
    private static final Set<String> GROUPING = Set.of("by", "without", "on", "ignoring", "group_left", "group_right");
    private static final Set<String> OPERATORS = Set.of("and", "or", "unless", "bool", "offset");

    static Expression of(String text) {
        List<String> tokens = new ArrayList<>();
        Matcher matcher = TOKEN.matcher(text);
        while (matcher.find()) {
            tokens.add(matcher.group());
        }
        Map<String, Set<String>> selectors = new LinkedHashMap<>();
        Set<String> grouping = new TreeSet<>();
        Set<String> added = new TreeSet<>();
        for (int i = 0; i < tokens.size(); i++) {
            String token = tokens.get(i);
            String next = i + 1 < tokens.size() ? tokens.get(i + 1) : "";
            if (token.equals("label_replace")) {
                added.add(unquoted(tokens, i));
            }
            if (GROUPING.contains(token) && next.equals("(")) {
                int end = i + 2 + tokens.subList(i + 2, tokens.size()).indexOf(")");
                tokens.subList(i + 2, end).stream()
                        .filter(label -> !label.equals(","))
                        .forEach(grouping::add);
                i = end;
            } else if (isName(token) && !next.equals("(") && !GROUPING.contains(next) && !OPERATORS.contains(token)) {
                Set<String> labels = selectors.computeIfAbsent(token, name -> new TreeSet<>());
                if (next.equals("{")) {
                    int end = i + 2 + tokens.subList(i + 2, tokens.size()).indexOf("}");
                    List<String> matchers = tokens.subList(i + 2, end);
                    for (int m = 0; m < matchers.size(); m++) {
                        if (isName(matchers.get(m))) {
                            labels.add(matchers.get(m));
                        }
                    }
                    i = end;
                }
            }
        }
        return new Expression(selectors, grouping, added);
    }

    /** The first string after {@code from}, which for label_replace is the new label's name. */
    private static String unquoted(List<String> tokens, int from) {
        int depth = 0;
        for (String token : tokens.subList(from, tokens.size())) {
            depth += "({".contains(token) ? 1 : ")}".contains(token) ? -1 : 0;
            if (depth == 1 && token.startsWith("\"")) {
                return token.substring(1, token.length() - 1);
            }
        }
        throw new IllegalArgumentException("label_replace without a label");
    }

    private static boolean isName(String token) {
        return Character.isLetter(token.charAt(0)) || token.charAt(0) == '_';
    }
}
