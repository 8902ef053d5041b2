package io.nodekeeper.cli.command;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Finds the words that a person may have meant, by the number of letters to change. */
public final class Nearest {
    /** The most words in a hint. */
    private static final int HINTS = 3;
    /** The longest word that is compared: no command, option or name is longer. Bounds the time for each pair. */
    private static final int LONGEST = 253;
    /** The most words that are compared: the nodes of a large cluster. */
    private static final int WORDS = 20_000;

    private Nearest() {}

    /** {@code did you mean a, b?}; empty if no word is near. */
    public static Optional<String> hint(String typed, Collection<String> words) {
        List<String> near = near(typed, words);
        return near.isEmpty()
                ? Optional.empty()
                : Optional.of(near.stream().collect(Collectors.joining(", ", "did you mean ", "?")));
    }

    /** The nearest words, nearest first: at most a third of the letters differ. */
    static List<String> near(String typed, Collection<String> words) {
        if (typed.length() > LONGEST) {
            return List.of();
        }
        record Near(String word, int distance) {}
        int most = Math.max(1, typed.length() / 3);
        return words.stream()
                .limit(WORDS)
                .filter(word -> Math.abs(word.length() - typed.length()) <= most)
                .map(word -> new Near(word, distance(typed, word)))
                .filter(near -> near.distance() <= most)
                .sorted(Comparator.comparing(Near::distance).thenComparing(Near::word))
                .limit(HINTS)
                .map(Near::word)
                .toList();
    }

    /** How many letters to insert, remove, replace, or swap with their neighbour turn {@code a} into {@code b}. */
    static int distance(String a, String b) {
        int[][] cost = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    cost[i][j] = i + j;
                    continue;
                }
                boolean same = a.charAt(i - 1) == b.charAt(j - 1);
                int least = Math.min(cost[i - 1][j - 1] + (same ? 0 : 1), Math.min(cost[i - 1][j], cost[i][j - 1]) + 1);
                boolean swapped =
                        i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
                cost[i][j] = swapped ? Math.min(least, cost[i - 2][j - 2] + 1) : least;
            }
        }
        return cost[a.length()][b.length()];
    }
}
