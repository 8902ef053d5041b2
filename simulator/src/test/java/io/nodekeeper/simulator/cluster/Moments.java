package io.nodekeeper.simulator.cluster;

import io.nodekeeper.client.Call;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.TransportException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Numbers the steps of a controller: each call when it is sent, each response and each line of a watch when it arrives;
 * and kills the controller or its server at one of them. A killed controller sends and receives nothing more. Of a
 * killed server only this message is lost. Confined to virtual time.
 */
final class Moments {
    /** Whether to kill before or after the message is sent. */
    enum Side {
        /** The call is not sent; the response or line is not received. */
        BEFORE,
        /** The call is sent; its response is not received. */
        AFTER
    }

    /** The kind of a step. */
    record Moment(String what, boolean isCall) {}

    private final List<Moment> seen = new ArrayList<>();
    private final int target;
    private final Side side;
    private final boolean fatal;
    private final Runnable strike;
    private boolean counting;

    private Moments(int target, Side side, boolean fatal, Runnable strike) {
        this.target = target;
        this.side = side;
        this.fatal = fatal;
        this.strike = strike;
    }

    /** Numbers the steps without killing. */
    static Moments numbering() {
        return new Moments(-1, Side.BEFORE, false, () -> {});
    }

    /** Kills at step {@code target}, from 0; {@code fatal} if the controller is killed. */
    static Moments strikingAt(int target, Side side, boolean fatal, Runnable strike) {
        return new Moments(target, side, fatal, strike);
    }

    /** Starts counting steps. */
    void begin() {
        counting = true;
    }

    /** Stops counting steps. */
    void end() {
        counting = false;
    }

    List<Moment> seen() {
        return seen;
    }

    /** Wraps the transport between one life of the process and its network. */
    Transport tap(Transport inner) {
        return new Tap(inner);
    }

    /** Whether this step is the target. */
    private boolean is(String what, boolean isCall) {
        if (!counting) {
            return false;
        }
        seen.add(new Moment(what, isCall));
        return seen.size() == target + 1;
    }

    private final class Tap implements Transport {
        private final Transport inner;
        private boolean dead;

        private Tap(Transport inner) {
            this.inner = inner;
        }

        @Override
        public CompletableFuture<Reply> send(Call call) {
            CompletableFuture<Reply> answer = new CompletableFuture<>();
            carry(
                    call,
                    () -> inner.send(call)
                            .whenComplete((reply, error) -> arrive(
                                    "answer to " + call,
                                    () -> {
                                        if (error == null) {
                                            answer.complete(reply);
                                        } else {
                                            answer.completeExceptionally(error);
                                        }
                                    },
                                    () -> answer.completeExceptionally(
                                            new TransportException(call + ": lost", null)))));
            return answer;
        }

        @Override
        public Stream open(Call call, StreamHandler handler) {
            List<Stream> opened = new ArrayList<>(1);
            carry(call, () -> opened.add(inner.open(call, heard(call, handler))));
            return () -> opened.forEach(Stream::cancel);
        }

        @Override
        public void close() {
            inner.close();
        }

        private void carry(Call call, Runnable leave) {
            boolean struck = !dead && is("call " + call, true);
            if (struck && side == Side.BEFORE) {
                strike();
            }
            if (!dead) {
                leave.run();
            }
            if (struck && side == Side.AFTER) {
                strike();
            }
        }

        /** Delivers a message, or loses it. */
        private void arrive(String what, Runnable heard, Runnable lost) {
            boolean struck = !dead && is(what, false);
            if (struck) {
                strike();
            }
            if (struck || dead) {
                lost.run();
            } else {
                heard.run();
            }
        }

        private void strike() {
            dead = fatal;
            strike.run();
        }

        private StreamHandler heard(Call call, StreamHandler handler) {
            return new StreamHandler() {
                @Override
                public void onOpen() {
                    arrive("agreement to " + call, () -> handler.onOpen(), () -> {});
                }

                @Override
                public void onLine(byte[] line) {
                    arrive("line of " + call, () -> handler.onLine(line), () -> {});
                }

                @Override
                public void onEnd(Optional<Reply> refusal, Optional<TransportException> why) {
                    arrive("end of " + call, () -> handler.onEnd(refusal, why), () -> {});
                }
            };
        }
    }
}
