/**
 * What this adapter uses of kafkajs beyond its public types: the class that finds brokers and speaks the protocol with
 * them, the queue of a connection, and the fetch request. Their shapes are given where they are used. The version is pinned, and the
 * contract suite runs on real brokers.
 */
declare module 'kafkajs/src/cluster/index.js' {
  const Cluster: unknown;
  export = Cluster;
}

declare module 'kafkajs/src/network/requestQueue/index.js' {
  const RequestQueue: unknown;
  export = RequestQueue;
}

declare module 'kafkajs/src/protocol/requests/fetch/index.js' {
  const request: unknown;
  export = request;
}
