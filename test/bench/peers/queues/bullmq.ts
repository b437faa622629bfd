/** fastify, BullMQ and nodemailer in one process: `node bullmq.ts PORT REDIS-PORT SMTP-PORT CONNECTIONS`. */
import { Queue, Worker } from 'bullmq';
import { takeEvents } from './intake.ts';
import { createMails, type Job } from './mails.ts';

const [port = '0', redis = '0', smtp = '0', connections = '1'] = process.argv.slice(2);
const QUEUE = 'mails';
const BATCH_SIZE = 50;

const connection = { host: '127.0.0.1', port: Number(redis), maxRetriesPerRequest: null };
const queue = new Queue<Job>(QUEUE, { connection, defaultJobOptions: { removeOnComplete: true } });
const send = createMails(Number(smtp), Number(connections));
const worker = new Worker<Job>(QUEUE, ({ data }) => send(data), { connection, concurrency: BATCH_SIZE });
worker.on('error', console.error);
await queue.waitUntilReady();
await worker.waitUntilReady();
await takeEvents(Number(port), (job) => queue.add('mail', job, { jobId: job.id }));
