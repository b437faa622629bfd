import fetchRequest from 'kafkajs/src/protocol/requests/fetch/index.js';

/** Version from which a fetch names the client's rack and any replica may respond. */
const ANY_COPY = 11;

/**
 * A client with old metadata that asks a former leader has to be sent away. With version 11 that broker answers as a
 * follower would: with what it has so far, as if the partition ended there, and then `carillon.config` would seem read
 * to its end while a change is missing. With version 10 only the leader answers. Done once per process.
 */
export function fetchFromLeadersOnly(): void {
  const request = fetchRequest as { versions: readonly string[] };
  request.versions = request.versions.filter((version) => Number(version) < ANY_COPY);
}
