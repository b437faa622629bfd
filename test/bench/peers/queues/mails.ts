import { createTransport } from 'nodemailer';

/** What a queue carries: the event as it came, and its id. */
export type Job = { readonly id: string; readonly event: OrderNews };
type OrderNews = { readonly order_id: string; readonly customer: { readonly name: string; readonly email: string } };

/** Sends the mail of an event, over at most so many connections that are kept. */
export function createMails(port: number, connections: number): (job: Job) => Promise<void> {
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    secure: false,
    ignoreTLS: true,
    pool: true,
    maxConnections: connections,
    maxMessages: Number.POSITIVE_INFINITY,
  });
  return async ({ id, event: { order_id: order, customer } }) => {
    await transport.sendMail({
      from: 'Shop <shop@example.com>',
      to: customer.email,
      subject: id,
      text: `Hello ${customer.name}, there is news of ${order}.\n`,
    });
  };
}
