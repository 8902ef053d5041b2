package io.nodekeeper.cli.doctor.bundle;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Removes secrets from a text of any form: JSON, YAML, HTTP headers, command lines, logs. It recognizes secrets by their form
 * (private keys, tokens of JSON Web Tokens and bootstrap tokens, passwords in URLs) and by the name before a value (token,
 * password, secret, key data, authorization, environment variables, kubectl's last-applied-configuration). If in doubt, it
 * removes too much.
 *
 * <p>The time is linear in the length of the text: patterns have bounded repetitions or are possessive, and values are
 * scanned up to their end, except for those in an object, list or block that is removed as a whole. Stateless.
 */
final class Redaction {
    /** What stands in the place of a secret. */
    static final String MARK = "[redacted]";

    /** The longest object or list that is looked at for its end, in characters. */
    private static final int LONGEST = 64 << 10;

    /** Secrets that are known by their form; the first group, if there is one, stays. */
    private static final List<Pattern> FORMS = List.of(
            // A key without an end was cut off.
            Pattern.compile("-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]*+(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?"),
            // The same, or a certificate, in base64.
            Pattern.compile("LS0tLS1CRUdJTi[A-Za-z0-9+/=]*+"),
            Pattern.compile("eyJ[A-Za-z0-9_-]{8,}+(?:\\.[A-Za-z0-9_-]*+){0,2}"),
            Pattern.compile("(?i)(\\b(?:bearer|basic|digest|negotiate)\\s{1,4})[A-Za-z0-9._~+/=:-]{6,}+"),
            Pattern.compile("\\b[a-z0-9]{6}\\.[a-z0-9]{16}\\b"),
            Pattern.compile("\\b(?:AKIA|ASIA)[0-9A-Z]{16}\\b"),
            Pattern.compile("(://)[^/\\s:@\"']{0,100}+:[^/\\s@\"']{1,300}+(?=@)"));

    /** The name of a secret and what separates it from the value, which follows. */
    private static final Pattern NAMED = Pattern.compile("(?:(?i:token|passwd|password|passphrase|secret|api[-_]?key"
            + "|access[-_]?key|private[-_]?key|key-data|certificate-data|credential|authorization|cookie|bearer"
            + "|last-applied-configuration)[\\w.-]{0,40}+"
            // A name of an environment variable, or the value of one in JSON.
            + "|\\b[A-Z][A-Z0-9_]{2,60}+(?==)|(?<=[\"'])value(?=\\\\{0,8}[\"']))"
            + "[\\\\\"']{0,9}+\\s{0,4}+(?:=>|[:=])\\s{0,4}+");

    /** The beginning of a flag with the name of a secret. */
    private static final String FLAG_NAME =
            "--?[\\w.-]{0,40}?(?:token|passwd|password|passphrase|secret|key|credential)";

    /** Such a flag as a whole argument, or with the value behind it. */
    private static final Pattern SECRET_FLAG = Pattern.compile("(?i)" + FLAG_NAME + "[\\w.-]{0,40}+(?:[=:\\s]|$)");

    /** A flag with the name of a secret; the value is the next argument. */
    private static final Pattern FLAG = Pattern.compile(
            "(?i)(?<=[\\s\"',\\[\\]])" + FLAG_NAME + "[\\w-]{0,40}+" + "[\"']?(?:,\\s{0,4}+|\\s{1,4}+)(?![\"']?-)");

    private Redaction() {}

    /** The text without secrets. */
    static String of(String text) {
        // All are found in the original text: a secret that was cut off may reach over the name of the next one.
        BitSet secret = new BitSet();
        for (Pattern form : FORMS) {
            Matcher matcher = form.matcher(text);
            while (matcher.find()) {
                secret.set(matcher.groupCount() > 0 ? matcher.end(1) : matcher.start(), matcher.end());
            }
        }
        for (Pattern names : List.of(NAMED, FLAG)) {
            values(text, names, secret);
        }
        StringBuilder result = new StringBuilder(text.length());
        int at = 0;
        for (int from = secret.nextSetBit(0); from >= 0; from = secret.nextSetBit(at)) {
            result.append(text, at, from).append(MARK);
            at = secret.nextClearBit(from);
        }
        return result.append(text, at, text.length()).toString();
    }

    /**
     * A command line as in {@code /proc}, where each argument ends with NUL: the arguments without secrets,
     * separated by blanks. A value ends with its argument, whatever is in it. What follows a secret's flag is removed, even
     * if it begins with a hyphen, as tokens may.
     */
    static String ofArguments(String commandLine) {
        List<String> result = new ArrayList<>();
        boolean secret = false;
        for (String argument : commandLine.split("\0")) {
            Matcher flag = SECRET_FLAG.matcher(argument);
            boolean isFlag = flag.lookingAt();
            result.add(secret ? MARK : isFlag ? cut(argument, flag.end()) : ofArgument(argument));
            secret = isFlag && flag.end() == argument.length();
        }
        return String.join(" ", result);
    }

    private static String ofArgument(String argument) {
        Matcher name = NAMED.matcher(argument);
        return name.find() ? cut(argument, name.end()) : of(argument);
    }

    private static String cut(String argument, int end) {
        return of(argument.substring(0, end)) + (end < argument.length() ? MARK : "");
    }

    /** Adds the value behind each name. */
    private static void values(String text, Pattern names, BitSet secret) {
        Matcher matcher = names.matcher(text);
        int covered = 0;
        while (matcher.find()) {
            int from = matcher.end();
            boolean nested = from < covered && from < text.length() && "{[|>".indexOf(text.charAt(from)) >= 0;
            // An object, list or block in another one ends with it.
            if (!nested) {
                int to = end(text, from);
                secret.set(from, to);
                covered = Math.max(covered, to);
            }
        }
    }

    /** Where the value that begins at {@code from} ends. */
    private static int end(String text, int from) {
        int at = from;
        while (at < text.length() && text.charAt(at) == '\\') {
            at++;
        }
        int slashes = at - from;
        if (at >= text.length()) {
            return text.length();
        }
        char first = text.charAt(at);
        if (first == '"' || (first == '\'' && slashes == 0)) {
            return quoted(text, at + 1, first, slashes);
        }
        if (text.startsWith(MARK, at)) {
            return at + MARK.length();
        }
        if (first == '{' || first == '[') {
            return bracket(text, at, first, first == '{' ? '}' : ']');
        }
        if (first == '|' || first == '>') {
            return block(text, at);
        }
        return plain(text, at);
    }

    /** Behind the quote that ends a text whose first quote has that many backslashes before it. */
    private static int quoted(String text, int from, char quote, int slashes) {
        int before = 0;
        for (int at = from; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == quote && (quote == '\'' || before == slashes)) {
                return at + 1;
            }
            if (c == quote && before < slashes) {
                // An outer text ends, so this one was cut off.
                return at - before;
            }
            before = c == '\\' ? before + 1 : 0;
            if (slashes == 0 && before == 2) {
                before = 0;
            }
        }
        return text.length();
    }

    /** Behind the bracket that closes the first one; the end of the line if there is none near. */
    private static int bracket(String text, int from, char open, char close) {
        int depth = 0;
        int end = Math.min(text.length(), from + LONGEST);
        for (int at = from; at < end; at++) {
            char c = text.charAt(at);
            depth += c == open ? 1 : c == close ? -1 : 0;
            if (depth == 0) {
                return at + 1;
            }
        }
        int line = text.indexOf('\n', end);
        return line < 0 ? text.length() : line;
    }

    /** A YAML block: all lines up to one that is not indented. */
    private static int block(String text, int from) {
        int line = text.indexOf('\n', from);
        while (line >= 0 && line + 1 < text.length() && Character.isWhitespace(text.charAt(line + 1))) {
            line = text.indexOf('\n', line + 1);
        }
        return line < 0 ? text.length() : line;
    }

    private static int plain(String text, int from) {
        int at = from;
        while (at < text.length()
                && !Character.isWhitespace(text.charAt(at))
                && ",;}]&\"'\\)".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(from, at);
        if (word.equalsIgnoreCase("bearer") || word.equalsIgnoreCase("basic") || word.equalsIgnoreCase("digest")) {
            int next = at;
            while (next < text.length() && text.charAt(next) == ' ') {
                next++;
            }
            return next == at || next >= text.length() ? at : plain(text, next);
        }
        return at;
    }
}
