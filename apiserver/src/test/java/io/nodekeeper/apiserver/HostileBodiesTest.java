package io.nodekeeper.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.HostileBodies.Member;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The cost of a request is linear in the size of its body, whatever the body contains. Each test case sends bodies of
 * size n and 4n, where 4n is about the largest allowed body, and measures the processor time of the serving thread.
 * Quadratic work at 4n costs 16 times that at n; the limit of 12 leaves room for caches and garbage collection.
 */
@Isolated("It measures processor time, and large bodies fill the heap.")
@Tag("long")
class HostileBodiesTest {
    /** Processor time in ms below which ratios are noise. */
    private static final double NOISE = 250;
    /** The time of {@link #work}, in ms, on the processor for which the absolute limit was chosen. */
    private static final double WORK = 110;
    /** The absolute limit of any request in ms, as much higher as this processor is slower. */
    private static final double MOST = 4_000 * slowness();

    static Stream<Member> members() {
        return HostileBodies.all().stream();
    }

    /** How many times as long as {@link #WORK} this processor takes; at least 1. */
    private static double slowness() {
        // In the first ones it is compiled.
        double millis = Math.min(Math.min(work(), work()), work());
        System.out.printf("hostile bodies: the reference work takes %.0f ms%n", millis);
        return Math.max(1, millis / WORK);
    }

    /** The processor time in ms of work like that of a request: texts are made, and found in a map. */
    private static double work() {
        var threads = ManagementFactory.getThreadMXBean();
        long began = threads.getCurrentThreadCpuTime();
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < 2_000_000; i++) {
            counts.merge("text number " + i % 100_000, 1, Integer::sum);
        }
        assertThat(counts).hasSize(100_000);
        return (threads.getCurrentThreadCpuTime() - began) / 1e6;
    }

    /** The processor time of the request in ms, and the response. */
    private record Cost(double millis, Answer answer) {}

    private static Cost cost(Member member, int size) {
        TestServer server = new TestServer();
        String before = member.before().apply(size);
        if (!before.isEmpty()) {
            Answer made = server.post(member.collection(), before);
            assertThat(made.status())
                    .as(() -> made.text().substring(0, Math.min(300, made.text().length())))
                    .isEqualTo(201);
        }
        byte[] body = member.body().apply(size);
        assertThat(body.length).isLessThan(3_145_728);
        var request = TestServer.request(
                TestServer.ADMIN, member.method(), member.uri(), Map.of("content-type", member.type()), body);
        var threads = ManagementFactory.getThreadMXBean();
        long began = threads.getCurrentThreadCpuTime();
        var answer = server.server.handle(request);
        server.settle();
        double millis = (threads.getCurrentThreadCpuTime() - began) / 1e6;
        return new Cost(millis, TestServer.answer(answer));
    }

    @ParameterizedTest
    @MethodSource("members")
    void costOfARequestGrowsNoFasterThanItsBody(Member member) {
        // given a warmed-up server
        cost(member, HostileBodies.N / 10);

        // when bodies of n and 4n arrive
        Cost small = better(member, HostileBodies.N, Double.NEGATIVE_INFINITY);
        Cost large = better(member, 4 * HostileBodies.N, Math.min(MOST, Math.max(NOISE, 12 * small.millis)));
        System.out.printf(
                "hostile body: %-50s %6.0f %6.0f ms  %d %d%n",
                member, small.millis, large.millis, small.answer.status(), large.answer.status());

        // then each gets a small response without a server error
        for (Cost cost : List.of(small, large)) {
            assertThat(cost.answer.status())
                    .as("%s: %s", member, head(cost.answer))
                    .isLessThan(500);
            if (cost.answer.status() >= 400) {
                assertThat(cost.answer.bytes().length).isLessThan(64 << 10);
            }
        }
        // and four times the body costs less than twelve times as much (quadratic would be 16), and never more than
        // the absolute limit
        assertThat(large.millis).as("%s", member).isLessThan(Math.max(NOISE, 12 * small.millis));
        assertThat(large.millis).as("%s", member).isLessThan(MOST);
    }

    /** The cost of a request, or the lower one of two if the first is not below {@code limit}: other load may disturb it. */
    private static Cost better(Member member, int size, double limit) {
        Cost first = cost(member, size);
        if (first.millis < limit) {
            return first;
        }
        Cost second = cost(member, size);
        return second.millis < first.millis ? second : first;
    }

    private static String head(Answer answer) {
        return answer.text().substring(0, Math.min(300, answer.text().length()));
    }
}
