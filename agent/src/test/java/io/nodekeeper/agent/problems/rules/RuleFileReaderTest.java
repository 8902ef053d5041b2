package io.nodekeeper.agent.problems.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonString;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class RuleFileReaderTest {
    private static final String DISK = """
            {
              "plugin": "kmsg",
              "logPath": "/dev/kmsg",
              "lookback": "5m",
              "bufferSize": 2,
              "source": "disk-monitor",
              "metricsReporting": true,
              "conditions": [
                {"type": "DiskFailed", "reason": "DiskHasNotFailed", "message": "disk works"}
              ],
              "rules": [
                {"type": "temporary", "reason": "DiskSlow", "pattern": "disk \\\\w+ is slow"},
                {"type": "permanent", "condition": "DiskFailed", "reason": "DiskHasFailed",
                 "pattern": "disk (\\\\w+) failed\\\\n.*giving up"}
              ]
            }""";

    @Example
    void readsEveryFieldOfAFile() {
        RuleFile file = RuleFileReader.read(DISK).file().orElseThrow();

        assertThat(file.source()).isEqualTo("disk-monitor");
        assertThat(file.log()).isEqualTo(Path.of("/dev/kmsg"));
        assertThat(file.lookback()).isEqualTo(Duration.ofMinutes(5));
        assertThat(file.bufferSize()).isEqualTo(2);
        assertThat(file.conditions())
                .containsExactly(new DefaultCondition("DiskFailed", "DiskHasNotFailed", "disk works"));
        assertThat(file.rules()).extracting(Rule::reason).containsExactly("DiskSlow", "DiskHasFailed");
    }

    @Example
    void aPatternMatchesAtTheEndOfTheBufferedMessages() {
        LogMatcher matcher = new LogMatcher(RuleFileReader.read(DISK).file().orElseThrow());

        assertThat(matcher.next("disk sda is slow"))
                .extracting(LogMatcher.Match::reason)
                .containsExactly("DiskSlow");
        assertThat(matcher.next("disk sda is slow today")).isEmpty();
        assertThat(matcher.next("disk sda failed")).isEmpty();
        assertThat(matcher.next("driver is giving up"))
                .extracting(match -> match.condition().orElseThrow() + " " + match.reason() + " " + match.text())
                .containsExactly("DiskFailed DiskHasFailed disk sda failed\ndriver is giving up");
        // The buffer has two messages.
        matcher.next("disk sdb failed");
        matcher.next("something else");
        assertThat(matcher.next("driver is giving up")).isEmpty();
    }

    @Example
    void namesAllFaultsOfAFile() {
        RuleFileReader.Result result = RuleFileReader.read("""
                {"plugin": "journald", "logPath": "kmsg", "lookback": "-5m", "bufferSize": 101, "colour": "red",
                 "conditions": [{"type": "A B", "reason": "Fine"}, {"type": "Twice", "reason": "Fine"},
                   {"type": "Twice", "reason": "Fine"}, 7],
                 "rules": [{"type": "sometimes", "reason": "R", "pattern": "x"},
                   {"type": "permanent", "condition": "Unknown", "reason": "R", "pattern": "x"},
                   {"type": "temporary", "reason": "", "pattern": "x"},
                   {"type": "temporary", "reason": "R"},
                   {"type": "temporary", "reason": "R", "pattern": "a)|(b"},
                   {"type": "temporary", "reason": "R", "pattern": "(?=lookahead)"},
                   {"type": "temporary", "reason": "R", "pattern": "((a{100}){100}){100}"},
                   "text"]}""");

        assertThat(result.file()).isEmpty();
        assertThat(result.faults())
                .containsExactly(
                        "unknown field \"colour\"",
                        "plugin is \"journald\"; expected kmsg, the kernel's log",
                        "conditions[0]: type is \"A B\"; expected letters, digits, '-', '_' and '.', such as"
                                + " KernelDeadlock",
                        "conditions[3]: expected an object with type, reason and message",
                        "conditions has the type \"Twice\" twice; expected each type once",
                        "logPath is \"kmsg\"; expected an absolute path such as /dev/kmsg",
                        "lookback is \"-5m\"; expected a duration of 0s or more such as 5m",
                        "bufferSize is 101; expected 1 to 100",
                        "rules[0]: type is \"sometimes\"; expected temporary or permanent",
                        "rules[1]: condition is \"Unknown\"; expected a type of conditions",
                        "rules[2]: reason is \"\"; expected letters, digits, '-', '_' and '.', such as KernelDeadlock",
                        "rules[3]: pattern is missing; expected a regular expression in RE2 syntax",
                        "rules[4]: pattern is \"a)|(b\"; expected a regular expression in RE2 syntax: unexpected )",
                        "rules[5]: pattern is \"(?=lookahead)\"; expected a regular expression in RE2 syntax: invalid"
                                + " or unsupported Perl syntax",
                        "rules[6]: the repetition counts of pattern multiply to more than 1000; expected smaller"
                                + " counts",
                        "rules[7]: expected an object with type, reason and pattern");
    }

    @Example
    void aPatternThatBacktracksForEverElsewhereEndsHere() {
        LogMatcher matcher = new LogMatcher(RuleFileReader.read("""
                        {"rules": [{"type": "temporary", "reason": "R", "pattern": "(a+)+(a|aa)*(.*)*!"}]}""").file().orElseThrow());

        assertThat(matcher.next("a".repeat(16_000))).isEmpty();
        assertThat(matcher.next("a".repeat(16_000) + "!")).hasSize(1);
    }

    @Property(tries = 300)
    void anyTextIsAFileOrHasFaults(@ForAll String text, @ForAll String pattern) {
        String quoted = Json.write(new JsonString(pattern));
        for (String json : List.of(
                text,
                "{\"rules\": [{\"type\": \"temporary\", \"reason\": \"R\", \"pattern\": " + quoted + "}]}",
                "{\"lookback\": " + quoted + ", \"conditions\": [{\"type\": " + quoted + "}]}")) {
            RuleFileReader.Result result = RuleFileReader.read(json);

            assertThat(result.file().isPresent()).isEqualTo(result.faults().isEmpty());
        }
    }
}
