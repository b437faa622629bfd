import type { Bench } from '../harness/bench.ts';
import { batchesBesideSingle } from '../sources/batches.ts';
import { changedToBesideClosure, changesBesideEvents, snapshotsPassedOver } from '../sources/evaluating.ts';
import { plainEvents } from '../sources/plain-events.ts';
import { idleMemory, updateToIntent } from '../sources/running-product.ts';
import { WAITING, waitingChanges } from '../sources/waiting-changes.ts';
import { waitingRecords } from '../sources/waiting-records.ts';

export const sources: Bench = {
  name: 'sources',
  title: 'Changes of a database, and batches of events',
  what: `\`carillon up\` reads a table of orders (PostgreSQL 15, REPLICA IDENTITY FULL, rows of about 200 bytes) on the embedded backend. ${WAITING.toLocaleString('en')} inserts wait while it is held still;
then the time runs until all are on its log, beside \`pg_recvlogical\`, which writes what its slot sends to a file, and beside Debezium (Kafka Connect with the heaps of Kafka's start scripts, JSON without schemas, \`poll.interval.ms\` 50), which writes
a topic of one partition. As many records of a topic of eight partitions wait, beside a kafkajs client that consumes them and sends them to another topic. One row after the other is updated to what a rule waits for, until its intent is on the log.
In memory, the evaluate stage judges updates, with the row before, under ten rules, beside the same rows as JSON events, and snapshot records that no rule takes, beside reading them. \`changedTo\` is evaluated beside a closure over
two objects. Plain JSON events are appended and evaluated under ten rules by this checkout and by the one before there were changes. Events of 732 bytes are
posted over HTTP in batches of 1,000, beside one in each request over as many connections.`,
  cases: [
    waitingChanges,
    waitingRecords,
    updateToIntent,
    idleMemory,
    changesBesideEvents(),
    changedToBesideClosure(),
    snapshotsPassedOver(),
    plainEvents,
    batchesBesideSingle,
  ],
};
