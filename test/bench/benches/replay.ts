import { EVENT_BYTES } from '../corpus.ts';
import type { Bench } from '../harness/bench.ts';
import { askedRuns } from '../replay/asked-runs.ts';
import { loadBesideRuns } from '../replay/beside-load.ts';
import { comparingBesideKafkajs } from '../replay/beside-kafkajs.ts';
import { comparingBesideReading } from '../replay/beside-reading.ts';
import { EVENTS } from '../replay/edited-rules.ts';

export const replay: Bench = {
  name: 'replay',
  title: 'Comparing an edited rule',
  what: `\`carillon up\` on the embedded backend has a log of ${EVENTS.toLocaleString('en')} events of ${EVENT_BYTES} bytes in 8 partitions. The child's loop compares an edit of one rule among ten rules, each of its
own notification, in the process of the bench, beside selecting the same pages of 500 rows from the data file, and over a topic of Kafka 4.3
(8 partitions, one broker), beside a kafkajs client that consumes it and looks at no byte. Two products then get the same load, and one of them
compares an edited rule over its whole log meanwhile, one run after the other: bursts of events that are each mailed, events that no rule fires for, and events that are mailed
at half of the rate of the fastest burst. The write-ahead log is the file beside the data file at its largest. The first counts of a run, and pages of a run that keeps 100,000 rows, are asked for by HTTP,
one after the other. Every comparison of a case has to find the same, and as many added messages as a closure over the corpus.`,
  cases: [comparingBesideReading, ...loadBesideRuns, ...askedRuns, comparingBesideKafkajs],
};
