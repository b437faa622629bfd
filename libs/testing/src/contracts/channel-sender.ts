import type { Message } from '@carillon/domain/channels';
import type { ChannelSender, RenderedEmail, SendContext } from '@carillon/ports';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ParsedMail } from '../smtp/mail-parsing.ts';

/** A received email, limited to the fields that every email provider of the tests can report. */
export type ReceivedEmail = Pick<ParsedMail, 'subject' | 'text' | 'html'> & {
  readonly from: string;
  readonly to: string;
};

/** An email as a provider got it, as its reader sees it. */
export function receivedEmail(message: Message): ReceivedEmail {
  if (message.channel !== 'email') throw new Error(`a message of ${message.channel} came`);
  return { ...message, from: `${message.from.name} <${message.from.address}>` };
}

export type SenderUnderTest = {
  readonly sender: ChannelSender;
  /** Everything that reached the provider, in the order in which it came. */
  received(): Promise<readonly ReceivedEmail[]>;
  /** Makes the provider unreachable, or makes it refuse everything. */
  breakProvider(): Promise<void>;
  dispose(): Promise<void>;
};

export type SenderCapabilities = {
  /** True if a repeated attempt token sends only one message. SMTP has no such feature (RFC 5321). */
  readonly keepsAnAttemptOnce: boolean;
};

let counter = 0;

const email = (more: Partial<RenderedEmail> = {}): RenderedEmail => {
  counter += 1;
  return {
    channel: 'email',
    to: `reader.${counter}@example.org`,
    from: { name: 'Shop', address: 'shop@example.com' },
    subject: `Order ${counter} has shipped`,
    html: `<p>Order ${counter}</p>`,
    text: `Order ${counter}`,
    messageId: `<contract-${counter}@example.com>`,
    ...more,
  };
};

const context = (more: Partial<SendContext> = {}): SendContext => {
  counter += 1;
  return {
    workspace: 'shop',
    deliveryId: `dlv_${counter}`,
    attemptToken: `token-${counter}`,
    receiptToken: '0123456789abcdefghjkmnpqrs-1-0123456789',
    reportTo: null,
    traceparent: null,
    notAfter: Date.now() + 3_600_000,
    signal: new AbortController().signal,
    ...more,
  };
};

/** Contract of all email senders. `make` starts a sender with its own provider. */
export function describeChannelSender(
  name: string,
  make: () => Promise<SenderUnderTest>,
  capabilities: SenderCapabilities,
): void {
  describe(`${name} keeps the contract of a channel sender`, () => {
    let under: SenderUnderTest;
    beforeEach(async () => {
      under = await make();
    });
    afterEach(async () => {
      await under.sender.close();
      await under.dispose();
    });

    it('answers accepted only for a message that is really there', async () => {
      const message = email({
        subject: 'Grüße, "Ann" & 東京',
        html: '<p>Größe: 3&nbsp;m — ✓</p>',
        text: 'Größe: 3 m — ✓',
      });
      const result = await under.sender.send(message, context());
      expect(result).toMatchObject({ verdict: 'accepted', suppress: null, alert: false, retryAt: null });
      expect(await under.received()).toEqual([
        expect.objectContaining({ to: message.to, subject: message.subject, html: message.html, text: message.text }),
      ]);
    });

    it('sends one message for one call', async () => {
      await under.sender.send(email(), context());
      await under.sender.send(email(), context());
      expect(await under.received()).toHaveLength(2);
    });

    it('keeps text as it is, with dots at the start of lines, empty lines and lines of a thousand characters', async () => {
      const text = ['.', '..', '.leading', '', 'x'.repeat(1000), 'tail'].join('\n');
      await under.sender.send(email({ text, html: null }), context());
      const [received] = await under.received();
      expect(received).toMatchObject({ text, html: null });
    });

    it('shows the name of the sender, also where it holds commas, quotes and other letters', async () => {
      const from = { name: 'Müller, "Söhne" & Co', address: 'shop@example.com' };
      await under.sender.send(email({ from }), context());
      const [received] = await under.received();
      expect(received?.from).toContain(from.name);
      expect(received?.from).toContain(from.address);
    });

    it('sends many messages at once, each exactly once', async () => {
      const messages = Array.from({ length: 20 }, () => email());
      const results = await Promise.all(messages.map((message) => under.sender.send(message, context())));
      expect(results.map((result) => result.verdict)).toEqual(messages.map(() => 'accepted'));
      const subjects = (await under.received()).map((each) => each.subject).toSorted();
      expect(subjects).toEqual(messages.map((each) => each.subject).toSorted());
    });

    it('sends nothing and says `stopped` when it was told to stop before it began', async () => {
      const result = await under.sender.send(email(), context({ signal: AbortSignal.abort() }));
      expect(result).toMatchObject({ verdict: 'transient', code: 'stopped' });
      expect(await under.received()).toEqual([]);
    });

    it('answers each of many calls that are stopped at any moment, and none but the accepted ones arrived for sure', async () => {
      const stop = new AbortController();
      const messages = Array.from({ length: 20 }, () => email());
      const calls = messages.map((message) => under.sender.send(message, context({ signal: stop.signal })));
      await calls[0];
      stop.abort();
      const results = await Promise.all(calls);
      const arrived = new Set((await under.received()).map((each) => each.subject));
      for (const [index, { verdict }] of results.entries()) {
        if (verdict === 'ambiguous') continue;
        expect(arrived.has(messages[index]?.subject ?? '')).toBe(verdict === 'accepted');
      }
    });

    it('answers, and does not throw, when the provider is gone', async () => {
      await under.breakProvider();
      const message = email();
      const result = await under.sender.send(message, context());
      expect(['transient', 'ambiguous', 'throttled']).toContain(result.verdict);
      expect(result.detail).not.toBe('');
      expect(result.detail).not.toContain(message.to);
    });

    it('checks an account step by step, and names the step that fails', async () => {
      const steps = await under.sender.check();
      expect(steps.length).toBeGreaterThan(0);
      expect(steps.filter((step) => !step.ok)).toEqual([]);
      await under.breakProvider();
      const failing = await under.sender.check();
      expect(failing.at(-1)).toMatchObject({ ok: false });
      expect(failing.at(-1)?.detail).not.toBe('');
      expect(await under.received()).toEqual([]);
    });

    it('closes once and for all, however often it is told, and takes nothing more', async () => {
      await under.sender.send(email(), context());
      await Promise.all([under.sender.close(), under.sender.close()]);
      await under.sender.close();
      const result = await under.sender.send(email(), context());
      expect(result).toMatchObject({ verdict: 'transient', code: 'stopped' });
      expect(await under.received()).toHaveLength(1);
    });

    it('lets calls under way end before it is closed', async () => {
      const call = under.sender.send(email(), context());
      await under.sender.close();
      const { verdict } = await call;
      expect(['accepted', 'transient']).toContain(verdict);
      expect(await under.received()).toHaveLength(verdict === 'accepted' ? 1 : 0);
    });

    if (capabilities.keepsAnAttemptOnce) {
      it('keeps an attempt once, however often it is told of it', async () => {
        const [message, attempt] = [email(), context()];
        const results = await Promise.all([1, 2, 3].map(() => under.sender.send(message, attempt)));
        expect(results.map((result) => result.verdict)).toEqual(['accepted', 'accepted', 'accepted']);
        expect(await under.received()).toHaveLength(1);
      });
    }
  });
}
