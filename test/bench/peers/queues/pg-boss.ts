/** fastify, pg-boss and nodemailer in one process: `node pg-boss.ts PORT POSTGRESQL-URL SMTP-PORT CONNECTIONS`. */
import { PgBoss } from 'pg-boss';
import { takeEvents } from './intake.ts';
import { createMails, type Job } from './mails.ts';

const [port = '0', url = '', smtp = '0', connections = '1'] = process.argv.slice(2);
const QUEUE = 'mails';
/** It asks twice a second at most, so few workers would be the limit whatever the machine can do. */
const WORKERS = 10;
const BATCH = 50;

const boss = new PgBoss({ connectionString: url, max: 20 });
boss.on('error', console.error);
await boss.start();
await boss.createQueue(QUEUE);
const send = createMails(Number(smtp), Number(connections));
for (let worker = 0; worker < WORKERS; worker += 1) {
  await boss.work<Job>(QUEUE, { batchSize: BATCH, pollingIntervalSeconds: 0.5 }, async (jobs) => {
    await Promise.all(jobs.map(({ data }) => send(data)));
  });
}
await takeEvents(Number(port), (job) => boss.send(QUEUE, job));
