import { startScriptedPartner } from '@carillon/testing';
import { createChance } from '../harness/chance.ts';

/** A call as the partner's own book has it, whatever the product believes. */
export type BookedCall = {
  /** The request id that the product gave it. */
  readonly callId: string;
  readonly userIds: readonly string[];
  /** When it had come, in milliseconds. */
  readonly at: number;
  /** The caller's end of the connection: tells which process of the product it was. */
  readonly port: number;
  /** When the connection was done with it: answered, refused, or given up by the product. */
  endedAt: number;
  /** A whole answer was sent. */
  answered: boolean;
  /** It was refused for good: there is no answer to be known of. */
  readonly refused: boolean;
};

export type BookedPartner = {
  readonly url: string;
  /** Every call that came, in the order of arrival. */
  readonly calls: readonly BookedCall[];
  /** Answers from now on about somebody who is refused by name. */
  admit(userId: string): void;
  stop(): Promise<void>;
};

/** What the shop's rules may say of a person, told by the first word of the id. */
export type Character =
  /** Has an address and wants mail. */
  | 'user'
  /** Wants no mail: `where` does not hold. */
  | 'quiet'
  /** Has no address. */
  | 'mute'
  /** The partner has never heard of them. */
  | 'nobody'
  /** The partner refuses every call about them until they are admitted; then they are as a user. */
  | 'barred';

/** Shares of calls, and what they get in place of an answer. */
export type Whims = {
  readonly throttled: number;
  readonly unavailable: number;
  readonly neverAnswered: number;
  /** Longest wait before an answer, in milliseconds; evenly spread below it. */
  readonly latency: number;
};

/** Far from what would open the breaker (60 %). */
const WHIMS: Whims = { throttled: 0.03, unavailable: 0.04, neverAnswered: 0.02, latency: 300 };

export const addressOf = (id: string): string => `${id}@example.org`;

const characterOf = (id: string): string => /^[a-z]+/.exec(id)?.[0] ?? '';

/** An answer differs from every other one, even about the same person: what came of which is seen in the message's slot. */
function itemOf(id: string, answer: number): unknown {
  const character = characterOf(id);
  if (character === 'nobody') return [];
  return {
    to: { email: character === 'mute' ? null : addressOf(id) },
    variables: { user_id: id, wants_mail: character !== 'quiet', answer: `answer-${answer}` },
  };
}

/**
 * A partner that keeps a book of its own: slow, and by chance throttling, out of order, or silent until the product gives
 * up. It knows each id by its first word.
 */
export async function startBookedPartner(seed: number, whims = WHIMS): Promise<BookedPartner> {
  const partner = await startScriptedPartner();
  const chance = createChance(seed ^ 0xca11);
  const calls: BookedCall[] = [];
  const admitted = new Set<string>();
  let answers = 0;
  partner.follow(async ({ userIds, headers, port }, response) => {
    const call: BookedCall = {
      callId: String(headers['x-request-id']),
      userIds,
      at: Date.now(),
      port,
      endedAt: Number.POSITIVE_INFINITY,
      answered: false,
      refused: userIds.some((id) => characterOf(id) === 'barred' && !admitted.has(id)),
    };
    calls.push(call);
    response.once('finish', () => (call.answered = response.statusCode === 200));
    response.once('close', () => (call.endedAt = Date.now()));
    if (call.refused) return void response.writeHead(422).end();
    const fate = chance();
    const patience = chance() * whims.latency;
    if (fate < whims.neverAnswered) return undefined;
    await new Promise((resolve) => setTimeout(resolve, patience));
    if (fate < whims.neverAnswered + whims.throttled) return void response.writeHead(429, { 'retry-after': '1' }).end();
    if (fate < whims.neverAnswered + whims.throttled + whims.unavailable) return void response.writeHead(503).end();
    answers += 1;
    return userIds.flatMap((id) => itemOf(id, answers));
  });
  return {
    url: partner.url,
    calls,
    admit: (userId) => void admitted.add(userId),
    stop: () => partner.stop(),
  };
}
