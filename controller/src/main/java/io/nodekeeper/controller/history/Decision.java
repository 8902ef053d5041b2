package io.nodekeeper.controller.history;

import io.nodekeeper.api.JsonObject;
import java.time.Instant;

/**
 * One thing that the controller found or did about one node, and why.
 *
 * @param at when, by the controller's wall clock
 * @param node the node's name; empty if it is about the controller itself
 * @param uid the node's UID; may be empty
 * @param kind a word in CamelCase: {@code Unknown}, {@code Returned}, {@code Excused}, {@code Tainted}, {@code Evicted}, …
 * @param text one sentence for people
 * @param details the facts behind it, by name: signals, lags of each hop, deadlines, writes and their answers
 */
public record Decision(Instant at, String node, String uid, String kind, String text, JsonObject details) {}
