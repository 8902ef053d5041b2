package io.nodekeeper.cri;

import java.util.List;

/** An image on the node; {@code digests} and {@code tags} are full names, {@code size} is in bytes. */
public record Image(String id, List<String> digests, List<String> tags, long size) {}
