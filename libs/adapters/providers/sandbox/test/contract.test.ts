import type { Inbox, InboxMessage } from '@carillon/ports';
import { describeChannelSender, receivedEmail } from '@carillon/testing';
import { createSandboxSenderFactory } from '../src/index.ts';

/** An inbox that forgets: what the port asks for, but for durability, and a switch that breaks it. */
class VolatileInbox implements Inbox {
  readonly kept = new Map<string, InboxMessage>();
  broken = false;

  async put(message: InboxMessage): Promise<void> {
    if (this.broken) throw new Error('the disk is gone');
    if (!this.kept.has(message.id)) this.kept.set(message.id, message);
  }

  async get(id: string): Promise<InboxMessage | null> {
    return this.kept.get(id) ?? null;
  }

  async list(_filter: unknown, limit: number): ReturnType<Inbox['list']> {
    if (this.broken) throw new Error('the disk is gone');
    return { items: [...this.kept.values()].toReversed().slice(0, limit), next: null };
  }
}

describeChannelSender(
  'The sandbox',
  async () => {
    const inbox = new VolatileInbox();
    const factory = createSandboxSenderFactory({ inbox, clock: { now: () => 1_800_000_000_000 } });
    return {
      sender: factory.create({ kind: 'sandbox' }, {}, 'shop'),
      received: async () => [...inbox.kept.values()].map(({ message }) => receivedEmail(message)),
      breakProvider: async () => {
        inbox.broken = true;
      },
      dispose: async () => undefined,
    };
  },
  { keepsAnAttemptOnce: true },
);
