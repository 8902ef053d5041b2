package io.nodekeeper.cli.hollow;

import io.nodekeeper.client.CountingTransport.Counts;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.progress.Progress;
import java.time.Duration;
import java.util.Optional;

/**
 * What hollow nodes have done so far.
 *
 * @param count how many nodes there are to be
 * @param registered how many have registered
 * @param ran the time since the start
 * @param ready the time from the start until all had registered
 * @param requests the results of all requests
 */
record HollowState(int count, int registered, Duration ran, Optional<Duration> ready, Counts requests) {

    /** The state while it lasts. Once all nodes have registered there is no end. */
    Progress progress() {
        return ready.isPresent()
                ? Progress.endless("all " + count + " nodes registered; " + results())
                : Progress.of(registered + " of " + count + " nodes registered; " + results(), registered, count);
    }

    /** The state at the end. */
    String report() {
        String what = ready.map(took -> count + " hollow nodes registered within " + seconds(took) + " and ran for "
                        + seconds(ran.minus(took)))
                .orElseGet(() -> "PARTIAL: interrupted after " + seconds(ran) + " with " + registered + " of " + count
                        + " hollow nodes registered");
        return what + "; " + results() + "; the Nodes stay in the API";
    }

    private String results() {
        return requests.answered() + " requests answered, " + requests.refused() + " refused, " + requests.failed()
                + " failed";
    }

    private static String seconds(Duration duration) {
        return GoDuration.format(Duration.ofMillis(duration.toMillis() / 100 * 100));
    }
}
