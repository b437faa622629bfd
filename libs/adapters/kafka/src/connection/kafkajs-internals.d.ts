/**
 * Internals of kafkajs that this adapter uses: the class that finds brokers and speaks the protocol, a connection and
 * its queue, and the fetch and produce requests. Their shapes are declared where they are used. The version is pinned,
 * and the contract suite runs on real brokers.
 */
declare module 'kafkajs/src/cluster/index.js' {
  const Cluster: unknown;
  export = Cluster;
}

declare module 'kafkajs/src/broker/index.js' {
  const Broker: unknown;
  export = Broker;
}

declare module 'kafkajs/src/network/connectionPool.js' {
  const ConnectionPool: unknown;
  export = ConnectionPool;
}

declare module 'kafkajs/src/network/connection.js' {
  const Connection: unknown;
  export = Connection;
}

declare module 'kafkajs/src/broker/saslAuthenticator/scram256.js' {
  const provider: unknown;
  export = provider;
}

declare module 'kafkajs/src/broker/saslAuthenticator/scram512.js' {
  const provider: unknown;
  export = provider;
}

declare module 'kafkajs/src/network/requestQueue/index.js' {
  const RequestQueue: unknown;
  export = RequestQueue;
}

declare module 'kafkajs/src/protocol/requests/produce/index.js' {
  const request: unknown;
  export = request;
}

declare module 'kafkajs/src/protocol/requests/fetch/index.js' {
  const request: unknown;
  export = request;
}

/** Only the tests of our encoder: theirs makes the bytes that ours are held against. */
declare module 'kafkajs/src/protocol/requests/produce/v7/request.js' {
  const request: unknown;
  export = request;
}

declare module 'kafkajs/src/protocol/recordBatch/crc32C/crc32C.js' {
  const crc32C: unknown;
  export = crc32C;
}

declare module 'kafkajs/src/protocol/requests/fetch/v10/response.js' {
  const response: unknown;
  export = response;
}
