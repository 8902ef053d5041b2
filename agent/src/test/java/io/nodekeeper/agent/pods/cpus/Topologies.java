package io.nodekeeper.agent.pods.cpus;

import java.util.TreeMap;

/** Machines. */
final class Topologies {
    private Topologies() {}

    /** Numbered as Linux does it: the first threads of all cores, then the second ones. */
    static CpuTopology of(int sockets, int cores, int threads) {
        TreeMap<Integer, CpuTopology.Place> places = new TreeMap<>();
        for (int thread = 0; thread < threads; thread++) {
            for (int socket = 0; socket < sockets; socket++) {
                for (int core = 0; core < cores; core++) {
                    places.put(places.size(), new CpuTopology.Place(socket, core));
                }
            }
        }
        return new CpuTopology(places);
    }
}
